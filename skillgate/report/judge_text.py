"""What a judge says of one skill, in a text report: where it is lowest and why, and how sure that is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.report.findings import bounded
from skillgate.report.judge_doubt import drop_in_words, wide_by
from skillgate.report.judge_words import (
    breadth,
    corrected,
    heard,
    judge_of,
    kind,
    lowest_first,
    measured,
    missed,
    missed_in_words,
    not_judged,
    ratings,
    remarks,
    sure,
    voices,
    wrong,
)
from skillgate.report.terminal import hanging, margin, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.layers import Assessment, JudgeLayer, Quotation, Triggering, TriggerPrompt
    from skillgate.model.report import SkillResult
    from skillgate.model.score import Dimension
    from skillgate.report.terminal import Style

_GIST = 140  # characters of a first sentence
_QUOTE = 80  # characters of a quotation beside it
_WHOLE = 1_000  # characters of a judge's reasoning where all is shown
_PROMPT = 60  # characters of a prompt in a list
_NAMED = 2  # prompts that are named
_GOOD = 0.8  # from here on a judged dimension needs no word


def judge_lines(result: SkillResult, style: Style) -> Iterator[str]:
    """Write what the score rests on, what it is wide by, the lowest judged dimension and why; or why there is none.

    Nothing where no judge was asked, or it has nothing to add.
    """
    layer = judge_of(result)
    if layer is None:
        return
    texts = [_unjudged(layer, result), _score(result, layer), wide_by(result), _lowest(layer)]
    for index, text in enumerate(filter(None, texts)):
        yield from hanging("judge" if index == 0 else "", text, style, "red" if text.startswith("not ") else "")


def _unjudged(layer: JudgeLayer, result: SkillResult) -> str:
    """Say that it is not judged, unless the reason why there is no score stands below and says so."""
    text = not_judged(layer)
    reason = (layer.reason or "").removeprefix("not judged: ")
    return "" if text and reason in (result.composite.reason or "") else text


def _score(result: SkillResult, layer: JudgeLayer) -> str:
    """Say how sure the score is, and which prompts a wide one or a low recall comes from."""
    composite = result.composite
    low, high = composite.ci_low, composite.ci_high
    parts = []
    if composite.score is not None and (written := sure(composite.score, low, high, scale=100.0)):
        parts.append(f"{composite.score:.2f} {written}")
    triggering = layer.triggering
    if triggering is not None and (missed := missed_in_words(triggering)):
        wide = breadth(composite.score, low, high, scale=100.0) == "wide"
        named = missed_prompts(triggering, _NAMED if wide or composite.ci_low is None else 1)
        parts.append(missed if wide_by(result) else f"{missed} ({named})")  # then they stand there
    return "; ".join(parts)


def missed_prompts(triggering: Triggering, most: int) -> str:
    """Quote the first of the prompts that judges missed, and count the others."""
    named = [f"“{bounded(prompt.prompt, _PROMPT)}”" for prompt in missed(triggering)[:most]]
    left = len(missed(triggering)) - len(named)
    return ", ".join(named) + (f" and {left} more" if left else "")


def _lowest(layer: JudgeLayer) -> str:
    if not measured(layer):
        return ""
    dimension, item = next(
        (pair for pair in lowest_first(layer) if pair[1].score is not None and _why(pair[1])), (None, None)
    )
    if dimension is None or item is None or item.score is None or item.score >= _GOOD:
        return ""
    return f"{_number(dimension, item)}: {_why(item)}"


def _number(dimension: Dimension, item: Assessment) -> str:
    if item.score is None:
        return f"{dimension.value} —"
    written = sure(item.score, item.ci_low, item.ci_high)
    return f"{dimension.value} {item.score:.4f}{' ' * bool(written)}{written}"


def _why(item: Assessment) -> str:
    said = gist(item.reasoning[0]) if item.reasoning else ""
    quoted = f"{_quoted(item.quotations[0])}" if item.quotations else ""
    return " ".join(filter(None, (said, quoted)))


def gist(reasoning: str, most: int = _GIST) -> str:
    """Give the first sentence of a judge's reasoning, bounded, on one line."""
    plain = bounded(reasoning.strip(), 4 * most)
    return bounded(re.split(r"(?<=[.!?])\s", plain, maxsplit=1)[0], most)


def _quoted(quotation: Quotation, most: int = _QUOTE) -> str:
    return f"“{bounded(quotation.text.strip(), most)}” {quotation.path}:{quotation.line}"


def judge_block(result: SkillResult, style: Style) -> Iterator[str]:
    """Write all that the judges said of a skill: reasoning, quotations and ratings of every dimension, every prompt."""
    layer = judge_of(result)
    if layer is None:
        return
    if text := not_judged(layer):
        yield from hanging("judge", text, style, "red")
    for dimension, item in lowest_first(layer):
        yield from hanging("judge", _head(dimension, item), style, "bold")
        yield from _said(item, layer.judges, style)
    if layer.triggering is not None:
        yield from _triggering(layer.triggering, style)
    if text := drop_in_words(result.drop):
        yield from hanging("drop", text, style, "")
    for remark in remarks(layer):
        yield from hanging("judge", remark, style, "yellow")


def _head(dimension: Dimension, item: Assessment) -> str:
    parts = [_number(dimension, item), ratings(item), corrected(item)]
    if item.score is None:
        parts.append(f"not judged: {item.reason or 'no reason is given'}")
    elif item.ci_low is None:
        parts.append(f"no interval: {item.ci_reason or 'no reason is given'}")
    return "; ".join(filter(None, parts))


def _said(item: Assessment, judges: int, style: Style) -> Iterator[str]:
    if replies := heard(item, judges):
        yield from _below(f"{replies}:", style)
    for number, text in voices(item, judges):
        yield from _below(f"{f'{number}:' if number else '–'} {bounded(text, _WHOLE)}", style)
    for quotation in item.quotations:
        yield from _below(f"{_quoted(quotation, _WHOLE)} (judge {quotation.judge})", style)
    if item.dropped:
        yield from _below(f"left out, since not in the text: {item.dropped} quotations", style)


def _triggering(triggering: Triggering, style: Style) -> Iterator[str]:
    rates = (("F1", triggering.f1), ("recall", triggering.recall), ("false alarms", triggering.false_alarms))
    numbers = [f"{name} {'—' if rate.value is None else f'{rate.value:.2f}'}" for name, rate in rates]
    source = f"prompts: {triggering.source}, beside {triggering.siblings} other skills"
    yield from hanging("prompts", "; ".join([*numbers, source]), style, "bold")
    for prompt in triggering.prompts:
        yield from _below(f"{_sign(prompt)} {kind(prompt)}: {bounded(prompt.prompt, _WHOLE)}", style)


def _sign(prompt: TriggerPrompt) -> str:
    answers = [answer for answer in prompt.predicted if answer is not None]
    if not answers:
        return "—"
    many = f" {wrong(prompt)} of {len(answers)}" if wrong(prompt) and len(answers) > 1 else ""
    return f"✗{many}" if wrong(prompt) else "✓"


def _below(text: str, style: Style) -> Iterator[str]:
    indent = len(margin(style)) + 12
    for index, line in enumerate(wrap(bounded(text, 2 * _WHOLE), max(20, style.width - indent))):
        yield " " * (indent if index else indent - 2) + line
