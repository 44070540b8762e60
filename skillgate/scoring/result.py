"""From what layer 1 knows of a skill, and what became of its findings, to its result: dimensions, composite, badge."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.judging import JudgeLayer, Usage
from skillgate.model.report import Composite, DimensionScore, SkillName, SkillResult, StaticLayer, SubCheckScore
from skillgate.model.score import Badge, Dimension, Grade, LayerName
from skillgate.model.simulating import MEASURED_BY, MonteCarloLayer, RankingLayer
from skillgate.scoring import badge, composite
from skillgate.scoring.weights import BLEND, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.assessment import Assessment
    from skillgate.model.finding import Claim
    from skillgate.model.judging import Assessment as JudgedScore
    from skillgate.model.judging import Estimate
    from skillgate.model.report import Advice, Layer
    from skillgate.model.score import Evidence
    from skillgate.model.simulating import Lift
    from skillgate.scoring.selection import Settled

QUICK = "not measured at quick depth"
NO_RANKING = "no ranking at this depth"


class Deeper(NamedTuple):
    """What the sampled layers give of one skill.

    Attributes:
        layers: for the report.
        scores: what the judge measured, by dimension; a dimension that is not in it was not asked about.
        simulated: what the simulations measured, by dimension, where they measured it.
        failure: why there can be no score at this depth; None where all was measured.
        usage: what was asked for it.
        claims: what the report must warn of.
        no_badge: why there can be no badge whatever the score, else None.
    """

    layers: tuple[Layer, ...] = ()
    scores: Mapping[Dimension, JudgedScore] = MappingProxyType({})
    failure: str | None = None
    usage: Usage = Usage()
    claims: tuple[Claim, ...] = ()
    no_badge: str | None = None
    simulated: Mapping[Dimension, Estimate] = MappingProxyType({})
    lift: Lift | None = None


def result(
    facts: Assessment,
    settled: Settled,
    *,
    skill: SkillName,
    plugin: str | None,
    neighbour: str | None,
    detail: bool,
    deeper: Deeper | None = None,
) -> SkillResult:
    """Give the result of one skill, without its gate.

    Args:
        facts: what layer 1 knows of it.
        settled: the findings that stand, and those set aside.
        skill: its name and path.
        plugin: the path of its plugin.
        neighbour: the skill that describes nearly the same, for the advice.
        detail: whether evidence and advice are wanted.
        deeper: what the sampled layers give; None at quick depth.
    """
    layers = _by_layer(facts, deeper)
    dimensions: Mapping[Dimension, DimensionScore]
    dimensions = {dimension: _dimension(dimension, facts, layers[dimension], deeper) for dimension in Dimension}
    measured = {dimension: score.score for dimension, score in dimensions.items()}
    unscored = facts.unscored or (deeper.failure if deeper else None)
    score = None if unscored else composite.composite(measured, len(facts.anti_patterns))
    ranked = _ranking(deeper)
    elo = None if ranked is None or ranked.elo is None else round(ranked.elo.rating, 2)
    earned, held_back = badge.award(score, elo, withheld=facts.no_badge or _unearned(deeper))
    low, high, ci_reason, dimensions = _intervals(facts, deeper if score is not None else None, dimensions)
    return SkillResult(
        composite=Composite(
            score=score,
            badge=earned,
            elo=elo,
            elo_reason=_without_elo(ranked),
            ci_low=low,
            ci_high=high,
            reason=unscored,
            badge_reason=held_back,
            penalty=composite.penalty(len(facts.anti_patterns)),
            dimensions=dimensions,
            ci_reason=ci_reason,
        ),
        dimensions=dimensions,
        layers=(
            _static_layer(facts, detail=detail or deeper is not None),
            *(_told(layer, score) for layer in (deeper.layers if deeper else ())),
        ),
        skill=skill,
        findings=settled.findings,
        advice=_advice(facts, layers, neighbour, deeper) if detail and score is not None else (),
        coverage=composite.coverage(measured),
        usage=deeper.usage if deeper else Usage(),
        plugin=plugin,
        suppressed=settled.suppressed,
        lift=deeper.lift if deeper else None,
    )


def _by_layer(facts: Assessment, deeper: Deeper | None) -> dict[Dimension, dict[LayerName, float | None]]:
    """Give what each layer says of each dimension."""
    layers = composite.layer_scores({name: score for name, (score, _) in facts.measured.items()})
    if deeper is not None:
        for dimension, judged in deeper.scores.items():
            layers[dimension][LayerName.JUDGE] = judged.score
        for dimension, estimate in deeper.simulated.items():
            layers[dimension][LayerName.MONTECARLO] = estimate.value
    return layers


def _ranking(deeper: Deeper | None) -> RankingLayer | None:
    layers = deeper.layers if deeper else ()
    return next((layer for layer in layers if isinstance(layer, RankingLayer)), None)


def _without_elo(ranked: RankingLayer | None) -> str | None:
    """Say why there is no Elo, None where there is one."""
    if ranked is None:
        return NO_RANKING
    return None if ranked.elo is not None else ranked.reason or NO_RANKING


def _told(layer: Layer, score: float | None) -> Layer:
    """Say of a rating whether it decides the badge that the composite would earn, and may as well lie beyond it."""
    if not isinstance(layer, RankingLayer) or layer.bradley_terry is None:
        return layer
    sought = Badge.from_scores(score, None)
    rating = layer.bradley_terry
    straddles = sought is not None and rating.ci_low < sought.elo <= rating.ci_high
    return layer._replace(provisional=straddles or layer.unrated > 0)


def _unearned(deeper: Deeper | None) -> str | None:
    """Say why sampled scores earn no badge: no model has read the skill, or not all of it; None where one has."""
    if deeper is not None and deeper.no_badge is not None:
        return deeper.no_badge
    layers = deeper.layers if deeper else ()
    if all(layer.live for layer in layers if not isinstance(layer, StaticLayer)):
        return None
    return "the judge's answers are scripted or replayed"


def _intervals(
    facts: Assessment, deeper: Deeper | None, dimensions: Mapping[Dimension, DimensionScore]
) -> tuple[float | None, float | None, str | None, Mapping[Dimension, DimensionScore]]:
    """Give the composite's interval, or why there is none; and the dimensions with theirs."""
    if deeper is None:
        return None, None, None, dimensions
    from skillgate.scoring import sampled  # brings in numpy: only where something was sampled

    static = {name: score for name, (score, _) in facts.measured.items()}
    if deeper.simulated:
        joint = sampled.intervals(static, deeper.layers, len(facts.anti_patterns))
        found, reason = joint.composite, joint.reason
        dimensions = {name: _bounded(score, joint.dimensions.get(name)) for name, score in dimensions.items()}
    else:
        layer = next((layer for layer in deeper.layers if isinstance(layer, JudgeLayer)), None)
        if layer is None:
            return None, None, deeper.failure, dimensions
        found, reason = sampled.composite_interval(static, layer, len(facts.anti_patterns))
    if found is None:
        return None, None, reason, dimensions
    return round(found[0], 2), round(found[1], 2), None, dimensions


def _bounded(score: DimensionScore, ends: tuple[float, float] | str | None) -> DimensionScore:
    """Give a dimension the interval of the joint draws, or the reason why it has none."""
    if score.score is None or ends is None:
        return score
    if isinstance(ends, str):
        return score._replace(ci_low=None, ci_high=None, ci_reason=ends)
    low, high = (round(end, 4) for end in ends)
    return score._replace(ci_low=min(low, score.score), ci_high=max(high, score.score), ci_reason=None)


def _advice(
    facts: Assessment,
    layers: dict[Dimension, dict[LayerName, float | None]],
    neighbour: str | None,
    deeper: Deeper | None,
) -> tuple[Advice, ...]:
    from skillgate.scoring import advice  # only where it is shown

    known = facts.detail()
    sampled = deeper.layers if deeper is not None else ()
    sessions = next((layer for layer in sampled if isinstance(layer, MonteCarloLayer)), None)
    standing = advice.Standing(
        measured={dimension: measured for _, dimension, measured in known.scores},
        layers=layers,
        anti_patterns=known.penalised,
        neighbour=neighbour,
        loads=None if sessions is None else sessions.loads,
        loaded={} if sessions is None else _held_back(sessions),
        repair=known.repair,
    )
    return advice.advise(standing)


def _held_back(layer: MonteCarloLayer) -> dict[Dimension, float]:
    """Return what sessions measured of each dimension, without the load factor; what none of them tells is left out."""
    found = {dimension: layer.measures[name].value for dimension, name in MEASURED_BY.items() if name in layer.measures}
    failure = layer.measures.get("failure_rate")
    if failure is not None and failure.value is not None:
        found[Dimension.ROBUSTNESS] = 1 - failure.value
    return {dimension: value for dimension, value in found.items() if value is not None}


def _dimension(
    dimension: Dimension, facts: Assessment, scores: Mapping[LayerName, float | None], deeper: Deeper | None
) -> DimensionScore:
    weight = WEIGHTS[dimension] / 100
    judged = deeper.scores.get(dimension) if deeper else None
    if deeper is not None and facts.unscored is None and (judged.score if judged else judged) is None:
        # A layer that was asked and did not answer: what is left of the blend would be another number by its name.
        missing = judged.reason if judged else None if deeper.scores else deeper.failure
        if missing is not None:
            return DimensionScore(score=None, grade=None, weight=weight, reason=missing)
    unsimulated = _unsimulated(deeper) if facts.unscored is None else None
    if unsimulated is not None and BLEND[dimension][LayerName.MONTECARLO]:
        return DimensionScore(score=None, grade=None, weight=weight, reason=unsimulated)
    value = composite.blend(dimension, scores)
    if value is None:
        _, reason = facts.measured.get(dimension, (None, None))
        own = reason if BLEND[dimension][LayerName.STATIC] else None
        return DimensionScore(score=None, grade=None, weight=weight, reason=facts.unscored or own or QUICK)
    rounded = round(value, 4)
    low = high = ci_reason = None
    if judged is not None:
        low, high, ci_reason = judged.ci_low, judged.ci_high, judged.ci_reason
        if low is not None and high is not None:
            low, high = (
                round(composite.blend(dimension, {**scores, LayerName.JUDGE: end}) or 0.0, 4) for end in (low, high)
            )
    return DimensionScore(
        score=rounded,
        grade=Grade.of(rounded),
        ci_low=low,
        ci_high=high,
        weight=weight,
        ci_reason=ci_reason,
    )


def _unsimulated(deeper: Deeper | None) -> str | None:
    """Say why sessions say nothing where some were asked for, None where they do, or none were."""
    if deeper is None or deeper.simulated or not any(isinstance(layer, MonteCarloLayer) for layer in deeper.layers):
        return None
    return deeper.failure


def _static_layer(facts: Assessment, *, detail: bool) -> StaticLayer:
    if not detail:
        return StaticLayer(facts.duration_ms, facts.anti_patterns, recoverable=facts.recoverable)
    known = facts.detail()
    return StaticLayer(
        duration_ms=facts.duration_ms,
        anti_patterns=facts.anti_patterns,
        score=None if known.layer_score is None else round(known.layer_score, 4),
        sub_checks={
            name: SubCheckScore(
                score=None if measured.score is None else round(measured.score, 4),
                dimension=dimension,
                reason=measured.reason,
                evidence=tuple(_rounded(evidence) for evidence in measured.evidence),
            )
            for name, dimension, measured in known.scores
        },
        recoverable=facts.recoverable,
    )


def _rounded(evidence: Evidence) -> Evidence:
    return evidence._replace(points=round(evidence.points, 4), possible=round(evidence.possible, 4))
