"""How far values lie apart: quartiles, outliers and the coefficient of variation, and intervals of a median.

Sources: quartiles by linear interpolation between order statistics (Hyndman and Fan's seventh definition, 1996, the
default of numpy and R), outliers by Tukey's fences (1977), the interval of a median by the sign test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import bdtr

from skillgate.stats.agreement import Measure
from skillgate.stats.intervals import LEVEL, Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

FENCE = 1.5  # distances of the quartiles beyond which a value is an outlier
LEAST_FOR_OUTLIERS = 8  # values; of fewer, each moves the quartiles it is held against
_NEAR_ZERO = 1e-9  # a mean that small beside the largest value leaves nothing to divide by


class Quartiles(NamedTuple):
    """The quartiles of some values, in their unit."""

    q1: float
    median: float
    q3: float


def quartiles(values: Sequence[float]) -> Quartiles | None:
    """Give the quartiles; None without values."""
    if not len(values):
        return None
    return Quartiles(*(float(value) for value in np.quantile(np.asarray(values, dtype=np.float64), (0.25, 0.5, 0.75))))


def outliers(values: Sequence[float]) -> int | None:
    """Count values beyond a quartile by more than 1.5 times the distance of the quartiles.

    None under eight values, and where the quartiles are equal: then everything else would be an outlier.
    """
    found = quartiles(values)
    if found is None or len(values) < LEAST_FOR_OUTLIERS or found.q1 == found.q3:
        return None
    reach = FENCE * (found.q3 - found.q1)
    return sum(1 for value in values if value < found.q1 - reach or value > found.q3 + reach)


def variation(values: Sequence[float]) -> Measure:
    """Give the coefficient of variation: population standard deviation ÷ absolute mean, at least 0.

    None for fewer than two values, and where the mean is 0 but for rounding; never nan or infinite.
    """
    if len(values) < 2:
        return Measure(None, "fewer than two values")
    table = np.asarray(values, dtype=np.float64)
    mean, largest = float(table.mean()), float(np.abs(table).max())
    if abs(mean) <= _NEAR_ZERO * max(1.0, largest):
        return Measure(None, "the mean is 0, and nothing varies in proportion to it")
    return Measure(float(table.std()) / abs(mean))


def median_interval(values: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Give the interval of a median between two of the values: whatever the distribution, it covers at least so much.

    For fewer values than any such interval takes (six at 95 %), the least and the greatest of them: of five, these
    hold the median in 93.75 of 100 cases.

    Returns:
        Both ends, in the unit of the values; None for fewer than five.

    Raises:
        ValueError: ``level`` is not in (0, 1).
    """
    if not 0 < level < 1:
        message = f"a level is between 0 and 1, found {level}"
        raise ValueError(message)
    ordered, n = sorted(values), len(values)
    if n < 5:
        return None
    below = np.asarray(bdtr(np.arange(n // 2 + 1), n, 0.5), dtype=np.float64)
    cut = max(0, int(np.searchsorted(below, (1 - level) / 2, side="right")) - 1)
    return Interval(float(ordered[cut]), float(ordered[n - 1 - cut]))
