"""A benchmark report as one HTML page: figures with intervals, charts, tags, and of each skill its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural
from skillgate.model.bench import Status
from skillgate.report.bench_page import Part, part_of
from skillgate.report.bench_words import (
    NOTHING,
    figure,
    interval,
    is_sure,
    milliseconds,
    outcome,
    percent,
    usage,
    verdict,
    warnings,
)
from skillgate.report.findings import bounded
from skillgate.report.html_charts import Bar, Whisker, bar, whisker
from skillgate.report.html_numbers import tone
from skillgate.report.html_parts import PATH, Some, first
from skillgate.report.html_shell import macro, render_within
from skillgate.report.html_verdict import Decision, Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.bench import BenchReport, CompletionReport

_ROWS = 400
_MOST_NOTES = 50


class Figure(NamedTuple):
    """One figure: what it is called, how it is written, a detail in small print, and the class of its colour."""

    name: str
    value: str
    detail: str = ""
    tone: str = ""


class Row(NamedTuple):
    """One skill in the table; ``anchor`` is empty where the page has no part about it."""

    name: str
    version: str
    benchmark: str
    mark: str
    anchor: str
    figures: tuple[Figure, ...]
    bar: Bar | None
    whisker: Whisker | None


class Times(NamedTuple):
    """The latencies of a skill: places in per cent of the width, and what is said of them."""

    name: str
    p50: float
    p95: float
    p99: float
    said: str


class Page(NamedTuple):
    """All that the page shows but the skills' own parts."""

    report: BenchReport
    decision: Decision
    tiles: tuple[Figure, ...]
    rows: Some[Row]
    times: Some[Times]
    longest: str
    settings: tuple[tuple[str, str], ...]
    notices: Some[str]


def render(report: BenchReport) -> str:
    """Write the page."""
    rows = [_row(one, f"skill-{number}") for number, one in enumerate(report.reports, start=1)]
    part = macro("bench_skill.html.j2", "part")
    alone = len(report.reports) == 1
    parts = (part(_part(one, row, alone=alone)) for one, row in zip(report.reports, rows, strict=True))

    def whole(shown: int) -> Page:
        linked = [*rows[:shown], *(row._replace(anchor="") for row in rows[shown:])]
        return _page(report, linked)

    return render_within("bench.html.j2", parts, len(rows), whole, several=len({row.benchmark for row in rows}) > 1)


def _part(report: CompletionReport, row: Row, *, alone: bool) -> Part:
    return part_of(report, row.anchor, row.mark, is_open=alone)


def _page(report: BenchReport, rows: Sequence[Row]) -> Page:
    longest = max((one.latency.p99 or 0.0 for one in report.reports), default=0.0)
    times = [_times(one, longest) for one in report.reports if one.latency.p50 is not None and longest]
    return Page(
        report,
        decision=_decision(report),
        tiles=tuple(_tiles(report)),
        rows=first(rows, _ROWS),
        times=first(times, _ROWS),
        longest=milliseconds(longest),
        settings=tuple(_settings(report)),
        notices=first(
            [*warnings(report), *report.notices, *(f"{one.path}: {one.reason}" for one in report.not_loaded)],
            _MOST_NOTES,
        ),
    )


def _decision(report: BenchReport) -> Decision:
    mark = {True: "pass", False: "fail", None: "none"}[report.gate.passed]
    if mark != "fail" and not is_sure(report):
        mark = "error"
    reasons = [
        Reason(bounded(f"{one.skill_id}: {reason}"))
        for one in report.reports
        for reason in (*(gate.reason for gate in one.gate.outcomes if gate.verdict.value != "pass"), one.incomplete)
        if reason
    ]
    return Decision(mark, bounded(verdict(report), PATH), first(reasons, _MOST_NOTES))


def _tiles(report: BenchReport) -> Iterator[Figure]:
    counts = [one.summary.counts for one in report.reports]
    total, passed = sum(one.total for one in counts), sum(one.passed for one in counts)
    skipped = sum(one.skipped for one in counts)
    yield Figure("Skills", str(len(report.reports)))
    yield Figure("Passed", str(passed), f"of {total}")
    yield Figure("Failed", str(sum(one.failed for one in counts)))
    broken = sum(one.errors + one.timeouts for one in counts)
    yield Figure("Errors", str(broken), tone="poor" if broken else "")
    yield Figure("Not measured", str(skipped), tone="fair" if skipped else "")
    flaky = sum(len(one.summary.flaky_tasks) for one in report.reports)
    yield Figure("Flaky tasks", str(flaky), tone="fair" if flaky else "")


def _row(report: CompletionReport, anchor: str) -> Row:
    summary, share = report.summary, report.summary.completion_interval
    completed = None if summary.completion_rate is None else 100 * summary.completion_rate
    mark = {True: "pass", False: "fail", None: "error" if report.incomplete else "none"}[report.gate.passed]
    return Row(
        bounded(report.skill_id, PATH),
        bounded(report.skill_version, 60),
        bounded(f"{report.benchmark_id} {report.benchmark_version}".strip(), PATH),
        mark,
        anchor,
        tuple(_figures(report)),
        bar(completed, tone(completed)),
        whisker(summary.completion_rate, share.ci_low, share.ci_high) if share else None,
    )


def _figures(report: CompletionReport) -> Iterator[Figure]:
    summary, latency = report.summary, report.latency
    rate = summary.completion_rate
    yield Figure(
        "completed",
        percent(rate),
        interval(summary.completion_interval),
        "" if rate is None else tone(100 * rate),
    )
    yield Figure("partial", percent(summary.partial_score))
    yield Figure("errors", percent(summary.error_rate), tone="poor" if summary.error_rate else "")
    yield Figure("consistent", figure(summary.consistency_score))
    yield Figure("p50", milliseconds(latency.p50))
    yield Figure("p95", milliseconds(latency.p95))
    yield Figure("composite", figure(summary.composite_score))
    yield Figure("gate", outcome(report), tone={True: "good", False: "poor", None: ""}[report.gate.passed])


def _times(report: CompletionReport, longest: float) -> Times:
    latency = report.latency
    places = [round(100 * (value or 0.0) / longest, 2) for value in (latency.p50, latency.p95, latency.p99)]
    said = f"{milliseconds(latency.p50)} · {milliseconds(latency.p95)} · {milliseconds(latency.p99)}"
    return Times(bounded(report.skill_id, PATH), places[0], places[1], places[2], said)


def _settings(report: BenchReport) -> Iterator[tuple[str, str]]:
    run = report.run
    said = f"{plural(run.runs, 'run')} of each task, {run.concurrency} at once"
    said += f", {run.timeout_ms:,} ms for each try of a task without a limit of its own"
    yield "How it was run", f"{said}, {plural(run.retries, 'retry').replace('retrys', 'retries')}"
    if run.shard:
        yield "Shard", f"{run.shard}: these are not all tasks"
    filters = [*(f"task {task}" for task in run.tasks), *(f"tag {tag}" for tag in run.tags)]
    if filters:
        yield "Only", ", ".join(filters[:_MOST_NOTES])
    yield "Kept from skills", f"sandbox {run.sandbox}: {', '.join(run.isolated) or 'nothing'}"
    measured = report.coverage
    yield "Measured", NOTHING if measured is None else f"{percent(measured)} of the results"
    skipped = [result for one in report.reports for result in one.task_results if result.status is Status.SKIPPED]
    if skipped:
        yield "Not measured", f"{plural(len(skipped), 'result')}, in no rate"
    used = [said for one in report.reports if (said := usage(one))]
    if used:
        yield "Tokens", "; ".join(f"{one.skill_id}: {usage(one)}" for one in report.reports if usage(one))
    yield "Models", ", ".join(report.models) or "none was asked"
    yield "Intervals", f"95 %, over tasks: runs of one task are one cluster; resampled with seed {run.seed}"
    yield "Composite", "0.5 · completed + 0.2 · (1 − p95 ÷ the benchmark's limit) + 0.3 · (1 − errors)"
    yield "Took", f"{report.duration_s:.1f} s"
    yield "Program", f"{report.tool.name} {report.tool.version}"
    if report.config_digest:
        yield "Configuration", report.config_digest
