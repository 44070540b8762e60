"""What every report shows of one skill: findings, what to do next, dimensions, evidence, what was suppressed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.finding import Severity
from skillgate.model.report import StaticLayer
from skillgate.model.score import Outcome
from skillgate.named_tuple import NamedTuple
from skillgate.report import numbers
from skillgate.report.findings import order
from skillgate.report.links import Links
from skillgate.report.numbers import ends, points, ratio, share
from skillgate.report.steps import cost, gained, main_file, steps
from skillgate.report.tally import SEVERITIES, failures, folded, is_judged, is_simulated, times
from skillgate.report.view import (
    MARKS,
    Bar,
    Cell,
    Fold,
    Heading,
    Item,
    Items,
    Note,
    Row,
    Span,
    Table,
    code,
    columns,
    spans,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from skillgate.model.documents import SkillChange
    from skillgate.model.finding import Finding, Suppressed
    from skillgate.model.report import DimensionScore, SkillResult
    from skillgate.model.score import Dimension, Evidence
    from skillgate.report.steps import Step
    from skillgate.report.view import Block, Line, Mark

FEW = 3  # findings and steps that a terminal shows unless everything is asked for
_LONG = 40  # characters of a reason from which on it is not said twice
_STEPS = 5  # of a skill among others
_LINES = 5  # lines of one file that a step names
_SUPPRESSED_BY = {"comment": "a comment", "configuration": "configuration", "known": "the known findings"}


def no_source(_path: str, _line: int) -> Sequence[tuple[int, str]]:
    """Show no lines next to a finding."""
    return ()


class Context(NamedTuple):
    """What the parts of a page share.

    Attributes:
        links: where it may lead.
        source: reads the lines around a line of a file, with their numbers; empty where that is not possible.
        changes: what a change did to each skill, by its path; empty without a baseline.
    """

    links: Links = Links()
    source: Callable[[str, int], Sequence[tuple[int, str]]] = no_source
    changes: dict[str, SkillChange] = {}  # noqa: RUF012 - never changed


def mark_of(result: SkillResult) -> Mark:
    """Return whether a skill passes its gate."""
    return MARKS[result.gate.passed] if result.evaluated else "error"


def score_cell(result: SkillResult) -> Cell:
    """Write a composite with its interval."""
    composite = result.composite
    tone = numbers.tone(composite.score) if composite.score is not None else ""
    note = ends(composite.ci_low, composite.ci_high, 1)
    return Cell(points(composite.score), note and f"{note}, 95 %", tone, sort=composite.score)


def blocks(result: SkillResult, context: Context, *, alone: bool) -> Iterator[Block]:
    """Build the part about one skill; ``alone`` where it is the only one, and the page has its reasons already."""
    change = context.changes.get(result.skill.path)
    lead = tuple(_lead(result, change, context.links))
    if len(lead) > 1:
        yield Note(lead, "muted")
    if result.composite.reason:
        yield Note(f"No score: {result.composite.reason}", "poor")
    if not alone:
        yield from (Note(reason, "poor") for reason in _doubts(result))
    found, main = steps(result, change), main_file(result)
    if found:
        yield Heading("Do next (errors first, then most points)" if alone else "Do next", 3)
        shown = found if alone else found[:_STEPS]
        items = tuple(step_item(step, main) for step in shown)
        yield Items(items, "step", FEW, ordered=True, left=len(found) - len(shown))
    new = frozenset(change.new) if change else frozenset()
    if result.findings:
        yield Heading("Findings", 3)
        listed = [finding for step in found if step.fix for finding in step.findings]
        yield findings(result.findings, context, new=new, within=result.skill.path, fixed=listed)
    if change and change.fixed:
        yield Heading("Fixed", 3)
        gone = context._replace(links=context.links.nowhere, source=no_source)
        yield findings(change.fixed, gone, within=result.skill.path, fixes=False)
    if result.suppressed:
        yield Fold(f"{len(result.suppressed):,} suppressed", (_suppressed(result.suppressed),), quiet=True)
    if result.dimensions:
        yield Fold("Dimensions", (dimensions(result, change),), open=True, quiet=not alone)
    yield from layers(result, context.links)
    if checks := tuple(_evidence(result)):
        table = Table(columns("evidence", "line", "#points"), checks, noun="line of evidence", most=200)
        yield Fold("Evidence: what each point rests on", (table,), quiet=True)


def layers(result: SkillResult, links: Links) -> Iterator[Block]:
    """Build what a judge and sessions say, each loaded only where one was asked."""
    if is_judged((result,)):
        from skillgate.report.judge import skill_blocks as judged

        yield from judged(result, links)
    if is_simulated((result,)):
        from skillgate.report.sessions import skill_blocks as sampled

        yield from sampled(result)


def _lead(result: SkillResult, change: SkillChange | None, links: Links) -> Iterator[str | Span]:
    """Say in a line where the skill comes from and what holds its badge back."""
    composite = result.composite
    yield Span(result.skill.name, "strong")
    if change and change.before:
        yield f" was at {points(change.before.score)} "
        yield Span(numbers.moved(change.change), numbers.direction(change.change))
        if change.moved:
            yield " · moved from "
            yield code(change.before.path)
    elif change:
        yield " is new: no baseline"
    if composite.badge_reason and composite.score is not None:
        yield f" · {composite.badge_reason}"
    if composite.elo is not None:
        yield f" · Elo {composite.elo:,.0f}"
    estimate, rank = result.quality_estimate, result.public_percentile
    if estimate.value is not None:
        yield f" · a reader would say about {estimate.value:.1f} of 10 ({ends(estimate.low, estimate.high, 1)})"
    if rank is not None:
        yield f" · scores at least as high as {rank.value:.0f} % of {rank.skills} public skills"
    if composite.penalty < 1:
        yield f" · anti-patterns cost {share(1 - composite.penalty, 0)}"
    if url := links.file(result.skill.path):
        yield " · "
        yield Span("files at this commit", url=url)


def _doubts(result: SkillResult) -> list[str]:
    """List why the gate fails, or what it could not decide."""
    if result.gate.passed is False:
        return failures(result)
    doubtful = (Outcome.INCONCLUSIVE, Outcome.UNMEASURED)
    return [outcome.reason for outcome in result.gate.outcomes if outcome.verdict in doubtful]


def findings(
    found: Iterable[Finding],
    context: Context,
    *,
    new: Collection[Finding] = (),
    within: str = "",
    fixes: bool = True,
    fixed: Iterable[Finding] = (),
) -> Items:
    """List findings, worst first; those that say the same are one entry.

    Args:
        found: the findings.
        context: where they may lead, and the source they are about.
        new: those to be marked as new.
        within: the folder that paths are relative to.
        fixes: whether to show fixes, each once.
        fixed: findings with a fix that the page shows elsewhere.
    """
    shown = {(finding.id, finding.fix) for finding in fixed}
    items = []
    ordered = sorted(found, key=order)
    old, fresh = ([one for one in ordered if (one in new) is is_new] for is_new in (False, True))
    for finding, others in sorted((*folded(old, within), *folded(fresh, within)), key=lambda group: order(group[0])):
        is_told = not fixes or (finding.id, finding.fix) in shown
        shown.add((finding.id, finding.fix))
        item = _finding(finding, context, within, is_new=finding in new, fix="" if is_told else finding.fix)
        items.append(item._replace(line=(*spans(item.line), times(finding, others, within))) if others else item)
    return Items(tuple(items), "finding", FEW)


def _finding(finding: Finding, context: Context, within: str, *, is_new: bool, fix: str) -> Item:
    path = str(finding.path)
    place = f"{path.removeprefix(f'{within}/')}:{finding.line}"
    head: list[str | Span] = [Span(finding.id, "strong", context.links.rule(finding)), " "]
    head += [Span("new", "label"), " "] if is_new else []
    head += [code(place, context.links.file(path, finding.line)), f" {finding.message}"]
    head += [f" (found by {finding.tool})"] if finding.tool != "skillgate" else []
    is_shown = finding.line and finding.severity is not Severity.INFO
    excerpt = tuple(context.source(path, finding.line)) if is_shown else ()
    below: tuple[Line, ...] = ((Span("Fix: ", "strong"), fix),) if fix else ()
    return Item(tuple(head), finding.severity.value, SEVERITIES[finding.severity], below, excerpt)


def step_item(step: Step, main: str, links: Links | None = None) -> Item:
    """Say what to do; with ``links`` first where."""
    count, text = len(step.findings), step.text
    if count > 1:
        text = f"{step.findings[0].id} ×{count}: {text}" + (f", and {count - 1} more" if step.fix else "")
    elif step.urgent and not step.fix:
        text = f"{step.findings[0].id}: {text}"
    text = numbers.sentence(f"{text}; {step.fix}" if step.fix else text)
    gain = "" if step.gain is None else gained(step.gain)
    line: Line = text
    if links is not None:
        first = step.lines[0] if step.lines else None
        line = (code(f"{step.path}:{first}" if first else step.path, links.file(step.path, first)), f": {text}")
    return Item(line, gain, "good" if gain else "", tuple(filter(None, (_where(step, main),))))


def _where(step: Step, main: str) -> str:
    """Say where a step is about, what it raises and what it costs."""
    named = ", ".join(map(str, step.lines[:_LINES]))
    left = len(step.lines) - _LINES
    folder = main[: -len("SKILL.md")]  # of the skill, with its slash
    place = f"line{'s' * (len(step.lines) > 1)} {named}" if named else ""
    place += f" and {left:,} more" if left > 0 else ""
    place += f" of {step.path.removeprefix(folder)}" if place and step.path != main else ""
    place += ", together" if len(step.findings) > 1 and step.gain is not None else ""
    parts, advice = [place] if place else [], step.advice
    if advice is not None:
        if advice.dimension is not None and advice.before is not None and advice.after is not None:
            parts.insert(0, f"{advice.dimension.value} {advice.before:.2f} → {advice.after:.2f}")
        if advice.removes:
            parts.append(f"removes {plural(advice.removes, 'anti-pattern')}")
        parts.append(cost(advice))
    return " · ".join(parts)


def _suppressed(items: Iterable[Suppressed]) -> Items:
    counted = Counter((item.by, item.reason or "", str(item.until or "")) for item in items)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    found = []
    for (by, why, until), number in ranked:
        said = f"suppressed by {_SUPPRESSED_BY.get(by, by)}" + (f": {why}" if why else "")
        found.append(Item(f"{said} until {until}" if until else said, f"{number:,}"))
    return Items(tuple(found), "reason")


def dimensions(result: SkillResult, change: SkillChange | None) -> Table:
    """Build the table of dimensions: what was not measured says why, once."""
    reasons = gap_reasons(result)
    rows = []
    for key, found in result.dimensions.items():
        before = change.dimensions.get(key) if change else None
        percent = None if found.score is None else 100 * found.score
        old = None if before is None or before.a is None else 100 * before.a
        bar = Bar(percent, numbers.tone(percent), old)
        moved = numbers.moved(before.change, 4) if before and before.change else ""
        note = ", ".join(filter(None, (ends(found.ci_low, found.ci_high, 4), moved)))
        grade = reasons[key] if found.score is None else _grade(found)
        rows.append(Row((key.value, Cell(chart=bar), Cell(ratio(found.score), note), share(found.weight, 0), grade)))
    return Table(columns("dimension", "~", "#score", "#weight", "grade"), tuple(rows), noun="dimension", most=20)


def _grade(found: DimensionScore) -> Cell:
    if found.grade is None or found.score is None:
        return Cell()
    return Cell(found.grade.value, tone=numbers.tone(100 * found.score))


def gap_reasons(result: SkillResult) -> dict[Dimension, str]:
    """Say why each dimension without a score has none; a long reason once, the others refer to the first that has it.

    A reason why the whole skill has no score is not repeated.
    """
    whole = (result.composite.reason or "") if result.composite.score is None else ""
    explained = False
    first: dict[str, Dimension] = {}
    words = {}
    for key, found in result.dimensions.items():
        if found.score is not None:
            continue
        reason = found.reason or ""
        before = first.setdefault(reason, key)
        if whole and reason and reason.removeprefix("not judged: ").removeprefix("stopped: ") in whole:
            word = "judged" if whole.startswith("not judged") else "measured"
            words[key], explained = "" if explained else f"not {word}: see the reason", True
        else:
            words[key] = reason if before is key or len(reason) <= _LONG else f"as {before.value}"
    return words


def _evidence(result: SkillResult) -> Iterator[Row]:
    """Build a row for each sub-check, followed by what its points rest on."""
    for layer in result.layers:
        for name, check in layer.sub_checks.items() if isinstance(layer, StaticLayer) else ():
            title = (Span(numbers.words(name), "strong"), f": {check.reason}" if check.reason else "")
            yield Row((title, "", ratio(check.score)))
            yield from (Row((it.text, f"line {it.line}" if it.line else "", _points(it))) for it in check.evidence)


def _points(item: Evidence) -> Cell:
    if not item.possible and not item.points:
        return Cell()
    text = f"{item.points:.2f}".replace("-", "−") + (f" / {item.possible:.2f}" if item.possible else "")
    return Cell(text, tone="poor" if item.points < item.possible or item.points < 0 else "")
