"""Export recorded invocations with their scores as CSV or Parquet, in parts of a few thousand rows."""

from __future__ import annotations

import json
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from enum import Enum
from importlib.util import find_spec
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from skillgate.errors import IncompleteError, UsageError
from skillgate.format import printable
from skillgate.invocations.records import existing_store, require_skills
from skillgate.model.invocation import Invocation, InvocationScore
from skillgate.report.formats import csv

if TYPE_CHECKING:
    from skillgate.console import Console
    from skillgate.invocations.records import Selection
    from skillgate.store.invocations import Record

Values: TypeAlias = Sequence[Any]
Write: TypeAlias = Callable[[Sequence[Values], int], None]
"""Writes a part: the values of each column, and the number of rows."""


class Sink(Protocol):
    """Where an export goes."""

    def write(self, data: bytes, /) -> object:
        """Write bytes."""


class Column(NamedTuple):
    """A column: its name, and its type, which is bool, int, float, str or datetime."""

    name: str
    kind: type
    nullable: bool


class Exported(NamedTuple):
    """The number of exported invocations, and how many of them have no score by the rubric."""

    store: str
    rows: int
    unscored: int


_VIEW = {  # names of the view ``skill_invocations``, so that its queries run on an export too
    "ending": "outcome",
    "rubric": "rubric_version",
    "quality": "quality_score_component",
    "total": "quality_score",
    "baseline": "baseline_category",
    **{name: f"{name}_score" for name in ("completion", "efficiency", "satisfaction")},
}
_NO_SCORE = (None,) * len(InvocationScore._fields)


def _columns_of(kind: type, *, nullable: bool) -> Iterator[Column]:
    for name, hint in typing.get_type_hints(kind).items():
        kinds = [one for one in typing.get_args(hint) or (hint,) if one is not NoneType]
        plain = next((one for one in (bool, int, float, datetime) if one in kinds), str)
        yield Column(_VIEW.get(name, name), plain, nullable or NoneType in typing.get_args(hint))


COLUMNS = (
    *_columns_of(Invocation, nullable=False),
    Column("origin", str, nullable=True),
    Column("imported_at", datetime, nullable=False),
    *_columns_of(InvocationScore, nullable=True),
)
"""The columns: the fields of an invocation, and of its score by one rubric."""


def export(selection: Selection, sinks: Sequence[tuple[str, Sink]], session: Console) -> Exported:
    """Write the invocations of a selection to every sink, each with its format.

    Raises:
        UsageError: the store is unusable or has no invocations of a skill, or a package is missing.
        IncompleteError: the database failed.
    """
    require_writers(form for form, _ in sinks)
    _, skills, rubric, days, until, filters = selection
    since = None if days is None else (until or datetime.now(UTC)) - timedelta(days=days)
    rows = unscored = 0
    with existing_store(selection.store, session) as (store, shown), ExitStack() as stack:
        require_skills(store, shown, skills)
        writes = [stack.enter_context(WRITERS[form](sink)) for form, sink in sinks]
        for part in store.parts(rubric, skills=skills, since=since, until=until, filters=filters):
            try:
                columns = _values(part)
                for write in writes:
                    write(columns, len(part))
            except (ValueError, TypeError) as error:  # SQLite accepts anything in any column
                why = f"contains a value that skillgate did not write: {printable(str(error))[:200]}"
                raise IncompleteError(f"the store {shown} {why}") from None
            rows += len(part)
            unscored += sum(not record.scores for record in part)
    return Exported(shown, rows, unscored)


def require_writers(forms: typing.Iterable[str]) -> None:
    """Raise UsageError if a package for one of the formats is missing."""
    if "parquet" in forms and find_spec("pyarrow") is None:
        raise UsageError("Parquet needs pyarrow, which is not installed: pip install 'skillgate-action[store,parquet]'")


def _values(part: Sequence[Record]) -> list[Values]:
    """Return the values of each column."""
    rows = zip(*map(_row, part), strict=True)
    return [_plain(values, column.kind) for values, column in zip(rows, COLUMNS, strict=True)]


def _row(record: Record) -> tuple[Any, ...]:
    imported_at = datetime.fromisoformat(record.imported_at).replace(tzinfo=UTC)
    return (*record.invocation, record.origin, imported_at, *(record.scores[0] if record.scores else _NO_SCORE))


def _plain(values: Values, kind: type) -> Values:
    """Return values of a column without enumerations and mappings."""
    if kind is not str or values.count(None) == len(values):
        return values
    return [_text(value) for value in values]


def _text(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    return json.dumps(value, separators=(",", ":")) if isinstance(value, Mapping) else value


# Formats


@contextmanager
def _csv(sink: Sink) -> Iterator[Write]:
    sink.write(csv.text([[column.name for column in COLUMNS]]).encode())

    def write(columns: Sequence[Values], _rows: int) -> None:
        texts = [_cells(values, column.kind) for values, column in zip(columns, COLUMNS, strict=True)]
        sink.write(csv.text(zip(*texts, strict=True)).encode())

    yield write


def _cells(values: Values, kind: type) -> Values:
    if kind is datetime:
        return [value and f"{value:%Y-%m-%dT%H:%M:%SZ}" for value in values]
    if kind is bool:
        words = {True: "true", False: "false", None: None}
        return [words[value] for value in values]
    return values


_GROUP = 65_536  # rows of a group, which a reader skips or reads at once


@contextmanager
def _parquet(sink: Sink) -> Iterator[Write]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    time = pa.timestamp("ms", tz="UTC")  # the format knows no seconds
    kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string(), datetime: time}
    schema = pa.schema([pa.field(column.name, kinds[column.kind], column.nullable) for column in COLUMNS])
    waiting: list[Any] = []

    def flush() -> None:
        writer.write_table(pa.Table.from_batches(waiting, schema))
        waiting.clear()

    def write(columns: Sequence[Values], rows: int) -> None:
        arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
        waiting.append(pa.record_batch(arrays, schema=schema))
        if sum(batch.num_rows for batch in waiting) + rows > _GROUP:
            flush()

    with ParquetWriter(sink, schema, compression="zstd") as writer:
        yield write
        flush()


WRITERS = {"csv": _csv, "parquet": _parquet}
"""By format: yields what writes its parts."""
