"""Read the reports of eval-skills: a list with one object for each skill."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.answers import bounded_output
from skillgate.bench.metrics import summarise
from skillgate.bench.ports import MAX_WORDS
from skillgate.errors import UsageError
from skillgate.model.bench import (
    BenchReport,
    BenchUsage,
    CompletionReport,
    ErrorKind,
    Latency,
    Output,
    RunSettings,
    Status,
    TaskResult,
)
from skillgate.model.benchmark import Benchmark
from skillgate.model.report import Tool
from skillgate.model.skill import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.model.bench import BenchSummary

_PROGRAM = "eval-skills"
_UNKNOWN = "unknown"
_WRITTEN = {"partialScore": "partial_score", "compositeScore": "composite_score"}
_COMPUTED = {"completionRate": "completion_rate", "errorRate": "error_rate", "consistencyScore": "consistency_score"}
_STATUSES = {status.value: status for status in Status}
_ROUNDED = 0.0005  # such reports have four decimals
_MOST_NUMBER = 1e15  # sums of larger numbers could overflow


def digest_of_evaluation(item: Any) -> str:  # noqa: ANN401 - JSON
    """Return a digest of one skill's evaluation by its results, which are the same in a report and in a database."""
    at = _At(item, "$")
    found = at.key("taskResults").value
    results = sorted(
        json.dumps([one.key(key).value for key in ("taskId", "runId", "status", "score", "latencyMs")])
        for one in (_At(found, "").items() if isinstance(found, list) else ())
    )
    owner = [at.key(key).value for key in ("skillId", "benchmarkId")]
    about = [] if results else [at.key(key).value for key in ("timestamp", "summary", "latency")]
    return digest(json.dumps(["eval-skills", *owner, *about, *results], sort_keys=True).encode())


class _At(NamedTuple):
    """A value and its position."""

    value: Any
    where: str

    def key(self, name: str) -> _At:
        found = self.value.get(name) if isinstance(self.value, dict) else None
        return _At(found, f"{self.where}.{name}")

    def items(self) -> list[_At]:
        return [_At(value, f"{self.where}[{index}]") for index, value in enumerate(self.value)]


def report_of(data: list[Any], shown: str) -> BenchReport:
    """Convert such a report: a non-empty list with one object for each skill.

    It has no version, settings or digests, which the notices mention. Figures are recomputed from the results. Figures
    that need the benchmark (partial score, composite) are taken as written.

    Raises:
        UsageError: It is not such a list. The message has file and position.
    """
    try:
        found = [_skill(item) for item in _At(data, "$").items()]
    except ValueError as error:
        raise UsageError(f"{shown} is not a benchmark report: {error}") from None
    results = [result for report, _ in found for result in report.task_results]
    measured = sum(result.status is not Status.SKIPPED for result in results)
    notices = [
        "written by eval-skills: benchmark versions and digests, settings, isolation and error kinds are"
        " unknown; settings are shown with their defaults"
    ]
    for _, contradictions in found:
        notices += contradictions
    return BenchReport(
        reports=tuple(report for report, _ in found),
        tool=Tool(version=_UNKNOWN, name=_PROGRAM),
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
    figures = summarise(results, Benchmark(id=benchmark, name=benchmark, version=_UNKNOWN, tasks=()), runs=runs)
    shares = {key: _share(summary_at.key(key)) for key in (*_WRITTEN, *_COMPUTED)}
    latency = figures.latency if results else _latency(latency_at)
    summary, notices = figures.summary, list(_contradictions(name, shares, figures.summary))
    reasons = dict(summary.reasons)
    changes: dict[str, Any] = {}
    for key, field in _WRITTEN.items() if results else {**_WRITTEN, **_COMPUTED}.items():
        changes[field] = shares[key]
        reasons.pop(key, None)
        if shares[key] is None:
            reasons[key] = "not in the report of eval-skills"
    if not results:
        reasons["counts"] = "the report of eval-skills has no results"
    report = CompletionReport(
        skill_id=name,
        skill_version=_text(at.key("skillVersion"), _UNKNOWN),
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


def _contradictions(name: str, shares: Mapping[str, float | None], summary: BenchSummary) -> Iterator[str]:
    """Yield figures of a report that contradict its results."""
    if not summary.counts.total:
        return
    for key, field in _COMPUTED.items():
        written, computed = shares[key], getattr(summary, field)
        if written is not None and computed is not None and abs(written - computed) > _ROUNDED:
            yield f"{name}: the report has {key} {written:g}, but its results give {computed:.4g}, which is used"


def _results(at: _At, name: str) -> Iterator[TaskResult]:
    if at.value is None:
        return
    if not isinstance(at.value, list):
        raise _problem(at, "a list")
    items = at.items()
    numbers = sorted({_number(item.key("runId"), 1.0) for item in items})  # some count from 0
    for item in items:
        word = _text(item.key("status"))
        if word not in _STATUSES:
            raise _problem(item.key("status"), ", ".join(_STATUSES))
        yield _result(item, name, _STATUSES[word], numbers.index(_number(item.key("runId"), 1.0)) + 1)


def _result(at: _At, name: str, status: Status, run: int) -> TaskResult:
    score, latency = _number(at.key("score"), 0.0), _number(at.key("latencyMs"), 0.0)
    weight = _number(at.key("weight"), 1.0)
    scores = {Status.SKIPPED: None, Status.ERROR: 0.0, Status.TIMEOUT: 0.0}
    return TaskResult(
        task_id=_text(at.key("taskId")),
        skill_id=name,
        run=run,
        status=status,
        score=scores.get(status, min(1.0, score)),
        latency_ms=latency if latency > 0 and status is not Status.SKIPPED else None,  # 0 means a failed call
        scorer_type=_text(at.key("scorerType"), "")[:MAX_WORDS],
        output=_output(at.key("output").value),
        error=_words(at.key("error")),
        error_kind=ErrorKind.TIMEOUT if status is Status.TIMEOUT else None,
        reason=_words(at.key("reason")),
        usage=_usage(at.key("usage")),
        weight=weight if weight > 0 else 1.0,
    )


def _output(value: Any) -> Output | None:  # noqa: ANN401 - JSON
    """Return an answer for a report; one with numbers that JSON cannot represent becomes a string."""
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
    used, answered = (
        max(_number(at.key(one), 0.0), _number(at.key(other), 0.0))
        for one, other in (("promptTokens", "inputTokens"), ("completionTokens", "outputTokens"))
    )
    total = _number(at.key("totalTokens"), 0.0)
    if not (used or answered or total):
        return None
    cost = at.key("estimatedUSD")
    cost_usd = None if cost.value is None else _number(cost, 0.0)
    return BenchUsage(input=int(used), output=int(answered), total=int(total or used + answered), cost_usd=cost_usd)


def _time(at: _At) -> datetime:
    try:
        found = datetime.fromisoformat(_text(at))
    except ValueError:
        raise _problem(at, "a time such as 2026-01-02T03:04:05Z") from None
    if found.tzinfo is None:
        raise _problem(at, "a time with a time zone")
    return found


def _words(at: _At) -> str | None:
    return None if at.value is None else _text(at)[:MAX_WORDS] or None


def _text(at: _At, default: str | None = None) -> str:
    if at.value is None and default is not None:
        return default
    if not isinstance(at.value, str):
        raise _problem(at, "a string")
    return at.value


def _number(at: _At, default: float) -> float:
    """Return a non-negative number; such reports write ``null`` for none."""
    if at.value is None:
        return default
    if isinstance(at.value, bool) or not isinstance(at.value, int | float):
        raise _problem(at, "a number")
    if not 0 <= at.value <= _MOST_NUMBER:  # also false for NaN
        raise _problem(at, f"a number from 0 to {_MOST_NUMBER:g}")
    return float(at.value)


def _share(at: _At) -> float | None:
    if at.value is None:
        return None
    value = _number(at, 0.0)
    if value > 1:
        raise _problem(at, "a number from 0 to 1")
    return value


def _problem(at: _At, expected: str) -> ValueError:
    found = "nothing" if at.value is None else repr(at.value)[:80]
    if isinstance(at.value, dict | list):
        found = "an object" if isinstance(at.value, dict) else "a list"
    return ValueError(f"{at.where}: expected {expected}, found {found}")
