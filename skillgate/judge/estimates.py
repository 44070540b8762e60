"""Numbers with their intervals, from ratings and from predictions.

The units of a rating are the judges; those of a prediction are the prompts, since several judges on one prompt do not
make two prompts of it: a prompt counts by the share of judges who would load the skill for it.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

from skillgate.judge.rubric import HIGHEST
from skillgate.model.judging import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

HALF_STEP = 0.5 / HIGHEST  # judges who agree to the point still cannot tell more than the scale does


class Spread(NamedTuple):
    """A 95 % interval, or why there is none."""

    low: float | None = None
    high: float | None = None
    reason: str | None = None


def mean_rating(ratings: Sequence[int]) -> float:
    """Give the score of at least one rating: their mean ÷ 10, in [0, 1]."""
    return sum(ratings) / (HIGHEST * len(ratings))


def spread(ratings: Sequence[int], judges: int) -> Spread:
    """Give the interval of a score from the ratings of those judges who gave one: mean ± t · s ÷ √J, cut to [0, 1]."""
    if judges == 1:
        return Spread(reason="one judge gives no interval")
    if len(ratings) < 2:
        return Spread(reason=f"{len(ratings)} of {judges} judges gave a rating; an interval needs two")
    from skillgate.stats.intervals import mean_t  # numpy and scipy: loaded while answers are awaited

    low, high = mean_t([rating / HIGHEST for rating in ratings], least_half_width=HALF_STEP)
    return Spread(low, high)


def rate(shares: Sequence[Fraction]) -> Estimate:
    """Give the mean over prompts with its exact interval.

    Where judges differ on a prompt the count is no whole number; the interval then spans those of both neighbours.
    """
    if not shares:
        return Estimate(None, reason="no judge predicted on such a prompt")
    from skillgate.stats.intervals import clopper_pearson  # as above

    total = sum(shares)
    low, _ = clopper_pearson(floor(total), len(shares))
    _, high = clopper_pearson(ceil(total), len(shares))
    return Estimate(float(total / len(shares)), low, high, len(shares))


def precision(hits: Sequence[Fraction], alarms: Sequence[Fraction]) -> Estimate:
    """Give the share of right ones among the predictions that load the skill, with its exact interval as in `rate`."""
    right, wrong = sum(hits), sum(alarms)
    if not right + wrong:
        return Estimate(None, reason="the skill is never predicted to be loaded")
    from skillgate.stats.intervals import clopper_pearson  # as above

    low, _ = clopper_pearson(floor(right), floor(right) + ceil(wrong))
    _, high = clopper_pearson(ceil(right), ceil(right) + floor(wrong))
    return Estimate(float(right / (right + wrong)), low, high, round(right + wrong))


def f1(hits: Sequence[Fraction], alarms: Sequence[Fraction], seed: int) -> Estimate:
    """Give class-balanced F1, 2 · TPR ÷ (1 + TPR + FPR), with the interval of seeded draws of both rates."""
    if not hits or not alarms:
        return Estimate(None, reason="predictions on fitting prompts and on near misses are needed, and one is missing")
    from skillgate.stats.intervals import balanced_f1  # as above

    recall, false_alarms = sum(hits) / len(hits), sum(alarms) / len(alarms)
    low, high = balanced_f1([float(hit) for hit in hits], [float(alarm) for alarm in alarms], seed)
    return Estimate(float(2 * recall / (1 + recall + false_alarms)), low, high, len(hits) + len(alarms))
