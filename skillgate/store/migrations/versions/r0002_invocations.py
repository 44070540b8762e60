"""Recorded invocations of skills, and their scores by each version of the rubric."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_COUNT_MOST = 2**63 - 1
_FIGURE_MOST = "1.7976931348623157e308"
_VIEW = """\
CREATE VIEW skill_invocations AS
SELECT i.invocation_id, i.skill_name, i.skill_version, i.timestamp, i.skill_category, s.baseline_category, i.source,
       i.session_id, i.model, i.ending AS outcome, i.error_count, i.duration_ms, i.tokens_input, i.tokens_output,
       i.tokens_used, i.tool_call_count, i.output_type, i.output_size, i.user_accepted, i.user_edit_ratio,
       i.follow_up_count, i.follow_up_open, s.completion_score, s.efficiency_score, s.quality_score_component,
       s.satisfaction_score, s.quality_score, s.coverage, s.rubric_version, s.scored_at
FROM shown_rubric r
JOIN skill_scores s ON s.rubric_version = r.rubric_version
JOIN invocations i ON i.id = s.invocation_id"""


def upgrade() -> None:
    """Create the tables and the view."""
    _invocations()
    _scores()
    op.create_table(
        "shown_rubric",
        sa.Column("id", _number(), autoincrement=False, nullable=False),
        sa.Column("rubric_version", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_shown_rubric"),
        sa.CheckConstraint("id = 1", name="ck_shown_rubric_id"),
    )
    op.execute(_VIEW)


def downgrade() -> None:
    """Drop the tables and the view."""
    op.execute("DROP VIEW skill_invocations")
    for table in ("shown_rubric", "skill_scores", "invocations"):
        op.drop_table(table)


def _invocations() -> None:
    op.create_table(
        "invocations",
        sa.Column("id", _number(), autoincrement=True, nullable=False),
        *_names("invocation_id", "skill_name"),
        *_second("invocations", "timestamp", "timestamp IS strftime('%Y-%m-%d %H:%M:%S', timestamp)"),
        *_texts("skill_version", "skill_category", "session_id", "model"),
        *_texts("source", nullable=False),
        *_choice("ending", "complete", "recovered", "partial", "workaround", "explained_failure", "hard_failure"),
        *_counts("error_count"),
        *_flags("recovered", "partial_completion", "workaround_used", "failure_explained", "crashed"),
        *_figures("duration_ms"),
        *_counts("tokens_input", "tokens_output", "tokens_used", "tool_call_kinds", "tool_call_count"),
        *_texts("output_type"),
        *_figures("output_size", "files_changed", "units", "time_units"),
        *_flags("output_validated"),
        *_figures("requested_items", "delivered_items"),
        *_flags("linter_passed", "types_valid", "tests_passed"),
        *_choice("accuracy", "accurate", "mostly", "partially", "inaccurate"),
        *_flags("feedback_given", "user_accepted", "user_used_output"),
        *_figures("user_edit_ratio", most=1),
        *_counts("follow_up_count"),
        sa.Column("follow_up_open", sa.BigInteger(), nullable=True),
        _check(
            "invocations",
            "follow_up_open",
            f"follow_up_open BETWEEN 0 AND coalesce(follow_up_count, {_COUNT_MOST})",
        ),
        *_choice("rating", "positive", "negative"),
        *_texts("extra"),
        sa.Column("digest", sa.String(32), nullable=False),
        _check("invocations", "digest", "length(digest) = 32"),
        *_second("invocations", "imported_at", "length(imported_at) = 19"),
        *_texts("origin"),
        sa.PrimaryKeyConstraint("id", name="pk_invocations"),
        sa.UniqueConstraint("invocation_id", name="uq_invocations_invocation_id"),
    )
    op.create_index("ix_invocations_skill_name_timestamp", "invocations", ["skill_name", "timestamp"])
    op.create_index("ix_invocations_timestamp", "invocations", ["timestamp"])


def _scores() -> None:
    table = "skill_scores"
    op.create_table(
        table,
        sa.Column("invocation_id", _number(), autoincrement=False, nullable=False),
        sa.Column("rubric_version", _bytewise(), nullable=False),
        *_figures("completion_score", most=25, table=table),
        *_figures("efficiency_score", most=20, table=table),
        *_figures("quality_score_component", most=30, table=table),
        *_figures("satisfaction_score", most=25, table=table),
        *_figures("quality_score", most=100, table=table),
        *_figures("coverage", most=1, table=table, nullable=False),
        *_texts("baseline_category", nullable=False),
        *_second(table, "scored_at", "length(scored_at) = 19"),
        sa.PrimaryKeyConstraint("invocation_id", "rubric_version", name="pk_skill_scores"),
        sa.ForeignKeyConstraint(
            ["invocation_id"], ["invocations.id"], name="fk_skill_scores_invocation_id", ondelete="CASCADE"
        ),
        sqlite_with_rowid=False,
    )


def _number() -> sa.BigInteger:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _bytewise() -> sa.Text:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _check(table: str, name: str, condition: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(condition, name=f"ck_{table}_{name}")


def _sqlite(*checks: sa.CheckConstraint) -> tuple[sa.CheckConstraint, ...]:
    return checks if op.get_bind().dialect.name == "sqlite" else ()


def _texts(*names: str, nullable: bool = True) -> list[Any]:
    return [sa.Column(name, sa.Text(), nullable=nullable) for name in names]


def _names(*names: str) -> list[Any]:
    checks = [_check("invocations", name, f"length({name}) BETWEEN 1 AND 200") for name in names]
    return [*(sa.Column(name, _bytewise(), nullable=False) for name in names), *checks]


def _second(table: str, name: str, form: str) -> list[Any]:
    kind = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
    return [sa.Column(name, kind, nullable=False), *_sqlite(_check(table, name, form))]


def _choice(name: str, *choices: str) -> list[Any]:
    one = " OR ".join(f"{name} = '{choice}'" for choice in choices)
    return [sa.Column(name, sa.Text(), nullable=True), _check("invocations", name, one)]


def _flags(*names: str) -> list[Any]:
    checks = _sqlite(*(_check("invocations", name, f"{name} IN (0, 1)") for name in names))
    return [*(sa.Column(name, sa.Boolean(), nullable=True) for name in names), *checks]


def _counts(*names: str) -> list[Any]:
    checks = [_check("invocations", name, f"{name} BETWEEN 0 AND {_COUNT_MOST}") for name in names]
    return [*(sa.Column(name, sa.BigInteger(), nullable=True) for name in names), *checks]


def _figures(*names: str, most: object = _FIGURE_MOST, table: str = "invocations", nullable: bool = True) -> list[Any]:
    checks = [_check(table, name, f"{name} BETWEEN 0 AND {most}") for name in names]
    return [*(sa.Column(name, sa.Double(), nullable=nullable) for name in names), *checks]
