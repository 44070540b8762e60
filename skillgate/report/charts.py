"""Small pictures as shapes: places across in per cent of the width, places down in pixels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_THICK = 8.0  # pixels of a bar
_COLUMN = 140.0  # pixels of the longest column
_EDGE = 3.0  # per cent within which a text begins or ends at its place
_DOTS = 400  # dots of one drawing


class Shape(NamedTuple):
    """One shape.

    Attributes:
        kind: what is drawn; ``x`` and ``y`` are a corner, an end, the centre or the middle of a text's base.
        x: per cent of the width.
        y: pixels from the top.
        width: per cent; of a line how far its other end is, of a circle the radius in pixels.
        height: pixels; of a line how far its other end is.
        style: its class, such as a tone, ``axis`` or the name of a badge.
        text: what a text says, or what a pointer shows of another shape.
    """

    kind: Literal["rect", "line", "circle", "text"]
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    style: str = ""
    text: str = ""


class Drawing(NamedTuple):
    """A picture of so many pixels in height; ``width`` is in pixels too, 0 for all that there is."""

    shapes: tuple[Shape, ...]
    height: float
    width: float = 0.0


def bar(value: float | None, style: str, before: float | None = None) -> Drawing:
    """Draw a value from 0 to 100, with the part that was won or lost."""
    if value is None:
        return Drawing((Shape("rect", 0, 0, 100, _THICK, "gap"),), _THICK)
    end = within(value)
    shapes = [Shape("rect", 0, 0, 100, _THICK, "track"), Shape("rect", 0, 0, end, _THICK, style)]
    if before is not None and before != value:
        start = within(before)
        shapes.append(Shape("rect", min(start, end), 0, abs(end - start), _THICK, "up" if end > start else "down"))
    return Drawing(tuple(shapes), _THICK)


def rate(value: float | None, low: float | None, high: float | None, tone: str) -> Drawing:
    """Draw a value from 0 to 100 with its interval."""
    if value is None:
        return Drawing((Shape("rect", 0, 4, 100, _THICK, "gap"),), 16)
    shapes = [Shape("rect", 0, 4, 100, _THICK, "track"), Shape("rect", 0, 4, within(value), _THICK, tone)]
    if low is not None and high is not None and high > low:
        ends = within(low), within(high)
        shapes += [Shape("line", ends[0], 8, ends[1] - ends[0], 0, "whisker")]
        shapes += [Shape("line", end, 4, 0, _THICK, "whisker") for end in ends]
    return Drawing(tuple(shapes), 16)


def slope(before: float | None, after: float | None, style: str) -> Drawing:
    """Draw a value from 0 to 100 before (ring) and after (dot)."""
    shapes = [Shape("line", 0, 7, 100, 0, "axis")]
    if before is not None and after is not None:
        shapes.append(Shape("line", within(before), 7, within(after) - within(before), 0, f"move {style}"))
    shapes += [] if before is None else [Shape("circle", within(before), 7, 4, style="was")]
    shapes += [] if after is None else [Shape("circle", within(after), 7, 5, style=f"is {style}")]
    return Drawing(tuple(shapes), 14)


def latencies(p50: float | None, p95: float | None, p99: float | None, longest: float) -> Drawing:
    """Draw p50 (dot), p95 (ring) and p99 (line) with the longest time of all."""
    a, b, c = (100 * (value or 0.0) / longest for value in (p50, p95, p99))
    shapes = (
        Shape("line", 0, 7, 100, 0, "axis"),
        Shape("line", a, 7, c - a, 0, "move"),
        Shape("line", c, 1, 0, 12, "whisker"),
        Shape("circle", b, 7, 4, style="was"),
        Shape("circle", a, 7, 5, style="is"),
    )
    return Drawing(shapes, 14)


class Point(NamedTuple):
    """A stretch of time: the average in it from 0 to 100 (None for a gap), of how many, and what a pointer shows."""

    value: float | None
    number: int
    label: str


def course(points: Sequence[Point], levels: Sequence[tuple[float, str]], ticks: Sequence[tuple[int, str]]) -> Drawing:
    """Draw averages over time, and below them as columns of how many they are.

    The scale is always 0 to 100, so that noise looks small.

    Args:
        points: the earliest first, at least one.
        levels: limits, which are named at the right.
        ticks: names of some points, by their place.
    """
    wide, base, most = 88 / len(points), 270.0, max(1, *(point.number for point in points))
    places = [(wide * (n + 0.5), _down(point.value, 200)) for n, point in enumerate(points)]
    shapes = [Shape("line", 0, _down(at, 200) or 0, 88, 0, "limit") for at, _ in levels]
    shapes += [Shape("text", 100, (_down(at, 200) or 0) + 4, style="last level", text=name) for at, name in levels]
    shapes += _path(places)
    for n, (point, (x, y)) in enumerate(zip(points, places, strict=True)):
        size = 44 * point.number / most
        shapes.append(Shape("rect", (n + 0.15) * wide, base - size, wide * 0.7, size, "track", point.label))
        shapes += [] if y is None else [Shape("circle", x, y, 3, style="dot", text=point.label)]
    shapes += [
        Shape("line", 0, base, 88, 0, "axis"),
        Shape("text", 100, base, style="last level", text=f"n to {most:,}"),
    ]
    shapes += [Shape("text", places[n][0], base + 18, style=_edge(places[n][0], 88), text=name) for n, name in ticks]
    return Drawing(tuple(shapes), base + 24)


def spark(values: Sequence[float | None]) -> Drawing:
    """Draw values from 0 to 100 over time, small; None is a gap."""
    wide = 96 / max(1, len(values) - 1)
    places = [(2 + wide * n, _down(value, 18)) for n, value in enumerate(values)]
    dots = [
        Shape("circle", place[0], place[1], 1.5, style="dot")
        for n, place in enumerate(places)
        if place[1] is not None and all(y is None for _, y in (*places[max(0, n - 1) : n], *places[n + 1 : n + 2]))
    ]
    return Drawing((*_path(places), *dots), 22)


def _path(places: Sequence[tuple[float, float | None]]) -> Iterator[Shape]:
    """Join places that follow one another."""
    for (x, y), (to, down) in pairwise(places):
        if y is not None and down is not None:
            yield Shape("line", x, y, to - x, down - y, "path")


def _down(value: float | None, height: float) -> float | None:
    return None if value is None else 2 + height * (1 - within(value) / 100)


class Column(NamedTuple):
    """One column of a histogram: what it counts, how many there are, and its colour."""

    label: str
    number: int
    style: str = ""


def columns(counted: Sequence[Column], marks: Sequence[tuple[float, str]] = (), *, height: float = _COLUMN) -> Drawing:
    """Draw columns side by side, with marks below them at places in per cent."""
    most, step = max([1, *(column.number for column in counted)]), 100 / max(1, len(counted))
    shapes = [Shape("line", at, 6, 0, height + 18, "limit") for at, _ in marks]
    for index, column in enumerate(counted):
        if column.number:
            size, left = height * column.number / most, index * step
            label = f"{column.label}: {column.number}"
            shapes.append(Shape("rect", left + step * 0.08, height - size + 20, step * 0.84, size, column.style, label))
            shapes.append(Shape("text", left + step / 2, height - size + 15, text=f"{column.number:,}"))
    shapes.append(Shape("line", 0, height + 20.5, 100, 0, "axis"))
    shapes += [Shape("text", at, height + 38, style=_edge(at), text=name) for at, name in marks]
    return Drawing(tuple(shapes), height + 44)


def shares(parts: Sequence[tuple[str, int]], *, height: float = _THICK) -> Drawing:
    """Divide a bar among parts, each with its class and how many it has."""
    total, left, shapes = sum(number for _, number in parts) or 1, 0.0, []
    for style, number in parts:
        if number:
            shapes.append(Shape("rect", left, 0, 100 * number / total, height, style))
            left += 100 * number / total
    return Drawing(tuple(shapes) or (Shape("rect", 0, 0, 100, height, "gap"),), height)


class Axis(NamedTuple):
    """An axis from one value to another."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Axis:
        """Return an axis for some values with a little room at its ends."""
        low, high = min(values), max(values)
        spare = max(0.06 * (high - low), 0.01 * abs(high), 1.0)
        return cls(low - spare, high + spare)

    def at(self, value: float) -> float:
        """Return the place of a value in per cent."""
        return within(100 * (value - self.low) / (self.high - self.low))

    def marks(self, y: float) -> list[Shape]:
        """Draw round values below the axis."""
        span = self.high - self.low
        power = 10.0 ** (len(f"{int(span):d}") - 1)
        step = next((power * part for part in (0.1, 0.2, 0.5, 1.0, 2.0) if span / (power * part) <= 6), power)
        first = -(-self.low // step) * step
        values = [first + index * step for index in range(8)]
        labelled = [value for value in values if value <= self.high and 3 <= self.at(value) <= 97]
        return [Shape("text", self.at(value), y, text=f"{value:,.0f}") for value in labelled]


def box(values: Sequence[float], q1: float, median: float, q3: float, *, outliers: bool) -> Drawing:
    """Draw quartiles and the median of values, how far the others reach, and which are outliers."""
    reach = 1.5 * (q3 - q1)
    inner = [value for value in values if q1 - reach <= value <= q3 + reach] or [q1, q3]
    low, high = min(*inner, q1), max(*inner, q3)
    outer = [value for value in values if not low <= value <= high] if outliers else []
    axis = Axis.of([*values, q1, q3])
    at = axis.at
    shapes = (
        Shape("line", at(low), 24, at(high) - at(low), 0, "whisker"),
        Shape("rect", at(q1), 12, at(q3) - at(q1), 24, "track"),
        Shape("line", at(median), 9, 0, 30, "whisker"),
        *(Shape("circle", at(value), 24, 3, style="was", text=f"{value:,.0f}") for value in outer[:_DOTS]),
        Shape("line", 0, 50.5, 100, 0, "axis"),
        *axis.marks(66),
    )
    return Drawing(shapes, 72)


def field(dots: Sequence[tuple[float, int, str]], rows: Sequence[tuple[str, str]], here: float | None) -> Drawing:
    """Draw dots (value, row, what it is) in rows, each with its name and style; ``here`` is a value to compare with."""
    axis = Axis.of([*(value for value, _, _ in dots), *([] if here is None else [here])])
    height = 28.0 * len(rows)
    shapes = [Shape("line", 0, 26 + 28 * index, 100, 0, "axis") for index in range(len(rows))]
    shapes += [Shape("text", 0, 20 + 28 * index, style="first", text=name) for index, (name, _) in enumerate(rows)]
    if here is not None:
        shapes.append(Shape("line", axis.at(here), 6, 0, height, "limit"))
        shapes.append(Shape("text", axis.at(here), height + 36, text="this skill"))
    for value, row, said in dots[:_DOTS]:
        shapes.append(Shape("circle", axis.at(value), 26 + 28 * row, 4.5, style=rows[row][1], text=said))
    return Drawing((*shapes, *axis.marks(height + 20)), height + 42)


def within(value: float) -> float:
    """Keep a place inside of the picture."""
    return min(100.0, max(0.0, value))


def _edge(at: float, end: float = 100) -> str:
    return "first" if at <= _EDGE else "last" if at >= end - _EDGE else ""
