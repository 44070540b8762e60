"""One HTML page that needs no network: it loads nothing, and its one script only sorts and filters tables."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from skillgate.errors import UsageError
from skillgate.format import plural
from skillgate.model.finding import HOMEPAGE
from skillgate.report import charts
from skillgate.report.findings import bounded
from skillgate.report.numbers import sentence
from skillgate.report.view import Bar, Cell, Fold, Line, Span, Table, View, spans

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ModuleNotFoundError as missing:
    raise UsageError('HTML needs Jinja2: pip install "skillgate-action[report]" (or [action])') from missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.report.view import Block

POSITION = 4
SUFFIXES = (".html",)
WRITERS = {
    "score": "score:view",
    "check": "score:view",
    "compare": "changes:compare_view",
    "diff": "changes:view",
    "bench": "bench:view",
    "bench-diff": "bench_diff:view",
    "invocations": "invocations:view",
    "history": "history:view",
    "find": "choosing:view",
    "evals": "evals:view",
    "corpus-list": "corpus:list_view",
    "corpus-show": "corpus:show_view",
    "corpus-verify": "corpus:verify_view",
    "certificate-check": "certificate:view",
}
LIMIT = 3_000_000  # bytes: what opens at once on a telephone, and 280 skills with all their evidence
_MOST = 400  # entries of one list or table
_SORTABLE = 6  # rows from which a table can be sorted and filtered


def write(view: View, *, limit: int = LIMIT) -> str:
    """Write a view as a page of at most ``limit`` bytes; what has no room is left out from the end, and counted."""
    template = _environment().get_template("page.html.j2")
    block = template.module.block  # type: ignore[attr-defined]

    room = limit - len(template.render(view=view, parts=[], left=0, policy=policy()).encode())
    blocks = view.blocks
    parts = [block(one) for one in blocks]
    if sum(map(_size, parts)) > room:  # first what is below rows has to go, from the end
        blocks = tuple(
            _within(one, room - sum(map(_size, parts)) + _size(part), block)
            for one, part in zip(blocks, parts, strict=True)
        )
        parts = [block(one) for one in blocks]
    shown = _fitting(parts, room)
    kept = set(_anchors(blocks[:shown]))
    for anchor in set(_anchors(view.blocks)) - kept:
        parts = [part.replace(Markup('<a href="#{}">').format(anchor), Markup("<a>")) for part in parts[:shown]]
    return template.render(view=view, parts=parts[:shown], left=len(blocks) - shown, policy=policy()).strip() + "\n"


def _within(block: Block, room: int, render: Callable[[Block], str]) -> Block:
    """Leave out what is below the last rows of a table that is too long."""
    if not isinstance(block, Table) or not any(row.anchor and row.below for row in block.rows):
        return block
    rows = [row._replace(below=()) for row in block.rows]
    room -= _size(render(block._replace(rows=tuple(rows))))
    for number, row in enumerate(block.rows):
        room -= _size(render(block._replace(rows=(row,)))) - _size(render(block._replace(rows=(rows[number],))))
        if room < 0:
            break
        rows[number] = row
    return block._replace(rows=tuple(rows))


def _size(part: str) -> int:
    return len(part.encode()) + 1


def _fitting(parts: Sequence[str], room: int) -> int:
    for number, part in enumerate(parts):
        room -= _size(part)
        if room < 0:
            return number
    return len(parts)


def _anchors(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Fold):
            yield block.anchor
            yield from _anchors(block.blocks)
        elif isinstance(block, Table):
            yield from (row.anchor for row in block.rows if row.anchor and row.below)


@cache
def policy() -> str:
    """Return the content security policy: all is barred but the page's own style and script, known by their hashes."""
    style, script = _hashed("view.css"), _hashed("page.js")
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; "
        "img-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _hashed(name: str) -> str:
    text = _environment().get_template(name).render()
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _shown(value: object) -> object:
    """Make a value fit for a page before it is escaped: a string is inert, on one line and bounded."""
    if value is None:
        return "—"
    return bounded(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _cell(cell: Cell | Line) -> Cell:
    return cell if isinstance(cell, Cell) else Cell(cell)


def _drawing(chart: Bar | charts.Drawing) -> charts.Drawing:
    return charts.bar(chart) if isinstance(chart, Bar) else chart


def _capital(line: Line) -> tuple[Span, ...]:
    """Begin a line with a capital, if it begins with text of ours."""
    found = spans(line)
    return (found[0]._replace(text=sentence(found[0].text)), *found[1:]) if found and not found[0].style else found


def _sortable(table: Table) -> bool:
    return len(table.rows) >= _SORTABLE


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("skillgate.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters: dict[str, Any] = {
        "spans": spans,
        "cell": _cell,
        "drawing": _drawing,
        "capital": _capital,
        "sentence": sentence,
    }
    environment.filters.update({**filters, "plural": plural, "kind": lambda block: type(block).__name__})
    environment.tests.update(sortable=_sortable)
    environment.globals.update(homepage=HOMEPAGE, most=_MOST)
    return environment
