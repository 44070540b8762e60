"""Reports that an older evaluator of skills wrote: a bare list, an object for each skill on a benchmark.

They hold no version, settings or digests. What their results say is computed anew from them; what only the benchmark
would tell (how partial scores are put together, the latency limit of the composite) is kept as it is written.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.ports import MAX_WORDS
from skillgate.bench.results.metrics import summarise
from skillgate.bench.runner import bounded_output
from skillgate.errors import UsageError
from skillgate.model.bench import BenchReport, CompletionReport, Latency, RunSettings
from skillgate.model.bench_result import BenchUsage, ErrorKind, Output, Status, TaskResult
from skillgate.model.benchmark import Benchmark
from skillgate.model.report import Tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAME = "an older evaluator"
UNKNOWN = "unknown"
_ABSENT = "the older report does not say"
_KEPT = {"partialScore": "partial_score", "compositeScore": "composite_score"}
_GIVEN = {"completionRate": "completion_rate", "errorRate": "error_rate", "consistencyScore": "consistency_score"}
_ROUNDED = 0.0005  # figures stand in such reports with four decimals
_MEASURED = {status.value: status for status in Status}


class _At(NamedTuple):
    """A value and where it stands."""

    value: Any
    where: str

    def key(self, name: str) -> _At:
        found = self.value.get(name) if isinstance(self.value, dict) else None
        return _At(found, f"{self.where}.{name}")

    def item(self, index: int) -> _At:
        return _At(self.value[index], f"{self.where}[{index}]")


def mapped(data: list[Any], shown: str) -> BenchReport:
    """Make a report of such a list.

    Args:
        data: what the file holds: at least one report.
        shown: the file as it was named, for messages.

    Returns:
        The report; its notices say what is not known of it.

    Raises:
        UsageError: it is no such list; the message names the file and the place in it.
    """
    whole = _At(data, "$")
    try:
        found = [_skill(whole.item(index)) for index in range(len(data))]
    except ValueError as error:
        raise UsageError(f"{shown} is not a benchmark report: {error}") from None
    results = [result for report, _ in found for result in report.task_results]
    measured = sum(result.status is not Status.SKIPPED for result in results)
    notices = [
        "written by an older evaluator: versions and digests of benchmarks, settings, isolation and what each error was"
        " are not known; settings are shown as they are by default"
    ]
    notices += [notice for _, notices_ in found for notice in notices_]
    return BenchReport(
        reports=tuple(report for report, _ in found),
        tool=Tool(version=UNKNOWN, name=NAME),
        config_digest="",
        run=RunSettings(runs=max((result.run for result in results), default=1)),
        coverage=measured / len(results) if results else None,
        notices=tuple(dict.fromkeys(notices)),
    )


def _skill(at: _At) -> tuple[CompletionReport, list[str]]:
    if not isinstance(at.value, dict):
        raise _problem(at, "an object")
    name = _text(at.key("skillId"))
    summary_at, latency_at = at.key("summary"), at.key("latency")
    if not isinstance(summary_at.value, dict):
        raise _problem(summary_at, "an object")
    results = tuple(_results(at.key("taskResults"), name))
    runs = max((result.run for result in results), default=1)
    benchmark = _text(at.key("benchmarkId"))
    figures = summarise(results, Benchmark(id=benchmark, name=benchmark, version=UNKNOWN, tasks=()), runs=runs)
    given = {key: _share(summary_at.key(key)) for key in (*_KEPT, *_GIVEN)}
    latency = figures.latency if results else _latency(latency_at)
    summary, notices = figures.summary, list(_contradictions(name, given, figures.summary))
    reasons = dict(summary.reasons)
    changes: dict[str, Any] = {}
    for key, field in _KEPT.items() if results else {**_KEPT, **_GIVEN}.items():
        changes[field] = given[key]
        reasons.pop(key, None)
        if given[key] is None:
            reasons[key] = _ABSENT
    if not results:
        reasons["counts"] = "the older report holds no results"
    report = CompletionReport(
        skill_id=name,
        skill_version=_text(at.key("skillVersion"), UNKNOWN),
        benchmark_id=benchmark,
        timestamp=_time(at.key("timestamp")),
        summary=replace(summary, **changes, reasons=reasons),
        latency=latency,
        task_results=results,
        benchmark_version="",
        token_cost=_usage(at.key("tokenCost")) or figures.token_cost,
        by_tag=figures.by_tag,
    )
    return report, notices


def _contradictions(name: str, given: Mapping[str, float | None], summary: Any) -> Iterator[str]:  # noqa: ANN401
    """Say where a report's own figures are not what its results give."""
    if not summary.counts.total:
        return
    for key, field in _GIVEN.items():
        said, found = given[key], getattr(summary, field)
        if said is not None and found is not None and abs(said - found) > _ROUNDED:
            yield f"{name}: the report says {key} {said:g}, its results give {found:.4g}, which is shown"


def _results(at: _At, name: str) -> Iterator[TaskResult]:
    if at.value is None:
        return
    if not isinstance(at.value, list):
        raise _problem(at, "a list")
    items = [at.item(index) for index in range(len(at.value))]
    numbers = sorted({_number(item.key("runId"), 1.0) for item in items})  # some count from 0
    place = {number: index for index, number in enumerate(numbers, start=1)}
    for item in items:
        word = _text(item.key("status"))
        if word not in _MEASURED:
            raise _problem(item.key("status"), ", ".join(_MEASURED))
        yield _result(item, name, _MEASURED[word], place[_number(item.key("runId"), 1.0)])


def _result(at: _At, name: str, status: Status, run: int) -> TaskResult:
    score = _number(at.key("score"), 0.0)
    latency = _number(at.key("latencyMs"), 0.0)
    weight = _number(at.key("weight"), 1.0)
    skipped = status is Status.SKIPPED
    return TaskResult(
        task_id=_text(at.key("taskId")),
        skill_id=name,
        run=run,
        status=status,
        score=None if skipped else 0.0 if status in (Status.ERROR, Status.TIMEOUT) else min(1.0, max(0.0, score)),
        latency_ms=latency if latency > 0 and not skipped else None,  # 0 is written for calls that failed
        scorer_type=_text(at.key("scorerType"), "")[:MAX_WORDS],
        output=_output(at.key("output").value),
        error=_words(at.key("error")),
        error_kind=ErrorKind.TIMEOUT if status is Status.TIMEOUT else None,
        reason=_words(at.key("reason")),
        usage=_usage(at.key("usage")),
        weight=weight if weight > 0 else 1.0,
    )


def _output(value: Any) -> Output | None:  # noqa: ANN401 - JSON
    """Keep an answer; one with numbers that JSON does not have is kept as a text."""
    if value is None:
        return None
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return bounded_output(json.dumps(value))
    return bounded_output(value)


def _latency(at: _At) -> Latency:
    found = [_number(at.key(key), 0.0) or None for key in ("p50Ms", "p95Ms", "p99Ms")]
    return Latency(p50=found[0], p95=found[1], p99=found[2])


def _usage(at: _At) -> BenchUsage | None:
    if not isinstance(at.value, dict):
        return None
    found = [_number(at.key(key), 0.0) for key in ("inputTokens", "outputTokens", "totalTokens")]
    if not any(found):
        return None
    cost = at.key("estimatedUSD")
    return BenchUsage(
        input=int(found[0]),
        output=int(found[1]),
        total=int(found[2] or found[0] + found[1]),
        cost_usd=None if cost.value is None else _number(cost, 0.0),
    )


def _time(at: _At) -> datetime:
    try:
        found = datetime.fromisoformat(_text(at))
    except ValueError:
        raise _problem(at, "a time such as 2026-01-02T03:04:05Z") from None
    if found.tzinfo is None:
        raise _problem(at, "a time with its zone")
    return found


def _words(at: _At) -> str | None:
    return None if at.value is None else _text(at)[:MAX_WORDS] or None


def _text(at: _At, default: str | None = None) -> str:
    if at.value is None and default is not None:
        return default
    if not isinstance(at.value, str):
        raise _problem(at, "a text")
    return at.value


def _number(at: _At, default: float) -> float:
    """Give a number of at least 0; older reports write ``null`` for what is none."""
    if at.value is None:
        return default
    if isinstance(at.value, bool) or not isinstance(at.value, int | float):
        raise _problem(at, "a number")
    if not math.isfinite(at.value) or at.value < 0:
        raise _problem(at, "a number of at least 0")
    return float(at.value)


def _share(at: _At) -> float | None:
    if at.value is None:
        return None
    value = _number(at, 0.0)
    if value > 1:
        raise _problem(at, "a number from 0 to 1")
    return value


def _problem(at: _At, expected: str) -> ValueError:
    if isinstance(at.value, dict | list):
        found = "an object" if isinstance(at.value, dict) else "a list"
    else:
        found = "nothing" if at.value is None else repr(at.value)[:80]
    return ValueError(f"{at.where}: expected {expected}, found {found}")
