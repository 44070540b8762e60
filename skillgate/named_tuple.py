"""``NamedTuple`` with classes that are created quickly: for the modules that every ``check`` and ``score`` loads.

The one of ``typing`` compiles each annotation and several methods of each class, which takes ten times as long. Classes
are declared and used in the same way, and type checkers see the original.
"""

from __future__ import annotations

from collections import _tuplegetter as field_getter  # type: ignore[attr-defined]  # what namedtuple() uses
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self


class _Record(tuple[Any, ...]):
    """What all named tuples can do. It has no annotations, which would look like fields."""

    __slots__ = ()
    _fields = tuple[str, ...]()  # of each subclass

    @classmethod
    def _make(cls, values: Iterable[object]) -> Self:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes: object) -> Self:
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    __replace__ = _replace

    def _asdict(self) -> dict[str, object]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({values})"

    def __getnewargs__(self) -> tuple[object, ...]:
        return tuple(self)


@cache
def _constructor(size: int) -> FunctionType:
    """Return a constructor that takes ``size`` values, by names that mean nothing."""
    names = "".join(f"_{number}, " for number in range(size))
    made: FunctionType = eval(f"lambda _cls, {names}: _new(_cls, ({names}))", {"_new": tuple.__new__})  # noqa: S307
    return made


class _Declaration(type):
    """Turns a class statement into a subclass of :class:`_Record`."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:  # noqa: ANN401
        fields = tuple(namespace.get("__annotations__", ()))
        defaults = {field: namespace[field] for field in fields if field in namespace}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without a default follows one with a default")
        made = _constructor(len(fields))
        code = made.__code__.replace(co_varnames=("_cls", *fields), co_name="__new__", co_qualname=f"{name}.__new__")
        members = {
            "__slots__": (),
            "__match_args__": fields,
            "_fields": fields,
            "_field_defaults": defaults,
            "__new__": FunctionType(code, made.__globals__, None, tuple(defaults.values())),
            **namespace,
            **{field: field_getter(index, None) for index, field in enumerate(fields)},
        }
        return type(name, (_Record, *bases[1:]), members)


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    NamedTuple = type.__new__(_Declaration, "NamedTuple", (), {})
