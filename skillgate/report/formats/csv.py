"""A benchmark report as CSV (RFC 4180): a line for each skill; no cell is taken for a formula."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from skillgate.format import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.bench import BenchReport, CompletionReport

POSITION = 5
SUFFIXES = (".csv",)
WRITERS = {"bench": "render"}
_HEAD = (
    *("skillId", "benchmarkId", "completionRate", "partialScore", "errorRate", "p50Ms", "p95Ms", "compositeScore"),
    *("skillVersion", "benchmarkVersion", "consistencyScore", "ciLow", "ciHigh", "k", "passAtK", "passHatK"),
    *("total", "passed", "failed", "errors", "timeouts", "skipped", "retries", "tokens", "costUsd", "gate"),
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Lines:
    """What csv writes to."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, line: str) -> int:
        self.written.append(line)
        return len(line)


def render(report: BenchReport) -> str:
    """Render it; what was not measured is an empty cell."""
    return text([_HEAD, *map(_row, report.reports)], number=".6g")


def text(rows: Iterable[Iterable[object]], *, number: str = "") -> str:
    """Return rows as CSV; None is an empty cell. ``number`` is the format of fractions, by default exact."""
    out = _Lines()
    csv.writer(out, lineterminator="\r\n").writerows([_cell(value, number) for value in row] for row in rows)
    return "".join(out.written)


def _row(report: CompletionReport) -> Iterator[object]:
    summary, counts, share = report.summary, report.summary.counts, report.summary.completion_interval
    yield from (report.skill_id, report.benchmark_id, summary.completion_rate, summary.partial_score)
    yield from (summary.error_rate, report.latency.p50, report.latency.p95, summary.composite_score)
    yield from (report.skill_version, report.benchmark_version, summary.consistency_score)
    yield from (share.ci_low if share else None, share.ci_high if share else None)
    yield from (summary.k, summary.pass_at_k, summary.pass_hat_k)
    yield from (counts.total, counts.passed, counts.failed, counts.errors, counts.timeouts)
    yield from (counts.skipped, counts.retries)
    usage = report.token_cost
    yield from (usage.total if usage else None, usage.cost_usd if usage else None)
    yield {True: "pass", False: "fail", None: None}[report.gate.passed]


def inert(value: str) -> str:
    """Return a text that no program takes for a formula and no terminal for a command."""
    shown = printable(value)
    return f"'{shown}" if value.lstrip(" ").startswith(_FORMULA) else shown


def _cell(value: object, number: str) -> object:
    if isinstance(value, float):
        return format(value, number)
    if isinstance(value, str):
        return inert(value)
    return "" if value is None else value
