"""The sections of the dashboard in a terminal: the leaderboard, tiers, what to improve; and lines that keep a width."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from skillgate.format import plural, printable
from skillgate.model.invocation import Component, Direction, Tier
from skillgate.report import invocations_words as words
from skillgate.report.history_text import bars
from skillgate.report.invocations_table import Cell, Column, ends, table
from skillgate.report.terminal import Style, columns, cut, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.invocation import ComponentFigure, DayFigures, InvocationReport, InvocationTrend, SkillFigures

COLORS = {"good": "green", "fair": "yellow", "poor": "red"}
"""The colour of a class of a figure."""
TREND_COLORS = {Direction.IMPROVING: "green", Direction.DECLINING: "red", Direction.STABLE: "", None: "dim"}
"""The colour of a trend."""
ADVISED = 8  # of a list of what to act on
COMMON = (Column("skill"), Column("uses"), Column("rated", 1), Column("average"), Column("95 %"))
"""The columns of :func:`common`, and then :data:`PARTS`."""
PARTS = tuple(Column(short, 2) for short in ("compl", "effic", "qual", "satis"))
_DAYS = 60  # of a line of days, the newest
_HEADS = {Tier.EXCELLENT: "Exc", Tier.ACCEPTABLE: "Acc", Tier.BELOW_AVERAGE: "Below", Tier.FAILING: "Fail"}


def course(daily: Sequence[DayFigures], room: int) -> str:
    """Draw the averages of the last days and say the newest; a character is a day, and a dot one without any."""
    known = {one.day: one.average for one in daily if one.average is not None}
    try:
        last = date.fromisoformat(max(known, default=""))
        days = [(last - timedelta(days=back)).isoformat() for back in range(max(1, min(room, _DAYS)))]
    except (ValueError, OverflowError):
        return ""
    drawn = [known.get(day) for day in reversed(days) if day >= min(known)]
    picture = "".join("·" if value is None else bars([value], 100.0) for value in drawn)
    return f"by day {picture} {words.average(known[last.isoformat()])} on {last}"


def board(report: InvocationReport, style: Style, shown: int) -> Iterator[str]:
    """Render the leaderboard."""
    trends = {one.skill: one for one in report.trends}
    head = (*COMMON, Column("trend"), *PARTS, Column("tier", 3, is_number=False))
    yield style.paint("Leaderboard", "bold")
    found = words.on_the_board(report)
    if found:
        yield from _cut_table(head, [_row(one, trends.get(one.skill)) for one in found], style, shown)
    if report.below_minimum:
        count = plural(report.below_minimum, "skill")
        verb = "has" if report.below_minimum == 1 else "have"
        yield from wrapped(f"{count} {verb} under {words.LEAST} rated invocations and no place here", style, "dim")


def _row(figures: SkillFigures, trend: InvocationTrend | None) -> list[Cell]:
    tier = words.tier(figures.avg_score)
    moved = Cell(words.moved(trend), TREND_COLORS[trend.trend if trend else None])
    last = Cell(tier.value if tier else words.NOTHING, COLORS[words.TONES[tier]] if tier else "dim")
    return [*common(figures), moved, *shares(figures), last]


def common(figures: SkillFigures) -> list[Cell]:
    """Give the name of a skill, how often it was used and rated, its average and the interval of that."""
    tier = words.tier(figures.avg_score)
    return [
        Cell(figures.skill),
        Cell(f"{figures.recorded:,}"),
        Cell(f"{figures.invocation_count:,}"),
        Cell(words.average(figures.avg_score), COLORS[words.TONES[tier]] if tier else "dim"),
        Cell(words.interval(figures.interval) or words.NOTHING, "dim"),
    ]


def shares(figures: SkillFigures) -> list[Cell]:
    """Give the four components as shares of what they can give."""
    return [_share(figures.components.get(item.value)) for item in Component]


def _share(found: ComponentFigure | None) -> Cell:
    value = found.share if found else None
    if value is None:
        return Cell(words.NOTHING, "dim")
    return Cell(
        words.share(value),
        {"very weak": "red", "weak": "yellow"}.get(words.weakness(value), ""),
    )


def tiers(report: InvocationReport, style: Style, shown: int) -> Iterator[str]:
    """Render how many invocations each tier has, of each skill and of all."""
    head = (
        Column("skill"),
        *(Column(_HEADS.get(item, item.value)) for item in Tier),
        Column(words.UNRATED),
    )
    rows = [
        _tier_row(one.skill, words.in_tiers(one.tiers, one.recorded, one.invocation_count))
        for one in words.on_the_board(report)
    ]
    whole = _tier_row("all skills", words.in_tiers(report.tiers, report.invocations, report.rated))
    yield style.paint("Invocations by tier", "bold")
    yield from _cut_table(head, rows, style, shown, last=whole)


def _tier_row(name: str, counts: Sequence[tuple[str, int]]) -> list[Cell]:
    colors = [*(COLORS[words.TONES[item]] for item in Tier), "dim"]
    cells = [
        Cell(f"{number:,}" if number else "·", color if number else "dim")
        for (_, number), color in zip(counts, colors, strict=True)
    ]
    return [Cell(name), *cells]


def advice(report: InvocationReport, style: Style, shown: int) -> Iterator[str]:
    """Render what to improve, the smallest share first."""
    worst = words.worst(report.opportunities)
    if not worst:
        return
    yield style.paint("Improve first", "bold")
    for one in worst[:shown]:
        name = cut(printable(one.skill), max(12, style.width - 40))
        figure = f"{printable(words.words_of(one.component))} {words.share(one.share)}"
        line = f"  {name}  {figure} (n {one.n:,})"
        color = "red" if one.share < words.LOW else "yellow"
        fits = columns(line) <= style.width
        yield line.replace(f"  {figure}", f"  {style.paint(figure, color)}", 1) if fits else cut(line, style.width)
        yield from hanging("      ", one.recommendation, style)
    if len(worst) > shown:
        yield from hanging("  ", f"… {len(worst) - shown:,} more; -v shows them", style)


def _cut_table(
    head: Sequence[Column], rows: list[list[Cell]], style: Style, shown: int, last: list[Cell] | None = None
) -> Iterator[str]:
    """Lay out a table; of a long one its beginning and its end."""
    first, left, tail = ends(rows, shown)
    lines = list(table(head, [*first, *tail, *([last] if last else [])], style))
    yield from lines[: 1 + len(first)]
    if left:
        yield from wrapped(f"… {plural(left, 'skill')} more; -v shows them", style)
    yield from lines[1 + len(first) :]


def wrapped(text: str, style: Style, color: str = "") -> Iterator[str]:
    """Break a text into lines."""
    return hanging("", text, style, color)


def hanging(head: str, text: str, style: Style, color: str = "") -> Iterator[str]:
    """Break a text into lines that begin under where its first one does."""
    for number, line in enumerate(wrap(printable(text), max(8, style.width - len(head)))):
        yield (" " * len(head) if number else head) + style.paint(line, *filter(None, [color]))
