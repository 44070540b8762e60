"""One recorded invocation of a skill, and what a rubric says of it.

Counts and sizes are at least 0, ratios lie in [0, 1], times are UTC to the second, durations are in milliseconds. None
is what nobody observed; it is never the same as 0 or False. No field holds a user's text.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


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


class Accuracy(Enum):
    """What a user says of an output; who says nothing of it has none."""

    ACCURATE = "accurate"
    MOSTLY = "mostly"
    PARTIALLY = "partially"
    INACCURATE = "inaccurate"


class Invocation(NamedTuple):
    """What was observed.

    Attributes:
        invocation_id: given by the recorder, unique in a store; at most 200 characters.
        skill_name: with its plugin where it has one, as in ``plugin:skill``; at most 200 characters.
        timestamp: when it began.
        skill_category: as given; a rubric knows code_generation, analysis, design and research.
        source: ``log``, ``claude-code`` or ``otlp``: how it came to us.
        ending: as said explicitly; the flags below may say it too.
        error_count: how many errors it met; None where nobody kept count.
        recovered, partial_completion, workaround_used, failure_explained: the flags of rubric 1.0.
        crashed: it crashed, hung or timed out.
        tokens_used: all of them: the sum where they were given by kind.
        tool_call_kinds: entries of the list of tool calls as given; ``tool_call_count`` adds up their counts.
        output_size: in the unit of the category: lines of code, insights, components, findings.
        files_changed: what calls are measured by for code; ``units`` likewise for all else (analyses, searches).
        time_units: what the time is measured by; one task where None.
        feedback_given: whether a user gave any feedback at all; rubric 1.0 takes no heuristic then.
        follow_up_open: how many follow-ups are known to be unresolved; None where nobody knows of at least one.
        rating: ``positive`` or ``negative``.
        extra: what else was given, by its key: numbers and flags; texts only where they were asked for.
    """

    invocation_id: str
    skill_name: str
    timestamp: datetime
    skill_version: str | None = None
    skill_category: str | None = None
    session_id: str | None = None
    model: str | None = None
    source: str = "log"
    ending: Ending | None = None
    error_count: int | None = None
    recovered: bool | None = None
    partial_completion: bool | None = None
    workaround_used: bool | None = None
    failure_explained: bool | None = None
    crashed: bool | None = None
    duration_ms: float | None = None
    tokens_input: int | None = None
    tokens_output: int | None = None
    tokens_used: int | None = None
    tool_call_kinds: int | None = None
    tool_call_count: int | None = None
    output_type: str | None = None
    output_size: float | None = None
    files_changed: float | None = None
    units: float | None = None
    time_units: float | None = None
    output_validated: bool | None = None
    requested_items: float | None = None
    delivered_items: float | None = None
    linter_passed: bool | None = None
    types_valid: bool | None = None
    tests_passed: bool | None = None
    accuracy: Accuracy | None = None
    feedback_given: bool | None = None
    user_accepted: bool | None = None
    user_used_output: bool | None = None
    user_edit_ratio: float | None = None
    follow_up_count: int | None = None
    follow_up_open: int | None = None
    rating: str | None = None
    extra: Mapping[str, object] | None = None


class Component(Enum):
    """One of the four parts of a score; ``points`` is the most it can give, and they add up to 100."""

    COMPLETION = "completion"
    EFFICIENCY = "efficiency"
    QUALITY = "quality"
    SATISFACTION = "satisfaction"

    @property
    def points(self) -> int:
        """Give the most points. Source: the rubric's table of components."""
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
        """Give the lowest total. Source: the rubric's table of tiers, made half-open."""
        return _TIERS[self.value][0]

    @property
    def action(self) -> str:
        """Say what to do about skills of this tier."""
        return _TIERS[self.value][1]

    @classmethod
    def of(cls, total: float) -> Tier:
        """Give the tier of a total in [0, 100]."""
        return next(tier for tier in cls if total >= tier.least)


_TIERS = {
    "Excellent": (90, "keep it as an example for others"),
    "Good": (75, "watch that it stays so"),
    "Acceptable": (60, "look for what its weaker runs share"),
    "Below Average": (40, "improve it before others"),
    "Poor": (20, "attend to it now"),
    "Failing": (0, "find out why it fails at all"),
}


class InvocationScore(NamedTuple):
    """What a version of the rubric says of an invocation.

    Attributes:
        rubric: ``1.0`` or ``1.1``.
        completion, efficiency, quality, satisfaction: points, up to 25, 20, 30 and 25; None where not measured.
        total: 0–100; None where not measured, or where too little was observed to be rated.
        coverage: which share of the points that can apply was observed, in [0, 1].
        baseline: the category whose baselines were used.
    """

    rubric: str
    completion: float | None
    efficiency: float | None
    quality: float | None
    satisfaction: float | None
    total: float | None
    coverage: float
    baseline: str


class Part(NamedTuple):
    """One part of a component: its points of so many, or None and why; ``told`` says what they come from."""

    component: Component
    name: str
    points: float | None
    most: float
    told: str


class Read(NamedTuple):
    """What one place of a file gave: an invocation, or why there is none; warnings in either case.

    Attributes:
        line: counted from 1; of a file that is one document, the number of the entry.
        invocation: None where there is none.
        problem: why the line was rejected; None where nothing is wrong with it.
        warnings: what was left out or assumed, in words that hold for many lines and so are told once a file.
        unit: what ``line`` counts.
        unused: what a file holds in place of any use of a skill; given once, at the end of such a file.
    """

    line: int
    invocation: Invocation | None
    problem: str | None = None
    warnings: tuple[str, ...] = ()
    unit: str = "line"
    unused: str | None = None


class Observation(NamedTuple):
    """What a store gives of one invocation and its score by one rubric, for figures: plain values, quickly read.

    Attributes:
        at: seconds since 1970 (UTC).
        ending: the text of an :class:`Ending`, or None.
        total, completion, efficiency, quality, satisfaction, coverage: as in :class:`InvocationScore`.
    """

    skill: str
    at: int
    category: str | None
    error_count: int | None
    ending: str | None
    total: float | None
    completion: float | None
    efficiency: float | None
    quality: float | None
    satisfaction: float | None
    coverage: float


class Scored(NamedTuple):
    """An invocation with its score, and a digest of all that it says; equal digests say the same."""

    invocation: Invocation
    score: InvocationScore
    digest: str


class Fate(Enum):
    """What became of an invocation that was handed to a store."""

    NEW = "new"
    KNOWN = "known"  # it is there already, and says the same
    CONFLICT = "conflict"  # it is there already and says something else; nothing was written
    UPDATED = "updated"  # likewise, and it was replaced
