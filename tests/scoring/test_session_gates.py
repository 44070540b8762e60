"""Gates over simulated sessions: what fails, what cannot be told, and what was not measured."""

from __future__ import annotations

import pytest

pytest.importorskip("scipy", reason="intervals need the stats extra")

from skillgate.model.layers import Estimate, MonteCarloLayer, Simulation
from skillgate.model.score import Outcome
from skillgate.scoring.gate import fails_seldom, loads_enough, session_gates


def _layer(*runs: Simulation, reason: str | None = None, stopped: str | None = None) -> MonteCarloLayer:
    return MonteCarloLayer(0, len(runs), 0, 0, 0, None, runs=runs, reason=reason, stopped_early=stopped)


def _runs(outcome: str, count: int, *, activated: bool | None = None, should: bool = True) -> tuple[Simulation, ...]:
    return tuple(
        Simulation(f"{outcome} {activated} {n}", should, "direct", outcome, activated=activated) for n in range(count)
    )


@pytest.mark.parametrize(
    ("loaded", "measured", "mode", "expected"),
    [
        (40, 50, "point", Outcome.PASS),
        (39, 50, "point", Outcome.FAIL),
        (50, 50, "fail", Outcome.PASS),
        (42, 50, "fail", Outcome.INCONCLUSIVE),
        (39, 50, "pass", Outcome.PASS),
        (10, 50, "pass", Outcome.FAIL),
    ],
)
def test_a_share_is_held_to_its_least(loaded: int, measured: int, mode: str, expected: Outcome) -> None:
    assert loads_enough(loaded, measured, 0.8, mode) is expected


@pytest.mark.parametrize(
    ("failed", "measured", "mode", "expected"),
    [
        (5, 50, "point", Outcome.PASS),
        (6, 50, "point", Outcome.FAIL),
        (0, 50, "fail", Outcome.PASS),
        (3, 50, "fail", Outcome.INCONCLUSIVE),
        (20, 50, "warn", Outcome.FAIL),
    ],
)
def test_failures_are_held_to_their_most(failed: int, measured: int, mode: str, expected: Outcome) -> None:
    assert fails_seldom(failed, measured, 0.1, mode) is expected


def test_lost_sessions_are_in_no_denominator() -> None:
    runs = (*_runs("completed", 8, activated=True), *_runs("completed", 2, activated=False), *_runs("not measured", 2))
    (outcome,) = session_gates([_layer(*runs)], 0.8, None, "point")
    assert outcome.verdict is Outcome.PASS
    assert "8 of 10" in outcome.reason


def test_near_misses_count_for_failures_and_not_for_activation() -> None:
    near = _runs("failed", 2, activated=False, should=False)
    layer = _layer(*_runs("completed", 8, activated=True), *near)
    activation, failure = session_gates([layer], 1.0, 0.1, "point")
    assert activation.verdict is Outcome.PASS
    assert failure.verdict is Outcome.FAIL
    assert "2 of 10 sessions failed" in failure.reason


def test_what_was_not_measured_is_no_pass() -> None:
    lost = _layer(*_runs("not measured", 5), reason="5 of 5 sessions were lost")
    assert [one.verdict for one in session_gates([lost], 0.0, 1.0, "point")] == [Outcome.UNMEASURED, Outcome.UNMEASURED]


def test_an_early_stop_is_told_beside_its_verdict() -> None:
    stopped = _layer(*_runs("completed", 9, activated=False), *_runs("not run", 1), stopped="activation, after 9")
    (outcome,) = session_gates([stopped], 0.5, None, "point")
    assert outcome.verdict is Outcome.FAIL
    assert "stopped early: activation, after 9" in outcome.reason


def test_without_sessions_there_is_nothing_to_answer() -> None:
    assert list(session_gates([], 0.9, 0.1, "point")) == []


def test_a_bound_inside_the_interval_is_told_whatever_the_policy_makes_of_it() -> None:
    layer = _layer(*_runs("completed", 39, activated=True), *_runs("completed", 11, activated=False))
    for mode, verdict in (("point", Outcome.FAIL), ("pass", Outcome.PASS), ("fail", Outcome.INCONCLUSIVE)):
        (outcome,) = session_gates([layer], 0.8, None, mode)
        assert outcome.verdict is verdict
        assert "(inconclusive: 0.64 to 0.88)" in outcome.reason
    (warned,) = session_gates([layer], 0.8, None, "warn")
    assert warned.verdict is Outcome.PASS
    assert warned.reason.endswith("warning: it passes undecided")


def test_what_else_was_not_measured_leaves_the_gate_its_verdict() -> None:
    layer = _layer(*_runs("completed", 10, activated=True), reason="50 of 56 answers have no grade")
    (outcome,) = session_gates([layer._replace(measures={"activation_rate": Estimate(1.0, n=10)})], 0.5, None, "point")
    assert outcome.verdict is Outcome.PASS


def test_a_rate_that_was_not_measured_is_no_pass() -> None:
    lost = {"activation_rate": Estimate(None, reason="12 of 50 sessions were lost")}
    layer = _layer(*_runs("completed", 38, activated=True), *_runs("not measured", 12))._replace(measures=lost)
    (outcome,) = session_gates([layer], 0.5, None, "point")
    assert outcome.verdict is Outcome.UNMEASURED
