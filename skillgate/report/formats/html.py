"""One HTML page that needs no network: it loads nothing, and its one script only sorts and filters tables."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate.errors import UsageError
from skillgate.format import plural
from skillgate.homepage import homepage
from skillgate.report import charts
from skillgate.report.findings import bounded
from skillgate.report.numbers import sentence
from skillgate.report.view import Bar, Cell, Fold, Line, Row, Span, Table, View, spans

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ModuleNotFoundError as missing:
    raise UsageError('HTML needs Jinja2: pip install "skillgate-action[report]" (or [action])') from missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from skillgate.report.view import Block

T = TypeVar("T")

POSITION = 4
SUFFIXES = (".html",)
VIEWS = True
LIMIT = 3_000_000  # bytes: what opens at once on a telephone, and 280 skills with all their evidence
_MOST = 400  # entries of one list or table
_ROW = 200  # bytes of the frame of what is below a row
_SORTABLE = 6  # rows from which a table can be sorted and filtered


class _Ready(NamedTuple):
    """A block that is rendered already."""

    markup: str


def write(view: View, *, limit: int = LIMIT) -> str:
    """Write a view as a page of at most ``limit`` bytes; what has no room is left out from the end, and counted."""
    template = _environment().get_template("page.html.j2")
    block = template.module.block  # type: ignore[attr-defined]
    linkable = set(_anchors(view))
    view = _linked(view, linkable)
    frame = _size(template.render(view=view, parts=[], left=0, policy=policy()))
    parts = {n: block(one) for n, one in enumerate(view.blocks) if not _has_parts(one)}
    room, every = limit - frame - sum(map(_size, parts.values())), len(linkable)
    for n, one in enumerate(view.blocks):
        if isinstance(one, Table) and _has_parts(one):
            parts[n] = _within(one, room, linkable, block)
            room -= _size(parts[n])
    if len(linkable) < every:
        view = _linked(view, linkable)
        parts |= {n: block(one) for n, one in enumerate(view.blocks) if not _has_parts(one)}
    ordered = [parts[n] for n in sorted(parts)]
    shown = _fitting(ordered, limit - frame)
    left = every - len(linkable) + len(ordered) - shown
    return template.render(view=view, parts=ordered[:shown], left=left, policy=policy()).strip() + "\n"


def _anchors(node: object) -> Iterator[str]:
    """Find the names that can be linked to."""
    if isinstance(node, Fold) or (isinstance(node, Row) and node.below):
        yield node.anchor
    for part in node[:_MOST] if isinstance(node, tuple) else ():
        yield from _anchors(part)


def _has_parts(block: Block) -> bool:
    return isinstance(block, Table) and any(row.anchor and row.below for row in block.rows)


def _within(table: Table, room: int, linkable: set[str], render: Callable[[object], str]) -> str:
    """Render a table with what is below its rows while there is room; take the other rows out of ``linkable``."""
    rows = [row._replace(below=()) for row in table.rows[:_MOST]]
    room -= _size(render(table._replace(rows=tuple(rows))))
    for number, row in enumerate(table.rows[:_MOST]):
        ready = _Ready(Markup("").join(map(render, row.below)))
        room -= _size(ready.markup) + _ROW
        if room < 0:
            linkable -= {row.anchor for row in table.rows[number:]}
            break
        if row.below:
            rows[number] = row._replace(below=(ready,))  # type: ignore[arg-type]
    return render(_linked(table._replace(rows=(*rows, *table.rows[_MOST:])), linkable))


def _linked(node: T, linkable: set[str]) -> T:
    """Remove links to what is not shown."""
    if isinstance(node, Span):
        return node._replace(anchor="") if node.anchor not in linkable else node
    if not isinstance(node, tuple) or isinstance(node, _Ready):
        return node
    parts = [_linked(part, linkable) for part in node]
    return type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)  # type: ignore[return-value]


def _size(part: str) -> int:
    return len(part.encode()) + 1


def _fitting(parts: Iterable[str], room: int) -> int:
    """Count the parts that fit, from the front."""
    shown = 0
    for part in parts:
        room -= _size(part)
        if room < 0:
            break
        shown += 1
    return shown


@cache
def policy() -> str:
    """Return the content security policy: all is barred but the page's own style and script, known by their hashes."""
    style, script = _hashed("page.css"), _hashed("page.js")
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
    return charts.bar(*chart) if isinstance(chart, Bar) else chart


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
    environment.globals.update(homepage=homepage(), most=_MOST)
    return environment
