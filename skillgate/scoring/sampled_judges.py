"""What judges might have given: draws of their mean ratings and of the trigger score, and when there can be none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from skillgate.model.score import Dimension
from skillgate.stats.intervals import f1_draws, half_width_t

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from skillgate.model.judging import Assessment, JudgeLayer, TriggerPrompt

    Array = npt.NDArray[np.float64]

RESAMPLES = 2_000
HALF_STEP = 0.05  # half a step of the 0–10 scale, as a share: what a judge's rounding hides
ONE_JUDGE = "one judge gives no interval"
_NORMAL_95 = 1.96  # standard deviations to each side
_TRIGGER = Dimension.TRIGGERING_ACCURACY


def judge_draws(
    layer: JudgeLayer, rated: Mapping[Dimension, Assessment], rng: np.random.Generator
) -> tuple[dict[Dimension, Array], dict[Dimension, Array]]:
    """Draw what the judges might have given, leaning down and leaning up."""
    drawn = _rating_draws({name: item.ratings for name, item in rated.items() if item.ratings}, layer.judges, rng)
    worst, best = dict(drawn), dict(drawn)
    if _TRIGGER in rated:
        hits, alarms = outcomes(layer.triggering.prompts if layer.triggering else ())
        worst[_TRIGGER], best[_TRIGGER] = f1_draws(hits, alarms, rng, RESAMPLES)
    return worst, best


def without_interval(layer: JudgeLayer, rated: Mapping[Dimension, Assessment]) -> str | None:
    """Say why there can be no interval: a spread cannot be told from one rating."""
    if not rated:
        return layer.reason or "no judge measured anything"
    if layer.judges < 2:
        return ONE_JUDGE
    alone = [name.value for name, item in rated.items() if name is not _TRIGGER and len(item.ratings) < 2]
    if alone:
        return f"only one judge answered for {', '.join(alone)}"
    if _TRIGGER in rated and not all(outcomes(layer.triggering.prompts if layer.triggering else ())):
        return "the predictions on trigger prompts are not known"
    return None


def outcomes(prompts: Sequence[TriggerPrompt]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Give the share of judges who would load the skill, for each prompt that should trigger and each near miss.

    Prompts that no judge answered are left out.
    """
    shares: dict[bool, list[float]] = {True: [], False: []}
    for prompt in prompts:
        answers = [answer for answer in prompt.predicted if answer is not None]
        if answers:
            shares[prompt.should_trigger].append(sum(answers) / len(answers))
    return tuple(shares[True]), tuple(shares[False])


def _rating_draws(
    ratings: Mapping[Dimension, tuple[int, ...]], judges: int, rng: np.random.Generator
) -> dict[Dimension, Array]:
    """Draw the mean of each dimension's ratings; the judges' weights are the same for all that every judge rated."""
    together = _judge_weights(judges, rng)
    drawn = {}
    for dimension, given in ratings.items():
        shares = np.asarray(given) / 10
        # Which of the judges gave no answer is not in the report, so such a dimension is drawn by itself.
        weights = together if len(given) == judges else _judge_weights(len(given), rng)
        missing = HALF_STEP**2 - half_width_t(shares.tolist()) ** 2
        noise = rng.standard_normal(RESAMPLES) * math.sqrt(max(0.0, missing)) / _NORMAL_95
        drawn[dimension] = np.clip(shares.mean() + weights @ (shares - shares.mean()) + noise, 0, 1)
    return drawn


def _judge_weights(judges: int, rng: np.random.Generator) -> Array:
    """Draw a weight for each judge's deviation from the mean, so that their sum has a t distribution with s ÷ √J."""
    scale = np.sqrt(rng.chisquare(judges - 1, (RESAMPLES, 1)) / (judges - 1))
    weights: Array = rng.standard_normal((RESAMPLES, judges)) / scale / math.sqrt(judges * (judges - 1))
    return weights
