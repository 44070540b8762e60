"""What the page of a benchmark report says of one skill: gates, tags, and every task with its runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.bench import Status
from skillgate.report.bench_words import figure, interval, milliseconds, percent, rows, usage, why
from skillgate.report.findings import bounded
from skillgate.report.html_charts import Bar, bar
from skillgate.report.html_numbers import tone
from skillgate.report.html_parts import PATH, Some, first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.model.bench import CompletionReport, TagRow, TaskResult
    from skillgate.report.bench_words import TaskRow

_TASKS = 300  # of each of the two lists
_RUNS = 20
_TAGS = 100
_WHY = 240  # characters of a reason in the table; the runs below it have more
_ANSWER = 400
TONES = {"pass": "good", "flaky": "fair", "skipped": "fair"}
"""The class of a task's word; others are ``poor``."""


class Ran(NamedTuple):
    """One run of a task: what is said of it in a line, why, and what was answered."""

    said: str
    status: str
    tone: str
    why: str
    answer: str


class Tried(NamedTuple):
    """One task with its runs."""

    task: str
    status: str
    tone: str
    golden: bool
    passed: str
    score: str
    time: str
    why: str
    runs: Some[Ran]


class Tagged(NamedTuple):
    """The tasks that carry one tag."""

    tag: str
    tasks: int
    completed: str
    interval: str
    partial: str
    bar: Bar | None


class Part(NamedTuple):
    """All that a page shows of one skill."""

    name: str
    version: str
    anchor: str
    mark: str
    open: bool
    tone: str
    composite: str
    completed: str
    lead: tuple[str, ...]
    gates: tuple[tuple[str, str], ...]
    incomplete: str
    notes: tuple[str, ...]
    flaky: Some[str]
    tags: Some[Tagged]
    missed: Some[Tried]
    passed: Some[Tried]


def part_of(report: CompletionReport, anchor: str, mark: str, *, is_open: bool) -> Part:
    """Put together what is told of one skill; ``mark`` and ``anchor`` are as in the table above it."""
    summary = report.summary
    table = rows(report.task_results)
    runs = _runs(report.task_results)
    tried = [_tried(row, runs[row.task]) for row in table]
    missed = [one for one in tried if one.status != Status.PASS.value]
    rate = summary.completion_rate
    return Part(
        name=bounded(report.skill_id, PATH),
        version=bounded(report.skill_version, 60),
        anchor=anchor,
        mark=mark,
        open=is_open,
        tone="none" if rate is None else tone(100 * rate),
        composite=figure(summary.composite_score),
        completed=f"{percent(rate)} completed",
        lead=tuple(_lead(report)),
        gates=tuple((gate.verdict.value, gate.reason) for gate in report.gate.outcomes),
        incomplete=report.incomplete or "",
        notes=tuple(f"{key}: {reason}" for key, reason in summary.reasons.items()),
        flaky=first(summary.flaky_tasks, _TAGS),
        tags=first([_tagged(tag, row) for tag, row in report.by_tag.items()], _TAGS),
        missed=first(missed, _TASKS),
        passed=first([one for one in tried if one.status == Status.PASS.value], _TASKS),
    )


def _lead(report: CompletionReport) -> Iterator[str]:
    counts = report.summary.counts
    yield f"{counts.passed} of {counts.total} results passed"
    for number, noun in (
        (counts.failed, "failed"),
        (counts.errors, "errors"),
        (counts.timeouts, "timeouts"),
        (counts.skipped, "not measured"),
        (counts.retries, "tried again"),
    ):
        if number:
            yield f"{number} {noun}"
    summary = report.summary
    if summary.pass_at_k is not None and summary.k is not None and summary.k > 1:
        yield f"pass@{summary.k} {figure(summary.pass_at_k)}, pass^{summary.k} {figure(summary.pass_hat_k)}"
    if summary.agreement is not None:
        yield f"runs agree {figure(summary.agreement)}"
    if summary.confidence_interval is not None:
        found = summary.confidence_interval
        yield f"mean score {figure(found.mean)} ({figure(found.ci_low)}–{figure(found.ci_high)}, {found.method})"
    if said := usage(report):
        yield said
    yield from filter(None, (report.adapter, report.model and f"model {report.model}", report.skill_path))
    yield f"benchmark {report.benchmark_id} {report.benchmark_version}".strip()
    if report.skill_digest:
        yield f"files {report.skill_digest[:19]}"


def _tagged(tag: str, row: TagRow) -> Tagged:
    value = row.completion.value
    share = None if value is None else 100 * value
    return Tagged(
        tag,
        row.tasks,
        percent(value),
        interval(row.completion),
        percent(row.partial_score),
        bar(share, tone(share)),
    )


def _runs(results: Iterable[TaskResult]) -> dict[str, list[TaskResult]]:
    found: dict[str, list[TaskResult]] = {}
    for result in results:
        found.setdefault(result.task_id, []).append(result)
    return found


def _tried(row: TaskRow, runs: Sequence[TaskResult]) -> Tried:
    scores = [run.score for run in runs if run.score is not None]
    is_pass = row.status == Status.PASS.value
    return Tried(
        task=row.task,
        status=row.status,
        tone=TONES.get(row.status, "poor"),
        golden=any(run.golden for run in runs),
        passed=f"{row.passed}/{row.measured}",
        score=figure(sum(scores) / len(scores) if scores else None, 2),
        time=milliseconds(row.latency_ms),
        why="" if is_pass else bounded(why(row.worst), _WHY),
        runs=Some(()) if is_pass else first([_ran(run) for run in runs], _RUNS),
    )


def _ran(result: TaskResult) -> Ran:
    said = [f"run {result.run}", milliseconds(result.latency_ms), f"score {figure(result.score, 2)}"]
    said += [result.scorer_type] if result.scorer_type else []
    tries = "; ".join(f"try {n}: {one.error_kind.value}: {one.error}" for n, one in enumerate(result.attempts, 1))
    answer = ""
    if result.output is not None:
        answer = bounded(json.dumps(result.output.value, ensure_ascii=False), _ANSWER)
        answer += f" (cut: {result.output.size_bytes:,} bytes)" if result.output.truncated else ""
    words = "; ".join(filter(None, (why(result), tries)))
    return Ran(" · ".join(said), result.status.value, TONES.get(result.status.value, "poor"), words, answer)
