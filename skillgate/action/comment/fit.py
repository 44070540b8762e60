"""Sections of a text, fitted into a limit: what matters most first, whole rows or none, nothing cut inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_AFTER = 5  # ranks between what is in sight of a table and what of it is folded away
_CLOSING = 200  # units kept back in each section for "n more", beside what it links to


class Section(NamedTuple):
    """A part of a text.

    Attributes:
        head: the lines before the rows.
        rows: lines that can be left out one by one, the last first.
        tail: the lines after the rows; whatever ``head`` opens, it closes.
        rank: sections of a lower rank are given room first.
        left: how many rows were left out before.
        title: what it is called where the whole of it finds no room.
    """

    title: str
    head: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    rank: int = 0
    left: int = 0

    @classmethod
    def of(
        cls,
        title: str,
        head: tuple[str, ...],
        rows: Sequence[str],
        *,
        most: int,
        tail: tuple[str, ...] = (),
        rank: int = 0,
        total: int | None = None,
    ) -> Section:
        """Make a section of at most so many rows; ``total`` is how many there would be, where not all are given."""
        left = (len(rows) if total is None else total) - len(rows[:most])
        return cls(title, head, tuple(rows[:most]), tail, rank, left)


def folding(
    title: str, head: Sequence[str], table: Sequence[str], lines: Sequence[str], *, most: int, total: int, rank: int
) -> tuple[Section, ...]:
    """Make a table of which the first ``most`` lines are in sight, the next ones folded away, the others counted.

    Args:
        title: what the lines are, in the plural.
        head: what stands above the table.
        table: its first two lines.
        lines: its other lines, as many as are shown or folded.
        most: how many are in sight.
        total: how many there are.
        rank: of what is in sight; what is folded comes well after it.
    """
    if not lines:
        return ()
    shown = Section(title, ("", *head, *table), tuple(lines[:most]), rank=rank)
    if total <= most:
        return (shown,)
    opened = ("", f"<details><summary>{total - most:,} more {title}</summary>", "", *table)
    below = tuple(lines[most:])
    left = total - most - len(below)
    return shown, Section(f"more {title}", opened, below, ("", "</details>"), rank + _AFTER, left)


def utf16(text: str) -> int:
    """Count UTF-16 code units, in which GitHub bounds a comment."""
    return len(text) + sum(1 for character in text if character > "\uffff")


def utf8(text: str) -> int:
    """Count bytes of UTF-8, in which GitHub bounds a summary."""
    return len(text.encode())


def fit(sections: Sequence[Section], limit: int, size: Callable[[str], int], where: str) -> str:
    """Write sections in their order, in no more than ``limit`` units.

    Room is given by rank. A section takes at most half of what is left, so that none starves those after it; one
    without rows, and one of rank 0, is taken as it is. Where one finds no room, the last line but the last section
    says so.

    Args:
        sections: the parts, in the order they are shown; those without rows and with rank 0 must fit together.
        limit: the most units.
        size: how a text is measured.
        where: Markdown for where the rest can be read.
    """
    cost = {index: _size((*part.head, *part.tail), size) for index, part in enumerate(sections)}
    left = limit - size(_left_out([part.title for part in sections], where)) - 2
    written: dict[int, list[str]] = {}
    for index, part in sorted(enumerate(sections), key=lambda item: item[1].rank):
        share = left if part.rank == 0 or not part.rows else left // 2
        reserve = _CLOSING + size(where) if part.rows else 0
        if cost[index] + reserve > share:
            continue
        taken = _taken(part.rows, share - cost[index] - reserve, size)
        if part.rows and not taken:
            continue
        written[index] = _lines(part, taken, where)
        left -= _size(written[index], size)
    missing = [part.title for index, part in enumerate(sections) if index not in written]
    lines = [line for index in sorted(written) for line in written[index]]
    if missing:
        last = written.get(len(sections) - 1, [])
        at = len(lines) - len(last)
        lines[at:at] = ["", _left_out(missing, where)]
    return "\n".join(lines) + "\n"


def _taken(rows: Iterable[str], room: int, size: Callable[[str], int]) -> list[str]:
    taken = []
    for row in rows:
        room -= size(row) + 1
        if room < 0:
            break
        taken.append(row)
    return taken


def _lines(part: Section, rows: list[str], where: str) -> list[str]:
    left = part.left + len(part.rows) - len(rows)
    more = ["", f"{left:,} more in the {where}."] if left else []
    return [*part.head, *rows, *more, *part.tail]


def _left_out(titles: list[str], where: str) -> str:
    return f"Too long for here, see the {where}: {', '.join(titles)}."


def _size(lines: Iterable[str], size: Callable[[str], int]) -> int:
    return sum(size(line) + 1 for line in lines)
