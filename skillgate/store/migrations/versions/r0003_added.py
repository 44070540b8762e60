"""Fields added to an invocation by hand, and a salt instead of paths of recordings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column and the table, and delete the paths that earlier versions stored."""
    op.add_column("invocations", sa.Column("added", sa.Text(), nullable=True))
    op.create_table(
        "origin_salt",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("salt", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_origin_salt"),
        sa.CheckConstraint("id = 1", name="ck_origin_salt_id"),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute("PRAGMA secure_delete = ON")  # overwrite deleted paths in the file
    op.execute("UPDATE invocations SET origin = NULL")


def downgrade() -> None:
    """Drop the column and the table."""
    op.drop_table("origin_salt")
    op.drop_column("invocations", "added")
