"""The one JSON codec: frozen dataclasses and named tuples to JSON-ready values and back, and their JSON Schema.

A named tuple is an object too, not an array, and gets its tag by :func:`tagged`. A dataclass steers its JSON form with
class variables:

- ``TAG = ("name", "static")``: written first, distinguishes the members of a union.
- ``CLOSED = True``: no further keys.
- ``FREE = "^x-"``: further keys that match are ignored, even then.
- ``RULES``: what its schema says besides its fields, if a reader checks more.

Field metadata steers it, too: ``json`` (another key), ``omit_none`` (left out when None) and ``doc`` (the schema's
description).

Encoding looks at values only. Decoding and schemas, in :mod:`skillgate.model.shape`, evaluate the annotations. So a
module with decoded dataclasses must import its field types at run time. A run that scores never loads them.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from skillgate.errors import CodecError
from skillgate.model.score import Json, is_record, json_keys, tag_of

if TYPE_CHECKING:
    from types import UnionType


T = TypeVar("T")


def encode(value: object) -> Json:
    """Turn a value into what ``json.dumps`` takes: dataclasses in field order, sets sorted, times in UTC with ``Z``.

    Raises:
        CodecError: for a value without a JSON form (NaN, a naive time, bytes, a key that is no string), with its path.
    """
    try:
        return value if type(value) in _PLAIN else _ENCODERS[type(value)](value)
    except _Unencodable as problem:
        raise CodecError(problem.line()) from None


class _Unencodable(Exception):  # noqa: N818 - a signal between the functions below, never seen outside
    """A value without a JSON form; the containers on the way up add their steps, the innermost first."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(expected, found)
        self.expected, self.found = expected, found
        self.steps: list[str | int] = []

    def line(self) -> str:
        from skillgate.model.shape import Where, line  # only here: what is encoded rarely has a problem

        where: Where = ""
        for step in reversed(self.steps):
            where = (where, step)
        return line(where, self.expected, self.found)


_Encoder: TypeAlias = Callable[[Any], Json]
_PLAIN = frozenset({str, int, bool, type(None)})


class _Encoders(dict[type, _Encoder]):
    """The encoder of each type, made when the type is first met."""

    def __missing__(self, cls: type) -> _Encoder:
        encoder = self[cls] = _encoder(cls)
        return encoder


_ENCODERS = _Encoders()


def _encoder(cls: type) -> _Encoder:
    if is_record(cls):
        return _record_encoder(cls)
    if issubclass(cls, Enum):
        return lambda member: member._value_  # without the descriptor that makes ``value`` slow
    for bases, encoder in _FAMILIES:
        if issubclass(cls, bases):
            return encoder
    return _foreign_encoder(cls)


def _foreign_encoder(cls: type) -> _Encoder:
    from datetime import UTC, datetime  # both already loaded by whoever made such a value
    from pathlib import PurePosixPath

    def encode_time(value: datetime) -> str:
        if value.utcoffset() is None:
            raise _Unencodable("a time with a time zone", f"{value.isoformat()} without one")
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")

    def refuse(value: object) -> Json:
        raise _Unencodable("a value with a JSON form", type(value).__name__)

    if issubclass(cls, PurePosixPath):
        return str
    return encode_time if issubclass(cls, datetime) else refuse


def _record_encoder(cls: type) -> _Encoder:
    plan = tuple((field.name, field.key, field.omit_none) for field in json_keys(cls))
    tag = tag_of(cls)
    head = dict((tag,)) if tag else {}

    def encode_record(value: object) -> Json:
        out, key = head.copy(), ""
        try:
            for name, key, omit_none in plan:
                item = getattr(value, name)
                if type(item) not in _PLAIN:
                    out[key] = _ENCODERS[type(item)](item)
                elif item is not None or not omit_none:
                    out[key] = item
        except _Unencodable as problem:
            problem.steps.append(key)
            raise
        return out

    return encode_record


def _encode_float(value: float) -> Json:
    if not math.isfinite(value):
        raise _Unencodable("a finite number", str(value))
    return float(value)


def _encode_sequence(values: Sequence[object]) -> Json:
    out: list[Json] = []
    try:
        for value in values:
            out.append(value if type(value) in _PLAIN else _ENCODERS[type(value)](value))  # noqa: PERF401
    except _Unencodable as problem:
        problem.steps.append(len(out))
        raise
    return out


def _encode_set(values: frozenset[object]) -> Json:
    out = _encode_sequence(tuple(values))
    try:
        return sorted(out)
    except TypeError:  # dicts and mixed types have no natural order
        return sorted(out, key=repr)


def _encode_key(key: object) -> str:
    if isinstance(key, str | Enum):
        return str(key.value if isinstance(key, Enum) else key)
    raise _Unencodable("an object with string keys", f"the key {key!r}")


def _encode_mapping(values: Mapping[object, object]) -> Json:
    out: dict[str, Json] = {}
    name = ""
    names = [key if type(key) is str else _encode_key(key) for key in values]
    try:
        for name, value in zip(names, values.values(), strict=True):
            out[name] = value if type(value) in _PLAIN else _ENCODERS[type(value)](value)
    except _Unencodable as problem:
        problem.steps.append(name)
        raise
    return out


_FAMILIES: tuple[tuple[type | tuple[type, ...], _Encoder], ...] = (
    (str, str),
    (int, int),
    (float, _encode_float),
    ((tuple, list), _encode_sequence),
    ((frozenset, set), _encode_set),
    (Mapping, _encode_mapping),
)


@typing.overload
def decode(cls: type[T], data: Json, *, path: str = ..., unknown: Literal["ignore", "error"] = ...) -> T: ...
@typing.overload
def decode(cls: UnionType, data: Json, *, path: str = ..., unknown: Literal["ignore", "error"] = ...) -> Json: ...
def decode(cls: object, data: Json, *, path: str = "", unknown: Literal["ignore", "error"] = "ignore") -> object:
    """Read a value of ``cls`` from what ``json.loads`` gave: the inverse of :func:`encode`, strict about types.

    A bool is not an int, an int is taken for a float, and a missing key is a problem unless its field has a default or
    is a nullable ``omit_none``. ``Any`` is handed through as it is.

    Args:
        cls: a dataclass, a union of tagged dataclasses, or any other type that a field may have.
        data: the document.
        path: what the paths in messages begin with, such as a file's name.
        unknown: whether keys that no field has are passed over; a ``CLOSED`` dataclass never passes them over.

    Raises:
        CodecError: naming the path, the expected and the actual value of every problem, at most 20 of them.
        TypeError: for a type that the codec does not know or cannot find at run time.
    """
    from skillgate.model.shape import Reading, shape_of

    reading = Reading(strict=unknown == "error")
    value = shape_of(cls).read(data, path, reading)
    reading.finish()
    return value


def schema(cls: object, *, title: str, schema_id: str) -> dict[str, Json]:
    """Describe a type in JSON Schema, draft 2020-12: it accepts what :func:`decode` accepts, hence all encoded values.

    It accepts a little more: JSON Schema cannot distinguish 1.0 from 1, and checks the form of times only where asked
    to.

    Raises:
        TypeError: for a type that the codec does not know, or two dataclasses of one name.
    """
    from skillgate.model.shape import definitions, shape_of

    shape = shape_of(cls)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": schema_id, "title": title}
    return {**head, **shape.fragment, "$defs": definitions(shape)}
