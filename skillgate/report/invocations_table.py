"""Tables of recorded invocations in a terminal: what does not fit a width is left out whole, and said to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from skillgate.format import printable
from skillgate.report.terminal import Style, columns, cut, pad

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")

_GAP = "  "
_NAME = 32  # columns of a name
_CUT = 2  # columns that a text takes however much it is cut
_LEAST = 18  # columns below which a name says little


class Column(NamedTuple):
    """One column; those of the highest ``rank`` are left out first, all of one rank at once, and those of 0 never."""

    head: str
    rank: int = 0
    is_number: bool = True


class Cell(NamedTuple):
    """What stands in a column, and its colour."""

    text: str
    color: str = ""


def table(head: Sequence[Column], rows: Sequence[Sequence[Cell]], style: Style) -> Iterator[str]:
    """Lay out rows under their heads, no line wider than ``style.width``; the first column is a name and gives way.

    A last line names the columns for which there was no room.
    """
    texts = [[column.head for column in head], *([printable(cell.text) for cell in row] for row in rows)]
    wide = [min(_NAME, max(columns(row[place]) for row in texts)) for place in range(len(head))]
    columns_shown = list(range(len(head)))
    while _room(wide, columns_shown, style.width) < min(wide[0], _LEAST):
        worst = max(head[place].rank for place in columns_shown)
        if not worst:
            break
        columns_shown = [place for place in columns_shown if head[place].rank < worst]
    wide[0] = max(1, min(wide[0], _room(wide, columns_shown, style.width)))
    for number, row in enumerate(texts):
        cells = [
            _laid(row[place], wide[place], is_number=head[place].is_number and place > 0) for place in columns_shown
        ]
        colors = (
            ["dim"] * len(columns_shown) if not number else [rows[number - 1][place].color for place in columns_shown]
        )
        yield _painted(cells, colors, style)
    left = [head[place].head for place in range(len(head)) if place not in columns_shown]
    if left and rows:
        yield style.paint(cut(f"no room for: {', '.join(left)}", style.width), "dim")


def _room(wide: Sequence[int], columns_shown: Sequence[int], width: int) -> int:
    """Tell how many columns are left for the name."""
    return width - sum(wide[place] + len(_GAP) for place in columns_shown if place)


def _laid(text: str, width: int, *, is_number: bool) -> str:
    text = cut(text, width)
    return " " * max(0, width - columns(text)) + text if is_number else pad(text, width)


def _painted(texts: Sequence[str], colors: Sequence[str], style: Style) -> str:
    """Join cells to a line of at most the width; each is painted by itself, its blanks are not."""
    left, cells = style.width, []
    for text, color in zip(texts, colors, strict=True):
        if columns(text) > left < _CUT:
            break
        bare = cut(text, left)
        core = bare.strip(" ")
        cells.append(bare.replace(core, style.paint(core, *filter(None, [color])), 1) if core else bare)
        left -= columns(bare) + len(_GAP)
    return _GAP.join(cells).rstrip(" ")


def ends(items: Sequence[T], most: int) -> tuple[Sequence[T], int, Sequence[T]]:
    """Cut the middle out of a list: give its beginning, how many are left out, and its end."""
    if len(items) <= most:
        return items, 0, ()
    half = most // 2
    return items[: most - half], len(items) - most, items[len(items) - half :]
