"""The report: what an evaluation gives, for people and as JSON. Its JSON Schema is made from these types.

A document is one of a union distinguished by ``kind`` (a score of one skill and of several by ``results``); a layer
is one of a union distinguished by ``name``. Every number that was not measured is None with a reason. Ratios are in
[0, 1] with four decimals, composites 0–100 with two. Field types are imported at run time because the codec reads them.
Named tuples, not dataclasses: they are many, and each run creates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skillgate.model.finding import AcrossChange, Finding, ListingUse, Severity, Suppressed
from skillgate.model.layers import (
    Agreement,
    DropTest,
    JudgeLayer,
    Lift,
    MonteCarloLayer,
    RankingLayer,
    Resumed,
    Trust,
    Usage,
)
from skillgate.model.score import (
    SCHEMA_VERSION,
    SCORING_VERSION,
    Badge,
    Count,
    Depth,
    Dimension,
    Evidence,
    Grade,
    Outcome,
    Points,
    QualityEstimate,
    Ratio,
    tagged,
)
from skillgate.named_tuple import NamedTuple


class SkillName(NamedTuple):
    """Which skill."""

    name: str
    path: str  # its directory as given, with ``/``
    repository_path: str | None = None  # its directory from the top of its repository
    digest: str | None = None  # of its main file; None if that could not be read whole


class DimensionScore(NamedTuple):
    """One dimension's blended score. A score of None was not measured, and ``reason`` says why.

    ``ci_low`` and ``ci_high`` bound a 95 % interval where a sampled layer measured the dimension; the static layer is
    deterministic and adds no width, so at quick depth they are None.
    """

    score: Ratio | None
    grade: Grade | None
    ci_low: Ratio | None = None
    ci_high: Ratio | None = None
    weight: Ratio = 0.0
    reason: str | None = None
    ci_reason: str | None = None


class Composite(NamedTuple):
    """The one number, its badge and what they rest on."""

    score: Points | None  # 0–100, None if nothing could be scored; then ``reason`` says why
    badge: Badge | None  # None below the least badge, and where ``badge_reason`` says why there can be none
    elo: float | None = None  # None unless a ranking was run; then ``elo_reason`` is None
    ci_low: Points | None = None
    ci_high: Points | None = None
    elo_reason: str | None = "no ranking at this depth"
    reason: str | None = None
    badge_reason: str | None = None
    penalty: Ratio = 1.0
    # the same object as the document's ``dimensions``, under the name the method's text uses
    dimensions: Mapping[Dimension, DimensionScore] = MappingProxyType({})
    ci_reason: str | None = None  # why there is no interval where a sampled layer ran


class SubCheckScore(NamedTuple):
    """What one static sub-check gave, with every point gained or missed."""

    score: Ratio | None
    dimension: Dimension
    reason: str | None = None
    evidence: tuple[Evidence, ...] = ()


@tagged("name", "static")
class StaticLayer(NamedTuple):
    """Layer 1: deterministic, no model.

    ``anti_patterns`` holds one id for each finding that counts in the penalty, suppressed or not; ``recoverable`` is
    how many composite points fixing all of them would add.
    """

    duration_ms: Count
    anti_patterns: tuple[str, ...] = ()
    score: Ratio | None = None
    sub_checks: Mapping[str, SubCheckScore] = MappingProxyType({})
    recoverable: float = 0.0


Layer = StaticLayer | JudgeLayer | MonteCarloLayer | RankingLayer


class Advice(NamedTuple):
    """What to do next, computed from the report alone."""

    action: str
    dimension: Dimension | None  # what it raises most; None when it only removes anti-patterns
    gain: float  # composite points it would bring alone
    effort: str  # ``very low``, ``low`` or ``medium``, from the method's table
    before: Ratio | None
    after: Ratio | None
    line: int | None = None  # where in the main file, None when it concerns no line
    removes: Count = 0
    rule: str | None = None  # the id of the finding that it fixes where that is no anti-pattern
    gain_per_hour: float = 0.0  # points for an hour of work, by the method's effort


class Tool(NamedTuple):
    """Who wrote the document."""

    version: str
    name: str = "skillgate"


class GateOutcome(NamedTuple):
    """One gate, answered for one skill: pass, fail, inconclusive or unmeasured, and why."""

    gate: str
    verdict: Outcome
    reason: str


class Verdict(NamedTuple):
    """What the gates say together: ``passed`` is None when none was asked for."""

    passed: bool | None
    outcomes: tuple[GateOutcome, ...] = ()


class PublicPercentile(NamedTuple):
    """The percentage of public skills with no higher composite at quick depth; ``skills`` is how many there are."""

    value: Points
    skills: Count


class SkillResult(NamedTuple):
    """One skill's scores.

    ``evaluated`` is False when the operating system would not let it be read. ``drop`` is set if both this score and
    its baseline's were sampled, ``lift`` if it was requested. ``content`` is the digest of all files of its directory,
    the same before and after they were evaluated; it is set if a certificate may be made of it.
    ``quality_estimate`` is apart from the composite and gates nothing; ``public_percentile`` is None beyond quick
    depth.
    """

    composite: Composite
    dimensions: Mapping[Dimension, DimensionScore]
    layers: tuple[Layer, ...]
    skill: SkillName
    findings: tuple[Finding, ...] = ()
    advice: tuple[Advice, ...] = ()
    coverage: Ratio = 0.0
    usage: Usage = Usage()
    gate: Verdict = Verdict(passed=None)
    plugin: str | None = None
    evaluated: bool = True
    suppressed: tuple[Suppressed, ...] = ()
    drop: DropTest | None = None
    lift: Lift | None = None
    content: str | None = None
    quality_estimate: QualityEstimate = QualityEstimate(reason="not evaluated")
    public_percentile: PublicPercentile | None = None

    @property
    def errors(self) -> int:
        """Return how many findings of severity error are reported."""
        return sum(finding.severity is Severity.ERROR for finding in self.findings)


class PluginScore(NamedTuple):
    """A plugin's figure: the mean of its skills' composites."""

    path: str
    skills: Count
    mean: Points | None


class Summary(NamedTuple):
    """Many skills in a few numbers.

    ``lowest`` is the lowest composite among those that have one; ``found`` how many skills there were, also those that
    were not asked about (None if unknown).
    """

    skills: Count
    evaluated: Count
    not_evaluated: Count
    by_badge: Mapping[str, int]
    mean: Points | None
    median: Points | None
    lowest: Points | None
    findings: Mapping[str, int]
    plugins: tuple[PluginScore, ...] = ()
    suppressed: Mapping[str, int] = MappingProxyType({})
    found: Count | None = None


@tagged("kind", "score")
class Report(NamedTuple):
    """``score`` over any number of paths.

    Attributes:
        profile: the client that makes its refusals errors.
        listing: what the skills take of each client's budget.
        across: what changed between skills, None without a baseline.
        outside: findings of other tools about files that belong to no evaluated skill.
        usage: what all skills together asked of models.
        agreement: how far the judges agree over all of them, None at quick depth, or for one judge.
        calibration: how far people confirm them.
        resumed: what the run took from one that was cut short, None for none.
        shard: which part of the skills it evaluated, as ``2/4``, None for all.
    """

    depth: Depth
    coverage: Ratio | None
    config_digest: str
    tool: Tool
    results: tuple[SkillResult, ...]
    summary: Summary
    gate: Verdict
    models: tuple[str, ...] = ()
    schema_version: int = SCHEMA_VERSION
    scoring_version: int = SCORING_VERSION
    profile: str = "any"
    listing: tuple[ListingUse, ...] = ()
    across: AcrossChange | None = None
    outside: tuple[Finding, ...] = ()
    usage: Usage = Usage()
    agreement: Agreement | None = None
    calibration: Trust | None = None
    resumed: Resumed | None = None
    shard: str | None = None
