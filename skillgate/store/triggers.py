"""Triggers that mark the summaries of changed rows as outdated, whatever program changes them."""

from __future__ import annotations

_DAY = {
    "sqlite": "substr({0}.timestamp, 1, 10)",
    "postgresql": "to_char({0}.timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
}


def trigger_statements(dialect: str) -> dict[str, tuple[str, ...]]:
    """Return the statements that create each trigger: a change of a row makes its day's summary outdated."""
    day = _DAY[dialect]
    own = f"INSERT INTO outdated_summaries VALUES ({{0}}.skill_name, {day}) ON CONFLICT DO NOTHING; "  # noqa: S608
    score = (
        f"INSERT INTO outdated_summaries SELECT i.skill_name, {day.format('i')} FROM invocations i"  # noqa: S608
        " WHERE i.id = {0}.invocation_id ON CONFLICT DO NOTHING; "
    )
    if dialect == "sqlite":
        # A shell follows no foreign key by itself, and REPLACE calls no trigger for the row that it deletes.
        cascade = "DELETE FROM skill_scores WHERE invocation_id = old.id; "
        replaced = (
            f"INSERT INTO outdated_summaries SELECT i.skill_name, {day.format('i')} FROM invocations i"  # noqa: S608
            " WHERE (i.invocation_id = new.invocation_id OR i.id = new.id)"
            f" AND (i.skill_name <> new.skill_name OR {day.format('i')} <> {day.format('new')})"
            " ON CONFLICT DO NOTHING; "
        )
        more = [("invocations", "BEFORE INSERT", replaced), ("invocations", "AFTER INSERT", own.format("new"))]
    else:
        cascade = ""
        every = (
            "INSERT INTO outdated_summaries SELECT DISTINCT skill_name, day FROM invocation_summaries"
            " ON CONFLICT DO NOTHING; "
        )
        more = [(table, "BEFORE TRUNCATE", every) for table in ("invocations", "skill_scores")]
    found: dict[str, tuple[str, ...]] = {}
    for table, change, mark in (
        ("invocations", "AFTER UPDATE", own.format("old") + own.format("new")),
        ("invocations", "AFTER DELETE", own.format("old") + cascade),
        ("skill_scores", "AFTER INSERT", score.format("new")),
        ("skill_scores", "AFTER UPDATE", score.format("old") + score.format("new")),
        ("skill_scores", "AFTER DELETE", score.format("old")),
        *more,
    ):
        name = f"outdated_{change.lower().replace(' ', '_')}_of_{table}"
        head = f"CREATE TRIGGER {name} {change} ON {table} FOR EACH {'STATEMENT' if 'TRUNCATE' in change else 'ROW'}"
        function = (
            f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN {mark}RETURN NULL; END $$"
        )
        postgres = (function, f"{head} EXECUTE FUNCTION {name}()")
        found[name] = (f"{head} BEGIN {mark}END",) if dialect == "sqlite" else postgres
    return found


def mark_all(dialect: str) -> str:
    """Return the statement that makes all summaries outdated."""
    return (
        f"INSERT INTO outdated_summaries SELECT i.skill_name, {_DAY[dialect].format('i')} FROM invocations i"  # noqa: S608
        " UNION SELECT skill_name, day FROM invocation_summaries WHERE true ON CONFLICT DO NOTHING"
    )
