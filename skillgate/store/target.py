"""The location of a store, a SQLite file or a PostgreSQL database, and the schema versions.

This module needs no optional package, so that a run can refuse an unusable store at the start.
"""
# ruff: noqa: PTH103, PTH110, PTH112, PTH113, PTH118, PTH120, PTH123

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from skillgate.errors import UsageError

DEFAULT = os.path.join(".skillgate", "store.db")
FOLDER = ".skillgate"
_POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")
_HEADER = b"SQLite format 3\0"
TABLE = "skillgate_schema"  # version table; the database may contain another program's migrations
KNOWN = ("0001", "0002", "0003", "0004", "0005", "0006")  # revisions in the directory of migrations, newest last
HEAD = KNOWN[-1]
_PACKAGES = {"sqlalchemy": "store", "alembic": "store", "psycopg": "postgres"}


class Target(NamedTuple):
    """The location of a store."""

    shown: str  # for messages, never with a password
    path: str | None  # absolute path of a SQLite file; None for PostgreSQL
    url: str | None = None  # URL of a PostgreSQL database; None for SQLite
    secrets: tuple[str, ...] = ()  # never in messages

    def clean(self, text: str) -> str:
        """Return the first line of a driver's message, without secrets."""
        line = text.strip().partition("\n")[0]
        for secret in self.secrets:
            line = line.replace(secret, "***")
        return line


def target_of(text: str, *, cwd: str) -> Target:
    """Read a path or a URL.

    Raises:
        UsageError: The URL is not valid or its database is not supported.
    """
    scheme, mark, rest = text.partition("://")
    if not mark:
        return Target(text, os.path.normpath(os.path.join(cwd, text)))
    if scheme.lower() == "sqlite":
        path = rest.removeprefix("/")  # sqlite:///relative, sqlite:////absolute
        if not rest.startswith("/") or not path:
            raise UsageError("expected sqlite:///PATH, or the path")
        return Target(path, os.path.normpath(os.path.join(cwd, path)))
    if scheme.lower() not in _POSTGRES:
        raise UsageError(f"unsupported store {scheme}://…; use a path for SQLite, or postgresql://USER@HOST/DATABASE")
    return _postgres(text)


def _postgres(text: str) -> Target:
    try:
        parts = urlsplit(text)
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        raise UsageError("the store's URL is not valid; expected postgresql://USER@HOST:PORT/DATABASE") from None
    user = f"{parts.username}@" if parts.username else ""
    shown = f"postgresql://{user}{parts.hostname or ''}{port}{parts.path}"
    return Target(shown, None, text, secrets=_secrets(parts))


def _secrets(parts: SplitResult) -> tuple[str, ...]:
    """Return all passwords of the URL in every form that a message could contain."""
    words = [parts.password or ""]
    words += [
        item.partition("=")[2] for item in parts.query.split("&") if item.startswith(("password=", "sslpassword="))
    ]
    forms = {form for word in words for form in (word, unquote(word)) if form}
    return tuple(sorted(forms, key=len, reverse=True))


def missing_package(target: Target) -> str | None:
    """Return how to install a missing package; None if there is none."""
    for name, extra in _PACKAGES.items():
        if (target.url is not None or name != "psycopg") and find_spec(name) is None:
            wanted = "postgres" if target.url is not None else extra
            return f"{name} is not installed: pip install 'skillgate-action[{wanted}]'"
    return None


def require_packages(target: Target) -> None:
    """Raise UsageError if packages are missing."""
    missing = missing_package(target)
    if missing is not None:
        raise UsageError(f"cannot save results in {target.shown}: {missing}")


def require_file(target: Target, *, create: bool) -> None:
    """Raise UsageError if a SQLite file is unusable as a store.

    With ``create``, create a missing file and its directories.
    """
    path = target.path or ""
    if os.path.isdir(path):
        raise UsageError(f"the store {target.shown} is a directory; use a file in it")
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(f"the store {target.shown} is not a regular file; use a file")
    if not create and not os.path.isfile(path):
        raise UsageError(
            f"the store {target.shown} does not exist; skillgate eval, history import and log import create one"
        )
    try:
        if create:
            _make_folder(os.path.dirname(path))
        with open(path, "ab" if create else "rb"):
            pass  # only to test access
        with open(path, "rb") as file:
            head = file.read(len(_HEADER))
    except (OSError, ValueError) as error:  # ValueError for a name with NUL
        reason = getattr(error, "strerror", None) or error
        doing = "written" if create else "read"
        raise UsageError(f"the store {target.shown} cannot be {doing}: {reason}; use another with --store") from error
    if head and head != _HEADER:
        raise UsageError(f"{target.shown} is not a SQLite database; use another file with --store")
    if head:
        _require_ours(target, path)


def _make_folder(folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    ignored = os.path.join(folder, ".gitignore")
    if os.path.basename(folder) == FOLDER and not os.path.lexists(ignored):  # noqa: PTH119
        with open(ignored, "w", encoding="utf-8") as file:
            file.write("*\n")


def _require_ours(target: Target, path: str) -> None:
    import sqlite3  # only where there is a file to ask

    connection = None
    try:
        connection = sqlite3.connect(path, timeout=30)
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and TABLE not in tables:
            raise UsageError(f"{target.shown} is another program's database; use another file with --store")
        if tables:
            row = connection.execute(f"SELECT version_num FROM {TABLE}").fetchone()  # noqa: S608 - a constant
            require_known(row[0] if row else None, target.shown)
    except sqlite3.DatabaseError as error:
        raise UsageError(f"the store {target.shown} is unusable: {error}; use another with --store") from error
    finally:
        if connection is not None:
            connection.close()


def require_known(found: str | None, shown: str) -> None:
    """Raise UsageError for a store of a later version: writing to it could break it."""
    if found is not None and found not in KNOWN:
        raise UsageError(
            f"the store {shown} has schema {str(found)[:50]} of a newer skillgate (this one knows {HEAD});"
            " update skillgate, or use another store"
        )
