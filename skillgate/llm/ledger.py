"""What the lines of a journal come to: what was sent, what came of it, what it cost, what is left to be given again.

It reads no file: whoever does hands it line by line, those of earlier processes and then those of this one.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

SENT, GOT, KEPT, LOST, AGAIN = "sent", "got", "kept", "lost", "again"
"""What a line begins with, and what it is of: a try, its reply, an answer of earlier runs, a try that gave none; and a
process that goes on from where another one ended."""
_MOST_USD = 1e6  # of one request: nothing costs more, whatever a file says
_KEY_DIGITS = 32
_HEXADECIMAL = frozenset("0123456789abcdef")


class Place(NamedTuple):
    """Where a line lies: bytes from the file's beginning, and how many."""

    start: int
    length: int


class Spent(NamedTuple):
    """What a run has spent.

    Attributes:
        calls: how often a request was sent.
        usd: what that cost as far as it is known.
        counted: what it counts against a limit of the cost, which may be more.
        unpriced: models of which some cost is unknown, sorted.
    """

    calls: int = 0
    usd: float = 0.0
    counted: float = 0.0
    unpriced: tuple[str, ...] = ()


class _Try(NamedTuple):
    model: str
    most: float


class Ledger:
    """The sum of the lines.

    Attributes:
        spent: so far.
        repeated: how many requests were sent again since nobody knew what had become of them when a process ended.
    """

    def __init__(self) -> None:
        self.spent = Spent()
        self.repeated = 0
        self._waiting: defaultdict[str, deque[Place]] = defaultdict(deque)
        self._out: defaultdict[str, list[_Try]] = defaultdict(list)
        self._ended: Counter[str] = Counter()  # what was out when a process ended, and was not sent again

    def read(self, line: Mapping[str, Any], place: Place) -> bool:
        """Take a line of a file; False where it is none that a journal writes: then it counts for nothing."""
        kind = next(iter(line), None)
        if kind == AGAIN:
            self.ended()
            return True
        key = line.get(kind) if kind in (SENT, GOT, KEPT, LOST) else None
        if not isinstance(key, str) or not _is_key(key):
            return False
        amounts = {name: _usd(line.get(name)) for name in ("most", "cost", "counted")}
        if any(amounts[name] is None and line.get(name) is not None for name in amounts):
            return False
        if kind in (GOT, KEPT) and not isinstance(line.get("reply"), dict):
            return False
        if kind == SENT:
            self.sent(key, str(line.get("model")), amounts["most"] or 0.0)
        elif kind == LOST:
            self.lost(key, amounts["cost"])
        elif kind == GOT:
            self.got(key, amounts["cost"], amounts["counted"])
        if kind in (GOT, KEPT):
            self._waiting[key].append(place)
        return True

    def sent(self, key: str, model: str, most: float) -> None:
        """Note that a request goes out; ``most`` is what it can cost."""
        self._out[key].append(_Try(model, most))
        self.spent = self.spent._replace(calls=self.spent.calls + 1)
        if self._ended[key]:
            self._ended[key] -= 1
            self.repeated += 1

    def got(self, key: str, cost: float | None, counted: float | None) -> None:
        """Note what a reply cost, and what it counts; None where that is unknown: then it counts the most."""
        known = self._over(key)
        if counted is None:
            counted = known.most if cost is None else cost
        self._pay(known.model, cost, counted)

    def lost(self, key: str, cost: float | None) -> None:
        """Note that a try gave nothing; ``cost`` is None where it may have been answered and paid for in vain."""
        known = self._over(key)
        self._pay(known.model, cost, known.most if cost is None else cost)

    def ended(self) -> None:
        """Note that a process ended: what it had sent may have been answered, and counts with the most that it costs.

        What it cost is in no sum of known costs.
        """
        for key, tries in self._out.items():
            self._ended[key] += len(tries)
            counted = sum(each.most for each in tries)
            self.spent = self.spent._replace(counted=self.spent.counted + counted)
        self._out.clear()

    def taken(self, key: str) -> Place | None:
        """Give where the next reply to a request lies, each once; None where there is none."""
        places = self._waiting.get(key)
        return places.popleft() if places else None

    def _over(self, key: str) -> _Try:
        tries = self._out.get(key)
        return tries.pop(0) if tries else _Try("", 0.0)

    def _pay(self, model: str, cost: float | None, counted: float) -> None:
        unpriced = self.spent.unpriced if cost is not None else tuple(sorted({*self.spent.unpriced, model}))
        self.spent = self.spent._replace(
            usd=self.spent.usd + (cost or 0.0), counted=self.spent.counted + counted, unpriced=unpriced
        )


def _is_key(value: str) -> bool:
    return len(value) == _KEY_DIGITS and _HEXADECIMAL.issuperset(value)


def _usd(value: object) -> float | None:
    """Read US dollars; None where a value is no amount that one request can cost."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MOST_USD else None
