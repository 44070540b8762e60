"""Read the formats in which invocations are recorded, and hand what they yield to a store; one file per format.

A format has ``is_it`` and ``read``. Read from its source, before it is loaded: ``EXPECTED`` (what messages call the
format) and, where set, ``FALLBACK`` (tried after all others), ``ONE_DOCUMENT`` (the file may be one line of any length,
which comes in pieces under one number), ``LINE_BY_LINE`` (each line is complete, so that parts of a file can be read in
parallel) and ``GROWS`` (a later reading of the file says more of the same invocations). What is read is scored and
handed over in batches, and every problem is reported with its place.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, cast

from skillgate.errors import IncompleteError
from skillgate.format import printable
from skillgate.model.invocation import Fate, Invocation, Read, Scored
from skillgate.registry import INVOCATION_FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skillgate.invocations.rubric import Scorer

LONGEST = 4_000_000  # bytes of a line: a transcript holds whole files in one
_SHOWN = 60  # characters of somebody's value in a message
_KEYS = 6  # of an object that a message names
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")  # anything else may be a user's words, or the name of a file
_TOO_LONG = "its first value is JSON that is broken, or too long to tell its form by (then --format names it)"
_STREAM = frozenset(("type", "session_id"))  # of each line that `claude -p --output-format stream-json` prints

Lines: TypeAlias = Iterator[tuple[int, bytes]]
"""Lines of a file with their numbers, from 1, without their ends.

One over :data:`LONGEST` is cut a byte behind it; for formats that are ``ONE_DOCUMENT`` the rest follows in pieces under
the same number.
"""


class Options(NamedTuple):
    """How invocations are read.

    Attributes:
        now: what lies more than a day after it is in the future, and rejected.
        keep_text: whether texts under unknown keys are stored.
        category: of invocations that name none.
        sibling: returns the lines of a file by its path relative to the one that is read, None where there is none;
            transcripts of sub-agents lie next to that of their session.
        names: of known skills, which are stored whatever they look like.
    """

    now: datetime
    keep_text: bool = False
    category: str | None = None
    sibling: Callable[[str], Lines | None] = lambda _path: None
    names: frozenset[str] = frozenset()


Reader: TypeAlias = Callable[[Lines, Options], Iterator[Read]]


class UnrecognisedError(IncompleteError):
    """A file holds no use of a skill that can be read; the message says what it holds instead."""


def reader(name: str) -> Reader:
    """Return the reader of a format.

    Raises:
        UsageError: there is no such format; the nearest name is suggested.
    """
    return cast("Reader", INVOCATION_FORMATS.load(name).read)


def recognise(head: bytes) -> str | None:
    """Return the format of a file that begins with these bytes, up to 64 KiB; None where it has none of them."""
    last = {name: INVOCATION_FORMATS.flag(name, "FALLBACK") for name in INVOCATION_FORMATS.listed()}
    ordered = sorted(last, key=lambda name: last[name])
    return next((name for name in ordered if INVOCATION_FORMATS.load(name).is_it(head)), None)


def unrecognised(head: bytes) -> str:
    """Describe the beginning of a file without a known format, and what would be one; without any text of it."""
    seen, keys = _seen(head)
    *names, last = (INVOCATION_FORMATS.text(name, "EXPECTED") for name in INVOCATION_FORMATS.listed())
    hint = f"expected {', '.join(names)} or {last}"
    if keys >= _STREAM:
        hint = (
            "this looks like the output of `claude --output-format stream-json`, which is not read; import the"
            " session's transcript from ~/.claude/projects"
        )
    return f"{seen}; {hint}"


def short(text: str) -> str:
    """Bound a text for a message, and write out what is invisible in it."""
    return printable(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def is_key(key: str) -> bool:
    """Whether a key looks like the name of a field."""
    return _KEY.fullmatch(key) is not None


def short_key(key: str) -> str:
    """Return a key for a message; in place of one that may be a user's words, others."""
    return short(key) if is_key(key) else "(no name of a field)"


def _seen(head: bytes) -> tuple[str, frozenset[str]]:
    try:
        text = head.decode("utf-8-sig", "strict" if len(head) < 4 else "ignore")
    except UnicodeDecodeError:
        return "it is not text", frozenset()
    if "\0" in text or len(text) < len(head) // 2:
        return "it is not text", frozenset()
    text = text.lstrip()
    if not text:
        return "it is empty", frozenset()
    value, end = _first_value(text)
    if value is None and text.startswith("["):  # a list that is longer than what is seen of it
        first, end = _first_value(text[1:].lstrip())
        value = [first]
    if not end:
        is_json = text.startswith(("{", "["))
        return (_TOO_LONG if is_json else "it is text that is not JSON"), frozenset()
    if isinstance(value, list):
        item = value[0] if value and isinstance(value[0], dict) else {}
        keys = f" of objects with the keys {_named(item)}" if item else ""
        return f"it is a JSON list{keys}", frozenset(item)
    if not isinstance(value, dict):
        return "its first value is not a JSON object", frozenset()
    what = "its first line is a JSON object with" if text[end:].strip() else "it is one JSON object with"
    return f"{what} the keys {_named(value)}" if value else "its first object is empty", frozenset(value)


def _first_value(text: str) -> tuple[object, int]:
    """Return the JSON value that a text begins with and where it ends, 0 where there is none."""
    try:
        return json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None, 0


def _named(value: dict[str, object]) -> str:
    names = ", ".join(short_key(key) for key in list(value)[:_KEYS])
    return names + (", …" if len(value) > _KEYS else "")


BATCH = 2_000
MOST_WARNINGS = 100
"""Different warnings of a file that are shown."""
_OTHERS = "there are warnings of other kinds"
_AT, _ENDING, _ACCURACY = map(Invocation._fields.index, ("timestamp", "ending", "accuracy"))


class Run(Protocol):
    """A transaction of a store that takes invocations."""

    def add(self, batch: Sequence[Scored]) -> Sequence[Fate]:
        """Take some, and return what became of each."""


class Counts:
    """What became of a file's invocations.

    Attributes:
        fates: how many of each.
        rejected: how many places gave none, conflicts included.
        warnings: each sentence once, with how often it held.
        unused: what the file holds in place of any use of a skill; None where it has one.
    """

    def __init__(self) -> None:
        self.fates = dict.fromkeys(Fate, 0)
        self.rejected = 0
        self.unused: str | None = None
        self.warnings: dict[str, int] = {}

    def note(self, read: Read) -> None:
        """Count the warnings of a place; of more different ones than anybody reads, no others are named."""
        for warning in read.warnings:
            known = warning in self.warnings or len(self.warnings) < MOST_WARNINGS
            shown = warning if known else _OTHERS
            self.warnings[shown] = self.warnings.get(shown, 0) + 1
        self.unused = read.unused or self.unused


class Problems:
    """Report problems by their place, in order; what holds for many places in a row once, with both ends."""

    def __init__(self, shown: str, report: Callable[[str], None]) -> None:
        self._shown, self._report = shown, report
        self._unit, self._text = "line", ""
        self._first = self._last = self._count = 0

    def add(self, read: Read, text: str) -> None:
        """Report one problem, at the latest by :meth:`close`."""
        if self._count and text == self._text and read.unit == self._unit and read.line >= self._last:
            self._last, self._count = read.line, self._count + 1
            return
        self.close()
        self._unit, self._text = read.unit, text
        self._first = self._last = read.line
        self._count = 1

    def close(self) -> None:
        """Report what was held back."""
        if not self._count:
            return
        place = f"{self._first}" if self._count == 1 else f"{self._first}–{self._last}"
        place = place if self._unit == "line" else f"{self._unit} {place}"
        more = f" ({self._count:,} {self._unit}s)" if self._count > 1 else ""
        self._report(f"{self._shown}:{place}: {self._text}{more}")
        self._count = 0


class Place(NamedTuple):
    """What a reader yielded at one place; ``scored`` is None where there is no invocation."""

    read: Read
    scored: Scored | None


def places(reads: Iterable[Read], score: Scorer) -> Iterator[Place]:
    """Score what a reader yields, as it comes."""
    for read in reads:
        found = read.invocation
        yield Place(read, None if found is None else Scored(found, score(found), digest_of(found)))


def take(found: Iterable[Place], run: Run, problems: Problems, counts: Counts) -> None:
    """Hand all invocations of a file to a transaction, which the caller ends, as it ends ``problems``."""
    batch: list[tuple[Read, Scored]] = []
    for read, scored in found:
        counts.note(read)
        if scored is not None:
            batch.append((read, scored))
        elif read.problem is not None:
            counts.rejected += 1
            problems.add(read, read.problem)
        if len(batch) == BATCH:
            _hand_over(batch, run, counts, problems)
            batch = []
    if batch:
        _hand_over(batch, run, counts, problems)


def _hand_over(batch: Sequence[tuple[Read, Scored]], run: Run, counts: Counts, problems: Problems) -> None:
    fates = run.add([scored for _, scored in batch])
    for (read, scored), fate in zip(batch, fates, strict=True):
        counts.fates[fate] += 1
        if fate is Fate.CONFLICT:
            counts.rejected += 1
            name = scored.invocation.invocation_id
            problems.add(read, f"another invocation with the id {name} is in the store, and says something else")


def digest_of(invocation: Invocation) -> str:
    """Return 32 hexadecimal digits of all that is known; fields that a later version adds at the end change none."""
    values = list(invocation)
    values[_AT] = invocation.timestamp.isoformat()
    values[_ENDING] = invocation.ending and invocation.ending.value
    values[_ACCURACY] = invocation.accuracy and invocation.accuracy.value
    while values[-1] is None:
        del values[-1]
    return hashlib.blake2b(repr(values).encode(), digest_size=16).hexdigest()
