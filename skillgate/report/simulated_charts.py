"""Charts of sessions and matches: places and lengths in per cent of their width. Templates draw them.

Each says in words what it shows, so that nobody has to see it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.layers import COMPLETED, FAILED
from skillgate.report.html_charts import Column
from skillgate.report.ranking_words import result_of
from skillgate.report.simulated_words import style, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.layers import Match, MonteCarloLayer, RankingLayer, Simulation

_HEIGHT = 90.0  # pixels of the longest column
_GRADES = 10  # a grade is one of 0 to 10, kept as a tenth of it
_DOTS = 400  # dots that one chart draws
_GOOD, _FAIR = 0.8, 0.6  # where a grade of an answer begins to be good or fair, as of a composite's colours
_SPARE = 0.06  # of the axis beyond the outermost value
_ROWS = ("won", "drawn", "lost")


class Columns(NamedTuple):
    """Columns with a label under each; ``said`` tells the same in words, ``ticks`` are (place, text)."""

    columns: tuple[Column, ...]
    ticks: tuple[tuple[float, str], ...]
    said: str
    height: float = _HEIGHT


class Box(NamedTuple):
    """Quartiles, the median, the outermost values that are no outliers, and the outliers; in per cent of the axis."""

    low: float
    q1: float
    median: float
    q3: float
    high: float
    outliers: tuple[float, ...]
    ticks: tuple[tuple[float, str], ...]
    said: str

    @property
    def width(self) -> float:
        """Give how wide the box is."""
        return round(self.q3 - self.q1, 2)


class Styled(NamedTuple):
    """How often the sessions of one style loaded the skill; ``wanted`` is whether they should."""

    name: str
    loaded: int
    total: int
    wanted: bool
    share: float
    tone: str


class Dot(NamedTuple):
    """One match: where its opponent stands, and the row of its result."""

    at: float
    row: int
    label: str


class Field(NamedTuple):
    """Matches by the opponent's rating; ``here`` is the skill's own, None where it has none."""

    dots: tuple[Dot, ...]
    here: float | None
    ticks: tuple[tuple[float, str], ...]
    said: str


def grades(runs: Sequence[Simulation]) -> Columns | None:
    """Count the grades of answers for which the skill was loaded, by tenths; None where there is none."""
    counted = [0] * (_GRADES + 1)
    for run in runs:
        if run.outcome == COMPLETED and run.activated and run.quality is not None:
            counted[min(_GRADES, max(0, round(run.quality * _GRADES)))] += 1
    if not any(counted):
        return None
    step, most, columns = 100 / (_GRADES + 1), max(counted), []
    for grade, count in enumerate(counted):
        if count:
            height = round(_HEIGHT * count / most, 1)
            tone = _tone(grade / _GRADES)
            left = round(grade * step + 0.8, 2)
            columns.append(
                Column(left, round(step - 1.6, 2), _HEIGHT - height, height, count, tone, f"{grade}: {count}")
            )
    ticks = tuple((round((grade + 0.5) * step, 2), f"{grade}") for grade in range(0, _GRADES + 1, 2))
    description = "; ".join(column.label for column in columns)
    return Columns(tuple(columns), ticks, f"Answers by grade, from 0 to 10. {description}.")


def _tone(share: float) -> str:
    return "good" if share >= _GOOD else "fair" if share >= _FAIR else "poor"


def box(layer: MonteCarloLayer) -> Box | None:
    """Draw the tokens that the skill adds; None where there are too few."""
    spread = layer.tokens
    values = sorted(run.tokens for run in layer.runs if _has_tokens(run) and run.tokens is not None)
    if spread is None or not values:
        return None
    reach = 1.5 * (spread.q3 - spread.q1)
    inner = [value for value in values if spread.q1 - reach <= value <= spread.q3 + reach]
    low, high = (inner[0], inner[-1]) if inner else (spread.q1, spread.q3)
    outer = [value for value in values if not low <= value <= high] if spread.outliers is not None else []
    axis = _axis([*values, spread.q1, spread.q3])
    return Box(
        low=axis.at(min(low, spread.q1)),
        q1=axis.at(spread.q1),
        median=axis.at(spread.median),
        q3=axis.at(spread.q3),
        high=axis.at(max(high, spread.q3)),
        outliers=tuple(map(axis.at, outer[:_DOTS])),
        ticks=axis.ticks(),
        said=tokens(spread),
    )


def _has_tokens(run: Simulation) -> bool:
    return run.outcome == COMPLETED and bool(run.activated)


class _Axis(NamedTuple):
    """An axis that holds some values with a little to spare."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Give a value's place in per cent."""
        return round(100 * min(1.0, max(0.0, (value - self.low) / (self.high - self.low))), 2)

    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Give round values on it, with their places."""
        span = self.high - self.low
        power = 10.0 ** (len(f"{int(span):d}") - 1)
        step = next((power * part for part in (0.1, 0.2, 0.5, 1.0, 2.0) if span / (power * part) <= 6), power)
        first = -(-self.low // step) * step
        places = (first + index * step for index in range(8))
        return tuple(
            (self.at(place), f"{place:,.0f}") for place in places if place <= self.high and 3 <= self.at(place) <= 97
        )


def _axis(values: Sequence[float]) -> _Axis:
    low, high = min(values), max(values)
    spare = max(_SPARE * (high - low), 0.01 * abs(high), 1.0)
    return _Axis(low - spare, high + spare)


def styles(runs: Sequence[Simulation]) -> tuple[Styled, ...]:
    """Count by style how many sessions loaded the skill; near misses, which should not, come last."""
    known = [run for run in runs if run.outcome in (COMPLETED, FAILED) and run.activated is not None]
    names = dict.fromkeys(
        (style(run), run.should_trigger) for run in sorted(known, key=lambda run: not run.should_trigger)
    )
    found = []
    for name, wanted in list(names)[:_GRADES]:
        same = [run for run in known if (style(run), run.should_trigger) == (name, wanted)]
        loaded = sum(bool(run.activated) for run in same)
        share = loaded / len(same)
        found.append(
            Styled(name, loaded, len(same), wanted, round(100 * share, 2), _tone(share if wanted else 1 - share))
        )
    return tuple(found)


def field(layer: RankingLayer) -> Field | None:
    """Draw the decided matches by their opponents' ratings; None where there is none."""
    decided = [match for match in layer.played if match.result is not None and result_of(match) in _ROWS][:_DOTS]
    if not decided:
        return None
    own = layer.elo.rating if layer.elo is not None else None
    axis = _axis([*(match.opponent_rating for match in decided), *([own] if own is not None else [])])
    dots = tuple(_dot(match, axis) for match in decided)
    description = "; ".join(
        f"{row} against {', '.join(f'{match.opponent_rating:,.0f}' for match in same)}"
        for row in _ROWS
        if (same := [match for match in decided if result_of(match) == row])
    )
    return Field(
        dots, None if own is None else axis.at(own), axis.ticks(), f"Matches by the opponent's rating: {description}."
    )


def _dot(match: Match, axis: _Axis) -> Dot:
    label = f"{match.opponent} ({match.opponent_rating:,.0f}), {result_of(match)}"
    return Dot(axis.at(match.opponent_rating), _ROWS.index(result_of(match)), label)
