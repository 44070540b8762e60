"""Intervals of rates, means and class-balanced F1, at 95 % unless told.

Of scipy only ``special`` is used: ``scipy.stats`` takes half a second to load.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from scipy.special import betaincinv, stdtrit

from skillgate.stats.wilson import wilson_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """Give the exact interval of a rate: ``k`` of ``n``; (0, 1) for no trials.

    Source: Clopper and Pearson, 1934, by the quantiles of the beta distribution.

    Raises:
        ValueError: ``k`` is not in 0..n, or ``level`` not in (0, 1).
    """
    if not 0 <= k <= n:
        message = f"expected 0 <= k <= n, found k = {k}, n = {n}"
        raise ValueError(message)
    tail = _tail(level)
    low = float(betaincinv(k, n - k + 1, tail)) if k > 0 else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return Interval(low, high)


def wilson(k: int, n: int, level: float = LEVEL) -> Interval:
    """Give the score interval of a rate: ``k`` of ``n``; (0, 1) for no trials.

    Narrower than the exact one, and it covers ``level`` on average over rates, not at each. Source: Wilson, 1927.

    Raises:
        ValueError: ``k`` is not in 0..n, or ``level`` not in (0, 1).
    """
    return Interval(*wilson_ends(k, n, level))


def quantile_t(freedom: float, level: float = LEVEL) -> float:
    """Give how many standard errors a two-sided t interval goes to each side, for some degrees of freedom.

    Raises:
        ValueError: fewer than one degree of freedom, or ``level`` not in (0, 1).
    """
    if freedom < 1:
        message = f"expected at least one degree of freedom, found {freedom}"
        raise ValueError(message)
    return float(stdtrit(freedom, 1 - _tail(level)))


def half_width_t(values: Sequence[float], level: float = LEVEL) -> float:
    """Give t · s ÷ √n: half the width of the t interval of a mean. 0.0 where all values are equal.

    Raises:
        ValueError: fewer than two values, or ``level`` not in (0, 1).
    """
    n = len(values)
    if n < 2:
        message = f"an interval of a mean needs two values, found {n}"
        raise ValueError(message)
    spread = float(np.std(np.asarray(values, dtype=np.float64), ddof=1))
    return quantile_t(n - 1, level) * spread / math.sqrt(n)


def mean_t(values: Sequence[float], least_half_width: float = 0.0, level: float = LEVEL) -> Interval:
    """Give the t interval of the mean of values in [0, 1], cut to [0, 1].

    Args:
        values: at least two.
        least_half_width: equal values on a coarse scale do not prove certainty: give half a step of the scale.
        level: the nominal coverage.

    Raises:
        ValueError: fewer than two values, or ``level`` not in (0, 1).
    """
    half = max(half_width_t(values, level), least_half_width)
    mean = math.fsum(values) / len(values)
    return Interval(min(1.0, max(0.0, mean - half)), max(0.0, min(1.0, mean + half)))


def balanced(recall: Number, false_alarms: Number) -> Number:
    """Give class-balanced F1, 2·TPR ÷ (1 + TPR + FPR): what F1 would be with as many of one kind as of the other."""
    return 2 * recall / (1 + recall + false_alarms)


class RateDraws(NamedTuple):
    """A rate drawn many times, once leaning down and once leaning up: arrays of shape (draws,), in [0, 1]."""

    low: Array
    high: Array


def rate_draws(values: Sequence[float], rng: np.random.Generator, draws: int = DRAWS) -> RateDraws:
    """Draw the rate behind some outcomes, for the lower and for the upper end of an interval.

    Of k in n the lower one is Beta(k + ¼, n − k + ¾), the upper one Beta(k + ¾, n − k + ¼): halfway between the
    posterior under Jeffreys' prior (½, ½), whose intervals of class-balanced F1 cover as little as 89 % at n = 50 + 10,
    and the two betas that Clopper and Pearson's ends are quantiles of (0, 1), whose intervals are a tenth wider than
    need be. No success in any trial leaves 0 inside, and no failure 1.

    Args:
        values: one for each trial, in [0, 1]; a mean over judges counts as a fraction of a success.
        rng: the source of chance.
        draws: how many.

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
    """Draw class-balanced F1, for the lower and for the upper end of an interval.

    Args:
        hits: for each prompt that should trigger, the share of judges who say it does.
        alarms: likewise for each near miss.
        rng: the source of chance.
        draws: how many.

    Raises:
        ValueError: no hits or no alarms, or a value outside [0, 1].
    """
    recall, false_alarms = rate_draws(hits, rng, draws), rate_draws(alarms, rng, draws)
    return RateDraws(balanced(recall.low, false_alarms.high), balanced(recall.high, false_alarms.low))


def balanced_f1(hits: Sequence[float], alarms: Sequence[float], seed: int = 0, level: float = LEVEL) -> Interval:
    """Give the interval of class-balanced F1, from draws of the two rates it rests on.

    Drawn from the rates as observed, a rate of 0 or 1 would have no spread. What covers is told by summing over all
    outcomes: at least 93 % at n = 5 + 5, and 95 % at n = 50 + 10, whatever the rates.

    Args:
        hits: for each prompt that should trigger, the share of judges who say it does.
        alarms: likewise for each near miss.
        seed: of the 10,000 draws.
        level: the nominal coverage.

    Raises:
        ValueError: no hits or no alarms, a value outside [0, 1], or ``level`` not in (0, 1).
    """
    tail = _tail(level)
    drawn = f1_draws(hits, alarms, np.random.default_rng(seed))
    return Interval(float(np.quantile(drawn.low, tail)), float(np.quantile(drawn.high, 1 - tail)))


def _tail(level: float) -> float:
    if not 0 < level < 1:
        message = f"a level is between 0 and 1, found {level}"
        raise ValueError(message)
    return (1 - level) / 2
