"""What the charts of a page are drawn from: places and lengths in per cent of their width. Templates draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.score import Badge

if TYPE_CHECKING:
    from collections.abc import Sequence

BINS = 20  # of five points each, so that every badge begins a bin
_HEIGHT = 140.0  # pixels of the longest column


class Bar(NamedTuple):
    """One bar from 0 to 100, and where it ended before.

    ``low`` and ``width`` are the part that was won or lost, ``moved`` its class (``up``, ``down`` or ``""``).
    """

    value: float
    tone: str
    low: float = 0.0
    width: float = 0.0
    moved: str = ""


class Whisker(NamedTuple):
    """A point with its interval, in per cent of the width; ``width`` is 0 where there is no interval."""

    at: float
    low: float
    high: float
    width: float


class Column(NamedTuple):
    """One column of a histogram: left edge and width in per cent, top and height in pixels."""

    left: float
    width: float
    top: float
    height: float
    number: int
    tone: str
    label: str


class Histogram(NamedTuple):
    """How scores are distributed: the columns that hold some, and the limits of the badges, in per cent of the width.

    ``said`` tells the same in words.
    """

    columns: tuple[Column, ...]
    limits: tuple[tuple[Badge, float], ...]
    said: str
    height: float = _HEIGHT


class Share(NamedTuple):
    """One part of a bar that is divided among badges; ``name`` is the badge's, or ``none``."""

    name: str
    left: float
    width: float
    number: int


def bar(value: float | None, tone: str, before: float | None = None) -> Bar | None:
    """Draw a value in [0, 100]; None where there is none. ``before`` shows what it was."""
    if value is None:
        return None
    end = _within(value)
    if before is None or before == value:
        return Bar(end, tone)
    start = _within(before)
    return Bar(min(start, end), tone, min(start, end), round(abs(end - start), 2), "up" if end > start else "down")


def whisker(score: float | None, low: float | None, high: float | None) -> Whisker | None:
    """Draw a score in [0, 1] with its interval; None where there is no score."""
    if score is None:
        return None
    at = _within(100 * score)
    start, end = (at if limit is None else _within(100 * limit) for limit in (low, high))
    return Whisker(at, start, end, round(end - start, 2))


def histogram(scores: Sequence[float]) -> Histogram:
    """Count scores in [0, 100] in bins of five points; 100 is in the last."""
    counted = [0] * BINS
    for score in scores:
        counted[min(BINS - 1, max(0, int(score * BINS // 100)))] += 1
    most = max([*counted, 1])
    step = 100 / BINS
    columns = []
    for index, count in enumerate(counted):
        low = index * step
        height = round(_HEIGHT * count / most, 1)
        badge = Badge.from_scores(low)
        label = f"{low:g}–{low + step:g}: {count}"
        name = badge.value.lower() if badge else "none"
        if count:
            columns.append(Column(low + 0.4, step - 0.8, _HEIGHT - height, height, count, name, label))
    limits = tuple((badge, badge.composite) for badge in reversed(Badge))
    description = "; ".join(column.label for column in columns)
    return Histogram(tuple(columns), limits, f"Skills by score, in steps of five points. {description}.")


def shares(counts: Sequence[tuple[str, int]]) -> tuple[Share, ...]:
    """Divide a bar; parts that are empty are left out."""
    total = sum(count for _, count in counts)
    parts, left = [], 0.0
    for name, count in counts:
        if count:
            width = round(100 * count / total, 3)
            parts.append(Share(name, round(left, 3), width, count))
            left += width
    return tuple(parts)


def _within(value: float) -> float:
    return round(min(100.0, max(0.0, value)), 2)
