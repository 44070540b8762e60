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
    from collections.abc import Iterator, Sequence

    from skillgate.report.view import Block

POSITION = 4
SUFFIXES = (".html",)
WRITERS = {
    "score": "html:render_score",
    "check": "html:render_score",
    "compare": "html:render_compare",
    "diff": "html:render_diff",
    "bench": "bench:view",
    "bench-diff": "bench_diff:view",
    "invocations": "invocations_html:render",
}
LIMIT = 3_000_000  # bytes: what opens at once on a telephone, and 280 skills with all their evidence
_MOST = 300  # entries of one list or table
_SORTABLE = 6  # rows from which a table can be sorted and filtered


def write(view: View, *, limit: int = LIMIT) -> str:
    """Write a view as a page of at most ``limit`` bytes; what has no room is left out from the end, and counted."""
    template = _environment().get_template("page.html.j2")
    block = template.module.block  # type: ignore[attr-defined]

    parts = [block(one) for one in view.blocks]
    room = limit - len(template.render(view=view, parts=[], left=0, policy=policy()).encode())
    shown = _fitting(parts, room)
    for anchor in _anchors(view.blocks[shown:]):
        parts = [part.replace(Markup('<a href="#{}">').format(anchor), Markup("<a>")) for part in parts[:shown]]
    return (
        template.render(view=view, parts=parts[:shown], left=len(view.blocks) - shown, policy=policy()).strip() + "\n"
    )


def _fitting(parts: Sequence[str], room: int) -> int:
    for number, part in enumerate(parts):
        room -= len(part.encode()) + 1
        if room < 0:
            return number
    return len(parts)


def _anchors(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Fold):
            yield block.anchor
            yield from _anchors(block.blocks)


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
