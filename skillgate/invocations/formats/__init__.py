"""Read recorded invocations, one file per format, and pass them to a store in scored batches.

A format has ``is_it`` and ``read``. These constants are read from its source before it is loaded; all but the first
are optional:

- ``EXPECTED``: its name in messages.
- ``FALLBACK``: tried after all others.
- ``ONE_DOCUMENT``: the file may be one line of any length, which comes in pieces under one number.
- ``LINE_BY_LINE``: lines are independent, so a file can be read in parallel.
- ``GROWS``: reading a file again later gives more about the same invocations.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, cast

from skillgate.errors import IncompleteError
from skillgate.format import printable
from skillgate.model.invocation import Fate, Invocation, Read, Scored
from skillgate.registry import INVOCATION_FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import msgspec

    from skillgate.invocations.rubric import Scorer
    from skillgate.store.invocation_rows import Rows

NO_USE = "the session has no use of a skill"
"""Warning about a recording in a known format."""
LONGEST = 4_000_000  # maximum bytes of a line: a transcript holds whole files in one
_SHOWN = 60  # maximum characters of a value in a message
_KEYS = 6  # maximum keys of an object in a message
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")  # anything else may be a user's words, or the name of a file
_TOO_LONG = "the first value is invalid JSON, or too long to detect the format (then set --format)"
_FOREIGN: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset(("title", "status", "issue_type")), "issues of beads, not a recording"),
    (frozenset(("requests", "responderUsername")), "a chat of VS Code, in which no use of a skill can be seen"),
    (frozenset(("mapping", "current_node")), "conversations of ChatGPT, which have no skills"),
    (frozenset(("role", "content")), "bare messages, without a session, times and skills"),
    (frozenset(("id", "sessionID", "role")), "a message of OpenCode; import what `opencode export SESSION` writes"),
    (frozenset(("instructions", "timestamp", "id")), "a rollout of an early Codex; later ones can be imported"),
)
"""What files of other programs look like, by keys of their first object: the first row that fits counts."""

Lines: TypeAlias = Iterator[tuple[int, bytes]]
"""Lines of a file, numbered from 1, without line ends.

A line over :data:`LONGEST` is cut one byte after that; for ``ONE_DOCUMENT`` formats the rest follows in pieces under
the same number.
"""


class Options(NamedTuple):
    """How to read invocations.

    Attributes:
        now: times more than a day later are rejected.
        keep_text: whether strings under unknown keys are stored.
        category: for invocations without one.
        sibling: returns the lines of a file by its path relative to the one being read; None if missing. Transcripts
            of sub-agents are next to that of their session.
        names: of known skills, stored whatever they look like.
        texts: whether to yield the last texts of uses with an unknown outcome.
        modified: when the file was written last; for recordings without any time.
    """

    now: datetime
    keep_text: bool = False
    category: str | None = None
    sibling: Callable[[str], Lines | None] = lambda _path: None
    names: frozenset[str] = frozenset()
    texts: bool = False
    modified: datetime | None = None


Reader: TypeAlias = Callable[[Lines, Options], Iterator[Read]]


FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a fault in a reader may raise; one entry or file must not keep others from being read."""


class UnrecognisedError(IncompleteError):
    """A file has no readable use of a skill; the message says what it has instead."""


def reader(name: str) -> Reader:
    """Return the reader of a format; raise UsageError if there is no such format."""
    return cast("Reader", INVOCATION_FORMATS.load(name).read)


def recognise(head: bytes) -> str | None:
    """Return the format of a file from its first bytes, up to 64 KiB; None if unknown."""
    last = {name: INVOCATION_FORMATS.flag(name, "FALLBACK") for name in INVOCATION_FORMATS.listed()}
    ordered = sorted(last, key=lambda name: last[name])
    return next((name for name in ordered if INVOCATION_FORMATS.load(name).is_it(head)), None)


def unrecognised(head: bytes) -> str:
    """Describe the content of a file of unknown format, and the expected formats, without any text of the file."""
    seen, keys = _seen(head)
    *names, last = (INVOCATION_FORMATS.text(name, "EXPECTED") for name in INVOCATION_FORMATS.listed())
    looks = next((what for row, what in _FOREIGN if row <= keys), None)
    if looks is not None:
        return f"{seen}; this looks like {looks}"
    hint = f"expected {', '.join(names)} or {last}"
    return f"{seen}; {hint}"


def short(text: str) -> str:
    """Shorten a text for a message, and escape invisible characters."""
    return printable(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def is_key(key: str) -> bool:
    """Whether a key looks like a field name."""
    return _KEY.fullmatch(key) is not None


def short_key(key: str) -> str:
    """Return a key for a message, or a placeholder if it may be a user's words."""
    return short(key) if is_key(key) else "(not a field name)"


def _seen(head: bytes) -> tuple[str, frozenset[str]]:
    try:
        text = head.decode("utf-8-sig", "strict" if len(head) < 4 else "ignore")
    except UnicodeDecodeError:
        return "not a text file", frozenset()
    if "\0" in text or len(text) < len(head) // 2:
        return "not a text file", frozenset()
    text = text.lstrip()
    if not text:
        return "empty file", frozenset()
    value, end = first_value(text)
    if value is None and text.startswith("["):  # a list that is longer than the head
        first, end = first_value(text[1:].lstrip())
        value = [first]
    if not end:
        is_json = text.startswith(("{", "["))
        return (_TOO_LONG if is_json else "text that is not JSON"), frozenset()
    if isinstance(value, list):
        item = value[0] if value and isinstance(value[0], dict) else {}
        keys = f" of objects with the keys {_named(item)}" if item else ""
        return f"a JSON list{keys}", frozenset(item)
    if not isinstance(value, dict):
        return "the first value is not a JSON object", frozenset()
    what = "the first line is a JSON object with" if text[end:].strip() else "one JSON object with"
    return f"{what} the keys {_named(value)}" if value else "the first object is empty", frozenset(value)


def first_value(text: str) -> tuple[object, int]:
    """Return the JSON value at the start of a text and its end, or 0 if there is none."""
    try:
        return json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None, 0


def _named(value: dict[str, object]) -> str:
    names = ", ".join(short_key(key) for key in list(value)[:_KEYS])
    return names + (", …" if len(value) > _KEYS else "")


BATCH = 2_000
MOST_WARNINGS = 100
"""Maximum distinct warnings shown per file."""
_OTHERS = "other warnings"
_EXTRA = Invocation._fields.index("extra")


class Run(Protocol):
    """A store transaction to which invocations are added."""

    def add(self, batch: Sequence[Scored]) -> Sequence[Fate]:
        """Add a batch; return the fate of each invocation."""

    def add_rows(self, rows: Rows) -> Sequence[Fate]:
        """Add invocations that are converted for the database already; return the fate of each."""


class Counts:
    """Counts for one file.

    Attributes:
        fates: number of invocations by fate.
        rejected: number of rejected records, conflicts included.
        reopened: number of uses that have continued since a model judged their ending, so that it is unknown again.
        warnings: number of occurrences by text.
        unused: description of a file without any use of a skill; None if it has one.
    """

    def __init__(self) -> None:
        self.fates = dict.fromkeys(Fate, 0)
        self.rejected = self.reopened = 0
        self.unused: str | None = None
        self.warnings: dict[str, int] = {}

    def note(self, read: Read) -> None:
        """Count the warnings of a record; beyond 100 distinct ones, as other warnings."""
        for warning in read.warnings:
            known = warning in self.warnings or len(self.warnings) < MOST_WARNINGS
            shown = warning if known else _OTHERS
            self.warnings[shown] = self.warnings.get(shown, 0) + 1
        self.unused = read.unused or self.unused


class Problems:
    """Report problems with their place, in order; equal problems in a row once, with the range of places."""

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
        """Report pending problems."""
        if not self._count:
            return
        place = f"{self._first}" if self._count == 1 else f"{self._first}–{self._last}"
        place = place if self._unit == "line" else f"{self._unit} {place}"
        more = f" ({self._count:,} {self._unit}s)" if self._count > 1 else ""
        self._report(f"{self._shown}:{place}: {self._text}{more}")
        self._count = 0


class Place(NamedTuple):
    """What a reader yielded at one place; ``scored`` is None without an invocation."""

    read: Read
    scored: Scored | None


class ReadPortion(NamedTuple):
    """What a process read from a portion of a file: ``rows`` from ``lines``, in order, and what has to be reported."""

    reported: list[Read]
    lines: list[int]
    rows: Rows | None


def places(reads: Iterable[Read], score: Scorer) -> Iterator[Place]:
    """Score what a reader yields, lazily."""
    for read in reads:
        found = read.invocation
        yield Place(read, None if found is None else Scored(found, score(found), digest_of(found)))


def take(found: Iterable[Place | ReadPortion], run: Run, problems: Problems, counts: Counts) -> None:
    """Add all invocations of a file to a transaction; the caller closes it and ``problems``."""
    batch: list[tuple[Read, Scored]] = []
    for one in found:
        if isinstance(one, ReadPortion):
            for read in one.reported:
                _count(read, problems, counts)
            if one.rows is not None:
                names = one.rows.invocations["invocation_id"]
                _count_fates(one.lines, names, run.add_rows(one.rows), problems, counts)
            continue
        _count(one.read, problems, counts)
        if one.scored is not None:
            batch.append((one.read, one.scored))
        if len(batch) == BATCH:
            _hand_over(batch, run, problems, counts)
            batch = []
    if batch:
        _hand_over(batch, run, problems, counts)


def _count(read: Read, problems: Problems, counts: Counts) -> None:
    counts.note(read)
    if read.problem is not None:
        counts.rejected += 1
        problems.add(read, read.problem)


def _hand_over(batch: Sequence[tuple[Read, Scored]], run: Run, problems: Problems, counts: Counts) -> None:
    reads, found = zip(*batch, strict=True)
    names = [one.invocation.invocation_id for one in found]
    _count_fates([read.line for read in reads], names, run.add(found), problems, counts, unit=reads[0].unit)


def _count_fates(
    lines: Sequence[int],
    names: Sequence[str],
    fates: Sequence[Fate],
    problems: Problems,
    counts: Counts,
    unit: str = "line",
) -> None:
    """Count what became of invocations, and report those in conflict with the store."""
    for fate, number in Counter(fates).items():
        counts.fates[fate] += number
    if Fate.CONFLICT not in fates:
        return
    for line, name, fate in zip(lines, names, fates, strict=True):
        if fate is Fate.CONFLICT:
            counts.rejected += 1
            text = f"an invocation with the id {name} is already in the store with other values"
            problems.add(Read(line, None, text, (), unit), text)


def digest_of(invocation: Invocation) -> str:
    """Return a digest of all known fields, 32 hexadecimal digits; fields added at the end later do not change it.

    Needs the extra ``store``.
    """
    values: list[Any] = list(invocation)
    if invocation.extra is not None:
        values[_EXTRA] = json.dumps(dict(invocation.extra))  # its keys and texts may not be UTF-8
    while values[-1] is None:
        del values[-1]
    return hashlib.blake2b(_encoder().encode(values), digest_size=16).hexdigest()


@cache
def _encoder() -> msgspec.msgpack.Encoder:
    import msgspec

    return msgspec.msgpack.Encoder()
