"""The regression gate: whether a skill kept its badge and its points, as far as sampled scores can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.judging import JudgeLayer
from skillgate.model.report import GateOutcome
from skillgate.model.score import Badge, Outcome
from skillgate.model.simulating import MonteCarloLayer, RankingLayer

if TYPE_CHECKING:
    from skillgate.model.judging import DropTest
    from skillgate.model.report import SkillResult

NOT_RANKED = "not ranked"
UNRANKED = f"no badge: {NOT_RANKED}"  # how the reason begins where matches that were asked for gave no rating
REAL = 0.05  # the chance, over all skills of a run, of calling a drop real where nothing changed


def sampled_layers(result: SkillResult) -> tuple[JudgeLayer | MonteCarloLayer | RankingLayer, ...]:
    """Give the layers that ask a model; a ranking that there was no corpus for is none of them."""
    return tuple(
        layer
        for layer in result.layers
        if isinstance(layer, JudgeLayer | MonteCarloLayer)
        or (isinstance(layer, RankingLayer) and (layer.played or layer.elo is not None))
    )


def regression(
    name: str,
    before: SkillResult,
    after: SkillResult,
    max_drop: float,
    *,
    drop: DropTest | None = None,
    on_inconclusive: str = "point",
) -> GateOutcome:
    """Ask that a skill keep its badge and lose at most ``max_drop`` points, on two decimals.

    A drop between sampled scores counts where the paired test says that it is real, or where what was not sampled
    fell that far by itself. Scores that cannot be compared are inconclusive, however they lie.
    """
    was, now = before.composite, after.composite
    for side, result in (("its baseline", before), ("it", after)):
        ended = next((layer.stopped_early for layer in result.layers if isinstance(layer, MonteCarloLayer)), None)
        if ended is not None:
            reason = f"{name} cannot be compared: the sessions of {side} were stopped early: {ended}"
            return GateOutcome(gate="regression", verdict=Outcome.UNMEASURED, reason=reason)
        if result.composite.score is None and _unjudged(result):
            reason = f"{name} cannot be compared: {side} was not measured: {result.composite.reason}"
            return GateOutcome(gate="regression", verdict=Outcome.UNMEASURED, reason=reason)
    if was.score is None:
        return GateOutcome(gate="regression", verdict=Outcome.PASS, reason=f"{name} had no score before: {was.reason}")
    if now.score is None:
        return GateOutcome(gate="regression", verdict=Outcome.FAIL, reason=f"{name} lost its score: {now.reason}")
    moved = f"{was.score:.2f} → {now.score:.2f}"
    if drop is not None and drop.reason is not None:
        reason = f"inconclusive: {name} went {moved}, and the two are not comparable: {drop.reason}"
        passes = on_inconclusive in ("pass", "warn")
        return GateOutcome("regression", Outcome.PASS if passes else Outcome.INCONCLUSIVE, reason)
    fell = round(was.score - now.score, 2)
    lost_badge = rank(now.badge) > rank(was.badge)
    if lost_badge and (now.badge_reason or "").startswith(UNRANKED):
        reason = f"{name} cannot be compared: its badge was not measured: {now.badge_reason}"
        return GateOutcome(gate="regression", verdict=Outcome.UNMEASURED, reason=reason)
    if drop is not None and (lost_badge or fell > max_drop) and not _surely_lost(before, after, drop):
        chance = _chance(name, drop, moved, max_drop)
        if chance is not None:
            fails = on_inconclusive == "fail"
            return GateOutcome("regression", Outcome.INCONCLUSIVE if fails else Outcome.PASS, chance)
    if lost_badge:
        lost = was.badge.value if was.badge else ""
        return GateOutcome(gate="regression", verdict=Outcome.FAIL, reason=f"{name} lost its badge {lost} ({moved})")
    if fell > max_drop:
        reason = f"{name} dropped {fell:.2f} points ({moved}; allowed: {max_drop:g})"
        return GateOutcome(gate="regression", verdict=Outcome.FAIL, reason=reason)
    return GateOutcome(gate="regression", verdict=Outcome.PASS, reason=f"{moved}, allowed drop {max_drop:g}")


def _chance(name: str, drop: DropTest, moved: str, max_drop: float) -> str | None:
    """Say why a drop is not known to be real; None where it is."""
    if drop.certain is not None and drop.certain > max_drop:
        return None  # what is not sampled fell that far by itself
    if drop.p is not None and drop.p <= REAL:
        return None  # a lost badge needs no more points than that
    least = drop.smallest_detectable
    seen = "" if least is None else f"; the least drop it would see is {least:.1f}"
    chance = "" if drop.p is None else f" (p = {drop.p:.2f}{seen})"
    return f"inconclusive: {name} went {moved}, which the paired test does not tell from chance{chance}"


def _surely_lost(before: SkillResult, after: SkillResult, drop: DropTest) -> bool:
    """Tell whether a badge is lost whatever chance did: withheld, or by the fall of what was not sampled alone."""
    was, now = before.composite, after.composite
    if rank(now.badge) <= rank(was.badge):
        return False
    if (now.badge_reason or "").startswith("no badge: "):
        return True
    left = None if was.score is None or drop.certain is None else round(was.score - drop.certain, 2)
    return left is not None and rank(Badge.from_scores(left, was.elo)) > rank(was.badge)


def _unjudged(result: SkillResult) -> bool:
    return any(layer.reason for layer in sampled_layers(result))


def rank(badge: Badge | None) -> int:
    """Rank badges: Platinum 0, none last."""
    order = (*Badge, None)
    return order.index(badge)
