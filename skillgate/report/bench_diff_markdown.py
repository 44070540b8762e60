"""What differs between two benchmark reports, as Markdown: the verdict, figures, then the tasks that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.bench import Pairing
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
from skillgate.report.escape import inert

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.bench import BenchChange, BenchDiff, Metric, Rerun, TaskChange

_MOST = 100  # tasks of a skill
_MEANT = {"better": "▲ better", "worse": "▼ **worse**"}


def render(diff: BenchDiff) -> str:
    """Render it."""
    return "\n".join(_lines(diff)) + "\n"


def _lines(diff: BenchDiff) -> Iterator[str]:
    yield f"## {inert(diff.label_a)} → {inert(diff.label_b)}: {diff.verdict.value.upper()}"
    yield ""
    yield from (f"- {inert(reason)}" for reason in diff.reasons)
    yield from (f"- note: {inert(notice)}" for notice in diff.notices)
    for one in diff.changes:
        yield from _skill(one)


def _skill(one: BenchChange) -> Iterator[str]:
    yield ""
    yield f"### {inert(one.skill_id)} on {inert(one.benchmark_id)}"
    yield ""
    if one.pairing is not Pairing.BOTH:
        yield alone(one)
        return
    for notice in one.notices:
        yield f"- {inert(notice)}"
    if one.test is not None:
        yield f"- {inert(tested(one.test))}"
    yield from (f"- {outcome.verdict.value}: {inert(outcome.reason)}" for outcome in one.gate.outcomes)
    yield ""
    yield f"| figure | {inert(one.a_version or 'before')} | {inert(one.b_version or 'after')} | change | |"
    yield "|---|--:|--:|--:|---|"
    yield from (_metric(metric) for metric in one.metrics)
    tasks = moved(one.tasks)
    if tasks:
        yield ""
        yield "| task | | before | after | why |"
        yield "|---|---|--:|--:|---|"
        reruns = {rerun.task_id: rerun for rerun in one.reruns}
        yield from (_task(task, reruns.get(task.task_id)) for task in tasks[:_MOST])
        if len(tasks) > _MOST:
            yield ""
            yield f"{len(tasks) - _MOST} more."


def _metric(metric: Metric) -> str:
    said = meant(metric)
    cells = (name_of(metric), number(metric, metric.a), number(metric, metric.b), change(metric))
    return f"| {' | '.join(cells)} | {_MEANT.get(said, said)} |"


def _task(task: TaskChange, rerun: Rerun | None) -> str:
    golden = " (golden)" if task.golden else ""
    before, after = passes(task.a_passed, task.a_total), passes(task.b_passed, task.b_total)
    said = "; ".join(filter(None, ("" if rerun is None else rerun_words(rerun), why(task))))
    return f"| {inert(task.task_id)} | {task.flip.value}{golden} | {before} | {after} | {inert(said)} |"
