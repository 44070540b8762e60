"""Answer a published query about a store's recorded invocations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.invocations.records import existing_store
from skillgate.store.queries import QUERIES

if TYPE_CHECKING:
    from skillgate.console import Console

_DIGITS = 6  # databases add in different orders, so the last digits of a mean differ


class Answer(NamedTuple):
    """The answer of a query; ``rubric`` is the version of the scores, None in an empty store."""

    query: str
    store: str
    rubric: str | None
    days: int | None
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "kind": "log-query",
            "query": self.query,
            "store": self.store,
            "rubric_version": self.rubric,
            "days": self.days,
            "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows],
        }


def answer(name: str, sql: str, named: str | None, days: int | None, session: Console) -> Answer:
    """Run the text of a query on the named or else the configured store; ``days`` is the length of its window.

    Raises:
        UsageError: the store is unusable.
        IncompleteError: the database failed.
    """
    with existing_store(named, session) as (store, shown):
        rubric, found = store.answer(sql)
    rows = tuple(tuple(round(value, _DIGITS) if isinstance(value, float) else value for value in row) for row in found)
    return Answer(name, shown, rubric, days, QUERIES[name].columns, rows)
