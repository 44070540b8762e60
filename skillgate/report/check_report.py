"""A check document as the report that it was shaped from, so that every writer of reports can show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.model.report import Composite, Report, SkillResult, StaticLayer, Verdict
from skillgate.model.score import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.check_report import CheckedSkill, CheckReport
    from skillgate.model.finding import Finding, Suppressed


def report_of(document: CheckReport, *, source: str) -> Report:
    """Return the report: all that a check keeps, without dimensions.

    Raises:
        UsageError: the skills claim more findings than the document has; ``source`` names it in the message.
    """
    findings, aside = list(document.findings), list(document.suppressed)
    if sum(one.findings for one in document.skills) > len(findings) or sum(
        one.suppressed for one in document.skills
    ) != len(aside):
        raise UsageError(f"{source} is not a skillgate report: its skills have other findings than it lists")
    results = []
    for one in document.skills:
        own, findings = findings[: one.findings], findings[one.findings :]
        set_aside, aside = aside[: one.suppressed], aside[one.suppressed :]
        results.append(_result(one, own, set_aside))
    skill_outcomes = sum(
        1 for one in document.skills for outcome in one.gate.outcomes if outcome.verdict is not Outcome.PASS
    )
    return Report(
        depth=document.depth,
        coverage=document.coverage,
        config_digest=document.config_digest,
        tool=document.tool,
        results=tuple(results),
        summary=document.summary,
        gate=Verdict(
            document.gate.passed, document.gate.outcomes[skill_outcomes:]
        ),  # the first ones are those of the skills
        models=document.models,
        profile=document.profile,
        listing=document.listing,
        across=document.across,
        outside=tuple(findings),
    )


def _result(one: CheckedSkill, findings: Sequence[Finding], suppressed: Sequence[Suppressed]) -> SkillResult:
    layers = (StaticLayer(duration_ms=0, recoverable=one.recoverable),) if one.evaluated else ()
    return SkillResult(
        composite=Composite(one.score, one.badge, reason=one.reason, badge_reason=one.badge_reason),
        dimensions={},
        layers=layers,
        skill=one.skill,
        findings=tuple(findings),
        gate=one.gate,
        evaluated=one.evaluated,
        suppressed=tuple(suppressed),
    )
