"""Which sampled scores really fell: the paired test of every skill that has a baseline, corrected for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.judging import DropTest, JudgeLayer
from skillgate.model.simulating import MonteCarloLayer
from skillgate.scoring.gate import MAX_DROP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.report import SkillResult


def sampled_drops(
    pairs: Sequence[tuple[SkillResult | None, SkillResult]], max_drops: Sequence[float] | None = None
) -> tuple[DropTest | None, ...]:
    """Test each skill's drop, where it has a baseline and both were sampled.

    Holm's correction counts the skills of which an answer differs: of one whose answers are all as they were, nothing
    was asked, and however many of them there are, they hide nobody's fall.

    Args:
        pairs: the baseline, None without one, and what is there now.
        max_drops: how many points each may lose; None for the default.
    """
    if all(before is None for before, _ in pairs):
        return tuple(None for _ in pairs)
    from skillgate.scoring.paired import paired  # brings in numpy: only where something was sampled
    from skillgate.stats.resampling import holm

    allowed = [MAX_DROP] * len(pairs) if max_drops is None else max_drops
    tests = [
        None if before is None else paired(before, after, max_drop=most)
        for (before, after), most in zip(pairs, allowed, strict=True)
    ]
    counted = {
        index: test.p
        for index, ((before, after), test) in enumerate(zip(pairs, tests, strict=True))
        if test is not None and test.p is not None and before is not None and _answers(before) != _answers(after)
    }
    corrected = dict(zip(counted, holm(list(counted.values())), strict=True))
    return tuple(
        None if test is None else DropTest(*test)._replace(p=corrected.get(index), p_alone=counted.get(index))
        for index, test in enumerate(tests)
    )


def _answers(result: SkillResult) -> tuple[object, ...]:
    """Give all that judges and sessions answered about a skill, as far as scores rest on it."""
    judged = [
        (
            [(name, item.ratings, item.score) for name, item in layer.assessments.items()],
            None if layer.triggering is None else layer.triggering.prompts,
        )
        for layer in result.layers
        if isinstance(layer, JudgeLayer)
    ]
    simulated = [layer.runs for layer in result.layers if isinstance(layer, MonteCarloLayer)]
    return judged, simulated
