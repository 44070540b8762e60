"""The tables of the store, the same for SQLite and PostgreSQL.

A figure that was not measured is NULL. Times are UTC. Ratios lie in [0, 1], latencies are in milliseconds. Every row
belongs to one document; nothing is ever overwritten. Texts carry no index: PostgreSQL refuses long ones in it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

METADATA = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # only INTEGER counts up by itself in SQLite


class UtcTime(sa.types.TypeDecorator[datetime]):
    """A time in UTC: with its zone in PostgreSQL, without one in SQLite, which has no such type."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:  # noqa: ANN401 - the base's
        """Bring a time to UTC."""
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ANN401, ARG002
        """Give a time with its zone."""
        if value is None:
            return None
        found: datetime = value
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _key() -> sa.Column[Any]:
    return sa.Column("id", _NUMBER, primary_key=True, autoincrement=True)


def _owner(table: str) -> sa.Column[Any]:
    return sa.Column(f"{table}_id", _NUMBER, sa.ForeignKey(f"{table}s.id", ondelete="CASCADE"), nullable=False)


def _texts(*names: str, nullable: bool = True) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text(), nullable=nullable) for name in names]


def _figures(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Double(), nullable=True) for name in names]


def _counts(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.BigInteger(), nullable=nullable) for name in names]


DOCUMENTS = sa.Table(
    "documents",
    METADATA,
    _key(),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    *_texts("kind", "tool_version", "config_digest", "origin", nullable=False),
    *_counts("schema_version", "scoring_version"),
    sa.Column("happened_at", UtcTime(), nullable=False, index=True),
    sa.Column("stored_at", UtcTime(), nullable=False),
    *_texts("source", "commit_id", "branch"),
    sa.Column("coverage", sa.Double(), nullable=True),
    sa.Column("gate_passed", sa.Boolean(), nullable=True),
    sa.Column("settings", sa.JSON(none_as_null=True), nullable=True),
)

BENCH_EVALUATIONS = sa.Table(
    "bench_evaluations",
    METADATA,
    _key(),
    _owner("document"),
    *_counts("position"),
    *_texts("skill_id", "skill_version", "skill_digest", "skill_path", "adapter", nullable=False),
    *_texts("benchmark_id", "benchmark_version", "benchmark_digest", "scoring_method", nullable=False),
    *_texts("model"),
    # What else two evaluations must share to be compared: the scorer, the filters of tasks, the shard.
    sa.Column("comparable", sa.Text(), nullable=False),
    sa.Column("started_at", UtcTime(), nullable=False, index=True),
    *_figures("completion_rate", "completion_low", "completion_high", "partial_score", "error_rate"),
    *_figures("consistency_score", "composite_score", "weighted_completion_rate", "agreement"),
    *_figures("mean_score", "mean_low", "mean_high", "pass_at_k", "pass_hat_k"),
    *_counts("k", "completion_n", nullable=True),
    *_counts("total", "passed", "failed", "errors", "timeouts", "skipped", "retries", "latency_n", "flaky_tasks"),
    *_figures("latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "cost_usd"),
    *_counts("tokens_input", "tokens_output", "tokens_total", nullable=True),
    sa.Column("gate_passed", sa.Boolean(), nullable=True),
    *_texts("incomplete"),
    sa.Column("reasons", sa.JSON(none_as_null=True), nullable=True),
    sa.UniqueConstraint("document_id", "position"),
)

TASK_RESULTS = sa.Table(
    "task_results",
    METADATA,
    _key(),
    sa.Column(
        "evaluation_id", _NUMBER, sa.ForeignKey("bench_evaluations.id", ondelete="CASCADE"), nullable=False, index=True
    ),
    *_texts("task_id", nullable=False),
    *_counts("run"),
    *_texts("status", nullable=False),
    *_figures("score", "latency_ms"),
    *_texts("scorer_type", nullable=False),
    *_texts("error_kind", "error", "reason", "output"),
    sa.Column("output_truncated", sa.Boolean(), nullable=False),
    *_counts("attempts"),
    *_counts("tokens_total", nullable=True),
    *_figures("cost_usd"),
    sa.Column("weight", sa.Double(), nullable=False),
    sa.Column("golden", sa.Boolean(), nullable=False),
)

SCORE_RESULTS = sa.Table(
    "score_results",
    METADATA,
    _key(),
    _owner("document"),
    *_counts("position"),
    *_texts("skill_name", "skill_path", "depth", nullable=False),
    *_counts("scoring_version"),
    *_figures("composite", "ci_low", "ci_high", "elo", "coverage", "cost_usd"),
    *_texts("badge", "reason", "content_digest", "plugin"),
    sa.Column("models", sa.JSON(), nullable=False),
    sa.Column("dimensions", sa.JSON(), nullable=False),
    *_counts("errors", "warnings"),
    sa.Column("evaluated", sa.Boolean(), nullable=False),
    sa.Column("gate_passed", sa.Boolean(), nullable=True),
    sa.Column("scored_at", UtcTime(), nullable=False, index=True),
    sa.UniqueConstraint("document_id", "position"),
)
