"""From documents to rows: what each table gets of a report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillgate.model.codec import encode
from skillgate.model.documents import SingleReport
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from skillgate.model.bench import BenchReport, CompletionReport, RunSettings
    from skillgate.model.bench_result import TaskResult
    from skillgate.model.report import Report, SkillResult

_OUTPUT = 4096  # characters of an answer that are kept; the report has more
_WORDS = 2000
_COPIED = (
    *("skill_id", "skill_version", "skill_digest", "skill_path", "adapter", "model", "incomplete"),
    *("benchmark_id", "benchmark_version", "benchmark_digest"),
)
_FIGURES = (
    *("completion_rate", "partial_score", "error_rate", "consistency_score", "composite_score", "k"),
    *("weighted_completion_rate", "agreement", "pass_at_k", "pass_hat_k"),
)
_COUNTED = ("total", "passed", "failed", "errors", "timeouts", "skipped", "retries")

Row = dict[str, Any]


def text(value: str | None, most: int | None = None) -> str | None:
    """Make a text that every database takes: no NUL, which PostgreSQL refuses, no half of a pair, which SQLite does."""
    if value is None:
        return None
    cut = value[:most].replace("\0", "\ufffd")
    return cut if cut.isascii() else cut.encode("utf-8", "replace").decode("utf-8")


def clean(row: Row) -> Row:
    """Make every text of a row such a one, also those in lists and mappings."""
    return {key: _cleaned(value) for key, value in row.items()}


def _cleaned(value: Any) -> Any:  # noqa: ANN401 - what a column takes
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list | tuple) else value


def of_document(report: BenchReport | Report | SingleReport, kind: str) -> Row:
    """Give what a document says of itself."""
    row: Row = {
        "kind": kind,
        "tool_version": report.tool.version,
        "config_digest": report.config_digest,
        "schema_version": report.schema_version,
        "scoring_version": report.scoring_version,
        "coverage": report.coverage,
        "gate_passed": report.gate.passed,
    }
    return row


def of_settings(run: RunSettings) -> Row:
    """Give how a run was set."""
    settings: Row = encode(run)
    return settings


def comparable(run: RunSettings) -> str:
    """Say what two evaluations of a skill on a benchmark must share to stand in one line."""
    found: Row = {"evaluator": run.evaluator}
    found |= {"tasks": sorted(run.tasks)} if run.tasks else {}
    found |= {"tags": sorted(run.tags)} if run.tags else {}
    found |= {"shard": run.shard} if run.shard else {}
    return json.dumps(found, sort_keys=True, ensure_ascii=False)


def of_evaluation(report: CompletionReport, run: RunSettings) -> Row:
    """Give one skill's figures on a benchmark."""
    summary, counts, latency, cost = report.summary, report.summary.counts, report.latency, report.token_cost
    interval, mean = summary.completion_interval, summary.confidence_interval
    return {
        **{name: getattr(report, name) for name in _COPIED},
        **{name: getattr(summary, name) for name in _FIGURES},
        **{name: getattr(counts, name) for name in _COUNTED},
        "scoring_method": report.scoring_method.value,
        "comparable": comparable(run),
        "started_at": report.timestamp,
        "completion_low": None if interval is None else interval.ci_low,
        "completion_high": None if interval is None else interval.ci_high,
        "completion_n": None if interval is None else interval.n,
        "mean_score": None if mean is None else mean.mean,
        "mean_low": None if mean is None else mean.ci_low,
        "mean_high": None if mean is None else mean.ci_high,
        "latency_n": latency.n,
        "latency_p50_ms": latency.p50,
        "latency_p95_ms": latency.p95,
        "latency_p99_ms": latency.p99,
        "flaky_tasks": len(summary.flaky_tasks),
        "tokens_input": None if cost is None else cost.input,
        "tokens_output": None if cost is None else cost.output,
        "tokens_total": None if cost is None else cost.total,
        "cost_usd": None if cost is None else cost.cost_usd,
        "gate_passed": report.gate.passed,
        "reasons": dict(summary.reasons),
    }


def of_task(result: TaskResult) -> Row:
    """Give one task in one run; what was answered is cut."""
    output = None if result.output is None else json.dumps(result.output.value, ensure_ascii=False)
    cut = output is not None and (len(output) > _OUTPUT or bool(result.output and result.output.truncated))
    return {
        "task_id": result.task_id,
        "run": result.run,
        "status": result.status.value,
        "score": result.score,
        "latency_ms": result.latency_ms,
        "scorer_type": result.scorer_type,
        "error_kind": None if result.error_kind is None else result.error_kind.value,
        "error": text(result.error, _WORDS),
        "reason": text(result.reason, _WORDS),
        "output": text(output, _OUTPUT),
        "output_truncated": cut,
        "attempts": len(result.attempts) + (result.latency_ms is not None),
        "tokens_total": None if result.usage is None else result.usage.total,
        "cost_usd": None if result.usage is None else result.usage.cost_usd,
        "weight": result.weight,
        "golden": result.golden,
    }


def of_scores(report: Report | SingleReport, at: datetime) -> Iterator[Row]:
    """Give each skill's score."""
    results = (report.result(),) if isinstance(report, SingleReport) else report.results
    for result in results:
        yield {
            **_of_score(result),
            "depth": report.depth.value,
            "scoring_version": report.scoring_version,
            "models": list(report.models),
            "scored_at": at,
        }


def _of_score(result: SkillResult) -> Row:
    composite = result.composite
    return {
        "skill_name": result.skill.name,
        "skill_path": result.skill.path,
        "composite": composite.score,
        "ci_low": composite.ci_low,
        "ci_high": composite.ci_high,
        "elo": composite.elo,
        "badge": None if composite.badge is None else composite.badge.value,
        "reason": composite.reason,
        "coverage": result.coverage,
        "cost_usd": result.usage.cost_usd,
        "content_digest": result.content,
        "plugin": result.plugin,
        "dimensions": {key.value: one.score for key, one in result.dimensions.items()},
        "errors": sum(finding.severity is Severity.ERROR for finding in result.findings),
        "warnings": sum(finding.severity is Severity.WARNING for finding in result.findings),
        "evaluated": result.evaluated,
        "gate_passed": result.gate.passed,
    }
