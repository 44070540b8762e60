"""What to do next: the findings that fail a skill, then the advice that brings most, each with a place and its gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.github.fit import Section
from skillgate.model.finding import Severity
from skillgate.model.score import Outcome
from skillgate.report.findings import bounded, order
from skillgate.report.markdown import inert

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.github.links import Links
    from skillgate.github.rows import Row
    from skillgate.model.finding import Finding
    from skillgate.model.report import Advice, SkillResult

_TEXT = 300  # characters of a message, of an instruction
_EACH = 3  # steps for a skill that stands alone, fewer where several share the room
_WORTH = 1.0  # points under which advice is not worth a line where nothing fails


class Step(NamedTuple):
    """One thing to do: where, what, and how many points it brings (None where that is not known)."""

    path: str
    line: int | None
    text: str
    gain: float | None = None


def next_steps(rows: Sequence[Row], links: Links, *, most: int) -> Section:
    """Say what to do for the skills that fail; where none does, for those that fell or have new findings."""
    failing = [row.result for row in rows if row.fails and row.result is not None]
    worse = [row.result for row in rows if row.result is not None and _worse(row)]
    results = failing or worse
    each = max(1, _EACH + 1 - len(results[:_EACH]))
    steps = [step for result in results[:most] for step in _steps(result, each, least=0.0 if failing else _WORTH)]
    lines = [f"1. {_line(step, links)}" for step in steps[:most]]
    return Section("what to do next", ("", "**Do next**", "") if lines else (), tuple(lines), rank=3)


def _worse(row: Row) -> bool:
    return row.change is not None and ((row.change.change or 0) < 0 or bool(row.change.new))


def _line(step: Step, links: Links) -> str:
    gain = f" (**{step.gain:+.1f}**)" if step.gain is not None and step.gain >= 0.05 else ""
    return f"{links.place(step.path, step.line)}: {step.text}{gain}"


def _steps(result: SkillResult, each: int, *, least: float) -> list[Step]:
    findings = list(_blamed(result))[:each]
    main = _main_file(result)
    by_line = {item.line: item for item in result.advice if item.removes and item.line}
    mending = {id(finding): by_line.get(finding.line) for finding in findings if str(finding.path) == main}
    steps = [_mend(finding, mending.get(id(finding))) for finding in findings]
    done = {id(advice) for advice in mending.values()}
    advised = (item for item in result.advice if id(item) not in done and item.gain >= least)
    steps += [Step(main, item.line, inert(bounded(item.action, _TEXT)), item.gain) for item in advised]
    return steps[:each]


def _blamed(result: SkillResult) -> Iterator[Finding]:
    """List the findings for which a gate fails the skill, worst first."""
    failed = {outcome.gate for outcome in result.gate.outcomes if outcome.verdict is Outcome.FAIL}
    severities = [severity for severity in Severity if severity.value in failed]
    yield from sorted((finding for finding in result.findings if finding.severity in severities), key=order)


def _mend(finding: Finding, advice: Advice | None) -> Step:
    text = inert(bounded(finding.message, _TEXT))
    if finding.fix and finding.tool == "skillgate":
        text += f"; {inert(bounded(finding.fix, _TEXT))}"
    return Step(str(finding.path), finding.line, text, advice.gain if advice else None)


def _main_file(result: SkillResult) -> str:
    """Give the path of a skill's main file: as a finding spells it, else in capitals as nearly all are."""
    base = "" if result.skill.path in ("", ".") else f"{result.skill.path.rstrip('/')}/"
    for finding in result.findings:
        path = str(finding.path)
        if path.lower() == f"{base}skill.md".lower() and path.startswith(base):
            return path
    return f"{base}SKILL.md"
