"""How a JSON value of each kind is read, and the JSON Schema of it: the half of the codec that encoding does without.

A shape is made once for a type and reads any number of values; what is wrong with one is noted with its path, and
reading goes on. The shapes of dataclasses, which are made from annotations, stand in :mod:`skillgate.model.record`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from skillgate.errors import CodecError
from skillgate.model.fields import MAX_PROBLEMS, Json
from skillgate.model.marks import Range

Where: TypeAlias = "str | tuple[Any, str | int]"  # a path, or a parent and one step: text is made for problems only


class Reading:
    """The problems of one document so far, in document order; ``strict`` refuses keys that no field has."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.problems: list[str] = []

    def problem(self, where: Where, expected: str, found: str) -> None:
        """Note a problem; the twentieth is the last.

        Raises:
            CodecError: with all of them, when there are enough.
        """
        self.problems.append(line(where, expected, found))
        if len(self.problems) == MAX_PROBLEMS:
            self.problems.append(f"these are the first {MAX_PROBLEMS} problems; there may be more")
            self.finish()

    def finish(self) -> None:
        """End the reading.

        Raises:
            CodecError: with the problems, a line each, when there are any.
        """
        if self.problems:
            raise CodecError("\n".join(self.problems))


def line(where: Where, expected: str, found: str) -> str:
    """Say of one place of a document what should stand there and what does."""
    return f"{_path(where) or 'the document'}: expected {expected}, found {found}"


def _path(where: Where) -> str:
    if isinstance(where, str):
        return where
    parent, step = _path(where[0]), where[1]
    if isinstance(step, int):
        return f"{parent}[{step}]"
    if not step.replace("-", "_").isidentifier():
        return f"{parent}[{shown(step)}]"
    return f"{parent}.{step}" if parent else step


def shown(data: Json) -> str:
    """Show a JSON value in a message: short ones as they are, containers by their kind."""
    if isinstance(data, str):
        return f'"{data}"' if len(data) <= 60 else f'"{data[:57]}…"'
    if data is None or isinstance(data, bool):
        return {None: "null", True: "true", False: "false"}[data]
    return str(data) if isinstance(data, int | float) else WORDS.get(type(data), type(data).__name__)


WORDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    type(None): "null",
}
_SCHEMA_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class Shape:
    """How one field type is read, and its JSON Schema. This one is ``Any``; each other kind of type is a subclass.

    Attributes:
        kinds: the Python types of the JSON values that may be read; the members of a union are told apart by them.
        expected: the words of a message.
        fragment: the JSON Schema, dataclasses by reference.
        records: the dataclasses referred to.
    """

    kinds: frozenset[type] = frozenset(WORDS)
    expected = "any value"
    fragment: dict[str, Json] = {}  # noqa: RUF012 - no shape changes its fragment
    records: tuple[type, ...] = ()

    def read(self, data: Json, where: Where, reading: Reading) -> Json:
        """Read a value, or note what is wrong with it; what comes back after a problem is never used."""
        if type(data) not in self.kinds:
            return reading.problem(where, self.expected, shown(data))
        return self.take(data, where, reading)

    def take(self, data: Json, where: Where, reading: Reading) -> Json:  # noqa: ARG002 - the others use them
        """Read a value of one of the kinds."""
        return data


class Scalar(Shape):
    """One JSON scalar, perhaps converted; a converter refuses with ValueError or OverflowError."""

    def __init__(self, kind: type, convert: Callable[[Json], object], *, expected: str = "", form: str = "") -> None:
        self.kinds = frozenset({float, int} if kind is float else {kind})
        self.convert = convert
        self.expected = expected or WORDS[kind]
        self.fragment = {"type": _SCHEMA_TYPES[kind]} | ({"format": form} if form else {})

    def take(self, data: Json, where: Where, reading: Reading) -> Json:
        """Convert it."""
        try:
            return self.convert(data)
        except (ValueError, OverflowError):
            return reading.problem(where, self.expected, shown(data))


class Ranged(Shape):
    """A number, or a union with one, within a range."""

    def __init__(self, inner: Shape, interval: Range) -> None:
        self.inner, self.range, self.kinds, self.records = inner, interval, inner.kinds, inner.records
        self.expected = f"{inner.expected} of {interval}"
        ends = {"minimum": interval.minimum, "maximum": interval.maximum}
        self.fragment = inner.fragment | {key: end for key, end in ends.items() if end is not None}

    def take(self, data: Json, where: Where, reading: Reading) -> Json:
        """Take a number of the range, and what is no number as the union does."""
        if type(data) in (int, float) and data not in self.range:
            return reading.problem(where, self.expected, shown(data))
        return self.inner.take(data, where, reading)


class Formed(Shape):
    """A value whose schema says more than the codec checks."""

    def __init__(self, inner: Shape, keywords: dict[str, Json]) -> None:
        self.inner, self.kinds, self.records, self.expected = inner, inner.kinds, inner.records, inner.expected
        self.fragment = inner.fragment | keywords

    def take(self, data: Json, where: Where, reading: Reading) -> Json:
        """Take what the value's own shape takes."""
        return self.inner.take(data, where, reading)


class Choice(Shape):
    """An enum by its values, or the values of a Literal."""

    def __init__(self, members: Sequence[tuple[Json, object]]) -> None:
        self.members = {(type(value), value): member for value, member in members}  # 1 is not True
        self.kinds = frozenset(type(value) for value, _ in members)
        if not self.kinds <= _SCHEMA_TYPES.keys():
            raise TypeError(f"a choice among values that are no JSON scalars: {members}")
        self.expected = f"one of {', '.join(shown(value) for value, _ in members)}"
        self.fragment = {"enum": [value for value, _ in members]}

    def take(self, data: Json, where: Where, reading: Reading) -> Json:
        """Give the member that the value stands for."""
        if (key := (type(data), data)) in self.members:
            return self.members[key]
        return reading.problem(where, self.expected, shown(data))


class Array(Shape):
    """A tuple, list or frozenset of one type of item."""

    kinds = frozenset({list})
    expected = WORDS[list]

    def __init__(self, build: Callable[[list[Json]], Any], item: Shape) -> None:
        self.build, self.item, self.records = build, item, item.records
        unique = {"uniqueItems": True} if build is frozenset else {}
        self.fragment = {"type": "array", "items": item.fragment, **unique}

    def take(self, data: Json, where: Where, reading: Reading) -> Json:
        """Read the items and build the container; a set takes no repeats."""
        read, before = self.item.read, len(reading.problems)
        values = [read(value, (where, index), reading) for index, value in enumerate(data)]
        if len(reading.problems) > before:
            return None
        built = self.build(values)
        if len(built) < len(values):
            reading.problem(where, "a list without repeats", "one with some")
        return built


class Map(Shape):
    """A mapping from strings, or from the values of an enum."""

    kinds = frozenset({dict})
    expected = WORDS[dict]

    def __init__(self, keys: Shape, item: Shape) -> None:
        if keys.kinds != {str}:
            raise TypeError(f"the keys of a JSON object are strings, not {keys.expected}")
        self.keys, self.item, self.records = keys, item, item.records
        names = {"propertyNames": keys.fragment} if isinstance(keys, Choice | Formed) else {}
        self.fragment = {"type": "object", "additionalProperties": item.fragment, **names}

    def take(self, data: Json, where: Where, reading: Reading) -> Json:
        """Read the keys and the values, in their order."""
        pairs = [(key, value, (where, str(key))) for key, value in data.items()]
        read_key, read = self.keys.read, self.item.read
        return {read_key(key, here, reading): read(value, here, reading) for key, value, here in pairs}


class Either(Shape):
    """A union told apart by the kind of the JSON value: null, true or false, integer, number, string, list, object."""

    def __init__(self, members: Sequence[Shape]) -> None:
        self.by_kind: dict[type, Shape] = {}
        integer = any(member is scalars()[int] for member in members)
        for member in members:
            for kind in member.kinds - ({int} if integer and float in member.kinds else set()):
                if kind in self.by_kind:
                    raise TypeError(f"a union whose members cannot be told apart: two of them take {WORDS[kind]}")
                self.by_kind[kind] = member
        self.kinds = frozenset(self.by_kind)
        self.expected = " or ".join(member.expected for member in members)
        self.records = tuple(record for member in members for record in member.records)
        self.fragment = _any_of([member.fragment for member in members])

    def take(self, data: Json, where: Where, reading: Reading) -> Json:
        """Leave it to the member that takes its kind."""
        return self.by_kind[type(data)].take(data, where, reading)


def _any_of(parts: Sequence[dict[str, Json]]) -> dict[str, Json]:
    """Write a union with a list of types where only they differ, or where the other one is null."""
    rest = [part for part in parts if part != {"type": "null"}]
    bare = len(rest) == 1 or all(part.keys() == {"type"} for part in rest)
    if bare and all(isinstance(part.get("type"), str) for part in parts):
        return rest[0] | {"type": [part["type"] for part in parts]}
    return {"anyOf": list(parts)}


def _unchanged(data: Json) -> Json:
    return data


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError(number)
    return float(number)


def _aware(text: str) -> object:
    from datetime import datetime

    time = datetime.fromisoformat(text)
    if time.utcoffset() is None:
        raise ValueError(text)
    return time


@functools.cache
def scalars() -> dict[object, Shape]:
    """Give the shapes of the types that need no further word: scalars, paths, times, and ``Any``."""
    from datetime import datetime  # not at the top: an unencodable value needs the words above, and neither of these
    from pathlib import PurePosixPath

    plain: dict[object, Shape] = {kind: Scalar(kind, _unchanged) for kind in (str, bool, int, type(None))}
    return plain | {
        Any: Shape(),
        float: Scalar(float, _finite),
        PurePosixPath: Scalar(str, PurePosixPath),
        datetime: Scalar(str, _aware, expected="an ISO 8601 time with its zone", form="date-time"),
    }
