"""What differs between two reports on benchmarks: the verdict, then figures and changed tasks of each skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.bench import Basis, Flip, Pairing, RerunOutcome
from skillgate.model.score import Outcome
from skillgate.report import charts
from skillgate.report.bench import gates
from skillgate.report.numbers import NONE, signed
from skillgate.report.view import Cell, Column, Fold, Items, Note, Row, Span, Table, View, code, columns, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.bench import BenchChange, BenchDiff, Metric, PairedTest, Rerun, TaskChange
    from skillgate.report.view import Block, Line, Mark, Tone

_NAMES = {
    "completionRate": "completed",
    "partialScore": "partial",
    "errorRate": "errors",
    "consistencyScore": "consistent",
    "p95Ms": "p95 (ms)",
    "compositeScore": "composite",
}
_MOVED = (Flip.BROKEN, Flip.REMOVED, Flip.UNMEASURED, Flip.FIXED, Flip.ADDED, Flip.CHANGED)
_MARKS: dict[Outcome, Mark] = {Outcome.PASS: "pass", Outcome.FAIL: "fail"}
_TONES: dict[str, Tone] = {"better": "good", "worse": "poor", "within noise": "muted"}
_DIRECTIONS = {"better": "up", "worse": "down"}
_FLIPS: dict[Flip, Tone] = {Flip.BROKEN: "poor", Flip.REMOVED: "poor", Flip.FIXED: "good"}
_WHY = 200


def view(diff: BenchDiff) -> View:
    """Build what a diff of benchmark reports shows."""
    names = f"{diff.label_a} → {diff.label_b}"
    alone = len(diff.changes) == 1
    return View(
        f"{diff.verdict.value.upper()}: {names}",
        _MARKS.get(diff.verdict, "error"),
        names,
        diff.reasons,
        diff.notices,
        tuple(skill_fold(one, f"skill-{n}", alone=alone) for n, one in enumerate(diff.changes, start=1)),
    )


def moved(tasks: Sequence[TaskChange]) -> list[TaskChange]:
    """List the tasks that changed, what was lost first."""
    found = [task for task in tasks if task.flip in _MOVED]
    return sorted(found, key=lambda task: (not (task.golden and task.flip is Flip.BROKEN), _MOVED.index(task.flip)))


def rerun_words(rerun: Rerun) -> str:
    """Say what running a task again has shown: how many of the reruns passed before and after."""
    said = f"run again: {passes(rerun.a_passed, rerun.a_total)} → {passes(rerun.b_passed, rerun.b_total)}, "
    if not rerun.a_total and not rerun.b_total:
        said = "" if rerun.outcome is not RerunOutcome.BROKEN else "not run again, "
    if rerun.outcome is RerunOutcome.UNMEASURED:
        return f"{said}could not be run again: {rerun.reason or 'no reason is given'}"
    return f"{said}{rerun.outcome.value}"


def passes(passed: int, total: int) -> str:
    """Write how many runs of a task passed."""
    return f"{passed}/{total}" if total else NONE


def skill_fold(one: BenchChange, anchor: str = "", *, alone: bool = False) -> Fold:
    """Build the part about one skill."""
    verdicts = [outcome.verdict for outcome in one.gate.outcomes] + ([one.test.verdict] if one.test else [])
    mark: Mark = "fail" if Outcome.FAIL in verdicts else "error" if {*verdicts} - {Outcome.PASS} else "pass"
    lost = one.test is not None and one.test.verdict is not Outcome.PASS
    summary = code(one.skill_id), f" on {one.benchmark_id}"
    return Fold(summary, tuple(_blocks(one)), alone or lost, False, anchor, mark if verdicts else "none")


def _blocks(one: BenchChange) -> Iterator[Block]:
    if one.pairing is not Pairing.BOTH:
        where = "New: only in the second report." if one.pairing is Pairing.ADDED else "Gone: only in the first report."
        yield Note(where)
        return
    yield from (Note(notice, "fair") for notice in one.notices)
    if one.test is not None:
        yield Note(_tested(one.test))
    if one.gate.outcomes:
        yield Items(tuple(gates(one.gate.outcomes)), "gate")
    sides = (one.a_version or "before")[:20], (one.b_version or "after")[:20]
    names = *columns("figure", "~"), *(Column(side, "number") for side in sides), *columns("#change", "meaning")
    yield Table(names, tuple(map(_metric, one.metrics)), noun="figure")
    tasks = moved(one.tasks)
    same = len(one.tasks) - len(tasks)
    reruns = {rerun.task_id: rerun for rerun in one.reruns}
    if tasks:
        others = f"; {plural(same, 'task')} did not" if same else ""
        heads = columns("task", "change", "#before", "#after", "why")
        yield Table(
            heads, tuple(_task(task, reruns.get(task.task_id)) for task in tasks), f"Tasks that changed{others}", "task"
        )
    elif same:
        yield Note(f"{plural(same, 'task')} did not change.", "muted")


def _metric(metric: Metric) -> Row:
    digits = 0 if metric.name.endswith("Ms") else 3
    said = ""
    if metric.noise:
        said = "within noise"
    elif metric.better is not None and round(metric.delta or 0.0, digits):
        said = "better" if metric.better else "worse"
    drawn = None
    if digits:
        before, after = (None if value is None else 100 * value for value in (metric.a, metric.b))
        drawn = charts.slope(before, after, _DIRECTIONS.get(said, ""))
    sides = (NONE if value is None else f"{value:.{digits}f}" for value in (metric.a, metric.b))
    change = NONE if metric.delta is None else "=" if round(metric.delta, digits) == 0 else signed(metric.delta, digits)
    tone = _TONES.get(said, "")
    return Row(
        (
            _NAMES.get(metric.name, metric.name),
            Cell(chart=drawn),
            *sides,
            Cell(change, tone=tone),
            Cell(said, tone=tone),
        )
    )


def _task(task: TaskChange, rerun: Rerun | None) -> Row:
    golden = (" ", Span("golden", "label")) if task.golden else ()
    before, after = passes(task.a_passed, task.a_total), passes(task.b_passed, task.b_total)
    flip = Cell(task.flip.value, tone=_FLIPS.get(task.flip, "fair"))
    said: list[Line] = [rerun_words(rerun)] if rerun else []
    if task.flip is not Flip.FIXED and task.reason:
        kind = f"{task.error_kind.value}: " if task.error_kind else ""
        said.append((kind + task.reason)[:_WHY])
    return Row(((code(task.task_id), *golden), flip, before, after, joined(said, "; ")))


def _tested(test: PairedTest) -> str:
    """Say what the test over tasks found; without p where the verdict rests on broken tasks."""
    said = f"{test.tasks} tasks of both: {test.fixed} fixed, {test.broken} broken"
    if test.mcnemar_p is not None and test.basis is not Basis.BROKEN:
        said += f" (McNemar p = {test.mcnemar_p:.3f})"
    if test.mean_difference is not None:
        said += f"; mean score {signed(test.mean_difference, 3)}"
    if test.ci_low is not None and test.ci_high is not None:
        said += f" (95 % interval {signed(test.ci_low, 3)} to {signed(test.ci_high, 3)})"
    return said
