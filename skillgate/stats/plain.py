"""Compute statistics without numpy: the score interval of a rate, and a trend test."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

LEVEL = 0.95


def wilson_ends(k: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Return both ends of the score interval of a rate: ``k`` of ``n``; (0, 1) for no trials.

    Source: Wilson, 1927.

    ``k`` may be a fraction, for clusters that succeeded in part.

    Raises:
        ValueError: ``k`` is not in 0..n, or ``level`` not in (0, 1).
    """
    if not 0 <= k <= n:
        raise ValueError(f"expected 0 <= k <= n, found k = {k}, n = {n}")
    if not 0 < level < 1:
        raise ValueError(f"a level is between 0 and 1, found {level}")
    if not n:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(1 - (1 - level) / 2)
    centre = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)
    # At both ends of the scale the formula gives 0 and 1 except for rounding.
    return 0.0 if k == 0 else max(0.0, centre - half), 1.0 if k == n else min(1.0, centre + half)


LEAST_VALUES = 5  # minimum values: with fewer than four no order is rare enough


class MannKendall(NamedTuple):
    """The number of rising minus falling pairs, and its two-sided p without a trend."""

    s: int
    p: float


def mann_kendall(values: Sequence[float]) -> MannKendall:
    """Test a series for a monotonic trend: equal values are ties, and the normal limit is corrected for them.

    With the continuity correction the test keeps its level from five values on, with any ties. Source: Mann, 1945;
    Kendall, 1975.

    Raises:
        ValueError: fewer than five values.
    """
    n = len(values)
    if n < LEAST_VALUES:
        raise ValueError(f"a trend needs {LEAST_VALUES} values, found {n}")
    s = sum((b > a) - (b < a) for index, a in enumerate(values) for b in values[index + 1 :])
    tied = sum(count * (count - 1) * (2 * count + 5) for count in Counter(values).values())
    variance = (n * (n - 1) * (2 * n + 5) - tied) / 18
    if variance <= 0 or abs(s) <= 1:
        return MannKendall(s, 1.0)
    z = (abs(s) - 1) / math.sqrt(variance)
    return MannKendall(s, min(1.0, 2 * (1 - NormalDist().cdf(z))))


class Spearman(NamedTuple):
    """A rank correlation, and the ends of its 95 % interval."""

    rho: float
    low: float
    high: float


def spearman(pairs: Sequence[tuple[float, float]]) -> Spearman | None:
    """Return Spearman's rank correlation with its interval; equal values share their mean rank.

    The interval is Fisher's, with the variance of Bonett and Wright (2000).

    Returns:
        None if all values on one side are equal.

    Raises:
        ValueError: fewer than four pairs.
    """
    n = len(pairs)
    if n < 4:
        raise ValueError(f"a rank correlation needs four pairs, found {n}")
    a, b = (_ranks([pair[side] for pair in pairs]) for side in (0, 1))
    middle = (n + 1) / 2
    spread = math.sqrt(sum((x - middle) ** 2 for x in a) * sum((y - middle) ** 2 for y in b))
    if not spread:
        return None
    rho = max(-1.0, min(1.0, sum((x - middle) * (y - middle) for x, y in zip(a, b, strict=True)) / spread))
    if abs(rho) == 1.0:
        return Spearman(rho, rho, rho)
    half = NormalDist().inv_cdf(0.975) * math.sqrt((1 + rho * rho / 2) / (n - 3))
    return Spearman(rho, math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half))


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(values)
    return [(bisect_left(order, value) + bisect_right(order, value) + 1) / 2 for value in values]
