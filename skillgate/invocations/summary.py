"""All skills of a store in one pass: the document ``invocations``.

Whatever is in the store, the document is bounded: the skills with the most rated invocations are listed, and what was
left out is counted. The figures over all skills are over all of them.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from heapq import heappush, heapreplace
from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import printable
from skillgate.invocations.figures import DAY_S, Tally, by_skill, figures, rounded, seconds, time_of
from skillgate.invocations.rubric import LITERAL, baseline_of
from skillgate.invocations.trends import ENOUGH, LEAST, recommendation, start, tally_of, trend
from skillgate.model.invocation import Component, DayFigures, InvocationReport, Opportunity, Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from skillgate.model.invocation import InvocationTrend, Observation, SkillFigures
    from skillgate.model.report import Tool

MOST_SKILLS = 1_000
"""Skills that are listed: those with the most rated invocations."""
MOST_CHARTED = 50
"""Skills whose days are listed: the best of the leaderboard."""
MOST_DAYS = 366
"""Days that are listed: the last ones on which anything was rated."""
_NAMED = 5  # categories that a notice names


class _Days(NamedTuple):
    """Days since 1970 with the number and the mean of their totals, packed: a thousand skills have many."""

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


class _Whole:
    """What is counted over all skills, and the skills that are listed."""

    def __init__(self) -> None:
        self.recorded = self.rated = self.bare = self.skills = self.below = 0
        self.observed = 0.0
        self.tiers: Counter[Tier] = Counter()
        self.days: dict[int, tuple[int, float]] = {}
        self.unknown: Counter[str] = Counter()
        self.without = self.ahead = 0
        self._listed: list[tuple[int, int, int, _Listed]] = []

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
        # Of equal ones the first by name is listed; the index also keeps the heap from comparing what it holds.
        rank = (n, tally.recorded, -self.skills)
        if len(self._listed) < MOST_SKILLS or rank > self._listed[0][:3]:
            listed = _Listed(figures(tally), trend(tally, now=now, days=days), _Days.of(tally.days))
            push = heappush if len(self._listed) < MOST_SKILLS else heapreplace
            push(self._listed, (*rank, listed))

    def _add_categories(self, tally: Tally) -> None:
        for category, number in tally.categories.items():
            if category is None:
                self.without += number
            elif baseline_of(category).category != category:
                shown = category if category in self.unknown or len(self.unknown) < _NAMED else "others"
                self.unknown[shown] += number
        if tally.unnamed:
            self.unknown["others"] += tally.unnamed

    def listed(self) -> list[_Listed]:
        """Return the listed skills by average, the best first, then by name; those without one last."""

        def place(one: _Listed) -> tuple[float, str]:
            average = one.figures.avg_score
            return math.inf if average is None else -average, one.figures.skill

        return sorted((item[3] for item in self._listed), key=place)


def report(
    observations: Iterable[Observation],
    *,
    now: datetime,
    days: int | None,
    rubric: str,
    tool: Tool,
    store: str,
    config_digest: str = "",
) -> InvocationReport:
    """Return the document; gates and their verdict are the caller's to add.

    Args:
        observations: of one rubric, ordered by skill, time and id; what lies before the window is left out.
        now: where the window ends, UTC.
        days: how long it is; None for all there is.
        rubric: whose scores these are.
        tool: for the document.
        store: where the observations come from, as shown to people.
        config_digest: of the configuration.
    """
    whole = _Whole()
    for skill, parts in by_skill(observations):
        tally = tally_of(skill, parts, now=now, days=days)
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
        skills=tuple(one.figures for one in listed),
        leaderboard=tuple(one.figures.skill for one in ranked),
        below_minimum=whole.below,
        tiers={tier.value: whole.tiers[tier] for tier in Tier},
        trends=tuple(one.trend for one in ranked),
        opportunities=opportunities(one.figures for one in listed),
        daily=_Days.of(whole.days).figures(),
        by_skill={one.figures.skill: one.days.figures() for one in ranked[:MOST_CHARTED]},
        notices=tuple(_notices(whole, rubric, len(listed))),
        coverage=rounded(whole.observed / whole.recorded) if whole.recorded else None,
        config_digest=config_digest,
    )


def opportunities(found: Iterable[SkillFigures]) -> tuple[Opportunity, ...]:
    """Return the components that are weak over five invocations that measure them, the weakest first (R29)."""
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
    measured = "they are measured by what analysis takes"
    if literal:
        measured = "its functions have no efficiency for them, and no total"
    if unrated:
        why = "too little of them was observed"
        if literal:
            why = "a function of this rubric has no number for them (it has baselines of code_generation alone)"
        yield (
            f"{unrated} of {whole.recorded} invocations are not rated, since {why}; average scores, tiers, trends and"
            " the number that a gate asks for leave them out"
        )
    if whole.bare:
        yield (
            f"{whole.bare} of {whole.recorded} invocations have no points by rubric {rubric}: nothing that it scores"
            " was observed, or they are not scored by it yet (skillgate log rescore)"
        )
    if whole.unknown:
        names = ", ".join(printable(name)[:40] for name in whole.unknown)
        number = whole.unknown.total()
        yield f"{number} invocations are of categories that the rubric does not know ({names}): {measured}"
    if whole.without:
        names = "1 invocation names" if whole.without == 1 else f"{whole.without} invocations name"
        yield f"{names} no category: {measured}"
    if whole.ahead:
        yield f"{whole.ahead} skills have invocations later than the end of the window: a clock was ahead"
    if len(whole.days) > MOST_DAYS:
        yield f"of {len(whole.days):,} days on which anything was rated the last {MOST_DAYS} are listed, in figures all"
    if whole.skills > listed:
        yield (
            f"{whole.skills - listed} of {whole.skills} skills are not listed: those with the most rated invocations"
            " are; all are in the figures over all skills, and each can be asked for by name"
        )
