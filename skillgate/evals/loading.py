"""Read one JSON or YAML file of an eval set, within bounds and with line numbers. Bad content never raises."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate.model.evals import STYLES, TriggerCase, Unread
from skillgate.model.finding import Severity
from skillgate.model.yaml_bounded import YamlProblem, load_mapping

if TYPE_CHECKING:
    from skillgate.model.skill import Entry, Tree

Item = TypeVar("Item")
MAX_BYTES = 1_000_000
"""Bytes of one file; a set of a thousand prompts takes about a fifth of it."""

_LIST = "triggers"  # a top-level YAML list is read as if it were under this key
# A hostile file may have any number of places; beyond these limits a value gets the line of its parent.
_MOST_PLACES = 50_000
_LONGEST_PLACE = 400  # characters
_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:\n]|[^\s{}\[\],:"]+', re.DOTALL)


MAX_ALL = 10_000_000
"""Bytes of all files of one skill's sets."""


class Metered:
    """A tree from which at most :data:`MAX_ALL` bytes are read: a hostile skill may hold any number of files."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._left = MAX_ALL

    def entry(self, path: str) -> Entry | None:
        """As the tree has it."""
        return self._tree.entry(path)

    def real(self, path: str) -> str | None:
        """As the tree has it."""
        return self._tree.real(path)

    def names(self, path: str) -> tuple[str, ...]:
        """As the tree has it."""
        return self._tree.names(path)

    def read(self, path: str, *, limit: int) -> bytes:
        """Read as the tree does; raise OSError as it does, and with EFBIG once the limit is reached."""
        if self._left <= 0:
            raise OSError(errno.EFBIG, f"the eval sets have more than {MAX_ALL:,} bytes")
        data = self._tree.read(path, limit=limit)
        self._left -= len(data)
        return data


class Loaded(NamedTuple):
    """A document and its places.

    Attributes:
        value: JSON values; from YAML also dates and the like.
        places: line (from 1) of each value, under names such as ``evals[0].prompt``, or ``[0].prompt`` in a top-level
            list.
        repeated: (name, line) of each duplicate key.
    """

    value: Any
    places: Mapping[str, int]
    repeated: tuple[tuple[str, int], ...] = ()

    def line(self, place: str) -> int:
        """Return the line of a place or its nearest parent; 1 for the whole document."""
        while place and place not in self.places:
            cut = max(place.rfind("."), place.rfind("["))
            place = place[:cut] if cut > 0 else ""
        return self.places.get(place, 1)


def read_text(tree: Tree, directory: str, file: str) -> str | Unread:
    """Read a file as text with normalised line ends; ``file`` is relative to the skill's ``directory`` in the tree."""
    try:
        data = tree.read(f"{directory}/{file}" if directory else file, limit=MAX_BYTES + 1)
    except OSError as error:
        if error.errno == errno.EFBIG:
            return Unread(file, 1, f"not read: {error.strerror}")
        return Unread(file, 1, f"cannot read the file: {error.strerror or error}", unreadable=True)
    if len(data) > MAX_BYTES:
        return Unread(file, 1, f"not read: larger than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Unread(file, data.count(b"\n", 0, error.start) + 1, "the file is not UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def load(tree: Tree, directory: str, file: str) -> Loaded | Unread:
    """Read a file as JSON if its suffix is ``.json``, else as YAML."""
    text = read_text(tree, directory, file)
    if isinstance(text, Unread):
        return text
    return load_json(text, file) if file.lower().endswith(".json") else load_yaml(text, file)


def load_json(text: str, file: str) -> Loaded | Unread:
    """Read JSON."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return Unread(file, error.lineno, f"invalid JSON: {error.msg} (column {error.colno})")
    except (ValueError, RecursionError, MemoryError):  # a number of thousands of digits, or nested without end
        return Unread(file, 1, "JSON cannot be read: nested too deep, or a number is too long")
    scan = _Scan(text)
    return Loaded(value, scan.places, tuple(scan.repeated))


def load_yaml(text: str, file: str) -> Loaded | Unread:
    """Read YAML: one mapping or one list."""
    shifted, moved = (f"{_LIST}:\n{text}", 1) if (is_list := _is_list(text)) else (text, 0)
    if is_list:
        shifted = re.sub(r"(?m)^---[ \t]*$", "", shifted, count=1)
    try:
        found = load_mapping(shifted)
    except YamlProblem as problem:
        return Unread(file, max(1, problem.line - moved), f"invalid YAML: {problem.message}")
    cut = len(_LIST) if is_list else 0
    places = {place[cut:]: line - moved for place, line in found.places.items() if place[cut:]}
    repeated = tuple((place[cut:], line - moved) for place, line in found.duplicates)
    return Loaded(found.values[_LIST] if is_list else found.values, places, repeated)


def _is_list(text: str) -> bool:
    """Whether the first line of content begins a list."""
    lines = map(str.strip, text.split("\n"))
    first = next((line for line in lines if line and not line.startswith(("#", "---"))), "")
    return first == "-" or first.startswith("- ")


class _Level:
    """An open list or object of a scan: its place, and the current item or key."""

    __slots__ = ("index", "is_list", "key", "keys", "name")

    def __init__(self, name: str, *, is_list: bool) -> None:
        self.name, self.is_list = name, is_list
        self.index = 0
        self.key: str | None = None
        self.keys: set[str] = set()

    def place(self) -> str:
        step = f"[{self.index}]" if self.is_list else f".{self.key}" if self.name else str(self.key)
        return self.name if len(self.name) + len(step) > _LONGEST_PLACE else self.name + step


class _Scan:
    """The lines of all values in a valid JSON text; for a member of an object, the line of its key."""

    def __init__(self, text: str) -> None:
        self.places: dict[str, int] = {}
        self.repeated: list[tuple[str, int]] = []
        self._levels: list[_Level] = []
        self._line = 1
        for found in _MARK.finditer(text):
            self._take(found[0])
            if len(self.places) == _MOST_PLACES:
                break

    def _take(self, mark: str) -> None:
        level = self._levels[-1] if self._levels else None
        if mark == "\n":
            self._line += 1
        elif mark in ("}", "]"):
            self._levels.pop()
        elif level is not None and mark == ",":
            level.index += 1
            level.key = None
        elif level is not None and not level.is_list and level.key is None:
            self._name(level, json.loads(mark))
        elif mark != ":":
            place = level.place() if level is not None else ""
            self._note(place)
            if mark in ("{", "["):
                self._levels.append(_Level(place, is_list=mark == "["))

    def _name(self, level: _Level, key: str) -> None:
        level.key = key
        if key in level.keys:
            self.repeated.append((level.place(), self._line))
        level.keys.add(key)
        self._note(level.place())

    def _note(self, place: str) -> None:
        self.places.setdefault(place, self._line)


# -- Lists of labelled prompts, and helpers shared by the formats

MAX_CASES = 1_000  # of one file
MAX_PROMPT = 20_000  # characters
_PROMPTS = ("query", "prompt")  # skill-creator's word, and ours
_TRIGGER_KEYS = ("prompt", "query", "should_trigger", "style", "note")
_TRIGGER_LISTS = ("triggers", "queries", "prompts", "evals")


def trigger_place(loaded: Loaded) -> str | None:
    """Return where a document holds trigger prompts: ``""`` for the top level, else a key; None if nowhere."""
    value = loaded.value
    if isinstance(value, list):
        return "" if _labelled(value) else None
    if isinstance(value, dict):
        for key in _TRIGGER_LISTS:
            items = value.get(key)
            if isinstance(items, list) and (_labelled(items) or key == "triggers"):
                return key
    return None


def _labelled(items: list[Any]) -> bool:
    return any(isinstance(item, dict) and ("should_trigger" in item or "query" in item) for item in items)


def triggers(loaded: Loaded, file: str, place: str) -> Iterator[TriggerCase | Unread]:
    """Read the prompts at a place from :func:`trigger_place`."""
    items = loaded.value[place] if place else loaded.value
    if not items:
        yield Unread(file, loaded.line(place), "the file has no prompts")
    for index, item in enumerate(items[:MAX_CASES]):
        yield from _trigger(item, f"{place}[{index}]", loaded, file)
    yield from beyond(items, "prompts", place, loaded, file)


def beyond(items: list[Any], what: str, place: str, loaded: Loaded, file: str) -> Iterator[Unread]:
    """Report the items after the first :data:`MAX_CASES`, if there are any."""
    if len(items) > MAX_CASES:
        message = f"{len(items):,} {what}; those after the first {MAX_CASES:,} were not read"
        yield Unread(file, loaded.line(f"{place}[{MAX_CASES}]"), message)


def sort_out(found: Iterable[Item | Unread], read: list[Item]) -> Iterator[Unread]:
    """Yield what could not be read; append the rest to ``read``."""
    for one in found:
        if isinstance(one, Unread):
            yield one
        else:
            read.append(one)


def _trigger(item: Any, place: str, loaded: Loaded, file: str) -> Iterator[TriggerCase | Unread]:  # noqa: ANN401 - JSON
    line = loaded.line(place)
    if not isinstance(item, dict):
        yield Unread(file, line, f"expected a prompt with should_trigger, found {kind_of(item)}")
        return
    key = next((key for key in _PROMPTS if key in item), "prompt")
    label, style = item.get("should_trigger"), item.get("style", STYLES[0])
    line = loaded.line(f"{place}.{key}")
    wrong = why_no_prompt(item.get(key), key)
    if wrong is None and not isinstance(label, bool):
        wrong = f"should_trigger must be true or false, not {kind_of(label)}"
    if wrong is None and style not in STYLES:
        wrong = f"style must be {' or '.join(STYLES)}, not {kind_of(style)}"
    if wrong is not None:
        yield Unread(file, line, f"prompt skipped: {wrong}")
        return
    yield TriggerCase(item[key], bool(label), file, line, style)
    if "style" in item or key == "prompt":  # our own form: a mistyped key would go unseen
        for other in item:
            if other not in _TRIGGER_KEYS:
                where = loaded.line(f"{place}.{other}")
                yield Unread(file, where, f"unknown key {str(other)[:60]!r}", Severity.WARNING)


def named(value: Any, number: int) -> str:  # noqa: ANN401 - JSON
    """Return a case's name, cut to 200 characters, or its number if it has no usable name."""
    return str(value)[:200] if isinstance(value, str | int | float) else str(number)


def why_no_prompt(value: Any, key: str) -> str | None:  # noqa: ANN401 - JSON
    """Return why a value cannot be a prompt; None if it can."""
    if value is None:
        return f"{key} is missing"
    if not isinstance(value, str):
        return f"{key} must be a string, not {kind_of(value)}"
    if not value.strip():
        return f"{key} is empty"
    if len(value) > MAX_PROMPT:
        return f"{key} is {len(value):,} characters long (maximum {MAX_PROMPT:,})"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{key} contains half a surrogate pair, which is not a character"
    return None


def kind_of(value: Any) -> str:  # noqa: ANN401 - JSON
    """Describe an unexpected value for a message; strings are quoted, and cut to 40 characters."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:39] + "…")
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")
