"""Intervals of blended scores where judges and sessions sampled a part. Imported only at depths that sample."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.model.layers import (
    COMPLETED,
    FAILED,
    LEAST_LOADS,
    Assessment,
    JudgeLayer,
    MonteCarloLayer,
    Simulation,
    TriggerPrompt,
)
from skillgate.model.score import Dimension, LayerName
from skillgate.scoring.composite import WEIGHTS, blend, penalty
from skillgate.stats.intervals import LEVEL, balanced, f1_draws, half_width_t
from skillgate.stats.resampling import RESAMPLES, Pad, pads

if TYPE_CHECKING:
    import numpy.typing as npt

    from skillgate.model.report import Layer

    Array = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]
    Static = Mapping[Dimension, float | None]
    Ends = tuple[float, float]
    Drawn = Mapping[Dimension, Array]

# -- What simulated sessions measure, for many weightings of the same sessions at once
#
# A weight of 1 for each gives the measures themselves, random weights their intervals, weights of 1 for one version and
# 0 for the other the exchange of both, and all but one the part of that one: there is no second way to a number.

TOKEN_LIMIT = 8_000  # tokens that a skill may add before its efficiency is 0; the method's own figure
_ROUNDING = 1e-9  # sums in another order differ in their last digits
_NO_WEIGHT = np.zeros(())


class Table(NamedTuple):
    """Sessions that were measured, in their order, as arrays of shape (sessions,).

    ``quality``, ``tokens``, ``delivers`` and ``covers`` are nan where there is none.
    """

    should: Mask
    activated: Mask
    completed: Mask
    quality: Array
    tokens: Array
    delivers: Array
    covers: Array


class Lean(NamedTuple):
    """What made-up sessions weigh in each draw: those with a fitting prompt, and near misses."""

    fits: Pad
    near: Pad


STILL = Lean(Pad(_NO_WEIGHT, _NO_WEIGHT), Pad(_NO_WEIGHT, _NO_WEIGHT))


class Measures(NamedTuple):
    """What the sessions measure under each weighting: arrays of shape (weightings,), nan where undefined.

    Attributes:
        activation: of sessions with a fitting prompt, the share that loads the skill.
        false_activation: of near misses, the share that loads the skill.
        precision: of sessions that load the skill, the share with a fitting prompt.
        f1: class-balanced, of the first two.
        quality: the mean grade over activated, completed sessions.
        quality_cv: their population standard deviation ÷ their mean.
        failure: of all sessions, the share that failed.
        tokens: the median over activated, completed sessions.
        efficiency: max(0, 1 − tokens ÷ 8,000).
        orchestration: of activated, completed sessions, the share with the work itself as the answer.
        scope: of completed sessions with a fitting prompt, the share that covers the request in the skill.
        load_factor: what every share but triggering is multiplied by: min(1, loads ÷ min(5, completed)), over completed
            sessions with a fitting prompt; 0 where there are none.
    """

    activation: Array
    false_activation: Array
    precision: Array
    f1: Array
    quality: Array
    quality_cv: Array
    failure: Array
    tokens: Array
    efficiency: Array
    orchestration: Array
    scope: Array
    load_factor: Array


def table(runs: Sequence[Simulation]) -> Table:
    """Put sessions into arrays; those that were not measured, or not run, are left out."""
    measured = [run for run in runs if run.outcome in (COMPLETED, FAILED)]
    return Table(
        should=np.array([run.should_trigger for run in measured], dtype=np.bool_),
        activated=np.array([bool(run.activated) for run in measured], dtype=np.bool_),
        completed=np.array([run.outcome == COMPLETED for run in measured], dtype=np.bool_),
        quality=_column([run.quality for run in measured]),
        tokens=_column([run.tokens for run in measured]),
        delivers=_column([run.delivers for run in measured]),
        covers=_column([run.covers for run in measured]),
    )


def _column(values: Sequence[float | None]) -> Array:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def measures(rows: Table, weights: Array, lean: Lean = STILL) -> Measures:
    """Compute all measures under each weighting.

    ``weights`` has shape (weightings, sessions), none below 0. The made-up sessions of ``lean`` are best or worst at
    everything.
    """
    should, near = rows.should, ~rows.should
    done = rows.completed & rows.activated
    fits, others = lean.fits, lean.near
    activation = _share(weights, should, rows.activated, fits)
    false_activation = _share(weights, near, rows.activated, Pad(good=others.bad, bad=others.good))
    tokens = _median(rows.tokens, weights, done, fits)
    return Measures(
        activation=activation,
        false_activation=false_activation,
        precision=_share(weights, rows.activated, should, STILL.fits),
        f1=balanced(activation, false_activation),
        quality=_share(weights, done, rows.quality, fits),
        quality_cv=_variation(weights, done, rows.quality, fits),
        failure=_share(weights, should | near, ~rows.completed, Pad(good=fits.bad, bad=fits.good)),
        tokens=tokens,
        efficiency=np.maximum(0.0, 1.0 - tokens / TOKEN_LIMIT),
        orchestration=_share(weights, done, rows.delivers, fits),
        scope=_share(weights, should & rows.completed, rows.covers, fits),
        load_factor=_load_factor(weights, should & rows.completed, rows.activated, fits),
    )


def _load_factor(weights: Array, counted: Mask, loaded: Mask, pad: Pad) -> Array:
    """Return min(1, loads ÷ min(5, sessions)), each counted by its weight; made-up sessions load it, or do not."""
    loads = weights[:, counted & loaded].sum(axis=1) + pad.good
    needed = np.minimum(LEAST_LOADS, weights[:, counted].sum(axis=1) + pad.good + pad.bad)
    return np.minimum(1.0, np.nan_to_num(_divide(loads, needed)))


def _divide(one: Array, two: Array) -> Array:
    found: Array = np.divide(one, two, out=np.full(np.shape(one), np.nan), where=two > _ROUNDING)
    return found


def _share(weights: Array, counted: Mask, values: Array | Mask, pad: Pad) -> Array:
    """Return the weighted mean of values in [0, 1] over the sessions that count and have one."""
    measured = counted & ~np.isnan(values)
    chosen = weights[:, measured]
    hits: Array = chosen @ values[measured].astype(np.float64)
    return _divide(hits + pad.good, chosen.sum(axis=1) + pad.good + pad.bad)


def _variation(weights: Array, counted: Mask, values: Array, pad: Pad) -> Array:
    """Return the coefficient of variation; the bad end is a value of 0, the good end a value like the others."""
    measured = counted & ~np.isnan(values)
    chosen, present = weights[:, measured], values[measured]
    one = chosen.sum(axis=1)
    mean, square = _divide(chosen @ present, one), _divide(chosen @ present**2, one)
    share = _divide(one + pad.good, one + pad.good + pad.bad)
    variance = np.maximum(0.0, _divide(one * (square - mean**2), one + pad.good))
    spread = np.sqrt(share * variance + share * (1 - share) * mean**2)
    return _divide(np.where(spread > _ROUNDING, spread, 0.0), mean * share)


def _median(tokens: Array, weights: Array, counted: Mask, pad: Pad) -> Array:
    """Return the weighted median: with equal weights that of the values, the mean of both middle ones of an even count.

    The bad end is a session with so many tokens that nothing is left of its efficiency. The good end is a session
    without any.
    """
    measured = counted & ~np.isnan(tokens)
    present, chosen = tokens[measured], weights[:, measured]
    ends = (np.broadcast_to(end, (len(chosen),))[:, None] for end in pad)
    values = np.concatenate((present, (0.0, max(TOKEN_LIMIT, present.max(initial=0)))))
    chosen = np.concatenate((chosen, *ends), axis=1)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(chosen[:, order], axis=1)
    half = reached[:, -1:] / 2
    near = _ROUNDING * np.maximum(half, 1.0)
    lower, upper = (np.argmax(passed, axis=1) for passed in (reached >= half - near, reached > half + near))
    middle = (values[order][lower] + values[order][upper]) / 2
    return np.where(half[:, 0] > _ROUNDING, middle, np.nan)


def dimensions(found: Measures, *, near_misses: bool) -> dict[Dimension, Array]:
    """Return each dimension that sessions measure, in [0, 1]; nan where undefined.

    Every one but triggering is multiplied by the load factor, so it is 0 where no session loaded the skill.

    Without near misses triggering is the activation rate.
    """
    shares = {
        Dimension.ORCHESTRATION_FITNESS: found.orchestration,
        Dimension.OUTPUT_QUALITY: found.quality,
        Dimension.SCOPE_CALIBRATION: found.scope,
        Dimension.TOKEN_EFFICIENCY: found.efficiency,
        Dimension.ROBUSTNESS: 1.0 - found.failure,
    }
    factor = found.load_factor
    return {
        Dimension.TRIGGERING_ACCURACY: found.f1 if near_misses else found.activation,
        **{name: np.where(factor > 0.0, factor * share, 0.0) for name, share in shares.items()},
    }


def draws(rows: Table, rng: np.random.Generator, count: int = RESAMPLES) -> tuple[Measures, Measures]:
    """Draw the measures, once leaning to the bad and once to the good; fitting prompts and near misses apart."""
    weights = rng.standard_exponential((count, len(rows.should)))
    fits, near = pads(rng, count), pads(rng, count)
    worst, best = (measures(rows, weights, Lean(*lean)) for lean in zip(fits, near, strict=True))
    return worst, best


# -- What judges might have given: draws of their mean ratings and of the trigger score, and when there can be none

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
    """Say why there can be no interval: one rating has no spread."""
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
    """Return the share of judges who would load the skill, for each prompt that should trigger and each near miss.

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
    for dimension, values in ratings.items():
        shares = np.asarray(values) / 10
        # Which of the judges gave no answer is not in the report, so such a dimension is drawn by itself.
        weights = together if len(values) == judges else _judge_weights(len(values), rng)
        missing = HALF_STEP**2 - half_width_t(shares.tolist()) ** 2
        noise = rng.standard_normal(RESAMPLES) * math.sqrt(max(0.0, missing)) / _NORMAL_95
        drawn[dimension] = np.clip(shares.mean() + weights @ (shares - shares.mean()) + noise, 0, 1)
    return drawn


def _judge_weights(judges: int, rng: np.random.Generator) -> Array:
    """Draw a weight for each judge's deviation from the mean, so that their sum has a t distribution with s ÷ √J."""
    scale = np.sqrt(rng.chisquare(judges - 1, (RESAMPLES, 1)) / (judges - 1))
    weights: Array = rng.standard_normal((RESAMPLES, judges)) / scale / math.sqrt(judges * (judges - 1))
    return weights


# -- Intervals


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
    """Return the composite for many values of the sampled dimensions at once, as ``composite`` gives it for one.

    ``judged`` and ``sessions`` hold by dimension what might have been given, in [0, 1]: arrays of one shape.

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

    The blend is linear, so its values at 0 and at 1 of each layer describe it fully.
    """
    arrays = {LayerName.JUDGE: judged, LayerName.MONTECARLO: sessions}
    sampled = {layer: array for layer, array in arrays.items() if array is not None}
    ends: dict[LayerName, float | None] = dict.fromkeys(sampled, 0.0)
    least = blend(dimension, {LayerName.STATIC: static, **ends})
    if least is None:
        return None
    value: Array | float = least
    for layer, array in sampled.items():
        most = blend(dimension, {LayerName.STATIC: static, **ends, layer: 1.0})
        value = value + ((most or 0.0) - least) * array
    return value


def dimension_interval(
    dimension: Dimension, static: float | None, assessment: Assessment
) -> tuple[Ends | None, str | None]:
    """Return a dimension's interval: the judge's, by its share of the blend; the static share adds no width.

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
    """Return the 95 % interval of the composite from 2,000 joint draws of what was sampled.

    In each draw the dimensions are computed again. A judge is drawn with all the ratings it gave, since a mild one is
    mild throughout. Drawing two or three judges with replacement gives intervals that cover far too little: 61 % at
    two judges, even if scaled by √(J ÷ (J − 1)). So each judge's deviation from the mean gets a normal weight, and
    the whole a chi-squared scale. Each dimension alone then has its exact t interval, and so has any weighted sum.
    Where the judges differ by less than their rounding hides, independent noise makes up for it.
    The trigger score is drawn from its prompts.

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
    """Return both ends of an interval from draws that lean down and draws that lean up; it holds its point."""
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
    """Return the 95 % intervals of the composite and of every sampled dimension from 2,000 joint draws.

    Judges are drawn as for :func:`composite_interval`; sessions by a Bayesian bootstrap over their prompts, fitting
    ones and near misses apart, which leaves a share of 0 or 1 its doubt. In each draw every dimension is computed again
    from the same sessions. A dimension that no session measures keeps the interval that the judges alone give it. What
    a layer did not measure is left out of the blend, as ``blend`` does.
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
    layers = ((judge, opinions), (montecarlo, sessions))
    return next((part.reason for layer, part in layers if layer is not None and part.reason is not None), None)


def _opinions(layer: JudgeLayer, rng: np.random.Generator) -> _Part:
    rated = {name: item for name, item in layer.assessments.items() if item.score is not None}
    scores = {name: item.score for name, item in rated.items() if item.score is not None}
    reason = without_interval(layer, rated)
    return _Part(scores, reason=reason) if reason else _Part(scores, *judge_draws(layer, rated, rng))


def _sessions(layer: MonteCarloLayer, rng: np.random.Generator) -> _Part:
    """Sample what the sessions might have shown of the dimensions that they measured."""
    scores = {name: item.value for name, item in layer.scores.items() if item.value is not None}
    if not scores:
        return _Part(reason=layer.reason or layer.stopped_early or "the simulated sessions measured nothing")
    if not layer.runs:
        return _Part(scores, reason="the simulated sessions are not in the report")
    drawn = draws(table(layer.runs), rng, RESAMPLES)
    worst, best = (dimensions(one, near_misses=bool(layer.near_misses)) for one in drawn)
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
