"""A setting: what an entry of the table of settings says, and how a value of it is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Generic, TypeVar

from skillgate.format import did_you_mean
from skillgate.named_tuple import NamedTuple

Table = Mapping[str, float | str | tuple[str, ...]]
Lists = Mapping[str, tuple[str, ...]]
Value = float | int | str | bool | tuple[str, ...] | Mapping[str, float] | Lists | Mapping[str, Table] | None
T_co = TypeVar("T_co", covariant=True)
_LONGEST_NAME = 40


class Kind(Enum):
    """What a setting's value is, as :meth:`Setting.accept` gives it."""

    NUMBER = "a number"  # float
    INTEGER = "a whole number"  # int
    TEXT = "text"  # str
    CHOICE = "one of"  # str
    CHOICES = "a list of"  # tuple of str
    TEXTS = "a list of strings"  # tuple of str
    NUMBERS = "a mapping of names to numbers"  # dict of str to float
    LISTS = "a mapping of globs to lists of"  # dict of str to tuple of str
    TABLES = "a mapping of names to mappings of"  # dict of str to dict of str to float, int, str or tuple
    FLAG = "true or false"  # bool


CHANGE, BASE, BASE_ALONE, UNTRACKED, OUTPUT, NEVER = "change", "base", "base alone", "untracked", "output", "never"
"""Where the file or directory that an input names comes from in a change; docs/action.py says it in sentences."""
WORDS, KEY, SHARD = "names, comma-separated", "letters, digits, ., _ and -", "I/N"
"""How the text of an input is read where its kind does not say it."""
REQUIREMENT, TRIGGER = "requirement", "trigger"  # the kinds of gates of recorded invocations


class Group(NamedTuple):
    """A group of options in the help of the commands that have it."""

    title: str  # its heading; ``""`` for options that stand in no separate group
    commands: tuple[str, ...]
    titles: Mapping[str, str] = {}  # other headings, by command
    shows_default: bool = False  # whether help and messages give the default and what fits, and not the known words


class Option(NamedTuple):
    """What a setting is as an option of the command line."""

    group: Group  # where it is in the help
    metavar: str = ""  # what its value is called there; ``""`` for a flag
    commands: tuple[str, ...] = ()  # those that take it; empty for all of the group
    everyday: bool = False  # whether ``--help`` shows it, and not ``--help-all`` alone
    name: str = ""  # the option's own name where that is not the key


class Input(NamedTuple):
    """What a setting is as an input of the Action. An empty text is the same as none given."""

    default: str = ""  # the text that holds where none is given; ``""`` for none, and then the configuration's holds
    help: str = ""  # in place of the setting's own, where it means something else there
    form: str = ""  # how its text is read, where the kind of the setting does not say it
    origin: str = ""  # of an input that names files or directories, where they come from in a change
    without: tuple[str, ...] = ()  # choices of the setting that it does not take
    configures: bool = True  # whether its value is laid over the configuration; else the run reads it alone


class UnfitError(ValueError):
    """Values inside of a mapping do not fit: ``parts`` has for each its path below the key, and what is wrong."""

    def __init__(self, parts: tuple[tuple[str, str], ...]) -> None:
        super().__init__("; ".join(f"{path}: {message}" for path, message in parts))
        self.parts = parts


class Setting(NamedTuple, Generic[T_co]):
    """An entry of the table; ``T_co`` is the type of its value."""

    key: str  # the name in files and on the command line, as in ``max-drop``
    kind: Kind
    help: str  # one sentence, shown by ``--help`` and written into a new configuration file
    default: Value = None  # the value where nobody set one; None if there is none, and then ``null`` may be written
    choices: Sequence[str] = ()
    minimum: float | None = None  # the minimum number allowed, for NUMBER, INTEGER and each of NUMBERS
    maximum: float | None = None  # the greatest; the most characters of a TEXT, the most names of TABLES
    example: Value = None  # a value to show where there is no default
    per_path: bool = False  # whether an override may set it for some paths only
    personal: bool = False  # whether only options, environment and the user's own file may set it
    fields: tuple[Setting[object], ...] = ()
    check: Callable[[str, Table], object] | None = None  # of TABLES, looks at a name and its mapping as a whole
    configured: bool = True  # whether it is a key of the configuration; else it is an input of the Action alone
    option: Option | None = None  # what it is as an option of the command line
    action: Input | None = None  # what it is as an input of the Action; None for none
    gate: str = ""  # the word of ``fail-on`` for the gate that it sets a bound of
    other_name: str = ""

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that take it as an option."""
        return () if self.option is None else self.option.commands or self.option.group.commands

    @property
    def variable(self) -> str:
        """The name of its value in Python, and of its option's in parsed arguments."""
        return self.key.replace("-", "_")

    def accept(self, value: object) -> Value:
        """Check a value as a file or the command line gives it, and convert it to the kind's own type.

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
        """Return in words what fits, as in ``a number from 0 to 100``."""
        words = self.kind.value
        if self.choices:
            names = ", ".join(self.choices)
            words = f"{words} ({names})" if self.kind is Kind.NUMBERS else f"{words} {names}"
        if self.kind is Kind.LISTS:
            return f"{words} rules"
        if self.kind is Kind.TABLES:
            return f"{words} {', '.join(field.key for field in self.fields)}"
        if self.kind is Kind.TEXT:
            return words if self.maximum is None else f"{words} of at most {self.maximum:g} characters"
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
                fits = isinstance(value, str) and value.strip() and len(value) <= (self.maximum or len(value))
                return value if isinstance(value, str) and fits else None
            case Kind.CHOICE:
                word = str(value) if isinstance(value, float) else value  # as in `rubric: 1.1`, without quotes
                return word if isinstance(word, str) and word in self.choices else None
            case Kind.CHOICES | Kind.TEXTS:
                return self._texts(value)
            case Kind.NUMBERS:
                return self._numbers(value)
            case Kind.LISTS:
                return self._lists(value)
            case Kind.TABLES:
                return self._tables(value)
            case Kind.FLAG:
                return value if isinstance(value, bool) else None

    def _number(self, value: object) -> float | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        low = float("-1e300") if self.minimum is None else self.minimum
        high = float("1e300") if self.maximum is None else self.maximum
        return float(value) if low <= value <= high else None  # not-a-number is never between

    def _texts(self, value: object) -> tuple[str, ...] | None:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) and item.strip() for item in items):
            return None
        if self.kind is Kind.CHOICES and (not items or not all(item in self.choices for item in items)):
            return None
        return tuple(dict.fromkeys(items))

    def _numbers(self, value: object) -> dict[str, float] | None:
        if not isinstance(value, Mapping) or not value:
            return None
        numbers = {name: self._number(item) for name, item in value.items() if name in self.choices}
        accepted = {str(name): number for name, number in numbers.items() if number is not None}
        return accepted if len(accepted) == len(value) else None

    def _lists(self, value: object) -> dict[str, tuple[str, ...]] | None:
        if not isinstance(value, Mapping) or not value or len(value) > (self.maximum or len(value)):
            return None
        lists = {glob: self._texts(words) for glob, words in value.items() if isinstance(glob, str) and glob.strip()}
        accepted = {glob: words for glob, words in lists.items() if words}
        return accepted if len(accepted) == len(value) else None

    def _tables(self, value: object) -> dict[str, Table] | None:
        if not isinstance(value, Mapping) or not value or len(value) > (self.maximum or len(value)):
            return None
        parts: list[tuple[str, str]] = []
        tables: dict[str, Table] = {}
        for name, item in value.items():
            if not _is_name(name):
                parts.append((_shown(name), "a name has 1 to 40 letters, digits, - and _, not - and _ alone"))
            elif not isinstance(item, Mapping) or not item:
                names = ", ".join(field.key for field in self.fields)
                parts.append((name, f"expected a mapping of some of {names}, found {_found(item)}"))
            else:
                tables[name] = self._table(name, item, parts)
        if parts:
            raise UnfitError(tuple(parts))
        return tables

    def _table(self, name: str, item: Mapping[object, object], parts: list[tuple[str, str]]) -> Table:
        fields = {field.key: field for field in self.fields}
        table: dict[str, float | str | tuple[str, ...]] = {}
        before = len(parts)
        for key, value in item.items():
            if key not in fields:
                parts.append((f"{name}.{_shown(key)}", _unknown(str(key), tuple(fields))))
                continue
            accepted = fields[str(key)]._accepted(value)
            if isinstance(accepted, float | int | str | tuple):
                table[str(key)] = accepted
            else:
                parts.append((f"{name}.{key}", f"expected {fields[str(key)].expected()}, found {_found(value)}"))
        if self.check is not None and len(parts) == before:
            try:
                self.check(name, table)
            except ValueError as error:
                parts.append((name, str(error)))
        return table


def _is_name(name: object) -> bool:
    plain = isinstance(name, str) and name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return plain and len(str(name)) <= _LONGEST_NAME


def _shown(name: object) -> str:
    text = str(name)[:80]
    return text if text.isprintable() else repr(text)  # a line break in it would begin a separate problem


def _unknown(key: str, known: tuple[str, ...]) -> str:
    return f"unknown key {key[:80]!r}{did_you_mean(key, known)}; known are {', '.join(known)}"


def _found(value: object) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
