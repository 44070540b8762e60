"""From what layer 1 knows of a skill, and what became of its findings, to its result: dimensions, composite, badge."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.judging import JudgeLayer, Usage
from skillgate.model.report import Composite, DimensionScore, SkillName, SkillResult, StaticLayer, SubCheckScore
from skillgate.model.score import Dimension, Grade, LayerName
from skillgate.scoring import badge, composite
from skillgate.scoring.weights import BLEND, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.assessment import Assessment
    from skillgate.model.finding import Claim
    from skillgate.model.judging import Assessment as JudgedScore
    from skillgate.model.report import Advice, Layer
    from skillgate.model.score import Evidence
    from skillgate.scoring.selection import Settled

QUICK = "not measured at quick depth"


class Deeper(NamedTuple):
    """What the sampled layers give of one skill.

    Attributes:
        layers: for the report.
        scores: what the judge measured, by dimension; a dimension that is not in it was not asked about.
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
    layers = composite.layer_scores({name: score for name, (score, _) in facts.measured.items()})
    if deeper is not None:
        for dimension, judged in deeper.scores.items():
            layers[dimension][LayerName.JUDGE] = judged.score
    dimensions = {dimension: _dimension(dimension, facts, layers[dimension], deeper) for dimension in Dimension}
    measured = {dimension: score.score for dimension, score in dimensions.items()}
    unscored = facts.unscored or (deeper.failure if deeper else None)
    score = None if unscored else composite.composite(measured, len(facts.anti_patterns))
    earned, held_back = badge.award(score, None, withheld=facts.no_badge or _unearned(deeper))
    low, high, ci_reason = None, None, None
    if deeper is not None and score is not None:
        low, high, ci_reason = _interval(facts, deeper)
    return SkillResult(
        composite=Composite(
            score=score,
            badge=earned,
            ci_low=low,
            ci_high=high,
            reason=unscored,
            badge_reason=held_back,
            penalty=composite.penalty(len(facts.anti_patterns)),
            dimensions=dimensions,
            ci_reason=ci_reason,
        ),
        dimensions=dimensions,
        layers=(_static_layer(facts, detail=detail or deeper is not None), *(deeper.layers if deeper else ())),
        skill=skill,
        findings=settled.findings,
        advice=_advice(facts, layers, neighbour) if detail and score is not None else (),
        coverage=composite.coverage(measured),
        usage=deeper.usage if deeper else Usage(),
        plugin=plugin,
        suppressed=settled.suppressed,
    )


def _unearned(deeper: Deeper | None) -> str | None:
    """Say why sampled scores earn no badge: no model has read the skill, or not all of it; None where one has."""
    if deeper is not None and deeper.no_badge is not None:
        return deeper.no_badge
    layers = deeper.layers if deeper else ()
    if all(layer.live for layer in layers if isinstance(layer, JudgeLayer)):
        return None
    return "the judge's answers are scripted or replayed"


def _interval(facts: Assessment, deeper: Deeper) -> tuple[float | None, float | None, str | None]:
    """Give the composite's interval, or why there is none."""
    from skillgate.scoring import sampled  # brings in numpy: only where something was sampled

    layer = next((layer for layer in deeper.layers if isinstance(layer, JudgeLayer)), None)
    if layer is None:
        return None, None, deeper.failure
    static = {name: score for name, (score, _) in facts.measured.items()}
    found, reason = sampled.composite_interval(static, layer, len(facts.anti_patterns))
    return (None, None, reason) if found is None else (round(found[0], 2), round(found[1], 2), None)


def _advice(
    facts: Assessment, layers: dict[Dimension, dict[LayerName, float | None]], neighbour: str | None
) -> tuple[Advice, ...]:
    from skillgate.scoring import advice  # only where it is shown

    known = facts.detail()
    standing = advice.Standing(
        measured={dimension: measured for _, dimension, measured in known.scores},
        layers=layers,
        anti_patterns=known.penalised,
        neighbour=neighbour,
    )
    return advice.advise(standing)


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
