"""From what layer 1 knows of a skill, and what became of its findings, to its result: dimensions, composite, badge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.report import Composite, DimensionScore, SkillName, SkillResult, StaticLayer, SubCheckScore
from skillgate.model.score import Dimension, Grade, LayerName
from skillgate.scoring import badge, composite
from skillgate.scoring.weights import BLEND, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.assessment import Assessment
    from skillgate.model.report import Advice
    from skillgate.model.score import Evidence
    from skillgate.scoring.selection import Settled

QUICK = "not measured at quick depth"


def result(
    facts: Assessment, settled: Settled, *, skill: SkillName, plugin: str | None, neighbour: str | None, detail: bool
) -> SkillResult:
    """Give the result of one skill at quick depth, without its gate.

    Args:
        facts: what layer 1 knows of it.
        settled: the findings that stand, and those set aside.
        skill: its name and path.
        plugin: the path of its plugin.
        neighbour: the skill that describes nearly the same, for the advice.
        detail: whether evidence and advice are wanted.
    """
    layers = composite.layer_scores({name: score for name, (score, _) in facts.measured.items()})
    dimensions = {dimension: _dimension(dimension, facts, layers[dimension]) for dimension in Dimension}
    measured = {dimension: score.score for dimension, score in dimensions.items()}
    score = composite.composite(measured, len(facts.anti_patterns))
    earned, held_back = badge.award(score, None, withheld=facts.no_badge)
    return SkillResult(
        composite=Composite(
            score=score,
            badge=earned,
            reason=facts.unscored,
            badge_reason=held_back,
            penalty=composite.penalty(len(facts.anti_patterns)),
            dimensions=dimensions,
        ),
        dimensions=dimensions,
        layers=(_static_layer(facts, detail=detail),),
        skill=skill,
        findings=settled.findings,
        advice=_advice(facts, layers, neighbour) if detail and score is not None else (),
        coverage=composite.coverage(measured),
        plugin=plugin,
        suppressed=settled.suppressed,
    )


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


def _dimension(dimension: Dimension, facts: Assessment, scores: Mapping[LayerName, float | None]) -> DimensionScore:
    value = composite.blend(dimension, scores)
    weight = WEIGHTS[dimension] / 100
    if value is None:
        _, reason = facts.measured.get(dimension, (None, None))
        own = reason if BLEND[dimension][LayerName.STATIC] else None
        return DimensionScore(score=None, grade=None, weight=weight, reason=facts.unscored or own or QUICK)
    rounded = round(value, 4)
    return DimensionScore(score=rounded, grade=Grade.of(rounded), weight=weight)


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
