"""From past runs to what may be said of their change.

Two things are called a change. Over five runs or more, a series is rising or falling if its order is rarer than 4 %
without a trend (Mann and Kendall). Between the last two runs, one whose 95 % interval lies wholly above that of the run
before is higher, or lower: of two runs that do not differ fewer than one in a hundred pairs look so, which leaves both
together under 5 %. Scores at quick depth have no chance in them: there any difference is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.documents import Change, Trend
from skillgate.stats.plain import LEAST_VALUES, mann_kendall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from skillgate.model.documents import PastEvaluation, PastScore

ALPHA = 0.04
_BADGE_POINTS = 2  # decimals of a composite: what is shown as equal is equal


class _Point(NamedTuple):
    time: datetime
    value: float
    low: float | None
    high: float | None


def bench_trends(past: Iterable[PastEvaluation]) -> tuple[Trend, ...]:
    """Give one line for each skill on each benchmark, with equal tasks, scorers, filters and model.

    Args:
        past: the newest first.
    """
    groups: dict[tuple[str, ...], list[PastEvaluation]] = {}
    for one in past:
        digest = one.benchmark_digest or one.benchmark_version
        key = (one.skill_id, one.benchmark_id, digest, one.comparable, one.model or "", one.adapter)
        groups.setdefault(key, []).append(one)
    found = []
    for runs in groups.values():
        runs.reverse()
        latest = runs[-1]
        points = [
            _Point(one.started_at, one.completion_rate, one.completion_low, one.completion_high)
            for one in runs
            if one.completion_rate is not None and one.incomplete is None and not one.skipped
        ]
        measured = f"{latest.benchmark_id} {latest.benchmark_version}".strip()
        digest = f" ({latest.benchmark_digest[:8]})" if latest.benchmark_digest else ""
        found.append(
            _trend("bench", latest.skill_id, measured + digest, points, len(runs) - len(points), latest.comparable)
        )
    return _sorted(found)


def score_trends(past: Iterable[PastScore]) -> tuple[Trend, ...]:
    """Give one line for each skill at each depth, by equal scoring and models; ``past`` has the newest first."""
    groups: dict[tuple[object, ...], list[PastScore]] = {}
    for one in past:
        key = (one.skill_path, one.skill_name, one.depth, one.scoring_version, one.models)
        groups.setdefault(key, []).append(one)
    found = []
    for runs in groups.values():
        runs.reverse()
        latest = runs[-1]
        points = [_Point(one.scored_at, one.composite, *_interval(one)) for one in runs if one.composite is not None]
        measured = f"score at depth {latest.depth}, scoring {latest.scoring_version}"
        models = ", ".join(latest.models)
        found.append(_trend("score", latest.skill_path, measured, points, len(runs) - len(points), models))
    return _sorted(found)


def _interval(one: PastScore) -> tuple[float | None, float | None]:
    """Give a composite's interval; a static score is exact, to the decimals that are shown."""
    if one.depth != "quick" or one.composite is None:
        return one.ci_low, one.ci_high
    exact = round(one.composite, _BADGE_POINTS)
    return exact, exact


def _sorted(found: list[Trend]) -> tuple[Trend, ...]:
    return tuple(sorted(found, key=lambda one: (one.kind, one.subject, one.measured, one.conditions)))


def _trend(kind: str, subject: str, measured: str, points: Sequence[_Point], left_out: int, conditions: str) -> Trend:
    values = tuple(point.value for point in points)
    test = mann_kendall(values) if len(values) >= LEAST_VALUES else None
    change, reason = _change(points, None if test is None else (test.s, test.p))
    return Trend(
        kind=kind,
        subject=subject,
        measured=measured,
        values=values,
        times=tuple(point.time for point in points),
        first=values[0] if values else None,
        last=values[-1] if values else None,
        best=max(values, default=None),
        change=change,
        reason=reason,
        left_out=left_out,
        p=None if test is None else round(test.p, 6),
        conditions=conditions,
    )


def _change(points: Sequence[_Point], test: tuple[int, float] | None) -> tuple[Change, str]:
    if len(points) < 2:
        return Change.UNKNOWN, "one run: nothing to compare" if points else "no run that counts"
    before, last = points[-2], points[-1]
    if before.low is not None and before.high is not None and last.low is not None and last.high is not None:
        if last.low > before.high:
            return Change.HIGHER, "the last run is above the one before, beyond both intervals"
        if last.high < before.low:
            return Change.LOWER, "the last run is below the one before, beyond both intervals"
    if test is not None and test[1] < ALPHA:
        word = Change.RISING if test[0] > 0 else Change.FALLING
        return word, f"{word.value} over {len(points)} runs (Mann–Kendall, p = {test[1]:.3f})"
    text = "" if test is not None else f"; a trend needs {LEAST_VALUES} runs"
    return Change.NONE, f"no change that chance does not explain{text}"
