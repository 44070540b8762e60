"""What ``score`` writes as JSON of one skill, apart from other documents: see :mod:`skillgate.model.check_report`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from skillgate.model.check_report import Header
from skillgate.model.finding import Finding, Suppressed
from skillgate.model.layers import Agreement, DropTest, Lift, Resumed, Trust, Usage
from skillgate.model.report import (
    Advice,
    Composite,
    DimensionScore,
    Layer,
    PublicPercentile,
    SkillName,
    SkillResult,
    Verdict,
)
from skillgate.model.score import Dimension, QualityEstimate

_NO_USAGE = Usage()
_NO_GATE = Verdict(passed=None)
_NOT_EVALUATED = QualityEstimate(reason="not evaluated")


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleReport(Header):
    """``score`` over exactly one path that is itself a skill: the shape the method's scripts read.

    The keys of the skill's result, with those of the header.
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
    quality_estimate: QualityEstimate = _NOT_EVALUATED
    public_percentile: PublicPercentile | None = None
    agreement: Agreement | None = None
    calibration: Trust | None = None
    resumed: Resumed | None = None
    shard: str | None = None

    def result(self) -> SkillResult:
        """Return the skill's result, as a report over several holds it."""
        values = {name: getattr(self, name) for name in SkillResult._fields if name != "coverage"}
        return SkillResult(**values, coverage=self.coverage or 0.0)
