"""Who called a skill, what an invocation cost, and whether a model judged how it ended."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_FIGURE_MOST = "1.7976931348623157e308"
_CALLERS = ("user", "model", "skill")


def upgrade() -> None:
    """Add the columns; they are unknown for existing invocations."""
    _add(sa.Column("called_by", sa.Text(), nullable=True), " OR ".join(f"called_by = '{one}'" for one in _CALLERS))
    _add(sa.Column("cost_usd", sa.Double(), nullable=True), f"cost_usd BETWEEN 0 AND {_FIGURE_MOST}")
    for name in ("cost_estimated", "graded"):
        _add(sa.Column(name, sa.Boolean(), nullable=True), f"{name} IN (0, 1)" if _is_sqlite() else "")


def downgrade() -> None:
    """Drop the columns."""
    for name in ("called_by", "cost_usd", "cost_estimated", "graded"):
        op.drop_column("invocations", name)


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _add(column: sa.Column[object], condition: str) -> None:
    """Add a column with its condition, which SQLite accepts as a part of the column only."""
    kind = column.type.compile(op.get_bind().dialect)
    check = f" CONSTRAINT ck_invocations_{column.name} CHECK ({condition})" if condition else ""
    op.execute(f"ALTER TABLE invocations ADD COLUMN {column.name} {kind}{check}")
