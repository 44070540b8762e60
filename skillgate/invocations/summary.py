"""Summarise all skills of a store in one pass: the document ``invocations``, and gates (R22 to R26).

The document is bounded: it lists the skills with the most rated invocations and counts the others. Overall figures
cover all skills.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from dataclasses import replace
from heapq import heappush, heapreplace
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED
from skillgate.format import plural, printable
from skillgate.invocations.figures import (
    DAY_S,
    ENOUGH,
    LEAST,
    Improvement,
    corrected,
    figures,
    rated,
    recommendation,
    rounded,
    seconds,
    start,
    tally_of,
    time_of,
    trend,
)
from skillgate.invocations.groups import corrected_versions, with_groups, worst
from skillgate.invocations.rubric import LITERAL, baseline_of
from skillgate.model.codec import encode
from skillgate.model.invocation import Component, DayFigures, GateCheck, InvocationReport, Opportunity, Tier
from skillgate.model.report import GateOutcome, Verdict
from skillgate.model.score import Outcome
from skillgate.model.setting import TRIGGER
from skillgate.scoring.gate import Measurement, at_least, at_most

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from skillgate.invocations.figures import Tally
    from skillgate.model.invocation import Filters, InvocationTrend, SkillFigures, Use
    from skillgate.model.invocation_gate import Gate
    from skillgate.model.report import Tool
    from skillgate.store.observations import Observations

    Uses = Callable[[Sequence[int]], Sequence[Use]]

MOST_SKILLS = 1_000
"""Maximum listed skills: those with the most rated invocations."""
MOST_GROUPED = 200
"""Maximum skills with groups, versions and worst invocations: those with the most rated invocations."""
MOST_CHARTED = 120
"""Maximum skills with daily figures: the best of the leaderboard."""
MOST_DAYS = 366
"""Maximum listed days: the last ones with rated invocations."""
_NAMED = 5  # maximum categories in a notice


class _Days(NamedTuple):
    """Days since 1970 with the number and mean of their totals, packed, since a thousand skills have many."""

    days: array[int]
    counts: array[int]
    means: array[float]

    @classmethod
    def of(cls, days: Mapping[int, tuple[int, float]]) -> _Days:
        last = sorted(days)[-MOST_DAYS:]
        counts = array("q", (days[day][0] for day in last))
        return cls(array("q", last), counts, array("d", (days[day][1] / days[day][0] for day in last)))

    def figures(self) -> tuple[DayFigures, ...]:
        return tuple(
            DayFigures(day=time_of(day * DAY_S).date().isoformat(), n=n, average=round(mean, 9))
            for day, n, mean in zip(self.days, self.counts, self.means, strict=True)
        )


class _Listed(NamedTuple):
    """One skill of the document."""

    figures: SkillFigures
    trend: InvocationTrend
    days: _Days
    worst: tuple[int, ...]  # keys


class _Whole:
    """The counts over all skills, and the listed skills."""

    def __init__(self) -> None:
        self.recorded = self.rated = self.bare = self.skills = self.below = 0
        self.observed = 0.0
        self.tiers: Counter[Tier] = Counter()
        self.days: dict[int, tuple[int, float]] = {}
        self.unknown: Counter[str] = Counter()
        self.without = self.ahead = 0
        self._listed: list[tuple[int, int, int, _Listed]] = []
        self._grouped: list[tuple[int, int, int]] = []  # the ranks of the skills with groups

    def add(self, tally: Tally, *, now: datetime, days: int | None) -> None:
        n = len(tally.totals)
        self.skills += 1
        self.recorded += tally.recorded
        self.rated += n
        self.bare += tally.bare
        self.below += n < LEAST
        self.observed += tally.observed
        self.tiers.update(tally.tiers)
        self.ahead += tally.last is not None and tally.last > seconds(now)
        for day, (count, points) in tally.days.items():
            before, sum_before = self.days.get(day, (0, 0.0))
            self.days[day] = before + count, sum_before + points
        self._add_categories(tally)
        # Of equal ones the first by name is listed; the index also keeps the heap from comparing its items.
        rank = (n, tally.recorded, -self.skills)
        if len(self._listed) < MOST_SKILLS or rank > self._listed[0][:3]:
            found, lowest = figures(tally), tuple[int, ...]()
            if len(self._grouped) < MOST_GROUPED or rank > self._grouped[0]:
                _push(self._grouped, rank, MOST_GROUPED)
                found, lowest = with_groups(found, tally.seen), worst(tally.seen)
            listed = _Listed(found, trend(tally, now=now, days=days), _Days.of(tally.days), lowest)
            _push(self._listed, (*rank, listed), MOST_SKILLS)

    def _add_categories(self, tally: Tally) -> None:
        for category, number in tally.categories.items():
            if category is None:
                self.without += number
            elif baseline_of(category).category != category:
                shown = category if category in self.unknown or len(self.unknown) < _NAMED else "others"
                self.unknown[shown] += number

    def listed(self) -> list[_Listed]:
        """Return the listed skills by average, best first, then by name; those without an average last."""

        def place(one: _Listed) -> tuple[float, str]:
            average = one.figures.avg_score
            return math.inf if average is None else -average, one.figures.skill

        grouped = {rank[2] for rank in self._grouped}
        found = [item[3] if item[2] in grouped else _without_groups(item[3]) for item in self._listed]
        return sorted(found, key=place)


def _push(heap: list[Any], item: tuple[Any, ...], most: int) -> None:
    (heappush if len(heap) < most else heapreplace)(heap, item)


def _without_groups(one: _Listed) -> _Listed:
    return one._replace(figures=replace(one.figures, groups=None, more_groups=None, versions=()), worst=())


def report(
    observations: Iterable[Observations],
    *,
    now: datetime,
    days: int | None,
    rubric: str,
    tool: Tool,
    store: str,
    config_digest: str = "",
    selection: Filters | None = None,
    uses: Uses = lambda _keys: (),
) -> InvocationReport:
    """Return the document without gates.

    Args:
        observations: of one rubric, by skill; those before the window are left out.
        now: end of the window, UTC.
        days: length of the window; None for everything.
        rubric: version of the rubric that scored them.
        tool: for the document.
        store: name of the store, as shown to users.
        config_digest: digest of the configuration.
        selection: the filters of the observations.
        uses: returns invocations by their keys.
    """
    whole = _Whole()
    for seen in observations:
        tally = tally_of(seen, now=now, days=days)
        if tally.recorded:
            whole.add(tally, now=now, days=days)
    listed = whole.listed()
    ranked = [one for one in listed if one.figures.invocation_count >= LEAST]
    first = start(now, days)
    return InvocationReport(
        tool=tool,
        store=store,
        rubric_version=rubric,
        days=days,
        since=None if first is None else time_of(first),
        until=now,
        invocations=whole.recorded,
        rated=whole.rated,
        skills=corrected_versions(one.figures for one in listed),
        leaderboard=tuple(one.figures.skill for one in ranked),
        below_minimum=whole.below,
        tiers={tier.value: whole.tiers[tier] for tier in Tier},
        trends=corrected(one.trend for one in ranked),
        opportunities=opportunities(one.figures for one in listed),
        daily=_Days.of(whole.days).figures(),
        by_skill={one.figures.skill: one.days.figures() for one in ranked[:MOST_CHARTED]},
        worst=tuple(uses([key for one in listed for key in one.worst])),
        selection=selection,
        notices=tuple(_notices(whole, rubric, len(listed))),
        coverage=rounded(whole.observed / whole.recorded) if whole.recorded else None,
        config_digest=config_digest,
    )


def opportunities(found: Iterable[SkillFigures]) -> tuple[Opportunity, ...]:
    """Return the weak components measured by at least five invocations, weakest first (R29)."""
    weak = [
        Opportunity(
            skill=one.skill,
            component=component.value,
            share=figure.share,
            n=figure.n,
            recommendation=recommendation(component, figure.share) or "",
        )
        for one in found
        for component in Component
        if (figure := one.components[component.value]).n >= LEAST and figure.share is not None and figure.share < ENOUGH
    ]
    return tuple(sorted(weak, key=lambda item: (item.share, item.skill, item.component)))


def _notices(whole: _Whole, rubric: str, listed: int) -> Iterator[str]:
    unrated = whole.recorded - whole.rated - whole.bare
    literal = rubric == LITERAL
    measured = "the analysis baseline is used"
    if literal:
        measured = "rubric 1.0 gives them neither efficiency nor total"
    if unrated:
        why = "too little was observed"
        if literal:
            why = "rubric 1.0 has a baseline for code_generation only"
        yield (
            f"{unrated} of {whole.recorded} invocations are not rated: {why}. They do not count in average scores,"
            " tiers, trends and the minimum number of a gate"
        )
    if whole.bare:
        yield (
            f"{whole.bare} of {whole.recorded} invocations have no points by rubric {rubric}: nothing that it scores"
            " was observed, or they were not scored yet (skillgate log rescore)"
        )
    if whole.unknown:
        names = ", ".join(printable(name)[:40] for name in whole.unknown)
        yield f"{plural(whole.unknown.total(), 'invocation')} with unknown categories ({names}): {measured}"
    if whole.without:
        yield f"{plural(whole.without, 'invocation')} without a category: {measured}"
    if whole.ahead:
        yield f"{plural(whole.ahead, 'skill')} with invocations after the end of the window: a clock was ahead"
    if len(whole.days) > MOST_DAYS:
        yield f"the last {MOST_DAYS} of {len(whole.days):,} days with rated invocations are listed; figures cover all"
    if whole.skills > listed:
        yield (
            f"{whole.skills - listed} of {whole.skills} skills are not listed, since they have fewer rated invocations;"
            " overall figures cover all skills, and each can be selected by name"
        )


_MOST_DIGITS = 9  # maximum decimals of figures
_OUTCOMES = {
    "passed": Outcome.PASS,
    "clear": Outcome.PASS,
    "failed": Outcome.FAIL,
    "triggered": Outcome.FAIL,
    "insufficient_data": Outcome.INCONCLUSIVE,
}
_RATES = {"max_error_rate": "error_rate", "max_unrecovered_rate": "unrecovered_rate", "min_coverage": "coverage"}


class _Facts(NamedTuple):
    """The figures that a gate's bounds are compared with."""

    stats: SkillFigures
    age_days: int | None
    improved: datetime | None
    window: str


def check(
    gates: Sequence[Gate], seen: Observations, *, now: datetime, days: int | None, selection: str = ""
) -> tuple[GateCheck, ...]:
    """Check gates for one skill.

    Args:
        gates: their bounds.
        seen: all of its invocations: the days since an improvement depend on all of them.
        now: end of the window, UTC.
        days: length of the window; None for everything.
        selection: the filters of the invocations in words.
    """
    improvement = Improvement()
    improvement.add(rated(seen))
    day = improvement.day
    facts = _Facts(
        stats=figures(tally_of(seen, now=now, days=days)),
        age_days=None if day is None else max(0, seconds(now) // DAY_S - day),
        improved=None if day is None else time_of(day * DAY_S),
        window=("so far" if days is None else f"in the last {days} days") + selection,
    )
    return tuple(_trigger(gate, facts) if gate.kind == TRIGGER else _requirement(gate, facts) for gate in gates)


def exit_code(checks: Iterable[GateCheck]) -> int:
    """Return 1 if a requirement failed or a trigger fired, else 3 if a requirement is undecided, else 0.

    A trigger with too few invocations does not fire; that is neither a failure nor undecided.
    """
    statuses = {one.status for one in checks}
    if statuses & {"failed", "triggered"}:
        return EXIT_GATE_FAILED
    return EXIT_INCOMPLETE if statuses & {"no_data", "unmeasured"} else EXIT_PASSED


def verdict(checks: Sequence[GateCheck]) -> Verdict:
    """Return the combined verdict; ``passed`` is None without gates, or if one is undecided."""
    outcomes = tuple(
        GateOutcome(
            gate=one.gate,
            verdict=_OUTCOMES.get(one.status, Outcome.UNMEASURED),
            reason=f"{one.skill}: {'; '.join(one.failures) or one.status}",
        )
        for one in checks
    )
    code = exit_code(checks)
    passed = None if not checks or code == EXIT_INCOMPLETE else code == EXIT_PASSED
    return Verdict(passed=passed, outcomes=outcomes)


def gate_json(found: GateCheck) -> dict[str, Any]:
    """Return a check as a JSON object: the keys of the rubric's own result, and ours."""
    document: dict[str, Any] = encode(found)
    return document


def _requirement(gate: Gate, facts: _Facts) -> GateCheck:
    if not facts.stats.recorded:
        return _check(gate, facts, "no_data", None, (f"no invocation was recorded {facts.window}",))
    outcomes = [_outcome(gate, facts, name, bound) for name, bound in gate.bounds.items()]
    missed = [one.reason for one in outcomes if one.verdict is Outcome.FAIL]
    unmeasured = [one.reason for one in outcomes if one.verdict is Outcome.UNMEASURED]
    if missed:
        return _check(gate, facts, "failed", False, (*missed, *unmeasured))
    if unmeasured:
        return _check(gate, facts, "unmeasured", None, tuple(unmeasured))
    return _check(gate, facts, "passed", True, ())


def _trigger(gate: Gate, facts: _Facts) -> GateCheck:
    few = at_least(_measured(facts, "min_invocations"), gate.min_invocations or 1, gate=gate.name, digits=0)
    if few.verdict is not Outcome.PASS:
        return _check(gate, facts, "insufficient_data", None, (few.reason,))
    outcomes = [_outcome(gate, facts, name, bound) for name, bound in gate.bounds.items()]
    holds = [one.reason for one in outcomes if one.verdict is Outcome.PASS]
    if len(holds) == len(outcomes):
        return _check(gate, facts, "triggered", False, tuple(holds))
    return _check(gate, facts, "clear", True, tuple(one.reason for one in outcomes if one.verdict is not Outcome.PASS))


def _outcome(gate: Gate, facts: _Facts, name: str, bound: float) -> GateOutcome:
    """Compare one figure with its bound; an age is a minimum for a trigger and a maximum for a requirement."""
    measured = _measured(facts, name)
    least = name.startswith("min_") or (gate.kind == TRIGGER and name == "max_age_without_improvement")
    digits = _digits(measured.value, bound, name)
    return (at_least if least else at_most)(measured, bound, gate=gate.name, digits=digits)


def _measured(facts: _Facts, name: str) -> Measurement:
    stats, reasons = facts.stats, facts.stats.reasons or {}
    if name == "min_invocations":
        return Measurement(f"number of rated invocations {facts.window}", float(stats.invocation_count))
    if name == "max_age_without_improvement":
        age = None if facts.age_days is None else float(facts.age_days)
        return Measurement("days without improvement", age, reason="no invocation is rated")
    if name in _RATES:
        field = _RATES[name]
        return Measurement(field.replace("_", " "), getattr(stats, field), reason=reasons.get(field))
    ends = stats.interval
    low, high = (None, None) if ends is None else (round(ends.low, 2), round(ends.high, 2))
    return Measurement("average score", stats.avg_score, low, high, reasons.get("avg_score"))


def _digits(value: float | None, bound: float, name: str) -> int:
    """Return enough decimals that rounding keeps a figure on its side of the bound: 69.9996 is not 70 (R25)."""
    if name in ("min_invocations", "max_age_without_improvement"):
        return 0
    digits = 2 if name.endswith("score") else 4

    def side(value: float) -> tuple[bool, bool]:
        return value >= bound, value <= bound

    while value is not None and digits < _MOST_DIGITS and side(round(value, digits)) != side(value):
        digits += 1
    return digits


def _check(gate: Gate, facts: _Facts, status: str, passed: bool | None, failures: tuple[str, ...]) -> GateCheck:
    return GateCheck(
        skill=facts.stats.skill,
        gate=gate.name,
        kind=gate.kind,
        description=gate.description,
        status=status,
        passed=passed,
        failures=failures,
        stats=facts.stats,
        days_since_improvement=facts.age_days,
        last_improved_at=facts.improved,
    )
