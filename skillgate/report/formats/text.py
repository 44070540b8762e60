"""Text for a terminal: laid out for its width; what needs no action is left out unless everything is asked for."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from skillgate.format import plural, printable, uncommanded
from skillgate.report.view import (
    Bar,
    Cell,
    Chart,
    Figures,
    Fold,
    Heading,
    Items,
    Note,
    Pairs,
    Table,
    plain,
    spans,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.format import Style
    from skillgate.report.view import Block, Column, Item, Line, Row, Span, View

POSITION = 1
SUFFIXES = (".txt",)
TERMINAL = True
VIEWS = True
WRITERS = {"check": "tally:view"}

_COLORS = {
    **{"good": "green", "fair": "yellow", "poor": "red", "muted": "dim", "up": "green", "down": "red"},
    **{"strong": "bold", "label": "dim", "none": "bold", "literal": "cyan"},
    **{"pass": "green", "fail": "red", "error": "yellow"},
}
_SIGNS = {"pass": "✓ ", "fail": "✗ ", "error": "! ", "none": ""}
NARROW = 80  # columns under which bars are left out
_BAR = 12  # columns of a bar
_NAME = 20  # columns of the first column of a table that is too wide
_LAST = 28  # columns that a last column needs to be wrapped in its place
_LINES = 3  # of a wrapped cell, unless everything is asked for
_REASONS = 20  # unless everything is asked for
_LABEL = 12  # columns of a label at most


def write(view: View, style: Style, *, verbose: bool = False, seconds: float | None = None) -> str:
    """Write a view; ``verbose`` shows everything, ``seconds`` is how long it took."""
    lines = list(_Writer(style, verbose=verbose).view(view, seconds))
    spaced = (line for n, line in enumerate(lines) if line or (n and lines[n - 1]))
    return "\n".join(spaced).rstrip("\n") + "\n"


class _Writer:
    def __init__(self, style: Style, *, verbose: bool) -> None:
        self.style = style
        self.verbose = verbose

    def view(self, view: View, seconds: float | None) -> Iterator[str]:
        yield from self._hung("", view.alarm, 0, "red", "bold") if view.alarm else ()
        head = list(self._head(view, seconds))
        body = list(self.blocks(view.blocks, 0))
        if self.verbose and view.about:
            body += ["", *self._pairs(Pairs(view.about), 0)]
        if view.ends:
            start = 0 if body[:1] != [""] else 1
            yield from (*body[start:], *([""] if len(body) > 1 and not _is_raw(view.blocks) else []), *head)
        else:
            yield from (*head, *body)

    def _head(self, view: View, seconds: float | None) -> Iterator[str]:
        took = "" if seconds is None else f" ({seconds:.2f} s)"
        yield from self._hung("", (*spans(view.title), took), 0, _COLORS[view.mark], "bold")
        if view.facts:
            yield from self._hung("", view.facts, 0, "dim")
        for reason in view.reasons[: len(view.reasons) if self.verbose else _REASONS]:
            yield from self._hung("- ", reason, 2)
        if not self.verbose:
            yield from self._left(len(view.reasons) - _REASONS, "reason", 2)
        for note in view.notes:
            yield from self._hung("note: ", note, 2)

    def blocks(self, blocks: Iterable[Block], indent: int) -> Iterator[str]:
        """Write blocks, with an empty line before what begins something new."""
        follows = False  # a heading, which needs no space below it
        for block in blocks:
            lines = list(self._block(block, indent))
            if lines and (isinstance(block, Heading) or (indent == 0 and not follows)):
                yield ""
            yield from lines
            follows = isinstance(block, Heading)

    def _block(self, block: Block, indent: int) -> Iterator[str]:
        match block:
            case Table():
                yield from self._table(block, indent)
            case Items():
                yield from self._items(block, indent)
            case Pairs():
                yield from self._pairs(block, indent)
            case Note():
                yield from self._hung("", block.line, indent, *filter(None, (_COLORS.get(block.tone),)))
            case Heading():
                yield from self._hung("", block.text, indent, "bold")
            case Figures():
                yield from self._figures(block, indent)
            case Chart() if self.verbose:
                yield from self._hung("", f"{block.title}: {block.said}", indent)
            case Fold() if self.verbose or not block.quiet:
                yield from self._fold(block, indent)

    def _fold(self, fold: Fold, indent: int) -> Iterator[str]:
        aside = "".join(f" · {_text(cell)}" for cell in fold.aside)
        yield from self._hung(_SIGNS[fold.mark], (*spans(fold.summary), aside), indent, "bold")
        yield from self.blocks(fold.blocks, indent + 2)

    def _figures(self, block: Figures, indent: int) -> Iterator[str]:
        texts = [printable(f"{one.name} {one.value} {one.note}".rstrip()) for one in block.items]
        painted = [self._painted(text, one.tone) for text, one in zip(texts, block.items, strict=True)]
        yield from _flowed(painted, [columns(text) for text in texts], " · ", self.style.width, indent)

    def _pairs(self, block: Pairs, indent: int) -> Iterator[str]:
        wide = min(22, max((columns(printable(term)) for term, _ in block.items), default=0))
        for term, line in block.items:
            yield from self._hung(f"{pad(printable(term), wide)}  ", line, indent)

    def _items(self, block: Items, indent: int) -> Iterator[str]:
        if block.raw:
            for item in block.items:
                yield from self._raw(item.line, 0)
                yield from self._pointed(item)
                for line in item.below:
                    yield from self._raw(line, 4)
            return
        shown = block.items if self.verbose else block.items[: block.most]
        wide = min(_LABEL, max((columns(printable(item.label)) for item in shown), default=0))
        for number, item in enumerate(shown, start=1):
            head = f"{number}. " if block.ordered else "" if wide else "- "
            yield from self._item(item, head, wide, indent)
        if self.verbose and block.left:
            more = f"… {plural(block.left, f'more {block.noun}')} in the JSON report"
            yield self.style.paint(" " * indent + more, "dim")
        elif not self.verbose:
            yield from self._left(len(block.items) - len(shown) + block.left, block.noun, indent)

    def _raw(self, line: Line, indent: int) -> Iterator[str]:
        """Write a line whole, however long; on a terminal it continues below itself, further in."""
        if not self.style.terminal:
            yield " " * indent + self._spans(line)
            return
        text = printable(plain(line))
        indent += len(text) - len(text.lstrip(" "))
        hang = indent + 4
        first, *rest = wrap(text, self.style.width - indent)
        if rest:  # wrapped again, since what follows has less room
            rest = wrap(" ".join(text.split())[len(first) :], self.style.width - hang)
        painted = self._repainted([first, *rest], spans(line))
        yield from (" " * (hang if number else indent) + one for number, one in enumerate(painted))

    def _pointed(self, item: Item) -> Iterator[str]:
        """Write the excerpt of an entry, with a caret below the place that it is about.

        On a terminal, long lines are cut around that place.
        """
        row, column = item.caret
        room = self.style.width - 9 if self.style.terminal else 0
        start = 0
        if room and any(columns(printable(text)) > room for number, text in item.excerpt if number == row):
            start = max(0, column - 1 - room // 2)
        for number, text in item.excerpt:
            shown = uncommanded(printable(f"…{text[start:]}" if start and text[start:] else text[start:]))
            shown = _begun(shown, room) if room and columns(shown) > room else shown
            yield f"{self.style.paint(f'{number:>6} │', 'dim')} {shown}".rstrip()
            if number == row and column <= len(text) + 1:
                before = " " * (columns(printable(text[start : column - 1])) + bool(start))
                yield f"{self.style.paint('       │', 'dim')} {before}{self.style.paint('^', 'bold')}"

    def _item(self, item: Item, head: str, wide: int, indent: int) -> Iterator[str]:
        label = f"{pad(printable(item.label), wide)}  " if wide else ""
        first, *rest = self._hung(head + label, item.line, indent)
        yield self._relabelled(first, head, label, item, indent)
        yield from rest
        hang = indent + columns(head + label)
        for line in item.below:
            yield from self._hung("", line, hang, "dim")
        for number, text in item.excerpt:
            yield self.style.paint(cut(f"{' ' * hang}{number:>5} │ {printable(text)}", self.style.width), "dim")

    def _relabelled(self, first: str, head: str, label: str, item: Item, indent: int) -> str:
        at = indent + len(head)
        return first[:at] + self._painted(label, item.tone) + first[at + len(label) :] if item.tone else first

    def _table(self, table: Table, indent: int) -> Iterator[str]:
        shown = table.rows if self.verbose else table.rows[: table.most]
        kept = [n for n, column in enumerate(table.columns) if self._is_shown(column, n, shown)]
        names = [table.columns[n] for n in kept]
        cells = [[_cell(row.cells[n]) for n in kept] for row in shown]
        texts = [[printable(self._text(cell)) for cell in row] for row in cells]
        for row, found in zip(shown, texts, strict=True):
            found[0] = _SIGNS[row.mark] + found[0]
        heads = [column.name for column in names]
        widths = [max(map(columns, column)) for column in zip(heads, *texts, strict=True)]
        room = self.style.width - indent - 2 * (len(widths) - 1)
        if sum(widths) > room:  # the name is what can be shortened
            for row, found in zip(shown, texts, strict=True):
                found[0] = _SIGNS[row.mark] + printable(plain(_cell(row.cells[0]).line))
            widths[0] = max(columns(first) for first in (heads[0], *(found[0] for found in texts)))
            spare = max(0, widths[-1] - _LAST) if names[-1].kind == "text" else 0  # the last column can be wrapped
            widths[0] = max(min(widths[0], _NAME), widths[0] - max(0, sum(widths) - room - spare))
        last = room - sum(widths[:-1])
        if last < widths[-1] and (names[-1].kind != "text" or last < _LAST):
            lines = [self._stacked(names, row, indent) for row in texts]
        else:
            widths[-1] = min(widths[-1], last)
            yield self.style.paint((" " * indent + _aligned(heads, widths, names)).rstrip(), "dim")
            lines = [self._row(row, found, widths, names, indent) for row, found in zip(cells, texts, strict=True)]
        for row, written in zip(shown, lines, strict=True):
            yield from written
            if row.below and (self.verbose or not row.quiet):
                yield from self.blocks(row.below, indent + 4)
                yield ""
        yield from self._left(len(table.rows) - len(shown), table.noun, indent, table.rest)

    def _is_shown(self, column: Column, number: int, rows: Sequence[Row]) -> bool:
        """Return whether a column is shown: one of drawings is not, and bars need a wide terminal."""
        if column.kind != "chart":
            return True
        found = [_cell(row.cells[number]) for row in rows]
        return any(plain(cell.line) or (isinstance(cell.chart, Bar) and self.style.width >= NARROW) for cell in found)

    def _text(self, cell: Cell) -> str:
        if isinstance(cell.chart, Bar) and self.style.width >= NARROW:
            full = 0 if cell.chart.value is None else round(_BAR * min(100.0, cell.chart.value) / 100)
            drawn = " " * _BAR if cell.chart.value is None else "█" * full + "░" * (_BAR - full)
            return f"{drawn} {_text(cell)}".rstrip()
        return _text(cell)

    def _row(
        self, cells: Sequence[Cell], texts: list[str], widths: Sequence[int], names: Sequence[Column], indent: int
    ) -> Iterator[str]:
        """Write a row with a last cell that continues below itself."""
        is_long = names[-1].kind == "text" and len(texts) > 1
        wrapped = self._clipped(texts[-1], widths[-1]) if is_long else [texts[-1]]
        first = _aligned([cut(texts[0], widths[0]), *texts[1:-1], wrapped[0]][-len(texts) :], widths, names)
        yield " " * indent + self._toned(first.rstrip(), cells, widths)
        hang = " " * (indent + sum(widths[:-1]) + 2 * (len(widths) - 1))
        yield from (hang + line for line in wrapped[1:])

    def _toned(self, line: str, cells: Sequence[Cell], widths: Sequence[int]) -> str:
        """Colour the cells of a row of text of single-width characters."""
        if not self.style.color or not line.isprintable() or columns(line) != len(line):
            return line
        out, at = "", 0
        for cell, width in zip(cells, widths, strict=True):
            piece = line[at : at + width + 2]
            out += self._painted(piece, cell.tone or next((s.style for s in spans(cell.line) if s.style), ""))
            at += width + 2
        return out

    def _stacked(self, names: Sequence[Column], texts: Sequence[str], indent: int) -> Iterator[str]:
        """Write a row that does not fit: its name, below it each figure with what it is called, then its last text."""
        width = self.style.width - indent - 4
        yield " " * indent + cut(texts[0], self.style.width - indent)
        parts = [f"{column.name} {text}".strip() for column, text in zip(names, texts, strict=True) if text][1:]
        last = parts.pop() if len(parts) > 1 and texts[-1] and columns(parts[-1]) > width // 2 else ""
        yield from _flowed(parts, [columns(part) for part in parts], " · ", self.style.width, indent + 4)
        yield from (" " * (indent + 4) + line for line in self._clipped(last, width) if line)

    def _clipped(self, text: str, width: int) -> list[str]:
        """Wrap a text; unless everything is asked for, it ends after a few lines."""
        lines = wrap(text, width)
        return (
            lines if self.verbose or len(lines) <= _LINES else [*lines[: _LINES - 1], _begun(lines[_LINES - 1], width)]
        )

    def _left(self, count: int, noun: str, indent: int, rest: str = "") -> Iterator[str]:
        if count > 0:
            yield from self._hung("", f"… {plural(count, f'more {noun}')}{rest}; -v shows them", indent, "dim")

    def _painted(self, text: str, tone: str) -> str:
        return self.style.paint(text, _COLORS[tone]) if tone in _COLORS else text

    def _spans(self, line: Line) -> str:
        shown = ((self._painted(printable(span.text), span.style), span.url) for span in spans(line))
        return uncommanded("".join(self.style.linked(text, url) for text, url in shown))

    def _repainted(self, lines: list[str], parts: Sequence[Span]) -> list[str]:
        """Paint wrapped lines as the parts that their characters come from; only spaces were lost."""
        if not self.style.color:
            return lines
        sources = [span for span in parts for one in printable(span.text) if not _is_blank(one)]
        if len(sources) != sum(not _is_blank(one) for line in lines for one in line):
            return lines
        rest = iter(sources)
        span = parts[0]
        painted = []
        for line in lines:
            found: list[tuple[Span, str]] = []
            for one in line:
                span = span if _is_blank(one) else next(rest)
                if found and found[-1][0] is span:
                    found[-1] = (span, found[-1][1] + one)
                else:
                    found.append((span, one))
            painted.append("".join(self.style.linked(self._painted(text, of.style), of.url) for of, text in found))
        return painted

    def _hung(self, head: str, line: Line, indent: int, *colors: str) -> Iterator[str]:
        """Write a line after a head, going on below itself; without colours, its parts have theirs."""
        parts = spans(line)
        text = printable("".join(span.text for span in parts))
        if indent + columns(head) > self.style.width - 20:  # no room next to it
            yield self.style.paint(" " * indent + head.rstrip(), *colors)
            head, indent = "", indent + 2
        hang = " " * (indent + columns(head))
        room = max(20, self.style.width - len(hang))
        lines = wrap(text, room)
        if not colors:  # a line that is wrapped has no double spaces
            fits = len(lines) == 1 and columns(text) <= room
            lines = [self._spans(parts)] if fits else self._repainted(lines, parts)
        start = " " * indent + head
        yield self.style.paint(start + lines[0], *colors)
        yield from (self.style.paint(hang + line, *colors) for line in lines[1:])


def _is_raw(blocks: Sequence[Block]) -> bool:
    return any(isinstance(block, Items) and block.raw for block in blocks)


def _cell(cell: Cell | Line) -> Cell:
    return cell if isinstance(cell, Cell) else Cell(cell)


def _text(cell: Cell) -> str:
    text = plain(cell.line)
    return f"{text} ({cell.note})" if text and cell.note else text or cell.note


def _is_blank(character: str) -> bool:
    return character.isspace() or character == "\u200b"  # breaks commands for a CI runner


def _begun(text: str, width: int) -> str:
    """Mark that a text continues, within a width."""
    while columns(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def _aligned(texts: Sequence[str], widths: Sequence[int], names: Sequence[Column]) -> str:
    cells = []
    for text, width, column in zip(texts, widths, names, strict=True):
        cells.append(" " * (width - columns(text)) + text if column.kind == "number" else pad(text, width))
    return "  ".join(cells)


def _flowed(parts: Sequence[str], sizes: Sequence[int], between: str, width: int, indent: int) -> Iterator[str]:
    """Put parts on as many lines as they need; a part that is too long is broken."""
    line, taken = "", 0
    for part, size in zip(parts, sizes, strict=True):
        if line and indent + taken + len(between) + size > width:
            yield " " * indent + line
            line, taken = "", 0
        if size > width - indent:
            *whole, part = wrap(part, max(20, width - indent))
            yield from (" " * indent + piece for piece in whole)
            size = columns(part)
        line, taken = (f"{line}{between}{part}", taken + len(between) + size) if line else (part, size)
    if line:
        yield " " * indent + line


def columns(text: str) -> int:
    """Count the columns a text takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def pad(text: str, width: int) -> str:
    """Fill a string with spaces up to a width."""
    return text + " " * max(0, width - columns(text))


def cut(text: str, width: int) -> str:
    """Shorten a string to a width, with an ellipsis in its middle: both ends of a path matter."""
    if columns(text) <= width:
        return text
    head = max(1, (width - 1) // 3)
    tail = text
    while tail and columns(tail) > width - 1 - head:
        tail = tail[1:]
    start = text
    while start and columns(start) > head:
        start = start[:-1]
    return f"{start}…{tail}"


def wrap(text: str, width: int) -> list[str]:
    """Break a string into lines of at most ``width`` columns, at spaces if there are any."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and columns(line) + 1 + columns(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
        while columns(line) > width > 0:
            fitting = _fitting(line, width)
            lines.append(line[:fitting])
            line = line[fitting:]
    return [uncommanded(item) for item in ([*lines, line] if line or not lines else lines)]


def _fitting(text: str, width: int) -> int:
    taken = 0
    for index, character in enumerate(text):
        taken += _columns(character)
        if taken > width:
            return max(1, index)
    return len(text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
