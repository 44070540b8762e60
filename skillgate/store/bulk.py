"""Rows by the thousand through a driver itself, within the transaction of a connection of SQLAlchemy's.

An object of SQLAlchemy's for each row would take several times as long as the database does. SQL stands here in the
words that both databases share, with ``?`` for values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy.engine import Connection

    Row = tuple[Any, ...]

ONCE = "ON CONFLICT DO NOTHING"  # what is there already stays


class Bulk(ABC):
    """The driver of one open transaction.

    Attributes:
        mark: how it writes the place of a value.
        epoch: its expression for the seconds since 1970 of ``i.timestamp``, None where that is no time.
    """

    mark: str
    epoch: str

    def __init__(self, connection: Connection) -> None:
        """Take a connection in a transaction."""
        self.raw: Any = connection.connection.driver_connection

    def run(self, sql: str, *values: object) -> int:
        """Run a statement; give the number of rows that it changed."""
        changed: int = self.raw.execute(sql.replace("?", self.mark), values).rowcount
        return changed

    def rows(self, sql: str, *values: object) -> list[Row]:
        """Give all rows of a short answer."""
        found: list[Row] = self.raw.execute(sql.replace("?", self.mark), values).fetchall()
        return found

    @abstractmethod
    def parts(self, sql: str, values: Sequence[object], size: int) -> Iterator[list[Row]]:
        """Give the rows of an answer of any length, in parts of such a size, none of them empty."""

    @abstractmethod
    def lock(self) -> None:
        """Let nobody else write invocations until the transaction ends; others read."""

    @abstractmethod
    def prepare(self) -> None:
        """Get ready for many invocations."""

    @abstractmethod
    def settle(self) -> None:
        """End what :meth:`prepare` began."""

    @abstractmethod
    def reserve(self, count: int) -> range:
        """Give as many keys for invocations, which nothing has; the transaction holds the lock."""

    @abstractmethod
    def insert(self, table: str, columns: Mapping[str, Iterable[Any]], conflict: str = "") -> None:
        """Insert rows in their order.

        Args:
            table: its name.
            columns: their values; one at least is of an end.
            conflict: what is done about rows that are there already; an error where it is empty.
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
        """Say how to read invocations of all skills from a time on, where the database does not find it by itself."""

    def delete(self, keys: Sequence[int]) -> None:
        """Delete invocations, with their scores."""
        self.raw.cursor().executemany(
            "DELETE FROM invocations WHERE id = ?".replace("?", self.mark), [(key,) for key in keys]
        )
