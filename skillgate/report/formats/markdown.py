"""GitHub Markdown, for pull requests and job summaries: within a limit, and inert whatever the document holds."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.report.escape import code, inert, inert_html
from skillgate.report.findings import bounded
from skillgate.report.view import (
    Cell,
    Chart,
    Figures,
    Fold,
    Heading,
    Items,
    Note,
    Pairs,
    Table,
    spans,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.report.view import Block, Item, Line, Row, View

POSITION = 3
SUFFIXES = (".md",)
VIEWS = True
LIMIT = 1_000_000  # bytes; GitHub takes 1 MiB for the summary of a step
_TEXT = 300  # characters of a string in a table or a list
_LONG = 5_000  # of a reason
_ENTRIES = 200  # of one list or table
_TAIL = 400  # bytes for what says that something was left out
_ICONS = {"pass": "✅ ", "fail": "❌ ", "error": "⚠️ ", "none": ""}
_ALERTS = {"fair": "WARNING", "poor": "CAUTION"}


def utf8(text: str) -> int:
    """Return the size of a string in bytes."""
    return len(text.encode(errors="backslashreplace"))


def write(
    view: View,
    *,
    limit: int = LIMIT,
    measure: Callable[[str], int] = utf8,
    level: int = 1,
    foot: Line = "",
    rest: Line = "JSON report",
) -> str:
    """Write a view.

    Args:
        view: what is written.
        limit: the maximum size of the text.
        measure: how a text is measured.
        level: the level of the title.
        foot: small print at the end, which always has room.
        rest: the name of the place for what is left out.
    """
    elsewhere, last = written(rest), [f"<sub>{written(foot)}</sub>"] if foot else []
    lines = [*_note(Note(view.alarm, "poor")), ""] if view.alarm else []
    lines.append(f"{'#' * level} {_ICONS[view.mark]}{written(view.title, _LONG)}")
    room = _Room(limit - _TAIL - 2 * measure(elsewhere), measure, level, elsewhere)
    room.take(*lines, "", *last)
    lines += room.all(["", written(view.facts, _LONG)]) if view.facts else []
    lines += room.some(["", *(f"- {written(reason, _LONG)}" for reason in view.reasons[:_ENTRIES])])
    lines += room.some(["", *(f"- note: {written(note, _LONG)}" for note in view.notes[:_ENTRIES])])
    lines += room.blocks(view.blocks)
    if view.about:
        lines += room.blocks((Fold("About this report", (Pairs(view.about),)),))
    if room.missing:
        lines += ["", f"{plural(room.missing, 'more part')} in the {elsewhere}: there is no room for them here."]
    return "\n".join([*lines, *([""] if last else []), *last]) + "\n"


class _Room:
    """How much may still be written; a list takes at most half of it, so that what follows has some."""

    def __init__(self, left: int, measure: Callable[[str], int], level: int, rest: str) -> None:
        self.left = left
        self.measure = measure
        self.level = level
        self.rest = rest
        self.missing = 0
        self.depth = 1  # of folds

    def take(self, *lines: str) -> bool:
        """Take lines, unless there is no room for all of them."""
        size = sum(self.measure(line) + 1 for line in lines)
        if size > self.left:
            return False
        self.left -= size
        return True

    def all(self, lines: Sequence[str]) -> list[str]:
        """Take lines or none of them."""
        return list(lines) if self.take(*lines) else []

    def some(self, lines: Sequence[str]) -> list[str]:
        """Take the first lines: all but an empty one, or none."""
        floor, taken = self.left // 2, []
        for line in lines:
            if self.left - self.measure(line) - 1 < floor or not self.take(line):
                break
            taken.append(line)
        return taken if len(taken) > 1 else []

    def blocks(self, blocks: Iterable[Block]) -> list[str]:
        """Write blocks while there is room."""
        lines: list[str] = []
        for block in blocks:
            found = self._block(block)
            if not found and not isinstance(block, Chart):
                self.missing += 1
            lines += found
        return lines

    def _block(self, block: Block) -> list[str]:
        match block:
            case Table():
                rows = (_row(block, row) for row in block.rows)
                lines = self._listed((*_head(block),), rows, len(block.rows), block.noun)
                parts = [row for row in block.rows if row.below and row.anchor]
                return lines + self.blocks(Fold(_first(row), row.below, mark=row.mark) for row in parts)
            case Items():
                items = (_item(item, f"{n}. " if block.ordered else "- ") for n, item in enumerate(block.items, 1))
                return self._listed((), items, len(block.items) + block.left, block.noun)
            case Pairs():
                pairs = (f"- {inert(term)}: {written(line, _LONG)}" for term, line in block.items)
                return self._listed((), pairs, len(block.items), "line")
            case Note():
                return self.all(["", *_note(block)])
            case Heading():
                return self.all(["", f"{'#' * (self.level + block.level - 1)} {written(block.text)}"])
            case Figures():
                return self.all(["", " · ".join(_figures(block))])
            case Chart():
                return []
            case Fold():
                return self._fold(block)

    def _listed(self, head: Sequence[str], entries: Iterable[str], total: int, noun: str) -> list[str]:
        """Write the first entries below their head, and how many are left out."""
        opened = ["", *head]
        if not self.take(*opened):
            return []
        floor, taken = self.left // 2, []
        for entry in islice(entries, _ENTRIES):
            if self.left - self.measure(entry) - 1 < floor or not self.take(entry):
                break
            taken.append(entry)
        left = total - len(taken)
        rest = ["", f"{plural(left, f'more {noun}')} in the {self.rest}."] if left else []
        self.left -= sum(self.measure(line) + 1 for line in rest)
        return [*opened, *taken, *rest]

    def _fold(self, fold: Fold) -> list[str]:
        aside = "".join(f" · {_cell(cell)}" for cell in fold.aside)
        if fold.open:
            head, tail = [f"{'#' * (self.level + self.depth)} {_ICONS[fold.mark]}{written(fold.summary)}{aside}"], []
        else:
            said = _ICONS[fold.mark] + _html(fold.summary) + "".join(f" · {_html(cell.line)}" for cell in fold.aside)
            head, tail = [f"<details><summary>{said}</summary>"], ["", "</details>"]
        if not self.take("", *head, *tail):
            return []
        before = self.left
        self.depth += 1
        inside = self.blocks(fold.blocks)
        self.depth -= 1
        if fold.blocks and not inside and before:
            return []
        return ["", *head, *inside, *tail]


def _head(table: Table) -> Iterator[str]:
    if table.caption:
        yield inert(table.caption)
        yield ""
    names = _columns(table)
    yield f"| {' | '.join(inert(table.columns[n].name) for n in names)} |"
    yield f"|{'|'.join('--:' if table.columns[n].kind == 'number' else '---' for n in names)}|"


def _columns(table: Table) -> list[int]:
    return [n for n, column in enumerate(table.columns) if column.kind != "chart" or column.name]


def _row(table: Table, row: Row) -> str:
    return f"| {_ICONS[row.mark]}{' | '.join(_cell(row.cells[n]) for n in _columns(table))} |"


def _first(row: Row) -> Line:
    name = row.cells[0]
    return name.line if isinstance(name, Cell) else name


def _cell(cell: Cell | Line) -> str:
    if not isinstance(cell, Cell):
        return written(cell)
    text, note = written(cell.line), inert(bounded(cell.note, _TEXT))
    return f"{text} ({note})" if text and note else text or note


def _item(item: Item, head: str) -> str:
    label = f"**{inert(bounded(item.label, _TEXT))}** " if item.label else ""
    return head + "<br>".join((label + written(item.line, _LONG), *(written(line, _LONG) for line in item.below)))


def _note(note: Note) -> Iterator[str]:
    if note.tone in _ALERTS:
        yield f"> [!{_ALERTS[note.tone]}]"
        yield f"> {written(note.line, _LONG)}"
    else:
        yield written(note.line, _LONG)


def _figures(block: Figures) -> Iterator[str]:
    for one in block.items:
        text = f"{inert(one.name)} **{inert(one.value)}**"
        yield f"{text} {inert(one.note)}" if one.note else text


def written(line: Line, limit: int = _TEXT) -> str:
    """Write a line; what leads somewhere else than to a code host leads nowhere."""
    out = []
    for span in spans(line):
        body = span.text.strip(" ")
        if not body:
            out.append(" ")
            continue
        before, after = (" " if span.text[0] == " " else ""), (" " if span.text[-1] == " " else "")
        text = code(bounded(body, limit)) if span.style in {"code", "label"} else inert(bounded(body, limit))
        text = f"**{text}**" if span.style in {"strong", "poor"} else text
        text = f"[{text}]({span.url})" if span.url else text
        if text[0] == "`" and not before and out and out[-1][-1:] == "`":
            before = " "  # two code spans side by side would be read as one, or as none
        out.append(f"{before}{text}{after}")
    return "".join(out).strip(" ")


def _html(line: Line) -> str:
    """Write a line as HTML: Markdown does not hold in a summary."""
    parts = []
    for span in spans(line):
        text = inert_html(bounded(span.text, _TEXT)) or " "
        text = f"{' ' if span.text[:1] == ' ' else ''}{text}{' ' if span.text[-1:] == ' ' else ''}"
        parts.append(f"<code>{text}</code>" if span.style in {"code", "label"} else text)
    return "".join(parts).strip(" ")
