"""Select and convert rows of invocations with one of their scores."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.model.invocation import Filters, Invocation, InvocationScore
from skillgate.store.invocation_rows import FIELDS, SCORE_COLUMNS, added_of, invocations, second

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

ANY = Filters()
DIMENSION_COLUMNS = {
    "version": "skill_version",
    "model": "model",
    "project": "origin",
    "source": "source",
    "caller": "called_by",
}
_OWN = ("id", "added", "origin", "imported_at", *FIELDS)
SELECT = (
    f"SELECT {', '.join(f's.{name}' for name in SCORE_COLUMNS)}, {', '.join(f'i.{name}' for name in _OWN)}"  # noqa: S608
    " FROM invocations i LEFT JOIN skill_scores s ON s.invocation_id = i.id AND s.rubric_version = ?"
)
"""Selects rows for :func:`records`; the first value is the rubric version."""


class Record(NamedTuple):
    """A stored invocation.

    Attributes:
        invocation: As recorded, overridden by the fields added by hand.
        added: The fields added by hand.
        origin: A label, or a salted digest of the recording's folder, or None.
        imported_at: Time of the last import, UTC text.
        scores: One per rubric version.
    """

    invocation: Invocation
    added: Mapping[str, Any]
    origin: str | None
    imported_at: str
    scores: tuple[InvocationScore, ...]


def records(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Record]]:
    """Yield the keys and records of rows from :data:`SELECT`, with only their score by its rubric.

    Raises:
        ForeignError: A value does not match its column's type or range.
    """
    width = len(SCORE_COLUMNS)
    for one, row in zip(invocations([row[width + 4 :] for row in rows]), rows, strict=True):
        key, added, origin, imported_at = row[width : width + 4]
        scores = () if row[0] is None else (InvocationScore._make(row[:width]),)
        yield key, Record(one, added_of(added), origin, time_text(imported_at), scores)


def time_text(at: Any) -> str:  # noqa: ANN401 - text in SQLite, a time in PostgreSQL
    """Return a time of the database as UTC text."""
    return at if isinstance(at, str) else second(at)


def conditions(
    skills: Sequence[str], since: datetime | None, until: datetime | None, filters: Filters = ANY
) -> tuple[str, tuple[str, ...]]:
    """Return SQL conditions and values for skills (empty for all), a window and filters."""
    where, values = "", [storable(name) for name in skills]
    if values:
        where = f" AND i.skill_name IN ({', '.join('?' * len(values))})" if len(values) > 1 else " AND i.skill_name = ?"
    for bound, at in ((">=", since), ("<", until)):
        if at is not None:
            where += f" AND i.timestamp {bound} ?"
            values.append(second(whole_second(at)))
    for dimension, column in DIMENSION_COLUMNS.items():
        value = getattr(filters, dimension)
        if value is not None:
            where += f" AND i.{column} = ?"
            values.append(storable(value))
    return where, tuple(values)


def storable(name: str) -> str:
    """Return a name, or ``""``, which no row has, for one that databases refuse."""
    odd = "\0" in name or any("\ud800" <= character <= "\udfff" for character in name)
    return "" if odd else name


def whole_second(at: datetime) -> datetime:
    """Round a time up to a whole second, the resolution of the store."""
    return at + timedelta(microseconds=-at.microsecond % 1_000_000)
