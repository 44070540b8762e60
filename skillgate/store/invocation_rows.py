"""Convert recorded invocations to and from the columns of their tables, a few thousand at a time.

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
SCORE_COLUMNS = ("rubric_version", *SCORES, "coverage", "baseline_category")
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
    """Return a time as the tables have it, UTC: ``YYYY-MM-DD HH:MM:SS``; what is below a second is left off."""
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
            found[name] = _column(name, values)
    found["digest"] = [one.digest for one in batch]
    found["imported_at"] = repeat(imported_at)
    if origin is not None:
        found["origin"] = repeat(origin)
    if any(added):
        found["added"] = added
    return found


def _column(name: str, values: tuple[Any, ...]) -> Iterable[Any]:
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
        if "\0" in "".join(filter(None, values)):  # PostgreSQL refuses it, and SQLite's own functions end there
            raise UsageError("an invocation cannot be stored: a text of it holds a NUL")
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


def of_scores(keys: Iterable[int], scores: Iterable[InvocationScore], *, scored_at: str) -> dict[str, Iterable[Any]]:
    """Return the columns of scores of invocations with these keys; raise UsageError where a number is none."""
    known = {
        name: _numbers(name, values)
        for name, values in zip(SCORE_COLUMNS, zip(*scores, strict=True), strict=True)
        if values.count(None) < len(values)
    }
    return {"invocation_id": keys, **known, "scored_at": repeat(scored_at)}


def invocations(rows: Sequence[tuple[Any, ...]]) -> Iterator[Invocation]:
    """Return the invocations of rows with the columns :data:`FIELDS`.

    Raises:
        ForeignError: a value is not of its column's kind, or out of its range.
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


def observations(rows: Sequence[tuple[Any, ...]]) -> Iterator[Observation]:
    """Return the observations of rows with their columns; raise as :func:`invocations`."""
    skills, *columns = zip(*rows, strict=True)
    _check("skill_name", skills, str, 0, nullable=False)
    if max(map(len, skills)) > LONGEST:
        raise ForeignError(f"skill_name is {max(skills, key=len)[:50]!r}…")
    for (name, (kind, most)), values in zip(_OBSERVED.items(), columns, strict=True):
        _check(name, values, kind, most, nullable=name not in ("timestamp", "coverage"))
    return map(Observation._make, rows)


def _check(name: str, values: tuple[Any, ...], kind: type, most: float, *, nullable: bool) -> None:
    """Raise ForeignError where a value is not of a kind and in a range; quick where all are."""
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
    """Read the column ``extra``; raise ForeignError where it is no JSON object."""
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


# Fields that ``log add --update`` set by hand: stored in the column ``added`` as a JSON object, and put in place of
# whatever an import says, so that an invocation that is read from its recording once more gets them again.

_FIXED = frozenset(("invocation_id", "skill_name", "source"))


def added_of(value: object) -> dict[str, Any]:
    """Read the column ``added``; raise ForeignError where it is no JSON object of fields."""
    if value is None:
        return {}
    try:
        found = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not found.keys() <= set(FIELDS) - _FIXED:
        raise ForeignError(f"added is {str(value)[:50]!r}")
    return {name: _added_field(name, inner) for name, inner in found.items()}


def _added_field(name: str, value: Any) -> Any:  # noqa: ANN401 - whatever is there
    if name == "extra" and isinstance(value, dict):
        return value
    if name == "extra" or isinstance(value, dict | list):
        raise ForeignError(f"{name} is {str(value)[:50]!r}")
    kind = INVOCATIONS.c[name].type.python_type
    (found,) = _values(name, (float(value) if kind is float and type(value) is int else value,))
    return found


def added_text(added: dict[str, Any]) -> str | None:
    """Write the column ``added``; raise UsageError where a value is not JSON."""
    plain = {name: value.value if isinstance(value, Enum) else value for name, value in added.items()}
    if "timestamp" in plain:
        plain["timestamp"] = second(plain["timestamp"])
    return _json(plain) if added else None


def combined(added: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Return fields that were added before with more of them; the later value of a field wins."""
    found = {**added, **more}
    if "extra" in added and "extra" in more:
        found["extra"] = {**added["extra"], **more["extra"]}
    return found


def merged(invocation: Invocation, added: dict[str, Any]) -> Invocation:
    """Return an invocation with the added fields in place of its own."""
    if not added:
        return invocation
    fields = dict(added)
    if invocation.extra and "extra" in fields:
        fields["extra"] = {**invocation.extra, **fields["extra"]}
    found = invocation._replace(**fields)
    if found.follow_up_open is not None and found.follow_up_count is not None:
        # A recording may count fewer follow-ups than a user knows to be open.
        found = found._replace(follow_up_count=max(found.follow_up_count, found.follow_up_open))
    return found
