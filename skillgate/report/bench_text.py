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
    from skillgate.report.bench_words import TaskRow

_SHOWN = 20  # lines about tasks of a skill that did not pass
_NAME, _LEAST = 40, 40  # columns of a task's name, and of its reason however narrow the terminal is
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
    groups = [[row] for row in table] if verbose else _alike(missed)
    shown = groups if verbose else groups[:_SHOWN]
    names = [_named(group) for group in shown]
    width = min(_NAME, max(map(columns, names), default=0))
    for name, (row, *_) in zip(names, shown, strict=True):
        told = f"  {row.status:<8} {pad(cut(name, _NAME), width)}  {row.passed}/{row.measured}"
        reason = " ".join(printable(why(row.worst)).split()) if row.worst.status is not Status.PASS else ""
        yield f"{told}  {cut(reason, max(_LEAST, style.width - columns(told) - 2))}".rstrip()
    left = sum(map(len, groups)) - sum(map(len, shown))
    if left:
        yield f"  … {left} more; -v shows them"
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


def _alike(missed: Sequence[TaskRow]) -> list[list[TaskRow]]:
    """Put tasks together that ended alike: a skill that cannot start is told once, and not for every task."""
    groups: dict[tuple[object, ...], list[TaskRow]] = {}
    for row in missed:
        groups.setdefault((row.status, row.passed, row.measured, why(row.worst)), []).append(row)
    return list(groups.values())


def _named(group: Sequence[TaskRow]) -> str:
    more = f" and {len(group) - 1} more" if len(group) > 1 else ""
    return printable(group[0].task) + more


def _table(table: Sequence[Sequence[str]], style: Style) -> Iterator[str]:
    shown = [[printable(cell) for cell in row] for row in table]
    widths = [max(columns(row[index]) for row in shown) for index in range(len(shown[0]))]
    for number, row in enumerate(shown):
        line = "  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield style.paint(line, "dim") if number == 0 else line


def _painted(text: str, passed: bool | None, style: Style) -> str:
    color = {True: "green", False: "red", None: "bold"}[passed]
    return style.paint(printable(text), color)
