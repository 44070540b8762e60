"""Whether a skill gets better: its last seven days against those before (R18 to R21), and what to do about it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skillgate.format import signed
from skillgate.invocations.figures import DAY_S, Tally, component_figure, median, rounded, seconds, time_of
from skillgate.model.codec import encode
from skillgate.model.invocation import Component, Direction, Interval, InvocationTrend, Window
from skillgate.stats.resampling import METHOD, RESAMPLING, difference, resampled, sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from skillgate.model.invocation import ComponentFigure, Observation
    from skillgate.stats.resampling import Sample

RECENT_DAYS = 7
"""How many days are compared with those before. Source: the rubric's "last week" (R20)."""
LEAST = 5
"""Rated invocations that each window needs, and those that a component's mean rests on. Source: R20 and R29."""
LEAST_PERCENT = 10.0
"""Of the earlier mean: what a change must reach. Source: the rubric's trend detection."""
LEAST_POINTS = 3.0
"""What it must reach besides, since ten per cent of a small mean is nothing. Source: R21."""
SEED = 20_260  # of the bootstrap; any would do, and one must be named for the same bytes to come out
ENOUGH = 0.7
"""The share of its points from which a component needs no advice. Source: the rubric's query of opportunities."""
_LOW = 0.5  # the share under which a component is low. Source: the rubric's 50 of 100, taken as a share (R18)

_WORDS = {
    Component.COMPLETION: {
        "low": "Many runs do not get to their end: write into SKILL.md what can go wrong, how it shows, and for each"
        " what to try next.",
        "medium": "Some runs stop early or take a detour: look at the ones that did, and say in SKILL.md what to do"
        " there.",
    },
    Component.EFFICIENCY: {
        "low": "Runs cost far more than their output calls for: keep SKILL.md to what every run needs, and move the"
        " rest into files that are read when they are needed.",
        "medium": "Runs cost more than need be: name the shortest order of tool calls, and which files need not be"
        " read.",
    },
    Component.QUALITY: {
        "low": "Outputs are often wrong or incomplete: show complete examples of good ones, and name the mistakes that"
        " come again and again.",
        "medium": "Outputs fall short now and then: end the workflow with a check of the output that the model must"
        " run.",
    },
    Component.SATISFACTION: {
        "low": "Users rework or drop what they get: ask some of them what they changed, and see which edits repeat.",
        "medium": "Users come back with corrections: let the skill ask about what is unclear before it starts.",
    },
}


def recommendation(component: Component, share: float) -> str | None:
    """Return what to do about a component that gives a share of its points, in [0, 1]; None from 0.7."""
    return None if share >= ENOUGH else _WORDS[component]["low" if share < _LOW else "medium"]


def tally_of(skill: str, parts: Iterable[Sequence[Observation]], *, now: datetime, days: int | None) -> Tally:
    """Count what :func:`trend` and the figures need.

    Args:
        skill: its name.
        parts: its observations in the order of time.
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
    """Compare the last seven days of a tally with the days before; the constants above say what counts as a trend."""
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
    """Add a bootstrap interval of the change to the one that decides, where there is a trend."""
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


def _decided(found: InvocationTrend, then: Sample, since: Sample) -> InvocationTrend:
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
    figures = f"{found.recent.n} against {found.previous.n} rated invocations: {signed(change)} points"
    if interval is not None:
        figures += f", and with 95 % between {signed(interval.low)} and {signed(interval.high)}"
    else:
        figures += ", and within each window all totals are the same"
    if not large:
        return f"{figures}; a change counts from {LEAST_PERCENT:g} % and {LEAST_POINTS:g} points"
    return figures if real else f"{figures}; chance alone may do that"


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
