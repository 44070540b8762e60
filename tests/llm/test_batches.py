"""Message batches through the real SDK, against a server on the loopback: rounds, failures, going on after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.errors import UsageError
from skillgate.llm import batch_queue, prices
from skillgate.llm.answers import Answers, identity
from skillgate.llm.batch_queue import Polling
from skillgate.llm.flow import RetryPolicy
from skillgate.llm.journal import BatchJournal, Journal
from skillgate.llm.port import Connection, Progress, ProviderError, classify
from skillgate.llm.prices import BatchBudget
from skillgate.llm.providers import batch
from skillgate.model.exchange import Answer, Cause, Reply, Status
from tests import listening
from tests.llm.askers import MODEL, USED, judge, request
from tests.llm.batch_server import (
    CANCELED,
    CREATE,
    EXPIRED,
    LIST,
    LOOK,
    RESULTS,
    BatchServer,
    Fault,
    echoed,
    errored,
    of_others,
    succeeded,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skillgate.model.exchange import Steps

ROOT = Path(__file__).parents[2]
KEY = "sk-ant-api03-THISISTHEKEY0123456789"
QUICK = RetryPolicy(tries=4, first_wait_s=0.001, longest_wait_s=0.05, deadline_s=30.0)
SOON = Polling(first_s=0.001, longest_s=0.005)
PRICE = (prices.cost(MODEL, USED) or 0.0) / 2


OPENED: list[batch.Batches] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def connected(url: str, **environ: str) -> batch.Batches:
    found = batch.connect(Connection(environ or {"ANTHROPIC_API_KEY": KEY}, base_url=url))
    OPENED.append(found)
    return found


def asking(server: BatchServer, *, budget: BatchBudget | None = None, **options: Any) -> batch_queue.BatchQueue[Any]:
    settings = {"retrying": QUICK, "polling": SOON, "timeout_s": 20.0, **options}
    return batch_queue.BatchQueue(connected(server.url), budget=budget or BatchBudget(), **settings)


def asked(name: str) -> Steps[Answer]:
    """Ask one question; gives the whole answer."""
    answer: Answer = yield request("q", name)
    return answer


def answered(server: BatchServer, *names: str, **options: Any) -> list[Answer]:
    return list(batch_queue.run([partial(asked, name) for name in names], asking(server, **options)))


def test_a_round_is_one_batch_however_many_layers_there_are() -> None:
    with BatchServer() as server:
        layers = [partial(judge, f"s{number}", prefix=f"s{number}") for number in range(20)]
        found = list(batch_queue.run(layers, asking(server)))
    questions = ("predictions", "orchestration", "output", "scope", "others")
    assert found == [(f"s{n}", *(f"s{n} {question}" for question in questions)) for n in range(20)]
    assert server.sizes == [100, 20]  # what depends on an answer goes in the next one


def test_what_is_submitted_is_the_whole_body_under_a_key_that_the_api_takes() -> None:
    wanted = request("q", "s")
    with BatchServer() as server:
        answered(server, "s")
    (key, body) = server.batches[0].requests[0]
    assert body == dict(wanted.body)
    assert key.isalnum()
    assert len(key) <= 64


def test_answers_cost_half_and_tell_what_they_took() -> None:
    budget = BatchBudget(max_cost_usd=1.0)
    with BatchServer() as server:
        (answer,) = answered(server, "s", budget=budget)
    assert (answer.status, answer.value, answer.sent) == (Status.OK, "s q", 1)
    assert answer.cost_usd == pytest.approx(PRICE)
    assert budget.spent == pytest.approx(PRICE)
    assert (answer.tokens.input, answer.tokens.output) == (1_000, 100)


def test_equal_requests_are_sent_and_paid_for_once() -> None:
    budget = BatchBudget()
    with BatchServer() as server:
        found = answered(server, "same", "same", "other", budget=budget)
    assert server.sizes == [2]
    assert [(each.value, each.sent, each.cached) for each in found] == [
        ("same q", 1, False),
        ("same q", 0, True),
        ("other q", 1, False),
    ]
    assert budget.spent == pytest.approx(2 * PRICE)


def test_batches_keep_to_the_bounds_of_requests_and_of_bytes() -> None:
    names = [f"s{number}" for number in range(25)]
    with BatchServer() as server:
        assert [each.value for each in answered(server, *names, most_requests=10)] == [f"{name} q" for name in names]
        assert server.sizes == [10, 10, 5]
    with BatchServer() as server:
        size = connected(server.url).size(request("q", "s1"))
        answered(server, *names[:9], most_bytes=3 * size + size // 2)
        assert server.sizes == [3, 3, 3]
    with BatchServer() as server:
        answered(server, *names[:2], most_bytes=1)
        assert server.sizes == [1, 1]  # one that is larger than a batch may be goes alone


def once_then(first: Mapping[str, Any]) -> Callable[[str, Mapping[str, Any], int], dict[str, Any]]:
    return lambda key, body, tries: dict(first) if tries == 1 else echoed(key, body, tries)


def always(result: Mapping[str, Any]) -> Callable[[str, Mapping[str, Any], int], dict[str, Any]]:
    return lambda key, body, tries: dict(result)


@pytest.mark.parametrize("first", [EXPIRED, errored("overloaded_error"), errored("api_error"), {"type": "new"}])
def test_what_may_succeed_the_next_time_goes_out_with_the_next_round(first: Mapping[str, Any]) -> None:
    with BatchServer(once_then(first)) as server:
        (answer,) = answered(server, "s")
    assert (answer.status, answer.value, answer.sent) == (Status.OK, "s q", 2)
    assert server.sizes == [1, 1]


def test_what_expires_every_time_is_submitted_three_times_and_then_has_a_cause() -> None:
    budget = BatchBudget()
    with BatchServer(always(EXPIRED)) as server:
        (answer,) = answered(server, "s", budget=budget)
    assert server.sizes == [1, 1, 1]
    assert (answer.status, answer.cause, answer.sent, answer.cost_usd) == (Status.ERROR, Cause.SERVER, 3, 0.0)
    assert "expired" in answer.reason
    assert budget.calls == 3


@pytest.mark.parametrize(
    ("result", "cause"),
    [
        (errored("invalid_request_error", "messages: no"), Cause.REQUEST),
        (errored("invalid_request_error", "prompt is too long"), Cause.TOO_LONG),
        (errored("authentication_error"), Cause.CREDENTIALS),
        (errored("not_found_error", "model: nobody"), Cause.MODEL),
        (CANCELED, Cause.STOPPED),
    ],
)
def test_what_cannot_succeed_is_not_submitted_again(result: Mapping[str, Any], cause: Cause) -> None:
    with BatchServer(always(result)) as server:
        (answer,) = answered(server, "s")
    assert server.sizes == [1]
    assert (answer.status, answer.cause, answer.cost_usd) == (Status.ERROR, cause, 0.0)


def test_one_request_that_fails_leaves_the_others_of_its_batch_alone() -> None:
    def answering(key: str, body: Mapping[str, Any], tries: int) -> dict[str, Any]:
        bad = body["messages"][-1]["content"] == "bad q"
        return errored("invalid_request_error") if bad else echoed(key, body, tries)

    with BatchServer(answering) as server:
        found = answered(server, "a", "bad", "c")
    assert [each.status for each in found] == [Status.OK, Status.ERROR, Status.OK]


def test_a_refused_output_format_is_asked_for_in_words_the_next_time() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    wanted = request("q")
    body = {**wanted.body, "output_config": {"format": {"type": "json_schema", "schema": schema}}}

    def layer() -> Steps[Answer]:
        answer: Answer = yield wanted._replace(body=body)
        return answer

    def answering(key: str, body: Mapping[str, Any], tries: int) -> dict[str, Any]:
        if "output_config" in body:
            return errored("invalid_request_error", "output_config.format is not supported by this model")
        return succeeded("{}")

    with BatchServer(answering) as server:
        (answer,) = batch_queue.run([layer], asking(server))
    assert (answer.status, answer.value, answer.sent) == (Status.OK, {}, 2)


@pytest.mark.parametrize("kind", [CREATE, LOOK, RESULTS])
@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_call_that_fails_for_now_is_repeated(kind: str, status: int) -> None:
    with BatchServer() as server:
        server.wrong(kind, Fault(status), Fault(status, headers={"retry-after": "0"}))
        (answer,) = answered(server, "s")
    assert (answer.status, server.sizes) == (Status.OK, [1])
    assert server.calls.count(kind) == 3


@pytest.mark.parametrize("kind", [CREATE, LOOK, RESULTS])
def test_a_call_whose_connection_is_cut_off_is_repeated_without_a_second_batch(kind: str) -> None:
    with BatchServer() as server:
        server.wrong(kind, Fault(0, done=True))
        (answer,) = answered(server, "s")
    assert (answer.status, server.sizes) == (Status.OK, [1])


def test_a_batch_that_never_got_there_is_submitted_again_and_counted() -> None:
    with BatchServer() as server:
        server.foreign = [of_others("msgbatch_theirs", 7)]
        server.wrong(CREATE, Fault(0))
        asker = asking(server)
        (answer,) = batch_queue.run([partial(asked, "s")], asker)
    assert (answer.status, server.sizes, asker.repeated) == (Status.OK, [1], 1)


@pytest.mark.parametrize(
    ("kind", "status", "cause"),
    [
        (CREATE, 401, Cause.CREDENTIALS),
        (CREATE, 403, Cause.CREDENTIALS),
        (CREATE, 404, Cause.REQUEST),
        (CREATE, 400, Cause.REQUEST),
        (LOOK, 401, Cause.CREDENTIALS),
        (LOOK, 404, Cause.REQUEST),
        (RESULTS, 403, Cause.CREDENTIALS),
    ],
)
def test_a_call_that_cannot_succeed_ends_the_run_with_causes(kind: str, status: int, cause: Cause) -> None:
    def twice() -> Steps[Answer]:
        yield request("first")
        answer: Answer = yield request("second")
        return answer

    with BatchServer() as server:
        server.wrong(kind, Fault(status))
        asker = asking(server)
        layers: list[Callable[[], Steps[Answer]]] = [partial(asked, "s"), twice]
        first, later = batch_queue.run(layers, asker)
    assert (first.status, first.cause) == (Status.ERROR, cause)
    assert (later.status, later.cause) == (Status.ERROR, Cause.STOPPED)
    assert server.calls.count(CREATE) == 1
    assert KEY not in first.reason + later.reason
    if kind != CREATE:
        assert "msgbatch_1 is out" in first.reason
        assert first.cost_usd is None  # it will be paid for, and nobody knows how much


def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for() -> None:
    with BatchServer() as server:
        server.wrong(CREATE, Fault(429, headers={"retry-after": "3600"}))
        began = time.monotonic()
        (answer,) = answered(server, "s")
    assert (answer.status, answer.cause) == (Status.ERROR, Cause.RATE)
    assert time.monotonic() - began < 120


def test_looks_grow_rarer_up_to_a_bound_and_obey_the_server_within_one() -> None:
    with BatchServer(looks=12) as server:
        answered(server, "s", polling=Polling(first_s=0.001, factor=2.0, longest_s=0.02))
    assert server.calls.count(LOOK) == 12
    with BatchServer(looks=3) as server:
        server.look_headers = {"retry-after": "3600"}
        began = time.monotonic()
        answered(server, "s", polling=Polling(first_s=0.001, longest_s=0.001, longest_retry_s=0.2))
    assert 0.4 <= time.monotonic() - began < 120


def test_a_batch_that_never_ends_is_given_up_at_last() -> None:
    with BatchServer(looks=10**9) as server:
        (answer,) = answered(server, "s", polling=SOON._replace(most_s=0.05))
    assert (answer.cause, answer.cost_usd) == (Cause.SERVER, None)
    assert "did not end" in answer.reason


def test_results_that_are_gone_are_submitted_again() -> None:
    with BatchServer() as server:
        server.wrong(RESULTS, Fault(410))
        asker = asking(server)
        (answer,) = batch_queue.run([partial(asked, "s")], asker)
    assert (answer.status, answer.sent, server.sizes) == (Status.OK, 2, [1, 1])
    assert any("gone" in note for note in asker.notes)


HOSTILE = [
    b"no JSON at all",
    b"[1, 2]",
    b'{"custom_id": 7, "result": {}}',
    b'{"custom_id": "nobody", "result": {"type": "succeeded"}}',
    b"[" * 100_000,
    b'\xff\xfe{"custom_id"',
    b"",
    b"   ",
    b'{"custom_id": "\\ud800", "result": null}',
]


def test_lines_that_are_no_results_are_told_and_passed_over() -> None:
    with BatchServer() as server:
        server.extra = HOSTILE
        asker = asking(server)
        (answer,) = batch_queue.run([partial(asked, "s")], asker)
    assert answer.status is Status.OK
    assert len(asker.notes) == 1
    assert "msgbatch_1 gave 7 results" in asker.notes[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"content": "text"},
        {"content": [{"text": "4"}]},
        {"stop_reason": None},
        {"usage": None},
    ],
)
def test_a_message_that_is_none_has_a_cause_and_an_unknown_cost(changes: dict[str, Any]) -> None:
    with BatchServer(always(succeeded(**changes))) as server:
        (answer,) = answered(server, "s")
    assert (answer.status, answer.cause, answer.sent, answer.cost_usd) == (Status.ERROR, Cause.REPLY, 3, None)


def test_numbers_that_cannot_be_are_no_cost() -> None:
    with BatchServer(always(succeeded(usage={"input_tokens": 10**400, "output_tokens": -1}))) as server:
        (answer,) = answered(server, "s")
    assert (answer.status, answer.cost_usd) == (Status.OK, None)


def test_a_request_that_the_results_leave_out_is_submitted_again() -> None:
    class Forgetful(BatchServer):
        def results(self, batch: Any) -> bytes:
            return super().results(batch) if len(self.batches) > 1 else b""

    with Forgetful() as server:
        (answer,) = answered(server, "s")
    assert (answer.status, answer.sent) == (Status.OK, 2)


def test_a_result_is_taken_once_however_often_it_comes() -> None:
    class Stuttering(BatchServer):
        def results(self, batch: Any) -> bytes:
            return super().results(batch) * 3

    budget = BatchBudget()
    with Stuttering() as server:
        (answer,) = answered(server, "s", budget=budget)
    assert answer.status is Status.OK
    assert budget.spent == pytest.approx(PRICE)


def test_results_may_be_larger_than_any_message() -> None:
    with BatchServer(always(succeeded("x" * 1_000_000))) as server:
        layers = [partial(asked, f"s{number}") for number in range(12)]
        sizes = [len(each.reply.text) for each in batch_queue.run(layers, asking(server)) if each.reply is not None]
    assert sizes == [1_000_000] * 12


def test_a_line_without_end_is_no_result() -> None:
    class Endless(BatchServer):
        def results(self, batch: Any) -> bytes:
            return b"x" * (9 << 20)

    with Endless() as server:
        (answer,) = answered(server, "s")
    assert (answer.status, answer.cause) == (Status.ERROR, Cause.REPLY)


@pytest.mark.parametrize("name", ["../../x", "a/b", "", None, "x" * 500])
def test_an_id_that_is_none_is_no_batch(name: str | None) -> None:
    class Odd(BatchServer):
        def create(self, document: Mapping[str, Any]) -> dict[str, Any]:
            return {**super().create(document), "id": name}

    with Odd() as server:
        server.foreign = [{"id": "../x"}, {}, 7]  # type: ignore[list-item]
        with pytest.raises(ProviderError) as failure:
            connected(server.url).create([("k", request("q"))], timeout_s=5.0)
    assert failure.value.lost
    assert failure.value.cause is Cause.REPLY


def test_what_does_not_fit_waits_for_what_turns_out_cheaper() -> None:
    names = [f"s{number}" for number in range(6)]
    most = (prices.most(MODEL, 1_020, 1_000) or 0.0) / 2  # about what one may cost
    budget = BatchBudget(max_cost_usd=2.5 * most)
    with BatchServer(looks=2) as server:
        found = answered(server, *names, budget=budget)
    assert [each.status for each in found] == [Status.OK] * 6
    assert server.sizes[0] == 2
    assert len(server.batches) > 1
    assert budget.spent <= 2.5 * most


def test_what_can_never_fit_is_answered_so_and_nothing_beyond_the_limit_is_submitted() -> None:
    budget = BatchBudget(max_cost_usd=0.02)
    with BatchServer(always(succeeded(usage={"input_tokens": 1_000, "output_tokens": 1_000}))) as server:
        found = answered(server, *(f"s{number}" for number in range(20)), budget=budget)
    causes = [each.cause for each in found]
    assert 0 < causes.count(None) < 20
    assert set(causes) == {None, Cause.BUDGET}
    assert budget.spent <= 0.02
    assert "max-cost-usd" in next(each.reason for each in found if each.cause is Cause.BUDGET)


def test_a_limit_of_calls_holds() -> None:
    with BatchServer() as server:
        found = answered(server, "a", "b", "c", budget=BatchBudget(max_calls=2))
    assert [each.cause for each in found] == [None, None, Cause.BUDGET]
    assert server.sizes == [2]


def test_what_was_kept_is_not_asked_again_nor_by_the_provider_of_single_messages(tmp_path: Path) -> None:
    def kept() -> Answers:
        return Answers(str(tmp_path), now=time.time, classify=lambda request, reply: classify(request, reply))

    with BatchServer() as server:
        answered(server, "s", answers=kept())
        (answer,) = answered(server, "s", answers=kept())
        assert (answer.cached, answer.value, server.sizes) == (True, "s q", [1])
        direct = connected(server.url).cached_as
        assert kept().get(request("q", "s"), direct) is not None


def test_what_a_model_did_in_a_batch_is_kept_whatever_it_is_worth(tmp_path: Path) -> None:
    def kept() -> Answers:
        return Answers(str(tmp_path), now=time.time, classify=classify)

    with BatchServer(once_then(errored("invalid_request_error", "prompt is too long"))) as server:
        (first,) = answered(server, "s", answers=kept())
        (again,) = answered(server, "s", answers=kept())
    assert (first.cause, first.cached, again.cached) == (Cause.TOO_LONG, False, True)
    assert (again.status, again.cause, again.reason) == (first.status, first.cause, first.reason)
    assert server.sizes == [1]


def test_layers_end_as_with_threads() -> None:
    def broken() -> Steps[Answer]:
        yield request("first")
        raise LookupError("a bug")

    with BatchServer() as server:
        layers: list[Callable[[], Steps[Answer]]] = [partial(asked, "a"), broken, partial(asked, "c")]
        results = batch_queue.run(layers, asking(server))
        assert next(results).value == "a q"
        with pytest.raises(LookupError, match="a bug"):
            next(results)
        assert list(batch_queue.run([], asking(server))) == []


def test_a_stopped_run_answers_what_is_out_and_leaves_the_batch(tmp_path: Path) -> None:
    stop = threading.Event()

    def watch(progress: Progress) -> None:
        if progress.in_flight:
            stop.set()

    with BatchServer(looks=10**9) as server:
        file = str(tmp_path / "batches")
        asker = asking(server, batches=BatchJournal(file, now=time.time), polling=Polling(first_s=30.0))
        (answer,) = batch_queue.run([partial(asked, "s")], asker, watch=watch, stop=stop)
        assert answer.cause is Cause.STOPPED
        assert "msgbatch_1 is out" in answer.reason
        server.looks = 0
        (again,) = answered(server, "s", batches=BatchJournal(file, now=time.time))
    assert (again.value, server.sizes) == ("s q", [1])


def test_progress_tells_calls_and_what_they_cost() -> None:
    told: list[Progress] = []
    with BatchServer() as server:
        list(batch_queue.run([partial(judge, f"s{number}") for number in range(3)], asking(server), watch=told.append))
    last = told[-1]
    assert (last.layers, last.layers_done, last.calls, last.failed, last.in_flight) == (3, 3, 18, 0, 0)
    assert last.cost_usd == pytest.approx(18 * PRICE)
    assert max(each.in_flight for each in told) == 14  # told as each answer is taken


CHILD = """
import sys, time
from functools import partial
from skillgate.llm import batch_queue
from skillgate.llm.prices import BatchBudget
from skillgate.llm.batch_queue import Polling
from skillgate.llm.journal import BatchJournal, Journal
from skillgate.llm.port import Connection
from skillgate.llm.providers import batch
from tests.llm.askers import chain

url, folder = sys.argv[1:]
provider = batch.connect(Connection({"ANTHROPIC_API_KEY": "sk-ant-x"}, base_url=url))
journal = Journal(folder, "run", now=time.time)
asker = batch_queue.BatchQueue(
    provider, budget=BatchBudget(), journal=journal, batches=BatchJournal(folder + "/batches", now=time.time),
    polling=Polling(first_s=0.05, longest_s=0.05),
)
try:
    for value in batch_queue.run([partial(chain, f"s{n}") for n in range(5)], asker):
        print(value, flush=True)
except KeyboardInterrupt:
    raise SystemExit(130)
journal.close(done=True)
print("repeated", asker.repeated, "resumed", journal.resumed, flush=True)
"""


def child(server: BatchServer, folder: Path) -> subprocess.Popen[str]:
    """Run five layers of two rounds in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, server.url, str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=listening.hear_ctrl_c if sys.platform != "win32" else None,
    )


def until(server: BatchServer, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 90  # a child loads the SDK first
    while not condition():
        assert time.monotonic() < deadline, server.calls
        time.sleep(0.01)


VALUES = [f"s{number} predictions" for number in range(5)]


@pytest.mark.skipif(sys.platform == "win32", reason="kills with signals")
@pytest.mark.parametrize(("how", "batches_out"), [("SIGKILL", 1), ("SIGINT", 2)])
def test_a_run_that_ended_between_submitting_and_results_goes_on_and_submits_nothing_twice(
    tmp_path: Path, how: str, batches_out: int
) -> None:
    with BatchServer() as server:
        server.slow = {f"msgbatch_{batches_out}"}
        process = child(server, tmp_path)
        until(server, lambda: _known(tmp_path) >= batches_out)
        process.send_signal(signal.Signals[how])
        process.communicate(timeout=60)
        submitted = len(server.batches)
        server.slow = set()
        again = child(server, tmp_path)
        printed, _ = again.communicate(timeout=90)
    assert again.returncode == 0
    assert printed.splitlines()[:5] == VALUES
    assert server.sizes == [5, 5]
    assert submitted == batches_out
    assert "repeated 0" in printed


def _known(folder: Path) -> int:
    file = folder / "batches"
    return file.read_text(encoding="utf-8").count('"batch"') if file.exists() else 0


@pytest.mark.skipif(sys.platform == "win32", reason="kills with signals")
@pytest.mark.parametrize("arrived", [True, False])
def test_a_batch_whose_id_never_arrived_is_looked_for_before_it_is_submitted_again(
    tmp_path: Path, *, arrived: bool
) -> None:
    with BatchServer() as server:
        server.wrong(CREATE, Fault(held=True, done=arrived))
        process = child(server, tmp_path)
        assert server.arrived.wait(90)
        process.kill()
        process.communicate(timeout=60)
        server.foreign = [of_others("msgbatch_theirs", 6)]
        again = child(server, tmp_path)
        printed, _ = again.communicate(timeout=90)
    assert printed.splitlines()[:5] == VALUES
    assert server.sizes == [5, 5]
    assert LIST in server.calls
    assert ("repeated 0" if arrived else "repeated 5") in printed


def test_a_batch_of_somebody_else_that_looks_like_ours_gives_no_wrong_answers(tmp_path: Path) -> None:
    file = str(tmp_path / "batches")
    with BatchServer() as server:
        answered(server, "theirs")  # of as many requests, and nobody here knows it
        journal = BatchJournal(file, now=time.time)
        provider = connected(server.url)
        key = identity(request("q", "ours"), provider.cached_as)
        journal.intend([key])
        asker = asking(server, batches=BatchJournal(file, now=time.time))
        (answer,) = batch_queue.run([partial(asked, "ours")], asker)
    assert (answer.value, answer.sent) == ("ours q", 2)
    assert "gave 1 results that were not requested" in asker.notes[0]


def test_a_run_that_goes_on_takes_replies_from_its_journal_and_pays_for_none_twice(tmp_path: Path) -> None:
    file, budgets = str(tmp_path / "batches"), (BatchBudget(), BatchBudget())
    calls = []
    with BatchServer() as server:
        for budget in budgets:
            journal = Journal(str(tmp_path), "run", now=time.time)
            options = {"journal": journal, "batches": BatchJournal(file, now=time.time)}
            found = answered(server, "same", "same", "other", budget=budget, **options)
            journal.close(done=False)
            assert [each.value for each in found] == ["same q", "same q", "other q"]
            calls.append(len(server.calls))
    assert calls[0] == calls[1]  # nobody was asked anything the second time
    assert [budget.spent for budget in budgets] == [pytest.approx(2 * PRICE)] * 2
    assert [budget.calls for budget in budgets] == [2, 2]


def test_an_old_batch_that_was_deleted_is_submitted_again(tmp_path: Path) -> None:
    file = str(tmp_path / "batches")
    with BatchServer() as server:
        answered(server, "s", batches=BatchJournal(file, now=time.time))
        server.batches.clear()
        (answer,) = answered(server, "s", batches=BatchJournal(file, now=time.time))
    assert (answer.value, answer.sent, server.sizes) == ("s q", 2, [1])


def test_a_batch_that_was_refused_is_not_looked_for_later(tmp_path: Path) -> None:
    file = str(tmp_path / "batches")
    with BatchServer() as server:
        server.wrong(CREATE, Fault(400))
        answered(server, "s", batches=BatchJournal(file, now=time.time))
        answered(server, "s", batches=BatchJournal(file, now=time.time))
    assert LIST not in server.calls


def test_a_line_that_was_cut_off_or_made_up_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "batches"
    journal = BatchJournal(str(file), now=time.time)
    journal.submitted(journal.intend(["a" * 32]), "msgbatch_1")
    journal.close()
    with file.open("ab") as handle:
        handle.write(b'[1]\n{"batch": "../../x", "intent": "y"}\n{"keys": 7, "format": 1}\n{"intent": "torn')
    journal = BatchJournal(str(file), now=time.time)
    assert [(each.keys, each.batch) for each in journal.intents] == [(("a" * 32,), "msgbatch_1")]
    assert journal.unread == 4
    journal.submitted(journal.intend(["b" * 32]), "msgbatch_2")
    journal.close()
    assert [each.batch for each in BatchJournal(str(file), now=time.time).intents] == ["msgbatch_1", "msgbatch_2"]


def test_a_file_that_cannot_be_used_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be stored there"):
        BatchJournal(str(tmp_path / "none" / "batches"), now=time.time)
    file = tmp_path / "batches"
    file.write_text(json.dumps({"format": 99, "intent": "x", "at": 0, "keys": []}) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="format 99"):
        BatchJournal(str(file), now=time.time)


def test_no_key_is_in_messages_or_on_disk(tmp_path: Path) -> None:
    file = tmp_path / "batches"
    with BatchServer(always(errored("invalid_request_error", f"bad key {KEY}"))) as server:
        (answer,) = answered(server, "s", batches=BatchJournal(str(file), now=time.time))
    assert "THISISTHEKEY" not in answer.reason
    assert "THISISTHEKEY" not in file.read_text(encoding="utf-8")


def test_a_single_request_may_go_through_a_batch_of_one() -> None:
    with BatchServer() as server:
        server.look_headers = {"retry-after": "0"}
        reply = connected(server.url).send(request("q", "s"), timeout_s=20.0)
        assert isinstance(reply, Reply)
        assert reply.text == "s q"


def test_only_anthropics_own_api_has_batches_of_this_kind() -> None:
    with pytest.raises(UsageError, match="SKILLGATE_ANTHROPIC_PLATFORM"):
        batch.connect(Connection({"SKILLGATE_ANTHROPIC_PLATFORM": "bedrock"}))


def test_without_a_key_the_run_ends_with_a_reason() -> None:
    with BatchServer() as server:
        asker: batch_queue.BatchQueue[Any] = batch_queue.BatchQueue(
            connected(server.url, NOTHING=""), budget=BatchBudget(), retrying=QUICK, polling=SOON
        )
        (answer,) = batch_queue.run([partial(asked, "s")], asker)
    assert answer.cause is Cause.CREDENTIALS
    assert server.calls == []
