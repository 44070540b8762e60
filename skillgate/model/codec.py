"""The one JSON codec: frozen dataclasses to JSON-ready values and back, and their JSON Schema.

A dataclass steers its JSON form with class variables, ``TAG = ("name", "static")`` (written first, tells the members of
a union apart) and ``CLOSED = True`` (no further keys), and with field metadata: ``json`` (another key), ``omit_none``
(left out when None) and ``doc`` (the schema's description). Encoding looks at values only. Decoding and schemas
evaluate the annotations, so a module whose dataclasses are decoded or published must import its field types at run
time: a name that stands under ``if TYPE_CHECKING`` alone is not there to be found, and a TypeError says so.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, TypeAlias, TypeVar

from skillgate.errors import CodecError

T = TypeVar("T")
Json: TypeAlias = Any  # None, bool, int, float, str, and lists and str-keyed dicts of them
Where: TypeAlias = "str | tuple[Any, str | int]"  # a path, or a parent and one step: text is made for problems only
MAX_PROBLEMS = 20  # a document of the wrong kind has thousands, and nobody reads them


class Range:
    """The closed interval of a number, as in ``Annotated[float, Range(0, 1)]``; None leaves an end open."""

    __slots__ = ("maximum", "minimum")

    def __init__(self, minimum: float | None = None, maximum: float | None = None) -> None:
        self.minimum = minimum
        self.maximum = maximum

    def __contains__(self, number: float) -> bool:
        low, high = self.minimum, self.maximum
        return (low is None or number >= low) and (high is None or number <= high)

    def __str__(self) -> str:
        ends = (("at least", self.minimum), ("at most", self.maximum))
        return " and ".join(f"{words} {end}" for words, end in ends if end is not None)


def encode(value: object) -> Json:
    """Turn a value into what ``json.dumps`` takes: dataclasses in field order, sets sorted, times in UTC with ``Z``.

    Raises:
        CodecError: for a value without a JSON form (NaN, a naive time, bytes, a key that is no string), with its path.
    """
    try:
        return value if type(value) in _PLAIN else _ENCODERS[type(value)](value)
    except _Unencodable as problem:
        where: Where = ""
        for step in reversed(problem.steps):
            where = (where, step)
        raise CodecError(_line(where, problem.expected, problem.found)) from None


class _Unencodable(Exception):  # noqa: N818 - a signal between the functions below, never seen outside
    """A value without a JSON form; the containers on the way up add their steps, the innermost first."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(expected, found)
        self.expected, self.found = expected, found
        self.steps: list[str | int] = []


_Encoder: TypeAlias = Callable[[Any], Json]
_PLAIN = frozenset({str, int, bool, type(None)})


class _Encoders(dict[type, _Encoder]):
    """The encoder of each type, made when the type is first met."""

    def __missing__(self, cls: type) -> _Encoder:
        encoder = self[cls] = _encoder(cls)
        return encoder


_ENCODERS = _Encoders()


def _encoder(cls: type) -> _Encoder:
    if dataclasses.is_dataclass(cls):
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
            raise _Unencodable("a time with its zone", f"the naive {value.isoformat()}")
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")

    def refuse(value: object) -> Json:
        raise _Unencodable("a value with a JSON form", type(value).__name__)

    if issubclass(cls, PurePosixPath):
        return str
    return encode_time if issubclass(cls, datetime) else refuse


def _record_encoder(cls: type) -> _Encoder:
    plan = tuple((field.name, key, bool(field.metadata.get("omit_none"))) for field, key in _keys(cls))
    head = dict((cls.TAG,)) if hasattr(cls, "TAG") else {}

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


def _keys(cls: type) -> tuple[tuple[dataclasses.Field[Any], str], ...]:
    """Pair the fields of a dataclass with their JSON keys."""
    pairs = tuple((field, field.metadata.get("json", field.name)) for field in dataclasses.fields(cls))
    keys = [key for _, key in pairs] + ([cls.TAG[0]] if hasattr(cls, "TAG") else [])
    if len(set(keys)) < len(keys):
        raise TypeError(f"{cls.__qualname__}: two of its JSON keys are the same: {', '.join(keys)}")
    return pairs


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
    except TypeError:  # dicts and mixed types have no order of their own
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
def decode(cls: types.UnionType, data: Json, *, path: str = ..., unknown: Literal["ignore", "error"] = ...) -> Json: ...
def decode(cls: object, data: Json, *, path: str = "", unknown: Literal["ignore", "error"] = "ignore") -> object:
    """Read a value of ``cls`` from what ``json.loads`` gave: the inverse of :func:`encode`, strict about types.

    A bool is not an int, an int is taken for a float, and a missing key is a problem unless its field has a default or
    is a nullable ``omit_none``. What stands where ``Any`` is asked for is handed through as it is.

    Args:
        cls: a dataclass, a union of tagged dataclasses, or any other type that a field may have.
        data: the document.
        path: what the paths in messages begin with, such as a file's name.
        unknown: whether keys that no field has are passed over; a ``CLOSED`` dataclass never passes them over.

    Raises:
        CodecError: naming the path, the expected and the found of every problem, at most 20 of them.
        TypeError: for a type that the codec does not know or cannot find at run time.
    """
    reading = _Reading(strict=unknown == "error")
    value = _shape(cls).read(data, path, reading)
    reading.finish()
    return value


def schema(cls: object, *, title: str, schema_id: str) -> dict[str, Json]:
    """Describe a type in JSON Schema, draft 2020-12: it accepts what :func:`decode` accepts, hence all encoded values.

    Raises:
        TypeError: for a type that the codec does not know, or two dataclasses of one name.
    """
    shape = _shape(cls)
    defs: dict[str, dict[str, Json]] = {}
    waiting, seen = list(shape.records), set(shape.records)
    for record in waiting:  # grows while it is walked
        if record.__name__ in defs:
            raise TypeError(f"{record.__module__}.{record.__qualname__}: another dataclass of the schema has its name")
        defs[record.__name__] = _definition(record)
        found = dict.fromkeys(inner for field in _record_fields(record) for inner in field.shape.records)
        waiting += [inner for inner in found if inner not in seen]
        seen.update(found)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": schema_id, "title": title}
    return {**head, **shape.fragment, "$defs": defs}


class _Reading:
    """The problems of one document so far, in document order."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.problems: list[str] = []

    def problem(self, where: Where, expected: str, found: str) -> None:
        self.problems.append(_line(where, expected, found))
        if len(self.problems) == MAX_PROBLEMS:
            self.problems.append(f"these are the first {MAX_PROBLEMS} problems; there may be more")
            self.finish()

    def finish(self) -> None:
        if self.problems:
            raise CodecError("\n".join(self.problems))


def _line(where: Where, expected: str, found: str) -> str:
    return f"{_path(where) or 'the document'}: expected {expected}, found {found}"


def _path(where: Where) -> str:
    if isinstance(where, str):
        return where
    parent, step = _path(where[0]), where[1]
    if isinstance(step, int):
        return f"{parent}[{step}]"
    if not step.replace("-", "_").isidentifier():
        return f"{parent}[{_found(step)}]"
    return f"{parent}.{step}" if parent else step


def _found(data: Json) -> str:
    """Show a JSON value in a message: short ones as they are, containers by their kind."""
    if isinstance(data, str):
        return f'"{data}"' if len(data) <= 60 else f'"{data[:57]}…"'
    if data is None or isinstance(data, bool):
        return {None: "null", True: "true", False: "false"}[data]
    return str(data) if isinstance(data, int | float) else _WORDS.get(type(data), type(data).__name__)


_ABSENT = "nothing, though the key is required"
_WORDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    type(None): "null",
}
_SCHEMA_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class _Shape:
    """How one field type is read, and its JSON Schema. This one is ``Any``; each other kind of type is a subclass.

    Attributes:
        kinds: the Python types of the JSON values that may be read; the members of a union are told apart by them.
        expected: the words of a message.
        fragment: the JSON Schema, dataclasses by reference.
        records: the dataclasses referred to.
    """

    kinds: frozenset[type] = frozenset(_WORDS)
    expected = "any value"
    fragment: dict[str, Json] = {}  # noqa: RUF012 - no shape changes its fragment
    records: tuple[type, ...] = ()

    def read(self, data: Json, where: Where, reading: _Reading) -> Json:
        """Read a value, or note what is wrong with it; what comes back after a problem is never used."""
        if type(data) not in self.kinds:
            return reading.problem(where, self.expected, _found(data))
        return self.take(data, where, reading)

    def take(self, data: Json, where: Where, reading: _Reading) -> Json:  # noqa: ARG002 - the others use them
        """Read a value of one of the kinds."""
        return data


class _Scalar(_Shape):
    """One JSON scalar, perhaps converted; a converter refuses with ValueError or OverflowError."""

    def __init__(self, kind: type, convert: Callable[[Json], object], *, expected: str = "", form: str = "") -> None:
        self.kinds = frozenset({float, int} if kind is float else {kind})
        self.convert = convert
        self.expected = expected or _WORDS[kind]
        self.fragment = {"type": _SCHEMA_TYPES[kind]} | ({"format": form} if form else {})

    def take(self, data: Json, where: Where, reading: _Reading) -> Json:
        try:
            return self.convert(data)
        except (ValueError, OverflowError):
            return reading.problem(where, self.expected, _found(data))


class _Ranged(_Shape):
    """A number, or a union with one, within a range."""

    def __init__(self, inner: _Shape, interval: Range) -> None:
        self.inner, self.range, self.kinds, self.records = inner, interval, inner.kinds, inner.records
        self.expected = f"{inner.expected} of {interval}"
        ends = {"minimum": interval.minimum, "maximum": interval.maximum}
        self.fragment = inner.fragment | {key: end for key, end in ends.items() if end is not None}

    def take(self, data: Json, where: Where, reading: _Reading) -> Json:
        if type(data) in (int, float) and data not in self.range:
            return reading.problem(where, self.expected, _found(data))
        return self.inner.take(data, where, reading)


class _Choice(_Shape):
    """An enum by its values, or the values of a Literal."""

    def __init__(self, members: Sequence[tuple[Json, object]]) -> None:
        self.members = {(type(value), value): member for value, member in members}  # 1 is not True
        self.kinds = frozenset(type(value) for value, _ in members)
        if not self.kinds <= _SCHEMA_TYPES.keys():
            raise TypeError(f"a choice among values that are no JSON scalars: {members}")
        self.expected = f"one of {', '.join(_found(value) for value, _ in members)}"
        self.fragment = {"enum": [value for value, _ in members]}

    def take(self, data: Json, where: Where, reading: _Reading) -> Json:
        if (key := (type(data), data)) in self.members:
            return self.members[key]
        return reading.problem(where, self.expected, _found(data))


class _Array(_Shape):
    """A tuple, list or frozenset of one type of item."""

    kinds = frozenset({list})
    expected = _WORDS[list]

    def __init__(self, build: Callable[[list[Json]], Any], item: _Shape) -> None:
        self.build, self.item, self.records = build, item, item.records
        unique = {"uniqueItems": True} if build is frozenset else {}
        self.fragment = {"type": "array", "items": item.fragment, **unique}

    def take(self, data: Json, where: Where, reading: _Reading) -> Json:
        read, before = self.item.read, len(reading.problems)
        values = [read(value, (where, index), reading) for index, value in enumerate(data)]
        if len(reading.problems) > before:
            return None
        built = self.build(values)
        if len(built) < len(values):
            reading.problem(where, "a list without repeats", "one with some")
        return built


class _Map(_Shape):
    """A mapping from strings, or from the values of an enum."""

    kinds = frozenset({dict})
    expected = _WORDS[dict]

    def __init__(self, keys: _Shape, item: _Shape) -> None:
        if keys.kinds != {str}:
            raise TypeError(f"the keys of a JSON object are strings, not {keys.expected}")
        self.keys, self.item, self.records = keys, item, item.records
        names = {"propertyNames": keys.fragment} if isinstance(keys, _Choice) else {}
        self.fragment = {"type": "object", "additionalProperties": item.fragment, **names}

    def take(self, data: Json, where: Where, reading: _Reading) -> Json:
        pairs = [(key, value, (where, str(key))) for key, value in data.items()]
        read_key, read = self.keys.read, self.item.read
        return {read_key(key, here, reading): read(value, here, reading) for key, value, here in pairs}


class _Field(typing.NamedTuple):
    """One field of a dataclass, as decoding and the schema need it."""

    name: str
    key: str
    shape: _Shape
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
    return tuple(_field(field, key, _shape(hints[field.name])) for field, key in _keys(cls))


def _field(field: dataclasses.Field[Any], key: str, shape: _Shape) -> _Field:
    omit_none = bool(field.metadata.get("omit_none")) and type(None) in shape.kinds
    required = field.default is field.default_factory is dataclasses.MISSING and not omit_none
    return _Field(field.name, key, shape, required, omit_none, field.init, field.metadata.get("doc", ""))


class _Record(_Shape):
    """A dataclass. Its fields are looked at when one is read, so that it may contain itself."""

    kinds = frozenset({dict})
    expected = _WORDS[dict]

    def __init__(self, cls: type) -> None:
        self.cls, self.records = cls, (cls,)
        self.tag: tuple[str, str] | None = getattr(cls, "TAG", None)
        self.fragment = {"$ref": f"#/$defs/{cls.__name__}"}

    def take(self, data: Json, where: Where, reading: _Reading) -> Json:
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
            _refuse_unknown(data, where, known, reading)
        if len(reading.problems) > before:
            return None
        return self.cls(**{field.name: values[field.name] for field in fields if field.init and field.name in values})


def _wrong_tag(data: dict[str, Json], where: Where, key: str, tags: Sequence[str], reading: _Reading) -> None:
    choices = ("one of " if len(tags) > 1 else "") + ", ".join(map(_found, tags))
    reading.problem((where, key), choices, _found(data[key]) if key in data else _ABSENT)


def _refuse_unknown(data: dict[str, Json], where: Where, known: Sequence[str], reading: _Reading) -> None:
    for key in [key for key in data if key not in known]:
        import difflib  # only here: it costs more than reading a whole document

        near = difflib.get_close_matches(str(key), known, n=1)
        expected = f'a known key (did you mean "{near[0]}"?)' if near else f"one of the keys {', '.join(known)}"
        reading.problem((where, str(key)), expected, "an unknown key")


def _definition(cls: type) -> dict[str, Json]:
    """Write the JSON Schema of one dataclass, as it stands under ``$defs``."""
    fields = _record_fields(cls)
    tag = getattr(cls, "TAG", None)
    properties: dict[str, Json] = {tag[0]: {"const": tag[1]}} if tag else {}
    required = [*properties, *(field.key for field in fields if field.required)]
    for field in fields:
        properties[field.key] = field.shape.fragment | ({"description": field.doc} if field.doc else {})
    doc = cls.__doc__ or ""
    if doc.startswith(f"{cls.__name__}("):  # the signature that dataclass writes where there is no docstring
        doc = ""
    text = " ".join(doc.strip().partition("\n\n")[0].split())
    return ({"description": text} if text else {}) | {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": not getattr(cls, "CLOSED", False),
    }


class _Tagged(_Shape):
    """A union of dataclasses that one key tells apart."""

    kinds = frozenset({dict})
    expected = _WORDS[dict]

    def __init__(self, members: Sequence[_Record]) -> None:
        tags = [member.tag or ("", "") for member in members]
        self.key = tags[0][0]
        self.members = {tag: member for (_, tag), member in zip(tags, members, strict=True)}
        self.records = tuple(member.cls for member in members)
        self.fragment = {"oneOf": [member.fragment for member in members]}
        if {key for key, _ in tags} != {self.key} or not self.key or len(self.members) < len(members):
            names = " | ".join(member.cls.__name__ for member in members)
            raise TypeError(f"{names}: each needs a TAG of the same key and a value of its own")

    def take(self, data: Json, where: Where, reading: _Reading) -> Json:
        tag = data.get(self.key)
        if isinstance(tag, str) and tag in self.members:
            return self.members[tag].take(data, where, reading)
        return _wrong_tag(data, where, self.key, tuple(self.members), reading)


class _Union(_Shape):
    """Types that the kind of the JSON value tells apart: null, true or false, integer, number, string, list, object."""

    def __init__(self, members: Sequence[_Shape]) -> None:
        self.by_kind: dict[type, _Shape] = {}
        integer = any(member is _scalars()[int] for member in members)
        for member in members:
            for kind in member.kinds - ({int} if integer and float in member.kinds else set()):
                if kind in self.by_kind:
                    raise TypeError(f"a union whose members cannot be told apart: two of them take {_WORDS[kind]}")
                self.by_kind[kind] = member
        self.kinds = frozenset(self.by_kind)
        self.expected = " or ".join(member.expected for member in members)
        self.records = tuple(record for member in members for record in member.records)
        self.fragment = _any_of([member.fragment for member in members])

    def take(self, data: Json, where: Where, reading: _Reading) -> Json:
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
def _scalars() -> dict[object, _Shape]:
    from datetime import datetime  # not before something is decoded: encoding alone needs neither
    from pathlib import PurePosixPath

    plain: dict[object, _Shape] = {kind: _Scalar(kind, _unchanged) for kind in (str, bool, int, type(None))}
    return plain | {
        Any: _Shape(),
        float: _Scalar(float, _finite),
        PurePosixPath: _Scalar(str, PurePosixPath),
        datetime: _Scalar(str, _aware, expected="an ISO 8601 time with its zone", form="date-time"),
    }


def _shape(hint: object) -> _Shape:
    """Find the shape of an evaluated annotation."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is None:
        return _named_shape(hint)
    if origin is Literal:
        return _Choice([(value, value) for value in args])
    if origin is typing.Annotated:
        return functools.reduce(_Ranged, (note for note in args[1:] if isinstance(note, Range)), _shape(args[0]))
    if origin in (typing.Union, types.UnionType):
        return _union(args)
    if origin in (Mapping, dict):
        return _Map(_shape(args[0]), _shape(args[1]))
    if origin in (list, frozenset) or (origin is tuple and args[1:] == (...,)):
        return _Array(origin, _shape(args[0]))
    raise TypeError(f"the codec knows no JSON form of the type {hint!r}")


def _named_shape(hint: object) -> _Shape:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _Choice([(member.value, member) for member in hint])
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _Record(hint)
    if hint in _scalars():
        return _scalars()[hint]
    raise TypeError(f"the codec knows no JSON form of the type {hint!r}")


def _union(hints: Sequence[object]) -> _Shape:
    if Any in hints:
        return _shape(Any)
    shapes = [_shape(hint) for hint in hints]
    records = [shape for shape in shapes if isinstance(shape, _Record)]
    if len(records) > 1:
        shapes = [_Tagged(records), *(shape for shape in shapes if shape not in records)]
    return shapes[0] if len(shapes) == 1 else _Union(shapes)
