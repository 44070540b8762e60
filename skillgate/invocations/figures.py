"""The figures of one skill, from its tally; what too few invocations cannot say is None with a reason."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from skillgate.model.invocation import Component, Tier
from skillgate.model.invocation_report import ComponentFigure, Interval, SkillFigures
from skillgate.stats.difference import Sample, sample
from skillgate.stats.dispersion import quartiles
from skillgate.stats.intervals import clopper_pearson, quantile_t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.invocations.tally import Tally

MEAN_METHOD = "Student's t"
RATE_METHOD = "Clopper–Pearson"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ROUNDED = 9  # decimals of means: totals have two, so what differs further down comes from adding them up


def figures(tally: Tally) -> SkillFigures:
    """Return all figures of a skill."""
    totals, reasons = sample(tally.totals), _reasons(tally)
    interval = _interval(totals)
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
        error_rate=_ratio(tally.errors_met, tally.errors_known),
        errors_known=tally.errors_known,
        error_interval=_exact(tally.errors_met, tally.errors_known),
        unrecovered_rate=_ratio(tally.unrecovered, tally.endings_known),
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


def _interval(totals: Sample) -> Interval | None:
    if totals.mean is None or not totals.deviation:
        return None
    half = quantile_t(totals.n - 1) * totals.deviation / math.sqrt(totals.n)
    low, high = max(0.0, totals.mean - half), min(100.0, totals.mean + half)
    return Interval(low=low, high=high, method=MEAN_METHOD)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _exact(part: int, whole: int) -> Interval | None:
    if not whole:
        return None
    low, high = clopper_pearson(part, whole)
    return Interval(low=low, high=high, method=RATE_METHOD)


def _reasons(tally: Tally) -> dict[str, str]:
    if not tally.recorded:
        none = "nothing was recorded"
        return dict.fromkeys(
            ("avg_score", "median", "deviation", "interval", "error_rate", "unrecovered_rate", "coverage"), none
        )
    reasons: dict[str, str] = {}
    n = len(tally.totals)
    if not n:
        why = f"of {tally.recorded} recorded none is rated: too little of them was observed, or the rubric has no total"
        reasons |= dict.fromkeys(("avg_score", "median", "deviation", "interval"), why)
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
