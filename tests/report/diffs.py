"""Pairs of results made by hand, for the tests of what differs between two reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.model.documents import Diff, DiffSide
from skillgate.model.finding import Severity, Suppressed
from skillgate.model.report import Composite, DimensionScore
from skillgate.model.score import Badge, Dimension
from skillgate.report.diff import diff
from tests.report.reports import a_finding, a_skill, unread

if TYPE_CHECKING:
    from skillgate.model.finding import Finding
    from skillgate.model.report import SkillResult
    from skillgate.scoring.pairing import Pair

A, B = DiffSide("before.json", tool="1.2.3"), DiffSide("after.json", commit="0123456789" * 4, tool="1.2.3")


def scored(score: float | None, *findings: Finding, path: str = "skills/one", **changes: Any) -> SkillResult:
    """Give a result with a score and the badge that it earns."""
    reason = None if score is not None else "it has neither frontmatter nor body"
    composite = Composite(score=score, badge=Badge.from_scores(score), reason=reason)
    return a_skill(*findings, path=path, composite=composite, **changes)


def measured(**scores: float | None) -> dict[Dimension, DimensionScore]:
    """Give dimensions with these scores."""
    return {Dimension(name): DimensionScore(score=score, grade=None) for name, score in scores.items()}


def differing(*pairs: Pair, **changes: Any) -> Diff:
    """Give the diff of pairs."""
    return diff(pairs, a=A, b=B, version="1.2.3", **changes)


def every_kind() -> Diff:
    """Give a diff with a skill of every kind in it, its gate asked."""
    came = a_finding(
        id="MISSING_TRIGGER",
        severity=Severity.WARNING,
        message="it says no time to use it",
        path="skills/csv/SKILL.md",
        line=3,
    )
    dims = measured(triggering_accuracy=0.88, code_template_quality=None, scope_calibration=0.5)
    less = measured(triggering_accuracy=0.41, code_template_quality=0.7, scope_calibration=0.5)
    at = {
        name: a_finding(path=f"skills/{name}/SKILL.md")
        for name in ("better", "aside", "locked", "old", "moved", "rest")
    }
    return differing(
        (
            scored(71.2, path="skills/csv", dimensions=dims),
            scored(
                54.9,
                came,
                a_finding(path="skills/csv/SKILL.md", line=41),
                a_finding(path="skills/csv/SKILL.md", line=43),
                path="skills/csv",
                dimensions=less,
            ),
        ),
        (scored(69.0, at["better"], path="skills/better"), scored(71.4, path="skills/better")),
        (
            scored(80.0, at["aside"], path="skills/aside"),
            scored(80.0, path="skills/aside", suppressed=(Suppressed(at["aside"], "comment", "made at run time"),)),
        ),
        (scored(75.0, at["locked"], path="skills/locked"), unread()),
        (scored(77.0, at["old"], path="skills/old"), scored(77.0, at["moved"], path="skills/moved")),
        (None, scored(91.2, path="skills/pdf")),
        (scored(40.0, at["rest"], path="skills/rest"), None),
        (scored(66.0, path="skills/same"), scored(66.0, path="skills/same")),
        gated=True,
    )
