"""What recorded invocations say together: document kind ``invocations``.

Annotations are evaluated when it is read or its schema is made. Totals are 0–100, shares lie in [0, 1], intervals are
of 95 %. A figure that was not measured is None, and ``reasons`` says why by its key where one is there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import ClassVar

from skillgate.model.judging import Count, Points, Ratio
from skillgate.model.report import Tool, Verdict
from skillgate.model.score import SCHEMA_VERSION, SCORING_VERSION

_NO_GATE = Verdict(passed=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % interval, and the way it was found."""

    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentFigure:
    """The mean of one component over the invocations that measure it, and its share of the most it can give."""

    mean: float | None
    share: Ratio | None
    most: Count
    n: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFigures:
    """One skill in a window of time.

    Attributes:
        recorded: all invocations; ``invocation_count`` those that are rated, which means that they have a total.
        avg_score, median, deviation: of the totals; ``interval`` of the mean.
        components: by name, always all four.
        tiers: how many rated invocations each tier has, from Excellent to Failing, always all six.
        error_rate: which share of those whose errors were counted, rated or not, met at least one; ``errors_known`` is
            their number.
        unrecovered_rate: which share of those whose ending is known failed; ``endings_known`` is their number.
        coverage: the mean of what was observed.
        first_seen, last_seen: within the window.
        categories: as they were given, some twenty of many; an unknown one is measured by the baselines of analysis.
    """

    skill: str
    recorded: Count
    invocation_count: Count
    avg_score: Points | None
    median: Points | None
    deviation: float | None
    interval: Interval | None
    components: Mapping[str, ComponentFigure]
    tiers: Mapping[str, Count]
    error_rate: Ratio | None
    errors_known: Count
    error_interval: Interval | None
    unrecovered_rate: Ratio | None
    endings_known: Count
    coverage: Ratio | None
    first_seen: datetime | None
    last_seen: datetime | None
    categories: tuple[str, ...] = ()
    reasons: Mapping[str, str] | None = None


class Direction(Enum):
    """What a trend is called."""

    IMPROVING = "improving"
    DECLINING = "declining"
    STABLE = "stable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The rated invocations of a stretch of time."""

    since: datetime
    until: datetime
    n: Count
    median: Points | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationTrend:
    """One skill: its last seven days beside the days before.

    Attributes:
        status: ``ok``, or ``insufficient_data`` where a window has under five rated invocations.
        current_avg, previous_avg: of the two windows, of too few invocations too; None of none.
        change: of these in points; ``change_percent`` of the earlier one.
        interval: of the change, None where all totals of each window are the same; ``bootstrap`` is another way to it,
            for comparison.
        trend: None with insufficient data.
        weak_component: of those that five invocations measure the one with the smallest share, where it is under 0.7.
        recommendation: what to do about it.
        reason: what the call rests on, in words.
    """

    skill: str
    status: str
    recent: Window
    previous: Window
    current_avg: Points | None
    previous_avg: Points | None
    change: float | None
    change_percent: float | None
    interval: Interval | None
    bootstrap: Interval | None
    trend: Direction | None
    weak_component: str | None
    component_scores: Mapping[str, float | None]
    recommendation: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCheck:
    """One gate on one skill.

    Attributes:
        kind: ``requirement`` or ``trigger``.
        status: ``passed``, ``failed``, ``triggered``, ``clear``, ``insufficient_data``, ``unmeasured`` or ``no_data``.
        passed: None where it could not be decided.
        failures: why it failed or triggered; of ``clear`` and ``insufficient_data`` why not; of ``unmeasured`` and
            ``no_data`` what is missing.
    """

    skill: str
    gate: str
    kind: str
    description: str
    status: str
    passed: bool | None
    failures: tuple[str, ...]
    stats: SkillFigures
    days_since_improvement: int | None = None
    last_improved_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFigures:
    """The rated invocations of one day (UTC) over all skills, or of one."""

    day: str
    n: Count
    average: Points | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opportunity:
    """A component of a skill that gives under 0.7 of its points, over five invocations that measure it or more."""

    skill: str
    component: str
    share: Ratio
    n: Count
    recommendation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationReport:
    """The document; skills by average, the best first, those without one last.

    Attributes:
        days: how long the window is; None for all that is there.
        rubric_version: whose scores these are.
        leaderboard: names of skills with five rated invocations or more, the best first; ``below_minimum`` counts the
            others.
        daily: over all skills; ``by_skill`` of each skill on the leaderboard.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "invocations")

    tool: Tool
    store: str
    rubric_version: str
    days: int | None
    since: datetime | None
    until: datetime
    invocations: Count
    rated: Count
    skills: tuple[SkillFigures, ...]
    leaderboard: tuple[str, ...] = ()
    below_minimum: Count = 0
    tiers: Mapping[str, Count] | None = None
    trends: tuple[InvocationTrend, ...] = ()
    opportunities: tuple[Opportunity, ...] = ()
    gates: tuple[GateCheck, ...] = ()
    daily: tuple[DayFigures, ...] = ()
    by_skill: Mapping[str, tuple[DayFigures, ...]] | None = None
    notices: tuple[str, ...] = ()
    gate: Verdict = _NO_GATE
    depth: str | None = None
    coverage: Ratio | None = None
    models: tuple[str, ...] = ()
    config_digest: str = ""
    schema_version: int = SCHEMA_VERSION
    scoring_version: int = SCORING_VERSION
