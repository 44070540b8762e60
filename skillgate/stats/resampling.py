"""What resampling tells: bootstrap intervals, and permutation tests of paired differences. Chance comes from seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skillgate.stats.intervals import LEVEL, Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Statistic = Callable[[Array], Array]

RESAMPLES = 2_000
EXACT_UNITS = 15  # up to 2^15 arrangements all are tried
ARRANGEMENTS = 10_000  # of more units: as found, and 9,999 by chance
_TOLERANCE = 1e-9  # sums in another order differ in their last digits, and are ties all the same
_DEFINED = 0.95  # of the resamples; else the statistic is too often undefined to speak of an interval


def bootstrap(
    columns: Array,
    statistic: Statistic,
    *,
    seed: int,
    clusters: Sequence[int] | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval | None:
    """Give the percentile interval of a statistic over items drawn with replacement.

    The statistic is one of sums over items (a mean, a variance, a kappa): so a resample is a product of matrices, and
    one of whole clusters is the same over the clusters' sums.

    Args:
        columns: shape (items, m): what is summed.
        statistic: from sums of shape (resamples, m) to values of shape (resamples,), nan where undefined.
        seed: of the draws.
        clusters: which cluster each item belongs to, where whole clusters are drawn; None: items are.
        resamples: how many.
        level: the nominal coverage.

    Returns:
        The interval; None where there are fewer than two items or clusters, or where the statistic is undefined in
        more than 5 % of the resamples.
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
    """Give means from the columns (1, value), for :func:`bootstrap`."""
    means: Array = sums[:, 1] / sums[:, 0]
    return means


def _by_cluster(columns: Array, clusters: Sequence[int]) -> Array:
    names, index = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.zeros((len(names), columns.shape[1]))
    np.add.at(sums, index, columns)
    return sums


def swaps(units: int, *, seed: int) -> npt.NDArray[np.bool_]:
    """Say for each arrangement which units change sides; the first is the one as found, where none does.

    Returns:
        Shape (2^units, units), every arrangement once, for at most 15 units; else (10,000, units), by chance.
    """
    if units <= EXACT_UNITS:
        bits = np.arange(2**units)[:, None] >> np.arange(units)
        return (bits & 1).astype(np.bool_)
    drawn = np.random.default_rng(seed).integers(0, 2, (ARRANGEMENTS, units), dtype=np.uint8).astype(np.bool_)
    drawn[0] = False
    return drawn


def at_least(null: Array, bound: float) -> float:
    """Give the share of a null distribution that reaches a bound, ties included."""
    return float(np.mean(null >= bound - _TOLERANCE * max(1.0, abs(bound))))


def p_value(null: Array) -> float:
    """Give the one-sided p of the first value among all: how often chance alone gives as much. Never 0."""
    return at_least(null, float(null[0]))


def sign_flip(differences: Sequence[float], *, seed: int = 0) -> float:
    """Test whether paired differences are above 0: p, one-sided, when each could as well have the other sign.

    Exact for at most 15 differences that are not 0; 1.0 without any.
    """
    found = np.asarray([value for value in differences if value], dtype=np.float64)
    signs = 1.0 - 2.0 * swaps(len(found), seed=seed)
    return p_value(signs @ found)


def critical(null: Array, alpha: float) -> float | None:
    """Give the least value of a null distribution whose one-sided p is at most ``alpha``; None where none is so rare.

    A test on few units cannot reach a small p whatever is found.
    """
    values, counts = np.unique(np.round(null, 9), return_counts=True)
    reached = np.cumsum(counts[::-1])[::-1] / len(null)
    rare = values[reached <= alpha]
    return float(rare[0]) if len(rare) else None


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Adjust the p values of several tests so that all hold at once (Holm, 1979), in their order."""
    order = sorted(range(len(ps)), key=lambda index: ps[index])
    adjusted = [0.0] * len(ps)
    least = 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = least
    return tuple(adjusted)
