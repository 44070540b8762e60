"""Errors of tools, what an outcome was read from, and the range of what may belong to an invocation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_COUNT_MOST = 2**63 - 1
_FIGURE_MOST = "1.7976931348623157e308"
_COUNTS = ("tool_error_count", "tool_calls_most", "tokens_most")
_EVIDENCE = (
    *("user_approved", "user_rejected", "committed", "reverted", "reported_success", "reported_failure"),
    *("load_failed", "ended_in_error"),
)


def upgrade() -> None:
    """Add the columns; they are unknown for existing invocations."""
    for name in _COUNTS:
        _add(sa.Column(name, sa.BigInteger(), nullable=True), f"{name} BETWEEN 0 AND {_COUNT_MOST}")
    evidence = " OR ".join(f"outcome_evidence = '{one}'" for one in _EVIDENCE)
    _add(sa.Column("outcome_evidence", sa.Text(), nullable=True), evidence)
    _add(
        sa.Column("duration_most_ms", sa.Double(), nullable=True),
        f"duration_most_ms BETWEEN 0 AND {_FIGURE_MOST}",
    )
    _add(sa.Column("shared", sa.Boolean(), nullable=True), "shared IN (0, 1)" if _is_sqlite() else "")


def downgrade() -> None:
    """Drop the columns."""
    for name in (*_COUNTS, "outcome_evidence", "duration_most_ms", "shared"):
        op.drop_column("invocations", name)


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _add(column: sa.Column[object], condition: str) -> None:
    """Add a column with its condition, which SQLite accepts as a part of the column only."""
    kind = column.type.compile(op.get_bind().dialect)
    check = f" CONSTRAINT ck_invocations_{column.name} CHECK ({condition})" if condition else ""
    op.execute(f"ALTER TABLE invocations ADD COLUMN {column.name} {kind}{check}")
