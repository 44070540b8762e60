"""What ``check`` shows in a terminal: one finding a line, each fix once in a skill, then the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.finding import Severity
from skillgate.model.report import StaticLayer
from skillgate.model.score import Outcome
from skillgate.report.tally import (
    SEVERITIES,
    answers_warning,
    badge_of,
    blamed_outside,
    counts,
    failures,
    suppressed_in_words,
    worst_first,
)
from skillgate.report.view import MARKS, Fold, Item, Items, Note, Span, View, spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.finding import Finding
    from skillgate.model.report import Report, SkillResult
    from skillgate.report.view import Block, Line


def view(report: Report) -> View:
    """Build what ``check`` shows; infos are shown only if everything is asked for."""
    blocks: list[Block] = []
    every = [item for result in report.results for item in _items(result)]
    every += [Item(finding_line(finding)) for finding in report.outside]
    quiet = [item for result in report.results for item in _quiet(result)]
    if every:
        blocks.append(Items(tuple(every), "finding", raw=True))
    if quiet:
        blocks.append(Fold("Infos and suppressed findings", (Items(tuple(quiet), "finding", raw=True),), quiet=True))
    if report.across is not None or any(use.before is not None for use in report.listing):
        from skillgate.report.across import change_lines  # only beside a baseline

        blocks += [Note(line) for line in change_lines(report)]
    mark = "error" if report.summary.not_evaluated and report.gate.passed is not False else MARKS[report.gate.passed]
    return View(
        summary(report),
        mark,
        reasons=tuple(_reasons(report)),
        blocks=tuple(blocks),
        alarm=" ".join(answers_warning(report.results)),
        ends=True,
    )


def finding_line(finding: Finding) -> Line:
    """Write a finding on one line: its place, severity, id and message, and the tool it comes from if another."""
    place = f"{finding.path}:{finding.line}:{finding.column}: "
    by = "" if finding.tool == "skillgate" else f" [{finding.tool}]"
    tone = SEVERITIES[finding.severity]
    return place, Span(finding.severity.value, tone), f" {finding.id} {finding.message}{by}"


def _items(result: SkillResult) -> Iterator[Item]:
    if not result.evaluated:
        yield Item((f"{result.skill.path}: ", Span("error", "poor"), f" {result.composite.reason or ''}"))
    fixed: set[str] = set()
    for finding in result.findings:
        if finding.severity is Severity.INFO:
            continue
        is_told = finding.tool != "skillgate" or finding.id in fixed
        fixed.add(finding.id)
        hint = Span(f"skillgate explain {finding.id}", "muted")
        fix: tuple[Line, ...] = () if is_told else ((f"fix: {finding.fix}  ", hint),)
        yield Item(finding_line(finding), below=fix)


def _quiet(result: SkillResult) -> Iterator[Item]:
    yield from (Item(finding_line(item)) for item in result.findings if item.severity is Severity.INFO)
    for item in result.suppressed:
        until = f" until {item.until}" if item.until else ""
        why = f": {item.reason}" if item.reason else ""
        yield Item((*spans(finding_line(item.finding)), f" (suppressed, {item.by}{until}{why})"))


def _reasons(report: Report) -> Iterator[Line]:
    """Yield why the gate fails, unless the findings above show it already."""
    if report.gate.passed is not False:
        is_gated = any(result.gate.passed is not None for result in report.results)
        if report.gate.passed is None and report.summary.not_evaluated and is_gated:
            yield "gate undecided: not every skill could be evaluated"
        return
    yield from (f"gate failed: {reason}" for reason in blamed_outside(report))
    for result in worst_first(report.results):
        outcomes = [one for one in result.gate.outcomes if one.verdict is not Outcome.PASS]
        if result.gate.passed is False and any(one.gate not in {"error", "warning"} for one in outcomes):
            yield f"gate failed: {result.skill.path}: {'; '.join(failures(result))}"


def summary(report: Report) -> str:
    """Sum up what was found, with the lowest score."""
    counted = report.summary
    changed = "changed " if counted.found is not None and counted.found > counted.skills else ""
    skills = plural(counted.skills, f"{changed}skill") + (f" ({counted.found} in all)" if changed else "")
    touched = [result for result in report.results if result.findings]
    found = counts([finding for result in touched for finding in result.findings])
    parts = [f"{found} in {len(touched)} of {skills}." if found else f"No findings in {skills}."]
    parts += [f"{counts(report.outside)} outside the skills."] if report.outside else []
    parts += [f"{counted.not_evaluated} not evaluated."] if counted.not_evaluated else []
    parts += [f"{suppressed_in_words(counted.suppressed)}."] if counted.suppressed else []
    if touched:
        lowest = min(
            touched, key=lambda one: (one.composite.score is not None, one.composite.score or 0, one.skill.path)
        )
        parts.append(_lowest(lowest, named=counted.skills > 1))
    return " ".join(parts)


def _lowest(result: SkillResult, *, named: bool) -> str:
    name = f"{result.skill.path} " if named else ""
    score = result.composite.score
    if score is None:
        return f"{name}has no score: {result.composite.reason or ''}."
    text = f"{'Lowest: ' if named else 'Score '}{name}{score:.2f} ({badge_of(result, none='no badge')})"
    gain = next((layer.recoverable for layer in result.layers if isinstance(layer, StaticLayer)), 0.0)
    return f"{text}. Fix these findings to reach about {score + gain:.0f}." if gain >= 1 else f"{text}."
