"""What sessions, matches and lift measure of two skills: a change only where both sides mean the same, else why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.documents import SampledChange
from skillgate.model.layers import Estimate
from skillgate.model.score import Dimension
from skillgate.report.ranking import ranking_of
from skillgate.report.sessions import sessions_of
from skillgate.scoring.pairing import lifts_apart, ratings_apart, sessions_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.layers import MonteCarloLayer, RankingLayer, Rating
    from skillgate.model.report import SkillResult
    from skillgate.scoring.pairing import Difference

SESSIONS = ("activation_rate", "false_activation_rate", "f1", "quality", "failure_rate", "tokens", "mc_score")
RATINGS = ("elo", "bradley_terry")
LIFT = ("lift",)
_DIGITS = 4
_NO_REASON = "no reason is given"


def sampled_changes(before: SkillResult, after: SkillResult) -> tuple[SampledChange, ...]:
    """Set the figures of sessions, matches and lift side by side; nothing of what neither side has."""
    return (*_sessions(before, after), *_ratings(before, after), *_lift(before, after))


def _sessions(before: SkillResult, after: SkillResult) -> Iterator[SampledChange]:
    one, other = sessions_of(before), sessions_of(after)
    if one is None and other is None:
        return
    why = ""
    if one is not None and other is not None:
        why = _differences(sessions_apart(one, other)) or _unknown_prompts(one, other)
    for name in SESSIONS:
        yield _compared(name, _measure(one, name), _measure(other, name), _lone("sessions", one, other), why)


def _unknown_prompts(one: MonteCarloLayer, other: MonteCarloLayer) -> str:
    return "" if one.prompts_digest and other.prompts_digest else "it is not known whether the prompts are the same"


def _measure(layer: MonteCarloLayer | None, name: str) -> Estimate:
    """Give a measure; that of a run which ended early is a bound, and no measure."""
    if layer is None:
        return Estimate(None, reason="no sessions were simulated")
    if layer.stopped_early is not None:
        return Estimate(None, reason="the sessions ended early")
    if name == "mc_score":
        return Estimate(layer.mc_score, reason=None if layer.mc_score is not None else layer.mc_reason or _NO_REASON)
    found = layer.measures.get(name)
    return found if found is not None else Estimate(None, reason=layer.reason or _NO_REASON)


def _ratings(before: SkillResult, after: SkillResult) -> Iterator[SampledChange]:
    one, other = ranking_of(before), ranking_of(after)
    if one is None and other is None:
        return
    why = _differences(ratings_apart(one, other)) if one is not None and other is not None else ""
    for name in RATINGS:
        sides = (_rating(one, name), _rating(other, name))
        yield _compared(name, sides[0], sides[1], _lone("matches", one, other), why, digits=2)


def _rating(layer: RankingLayer | None, name: str) -> Estimate:
    if layer is None:
        return Estimate(None, reason="there were no matches")
    found = layer.elo if name == "elo" else layer.bradley_terry
    return Estimate(None, n=layer.matches, reason=layer.reason or _NO_REASON) if found is None else _over(found, layer)


def _over(found: Rating, layer: RankingLayer) -> Estimate:
    return Estimate(found.rating, found.ci_low, found.ci_high, layer.matches)


def _lift(before: SkillResult, after: SkillResult) -> Iterator[SampledChange]:
    one, other = before.lift, after.lift
    if one is None and other is None:
        return
    why = _differences(lifts_apart(one, other)) if one is not None and other is not None else ""
    nothing = Estimate(None, reason="no task was done without the skill")
    sides = [nothing if side is None else side.lift for side in (one, other)]
    yield _compared("lift", sides[0], sides[1], _lone("tasks without the skill", one, other), why)


def _lone(what: str, one: object, other: object) -> str:
    return f"only the skill {'after' if one is None else 'before'} has {what}" if one is None or other is None else ""


def _differences(found: Iterable[Difference]) -> str:
    return "; ".join(each.other for each in found)


def _compared(name: str, before: Estimate, after: Estimate, *why: str, digits: int = _DIGITS) -> SampledChange:
    """Set one figure side by side.

    Args:
        name: of the figure.
        before: it on one side.
        after: it on the other.
        why: that one side alone has any such figure, and why the two are not the same measurement; ``""`` for neither.
        digits: to which the change is rounded.
    """
    lone, other = why
    reason = lone or _missing(before, after) or other
    if reason or before.value is None or after.value is None:
        return SampledChange(name, before, after, reason=reason)
    return SampledChange(name, before, after, round(after.value - before.value, digits))


def _missing(before: Estimate, after: Estimate) -> str:
    """Say which side did not measure a figure, and why; ``""`` where both did."""
    gone = [
        (word, side.reason or _NO_REASON) for word, side in (("before", before), ("after", after)) if side.value is None
    ]
    if len({reason for _, reason in gone}) == 1:
        return f"not measured {' and '.join(word for word, _ in gone)}: {gone[0][1]}"
    return "; ".join(f"not measured {word}: {reason}" for word, reason in gone)


def lone_scores(before: SkillResult, after: SkillResult) -> tuple[Dimension, ...]:
    """List the dimensions that sessions of one side alone measured, where those of both are in the score."""
    found = [
        {name for name, item in layer.scores.items() if item.value is not None} if layer is not None else set()
        for layer in (sessions_of(before), sessions_of(after))
    ]
    return tuple(name for name in Dimension if all(found) and (name in found[0]) != (name in found[1]))
