"""One pass over the observations of a skill: what all its figures are made of, small enough for a million of them."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING

from skillgate.invocations.improvement import DAY_S
from skillgate.invocations.rubrics._baselines import BASELINES
from skillgate.model.invocation import Component, Ending, Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.model.invocation import Observation

AT_ONCE = 4096  # observations that are taken as columns
MOST_CATEGORIES = 20  # of one skill that are named; nothing a category says is worth more
_ALWAYS = (None, *BASELINES)
_FAILED = (Ending.EXPLAINED_FAILURE.value, Ending.HARD_FAILURE.value)
_FAILED_POINTS = 5.0  # of completion: an explained failure's. Source: the rubric's table of outcomes
_CLEAN_POINTS = 25.0  # of completion without errors
_RISING = tuple(sorted(Tier, key=lambda tier: tier.least))
_BOUNDS = [tier.least for tier in _RISING[1:]]
_AT, _TOTAL = itemgetter(1), itemgetter(5)


class Tally:
    """What is counted of one skill in a window of time.

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
        categories: how often each was given, None included; of many that the rubric does not know a few, and
            ``unnamed`` counts the invocations of the others.
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
        """Count endings: what was said, else what the points of completion say where they rest on anything.

        Rubric 1.0 gives all points to what nobody observed; that is no known ending.
        """
        told = Counter(endings)
        self.endings_known += len(endings) - told[None]
        self.unrecovered += sum(told[ending] for ending in _FAILED)
        if told[None]:
            for ending, points, number in zip(endings, completion, errors, strict=True):
                if ending is None and points is not None and (number is not None or points < _CLEAN_POINTS):
                    self.endings_known += 1
                    self.unrecovered += points <= _FAILED_POINTS


def by_skill(observations: Iterable[Observation]) -> Iterator[tuple[str, Iterator[Sequence[Observation]]]]:
    """Take observations, which are ordered by skill and time, apart by skill, each in parts of some thousands.

    The parts of a skill must be taken before the next skill is.
    """
    for skill, own in groupby(observations, key=itemgetter(0)):
        yield skill, _parts(own)


def _parts(observations: Iterator[Observation]) -> Iterator[Sequence[Observation]]:
    while part := list(islice(observations, AT_ONCE)):
        yield part


def rated(some: Sequence[Observation]) -> Iterator[tuple[int, float]]:
    """Yield the time and the total of those that have one."""
    return ((item[1], total) for item in some if (total := _TOTAL(item)) is not None)
