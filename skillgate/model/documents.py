"""The documents that skillgate writes and reads back.

They are told apart by ``kind``; a score of one skill and one of several by ``results``. ``Report`` is one of them, and
the others are shaped from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

from skillgate.model.across import AcrossChange, ListingUse
from skillgate.model.finding import Finding, Suppressed
from skillgate.model.judging import Agreement, Count, DropTest, Points, Ratio, Trust, Usage
from skillgate.model.marks import Range
from skillgate.model.report import (
    Advice,
    Composite,
    DimensionScore,
    Layer,
    Report,
    SkillName,
    SkillResult,
    Summary,
    Tool,
    Verdict,
)
from skillgate.model.score import SCHEMA_VERSION, SCORING_VERSION, Badge, Depth, Dimension
from skillgate.model.simulating import Lift, Resumed


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What every document says of itself."""

    depth: Depth
    coverage: Ratio | None
    config_digest: str
    tool: Tool
    models: tuple[str, ...] = ()
    schema_version: int = SCHEMA_VERSION
    scoring_version: int = SCORING_VERSION


_NO_USAGE = Usage()
_NO_GATE = Verdict(passed=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleReport(Header):
    """``score`` over exactly one path that is itself a skill: the shape the method's scripts read.

    The keys of the skill's result, with the header's beside them.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "score")

    composite: Composite
    dimensions: Mapping[Dimension, DimensionScore]
    layers: tuple[Layer, ...]
    skill: SkillName
    findings: tuple[Finding, ...] = ()
    advice: tuple[Advice, ...] = ()
    usage: Usage = _NO_USAGE
    gate: Verdict = _NO_GATE
    plugin: str | None = None
    evaluated: bool = True
    suppressed: tuple[Suppressed, ...] = ()
    profile: str = "any"
    outside: tuple[Finding, ...] = ()
    drop: DropTest | None = None
    lift: Lift | None = None
    content: str | None = None
    agreement: Agreement | None = None
    calibration: Trust | None = None
    resumed: Resumed | None = None
    shard: str | None = None

    def result(self) -> SkillResult:
        """Give the skill's result, as a report over several holds it."""
        values = {name: getattr(self, name) for name in SkillResult._fields if name != "coverage"}
        return SkillResult(**values, coverage=self.coverage or 0.0)


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


class DimensionChange(NamedTuple):
    """One dimension on both sides of a comparison; ``change`` is None where one side did not measure it."""

    a: Ratio | None
    b: Ratio | None
    change: float | None
    better: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Header):
    """``compare A B``: both results and what moved; ``hints`` say what a difference may come from."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "compare")

    a: SkillResult
    b: SkillResult
    change: float | None
    dimensions: Mapping[Dimension, DimensionChange]
    fixed: tuple[Finding, ...] = ()
    new: tuple[Finding, ...] = ()
    hints: tuple[str, ...] = ()
    gate: Verdict = _NO_GATE


class KnownFinding(NamedTuple):
    """Findings of one kind that are known: rule, file (relative to the file they stand in), message, how many.

    ``skills`` is that of a finding across skills, with paths relative likewise: it is known by these, not by its words.
    """

    id: str
    path: str
    message: str
    times: Annotated[int, Range(1, None)] = 1
    skills: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFindings:
    """The file of known findings."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "known-findings")

    tool: Tool
    findings: tuple[KnownFinding, ...]
    schema_version: int = SCHEMA_VERSION


Document = Report | SingleReport | CheckReport | Comparison
