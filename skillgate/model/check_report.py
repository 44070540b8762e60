"""What ``check`` writes as JSON, and what every document says of itself.

Dataclasses take long to create: so this is apart from the documents that few runs need. Field types are imported at run
time because the codec reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from skillgate.model.finding import AcrossChange, Finding, ListingUse, Suppressed
from skillgate.model.report import SkillName, Summary, Tool, Verdict
from skillgate.model.score import SCHEMA_VERSION, SCORING_VERSION, Badge, Count, Depth, Points, Ratio
from skillgate.named_tuple import NamedTuple

_NO_GATE = Verdict(passed=None)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class Header:
    """What every document says of itself. No document is only this, so that it needs no methods."""

    depth: Depth
    coverage: Ratio | None
    config_digest: str
    tool: Tool
    models: tuple[str, ...] = ()
    schema_version: int = SCHEMA_VERSION
    scoring_version: int = SCORING_VERSION


class CheckedSkill(NamedTuple):
    """What a check document keeps of one skill.

    ``findings`` and ``suppressed`` count those that are its own: the document lists them skill by skill, in this order,
    and then those outside of any skill. ``recoverable`` is that of the static layer.
    """

    skill: SkillName
    findings: Count
    suppressed: Count
    score: Points | None
    badge: Badge | None
    reason: str | None = None
    badge_reason: str | None = None
    recoverable: float = 0.0
    evaluated: bool = True
    gate: Verdict = _NO_GATE


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport(Header):
    """``check``: findings and the gate, without the scores' details."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "check")

    findings: tuple[Finding, ...]
    summary: Summary
    gate: Verdict
    suppressed: tuple[Suppressed, ...] = ()
    profile: str = "any"
    listing: tuple[ListingUse, ...] = ()
    across: AcrossChange | None = None
    skills: tuple[CheckedSkill, ...] = ()
