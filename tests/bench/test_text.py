"""A benchmark report in a terminal: what has to be acted on can be read there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from skillgate.bench.request import BenchPolicy
from skillgate.format import Style
from skillgate.model.bench import Status
from skillgate.report.bench import view
from skillgate.report.formats.text import columns, write
from tests.bench.made import result
from tests.bench.written import skill_report, whole

if TYPE_CHECKING:
    from skillgate.model.bench import BenchReport, TaskResult


def render(report: BenchReport, style: Style, *, verbose: bool = False) -> str:
    return write(view(report), style, verbose=verbose)


LONG = "expected a number, found " + "a text that goes on and on " * 20


def failed(task: str, reason: str = LONG) -> TaskResult:
    return result(task, status=Status.FAIL, reason=reason)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_long_reason_is_shown_from_its_beginning(width: int) -> None:
    tasks = [
        failed("a", f"{LONG} 1"),
        failed("数字-数字", f"{LONG} 2"),
        failed("a-rather-long-name", f"{LONG} 3"),
        failed("x" * 60, f"{LONG} 4"),
        failed("wide", "字数は合わない " * 40),
    ]
    text = render(whole(skill_report(tasks)), Style(width=width))
    body = text.splitlines()
    assert max(columns(line) for line in body) <= width
    told = " ".join(" ".join(line.split()) for line in body)
    assert told.count("expected a number, found a text") == 4
    assert sum(line.endswith("…") for line in body) >= 5


def test_reasons_stand_in_one_column() -> None:
    text = render(whole(skill_report([failed("a", "first"), failed("数字-数字", "second")])), Style(width=80))
    lines = [line for line in text.splitlines() if line.endswith(("first", "second"))]
    starts = {columns(line[: line.rindex(" ") + 1]) for line in lines}
    assert (len(lines), len(starts)) == (2, 1)


def test_among_many_skills_those_without_a_fault_are_counted() -> None:
    good = [skill_report([result("a")], f"good-{number}") for number in range(11)]
    report = whole(*good, skill_report([failed("a", "wrong")], "bad"))
    text = render(report, Style(width=80))
    assert "11 skills: every task passed" in text
    assert re.search(r"^ +a +fail +0/1", text, re.MULTILINE)
    assert text.count("task  ") == 1
    assert render(report, Style(width=80), verbose=True).count("1 task passed in every run") == 11
    assert "every task passed" in render(whole(good[0]), Style(width=80))


def test_among_many_skills_a_missed_gate_is_told() -> None:
    good = [skill_report([result("a")], f"good-{number}", policy=BenchPolicy(min_partial=0.5)) for number in range(11)]
    slow = skill_report([result("a")], "slow", policy=BenchPolicy(max_p95_ms=0.001))
    text = render(whole(*good, slow), Style(width=80))
    assert "11 skills: every task passed and no gate failed" in text
    assert "slow 95th percentile" in text


def test_tasks_that_ended_alike_are_told_once() -> None:
    tasks = [failed(f"t{number}", "the same") for number in range(30)]
    text = render(whole(skill_report([*tasks, failed("other", "another")])), Style(width=80))
    assert "t0 and 29 more" in text
    assert text.count("the same") == 1
    assert "t17" not in text
    assert "t17" in render(whole(skill_report(tasks)), Style(width=80), verbose=True)
