"""What `log sync` knows of the files it read: digests, no paths."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the table."""
    name = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "synced_files",
        sa.Column("place", name, nullable=False),
        sa.Column("stamp", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("read_to", sa.BigInteger(), nullable=False),
        sa.Column("lines_read", sa.BigInteger(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("part_of", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("place", name="pk_synced_files"),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("synced_files")
