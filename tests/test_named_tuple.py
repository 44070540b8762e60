"""``NamedTuple`` that is created quickly: its classes behave like those of ``typing``."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pytest

from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Quick(NamedTuple):
    """A place."""

    line: int
    file: str = "SKILL.md"
    columns: tuple[int, ...] = ()

    @property
    def shown(self) -> str:
        """The place in one word."""
        return f"{self.file}:{self.line}"

    @classmethod
    def first(cls) -> Quick:
        return cls(1)


class Usual(typing.NamedTuple):
    """A place."""

    line: int
    file: str = "SKILL.md"
    columns: tuple[int, ...] = ()


class Held(NamedTuple, Generic[T]):
    """A value of any type."""

    value: T
    times: int = 1


def outcome(act: Callable[[Any], object], cls: type) -> object:
    try:
        return act(cls)
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error).replace("Usual", "Quick")


@pytest.mark.parametrize(
    "act",
    [
        lambda cls: tuple(cls(3, columns=(1, 2))),
        lambda cls: cls(3)._replace(file="a.md") == (3, "a.md", ()),
        lambda cls: cls(3)._asdict(),
        lambda cls: tuple(cls._make([3, "a.md", ()])),
        lambda cls: repr(cls(3)).replace("Usual", "Quick"),
        lambda cls: cls(3) == (3, "SKILL.md", ()) and hash(cls(3)) == hash((3, "SKILL.md", ())),
        lambda cls: (cls._fields, cls._field_defaults, cls.__match_args__, cls.__doc__),
        lambda cls: typing.get_type_hints(cls),
        lambda cls: (type(copy.copy(cls(3))) is cls, pickle.loads(pickle.dumps(cls(3))) == cls(3)),
        lambda cls: type(pickle.loads(pickle.dumps(cls(3)))) is cls,
        lambda cls: cls._make([3]),
        lambda cls: setattr(cls(3), "line", 4),
    ],
)
def test_a_class_behaves_like_one_of_typing(act: Callable[[Any], object]) -> None:
    assert outcome(act, Quick) == outcome(act, Usual)


def test_an_unknown_field_cannot_be_replaced() -> None:
    place: Any = Quick(3)
    with pytest.raises(ValueError, match=r"unexpected field names: \['column'\]"):  # typing's depends on the version
        place._replace(column=1)


@pytest.mark.parametrize("act", [lambda cls: cls(), lambda cls: cls(1, "a", (), 2), lambda cls: cls(1, column=2)])
def test_wrong_arguments_are_refused(act: Callable[[Any], object]) -> None:
    kind, message = typing.cast("tuple[type, str]", outcome(act, Quick))
    assert kind is TypeError
    assert "argument" in message


def test_a_class_has_its_own_methods_and_no_further_attributes() -> None:
    assert Quick.first().shown == "SKILL.md:1"
    with pytest.raises(AttributeError):
        Quick(1).column = 3  # type: ignore[attr-defined]


def test_a_class_may_be_generic() -> None:
    assert Held[int](3) == (3, 1)


def test_a_field_without_a_default_cannot_follow_one_with_a_default() -> None:
    with pytest.raises(TypeError, match="Wrong: a field without a default"):
        exec(
            "from __future__ import annotations\nclass Wrong(NamedTuple):\n    a: int = 1\n    b: str\n",
            {"NamedTuple": NamedTuple, "__name__": __name__},
        )
