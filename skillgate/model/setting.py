"""A setting: one key of the configuration, declared by the room that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

Value = float | int | str | bool | tuple[str, ...] | Mapping[str, float] | None


class Kind(Enum):
    """What a setting's value is, as :meth:`Setting.accept` gives it."""

    NUMBER = "a number"  # float
    INTEGER = "a whole number"  # int
    TEXT = "text"  # str
    CHOICE = "one of"  # str
    CHOICES = "a list of"  # tuple of str
    TEXTS = "a list of texts"  # tuple of str
    NUMBERS = "a mapping of names to numbers"  # dict of str to float
    FLAG = "true or false"  # bool


class Setting(NamedTuple):
    """The declaration of a key.

    Attributes:
        key: the name in files and on the command line, as in ``max-drop``.
        kind: what the value is.
        default: the value where nobody set one; None where there is none, and then ``null`` may be written.
        choices: the words of a CHOICE or CHOICES, or the names of a NUMBERS.
        minimum: the least number allowed, for NUMBER, INTEGER and each of NUMBERS.
        maximum: the greatest.
        help: one sentence, shown by ``--help`` and written into a new configuration file.
        example: a value to show where there is no default.
        per_path: whether an override may set it for some paths only.
        personal: whether only options, environment and the user's own file may set it, and no project's file.
    """

    key: str
    kind: Kind
    help: str
    default: Value = None
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    example: Value = None
    per_path: bool = False
    personal: bool = False

    def accept(self, value: object) -> Value:
        """Check a value as a file or the command line gives it, and bring it into the kind's own type.

        Raises:
            ValueError: it does not fit; the message says what was expected and what was found.
        """
        if value is None and self.default is None:
            return None
        accepted = self._accepted(value)
        if accepted is None:
            raise ValueError(f"expected {self.expected()}, found {_found(value)}")
        return accepted

    def expected(self) -> str:
        """Say in words what fits, as in ``a number from 0 to 100``."""
        words = self.kind.value
        if self.choices:
            names = ", ".join(self.choices)
            words = f"{words} ({names})" if self.kind is Kind.NUMBERS else f"{words} {names}"
        if self.minimum is not None and self.maximum is not None:
            return f"{words} from {self.minimum:g} to {self.maximum:g}"
        return words if self.minimum is None else f"{words} of at least {self.minimum:g}"

    def _accepted(self, value: object) -> Value:
        match self.kind:
            case Kind.NUMBER:
                return self._number(value)
            case Kind.INTEGER:
                return int(value) if isinstance(value, int) and self._number(value) is not None else None
            case Kind.TEXT:
                return value if isinstance(value, str) and value.strip() else None
            case Kind.CHOICE:
                return value if isinstance(value, str) and value in self.choices else None
            case Kind.CHOICES:
                return self._words(value)
            case Kind.TEXTS:
                return self._texts(value)
            case Kind.NUMBERS:
                return self._numbers(value)
            case Kind.FLAG:
                return value if isinstance(value, bool) else None

    def _number(self, value: object) -> float | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        low = float("-1e300") if self.minimum is None else self.minimum
        high = float("1e300") if self.maximum is None else self.maximum
        return float(value) if low <= value <= high else None  # not-a-number is never between

    def _words(self, value: object) -> tuple[str, ...] | None:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not items:
            return None
        if not all(isinstance(item, str) and item in self.choices for item in items):
            return None
        return tuple(dict.fromkeys(items))

    def _texts(self, value: object) -> tuple[str, ...] | None:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) and item.strip() for item in items):
            return None
        return tuple(dict.fromkeys(items))

    def _numbers(self, value: object) -> dict[str, float] | None:
        if not isinstance(value, Mapping) or not value:
            return None
        numbers = {name: self._number(item) for name, item in value.items() if name in self.choices}
        kept = {str(name): number for name, number in numbers.items() if number is not None}
        return kept if len(kept) == len(value) else None


def _found(value: object) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
