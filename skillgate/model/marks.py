"""What a type says of its JSON form beyond its fields: ranges, tags that tell a union's members apart, keys.

Apart from the codec, since a run that writes no JSON needs the types and not the codec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

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


def tagged(key: str, value: str) -> Callable[[type[T]], type[T]]:
    """Give a named tuple the tag that a dataclass declares as ``TAG``: a class decorator."""

    def tag(cls: type[T]) -> type[T]:
        _TAGS[cls] = (key, value)
        return cls

    return tag


def tag_of(cls: type) -> tuple[str, str] | None:
    """Give the key and value that tell a record apart from the others of its union."""
    declared: tuple[str, str] | None = getattr(cls, "TAG", None)
    return _TAGS.get(cls, declared)


def camel(cls: type[T]) -> type[T]:
    """Write a record's keys in camelCase, as the benchmarks' documents have them: a class decorator."""
    _CAMEL.add(cls)
    return cls


def key_of(cls: type, name: str) -> str:
    """Give the JSON key of a field that names none itself."""
    if cls not in _CAMEL:
        return name
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


_TAGS: dict[type, tuple[str, str]] = {}
_CAMEL: set[type] = set()
