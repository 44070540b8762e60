"""The thread driver: order, how much is in flight, warming, and how a run ends when something goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.judge_schedule import rounds_of
from skillgate.llm.asker import AHEAD, OPEN, run
from skillgate.llm.port import Progress
from skillgate.model.exchange import Answer, Cause, Request, Status, Together
from tests import listening
from tests.llm.askers import Echo, judge, one, request

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from skillgate.model.exchange import Steps

    Layer = Callable[[], Steps[object]]

ROOT = Path(__file__).parents[2]


def judges(many: int, *, warming: bool = True) -> list[Callable[[], Steps[tuple[object, ...]]]]:
    return [partial(judge, f"s{number}", prefix=f"s{number}" if warming else "") for number in range(many)]


class Rounds:
    """Lets nobody go before as many as should be in flight have come: a run that keeps less of them never ends well."""

    def __init__(self, parties: int) -> None:
        self._barrier = threading.Barrier(parties)

    def ask(self, request: Request) -> Answer:
        self._barrier.wait(timeout=120)
        return Answer(Status.OK, request.subject)


class Gate:
    """Holds the requests of some subjects back until told."""

    def __init__(self, *held: str) -> None:
        self.open = threading.Event()
        self.asked: list[str] = []
        self._held = held

    def ask(self, request: Request) -> Answer:
        self.asked.append(request.subject)
        if request.subject in self._held:
            assert self.open.wait(120)
        return Answer(Status.OK, request.subject)


def test_results_come_in_the_order_of_the_layers_whatever_ends_first() -> None:
    gate = Gate("s0")

    def last() -> Steps[object]:
        value = yield from one("q", "s9")
        gate.open.set()
        return value

    layers: list[Layer] = [*(partial(one, "q", f"s{number}") for number in range(9)), last]
    assert list(run(layers, gate, in_flight=3)) == [f"s{number}" for number in range(10)]
    assert gate.asked[0] == "s0"


def test_branches_give_their_results_in_their_order_however_deep() -> None:
    def inner(name: str) -> Steps[object]:
        found: tuple[object, ...] = yield Together((one("a", name), one("b", name)))
        nothing: tuple[object, ...] = yield Together(())
        assert nothing == ()
        return found

    def layer() -> Steps[object]:
        found: object = yield Together((one("first"), inner("x"), inner("y")))
        again = yield request("last")
        return found, again.value

    assert list(run([layer], Echo(0.002))) == [(("skill first", ("x a", "x b"), ("y a", "y b")), "skill last")]


def test_a_layer_that_asks_nothing_has_a_result_too() -> None:
    def silent() -> Generator[Request, Answer, str]:
        yield from ()
        return "nothing to ask"

    assert list(run([silent, silent], Echo())) == ["nothing to ask"] * 2
    assert list(run([], Echo())) == []


def test_as_many_requests_are_in_flight_as_may_be_whenever_there_is_work() -> None:
    layers = [partial(one, "q", f"s{number}") for number in range(40)]
    assert len(list(run(layers, Rounds(8), in_flight=8))) == 40


class Lockstep:
    """Answers all that wait at once, as soon as eight do or no more come: each time is a round of a schedule."""

    def __init__(self) -> None:
        self.rounds: list[int] = []
        self._waiting: list[threading.Event] = []
        self._change = threading.Condition()
        self.over = False

    def ask(self, request: Request) -> Answer:
        answered = threading.Event()
        with self._change:
            self._waiting.append(answered)
            self._change.notify_all()
        assert answered.wait(60)
        return Answer(Status.OK, request.subject)

    def answer(self) -> None:
        while not self.over:
            with self._change:
                known = -1
                while len(self._waiting) < 8 and len(self._waiting) != known:
                    known = len(self._waiting)
                    self._change.wait(0.3)
                if self._waiting:
                    self.rounds.append(len(self._waiting))
                for answered in self._waiting:
                    answered.set()
                self._waiting.clear()


def test_a_run_takes_no_more_rounds_than_a_list_schedule() -> None:
    """20 skills, 6 requests each, with their dependencies and the warming: 15 rounds for 8 in flight."""
    asker = Lockstep()
    answering = threading.Thread(target=asker.answer)
    answering.start()
    try:
        assert len(list(run(judges(20), asker, in_flight=8))) == 20
    finally:
        asker.over = True
        answering.join()
    best = rounds_of(20, judges=1, in_flight=8)
    assert sum(asker.rounds) == sum(best) == 120
    assert len(best) == 15
    assert len(asker.rounds) <= len(best) + 1


def test_there_are_never_more_in_flight_than_may_be() -> None:
    asker = Echo(0.002)
    list(run(judges(6), asker, in_flight=3))
    assert asker.most_in_flight == 3
    assert len(asker.asked) == 36


def test_requests_of_earlier_layers_go_first() -> None:
    asker = Echo()
    list(run(judges(5), asker, in_flight=1))
    assert [name.split()[0] for name in asker.asked] == [f"s{number}" for number in range(5) for _ in range(6)]


def test_one_request_warms_the_prompt_cache_before_its_like_are_sent() -> None:
    asker = Echo(0.02)
    list(run(judges(1), asker, in_flight=8))
    assert sorted(asker.asked[:2]) == ["s0 orchestration", "s0 prompts"]  # one of each beginning
    assert asker.done.index("s0 orchestration") < asker.seen["s0 output"]
    assert asker.most_in_flight >= 3  # then all others at once


def test_an_answer_that_was_kept_warms_nothing_and_the_next_goes_ahead() -> None:
    asker = Echo(0.02, cached=frozenset({"s0 prompts", "s0 orchestration", "s0 predictions"}))
    list(run(judges(1), asker, in_flight=8))
    assert asker.done.index("s0 output") < asker.seen["s0 scope"]  # it was alone
    assert asker.done.index("s0 output") < asker.seen["s0 others"]
    assert len(asker.done) == 6


def test_a_warming_request_that_fails_does_not_hold_the_others_for_ever() -> None:
    class Down:
        def ask(self, request: Request) -> Answer:
            return Answer(Status.ERROR, cause=Cause.SERVER, reason="down")

    assert list(run(judges(3), Down())) == [(f"s{number}", None, None, None, None, None) for number in range(3)]


def test_equal_layers_do_not_hold_up_different_ones() -> None:
    """Eight copies of one skill wait for one prefix: the places that they leave are taken by the next skills."""
    copies: list[Layer] = [partial(one, f"q{number}", "copy", prefix="copy") for number in range(8)]
    others: list[Layer] = [partial(one, "q", f"s{number}") for number in range(8)]
    gate = Gate("copy")

    def opens() -> Steps[object]:
        yield request("q", "opens")
        gate.open.set()
        return None

    assert len(list(run([*copies, *others, opens], gate, in_flight=4))) == 17


def test_few_generators_are_open_at_once_and_none_is_made_long_before_it_is_needed() -> None:
    now, most = 0, 0

    def counted(number: int) -> Steps[object]:
        nonlocal now, most
        now += 1
        most = max(most, now)
        value = yield from judge(f"s{number}", prefix=f"s{number}")
        now -= 1
        return value

    assert sum(1 for _ in run([partial(counted, number) for number in range(300)], Echo(0.0005), in_flight=8)) == 300
    assert most <= OPEN * 8
    assert most <= 16  # with layers of this shape


def test_no_more_than_a_bounded_number_of_results_waits_for_a_slow_layer() -> None:
    gate = Gate("s0")
    begun: list[int] = []

    def layer(number: int) -> Steps[object]:
        begun.append(number)
        return (yield from one("q", f"s{number}"))

    results = run([partial(layer, number) for number in range(500)], gate, in_flight=2)
    threading.Timer(0.3, gate.open.set).start()
    assert next(results) == "s0"
    assert len(begun) <= AHEAD * 2 + 2
    assert sum(1 for _ in results) == 499


def test_all_code_of_layers_runs_on_the_callers_thread() -> None:
    seen: set[int] = set()

    def layer() -> Steps[None]:
        for number in range(5):
            seen.add(threading.get_ident())
            yield request(f"q{number}")

    list(run([layer] * 5, Echo(0.001)))
    assert seen == {threading.get_ident()}


def test_an_exception_in_a_layer_comes_where_its_result_would_and_ends_the_run() -> None:
    asker, stop = Echo(0.001), threading.Event()

    def broken() -> Steps[object]:
        yield request("q", "broken")
        raise LookupError("a bug")

    layers: list[Layer] = [*judges(2), broken, *(partial(one, "q", f"later{number}") for number in range(50))]
    results = run(layers, asker, in_flight=2, stop=stop)
    assert [next(results), next(results)]
    with pytest.raises(LookupError, match="a bug"):
        next(results)
    assert stop.is_set()
    assert sum("later" in name for name in asker.asked) <= 3  # what was on its way, not what would have followed


def test_nothing_is_asked_for_layers_whose_results_can_never_be_taken() -> None:
    gate = Gate("s0")

    def broken() -> Steps[object]:
        yield request("q", "broken")
        threading.Timer(0.3, gate.open.set).start()
        raise LookupError("a bug")

    layers: list[Layer] = [partial(one, "q", "s0"), broken, *(partial(one, "q", f"later{n}") for n in range(50))]
    results = run(layers, gate, in_flight=2)
    assert next(results) == "s0"
    with pytest.raises(LookupError):
        next(results)
    assert gate.asked == ["s0", "broken"]


def test_an_exception_in_a_branch_closes_the_layers_other_generators() -> None:
    closed: list[str] = []

    def waits() -> Steps[None]:
        try:
            yield request("slow")
        finally:
            closed.append("waits")

    def breaks() -> Steps[None]:
        yield request("quick")
        raise LookupError("a bug")

    def layer() -> Steps[None]:
        try:
            yield Together((waits(), breaks()))
        finally:
            closed.append("layer")

    class Slow:
        def ask(self, request: Request) -> Answer:
            time.sleep(0.2 if request.question == "slow" else 0)
            return Answer(Status.OK, "")

    with pytest.raises(LookupError):
        list(run([layer], Slow()))
    assert closed == ["waits", "layer"]


def test_a_layer_that_cannot_even_be_made_is_an_exception_like_others() -> None:
    def unmade() -> Steps[object]:
        raise LookupError("no such file")

    layers: list[Layer] = [partial(one, "q"), unmade]
    results = run(layers, Echo())
    assert next(results) == "skill q"
    with pytest.raises(LookupError, match="no such file"):
        next(results)


def test_an_exception_of_the_asker_reaches_the_layer_that_asked() -> None:
    class Broken:
        def ask(self, request: Request) -> Answer:
            raise LookupError(request.question)

    def careful() -> Steps[str]:
        try:
            yield request("asked")
        except LookupError as error:
            return f"caught {error.args[0]}"
        return "nothing came"

    assert list(run([careful], Broken())) == ["caught asked"]
    with pytest.raises(LookupError):
        list(run([partial(one, "q")], Broken()))


def test_what_is_not_sent_when_a_run_is_stopped_is_answered_so() -> None:
    stop = threading.Event()

    class Stops:
        def ask(self, request: Request) -> Answer:
            stop.set()
            return Answer(Status.OK, "answered")

    def layer() -> Steps[tuple[Status, Cause | None, str]]:
        answer: Answer = yield request("q")
        return answer.status, answer.cause, answer.reason

    found = list(run([layer] * 30, Stops(), in_flight=1, stop=stop))
    assert found[0] == (Status.OK, None, "")
    assert found[1:] == [(Status.ERROR, Cause.STOPPED, "the run was stopped before this was asked")] * 29


def test_a_caller_that_takes_no_more_results_ends_the_run() -> None:
    asker, stop = Echo(0.01), threading.Event()
    results = run(judges(50), asker, in_flight=4, stop=stop)
    next(results)
    results.close()
    asked = len(asker.asked)
    assert len(asker.done) == asked  # what was on its way has come
    assert stop.is_set()
    time.sleep(0.05)
    assert len(asker.asked) == asked < 60


def test_progress_counts_layers_calls_cost_and_what_was_kept() -> None:
    told: list[Progress] = []
    asker = Echo(cached=frozenset({"s0 prompts"}))
    list(run(judges(3), asker, watch=told.append))
    last = told[-1]
    assert (last.layers, last.layers_done, last.calls, last.cached, last.failed) == (3, 3, 18, 1, 0)
    assert last.in_flight == 0
    assert last.cost_usd == pytest.approx(0.17)
    assert [each.calls for each in told] == sorted(each.calls for each in told)


def test_progress_knows_no_cost_once_a_price_is_unknown() -> None:
    class Unpriced:
        def ask(self, request: Request) -> Answer:
            cost = None if request.subject == "s1" else 0.5
            return Answer(Status.OK if cost else Status.INVALID, "", cost_usd=cost)

    told: list[Progress] = []
    list(run([partial(one, "q", f"s{number}") for number in range(3)], Unpriced(), in_flight=1, watch=told.append))
    assert told[-1].cost_usd is None
    assert told[-1].failed == 1


INTERRUPTED = """
import sys, time, threading
from functools import partial
from pathlib import Path
from skillgate.llm.asker import run
from skillgate.model.exchange import Answer, Status
from tests.llm.askers import one

folder, latency_s = Path(sys.argv[1]), float(sys.argv[2])

class Stores:
    def ask(self, request):
        (folder / f"{request.subject}.sent").touch()
        time.sleep(latency_s)
        (folder / f"{request.subject}.kept").touch()
        return Answer(Status.OK, "")

try:
    layers = [partial(one, "q", f"s{number}") for number in range(100)]
    list(run(layers, Stores(), in_flight=4, grace_s=float(sys.argv[3])))
except KeyboardInterrupt:
    (folder / "interrupted").touch()
    raise SystemExit(130)
"""


def interrupted(folder: Path, *, latency_s: float, grace_s: float) -> subprocess.Popen[bytes]:
    """Start a run in a process of its own and send it Ctrl-C once four requests are on their way."""
    arguments = [sys.executable, "-c", INTERRUPTED, str(folder), str(latency_s), str(grace_s)]
    # Where the tests run in the background, Ctrl-C is ignored there and in whatever they start.
    process = subprocess.Popen(
        arguments, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, preexec_fn=listening.hear_ctrl_c
    )
    deadline = time.monotonic() + 30
    while len(list(folder.glob("*.sent"))) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_keeps_what_is_on_its_way_and_sends_nothing_new(tmp_path: Path) -> None:
    process = interrupted(tmp_path, latency_s=0.5, grace_s=20)
    assert process.wait(timeout=120) == 130
    names = sorted(path.stem for path in tmp_path.glob("*.sent"))
    assert names == ["s0", "s1", "s2", "s3"]
    assert sorted(path.stem for path in tmp_path.glob("*.kept")) == names


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_waits_no_longer_than_it_may(tmp_path: Path) -> None:
    began = time.monotonic()
    process = interrupted(tmp_path, latency_s=60, grace_s=0.3)
    assert process.wait(timeout=120) == 130
    assert time.monotonic() - began < 120
    assert not list(tmp_path.glob("*.kept"))


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_a_second_ctrl_c_waits_for_nothing(tmp_path: Path) -> None:
    process = interrupted(tmp_path, latency_s=60, grace_s=50)
    deadline = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
    assert process.wait(timeout=120) in (130, -signal.SIGINT)
    assert not list(tmp_path.glob("*.kept"))
