"""What the charts of recorded invocations are drawn from: places in per cent of their width, heights in pixels."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural
from skillgate.model.invocation import Tier
from skillgate.report import invocations_words as words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.model.invocation import DayFigures

HEIGHT = 200.0  # pixels of averages from 0 to 100: the scale does not move with them, so that noise looks small
BELOW = 44.0  # pixels of the longest column of counts
_GAP = 26.0  # pixels between averages and counts
_AREA = 88.0  # per cent of the width; names of tiers stand beside
_POINTS = 120  # of a line; a longer course is told in steps of more days
_TICKS = 5
_SPARK = (120.0, 36.0)  # pixels of a small course
_SPARK_POINTS = 60


class Span(NamedTuple):
    """Some days together: the first, all rated invocations and their average."""

    day: date
    n: int
    average: float | None


class Point(NamedTuple):
    """One span as it is drawn; ``y`` is None without an average. ``top`` and ``height`` are those of its column."""

    x: float
    y: float | None
    left: float
    width: float
    top: float
    height: float
    span: Span
    label: str


class Segment(NamedTuple):
    """A line between two spans that follow one another."""

    x1: float
    y1: float
    x2: float
    y2: float


class Course(NamedTuple):
    """Averages over days with the counts below them; ``said`` tells it in words, ``step`` is how many days a point is.

    ``levels`` are the limits of tiers and where they stand, ``ticks`` are (place, text, class).
    """

    points: tuple[Point, ...]
    segments: tuple[Segment, ...]
    levels: tuple[tuple[Tier, float], ...]
    ticks: tuple[tuple[float, str, str], ...]
    said: str
    step: int
    most: int
    area: float = _AREA
    height: float = HEIGHT
    base: float = HEIGHT + _GAP + BELOW


class Spark(NamedTuple):
    """A small course: the drawing of a path in pixels, and what it shows in words."""

    path: str
    said: str


class Part(NamedTuple):
    """One part of a bar that is divided among tiers; ``name`` is a class."""

    name: str
    left: float
    width: float


def spans(daily: Iterable[DayFigures], most: int) -> tuple[tuple[Span, ...], int]:
    """Give all days from the first to the last, those without an invocation too, and how many days a span is.

    Where there are more than ``most`` they are put together; the average of some is that of their invocations. Days
    that are not dates are left out.
    """
    days = sorted(_dated(daily))
    if not days:
        return (), 1
    first = days[0][0]
    step = -(-((days[-1][0] - first).days + 1) // most)
    found: dict[int, tuple[int, float]] = {}
    for day, n, average in days:
        place = (day - first).days // step
        count, total = found.get(place, (0, 0.0))
        found[place] = (count + n, total + n * average)
    last = (days[-1][0] - first).days // step
    averages = (found.get(place, (0, 0.0)) for place in range(last + 1))
    return tuple(
        Span(date.fromordinal(first.toordinal() + place * step), n, total / n if n else None)
        for place, (n, total) in enumerate(averages)
    ), step


def _dated(daily: Iterable[DayFigures]) -> Iterator[tuple[date, int, float]]:
    for one in daily:
        try:
            day = date.fromisoformat(one.day)
        except ValueError:
            continue
        if one.average is not None and one.n > 0:
            yield day, one.n, one.average


def course(daily: Sequence[DayFigures]) -> Course | None:
    """Draw averages over days; None where there is none."""
    found, step = spans(daily, _POINTS)
    if not found:
        return None
    most = max(span.n for span in found)
    wide = _AREA / len(found)
    points = tuple(_point(span, place, wide, most) for place, span in enumerate(found))
    segments = tuple(
        Segment(before.x, before.y, after.x, after.y)
        for before, after in pairwise(points)
        if before.y is not None and after.y is not None
    )
    levels = tuple((tier, _y(tier.least)) for tier in Tier if tier.least)
    return Course(points, segments, levels, tuple(_ticks(points)), _said(found, step), step, most)


def _point(span: Span, place: int, wide: float, most: int) -> Point:
    height = round(BELOW * span.n / most, 1)
    left, base = place * wide, HEIGHT + _GAP + BELOW
    label = f"{span.day}: {words.average(span.average)}, n {span.n:,}"
    y = None if span.average is None else _y(span.average)
    gap = min(0.15 * wide, 0.4)
    return Point(
        round(left + wide / 2, 2),
        y,
        round(left + gap, 2),
        round(wide - 2 * gap, 2),
        round(base - height, 1),
        height,
        span,
        label,
    )


def _y(value: float) -> float:
    return round(HEIGHT * (1 - min(100.0, max(0.0, value)) / 100), 1)


def _ticks(points: Sequence[Point]) -> Iterator[tuple[float, str, str]]:
    """Name some days below the chart; on a small screen the first and the last are enough."""
    places = sorted({round(index * (len(points) - 1) / (_TICKS - 1)) for index in range(_TICKS)})
    for place in places:
        point = points[place]
        ends = {0: (0.0, "first"), len(points) - 1: (_AREA, "end")} if len(points) > 1 else {}
        at, which = ends.get(place, (point.x, "between"))
        yield at, f"{point.span.day:%b} {point.span.day.day}", which


def _said(found: Sequence[Span], step: int) -> str:
    known = [span for span in found if span.average is not None]
    low, high = min(known, key=_average), max(known, key=_average)
    each = "day" if step == 1 else f"{step} days"
    said = (
        f"Average of each {each} from {found[0].day} to {found[-1].day}: {words.average(known[0].average)} at first, "
    )
    said += f"{words.average(known[-1].average)} at last, lowest {words.average(low.average)} on {low.day}, "
    said += f"highest {words.average(high.average)} on {high.day}"
    gaps = len(found) - len(known)
    return f"{said}; {plural(gaps, 'gap')} without rated invocations." if gaps else f"{said}."


def _average(span: Span) -> float:
    return span.average or 0.0


def spark(daily: Sequence[DayFigures], first: date | None, last: date | None) -> Spark | None:
    """Draw the course of one skill between two days, small; None where there is none."""
    found, step = spans(daily, _SPARK_POINTS)
    if not found:
        return None
    start = min(first or found[0].day, found[0].day)
    end = max(last or found[-1].day, found[-1].day)
    wide, high = _SPARK
    reach = max(1, (end - start).days)
    path, is_drawing = "", False
    for span in found:
        if span.average is None:
            is_drawing = False
            continue
        x = 2 + (wide - 4) * (span.day - start).days / reach
        y = 2 + (high - 4) * (1 - min(100.0, max(0.0, span.average)) / 100)
        path += f"{'L' if is_drawing else 'M'}{x:.1f} {y:.1f}" + ("" if is_drawing else "h.01")  # alone, it is a dot
        is_drawing = True
    return Spark(path, _said(found, step))


def divided(counts: Sequence[tuple[str, int]]) -> tuple[Part, ...]:
    """Divide a bar among tiers; empty parts are left out."""
    total = sum(number for _, number in counts)
    parts, before = [], 0
    for name, number in counts:
        if number:
            parts.append(Part(tier_class(name), round(100 * before / total, 2), round(100 * number / total, 2)))
        before += number
    return tuple(parts)


def tier_class(name: str) -> str:
    """Give the class of a tier's colour, as in ``tier-below-average``; of the unrated too."""
    return f"tier-{name.lower().replace(' ', '-')}"
