"""What to do next about a skill: what fails it, then what the change broke, then the advice with the highest gain."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.finding import Severity
from skillgate.model.report import StaticLayer
from skillgate.model.score import Outcome
from skillgate.report.findings import order
from skillgate.report.numbers import signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.documents import SkillChange
    from skillgate.model.finding import Finding
    from skillgate.model.report import Advice, SkillResult


class Step(NamedTuple):
    """One thing to do. Texts are as they came: they must be made inert before they are shown.

    Attributes:
        path: the file.
        lines: where in it, rising; empty where no line is meant.
        text: what is wrong, or what to do.
        fix: how ``text`` is fixed, ``""`` where it says so itself.
        gain: composite points that all of it together adds, None where that is not known.
        findings: those that it fixes, all of one rule; empty for advice that is about none.
        advice: what the gain was computed for, None where there is none.
        urgent: whether it fails the skill, or the change brought it.
    """

    path: str
    lines: tuple[int, ...]
    text: str
    fix: str = ""
    gain: float | None = None
    findings: tuple[Finding, ...] = ()
    advice: Advice | None = None
    urgent: bool = False


def steps(result: SkillResult, change: SkillChange | None, *, least: float = 0.0) -> tuple[Step, ...]:
    """Say what to do about a skill, the most urgent first; findings of one rule in one file are one step.

    Args:
        result: the skill.
        change: what a change did to it, None where that is not known.
        least: points that advice must gain to be included.
    """
    main = main_file(result)
    mending = {mended(result, item, main): item for item in result.advice}
    mending.pop((), None)
    groups = list(_groups(_urgent(result, change)))
    taken = {id(mending[group]) for group in groups if group in mending}
    advised = (item for item in result.advice if id(item) not in taken and (item.gain >= least or item.rule))
    return (*(_mend(group, mending.get(group)) for group in groups), *(_follow(result, item, main) for item in advised))


def mended(result: SkillResult, advice: Advice, main: str) -> tuple[Finding, ...]:
    """Return the findings that one piece of advice fixes, by place: all of them, or none if that is not certain."""
    if advice.rule is not None:
        return tuple(sorted((item for item in result.findings if item.id == advice.rule), key=order))
    ids = Counter(name for layer in result.layers if isinstance(layer, StaticLayer) for name in layer.anti_patterns)
    found = []
    for name, count in ids.items():
        group = tuple(sorted((item for item in result.findings if item.id == name), key=order))
        is_whole = count == advice.removes == len(group) and all(str(item.path) == main for item in group)
        if is_whole and min(item.line for item in group) == advice.line:
            found.append(group)
    return found[0] if len(found) == 1 else ()


def gained(points: float) -> str:
    """Write points gained with their sign, to one place; to two where one would show nothing."""
    return signed(points, 1 if abs(points) >= 0.05 else 2)


def cost(advice: Advice) -> str:
    """Say what effort advice takes, and what an hour of it gains."""
    hourly = f", {gained(advice.gain_per_hour)} per hour" if advice.gain_per_hour > 0 else ""
    return f"{advice.effort} effort{hourly}"


def main_file(result: SkillResult) -> str:
    """Give the path of a skill's main file: as a finding spells it, else in capitals as nearly all are."""
    base = "" if result.skill.path in ("", ".") else f"{result.skill.path.rstrip('/')}/"
    for finding in result.findings:
        path = str(finding.path)
        if len(path) == len(base) + 8 and path[-8:].lower() == "skill.md" and path.startswith(base):
            return path
    return f"{base}SKILL.md"


def _urgent(result: SkillResult, change: SkillChange | None) -> Iterator[Finding]:
    """List the findings for which a gate fails the skill, what the change brought, then the other errors."""
    failed = {outcome.gate for outcome in result.gate.outcomes if outcome.verdict is Outcome.FAIL}
    blamed = [item for item in result.findings if item.severity.value in failed]
    yield from sorted(blamed, key=order)
    new = change.new if change else ()
    listed = set(blamed)
    brought = [item for item in new if item.severity is not Severity.INFO and item not in listed]
    yield from sorted(brought, key=order)
    listed.update(brought)
    yield from sorted((it for it in result.findings if it.severity is Severity.ERROR and it not in listed), key=order)


def _groups(findings: Iterator[Finding]) -> Iterator[tuple[Finding, ...]]:
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.tool, finding.id, str(finding.path)), []).append(finding)
    yield from (tuple(sorted(group, key=order)) for group in groups.values())


def _mend(group: Sequence[Finding], advice: Advice | None) -> Step:
    first, several = group[0], len(group) > 1
    text, fix = first.message, first.fix if first.tool == "skillgate" else ""
    if advice is not None:  # the gain was computed for what it says
        text, fix = (advice.action, "") if several or advice.rule else (text, advice.action)
    gain = advice.gain if advice else None
    return Step(str(first.path), _lines(group), text, fix, gain, tuple(group), advice, urgent=True)


def _follow(result: SkillResult, advice: Advice, main: str) -> Step:
    group = mended(result, advice, main)
    lines = _lines(group) or ((advice.line,) if advice.line else ())
    return Step(main, lines, advice.action, "", advice.gain, group, advice)


def _lines(group: Sequence[Finding]) -> tuple[int, ...]:
    return tuple(sorted({item.line for item in group if item.line}))
