"""Errors of a database, made errors of ours: none shows a secret, and what is wrong with the data is told apart."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import sqlalchemy as sa

from skillgate.errors import IncompleteError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Engine

    from skillgate.store.target import Target


@contextmanager
def failing(engine: Engine, target: Target, doing: str) -> Iterator[None]:
    """Make an error of the database one of ours; what is wrong with the data itself is the caller's.

    Args:
        engine: of the store; its driver may be used directly.
        target: of the store.
        doing: what could not be done with it.

    Raises:
        IncompleteError: the database failed.
    """
    driver = engine.dialect.loaded_dbapi
    try:
        yield
    except (sa.exc.IntegrityError, sa.exc.DataError, driver.IntegrityError, driver.DataError):
        raise
    except (sa.exc.DBAPIError, driver.Error) as error:
        said = target.clean(str(getattr(error, "orig", None) or error))
        raise IncompleteError(f"the store {target.shown} could not be {doing}: {said}") from None


@contextmanager
def refusing(engine: Engine, target: Target) -> Iterator[None]:
    """Make what a driver says of invocations that cannot be stored an error of ours.

    Raises:
        UsageError: a value is out of its range, or no database takes it.
    """
    driver = engine.dialect.loaded_dbapi
    try:
        yield
    except OverflowError:
        raise UsageError("an invocation holds a number that is too large for a database") from None
    except UnicodeEncodeError:
        raise UsageError("an invocation holds a text that is not Unicode") from None
    except (driver.IntegrityError, driver.DataError) as error:
        raise UsageError(f"an invocation cannot be stored: {target.clean(str(error))}") from None


def foreign(target: Target, said: str) -> IncompleteError:
    """Say that a store holds a value which we did not write: SQLite keeps anything in any column."""
    return IncompleteError(f"the store {target.shown} holds what skillgate did not write: {said}")
