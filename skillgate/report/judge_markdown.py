"""What a judge says of skills, as Markdown: dimensions with ratings, reasons and places, prompts, how sure it is."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from skillgate.report.escape import code, inert
from skillgate.report.findings import bounded
from skillgate.report.judge_doubt import distrust, drop_in_words, dropped, trusted, wide_by
from skillgate.report.judge_text import gist
from skillgate.report.judge_words import (
    agreed,
    agreed_further,
    answers_warning,
    corrected,
    heard,
    judge_of,
    judges_of,
    kind,
    lowest_first,
    measured,
    not_judged,
    ratings,
    remarks,
    run_in_words,
    sure,
    wrong,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.layers import Assessment, JudgeLayer, Quotation, Triggering, TriggerPrompt
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.score import Dimension

_EACH = 2  # dimensions of a skill that does not stand alone
_QUOTES = 3  # quotations of a dimension
_QUOTE, _PROMPT = 120, 200  # characters
_PROMPTS = 50
_DROPS = 50  # skills whose drops may be chance


def warning(results: Sequence[SkillResult]) -> Iterator[str]:
    """Warn of answers that no model gave, before anything else is said; nothing where there are none."""
    if text := answers_warning(results):
        yield from (f"> **⚠️ {inert(text)}**", "")


def in_doubt(ranked: Sequence[SkillResult], report: Report) -> Iterator[str]:
    """Say what a verdict alone would hide: a judge that people do not bear out, and drops that may be chance."""
    if text := distrust(report.calibration):
        yield from ("", f"> ⚠️ {inert(text)}")
    found = dropped(ranked)
    if found:
        yield from ("", "**Fell, which may be chance**", "")
    yield from (f"- {code(result.skill.path)}: {inert(text)}" for result, text in found[:_DROPS])
    if len(found) > _DROPS:
        yield f"- {len(found) - _DROPS} more drops that are inconclusive"


def judged(ranked: Sequence[SkillResult], report: Report) -> Iterator[str]:
    """Write what the judge says of skills, folded away: all of one, the lowest dimensions of several."""
    shown = [(result, layer) for result in ranked if (layer := judge_of(result)) is not None]
    if not shown:
        return
    yield from ("", "<details><summary>Judge</summary>", "")
    each = None if len(shown) == 1 else _EACH
    lines = [line for result, layer in shown for line in _rows(result, layer, each)]
    if lines:
        yield from ("| skill | dimension | judge | ratings | why | where |", "|---|---|--:|---|---|---|", *lines, "")
    for result, layer in shown:
        items = [
            item for item in (not_judged(layer), wide_by(result), drop_in_words(result.drop), *remarks(layer)) if item
        ]
        yield from (f"- {code(result.skill.path)}: {inert(bounded(item))}" for item in items)
    yield from _prompts(shown[0][1].triggering) if len(shown) == 1 else ()
    yield from ("", *(f"- {inert(line)}" for line in how_sure(report)), "", "</details>")


def how_sure(report: Report) -> Iterator[str]:
    """Say what the judged numbers rest on, a sentence each; plain text."""
    yield from agreement(report)
    if text := trusted(report.calibration):
        yield f"Calibration: {text}."
    if text := distrust(report.calibration):
        yield f"{text[0].upper()}{text[1:]}."


def agreement(report: Report) -> Iterator[str]:
    """Say how many opinions there are and how far they agree, a sentence each; plain text."""
    count = max((layer.judges for layer in judges_of(report.results) if measured(layer)), default=0)
    if not count:
        yield "Judge: no skill was judged."
    elif count == 1:
        yield "Judge: one opinion, so there is no interval and no agreement; --judges 3 gives both."
    elif report.agreement is None:
        yield f"Judge: {count} opinions; how far they agree is not known."
    else:
        yield f"Judge: {count} opinions, {agreed(report.agreement)}."
        yield f"Further: {'; '.join(agreed_further(report.agreement))}."


def _rows(result: SkillResult, layer: JudgeLayer, most: int | None) -> Iterator[str]:
    for dimension, item in lowest_first(layer)[:most]:
        replies = ", ".join(filter(None, (ratings(item), heard(item, layer.judges)))) or "—"
        cells = (code(result.skill.path), dimension.value, number(item), replies, _why(item))
        yield f"| {' | '.join((*cells, _where(result, item)))} |"


def number(item: Assessment) -> str:
    """Write a judged score with its interval, a dash where there is none."""
    if item.score is None:
        return "—"
    written = sure(item.score, item.ci_low, item.ci_high)
    return f"{item.score:.4f}{' ' * bool(written)}{written}"


def _why(item: Assessment) -> str:
    if item.score is None:
        return inert(bounded(item.reason or "no reason is given"))
    parts = [gist(item.reasoning[0]) if item.reasoning else "", corrected(item)]
    parts.append(f"{item.dropped} quotations were not in the text" if item.dropped else "")
    return inert(bounded("; ".join(filter(None, parts))))


def _where(result: SkillResult, item: Assessment) -> str:
    return "; ".join(quoted(result, quotation) for quotation in item.quotations[:_QUOTES])


def quoted(result: SkillResult, quotation: Quotation) -> str:
    """Write a quotation and its place."""
    return f"“{inert(bounded(quotation.text.strip(), _QUOTE))}” {code(place_of(result, quotation))}"


def place_of(result: SkillResult, quotation: Quotation) -> str:
    """Give the path, as the report shows paths, and the line of a quotation."""
    return f"{path_of(result, quotation)}:{quotation.line}"


def path_of(result: SkillResult, quotation: Quotation) -> str:
    """Give the path of a quotation's file as the report shows paths."""
    return posixpath.join("" if result.skill.path == "." else result.skill.path, quotation.path)


def _prompts(triggering: Triggering | None) -> Iterator[str]:
    if triggering is None or not triggering.prompts:
        return
    yield from ("", "| | trigger prompt | meant for it | kind | judges |", "|:-:|---|:-:|---|---|")
    for prompt in triggering.prompts[:_PROMPTS]:
        meant = "yes" if prompt.should_trigger else "no"
        cells = (sign(prompt), inert(bounded(prompt.prompt, _PROMPT)), meant, inert(kind(prompt)), answers(prompt))
        yield f"| {' | '.join(cells)} |"


def sign(prompt: TriggerPrompt) -> str:
    """Mark a prompt: ``✗`` where a judge predicts otherwise than it is meant, ``—`` where none answered."""
    return "—" if all(answer is None for answer in prompt.predicted) else "✗" if wrong(prompt) else "✓"


def answers(prompt: TriggerPrompt) -> str:
    """Write each judge's prediction, as in ``loads, leaves it, —``."""
    words = {True: "loads", False: "leaves it", None: "—"}
    return ", ".join(words[answer] for answer in prompt.predicted)


def footer(report: Report) -> str:
    """Say who judged, how far they agree and what it cost; ``""`` where no judge was asked."""
    return "".join(f" · {inert(part)}" for part in (*run_in_words(report), trusted(report.calibration)) if part)


def dimension_interval(result: SkillResult, dimension: Dimension) -> str:
    """Write the interval of a blended dimension, ``""`` where there is none."""
    found = result.dimensions.get(dimension)
    return sure(found.score, found.ci_low, found.ci_high) if found else ""
