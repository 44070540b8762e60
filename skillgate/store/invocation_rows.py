"""Convert, write and read rows of recorded invocations, thousands at a time.

A batch is handled by column. A column of only None is not written, since drivers handle None slowly and most fields of
an invocation are None. Values that are read are checked against the types and ranges of the columns.

Rows go through the driver directly, within the transaction of a SQLAlchemy connection: SQLAlchemy objects per row would
take several times as long as the database. The SQL here works in both databases, with ``?`` for values.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum
from itertools import chain, islice
from operator import ne
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, DropIndex

from skillgate.errors import UsageError
from skillgate.model.invocation import Accuracy, Caller, Ending, Evidence, Invocation, InvocationScore, Scored
from skillgate.store.schema import COUNT_MOST, FIGURE_MOST, INVOCATIONS, POINTS
from skillgate.store.triggers import trigger_statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import Index
    from sqlalchemy.engine import Connection

    Columns = Mapping[str, Iterable[Any]]
    Row = tuple[Any, ...]
    Known = tuple[int, str, str | None, str | None]  # key, digest, added, origin

FIELDS = Invocation._fields
SCORES = ("completion_score", "efficiency_score", "quality_score_component", "satisfaction_score", "quality_score")
SCORE_COLUMNS = ("rubric_version", *SCORES, "coverage", "baseline_category")
_SECOND = len("YYYY-MM-DD HH:MM:SS")
_ENUMS: dict[str, type[Enum]] = {
    "ending": Ending,
    "accuracy": Accuracy,
    "outcome_evidence": Evidence,
    "called_by": Caller,
}
_MOST = {**dict.fromkeys(FIELDS, float(FIGURE_MOST)), "user_edit_ratio": 1}
_OBSERVED: dict[str, tuple[type, float]] = {  # types and maxima of the values that figures are made of
    "timestamp": (int, COUNT_MOST),
    **{name: (float, POINTS[name]) for name in ("quality_score", *SCORES[:4], "coverage")},
    "tokens_used": (int, COUNT_MOST),
    **dict.fromkeys(("duration_ms", "cost_usd"), (float, float(FIGURE_MOST))),
    "error_count": (int, COUNT_MOST),
    "ending": (str, 0),
    **dict.fromkeys(("shared", "cost_estimated"), (int, 1)),
    **dict.fromkeys(("skill_category", "skill_version", "model", "origin", "source", "called_by"), (str, 0)),
}


class ForeignError(ValueError):
    """The store contains a value that skillgate did not write."""


def second(at: datetime) -> str:
    """Return a time as in the tables: UTC, ``YYYY-MM-DD HH:MM:SS``, without fractions."""
    return str(at if at.tzinfo is UTC else at.astimezone(UTC))[:_SECOND]


class Rows(NamedTuple):
    """Invocations and their scores by column, as the database takes them, except columns of only None.

    Attributes:
        invocations: the fields and digests.
        scores: without the keys of the invocations.
        at: times in seconds since 1970.
    """

    invocations: dict[str, Sequence[Any]]
    scores: dict[str, Sequence[Any]]
    at: list[int]


def rows_of(batch: Sequence[Scored]) -> Rows:
    """Convert invocations, without their own origins and added fields.

    Raises:
        UsageError: A string contains NUL, or a number is NaN.
    """
    found: dict[str, Sequence[Any]] = {}
    for name, values in zip(FIELDS, zip(*(one.invocation for one in batch), strict=True), strict=True):
        if values.count(None) < len(values):
            found[name] = _column(name, values)
    found["digest"] = [one.digest for one in batch]
    at = [int(one.invocation.timestamp.timestamp()) for one in batch]
    return Rows(found, of_scores(one.score for one in batch), at)


def scored_of(rows: Rows) -> Iterator[Scored]:
    """Yield what :func:`rows_of` converted."""
    nothing = (None,) * len(rows.at)
    fields = [_as_stored(name, rows.invocations.get(name, nothing)) for name in FIELDS]
    scores = [rows.scores.get(name, nothing) for name in SCORE_COLUMNS]
    found = invocations(list(zip(*fields, strict=True)))
    return map(Scored, found, map(InvocationScore._make, zip(*scores, strict=True)), rows.invocations["digest"])


def _as_stored(name: str, values: Sequence[Any]) -> Sequence[Any]:
    """Return a column as the database returns it: a column of floats has no integers."""
    if INVOCATIONS.c[name].type.python_type is not float:
        return values
    return [None if value is None else float(value) for value in values]


def of_import(
    count: int, *, imported_at: str, origins: Sequence[str | None], added: Sequence[str | None]
) -> dict[str, Sequence[Any]]:
    """Return the columns that an import gives to invocations; empty ``added`` is NULL for all."""
    found: dict[str, Sequence[Any]] = {"imported_at": [imported_at] * count}
    if any(origins):
        found["origin"] = origins
    if any(added):
        found["added"] = added
    return found


def _column(name: str, values: tuple[Any, ...]) -> Sequence[Any]:
    if name == "timestamp":
        return [second(value) for value in values]
    if name == "extra":
        return [None if value is None else _json(value) for value in values]
    if name in _ENUMS:
        return [value and value.value for value in values]
    kinds = set(map(type, values))
    if bool in kinds:  # drivers handle bool slowly too
        return [value if value is None else int(value) for value in values]
    if str in kinds:
        if not kinds <= {str, type(None)}:
            raise UsageError(f"an invocation cannot be stored: {name} has both strings and other values")
        if "\0" in "".join(filter(None, values)):  # PostgreSQL refuses it, SQLite's functions stop there
            raise UsageError("an invocation cannot be stored: a string contains a NUL character")
    return _numbers(name, values) if float in kinds else values


def _numbers(name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if any(map(ne, values, values)):  # SQLite would store NULL, which means unknown
        raise UsageError(f"an invocation cannot be stored: {name} is NaN")
    return values


def _json(extra: Mapping[str, object]) -> str:
    try:
        return json.dumps(dict(extra), allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"an invocation's extra values cannot be stored: {error}") from None


def of_scores(scores: Iterable[InvocationScore]) -> dict[str, Sequence[Any]]:
    """Return the columns of scores, except those of only None; raise UsageError if a number is NaN."""
    return {
        name: _numbers(name, values)
        for name, values in zip(SCORE_COLUMNS, zip(*scores, strict=True), strict=True)
        if values.count(None) < len(values)
    }


def invocations(rows: Sequence[tuple[Any, ...]]) -> Iterator[Invocation]:
    """Return invocations from rows with the columns :data:`FIELDS`.

    Raises:
        ForeignError: A value does not match its column's type or range.
    """
    if not rows:
        return iter(())
    columns = [_values(name, values) for name, values in zip(FIELDS, zip(*rows, strict=True), strict=True)]
    return map(Invocation._make, zip(*columns, strict=True))


def _values(name: str, values: tuple[Any, ...]) -> Iterable[Any]:
    column = INVOCATIONS.c[name]
    if values.count(None) == len(values) and column.nullable:
        return values
    if name == "timestamp":
        return [_moment(value) for value in values]
    if name == "extra":
        return [extra_of(value) for value in values]
    if name in _ENUMS:
        return [None if value is None else _member(_ENUMS[name], name, value) for value in values]
    kind = column.type.python_type
    if kind is bool:
        if not set(values) <= {0, 1, None}:
            raise _strange(name, values, lambda value: value in (0, 1, None))
        return [value if value is None else bool(value) for value in values]
    _check(name, values, kind, _MOST[name], nullable=bool(column.nullable))
    return values


def check_observations(columns: Iterable[tuple[Any, ...]]) -> None:
    """Check the columns of values that figures are made of; raise as :func:`invocations`."""
    for (name, (kind, most)), values in zip(_OBSERVED.items(), columns, strict=True):
        _check(name, values, kind, most, nullable=name not in ("timestamp", "coverage", "source"))


def _check(name: str, values: tuple[Any, ...], kind: type, most: float, *, nullable: bool) -> None:
    """Raise ForeignError if a value has another type or is out of range; fast if none is."""
    kinds = set(map(type, values))
    if kinds <= ({kind, type(None)} if nullable else {kind}):
        if kind is str or name == "timestamp":
            return
        there = values if type(None) not in kinds else [value for value in values if value is not None]
        if not there or (min(there) >= 0 and max(there) <= most):
            return

    def fits(value: Any) -> bool:  # noqa: ANN401 - any value
        if value is None:
            return nullable
        if type(value) is not kind:
            return False
        return kind is str or name == "timestamp" or 0 <= float(value) <= most  # type: ignore[arg-type]

    raise _strange(name, values, fits)


def _strange(name: str, values: Iterable[Any], fits: Any) -> ForeignError:  # noqa: ANN401 - a test of a value
    value = next((value for value in values if not fits(value)), None)
    return ForeignError(f"{name} is {str(value)[:50]!r}")


def _moment(value: Any) -> datetime:  # noqa: ANN401 - any value
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, str) and len(value) == _SECOND and value[10] == " ":
        with suppress(ValueError):
            return datetime.fromisoformat(value).replace(tzinfo=UTC)
    raise ForeignError(f"timestamp is {str(value)[:50]!r}")


def extra_of(value: Any) -> dict[str, object] | None:  # noqa: ANN401 - any value
    """Read the column ``extra``; raise ForeignError if it is not a JSON object."""
    if value is None:
        return None
    try:
        found = json.loads(value)
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ForeignError(f"extra is {str(value)[:50]!r}")
    return found


def _member(kind: type[Enum], name: str, value: Any) -> Enum:  # noqa: ANN401 - any value
    try:
        return kind(value)
    except ValueError:
        raise ForeignError(f"{name} is {str(value)[:50]!r}") from None


# Fields set by hand with ``log add --update`` are stored in the column ``added`` as a JSON object. They override
# imported values, so that importing the recording again does not lose them.

_FIXED = frozenset(("invocation_id", "skill_name", "source"))


def added_of(value: object) -> dict[str, Any]:
    """Read the column ``added``; raise ForeignError if it is not a JSON object of fields."""
    if value is None:
        return {}
    try:
        found = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not found.keys() <= set(FIELDS) - _FIXED:
        raise ForeignError(f"added is {str(value)[:50]!r}")
    return {name: _added_field(name, inner) for name, inner in found.items()}


def _added_field(name: str, value: Any) -> Any:  # noqa: ANN401 - any value
    if name == "extra" and isinstance(value, dict):
        return value
    if name == "extra" or isinstance(value, dict | list):
        raise ForeignError(f"{name} is {str(value)[:50]!r}")
    kind = INVOCATIONS.c[name].type.python_type
    (found,) = _values(name, (float(value) if kind is float and type(value) is int else value,))
    return found


def added_text(added: dict[str, Any]) -> str | None:
    """Return the column ``added``; raise UsageError if a value is not JSON."""
    plain = {name: value.value if isinstance(value, Enum) else value for name, value in added.items()}
    if "timestamp" in plain:
        plain["timestamp"] = second(plain["timestamp"])
    return _json(plain) if added else None


def combined(added: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Merge earlier and later fields added by hand; later values win."""
    found = {**added, **more}
    if "extra" in added and "extra" in more:
        found["extra"] = {**added["extra"], **more["extra"]}
    return found


def merged(invocation: Invocation, added: dict[str, Any]) -> Invocation:
    """Return an invocation with its fields overridden by the added ones."""
    if not added:
        return invocation
    fields = dict(added)
    if invocation.extra and "extra" in fields:
        fields["extra"] = {**invocation.extra, **fields["extra"]}
    found = invocation._replace(**fields)
    if found.follow_up_open is not None and found.follow_up_count is not None:
        # A recording may count fewer follow-ups than the user reported as open.
        found = found._replace(follow_up_count=max(found.follow_up_count, found.follow_up_open))
    return found


ONCE = "ON CONFLICT DO NOTHING"  # existing rows stay


class Bulk(ABC):
    """Database operations in one open transaction."""

    mark: str  # placeholder of a value
    epoch: str  # expression for the Unix time of ``i.timestamp``, NULL if it is not a time
    within_day: str  # whether ``i.timestamp`` is within ``o.day``

    def __init__(self, connection: Connection) -> None:
        self.raw: Any = connection.connection.driver_connection
        self.dialect = connection.dialect.name

    def run(self, sql: str, *values: object) -> int:
        """Run a statement, and return the number of changed rows."""
        changed: int = self.raw.execute(sql.replace("?", self.mark), values).rowcount
        return changed

    def rows(self, sql: str, *values: object) -> list[Row]:
        """Return all rows of a short result."""
        found: list[Row] = self.raw.execute(sql.replace("?", self.mark), values).fetchall()
        return found

    @abstractmethod
    def parts(self, sql: str, values: Sequence[object], size: int) -> Iterator[list[Row]]:
        """Yield the rows of a result in non-empty parts of up to ``size`` rows."""

    def lock(self) -> None:  # noqa: B027 - not needed by the other database
        """Prevent other processes from writing invocations until the transaction ends.

        In SQLite, writing transactions begin with the lock.
        """

    def prepare(self, *, with_indexes: bool) -> bool:  # noqa: ARG002 - for the other database
        """Prepare for many invocations; return whether nothing marks outdated summaries until :meth:`settle`."""
        return False

    def settle(self) -> None:  # noqa: B027 - not needed by the other database
        """Undo :meth:`prepare`."""

    @abstractmethod
    def reserve(self, count: int) -> range:
        """Return ``count`` unused keys for invocations; requires the lock."""

    @abstractmethod
    def insert(self, table: str, columns: Mapping[str, Iterable[Any]], conflict: str = "") -> None:
        """Insert rows in order.

        Args:
            table: Name of the table.
            columns: Values by column, at least one of them finite.
            conflict: Clause for existing rows, which are an error by default.
        """

    @abstractmethod
    def attempt(self, keys: range, columns: Mapping[str, Sequence[Any]]) -> bool:
        """Insert invocations if all are new; else write nothing."""

    @abstractmethod
    def known(self, names: Sequence[str]) -> dict[str, Known]:
        """Return key, digest, ``added`` and ``origin`` of existing invocations, by id."""

    def delete(self, keys: Sequence[int]) -> None:
        """Delete invocations and their scores."""
        self.raw.cursor().executemany(
            "DELETE FROM invocations WHERE id = ?".replace("?", self.mark), [(key,) for key in keys]
        )


_KNOWN = "invocation_id, id, digest, added, origin"
_CACHE_KB = 24_576  # page cache for bulk writes: the index of random ids is scattered over the file
_SORT_KB = 8_192  # page cache to create an index, which sorts in as much again
_AT_ONCE = 500  # values per statement; old SQLite allows 999


class _Sqlite(Bulk):
    mark = "?"
    epoch = "CAST(strftime('%s', i.timestamp) AS INTEGER)"
    within_day = "i.timestamp BETWEEN o.day AND o.day || '~'"

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._next: int | None = None
        self._rests = False
        self._dropped: tuple[Index, ...] = ()

    def parts(self, sql: str, values: Sequence[object], size: int) -> Iterator[list[Row]]:
        cursor = self.raw.execute(sql, values)
        while rows := cursor.fetchmany(size):
            yield rows

    def prepare(self, *, with_indexes: bool) -> bool:
        """Enlarge the cache; drop triggers and unneeded indexes of an empty table, since :meth:`settle` is faster."""
        self.run(f"PRAGMA cache_size = -{_CACHE_KB}")
        self._rests = not self.rows("SELECT 1 FROM invocations LIMIT 1")
        self._dropped = () if with_indexes or not self._rests else tuple(INVOCATIONS.indexes)
        if self._rests:
            for index in self._dropped:
                self.run(str(DropIndex(index, if_exists=True).compile(dialect=sqlite.dialect())))
            for trigger in trigger_statements(self.dialect):
                self.run(f"DROP TRIGGER IF EXISTS {trigger}")
        return self._rests

    def settle(self) -> None:
        self.run(f"PRAGMA cache_size = -{_SORT_KB}")
        if self._rests:
            for index in self._dropped:
                self.run(str(CreateIndex(index).compile(dialect=sqlite.dialect())))
            for statement in chain.from_iterable(trigger_statements(self.dialect).values()):
                self.run(statement)

    def reserve(self, count: int) -> range:
        if self._next is None:
            self._next = (self.rows("SELECT max(id) FROM invocations")[0][0] or 0) + 1
        self._next += count
        return range(self._next - count, self._next)

    def insert(self, table: str, columns: Mapping[str, Iterable[Any]], conflict: str = "") -> None:
        self._inserted(table, columns, conflict)

    def attempt(self, keys: range, columns: Mapping[str, Sequence[Any]]) -> bool:
        """Insert and check with the index of ids: a separate lookup takes a fifth of an import's time."""
        if self._inserted("invocations", {"id": keys, **columns}, ONCE) == len(keys):
            return True
        self.run("DELETE FROM invocations WHERE id BETWEEN ? AND ?", keys[0], keys[-1])
        return False

    def _inserted(self, table: str, columns: Mapping[str, Iterable[Any]], conflict: str) -> int:
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) {conflict}"  # noqa: S608 - our own names
        count: int = self.raw.executemany(sql, zip(*columns.values(), strict=False)).rowcount
        return count

    def known(self, names: Sequence[str]) -> dict[str, Known]:
        found: dict[str, Known] = {}
        rest = iter(names)
        while some := list(islice(rest, _AT_ONCE)):
            marks = ", ".join("?" * len(some))
            sql = f"SELECT {_KNOWN} FROM invocations WHERE invocation_id IN ({marks})"  # noqa: S608
            found.update((row[0], row[1:]) for row in self.rows(sql, *some))
        return found


_IDS = "pg_get_serial_sequence('invocations', 'id')::regclass"
_NEXT = f"SELECT setval({_IDS}, nextval({_IDS}) + ? - 1)"


class _Postgres(Bulk):
    mark = "%s"
    epoch = "CAST(extract(epoch FROM i.timestamp) AS BIGINT)"
    within_day = (
        "i.timestamp >= o.day::timestamp AT TIME ZONE 'UTC'"
        " AND i.timestamp < (o.day::timestamp + '1 day') AT TIME ZONE 'UTC'"
    )

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._staged: set[str] = set()
        self.run("SET LOCAL TIME ZONE 'UTC'")  # our times have no time zone

    def parts(self, sql: str, values: Sequence[object], size: int) -> Iterator[list[Row]]:
        self.run("SET LOCAL cursor_tuple_fraction = 1")  # optimize for all rows, not for the first ones
        with self.raw.cursor(name="skillgate_parts", binary=True) as cursor:
            cursor.execute(sql.replace("?", self.mark), values)
            while rows := cursor.fetchmany(size):
                yield rows

    def lock(self) -> None:
        self.run("LOCK TABLE invocations, skill_scores IN SHARE ROW EXCLUSIVE MODE")

    def reserve(self, count: int) -> range:
        last: int = self.rows(_NEXT, count)[0][0]
        return range(last - count + 1, last + 1)

    def insert(self, table: str, columns: Mapping[str, Iterable[Any]], conflict: str = "") -> None:
        """Copy rows; if some may exist, copy to a temporary table and insert from it."""
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

    def attempt(self, keys: range, columns: Mapping[str, Sequence[Any]]) -> bool:
        names = columns["invocation_id"]
        if len(set(names)) < len(names) or self.known(names):
            return False
        self.insert("invocations", {"id": keys, **columns})
        return True

    def _copy(self, table: str, names: str, columns: Mapping[str, Iterable[Any]]) -> None:
        with self.raw.cursor().copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            for row in zip(*columns.values(), strict=False):
                copy.write_row(row)

    def known(self, names: Sequence[str]) -> dict[str, Known]:
        sql = f"SELECT {_KNOWN} FROM invocations WHERE invocation_id = ANY(?)"  # noqa: S608
        return {row[0]: row[1:] for row in self.rows(sql, list(names))}


def bulk(connection: Connection) -> Bulk:
    """Return the operations for a connection in a transaction."""
    return _Sqlite(connection) if connection.dialect.name == "sqlite" else _Postgres(connection)
