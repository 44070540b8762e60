"""Intervals of blended scores where a judge sampled a part of them. Imported only at depths that sample."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from skillgate.model.score import Dimension, LayerName
from skillgate.scoring.composite import blend, penalty
from skillgate.scoring.weights import WEIGHTS
from skillgate.stats.intervals import LEVEL, f1_draws, half_width_t

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from skillgate.model.judging import Assessment, JudgeLayer, TriggerPrompt

    Array = npt.NDArray[np.float64]
    Static = Mapping[Dimension, float | None]
    Ends = tuple[float, float]

RESAMPLES = 2_000
HALF_STEP = 0.05  # half a step of the 0–10 scale, as a share: what a judge's rounding hides
ONE_JUDGE = "one judge gives no interval"
_NORMAL_95 = 1.96  # standard deviations to each side
_TRIGGER = Dimension.TRIGGERING_ACCURACY


def composites(static: Static, judged: Mapping[Dimension, Array], anti_patterns: int) -> Array:
    """Give the composite for many values of the judged dimensions at once, as ``composite`` gives it for one.

    Args:
        static: by dimension, what layer 1 measured.
        judged: by dimension, what the judges might have given, in [0, 1]; arrays of one shape.
        anti_patterns: how many findings the penalty counts.

    Returns:
        0–100 and not rounded, of that shape; nan where nothing was measured.
    """
    weights, total = 0, np.zeros(())
    for dimension, weight in WEIGHTS.items():
        value = _blended(dimension, static.get(dimension), judged.get(dimension))
        if value is not None:
            weights, total = weights + weight, total + weight * value
    return total / weights * 100 * penalty(anti_patterns) if weights else np.full((), math.nan)


def _blended(dimension: Dimension, static: float | None, judged: Array | None) -> Array | float | None:
    """Blend with an array in the judge's place; the blend is linear, so both of its ends tell all of it."""
    if judged is None:
        return blend(dimension, {LayerName.STATIC: static})
    least, most = (blend(dimension, {LayerName.STATIC: static, LayerName.JUDGE: end}) for end in (0.0, 1.0))
    return None if least is None or most is None else least + (most - least) * judged


def dimension_interval(
    dimension: Dimension, static: float | None, assessment: Assessment
) -> tuple[Ends | None, str | None]:
    """Give a dimension's interval: the judge's, by its share of the blend; the static share adds no width.

    Returns:
        Both ends, in [0, 1] with four decimals, and None; or None and the reason why there is none.
    """
    ends = (assessment.ci_low, assessment.ci_high)
    low, high = (
        None if end is None else blend(dimension, {LayerName.STATIC: static, LayerName.JUDGE: end}) for end in ends
    )
    if low is None or high is None:
        return None, assessment.ci_reason or assessment.reason or ONE_JUDGE
    return (round(low, 4), round(high, 4)), None


def composite_interval(
    static: Static, layer: JudgeLayer, anti_patterns: int, seed: int = 0
) -> tuple[Ends | None, str | None]:
    """Give the 95 % interval of the composite from 2,000 joint draws of what was sampled.

    In each draw the dimensions are computed anew. A judge is drawn with all the ratings it gave, since a mild one is
    mild throughout. Drawing two or three judges with replacement gives intervals that cover far too little (at two
    judges 61 %, scaled by √(J ÷ (J − 1)) as they may be), so each judge's deviation from the mean gets a normal weight
    instead, and the whole a chi-squared scale: by itself each dimension then has its t interval exactly, and so has any
    weighted sum of them. Where the judges differ by less than their rounding hides, independent noise makes up for it.
    The trigger score is drawn from its prompts.

    Args:
        static: by dimension, what layer 1 measured.
        layer: what the judges gave.
        anti_patterns: how many findings the penalty counts.
        seed: of the draws.

    Returns:
        Both ends, 0–100 with two decimals, and None; or None and the reason why there is none.
    """
    rated = {name: item for name, item in layer.assessments.items() if item.score is not None}
    reason = _without_interval(layer, rated)
    if reason is not None:
        return None, reason
    rng = np.random.default_rng(seed)
    drawn = _rating_draws({name: item.ratings for name, item in rated.items() if item.ratings}, layer.judges, rng)
    worst, best = dict(drawn), dict(drawn)
    if _TRIGGER in rated:
        hits, alarms = outcomes(layer.triggering.prompts if layer.triggering else ())
        worst[_TRIGGER], best[_TRIGGER] = f1_draws(hits, alarms, rng, RESAMPLES)
    point = float(composites(static, {name: np.asarray(item.score) for name, item in rated.items()}, anti_patterns))
    low = min(point, float(np.quantile(composites(static, worst, anti_patterns), (1 - LEVEL) / 2)))
    high = max(point, float(np.quantile(composites(static, best, anti_patterns), (1 + LEVEL) / 2)))
    return (round(low, 2), round(high, 2)), None


def _without_interval(layer: JudgeLayer, rated: Mapping[Dimension, Assessment]) -> str | None:
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
