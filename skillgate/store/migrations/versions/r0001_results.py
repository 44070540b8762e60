"""Results of benchmark runs, and scores of skills."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    _documents()
    _evaluations()
    _tasks()
    _scores()


def downgrade() -> None:
    """Drop the tables."""
    for table in ("score_results", "task_results", "bench_evaluations", "documents"):
        op.drop_table(table)


def _documents() -> None:
    op.create_table(
        "documents",
        sa.Column("id", _number(), autoincrement=True, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        *_texts("kind", "tool_version", "config_digest", "origin", nullable=False),
        *_counts("schema_version", "scoring_version"),
        *_times("happened_at", "stored_at"),
        *_texts("source", "commit_id", "branch"),
        sa.Column("coverage", sa.Double(), nullable=True),
        sa.Column("gate_passed", sa.Boolean(), nullable=True),
        sa.Column("settings", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
        sa.UniqueConstraint("digest", name="uq_documents_digest"),
    )
    op.create_index("ix_documents_happened_at", "documents", ["happened_at"])


def _evaluations() -> None:
    op.create_table(
        "bench_evaluations",
        *_part_of_document("bench_evaluations"),
        *_texts("skill_id", "skill_version", "skill_digest", "skill_path", "adapter", nullable=False),
        *_texts("benchmark_id", "benchmark_version", "benchmark_digest", "scoring_method", nullable=False),
        *_texts("model"),
        *_texts("comparable", nullable=False),
        *_times("started_at"),
        *_figures("completion_rate", "completion_low", "completion_high", "partial_score", "error_rate"),
        *_figures("consistency_score", "composite_score", "weighted_completion_rate", "agreement"),
        *_figures("mean_score", "mean_low", "mean_high", "pass_at_k", "pass_hat_k"),
        *_counts("k", "completion_n", nullable=True),
        *_counts("total", "passed", "failed", "errors", "timeouts", "skipped", "retries", "latency_n", "flaky_tasks"),
        *_figures("latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "cost_usd"),
        *_counts("tokens_input", "tokens_output", "tokens_total", nullable=True),
        sa.Column("gate_passed", sa.Boolean(), nullable=True),
        *_texts("incomplete"),
        sa.Column("reasons", sa.JSON(), nullable=True),
    )
    op.create_index("ix_bench_evaluations_started_at", "bench_evaluations", ["started_at"])


def _tasks() -> None:
    op.create_table(
        "task_results",
        sa.Column("id", _number(), autoincrement=True, nullable=False),
        sa.Column("evaluation_id", _number(), nullable=False),
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
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["bench_evaluations.id"], name="fk_task_results_evaluation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_task_results"),
    )
    op.create_index("ix_task_results_evaluation_id", "task_results", ["evaluation_id"])


def _scores() -> None:
    op.create_table(
        "score_results",
        *_part_of_document("score_results"),
        *_texts("skill_name", "skill_path", "depth", nullable=False),
        *_counts("scoring_version"),
        *_figures("composite", "ci_low", "ci_high", "elo", "coverage", "cost_usd"),
        *_texts("badge", "reason", "content_digest", "plugin"),
        sa.Column("models", sa.JSON(), nullable=False),
        sa.Column("dimensions", sa.JSON(), nullable=False),
        *_counts("errors", "warnings"),
        sa.Column("evaluated", sa.Boolean(), nullable=False),
        sa.Column("gate_passed", sa.Boolean(), nullable=True),
        *_times("scored_at"),
    )
    op.create_index("ix_score_results_scored_at", "score_results", ["scored_at"])


def _part_of_document(table: str) -> list[Any]:
    return [
        sa.Column("id", _number(), autoincrement=True, nullable=False),
        sa.Column("document_id", _number(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name=f"fk_{table}_document_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
        sa.UniqueConstraint("document_id", "position", name=f"uq_{table}_document_id_position"),
    ]


def _number() -> sa.BigInteger:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _texts(*names: str, nullable: bool = True) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text(), nullable=nullable) for name in names]


def _figures(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Double(), nullable=True) for name in names]


def _counts(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.BigInteger(), nullable=nullable) for name in names]


def _times(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.DateTime(timezone=True), nullable=False) for name in names]
