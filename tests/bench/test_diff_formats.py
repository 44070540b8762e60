"""What differs between two benchmark reports in every format, and the limits that can be asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("scipy")

from skillgate.model.bench import Status
from skillgate.report.json import render as render_json
from tests.bench.made import result, run
from tests.bench.test_convert import older, written
from tests.bench.written import skill_report, whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cli.running import Done


def results(failing: int = 0, *, tasks: int = 20, ms: float = 100.0, runs: int = 3, first: int = 0) -> list[Any]:
    """Results of so many tasks; the first of them fail in every run."""
    return [
        result(f"t{n:02d}", Status.FAIL if n < failing else Status.PASS, number=number, latency_ms=ms)
        for number in range(1, runs + 1)
        for n in range(first, tasks)
    ]


def put(cwd: Path, name: str, found: Sequence[Any], **changes: Any) -> None:
    (cwd / name).parent.mkdir(exist_ok=True)
    (cwd / name).write_text(render_json(whole(skill_report(found, "calc", **changes))), encoding="utf-8")


def compared(cwd: Path, *words: str) -> Done:
    return run(cwd, "report", "diff", "a.json", "b.json", *words)


@pytest.fixture
def worse(tmp_path: Path) -> Path:
    put(tmp_path, "a.json", results())
    put(tmp_path, "b.json", results(4))
    return tmp_path


def test_text_says_the_verdict_the_figures_and_the_tasks(worse: Path) -> None:
    out = compared(worse).out
    assert out.startswith("FAIL: a.json → b.json\n")
    shown = [" ".join(line.split()) for line in out.splitlines()]
    assert "completed 1.000 0.800 −0.200 worse" in shown
    assert any(line.startswith("t00 broken 3/3 0/3") for line in shown)


def test_text_on_a_terminal_is_coloured_by_what_is_worse(worse: Path) -> None:
    from skillgate.bench.diff import diff
    from skillgate.bench.request import DiffPolicy
    from skillgate.format import Style
    from skillgate.report.rendering import render

    a, b = whole(skill_report(results())), whole(skill_report(results(4)))
    found = diff(a, b, label_a="a", label_b="b", version="1", policy=DiffPolicy())
    said = render(found, "bench-diff", "text", Style(color=True))
    assert said.startswith("\x1b[31;1mFAIL: a → b\x1b[0m\n")
    assert any("completed" in line and "\x1b[31mworse" in line for line in said.splitlines())
    assert any("t00" in line and "\x1b[31mbroken" in line for line in said.splitlines())


def test_every_format_is_written(worse: Path) -> None:
    for name, words in (("d.md", "# ❌ FAIL: a.json"), ("d.txt", "FAIL"), ("d.json", "{")):
        assert compared(worse, "--output", name).code == 0
        assert (worse / name).read_text(encoding="utf-8").startswith(words)


def test_html_is_written_and_a_diff_is_converted(worse: Path) -> None:
    pytest.importorskip("jinja2")
    assert compared(worse, "--output", "d.json").code == 0
    page = compared(worse, "--format", "html").out
    assert page.startswith("<!doctype html>")
    assert run(worse, "report", "convert", "d.json", "--format", "html").out == page
    assert run(worse, "report", "convert", "d.json", "--format", "csv").code == 2


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (("--max-completion-drop", "0.3"), "pass"),
        (("--max-completion-drop", "0.1"), "fail"),
        (("--max-completion-drop", "0.3", "--max-partial-drop", "0.1"), "fail"),
        (("--max-completion-drop", "0.3", "--max-partial-drop", "0.3"), "pass"),
        (("--max-completion-drop", "0.3", "--max-composite-drop", "0.05"), "fail"),
        (("--max-completion-drop", "0.3", "--max-composite-drop", "0.2"), "pass"),
        (("--max-completion-drop", "0.3", "--golden", "t00"), "fail"),
        (("--max-completion-drop", "0.3", "--golden", "t19"), "pass"),
    ],
)
def test_limits_decide(worse: Path, words: tuple[str, ...], verdict: str) -> None:
    done = compared(worse, *words, "--json", "--fail-on-regression")
    assert done.json["verdict"] == verdict
    assert done.code == (verdict != "pass")


def test_a_limit_that_is_passed_stands_among_the_reasons(worse: Path) -> None:
    found = compared(worse, "--max-composite-drop", "0.05", "--json").json
    assert any("the composite fell by 0.100 (allowed drop 0.05)" in reason for reason in found["reasons"])
    assert found["changes"][0]["gate"]["passed"] is False


@pytest.mark.parametrize(
    ("before", "after", "limit", "verdict"),
    [
        (100.0, 400.0, "1.5", "fail"),
        (100.0, 400.0, "400%", "pass"),
        (100.0, 400.0, "200ms", "fail"),
        (100.0, 400.0, "0.3s", "pass"),
        (100.0, 130.0, "10ms", "pass"),  # within what repeated runs show
        (1000.0, 1200.0, "1%", "pass"),
        (1000.0, 1300.0, "1%", "fail"),
    ],
)
def test_latency_has_a_limit_of_its_own_and_a_band_of_noise(
    tmp_path: Path, before: float, after: float, limit: str, verdict: str
) -> None:
    put(tmp_path, "a.json", results(ms=before))
    put(tmp_path, "b.json", results(ms=after))
    assert compared(tmp_path, "--json").json["verdict"] == "pass"
    assert compared(tmp_path, "--max-p95-increase", limit, "--json").json["verdict"] == verdict


def test_what_was_not_measured_decides_no_limit(tmp_path: Path) -> None:
    put(tmp_path, "a.json", results())
    put(tmp_path, "b.json", [replace(one, latency_ms=None) for one in results()])
    found = compared(tmp_path, "--max-p95-increase", "10%", "--json").json
    assert found["verdict"] == "inconclusive"
    assert "was not measured on both sides" in " ".join(found["reasons"])


@pytest.mark.parametrize(
    ("option", "word", "verdict", "noted"),
    [
        (("--new-tasks", "ignore"), "new", "pass", False),
        (("--new-tasks", "warn"), "new", "pass", True),
        (("--new-tasks", "fail"), "new", "fail", False),
        (("--removed-tasks", "ignore"), "gone", "pass", False),
        (("--removed-tasks", "fail"), "gone", "fail", False),
        ((), "new", "inconclusive", True),
    ],
)
def test_tasks_that_came_or_went_do_what_is_asked(
    tmp_path: Path, option: tuple[str, ...], word: str, verdict: str, *, noted: bool
) -> None:
    fewer, more = results(tasks=9), results(tasks=10)
    a, b = (more, fewer) if word == "gone" else (fewer, more)
    put(tmp_path, "a.json", a, benchmark_digest="one")
    put(tmp_path, "b.json", b, benchmark_digest="two")
    found = compared(tmp_path, *option, "--json").json
    assert found["verdict"] == verdict
    assert any(word in notice and "t09" in notice for notice in found["changes"][0]["notices"]) is noted


def test_another_benchmark_with_the_same_tasks_is_never_the_same_measurement(tmp_path: Path) -> None:
    put(tmp_path, "a.json", results(), benchmark_digest="one")
    put(tmp_path, "b.json", results(), benchmark_digest="two")
    found = compared(tmp_path, "--new-tasks", "ignore", "--removed-tasks", "ignore", "--json").json
    assert found["verdict"] == "inconclusive"


def test_a_task_that_was_skipped_is_neither_gone_nor_broken(tmp_path: Path) -> None:
    put(tmp_path, "a.json", results())
    skipped = [one if one.task_id != "t03" else result("t03", Status.SKIPPED, number=one.run) for one in results()]
    put(tmp_path, "b.json", skipped)
    found = compared(tmp_path, "--json").json
    flips = {one["taskId"]: one["flip"] for one in found["changes"][0]["tasks"]}
    assert (found["verdict"], flips["t03"]) == ("inconclusive", "unmeasured")


def test_labels_are_file_names_and_equal_ones_are_told_apart(tmp_path: Path) -> None:
    put(tmp_path, "one/r.json", results())
    put(tmp_path, "two/r.json", results())
    names = ("one/r.json", "two/r.json")
    assert run(tmp_path, "report", "diff", *names).out.startswith("PASS: one/r.json → two/r.json\n")
    assert run(tmp_path, "report", "diff", names[0], names[0]).out.startswith("PASS: one/r.json (A) → one/r.json (B)\n")
    labelled = run(tmp_path, "report", "diff", *names, "--label-a", "main", "--label-b", "mine")
    assert labelled.out.startswith("PASS: main → mine\n")


def test_more_than_two_files_are_refused_by_name(worse: Path) -> None:
    done = compared(worse, "c.json", "d.json")
    assert done.code == 2
    assert "found 4: a.json, b.json, c.json, d.json" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("--max-completion-drop", "5"),
        ("--max-partial-drop", "-1"),
        ("--max-p95-increase", "200"),
        ("--max-p95-increase", "soon"),
        ("--new-tasks", "maybe"),
        ("--golden", "nobody"),
        ("--max-drop", "2"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(worse: Path, words: tuple[str, ...]) -> None:
    done = compared(worse, *words)
    assert (done.code, words[0] in done.err) == (2, True)


def test_kinds_are_not_mixed_and_limits_are_for_benchmarks(worse: Path) -> None:
    from tests.report.reports import a_report, a_skill

    (worse / "s.json").write_text(render_json(a_report(a_skill())), encoding="utf-8")
    done = run(worse, "report", "diff", "a.json", "s.json")
    assert (done.code, "a.json is a bench document and s.json is a score document" in done.err) == (2, True)
    refused = run(worse, "report", "diff", "s.json", "s.json", "--golden", "t")
    assert (refused.code, "--golden is for benchmark reports" in refused.err) == (2, True)


def test_an_older_report_is_compared_with_one_of_ours(tmp_path: Path) -> None:
    written(tmp_path / "a.json", [older(skillId="calc", benchmarkId="own")])
    put(tmp_path, "b.json", [result(f"t{n}", Status.PASS, number=number) for number in (1, 2) for n in range(4)])
    found = compared(tmp_path, "--json").json
    assert found["verdict"] == "pass"
    assert found["changes"][0]["test"]["fixed"] == 3
    assert any("a.json come" in notice for notice in found["notices"])


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_every_format_lists_what_was_run_again(tmp_path: Path, form: str) -> None:
    from skillgate.bench.diff import diff
    from skillgate.bench.request import DiffPolicy
    from skillgate.model.bench import Rerun, RerunOutcome

    a, b = whole(skill_report(results(runs=1), "calc")), whole(skill_report(results(3, runs=1), "calc"))
    reruns = (
        Rerun(task_id="t00", outcome=RerunOutcome.BROKEN, a_passed=2, a_total=2, b_total=2),
        Rerun(task_id="t01", outcome=RerunOutcome.FLAKY, a_passed=0, a_total=1),
        Rerun(task_id="t02", outcome=RerunOutcome.UNMEASURED, reason="the budget is used up"),
    )
    found = diff(a, b, label_a="a", label_b="b", version="1", policy=DiffPolicy(), reruns={("calc", "own"): reruns})
    (tmp_path / "d.json").write_text(render_json(found), encoding="utf-8")
    said = run(tmp_path, "report", "convert", "d.json", "--format", form).out
    for words in (
        "1 of 20 tasks is broken in 3 of 3 runs: t00",
        "run again: 2/2 → 0/2, broken",
        "run again: 0/1 → —, flaky",
        "could not be run again: the budget is used up",
    ):
        assert words in said
    assert "McNemar" not in said
