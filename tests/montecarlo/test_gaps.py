"""What is missing of a skill's sessions, and what it takes with it: scores, gates, a badge."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("numpy", reason="measures need the stats extra")

from skillgate.model.exchange import Answer, Cause, Request
from skillgate.model.layers import Loads
from skillgate.model.score import Outcome
from skillgate.montecarlo.layer import UNMEASURED, simulate, unearned
from skillgate.montecarlo.subject import Simulated
from skillgate.scoring.gate import session_gates
from tests.judge.doubles import Model, Says, cases, drive, failed, load, loads_then, plan, replied, subject, text, turn


def _simulated(model: Model, fitting: int = 20, near: int = 5, **changes: Any) -> Simulated:
    given = subject(prompts=cases(fitting, near), prompts_source="baseline")
    return drive(simulate(given, plan(**changes), lambda: 0), model)


def _number(request: Request) -> int:
    """Read the number of a session from its prompt."""
    word = str(request.body["messages"][0]["content"][0]["text"]).rpartition(" ")[2]
    return int("".join(str(ord(letter) - ord("a")) for letter in word))


def _fits(request: Request) -> bool:
    return "join" in str(request.body["messages"][0]["content"])


def _world(request: Request) -> object:
    """Load the skill where it fits, and say so."""
    return loads_then(request, "Done.") if _fits(request) else (text("Drawn without."),)


def _where(wrong: range, answer: Says, otherwise: Says = _world) -> Says:
    """Answer fitting sessions of some numbers in another way."""
    return lambda request: (answer if _fits(request) and _number(request) in wrong else otherwise)(request)


def _refused(request: Request) -> Answer:
    return replied(request, stop_reason="refusal")


def _silent(request: Request) -> object:
    return (load(),) if turn(request) == 0 else replied(request, stop_reason="end_turn")


def _loses_near_misses(lost: int, how: Says) -> Says:
    """Lose the sessions of some near misses."""
    return lambda request: (how if not _fits(request) and _number(request) < lost else _world)(request)


@pytest.mark.parametrize(
    ("lost", "cause", "is_gap", "is_silent"),
    [
        (2, Cause.SERVER, False, False),
        (3, Cause.SERVER, True, False),
        (1, Cause.REQUEST, False, False),
        (2, Cause.REQUEST, True, True),
        (3, Cause.REQUEST, True, True),
    ],
)
def test_near_misses_are_lost_by_themselves(lost: int, cause: Cause, is_gap: bool, is_silent: bool) -> None:
    found = _simulated(Model(_loses_near_misses(lost, lambda request: failed(cause))), 50, 10)
    layer = found.layer
    assert (found.failure is not None, found.silenced is not None) == (is_gap, is_silent)
    assert (layer.measures["f1"].value is None) is is_gap
    assert layer.measures["activation_rate"].value == 1.0
    if is_gap:
        assert f"{lost} of 10 near misses were not measured ({cause.value} {lost})" in str(found.failure)
        assert (dict(layer.scores), layer.mc_score, layer.mc_reason) == ({}, None, UNMEASURED)


@pytest.mark.parametrize(("failing", "has_badge"), [(0, True), (4, True), (5, False), (20, False)])
def test_a_skill_whose_sessions_fail_once_it_is_loaded_gets_no_badge(failing: int, has_badge: bool) -> None:
    found = _simulated(Model(_where(range(failing), _silent)))
    assert (found.no_badge is None) is has_badge
    assert found.failure is None
    if not has_badge:
        assert f"{failing} of 20 sessions that loaded the skill failed" in str(found.no_badge)


def test_failures_before_the_skill_is_loaded_are_left_to_activation() -> None:
    found = _simulated(Model(_where(range(10), _refused)))
    assert (found.no_badge, found.layer.measures["activation_rate"].value) == (None, 0.5)


def _written(count: int) -> Says:
    """Write so many different prompts of each kind, again and again."""

    def write(request: Request) -> object:
        asked = str(request.body["messages"][0]["content"][-1]["text"])
        made = cases(count) if "near miss" not in asked else cases(0, count)
        return {"prompts": [{"prompt": made[at % count].prompt, "style": "direct"} for at in range(30)]}

    return write


def _generated(model: Model, **changes: Any) -> Simulated:
    return drive(simulate(subject(), plan(**changes), lambda: 0), model)


def test_a_writer_that_repeats_itself_does_not_choose_how_many_sessions_there_are() -> None:
    model = Model(_world, simulation_prompts=_written(5))
    found = _generated(model)
    layer = found.layer
    assert model.of("simulation") == []
    assert "5 of 50 that should load the skill and 5 of 10 near misses" in str(found.failure)
    assert layer.reason == found.failure
    assert (layer.simulations, layer.near_misses, dict(layer.scores), layer.mc_score) == (50, 10, {}, None)
    (gate,) = session_gates([layer], 0.1, None, "point")
    assert (gate.verdict, "5 of 50" in gate.reason) == (Outcome.UNMEASURED, True)


def test_what_was_asked_for_is_said_where_a_few_prompts_are_missing() -> None:
    found = _generated(Model(_world, simulation_prompts=_written(9)), simulations=10, near_misses=10)
    layer = found.layer
    assert (found.failure, layer.simulations, layer.near_misses, len(layer.runs)) == (None, 10, 10, 18)
    assert "9 of 10 that should load the skill" in str(layer.short)


def test_a_baseline_says_what_was_asked_for_with_its_prompts() -> None:
    given = subject(prompts=cases(9, 5), prompts_source="baseline", requested=(10, 6))
    layer = drive(simulate(given, plan(), lambda: 0), Model(_world)).layer
    assert (layer.simulations, layer.near_misses, len(layer.runs)) == (10, 6, 14)


@pytest.mark.parametrize("source", ["generated", "evals", "baseline"])
def test_a_skill_that_no_model_can_load_is_not_simulated(source: str) -> None:
    given = subject(prompts=cases(50, 10), prompts_source=source, unlisted="no model can load it")
    model = Model(_world)
    found = drive(simulate(given, plan(), lambda: 0), model)
    assert model.asked == []
    assert (found.failure, found.silenced, found.layer.reason) == (given.unlisted, None, given.unlisted)
    assert (dict(found.layer.scores), found.layer.mc_score, found.layer.runs) == ({}, None, ())
    assert {one.reason for one in found.layer.measures.values()} == {UNMEASURED}


@pytest.mark.parametrize(
    ("loaded", "completed", "measured", "earned"),
    [(1, 1, 50, False), (4, 4, 13, False), (5, 5, 50, True), (3, 3, 3, True), (50, 50, 50, True), (4, 50, 50, False)],
)
def test_a_badge_does_not_rest_on_the_few_sessions_that_did_not_fail(
    loaded: int, completed: int, measured: int, earned: bool
) -> None:
    loads = Loads(loaded, completed, measured, min(1.0, loaded / min(5, completed)))
    assert (unearned(loads, ()) is None) is earned
