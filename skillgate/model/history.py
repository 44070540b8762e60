"""What a store remembers: past evaluations on benchmarks, past scores, and how they changed; document ``history``.

Annotations are evaluated when its schema is made. Keys of benchmarks are camelCase, those of scores snake_case, as in
the documents that they come from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import ClassVar

from skillgate.model.bench_result import Milliseconds
from skillgate.model.judging import Count, Points, Ratio
from skillgate.model.marks import camel
from skillgate.model.report import Tool
from skillgate.model.score import SCHEMA_VERSION


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class PastEvaluation:
    """One skill on one benchmark, as it was once.

    Attributes:
        id: in the store.
        started_at: when its run began.
        completion_low, completion_high: the 95 % interval over tasks.
        comparable: what two evaluations must share beside skill and benchmark: scorer, filters, shard; a text.
        gate_passed: None where no gate was asked for.
        incomplete: why it does not hold all results, None where it does.
        origin: ``eval`` for a run, ``import`` for a file.
        commit_id, branch: of the working directory, None where nobody knew.
    """

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
    comparable: str
    completion_rate: Ratio | None
    completion_low: Ratio | None
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
    gate_passed: bool | None
    incomplete: str | None
    origin: str
    commit_id: str | None
    branch: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastScore:
    """One skill's score, as it was once.

    Attributes:
        id: in the store.
        scored_at: as told when it was stored, else when it was stored: a score says no time itself.
        composite, ci_low, ci_high: 0–100; None where not measured.
        dimensions: blended scores; None where not measured.
    """

    id: int
    scored_at: datetime
    skill_name: str
    skill_path: str
    depth: str
    scoring_version: int
    composite: Points | None
    ci_low: Points | None
    ci_high: Points | None
    badge: str | None
    elo: float | None
    models: tuple[str, ...]
    dimensions: Mapping[str, Ratio | None]
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
    """One skill over time, under conditions that did not change.

    Attributes:
        kind: ``bench`` (values are completion rates) or ``score`` (composites, 0–100).
        subject: the skill's id or path.
        measured: the benchmark with its version and digest, or the depth.
        values: the oldest first.
        first, last, best: of ``values``.
        change: what may be said of it; ``reason`` says from what.
        left_out: runs that say nothing of it: interrupted ones, and those without the figure.
        p: of the test of Mann and Kendall; None under five values.
    """

    kind: str
    subject: str
    measured: str
    values: tuple[float, ...]
    times: tuple[datetime, ...]
    first: float | None
    last: float | None
    best: float | None
    change: Change
    reason: str
    left_out: Count = 0
    p: Ratio | None = None
    conditions: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The document; the newest first. ``trends`` stands alone where it was asked for."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "history")

    tool: Tool
    store: str
    evaluations: tuple[PastEvaluation, ...] = ()
    scores: tuple[PastScore, ...] = ()
    trends: tuple[Trend, ...] = ()
    schema_version: int = SCHEMA_VERSION
