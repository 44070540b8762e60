"""Rows by the thousand through a driver itself, within the transaction of a connection of SQLAlchemy's.

An object of SQLAlchemy's for each row would take several times as long as the database does. SQL here is in the words
that both databases share, with ``?`` for values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, DropIndex

from skillgate.store.schema import INVOCATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy.engine import Connection

    Row = tuple[Any, ...]

ONCE = "ON CONFLICT DO NOTHING"  # what is there already stays


class Bulk(ABC):
    """The driver of one open transaction."""

    mark: str  # of the place of a value
    epoch: str  # expression for the seconds since 1970 of ``i.timestamp``, NULL where that is no time

    def __init__(self, connection: Connection) -> None:
        self.raw: Any = connection.connection.driver_connection

    def run(self, sql: str, *values: object) -> int:
        """Run a statement, and return the number of rows that it changed."""
        changed: int = self.raw.execute(sql.replace("?", self.mark), values).rowcount
        return changed

    def rows(self, sql: str, *values: object) -> list[Row]:
        """Return all rows of a short answer."""
        found: list[Row] = self.raw.execute(sql.replace("?", self.mark), values).fetchall()
        return found

    @abstractmethod
    def parts(self, sql: str, values: Sequence[object], size: int) -> Iterator[list[Row]]:
        """Yield the rows of an answer of any length, in parts of such a size, none of them empty."""

    def lock(self) -> None:  # noqa: B027 - the other database has nothing to do
        """Let no other process write invocations until the transaction ends; others read.

        SQLite's transactions that write begin with the lock.
        """

    def prepare(self) -> None:  # noqa: B027 - the other database has nothing to do
        """Get ready for many invocations."""

    def settle(self) -> None:  # noqa: B027 - the other database has nothing to do
        """End what :meth:`prepare` began."""

    @abstractmethod
    def reserve(self, count: int) -> range:
        """Return as many unused keys for invocations; the transaction holds the lock."""

    @abstractmethod
    def insert(self, table: str, columns: Mapping[str, Iterable[Any]], conflict: str = "") -> None:
        """Insert rows in their order.

        Args:
            table: its name.
            columns: their values, at least one of them finite.
            conflict: the clause for rows that are there already, which are an error without one.
        """

    def attempt(self, keys: range, columns: Mapping[str, Iterable[Any]]) -> bool:
        """Insert invocations under these keys if all are new, where that is faster than to look; else write nothing."""
        del keys, columns
        return False

    @abstractmethod
    def known(self, names: Sequence[str]) -> dict[str, tuple[int, str, str | None]]:
        """Return key, digest and the column ``added`` of the invocations that are there, by their ids."""

    @abstractmethod
    def scan(self, since: str | None) -> str:
        """Return how to read invocations of all skills from a time on; empty where the server finds it by itself."""

    def delete(self, keys: Sequence[int]) -> None:
        """Delete invocations, with their scores."""
        self.raw.cursor().executemany(
            "DELETE FROM invocations WHERE id = ?".replace("?", self.mark), [(key,) for key in keys]
        )


_CACHE_KB = 24_576  # of pages while many rows are written: the index of random ids is all over the file
_SORT_KB = 8_192  # likewise while an index is made, which sorts in as much again
_AT_ONCE = 500  # values in a statement; old SQLite takes 999
_FEW = 10  # a time from which on one in so many invocations began is looked up in the index
_WANTED = "SELECT count(*), (SELECT max(id) FROM invocations) FROM invocations WHERE timestamp >= ?"


class _Sqlite(Bulk):
    mark = "?"
    epoch = "CAST(strftime('%s', i.timestamp) AS INTEGER)"

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._next: int | None = None
        self._rests = False

    def parts(self, sql: str, values: Sequence[object], size: int) -> Iterator[list[Row]]:
        cursor = self.raw.execute(sql, values)
        while rows := cursor.fetchmany(size):
            yield rows

    def prepare(self) -> None:
        """Give writing more memory; into an empty table rows go before its indexes, which are then made by sorting."""
        self.run(f"PRAGMA cache_size = -{_CACHE_KB}")
        self._rests = not self.rows("SELECT 1 FROM invocations LIMIT 1")
        if self._rests:
            for index in INVOCATIONS.indexes:
                self.run(str(DropIndex(index, if_exists=True).compile(dialect=sqlite.dialect())))

    def settle(self) -> None:
        self.run(f"PRAGMA cache_size = -{_SORT_KB}")
        if self._rests:
            for index in INVOCATIONS.indexes:
                self.run(str(CreateIndex(index).compile(dialect=sqlite.dialect())))

    def reserve(self, count: int) -> range:
        if self._next is None:
            self._next = (self.rows("SELECT max(id) FROM invocations")[0][0] or 0) + 1
        self._next += count
        return range(self._next - count, self._next)

    def insert(self, table: str, columns: Mapping[str, Iterable[Any]], conflict: str = "") -> None:
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


_IDS = "pg_get_serial_sequence('invocations', 'id')::regclass"
_NEXT = f"SELECT setval({_IDS}, nextval({_IDS}) + ? - 1)"


class _Postgres(Bulk):
    mark = "%s"
    epoch = "CAST(extract(epoch FROM i.timestamp) AS BIGINT)"

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._staged: set[str] = set()
        self.run("SET LOCAL TIME ZONE 'UTC'")  # our times are texts without a zone

    def parts(self, sql: str, values: Sequence[object], size: int) -> Iterator[list[Row]]:
        self.run("SET LOCAL cursor_tuple_fraction = 1")  # all of them are wanted, not the first ones soon
        with self.raw.cursor(name="skillgate_parts") as cursor:
            cursor.execute(sql.replace("?", self.mark), values)
            while rows := cursor.fetchmany(size):
                yield rows

    def lock(self) -> None:
        self.run("LOCK TABLE invocations IN SHARE ROW EXCLUSIVE MODE")

    def reserve(self, count: int) -> range:
        last: int = self.rows(_NEXT, count)[0][0]
        return range(last - count + 1, last + 1)

    def insert(self, table: str, columns: Mapping[str, Iterable[Any]], conflict: str = "") -> None:
        """Copy rows; where some may be there already, into a temporary table from which they are inserted."""
        names = ", ".join(columns)
        if not conflict:
            self._copy(table, names, columns)
            return
        staged = f"staged_{table}"
        if table in self._staged:
            self.run(f"TRUNCATE {staged}")
        else:
            self.run(f"CREATE TEMPORARY TABLE {staged} (LIKE {table}) ON COMMIT DROP")
            self._staged.add(table)
        self._copy(staged, names, columns)
        self.run(f"INSERT INTO {table} ({names}) SELECT {names} FROM {staged} {conflict}")  # noqa: S608 - our own names

    def _copy(self, table: str, names: str, columns: Mapping[str, Iterable[Any]]) -> None:
        with self.raw.cursor().copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            for row in zip(*columns.values(), strict=False):
                copy.write_row(row)

    def known(self, names: Sequence[str]) -> dict[str, tuple[int, str, str | None]]:
        sql = "SELECT invocation_id, id, digest, added FROM invocations WHERE invocation_id = ANY(?)"
        return {name: (key, digest, added) for name, key, digest, added in self.rows(sql, list(names))}

    def scan(self, since: str | None) -> str:
        del since
        return ""


def bulk(connection: Connection) -> Bulk:
    """Return the driver of a connection that is in a transaction."""
    return _Sqlite(connection) if connection.dialect.name == "sqlite" else _Postgres(connection)
