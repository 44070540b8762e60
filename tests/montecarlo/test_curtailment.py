"""A run that ends early has the verdict that it would have had."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from skillgate.model.layers import MonteCarloLayer, Simulation
from skillgate.model.report import GateOutcome
from skillgate.model.score import Outcome
from skillgate.montecarlo.layer import WAVE, Tally, activation, decided, failure
from skillgate.montecarlo.subject import Stop
from skillgate.scoring.gate import fails_seldom, loads_enough, session_gates

MODES = ("point", "pass", "warn", "fail")


def _row(outcome: str, *, should: bool = True, activated: bool = False) -> Simulation:
    return Simulation("prompt", should, "direct", outcome, activated=None if outcome == "not measured" else activated)


def _curtailed(rows: list[Simulation], stop: Stop) -> tuple[list[Simulation], bool]:
    """Look after every wave, as the layer does; give the rows with what was not run."""
    for done in range(WAVE, len(rows), WAVE):
        rest = rows[done:]
        fitting = sum(row.should_trigger for row in rest)
        if decided(rows[:done], fitting_left=fitting, left=len(rest), stop=stop) is not None:
            return [*rows[:done], *(_row("not run", should=row.should_trigger) for row in rest)], True
    return rows, False


def _verdicts(rows: list[Simulation], stop: Stop) -> list[Outcome]:
    layer = MonteCarloLayer(0, 0, 0, 0, 0, None, runs=tuple(rows))
    gates: list[GateOutcome] = list(
        session_gates([layer], stop.min_activation, stop.max_failure_rate, stop.on_inconclusive)
    )
    return [gate.verdict for gate in gates]


def _simulated(rng: np.random.Generator) -> tuple[list[Simulation], Stop]:
    """Draw a run: its size, how likely each outcome is, and the gates."""
    fitting, near = int(rng.integers(5, 61)), int(rng.integers(0, 13))
    p, broken, lost = rng.beta(2, 1), rng.beta(1, 6), rng.choice([0.0, 0.05, 0.3])
    rows = []
    for should in [True] * fitting + [False] * near:
        outcome = "not measured" if rng.random() < lost else "failed" if rng.random() < broken else "completed"
        rows.append(_row(outcome, should=should, activated=bool(rng.random() < (p if should else 0.1))))
    bounds = rng.choice([0.0, 0.05, 0.1, 0.25, 1 / 3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0], 2)
    asked = int(rng.integers(1, 4))
    stop = Stop(
        float(bounds[0]) if asked & 1 else None, float(1 - bounds[1]) if asked & 2 else None, str(rng.choice(MODES))
    )
    return rows, stop


def test_the_verdict_of_ten_thousand_runs_is_the_one_of_all_their_sessions() -> None:
    rng = np.random.default_rng(20_261_122)
    early = dict.fromkeys(MODES, 0)
    saved = 0
    for _ in range(10_000):
        rows, stop = _simulated(rng)
        kept, stopped = _curtailed(rows, stop)
        assert _verdicts(kept, stop) == _verdicts(rows, stop)
        early[stop.on_inconclusive] += stopped
        saved += sum(row.outcome == "not run" for row in kept)
    assert min(early.values()) > 500  # a run that never ends early would prove nothing
    assert saved > 10_000


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bound", [0.0, 0.2, 0.5, 2 / 3, 0.8, 1.0])
def test_two_completions_tell_of_all_of_them(mode: str, bound: float) -> None:
    stop = Stop(bound, bound, mode)
    for measured, left in product(range(1, 7), range(6)):
        for count in range(measured + 1):
            tally = Tally(count, measured, left)
            ways = [(hits, misses) for hits in range(left + 1) for misses in range(left + 1 - hits)]
            loads = {loads_enough(count + h, measured + h + m, bound, mode) for h, m in ways}
            fails = {fails_seldom(count + h, measured + h + m, bound, mode) for h, m in ways}
            assert activation(tally, stop) is (loads.pop() if len(loads) == 1 else None)
            assert failure(tally, stop) is (fails.pop() if len(fails) == 1 else None)


def test_nothing_is_decided_before_something_is_measured() -> None:
    assert activation(Tally(0, 0, 10), Stop(0.0)) is None
    assert failure(Tally(0, 0, 10), Stop(max_failure_rate=1.0)) is None
    lost = [_row("not measured")] * 8
    assert decided(lost, fitting_left=2, left=2, stop=Stop(0.0, 1.0)) is None


def test_all_gates_that_are_asked_must_be_decided() -> None:
    rows = [_row("completed", activated=True)] * 8
    assert decided(rows, fitting_left=2, left=2, stop=Stop(0.8)) == "min-activation 0.8 passes regardless of the rest"
    assert decided(rows, fitting_left=2, left=2, stop=Stop(0.8, 0.1)) is None
    assert decided(rows, fitting_left=2, left=2, stop=Stop(0.8, 0.2)) == (
        "min-activation 0.8 passes and max-failure-rate 0.2 passes regardless of the rest"
    )


def test_near_misses_to_come_cannot_change_activation_but_failures() -> None:
    rows = [_row("completed", activated=True)] * 8
    assert decided(rows, fitting_left=0, left=10, stop=Stop(1.0)) is not None
    assert decided(rows, fitting_left=0, left=10, stop=Stop(max_failure_rate=0.1)) is None


def test_without_gates_nothing_is_decided() -> None:
    assert decided([_row("completed")] * 8, fitting_left=0, left=0, stop=Stop()) is None
