"""Resample: bootstrap intervals, and permutation tests of paired differences, all seeded."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtr

from skillgate.stats.intervals import LEVEL, Interval, quantile_t

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Statistic = Callable[[Array], Array]

RESAMPLES = 2_000
EXACT_UNITS = 15  # up to 15 units all 2^15 arrangements are used
ARRANGEMENTS = 10_000  # for more units: the observed one and 9,999 random ones
_TOLERANCE = 1e-9  # sums in another order differ in their last digits, but count as ties
_DEFINED = 0.95  # minimum share of resamples with a defined statistic for an interval


def bootstrap(
    columns: Array,
    statistic: Statistic,
    *,
    seed: int,
    clusters: Sequence[int] | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval | None:
    """Return the percentile interval of a statistic over items resampled with replacement.

    The statistic is a function of sums over items (a mean, a variance, a kappa), so a resample is a matrix product.

    ``columns``, of shape (items, m), is summed; ``statistic`` maps sums of shape (resamples, m) to (resamples,), nan if
    undefined. With ``clusters``, the cluster of each item, whole clusters are resampled.

    Returns:
        The interval; None for fewer than two items or clusters, or if the statistic is undefined in more than 5 % of
        the resamples.
    """
    sums = columns if clusters is None else _by_cluster(columns, clusters)
    n = len(sums)
    if n < 2:
        return None
    times = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), resamples)
    values = statistic(times @ sums)
    defined = values[np.isfinite(values)]
    if len(defined) < _DEFINED * resamples:
        return None
    low, high = np.quantile(defined, ((1 - level) / 2, (1 + level) / 2))
    return Interval(float(low), float(high))


def mean_of_sums(sums: Array) -> Array:
    """Return means from the columns (1, value), for :func:`bootstrap`."""
    means: Array = sums[:, 1] / sums[:, 0]
    return means


def _by_cluster(columns: Array, clusters: Sequence[int]) -> Array:
    names, index = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.zeros((len(names), columns.shape[1]))
    np.add.at(sums, index, columns)
    return sums


def swaps(units: int, *, seed: int) -> npt.NDArray[np.bool_]:
    """Return which units are swapped in each arrangement; the first is the observed one, without swaps.

    Returns:
        Shape (2^units, units), every arrangement once, for at most 15 units; else (10,000, units), random.
    """
    if units <= EXACT_UNITS:
        bits = np.arange(2**units)[:, None] >> np.arange(units)
        return (bits & 1).astype(np.bool_)
    drawn = np.random.default_rng(seed).integers(0, 2, (ARRANGEMENTS, units), dtype=np.uint8).astype(np.bool_)
    drawn[0] = False
    return drawn


def at_least(null: Array, bound: float) -> float:
    """Return the share of a null distribution that reaches a bound, ties included."""
    return float(np.mean(null >= bound - _TOLERANCE * max(1.0, abs(bound))))


def p_value(null: Array) -> float:
    """Return the one-sided p of the first value: the share of values at least as large. Never 0."""
    return at_least(null, float(null[0]))


def sign_flip(differences: Sequence[float], *, seed: int = 0) -> float:
    """Test whether paired differences are above 0: the one-sided p under random signs.

    Exact for at most 15 non-zero differences; 1.0 without any.
    """
    found = np.asarray([value for value in differences if value], dtype=np.float64)
    signs = 1.0 - 2.0 * swaps(len(found), seed=seed)
    return p_value(signs @ found)


def critical(null: Array, alpha: float) -> float | None:
    """Return the smallest value of a null distribution with a one-sided p of at most ``alpha``; None if there is none.

    A test on few units cannot reach a small p.
    """
    values, counts = np.unique(np.round(null, 9), return_counts=True)
    reached = np.cumsum(counts[::-1])[::-1] / len(null)
    rare = values[reached <= alpha]
    return float(rare[0]) if len(rare) else None


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Adjust the p values of several tests for multiple testing (Holm, 1979), in their order."""
    order = sorted(range(len(ps)), key=lambda index: ps[index])
    adjusted = [0.0] * len(ps)
    least = 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = least
    return tuple(adjusted)


def benjamini_hochberg(ps: Sequence[float]) -> tuple[float, ...]:
    """Adjust the p values of several tests for the false discovery rate (Benjamini and Hochberg, 1995), in their order.

    Of the tests with an adjusted p of at most 5 %, at most 5 % are expected to be chance; if nothing differs, the
    chance that there is any is at most 5 %. It holds for independent or positively dependent tests.
    """
    adjusted = [0.0] * len(ps)
    least = 1.0
    for rank, index in sorted(enumerate(sorted(range(len(ps)), key=lambda index: ps[index]), start=1), reverse=True):
        least = min(least, len(ps) / rank * ps[index])
        adjusted[index] = least
    return tuple(adjusted)


# -- The Bayesian bootstrap: every item gets a random weight, so none is ever left out.
#
# Source: Rubin, 1981. A mean sampled this way has no more spread than the data: for fifty equal grades none. So each
# sample also has an artificial item at either end of the scale, with more weight at the bad end for the lower end of an
# interval and more at the good end for the upper. For k hits in n these give Beta(k + ¼, n − k + ¾) and
# Beta(k + ¾, n − k + ¼), as in :func:`skillgate.stats.intervals.rate_draws`

_MORE, _LESS = 0.75, 0.25  # mean weights of the artificial items, relative to one item


class Pad(NamedTuple):
    """The weights of the artificial items at the good and the bad end; arrays of shape (draws,)."""

    good: Array
    bad: Array


class Weights(NamedTuple):
    """Random weights: of the items, shape (draws, items), and of the artificial ones, biased down and up."""

    items: Array
    worst: Pad
    best: Pad


def weights(items: int, rng: np.random.Generator, draws: int = RESAMPLES) -> Weights:
    """Sample weights with mean 1."""
    own = rng.standard_exponential((draws, items))
    return Weights(own, *pads(rng, draws))


def pads(rng: np.random.Generator, draws: int = RESAMPLES) -> tuple[Pad, Pad]:
    """Sample the weights of the artificial items: biased down, and biased up."""
    more, less = rng.gamma(_MORE, size=draws), rng.gamma(_LESS, size=draws)
    return Pad(good=less, bad=more), Pad(good=more, bad=less)


def mean_interval(
    values: Sequence[float], *, low: float = 0.0, high: float = 1.0, seed: int = 0, level: float = LEVEL
) -> Interval | None:
    """Return the interval of the mean of bounded values, for any distribution.

    Each value is between ``low`` and ``high``.

    Returns:
        Both ends, with the mean between them; None without values.

    Raises:
        ValueError: a value is out of bounds.
    """
    if not all(low <= value <= high for value in values):
        raise ValueError(f"expected values from {low} to {high}")
    if not len(values):
        return None
    table = np.asarray(values, dtype=np.float64)
    drawn = weights(len(table), np.random.default_rng(seed))
    ends = [
        (drawn.items @ table + pad.good * high + pad.bad * low) / (drawn.items.sum(axis=1) + pad.good + pad.bad)
        for pad in (drawn.worst, drawn.best)
    ]
    mean = float(table.mean())
    return Interval(
        min(mean, float(np.quantile(ends[0], (1 - level) / 2))), max(mean, float(np.quantile(ends[1], (1 + level) / 2)))
    )


# -- The difference of two means of samples of their own: by how much they differ, and what chance leaves of that.
#
# Two intervals are made, and the wider one counts. Welch's (1947) takes each sample's own spread, and is far too narrow
# where a small sample happens to hold equal values: of 10 beside 60 values that are 0 or 100, drawn from one
# population, it excludes 0 in up to 30 of 100 cases, and of 5 beside 200 in up to 73. The pooled one takes the spread
# of both together, which nothing hides in, and is too narrow where the smaller sample spreads more. Together, at a
# nominal level of 97.5 %, they exclude 0 in at most 3 of 100 cases for samples of 5 to 200 from one population that is
# normal, skewed, two-valued at any share or full of ties; at a nominal 95 % it would be up to 8

METHOD = "the wider of Welch's and the pooled t interval, at a nominal 97.5 %"
RESAMPLING = "percentile bootstrap of both samples"
NOMINAL = 0.975  # covers at least 95 % whatever the shape; see above
_ROUNDED = 2  # decimals, by which equal values are found: scores have no more
_ORDERED = 50  # values whose orders are counted; of more, p is 0 to any precision that matters
_CELLS = 2_000_000  # numbers that are drawn at once


class Sample(NamedTuple):
    """A summary of values: number, mean, and standard deviation by n − 1 (0.0 if all are equal).

    The mean is None without values, the deviation for fewer than two.
    """

    n: int
    mean: float | None
    deviation: float | None


def sample(values: Sequence[float]) -> Sample:
    """Summarise values; the sum is exact."""
    n = len(values)
    if not n:
        return Sample(0, None, None)
    mean = math.fsum(values) / n
    if n < 2:
        return Sample(n, mean, None)
    table = np.asarray(values, dtype=np.float64)
    # Equal values differ from their mean only by rounding.
    spread = 0.0 if table.min() == table.max() else float(table.std(ddof=1))
    return Sample(n, mean, spread)


def difference(before: Sample, after: Sample) -> Interval | None:
    """Return the interval of ``after`` minus ``before``, in their unit; it covers at least 95 %.

    Returns:
        None if neither sample has any spread.

    Raises:
        ValueError: a sample has fewer than two values.
    """
    errors = _errors(before, after)
    if errors is None:
        return None
    change = (after.mean or 0.0) - (before.mean or 0.0)
    half = max(quantile_t(freedom, NOMINAL) * error for error, freedom in errors)
    return Interval(change - half, change + half)


def difference_p(before: Sample, after: Sample) -> float:
    """Return the p of no difference: below 0.05 exactly where the interval of :func:`difference` excludes 0.

    Without any spread it is the share of orders of the values that look so: for five and five, 2 of 252.

    Raises:
        ValueError: a sample has fewer than two values.
    """
    errors = _errors(before, after)
    change = (after.mean or 0.0) - (before.mean or 0.0)
    if errors is None:
        few = min(before.n, _ORDERED), min(after.n, _ORDERED)
        return min(1.0, 2 / math.comb(sum(few), few[0])) if change else 1.0
    p = max(2 * float(stdtr(freedom, -abs(change) / error)) for error, freedom in errors)
    return min(1.0, p * (1 - LEVEL) / (1 - NOMINAL))


def _errors(before: Sample, after: Sample) -> tuple[tuple[float, float], ...] | None:
    """Return standard error and degrees of freedom of the difference: Welch's and pooled; None without spread.

    Raises:
        ValueError: a sample has fewer than two values.
    """
    if before.mean is None or before.deviation is None or after.mean is None or after.deviation is None:
        raise ValueError(f"a difference of means needs two values of each, found {before.n} and {after.n}")
    one, two = before.deviation**2 / before.n, after.deviation**2 / after.n
    if one + two == 0:
        return None
    # Welch and Satterthwaite's degrees of freedom; at least those of the smaller sample, so at least one.
    freedom = (one + two) ** 2 / (one**2 / (before.n - 1) + two**2 / (after.n - 1))
    rest = before.n + after.n - 2
    variance = ((before.n - 1) * before.deviation**2 + (after.n - 1) * after.deviation**2) / rest
    pooled = math.sqrt(variance * (1 / before.n + 1 / after.n))
    return (math.sqrt(one + two), max(1.0, freedom)), (pooled, float(rest))


def resampled(before: Sequence[float], after: Sequence[float], *, seed: int) -> Interval | None:
    """Return the percentile interval of the same difference, each sample resampled with replacement.

    It is shown for comparison and decides nothing: for five values and five it excludes 0 in up to 15 of 100 cases
    without any change. Values are compared to two decimals.

    Returns:
        None if a sample has fewer than two values.
    """
    if len(before) < 2 or len(after) < 2:
        return None
    rng = np.random.default_rng(seed)
    drawn = _means(after, rng) - _means(before, rng)
    low, high = np.quantile(drawn, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Interval(float(low), float(high))


def _means(values: Sequence[float], rng: np.random.Generator) -> Array:
    """Sample means; counts of distinct values are multinomial, so a million values cost as much as thousands."""
    n = len(values)
    distinct, times = np.unique(np.round(np.asarray(values, dtype=np.float64), _ROUNDED), return_counts=True)
    at_once = max(1, _CELLS // len(distinct))
    parts = [
        rng.multinomial(n, times / n, min(at_once, RESAMPLES - start)) @ distinct
        for start in range(0, RESAMPLES, at_once)
    ]
    means: Array = np.concatenate(parts) / n
    return means
