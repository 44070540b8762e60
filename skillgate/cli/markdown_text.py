"""A page of Markdown as text for a terminal: headings, emphasis, code, lists and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from skillgate.format import printable
from skillgate.report.formats import text
from skillgate.report.view import Cell, Column, Heading, Item, Items, Note, Row, Span, Table, View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

    from skillgate.format import Style
    from skillgate.report.view import Block

_LONGEST = 100  # columns of a line; longer ones are hard to read
_CODE = "    "


def markdown_text(source: str, style: Style) -> str:
    """Lay a page out for a terminal; what is in code blocks stays as it is."""
    style = style._replace(width=min(style.width, _LONGEST))
    tokens = MarkdownIt("commonmark").enable("table").parse(source)
    parts = []
    for token, inner in _top_level(tokens):
        if token.type in ("fence", "code_block"):
            lines = token.content.rstrip("\n").split("\n")
            parts.append("\n".join(f"{_CODE}{style.paint(printable(line), 'dim')}".rstrip() for line in lines))
        else:
            block = _block(token, inner, style)
            parts.append(text.write(View("", blocks=(block,)), style, verbose=True).strip("\n"))
    return "\n\n".join(parts) + "\n"


def _top_level(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[Token]]]:
    """Split into blocks: the token that begins each, and those inside it."""
    start = 0
    for at, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            yield tokens[start], tokens[start + 1 : at]
            start = at + 1


def _block(token: Token, inner: Sequence[Token], style: Style) -> Block:
    inlines = [one for one in inner if one.type == "inline"]
    if token.type == "table_open":
        heads = [one for one in inner if one.type == "th_open"]
        cells = [Cell(tuple(_spans(one, style))) for one in inlines]
        wide = len(heads)
        rows = [Row(tuple(cells[at : at + wide])) for at in range(wide, len(cells), wide)]
        names = (one.content for one in inlines[:wide])
        return Table(tuple(Column(name) for name in names), tuple(rows), most=len(rows))
    if token.type in ("bullet_list_open", "ordered_list_open"):
        entries = tuple(Item(tuple(_spans(one, style))) for one in inlines)
        return Items(entries, most=len(entries), ordered=token.type.startswith("ordered"))
    line = tuple(span for one in inlines for span in _spans(one, style))
    return Heading(line) if token.type == "heading_open" else Note(line)


def _spans(inline: Token, style: Style) -> Iterator[Span]:
    strong, url = "", ""
    for child in inline.children or ():
        if child.type in ("strong_open", "strong_close"):
            strong = "strong" if child.nesting > 0 else ""
        elif child.type in ("link_open", "link_close"):
            url = str(child.attrs.get("href", "")) if child.nesting > 0 else ""
        elif child.type == "code_inline":
            yield Span(child.content if style.color else f"`{child.content}`", "literal", url)
        elif child.type in ("softbreak", "hardbreak"):
            yield Span(" ")
        elif child.content:
            yield Span(child.content, strong, url)
