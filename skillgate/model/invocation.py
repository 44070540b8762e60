"""One recorded invocation of a skill, its score, and what many say together: document kind ``invocations``.

Counts and sizes are at least 0, ratios lie in [0, 1], totals are 0–100, times are UTC to the second, durations are in
milliseconds, intervals are of 95 %. None is what was not observed or measured; it is never the same as 0 or False. No
field holds a user's text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import ClassVar

from skillgate.model.report import Tool, Verdict
from skillgate.model.score import SCHEMA_VERSION, SCORING_VERSION, Count, Points, Ratio
from skillgate.named_tuple import NamedTuple

SEEN_UNTIL = "transcript_seen_until"
"""Key in ``extra``: the last time in the recording, in seconds since 1970: of two readings the later knows more."""


class Ending(Enum):
    """How an invocation ended, as its recorder says. An interrupted one has none."""

    COMPLETE = "complete"
    RECOVERED = "recovered"  # hit an error, and got over it
    PARTIAL = "partial"
    WORKAROUND = "workaround"  # reached the goal on another way
    EXPLAINED_FAILURE = "explained_failure"
    HARD_FAILURE = "hard_failure"  # crashed, hung, or produced nothing


class Evidence(Enum):
    """What an outcome was read from, in a recording that does not state one."""

    USER_APPROVED = "user_approved"  # thanks or praise
    USER_REJECTED = "user_rejected"  # the user says that it failed
    COMMITTED = "committed"  # committed or merged at the user's request
    REVERTED = "reverted"  # undone, or asked to be
    REPORTED_SUCCESS = "reported_success"  # by the assistant
    REPORTED_FAILURE = "reported_failure"
    LOAD_FAILED = "load_failed"
    ENDED_IN_ERROR = "ended_in_error"  # an error that nothing followed


class Caller(Enum):
    """Who called a skill."""

    USER = "user"  # by name, such as a slash command
    MODEL = "model"
    SKILL = "skill"  # another skill


class Accuracy(Enum):
    """What a user says of an output; who says nothing of it has none."""

    ACCURATE = "accurate"
    MOSTLY = "mostly"
    PARTIALLY = "partially"
    INACCURATE = "inaccurate"


class Invocation(NamedTuple):
    """What was observed."""

    invocation_id: str  # given by the recorder, unique in a store; at most 200 characters
    skill_name: str  # with its plugin where it has one, as in ``plugin:skill``; at most 200 characters
    timestamp: datetime
    skill_version: str | None = None
    skill_category: str | None = None
    session_id: str | None = None
    model: str | None = None
    source: str = "log"  # ``log``, ``claude-code`` or ``otlp``: how it came to us
    ending: Ending | None = None
    error_count: int | None = None  # how many errors of its own it met; None if unknown
    recovered: bool | None = None  # recovered, partial_completion, workaround_used, failure_explained
    partial_completion: bool | None = None
    workaround_used: bool | None = None
    failure_explained: bool | None = None
    crashed: bool | None = None
    duration_ms: float | None = None
    tokens_input: int | None = None
    tokens_output: int | None = None
    tokens_used: int | None = None  # all of them: the sum where they were given by kind
    tool_call_kinds: int | None = None  # entries of the list of tool calls as given
    tool_call_count: int | None = None
    output_type: str | None = None
    output_size: float | None = None
    files_changed: float | None = None  # what calls are measured by for code
    units: float | None = None
    time_units: float | None = None  # what the time is measured by; one task where None
    output_validated: bool | None = None
    requested_items: float | None = None
    delivered_items: float | None = None
    linter_passed: bool | None = None
    types_valid: bool | None = None
    tests_passed: bool | None = None
    accuracy: Accuracy | None = None
    feedback_given: bool | None = None  # whether a user gave any feedback at all; rubric 1.0 takes no heuristic then
    user_accepted: bool | None = None
    user_used_output: bool | None = None
    user_edit_ratio: float | None = None
    follow_up_count: int | None = None
    follow_up_open: int | None = None  # how many follow-ups are known to be unresolved
    rating: str | None = None  # ``positive`` or ``negative``
    extra: Mapping[str, object] | None = None  # what else was given, by its key: numbers and flags
    tool_error_count: int | None = None  # calls that failed: a failing test or an empty search is no error of a skill
    outcome_evidence: Evidence | None = None  # what the ending was read from; None if the recorder states it
    shared: bool | None = None  # whether its end is uncertain: other figures are then the least, these the most
    tool_calls_most: int | None = None
    tokens_most: int | None = None
    duration_most_ms: float | None = None
    called_by: Caller | None = None  # who called the skill
    cost_usd: float | None = None  # of its model requests
    cost_estimated: bool | None = None  # whether ``cost_usd`` was computed from tokens and list prices
    graded: bool | None = None  # whether a model judged its ending, in place of a phrase or an action


class Component(Enum):
    """One of the four parts of a score; ``points`` is its maximum, and they add up to 100."""

    COMPLETION = "completion"
    EFFICIENCY = "efficiency"
    QUALITY = "quality"
    SATISFACTION = "satisfaction"

    @property
    def points(self) -> int:
        """Return the maximum points. Source: the rubric's table of components."""
        return _POINTS[self.value]


_POINTS = {"completion": 25, "efficiency": 20, "quality": 30, "satisfaction": 25}


class Tier(Enum):
    """What a total means; ``least`` is the lowest of the half-open range, and ``action`` what to do about it."""

    EXCELLENT = "Excellent"
    GOOD = "Good"
    ACCEPTABLE = "Acceptable"
    BELOW_AVERAGE = "Below Average"
    POOR = "Poor"
    FAILING = "Failing"

    @property
    def least(self) -> int:
        """Return the lowest total. Source: the rubric's table of tiers, made half-open."""
        return _TIERS[self.value][0]

    @property
    def action(self) -> str:
        """Return what to do about skills of this tier."""
        return _TIERS[self.value][1]

    @classmethod
    def of(cls, total: float) -> Tier:
        """Return the tier of a total in [0, 100]."""
        return next(tier for tier in cls if total >= tier.least)


_TIERS = {
    "Excellent": (90, "use it as an example for others"),
    "Good": (75, "watch for changes"),
    "Acceptable": (60, "look for what its weaker runs have in common"),
    "Below Average": (40, "improve it before others"),
    "Poor": (20, "fix it now"),
    "Failing": (0, "find out why it fails at all"),
}


class InvocationScore(NamedTuple):
    """What a version of the rubric says of an invocation."""

    rubric: str  # ``1.0`` or ``1.1``
    completion: float | None  # completion, efficiency, quality, satisfaction: points, up to 25, 20, 30 and 25
    efficiency: float | None
    quality: float | None
    satisfaction: float | None
    total: float | None  # 0–100; None if not measured, or where too little was observed to be rated
    coverage: float  # which share of the points that can apply was observed, in [0, 1]
    baseline: str  # the category whose baselines were used


class Part(NamedTuple):
    """One part of a component: its points of so many, or None and why; ``note`` says what they come from."""

    component: Component
    name: str
    points: float | None
    most: float
    note: str


class Read(NamedTuple):
    """What one place of a file gave: an invocation, or why there is none; warnings in either case."""

    line: int  # counted from 1; of a file that is one document, the number of the entry
    invocation: Invocation | None  # None if there is none
    problem: str | None = None  # why the line was rejected; None if nothing is wrong with it
    warnings: tuple[str, ...] = ()
    unit: str = "line"  # what ``line`` counts
    unused: str | None = None
    texts: tuple[str, str] | None = None  # the last text of a use without an outcome, and the next prompt; never stored


class Scored(NamedTuple):
    """An invocation with its score, and a digest of all that it says; equal digests say the same.

    One of another store has its ``origin`` there, and the fields ``added`` to it by hand.
    """

    invocation: Invocation
    score: InvocationScore
    digest: str
    origin: str | None = None
    added: Mapping[str, object] | None = None


class Fate(Enum):
    """What became of an invocation that was handed to a store."""

    NEW = "new"
    KNOWN = "known"  # it is there already, and says the same
    CONFLICT = "conflict"  # it is there already and says something else; nothing was written
    UPDATED = "updated"  # as above, and it was replaced


_NO_GATE = Verdict(passed=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % interval, and the way it was found."""

    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentFigure:
    """The mean of one component over the invocations that measure it, and its share of its maximum."""

    mean: float | None
    share: Ratio | None
    most: Count
    n: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The median, the 95th percentile and the sum of a quantity over the ``n`` invocations in which it is known."""

    p50: float
    p95: float
    total: float
    n: Count
    estimated: Count = 0  # how many of ``n`` are estimates; only costs can be


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The invocations of a skill that have one value of a dimension in common, such as a version or a model."""

    value: str | None  # None where it is unknown
    recorded: Count
    rated: Count
    average: Points | None
    interval: Interval | None  # of the average
    error_rate: Ratio | None
    unrecovered_rate: Ratio | None
    first_seen: datetime
    last_seen: datetime
    tokens: Spread | None = None
    duration_ms: Spread | None = None
    cost_usd: Spread | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionChange:
    """The totals of two versions of a skill that were used one after the other."""

    before: str
    after: str
    n_before: Count  # n_before, n_after: rated invocations
    n_after: Count
    average_before: Points | None
    average_after: Points | None
    change: float | None  # in points; None with insufficient data
    interval: Interval | None  # of the change; None if all totals of each version are the same
    status: str  # ``ok``, or ``insufficient_data`` where a version has under five rated invocations
    reason: str
    p: Ratio | None = None  # of no change; None with insufficient data
    p_adjusted: Ratio | None = None  # for all changes of version that are reported together


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One rated invocation."""

    id: str
    skill: str
    at: datetime
    total: Points
    completion: float | None
    efficiency: float | None
    quality: float | None
    satisfaction: float | None
    ending: str | None
    evidence: str | None
    version: str | None
    model: str | None
    project: str | None
    source: str | None
    caller: str | None
    tokens: float | None
    duration_ms: float | None
    cost_usd: float | None
    cost_estimated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which invocations of a skill count; None for any."""

    version: str | None = None
    model: str | None = None
    project: str | None = None  # the stored origin: a label, or a digest of the recording's folder
    source: str | None = None
    caller: str | None = None


DIMENSIONS = ("version", "model", "project", "source", "caller")
"""The fields of :class:`Filters`, by which the invocations of a skill are grouped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFigures:
    """One skill in a window of time."""

    skill: str
    recorded: Count  # all invocations; ``invocation_count`` those that are rated, which means that they have a total
    invocation_count: Count
    avg_score: Points | None  # avg_score, median, deviation: of the totals; ``interval`` of the mean
    median: Points | None
    deviation: float | None
    interval: Interval | None
    components: Mapping[str, ComponentFigure]  # by name, always all four
    tiers: Mapping[str, Count]
    error_rate: Ratio | None  # which share of those whose errors were counted, rated or not, met at least one
    errors_known: Count
    error_interval: Interval | None
    unrecovered_rate: Ratio | None  # which share of those whose ending is known failed
    endings_known: Count
    coverage: Ratio | None
    first_seen: datetime | None
    last_seen: datetime | None
    shared: Count = 0  # how many may hold other work of their turn, of ``sharing_known``
    sharing_known: Count = 0
    categories: tuple[str, ...] = ()  # as they were given, some twenty of many
    tokens: Spread | None = None
    duration_ms: Spread | None = None
    cost_usd: Spread | None = None
    groups: Mapping[str, tuple[Group, ...]] | None = None  # by dimension, the most used first
    more_groups: Mapping[str, Count] | None = None  # by dimension, how many groups are not listed
    versions: tuple[VersionChange, ...] = ()  # consecutive versions in order of first use
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
    """One skill: its last seven days next to the days before."""

    skill: str
    status: str  # ``ok``, or ``insufficient_data`` where a window has under five rated invocations
    recent: Window
    previous: Window
    current_avg: Points | None  # current_avg, previous_avg: of the two windows, of too few invocations too
    previous_avg: Points | None
    change: float | None  # of these in points; ``change_percent`` of the earlier one
    change_percent: float | None
    interval: Interval | None  # of the change, None if all totals of each window are the same
    bootstrap: Interval | None
    trend: Direction | None  # None with insufficient data
    p: Ratio | None = None  # of no change; None with insufficient data
    p_adjusted: Ratio | None = None  # for all skills that were compared; changes too small to count have p = 1 in it
    compared: Count = 0  # how many skills were compared together
    weak_component: str | None  # of those that five invocations measure the one with the smallest share
    component_scores: Mapping[str, float | None]
    recommendation: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCheck:
    """One gate on one skill."""

    skill: str
    gate: str
    kind: str  # ``requirement`` or ``trigger``
    description: str
    status: str  # ``passed``, ``failed``, ``triggered``, ``clear``, ``insufficient_data``
    passed: bool | None  # None if it could not be decided
    failures: tuple[str, ...]  # why it failed or triggered; of ``clear`` and ``insufficient_data`` why not
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


class Observed(Enum):
    """Whether a skill of a catalogue was observed."""

    USED = "used"
    EARLIER = "earlier"  # before the window
    NOT_OBSERVED = "not_observed"
    UNKNOWN = "unknown"  # nothing at all was recorded in the window


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueSkill:
    """One skill of a directory, and what was observed of it."""

    path: str
    name: str
    recorded_as: tuple[str, ...]  # its names in the records; empty if it is in none
    observed: Observed
    recorded: Count  # in the window
    last_seen: datetime | None  # also before the window


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The skills of a directory; ``since`` and ``until`` are the first and the last record of any skill in the window.

    What was not observed may still have been used where nothing was recorded.
    """

    directory: str
    since: datetime | None
    until: datetime | None
    sources: tuple[str, ...]  # of the records
    skills: tuple[CatalogueSkill, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationReport:
    """The document; skills by average, the best first, those without one last."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "invocations")

    tool: Tool
    store: str
    rubric_version: str  # whose scores these are
    days: int | None  # how long the window is; None for all that is there
    since: datetime | None
    until: datetime
    invocations: Count
    rated: Count
    skills: tuple[SkillFigures, ...]
    leaderboard: tuple[str, ...] = ()  # names of skills with five rated invocations or more, the best first
    below_minimum: Count = 0
    tiers: Mapping[str, Count] | None = None
    trends: tuple[InvocationTrend, ...] = ()
    opportunities: tuple[Opportunity, ...] = ()
    gates: tuple[GateCheck, ...] = ()
    daily: tuple[DayFigures, ...] = ()  # over all skills; ``by_skill`` of each skill on the leaderboard
    by_skill: Mapping[str, tuple[DayFigures, ...]] | None = None
    worst: tuple[Use, ...] = ()  # of listed skills the five worst rated invocations, the worst first
    selection: Filters | None = None  # the filters; None without any
    catalogue: Catalogue | None = None  # the skills of a directory, if one was requested
    notices: tuple[str, ...] = ()
    gate: Verdict = _NO_GATE
    depth: str | None = None
    coverage: Ratio | None = None
    models: tuple[str, ...] = ()
    config_digest: str = ""
    schema_version: int = SCHEMA_VERSION
    scoring_version: int = SCORING_VERSION
