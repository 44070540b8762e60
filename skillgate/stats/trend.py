"""Whether a series of values rises or falls by more than chance; without arrays, for a command that only lists."""

from __future__ import annotations

import math
from collections import Counter
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST = 5  # values: under four no order of them is rare enough


class MannKendall(NamedTuple):
    """Pairs in rising less pairs in falling order, and the two-sided p of it under no trend."""

    s: int
    p: float


def mann_kendall(values: Sequence[float]) -> MannKendall:
    """Test a series for a monotonic trend: equal values are ties, and the normal limit is corrected for them.

    With the continuity correction the test keeps its level from five values on, whatever ties there are. Source: Mann,
    1945; Kendall, 1975.

    Raises:
        ValueError: fewer than five values.
    """
    n = len(values)
    if n < LEAST:
        message = f"a trend needs {LEAST} values, found {n}"
        raise ValueError(message)
    s = sum((b > a) - (b < a) for index, a in enumerate(values) for b in values[index + 1 :])
    tied = sum(count * (count - 1) * (2 * count + 5) for count in Counter(values).values())
    variance = (n * (n - 1) * (2 * n + 5) - tied) / 18
    if variance <= 0 or abs(s) <= 1:
        return MannKendall(s, 1.0)
    z = (abs(s) - 1) / math.sqrt(variance)
    return MannKendall(s, min(1.0, 2 * (1 - NormalDist().cdf(z))))
