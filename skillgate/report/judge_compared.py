"""Two sampled skills side by side: whether their scores may be compared at all, and what the judge alone gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural
from skillgate.model.layers import JudgeLayer, MonteCarloLayer
from skillgate.model.score import Dimension, LayerName, Outcome
from skillgate.report.judge_words import SCRIPTED, answers_warning, judge_of, spread
from skillgate.scoring.composite import BLEND
from skillgate.scoring.gate import sampled_drops
from skillgate.scoring.pairing import apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.model.documents import Comparison, Diff, DimensionChange, SkillChange
    from skillgate.model.layers import Assessment, DropTest
    from skillgate.model.report import SkillResult
    from skillgate.scoring.pairing import Pair

_NAMED = 5  # skills that a hint names


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
        All reasons as one text that begins with ``inconclusive:``.
    """
    if before.composite.score is None or after.composite.score is None:
        return ""
    found = apart(before, after)
    return f"inconclusive: {'; '.join(found)}" if found else ""


def unmoved(change: DimensionChange) -> DimensionChange:
    """Leave both scores of a dimension beside each other without a change: they mean different things."""
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
    """Tell whether judges or sessions are in a skill's score."""
    return any(isinstance(layer, JudgeLayer | MonteCarloLayer) for layer in result.layers)


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
    for reason, paths in found.items():
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        yield f"{reason} ({', '.join(paths[:_NAMED])}{more})"


def rests_on_judge(dimension: Dimension, result: SkillResult) -> int:
    """Count the opinions that a dimension mostly rests on; 0 where most of it, or all, is static."""
    layer = judge_of(result)
    found = layer.assessments.get(dimension) if layer else None
    if layer is None or found is None or found.score is None:
        return 0
    shares = BLEND[dimension]
    return (len(found.ratings) or layer.judges) if shares[LayerName.JUDGE] >= shares[LayerName.STATIC] else 0


def sides(comparison: Comparison) -> dict[Dimension, Sides]:
    """Set what the judge alone gave side by side, by dimension; only those that it was asked about."""
    a, b, comparable = comparison.a, comparison.b, comparison.change is not None
    found = {dimension: judged_sides(dimension, a, b, comparable=comparable) for dimension in Dimension}
    return {dimension: item for dimension, item in found.items() if item is not None}


def judged_sides(dimension: Dimension, a: SkillResult, b: SkillResult, *, comparable: bool) -> Sides | None:
    """Set what the judge gave one dimension side by side; None where it was asked on neither side."""
    layers = judge_of(a), judge_of(b)
    found = [layer.assessments.get(dimension) if layer else None for layer in layers]
    scores = [item.score if item else None for item in found]
    if scores == [None, None]:
        return None
    change = None
    if comparable and scores[0] is not None and scores[1] is not None:
        change = round(scores[1] - scores[0], 4)
    opinions = max(layer.judges for layer in layers if layer is not None)
    label = f"judge, {plural(opinions, 'opinion')}"
    return Sides(label, scores[0], scores[1], change, _spreads(*found))


def _spreads(a: Assessment | None, b: Assessment | None) -> str:
    written = [spread(item.score, item.ci_low, item.ci_high) if item else "" for item in (a, b)]
    return " → ".join(text or "—" for text in written) if any(written) else ""
