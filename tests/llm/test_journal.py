"""The journal of a run: killed at any moment, it goes on where it was, and nothing that was answered is sent again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("tenacity")
pytest.importorskip("jsonschema")

from skillgate.llm.answers import Answers, Seal, identity
from skillgate.llm.asker import PortAsker
from skillgate.llm.flow import CircuitBreaker
from skillgate.llm.journal import MOST_LINE, STORED_DAYS, SUFFIX, Journal
from skillgate.llm.port import ProviderError, classify
from skillgate.llm.prices import Budget
from skillgate.model.exchange import Answer, Cause, Reply, Status, Tokens
from skillgate.model.layers import Resumed
from skillgate.model.skill import digest
from tests.llm.journal_run import CALLS
from tests.llm.requests import QUICK, request
from tests.llm.table import DOWN, GOOD, Table, replying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.model.exchange import Request

PROGRAM = Path(__file__).with_name("journal_run.py")
COST = (100 * 2 + 20 * 10) / 1e6  # of GOOD
LOST = ProviderError(Cause.NETWORK, "the connection was cut off", retryable=False, lost=True)
needs_signals = pytest.mark.skipif(os.name == "nt", reason="needs a system with SIGKILL and locks on files")


def asking(
    provider: Table,
    *,
    budget: Budget | None = None,
    answers: Answers | None = None,
    journal: Journal | None = None,
) -> PortAsker:
    return PortAsker(
        provider,
        budget=budget or Budget(),
        answers=answers,
        journal=journal,
        retrying=QUICK,
        breaker=CircuitBreaker(100),
    )


def opened(folder: Path, run: str = "run", *, seal: Seal | None = None) -> Journal:
    return Journal(str(folder), run, now=time.time, seal=seal)


def never(_: Request) -> Reply:
    raise AssertionError("nothing is to be sent")


def another(number: int) -> Request:
    return request(question=f"question {number}")


@contextmanager
def journalled(folder: Path, answer: Callable[[Request], Reply], **given: Any) -> Iterator[tuple[PortAsker, Journal]]:
    """A process of a run, which ends without being done."""
    journal = opened(folder)
    yield asking(Table(answer), journal=journal, **given), journal
    journal.close(done=False)


# Killed


class World:
    """A server whose answers depend on what it is asked alone, and that kills who asks at a moment that is given."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.victim: subprocess.Popen[bytes] | None = None
        self.fatal = 0  # the number of the request at which it kills, from now on
        self.late = False  # whether it answers first
        self.lock = threading.Lock()

    def strikes(self, text: str) -> bool:
        with self.lock:
            self.seen[text] += 1
            self.fatal -= 1
            return self.fatal == 0

    def kill(self) -> None:
        if self.victim is not None:
            self.victim.send_signal(signal.SIGKILL)


class Handler(BaseHTTPRequestHandler):
    world: World

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        text = json.loads(body)["messages"][0]["content"]
        strikes = self.world.strikes(text)
        if strikes and not self.world.late:
            self.world.kill()
            return
        mark = digest(body)
        reason = {"0": "refusal", "1": "max_tokens", "2": "stop_of_a_new_kind"}.get(mark[0], "end_turn")
        data = json.dumps({"text": "" if mark[0] == "3" else mark[:6], "stop_reason": reason}).encode()
        try:
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            return  # it was killed
        if strikes:
            self.world.kill()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        pass


@contextmanager
def serving() -> Iterator[tuple[World, str]]:
    world = World()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"world": world}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield world, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def ran(world: World, options: dict[str, Any], *, fatal: int = 0, late: bool = False) -> dict[str, Any] | None:
    """Run the program; give what it printed, None where it was killed."""
    world.fatal, world.late = fatal, late
    argv = [sys.executable, "-B", str(PROGRAM), json.dumps(options)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        world.victim = process
        printed, _ = process.communicate(timeout=60)
    world.victim = None
    if process.returncode == -signal.SIGKILL:
        return None
    assert process.returncode == 0
    found: dict[str, Any] = json.loads(printed)
    return found


@needs_signals
@pytest.mark.parametrize("keeping", ["nothing", "answers", "refreshed"])
@pytest.mark.parametrize("late", [False, True])
def test_a_run_killed_at_any_moment_gives_what_it_would_have_given(tmp_path: Path, keeping: str, late: bool) -> None:
    kept = keeping != "nothing"
    calls = CALLS - kept  # what two layers ask is sent once where answers are kept
    with serving() as (world, url):
        whole = ran(world, {"url": url, "journal": str(tmp_path / "whole")})
        assert whole is not None
        for moment in range(1 + late, calls + 1, 6):
            folder = tmp_path / str(moment)
            options = {"url": url, "journal": str(folder / "journal"), "refresh": keeping == "refreshed"}
            if kept:
                options["answers"] = str(folder / "answers")
            world.seen.clear()
            assert ran(world, options, fatal=moment, late=late) is None
            resumed = ran(world, options)
            assert resumed is not None
            assert resumed["results"] == whole["results"]
            if late and moment == calls and resumed["resumed"] is None:
                assert sum(world.seen.values()) == 2 * calls  # it had ended before it was killed: all is asked anew
                continue
            assert 0 <= sum(world.seen.values()) - calls <= resumed["resumed"]["repeated"] <= 4
            assert resumed["resumed"]["answers"] >= moment - 4
            assert resumed["failure"] is None
            assert list((folder / "journal").iterdir()) == []


@needs_signals
def test_a_run_killed_again_and_again_comes_to_its_end(tmp_path: Path) -> None:
    with serving() as (world, url):
        options = {"url": url, "journal": str(tmp_path / "journal")}
        whole = ran(world, {**options, "journal": str(tmp_path / "whole")})
        world.seen.clear()
        deaths = 0
        while (found := ran(world, options, fatal=6)) is None:
            deaths += 1
        sent = sum(world.seen.values())
    assert whole is not None
    assert deaths >= 3
    assert found["results"] == whole["results"]
    assert sent - CALLS <= found["resumed"]["repeated"] <= 4 * deaths
    # What every process sent is a call of the run, and what was answered was paid for once.
    assert sent <= found["calls"] <= CALLS + found["resumed"]["repeated"]
    assert found["spent"] == pytest.approx(CALLS * COST)
    assert found["resumed"]["cost_usd"] < found["spent"]


@needs_signals
def test_the_limit_of_calls_holds_over_all_of_the_run(tmp_path: Path) -> None:
    with serving() as (world, url):
        options = {"url": url, "journal": str(tmp_path), "max_calls": 15}
        assert ran(world, options, fatal=10) is None
        found = ran(world, options)
        assert found is not None
        assert found["errors"] > 0
        assert sum(world.seen.values()) <= 15 == found["calls"]


@needs_signals
def test_a_full_disk_costs_the_journal_and_not_the_run(tmp_path: Path) -> None:
    with serving() as (world, url):
        options = {"url": url, "journal": str(tmp_path)}
        found = ran(world, {**options, "most_bytes": 4_000, "leave": True})
        assert found is not None
        assert found["errors"] == 0
        assert "journal of the run" in found["failure"]
        data = next(tmp_path.iterdir()).read_bytes()
        assert 2_000 < len(data) <= 4_000
        assert all(json.loads(line) for line in data.splitlines())
        first = sum(world.seen.values())
        again = ran(world, options)
        assert again is not None
        assert again["results"] == found["results"]
        assert again["resumed"]["answers"] + sum(world.seen.values()) - first == CALLS
        assert again["resumed"]["answers"] > 3


@needs_signals
def test_of_two_processes_at_one_run_one_goes_on_without_a_journal(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    with serving() as (world, url):
        found = ran(world, {"url": url, "journal": str(tmp_path)})
        journal.close(done=False)
        later = ran(world, {"url": url, "journal": str(tmp_path)})
    assert found is not None
    assert later is not None
    assert "another process" in found["failure"]
    assert found["results"] == later["results"]
    assert later["failure"] is None


# What is given again


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        GOOD._replace(stop_reason="refusal", category="harm"),
        GOOD._replace(stop_reason="max_tokens"),
        GOOD._replace(content=({"type": "text", "text": '{"score": 11}'},)),
        GOOD._replace(content=({"type": "thinking", "thinking": "hm", "signature": "x"}, *GOOD.content)),
        GOOD._replace(model="claude-haiku-5-5"),
        GOOD._replace(tokens=None),
        GOOD._replace(stop_reason="model_context_window_exceeded"),
        GOOD._replace(content=({"type": "text", "text": "half \ud83d of a character"},)),
    ],
)
def test_every_reply_comes_back_whatever_it_is_worth(tmp_path: Path, reply: Reply) -> None:
    with journalled(tmp_path, replying(reply)) as (asker, _):
        first = asker.ask(request())
    with journalled(tmp_path, never) as (asker, journal):
        again = asker.ask(request())
    assert again == first._replace(cached=True, sent=0, cost_usd=0.0, tokens=Tokens(), seconds=0.0)
    assert journal.resumed is not None
    assert (journal.resumed.answers, journal.resumed.repeated) == (1, 0)
    assert journal.resumed.cost_usd == first.cost_usd


def test_an_outage_is_asked_again(tmp_path: Path) -> None:
    with journalled(tmp_path, replying(DOWN)) as (asker, _):
        assert asker.ask(request()).cause is Cause.SERVER
    with journalled(tmp_path, replying(GOOD)) as (asker, journal):
        assert asker.ask(request()).status is Status.OK
    assert journal.resumed == Resumed(0, 0, 0.0)


def test_what_is_asked_twice_is_answered_twice_and_then_no_more(tmp_path: Path) -> None:
    texts = [GOOD._replace(content=({"type": "text", "text": f'{{"score": {n}}}'},)) for n in (1, 2, 3)]
    with journalled(tmp_path, replying(*texts[:2])) as (asker, _):
        assert [asker.ask(request()).value["score"] for _ in range(2)] == [1, 2]
    with journalled(tmp_path, replying(texts[2])) as (asker, _):
        assert [asker.ask(request()).value["score"] for _ in range(3)] == [1, 2, 3]


def test_an_answer_that_was_kept_comes_out_the_same_though_it_has_gone(tmp_path: Path) -> None:
    def kept_in(name: str, *, refresh: bool = False) -> Answers:
        return Answers(str(tmp_path / name), now=time.time, classify=classify, refresh=refresh)

    asking(Table(replying(GOOD)), answers=kept_in("old")).ask(request())
    with journalled(tmp_path / "j", never, answers=kept_in("old")) as (asker, _):
        first = asker.ask(request())
    with journalled(tmp_path / "j", never, answers=kept_in("empty")) as (asker, journal):
        assert asker.ask(request()) == first
    assert journal.resumed == Resumed(0, 0, 0.0), "it was not paid for by this run"


def test_a_refreshed_run_uses_what_it_asked_itself(tmp_path: Path) -> None:
    def refreshed() -> Answers:
        return Answers(str(tmp_path / "answers"), now=time.time, classify=classify, refresh=True)

    fresh = GOOD._replace(content=({"type": "text", "text": '{"score": 9}'},))
    asking(Table(replying(GOOD)), answers=refreshed()).ask(request())
    with journalled(tmp_path / "j", replying(fresh), answers=refreshed()) as (asker, _):
        assert asker.ask(request()).value == {"score": 9}
    with journalled(tmp_path / "j", never, answers=refreshed()) as (asker, _):
        assert [asker.ask(request()).value for _ in range(3)] == [{"score": 9}] * 3


def test_what_was_answered_just_before_the_end_is_kept_for_other_runs_too(tmp_path: Path) -> None:
    """Killed between the journal and the answers: they are made good for, for both wordings of a question."""
    first = request()
    second = request(max_tokens=21_333)._replace(instead_of=first)
    with journalled(tmp_path / "j", replying(GOOD)) as (asker, _):
        asker.ask(second)
    answers = Answers(str(tmp_path / "answers"), now=time.time, classify=classify)
    with journalled(tmp_path / "j", never, answers=answers) as (asker, _):
        asker.ask(second)
    later = asking(Table(never), answers=answers)
    assert [later.ask(each).status for each in (first, second)] == [Status.OK, Status.OK]


def test_other_requests_providers_and_runs_find_nothing(tmp_path: Path) -> None:
    with journalled(tmp_path, replying(GOOD)) as (asker, _):
        asker.ask(request())
    elsewhere = Table(never)
    elsewhere.endpoint = "other"
    journal = opened(tmp_path)
    assert journal.get(request(), elsewhere) is None
    assert journal.get(request()._replace(sample=1), Table(never)) is None
    assert journal.get(request(), Table(never)) is not None
    journal.close(done=False)
    other = opened(tmp_path, "other run")
    assert other.resumed is None
    assert other.get(request(), Table(never)) is None
    other.close(done=True)


# What it cost


def test_what_earlier_processes_spent_counts_against_the_limits(tmp_path: Path) -> None:
    with journalled(tmp_path, replying(GOOD)) as (asker, _):
        for number in range(3):
            asker.ask(another(number))
    budget = Budget(max_calls=4)
    with journalled(tmp_path, replying(GOOD), budget=budget) as (asker, _):
        causes = [asker.ask(another(number)).cause for number in range(5)]
    assert causes == [None, None, None, None, Cause.BUDGET]
    assert budget.calls == 4
    assert budget.spent == pytest.approx(4 * COST)


def test_what_was_on_its_way_when_the_process_ended_counts_with_the_most_that_it_can_cost(tmp_path: Path) -> None:
    most = 0.1  # one request may cost 0.09
    journal = opened(tmp_path)
    journal.sent(request(), Table(never), 0.09)
    journal.close(done=False)
    budget = Budget(max_cost_usd=most)
    with journalled(tmp_path, never, budget=budget) as (asker, journal):
        assert asker.ask(request()).cause is Cause.BUDGET
    assert budget.spent == 0.0
    assert journal.resumed == Resumed(0, 0, 0.0), "it was not sent again"


def test_an_answer_that_was_lost_makes_the_cost_unknown_unless_answers_are_free(tmp_path: Path) -> None:
    for free, cost in ((False, None), (True, 0.0)):
        folder = tmp_path / str(free)
        with journalled(folder, replying(LOST), budget=Budget(free=free)) as (asker, _):
            asker.ask(request())
        with journalled(folder, replying(GOOD)) as (asker, journal):
            asker.ask(request())
        assert journal.resumed == Resumed(0, 0, cost)


def test_a_budget_is_charged_once(tmp_path: Path) -> None:
    with journalled(tmp_path, replying(GOOD)) as (asker, _):
        asker.ask(request())
    budget = Budget()
    journal = opened(tmp_path)
    for _ in range(2):
        asking(Table(never), journal=journal, budget=budget)
    assert budget.calls == 1
    journal.close(done=True)


# The file


def test_a_line_is_on_disk_before_a_request_is_sent_and_before_its_reply_is_used(tmp_path: Path) -> None:
    kinds: list[list[str]] = []

    def answer(_: Request) -> Reply:
        kinds.append([next(iter(json.loads(line))) for line in Path(journal.path).read_bytes().splitlines()])
        return GOOD

    with journalled(tmp_path, answer) as (asker, journal):
        asker.ask(request())
        kinds.append([next(iter(json.loads(line))) for line in Path(journal.path).read_bytes().splitlines()])
    assert kinds == [["journal", "sent"], ["journal", "sent", "got"]]


def test_it_is_for_this_user_alone_and_goes_when_the_run_is_done(tmp_path: Path) -> None:
    journal = opened(tmp_path / "new")
    if os.name != "nt":
        assert Path(journal.path).stat().st_mode & 0o777 == 0o600
        assert Path(journal.path).parent.stat().st_mode & 0o777 == 0o700
    journal.got(request(), Table(never), GOOD, COST)
    journal.close(done=True)
    assert list((tmp_path / "new").iterdir()) == []
    journal.got(request(), Table(never), GOOD, COST)  # too late, at the end of an interrupted run
    assert list((tmp_path / "new").iterdir()) == []


def test_a_run_that_sent_nothing_leaves_nothing(tmp_path: Path) -> None:
    opened(tmp_path).close(done=False)
    assert list(tmp_path.iterdir()) == []


def test_a_line_torn_at_any_byte_is_cut_off_and_what_stands_before_it_is_used(tmp_path: Path) -> None:
    with journalled(tmp_path, replying(GOOD)) as (asker, journal):
        asker.ask(another(1))
        asker.ask(another(2))
    path = Path(journal.path)
    data = path.read_bytes()
    ends = [place for place, byte in enumerate(data, start=1) if byte == 10]
    for cut in range(0, len(data), 7):
        path.write_bytes(data[:cut])
        with journalled(tmp_path, replying(GOOD)) as (asker, journal):
            answers = [asker.ask(another(number)) for number in (1, 2)]
        assert [answer.cached for answer in answers] == [cut >= ends[2], cut >= ends[4]]
        assert journal.refused == 0
        assert all(json.loads(line) for line in path.read_bytes().splitlines())


def test_a_torn_line_is_no_answer_twice(tmp_path: Path) -> None:
    """What was torn is in flight for those who come later: once."""
    with journalled(tmp_path, replying(GOOD)) as (asker, journal):
        asker.ask(request())
    path = Path(journal.path)
    path.write_bytes(path.read_bytes()[:-9])
    for repeated, cached in ((1, False), (1, True)):
        with journalled(tmp_path, replying(GOOD)) as (asker, journal):
            assert asker.ask(request()).cached is cached
        assert journal.resumed is not None
        assert journal.resumed.repeated == repeated


def hostile() -> list[bytes]:
    key = identity(request(), Table(never))
    good = {**GOOD._asdict(), "content": list(GOOD.content)}
    lines: list[Any] = [
        7,
        [],
        {},
        None,
        {"got": key},
        {"got": 7, "cost": 0, "reply": good},
        {"got": "z" * 32, "cost": 0, "reply": good},
        {"got": key * 2, "cost": 0, "reply": good},
        {"got": [key], "cost": 0, "reply": good},
        {"got": key, "cost": -1, "reply": good},
        {"got": key, "cost": "1", "reply": good},
        {"got": key, "cost": True, "reply": good},
        {"got": key, "cost": 10**400, "reply": good},
        {"got": key, "cost": float("nan"), "reply": good},
        {"got": key, "cost": 0, "counted": float("inf"), "reply": good},
        {"sent": key, "model": "m", "most": {}},
        {"lost": key, "cost": []},
        {"unknown": key, "reply": good},
    ]
    replies: list[Any] = [
        None,
        "text",
        [],
        {**good, "content": "text"},
        {**good, "content": ["text"]},
        {**good, "content": None},
        {**good, "content": [{"type": "text", "text": {"score": 7}}]},
        {**good, "stop_reason": None},
        {**good, "tokens": [1, -2]},
        {**good, "tokens": [1] * 9},
        {**good, "tokens": {"input": 1}},
        {**good, "tokens": [10**12, 1]},
        {**good, "model": 7},
        {**good, "more": 7},
        {name: value for name, value in good.items() if name != "model"},
    ]
    written = [json.dumps(line).encode() for line in lines]
    written += [json.dumps({"kept": key, "reply": each}).encode() for each in replies]
    return [*written, b"", b"\xff\xfe", b"[" * 100_000, b'{"got": ' + b"9" * 10_000 + b"}", b"null"]


def test_lines_that_no_journal_writes_count_for_nothing_one_by_one(tmp_path: Path) -> None:
    with journalled(tmp_path, replying(GOOD)) as (asker, journal):
        asker.ask(request())
    path = Path(journal.path)
    head, *rest = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([head, *hostile(), *rest, *hostile()]) + b"\n")
    budget = Budget(max_cost_usd=1.0)
    with journalled(tmp_path, never, budget=budget) as (asker, journal):
        assert asker.ask(request()) == classified(cached=True)
        assert journal.get(request(), Table(never)) is None
    assert journal.refused > 20
    assert budget.spent == pytest.approx(COST)


def test_with_a_key_nothing_that_somebody_else_wrote_into_a_journal_is_used(tmp_path: Path) -> None:
    key = Seal(b"k" * 32)
    journal = opened(tmp_path, seal=key)
    for number in (1, 2):
        asking(Table(replying(GOOD)), journal=journal).ask(another(number))
    journal.close(done=False)
    path = Path(journal.path)
    head, *lines = path.read_bytes().splitlines()
    forged = [line.replace(b'\\"score\\": 7', b'\\"score\\": 10') for line in lines]
    assert forged != lines
    path.write_bytes(b"\n".join([head, *forged]) + b"\n")
    journal = opened(tmp_path, seal=key)
    assert journal.refused == 2
    assert journal.ignored == "2 lines of the run's journal were ignored: not whole, or not signed with this run's key"
    assert journal.get(another(1), Table(never)) is journal.get(another(2), Table(never)) is None
    journal.close(done=False)
    path.write_bytes(b"\n".join([head, *lines]) + b"\n")
    journal = opened(tmp_path, seal=key)
    assert journal.ignored is None
    assert journal.get(another(1), Table(never)) == classified(cached=True)
    journal.close(done=False)
    unsigned = [line.partition(b"\t")[0] for line in (head, *lines)]
    for seal, written in ((key, unsigned), (Seal(b"l" * 32), [head, *lines])):
        path.write_bytes(b"\n".join(written) + b"\n")
        journal = opened(tmp_path, seal=seal)
        assert str(journal.ignored).startswith("the journal of a run that was cut short was ignored: it is not signed")
        assert (journal.resumed, journal.get(another(2), Table(never))) == (None, None)
        journal.close(done=False)


def classified(*, cached: bool) -> Any:
    return Answer(Status.OK, {"score": 7}, GOOD, cached=cached)


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path) -> None:
    with journalled(tmp_path, replying(GOOD)) as (asker, journal):
        asker.ask(request())
    path = Path(journal.path)
    head, *rest = path.read_bytes().splitlines(keepends=True)
    with path.open("wb") as file:
        file.write(head)
        file.write(b'{"got": "')
        file.seek(2 * MOST_LINE, os.SEEK_CUR)  # a hole takes no space
        file.write(b'"}\n')
        file.writelines(rest)
    with journalled(tmp_path, never) as (asker, journal):
        assert asker.ask(request()).status is Status.OK
    assert journal.refused == 1


@pytest.mark.parametrize(
    "head", [b"", b"\n", b"{}", b'{"journal": 0, "run": "run"}', b'{"journal": 1, "run": "other"}', b"7", b"[1]"]
)
def test_a_file_that_is_not_of_this_run_is_begun_anew(tmp_path: Path, head: bytes) -> None:
    with journalled(tmp_path, replying(GOOD)) as (asker, journal):
        asker.ask(request())
    path = Path(journal.path)
    path.write_bytes(head + b"\n" + b"\n".join(path.read_bytes().splitlines()[1:]) + b"\n")
    with journalled(tmp_path, replying(GOOD)) as (asker, journal):
        assert not asker.ask(request()).cached
        assert journal.resumed is None
    with journalled(tmp_path, never) as (asker, journal):
        assert asker.ask(request()).cached


@needs_signals
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_is_left_alone(tmp_path: Path, kind: str) -> None:
    journal = opened(tmp_path)
    path = Path(journal.path)
    journal.close(done=True)
    target = tmp_path / "precious"
    target.write_text("precious")
    if kind == "link":
        path.symlink_to(target)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with journalled(tmp_path, replying(GOOD)) as (asker, journal):
        assert asker.ask(request()).status is Status.OK
        assert journal.failure is not None
    assert target.read_text() == "precious"
    assert os.path.lexists(path)


def test_where_there_can_be_no_folder_the_run_goes_on_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with journalled(tmp_path / "file" / "folder", replying(GOOD)) as (asker, journal):
        assert asker.ask(request()).status is Status.OK
        assert journal.resumed is None
    assert "cannot be written" in (journal.failure or "")


def test_old_journals_go_and_nothing_else_does(tmp_path: Path) -> None:
    old = time.time() - (STORED_DAYS + 1) * 86_400
    name = digest(b"an old run")
    gone = [tmp_path / f"{name}{SUFFIX}", tmp_path / f"{name}{SUFFIX}.batches"]
    stay = [tmp_path / "notes.journal", tmp_path / name, tmp_path / f"{name[:-1]}z{SUFFIX}"]
    for path in (*gone, *stay):
        path.write_text("x")
        os.utime(path, (old, old))
    young = tmp_path / f"{digest(b'a young run')}{SUFFIX}"
    young.write_text("x")
    opened(tmp_path).close(done=True)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in (*stay, young)}


def test_no_key_and_no_text_of_the_request_is_in_it(tmp_path: Path) -> None:
    with journalled(tmp_path, replying(GOOD)) as (asker, journal):
        asker.ask(request())
    assert b"a fenced skill" not in Path(journal.path).read_bytes()


def test_many_threads_write_whole_lines(tmp_path: Path) -> None:
    long = GOOD._replace(content=({"type": "text", "text": json.dumps({"score": 7}) + " " * 40_000},))
    with journalled(tmp_path, replying(long)) as (asker, journal):
        threads = [threading.Thread(target=lambda n=n: asker.ask(another(n))) for n in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with journalled(tmp_path, never) as (asker, journal):
        assert all(asker.ask(another(number)).cached for number in range(40))
    assert journal.refused == 0
