"""How JSON is read, and its JSON Schema: the half of the codec that encoding does without.

A shape is made once for a type and reads any number of values; what is wrong with one is noted with its path, and
reading continues. The doors are ``decode`` and ``schema`` of :mod:`skillgate.model.codec`.
"""

from __future__ import annotations

import functools
import math
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, TypeAlias

from skillgate.errors import CodecError
from skillgate.model.score import MAX_PROBLEMS, Field, Form, Json, Range, is_record, json_keys, tag_of

Where: TypeAlias = "str | tuple[Any, str | int]"  # a path, or a parent and one step: text is made for problems only


class Reading:
    """The problems of one document so far, in document order; ``strict`` refuses keys that no field has."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.problems: list[str] = []

    def problem(self, where: Where, expected: str, found: str) -> None:
        """Note a problem; the twentieth is the last. Raises CodecError: with all of them, when there are enough."""
        self.problems.append(line(where, expected, found))
        if len(self.problems) == MAX_PROBLEMS:
            self.problems.append(f"only the first {MAX_PROBLEMS} problems are shown")
            self.finish()

    def finish(self) -> None:
        """End the reading. Raises CodecError: with the problems, a line each, when there are any."""
        if self.problems:
            raise CodecError("\n".join(self.problems))


def line(where: Where, expected: str, found: str) -> str:
    """Say what is expected at one place of a document, and what is there."""
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
    """How one field type is read, and its JSON Schema. This one is ``Any``; each other kind of type is a subclass."""

    kinds: frozenset[type] = frozenset(WORDS)  # the Python types of the JSON values that may be read
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
        """Return the member that the value stands for."""
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
            reading.problem(where, "a list without repeats", "a list with repeats")
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
    """A union distinguished by the kind of JSON value: null, true or false, integer, number, string, list, object."""

    def __init__(self, members: Sequence[Shape]) -> None:
        self.by_kind: dict[type, Shape] = {}
        integer = any(member is scalars()[int] for member in members)
        for member in members:
            for kind in member.kinds - ({int} if integer and float in member.kinds else set()):
                if kind in self.by_kind:
                    raise TypeError(f"the members of a union cannot be distinguished: two of them take {WORDS[kind]}")
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
    """Return the shapes of the types that need no further word: scalars, paths, times, and ``Any``."""
    from datetime import datetime  # not at the top: an unencodable value needs the words above, and neither of these
    from pathlib import PurePosixPath

    plain: dict[object, Shape] = {kind: Scalar(kind, _unchanged) for kind in (str, bool, int, type(None))}
    return plain | {
        Any: Shape(),
        float: Scalar(float, _finite),
        PurePosixPath: Scalar(str, PurePosixPath),
        datetime: Scalar(str, _aware, expected="an ISO 8601 time with a time zone", form="date-time"),
    }


_ABSENT = "nothing (the key is required)"


@functools.cache
def _record_fields(cls: type) -> tuple[tuple[Field, Shape], ...]:
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{cls.__module__}.{cls.__qualname__} cannot be decoded or published: its field type {error.name!r} is not "
            "there at run time; import it at the top of the module, outside `if TYPE_CHECKING`"
        ) from error
    shapes = ((field, shape_of(hints[field.name])) for field in json_keys(cls))
    return tuple((_may_be_missing(field, shape), shape) for field, shape in shapes)


def _may_be_missing(field: Field, shape: Shape) -> Field:
    omit_none = field.omit_none and type(None) in shape.kinds
    return field._replace(required=field.required and not omit_none, omit_none=omit_none)


class Record(Shape):
    """A dataclass. Its fields are looked at when one is read, so that it may contain itself."""

    kinds = frozenset({dict})
    expected = WORDS[dict]

    def __init__(self, cls: type) -> None:
        self.cls, self.records = cls, (cls,)
        self.tag = tag_of(cls)
        self.fragment = {"$ref": f"#/$defs/{cls.__name__}"}

    def take(self, data: Json, where: Where, reading: Reading) -> Json:
        """Read the fields, and make the dataclass of them when all are as they should be."""
        values, before, fields = {}, len(reading.problems), _record_fields(self.cls)
        if self.tag is not None and data.get(self.tag[0]) != self.tag[1]:
            _wrong_tag(data, where, self.tag[0], (self.tag[1],), reading)
        for field, shape in fields:
            if field.key in data:
                values[field.name] = shape.read(data[field.key], (where, field.key), reading)
            elif field.required:
                reading.problem((where, field.key), shape.expected, _ABSENT)
            elif field.omit_none:
                values[field.name] = None
        if reading.strict or getattr(self.cls, "CLOSED", False):
            known = [field.key for field, _ in fields] + ([self.tag[0]] if self.tag else [])
            free = getattr(self.cls, "FREE", None)
            unknown = [key for key in data if key not in known and not (free and re.search(free, key))]
            _refuse_unknown(unknown, where, known, reading)
        if len(reading.problems) > before:
            return None
        return self.cls(
            **{field.name: values[field.name] for field, _ in fields if field.init and field.name in values}
        )


def _wrong_tag(data: dict[str, Json], where: Where, key: str, tags: Sequence[str], reading: Reading) -> None:
    choices = ("one of " if len(tags) > 1 else "") + ", ".join(map(shown, tags))
    reading.problem((where, key), choices, shown(data[key]) if key in data else _ABSENT)


def _refuse_unknown(unknown: Sequence[str], where: Where, known: Sequence[str], reading: Reading) -> None:
    for key in unknown:
        import difflib  # only here: it costs more than reading a whole document

        near = difflib.get_close_matches(str(key), known, n=1)
        expected = f'a known key (did you mean "{near[0]}"?)' if near else f"one of the keys {', '.join(known)}"
        reading.problem((where, str(key)), expected, "an unknown key")


def definitions(shape: Shape) -> dict[str, dict[str, Json]]:
    """Write the ``$defs`` of a schema: every dataclass that the shape refers to, and theirs.

    Raises:
        TypeError: for two dataclasses of one name.
    """
    defs: dict[str, dict[str, Json]] = {}
    waiting, seen = list(shape.records), set(shape.records)
    for record in waiting:  # grows while it is walked
        if record.__name__ in defs:
            raise TypeError(f"{record.__module__}.{record.__qualname__}: another dataclass of the schema has its name")
        defs[record.__name__] = _definition(record)
        found = dict.fromkeys(inner for _, shape in _record_fields(record) for inner in shape.records)
        waiting += [inner for inner in found if inner not in seen]
        seen.update(found)
    return defs


def _definition(cls: type) -> dict[str, Json]:
    """Write the JSON Schema of one dataclass, as it is under ``$defs``."""
    fields = _record_fields(cls)
    tag = tag_of(cls)
    properties: dict[str, Json] = {tag[0]: {"const": tag[1]}} if tag else {}
    required = [*properties, *(field.key for field, _ in fields if field.required)]
    for field, shape in fields:
        properties[field.key] = shape.fragment | ({"description": field.doc} if field.doc else {})
    doc = cls.__doc__ or ""
    if doc.startswith(f"{cls.__name__}("):  # the signature that dataclass writes where there is no docstring
        doc = ""
    text = " ".join(doc.strip().partition("\n\n")[0].split())
    free = getattr(cls, "FREE", None)
    return ({"description": text} if text else {}) | {
        "type": "object",
        "properties": properties,
        "required": required,
        **({"patternProperties": {free: {}}} if free else {}),
        "additionalProperties": not getattr(cls, "CLOSED", False),
        **getattr(cls, "RULES", {}),
    }


class Tagged(Shape):
    """A union of dataclasses that one key distinguishes."""

    kinds = frozenset({dict})
    expected = WORDS[dict]

    def __init__(self, members: Sequence[Record]) -> None:
        tags = [member.tag or ("", "") for member in members]
        self.key = tags[0][0]
        self.members = {tag: member for (_, tag), member in zip(tags, members, strict=True)}
        self.records = tuple(member.cls for member in members)
        self.fragment = {"oneOf": [member.fragment for member in members]}
        if {key for key, _ in tags} != {self.key} or not self.key or len(self.members) < len(members):
            names = " | ".join(member.cls.__name__ for member in members)
            raise TypeError(f"{names}: each needs a TAG of the same key and its own value")

    def take(self, data: Json, where: Where, reading: Reading) -> Json:
        """Leave it to the member whose tag it carries."""
        tag = data.get(self.key)
        if isinstance(tag, str) and tag in self.members:
            return self.members[tag].take(data, where, reading)
        return _wrong_tag(data, where, self.key, tuple(self.members), reading)


def shape_of(hint: object) -> Shape:
    """Find the shape of an evaluated annotation.

    Raises:
        TypeError: for a type that the codec does not know, or a union whose members cannot be distinguished.
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is None:
        return _named_shape(hint)
    if origin is Literal:
        return Choice([(value, value) for value in args])
    if origin is typing.Annotated:
        return functools.reduce(_noted, args[1:], shape_of(args[0]))
    if origin in (typing.Union, types.UnionType):
        return _union(args)
    if origin in (Mapping, dict):
        return Map(shape_of(args[0]), shape_of(args[1]))
    if origin in (list, frozenset) or (origin is tuple and args[1:] == (...,)):
        return Array(origin, shape_of(args[0]))
    raise TypeError(f"the codec knows no JSON form of the type {hint!r}")


def _noted(shape: Shape, note: object) -> Shape:
    if isinstance(note, Range):
        return Ranged(shape, note)
    return Formed(shape, note.keywords) if isinstance(note, Form) else shape


def _named_shape(hint: object) -> Shape:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Choice([(member.value, member) for member in hint])
    if isinstance(hint, type) and is_record(hint):
        return Record(hint)
    if hint in scalars():
        return scalars()[hint]
    raise TypeError(f"the codec knows no JSON form of the type {hint!r}")


def _union(hints: Sequence[object]) -> Shape:
    if Any in hints:
        return shape_of(Any)
    shapes = [shape_of(hint) for hint in hints]
    records = [shape for shape in shapes if isinstance(shape, Record)]
    if len(records) > 1:
        shapes = [Tagged(records), *(shape for shape in shapes if shape not in records)]
    return shapes[0] if len(shapes) == 1 else Either(shapes)
