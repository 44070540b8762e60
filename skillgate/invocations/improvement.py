"""When a skill last got better: over all of its history, by the mean of ten totals in a row (R24)."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY_S = 86_400
TRAILING = 10  # rated invocations whose mean is followed; source: R24
STEP = 1.0  # points above the best so far that are an improvement; source: R24
_ROUNDED = 9  # decimals: what adding up leaves behind them decides nothing
_NEAR = 0.001  # points; a sum over a million totals that are added and taken away drifts by less than a millionth


class Improvement:
    """Follows one skill's totals in their order.

    The first mean of ten is the best so far. One that lies a whole point above the best is an improvement and the new
    best; so a slow creep counts once it adds up to a point, and what was lost and won back does not count.
    """

    __slots__ = ("_about", "_best", "_first", "_improved", "_trailing")

    def __init__(self) -> None:
        self._trailing: deque[float] = deque()
        self._about = 0.0
        self._best: float | None = None
        self._first: int | None = None
        self._improved: int | None = None

    def add(self, rated: Iterable[tuple[int, float]]) -> None:
        """Follow further rated invocations: their times in seconds since 1970, not falling, and their totals."""
        for at, total in rated:
            if self._first is None:
                self._first = at
            self._trailing.append(total)
            self._about += total
            if len(self._trailing) < TRAILING:
                continue
            if len(self._trailing) > TRAILING:
                self._about -= self._trailing.popleft()
            # The running sum drifts a little, and only where it comes near is there anything to add up exactly.
            if self._best is None or self._about >= TRAILING * (self._best + STEP) - _NEAR:
                self._follow(at, round(math.fsum(self._trailing) / TRAILING, _ROUNDED))

    def _follow(self, at: int, mean: float) -> None:
        if self._best is None:
            self._best = mean
        elif mean >= round(self._best + STEP, _ROUNDED):
            self._best, self._improved = mean, at

    @property
    def day(self) -> int | None:
        """The day of the last improvement in days since 1970; that of the first total where there was none.

        None where nothing is rated.
        """
        last = self._first if self._improved is None else self._improved
        return None if last is None else last // DAY_S
