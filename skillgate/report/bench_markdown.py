"""A benchmark report as Markdown: a table of skills, and of each its tasks; texts from files are inert.

It stays below what GitHub shows as the summary of a step: long tables of tasks are cut, and a note says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.bench import Status
from skillgate.report.bench_words import (
    figure,
    interval,
    milliseconds,
    outcome,
    percent,
    rows,
    usage,
    verdict,
    warnings,
    why,
)
from skillgate.report.escape import inert as escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.bench import BenchReport, CompletionReport
    from skillgate.report.bench_words import TaskRow

LIMIT = 1_000_000  # bytes; GitHub takes 1 MiB for a step
_TAIL = 2_000  # bytes kept for notes
_MOST = 200  # rows of a table of tasks
_SKILLS = 1_000  # rows of the table of skills
_REASON = 300  # characters
_LISTED = 50  # flaky tasks, tags
_LONGEST = 5_000  # bytes of a part of a line


class _Room:
    """How many bytes are left."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, line: str) -> bool:
        """Take a line, unless there is no room for it."""
        size = len(line.encode(errors="backslashreplace")) + 1
        if size > self.left:
            return False
        self.left -= size
        return True


def render(report: BenchReport, limit: int = LIMIT) -> str:
    """Render it in at most ``limit`` bytes of UTF-8, whatever it holds."""
    room = _Room(limit - _TAIL)
    lines: list[str] = []
    for line in _head(report):
        if not room.take(line):
            break
        lines.append(line)
    left = 0
    for one in report.reports:
        part = list(_details(one, room))
        if left or not part:
            left += 1
            continue
        lines += part
    if left:
        lines += ["", f"{plural(left, 'skill')} more in the JSON report: there is no room for them here."]
    return "\n".join(lines) + "\n"


def _head(report: BenchReport) -> Iterator[str]:
    yield "# Benchmark report"
    yield ""
    yield f"**{escape(verdict(report)[:_LONGEST])}**"
    yield ""
    yield "| skill | benchmark | completed | 95 % | partial | errors | consistent | p50 | p95 | composite | gate |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"
    yield from (_summary(one) for one in report.reports[:_SKILLS])
    if len(report.reports) > _SKILLS:
        yield ""
        yield f"{len(report.reports) - _SKILLS} skills more."
    run = report.run
    yield ""
    said = f"{plural(run.runs, 'run')} of each task, {run.concurrency} at once"
    said += f", {run.timeout_ms:,} ms for each try of a task without a limit of its own"
    yield f"- {said}, sandbox {escape(run.sandbox)}; kept from skills: {escape(', '.join(run.isolated)) or 'nothing'}"
    yield from (f"- {warning}" for warning in warnings(report))
    if run.shard:
        yield f"- shard {escape(run.shard)}: these are not all tasks"
    yield from (f"- {escape(notice[:_LONGEST])}" for notice in report.notices[:_LISTED])
    yield from (
        f"- not loaded: {escape(one.path[:_REASON])}: {escape(one.reason[:_REASON])}"
        for one in report.not_loaded[:_LISTED]
    )


def _summary(report: CompletionReport) -> str:
    summary, latency = report.summary, report.latency
    cells = (
        escape(f"{report.skill_id} {report.skill_version}"[:_REASON]),
        escape(f"{report.benchmark_id} {report.benchmark_version}".strip()[:_REASON]),
        percent(summary.completion_rate),
        interval(summary.completion_interval),
        percent(summary.partial_score),
        percent(summary.error_rate),
        figure(summary.consistency_score),
        milliseconds(latency.p50),
        milliseconds(latency.p95),
        figure(summary.composite_score),
        outcome(report),
    )
    return f"| {' | '.join(cells)} |"


def _details(report: CompletionReport, room: _Room) -> Iterator[str]:
    """Write one skill while there is room; nothing where not even its figures have some."""
    head = list(_figures(report))
    if not room.take("\n".join(head)):
        return
    yield from head
    table = rows(report.task_results)
    missed = [row for row in table if row.worst.status is not Status.PASS]
    passed = [row for row in table if row.worst.status is Status.PASS]
    if missed:
        yield ""
        yield from _tasks(missed, report, room)
    if passed:
        yield ""
        yield f"<details><summary>{plural(len(passed), 'task')} passed in every run</summary>"
        yield ""
        yield from _tasks(passed, report, room)
        yield ""
        yield "</details>"


def _figures(report: CompletionReport) -> Iterator[str]:
    summary = report.summary
    yield ""
    yield f"## {escape(f'{report.skill_id} on {report.benchmark_id}'[:_REASON])}"
    yield ""
    for gate in report.gate.outcomes[:_LISTED]:
        yield f"- {gate.verdict.value}: {escape(gate.reason[:_REASON])}"
    if report.incomplete:
        yield f"- incomplete: {escape(report.incomplete[:_REASON])}"
    yield f"- {_counted(report)}"
    mean = summary.confidence_interval
    if mean is not None:
        low, high = figure(mean.ci_low), figure(mean.ci_high)
        yield f"- mean score {figure(mean.mean)}, 95 % interval {low} to {high} over {mean.n} tasks ({mean.method})"
    if summary.pass_at_k is not None and summary.k is not None and summary.k > 1:
        said = f"pass@{summary.k} {figure(summary.pass_at_k)}, pass^{summary.k} {figure(summary.pass_hat_k)}"
        yield f"- {said}, runs agree {figure(summary.agreement)}"
    if summary.flaky_tasks:
        listed = [escape(task[:_REASON]) for task in summary.flaky_tasks[:_LISTED]]
        more = len(summary.flaky_tasks) - len(listed)
        yield f"- flaky: {', '.join(listed)}{f' and {more} more' if more else ''}"
    if said := usage(report):
        yield f"- {said}"
    if summary.error_kinds:
        yield f"- kinds of errors: {', '.join(f'{escape(kind)} {n}' for kind, n in summary.error_kinds.items())}"
    for key, reason in summary.reasons.items():
        yield f"- {escape(key)} is not measured: {escape(reason[:_REASON])}"
    if report.by_tag:
        yield ""
        yield "| tag | tasks | completed | 95 % | partial |"
        yield "|---|--:|--:|--:|--:|"
    for tag, row in list(report.by_tag.items())[:_LISTED]:
        share = f"{percent(row.completion.value)} | {interval(row.completion)} | {percent(row.partial_score)}"
        yield f"| {escape(tag[:_REASON])} | {row.tasks} | {share} |"


def _counted(report: CompletionReport) -> str:
    counts = report.summary.counts
    said = f"{counts.passed} of {counts.total} results passed, {counts.failed} failed, {counts.errors} errors"
    return said + f", {counts.timeouts} timeouts, {counts.skipped} not measured, {counts.retries} tried again"


def _tasks(table: Sequence[TaskRow], report: CompletionReport, room: _Room) -> Iterator[str]:
    """Write tasks, each with the run that ended worst."""
    scores: dict[str, list[float]] = {}
    for result in report.task_results:
        if result.score is not None:
            scores.setdefault(result.task_id, []).append(result.score)
    yield "| task | status | passed | score | time | run | reason | error |"
    yield "|---|---|--:|--:|--:|--:|---|---|"
    shown = 0
    for row in table[:_MOST]:
        line = _task(row, scores.get(row.task, []))
        if not room.take(line):
            break
        shown += 1
        yield line
    if len(table) > shown:
        yield ""
        yield f"{len(table) - shown} more in the JSON report."


def _task(row: TaskRow, scores: Sequence[float]) -> str:
    worst, mean = row.worst, sum(scores) / len(scores) if scores else None
    cells = (
        escape(row.task[:_REASON]) + (" (golden)" if worst.golden else ""),
        row.status,
        f"{row.passed}/{row.measured}",
        figure(mean, 2),
        milliseconds(row.latency_ms),
        "" if worst.status is Status.PASS else str(worst.run),
        "" if worst.status is Status.PASS else escape((worst.reason or "")[:_REASON]),
        escape(why(worst)[:_REASON]) if worst.error else "",
    )
    return f"| {' | '.join(cells)} |"
