"""Stores of earlier versions are brought to this one's form with all they hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

import skillgate.store
from skillgate.errors import UsageError
from skillgate.store.keeper import Filter, Provenance, Store
from skillgate.store.schema import METADATA
from skillgate.store.schema import opened as engine_of
from skillgate.store.target import HEAD, KNOWN, TABLE, target_of
from tests.store import invocations_made, made

PLAIN = {  # what PostgreSQL says of its tables
    "columns": "SELECT table_name, column_name, data_type, is_nullable, collation_name, column_default"
    " FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> :own ORDER BY 1, 2",
    "constraints": "SELECT relname, conname, pg_get_constraintdef(c.oid) FROM pg_constraint c"
    " JOIN pg_class t ON t.oid = conrelid JOIN pg_namespace n ON n.oid = connamespace"
    " WHERE nspname = 'public' AND relname <> :own ORDER BY 1, 2",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes"
    " WHERE schemaname = 'public' AND tablename <> :own ORDER BY 1",
    "triggers": "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger"
    " WHERE NOT tgisinternal AND :own <> '' ORDER BY 1",
    "functions": "SELECT proname, prosrc FROM pg_proc"
    " WHERE pronamespace = 'public'::regnamespace AND :own <> '' ORDER BY 1",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1",
}


def engine(place: str) -> sa.Engine:
    """Connect without bringing the schema to any form."""
    target = target_of(place, cwd="/")
    if target.path is not None:
        Path(target.path).parent.mkdir(parents=True, exist_ok=True)
        return sa.create_engine(sa.URL.create("sqlite", database=target.path), poolclass=sa.NullPool)
    url = sa.make_url(place).set(drivername="postgresql+psycopg")
    return sa.create_engine(url, poolclass=sa.NullPool)


def migrated(place: str, revision: str, *, down: bool = False) -> None:
    """Take the steps up, or down, to a form."""
    config = Config()
    config.set_main_option("script_location", str(Path(skillgate.store.__file__).with_name("migrations")))
    config.set_main_option("path_separator", "os")
    with engine(place).begin() as connection:
        config.attributes["connection"] = connection
        (command.downgrade if down else command.upgrade)(config, revision)


def described(place: str) -> dict[str, list[Any]]:
    """Say all that a database knows of its tables, but that of versions, whatever made them."""
    with engine(place).connect() as connection:
        if connection.dialect.name == "sqlite":
            query = sa.text("SELECT type, name, sql FROM sqlite_master WHERE tbl_name <> :own")
            found = connection.execute(query, {"own": TABLE}).all()
            return {
                kind: sorted((name, _parts(sql)) for _, name, sql in found if _ == kind)
                for kind in ("table", "index", "view", "trigger")
            }
        return {
            name: [tuple(row) for row in connection.execute(sa.text(query), {"own": TABLE})]
            for name, query in PLAIN.items()
        }


def _parts(sql: str | None) -> list[str]:
    """Split a definition at the commas of its outermost parentheses, sorted: a later step appends its columns.

    SQLite adds a column with its condition behind it; that is the same as a condition of the table.
    """
    text, found, depth = re.sub(r"\s+", " ", sql or ""), [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if (character, depth) in ((",", 1), ("(", 1), (")", 0)):
            found.append("")
        else:
            found[-1] += character
    columns = [part.strip().partition(" CONSTRAINT ") for part in found]
    return sorted([name for name, _, _ in columns] + [f"CONSTRAINT {rule}" for _, mark, rule in columns if mark])


def test_every_form_is_known_by_its_number() -> None:
    folder = Path(skillgate.store.__file__).with_name("migrations") / "versions"
    assert sorted(path.name[1:5] for path in folder.glob("r*.py")) == list(KNOWN)
    assert KNOWN[-1] == HEAD


def test_the_steps_and_the_tables_in_code_come_to_the_same_to_the_last_condition(
    place: str, request: pytest.FixtureRequest
) -> None:
    other = f"{place}2" if "://" not in place else request.getfixturevalue("postgres").create()
    migrated(place, "head")
    METADATA.create_all(engine(other))
    by_steps, by_code = described(place), described(other)
    assert by_steps == by_code
    assert "CHECK" in str(by_steps)
    assert "skill_invocations" in str(by_steps)


def test_a_store_of_the_first_form_keeps_what_it_holds(place: str) -> None:
    migrated(place, "0001")
    target = target_of(place, cwd="/")
    old = Store(engine(place), target)  # as an earlier version had it open
    old.write(made.report(1), "d" * 64, Provenance("import"))
    before = described(place)
    kept = old.evaluations(Filter())
    store = invocations_made.opened(place)
    assert invocations_made.put(store, [invocations_made.scored(1)])
    now = made.opened(place)
    assert now.evaluations(Filter()) == kept
    assert len(kept) == 1
    assert all(row in described(place)[kind] for kind, found in before.items() for row in found)
    with engine_of(target).connect() as connection:
        assert connection.execute(sa.text(f"SELECT version_num FROM {TABLE}")).scalar_one() == HEAD


def test_paths_that_an_earlier_version_stored_leave_no_byte_in_a_file(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    migrated(place, "0002")
    with engine(place).begin() as connection:
        connection.exec_driver_sql("PRAGMA secure_delete = OFF")  # as where SQLite was built so
        for key in range(400):
            values = (key, f"run-{key}", "a", "2026-11-20 10:00:00", "log", "d" * 32, "2026-11-20 10:00:00")
            connection.exec_driver_sql(
                "INSERT INTO invocations (id, invocation_id, skill_name, timestamp, source, digest, imported_at,"
                " origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*values, f"/home/alice/{key}/{'x' * 200}"),
            )
        connection.exec_driver_sql("DELETE FROM invocations WHERE id < 300")
    invocations_made.opened(place).close()
    assert [path.name for path in tmp_path.iterdir() if b"/home/alice" in path.read_bytes()] == []
    assert invocations_made.opened(place).count() == 100


def test_the_steps_lead_back(place: str) -> None:
    migrated(place, "0001")
    first = described(place)
    migrated(place, "head")
    migrated(place, "0001", down=True)
    assert described(place) == first
    assert invocations_made.put(invocations_made.opened(place), [invocations_made.scored(1)])


def test_a_later_form_is_refused_and_left_alone(place: str) -> None:
    store = invocations_made.opened(place)
    invocations_made.put(store, [invocations_made.scored(1)])
    with engine(place).begin() as connection:
        connection.execute(sa.text(f"UPDATE {TABLE} SET version_num = '0999'"))
    with pytest.raises(UsageError, match=r"schema 0999 of a newer skillgate.*update skillgate"):
        invocations_made.opened(place)
    assert store.count() == 1
