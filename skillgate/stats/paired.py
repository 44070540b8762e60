"""Comparisons of two arms on the same units: McNemar's test, and the interval of a mean difference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtr

from skillgate.stats.intervals import LEVEL, Interval, clopper_pearson, quantile_t

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

_FEW = 5  # clusters that differ from the rest; of fewer, their spread is known too badly
_ROUNDING = 1e-9


def mcnemar(only_first: int, only_second: int) -> float:
    """Test whether two arms succeed equally often on the same units: the exact two-sided p of McNemar's test.

    Args:
        only_first: units on which the first arm alone succeeds.
        only_second: units on which the second arm alone does.

    Returns:
        In (0, 1]; 1.0 where no unit tells the arms apart.

    Raises:
        ValueError: a count is negative.
    """
    if only_first < 0 or only_second < 0:
        message = f"a count cannot be negative: {only_first}, {only_second}"
        raise ValueError(message)
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), only_first + only_second, 0.5)))


def mean_difference(
    differences: Sequence[float],
    clusters: Sequence[int] | None = None,
    *,
    bound: float = 1.0,
    level: float = LEVEL,
) -> Interval | None:
    """Give the interval of a mean paired difference: t, with the clusters as what was drawn.

    The mean is over all differences, its variance that of a ratio of sums over clusters (Cochran, 1977, 6.4), so that
    units of one prompt count as one draw with as many parts. An end on the side of a long tail lies further out, by the
    first term that a skew adds: without it, ten exponential differences are covered in 91 of 100 cases. Where fewer
    than five clusters differ from the rest, the spread that was seen tells too little: then an end lies at least as far
    out as if the share of clusters that may have been missed, by the exact interval of none in so many, differed by all
    there is.

    Args:
        differences: one for each unit, in [-bound, bound].
        clusters: which cluster each unit belongs to; None: each is its own.
        bound: the greatest difference there can be.
        level: the nominal coverage.

    Returns:
        Both ends, in [-bound, bound]; None for fewer than two clusters.

    Raises:
        ValueError: a difference is out of bounds, or there are not as many clusters as differences.
    """
    values = np.asarray(differences, dtype=np.float64)
    names = np.arange(len(values)) if clusters is None else np.asarray(clusters)
    if len(names) != len(values) or not np.all(np.abs(values) <= bound):
        raise ValueError(f"expected differences of at most {bound}, each with its cluster")
    _, place, sizes = np.unique(names, return_inverse=True, return_counts=True)
    groups = len(sizes)
    if groups < 2:
        return None
    mean = float(values.mean())
    sums = np.bincount(place, weights=values)
    apart = sums - mean * sizes
    error = math.sqrt(groups / (groups - 1) * float(np.sum(apart**2))) / len(values)
    quantile = quantile_t(groups - 1, level)
    tail = _tail(apart, quantile) * error
    low, high = mean - quantile * error + min(0.0, tail), mean + quantile * error + max(0.0, tail)
    means = sums / sizes
    if np.count_nonzero(np.abs(means - np.median(means)) > _ROUNDING) < _FEW:
        missed = clopper_pearson(0, groups, level).high
        low, high = min(low, mean - missed * (bound + mean)), max(high, mean + missed * (bound - mean))
    return Interval(max(-bound, low), min(bound, high))


def _tail(apart: npt.NDArray[np.float64], quantile: float) -> float:
    """Say how many standard errors further out an end lies on the side of a long tail.

    Source: the first term of the Edgeworth expansion (Hall, 1992), below 0 for a tail to the left.
    """
    square = float(np.mean(apart**2))
    if square <= _ROUNDING**2:
        return 0.0
    skewness = float(np.mean(apart**3)) / square**1.5
    further: float = skewness * (1 + 2 * quantile**2) / (6 * math.sqrt(len(apart)))
    return further
