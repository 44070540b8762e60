"""Lift as skill-creator's ``benchmark.json``: what it holds, what it leaves out, and that its readers read it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skillgate.evals.read import read_evals
from skillgate.model.layers import Arm, Estimate, Expectation, Lift, LiftTask
from skillgate.report.benchmark_json import benchmark
from skillgate.skill.tree import DiskTree
from tests.report.reports import a_skill

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)
HOSTILE = '<img src=x onerror=alert(1)>"\x1b]0;</script>\ud800'


def an_arm(met: int, of: int = 2, **changes: Any) -> Arm:
    held = tuple(Expectation(f"It holds {number}.", number < met, "it says so") for number in range(of))
    return Arm("completed", met / of, held, tokens=1000 + met, duration_s=2.5)._replace(**changes)


def a_lift(*tasks: LiftTask, **changes: Any) -> Lift:
    made = Lift(
        Estimate(0.5, 0.25, 0.75, 2),
        Estimate(1.0, n=2),
        Estimate(0.5, n=2),
        wins=1,
        draws=1,
        p=0.5,
        tasks=tasks or (a_task(1, 2, 1), a_task(2, 2, 1)),
        model="claude-sonnet-5-5",
        grader="claude-haiku-5-5",
    )
    return made._replace(**changes)


def a_task(number: int, one: int, two: int, **changes: Any) -> LiftTask:
    return LiftTask(f"case {number}", f"Do {number}.", an_arm(one), an_arm(two), "with")._replace(**changes)


def written(lift: Lift | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(benchmark(a_skill()._replace(lift=lift), timestamp=NOW))
    return found


def test_each_arm_is_a_run_and_the_summary_is_over_tasks() -> None:
    found = written(a_lift(a_task(1, 2, 1), a_task(2, 2, 0)))
    assert list(found) == ["metadata", "runs", "run_summary", "notes"]
    assert found["metadata"] == {
        "skill_name": a_skill().skill.name,
        "executor_model": "claude-sonnet-5-5",
        "analyzer_model": "claude-haiku-5-5",
        "timestamp": "2026-11-22T12:00:00+00:00",
        "evals_run": [1, 2],
        "runs_per_configuration": 1,
    }
    assert [(run["eval_id"], run["configuration"], run["run_number"]) for run in found["runs"]] == [
        (1, "with_skill", 1),
        (1, "without_skill", 1),
        (2, "with_skill", 1),
        (2, "without_skill", 1),
    ]
    assert found["runs"][1] == {
        "eval_id": 1,
        "eval_name": "case 1",
        "configuration": "without_skill",
        "run_number": 1,
        "result": {
            "pass_rate": 0.5,
            "passed": 1,
            "failed": 1,
            "total": 2,
            "time_seconds": 2.5,
            "errors": 0,
            "tokens": 1001,
        },
        "expectations": [
            {"text": "It holds 0.", "passed": True, "evidence": "it says so"},
            {"text": "It holds 1.", "passed": False, "evidence": "it says so"},
        ],
        "notes": [],
    }
    assert list(found["run_summary"]) == ["with_skill", "without_skill", "delta"]
    assert found["run_summary"]["without_skill"] == {
        "pass_rate": {"mean": 0.25, "stddev": 0.3536, "min": 0.0, "max": 0.5},
        "time_seconds": {"mean": 2.5, "stddev": 0.0, "min": 2.5, "max": 2.5},
        "tokens": {"mean": 1000.5, "stddev": 0.7071, "min": 1000.0, "max": 1001.0},
    }
    assert found["run_summary"]["delta"] == {"pass_rate": "+0.75", "time_seconds": "+0.0", "tokens": "+2"}


def test_seconds_that_are_not_known_are_left_out() -> None:
    found = written(a_lift(a_task(1, 2, 1), a_task(2, 2, 1, with_skill=an_arm(2, duration_s=None))))
    assert ["time_seconds" in run["result"] for run in found["runs"]] == [True, True, False, True]
    assert "time_seconds" not in found["run_summary"]["with_skill"]
    assert "time_seconds" in found["run_summary"]["without_skill"]
    assert list(found["run_summary"]["delta"]) == ["pass_rate", "tokens"]


def test_an_arm_that_was_not_measured_is_no_run_and_is_told() -> None:
    lost = Arm("not measured", None, reason="server: 529")
    found = written(a_lift(a_task(1, 2, 1), a_task(2, 0, 0, without_skill=lost)))
    assert [(run["eval_id"], run["configuration"]) for run in found["runs"]] == [
        (1, "with_skill"),
        (1, "without_skill"),
        (2, "with_skill"),
    ]
    assert found["run_summary"]["with_skill"]["pass_rate"]["mean"] == 1.0
    assert "Task 2 without the skill was not measured, and is in no mean: server: 529." in found["notes"]


def test_what_nobody_could_tell_is_no_expectation_and_is_told() -> None:
    held = (Expectation("It joins.", passed=True), Expectation("It runs.", passed=None, evidence="not to be seen"))
    run = written(a_lift(a_task(1, 2, 1, with_skill=an_arm(2, expectations=held, score=1.0))))["runs"][0]
    assert [one["text"] for one in run["expectations"]] == ["It joins."]
    assert (run["result"]["passed"], run["result"]["total"]) == (1, 1)
    assert run["notes"] == ["Not graded, so it counts neither way: It runs."]


def test_failures_and_grades_are_told() -> None:
    failed = an_arm(0, outcome="failed", score=0.0, reason="refusal: the model refused to answer")
    graded = an_arm(2, expectations=(), score=0.7, tokens=None)
    found = written(a_lift(a_task(1, 2, 2, with_skill=failed, without_skill=graded)))
    one, two = found["runs"]
    assert (one["result"]["errors"], one["result"]["pass_rate"]) == (1, 0.0)
    assert one["notes"] == ["No answer: refusal: the model refused to answer"]
    assert (two["result"]["pass_rate"], two["result"]["total"]) == (0.7, 0)
    assert "tokens" not in two["result"]
    assert "tokens" not in found["run_summary"]["without_skill"]
    assert list(found["run_summary"]["delta"]) == ["pass_rate", "time_seconds"]
    assert "grade of the answer" in two["notes"][0]


def test_the_notes_hold_the_figures_that_the_form_has_no_place_for() -> None:
    notes = written(a_lift(unsupported=("evals/case/graders/a.md: regex",), source="generated", live=False))["notes"]
    assert "The answers were made up or recorded" in notes[0]
    assert notes[1:] == [
        "Mean paired difference over 2 tasks: +0.500, 95 % interval +0.250 to +0.750.",
        "Exchange test over tasks, two-sided: p = 0.5.",
        "Blind comparisons in both orders: 1 for the skill, 0 against it, 1 neither (0 since the orders disagree).",
        "The tasks and what is expected of their answers were written by a model.",
        "Times include waiting for a turn among parallel requests; answers kept from earlier runs take 0 seconds.",
        "Not done here: evals/case/graders/a.md: regex.",
    ]


def test_without_a_lift_there_are_no_runs_and_no_means() -> None:
    nothing = Estimate(None, reason="there are no tasks: no key")
    for lift in (None, Lift(nothing, nothing, nothing, reason=nothing.reason)):
        found = written(lift)
        assert (found["runs"], found["metadata"]["evals_run"]) == ([], [])
        assert found["run_summary"] == {"with_skill": {}, "without_skill": {}, "delta": {}}
        assert len(found["notes"]) == 1
    assert found["notes"] == ["There is no lift: there are no tasks: no key."]


def test_no_text_of_an_author_s_can_end_a_page_s_script_or_attribute() -> None:
    held = (Expectation(HOSTILE, passed=True, evidence=HOSTILE), Expectation(HOSTILE, passed=None, evidence=HOSTILE))
    arm = an_arm(1, expectations=held, reason=HOSTILE)
    task = a_task(1, 1, 1, id=HOSTILE, prompt=HOSTILE, with_skill=arm, without_skill=arm._replace(outcome="failed"))
    lift = a_lift(task, unsupported=(HOSTILE,), model=HOSTILE, grader=HOSTILE)
    document = json.loads(benchmark(a_skill()._replace(lift=lift), timestamp=NOW).decode())
    texts = list(_texts(document))
    assert any("img src" in text for text in texts)
    assert not [text for text in texts if set(text) & set('<>"\x1b\ud800')]
    assert document["metadata"]["evals_run"] == [1]


def _texts(value: Any) -> Any:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def test_it_is_read_back_as_recorded_results(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "benchmark.json").write_bytes(
        benchmark(a_skill()._replace(lift=a_lift(a_task(1, 2, 1), a_task(2, 1, 1))), timestamp=NOW)
    )
    found = read_evals(DiskTree(str(tmp_path)), "")
    assert [(one.case, one.arm, one.passed, one.runs) for one in found.recorded] == [
        ("1", "with_skill", 1, 1),
        ("1", "without_skill", 0, 1),
        ("2", "with_skill", 0, 1),
        ("2", "without_skill", 0, 1),
    ]
    assert not found.unread
