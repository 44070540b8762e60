"""What every format says of the judge, in plain words: who it was, how sure it is, what it cost, and what it is not.

Texts of models and skills in what is given here are bounded and on one line; whoever shows them makes them inert
for where they stand.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.format import plural
from skillgate.model.layers import JudgeLayer, MonteCarloLayer, RankingLayer
from skillgate.report.findings import bounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.layers import Agreement, Assessment, Lift, Triggering, TriggerPrompt, Usage
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.score import Dimension

SCRIPTED = "SCRIPTED OR REPLAYED ANSWERS"
WIDE = 0.05  # half-width of an interval, of a score in [0, 1], from which on it is called wide
_EVEN = 0.005  # by how much the two arms of an interval may differ and still be written as one
_NAMED = 5  # sections or files that one sentence names
_TEXT = 200  # characters of a reason, a path, a heading or a name
_STYLE = 40  # characters of a prompt's style
_CENT = 0.01  # dollars; less is written with more digits


def judge_of(result: SkillResult) -> JudgeLayer | None:
    """Give a skill's judge layer, None where no judge was asked."""
    return next((layer for layer in result.layers if isinstance(layer, JudgeLayer)), None)


def judges_of(results: Iterable[SkillResult]) -> tuple[JudgeLayer, ...]:
    """Give the judge layers of several skills."""
    return tuple(layer for layer in map(judge_of, results) if layer is not None)


def answers_warning(results: Iterable[SkillResult]) -> str:
    """Say that answers are scripted or replayed, where any are; ``""`` where a model answered, or none was asked."""
    every = list(results)
    judges = {layer.provider: None for layer in judges_of(every) if not layer.live}
    others = {layer.provider: None for result in every for layer in _played(result) if not layer.live}
    providers = judges | others
    if not providers:
        return ""
    named = ", ".join(_short(provider) for provider in list(providers)[:_NAMED])
    return (
        f"{SCRIPTED} (provider {named}): no model has read the skill. What"
        f" {_speakers(judged=bool(judges), played=bool(others))} here says nothing of it."
    )


def _played(result: SkillResult) -> Iterator[MonteCarloLayer | RankingLayer | Lift]:
    """Give what rests on sessions or matches; a layer without any has no answer that could be scripted."""
    for layer in result.layers:
        if isinstance(layer, MonteCarloLayer | RankingLayer) and _has_answers(layer):
            yield layer
    if result.lift is not None and result.lift.tasks:
        yield result.lift


def _has_answers(layer: MonteCarloLayer | RankingLayer) -> bool:
    if isinstance(layer, RankingLayer):
        return bool(layer.played)
    return layer.completed + layer.failed > 0


def _speakers(*, judged: bool, played: bool) -> str:
    """Say who says what answers made up say."""
    if not played:
        return "the judge says and scores"
    return "judge, sessions and matches say and score" if judged else "sessions and matches say and score"


def half_width(score: float | None, low: float | None, high: float | None) -> float | None:
    """Give half the width of an interval on the scale of its score, None where there is no interval."""
    return None if score is None or low is None or high is None else (high - low) / 2


def spread(score: float | None, low: float | None, high: float | None) -> str:
    """Write an interval: ``± 0.06``; by its ends where it lies unevenly about the score; ``""`` for none."""
    half = half_width(score, low, high)
    if half is None or score is None or low is None or high is None:
        return ""
    even = abs((high - score) - (score - low)) <= _EVEN * max(1.0, score)
    return f"± {half:.2f}" if even else f"({low:.2f} to {high:.2f})"


def breadth(score: float | None, low: float | None, high: float | None, *, scale: float = 1.0) -> str:
    """Call an interval ``wide`` or ``stable``; ``""`` where there is none. ``scale`` is the highest score."""
    half = half_width(score, low, high)
    if half is None:
        return ""
    return "wide" if round(half / scale, 4) >= WIDE else "stable"


def sure(score: float | None, low: float | None, high: float | None, *, scale: float = 1.0) -> str:
    """Write an interval and what it is called, as in ``± 0.06, wide``; ``""`` where there is none."""
    written = spread(score, low, high)
    return f"{written}, {breadth(score, low, high, scale=scale)}" if written else ""


def who(layers: Iterable[JudgeLayer]) -> str:
    """Name the judges, as in ``claude-sonnet-5-5 ×3``; the most that any skill was asked by."""
    most: Counter[str] = Counter()
    for layer in layers:
        most |= Counter(layer.models)
    named = [f"{_short(model)} ×{count}" if count > 1 else _short(model) for model, count in most.items()]
    return _and_more(named[:_NAMED], len(named))


def agreed(agreement: Agreement | None) -> str:
    """Say how far judges agree, as in ``kappa 0.71 over 84 ratings, equal in 62 %``; ``""`` for one judge."""
    if agreement is None:
        return ""
    if agreement.kappa is None:
        parts = [f"no kappa ({_short(agreement.kappa_reason or 'it was not computed')})"]
    else:
        parts = [f"kappa {agreement.kappa:.2f} over {agreement.items:,} ratings"]
    if agreement.agreement is not None:
        parts.append(f"equal in {100 * agreement.agreement:.0f} %")
    return ", ".join(parts)


def agreed_further(agreement: Agreement) -> Iterator[str]:
    """Say what else is known of the agreement: intervals, ICC, predictions; or why it is not."""
    if agreement.kappa_ci_low is not None and agreement.kappa_ci_high is not None:
        yield f"95 % interval of kappa {agreement.kappa_ci_low:.2f} to {agreement.kappa_ci_high:.2f}"
    if agreement.within_one is not None:
        yield f"at most one step apart in {100 * agreement.within_one:.0f} %"
    yield f"ICC(2,1) {agreement.icc:.2f}" if agreement.icc is not None else f"no ICC ({_short(agreement.icc_reason)})"
    if agreement.kappa_trigger is not None:
        yield f"kappa of the trigger predictions {agreement.kappa_trigger:.2f} over {agreement.predictions:,}"
    else:
        yield f"no kappa of the trigger predictions ({_short(agreement.kappa_trigger_reason)})"


def spent(usage: Usage) -> str:
    """Say what was asked and what it cost, as in ``4 calls, 14 answers from cache, $0.03``."""
    parts = [f"{plural(usage.calls, 'call')}"]
    if usage.cached:
        parts.append(f"{plural(usage.cached, 'answer')} from cache")
    if usage.retries:
        parts.append(f"{usage.retries:,} sent again")
    if usage.cost_usd is None:
        parts.append(f"cost unknown ({_short(usage.cost_reason or 'no price is known')})")
    else:
        parts.append(f"${usage.cost_usd:.{2 if usage.cost_usd >= _CENT or not usage.cost_usd else 4}f}")
    return ", ".join(parts)


def run_in_words(report: Report) -> list[str]:
    """Say of a run who judged, how far they agree and what it cost; nothing where no judge was asked."""
    layers = judges_of(report.results)
    if not layers:
        return []
    named = who(layers)
    judged = sum(1 for layer in layers if measured(layer))
    parts = [f"judge {named}" if named else "judge"]
    if judged < len(layers):
        parts.append(f"{len(layers) - judged} of {len(layers)} skills not judged")
    return [*parts, *filter(None, [agreed(report.agreement)]), spent(report.usage)]


def measured(layer: JudgeLayer) -> bool:
    """Tell whether the judge measured anything of a skill."""
    return any(item.score is not None for item in layer.assessments.values())


def not_judged(layer: JudgeLayer) -> str:
    """Say that a skill is not judged, or not wholly, and why; ``""`` where every question was answered."""
    if not layer.reason:
        return ""
    reason = _short(layer.reason.removeprefix("not judged: "))
    return f"not wholly judged: {reason}" if measured(layer) else f"not judged: {reason}"


def let_through(results: Iterable[SkillResult]) -> str:
    """Say which skills have no score since they are not judged, for a run that passed all the same; ``""`` for none."""
    judged = [(result, layer) for result in results if (layer := judge_of(result)) is not None]
    reasons = [layer.reason for result, layer in judged if layer.reason and result.composite.score is None]
    if not reasons:
        return ""
    causes = list(dict.fromkeys(reason.removeprefix("not judged: ") for reason in reasons))
    more = f" and {len(causes) - 1} other reasons" if len(causes) > 1 else ""
    named = f"{len(reasons):,} of {plural(len(judged), 'skill')}"
    return f"{named} not judged, let through by {settings.ON_UNMEASURED.key}: pass ({_short(causes[0])}{more})"


def lowest_first(layer: JudgeLayer) -> list[tuple[Dimension, Assessment]]:
    """List what the judge measured, the lowest score first; what it could not measure before that."""
    known = layer.assessments.items()
    return sorted(known, key=lambda item: (item[1].score is not None, item[1].score or 0.0))


def ratings(assessment: Assessment) -> str:
    """Write the ratings, as in ``5, 6 and 6 of 10``; ``""`` where there are none."""
    texts = [str(rating) for rating in assessment.ratings]
    if not texts:
        return ""
    return f"{', '.join(texts[:-1])}{' and ' if len(texts) > 1 else ''}{texts[-1]} of 10"


def voices(assessment: Assessment, judges: int) -> list[tuple[int | None, str]]:
    """Give what each judge said, with its number; without, where not every one of so many judges was heard."""
    known = len(assessment.reasoning) == judges
    return [(place if known else None, text.strip()) for place, text in enumerate(assessment.reasoning, 1)]


def heard(assessment: Assessment, judges: int) -> str:
    """Say of how many judges there are reasons, where it is not all of them; ``""`` where it is, or of none."""
    replies = len(assessment.reasoning)
    return f"{replies} of {judges} judges answered" if 0 < replies < judges else ""


def corrected(assessment: Assessment) -> str:
    """Say what people would give, as a calibration set tells; ``""`` without one."""
    found = assessment.corrected
    if found is None:
        return ""
    if found.value is None:
        return f"not corrected by the calibration set: {_short(found.reason or 'it says too little')}"
    written = spread(found.value, found.ci_low, found.ci_high)
    return f"people would give {found.value:.2f}{' ' * bool(written)}{written}, from {found.n:,} labelled cases"


def wrong(prompt: TriggerPrompt) -> int:
    """Count the judges that predict otherwise than the prompt is meant."""
    return sum(1 for answer in prompt.predicted if answer is not None and answer != prompt.should_trigger)


def missed(triggering: Triggering) -> list[TriggerPrompt]:
    """List the prompts on which a judge predicts otherwise than they are meant, those of most judges first."""
    return sorted((prompt for prompt in triggering.prompts if wrong(prompt)), key=lambda prompt: -wrong(prompt))


def missed_in_words(triggering: Triggering) -> str:
    """Count the missed prompts by kind and style, as in ``2 of 10 trigger prompts missed: 1 direct, 1 near miss``."""
    found = missed(triggering)
    kinds = Counter(kind(prompt) for prompt in found)
    named = _and_more([f"{count} {word}" for word, count in kinds.items()][:_NAMED], len(kinds))
    return f"{len(found)} of {len(triggering.prompts)} trigger prompts missed: {named}" if found else ""


def kind(prompt: TriggerPrompt) -> str:
    """Name the kind of a prompt: its style, and whether it is a near miss."""
    style = bounded(prompt.style, _STYLE)
    return style if prompt.should_trigger else f"{style} near miss"


def remarks(layer: JudgeLayer) -> Iterator[str]:
    """Say what else has to be known of what a judge was shown and answered."""
    if layer.cut:
        named = [
            f"{_short(cut.path)} “{_short(cut.heading)}” (lines {cut.first} to {cut.last})"
            for cut in layer.cut[:_NAMED]
        ]
        yield f"too long to be shown whole, left out: {_and_more(named, len(layer.cut))}"
    if layer.unread:
        yield f"not shown to a judge: {_and_more(list(map(_short, layer.unread[:_NAMED])), len(layer.unread))}"
    if layer.obeyed:
        answers = f"{plural(layer.obeyed, 'answer')}"
        yield f"{answers} obeyed the skill's text instead of the question, and count nowhere"
    for dimension, change in layer.swayed.items():
        yield f"suspicious passages move {dimension.value} by {change:+.2f}; the lower score counts".replace("-", "−")
    if layer.answered_by:
        others = _and_more(list(map(_short, layer.answered_by[:_NAMED])), len(layer.answered_by))
        yield f"answered by {others}, which is not what was asked for"


def _short(text: str | None) -> str:
    return bounded(text or "no reason is given", _TEXT)


def _and_more(named: list[str], total: int) -> str:
    more = f" and {total - len(named):,} more" if total > len(named) else ""
    return f"{', '.join(named)}{more}"
