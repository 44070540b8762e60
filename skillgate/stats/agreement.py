"""Measure agreement of raters: Cohen's kappa, ICC(2,1), and plain shares. Undefined values are None with a reason.

Sources: Cohen 1960 and 1968 (kappa, weighted kappa), Shrout and Fleiss 1979 (ICC(2,1), absolute agreement, one rating).
Kappa uses the ratings themselves, not bins, since it would depend on their edges.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

Weights = Literal["quadratic", "linear", "none"]
CONSTANT = "every rating is the same, so there is no agreement beyond chance to measure"
_ROUNDING = 1e-12  # relative rounding error of a difference of sums; smaller values count as 0


class Measure(NamedTuple):
    """A number, or None with a reason."""

    value: float | None
    reason: str | None = None


def kappa(a: Sequence[float], b: Sequence[float], *, weights: Weights = "quadratic") -> Measure:
    """Return Cohen's kappa of two raters: 1 for perfect agreement, 0 for chance agreement.

    Any scale is possible, since weights depend only on differences. ``weights`` is the cost of a disagreement: the
    squared difference, the difference, or 1 for any (``none``).

    Raises:
        ValueError: the raters have not rated equally many items.
    """
    one, two = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if len(one) != len(two):
        raise ValueError(f"expected as many ratings of both, found {len(one)} and {len(two)}")
    if not len(one):
        return Measure(None, "no ratings")
    values, codes = np.unique(np.concatenate((one, two)), return_inverse=True)
    shares = [np.bincount(part, minlength=len(values)) / len(one) for part in (codes[: len(one)], codes[len(one) :])]
    expected = float(shares[0] @ _cost(values[:, None], values[None, :], weights) @ shares[1])
    observed = float(np.mean(_cost(one, two, weights)))
    return Measure(1.0 - observed / expected) if expected else Measure(None, CONSTANT)


def _cost(one: Array, two: Array, weights: Weights) -> Array:
    apart = np.abs(one - two)
    if weights == "quadratic":
        return apart**2
    return apart if weights == "linear" else (apart > 0).astype(np.float64)


def mean_pairwise_kappa(ratings: Sequence[Sequence[float]], *, weights: Weights = "quadratic") -> Measure:
    """Return the mean of kappa over all pairs of raters.

    ``ratings`` has shape (items, raters).

    Returns:
        None for fewer than two raters, no items, or a pair with undefined kappa.
    """
    raters = tuple(zip(*ratings, strict=True))
    if len(raters) < 2:
        return Measure(None, "no ratings" if not raters else "agreement needs two raters")
    pairs = [kappa(one, two, weights=weights) for one, two in combinations(raters, 2)]
    known = [pair.value for pair in pairs if pair.value is not None]
    return Measure(sum(known) / len(known)) if len(known) == len(pairs) else Measure(None, CONSTANT)


def products(ratings: Sequence[Sequence[float]]) -> Array:
    """Return the terms of quadratic kappa, one row per item; see :func:`kappa_of_sums`.

    Returns:
        Shape (items, (raters + 1)²): the products of (1, rating, rating, …) with itself.
    """
    table = np.asarray(ratings, dtype=np.float64)
    extended = np.column_stack((np.ones(len(table)), table))
    outer: Array = (extended[:, :, None] * extended[:, None, :]).reshape(len(table), -1)
    return outer


def kappa_of_sums(sums: Array) -> Array:
    """Return the mean pairwise quadratic kappa from sums of :func:`products`, many at once.

    ``sums`` has shape (resamples, (raters + 1)²).

    Returns:
        Shape (resamples,); nan where it is undefined.
    """
    size = round(sums.shape[1] ** 0.5)
    table = sums.reshape(-1, size, size)
    count, totals, second = table[:, 0, 0], table[:, 0, 1:], table[:, 1:, 1:]
    squares = np.diagonal(second, axis1=1, axis2=2)
    both = squares[:, :, None] + squares[:, None, :]
    chance = both - 2 * totals[:, :, None] * totals[:, None, :] / count[:, None, None]
    row, column = np.triu_indices(size - 1, 1)
    observed, expected = (both - 2 * second)[:, row, column], chance[:, row, column]
    defined = expected > _ROUNDING * (1 + both[:, row, column])
    ratios = np.divide(observed, expected, out=np.full_like(observed, np.nan), where=defined)
    kappas: Array = 1 - ratios.mean(axis=1)
    return kappas


def icc_2_1(ratings: Sequence[Sequence[float]]) -> Measure:
    """Return ICC(2,1): random raters, absolute agreement, reliability of one rating; at most 1.

    ``ratings`` has shape (items, raters).
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2:
        return Measure(None, "fewer than two items")
    n, k = table.shape
    if k < 2:
        return Measure(None, "agreement needs two raters")
    mean, rows, columns = table.mean(), table.mean(axis=1), table.mean(axis=0)
    between = k * float(np.sum((rows - mean) ** 2)) / (n - 1)
    raters = n * float(np.sum((columns - mean) ** 2)) / (k - 1)
    rest = float(np.sum((table - rows[:, None] - columns[None, :] + mean) ** 2)) / ((n - 1) * (k - 1))
    whole = between + (k - 1) * rest + k * (raters - rest) / n
    if whole <= _ROUNDING * float(np.mean(table**2)):
        return Measure(None, "the ratings do not differ between items")
    return Measure((between - rest) / whole)


class Shares(NamedTuple):
    """The shares of rating pairs of one item that are equal, and at most one step apart."""

    equal: float
    within_one: float


def shares(ratings: Sequence[Sequence[float]]) -> Shares | None:
    """Return the plain agreement over items and pairs of raters; None without pairs."""
    apart = [abs(one - two) for item in ratings for one, two in combinations(item, 2)]
    if not apart:
        return None
    count = len(apart)
    return Shares(sum(1 for gap in apart if gap == 0) / count, sum(1 for gap in apart if gap <= 1) / count)
