"""A benchmark report in a terminal: what came of it, a table of skills, then what did not pass and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.bench_result import Status
from skillgate.model.text import printable
from skillgate.report.bench_words import figure, interval, milliseconds, outcome, percent, rows, verdict, why
from skillgate.report.terminal import Style, columns, cut, pad

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.bench import BenchReport, CompletionReport

_SHOWN = 20  # tasks of a skill that did not pass
_HEAD = ("skill", "completed", "95 %", "partial", "errors", "consistent", "p50", "p95", "composite", "gate")


def render(report: BenchReport, style: Style, *, verbose: bool = False) -> str:
    """Render it; with ``verbose`` every task and the table of tags."""
    lines = [_painted(verdict(report), report.gate.passed, style), ""]
    lines += _table([_HEAD, *(_row(one) for one in report.reports)], style)
    for one in report.reports:
        lines += _details(one, style, verbose=verbose)
    lines += [f"not loaded: {printable(one.path)}: {printable(one.reason)}" for one in report.not_loaded]
    lines += [f"note: {printable(notice)}" for notice in report.notices]
    return "\n".join(lines) + "\n"


def _row(report: CompletionReport) -> tuple[str, ...]:
    summary, latency = report.summary, report.latency
    return (
        report.skill_id,
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


def _details(report: CompletionReport, style: Style, *, verbose: bool) -> Iterator[str]:
    version = f" {report.benchmark_version}" if report.benchmark_version else ""
    name = printable(f"{report.skill_id} {report.skill_version} on {report.benchmark_id}{version}")
    yield ""
    yield style.paint(name, "bold")
    for gate in report.gate.outcomes:
        yield f"  {gate.verdict.value}: {printable(gate.reason)}"
    if report.incomplete:
        yield f"  incomplete: {printable(report.incomplete)}"
    table = rows(report.task_results)
    missed = [row for row in table if row.worst.status is not Status.PASS]
    shown = table if verbose else missed[:_SHOWN]
    for row in shown:
        told = f"  {row.status:<8} {printable(row.task)}  {row.passed}/{row.measured}"
        reason = printable(why(row.worst)) if row.worst.status is not Status.PASS else ""
        yield cut(f"{told}  {reason}".rstrip(), style.width)
    if len(missed) > len(shown):
        yield f"  … {len(missed) - len(shown)} more; -v shows them"
    if not missed:
        yield "  every task passed"
    if report.summary.flaky_tasks:
        yield cut(f"  flaky: {', '.join(printable(task) for task in report.summary.flaky_tasks)}", style.width)
    if verbose:
        for tag, found in report.by_tag.items():
            share = f"{percent(found.completion.value)} ({interval(found.completion)})"
            yield f"  tag {printable(tag)}: {share} of {found.tasks} tasks"
    cost = report.token_cost
    if cost is not None:
        price = "" if cost.cost_usd is None else f", ${cost.cost_usd:.4f}"
        yield f"  tokens: {cost.total:,}{price}"


def _table(table: Sequence[Sequence[str]], style: Style) -> Iterator[str]:
    shown = [[printable(cell) for cell in row] for row in table]
    widths = [max(columns(row[index]) for row in shown) for index in range(len(shown[0]))]
    for number, row in enumerate(shown):
        line = "  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield style.paint(line, "dim") if number == 0 else line


def _painted(text: str, passed: bool | None, style: Style) -> str:
    color = {True: "green", False: "red", None: "bold"}[passed]
    return style.paint(printable(text), color)
