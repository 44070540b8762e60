"""What a type says of its JSON form: ranges, tags that tell a union's members apart, its fields and their keys.

Apart from the codec, since a run that writes no JSON needs the types and not the codec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


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


class Form:
    """What the schema says of a value beyond its type, as in ``Annotated[str, Form(pattern=NO_NUL)]``.

    The codec does not check it: the reader of such documents does, by the same constants, and says in words what is
    wrong.
    """

    __slots__ = ("keywords",)

    def __init__(self, **keywords: object) -> None:
        self.keywords = {key: list(value) if isinstance(value, tuple) else value for key, value in keywords.items()}


NOT_BLANK = r"\S"
NO_NUL = r"^[^\0]*$"


def whole(pattern: str) -> str:
    """Return a pattern of JSON Schema for a whole text; to Python ``$`` is also the place before a last line end."""
    return rf"^(?:{pattern})$(?!\n)"


Ratio = Annotated[float, Range(0, 1)]
Points = Annotated[float, Range(0, 100)]
Count = Annotated[int, Range(0, None)]
Milliseconds = Annotated[float, Range(0, None)]


def tagged(key: str, value: str) -> Callable[[type[T]], type[T]]:
    """Return a named tuple the tag that a dataclass declares as ``TAG``: a class decorator."""

    def tag(cls: type[T]) -> type[T]:
        _TAGS[cls] = (key, value)
        return cls

    return tag


def tag_of(cls: type) -> tuple[str, str] | None:
    """Return the key and value that tell a record apart from the others of its union."""
    declared: tuple[str, str] | None = getattr(cls, "TAG", None)
    return _TAGS.get(cls, declared)


def camel(cls: type[T]) -> type[T]:
    """Write a record's keys in camelCase, as the benchmarks' documents have them: a class decorator."""
    _CAMEL.add(cls)
    return cls


def key_of(cls: type, name: str) -> str:
    """Return the JSON key of a field that names none itself."""
    if cls not in _CAMEL:
        return name
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


_TAGS: dict[type, tuple[str, str]] = {}
_CAMEL: set[type] = set()


Json: TypeAlias = Any  # None, bool, int, float, str, and lists and str-keyed dicts of them
MAX_PROBLEMS = 20  # a document of the wrong kind has thousands, and nobody reads them


class Field(NamedTuple):
    """One field of a record: its name, its JSON key, and how it is written and read."""

    name: str
    key: str
    required: bool
    omit_none: bool = False
    init: bool = True
    doc: str = ""


def is_record(cls: object) -> bool:
    """Return whether a type is written as an object: a dataclass or a named tuple."""
    return isinstance(cls, type) and (_is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields")))


def json_keys(cls: type) -> tuple[Field, ...]:
    """List the fields of a record with their JSON keys.

    Raises:
        TypeError: when two keys, that of the tag among them, are the same.
    """
    fields = tuple(_dataclass_fields(cls)) if _is_dataclass(cls) else _tuple_fields(cls)
    tag = tag_of(cls)
    keys = [field.key for field in fields] + ([tag[0]] if tag else [])
    if len(set(keys)) < len(keys):
        raise TypeError(f"{cls.__qualname__}: two of its JSON keys are the same: {', '.join(keys)}")
    return fields


def _is_dataclass(cls: type) -> bool:
    return hasattr(cls, "__dataclass_fields__")


def _dataclass_fields(cls: Any) -> Iterator[Field]:  # noqa: ANN401 - any dataclass
    import dataclasses  # already loaded by whoever made such a class; most runs have none

    for field in dataclasses.fields(cls):
        meta = field.metadata
        required = field.default is field.default_factory is dataclasses.MISSING
        key = meta.get("json") or key_of(cls, field.name)
        yield Field(field.name, key, required, bool(meta.get("omit_none")), field.init, meta.get("doc", ""))


def _tuple_fields(cls: Any) -> tuple[Field, ...]:  # noqa: ANN401 - any named tuple
    return tuple(Field(name, key_of(cls, name), name not in cls._field_defaults) for name in cls._fields)
