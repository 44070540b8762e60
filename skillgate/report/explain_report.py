"""Why a skill has the score it has in one dimension: by layer, with what each layer rests on."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.format import did_you_mean, printable, uncommanded
from skillgate.model.documents import SingleReport
from skillgate.model.report import StaticLayer
from skillgate.model.score import Dimension, LayerName
from skillgate.report.escape import code, inert
from skillgate.report.explain_sessions import explained
from skillgate.report.findings import bounded
from skillgate.report.judge_doubt import drop_in_words, wide_by
from skillgate.report.judge_markdown import answers, place_of, sign
from skillgate.report.judge_words import (
    answers_warning,
    corrected,
    heard,
    judge_of,
    kind,
    missed_in_words,
    not_judged,
    ratings,
    remarks,
    spread,
    sure,
    voices,
)
from skillgate.report.simulated_words import sessions_of
from skillgate.report.steps import main_file
from skillgate.scoring.composite import BLEND, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.model.layers import Assessment, JudgeLayer, Triggering
    from skillgate.model.report import Report, SkillResult, SubCheckScore
    from skillgate.model.score import Evidence

    Anchors = Callable[[Dimension], Sequence[tuple[float, float, str]]]

_WHOLE = 2_000  # characters of one judge's reasoning
_QUOTE = 300  # characters of a quotation or a prompt
_MOST = 100  # quotations, prompts, lines of evidence
_NAMED = 5  # skills that an error names
_RULE = re.compile(r"\|(:?-+:?\|)+")  # below the head of a table: only Markdown needs it


class _Form(NamedTuple):
    """How things are written: a text of anybody's, a path or place, what stands out, a heading with its level."""

    inert: Callable[[str], str]
    code: Callable[[str], str]
    strong: Callable[[str], str]
    heading: Callable[[int, str], str]


_MARKDOWN = _Form(inert, code, "**{}**".format, lambda level, text: f"{'#' * level} {text}")
_PLAIN = _Form(printable, printable, str, lambda _level, text: text)


def explain(
    report: Report | SingleReport,
    skill: str,
    dimension: str,
    *,
    anchors: Anchors | None = None,
    markdown: bool = True,
) -> str:
    """Explain one skill's score in one dimension.

    Args:
        report: a score document.
        skill: its shown path, or its name where only one skill has it.
        dimension: a dimension's name; ``-`` stands for ``_``.
        anchors: gives what a judge is told each band of scores means, as (from, to, text) with scores in [0, 1];
            without it no band is named.
        markdown: whether the text is for a reader of Markdown; else it is for a terminal.

    Returns:
        Markdown, in which all that comes from a skill or a model is inert; or plain text, in which nothing is hidden
        and nothing a command.

    Raises:
        UsageError: there is no such skill or dimension, or several skills have the name.
    """
    results = (report.result(),) if isinstance(report, SingleReport) else report.results
    form = _MARKDOWN if markdown else _PLAIN
    lines = _explained(_found(results, skill), _dimension(dimension), anchors, form)
    printed = lines if markdown else (uncommanded(line) for line in lines if not _RULE.fullmatch(line))
    return "\n".join(printed).rstrip("\n") + "\n"


def _found(results: Sequence[SkillResult], skill: str) -> SkillResult:
    path = posixpath.normpath(skill) if skill else skill
    found = [result for result in results if posixpath.normpath(result.skill.path or ".") == path]
    found = found or [result for result in results if result.skill.name == skill]
    if len(found) == 1:
        return found[0]
    if found:
        named = ", ".join(printable(result.skill.path) for result in found[:_NAMED])
        raise UsageError(f"{len(found)} skills of the report are called {skill!r}; name one by its path: {named}")
    known = [printable(name) for result in results for name in (result.skill.path, result.skill.name)]
    more = did_you_mean(skill, known) or f": it holds {', '.join(list(dict.fromkeys(known))[:_NAMED]) or 'none'}"
    raise UsageError(f"the report holds no skill {skill!r}{more}")


def _dimension(name: str) -> Dimension:
    wanted = name.lower().replace("-", "_")
    known = {dimension.value: dimension for dimension in Dimension}
    if wanted in known:
        return known[wanted]
    near = did_you_mean(wanted, known) or f"; the dimensions are {', '.join(known)}"
    raise UsageError(f"there is no dimension {name!r}{near}")


def _explained(result: SkillResult, dimension: Dimension, anchors: Anchors | None, form: _Form) -> Iterator[str]:
    if warning := answers_warning((result,)):
        yield from (form.strong(form.inert(warning)), "")
    yield form.heading(2, f"{form.code(result.skill.path)}: {dimension.value}")
    checks = _checks(result, dimension)
    layer = judge_of(result)
    sessions = sessions_of(result)
    item = layer.assessments.get(dimension) if layer else None
    yield from _score(result, dimension, checks, item, form)
    yield from _static(result, checks, form)
    if layer is not None:
        yield from _judge(result, layer, dimension, item, form)
    if sessions is not None:
        yield from ("", form.heading(3, "Simulated sessions"), "")
        yield from explained(sessions, dimension, form.inert)
    bands = anchors(dimension) if anchors else ()
    yield from _bands(bands, item.score if item else None, form)
    yield from _raises(result, dimension, layer, form)


def _checks(result: SkillResult, dimension: Dimension) -> dict[str, SubCheckScore]:
    layers = (layer for layer in result.layers if isinstance(layer, StaticLayer))
    return {name: check for layer in layers for name, check in layer.sub_checks.items() if check.dimension is dimension}


def _score(
    result: SkillResult,
    dimension: Dimension,
    checks: Mapping[str, SubCheckScore],
    item: Assessment | None,
    form: _Form,
) -> Iterator[str]:
    """Write the score, and each layer's share of it; shares of layers that measured nothing fall to the others."""
    found = result.dimensions.get(dimension)
    weight = f"weight {WEIGHTS[dimension]} % of the composite"
    if found is None or found.score is None:
        reason = (found.reason if found else result.composite.reason) or "no reason is given"
        yield from ("", f"Score —, {weight}: {form.inert(bounded(reason))}.")
    else:
        written = sure(found.score, found.ci_low, found.ci_high)
        grade = f", grade {found.grade.value}" if found.grade else ""
        yield from ("", f"Score {form.strong(f'{found.score:.4f}')}{' ' * bool(written)}{written}{grade}, {weight}.")
        if found.ci_low is None and found.ci_reason:
            yield f"No interval: {form.inert(bounded(found.ci_reason))}."
    yield from ("", "| layer | score | share |", "|---|--:|--:|")
    static = next((check.score for check in checks.values() if check.score is not None), None)
    sessions = sessions_of(result)
    simulated = sessions.scores.get(dimension) if sessions else None
    scores = {LayerName.STATIC: static, LayerName.JUDGE: item.score if item else None}
    scores[LayerName.MONTECARLO] = simulated.value if simulated else None
    yield from _shares(dimension, scores)


def _shares(dimension: Dimension, scores: Mapping[LayerName, float | None]) -> Iterator[str]:
    measured = {layer: BLEND[dimension][layer] for layer, score in scores.items() if score is not None}
    total = sum(measured.values())
    for layer, share in BLEND[dimension].items():
        if not share:
            continue
        score = scores.get(layer)
        if score is None or not total:
            yield f"| {layer.value} | — | not measured; {share} % where all layers are |"
        else:
            yield f"| {layer.value} | {score:.4f} | {100 * measured[layer] / total:.0f} % |"


def _static(result: SkillResult, checks: Mapping[str, SubCheckScore], form: _Form) -> Iterator[str]:
    for name, check in checks.items():
        yield from ("", form.heading(3, f"Static: {form.inert(name)}"), "")
        if check.score is None:
            yield f"Not measured: {form.inert(bounded(check.reason or 'no reason is given'))}"
        if not check.evidence:
            continue
        yield from ("| | what | where | points |", "|:-:|---|---|--:|")
        yield from (_evidence(item, main_file(result), form) for item in check.evidence[:_MOST])


def _evidence(item: Evidence, path: str, form: _Form) -> str:
    lost = item.points < item.possible or item.points < 0
    where = form.code(f"{path}:{item.line}") if item.line else ""
    points = f"{item.points:.2f}".replace("-", "−") + (f" / {item.possible:.2f}" if item.possible else "")
    return f"| {'✗' if lost else '✓'} | {form.inert(bounded(item.text))} | {where} | {points} |"


def _judge(
    result: SkillResult, layer: JudgeLayer, dimension: Dimension, item: Assessment | None, form: _Form
) -> Iterator[str]:
    yield from ("", form.heading(3, "Judge"), "")
    if item is None or item.score is None:
        reason = (item.reason if item else None) or not_judged(layer) or "it was not asked about"
        yield f"Not judged: {form.inert(bounded(reason.removeprefix('not judged: ')))}."
    if item is not None:
        yield from _judged(result, item, layer.judges, form)
    if dimension is Dimension.TRIGGERING_ACCURACY and layer.triggering is not None:
        yield from _triggering(layer.triggering, wide_by(result), form)
    doubts = [remark for remark in (drop_in_words(result.drop), *remarks(layer)) if remark]
    if doubts:
        yield ""
    yield from (f"- {form.inert(bounded(remark))}" for remark in doubts)


def _judged(result: SkillResult, item: Assessment, judges: int, form: _Form) -> Iterator[str]:
    if item.score is not None:
        written = sure(item.score, item.ci_low, item.ci_high)
        interval = written or f"no interval: {form.inert(bounded(item.ci_reason or 'no reason is given'))}"
        parts = [f"{item.score:.4f}", interval, f"ratings {ratings(item)}" if item.ratings else ""]
        yield f"{'; '.join(filter(None, parts))}."
    if people := corrected(item):
        yield f"Calibration: {form.inert(bounded(people))}."
    if item.reasoning:
        yield ""
    if few := heard(item, judges):
        yield from (f"{few}:", "")
    for number, text in voices(item, judges):
        yield f"{f'{number}.' if number else '-'} {form.inert(bounded(text, _WHOLE))}"
    if item.quotations or item.dropped:
        yield ""
    for quotation in item.quotations[:_MOST]:
        quoted = form.inert(bounded(quotation.text.strip(), _QUOTE))
        yield f"- {form.code(place_of(result, quotation))} “{quoted}” (judge {quotation.judge})"
    if item.dropped:
        yield f"- {item.dropped} quotations were not in the text and are left out"


def _triggering(triggering: Triggering, wide: str, form: _Form) -> Iterator[str]:
    rates = (
        ("class-balanced F1", triggering.f1),
        ("recall", triggering.recall),
        ("false alarms", triggering.false_alarms),
        ("precision", triggering.precision),
    )
    yield ""
    for name, rate in rates:
        if rate.value is None:
            yield f"- {name} —: {form.inert(bounded(rate.reason or 'no reason is given'))}"
        else:
            written = spread(rate.value, rate.ci_low, rate.ci_high)
            yield f"- {name} {rate.value:.2f}{' ' * bool(written)}{written}, n = {rate.n}"
    source = f"prompts: {bounded(triggering.source)}, among {triggering.siblings} other skills"
    yield f"- {form.inert(source)}"
    yield from (f"- {form.inert(wide)}",) if wide else ()
    yield from ("", "| | prompt | meant for it | kind | judges |", "|:-:|---|:-:|---|---|")
    for prompt in triggering.prompts[:_MOST]:
        meant = "yes" if prompt.should_trigger else "no"
        cells = (sign(prompt), form.inert(bounded(prompt.prompt, _QUOTE)), meant, form.inert(bounded(kind(prompt))))
        yield f"| {' | '.join(cells)} | {answers(prompt)} |"


def _bands(bands: Sequence[tuple[float, float, str]], score: float | None, form: _Form) -> Iterator[str]:
    """Write what each band of scores means to a judge, the one that the score lies in marked."""
    if not bands:
        return
    ranked = sorted(bands)
    here = None if score is None else max((low for low, _, _ in ranked if round(score, 4) >= low), default=ranked[0][0])
    yield from (
        "",
        form.heading(3, "What a judge is told the scores mean"),
        "",
        "| | from | to | meaning |",
        "|:-:|--:|--:|---|",
    )
    for low, high, text in ranked:
        yield f"| {'→' if low == here else ''} | {low:.2f} | {high:.2f} | {form.inert(text)} |"


def _raises(result: SkillResult, dimension: Dimension, layer: JudgeLayer | None, form: _Form) -> Iterator[str]:
    lines = []
    for advice in result.advice:
        if advice.dimension is dimension:
            where = f"{form.code(f'{main_file(result)}:{advice.line}')} " if advice.line else ""
            gain, effort = form.strong(f"{advice.gain:+.1f}"), form.inert(advice.effort)
            lines.append(f"- {where}{form.inert(bounded(advice.action))} ({gain}, {effort} effort)")
    triggering = layer.triggering if layer and dimension is Dimension.TRIGGERING_ACCURACY else None
    if triggering is not None and (missed := missed_in_words(triggering)):
        lines.append(f"- {form.inert(missed)}; say in the description what those marked ✗ above have in common")
    item = layer.assessments.get(dimension) if layer else None
    if item is not None and item.score is not None and item.quotations:
        places = ", ".join(form.code(place_of(result, quotation)) for quotation in item.quotations[:_NAMED])
        lines.append(f"- see first what the judges quote: {places}")
    if lines:
        yield from ("", form.heading(3, "What would raise it"), "", *lines)
