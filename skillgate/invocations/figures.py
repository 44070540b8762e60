"""The figures of one skill, from one pass over its observations; what too few cannot say is None with a reason."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING

from skillgate.invocations.rubric import BASELINES
from skillgate.model.invocation import Component, ComponentFigure, Ending, Interval, SkillFigures, Tier
from skillgate.stats.intervals import clopper_pearson, quantile_t, quartiles
from skillgate.stats.resampling import Sample, sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.model.invocation import Observation

DAY_S = 86_400
AT_ONCE = 4096  # observations that are taken as columns
MOST_CATEGORIES = 20  # of one skill that are named; nothing a category says is worth more
_MEAN_METHOD = "Student's t"
_RATE_METHOD = "Clopper–Pearson"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ROUNDED = 9  # decimals of means: totals have two, so what differs further down comes from adding them up
_ALWAYS = (None, *BASELINES)
_FAILED = (Ending.EXPLAINED_FAILURE.value, Ending.HARD_FAILURE.value)
_FAILED_POINTS = 5.0  # of completion: an explained failure's. Source: the rubric's table of outcomes
_CLEAN_POINTS = 25.0  # of completion without errors
_RISING = tuple(sorted(Tier, key=lambda tier: tier.least))
_BOUNDS = [tier.least for tier in _RISING[1:]]
_AT, _TOTAL = itemgetter(1), itemgetter(5)


class Tally:
    """What is counted of one skill in a window of time, small enough for a million observations.

    Attributes:
        recorded: all invocations; ``totals`` holds those of the rated ones in the order of time.
        before: how many of ``totals`` lie before the last days that a trend compares.
        points, measured: by component, the sum over those that measure it, and their number.
        tiers: how many totals each tier has.
        errors_known, errors_met: those whose errors were counted, and those of them with one or more.
        endings_known, unrecovered: those whose ending is known, and those of them that failed.
        observed: the sum of the coverages.
        bare: those of which no points are known at all.
        first, last: seconds since 1970; None before the first.
        categories: how often each occurs, None included; of many that the rubric does not know a few, and ``unnamed``
            counts the invocations of the others.
        days: by day since 1970, how many totals and their sum.
    """

    __slots__ = (
        *("_boundary", "_since", "bare", "before", "categories", "days", "endings_known", "errors_known"),
        *("errors_met", "first", "last", "measured", "observed", "points", "recorded", "skill", "tiers", "totals"),
        *("unnamed", "unrecovered"),
    )

    def __init__(self, skill: str, *, since: int | None, boundary: int) -> None:
        """Start with nothing.

        Args:
            skill: its name.
            since: what is not later is left out, in seconds since 1970; None for nothing.
            boundary: where the days begin that a trend compares with those before; what is later lies in them.
        """
        self.skill = skill
        self._since, self._boundary = since, boundary
        self.recorded = self.before = self.errors_known = self.errors_met = self.bare = 0
        self.endings_known = self.unrecovered = self.unnamed = 0
        self.observed = 0.0
        self.totals = array("d")
        self.points = dict.fromkeys(Component, 0.0)
        self.measured = dict.fromkeys(Component, 0)
        self.tiers: Counter[Tier] = Counter()
        self.first: int | None = None
        self.last: int | None = None
        self.categories: Counter[str | None] = Counter()
        self.days: dict[int, tuple[int, float]] = {}

    def add(self, some: Sequence[Observation]) -> None:
        """Count observations of the skill, in the order of time, none earlier than one that was counted."""
        start = 0 if self._since is None else bisect_right(some, self._since, key=_AT)
        some = some[start:] if start else some
        if not some:
            return
        _, at, categories, errors, endings, totals, *components, coverage = zip(*some, strict=True)
        self.recorded += len(some)
        self.first = at[0] if self.first is None else self.first
        self.last = at[-1]
        self._add_totals(at, totals)
        for component, column in zip(Component, components, strict=True):
            known = [points for points in column if points is not None]
            self.points[component] = math.fsum((self.points[component], *known))
            self.measured[component] += len(known)
        self.observed = math.fsum((self.observed, *coverage))
        self.bare += sum(not seen and total is None for seen, total in zip(coverage, totals, strict=True))
        counted = [number for number in errors if number is not None]
        self.errors_known += len(counted)
        self.errors_met += len(counted) - counted.count(0)
        self._add_endings(endings, components[0], errors)
        for category, number in Counter(categories).items():
            if category in self.categories or category in _ALWAYS or len(self.categories) < MOST_CATEGORIES:
                self.categories[category] += number
            else:
                self.unnamed += number

    def _add_totals(self, at: tuple[int, ...], totals: tuple[float | None, ...]) -> None:
        split = bisect_right(at, self._boundary)
        self.before += split - totals[:split].count(None)
        known = [total for total in totals if total is not None]
        self.totals.extend(known)
        for index, number in Counter(bisect_right(_BOUNDS, total) for total in known).items():
            self.tiers[_RISING[index]] += number
        start = 0
        while start < len(at):
            day = at[start] // DAY_S
            end = bisect_left(at, (day + 1) * DAY_S, start)
            rated = [total for total in totals[start:end] if total is not None]
            if rated:
                n, points = self.days.get(day, (0, 0.0))
                self.days[day] = n + len(rated), math.fsum((points, *rated))
            start = end

    def _add_endings(
        self, endings: Sequence[str | None], completion: Sequence[float | None], errors: Sequence[int | None]
    ) -> None:
        """Count endings: those recorded, else what the points of completion say where they rest on anything.

        Rubric 1.0 gives all points to what nobody observed; that is no known ending.
        """
        recorded = Counter(endings)
        self.endings_known += len(endings) - recorded[None]
        self.unrecovered += sum(recorded[ending] for ending in _FAILED)
        if recorded[None]:
            for ending, points, number in zip(endings, completion, errors, strict=True):
                if ending is None and points is not None and (number is not None or points < _CLEAN_POINTS):
                    self.endings_known += 1
                    self.unrecovered += points <= _FAILED_POINTS


def by_skill(observations: Iterable[Observation]) -> Iterator[tuple[str, Iterator[Sequence[Observation]]]]:
    """Group observations, which are ordered by skill and time, by skill, each in parts of some thousands.

    The parts of a skill must be taken before the next skill is.
    """
    for skill, own in groupby(observations, key=itemgetter(0)):
        yield skill, iter(partial(_part, own), [])


def _part(observations: Iterator[Observation]) -> list[Observation]:
    return list(islice(observations, AT_ONCE))


def rated(some: Sequence[Observation]) -> Iterator[tuple[int, float]]:
    """Yield the time and the total of those that have one."""
    return ((item[1], total) for item in some if (total := _TOTAL(item)) is not None)


TRAILING = 10  # rated invocations whose mean is followed; source: R24
STEP = 1.0  # points above the best so far that are an improvement; source: R24
_NEAR = 0.001  # points; a sum over a million totals that are added and taken away drifts by less than a millionth


class Improvement:
    """When a skill last got better: over all of its history, by the mean of ten totals in a row (R24).

    The first mean of ten is the best so far. One that lies a whole point above the best is an improvement and the new
    best; so a slow creep counts once it adds up to a point, and what was lost and won back does not count.
    """

    def __init__(self) -> None:
        self._trailing: deque[float] = deque()
        self._about = 0.0
        self._best: float | None = None
        self._last: int | None = None

    def add(self, rated: Iterable[tuple[int, float]]) -> None:
        """Follow further rated invocations: their times in seconds since 1970, not falling, and their totals."""
        for at, total in rated:
            if self._last is None:
                self._last = at
            self._trailing.append(total)
            self._about += total
            if len(self._trailing) < TRAILING:
                continue
            if len(self._trailing) > TRAILING:
                self._about -= self._trailing.popleft()
            # The running sum drifts a little, and only where it comes near is there anything to add up exactly.
            if self._best is not None and self._about < TRAILING * (self._best + STEP) - _NEAR:
                continue
            mean = round(math.fsum(self._trailing) / TRAILING, _ROUNDED)
            if self._best is None:
                self._best = mean
            elif mean >= round(self._best + STEP, _ROUNDED):
                self._best, self._last = mean, at

    @property
    def day(self) -> int | None:
        """The day of the last improvement in days since 1970; that of the first total where there was none.

        None where nothing is rated.
        """
        return None if self._last is None else self._last // DAY_S


def figures(tally: Tally) -> SkillFigures:
    """Return all figures of a skill."""
    totals, reasons = sample(tally.totals), _reasons(tally)
    interval = _mean_interval(totals)
    if totals.n >= 2 and interval is None:
        reasons["interval"] = f"all {totals.n} totals are the same, and without a spread there is no interval"
    return SkillFigures(
        skill=tally.skill,
        recorded=tally.recorded,
        invocation_count=totals.n,
        avg_score=rounded(totals.mean),
        median=median(tally.totals),
        deviation=rounded(totals.deviation),
        interval=interval,
        components={component.value: component_figure(tally, component) for component in Component},
        tiers={tier.value: tally.tiers[tier] for tier in Tier},
        error_rate=tally.errors_met / tally.errors_known if tally.errors_known else None,
        errors_known=tally.errors_known,
        error_interval=_rate_interval(tally.errors_met, tally.errors_known),
        unrecovered_rate=tally.unrecovered / tally.endings_known if tally.endings_known else None,
        endings_known=tally.endings_known,
        coverage=rounded(tally.observed / tally.recorded) if tally.recorded else None,
        first_seen=None if tally.first is None else time_of(tally.first),
        last_seen=None if tally.last is None else time_of(tally.last),
        categories=tuple(sorted(name for name in tally.categories if name is not None)),
        reasons=reasons or None,
    )


def component_figure(tally: Tally, component: Component) -> ComponentFigure:
    """Return the mean of a component over the invocations that measure it."""
    n = tally.measured[component]
    mean = tally.points[component] / n if n else None
    share = None if mean is None else min(1.0, round(mean / component.points, _ROUNDED))
    return ComponentFigure(mean=rounded(mean), share=share, most=component.points, n=n)


def median(values: Sequence[float]) -> float | None:
    """Return the median; None without values."""
    found = quartiles(values)
    return None if found is None else rounded(found.median)


def rounded(value: float | None) -> float | None:
    """Return a mean without what adding up leaves behind its decimals, so that it may be held against a bound."""
    return None if value is None else round(value, _ROUNDED)


def time_of(at: int) -> datetime:
    """Return the time of seconds since 1970, UTC."""
    return _EPOCH + timedelta(seconds=at)


def seconds(time: datetime) -> int:
    """Return the seconds since 1970 of an aware time, fractions cut off."""
    return (time - _EPOCH) // timedelta(seconds=1)


def _mean_interval(totals: Sample) -> Interval | None:
    if totals.mean is None or not totals.deviation:
        return None
    half = quantile_t(totals.n - 1) * totals.deviation / math.sqrt(totals.n)
    return Interval(low=max(0.0, totals.mean - half), high=min(100.0, totals.mean + half), method=_MEAN_METHOD)


def _rate_interval(part: int, whole: int) -> Interval | None:
    if not whole:
        return None
    low, high = clopper_pearson(part, whole)
    return Interval(low=low, high=high, method=_RATE_METHOD)


def _reasons(tally: Tally) -> dict[str, str]:
    of_totals = ("avg_score", "median", "deviation", "interval")
    if not tally.recorded:
        return dict.fromkeys((*of_totals, "error_rate", "unrecovered_rate", "coverage"), "nothing was recorded")
    reasons: dict[str, str] = {}
    n = len(tally.totals)
    if not n:
        why = f"of {tally.recorded} recorded none is rated: too little of them was observed, or the rubric has no total"
        reasons |= dict.fromkeys(of_totals, why)
    elif n == 1:
        reasons |= dict.fromkeys(("deviation", "interval"), "one total has no spread")
    for component in Component:
        if not tally.measured[component]:
            reasons[f"components.{component.value}"] = f"no invocation measures {component.value}"
    if not tally.errors_known:
        reasons["error_rate"] = reasons["error_interval"] = "of no invocation the errors were counted"
    if not tally.endings_known:
        reasons["unrecovered_rate"] = "of no invocation it is known how it ended"
    return reasons
