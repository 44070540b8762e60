"""The Bayesian bootstrap: items keep their places and get random weights, so that nothing is ever left without any.

Source: Rubin, 1981. Drawn so from what was seen, a mean has no more spread than was seen: of fifty equal grades none.
So each draw also has a made-up item at either end of the scale, weighing more at the bad end for the lower end of an
interval and more at the good end for the upper. Of k hits in n these are Beta(k + ¼, n − k + ¾) and
Beta(k + ¾, n − k + ¼), which :func:`skillgate.stats.intervals.rate_draws` draws rates from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.stats.intervals import LEVEL, Interval
from skillgate.stats.resampling import RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

_MORE, _LESS = 0.75, 0.25  # of one item: how much the made-up ones weigh on average


class Pad(NamedTuple):
    """What the made-up items weigh in each draw, at the good and at the bad end; arrays of shape (draws,)."""

    good: Array
    bad: Array


class Weights(NamedTuple):
    """Random weights: of the items, shape (draws, items), and of the made-up ones, leaning down and leaning up."""

    items: Array
    worst: Pad
    best: Pad


def weights(items: int, rng: np.random.Generator, draws: int = RESAMPLES) -> Weights:
    """Draw weights; each is 1 on average.

    Args:
        items: how many there are.
        rng: the source of chance.
        draws: how many.
    """
    own = rng.standard_exponential((draws, items))
    return Weights(own, *pads(rng, draws))


def pads(rng: np.random.Generator, draws: int = RESAMPLES) -> tuple[Pad, Pad]:
    """Draw what the made-up items weigh: leaning down, and leaning up."""
    more, less = rng.gamma(_MORE, size=draws), rng.gamma(_LESS, size=draws)
    return Pad(good=less, bad=more), Pad(good=more, bad=less)


def mean_interval(
    values: Sequence[float], *, low: float = 0.0, high: float = 1.0, seed: int = 0, level: float = LEVEL
) -> Interval | None:
    """Give the interval of the mean of values that are bounded, whatever their distribution.

    Args:
        values: each between ``low`` and ``high``.
        low: the least that a value can be.
        high: the greatest that a value can be.
        seed: of the draws.
        level: the nominal coverage.

    Returns:
        Both ends, with the mean between them; None without values.

    Raises:
        ValueError: a value is out of bounds.
    """
    if not all(low <= value <= high for value in values):
        message = f"expected values from {low} to {high}"
        raise ValueError(message)
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
