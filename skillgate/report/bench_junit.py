"""A benchmark report as JUnit XML: a suite for each skill on a benchmark, a test case for each task in each run.

A wrong answer is a ``failure``, what the skill could not do (crash, wrong reply, time-out) an ``error``, and what the
evaluator could not do is ``skipped``. What readers' schemas share is written and no more: at most one of these in a
case, and properties at a suite alone. Gates are there, since they are about no task.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate.model.bench import Status
from skillgate.report.bench import verdict, why
from skillgate.report.findings import bounded
from skillgate.report.formats.junit import attributes, escaped
from skillgate.report.numbers import decimal as figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.model.bench import BenchReport, CompletionReport, TaskResult

_FAULTS: Mapping[Status, str] = {
    Status.FAIL: "failure",
    Status.ERROR: "error",
    Status.TIMEOUT: "error",
    Status.SKIPPED: "skipped",
}
_ANSWER = 500  # characters of an answer


def render(report: BenchReport) -> str:
    """Write a report."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    found = [result for one in report.reports for result in one.task_results]
    lines.append(f"<testsuites{attributes(name=f'skillgate: {verdict(report)}')}{_numbers(found)}>")
    for one in report.reports:
        lines += _suite(one)
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _suite(report: CompletionReport) -> Iterator[str]:
    results = report.task_results
    name = attributes(name=f"{report.skill_id} on {report.benchmark_id}")
    time = attributes(timestamp=report.timestamp.strftime("%Y-%m-%dT%H:%M:%S"))
    yield f"  <testsuite{name}{_numbers(results)}{time}>"
    yield "    <properties>"
    yield from (f"      <property{attributes(name=key, value=value)}/>" for key, value in _properties(report))
    yield "    </properties>"
    several = any(result.run > 1 for result in results)
    place = f"{report.benchmark_id}.{report.skill_id}"
    for result in results:
        yield from _case(result, place, f" run {result.run}" if several else "")
    yield "  </testsuite>"


def _properties(report: CompletionReport) -> Iterator[tuple[str, str]]:
    summary = report.summary
    yield "skillVersion", report.skill_version
    yield "benchmarkVersion", report.benchmark_version
    for key, value in (
        ("completionRate", summary.completion_rate),
        ("partialScore", summary.partial_score),
        ("errorRate", summary.error_rate),
        ("consistencyScore", summary.consistency_score),
        ("compositeScore", summary.composite_score),
    ):
        yield key, f"not measured: {summary.reasons.get(key, 'no reason is given')}" if value is None else figure(value)
    if summary.flaky_tasks:
        yield "flakyTasks", ", ".join(summary.flaky_tasks)
    if report.incomplete:
        yield "incomplete", report.incomplete
    for number, gate in enumerate(report.gate.outcomes, start=1):
        yield f"gate {number}", f"{gate.verdict.value}: {gate.reason}"


def _case(result: TaskResult, place: str, run: str) -> Iterator[str]:
    time = "" if result.latency_ms is None else attributes(time=f"{result.latency_ms / 1000:.3f}")
    head = f"    <testcase{attributes(classname=place, name=f'{result.task_id}{run}')}{time}"
    fault = _FAULTS.get(result.status)
    if fault is None:
        yield f"{head}/>"
        return
    kind = result.error_kind.value if result.error_kind else result.scorer_type or result.status.value
    words = why(result) or result.status.value
    yield f"{head}>"
    if fault == "skipped":
        yield f"      <skipped{attributes(message=words)}/>"
    else:
        yield f"      <{fault}{attributes(message=words, type=kind)}>{escaped(*_details(result))}</{fault}>"
    yield "    </testcase>"


def _details(result: TaskResult) -> Iterator[str]:
    """Give what an attribute has no room for: the score, the tries before, the answer."""
    yield f"score {figure(result.score)}"
    for number, attempt in enumerate(result.attempts, start=1):
        yield bounded(f"try {number}: {attempt.error_kind.value}: {attempt.error}")
    if result.output is not None:
        yield f"answer: {bounded(json.dumps(result.output.value, ensure_ascii=False), _ANSWER)}"


def _numbers(results: list[TaskResult] | tuple[TaskResult, ...]) -> str:
    faults = [_FAULTS.get(result.status) for result in results]
    seconds = sum(result.latency_ms or 0.0 for result in results) / 1000
    return attributes(
        tests=str(len(results)),
        failures=str(faults.count("failure")),
        errors=str(faults.count("error")),
        skipped=str(faults.count("skipped")),
        time=f"{seconds:.3f}",
    )
