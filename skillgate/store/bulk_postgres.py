"""Rows by the thousand in PostgreSQL: copied in, by way of a passing table where some are there already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.store.bulk import Bulk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy.engine import Connection

    from skillgate.store.bulk import Row

_IDS = "pg_get_serial_sequence('invocations', 'id')::regclass"
_NEXT = f"SELECT setval({_IDS}, nextval({_IDS}) + ? - 1)"


class PostgresBulk(Bulk):
    """The driver of one open transaction."""

    mark = "%s"
    epoch = "CAST(extract(epoch FROM i.timestamp) AS BIGINT)"

    def __init__(self, connection: Connection) -> None:
        """Take a connection in a transaction."""
        super().__init__(connection)
        self._staged: set[str] = set()
        self.run("SET LOCAL TIME ZONE 'UTC'")  # our times are texts without a zone

    def parts(self, sql: str, values: Sequence[object], size: int) -> Iterator[list[Row]]:
        """Give the rows of an answer by a cursor of the server's."""
        self.run("SET LOCAL cursor_tuple_fraction = 1")  # all of them are wanted, not the first ones soon
        with self.raw.cursor(name="skillgate_parts") as cursor:
            cursor.execute(sql.replace("?", self.mark), values)
            while rows := cursor.fetchmany(size):
                yield rows

    def lock(self) -> None:
        """Take turns with whoever writes invocations."""
        self.run("LOCK TABLE invocations IN SHARE ROW EXCLUSIVE MODE")

    def prepare(self) -> None:
        """Do nothing."""

    def settle(self) -> None:
        """Do nothing."""

    def reserve(self, count: int) -> range:
        """Move the sequence on."""
        last: int = self.rows(_NEXT, count)[0][0]
        return range(last - count + 1, last + 1)

    def insert(self, table: str, columns: Mapping[str, Iterable[Any]], conflict: str = "") -> None:
        """Copy rows; where some may be there already, into a table beside it that they are inserted from."""
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
        """Look ids up."""
        sql = "SELECT invocation_id, id, digest, added FROM invocations WHERE invocation_id = ANY(?)"
        return {name: (key, digest, added) for name, key, digest, added in self.rows(sql, list(names))}

    def scan(self, since: str | None) -> str:
        """Leave it to the server, which keeps statistics."""
        del since
        return ""
