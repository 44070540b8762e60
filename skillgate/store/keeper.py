"""The store of reports: write documents, read past evaluations and scores."""

from __future__ import annotations

import hashlib
import json
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import sqlalchemy as sa

from skillgate.errors import UsageError
from skillgate.model.bench import BenchReport, comparable
from skillgate.model.codec import encode
from skillgate.model.documents import PastEvaluation, PastScore
from skillgate.model.finding import Severity
from skillgate.model.single_report import SingleReport
from skillgate.store.schema import (
    BENCH_EVALUATIONS,
    DOCUMENTS,
    READING,
    SCORE_RESULTS,
    TASK_RESULTS,
    failing,
    foreign,
    opened,
)
from skillgate.store.target import require_file, require_packages

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

    from skillgate.model.bench import CompletionReport, RunSettings, TaskResult
    from skillgate.model.report import Report, SkillResult
    from skillgate.store.target import Target

Row: TypeAlias = dict[str, Any]

_AT_ONCE = 200
_OUTPUT = 4096  # characters of an answer; the report has more
_WORDS = 2000
_COPIED = (
    *("skill_id", "skill_version", "skill_digest", "skill_path", "adapter", "model", "incomplete"),
    *("benchmark_id", "benchmark_version", "benchmark_digest"),
)
_FIGURES = (
    *("completion_rate", "partial_score", "error_rate", "consistency_score", "composite_score", "k"),
    *("weighted_completion_rate", "agreement", "pass_at_k", "pass_hat_k"),
)
_OF_DOCUMENT = ("config_digest", "schema_version", "scoring_version", "coverage")
_COUNTED = ("total", "passed", "failed", "errors", "timeouts", "skipped", "retries")


class Provenance(NamedTuple):
    """Where a document comes from."""

    origin: str  # ``eval`` or ``import``
    source: str | None = None  # the file
    commit_id: str | None = None  # evaluated commit
    branch: str | None = None
    at: datetime | None = None  # time of a score


class Filter(NamedTuple):
    """Which rows to return; None for any. ``limit`` keeps the newest."""

    skill: str | None = None
    benchmark: str | None = None
    since: datetime | None = None
    limit: int | None = None


def document_digest(data: Any) -> str:  # noqa: ANN401 - JSON
    """Return a digest of a document that does not depend on its formatting."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Store:
    """An open store. Several processes may use it; every method is one transaction."""

    def __init__(self, engine: Engine, target: Target) -> None:
        self._engine, self._target = engine, target

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def write(self, report: BenchReport | Report | SingleReport, digest: str, source: Provenance) -> bool:
        """Write a document completely or not at all; return False if it already exists.

        Raises:
            UsageError: A number is too large for a database.
            IncompleteError: The database failed.
        """
        try:
            with failing(self._engine, self._target, "written"), self._engine.begin() as connection:
                return self._write(connection, report, digest, source)
        except sa.exc.IntegrityError:  # another process wrote it at the same time
            return False
        except (OverflowError, sa.exc.DataError):
            raise UsageError("it contains a number that is too large for a database") from None

    def _write(
        self, connection: Connection, report: BenchReport | Report | SingleReport, digest: str, source: Provenance
    ) -> bool:
        if connection.execute(sa.select(DOCUMENTS.c.id).where(DOCUMENTS.c.digest == digest)).first() is not None:
            return False
        now = datetime.now(UTC)
        is_bench = isinstance(report, BenchReport)
        row: Row = {
            **source._asdict(),
            "kind": "bench" if is_bench else "score",
            "digest": digest,
            "stored_at": now,
            "tool_version": report.tool.version,
            **{
                name: getattr(report, name)
                for name in ("config_digest", "schema_version", "scoring_version", "coverage")
            },
            "gate_passed": report.gate.passed,
        }
        row["happened_at"] = row.pop("at") or now
        if isinstance(report, BenchReport):
            row["settings"] = encode(report.run)
            row["happened_at"] = min((one.timestamp for one in report.reports), default=row["happened_at"])
        document = _inserted(connection, DOCUMENTS, row)
        if isinstance(report, BenchReport):
            for position, one in enumerate(report.reports):
                owned = {"document_id": document, "position": position, **_evaluation_row(one, report.run)}
                evaluation = _inserted(connection, BENCH_EVALUATIONS, owned)
                for start in range(
                    0, len(one.task_results), _AT_ONCE
                ):  # in batches: rows take more memory than results
                    some = one.task_results[start : start + _AT_ONCE]
                    tasks = [_clean({"evaluation_id": evaluation, **_task_row(task)}) for task in some]
                    connection.execute(sa.insert(TASK_RESULTS), tasks)
            return True
        common = {
            "document_id": document,
            "depth": report.depth.value,
            "scoring_version": report.scoring_version,
            "models": list(report.models),
            "scored_at": row["happened_at"],
        }
        results = (report.result(),) if isinstance(report, SingleReport) else report.results
        scores = [
            _clean({**common, "position": position, **_score_row(result)}) for position, result in enumerate(results)
        ]
        if scores:
            connection.execute(sa.insert(SCORE_RESULTS), scores)
        return True

    def evaluations(self, wanted: Filter) -> tuple[PastEvaluation, ...]:
        """Return past evaluations, newest first.

        Raises:
            IncompleteError: The database failed.
        """
        table = BENCH_EVALUATIONS
        query = _query(PastEvaluation, table, table.c.started_at, wanted)
        if wanted.skill is not None:
            query = query.where(table.c.skill_id == wanted.skill)
        if wanted.benchmark is not None:
            query = query.where(table.c.benchmark_id == wanted.benchmark)
        return tuple(PastEvaluation(**row) for row in self._read(query))

    def newest(self, *, measured: bool) -> tuple[PastEvaluation, ...]:
        """Return the newest complete evaluation of each skill version on each benchmark, newest first.

        Complete means not interrupted and with all tasks; with ``measured``, without unmeasured results too.
        """
        table = BENCH_EVALUATIONS
        keys = (table.c.skill_id, table.c.skill_version, table.c.benchmark_id)
        order = (table.c.started_at.desc(), table.c.id.desc())
        place = sa.func.row_number().over(partition_by=keys, order_by=order).label("place")
        # Task filters and shards follow the scorer after a comma.
        ranked = sa.select(table.c.id, place).where(
            table.c.incomplete.is_(None), sa.not_(table.c.comparable.contains(", "))
        )
        if measured:
            ranked = ranked.where(table.c.skipped == 0, table.c.completion_rate.is_not(None))
        firsts = ranked.subquery()
        query = _query(PastEvaluation, table, table.c.started_at, Filter())
        query = query.join(firsts, firsts.c.id == table.c.id).where(firsts.c.place == 1)
        return tuple(PastEvaluation(**row) for row in self._read(query))

    def scores(self, wanted: Filter) -> tuple[PastScore, ...]:
        """Return past scores, newest first; the filter's skill is a name or a path."""
        table = SCORE_RESULTS
        query = _query(PastScore, table, table.c.scored_at, wanted)
        if wanted.skill is not None:
            query = query.where(sa.or_(table.c.skill_name == wanted.skill, table.c.skill_path == wanted.skill))
        return tuple(PastScore(**{**row, "models": tuple(row["models"])}) for row in self._read(query))

    def _read(self, query: sa.Select[Any]) -> list[dict[str, Any]]:
        """Return rows after checking value types: SQLite accepts any value in any column."""
        engine = self._engine.execution_options(**{READING: True})
        columns = {column.name: column for column in query.selected_columns if isinstance(column, sa.Column)}
        with failing(self._engine, self._target, "read"), engine.connect() as connection:
            try:
                rows = [dict(row) for row in connection.execute(query).mappings()]
            except (ValueError, TypeError) as error:  # invalid time or JSON
                raise foreign(self._target, str(error)[:200]) from None
        for row in rows:
            for name, value in row.items():
                if not _fits(value, columns[name]):
                    raise foreign(self._target, f"{name} of row {row['id']!r} is {str(value)[:50]!r}")
        return rows


def open_store(target: Target, *, create: bool) -> Store:
    """Open a store, and upgrade its schema if needed; with ``create``, create a missing SQLite file.

    Raises:
        UsageError: It is unusable, or a package is missing.
    """
    require_packages(target)
    if target.path is not None:
        require_file(target, create=create)
    return Store(opened(target), target)


def _inserted(connection: Connection, table: sa.Table, row: dict[str, Any]) -> int:
    key = connection.execute(sa.insert(table), _clean(row)).inserted_primary_key
    number: int = key[0] if key is not None else 0
    return number


def _fits(value: object, column: sa.Column[Any]) -> bool:
    if value is None:
        return bool(column.nullable)
    if isinstance(column.type, sa.JSON):
        return isinstance(value, dict if column.name == "dimensions" else list)
    kind = column.type.python_type
    if kind is float:
        return isinstance(value, int | float) and math.isfinite(value)
    return isinstance(value, kind)


def _query(shape: type, table: sa.Table, time: sa.Column[Any], wanted: Filter) -> sa.Select[Any]:
    """Select the fields of a dataclass, from its table or its document's."""
    names = shape.__dataclass_fields__ if hasattr(shape, "__dataclass_fields__") else {}
    columns = [table.c[name] if name in table.c else DOCUMENTS.c[name] for name in names]
    query = sa.select(*columns).join(DOCUMENTS, DOCUMENTS.c.id == table.c.document_id)
    if wanted.since is not None:
        query = query.where(time >= wanted.since)
    query = query.order_by(time.desc(), table.c.id.desc())
    return query if wanted.limit is None else query.limit(wanted.limit)


# From documents to rows


def _text(value: str | None, most: int | None = None) -> str | None:
    """Return text for any database: without NUL (PostgreSQL refuses it) and lone surrogates (SQLite does)."""
    if value is None:
        return None
    cut = value[:most].replace("\0", "\ufffd")
    return cut if cut.isascii() else cut.encode("utf-8", "replace").decode("utf-8")


def _clean(value: Any) -> Any:  # noqa: ANN401 - a row, or what a column takes
    """Return a row with all its strings converted by :func:`_text`."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list | tuple) else value


def _evaluation_row(report: CompletionReport, run: RunSettings) -> Row:
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


def _task_row(result: TaskResult) -> Row:
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
        "error": _text(result.error, _WORDS),
        "reason": _text(result.reason, _WORDS),
        "output": _text(output, _OUTPUT),
        "output_truncated": cut,
        "attempts": len(result.attempts) + (result.latency_ms is not None),
        "tokens_total": None if result.usage is None else result.usage.total,
        "cost_usd": None if result.usage is None else result.usage.cost_usd,
        "weight": result.weight,
        "golden": result.golden,
    }


def _score_row(result: SkillResult) -> Row:
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
