"""What reports show of the judge: who it was, its scores and reasons, how sure they are, and what weakens them."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.format import plural
from skillgate.model.layers import Assessment
from skillgate.model.score import Dimension, Outcome
from skillgate.report import charts, numbers
from skillgate.report.findings import bounded
from skillgate.report.judge_compared import doubt, is_chance, judge_of, judges_of
from skillgate.report.links import Links
from skillgate.report.numbers import NONE, breadth, ratio, reason, several, spread, sure
from skillgate.report.tally import worst_first
from skillgate.report.view import Cell, Fold, Heading, Item, Items, Note, Row, Span, Table, code, columns, joined
from skillgate.scoring.gate import REAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.layers import (
        Agreement,
        DropTest,
        Estimate,
        JudgeLayer,
        Quotation,
        Triggering,
        TriggerPrompt,
        Trust,
        Usage,
    )
    from skillgate.model.report import Report, SkillResult
    from skillgate.report.view import Block, Line, Tone

NOT_JUDGED = "not judged: "
_GOOD = 0.8  # from here on a judged dimension needs no comment
_DROPS = 20  # skills whose drops may be chance
_GIST, _QUOTE, _PROMPT, _WHOLE = 140, 120, 60, 1_000  # characters
_PROMPTS = 3  # that a sentence names
_ANSWERS = {True: "yes", False: "no", None: NONE}


# --- what weakens a whole report ---


def allowed(results: Iterable[SkillResult]) -> Iterator[str]:
    """Say which skills have no score because they were not judged, for a run that passes nevertheless."""
    judged = [(result, layer) for result in results if (layer := judge_of(result)) is not None]
    reasons = [layer.reason for result, layer in judged if layer.reason and result.composite.score is None]
    if reasons:
        causes = list(dict.fromkeys(text.removeprefix(NOT_JUDGED) for text in reasons))
        more = f" and {plural(len(causes) - 1, 'other reason')}" if len(causes) > 1 else ""
        named = f"{len(reasons):,} of {plural(len(judged), 'skill')} not judged"
        yield f"{named}, allowed by {settings.ON_UNMEASURED.key}: pass ({reason(causes[0])}{more})"


def notes(report: Report) -> Iterator[Line]:
    """Say what weakens the scores of a whole report; scripted answers have their own warning."""
    if warning := distrust(report.calibration):
        yield Span(warning, "poor")
    found = [(result, text) for result in worst_first(report.results) if (text := inconclusive(result))]
    yield from ((code(result.skill.path), f": {text}") for result, text in found[:_DROPS])
    if len(found) > _DROPS:
        yield f"{len(found) - _DROPS:,} more drops are inconclusive"
    layers = judges_of(report.results)
    judged = [layer.judges for layer in layers if _is_measured(layer)]
    if len(judged) < len(layers) and len(layers) > 1:  # a single skill has its reason
        yield f"{len(layers) - len(judged)} of {plural(len(layers), 'skill')} not judged"
    if judged and max(judged) == 1:
        yield "one judge: no interval and no agreement; --judges 3 gives both"
    elif judged and report.agreement is None:
        yield f"the agreement of the {max(judged)} judges is not known"


def facts(report: Report) -> Iterator[str]:
    """Say in short who judged, how far they agree, and what it cost; nothing where no judge was asked."""
    if layers := judges_of(report.results):
        named = who(layers)
        yield from (f"judge {named}",) if named else ()
        yield from (agreed(report.agreement),) if report.agreement is not None else ()
        yield spent(report.usage)


def about(report: Report) -> Iterator[tuple[str, Line]]:
    """Say who judged, how far judges and people agree, and what it cost; nothing where no judge was asked."""
    layers = judges_of(report.results)
    if not layers:
        return
    yield "Judges", who(layers) or NONE
    if report.agreement is not None:
        yield "Agreement", "; ".join((agreed(report.agreement), *_agreed_further(report.agreement)))
    if text := trusted(report.calibration):
        yield "Calibration", text
    yield "Requests", spent(report.usage)


def who(layers: Iterable[JudgeLayer]) -> str:
    """Name the judges, as in ``claude-sonnet-5-5 ×3``; the maximum over all skills."""
    most: Counter[str] = Counter()
    for layer in layers:
        most |= Counter(layer.models)
    return several([f"{reason(model)} ×{number}" if number > 1 else reason(model) for model, number in most.items()])


def agreed(agreement: Agreement) -> str:
    """Say how far judges agree, as in ``kappa 0.71 over 84 ratings, equal in 62 %``."""
    if agreement.kappa is None:
        parts = [f"no kappa ({reason(agreement.kappa_reason)})"]
    else:
        parts = [f"kappa {agreement.kappa:.2f} over {agreement.items:,} ratings".replace("-", "−")]
    if agreement.agreement is not None:
        parts.append(f"equal in {100 * agreement.agreement:.0f} %")
    return ", ".join(parts)


def _agreed_further(agreement: Agreement) -> Iterator[str]:
    if agreement.kappa_ci_low is not None and agreement.kappa_ci_high is not None:
        yield f"95 % interval of kappa {agreement.kappa_ci_low:.2f} to {agreement.kappa_ci_high:.2f}"
    if agreement.within_one is not None:
        yield f"at most one step apart in {100 * agreement.within_one:.0f} %"
    yield f"ICC(2,1) {agreement.icc:.2f}" if agreement.icc is not None else f"no ICC ({reason(agreement.icc_reason)})"
    if agreement.kappa_trigger is not None:
        yield f"kappa of the trigger predictions {agreement.kappa_trigger:.2f} over {agreement.predictions:,}"
    else:
        yield f"no kappa of the trigger predictions ({reason(agreement.kappa_trigger_reason)})"


def spent(usage: Usage) -> str:
    """Say what was requested and what it cost, as in ``4 calls, 14 answers from cache, $0.03``."""
    parts = [plural(usage.calls, "call")]
    parts += [f"{plural(usage.cached, 'answer')} from cache"] if usage.cached else []
    parts += [f"{usage.retries:,} sent again"] if usage.retries else []
    if usage.cost_usd is None:
        parts.append(f"cost unknown ({reason(usage.cost_reason or 'no price is known')})")
    else:
        parts.append(numbers.dollars(usage.cost_usd))
    return ", ".join(parts)


def trusted(trust: Trust | None) -> str:
    """Say how far people confirm the judge, by a calibration set; ``""`` without one."""
    if trust is None:
        return ""
    over = f"over {plural(trust.items, 'rating')} of {plural(trust.skills, 'skill')}"
    rates = {"kappa": trust.kappa, "sensitivity": trust.sensitivity, "specificity": trust.specificity}
    named = (_rate(name, found) for name, found in (*rates.items(), ("acceptable to people", trust.acceptable)))
    return f"judge and people {over}: {', '.join(named)}"


def _rate(name: str, found: Estimate) -> str:
    if found.value is None:
        return f"{name} {NONE} ({reason(found.reason)})"
    return f"{name} {f'{found.value:.2f}'.replace('-', '−')}{_after(spread(*found[:3]))}"


def _after(text: str) -> str:
    return f" {text}" if text else ""


def distrust(trust: Trust | None) -> str:
    """Warn of a judge whose ratings people do not share; ``""`` where they do, or no calibration set exists."""
    if trust is None:
        return ""
    why = []
    if trust.kappa.value is not None and trust.kappa.value <= 0:
        why.append(f"kappa {trust.kappa.value:.2f}, no better than chance".replace("-", "−"))
    if trust.acceptable.value is None:
        why.append(reason(trust.acceptable.reason or "its ratings do not show what people would accept"))
    return f"people do not confirm this judge: {'; '.join(why)}" if why else ""


# --- drops that may be chance ---


def inconclusive(result: SkillResult) -> str:
    """Say how a skill's score fell without failing it, because that may be chance; ``""`` where it did not.

    A drop that fails the gate is its reason, and not repeated here.
    """
    for outcome in result.gate.outcomes:
        open_ = outcome.verdict is Outcome.INCONCLUSIVE and result.gate.passed is not False
        if outcome.gate == "regression" and (open_ or (outcome.verdict is Outcome.PASS and is_chance(outcome))):
            return doubt(outcome)
    return ""


def drop_in_words(test: DropTest | None) -> str:
    """Say what a comparison with the baseline rests on: answers, chance, how often it errs, and what it detects.

    ``""`` where nothing was compared. A drop that is known to be real needs no smallest detectable one.
    """
    if test is None:
        return ""
    if test.reason is not None:
        return f"not compared answer by answer: {reason(test.reason)}"
    if test.p is None:
        return f"none of {test.units:,} paired answers differs: the change is exact" if test.units else ""
    said = f"with {test.units:,} paired answers (p = {test.p:.2f})"
    if test.flip_rate is not None:
        share = "under 1 %" if 0 < test.flip_rate < 0.005 else f"{100 * test.flip_rate:.0f} %"
        said += f" this gate would flip on identical input in {share} of runs"
    if test.p <= REAL:
        return said
    if test.smallest_detectable is None:
        return f"{said}; too few of them differ to detect any drop"
    return f"{said}; the smallest drop it detects is {round(test.smallest_detectable, 1):g} points"


# --- one skill ---


def skill_blocks(result: SkillResult, links: Links | None = None) -> tuple[Block, ...]:
    """Build what the judges say of a skill: the essential first, then scores, reasons with places, and prompts."""
    layer = judge_of(result)
    if layer is None:
        return ()
    said = [*lowest(result, links), *caveats(result)]
    unjudged = not_judged(layer)
    if unjudged and (layer.reason or "").removeprefix(NOT_JUDGED) in (result.composite.reason or ""):
        unjudged = ""  # it is the reason why there is no score
    blocks: list[Block] = [Note(unjudged, "poor")] if unjudged else []
    blocks += [Items(tuple(map(Item, said)), "remark")] if said else []
    if layer.assessments:
        blocks.append(Fold("Scores of the judge alone", (_table(layer),), open=True, quiet=True))
        blocks += reasons_blocks(result, links)
    if layer.triggering is not None and layer.triggering.prompts:
        blocks.append(Fold("Trigger prompts: would a model load the skill?", triggering_blocks(layer), quiet=True))
    return (Fold("Judge", tuple(blocks), open=True, quiet=not (unjudged or said)),) if blocks else ()


def lowest(result: SkillResult, links: Links | None = None, most: int = 1) -> Iterator[Line]:
    """Say where the judge is lowest, why, and where to look; nothing of dimensions that need no comment."""
    layer = judge_of(result)
    for dimension, item in lowest_first(layer) if layer else ():
        if item.score is None or item.score >= _GOOD or not (item.reasoning or item.quotations) or not most:
            continue
        most -= 1
        why = gist(item.reasoning[0]) if item.reasoning else ""
        quoted = _quoted(result, item.quotations[0], links, _QUOTE) if item.quotations else ""
        yield joined((f"{dimension.value} {ratio(item.score)}{_after(_sure(item))}: {why}", quoted), " ")


def caveats(result: SkillResult) -> Iterator[str]:
    """Say how sure a judged score is, what makes it wide, and what else weakens it."""
    layer = judge_of(result)
    if layer is None:
        return
    composite, triggering, wide = result.composite, layer.triggering, wide_by(result)
    missed = missed_in_words(triggering) if triggering else ""
    if missed and triggering and not wide:
        is_wide = breadth(composite.score, composite.ci_low, composite.ci_high, scale=100) == "wide"
        missed += f" ({missed_prompts(triggering, 2 if is_wide or composite.ci_low is None else 1)})"
    written = sure(composite.score, composite.ci_low, composite.ci_high, scale=100)
    score = f"score {composite.score:.2f} {written}" if written else ""
    yield from filter(None, ("; ".join(filter(None, (score, missed))), wide))
    yield from filter(None, (drop_in_words(result.drop), *_gaps(layer), *remarks(layer)))


def _gaps(layer: JudgeLayer) -> Iterator[str]:
    """Say once for each reason which scores have no interval."""
    found: dict[str, list[str]] = {}
    for dimension, item in layer.assessments.items():
        if item.score is not None and item.ci_low is None and item.ci_reason:
            found.setdefault(item.ci_reason, []).append(dimension.value)
    for why, names in found.items():
        of = f" of {several(names)}" if len(names) < len(layer.assessments) else ""
        yield f"no interval{of}: {reason(why)}"


def remarks(layer: JudgeLayer) -> Iterator[str]:
    """Say what the judge was not shown, and which answers do not count."""
    if layer.cut:
        cut = [f"{reason(it.path)} “{reason(it.heading)}” (lines {it.first} to {it.last})" for it in layer.cut]
        yield f"too long to be shown whole, left out: {several(cut)}"
    if layer.unread:
        yield f"not shown to a judge: {several(list(map(reason, layer.unread)))}"
    if layer.obeyed:
        yield f"{plural(layer.obeyed, 'answer')} obeyed the skill's text instead of the question, and are ignored"
    for dimension, change in layer.swayed.items():
        yield f"suspicious passages change {dimension.value} by {change:+.2f}; the lower score counts".replace("-", "−")
    if layer.answered_by:
        yield f"answered by {several(list(map(reason, layer.answered_by)))}, not by the requested model"


def not_judged(layer: JudgeLayer) -> str:
    """Say that a skill is not or not completely judged, and why; ``""`` where every question was answered."""
    if not layer.reason:
        return ""
    why = reason(layer.reason.removeprefix(NOT_JUDGED))
    return f"not completely judged: {why}" if _is_measured(layer) else f"{NOT_JUDGED}{why}"


def _is_measured(layer: JudgeLayer) -> bool:
    return any(item.score is not None for item in layer.assessments.values())


def lowest_first(layer: JudgeLayer) -> list[tuple[Dimension, Assessment]]:
    """List what the judge measured, what it could not measure first, then the lowest score."""
    known = layer.assessments.items()
    return sorted(known, key=lambda item: (item[1].score is not None, item[1].score or 0.0))


def _sure(item: Assessment) -> str:
    return sure(item.score, item.ci_low, item.ci_high)


def gist(text: str, most: int = _GIST) -> str:
    """Return the first sentence of a judge's reasoning."""
    return bounded(re.split(r"(?<=[.!?])\s", bounded(text.strip(), 4 * most), maxsplit=1)[0], most)


def place_of(result: SkillResult, quotation: Quotation) -> str:
    """Return the path of a quotation's file as the report shows paths."""
    return posixpath.join("" if result.skill.path == "." else result.skill.path, quotation.path)


def _quoted(result: SkillResult, quotation: Quotation, links: Links | None, most: int = _WHOLE) -> Line:
    url = (links or Links()).file(place_of(result, quotation), quotation.line)
    place = code(f"{reason(quotation.path)}:{quotation.line}", url)
    return (f"“{bounded(quotation.text.strip(), most)}” ", place)


def _table(layer: JudgeLayer) -> Table:
    rows = []
    for dimension, item in lowest_first(layer):
        percent, low, high = (None if one is None else 100 * one for one in (item.score, item.ci_low, item.ci_high))
        drawn = charts.rate(percent, low, high, numbers.tone(percent))
        replies = ", ".join(filter(None, (ratings(item), heard(item, layer.judges))))
        said = [reason(item.reason)] if item.score is None else []
        said += filter(None, (corrected(item), _dropped(item)))
        cells = (dimension.value, Cell(chart=drawn), ratio(item.score), _sure(item), replies, "; ".join(said))
        rows.append(Row(cells))
    names = columns("dimension", "~", "#score", "95 % interval", "ratings", "")
    return Table(names, tuple(rows), "What the judge alone gives, the lowest first.", "dimension")


def ratings(assessment: Assessment) -> str:
    """Write the ratings, as in ``5, 6 and 6 of 10``; ``""`` where there are none."""
    *others, last = map(str, assessment.ratings or ("",))
    return f"{', '.join(others)}{' and ' if others else ''}{last} of 10" if last else ""


def heard(assessment: Assessment, judges: int) -> str:
    """Say how many judges gave reasons, if not all of them did; ``""`` for all or none."""
    replies = len(assessment.reasoning)
    return f"{replies} of {judges} judges answered" if 0 < replies < judges else ""


def corrected(assessment: Assessment) -> str:
    """Say what people would give, by a calibration set; ``""`` without one."""
    found = assessment.corrected
    if found is None:
        return ""
    if found.value is None:
        return f"not corrected by the calibration set: {reason(found.reason or 'it has too few labels')}"
    return f"people would give {found.value:.2f}{_after(spread(*found[:3]))}, from {found.n:,} labelled cases"


def _dropped(item: Assessment) -> str:
    return f"{plural(item.dropped, 'quotation')} left out, not in the text" if item.dropped else ""


def reasons_blocks(result: SkillResult, links: Links | None = None, only: Dimension | None = None) -> tuple[Block, ...]:
    """Build the reasons and quotations of every judge by dimension, or of ``only`` one without a fold."""
    layer = judge_of(result)
    blocks: list[Block] = []
    for dimension, item in lowest_first(layer) if layer else ():
        known = layer is not None and len(item.reasoning) == layer.judges  # else it is not known who said what
        said = [
            Item(bounded(text.strip(), _WHOLE), f"judge {number}" if known else "", "muted")
            for number, text in enumerate(item.reasoning, 1)
        ]
        said += [Item(_quoted(result, one, links), f"judge {one.judge}", "muted") for one in item.quotations]
        if said and only in {None, dimension}:
            blocks += [] if only else [Heading(dimension.value, 4)]
            blocks.append(Items(tuple(said), "reason", most=50))
    return (Fold("Reasons and quotations", tuple(blocks), quiet=True),) if blocks and not only else tuple(blocks)


def explained(result: SkillResult, dimension: Dimension) -> tuple[Block, ...]:
    """Build what the judges say of one dimension, and what weakens it; nothing where no judge was asked."""
    layer = judge_of(result)
    if layer is None:
        return ()
    item = layer.assessments.get(dimension) or Assessment(None)
    if item.score is None:
        why = item.reason or not_judged(layer) or "it was not requested"
        blocks: list[Block] = [Note(f"Not judged: {reason(why.removeprefix(NOT_JUDGED))}.", "poor")]
    else:
        interval = _sure(item) or f"no interval: {reason(item.ci_reason)}"
        given = f"ratings {ratings(item)}" if item.ratings else ""
        blocks = [Note("; ".join(filter(None, (f"{ratio(item.score)}", interval, given))))]
    said = [heard(item, layer.judges), corrected(item), _dropped(item), drop_in_words(result.drop), *remarks(layer)]
    is_triggering = dimension is Dimension.TRIGGERING_ACCURACY
    said += [wide_by(result)] if is_triggering else []
    blocks += [Items(tuple(Item(text) for text in said if text), "remark")] if any(said) else []
    return (*blocks, *reasons_blocks(result, only=dimension), *(triggering_blocks(layer) if is_triggering else ()))


# --- trigger prompts ---


def triggering_blocks(layer: JudgeLayer) -> tuple[Block, ...]:
    """Build the predictions whether a model would load the skill: their rates, then every prompt."""
    triggering = layer.triggering
    if triggering is None:
        return ()
    rates = {"class-balanced F1": triggering.f1, "recall": triggering.recall, "false alarms": triggering.false_alarms}
    said = [
        _rate(name, rate) + (f", n = {rate.n:,}" if rate.n else "")
        for name, rate in {**rates, "precision": triggering.precision}.items()
    ]
    source = f"prompts: {reason(triggering.source)}, among {plural(triggering.siblings, 'other skill')}"
    rows = []
    for prompt in sorted(triggering.prompts, key=lambda prompt: -_wrong(prompt)):
        answered = any(answer is not None for answer in prompt.predicted)
        word = "missed" if _wrong(prompt) else "as meant" if answered else NONE
        tone: Tone = "poor" if _wrong(prompt) else "good" if answered else "muted"
        answers = ", ".join(_ANSWERS[answer] for answer in prompt.predicted)
        rows.append(Row((Span(word, tone), answers, kind(prompt), bounded(prompt.prompt))))
    names = columns("result", "judges load it", "kind", "prompt")
    return (Note("; ".join(filter(None, (*said, source)))), Table(names, tuple(rows), noun="prompt", most=50))


def _wrong(prompt: TriggerPrompt) -> int:
    """Count the judges that predict something else than the prompt is meant for."""
    return sum(answer is not None and answer != prompt.should_trigger for answer in prompt.predicted)


def _missed(triggering: Triggering) -> list[TriggerPrompt]:
    return sorted(filter(_wrong, triggering.prompts), key=lambda prompt: -_wrong(prompt))


def missed_in_words(triggering: Triggering) -> str:
    """Count the missed prompts, as in ``2 of 10 trigger prompts missed: 1 direct, 1 near miss``; ``""`` for none."""
    found = _missed(triggering)
    kinds = [f"{number} {word}" for word, number in Counter(map(kind, found)).items()]
    return f"{len(found)} of {len(triggering.prompts)} trigger prompts missed: {several(kinds)}" if found else ""


def missed_prompts(triggering: Triggering, most: int) -> str:
    """Quote the first of the missed prompts, and count the others."""
    return several([f"“{bounded(prompt.prompt, _PROMPT)}”" for prompt in _missed(triggering)], most)


def kind(prompt: TriggerPrompt) -> str:
    """Name the kind of a prompt: its style, and whether it is a near miss."""
    return f"{reason(prompt.style, _PROMPT)}{'' if prompt.should_trigger else ' near miss'}"


def wide_by(result: SkillResult) -> str:
    """Name the prompts that make a triggering accuracy wide; ``""`` where it is not wide."""
    layer, found = judge_of(result), result.dimensions.get(Dimension.TRIGGERING_ACCURACY)
    if layer is None or layer.triggering is None or not layer.triggering.prompts:
        return ""
    item = layer.assessments.get(Dimension.TRIGGERING_ACCURACY)
    for name, side in (("triggering_accuracy", found), ("the judge's triggering_accuracy", item)):
        if side is not None and breadth(side.score, side.ci_low, side.ci_high) == "wide":
            written = sure(side.score, side.ci_low, side.ci_high)
            return f"{name} {ratio(side.score)} {written}: {_in_doubt(layer.triggering)}"
    return ""


def _in_doubt(triggering: Triggering) -> str:
    found = _missed(triggering)
    if not found:
        kinds = Counter(map(kind, triggering.prompts)).most_common()
        named = several([f"{number} {word}" for word, number in kinds], 4)
        return f"no prompt is missed, but there are only {len(triggering.prompts):,} ({named})"
    return f"because of {several(list(map(_doubtful, found)), _PROMPTS)}"


def _doubtful(prompt: TriggerPrompt) -> str:
    answers = sum(answer is not None for answer in prompt.predicted)
    said = f" ({_wrong(prompt)} of {answers} judges wrong)" if answers > 1 else ""
    return f"{kind(prompt)} “{bounded(prompt.prompt, _PROMPT)}”{said}"
