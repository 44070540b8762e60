"""Summaries of scored invocations by skill and day, and triggers that mark the outdated ones."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_DAY = {
    "sqlite": "substr({0}.timestamp, 1, 10)",
    "postgresql": "to_char({0}.timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
}
_OWN = "INSERT INTO outdated_summaries VALUES ({{0}}.skill_name, {day}) ON CONFLICT DO NOTHING; "
_SCORE = (
    "INSERT INTO outdated_summaries SELECT i.skill_name, {day} FROM invocations i"
    " WHERE i.id = {{0}}.invocation_id ON CONFLICT DO NOTHING; "
)
_REPLACED = (
    "INSERT INTO outdated_summaries SELECT i.skill_name, {day} FROM invocations i"
    " WHERE (i.invocation_id = new.invocation_id OR i.id = new.id)"
    " AND (i.skill_name <> new.skill_name OR {day} <> {new}) ON CONFLICT DO NOTHING; "
)
_EVERY = (
    "INSERT INTO outdated_summaries SELECT DISTINCT skill_name, day FROM invocation_summaries ON CONFLICT DO NOTHING; "
)


def upgrade() -> None:
    """Create the tables and triggers, and mark all days as outdated."""
    op.create_table(
        "invocation_summaries",
        *_names("skill_name", "day", "rubric_version"),
        sa.Column("part", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("contexts", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("skill_name", "day", "rubric_version", "part", name="pk_invocation_summaries"),
    )
    op.create_table(
        "outdated_summaries",
        *_names("skill_name", "day"),
        sa.PrimaryKeyConstraint("skill_name", "day", name="pk_outdated_summaries"),
        sqlite_with_rowid=False,
    )
    for table, change, mark in _triggers():
        name = _name(table, change)
        head = f"CREATE TRIGGER {name} {change} ON {table} FOR EACH {'STATEMENT' if 'TRUNCATE' in change else 'ROW'}"
        if _dialect() == "sqlite":
            op.execute(f"{head} BEGIN {mark}END")
        else:
            op.execute(
                f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS"
                f" $$ BEGIN {mark}RETURN NULL; END $$"
            )
            op.execute(f"{head} EXECUTE FUNCTION {name}()")
    day = _DAY[_dialect()].format("i")
    op.execute(f"INSERT INTO outdated_summaries SELECT DISTINCT i.skill_name, {day} FROM invocations i")  # noqa: S608


def downgrade() -> None:
    """Drop the tables and triggers."""
    for table, change, _ in _triggers():
        name = _name(table, change)
        op.execute(f"DROP TRIGGER {name}" + ("" if _dialect() == "sqlite" else f" ON {table}"))
        if _dialect() != "sqlite":
            op.execute(f"DROP FUNCTION {name}")
    op.drop_table("outdated_summaries")
    op.drop_table("invocation_summaries")


def _dialect() -> str:
    return op.get_bind().dialect.name


def _names(*names: str) -> list[sa.Column[str]]:
    kind = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    return [sa.Column(name, kind, nullable=False) for name in names]


def _name(table: str, change: str) -> str:
    return f"outdated_{change.lower().replace(' ', '_')}_of_{table}"


def _triggers() -> list[tuple[str, str, str]]:
    day = _DAY[_dialect()]
    own, score = _OWN.format(day=day), _SCORE.format(day=day.format("i"))
    if _dialect() == "sqlite":
        cascade = "DELETE FROM skill_scores WHERE invocation_id = old.id; "
        replaced = _REPLACED.format(day=day.format("i"), new=day.format("new"))
        more = [("invocations", "BEFORE INSERT", replaced), ("invocations", "AFTER INSERT", own.format("new"))]
    else:
        cascade = ""
        more = [(table, "BEFORE TRUNCATE", _EVERY) for table in ("invocations", "skill_scores")]
    return [
        ("invocations", "AFTER UPDATE", own.format("old") + own.format("new")),
        ("invocations", "AFTER DELETE", own.format("old") + cascade),
        ("skill_scores", "AFTER INSERT", score.format("new")),
        ("skill_scores", "AFTER UPDATE", score.format("old") + score.format("new")),
        ("skill_scores", "AFTER DELETE", score.format("old")),
        *more,
    ]
