"""A benchmark report in a terminal: what came of it, a table of skills, then what did not pass and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import printable
from skillgate.model.bench import ErrorKind, Status
from skillgate.report.bench_words import figure, interval, milliseconds, outcome, percent, rows, verdict, warnings, why
from skillgate.report.terminal import Style, columns, cut, pad, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.bench import BenchReport, CompletionReport
    from skillgate.report.bench_words import TaskRow

_SHOWN = 20  # tasks of a skill that did not pass
_EACH = 10  # skills up to which one without a fault is shown by itself
_NAME = 32  # columns of a task's id before the others' reasons are moved no further
_LEAST = 30  # columns that a reason needs to stand beside its task
_LINES = 2
_WHOLE = 12  # of a reason whose end says what to do
_HEAD = ("skill", "completed", "95 %", "partial", "errors", "consistent", "p50", "p95", "composite", "gate")


def render(report: BenchReport, style: Style, *, verbose: bool = False) -> str:
    """Render it; with ``verbose`` every task and the table of tags."""
    lines = [_painted(verdict(report), report.gate.passed, style), ""]
    lines += _table([_HEAD, *(_row(one) for one in report.reports)], style)
    whole = [] if verbose or len(report.reports) <= _EACH else [one for one in report.reports if _faultless(one)]
    quiet = {id(one) for one in whole}
    for one in report.reports:
        if id(one) not in quiet:
            lines += _details(one, style, verbose=verbose)
    if whole:
        which = "1 skill" if len(whole) == 1 else f"{len(whole)} skills"
        gated = "" if all(one.gate.passed is None for one in whole) else " and no gate failed"
        lines += ["", f"{which}: every task passed{gated}; -v shows each"]
    lines += [f"not loaded: {printable(one.path)}: {printable(one.reason)}" for one in report.not_loaded]
    lines += [f"note: {printable(notice)}" for notice in (*warnings(report), *report.notices)]
    return "\n".join(lines) + "\n"


def _faultless(report: CompletionReport) -> bool:
    """Tell whether there is nothing to act on: all of it was measured, every task passed, and no gate failed."""
    passed = all(result.status is Status.PASS for result in report.task_results)
    return bool(report.task_results) and passed and report.gate.passed is not False and not report.incomplete


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
    yield from _tasks(shown, style.width)
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


def _tasks(groups: Sequence[Sequence[TaskRow]], width: int) -> Iterator[str]:
    """Give tasks that ended alike their line, and up to two for the reason: its beginning tells more than its end."""
    heads = [(group[0].status, _named(group), f"{group[0].passed}/{group[0].measured}") for group in groups]
    widths = [max((columns(head[index]) for head in heads), default=0) for index in range(3)]
    widths[1] = min(widths[1], _NAME)
    for (row, *_), head in zip(groups, heads, strict=True):
        line = "  " + "  ".join(pad(cell, size) for cell, size in zip(head, widths, strict=True))
        reason = printable(why(row.worst)) if row.worst.status is not Status.PASS else ""
        room = width - columns(line) - 2
        indent = columns(line) + 2 if room >= _LEAST else 6
        lines = wrap(reason, width - indent) if reason else []
        most = _WHOLE if row.worst.error_kind is ErrorKind.NOT_STARTED else _LINES
        if len(lines) > most:
            lines = [*lines[: most - 1], _begun(lines[most - 1], width - indent)]
        if lines and room >= _LEAST:
            line = f"{line}  {lines.pop(0)}"
        yield cut(line.rstrip(), width)
        yield from (" " * indent + line for line in lines)


def _begun(text: str, width: int) -> str:
    """Say that a text goes on, within a width."""
    while text and columns(text) > width - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def _table(table: Sequence[Sequence[str]], style: Style) -> Iterator[str]:
    shown = [[printable(cell) for cell in row] for row in table]
    widths = [max(columns(row[index]) for row in shown) for index in range(len(shown[0]))]
    for number, row in enumerate(shown):
        line = "  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield style.paint(line, "dim") if number == 0 else line


def _painted(text: str, passed: bool | None, style: Style) -> str:
    color = {True: "green", False: "red", None: "bold"}[passed]
    return style.paint(printable(text), color)
