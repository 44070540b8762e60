"""What differs between two benchmark reports in a terminal: the verdict, then figures and tasks of each skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import printable
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
from skillgate.report.terminal import columns, cut, pad, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.bench import BenchChange, BenchDiff, TaskChange
    from skillgate.report.terminal import Style

_SHOWN = 20  # tasks of a skill
_COLORS = {Outcome.PASS: "green", Outcome.FAIL: "red"}
_LOST = frozenset({Flip.BROKEN, Flip.REMOVED})


def render(diff: BenchDiff, style: Style, *, verbose: bool = False) -> str:
    """Render it; with ``verbose`` every task that moved."""
    return "\n".join(_lines(diff, style, verbose=verbose)) + "\n"


def _lines(diff: BenchDiff, style: Style, *, verbose: bool) -> Iterator[str]:
    names = printable(f"{diff.label_a} → {diff.label_b}")
    yield style.paint(f"{diff.verdict.value.upper()}: {names}", _COLORS.get(diff.verdict, "yellow"), "bold")
    for reason in diff.reasons:
        yield from _wrapped(reason, style)
    for notice in diff.notices:
        yield from _wrapped(f"note: {notice}", style)
    for one in diff.changes:
        yield ""
        yield style.paint(printable(f"{one.skill_id} on {one.benchmark_id}"), "bold")
        yield from _skill(one, style, verbose=verbose)


def _wrapped(text: str, style: Style) -> Iterator[str]:
    first, *rest = wrap(printable(text), max(20, style.width - 4))
    yield f"  {first}"
    yield from (f"    {line}" for line in rest)


def _skill(one: BenchChange, style: Style, *, verbose: bool) -> Iterator[str]:
    if one.pairing is not Pairing.BOTH:
        yield f"  {alone(one)}"
        return
    for notice in one.notices:
        yield from _wrapped(notice, style)
    rows = [("figure", one.a_version or "before", one.b_version or "after", "change", "")]
    rows += [
        (name_of(metric), number(metric, metric.a), number(metric, metric.b), change(metric), meant(metric))
        for metric in one.metrics
    ]
    for row, line in zip(rows, _aligned(rows), strict=True):
        color = {"better": "green", "worse": "red", "within noise": "dim"}.get(row[-1], "")
        yield style.paint(f"  {line}", color) if color else f"  {line}"
    if one.test is not None:
        yield from _wrapped(tested(one.test), style)
    for outcome in one.gate.outcomes:
        yield from _wrapped(f"{outcome.verdict.value}: {outcome.reason}", style)
    tasks = moved(one.tasks)
    shown = tasks if verbose else tasks[:_SHOWN]
    wide = max((columns(printable(task.task_id)) for task in shown), default=0)
    reruns = {rerun.task_id: rerun for rerun in one.reruns}
    for task in shown:
        yield _task(task, min(wide, 40), style)
        if task.task_id in reruns:
            yield from (f"  {line}" for line in _wrapped(rerun_words(reruns[task.task_id]), style))
    if len(tasks) > len(shown):
        yield f"  … {len(tasks) - len(shown)} more; -v shows them"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(columns(row[index]) for row in shown) for index in range(len(shown[0]))]
    for row in shown:
        first = pad(row[0], widths[0])
        numbers = [" " * (width - columns(cell)) + cell for cell, width in zip(row[1:4], widths[1:4], strict=True)]
        yield "  ".join((first, *numbers, row[4])).rstrip()


def _task(task: TaskChange, wide: int, style: Style) -> str:
    golden = " (golden)" if task.golden else ""
    runs = f"{passes(task.a_passed, task.a_total)} → {passes(task.b_passed, task.b_total)}"
    name = pad(cut(printable(task.task_id), wide), wide)
    line = cut(f"  {task.flip.value:<10} {name}  {runs}{golden}  {printable(why(task))}".rstrip(), style.width)
    color = "red" if task.flip in _LOST else "green" if task.flip is Flip.FIXED else ""
    return style.paint(line, color) if color else line
