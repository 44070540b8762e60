"""Where results are stored: a SQLite file or a PostgreSQL database, as the user names it; and the schema's versions.

This needs no package of an extra, so that a run can refuse a bad place before it starts anything.
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
TABLE = "skillgate_schema"  # where a store says its version; other programs' migrations may stand in the same database
KNOWN = ("0001", "0002", "0003")  # the revisions in the directory of migrations, the newest last
HEAD = KNOWN[-1]
_PACKAGES = {"sqlalchemy": "store", "alembic": "store", "psycopg": "postgres"}


class Target(NamedTuple):
    """A place for results."""

    shown: str  # how messages name it; never with a password
    path: str | None  # the absolute path of a SQLite file; None for PostgreSQL
    url: str | None = None  # of a PostgreSQL database, as it was named; None for SQLite
    secrets: tuple[str, ...] = ()  # texts that no message may hold

    def clean(self, text: str) -> str:
        """Return the first line of a driver's message, without secrets."""
        line = text.strip().partition("\n")[0]
        for secret in self.secrets:
            line = line.replace(secret, "***")
        return line


def target_of(text: str, *, cwd: str) -> Target:
    """Read a path or a URL.

    Raises:
        UsageError: the URL names no database that is known, or is not one.
    """
    scheme, mark, rest = text.partition("://")
    if not mark:
        return Target(text, os.path.normpath(os.path.join(cwd, text)))
    if scheme.lower() == "sqlite":
        path = rest.removeprefix("/")  # sqlite:///relative, sqlite:////absolute
        if not rest.startswith("/") or not path:
            raise UsageError("a SQLite store is sqlite:///PATH, or the path alone")
        return Target(path, os.path.normpath(os.path.join(cwd, path)))
    if scheme.lower() not in _POSTGRES:
        raise UsageError(
            f"results cannot be kept in {scheme}://…: give a path for SQLite, or postgresql://USER@HOST/DATABASE"
        )
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
    """Return the password in every form in which it could be repeated, wherever the URL has one."""
    words = [parts.password or ""]
    words += [
        item.partition("=")[2] for item in parts.query.split("&") if item.startswith(("password=", "sslpassword="))
    ]
    forms = {form for word in words for form in (word, unquote(word)) if form}
    return tuple(sorted(forms, key=len, reverse=True))


def missing_package(target: Target) -> str | None:
    """Return how to install what a store needs and is not there; None where all is there."""
    for name, extra in _PACKAGES.items():
        if (target.url is not None or name != "psycopg") and find_spec(name) is None:
            wanted = "postgres" if target.url is not None else extra
            return f"{name} is not installed: pip install 'skillgate-action[{wanted}]'"
    return None


def require_packages(target: Target) -> None:
    """Raise UsageError where packages are missing, saying how to install them."""
    missing = missing_package(target)
    if missing is not None:
        raise UsageError(f"keeping results in {target.shown} is not possible, since {missing}")


def require_file(target: Target, *, create: bool) -> None:
    """Raise UsageError where a SQLite file cannot be written, or is no store and cannot become one.

    With ``create`` a missing one is made, with the directories above it.
    """
    path = target.path or ""
    if os.path.isdir(path):
        raise UsageError(f"the store {target.shown} is a directory; name a file in it")
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(f"the store {target.shown} is a pipe, a device or the like; name a file")
    if not create and not os.path.isfile(path):
        raise UsageError(f"there is no store {target.shown}; skillgate eval, history import and log import make one")
    try:
        if create:
            _make_folder(os.path.dirname(path))
        with open(path, "ab" if create else "rb"):
            pass  # it can be opened so; nothing is changed
        with open(path, "rb") as file:
            head = file.read(len(_HEADER))
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        reason = getattr(error, "strerror", None) or error
        doing = "written" if create else "read"
        raise UsageError(f"the store {target.shown} cannot be {doing}: {reason}; name another with --store") from error
    if head and head != _HEADER:
        raise UsageError(f"{target.shown} is not a SQLite database; name another file with --store")
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
            raise UsageError(f"{target.shown} is another program's database; name another file with --store")
        if tables:
            row = connection.execute(f"SELECT version_num FROM {TABLE}").fetchone()  # noqa: S608 - a constant
            require_known(row[0] if row else None, target.shown)
    except sqlite3.DatabaseError as error:
        raise UsageError(f"the store {target.shown} cannot be used: {error}; name another with --store") from error
    finally:
        if connection is not None:
            connection.close()


def require_known(found: str | None, shown: str) -> None:
    """Raise UsageError for a store that a later version of this program made: writing to it could break it."""
    if found is not None and found not in KNOWN:
        raise UsageError(
            f"the store {shown} has schema {str(found)[:50]}, which a later skillgate made; this one knows {HEAD}:"
            " update skillgate, or name another store"
        )
