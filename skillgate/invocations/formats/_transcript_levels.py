"""What a session is followed with: its levels, the calls that wait for a result, and a memory of bounded size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.invocations.formats._transcript_entries import Entry, Usage
    from skillgate.invocations.formats._transcript_lines import Change
    from skillgate.invocations.formats._transcript_run import Run

KEPT = 20_000
"""Ids of each sort that are remembered: parts of a reply and results of calls stand close to each other."""
ASKED = 256
"""Sub-agents that may be at work at once: those above it are forgotten, and what they do counts for no run."""

T = TypeVar("T")


class Recent(Generic[T]):
    """The last things of a sort, by what tells them apart."""

    def __init__(self, most: int = KEPT) -> None:
        """Begin with none."""
        self._items: dict[object, T] = {}
        self._most = most

    def get(self, key: object) -> T | None:
        """Give what is known by a key."""
        return self._items.get(key)

    def put(self, key: object, item: T) -> None:
        """Keep it, and forget the oldest where there are too many."""
        self._items.pop(key, None)
        self._items[key] = item
        if len(self._items) > self._most:
            del self._items[next(iter(self._items))]

    def take(self, key: object) -> T | None:
        """Give what is known by a key, and forget it."""
        return self._items.pop(key, None)

    def latest(self) -> Iterator[T]:
        """Give all, the last first."""
        return reversed(self._items.values())

    def first_time(self, key: object, item: T) -> bool:
        """Keep it unless it is known, and say whether it was not."""
        if key in self._items:
            return False
        self.put(key, item)
        return True


class Level:
    """One conversation: that with the user, or that of a sub-agent.

    Attributes:
        outer: the runs within which it was opened, the innermost first.
        depth: 0 for the user's.
        run: the one that goes on.
        command: a user's command that was not yet seen to be one thing or another, and its line.
    """

    def __init__(self, outer: tuple[Run, ...] = (), depth: int = 0) -> None:
        """Begin one with nothing going on."""
        self.outer, self.depth = outer, depth
        self.run: Run | None = None
        self.command: tuple[int, Entry] | None = None

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs that what happens here counts for."""
        return self.outer if self.run is None else (self.run, *self.outer)


@dataclass(slots=True, kw_only=True)
class Pending:
    """A call whose result is not there yet.

    Attributes:
        depth: of its level.
        runs: those it counts for; the first is that of its own level where there is one.
        own: the run of its own level.
        loaded: the run that it begins, as the call for a skill.
        before: the run that follow-ups counted for until then.
        over: the run of its level that ended with it.
        change: what it is to write.
        prompt: digest of what a sub-agent is asked; None where the call is for something else.
        sessions: where the sub-agent's transcript may lie.
        is_followed: whether entries of the sub-agent are in the file itself.
    """

    depth: int
    runs: tuple[Run, ...]
    own: Run | None = None
    loaded: Run | None = None
    before: Run | None = None
    over: Run | None = None
    change: Change | None = None
    prompt: int | None = None
    sessions: tuple[str, ...] = ()
    is_followed: bool = False


@dataclass(slots=True)
class Counted:
    """The tokens of a reply as far as they were told, and the runs that they count for."""

    usage: Usage
    runs: tuple[Run, ...]
