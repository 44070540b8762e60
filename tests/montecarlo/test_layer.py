"""The whole layer over one skill: what is run, what comes of it, and what is said where nothing does."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

pytest.importorskip("numpy", reason="measures need the stats extra")

from skillgate.llm import asker
from skillgate.model.exchange import Answer, Cause, Request, Steps
from skillgate.model.layers import COMPLETED, FAILED, NOT_MEASURED, NOT_RUN, TriggerPrompt
from skillgate.model.score import Dimension
from skillgate.montecarlo.layer import UNMEASURED, WAVE, simulate
from skillgate.montecarlo.subject import Simulated, Stop
from tests.judge.doubles import (
    GRADER,
    MODEL,
    Model,
    Says,
    cases,
    drive,
    failed,
    grade,
    honest,
    load,
    loads_then,
    plan,
    replied,
    subject,
    text,
    turn,
    use,
)


def _steps(prompts: tuple[TriggerPrompt, ...], **changes: Any) -> Steps[Simulated]:
    ticks = count(0, 7_000_000)
    given = subject(prompts=prompts, prompts_source="baseline")
    return simulate(given, plan(**changes), lambda: next(ticks))


def _simulated(model: Model, fitting: int = 20, near: int = 5, **changes: Any) -> Simulated:
    return drive(_steps(cases(fitting, near), **changes), model)


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


def test_each_prompt_has_a_session_and_what_needs_one_a_grade() -> None:
    model = Model(_world)
    found = _simulated(model)
    layer = found.layer
    assert (layer.simulations, layer.near_misses) == (20, 5)
    assert (layer.completed, layer.failed, layer.not_measured) == (25, 0, 0)
    assert {question: len(model.of(question)) for question in ("simulation", "grade", "scope_grade")} == {
        "simulation": 45,
        "grade": 20,
        "scope_grade": 20,
    }
    assert [run.should_trigger for run in layer.runs] == [True] * 20 + [False] * 5
    first, last = layer.runs[0], layer.runs[-1]
    assert (first.outcome, first.activated, first.quality, first.delivers, first.covers) == (
        COMPLETED,
        True,
        0.8,
        True,
        True,
    )
    assert (first.turns, first.loaded, first.ungraded) == (2, ("merge-sheets",), None)
    assert (last.activated, last.quality, last.loaded) == (False, None, ())
    assert last.ungraded == "near misses that did not load the skill are not graded"
    assert layer.measures["activation_rate"].value == 1.0
    assert layer.measures["false_activation_rate"].value == 0.0
    assert layer.scores[Dimension.OUTPUT_QUALITY].value == pytest.approx(0.8)
    assert (found.failure, found.silenced, found.problems, layer.reason, layer.stopped_early) == (
        None,
        None,
        (),
        None,
        None,
    )
    assert layer.mc_score is not None


def test_the_layer_says_who_was_asked_and_what_it_took() -> None:
    model = Model(_world)
    layer = _simulated(model, seed=3, provider="scripted", live=False).layer
    assert (layer.model, layer.grader, layer.provider, layer.live) == (MODEL, GRADER, "scripted", False)
    assert (layer.runner, layer.seed, layer.max_turns, layer.siblings) == ("messages", 3, 10, 2)
    assert (layer.siblings_source, layer.prompts_source) == ("beside", "baseline")
    assert layer.usage.calls == len(model.asked) == 85
    assert layer.usage.cost_usd == pytest.approx(0.85)
    assert (layer.usage.input_tokens, layer.usage.output_tokens) == (8_500, 850)
    assert layer.duration_ms == 7
    assert layer.prompts_digest
    assert layer.prompt_version
    assert layer.rubric_version


def test_a_near_miss_that_loads_the_skill_is_graded_for_its_answer_alone() -> None:
    model = Model(lambda request: loads_then(request, "Done."))
    layer = _simulated(model, 5, 2).layer
    assert (len(model.of("grade")), len(model.of("scope_grade"))) == (7, 5)
    assert (layer.runs[-1].quality, layer.runs[-1].covers, layer.runs[-1].ungraded) == (0.8, None, None)


def _refused(request: Request) -> Answer:
    return replied(request, stop_reason="refusal")


def _cut(request: Request) -> object:
    return (load(),) if turn(request) == 0 else replied(request, text("Do"), stop_reason="max_tokens")


def _silent(request: Request) -> object:
    return (load(),) if turn(request) == 0 else replied(request, stop_reason="end_turn")


def test_failures_are_counted_as_what_they_are() -> None:
    says = _where(range(2), _refused, _where(range(2, 5), _cut, _where(range(5, 6), _silent)))
    found = _simulated(Model(says))
    layer = found.layer
    assert (layer.completed, layer.failed, layer.not_measured) == (19, 6, 0)
    assert dict(layer.kinds) == {"truncated": 3, "refusal": 2, "empty answer": 1}
    assert layer.measures["activation_rate"].value == 18 / 20
    assert layer.measures["failure_rate"].value == 6 / 25
    assert layer.runs[5].activated is True
    assert layer.runs[5].quality is None
    assert found.failure is None


def test_silent_sessions_never_pass_for_good_ones() -> None:
    layer = _simulated(Model(lambda request: replied(request, stop_reason="end_turn"))).layer
    assert (layer.failed, layer.mc_score) == (25, 0.0)
    assert layer.measures["failure_rate"].value == 1.0
    assert layer.measures["activation_rate"].value == 0.0
    assert layer.measures["quality"].value is None


def test_outages_leave_every_denominator() -> None:
    found = _simulated(Model(_where(range(4), lambda request: failed())))
    layer = found.layer
    assert (layer.completed, layer.not_measured, dict(layer.kinds)) == (21, 4, {"server": 4})
    assert (layer.measures["activation_rate"].value, layer.measures["activation_rate"].n) == (1.0, 16)
    assert found.failure is None


@pytest.mark.parametrize(("fitting", "near"), [(range(5), 5), (range(20), 0)])
def test_too_many_outages_measure_nothing(fitting: range, near: int) -> None:
    found = _simulated(Model(_where(fitting, lambda request: failed())), near=near)
    layer = found.layer
    assert found.failure is not None
    assert f"{len(fitting)} of {20 + near} sessions were not measured (server {len(fitting)})" in found.failure
    assert "the server answers 529" in found.failure
    assert (layer.reason, layer.mc_score, dict(layer.scores), layer.tokens) == (found.failure, None, {}, None)
    assert {(measure.value, measure.reason) for measure in layer.measures.values()} == {(None, UNMEASURED)}
    assert (found.silenced, layer.not_measured) == (None, len(fitting))


def test_a_skill_that_makes_requests_impossible_is_said_to_be_silent() -> None:
    def says(request: Request) -> object:
        return failed(Cause.REQUEST, "the server answers 400") if turn(request) else (load(),)

    found = _simulated(Model(_where(range(2), says)))
    assert found.silenced is not None
    assert "2 of 25 sessions were not measured (request 2)" in found.silenced
    assert found.failure is not None
    assert found.layer.silenced == found.silenced
    assert dict(found.layer.scores) == {}


def _loses(number: int, how: Says) -> Says:
    """Lose the grades of some answers."""
    turns = count()
    return lambda request: how(request) if next(turns) < number else honest(request)


@pytest.mark.parametrize(("lost", "silences"), [(1, False), (2, True)])
def test_grades_that_the_text_may_have_kept_away_are_no_better_than_bad_ones(lost: int, silences: bool) -> None:
    found = _simulated(Model(_world, grade=_loses(lost, _refused)))
    layer = found.layer
    assert (found.silenced is not None, found.failure is not None) == (silences, silences)
    assert sum(run.quality is None for run in layer.runs[:20]) == lost
    if silences:
        assert f"{lost} of 20 answers have no valid grade: grade: the model refused" in (found.silenced or "")
        assert (dict(layer.scores), layer.mc_score, layer.measures["quality"].value) == ({}, None, None)
        assert layer.measures["activation_rate"].value == 1.0


def test_grades_that_were_obeyed_count_nowhere_and_are_a_finding() -> None:
    found = _simulated(Model(_world, grade=lambda request: grade(10, control=9)))
    assert found.layer.obeyed == 20
    assert found.layer.measures["quality"].value is None
    assert found.silenced is not None
    (problem,) = found.problems
    assert problem.rule == "judge_swayed"
    assert problem.message.startswith("ignored 20 grades of simulated sessions")


@pytest.mark.parametrize(("lost", "fails"), [(4, False), (5, True)])
def test_grades_lost_to_outages_are_told_once_they_are_many(lost: int, fails: bool) -> None:
    found = _simulated(Model(_world, grade=_loses(lost, lambda request: failed())))
    assert (found.silenced, found.failure is not None) == (None, fails)
    assert (found.layer.measures["quality"].value is None) is fails


def test_without_prompts_nothing_is_run() -> None:
    model = Model(_world, simulation_prompts=lambda request: failed(Cause.CREDENTIALS, "no key"))
    steps = simulate(subject(), plan(), lambda: 0)
    found = drive(steps, model)
    assert model.of("simulation") == []
    assert found.failure is not None
    assert "no key" in found.failure
    assert (found.layer.mc_score, dict(found.layer.scores), found.layer.reason) == (None, {}, found.failure)
    assert found.silenced is None


def test_a_skill_that_keeps_its_prompts_from_being_written_is_said_to_be_silent() -> None:
    found = drive(simulate(subject(), plan(), lambda: 0), Model(_world, simulation_prompts=_refused))
    assert found.failure is not None
    assert found.silenced is not None
    assert found.failure in found.silenced


def test_a_model_that_answers_for_another_is_named() -> None:
    def says(request: Request) -> object:
        return replied(request, text("Done."), model="claude-haiku-5-5")

    assert _simulated(Model(says)).layer.answered_by == ("claude-haiku-5-5",)


def test_a_run_ends_once_its_gates_are_decided() -> None:
    model = Model(lambda request: (text("Without."),))
    layer = _simulated(model, 40, 10, stop=Stop(min_activation=0.9)).layer
    assert layer.stopped_early == "after 8 of 50 sessions: min-activation 0.9 fails regardless of the rest"
    assert [run.outcome for run in layer.runs] == [COMPLETED] * 8 + [NOT_RUN] * 42
    assert len(model.of("simulation")) == WAVE
    assert (layer.simulations, layer.near_misses, layer.completed) == (40, 10, 8)
    assert (layer.mc_score, dict(layer.scores), layer.reason) == (None, {}, None)
    assert (layer.measures["activation_rate"].ci_low, layer.measures["activation_rate"].ci_high) == (0.0, 0.8)


def test_a_run_whose_gates_stay_open_runs_to_its_end() -> None:
    layer = _simulated(Model(_world), stop=Stop(min_activation=0.9, max_failure_rate=0.0)).layer
    assert layer.stopped_early is None
    assert layer.completed == 25
    assert layer.mc_score is not None


def test_the_agent_itself_can_run_the_sessions() -> None:
    def says(request: Request) -> object:
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Launching skill: merge-sheets"}
        return (load(), result, text("Done.")) if "join" in request.body["prompt"] else (text("Drawn."),)

    model = Model(says)
    layer = _simulated(model, runner="agent-sdk").layer
    assert len(model.of("simulation")) == 25
    assert (layer.runner, layer.completed) == ("agent-sdk", 25)
    assert layer.measures["activation_rate"].value == 1.0
    assert layer.runs[0].quality == 0.8


def test_sessions_with_one_prompt_are_told_apart() -> None:
    model = Model(_world)
    doubled = cases(1) * 6
    drive(_steps(doubled), model)
    firsts = [request for request in model.of("simulation") if turn(request) == 0]
    assert len({(repr(request.body["system"]), request.sample) for request in firsts}) == len(firsts)


def test_results_do_not_depend_on_the_order_in_which_answers_come() -> None:
    one = _simulated(Model(_world))
    (other,) = asker.run([lambda: _steps(cases(20, 5))], Model(_world), in_flight=8)
    assert other.layer.runs == one.layer.runs
    assert other.layer.measures == one.layer.measures


def test_a_dead_session_does_not_take_others_along() -> None:
    def says(request: Request) -> object:
        return (use("Bash", command="id"),)

    layer = _simulated(Model(_where(range(3), says)), max_turns=3).layer
    assert dict(layer.kinds) == {"max turns": 3}
    assert [run.outcome for run in layer.runs[:4]] == [FAILED, FAILED, FAILED, COMPLETED]
    assert NOT_MEASURED not in {run.outcome for run in layer.runs}
