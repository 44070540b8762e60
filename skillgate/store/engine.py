"""Open a store: its engine, the settings of SQLite, the steps to this version's schema, and errors of the database.

SQLite writes ahead (WAL), so that readers and one writer do not wait for each other, and flushes every commit
(``synchronous = FULL``): a run commits once, after seconds or minutes, so that what a flush costs is not felt, and a
machine that loses power keeps what a run said it had written. Every transaction that writes takes the write lock as it
begins (``BEGIN IMMEDIATE``): one that began as a reader could not wait for it. PostgreSQL takes an advisory lock while
the schema is made.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import NullPool

from skillgate.errors import IncompleteError, UsageError
from skillgate.store.migrations import HEAD, TABLE, require_known
from skillgate.store.schema import METADATA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, Engine

    from skillgate.store.target import Target

BUSY_S = 60  # how long a writer waits for others
_WAL_STEP_S = 0.02
_ADVISORY = 7_234_810_255_101  # any number that other programs do not use
READING = "skillgate_reading"


def opened(target: Target) -> Engine:
    """Connect, and bring the schema to this version's where it is older or missing.

    Raises:
        UsageError: the place cannot be reached, is no database, or a later version made it.
    """
    engine = None
    try:
        engine = _engine(target)
        if target.path is not None:
            _set_up_sqlite(engine)
        _migrate(engine, target)
    except sa.exc.ArgumentError:
        raise UsageError("the store's URL is not valid; expected postgresql://USER@HOST:PORT/DATABASE") from None
    except ImportError as error:  # psycopg without the library of PostgreSQL
        raise UsageError(f"psycopg cannot be loaded: pip install 'skillgate-action[postgres]' ({error.name})") from None
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        # Without the cause: its own text may hold the URL.
        raise UsageError(f"the store {target.shown} cannot be opened: {_message(error, target)}") from None
    return engine


def _engine(target: Target) -> Engine:
    if target.path is not None:
        url, options = sa.URL.create("sqlite", database=target.path), {"timeout": BUSY_S}
    else:
        url = sa.make_url(target.url or "").set(drivername="postgresql+psycopg")
        options = {} if "connect_timeout" in url.query else {"connect_timeout": 10}
    return sa.create_engine(url, poolclass=NullPool, connect_args=options)


def _set_up_sqlite(engine: Engine) -> None:
    """Set every connection up, and begin transactions by ourselves: the driver would begin them too late."""

    def connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA trusted_schema = OFF")  # the file may be another's
        _write_ahead(connection)

    def begun(connection: Connection) -> None:
        reading = connection.get_execution_options().get(READING)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to WAL, which does not wait for others by itself. A file system without it keeps its own mode.

    Raises:
        sqlite3.OperationalError: others did not let go of the file in time.
    """
    until = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_WAL_STEP_S)
        else:
            return


def _migrate(engine: Engine, target: Target) -> None:
    with engine.execution_options(**{READING: True}).begin() as connection:
        found = _version(connection)
        strange = _strange(connection) if target.path is not None else None
    require_known(found, target.shown)
    if strange is not None:
        raise UsageError(f"the store {target.shown} has {strange}, which skillgate did not make; name another store")
    if found == HEAD:
        return
    with engine.begin() as connection:  # in SQLite this holds the write lock
        if target.path is None:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY)))
        found = _version(connection)  # another process may have been faster
        require_known(found, target.shown)
        if found != HEAD:
            _upgrade(connection)
    if found is not None and found != HEAD and target.path is not None:
        _rewrite(engine)


def _rewrite(engine: Engine) -> None:
    """Write a file anew: pages that were free before a step keep what earlier versions had there, such as paths."""
    with engine.connect() as connection, suppress(sqlite3.OperationalError):  # no room for a copy: the rows are right
        raw: Any = connection.connection.driver_connection
        raw.execute("VACUUM")


def _strange(connection: Connection) -> str | None:
    """Name what would change rows behind our back, or stands in a table's place; views of others are theirs."""
    query = "SELECT type, name FROM sqlite_master WHERE type = 'trigger' OR type = 'view'"
    for kind, name in connection.exec_driver_sql(query):
        if kind == "trigger" or str(name).lower() in METADATA.tables:
            return f"the {kind} {str(name)[:50]!r}"
    return None


def _version(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table(TABLE):
        return None
    return connection.execute(sa.select(sa.column("version_num")).select_from(sa.table(TABLE))).scalar()


def _upgrade(connection: Connection) -> None:
    from alembic import command  # slow, and needed once in a store's life
    from alembic.config import Config

    config = Config()
    folder = Path(__file__).with_name("migrations")
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, HEAD)


@contextmanager
def failing(engine: Engine, target: Target, doing: str) -> Iterator[None]:
    """Turn errors of the database into IncompleteError; what is wrong with the data itself is the caller's.

    ``doing`` is what could not be done with the store, a participle. The driver may be used directly.
    """
    driver = engine.dialect.loaded_dbapi
    try:
        yield
    except (sa.exc.IntegrityError, sa.exc.DataError, driver.IntegrityError, driver.DataError):
        raise
    except (sa.exc.DBAPIError, driver.Error) as error:
        raise IncompleteError(f"the store {target.shown} could not be {doing}: {_message(error, target)}") from None


@contextmanager
def refusing(engine: Engine, target: Target) -> Iterator[None]:
    """Turn errors about invocations that cannot be stored into UsageError."""
    driver = engine.dialect.loaded_dbapi
    try:
        yield
    except OverflowError:
        raise UsageError("an invocation holds a number that is too large for a database") from None
    except UnicodeEncodeError:
        raise UsageError("an invocation holds a text that is not Unicode") from None
    except (driver.IntegrityError, driver.DataError) as error:
        raise UsageError(f"an invocation cannot be stored: {target.clean(str(error))}") from None


def foreign(target: Target, value: str) -> IncompleteError:
    """Return the error that a store holds a value which we did not write: SQLite takes anything in any column."""
    return IncompleteError(f"the store {target.shown} holds what skillgate did not write: {value}")


def _message(error: Exception, target: Target) -> str:
    return target.clean(str(getattr(error, "orig", None) or error))
