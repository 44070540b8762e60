"""What differs between two benchmark reports, as Markdown: the verdict, figures, then the tasks that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.bench_diff import Flip, Pairing
from skillgate.report.markdown import inert

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.bench_diff import BenchChange, BenchDiff, Metric, TaskChange

_NAMES = {
    "completionRate": "completed",
    "partialScore": "partial",
    "errorRate": "errors",
    "consistencyScore": "consistent",
    "p95Ms": "p95 (ms)",
    "compositeScore": "composite",
}
_MOVED = (Flip.BROKEN, Flip.REMOVED, Flip.FIXED, Flip.ADDED, Flip.CHANGED)
_MOST = 100  # tasks of a skill


def render(diff: BenchDiff) -> str:
    """Render it."""
    return "\n".join(_lines(diff)) + "\n"


def _lines(diff: BenchDiff) -> Iterator[str]:
    yield f"## {inert(diff.label_a)} → {inert(diff.label_b)}: {diff.verdict.value.upper()}"
    yield ""
    yield from (f"- {inert(reason)}" for reason in diff.reasons)
    yield from (f"- note: {inert(notice)}" for notice in diff.notices)
    for change in diff.changes:
        yield from _skill(change)


def _skill(change: BenchChange) -> Iterator[str]:
    yield ""
    yield f"### {inert(change.skill_id)} on {inert(change.benchmark_id)}"
    yield ""
    if change.pairing is not Pairing.BOTH:
        yield (
            "New: only in the second report." if change.pairing is Pairing.ADDED else "Gone: only in the first report."
        )
        return
    yield from (f"- {inert(notice)}" for notice in change.notices)
    yield f"| figure | {inert(change.a_version or 'before')} | {inert(change.b_version or 'after')} | change | |"
    yield "|---|--:|--:|--:|---|"
    yield from (_metric(metric) for metric in change.metrics)
    moved = sorted(
        (task for task in change.tasks if task.flip in _MOVED), key=lambda task: (_MOVED.index(task.flip), task.task_id)
    )
    if moved:
        yield ""
        yield "| task | | before | after | why |"
        yield "|---|---|--:|--:|---|"
        yield from (_task(task) for task in moved[:_MOST])
        if len(moved) > _MOST:
            yield ""
            yield f"{len(moved) - _MOST} more."


def _metric(metric: Metric) -> str:
    digits = 0 if metric.name == "p95Ms" else 3
    cells = [_number(metric.a, digits), _number(metric.b, digits)]
    change = "—" if metric.delta is None else f"{metric.delta:+.{digits}f}".replace("-", "−")
    words = "" if metric.better is None else ("▲ better" if metric.better else "▼ **worse**")
    if metric.noise:
        words = "within noise"
    return f"| {_NAMES[metric.name]} | {' | '.join(cells)} | {change} | {words} |"


def _task(task: TaskChange) -> str:
    golden = " (golden)" if task.golden else ""
    before = f"{task.a_passed}/{task.a_total}" if task.a_total else "—"
    after = f"{task.b_passed}/{task.b_total}" if task.b_total else "—"
    why = "" if task.flip is Flip.FIXED else inert((task.reason or "")[:200])
    return f"| {inert(task.task_id)} | {task.flip.value}{golden} | {before} | {after} | {why} |"


def _number(value: float | None, digits: int) -> str:
    return "—" if value is None else f"{value:.{digits}f}"
