"""The documents that skillgate writes and reads back, besides reports of benchmarks and invocations.

They are distinguished by ``kind``; a score of one skill and one of several by ``results``. Field types are imported at
run time because the codec reads them. Strings come from skills: a view makes them inert first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from types import MappingProxyType
from typing import Annotated, ClassVar

from skillgate.model.check_report import Header
from skillgate.model.finding import AcrossChange, Finding, ListingUse, Suppressed
from skillgate.model.layers import Estimate
from skillgate.model.report import (
    GateOutcome,
    SkillResult,
    Tool,
    Verdict,
)
from skillgate.model.score import (
    SCHEMA_VERSION,
    Badge,
    Count,
    Dimension,
    Milliseconds,
    Outcome,
    Points,
    Range,
    Ratio,
    camel,
    tagged,
)
from skillgate.named_tuple import NamedTuple

_NO_GATE = Verdict(passed=None)


class DimensionChange(NamedTuple):
    """One dimension on both sides of a comparison; ``change`` is None if one side did not measure it."""

    a: Ratio | None
    b: Ratio | None
    change: float | None
    better: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Header):
    """``compare A B``: both results and the changes; ``hints`` say what a difference may come from."""

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
    """Findings of one kind that are known: rule, file (relative to the file of known findings), message, how many.

    ``skills`` is that of a finding across skills, with paths relative to the same file. These identify it, not its
    words.
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


class State(Enum):
    """What became of a skill; whether it also moved shows by its two paths."""

    NEW = "new"
    REMOVED = "removed"
    CHANGED = "changed"  # score, badge, a dimension, what sessions and matches measure, or a finding is another one
    UNCHANGED = "unchanged"


class Side(NamedTuple):
    """One skill on one side."""

    path: str
    score: Points | None  # the composite, None with ``reason``
    badge: Badge | None
    reason: str | None = None
    coverage: Ratio = 0.0
    evaluated: bool = True  # False where the operating system would not let it be read


class SampledChange(NamedTuple):
    """One figure of sessions, matches or lift on both sides."""

    name: str  # of a session's measure as its layer names it, or ``mc_score``, ``elo``, ``bradley_terry``, ``lift``
    before: Estimate  # before, after: the figure with its interval and n
    after: Estimate
    change: float | None = None  # after less before; None if one is missing, or the two are not the same measurement
    reason: str | None = None  # why there is no change, None if there is one


class SkillChange(NamedTuple):
    """One skill on both sides."""

    name: str
    state: State
    before: Side | None  # None for a new skill
    after: Side | None  # None for a removed one
    change: float | None = None  # composite points, None if one side has no score
    dimensions: Mapping[Dimension, DimensionChange] = {}
    new: tuple[Finding, ...] = ()  # new, fixed: findings that came and went
    fixed: tuple[Finding, ...] = ()
    kept: Count = 0
    suppressed: tuple[Suppressed, ...] = ()  # findings that are set aside after and were not before
    regression: GateOutcome | None = None  # what the regression gate says of it; None for new and removed skills
    sampled: tuple[SampledChange, ...] = ()  # what sessions, matches and lift measured

    @property
    def path(self) -> str:
        """The shown path: now, or where it was."""
        side = self.after or self.before
        return side.path if side else ""

    @property
    def moved(self) -> bool:
        """Whether it was somewhere else before."""
        return self.before is not None and self.after is not None and self.before.path != self.after.path

    @property
    def regressed(self) -> bool:
        """Whether the regression gate failed it."""
        return self.regression is not None and self.regression.verdict is Outcome.FAIL


class DiffSide(NamedTuple):
    """Where one side comes from: a label for people, and the commit where it is one (40 hexadecimal digits)."""

    label: str
    commit: str | None = None
    tool: str | None = None


class DiffSummary(NamedTuple):
    """A diff in a few numbers."""

    new: Count
    removed: Count
    changed: Count
    unchanged: Count
    moved: Count
    regressions: Count
    findings_new: Count
    findings_fixed: Count
    findings_kept: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff(Header):
    """``report diff A B``, and what a pull request does: from ``a`` (before) to ``b`` (after).

    ``of`` is the kind of both documents; ``skills`` are sorted by path. ``listing`` has the characters of ``a`` as
    ``before``. ``across`` is None if the documents do not say; ``hints`` say what a difference may come from.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "diff")

    a: DiffSide
    b: DiffSide
    skills: tuple[SkillChange, ...]
    summary: DiffSummary
    of: str = "score"
    max_drop: float | None = None
    listing: tuple[ListingUse, ...] = ()
    across: AcrossChange | None = None
    gate: Verdict = _NO_GATE
    hints: tuple[str, ...] = ()
    profile: str = "any"


class Content(NamedTuple):
    """All files of a skill's directory but those that git ignores."""

    digest: str | None  # SHA-256 over ``files``, as ``sha256:`` and 64 hexadecimal digits; None with ``reason``
    files: Mapping[str, str] = MappingProxyType({})  # by path relative to the skill's directory
    reason: str | None = None  # why there is no digest, or why it does not cover all that the skill is


class CertifiedSkill(NamedTuple):
    """One skill of a certificate."""

    path: str  # its directory as shown in the run, with ``/``
    name: str
    certified: bool  # whether the certificate vouches for the badge; where not, ``reason`` says why
    content: Content
    composite: Points | None  # composite, ci_low, ci_high: 0–100, None if not measured
    badge: Badge | None  # None below the least badge, or where there can be none
    reason: str | None = None
    ci_low: Points | None = None
    ci_high: Points | None = None
    elo: float | None = None  # None without a ranking
    provisional: bool = False  # whether chance alone may have given the Elo that the badge asks for
    dimensions: Mapping[Dimension, Ratio | None] = MappingProxyType({})  # blended scores; None if not measured
    judged_by: tuple[str, ...] = ()  # each judge's model, in their order
    tested: str | None = None  # the model that sessions were simulated with, None without
    graded_by: str | None = None  # the model that graded their answers, None without
    ranked_by: str | None = None  # the model that judged matches, None without
    corpus: str | None = None  # the digest of the ratings that it was ranked against, None without
    prompts: Mapping[str, str] = MappingProxyType({})  # digests of what was asked
    gate: bool | None = None  # whether it passed its gate; None if none was asked for
    errors: Count = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate(Header):
    """The document; it holds from ``issued`` up to ``expires``.

    Both are UTC, to the second, in the one form ``2026-11-22T12:30:00Z``, so sorted as strings they are in the order of
    time.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "certificate")

    issued: str
    expires: str
    skills: tuple[CertifiedSkill, ...]


class Checked(NamedTuple):
    """What is left of one skill's certificate: all that holds now, and all that does not, each in words."""

    path: str
    name: str
    holds: tuple[str, ...]
    fails: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateCheck:
    """What ``certificate verify --json`` prints; ``holds`` where nothing at all fails."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "certificate-check")

    tool: Tool
    certificate: str
    issued: str
    expires: str
    holds: bool
    skills: tuple[Checked, ...]
    note: str
    schema_version: int = SCHEMA_VERSION


Mark = Annotated[float, Range(0, 10)]


class Label(NamedTuple):
    """What a person gave a skill in one dimension, from 0 to 10, on the anchors that the judge is shown.

    ``skill`` is its directory as shown, or its name where only one has it.
    """

    skill: str
    dimension: Dimension
    human: Mark


class Pair(NamedTuple):
    """One skill in one dimension, from 0 to 10, by a person and by the judge.

    ``judge`` is the mean over the judges; for triggering ten times class-balanced F1.
    """

    skill: str
    dimension: Dimension
    human: Mark
    judge: Mark


@tagged("kind", "calibration")
class Calibration(NamedTuple):
    """The document: what people and one judge gave the same skills."""

    model: str  # the model that judged; several are joined with `` + ``, by name
    prompt_version: str
    rubric_version: str
    date: str  # when it was made, as in 2026-11-21
    items: tuple[Pair, ...]
    judges: Count = 1  # over how many opinions ``judge`` is a mean
    live: bool = True
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRun:
    """One run."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "action")

    result: str  # ``pass``, ``fail`` (a gate) or ``error`` (something could not be evaluated)
    exit_code: Annotated[int, Range(0, 255)]
    tool: Tool
    reasons: tuple[str, ...] = ()  # why it did not pass, the first one first in log and comment
    event: str = ""  # GitHub's name of it, ``""`` outside of GitHub
    head: str = ""  # head, base: commits; ``base`` is None if there is nothing to compare with
    base: str | None = None
    change: str = ""  # the pull request's own head, where what is checked out is GitHub's merge of it; else ``""``
    compared: str = ""  # how the base was found, in words that can follow "compared with"
    policy: str = ""  # whose gates, rules and suppressions held, in words that can follow "policy from"
    policy_commit: str = ""  # the commit that they were read from; ``""`` if that is ``head`` itself
    policy_changes: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    changed_only: bool = False  # whether only skills that the change touches can fail it
    touched: Annotated[int, Range(0, None)] | None = None  # how many skills it touches, those of a benchmark included
    benchmarked: Annotated[int, Range(0, None)] | None = None  # how many skills a benchmark was run on
    beside: tuple[str, ...] = ()  # the shown paths of skills that the change does not touch
    schema_version: int = SCHEMA_VERSION


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class PastEvaluation:
    """One skill on one benchmark, as it was once."""

    id: int
    started_at: datetime
    skill_id: str
    skill_version: str
    skill_digest: str
    skill_path: str
    adapter: str
    benchmark_id: str
    benchmark_version: str
    benchmark_digest: str
    model: str | None
    comparable: str  # what two evaluations must share beside skill and benchmark: scorer, filters, shard; text
    completion_rate: Ratio | None
    completion_low: Ratio | None  # completion_low, completion_high: the 95 % interval over tasks
    completion_high: Ratio | None
    partial_score: Ratio | None
    error_rate: Ratio | None
    consistency_score: Ratio | None
    composite_score: Ratio | None
    total: Count
    passed: Count
    skipped: Count
    latency_p50_ms: Milliseconds | None
    latency_p95_ms: Milliseconds | None
    tokens_total: Count | None
    cost_usd: float | None
    gate_passed: bool | None  # None if no gate was asked for
    incomplete: str | None  # why it does not hold all results, None if it does
    origin: str  # ``eval`` for a run, ``import`` for a file
    commit_id: str | None  # commit_id, branch: of the working directory, None if nobody knew
    branch: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastScore:
    """One skill's score, as it was once."""

    id: int
    scored_at: datetime
    skill_name: str
    skill_path: str
    depth: str
    scoring_version: int
    composite: Points | None  # composite, ci_low, ci_high: 0–100; None if not measured
    ci_low: Points | None
    ci_high: Points | None
    badge: str | None
    elo: float | None
    models: tuple[str, ...]
    dimensions: Mapping[str, Ratio | None]  # blended scores; None if not measured
    errors: Count
    warnings: Count
    evaluated: bool
    gate_passed: bool | None
    origin: str
    commit_id: str | None
    branch: str | None


class Change(Enum):
    """What a series of runs says; everything but ``none`` and ``unknown`` is more than chance explains."""

    RISING = "rising"  # over five runs or more
    FALLING = "falling"
    HIGHER = "higher"  # the last run is above the one before
    LOWER = "lower"
    NONE = "none"
    UNKNOWN = "unknown"  # nothing to compare


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """One skill over time, under conditions that did not change."""

    kind: str  # ``bench`` (values are completion rates) or ``score`` (composites, 0–100)
    subject: str
    measured: str  # the benchmark with its version and digest, or the depth
    values: tuple[float, ...]  # the oldest first
    times: tuple[datetime, ...]
    first: float | None  # first, last, best: of ``values``
    last: float | None
    best: float | None
    change: Change  # what may be said of it; ``reason`` says from what
    reason: str
    left_out: Count = 0  # runs that say nothing of it: interrupted ones, and those without the figure
    p: Ratio | None = None  # of the test of Mann and Kendall; None under five values
    conditions: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The document; the newest first. ``trends`` is alone if it was requested."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "history")

    tool: Tool
    store: str
    evaluations: tuple[PastEvaluation, ...] = ()
    scores: tuple[PastScore, ...] = ()
    trends: tuple[Trend, ...] = ()
    schema_version: int = SCHEMA_VERSION
