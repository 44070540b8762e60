"""Compute intervals of rates, means, class-balanced F1, medians and paired differences; 95 % by default.

Only ``scipy.special`` is used, since ``scipy.stats`` takes half a second to load.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from scipy.special import bdtr, betaincinv, stdtrit

from skillgate.stats.agreement import Measure
from skillgate.stats.plain import wilson_ends

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

Number = TypeVar("Number", float, "Array")

LEVEL = 0.95
DRAWS = 10_000


class Interval(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float


def clopper_pearson(k: int, n: int, level: float = LEVEL) -> Interval:
    """Return the exact interval of a rate: ``k`` of ``n``; (0, 1) for no trials.

    Source: Clopper and Pearson, 1934, by the quantiles of the beta distribution.

    Raises:
        ValueError: ``k`` is not in 0..n, or ``level`` not in (0, 1).
    """
    if not 0 <= k <= n:
        raise ValueError(f"expected 0 <= k <= n, found k = {k}, n = {n}")
    tail = _tail(level)
    low = float(betaincinv(k, n - k + 1, tail)) if k > 0 else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return Interval(low, high)


def wilson(k: int, n: int, level: float = LEVEL) -> Interval:
    """Return the score interval of a rate: ``k`` of ``n``; (0, 1) for no trials.

    Narrower than the exact one, and it covers ``level`` on average over rates, not at each. Source: Wilson, 1927.

    Raises:
        ValueError: ``k`` is not in 0..n, or ``level`` not in (0, 1).
    """
    return Interval(*wilson_ends(k, n, level))


def quantile_t(freedom: float, level: float = LEVEL) -> float:
    """Return the half-width of a two-sided t interval in standard errors.

    Raises:
        ValueError: fewer than one degree of freedom, or ``level`` not in (0, 1).
    """
    if freedom < 1:
        raise ValueError(f"expected at least one degree of freedom, found {freedom}")
    return float(stdtrit(freedom, 1 - _tail(level)))


def half_width_t(values: Sequence[float], level: float = LEVEL) -> float:
    """Return t · s ÷ √n: half the width of the t interval of a mean. 0.0 where all values are equal.

    Raises:
        ValueError: fewer than two values, or ``level`` not in (0, 1).
    """
    n = len(values)
    if n < 2:
        raise ValueError(f"an interval of a mean needs two values, found {n}")
    spread = float(np.std(np.asarray(values, dtype=np.float64), ddof=1))
    return quantile_t(n - 1, level) * spread / math.sqrt(n)


def mean_t(values: Sequence[float], least_half_width: float = 0.0, level: float = LEVEL) -> Interval:
    """Return the t interval of the mean of values in [0, 1], cut to [0, 1].

    ``least_half_width`` should be half a step of a coarse scale, on which equal values do not prove certainty.

    Raises:
        ValueError: fewer than two values, or ``level`` not in (0, 1).
    """
    half = max(half_width_t(values, level), least_half_width)
    mean = math.fsum(values) / len(values)
    return Interval(min(1.0, max(0.0, mean - half)), max(0.0, min(1.0, mean + half)))


def balanced(recall: Number, false_alarms: Number) -> Number:
    """Return class-balanced F1, 2·TPR ÷ (1 + TPR + FPR): the F1 for classes of equal size."""
    return 2 * recall / (1 + recall + false_alarms)


class RateDraws(NamedTuple):
    """Samples of a rate, biased down and biased up: arrays of shape (draws,), in [0, 1]."""

    low: Array
    high: Array


def rate_draws(values: Sequence[float], rng: np.random.Generator, draws: int = DRAWS) -> RateDraws:
    """Sample the rate behind some outcomes, for the lower and the upper end of an interval.

    For k in n the lower one is Beta(k + ¼, n − k + ¾), the upper one Beta(k + ¾, n − k + ¼). This is halfway between
    Jeffreys' prior (½, ½) and the betas of Clopper and Pearson's ends (0, 1). The former gives intervals of
    class-balanced F1 that cover as little as 89 % at n = 50 + 10. The latter gives intervals a tenth wider than
    necessary. Without successes the
    interval contains 0, without failures 1.

    Each value is a trial's outcome in [0, 1]; a mean over judges counts as a fraction of a success.

    Raises:
        ValueError: no values, or one outside [0, 1].
    """
    n = len(values)
    if not n or not all(0 <= value <= 1 for value in values):
        raise ValueError("expected at least one value, all in [0, 1]")
    k = math.fsum(values)
    low = rng.beta(k + 0.25, n - k + 0.75, draws) if k > 0 else np.zeros(draws)
    high = rng.beta(k + 0.75, n - k + 0.25, draws) if k < n else np.ones(draws)
    return RateDraws(low, high)


def f1_draws(hits: Sequence[float], alarms: Sequence[float], rng: np.random.Generator, draws: int = DRAWS) -> RateDraws:
    """Sample class-balanced F1, for the lower and the upper end of an interval.

    ``hits`` and ``alarms`` are the shares of judges who would load the skill, per prompt that should trigger and per
    near miss.

    Raises:
        ValueError: no hits or no alarms, or a value outside [0, 1].
    """
    recall, false_alarms = rate_draws(hits, rng, draws), rate_draws(alarms, rng, draws)
    return RateDraws(balanced(recall.low, false_alarms.high), balanced(recall.high, false_alarms.low))


def balanced_f1(hits: Sequence[float], alarms: Sequence[float], seed: int = 0, level: float = LEVEL) -> Interval:
    """Return the interval of class-balanced F1, from samples of its two rates.

    The samples of :func:`rate_draws` are used, since an observed rate of 0 or 1 has no spread. The coverage, summed
    over all outcomes, is at least 93 % at n = 5 + 5, and 95 % at n = 50 + 10, for all rates.

    ``hits`` and ``alarms`` are as in :func:`f1_draws`.

    Raises:
        ValueError: no hits or no alarms, a value outside [0, 1], or ``level`` not in (0, 1).
    """
    tail = _tail(level)
    drawn = f1_draws(hits, alarms, np.random.default_rng(seed))
    return Interval(float(np.quantile(drawn.low, tail)), float(np.quantile(drawn.high, 1 - tail)))


def _tail(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"a level is between 0 and 1, found {level}")
    return (1 - level) / 2


# -- Dispersion: quartiles, outliers, variation, and intervals of a median

FENCE = 1.5  # distances of the quartiles beyond which a value is an outlier
LEAST_FOR_OUTLIERS = 8  # minimum values; with fewer, each moves the quartiles it is compared with
_NEAR_ZERO = 1e-9  # a mean this small relative to the largest value counts as 0


class Quartiles(NamedTuple):
    """The quartiles of some values, in their unit."""

    q1: float
    median: float
    q3: float


def quartiles(values: Sequence[float]) -> Quartiles | None:
    """Return the quartiles; None without values."""
    if not len(values):
        return None
    return Quartiles(*(float(value) for value in np.quantile(np.asarray(values, dtype=np.float64), (0.25, 0.5, 0.75))))


def outliers(values: Sequence[float]) -> int | None:
    """Count values beyond a quartile by more than 1.5 times the distance of the quartiles.

    None for fewer than eight values, and for equal quartiles, where every other value would be an outlier.
    """
    found = quartiles(values)
    if found is None or len(values) < LEAST_FOR_OUTLIERS or found.q1 == found.q3:
        return None
    reach = FENCE * (found.q3 - found.q1)
    return sum(1 for value in values if value < found.q1 - reach or value > found.q3 + reach)


def variation(values: Sequence[float]) -> Measure:
    """Return the coefficient of variation: population standard deviation ÷ absolute mean, at least 0.

    None for fewer than two values, and if the mean is 0 except for rounding; never nan or infinite.
    """
    if len(values) < 2:
        return Measure(None, "fewer than two values")
    table = np.asarray(values, dtype=np.float64)
    mean, largest = float(table.mean()), float(np.abs(table).max())
    if abs(mean) <= _NEAR_ZERO * max(1.0, largest):
        return Measure(None, "the mean is 0, and nothing varies in proportion to it")
    return Measure(float(table.std()) / abs(mean))


def median_interval(values: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Return the interval of a median between two of the values; it covers at least ``level`` for any distribution.

    With too few values (under six at 95 %), return the smallest and the largest: of five values, these contain the
    median in 93.75 of 100 cases.

    Returns:
        Both ends, in the unit of the values; None for fewer than five.

    Raises:
        ValueError: ``level`` is not in (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"a level is between 0 and 1, found {level}")
    ordered, n = sorted(values), len(values)
    if n < 5:
        return None
    below = np.asarray(bdtr(np.arange(n // 2 + 1), n, 0.5), dtype=np.float64)
    cut = max(0, int(np.searchsorted(below, (1 - level) / 2, side="right")) - 1)
    return Interval(float(ordered[cut]), float(ordered[n - 1 - cut]))


# -- Two arms on the same units: McNemar's test, and the interval of a mean difference

_FEW = 5  # minimum clusters that differ from the rest; with fewer, their spread is too uncertain
_LEAST_SPREAD = 1e-9


def mcnemar(only_first: int, only_second: int) -> float:
    """Test whether two arms succeed equally often on the same units: the exact two-sided p of McNemar's test.

    The counts are of units on which only one arm succeeds.

    Returns:
        In (0, 1]; 1.0 if no unit distinguishes the arms.

    Raises:
        ValueError: a count is negative.
    """
    if only_first < 0 or only_second < 0:
        raise ValueError(f"a count cannot be negative: {only_first}, {only_second}")
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), only_first + only_second, 0.5)))


def mean_difference(
    differences: Sequence[float], clusters: Sequence[int] | None = None, *, bound: float = 1.0, level: float = LEVEL
) -> Interval | None:
    """Return the t interval of a mean paired difference, with clusters as sampling units.

    The mean is over all differences, its variance that of a ratio of sums over clusters (Cochran, 1977, 6.4), so units
    of one prompt count as one sample with several parts. An end on the side of a long tail is moved out by the first
    skewness term: without it, ten exponential differences are covered in 91 of 100 cases. If fewer than five clusters
    differ from the rest, the observed spread is not reliable. Then an end is at least as far out as if all clusters
    that may have been missed (by the exact interval of none in n) differed by the maximum.

    Differences are in [-bound, bound]; without ``clusters`` each is its own.

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
    tail = _skew_term(apart, quantile) * error
    low, high = mean - quantile * error + min(0.0, tail), mean + quantile * error + max(0.0, tail)
    means = sums / sizes
    if np.count_nonzero(np.abs(means - np.median(means)) > _LEAST_SPREAD) < _FEW:
        missed = clopper_pearson(0, groups, level).high
        low, high = min(low, mean - missed * (bound + mean)), max(high, mean + missed * (bound - mean))
    return Interval(max(-bound, low), min(bound, high))


def _skew_term(apart: npt.NDArray[np.float64], quantile: float) -> float:
    """Return how many standard errors further out an end is on the side of a long tail.

    Source: the first term of the Edgeworth expansion (Hall, 1992), below 0 for a tail to the left.
    """
    square = float(np.mean(apart**2))
    if square <= _LEAST_SPREAD**2:
        return 0.0
    skewness = float(np.mean(apart**3)) / square**1.5
    further: float = skewness * (1 + 2 * quantile**2) / (6 * math.sqrt(len(apart)))
    return further
