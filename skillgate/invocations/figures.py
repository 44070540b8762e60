"""Compute the figures and the trend of one skill. What too few observations cannot show is None with a reason."""

from __future__ import annotations

import math
from array import array
from collections import Counter, deque
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skillgate.format import signed
from skillgate.model.codec import encode
from skillgate.model.invocation import (
    Component,
    ComponentFigure,
    Direction,
    Interval,
    InvocationTrend,
    SkillFigures,
    Spread,
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
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from skillgate.store.observations import Observations

    Column = npt.NDArray[Any]

DAY_S = 86_400
MOST_CATEGORIES = 20  # maximum named categories of one skill
_MEAN_METHOD = "Student's t"
_RATE_METHOD = "Clopper–Pearson"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ROUNDED = 9  # decimals of means: totals have two, so differences further down are rounding errors
_RISING = tuple(sorted(Tier, key=lambda tier: tier.least))
_BOUNDS = [tier.least for tier in _RISING[1:]]


class Tally(NamedTuple):
    """The counts of one skill in a time window.

    Attributes:
        seen: the invocations.
        totals: those of the rated ones, by time; ``before`` is how many began before the last days of a trend.
        days: by day since 1970, the number of totals and their sum.
        components: the mean of each over the invocations that measure it.
        categories: number of invocations by category, None included.
        errors, endings, shared: number of invocations for which this is known, and of those with errors, that failed,
            and that may hold other work.
    """

    seen: Observations
    totals: array[float]
    before: int
    days: dict[int, tuple[int, float]]
    components: dict[Component, ComponentFigure]
    categories: Counter[str | None]
    errors: tuple[int, int]
    endings: tuple[int, int]
    shared: tuple[int, int]

    @property
    def recorded(self) -> int:
        """Return the number of invocations."""
        return len(self.seen.rows)

    @property
    def observed(self) -> float:
        """Return the sum of the coverages."""
        return float(np.ascontiguousarray(self.seen.rows["coverage"]).sum())

    @property
    def bare(self) -> int:
        """Return the number of invocations without any known points."""
        return int(np.count_nonzero((self.seen.rows["coverage"] == 0) & (self.seen.rows["total"] < 0)))

    @property
    def first(self) -> int | None:
        """Return the time of the first one in seconds since 1970; None without any."""
        return int(self.seen.rows["at"][0]) if self.recorded else None

    @property
    def last(self) -> int | None:
        """Return the time of the last one in seconds since 1970; None without any."""
        return int(self.seen.rows["at"][-1]) if self.recorded else None

    @property
    def tiers(self) -> dict[Tier, int]:
        """Return the number of totals in each tier."""
        numbers = np.bincount(np.searchsorted(_BOUNDS, self.totals, side="right"), minlength=len(_RISING))
        return dict(zip(_RISING, numbers.tolist(), strict=True))


def known(column: Column) -> array[float]:
    """Return the known values of a column."""
    return array("d", column[column >= 0].astype(np.float64).tobytes())


def flagged(column: Column) -> tuple[int, int]:
    """Return how often a flag is known and how often it is set."""
    return int(np.count_nonzero(column >= 0)), int(np.count_nonzero(column > 0))


def tally_of(seen: Observations, *, now: datetime, days: int | None) -> Tally:
    """Count invocations of a skill for :func:`trend` and :func:`figures`.

    Args:
        seen: its invocations; those before the window are left out.
        now: end of the window, UTC; later invocations (a clock was ahead) count as recent.
        days: length of the window; None for everything.
    """
    begins = start(now, days)
    seen = seen.since(None if begins is None else begins + 1)
    rows = seen.rows
    at, totals = rows["at"], rows["total"]
    recent = np.searchsorted(at, seconds(now) - RECENT_DAYS * DAY_S, "right")
    named = np.bincount(rows["context"], minlength=len(seen.contexts)).tolist()
    categories: Counter[str | None] = Counter()
    for context, number in zip(seen.contexts, named, strict=True):
        categories[context.category] += number
    return Tally(
        seen=seen,
        totals=known(totals),
        before=int(np.count_nonzero(totals[:recent] >= 0)),
        days=_by_day(at[totals >= 0], totals[totals >= 0]),
        components={one: _component(rows[one.value], one) for one in Component},
        categories=+categories,
        errors=flagged(rows["errors"]),
        endings=flagged(rows["unrecovered"]),
        shared=flagged(rows["shared"]),
    )


def _by_day(at: Column, totals: Column) -> dict[int, tuple[int, float]]:
    days, first, numbers = np.unique(at // DAY_S, return_index=True, return_counts=True)
    if not len(days):
        return {}
    sums = np.add.reduceat(totals, first)
    return dict(zip(days.tolist(), zip(numbers.tolist(), sums.tolist(), strict=True), strict=True))


def rated(seen: Observations) -> Iterable[tuple[int, float]]:
    """Return the times and totals of rated invocations."""
    rows = seen.rows[seen.rows["total"] >= 0]
    return zip(rows["at"].tolist(), rows["total"].tolist(), strict=True)


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
    (errors_known, errors_met), (endings_known, _) = tally.errors, tally.endings
    interval, tiers = mean_interval(totals), tally.tiers
    if totals.n >= 2 and interval is None:
        reasons["interval"] = f"all {totals.n} totals are equal, so there is no interval"
    return SkillFigures(
        skill=tally.seen.skill,
        recorded=tally.recorded,
        invocation_count=totals.n,
        avg_score=rounded(totals.mean),
        median=median(tally.totals),
        deviation=rounded(totals.deviation),
        interval=interval,
        components={component.value: figure for component, figure in tally.components.items()},
        tiers={tier.value: tiers[tier] for tier in Tier},
        error_rate=share(tally.errors),
        errors_known=errors_known,
        error_interval=_rate_interval(errors_met, errors_known),
        unrecovered_rate=share(tally.endings),
        endings_known=endings_known,
        coverage=rounded(tally.observed / tally.recorded) if tally.recorded else None,
        first_seen=None if tally.first is None else time_of(tally.first),
        last_seen=None if tally.last is None else time_of(tally.last),
        sharing_known=tally.shared[0],
        shared=tally.shared[1],
        categories=tuple(sorted(name for name, _ in tally.categories.most_common(MOST_CATEGORIES) if name is not None)),
        **spreads(tally.seen.rows),
        reasons=reasons or None,
    )


def _component(column: Column, component: Component) -> ComponentFigure:
    points = column[column >= 0]
    mean = float(points.sum()) / len(points) if len(points) else None
    part = None if mean is None else min(1.0, round(mean / component.points, _ROUNDED))
    return ComponentFigure(mean=rounded(mean), share=part, most=component.points, n=len(points))


def share(flags: tuple[int, int]) -> float | None:
    """Return which share of the known flags is set; None without any."""
    n, met = flags
    return met / n if n else None


def spreads(rows: Column) -> dict[str, Any]:
    """Return the spread of each recorded quantity, by field; None where it is nowhere known."""
    estimated = int(np.count_nonzero((rows["cost_usd"] >= 0) & (rows["estimated"] > 0)))
    return {
        name: _spread(rows[name], estimated if name == "cost_usd" else 0)
        for name in ("tokens", "duration_ms", "cost_usd")
    }


def _spread(column: Column, estimated: int) -> Spread | None:
    values = np.sort(column[column >= 0])
    if not len(values):
        return None

    def quantile(part: float) -> float:
        low, rest = divmod(part * (len(values) - 1), 1)
        ends = values[int(low) : int(low) + 2]
        return round(float(ends[0] + (ends[-1] - ends[0]) * rest), _ROUNDED)

    total = round(float(values.sum()), _ROUNDED)
    return Spread(p50=quantile(0.5), p95=quantile(0.95), total=total, n=len(values), estimated=estimated)


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


def mean_interval(totals: Sample) -> Interval | None:
    """Return the interval of a mean; None without spread."""
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
        if not tally.components[component].n:
            reasons[f"components.{component.value}"] = f"no invocation measures {component.value}"
    if not tally.errors[0]:
        reasons["error_rate"] = reasons["error_interval"] = "no invocation has an error count"
    if not tally.endings[0]:
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
    weak = _weakest(tally.components)
    found = InvocationTrend(
        skill=tally.seen.skill,
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
        component_scores={component.value: figure.mean for component, figure in tally.components.items()},
        recommendation=None if weak is None else recommendation(weak, tally.components[weak].share or 0.0),
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


def change_of(then: Sample, since: Sample) -> tuple[float, Interval | None, float]:
    """Return the change of a mean, its interval (None if all values of each sample are the same), and its p."""
    bounds = difference(then, since)
    interval = None if bounds is None else Interval(low=bounds.low, high=bounds.high, method=METHOD)
    change = round((rounded(since.mean) or 0.0) - (rounded(then.mean) or 0.0), _ROUNDED)
    return change, interval, difference_p(then, since)


def change_text(change: float, interval: Interval | None, before: int, after: int) -> str:
    """Return a change in words, with its interval and the numbers of rated invocations."""
    figures = f"{signed(change)} points, {after} rated invocations compared with {before}"
    if interval is None:
        return f"{figures} (within each window all totals are equal)"
    return f"{figures} (95 % interval {signed(interval.low)} to {signed(interval.high)})"


def _decided(found: InvocationTrend, then: Sample, since: Sample) -> InvocationTrend:
    change, interval, p = change_of(then, since)
    percent = 100 * change / old if (old := rounded(then.mean)) else None
    found = replace(found, change=change, change_percent=percent, interval=interval, p=p)
    direction, reason = Direction.STABLE, change_text(change, interval, then.n, since.n)
    if not _is_large(found):
        reason += f"; a change counts from {LEAST_PERCENT:g} % and {LEAST_POINTS:g} points"
    elif p >= ALPHA:
        reason += "; this may be chance"
    else:
        direction = Direction.IMPROVING if change > 0 else Direction.DECLINING
    return replace(
        found,
        status="ok",
        trend=direction,
        reason=reason,
    )


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
