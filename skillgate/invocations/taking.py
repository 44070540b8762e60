"""From what a reader yields to what a store takes: scored, in batches, every problem reported with its place."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple, Protocol

from skillgate.model.invocation import Fate, Invocation, Scored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.invocations.rubric import Scorer
    from skillgate.model.invocation import Read

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
