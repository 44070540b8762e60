"""Judged skills made by hand, for what is computed from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.model.layers import Assessment, Estimate, JudgeLayer, Triggering, TriggerPrompt
from skillgate.model.report import Composite, SkillName, SkillResult, StaticLayer, SubCheckScore
from skillgate.model.score import Dimension, LayerName
from skillgate.scoring.composite import blend, composite

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

RATED = tuple(dimension for dimension in Dimension if dimension is not Dimension.TRIGGERING_ACCURACY)
UNSEEN = (Dimension.OUTPUT_QUALITY, Dimension.ROBUSTNESS)  # layer 1 has nothing to say of them
STATIC: dict[Dimension, float | None] = {name: None if name in UNSEEN else 0.8 for name in Dimension}
NOTHING = Estimate(None)


def prompts(hits: Iterable[Iterable[bool]], alarms: Iterable[Iterable[bool]]) -> tuple[TriggerPrompt, ...]:
    """Make trigger prompts out of what each judge predicted."""
    return tuple(
        TriggerPrompt(f"{kind} {index}", kind, predicted=tuple(bool(one) for one in predicted))
        for kind, group in ((True, hits), (False, alarms))
        for index, predicted in enumerate(group)
    )


def f1_of(asked: Sequence[TriggerPrompt]) -> float:
    """Compute class-balanced F1 the long way: by precision and recall over classes of equal size."""
    rates = {}
    for kind in (True, False):
        shares = [sum(map(bool, one.predicted)) / len(one.predicted) for one in asked if one.should_trigger is kind]
        rates[kind] = sum(shares) / len(shares)
    if not rates[True]:
        return 0.0
    precision = rates[True] / (rates[True] + rates[False])
    return 2 * precision * rates[True] / (precision + rates[True])


def a_layer(
    ratings: Mapping[Dimension, Sequence[int]], asked: Sequence[TriggerPrompt] = (), **changes: Any
) -> JudgeLayer:
    """Give the layer of as many judges as there are ratings."""
    judges = max((len(given) for given in ratings.values()), default=1)
    assessments = {
        name: Assessment(sum(given) / len(given) / 10, ratings=tuple(given)) for name, given in ratings.items()
    }
    triggering = None
    if asked:
        assessments[Dimension.TRIGGERING_ACCURACY] = Assessment(f1_of(asked))
        triggering = Triggering(NOTHING, NOTHING, NOTHING, NOTHING, prompts=tuple(asked), digest="d1")
    layer = JudgeLayer(
        0,
        judges,
        None,
        models=("m-1",) * judges,
        assessments=assessments,
        triggering=triggering,
        prompt_version="p1",
        rubric_version="r1",
    )
    return layer._replace(**changes)


def a_result(
    layer: JudgeLayer,
    *,
    static: Mapping[Dimension, float | None] = STATIC,
    anti_patterns: int = 0,
) -> SkillResult:
    """Give a result whose composite is computed as the pipeline does."""
    dimensions = {
        name: blend(
            name,
            {
                LayerName.STATIC: static.get(name),
                LayerName.JUDGE: layer.assessments[name].score if name in layer.assessments else None,
            },
        )
        for name in Dimension
    }
    checks = {name.value: SubCheckScore(static.get(name), name) for name in Dimension if name not in UNSEEN}
    return SkillResult(
        composite=Composite(score=composite(dimensions, anti_patterns), badge=None),
        dimensions={},
        layers=(StaticLayer(0, ("X",) * anti_patterns, sub_checks=checks), layer),
        skill=SkillName("one", "skills/one"),
    )
