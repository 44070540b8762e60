"""Why a skill has the score it has in one dimension: by layer, with what each layer rests on."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.format import Style, did_you_mean, printable
from skillgate.model.report import StaticLayer
from skillgate.model.score import Dimension, LayerName
from skillgate.model.single_report import SingleReport
from skillgate.report import judge, sessions
from skillgate.report.formats import markdown as markdown_format
from skillgate.report.formats import text as text_format
from skillgate.report.judge_compared import answers_warning, judge_of
from skillgate.report.numbers import NONE, decimal, ratio, reason, share, signed, sure
from skillgate.report.steps import cost, main_file
from skillgate.report.view import Heading, Item, Items, Note, Row, Span, Table, View, code, columns, joined, spans
from skillgate.scoring.composite import BLEND, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.model.report import Report, SkillResult, SubCheckScore
    from skillgate.model.score import Evidence
    from skillgate.report.view import Block, Line

    Anchors = Callable[[Dimension], Sequence[tuple[float, float, str]]]

_NAMED = 5  # skills that an error names, places that a line names
_PLAIN = Style()


def explain(
    report: Report | SingleReport,
    skill: str,
    dimension: str,
    *,
    anchors: Anchors | None = None,
    markdown: bool = True,
    style: Style = _PLAIN,
) -> str:
    """Explain one skill's score in one dimension.

    Args:
        report: a score document.
        skill: its shown path, or its name where only one skill has it.
        dimension: a dimension's name; ``-`` stands for ``_``.
        anchors: returns what each band of scores means to a judge, as (from, to, text) with scores in [0, 1];
            without it no band is named.
        markdown: whether to write Markdown; else text for a terminal.
        style: of a terminal's text.

    Raises:
        UsageError: there is no such skill or dimension, or several skills have the name.
    """
    results = (report.result(),) if isinstance(report, SingleReport) else report.results
    result, key = _found(results, skill), _dimension(dimension)
    warning = answers_warning((result,))
    view = View(
        (code(result.skill.path), f": {key.value}"),
        notes=(Span(warning, "poor"),) if warning else (),
        blocks=tuple(_blocks(result, key, anchors(key) if anchors else ())),
    )
    if markdown:
        return markdown_format.write(view, level=2)
    return text_format.write(view, style, verbose=True)


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


def _blocks(result: SkillResult, dimension: Dimension, bands: Sequence[tuple[float, float, str]]) -> Iterator[Block]:
    layer, simulated = judge_of(result), sessions.sessions_of(result)
    item = layer.assessments.get(dimension) if layer else None
    layers = (layer for layer in result.layers if isinstance(layer, StaticLayer))
    checks = {name: it for one in layers for name, it in one.sub_checks.items() if it.dimension is dimension}
    yield from _score(result, dimension)
    static = next((check.score for check in checks.values() if check.score is not None), None)
    session = simulated.scores.get(dimension) if simulated else None
    scores = {LayerName.STATIC: static, LayerName.JUDGE: item.score if item else None}
    yield _shares(dimension, {**scores, LayerName.MONTECARLO: session.value if session else None})
    yield from _static(checks, main_file(result))
    if layer is not None:
        yield Heading("Judge", 2)
        yield from judge.explained(result, dimension)
    if simulated is not None:
        yield Heading("Simulated sessions", 2)
        yield from sessions.explained(simulated, dimension)
    if bands:
        yield Heading("What the scores mean to a judge", 2)
        yield _bands(bands, item.score if item else None)
    if raises := tuple(_raises(result, dimension)):
        yield Heading("What would raise it", 2)
        yield Items(tuple(map(Item, raises)), "step")


def _score(result: SkillResult, dimension: Dimension) -> Iterator[Note]:
    found = result.dimensions.get(dimension)
    weight = f"weight {WEIGHTS[dimension]} % of the composite"
    if found is None or found.score is None:
        why = (found.reason if found else result.composite.reason) or None
        yield Note(f"Score {NONE}, {weight}: {reason(why)}.")
        return
    written = sure(found.score, found.ci_low, found.ci_high)
    grade = f", grade {found.grade.value}" if found.grade else ""
    yield Note(("Score ", Span(ratio(found.score), "strong"), f"{' ' * bool(written)}{written}{grade}, {weight}."))
    if found.ci_low is None and found.ci_reason:
        yield Note(f"No interval: {reason(found.ci_reason)}.")


def _shares(dimension: Dimension, scores: Mapping[LayerName, float | None]) -> Table:
    """Build each layer's share of a score; the share of a layer that measured nothing belongs to the others."""
    measured = sum(BLEND[dimension][layer] for layer, score in scores.items() if score is not None)
    rows = []
    for layer, part in BLEND[dimension].items():
        score = scores.get(layer)
        if part and (score is None or not measured):
            rows.append(Row((layer.value, NONE, f"not measured; {part} % where all layers are")))
        elif part:
            rows.append(Row((layer.value, ratio(score), share(part / measured, 0))))
    return Table(columns("layer", "#score", "share"), tuple(rows), noun="layer")


def _static(checks: Mapping[str, SubCheckScore], path: str) -> Iterator[Block]:
    for name, check in checks.items():
        yield Heading(f"Static: {name}", 2)
        if check.score is None:
            yield Note(f"Not measured: {reason(check.reason)}")
        if check.evidence:
            yield Items(tuple(_evidence(item, path) for item in check.evidence), "piece of evidence", most=100)


def _evidence(item: Evidence, path: str) -> Item:
    is_lost = item.points < item.possible or item.points < 0
    points = decimal(item.points, 2).replace("-", "−") + (f" / {item.possible:.2f}" if item.possible else "")
    place = (" ", code(f"{path}:{item.line}")) if item.line else ()
    return Item((item.text, *place), points, "poor" if is_lost else "good")


def _bands(bands: Sequence[tuple[float, float, str]], score: float | None) -> Table:
    """Build what each band of scores means, with a mark at the one that contains the score."""
    ranked = sorted(bands)
    here = None if score is None else max((low for low, _, _ in ranked if round(score, 4) >= low), default=ranked[0][0])
    rows = (Row(("→" if low == here else "", decimal(low, 2), decimal(high, 2), text)) for low, high, text in ranked)
    return Table(columns("", "#from", "#to", "meaning"), tuple(rows), noun="band")


def _raises(result: SkillResult, dimension: Dimension) -> Iterator[Line]:
    layer = judge_of(result)
    for advice in result.advice:
        if advice.dimension is dimension:
            where = (code(f"{main_file(result)}:{advice.line}"), " ") if advice.line else ()
            gain = Span(signed(advice.gain), "strong")
            yield (*where, f"{advice.action} (", gain, f", {cost(advice)})")
    triggering = layer.triggering if layer and dimension is Dimension.TRIGGERING_ACCURACY else None
    if triggering is not None and (missed := judge.missed_in_words(triggering)):
        yield f"{missed}; add to the description what the missed prompts have in common"
    item = layer.assessments.get(dimension) if layer else None
    if item is not None and item.score is not None and item.quotations:
        places = (code(f"{judge.place_of(result, one)}:{one.line}") for one in item.quotations[:_NAMED])
        yield ("see first what the judges quote: ", *spans(joined(places)))
