"""Read whole invocations with their scores, in parts, and the rows of a query on the view ``skill_invocations``."""

from __future__ import annotations

from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any

from skillgate.model.invocation import InvocationScore
from skillgate.store.invocation_rows import FIELDS, SCORE_COLUMNS, ForeignError, added_of, invocations
from skillgate.store.invocations import ANY, Record, _time, _where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from skillgate.model.invocation import Filters
    from skillgate.store.invocations import InvocationStore

_AT_ONCE = 4_096  # rows of a part


def parts(
    store: InvocationStore,
    rubric: str,
    *,
    skills: Sequence[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    filters: Filters = ANY,
) -> Iterator[list[Record]]:
    """Yield invocations in the order of their keys, with only their score by this rubric, from one snapshot.

    Raises:
        IncompleteError: The database failed, or contains foreign values.
    """
    where, values = _where(skills, since, until, filters)
    columns = [f"s.{name}" for name in SCORE_COLUMNS]
    columns += [f"i.{name}" for name in ("added", "origin", "imported_at", *FIELDS)]
    query = (
        f"SELECT {', '.join(columns)} FROM invocations i"  # noqa: S608
        f" LEFT JOIN skill_scores s ON s.invocation_id = i.id AND s.rubric_version = ? WHERE i.id > 0{where}"
        " ORDER BY i.id"
    )
    with store.reading() as rows:
        for part in rows.parts(query, (rubric, *values), _AT_ONCE):
            yield list(_records(part))


def _records(rows: Sequence[tuple[Any, ...]]) -> Iterator[Record]:
    width = len(SCORE_COLUMNS)
    for one, row in zip(invocations([row[width + 3 :] for row in rows]), rows, strict=True):
        added, origin, imported_at = row[width : width + 3]
        scores = () if row[0] is None else (InvocationScore._make(row[:width]),)
        yield Record(one, added_of(added), origin, _time(imported_at), scores)


def answer(store: InvocationStore, query: str) -> tuple[str | None, list[tuple[Any, ...]]]:
    """Return the rubric version of the view ``skill_invocations``, and the rows of a query that reads it.

    Raises:
        IncompleteError: The database failed, or contains foreign values.
    """
    with store.reading() as rows:
        shown = rows.rows("SELECT rubric_version FROM shown_rubric")
        found = rows.rows(query)
        for value in chain.from_iterable(found):
            if not (value is None or isinstance(value, str | int) or (isinstance(value, float) and isfinite(value))):
                raise ForeignError(str(value)[:50])
    return (shown[0][0] if shown else None), found
