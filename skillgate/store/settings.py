"""The settings of the store of results."""

from __future__ import annotations

from skillgate.model.setting import Kind, Setting

SETTINGS = (
    Setting(
        key="store",
        kind=Kind.TEXT,
        example=".skillgate/store.db",
        help="The SQLite file that eval keeps its results in.",
    ),
    Setting(
        key="store-url",
        kind=Kind.TEXT,
        example="postgresql://results@db.example.org/skillgate",
        personal=True,
        help="A PostgreSQL database in its place; its password belongs into ~/.pgpass or PGPASSWORD.",
    ),
)
