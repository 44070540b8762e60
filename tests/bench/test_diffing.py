"""What differs between two benchmark reports, and when that is a regression."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.model.bench import RunSettings, Status
from skillgate.report.json import render as render_json
from tests.bench.made import answering, benchmark, result, run, skill, task
from tests.bench.written import skill_report, whole

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

pytest.importorskip("scipy")


def reported(cwd: Path, name: str, failing: int, *, tasks: int = 20, runs: int = 3, golden: int = -1) -> None:
    """Write the report of a skill that fails the first so many of all tasks."""
    skill(cwd / "s", answering(f"data['n'] if data['n'] >= {failing} else None"))
    made = [
        task(f"t{n:02d}", inputData={"n": n}, expectedOutput={"value": n}, golden=n == golden) for n in range(tasks)
    ]
    benchmark(cwd / "b.json", *made)
    words = ("--benchmark", "./b.json", "--runs", str(runs), "--format", "json", "--output-dir", name)
    assert run(cwd, "eval", "--skills", "s", *words).code == 0
    (cwd / name / "eval-result.json").rename(cwd / f"{name}.json")


def compared(cwd: Path, *words: str) -> Done:
    return run(cwd, "report", "diff", "a.json", "b.json", *words)


def test_nothing_differs_from_itself(tmp_path: Path) -> None:
    reported(tmp_path, "a", 0, tasks=3)
    done = run(tmp_path, "report", "diff", "a.json", "a.json", "--fail-on-regression", "--json")
    assert (done.code, done.json["verdict"], done.json["kind"]) == (0, "pass", "bench-diff")
    assert {one["flip"] for one in done.json["changes"][0]["tasks"]} == {"same"}


def test_tasks_that_always_passed_and_never_do_now_are_a_regression(tmp_path: Path) -> None:
    reported(tmp_path, "a", 0)
    reported(tmp_path, "b", 2)
    done = compared(tmp_path, "--fail-on-regression", "--label-a", "v1", "--label-b", "v2", "--format", "markdown")
    assert done.code == 1
    assert done.out.startswith("# ❌ FAIL: v1 → v2")
    assert "| completed | 1.000 | 0.900 | −0.100 | worse |" in done.out
    assert "| `t00` | broken | 3/3 | 0/3 |" in done.out
    assert compared(tmp_path).code == 0


def test_a_fall_in_one_run_that_chance_explains_is_inconclusive_and_fails_where_asked(tmp_path: Path) -> None:
    reported(tmp_path, "a", 0, runs=1, tasks=6)
    reported(tmp_path, "b", 1, runs=1, tasks=6)
    found = compared(tmp_path, "--json").json
    assert found["verdict"] == "inconclusive"
    assert "may be chance" in found["reasons"][0]
    assert compared(tmp_path, "--fail-on-regression").code == 1


def test_many_broken_tasks_are_no_chance_even_in_one_run(tmp_path: Path) -> None:
    reported(tmp_path, "a", 0, runs=1)
    reported(tmp_path, "b", 8, runs=1)
    found = compared(tmp_path, "--json").json
    test = found["changes"][0]["test"]
    assert (found["verdict"], test["broken"], test["fixed"]) == ("fail", 8, 0)
    assert test["mcnemarP"] == pytest.approx(2 * 0.5**8)
    assert test["ciHigh"] < 0
    assert test["meanDifference"] == pytest.approx(-0.4)


def test_what_is_better_passes(tmp_path: Path) -> None:
    reported(tmp_path, "a", 2)
    reported(tmp_path, "b", 0)
    done = compared(tmp_path, "--fail-on-regression", "--json")
    assert (done.code, done.json["verdict"], done.json["changes"][0]["test"]["fixed"]) == (0, "pass", 2)


def test_a_broken_golden_task_fails_whatever_else_got_better(tmp_path: Path) -> None:
    reported(tmp_path, "a", 0, runs=1, golden=0, tasks=6)
    reported(tmp_path, "b", 1, runs=1, golden=0, tasks=6)
    found = compared(tmp_path, "--json").json
    assert (found["verdict"], "golden tasks are broken or missing: t00" in found["reasons"][0]) == ("fail", True)


def test_another_set_of_tasks_is_not_the_same_measurement(tmp_path: Path) -> None:
    reported(tmp_path, "a", 0, tasks=6)
    reported(tmp_path, "b", 0, tasks=7)
    found = compared(tmp_path, "--json").json
    assert found["verdict"] == "inconclusive"
    assert [one["taskId"] for one in found["changes"][0]["tasks"] if one["flip"] == "added"] == ["t06"]


def test_a_skill_that_is_gone_is_no_pass(tmp_path: Path) -> None:
    reported(tmp_path, "a", 0, tasks=3)
    whole = json.loads((tmp_path / "a.json").read_text())
    (tmp_path / "b.json").write_text(json.dumps({**whole, "reports": []}))
    done = compared(tmp_path, "--fail-on-regression", "--json")
    assert (done.code, done.json["verdict"], done.json["changes"][0]["pairing"]) == (1, "inconclusive", "removed")


def test_a_fall_of_the_composite_is_written_with_its_decimals(tmp_path: Path) -> None:
    reported(tmp_path, "a", 0, tasks=5)
    reported(tmp_path, "b", 4, tasks=5)
    metrics = {one["name"]: one for one in compared(tmp_path, "--json").json["changes"][0]["metrics"]}
    delta = metrics["compositeScore"]["delta"]
    assert delta == pytest.approx(-0.4, abs=0.02)  # four of five tasks at half the weight; the rest is speed
    assert f"| −{-delta:.3f} |" in compared(tmp_path, "--format", "markdown").out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"kind": "bench", "reports": {}}', "reports"),
        ('{"kind": "bench", "schema_version": 99}', "schema version 99"),
        ('{"kind": "score"}', "is a score document"),
    ],
)
def test_a_file_that_is_no_report_is_refused_with_its_name(tmp_path: Path, text: str, words: str) -> None:
    reported(tmp_path, "a", 0, tasks=2)
    (tmp_path / "b.json").write_text(text)
    done = compared(tmp_path)
    assert done.code == 2
    assert "b.json" in done.err
    assert words in done.err


def test_three_files_are_refused(tmp_path: Path) -> None:
    assert run(tmp_path, "report", "diff", "a.json", "b.json", "c.json").code == 2


def test_it_is_written_to_a_file_too(tmp_path: Path) -> None:
    reported(tmp_path, "a", 0, tasks=2)
    assert run(tmp_path, "report", "diff", "a.json", "a.json", "--output", "d.md").code == 0
    assert "PASS" in (tmp_path / "d.md").read_text(encoding="utf-8")


def put(cwd: Path, name: str, passes: dict[str, tuple[bool, ...]], **changes: Any) -> None:
    """Write a report in which each task's runs pass as given."""
    found = [
        result(task_id, Status.PASS if passed else Status.FAIL, number=number)
        for task_id, runs in passes.items()
        for number, passed in enumerate(runs, start=1)
    ]
    text = render_json(whole(skill_report(found), run=RunSettings(runs=max(map(len, passes.values()))), **changes))
    (cwd / name).write_text(text, encoding="utf-8")


def flaky(lost: int, *, runs: int, tasks: int = 20) -> dict[str, tuple[bool, ...]]:
    """Give tasks that pass in all runs, and some that pass in one of them alone."""
    return {f"t{n:02d}": (True,) + (n >= lost,) * (runs - 1) for n in range(tasks)}


def test_one_broken_task_is_a_regression_though_others_got_better(tmp_path: Path) -> None:
    always, never = (True, True), (False, False)
    put(tmp_path, "a.json", {"t0": always, "t1": never, "t2": never, "t3": always})
    put(tmp_path, "b.json", {"t0": never, "t1": always, "t2": always, "t3": always})
    done = compared(tmp_path, "--fail-on-regression", "--json")
    test = done.json["changes"][0]["test"]
    assert (done.code, done.json["verdict"], test["basis"]) == (1, "fail", "broken")
    assert test["reason"] == "1 of 4 tasks is broken in 2 of 2 runs: t0; 2 tasks are fixed"
    assert compared(tmp_path, "--fail-on-regression", "--on-inconclusive", "pass").code == 1


def test_a_verdict_that_rests_on_broken_tasks_prints_no_p(tmp_path: Path) -> None:
    put(tmp_path, "a.json", {"t0": (True,) * 3, "t1": (True,) * 3})
    put(tmp_path, "b.json", {"t0": (False,) * 3, "t1": (True,) * 3})
    for form in ("text", "markdown", "html"):
        said = compared(tmp_path, "--format", form).out
        assert "broken in 3 of 3 runs" in said
        assert " p = " not in said


def test_a_fall_of_mixed_runs_that_chance_may_explain_warns_and_passes(tmp_path: Path) -> None:
    put(tmp_path, "a.json", flaky(0, runs=3))
    put(tmp_path, "b.json", flaky(1, runs=3))
    done = compared(tmp_path, "--fail-on-regression", "--json")
    assert (done.code, done.json["verdict"], done.json["changes"][0]["test"]["basis"]) == (0, "inconclusive", "chance")
    assert "warning" in done.err
    assert "may be chance" in done.err


@pytest.mark.parametrize(("word", "code"), [("point", 1), ("pass", 0), ("warn", 0), ("fail", 1)])
@pytest.mark.parametrize("runs", [1, 3])
def test_what_a_fall_that_chance_may_explain_does_can_be_said(tmp_path: Path, word: str, code: int, runs: int) -> None:
    put(tmp_path, "a.json", flaky(0, runs=3) if runs == 3 else {f"t{n}": (True,) for n in range(6)})
    put(tmp_path, "b.json", flaky(1, runs=3) if runs == 3 else {f"t{n}": (n > 0,) for n in range(6)})
    done = compared(tmp_path, "--fail-on-regression", "--on-inconclusive", word)
    assert (done.code, "warning" in done.err) == (code, word == "warn"), done.err


@pytest.mark.parametrize("single", ["a.json", "b.json"])
def test_where_a_report_has_one_run_a_fall_ends_with_1_and_three_runs_are_recommended(
    tmp_path: Path, single: str
) -> None:
    runs = {"a.json": 3, "b.json": 3, single: 1}
    put(tmp_path, "a.json", {f"t{n}": (True,) * runs["a.json"] for n in range(6)})
    put(tmp_path, "b.json", {f"t{n}": (n > 0,) * runs["b.json"] for n in range(6)})
    done = compared(tmp_path, "--fail-on-regression")
    assert done.code == 1
    assert "--runs 3" in done.out


def test_what_is_no_matter_of_chance_passes_under_no_word(tmp_path: Path) -> None:
    put(tmp_path, "a.json", {"t0": (True, True), "t1": (True, True)})
    put(tmp_path, "b.json", {"t0": (True, True), "t2": (True, True)})
    for word in ("point", "pass", "warn", "fail"):
        assert compared(tmp_path, "--fail-on-regression", "--on-inconclusive", word).code == 1


def test_a_verdict_that_rests_on_the_interval_prints_the_interval_and_no_p(tmp_path: Path) -> None:
    put(tmp_path, "a.json", {f"t{n:02d}": (True,) for n in range(20)})
    put(tmp_path, "b.json", {f"t{n:02d}": (n > 3,) for n in range(20)})
    found = compared(tmp_path, "--json").json["changes"][0]["test"]
    assert (found["verdict"], found["basis"], found["mcnemarP"]) == ("fail", "interval", 0.125)
    assert "95 % interval" in found["reason"]
    assert "p = " not in found["reason"]
