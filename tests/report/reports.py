"""Reports made by hand, for the formats that write them; and texts as an attacker would choose them."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from hypothesis import strategies as st

from skillgate.model.finding import Finding, Severity, Suppressed
from skillgate.model.report import Composite, GateOutcome, Report, SkillName, SkillResult, Tool, Verdict
from skillgate.model.score import Badge, Depth, Outcome
from skillgate.scoring.composite import summarise

PASSED, FAILED, UNASKED = Verdict(passed=True), Verdict(passed=False), Verdict(passed=None)

HOSTILE = (
    "::error file=a,line=1::owned",
    "\n::error::owned",
    "\r\n::set-output name=x::y",
    "::stop-commands::x",
    "##[error]owned",
    "##[set-env name=PATH;]x",
    "%0A::error::owned",
    "%25%3A%2C",
    "</failure><failure>&amp;]]>",
    "<script>alert(1)</script>",
    "[press](https://evil.example)",
    "{0} {1}",
    "\x00\x1b[31m\x07",
    "\ud800",
    "\ufffe\uffff\U0001ffff",
    "\u202e\u2028\u0085\u200b",
    '"quoted", \\n',
    "=a=b",
)


def hostile_text(*, most: int = 80) -> st.SearchStrategy[str]:
    """Give texts that hold any character, and what some reader would take for its own syntax."""
    pieces = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(codec=None), max_size=8))
    return st.lists(pieces, max_size=5).map(lambda found: "".join(found)[:most])


def hostile_path() -> st.SearchStrategy[str]:
    """Give paths of that kind."""
    names = hostile_text(most=30).map(lambda text: text.replace("/", "").replace("\0", "") or "x")
    return st.lists(names, min_size=1, max_size=3).map("/".join)


def a_finding(**changes: Any) -> Finding:
    """Give a finding, an error unless told."""
    plain = Finding(
        id="ORPHAN_REFERENCE",
        severity=Severity.ERROR,
        message="references/gone.md is not there",
        path=PurePosixPath("skills/one/SKILL.md"),
        line=7,
        column=5,
        fix="correct the path",
        url="https://example.com/rules#orphan_reference",
    )
    if "path" in changes:
        changes["path"] = PurePosixPath(changes["path"])
    return plain._replace(**changes)


def a_skill(*findings: Finding, path: str = "skills/one", **changes: Any) -> SkillResult:
    """Give a result with a score of 72.5."""
    composite = Composite(score=72.5, badge=Badge.SILVER)
    name = SkillName(name=path.rpartition("/")[2], path=path)
    result = SkillResult(composite=composite, dimensions={}, layers=(), skill=name, findings=findings)
    return result._replace(**changes)


def unread(path: str = "skills/locked", reason: str = "not evaluated: Permission denied") -> SkillResult:
    """Give a result of a skill that could not be read."""
    return a_skill(path=path, evaluated=False, composite=Composite(score=None, badge=None, reason=reason))


def failing(*outcomes: tuple[str, str]) -> Verdict:
    """Give a failed gate with these reasons by the gate's name."""
    return Verdict(passed=False, outcomes=tuple(GateOutcome(gate, Outcome.FAIL, reason) for gate, reason in outcomes))


def a_report(
    *results: SkillResult, outside: tuple[Finding, ...] = (), gate: Verdict = UNASKED, version: str = "1.2.3"
) -> Report:
    """Give a report over results."""
    return Report(
        depth=Depth.QUICK,
        coverage=0.8,
        config_digest="",
        tool=Tool(version=version),
        results=results,
        summary=summarise(results),
        gate=gate,
        outside=outside,
    )


def hostile_reports() -> st.SearchStrategy[Report]:
    """Give reports in which every text is hostile, of ours and of other tools."""
    text = hostile_text()
    found = st.builds(
        a_finding,
        id=st.sampled_from(["A", "B_C"]),
        severity=st.sampled_from(Severity),
        message=text,
        path=hostile_path(),
        line=st.integers(1, 99),
        column=st.integers(1, 99),
        fix=text,
    )
    foreign = st.builds(
        lambda item, rule, tool: item._replace(id=f"tool/{rule}", tool=tool or "tool"), found, hostile_text(), text
    )
    aside = st.builds(Suppressed, found, st.sampled_from(["comment", "configuration", "known"]), text)
    skill = st.builds(
        lambda findings, suppressed, path, reason: a_skill(
            *findings, path=path, suppressed=tuple(suppressed), gate=failing(("error", reason))
        ),
        st.lists(st.one_of(found, foreign), max_size=6),
        st.lists(aside, max_size=3),
        hostile_path(),
        text,
    )
    locked = st.builds(unread, hostile_path(), text)
    return st.builds(
        lambda results, outside: a_report(*results, outside=tuple(outside), gate=FAILED),
        st.lists(st.one_of(skill, locked), max_size=4),
        st.lists(foreign, max_size=3),
    )
