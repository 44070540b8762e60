"""Rows by the thousand in SQLite."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, DropIndex

from skillgate.store.bulk import ONCE, Bulk
from skillgate.store.schema import INVOCATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy.engine import Connection

    from skillgate.store.bulk import Row

_CACHE_KB = 24_576  # of pages while many rows are written: the index of random ids is all over the file
_SORT_KB = 8_192  # likewise while an index is made, which sorts in as much again
_AT_ONCE = 500  # values in a statement; old SQLite takes 999
_FEW = 10  # a time from which on one in so many invocations began is looked up in the index
_WANTED = "SELECT count(*), (SELECT max(id) FROM invocations) FROM invocations WHERE timestamp >= ?"


class SqliteBulk(Bulk):
    """The driver of one open transaction, which was begun with the lock where it writes."""

    mark = "?"
    epoch = "CAST(strftime('%s', i.timestamp) AS INTEGER)"

    def __init__(self, connection: Connection) -> None:
        """Take a connection in a transaction."""
        super().__init__(connection)
        self._next: int | None = None
        self._rests = False

    def parts(self, sql: str, values: Sequence[object], size: int) -> Iterator[list[Row]]:
        """Give the rows of an answer as they are found."""
        cursor = self.raw.execute(sql, values)
        while rows := cursor.fetchmany(size):
            yield rows

    def lock(self) -> None:
        """Do nothing: a transaction that writes began so."""

    def prepare(self) -> None:
        """Give writing more memory; into an empty table rows go before its indexes, which are then made by sorting."""
        self.run(f"PRAGMA cache_size = -{_CACHE_KB}")
        self._rests = not self.rows("SELECT 1 FROM invocations LIMIT 1")
        if self._rests:
            for index in INVOCATIONS.indexes:
                self.run(str(DropIndex(index, if_exists=True).compile(dialect=sqlite.dialect())))

    def settle(self) -> None:
        """Make the indexes that wait for it."""
        self.run(f"PRAGMA cache_size = -{_SORT_KB}")
        if self._rests:
            for index in INVOCATIONS.indexes:
                self.run(str(CreateIndex(index).compile(dialect=sqlite.dialect())))

    def reserve(self, count: int) -> range:
        """Count on from the largest key."""
        if self._next is None:
            self._next = (self.rows("SELECT max(id) FROM invocations")[0][0] or 0) + 1
        self._next += count
        return range(self._next - count, self._next)

    def insert(self, table: str, columns: Mapping[str, Iterable[Any]], conflict: str = "") -> None:
        """Insert rows by one statement that is prepared once."""
        self._inserted(table, columns, conflict)

    def attempt(self, keys: range, columns: Mapping[str, Iterable[Any]]) -> bool:
        """Let the index of ids do both at once: to look them up first takes a fifth of an import's time."""
        if self._inserted("invocations", {"id": keys, **columns}, ONCE) == len(keys):
            return True
        self.run("DELETE FROM invocations WHERE id BETWEEN ? AND ?", keys[0], keys[-1])
        return False

    def _inserted(self, table: str, columns: Mapping[str, Iterable[Any]], conflict: str) -> int:
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) {conflict}"  # noqa: S608 - our own names
        count: int = self.raw.executemany(sql, zip(*columns.values(), strict=False)).rowcount
        return count

    def known(self, names: Sequence[str]) -> dict[str, tuple[int, str, str | None]]:
        """Look some ids up at a time."""
        found: dict[str, tuple[int, str, str | None]] = {}
        rest = iter(names)
        while some := list(islice(rest, _AT_ONCE)):
            marks = ", ".join("?" * len(some))
            sql = f"SELECT invocation_id, id, digest, added FROM invocations WHERE invocation_id IN ({marks})"  # noqa: S608
            found.update((name, (key, digest, added)) for name, key, digest, added in self.rows(sql, *some))
        return found

    def scan(self, since: str | None) -> str:
        """Read all rows in the order of the file and sort, but where few are wanted: an index leads all over it."""
        if since is None:
            return "NOT INDEXED"
        ((wanted, last),) = self.rows(_WANTED, since)
        return "INDEXED BY ix_invocations_timestamp" if wanted * _FEW < (last or 0) else "NOT INDEXED"
