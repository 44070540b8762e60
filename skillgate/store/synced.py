"""What `log sync` knows of the files it read.

A file is known by a salted digest of its path. In a SQLite file this is read with the standard library alone, since a
nightly run usually finds nothing new, and loading SQLAlchemy takes longer than that whole run.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.store.target import HEAD, TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skillgate.store.target import Target

_DIGITS = 32
_BUSY_S = 60
_TABLE = "synced_files"


class SyncedFile(NamedTuple):
    """A file that was read.

    Attributes:
        place: salted digest of its path.
        stamp: size and times of the file; equal ones mean an unchanged file. Empty: compare the digest.
        digest: of the bytes that were read, up to ``read_to``; empty for a file that was read as a part of another.
        read_to: offset of the first byte that was not read.
        lines_read: number of lines up to there.
        options: digest of everything else that the result depends on.
        part_of: place of the file that it was read as a part of; None for a separate file.
    """

    place: str
    stamp: str
    digest: str = ""
    read_to: int = 0
    lines_read: int = 0
    options: str = ""
    part_of: str | None = None


class SyncState(NamedTuple):
    """The known files of a store, by place."""

    salt: bytes
    files: Mapping[str, SyncedFile]

    def place(self, path: str) -> str:
        """Return the salted digest of an absolute path."""
        named = path.encode("utf-8", "surrogateescape")
        return hmac.digest(self.salt, named, "sha256").hex()[:_DIGITS]


_NAMES = ", ".join(SyncedFile._fields)
_ALL = f"SELECT {_NAMES} FROM {_TABLE}"  # noqa: S608 - our own names
_SALT = "SELECT salt FROM origin_salt"
_PUT = (
    f"INSERT INTO {_TABLE} ({_NAMES}) VALUES ({', '.join('?' * len(SyncedFile._fields))})"  # noqa: S608 - our own names
    " ON CONFLICT (place) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in SyncedFile._fields if name != "place")
)


def quick_state(target: Target) -> SyncState | None:
    """Return the state of a SQLite file; None if the store must be opened first, such as a new one or a server."""
    if target.path is None or not os.path.isfile(target.path):  # noqa: PTH113
        return None
    try:
        with closing(sqlite3.connect(target.path, timeout=_BUSY_S)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            if connection.execute(f"SELECT version_num FROM {TABLE}").fetchone() != (HEAD,):  # noqa: S608 - our own name
                return None
            salt, rows = connection.execute(_SALT).fetchone(), connection.execute(_ALL).fetchall()
    except sqlite3.Error:
        return None  # opening the store says what is wrong with it
    return None if salt is None else _state(salt[0], rows)


def _state(salt: object, rows: Iterable[Any]) -> SyncState:
    files = map(SyncedFile._make, rows)
    return SyncState(hashlib.sha256(str(salt).encode()).digest(), {one.place: one for one in files})


class SyncedFiles:
    """The known files of an open store."""

    def __init__(self, target: Target) -> None:
        """Connect.

        Raises:
            UsageError: the store is unusable.
        """
        from skillgate.store.schema import opened  # SQLAlchemy

        self._engine, self._target = opened(target), target

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def state(self) -> SyncState:
        """Return what is known; create the store's salt if needed.

        Raises:
            IncompleteError: the database failed.
        """
        from skillgate.store.invocation_rows import bulk
        from skillgate.store.schema import failing

        with failing(self._engine, self._target, "read"), self._engine.begin() as connection:
            rows = bulk(connection)
            rows.lock()
            salts = rows.rows(_SALT)
            if not salts:
                salts = [(secrets.token_hex(16),)]
                rows.run("INSERT INTO origin_salt (id, salt) VALUES (1, ?)", salts[0][0])
            return _state(salts[0][0], rows.rows(_ALL))

    def put(self, files: Iterable[SyncedFile]) -> None:
        """Write what is known of files now.

        Raises:
            IncompleteError: the database failed.
        """
        from skillgate.store.invocation_rows import bulk
        from skillgate.store.schema import failing

        with failing(self._engine, self._target, "written"), self._engine.begin() as connection:
            rows = bulk(connection)
            cursor = rows.raw.cursor()
            cursor.executemany(_PUT.replace("?", rows.mark), sorted(files))  # in one order: two runs never block
