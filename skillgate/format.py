"""Write counts, percentages, changes and intervals for people: rounded, but never across a limit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_DIGITS = 9  # figures have no more; what differs further down comes from adding up
_SMALLEST = 0.005  # of a change that is not 0: scores have two decimals


def apart(value: float, limits: Iterable[float], digits: int) -> str:
    """Write a number with so many decimals, or with as many more as keep it on its side of each limit."""
    bounds = tuple(limits)
    for enough in range(digits, _MOST_DIGITS + 1):
        if all((round(value, enough) >= limit) == (value >= limit) for limit in bounds):
            return f"{value:.{enough}f}"
    return f"{value:.{digits}f}"


def signed(value: float) -> str:
    """Write a change with its sign, as in ``−4.2``, and below whole numbers that it does not reach.

    A change of 2.96 is not one of 3, and an interval from 0.04 leaves 0 out.
    """
    size = abs(value)
    written = apart(size, (_SMALLEST, math.ceil(size)), 1)
    return f"{'+' if value > 0 else '−'}{written}" if float(written) else "0.0"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun, as in ``1 skill``, ``2 matches`` or ``1,200 tries``."""
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("try") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{count:,} {noun}"


def percent(share: float, digits: int = 1) -> str:
    """Write a ratio as a percentage, as in ``93.3 %``."""
    return f"{100 * share:.{digits}f} %"


def interval(low: float, high: float, digits: int = 0) -> str:
    """Write the ends of an interval, as in ``62–71``."""
    return f"{low:.{digits}f}–{high:.{digits}f}"
