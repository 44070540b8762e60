"""Two sampled skills: whether their scores can be compared, and whether a drop may be chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural
from skillgate.model.layers import JudgeLayer, MonteCarloLayer, RankingLayer
from skillgate.model.score import Dimension, Outcome
from skillgate.report.findings import bounded
from skillgate.report.numbers import NONE, reason, several, spread
from skillgate.scoring.gate import BORDERING, sampled_drops
from skillgate.scoring.pairing import apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.model.documents import Comparison, Diff, DimensionChange, SkillChange
    from skillgate.model.layers import DropTest, Lift
    from skillgate.model.report import GateOutcome, SkillResult
    from skillgate.scoring.pairing import Pair

SCRIPTED = "SCRIPTED OR REPLAYED ANSWERS"
INCONCLUSIVE = "inconclusive: "
_CHANCE = "does not distinguish from chance"  # of the gate's reason


def judge_of(result: SkillResult) -> JudgeLayer | None:
    """Return a skill's judge layer, None where no judge was asked."""
    return next((layer for layer in result.layers if isinstance(layer, JudgeLayer)), None)


def judges_of(results: Iterable[SkillResult]) -> tuple[JudgeLayer, ...]:
    """Return the judge layers of several skills."""
    return tuple(layer for layer in map(judge_of, results) if layer is not None)


def answers_warning(results: Iterable[SkillResult]) -> str:
    """Warn of scripted or replayed answers; ``""`` where a model answered, or none was asked."""
    every = list(results)
    judges = {layer.provider: None for layer in judges_of(every) if not layer.live}
    others = {layer.provider: None for result in every for layer in _played(result) if not layer.live}
    if not judges | others:
        return ""
    named = several([reason(provider) for provider in judges | others])
    said = ", ".join(filter(None, ("the judge" * bool(judges), "sessions and matches" * bool(others))))
    return f"{SCRIPTED} (provider {named}): no model read the skill, so the numbers of {said} say nothing about it."


def _played(result: SkillResult) -> Iterator[MonteCarloLayer | RankingLayer | Lift]:
    """Yield what rests on sessions or matches that took place."""
    for layer in result.layers:
        if isinstance(layer, RankingLayer | MonteCarloLayer) and _has_answers(layer):
            yield layer
    if result.lift is not None and result.lift.tasks:
        yield result.lift


def _has_answers(layer: MonteCarloLayer | RankingLayer) -> bool:
    return bool(layer.played) if isinstance(layer, RankingLayer) else layer.completed + layer.failed > 0


class Sides(NamedTuple):
    """What the judge alone gave one dimension on two sides; ``change`` is None where they are not compared.

    ``spread`` writes both intervals, or the one there is; ``""`` for none.
    """

    label: str
    a: float | None
    b: float | None
    change: float | None
    spread: str = ""


def not_comparable(before: SkillResult, after: SkillResult) -> str:
    """Say why the scores of two results mean different things; ``""`` where they may be compared.

    Only where both have a score: one that is missing has its own reason.

    Args:
        before: the skill on one side.
        after: the skill on the other.

    Returns:
        All reasons as one string that begins with ``inconclusive:``.
    """
    if before.composite.score is None or after.composite.score is None:
        return ""
    found = apart(before, after)
    return f"{INCONCLUSIVE}{'; '.join(found)}" if found else ""


def unmoved(change: DimensionChange) -> DimensionChange:
    """Keep both scores of a dimension without a change: they mean different things."""
    return change._replace(change=None, better=None)


def drops(pairs: Sequence[Pair], allowed: Callable[[str], float]) -> list[DropTest | None]:
    """Ask the paired test about every skill that was sampled on both sides and can be compared; in their order.

    Args:
        pairs: each skill before and after.
        allowed: points that a score may fall, by the skill's shown path after.
    """
    tested = [pair if _is_sampled(*pair) else None for pair in pairs]
    known = [(before, after) for before, after in filter(None, tested) if after is not None]
    if not known:
        return [None] * len(tested)
    found = iter(sampled_drops(known, [allowed(after.skill.path) for _, after in known]))
    return [None if pair is None else next(found) for pair in tested]


def _is_sampled(before: SkillResult | None, after: SkillResult | None) -> bool:
    if before is None or after is None or not (_was_judged(before) and _was_judged(after)):
        return False
    return None not in (before.composite.score, after.composite.score) and not not_comparable(before, after)


def _was_judged(result: SkillResult) -> bool:
    """Return whether judges or sessions are in a skill's score."""
    return any(isinstance(layer, JudgeLayer | MonteCarloLayer) for layer in result.layers)


def doubt(outcome: GateOutcome | None) -> str:
    """Return what a comparison leaves in doubt, or warns of, though its gate passed; ``""`` for any other."""
    if outcome is not None and outcome.reason.startswith(BORDERING):
        return bounded(outcome.reason)
    if outcome is None or not (outcome.verdict is Outcome.INCONCLUSIVE or is_chance(outcome)):
        return ""
    return f"{INCONCLUSIVE}{bounded(outcome.reason.removeprefix(INCONCLUSIVE))}"


def is_chance(outcome: GateOutcome) -> bool:
    """Return whether a comparison says that a drop may be chance."""
    return outcome.reason.startswith(INCONCLUSIVE) or _CHANCE in outcome.reason


def alarm(pairs: Iterable[Pair]) -> tuple[str, ...]:
    """Warn of answers on either side that no model gave; the first of a diff's hints."""
    warning = answers_warning(side for pair in pairs for side in pair if side is not None)
    return (warning,) if warning else ()


def first_hint(diff: Diff) -> tuple[str, tuple[str, ...]]:
    """Take the warning that :func:`alarm` gave, ``""`` for none, out of a diff's hints."""
    alarms = [hint for hint in diff.hints if hint.startswith(SCRIPTED)]
    return " ".join(alarms[:1]), tuple(hint for hint in diff.hints if hint not in alarms[:1])


def hints(skills: Iterable[SkillChange]) -> Iterator[str]:
    """Say which scores were not compared, and why."""
    found: dict[str, list[str]] = {}
    for change in skills:
        outcome = change.regression
        if outcome is not None and outcome.verdict is Outcome.INCONCLUSIVE and change.change is None:
            found.setdefault(outcome.reason, []).append(change.path)
    for why, paths in found.items():
        yield f"{why} ({several(paths)})"


def sides(comparison: Comparison) -> dict[Dimension, Sides]:
    """Return what the judge alone gives on both sides, by dimension; only those that it was asked about."""
    layers = judge_of(comparison.a), judge_of(comparison.b)
    label = f"judge, {plural(max((layer.judges for layer in layers if layer), default=0), 'opinion')}"
    found = {}
    for dimension in Dimension:
        a, b = (layer.assessments.get(dimension) if layer else None for layer in layers)
        one, other = (item.score if item else None for item in (a, b))
        if one is None and other is None:
            continue
        is_known = comparison.change is not None and one is not None and other is not None
        change = round((other or 0.0) - (one or 0.0), 4) if is_known else None
        written = [spread(item.score, item.ci_low, item.ci_high) if item else "" for item in (a, b)]
        both = " → ".join(text or NONE for text in written) if any(written) else ""
        found[dimension] = Sides(label, one, other, change, both)
    return found
