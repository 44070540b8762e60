"""Intervals of blended scores where judges and sessions sampled a part. Imported only at depths that sample."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.model.judging import JudgeLayer
from skillgate.model.score import Dimension, LayerName
from skillgate.model.simulating import MonteCarloLayer
from skillgate.scoring import simulated
from skillgate.scoring.composite import blend, penalty
from skillgate.scoring.sampled_judges import ONE_JUDGE, RESAMPLES, judge_draws, without_interval
from skillgate.scoring.weights import WEIGHTS
from skillgate.stats.intervals import LEVEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from skillgate.model.judging import Assessment
    from skillgate.model.report import Layer

    Array = npt.NDArray[np.float64]
    Static = Mapping[Dimension, float | None]
    Ends = tuple[float, float]
    Drawn = Mapping[Dimension, Array]


class Intervals(NamedTuple):
    """The 95 % intervals of a skill's scores at depth deep.

    Attributes:
        composite: both ends, 0–100 with two decimals; None where ``reason`` says why there is none.
        reason: None where there is an interval.
        dimensions: of those that were sampled, both ends in [0, 1] with four decimals, or why there are none.
    """

    composite: Ends | None
    reason: str | None
    dimensions: Mapping[Dimension, Ends | str]


def composites(static: Static, judged: Drawn, anti_patterns: int, sessions: Drawn = MappingProxyType({})) -> Array:
    """Give the composite for many values of the sampled dimensions at once, as ``composite`` gives it for one.

    Args:
        static: by dimension, what layer 1 measured.
        judged: by dimension, what the judges might have given, in [0, 1]; arrays of one shape.
        anti_patterns: how many findings the penalty counts.
        sessions: by dimension, what the simulated sessions might have given, likewise.

    Returns:
        0–100 and not rounded, of that shape; nan where nothing was measured.
    """
    weights, total = 0, np.zeros(())
    for dimension, weight in WEIGHTS.items():
        value = blended(dimension, static.get(dimension), judged.get(dimension), sessions.get(dimension))
        if value is not None:
            weights, total = weights + weight, total + weight * value
    return total / weights * 100 * penalty(anti_patterns) if weights else np.full((), math.nan)


def blended(
    dimension: Dimension, static: float | None, judged: Array | None, sessions: Array | None = None
) -> Array | float | None:
    """Blend with arrays in the sampled layers' places; None where nothing was measured.

    The blend is linear, so what it gives at 0 and at 1 of each layer tells all of it.
    """
    arrays = {LayerName.JUDGE: judged, LayerName.MONTECARLO: sessions}
    given = {layer: array for layer, array in arrays.items() if array is not None}
    ends: dict[LayerName, float | None] = dict.fromkeys(given, 0.0)
    least = blend(dimension, {LayerName.STATIC: static, **ends})
    if least is None:
        return None
    value: Array | float = least
    for layer, array in given.items():
        most = blend(dimension, {LayerName.STATIC: static, **ends, layer: 1.0})
        value = value + ((most or 0.0) - least) * array
    return value


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
    reason = without_interval(layer, rated)
    if reason is not None:
        return None, reason
    worst, best = judge_draws(layer, rated, np.random.default_rng(seed))
    judged = {name: np.asarray(item.score) for name, item in rated.items()}
    point = float(composites(static, judged, anti_patterns))
    return _ends(point, *(composites(static, drawn, anti_patterns) for drawn in (worst, best)), digits=2), None


def _ends(point: float, worst: Array, best: Array, *, digits: int) -> Ends:
    """Give both ends of an interval from draws that lean down and draws that lean up; it holds its point."""
    low = min(point, float(np.quantile(worst, (1 - LEVEL) / 2)))
    high = max(point, float(np.quantile(best, (1 + LEVEL) / 2)))
    return round(low, digits), round(high, digits)


class _Part(NamedTuple):
    """What one sampled layer adds: its scores, draws that lean down and up, and why it has none."""

    scores: Mapping[Dimension, float] = MappingProxyType({})
    worst: Drawn = MappingProxyType({})
    best: Drawn = MappingProxyType({})
    reason: str | None = None

    def points(self) -> Drawn:
        return {name: np.asarray(score) for name, score in self.scores.items()}


def intervals(static: Static, layers: Sequence[Layer], anti_patterns: int, seed: int = 0) -> Intervals:
    """Give the 95 % intervals of the composite and of every sampled dimension from 2,000 joint draws.

    Judges are drawn as for :func:`composite_interval`; sessions by a Bayesian bootstrap over their prompts, fitting
    ones and near misses apart, which leaves a share of 0 or 1 its doubt. In each draw every dimension is computed anew
    from the same sessions. A dimension that no session tells of keeps the interval that the judges alone give it. What
    a layer did not measure is left out of the blend, as ``blend`` does.

    Args:
        static: by dimension, what layer 1 measured.
        layers: of the skill's result; of them judges and simulated sessions count.
        anti_patterns: how many findings the penalty counts.
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    judge = next((layer for layer in layers if isinstance(layer, JudgeLayer)), None)
    montecarlo = next((layer for layer in layers if isinstance(layer, MonteCarloLayer)), None)
    opinions = _opinions(judge, rng) if judge is not None else _Part()
    sessions = _sessions(montecarlo, rng) if montecarlo is not None else _Part()
    assessments = judge.assessments if judge is not None else {}
    dimensions = {
        name: _dimension(name, static.get(name), opinions, sessions, assessments.get(name))
        for name in Dimension
        if name in opinions.scores or name in sessions.scores
    }
    reason = _missing(judge, opinions, montecarlo, sessions)
    if reason is not None:
        return Intervals(None, reason, dimensions)
    point, worst, best = (
        composites(static, one, anti_patterns, other)
        for one, other in (
            (opinions.points(), sessions.points()),
            (opinions.worst, sessions.worst),
            (opinions.best, sessions.best),
        )
    )
    return Intervals(_ends(float(point), worst, best, digits=2), None, dimensions)


def _missing(
    judge: JudgeLayer | None, opinions: _Part, montecarlo: MonteCarloLayer | None, sessions: _Part
) -> str | None:
    """Say why the composite has no interval."""
    if judge is None and montecarlo is None:
        return "nothing was sampled"
    asked = ((judge, opinions), (montecarlo, sessions))
    return next((part.reason for layer, part in asked if layer is not None and part.reason is not None), None)


def _opinions(layer: JudgeLayer, rng: np.random.Generator) -> _Part:
    rated = {name: item for name, item in layer.assessments.items() if item.score is not None}
    scores = {name: item.score for name, item in rated.items() if item.score is not None}
    reason = without_interval(layer, rated)
    return _Part(scores, reason=reason) if reason else _Part(scores, *judge_draws(layer, rated, rng))


def _sessions(layer: MonteCarloLayer, rng: np.random.Generator) -> _Part:
    """Draw what the sessions might have given of the dimensions that they measured."""
    scores = {name: item.value for name, item in layer.scores.items() if item.value is not None}
    if not scores:
        return _Part(reason=layer.reason or layer.stopped_early or "the simulated sessions measured nothing")
    if not layer.runs:
        return _Part(scores, reason="the simulated sessions are not in the report")
    drawn = simulated.draws(simulated.table(layer.runs), rng, RESAMPLES)
    worst, best = (simulated.dimensions(one, near_misses=bool(layer.near_misses)) for one in drawn)
    return _Part(scores, {name: worst[name] for name in scores}, {name: best[name] for name in scores})


def _dimension(
    name: Dimension, static: float | None, opinions: _Part, sessions: _Part, assessment: Assessment | None
) -> Ends | str:
    if name not in sessions.scores and assessment is not None:
        found, why = dimension_interval(name, static, assessment)
        return found or why or ONE_JUDGE
    reason = (opinions.reason if name in opinions.scores else None) or sessions.reason
    if reason is not None:
        return reason
    parts = ((part.points().get(name), part.worst.get(name), part.best.get(name)) for part in (opinions, sessions))
    point, worst, best = (
        np.asarray(blended(name, static, one, other), dtype=np.float64) for one, other in zip(*parts, strict=True)
    )
    return _ends(float(point), worst, best, digits=4)
