"""What is in doubt of judged scores: drops that may be chance, what intervals are wide by, the judge itself.

Texts of models and skills in what is given here are bounded and on one line; whoever shows them makes them inert
for where they stand.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.score import Dimension, Outcome
from skillgate.report.findings import bounded
from skillgate.report.judge_words import breadth, judge_of, kind, missed, spread, sure, wrong
from skillgate.scoring.gate import REAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.layers import DropTest, Estimate, Triggering, TriggerPrompt, Trust
    from skillgate.model.report import GateOutcome, SkillResult

INCONCLUSIVE = "inconclusive: "
_CHANCE = "does not tell from chance"  # of the gate's reason
_REASON = 300  # characters of a reason
_PROMPT = 60  # characters of a prompt in a list
_NAMED = 3  # prompts that are named
_KINDS = 4  # kinds of prompts that are counted


def inconclusive(result: SkillResult) -> str:
    """Say how a skill's score fell that fails nothing by it, since the fall may be chance; ``""`` where none did.

    What the gate fails by is told as its reason, and not here.
    """
    found = (outcome for outcome in result.gate.outcomes if _in_doubt(outcome, fails=result.gate.passed is False))
    return next((f"{INCONCLUSIVE}{_reason(outcome)}" for outcome in found), "")


def in_words(outcome: GateOutcome | None) -> str:
    """Give the reason of a comparison that decided nothing, whether it passed by that or not; ``""`` for any other."""
    if outcome is None or not (outcome.verdict is Outcome.INCONCLUSIVE or _is_chance(outcome)):
        return ""
    return f"{INCONCLUSIVE}{_reason(outcome)}"


def dropped(results: Iterable[SkillResult]) -> list[tuple[SkillResult, str]]:
    """List the skills whose scores fell and that fail nothing by it, each with what is said of that."""
    return [(result, doubt) for result in results if (doubt := inconclusive(result))]


def _in_doubt(outcome: GateOutcome, *, fails: bool) -> bool:
    if outcome.gate != "regression":
        return False
    if outcome.verdict is Outcome.INCONCLUSIVE:
        return not fails
    return outcome.verdict is Outcome.PASS and _is_chance(outcome)


def _is_chance(outcome: GateOutcome) -> bool:
    return outcome.reason.startswith(INCONCLUSIVE) or _CHANCE in outcome.reason


def _reason(outcome: GateOutcome) -> str:
    return bounded(outcome.reason.removeprefix(INCONCLUSIVE), _REASON)


def drop_in_words(test: DropTest | None) -> str:
    """Say what a comparison with the baseline rests on: answers, chance, how often it errs, and what it can see.

    ``""`` where nothing was compared. What it can see is told only of a drop that is not known to be real.
    """
    if test is None:
        return ""
    if test.reason is not None:
        return f"not compared answer by answer: {bounded(test.reason, _REASON)}"
    if test.p is None:
        return f"of {test.units:,} paired answers none differs: what moved is exact" if test.units else ""
    sentence = f"with {test.units:,} paired answers (p = {test.p:.2f})"
    if test.flip_rate is not None:
        sentence += f" this gate would flip on identical input in {_percent(test.flip_rate)} of runs"
    if test.p <= REAL:
        return sentence
    if test.smallest_detectable is None:
        return f"{sentence}; so few of them differ that it can see no drop"
    return f"{sentence}; the smallest drop it can see is {round(test.smallest_detectable, 1):g} points"


def _percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def wide_by(result: SkillResult) -> str:
    """Name the prompts, with their styles, that a wide triggering accuracy comes from; ``""`` where it is not wide."""
    layer, found = judge_of(result), result.dimensions.get(Dimension.TRIGGERING_ACCURACY)
    item = layer.assessments.get(Dimension.TRIGGERING_ACCURACY) if layer else None
    if layer is None or layer.triggering is None or not layer.triggering.prompts:
        return ""
    for name, side in (("triggering_accuracy", found), ("the judge's triggering_accuracy", item)):
        if side is not None and side.score is not None and breadth(side.score, side.ci_low, side.ci_high) == "wide":
            written = sure(side.score, side.ci_low, side.ci_high)
            return f"{name} {side.score:.4f} {written}: {prompts_in_doubt(layer.triggering)}"
    return ""


def prompts_in_doubt(triggering: Triggering) -> str:
    """Name the prompts that judges got wrong or split on, each with its style; or say that there are only so many."""
    found = missed(triggering)
    if not found:
        kinds = Counter(kind(prompt) for prompt in triggering.prompts)
        named = ", ".join(f"{count} {word}" for word, count in kinds.most_common(_KINDS))
        return f"no prompt is missed, but there are only {len(triggering.prompts):,} ({named})"
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"it comes from {', '.join(map(_doubtful, found[:_NAMED]))}{more}"


def _doubtful(prompt: TriggerPrompt) -> str:
    answers = sum(1 for answer in prompt.predicted if answer is not None)
    said = f" ({wrong(prompt)} of {answers} judges wrong)" if answers > 1 else ""
    return f"{kind(prompt)} “{bounded(prompt.prompt, _PROMPT)}”{said}"


def trusted(trust: Trust | None) -> str:
    """Say how far people bear the judge out, by a calibration set; ``""`` without one."""
    if trust is None:
        return ""
    over = f"over {plural(trust.items, 'rating')} of {plural(trust.skills, 'skill')}"
    rates = (
        _rate("kappa", trust.kappa),
        _rate("sensitivity", trust.sensitivity),
        _rate("specificity", trust.specificity),
        _rate("acceptable to people", trust.acceptable),
    )
    return f"judge and people {over}: {', '.join(rates)}"


def _rate(name: str, found: Estimate) -> str:
    if found.value is None:
        return f"{name} — ({bounded(found.reason or 'no reason is given', _REASON)})"
    written = spread(found.value, found.ci_low, found.ci_high)
    return f"{name} {found.value:.2f}{' ' * bool(written)}{written}".replace("-", "−")


def distrust(trust: Trust | None) -> str:
    """Warn of a judge whose ratings people do not share; ``""`` where they do, or nobody asked them."""
    if trust is None:
        return ""
    why = []
    if trust.kappa.value is not None and trust.kappa.value <= 0:
        why.append(f"kappa {trust.kappa.value:.2f}, no better than chance".replace("-", "−"))
    if trust.acceptable.value is None:
        why.append(
            bounded(trust.acceptable.reason or "what they would accept cannot be told from its ratings", _REASON)
        )
    return f"people do not bear this judge out: {'; '.join(why)}" if why else ""


def warnings(trust: Trust | None, results: Iterable[SkillResult]) -> Iterator[str]:
    """Warn of what a verdict alone would hide: a judge that people do not bear out, and drops that may be chance."""
    if warning := distrust(trust):
        yield warning
    yield from (f"{bounded(result.skill.path, _REASON)}: {warning}" for result, warning in dropped(results))
