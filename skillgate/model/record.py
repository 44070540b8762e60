"""From annotations to shapes: how a dataclass is read from JSON, and its JSON Schema.

The half of the codec that encoding does without, with :mod:`skillgate.model.shape`; its doors are ``decode`` and
``schema`` of :mod:`skillgate.model.codec`.
"""

from __future__ import annotations

import functools
import re
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal

from skillgate.model.fields import Field, Json, is_record, json_keys
from skillgate.model.marks import Form, Range, tag_of
from skillgate.model.shape import (
    WORDS,
    Array,
    Choice,
    Either,
    Formed,
    Map,
    Ranged,
    Reading,
    Shape,
    Where,
    scalars,
    shown,
)

_ABSENT = "nothing, though the key is required"


class _Field(typing.NamedTuple):
    """One field of a dataclass, as decoding and the schema need it."""

    name: str
    key: str
    shape: Shape
    required: bool
    omit_none: bool
    init: bool
    doc: str


@functools.cache
def _record_fields(cls: type) -> tuple[_Field, ...]:
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{cls.__module__}.{cls.__qualname__} cannot be decoded or published: its field type {error.name!r} is not "
            "there at run time; import it at the top of the module, outside `if TYPE_CHECKING`"
        ) from error
    return tuple(_field(field, shape_of(hints[field.name])) for field in json_keys(cls))


def _field(field: Field, shape: Shape) -> _Field:
    omit_none = field.omit_none and type(None) in shape.kinds
    required = field.required and not omit_none
    return _Field(field.name, field.key, shape, required, omit_none, field.init, field.doc)


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
        for field in fields:
            if field.key in data:
                values[field.name] = field.shape.read(data[field.key], (where, field.key), reading)
            elif field.required:
                reading.problem((where, field.key), field.shape.expected, _ABSENT)
            elif field.omit_none:
                values[field.name] = None
        if reading.strict or getattr(self.cls, "CLOSED", False):
            known = [field.key for field in fields] + ([self.tag[0]] if self.tag else [])
            free = getattr(self.cls, "FREE", None)
            unknown = [key for key in data if key not in known and not (free and re.search(free, key))]
            _refuse_unknown(unknown, where, known, reading)
        if len(reading.problems) > before:
            return None
        return self.cls(**{field.name: values[field.name] for field in fields if field.init and field.name in values})


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
        found = dict.fromkeys(inner for field in _record_fields(record) for inner in field.shape.records)
        waiting += [inner for inner in found if inner not in seen]
        seen.update(found)
    return defs


def _definition(cls: type) -> dict[str, Json]:
    """Write the JSON Schema of one dataclass, as it stands under ``$defs``."""
    fields = _record_fields(cls)
    tag = tag_of(cls)
    properties: dict[str, Json] = {tag[0]: {"const": tag[1]}} if tag else {}
    required = [*properties, *(field.key for field in fields if field.required)]
    for field in fields:
        properties[field.key] = field.shape.fragment | ({"description": field.doc} if field.doc else {})
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
    """A union of dataclasses that one key tells apart."""

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
            raise TypeError(f"{names}: each needs a TAG of the same key and a value of its own")

    def take(self, data: Json, where: Where, reading: Reading) -> Json:
        """Leave it to the member whose tag it carries."""
        tag = data.get(self.key)
        if isinstance(tag, str) and tag in self.members:
            return self.members[tag].take(data, where, reading)
        return _wrong_tag(data, where, self.key, tuple(self.members), reading)


def shape_of(hint: object) -> Shape:
    """Find the shape of an evaluated annotation.

    Raises:
        TypeError: for a type that the codec does not know, or a union whose members cannot be told apart.
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
