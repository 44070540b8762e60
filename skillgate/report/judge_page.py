"""What a judge says of one skill, as a page shows it: dimensions with intervals, reasons and places; every prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.report.findings import bounded
from skillgate.report.html_charts import Whisker, whisker
from skillgate.report.html_parts import PATH, Some, first
from skillgate.report.judge_compared import sides
from skillgate.report.judge_doubt import drop_in_words, trusted, wide_by
from skillgate.report.judge_markdown import agreement, path_of, sign
from skillgate.report.judge_words import (
    breadth,
    corrected,
    heard,
    judge_of,
    judges_of,
    kind,
    lowest_first,
    missed_in_words,
    not_judged,
    ratings,
    remarks,
    spent,
    spread,
    sure,
    voices,
    who,
)

if TYPE_CHECKING:
    from skillgate.model.documents import Comparison
    from skillgate.model.layers import Assessment, Quotation, Triggering, TriggerPrompt
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.score import Dimension
    from skillgate.report.judge_compared import Sides
    from skillgate.report.links import Links

_REASONS, _QUOTES, _PROMPTS = 9, 12, 60


class Quoted(NamedTuple):
    """A quotation, its place, and where it leads (``""`` for nowhere)."""

    text: str
    place: str
    url: str
    judge: int


class Voice(NamedTuple):
    """What one judge said; ``judge`` counts from 1, and is None where it is not known which one it was."""

    text: str
    judge: int | None


class JudgedRow(NamedTuple):
    """One dimension as the judges see it; ``notes`` are what else has to be known of the number."""

    dimension: Dimension
    score: float | None
    spread: str
    breadth: str
    whisker: Whisker | None
    ratings: str
    reason: str
    notes: tuple[str, ...]
    reasoning: Some[Voice]
    quotations: Some[Quoted]


class Prompted(NamedTuple):
    """One trigger prompt: ``mark`` is ``pass``, ``fail`` or ``""`` where no judge answered."""

    mark: str
    text: str
    kind: str
    meant: bool
    answers: str


class JudgePart(NamedTuple):
    """All that the judges say of a skill."""

    unjudged: str
    rows: tuple[JudgedRow, ...]
    prompts: Some[Prompted]
    rates: str
    remarks: tuple[str, ...]


def judge_part(result: SkillResult, links: Links) -> JudgePart | None:
    """Give what the judges say of a skill, None where none was asked."""
    layer = judge_of(result)
    if layer is None:
        return None
    triggering = layer.triggering
    return JudgePart(
        unjudged=not_judged(layer),
        rows=tuple(_row(key, item, layer.judges, result, links) for key, item in lowest_first(layer)),
        prompts=first([_prompted(prompt) for prompt in triggering.prompts], _PROMPTS) if triggering else Some(()),
        rates=_rates(triggering) if triggering else "",
        remarks=tuple(filter(None, (wide_by(result), drop_in_words(result.drop), *remarks(layer)))),
    )


def _row(key: Dimension, item: Assessment, judges: int, result: SkillResult, links: Links) -> JudgedRow:
    dropped = f"{item.dropped} quotations were not in the text and are left out" if item.dropped else ""
    without = item.ci_reason or "" if item.score is not None and item.ci_low is None else ""
    return JudgedRow(
        key,
        item.score,
        spread(item.score, item.ci_low, item.ci_high),
        breadth(item.score, item.ci_low, item.ci_high),
        whisker(item.score, item.ci_low, item.ci_high),
        ratings(item),
        reason=(item.reason or "no reason is given") if item.score is None else "",
        notes=tuple(
            filter(None, (heard(item, judges), corrected(item), dropped, f"no interval: {without}" if without else ""))
        ),
        reasoning=first([Voice(text, number) for number, text in voices(item, judges)], _REASONS),
        quotations=first([_quoted(quotation, result, links) for quotation in item.quotations], _QUOTES),
    )


def _quoted(quotation: Quotation, result: SkillResult, links: Links) -> Quoted:
    place = f"{bounded(quotation.path, PATH)}:{quotation.line}"
    return Quoted(
        quotation.text.strip(), place, links.file(path_of(result, quotation), quotation.line), quotation.judge
    )


def _prompted(prompt: TriggerPrompt) -> Prompted:
    mark = {"✓": "pass", "✗": "fail"}.get(sign(prompt), "")
    known = [answer for answer in prompt.predicted if answer is not None]
    loads = f"{sum(known)} of {len(known)} load it" if known else "—"
    return Prompted(mark, prompt.prompt, kind(prompt), prompt.should_trigger, loads)


def _rates(triggering: Triggering) -> str:
    rates = (
        ("F1", triggering.f1),
        ("recall", triggering.recall),
        ("false alarms", triggering.false_alarms),
        ("precision", triggering.precision),
    )
    written_rates = []
    for name, rate in rates:
        written = spread(rate.value, rate.ci_low, rate.ci_high)
        value = "—" if rate.value is None else f"{rate.value:.2f}"
        written_rates.append(f"{name} {value}{' ' * bool(written)}{written}")
    missed = missed_in_words(triggering)
    source = f"prompts: {bounded(triggering.source, PATH)}, among {triggering.siblings:,} other skills"
    return "; ".join(filter(None, (*written_rates, missed, source)))


def score_sure(result: SkillResult) -> str:
    """Write the interval of a composite, ``""`` where there is none."""
    composite = result.composite
    return sure(composite.score, composite.ci_low, composite.ci_high, scale=100.0)


def method(report: Report) -> tuple[tuple[str, str], ...]:
    """Say how a run was judged, each with what it is called: judges, agreement, cost; nothing where none was asked."""
    layers = judges_of(report.results)
    if not layers:
        return ()
    rows = (
        ("Judges", who(layers) or "—"),
        ("Agreement", " ".join(agreement(report)).removeprefix("Judge: ")),
        ("Calibration", trusted(report.calibration)),
        ("Asked", spent(report.usage)),
    )
    return tuple((name, text) for name, text in rows if text)


def compared(comparison: Comparison) -> tuple[tuple[Dimension, Sides], ...]:
    """Set what the judge alone gave side by side."""
    return tuple(sides(comparison).items())
