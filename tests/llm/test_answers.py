"""Answers kept between runs: found by all that they depend on, judged anew, shared by processes, never paid twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.cache import Cache
from skillgate.llm.answers import Answers, canonical, folder_of, identity
from skillgate.llm.flow import HAS_LOCKS, KeyLocks
from skillgate.llm.port import Classified
from skillgate.model.exchange import Answer, Reply, Request, Status, Tokens
from tests.llm.askers import Named, reply, request

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
ASKED = request("q", text="Ünïcode 日 \udc80")


def judged(request: Request, reply: Reply) -> Classified:
    """Take whole numbers for answers."""
    if reply.text.isdigit():
        return Classified(Status.OK, int(reply.text), "")
    return Classified(Status.INVALID, None, "not a number")


def opened(folder: Path | str, *, refresh: bool = False) -> Answers:
    return Answers(str(folder), now=time.time, classify=judged, refresh=refresh)


class Elsewhere(Named):
    endpoint = "https://other.example"


class Warmer(Named):
    variant = "temperature 1.5"


class Other(Named):
    name = "openai-compatible"


def test_an_answer_comes_back_with_the_time_that_it_took_where_that_is_known(tmp_path: Path) -> None:
    answers = opened(tmp_path)
    for given, seconds in ((None, None), (1.25, 1.25), (float("nan"), None), (-1.0, None)):
        answers.put(ASKED, Named(), reply("7"), seconds=given)
        found = answers.get(ASKED, Named())
        assert found is not None
        assert (found.first_seconds, found.seconds, found.cached) == (seconds, 0.0, True)


def test_an_answer_comes_back_whole_and_costs_nothing(tmp_path: Path) -> None:
    given = Reply(
        ({"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "7"}),
        "end_turn",
        Tokens(1, 2, 3, 4),
        "claude-sonnet-5-5-20261001",
        "req_7",
        "",
    )
    opened(tmp_path / "new").put(ASKED, Named(), given)
    assert opened(tmp_path / "new").get(ASKED, Named()) == Answer(Status.OK, 7, given, cached=True)


def test_a_reply_without_tokens_comes_back_without(tmp_path: Path) -> None:
    opened(tmp_path).put(ASKED, Named(), reply(tokens=None))
    found = opened(tmp_path).get(ASKED, Named())
    assert found is not None
    assert found.reply == reply(tokens=None)


@pytest.mark.parametrize(
    "other",
    [
        request("q", text="Ünïcode 日 \udc81"),
        request("q", text="Ünïcode 日 \udc80", model="claude-haiku-5-5"),
        ASKED._replace(body={**ASKED.body, "max_tokens": 1_001}),
        ASKED._replace(body={**ASKED.body, "output_config": {"effort": "low"}}),
        ASKED._replace(prompt_version="2"),
        ASKED._replace(rubric_version="2"),
        ASKED._replace(prompt_version="", rubric_version=""),
        ASKED._replace(sample=1),
    ],
)
def test_nothing_else_finds_it(tmp_path: Path, other: Request) -> None:
    asked = ASKED._replace(prompt_version="1", rubric_version="1")
    opened(tmp_path).put(asked, Named(), reply())
    assert opened(tmp_path).get(asked, Named()) is not None
    assert opened(tmp_path).get(other, Named()) is None


def test_providers_do_not_share(tmp_path: Path) -> None:
    opened(tmp_path).put(ASKED, Named(), reply())
    assert opened(tmp_path).get(ASKED, Elsewhere()) is None
    assert opened(tmp_path).get(ASKED, Warmer()) is None
    assert opened(tmp_path).get(ASKED, Other()) is None


def test_what_an_answer_does_not_depend_on_finds_it_too(tmp_path: Path) -> None:
    opened(tmp_path).put(ASKED, Named(), reply())
    same = ASKED._replace(subject="moved", question="q2", prefix="p", typical_output=9)
    turned = same._replace(body=dict(reversed(list(same.body.items()))))
    assert opened(tmp_path).get(turned, Named()) is not None
    assert identity(turned, Named()) == identity(ASKED, Named())


def test_a_body_of_other_containers_is_the_same_to_the_byte() -> None:
    body: Mapping[str, object] = {"messages": [{"content": "a"}], "max_tokens": 1}
    assert canonical(body) == canonical({"max_tokens": 1, "messages": ({"content": "a"},)})
    assert canonical({"a": 1}) != canonical({"a": "1"}) != canonical({"a": True})


def test_a_kept_reply_is_read_anew_whatever_it_is_worth(tmp_path: Path) -> None:
    opened(tmp_path).put(ASKED, Named(), reply("no number"))
    answers = opened(tmp_path)
    found = answers.get(ASKED, Named())
    assert found == Answer(Status.INVALID, None, reply("no number"), reason="not a number", cached=True)
    assert answers.remark is not None
    assert answers.remark.startswith("1 cached reply is no usable answer")


def test_a_kept_reply_that_nothing_can_read_is_not_there(tmp_path: Path) -> None:
    def unreadable(request: Request, reply: Reply) -> Classified:
        raise RecursionError

    opened(tmp_path).put(ASKED, Named(), reply("7"))
    assert Answers(str(tmp_path), now=time.time, classify=unreadable).get(ASKED, Named()) is None


@pytest.mark.parametrize(
    "change",
    [
        {"format": 0},
        {"reply": None},
        {"reply": {}},
        {"reply": {"content": [], "stop_reason": 1}},
        {"content": ["4"]},
        {"content": 4},
        {"stop_reason": None},
        {"model": ["x"]},
        {"tokens": [1, 2, 3, "4"]},
        {"tokens": [1, 2, 3, -4]},
        {"tokens": [1, 2, 3, 10**400]},
        {"tokens": [1, 2, 3, 4, 5]},
        {"tokens": {"input": 1}},
        {"extra": 1},
    ],
)
def test_an_entry_of_another_make_is_not_there(tmp_path: Path, change: dict[str, Any]) -> None:
    """Whoever can write the folder can write a sound entry of an unsound reply."""
    fields = {**reply()._asdict(), "content": [{"type": "text", "text": "4"}]}
    entry: dict[str, Any] = {"format": 1, "provider": "anthropic", "date": "2026-11-22T00:00:00+00:00", "reply": fields}
    cache, key = Cache(str(tmp_path), now=time.time), identity(ASKED, Named())
    cache.put(key, json.dumps(entry))
    assert opened(tmp_path).get(ASKED, Named()) is not None
    top = {"format", "reply"} & set(change)
    cache.put(key, json.dumps({**entry, **change} if top else {**entry, "reply": {**fields, **change}}))
    assert opened(tmp_path).get(ASKED, Named()) is None


@pytest.mark.parametrize("text", ["", "[]", "null", '"x"', "{", "[" * 100_000])
def test_an_entry_that_is_no_document_is_not_there(tmp_path: Path, text: str) -> None:
    Cache(str(tmp_path), now=time.time).put(identity(ASKED, Named()), text)
    assert opened(tmp_path).get(ASKED, Named()) is None


def test_a_refreshed_run_asks_anew_once_and_keeps_it(tmp_path: Path) -> None:
    opened(tmp_path).put(ASKED, Named(), reply("4"))
    fresh = opened(tmp_path, refresh=True)
    assert fresh.get(ASKED, Named()) is None
    fresh.put(ASKED, Named(), reply("5"))
    for answers in (fresh, opened(tmp_path)):
        found = answers.get(ASKED, Named())
        assert found is not None
        assert found.value == 5


def test_without_a_folder_nothing_is_kept_and_nothing_is_wrong() -> None:
    answers = opened("")
    answers.put(ASKED, Named(), reply())
    assert answers.get(ASKED, Named()) is None
    with answers.exclusive(ASKED, Named()) as kept:
        assert kept is None
    answers.close()
    assert answers.failure is None


def test_a_folder_that_cannot_be_written_is_said_once_and_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    answers = opened(tmp_path / "file")
    for _ in range(2):
        with answers.exclusive(ASKED, Named()) as kept:
            assert kept is None
            answers.put(ASKED, Named(), reply())
    answers.close()
    assert answers.failure is not None
    assert answers.failure.startswith("cannot write the cache: ")


def test_the_oldest_answers_go_when_there_are_too_many(tmp_path: Path) -> None:
    now = time.time() - 1_000
    answers = Answers(str(tmp_path), now=lambda: now, classify=judged, most_bytes=5_000)
    for number in range(50):
        answers.put(ASKED._replace(sample=number), Named(), reply("9" * 100))
        path = max(tmp_path.glob("??/*"), key=lambda file: file.stat().st_mtime_ns)
        os.utime(path, (now + number, now + number))
    answers.close()
    assert sum(file.stat().st_size for file in tmp_path.glob("??/*")) <= 5_000
    assert answers.get(ASKED._replace(sample=49), Named()) is not None
    assert answers.get(ASKED._replace(sample=0), Named()) is None


def test_where_answers_lie(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": "", "LOCALAPPDATA": str(tmp_path)}
    assert folder_of(home, None, "/x") == folder_of(home, "", "/x")
    assert Path(folder_of(home, None, "/x")).name == "answers"
    assert Path(folder_of(home, None, "/x")).is_relative_to(tmp_path)
    assert folder_of({}, None, "/x") == ""
    assert folder_of(home, ".kept/answers", str(tmp_path)) == str(tmp_path / ".kept/answers")
    assert folder_of({}, str(tmp_path), "/x") == str(tmp_path)


def test_of_equal_requests_at_the_same_time_one_is_asked(tmp_path: Path) -> None:
    answers, paid = opened(tmp_path), []
    start = threading.Barrier(8)

    def ask() -> object:
        start.wait()
        with answers.exclusive(ASKED, Named()) as kept:
            if kept is not None:
                return kept.value
            paid.append(1)
            time.sleep(0.05)
            answers.put(ASKED, Named(), reply("6"))
            return 6

    with ThreadPoolExecutor(8) as pool:
        assert [found.result() for found in [pool.submit(ask) for _ in range(8)]] == [6] * 8
    assert len(paid) == 1


def test_when_the_one_that_asked_got_nothing_the_next_asks(tmp_path: Path) -> None:
    answers = opened(tmp_path)

    def ask() -> bool:
        with answers.exclusive(ASKED, Named()) as kept:
            return kept is None

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda _: ask(), range(8)))


def test_different_requests_do_not_wait_for_one_another(tmp_path: Path) -> None:
    answers, together = opened(tmp_path), threading.Barrier(4)

    def ask(number: int) -> bool:
        with answers.exclusive(ASKED._replace(sample=number), Named()) as kept:
            together.wait(timeout=120)
            return kept is None

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(4)))


PROCESS = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from skillgate.llm.answers import Answers
from tests.llm.askers import Named, reply, request
from tests.llm.test_answers import judged

folder, start, log, number = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
answers = Answers(str(folder), now=time.time, classify=judged)
print("ready", flush=True)
while not start.exists():
    time.sleep(0.002)

def ask(each):
    asked = request("q", f"s{each}")
    with answers.exclusive(asked, Named()) as kept:
        if kept is None:
            with open(log, "a") as file:
                file.write(f"{each}\\n")
            time.sleep(0.02)
            answers.put(asked, Named(), reply(str(each) * 300))
            return True
        assert kept.value == int(str(each) * 300)
        return False

with ThreadPoolExecutor(4) as pool:
    paid = sum(pool.map(ask, range(1, 31)))
assert answers.failure is None, answers.failure
answers.close()
print(paid, flush=True)
"""


def eight(folder: Path, round_: int) -> tuple[list[int], list[str]]:
    """Run eight processes at once over 30 requests; give what each paid for, and every request that was paid for."""
    start, log = folder / f"start{round_}", folder / f"log{round_}"
    log.touch()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(folder / "answers"), str(start), str(log), str(number)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    start.touch()
    paid = [int(process.communicate(timeout=120)[0]) for process in processes]
    assert [process.returncode for process in processes] == [0] * 8
    return paid, log.read_text().split()


@pytest.mark.skipif(not HAS_LOCKS, reason="processes take turns only where the system has locks on bytes of a file")
def test_eight_processes_pay_once_for_each_answer_and_never_again(tmp_path: Path) -> None:
    paid, asked = eight(tmp_path, 1)
    assert sorted(map(int, asked)) == list(range(1, 31))
    assert sum(paid) == 30
    assert eight(tmp_path, 2) == ([0] * 8, [])
    assert not list((tmp_path / "answers").rglob("*.part"))


KILLED = """
import sys, time
from skillgate.llm.flow import KeyLocks
with KeyLocks(sys.argv[1]).lock("ab" * 16):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not HAS_LOCKS, reason="processes take turns only where the system has locks on bytes of a file")
def test_a_process_that_is_killed_lets_go_of_its_turn(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        taken = threading.Event()

        def wait() -> None:
            with KeyLocks(str(tmp_path)).lock("ab" * 16):
                taken.set()

        waiting = threading.Thread(target=wait)
        waiting.start()
        assert not taken.wait(0.3)
        process.kill()
        assert taken.wait(120)
        waiting.join()


@pytest.mark.skipif(not HAS_LOCKS, reason="processes take turns only where the system has locks on bytes of a file")
def test_nobody_waits_for_another_process_for_ever(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with KeyLocks(str(tmp_path), longest_s=0.1).lock("ab" * 16):
            assert process.poll() is None
        stop = threading.Event()
        stop.set()
        with KeyLocks(str(tmp_path), stop=stop).lock("ab" * 16):
            assert process.poll() is None
        process.kill()


def test_a_link_in_place_of_the_file_of_turns_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "turns").symlink_to(target)
    with KeyLocks(str(tmp_path / "answers")).lock("ab" * 16):
        assert not target.exists()


class Harnessed(Named):
    session_variant = "harness 1"


class Newer(Named):
    session_variant = "harness 2"


def test_a_session_of_another_version_of_the_harness_is_another_one(tmp_path: Path) -> None:
    session = ASKED._replace(body={**ASKED.body, "runner": "agent-sdk"})
    opened(tmp_path).put(session, Harnessed(), reply())
    opened(tmp_path).put(ASKED, Harnessed(), reply())
    assert opened(tmp_path).get(session, Harnessed()) is not None
    assert opened(tmp_path).get(session, Newer()) is None
    assert opened(tmp_path).get(ASKED, Newer()) is not None
    assert opened(tmp_path).get(ASKED, Named()) is not None
