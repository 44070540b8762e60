"""What differs between two benchmark reports as one HTML page: the verdict, then figures and tasks of each skill."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.bench import Flip, Pairing
from skillgate.model.score import Outcome
from skillgate.report.bench_diff_words import (
    alone,
    change,
    meant,
    moved,
    name_of,
    number,
    passes,
    rerun_words,
    tested,
    why,
)
from skillgate.report.findings import bounded
from skillgate.report.html_parts import PATH, Some, first
from skillgate.report.html_shell import macro, render_within
from skillgate.report.html_verdict import Decision, Reason

if TYPE_CHECKING:
    from skillgate.model.bench import BenchChange, BenchDiff, Metric, Rerun, TaskChange

_MOST_NOTES = 50
_TASKS = 300
_VERSION = 20  # characters, in the head of a column
_MARKS = {Outcome.PASS: "pass", Outcome.FAIL: "fail"}
_TONES = {"better": "up", "worse": "down"}
_COLORS = {Flip.BROKEN: "poor", Flip.REMOVED: "poor", Flip.FIXED: "good"}


class Figure(NamedTuple):
    """One figure before and after; in per cent too where it is a share."""

    name: str
    before: str
    after: str
    change: str
    meant: str
    tone: str
    share_before: float | None
    share_after: float | None


class Moved(NamedTuple):
    """One task that did not stay as it was."""

    task: str
    flip: str
    tone: str
    golden: bool
    before: str
    after: str
    rerun: str
    why: str


class Changed(NamedTuple):
    """One skill on one benchmark."""

    name: str
    benchmark: str
    mark: str
    anchor: str
    open: bool
    said: str
    versions: tuple[str, str]
    notices: tuple[str, ...]
    gates: tuple[tuple[str, str], ...]
    figures: tuple[Figure, ...]
    tasks: Some[Moved]
    same: int


class Page(NamedTuple):
    """What the page shows but the skills' own parts."""

    diff: BenchDiff
    decision: Decision
    facts: str


def render(diff: BenchDiff) -> str:
    """Write the page."""
    alone_ = len(diff.changes) == 1
    rows = [_changed(one, f"skill-{n}", is_open=alone_ or _is_lost(one)) for n, one in enumerate(diff.changes, start=1)]
    part = macro("bench_diff_skill.html.j2", "part")
    names = f"{bounded(diff.label_a, PATH)} → {bounded(diff.label_b, PATH)}"
    decision = Decision(
        _MARKS.get(diff.verdict, "error"),
        f"{diff.verdict.value.upper()}: {names}",
        first([Reason(bounded(reason)) for reason in diff.reasons], _MOST_NOTES),
        first(diff.notices, _MOST_NOTES),
    )
    page = Page(diff, decision, names)
    return render_within("bench_diff.html.j2", (part(row) for row in rows), len(rows), lambda _: page)


def _is_lost(one: BenchChange) -> bool:
    return one.test is not None and one.test.verdict is not Outcome.PASS


def _changed(one: BenchChange, anchor: str, *, is_open: bool) -> Changed:
    tasks = moved(one.tasks)
    reruns = {rerun.task_id: rerun for rerun in one.reruns}
    verdicts = [outcome.verdict for outcome in one.gate.outcomes] + ([one.test.verdict] if one.test else [])
    mark = "fail" if Outcome.FAIL in verdicts else "error" if {*verdicts} - {Outcome.PASS} else "pass"
    said = alone(one) if one.pairing is not Pairing.BOTH else tested(one.test) if one.test else ""
    return Changed(
        bounded(one.skill_id, PATH),
        bounded(one.benchmark_id, PATH),
        "none" if not verdicts else mark,
        anchor,
        is_open,
        said,
        (bounded(one.a_version or "before", _VERSION), bounded(one.b_version or "after", _VERSION)),
        one.notices,
        tuple((outcome.verdict.value, outcome.reason) for outcome in one.gate.outcomes),
        tuple(map(_figure, one.metrics)),
        first([_task(task, reruns.get(task.task_id)) for task in tasks], _TASKS),
        len(one.tasks) - len(tasks),
    )


def _figure(metric: Metric) -> Figure:
    said = meant(metric)
    is_share = not metric.name.endswith("Ms")
    after = None if metric.b is None or not is_share else 100 * metric.b
    before = None if metric.a is None or not is_share else 100 * metric.a
    return Figure(
        name_of(metric),
        number(metric, metric.a),
        number(metric, metric.b),
        change(metric),
        said,
        _TONES.get(said, "same"),
        before,
        after,
    )


def _task(task: TaskChange, rerun: Rerun | None) -> Moved:
    return Moved(
        task.task_id,
        task.flip.value,
        _COLORS.get(task.flip, "fair"),
        task.golden,
        passes(task.a_passed, task.a_total),
        passes(task.b_passed, task.b_total),
        "" if rerun is None else bounded(rerun_words(rerun)),
        bounded(why(task)),
    )
