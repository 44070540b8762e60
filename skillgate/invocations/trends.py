"""Whether a skill gets better: its last seven days beside the days before (R18 to R21)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skillgate.format import signed
from skillgate.invocations.advice import ENOUGH, recommendation
from skillgate.invocations.figures import component_figure, median, rounded, seconds, time_of
from skillgate.invocations.improvement import DAY_S
from skillgate.invocations.tally import Tally
from skillgate.model.codec import encode
from skillgate.model.invocation import Component
from skillgate.model.invocation_report import Direction, Interval, InvocationTrend, Window
from skillgate.stats.difference import METHOD, RESAMPLING, difference, resampled, sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from skillgate.model.invocation import Observation
    from skillgate.model.invocation_report import ComponentFigure
    from skillgate.stats.difference import Sample

RECENT_DAYS = 7
"""How many days are held against those before. Source: the rubric's "last week" (R20)."""
LEAST = 5
"""Rated invocations that each window needs, and those that a component's mean rests on. Source: R20 and R29."""
LEAST_PERCENT = 10.0
"""Of the earlier mean: what a change must reach. Source: the rubric's trend detection."""
LEAST_POINTS = 3.0
"""What it must reach besides, since ten per cent of a small mean is nothing. Source: R21."""
SEED = 20_260  # of the bootstrap; any would do, and one must be named for the same bytes to come out


def tally_of(skill: str, parts: Iterable[Sequence[Observation]], *, now: datetime, days: int | None) -> Tally:
    """Count what :func:`trend` and the figures need.

    Args:
        skill: its name.
        parts: its observations in the order of time, a few thousand in each part.
        now: where the window ends, UTC; an invocation that is later, by a clock that is ahead, counts as recent.
        days: how long the window is; None for all there is.
    """
    found = Tally(skill, since=start(now, days), boundary=seconds(now) - RECENT_DAYS * DAY_S)
    for part in parts:
        found.add(part)
    return found


def start(now: datetime, days: int | None) -> int | None:
    """Return the second after which a window of days begins; None for all there is."""
    return None if days is None else seconds(now) - days * DAY_S


def trend(tally: Tally, *, now: datetime, days: int | None) -> InvocationTrend:
    """Compare the last seven days of a tally with the days before; see the constants above for what is called."""
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
    return _called(found, then, since) if enough else found


def with_bootstrap(found: InvocationTrend, tally: Tally, *, seed: int = SEED) -> InvocationTrend:
    """Put a bootstrap interval of the change beside the one that decides; no other than of a trend that is there."""
    drawn = None
    if found.trend is not None:
        drawn = resampled(tally.totals[: tally.before], tally.totals[tally.before :], seed=seed)
    if drawn is None:
        return found
    return replace(found, bootstrap=Interval(low=drawn.low, high=drawn.high, method=RESAMPLING))


def trend_json(found: InvocationTrend) -> dict[str, Any]:
    """Return a trend as an object: the keys of the rubric's own result, and ours beside them."""
    document: dict[str, Any] = encode(found)
    return document


def _called(found: InvocationTrend, then: Sample, since: Sample) -> InvocationTrend:
    old, new = rounded(then.mean) or 0.0, rounded(since.mean) or 0.0
    change = round(new - old, 9)
    percent = 100 * change / old if old else None
    bounds = difference(then, since)
    interval = None if bounds is None else Interval(low=bounds.low, high=bounds.high, method=METHOD)
    large = abs(change) >= LEAST_POINTS and (percent is None or abs(round(percent, 9)) >= LEAST_PERCENT)
    # Without any spread, equal values on either side differ by more than chance: of 5 and 5, in 1 order of 126.
    real = interval is None or interval.low > 0 or interval.high < 0
    direction = Direction.STABLE
    if large and real:
        direction = Direction.IMPROVING if change > 0 else Direction.DECLINING
    return replace(
        found,
        status="ok",
        change=change,
        change_percent=percent,
        interval=interval,
        trend=direction,
        reason=_why(found, change, large=large, real=real, interval=interval),
    )


def _why(found: InvocationTrend, change: float, *, large: bool, real: bool, interval: Interval | None) -> str:
    told = f"{found.recent.n} against {found.previous.n} rated invocations: {signed(change)} points"
    if interval is not None:
        told += f", and with 95 % between {signed(interval.low)} and {signed(interval.high)}"
    else:
        told += ", and within each window all totals are the same"
    if not large:
        return f"{told}; a change counts from {LEAST_PERCENT:g} % and {LEAST_POINTS:g} points"
    return told if real else f"{told}; chance alone may do that"


def _too_few(before: int, after: int, days: int | None) -> str:
    if days is not None and days <= RECENT_DAYS:
        return f"a window of {days} days leaves none before the last {RECENT_DAYS}"
    return (
        f"{after} rated in the last {RECENT_DAYS} days and {before} before; a comparison needs {LEAST} of each, and one"
        " of fewer would be chance"
    )


def _weakest(shares: dict[Component, ComponentFigure]) -> Component | None:
    """Return the component with the smallest share, where enough invocations measure it and it is weak (R19)."""
    weak = {
        component: figure.share
        for component, figure in shares.items()
        if figure.share is not None and figure.n >= LEAST and figure.share < ENOUGH
    }
    return min(weak, key=weak.__getitem__, default=None)
