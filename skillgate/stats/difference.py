"""The difference of two means of samples of their own: by how much they differ, and what chance leaves of that.

Two intervals are made, and the wider one counts. Welch's (1947) takes each sample's own spread, and is far too narrow
where a small sample happens to hold equal values: of 10 beside 60 values that are 0 or 100, drawn from one population,
it excludes 0 in up to 30 of 100 cases, and of 5 beside 200 in up to 73. The pooled one takes the spread of both
together, which nothing hides in, and is too narrow where the smaller sample spreads more. Together, at a nominal level
of 97.5 %, they exclude 0 in at most 3 of 100 cases for samples of 5 to 200 from one population that is normal, skewed,
two-valued at any share or full of ties; at a nominal 95 % it would be up to 8.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.stats.intervals import LEVEL, Interval, quantile_t
from skillgate.stats.resampling import RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

METHOD = "the wider of Welch's and the pooled t interval, at a nominal 97.5 %"
RESAMPLING = "percentile bootstrap of both samples"
NOMINAL = 0.975  # covers at least 95 % whatever the shape; see above
_ROUNDED = 2  # decimals, by which equal values are found: scores have no more
_CELLS = 2_000_000  # numbers that are drawn at once


class Sample(NamedTuple):
    """Some values: how many, their mean, and their standard deviation by n − 1; 0.0 where all are equal.

    Without values the mean is None, and under two the deviation is.
    """

    n: int
    mean: float | None
    deviation: float | None


def sample(values: Sequence[float]) -> Sample:
    """Describe values; their sum is exact before it is divided."""
    n = len(values)
    if not n:
        return Sample(0, None, None)
    mean = math.fsum(values) / n
    if n < 2:
        return Sample(n, mean, None)
    table = np.asarray(values, dtype=np.float64)
    # Equal values lie apart from their mean by its rounding alone.
    spread = 0.0 if table.min() == table.max() else float(table.std(ddof=1))
    return Sample(n, mean, spread)


def difference(before: Sample, after: Sample) -> Interval | None:
    """Give the interval of ``after`` less ``before``, in their unit, that covers at least 95 %.

    Returns:
        None where neither sample spreads: there is nothing to make an interval from.

    Raises:
        ValueError: a sample has fewer than two values.
    """
    if before.mean is None or before.deviation is None or after.mean is None or after.deviation is None:
        message = f"a difference of means needs two values of each, found {before.n} and {after.n}"
        raise ValueError(message)
    one, two = before.deviation**2 / before.n, after.deviation**2 / after.n
    if one + two == 0:
        return None
    # Welch and Satterthwaite's degrees of freedom; at least those of the smaller sample, so at least one.
    freedom = (one + two) ** 2 / (one**2 / (before.n - 1) + two**2 / (after.n - 1))
    welch = quantile_t(max(1.0, freedom), NOMINAL) * math.sqrt(one + two)
    rest = before.n + after.n - 2
    variance = ((before.n - 1) * before.deviation**2 + (after.n - 1) * after.deviation**2) / rest
    pooled = quantile_t(rest, NOMINAL) * math.sqrt(variance * (1 / before.n + 1 / after.n))
    change, half = after.mean - before.mean, max(welch, pooled)
    return Interval(change - half, change + half)


def resampled(before: Sequence[float], after: Sequence[float], *, seed: int) -> Interval | None:
    """Give the percentile interval of the same difference, each sample drawn from itself with replacement.

    It stands beside the other for comparison and decides nothing: of five values and five it excludes 0 in up to 15 of
    100 cases in which nothing changed. Values count as equal where their second decimals are.

    Returns:
        None where a sample has fewer than two values.
    """
    if len(before) < 2 or len(after) < 2:
        return None
    rng = np.random.default_rng(seed)
    drawn = _means(after, rng) - _means(before, rng)
    low, high = np.quantile(drawn, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Interval(float(low), float(high))


def _means(values: Sequence[float], rng: np.random.Generator) -> Array:
    """Draw means: how often each distinct value comes is multinomial, so a million values cost what thousands do."""
    n = len(values)
    distinct, times = np.unique(np.round(np.asarray(values, dtype=np.float64), _ROUNDED), return_counts=True)
    at_once = max(1, _CELLS // len(distinct))
    parts = [
        rng.multinomial(n, times / n, min(at_once, RESAMPLES - start)) @ distinct
        for start in range(0, RESAMPLES, at_once)
    ]
    means: Array = np.concatenate(parts) / n
    return means
