"""A benchmark report as Markdown: a table of skills, and of each what did not pass; texts from files are inert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.bench_result import Status
from skillgate.report.bench_words import figure, interval, milliseconds, outcome, percent, rows, verdict, why
from skillgate.report.markdown import inert as escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.bench import BenchReport, CompletionReport
    from skillgate.report.bench_words import TaskRow

_MOST = 200  # rows of a table
_REASON = 300  # characters


def render(report: BenchReport) -> str:
    """Render it."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: BenchReport) -> Iterator[str]:
    yield "# Benchmark report"
    yield ""
    yield f"**{escape(verdict(report))}**"
    yield ""
    yield "| skill | benchmark | completed | 95 % | partial | errors | consistent | p50 | p95 | composite | gate |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"
    yield from (_summary(one) for one in report.reports)
    for one in report.reports:
        yield from _details(one)
    if report.notices:
        yield ""
        yield from (f"- {escape(notice)}" for notice in report.notices)


def _summary(report: CompletionReport) -> str:
    summary, latency = report.summary, report.latency
    cells = (
        escape(f"{report.skill_id} {report.skill_version}"),
        escape(f"{report.benchmark_id} {report.benchmark_version}".strip()),
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


def _details(report: CompletionReport) -> Iterator[str]:
    yield ""
    yield f"## {escape(f'{report.skill_id} on {report.benchmark_id}')}"
    yield ""
    for gate in report.gate.outcomes:
        yield f"- {gate.verdict.value}: {escape(gate.reason)}"
    if report.incomplete:
        yield f"- incomplete: {escape(report.incomplete)}"
    yield f"- {_counted(report)}"
    yield from (f"- {escape(key)} is not measured: {escape(reason)}" for key, reason in report.summary.reasons.items())
    table = rows(report.task_results)
    missed = [row for row in table if row.worst.status is not Status.PASS]
    passed = [row for row in table if row.worst.status is Status.PASS]
    if missed:
        yield ""
        yield from _tasks(missed)
    if passed:
        yield ""
        yield f"<details><summary>{len(passed)} tasks passed</summary>"
        yield ""
        yield from _tasks(passed)
        yield ""
        yield "</details>"


def _counted(report: CompletionReport) -> str:
    counts = report.summary.counts
    said = f"{counts.passed} of {counts.total} results passed, {counts.failed} failed, {counts.errors} errors"
    said += f", {counts.timeouts} timeouts, {counts.skipped} not measured, {counts.retries} tried again"
    flaky = report.summary.flaky_tasks
    return said + (f"; flaky: {escape(', '.join(flaky))}" if flaky else "")


def _tasks(table: list[TaskRow]) -> Iterator[str]:
    yield "| task | status | passed | time | why |"
    yield "|---|---|--:|--:|---|"
    for row in table[:_MOST]:
        reason, time = escape(why(row.worst)[:_REASON]), milliseconds(row.latency_ms)
        yield f"| {escape(row.task)} | {row.status} | {row.passed}/{row.measured} | {time} | {reason} |"
    if len(table) > _MOST:
        yield ""
        yield f"{len(table) - _MOST} more."
