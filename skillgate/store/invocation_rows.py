"""Between recorded invocations and the columns of their tables, a few thousand at a time.

A batch is handled by its columns: a column in which nothing is known is not written at all, since a driver takes longer
over a None than over a number, and most of an invocation is None. What is read is held to the kinds and ranges of the
tables' columns.
"""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum
from itertools import repeat
from operator import ne
from typing import TYPE_CHECKING, Any

from skillgate.errors import UsageError
from skillgate.model.invocation import Accuracy, Ending, Invocation, Observation
from skillgate.store.schema import COUNT_MOST, FIGURE_MOST, INVOCATIONS, LONGEST, POINTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.model.invocation import InvocationScore, Scored

    Columns = Mapping[str, Iterable[Any]]

FIELDS = Invocation._fields
SCORES = ("completion_score", "efficiency_score", "quality_score_component", "satisfaction_score", "quality_score")
_SECOND = len("YYYY-MM-DD HH:MM:SS")
_ENUMS: dict[str, type[Enum]] = {"ending": Ending, "accuracy": Accuracy}
_MOST = {**dict.fromkeys(FIELDS, float(FIGURE_MOST)), "user_edit_ratio": 1}
_OBSERVED: dict[str, tuple[type, float]] = {  # the kinds of an observation's values after its skill's name; their most
    "timestamp": (int, COUNT_MOST),
    "skill_category": (str, 0),
    "error_count": (int, COUNT_MOST),
    "ending": (str, 0),
    **{name: (float, POINTS[name]) for name in ("quality_score", *SCORES[:4], "coverage")},
}


class ForeignError(ValueError):
    """A value that we did not write."""


def second(at: datetime) -> str:
    """Give a time as the tables have it, UTC: ``YYYY-MM-DD HH:MM:SS``; what is below a second is left off."""
    return at.astimezone(UTC).isoformat(" ", "seconds")[:19]


def of_invocations(
    batch: Sequence[Scored], *, imported_at: str, origin: str | None, added: Sequence[str | None] = ()
) -> dict[str, Iterable[Any]]:
    """Return the columns of invocations without those in which all is None.

    Args:
        batch: the invocations.
        imported_at: the time now.
        origin: where all of them come from.
        added: the column ``added`` of each; empty where it is NULL for all.

    Raises:
        UsageError: a text holds a NUL, or a number is none.
    """
    found: dict[str, Iterable[Any]] = {}
    for name, values in zip(FIELDS, zip(*(one.invocation for one in batch), strict=True), strict=True):
        if values.count(None) < len(values):
            found[name] = _told(name, values)
    found["digest"] = [one.digest for one in batch]
    found["imported_at"] = repeat(imported_at)
    if origin is not None:
        found["origin"] = repeat(origin)
    if any(added):
        found["added"] = added
    return found


def _told(name: str, values: tuple[Any, ...]) -> Iterable[Any]:
    if name == "timestamp":
        return [second(value) for value in values]
    if name == "extra":
        return [None if value is None else _json(value) for value in values]
    if name in _ENUMS:
        return [value and value.value for value in values]
    kinds = set(map(type, values))
    if bool in kinds:  # drivers take longer over a bool, too
        return [value if value is None else int(value) for value in values]
    if str in kinds:
        if not kinds <= {str, type(None)}:
            raise UsageError(f"an invocation cannot be stored: {name} is a text in one and none in another")
        _plain("".join(filter(None, values)))
    return _numbers(name, values) if float in kinds else values


def _numbers(name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if any(map(ne, values, values)):  # SQLite would keep it as NULL, which says something else
        raise UsageError(f"an invocation cannot be stored: {name} is NaN")
    return values


def _json(extra: Mapping[str, object]) -> str:
    try:
        return json.dumps(dict(extra), allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"an invocation's extra values cannot be stored: {error}") from None


def to_json(fields: Mapping[str, Any]) -> str:
    """Write fields as a JSON object.

    Raises:
        UsageError: a value is not JSON.
    """
    told = {name: value.value if isinstance(value, Enum) else value for name, value in fields.items()}
    if "timestamp" in told:
        told["timestamp"] = second(told["timestamp"])
    return _json(told)


def from_json(name: str, value: Any) -> Any:  # noqa: ANN401 - whatever is there
    """Read a field of such an object.

    Raises:
        ForeignError: it is not of its column's kind.
    """
    if name == "extra":
        if isinstance(value, dict):
            return value
        raise ForeignError(f"extra is {str(value)[:50]!r}")
    if isinstance(value, dict | list):
        raise ForeignError(f"{name} is {str(value)[:50]!r}")
    kind = INVOCATIONS.c[name].type.python_type
    (found,) = _found(name, (float(value) if kind is float and type(value) is int else value,))
    return found


def _plain(text: str) -> str:
    if "\0" in text:  # PostgreSQL refuses it, and SQLite's own functions end there
        raise UsageError("an invocation cannot be stored: a text of it holds a NUL")
    return text


def of_scores(keys: Iterable[int], scores: Iterable[InvocationScore], *, scored_at: str) -> dict[str, Iterable[Any]]:
    """Give the columns of scores, which belong to invocations with these keys.

    Raises:
        UsageError: a number is none.
    """
    columns = list(zip(*scores, strict=True))
    names = ("rubric_version", *SCORES, "coverage", "baseline_category")
    known = {name: values for name, values in zip(names, columns, strict=True) if values.count(None) < len(values)}
    kept = {name: _numbers(name, values) for name, values in known.items()}
    return {"invocation_id": keys, **kept, "scored_at": repeat(scored_at)}


def invocations(rows: Sequence[tuple[Any, ...]]) -> Iterator[Invocation]:
    """Make invocations of rows with the columns :data:`FIELDS`.

    Raises:
        ForeignError: a value is not of its column's kind, or out of its range.
    """
    if not rows:
        return iter(())
    columns = [_found(name, values) for name, values in zip(FIELDS, zip(*rows, strict=True), strict=True)]
    return map(Invocation._make, zip(*columns, strict=True))


def _found(name: str, values: tuple[Any, ...]) -> Iterable[Any]:
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
    _hold(name, values, kind, _MOST[name], nullable=bool(column.nullable))
    return values


def observations(rows: Sequence[tuple[Any, ...]]) -> Iterator[Observation]:
    """Make observations of rows with their columns.

    Raises:
        ForeignError: as above.
    """
    skills, *columns = zip(*rows, strict=True)
    _hold("skill_name", skills, str, 0, nullable=False)
    if max(map(len, skills)) > LONGEST:
        raise ForeignError(f"skill_name is {max(skills, key=len)[:50]!r}…")
    for (name, (kind, most)), values in zip(_OBSERVED.items(), columns, strict=True):
        _hold(name, values, kind, most, nullable=name not in ("timestamp", "coverage"))
    return map(Observation._make, rows)


def _hold(name: str, values: tuple[Any, ...], kind: type, most: float, *, nullable: bool) -> None:
    """Hold values to a kind and a range, quickly where all is well."""
    kinds = set(map(type, values))
    if kinds <= ({kind, type(None)} if nullable else {kind}):
        if kind is str or name == "timestamp":
            return
        there = values if type(None) not in kinds else [value for value in values if value is not None]
        if not there or (min(there) >= 0 and max(there) <= most):
            return

    def fits(value: Any) -> bool:  # noqa: ANN401 - whatever is there
        if value is None:
            return nullable
        if type(value) is not kind:
            return False
        return kind is str or name == "timestamp" or 0 <= float(value) <= most  # type: ignore[arg-type]

    raise _strange(name, values, fits)


def _strange(name: str, values: Iterable[Any], fits: Any) -> ForeignError:  # noqa: ANN401 - a test of a value
    value = next((value for value in values if not fits(value)), None)
    return ForeignError(f"{name} is {str(value)[:50]!r}")


def _moment(value: Any) -> datetime:  # noqa: ANN401 - whatever is there
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, str) and len(value) == _SECOND and value[10] == " ":
        with suppress(ValueError):
            return datetime.fromisoformat(value).replace(tzinfo=UTC)
    raise ForeignError(f"timestamp is {str(value)[:50]!r}")


def extra_of(value: Any) -> dict[str, object] | None:  # noqa: ANN401 - whatever is there
    """Read the column ``extra``.

    Raises:
        ForeignError: it is no JSON object.
    """
    if value is None:
        return None
    try:
        found = json.loads(value)
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ForeignError(f"extra is {str(value)[:50]!r}")
    return found


def _member(kind: type[Enum], name: str, value: Any) -> Enum:  # noqa: ANN401 - whatever is there
    try:
        return kind(value)
    except ValueError:
        raise ForeignError(f"{name} is {str(value)[:50]!r}") from None
