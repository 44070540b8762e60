"""Compute the figures and the trend of one skill. What too few observations cannot show is None with a reason."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from skillgate.format import signed
from skillgate.invocations.rubric import BASELINES
from skillgate.model.codec import encode
from skillgate.model.invocation import (
    Component,
    ComponentFigure,
    Direction,
    Ending,
    Interval,
    InvocationTrend,
    SkillFigures,
    Tier,
    Window,
)
from skillgate.stats.intervals import clopper_pearson, quantile_t, quartiles
from skillgate.stats.resampling import (
    METHOD,
    RESAMPLING,
    Sample,
    benjamini_hochberg,
    difference,
    difference_p,
    resampled,
    sample,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.model.invocation import Observation

DAY_S = 86_400
AT_ONCE = 4096  # observations processed as columns
MOST_CATEGORIES = 20  # maximum named categories of one skill
_MEAN_METHOD = "Student's t"
_RATE_METHOD = "Clopper–Pearson"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ROUNDED = 9  # decimals of means: totals have two, so differences further down are rounding errors
_ALWAYS = (None, *BASELINES)
_FAILED = (Ending.EXPLAINED_FAILURE.value, Ending.HARD_FAILURE.value)
_FAILED_POINTS = 5.0  # of completion: an explained failure's. Source: the rubric's table of outcomes
_CLEAN_POINTS = 25.0  # of completion without errors
_RISING = tuple(sorted(Tier, key=lambda tier: tier.least))
_BOUNDS = [tier.least for tier in _RISING[1:]]
_AT, _TOTAL = itemgetter(1), itemgetter(5)


class Tally:
    """The counts of one skill in a time window, in bounded memory.

    Attributes:
        recorded: number of invocations; ``totals`` holds the totals of the rated ones, by time.
        before: number of ``totals`` before the last days that a trend compares.
        points, measured: by component, the sum of its points and the number of invocations that measure it.
        tiers: number of totals in each tier.
        errors_known, errors_met: invocations with counted errors, and those of them with at least one.
        endings_known, unrecovered: invocations with a known ending, and those of them that failed.
        sharing_known, shared: invocations with a known range, and those of them that may hold other work.
        observed: the sum of the coverages.
        bare: invocations without any known points.
        first, last: seconds since 1970; None without invocations.
        categories: number of invocations by category, None included. ``unnamed`` counts those of unknown categories
            beyond the limit.
        days: by day since 1970, the number of totals and their sum.
    """

    __slots__ = (
        *("_boundary", "_since", "bare", "before", "categories", "days", "endings_known", "errors_known"),
        *("errors_met", "first", "last", "measured", "observed", "points", "recorded", "skill", "tiers", "totals"),
        *("shared", "sharing_known", "unnamed", "unrecovered"),
    )

    def __init__(self, skill: str, *, since: int | None, boundary: int) -> None:
        """Start empty.

        Args:
            skill: its name.
            since: only count later observations, in seconds since 1970; None for all.
            boundary: start of the recent days of a trend, in seconds since 1970.
        """
        self.skill = skill
        self._since, self._boundary = since, boundary
        self.recorded = self.before = self.errors_known = self.errors_met = self.bare = 0
        self.endings_known = self.unrecovered = self.unnamed = self.shared = self.sharing_known = 0
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
        """Count observations of the skill, ordered by time and not earlier than those already counted."""
        start = 0 if self._since is None else bisect_right(some, self._since, key=_AT)
        some = some[start:] if start else some
        if not some:
            return
        _, at, categories, errors, endings, totals, *components, coverage, shared = zip(*some, strict=True)
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
        self.sharing_known += len(shared) - shared.count(None)
        self.shared += shared.count(1)
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
        """Count endings: recorded ones, else those that follow from observed completion points.

        Rubric 1.0 gives full points to unobserved completion; that is not a known ending.
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
    """Group observations, ordered by skill and time, by skill, in parts of some thousands.

    Consume the parts of a skill before the next skill.
    """
    for skill, own in groupby(observations, key=itemgetter(0)):
        yield skill, iter(partial(_part, own), [])


def _part(observations: Iterator[Observation]) -> list[Observation]:
    return list(islice(observations, AT_ONCE))


def rated(some: Sequence[Observation]) -> Iterator[tuple[int, float]]:
    """Yield the time and the total of rated observations."""
    return ((item[1], total) for item in some if (total := _TOTAL(item)) is not None)


TRAILING = 10  # rated invocations in the trailing mean; source: R24
STEP = 1.0  # minimum points above the best mean for an improvement; source: R24
_NEAR = 0.001  # points; the running sum of a million totals drifts by less than a millionth


class Improvement:
    """When a skill last improved, over its whole history, by the mean of ten consecutive totals (R24).

    The first mean is the best so far. A mean one point above the best is an improvement and the new best. So a slow
    rise counts once it adds up to a point, and recovering from a drop does not count.
    """

    def __init__(self) -> None:
        self._trailing: deque[float] = deque()
        self._about = 0.0
        self._best: float | None = None
        self._last: int | None = None

    def add(self, rated: Iterable[tuple[int, float]]) -> None:
        """Add rated invocations: non-decreasing times in seconds since 1970, and totals."""
        for at, total in rated:
            if self._last is None:
                self._last = at
            self._trailing.append(total)
            self._about += total
            if len(self._trailing) < TRAILING:
                continue
            if len(self._trailing) > TRAILING:
                self._about -= self._trailing.popleft()
            # The running sum drifts a little; only a sum near the bound must be computed exactly.
            if self._best is not None and self._about < TRAILING * (self._best + STEP) - _NEAR:
                continue
            mean = round(math.fsum(self._trailing) / TRAILING, _ROUNDED)
            if self._best is None:
                self._best = mean
            elif mean >= round(self._best + STEP, _ROUNDED):
                self._best, self._last = mean, at

    @property
    def day(self) -> int | None:
        """Days since 1970 of the last improvement, or else of the first total; None if nothing is rated."""
        return None if self._last is None else self._last // DAY_S


def figures(tally: Tally) -> SkillFigures:
    """Return all figures of a skill."""
    totals, reasons = sample(tally.totals), _reasons(tally)
    interval = _mean_interval(totals)
    if totals.n >= 2 and interval is None:
        reasons["interval"] = f"all {totals.n} totals are equal, so there is no interval"
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
        shared=tally.shared,
        sharing_known=tally.sharing_known,
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
    """Return a mean without rounding errors, so that it can be compared with a bound."""
    return None if value is None else round(value, _ROUNDED)


def time_of(at: int) -> datetime:
    """Return the UTC time of seconds since 1970."""
    return _EPOCH + timedelta(seconds=at)


def seconds(time: datetime) -> int:
    """Return the whole seconds since 1970 of an aware time."""
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
        why = f"none of {tally.recorded} recorded is rated: too little was observed, or the rubric gives no total"
        reasons |= dict.fromkeys(of_totals, why)
    elif n == 1:
        reasons |= dict.fromkeys(("deviation", "interval"), "only one total")
    for component in Component:
        if not tally.measured[component]:
            reasons[f"components.{component.value}"] = f"no invocation measures {component.value}"
    if not tally.errors_known:
        reasons["error_rate"] = reasons["error_interval"] = "no invocation has an error count"
    if not tally.endings_known:
        reasons["unrecovered_rate"] = "no invocation has a known ending"
    return reasons


RECENT_DAYS = 7
"""Number of days compared with the days before. Source: the rubric's "last week" (R20)."""
LEAST = 5
"""Minimum rated invocations of each window, and behind a component's mean. Source: R20 and R29."""
LEAST_PERCENT = 10.0
"""Minimum change, in percent of the earlier mean. Source: the rubric's trend detection."""
LEAST_POINTS = 3.0
"""Minimum change in points, since ten percent of a small mean is little. Source: R21."""
SEED = 20_260  # of the bootstrap; fixed for reproducible output
ENOUGH = 0.7
"""Minimum share of its points for a component to need no advice. Source: the rubric's query of opportunities."""
ALPHA = 0.05
"""The share of called changes that may be chance, over all skills that are compared together."""
_LOW = 0.5  # below this share a component is low. Source: the rubric's 50 of 100, as a share (R18)

_WORDS = {
    Component.COMPLETION: {
        "low": "Many runs do not finish. Describe in SKILL.md what can go wrong, how to recognise it, and what to try"
        " next.",
        "medium": "Some runs stop early or take a detour. Find out where, and say in SKILL.md what to do there.",
    },
    Component.EFFICIENCY: {
        "low": "Runs cost far more than expected for their output. Keep in SKILL.md what every run needs, and move the"
        " rest into files that are read on demand.",
        "medium": "Runs cost more than expected. Name the shortest sequence of tool calls, and the files to skip.",
    },
    Component.QUALITY: {
        "low": "Outputs are often wrong or incomplete. Add complete examples of good outputs, and list the frequent"
        " mistakes.",
        "medium": "Outputs are sometimes wrong or incomplete. End the workflow with a check that the model must run.",
    },
    Component.SATISFACTION: {
        "low": "Users edit or discard the output. Find out what they change, and which edits repeat.",
        "medium": "Users ask for corrections. Let the skill ask about unclear points before it starts.",
    },
}


def recommendation(component: Component, share: float) -> str | None:
    """Return advice for a component with this share of its points, in [0, 1]; None from 0.7."""
    return None if share >= ENOUGH else _WORDS[component]["low" if share < _LOW else "medium"]


def tally_of(skill: str, parts: Iterable[Sequence[Observation]], *, now: datetime, days: int | None) -> Tally:
    """Count observations for :func:`trend` and :func:`figures`.

    Args:
        skill: its name.
        parts: its observations, ordered by time.
        now: end of the window, UTC; later invocations (a clock was ahead) count as recent.
        days: length of the window; None for everything.
    """
    found = Tally(skill, since=start(now, days), boundary=seconds(now) - RECENT_DAYS * DAY_S)
    for part in parts:
        found.add(part)
    return found


def start(now: datetime, days: int | None) -> int | None:
    """Return the start of a window of days, exclusive, in seconds since 1970; None for everything."""
    return None if days is None else seconds(now) - days * DAY_S


def trend(tally: Tally, *, now: datetime, days: int | None) -> InvocationTrend:
    """Compare the last seven days of a tally with the days before; the constants above define a trend."""
    before, after = tally.totals[: tally.before], tally.totals[tally.before :]
    then, since = sample(before), sample(after)
    boundary = time_of(seconds(now) - RECENT_DAYS * DAY_S)
    first = start(now, days)
    if first is None:
        first = tally.first if tally.first is not None else seconds(boundary)
    begins = min(boundary, time_of(first))
    shares = {component: component_figure(tally, component) for component in Component}
    weak = _weakest(shares)
    found = InvocationTrend(
        skill=tally.skill,
        status="insufficient_data",
        recent=Window(since=boundary, until=now, n=since.n, median=median(after)),
        previous=Window(since=begins, until=boundary, n=then.n, median=median(before)),
        current_avg=rounded(since.mean),
        previous_avg=rounded(then.mean),
        change=None,
        change_percent=None,
        interval=None,
        bootstrap=None,
        trend=None,
        weak_component=None if weak is None else weak.value,
        component_scores={component.value: figure.mean for component, figure in shares.items()},
        recommendation=None if weak is None else recommendation(weak, shares[weak].share or 0.0),
        reason=_too_few(then.n, since.n, days),
    )
    enough = then.n >= LEAST and since.n >= LEAST
    return _decided(found, then, since) if enough else found


def with_bootstrap(found: InvocationTrend, tally: Tally, *, seed: int = SEED) -> InvocationTrend:
    """Add a bootstrap interval of the change, for comparison, if there is a trend."""
    drawn = None
    if found.trend is not None:
        drawn = resampled(tally.totals[: tally.before], tally.totals[tally.before :], seed=seed)
    if drawn is None:
        return found
    return replace(found, bootstrap=Interval(low=drawn.low, high=drawn.high, method=RESAMPLING))


def corrected(found: Iterable[InvocationTrend]) -> tuple[InvocationTrend, ...]:
    """Adjust trends that are reported together for their number (Benjamini and Hochberg's false discovery rate).

    Of what is still called a change, at most 5 % are expected to be chance. A change that is too small to count has a
    p of 1 here: it is never called one.
    """
    trends = list(found)
    tested = [n for n, one in enumerate(trends) if one.p is not None]
    ps = [(trends[n].p or 0.0) if _is_large(trends[n]) else 1.0 for n in tested]
    for n, p in zip(tested, benjamini_hochberg(ps), strict=True):
        one = replace(trends[n], p_adjusted=p, compared=len(tested))
        if p >= ALPHA and one.trend is not Direction.STABLE:
            why = f"among {len(tested)} skills compared together this may be chance (adjusted p = {p:.2g})"
            one = replace(one, trend=Direction.STABLE, reason=f"{one.reason}; {why}")
        trends[n] = one
    return tuple(trends)


def _is_large(found: InvocationTrend) -> bool:
    percent, change = found.change_percent, found.change or 0.0
    return abs(change) >= LEAST_POINTS and (percent is None or abs(round(percent, 9)) >= LEAST_PERCENT)


def trend_json(found: InvocationTrend) -> dict[str, Any]:
    """Return a trend as a JSON object: the keys of the rubric's own result, and ours."""
    document: dict[str, Any] = encode(found)
    return document


def _decided(found: InvocationTrend, then: Sample, since: Sample) -> InvocationTrend:
    old, new = rounded(then.mean) or 0.0, rounded(since.mean) or 0.0
    change = round(new - old, 9)
    percent = 100 * change / old if old else None
    bounds = difference(then, since)
    interval = None if bounds is None else Interval(low=bounds.low, high=bounds.high, method=METHOD)
    p = difference_p(then, since)
    found = replace(found, change=change, change_percent=percent, interval=interval, p=p)
    large, real = _is_large(found), p < ALPHA
    direction = Direction.STABLE
    if large and real:
        direction = Direction.IMPROVING if change > 0 else Direction.DECLINING
    return replace(
        found,
        status="ok",
        trend=direction,
        reason=_why(found, change, large=large, real=real, interval=interval),
    )


def _why(found: InvocationTrend, change: float, *, large: bool, real: bool, interval: Interval | None) -> str:
    figures = f"{signed(change)} points, {found.recent.n} rated invocations compared with {found.previous.n}"
    if interval is not None:
        figures += f" (95 % interval {signed(interval.low)} to {signed(interval.high)})"
    else:
        figures += " (within each window all totals are equal)"
    if not large:
        return f"{figures}; a change counts from {LEAST_PERCENT:g} % and {LEAST_POINTS:g} points"
    return figures if real else f"{figures}; this may be chance"


def _too_few(before: int, after: int, days: int | None) -> str:
    if days is not None and days <= RECENT_DAYS:
        return f"a window of {days} days has no days before the last {RECENT_DAYS}"
    return f"{after} rated in the last {RECENT_DAYS} days and {before} before; a comparison needs {LEAST} of each"


def _weakest(shares: dict[Component, ComponentFigure]) -> Component | None:
    """Return the component with the smallest share, if it is weak and measured often enough (R19)."""
    weak = {
        component: figure.share
        for component, figure in shares.items()
        if figure.share is not None and figure.n >= LEAST and figure.share < ENOUGH
    }
    return min(weak, key=weak.__getitem__, default=None)
