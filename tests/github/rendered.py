"""What a reader of Markdown makes of a comment: its elements, its addresses, and its text that is no code."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, NamedTuple

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

OURS = frozenset({"<details>", "</details>", "<summary>", "</summary>", "<sub>", "</sub>", "<br>", "<code>", "</code>"})
"""The HTML that we write ourselves, the comment of the first line aside."""

LIVE = re.compile(  # what GitHub makes a link, a mention, a reference, an image or a formula of
    r"@\w|#\w|\bGH-\d|(?<![0-9a-zA-Z])[0-9a-f]{7,40}(?![0-9a-zA-Z])|(?:https?|ftp|mailto|xmpp):|www\.|\$\S[^$]*\S\$(?=\s|$)"
    r"|:[a-z0-9_+-]{1,50}:|##\[",
    re.IGNORECASE | re.ASCII,
)
_VOID = {"br", "hr", "img", "input"}


class Page(NamedTuple):
    """A comment as it is read.

    Attributes:
        kinds: the types of all tokens.
        html: every piece of raw HTML.
        addresses: where links lead.
        texts: what is neither code nor a link's text, block by block.
        rows: how many cells each row of each table has.
    """

    kinds: frozenset[str]
    html: tuple[str, ...]
    addresses: tuple[str, ...]
    texts: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]


def reader() -> MarkdownIt:
    """Give a reader of what GitHub reads: tables, struck text and raw HTML."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def read(markdown: str) -> Page:
    """Read a comment or summary."""
    tokens = list(_flat(reader().parse(markdown)))
    return Page(
        kinds=frozenset(token.type for token in tokens),
        html=tuple(piece for token in tokens if token.type.startswith("html") for piece in _pieces(token.content)),
        addresses=tuple(str(token.attrs["href"]) for token in tokens if token.type == "link_open"),
        texts=tuple(_text(token) for token in reader().parse(markdown) if token.type == "inline"),
        rows=tuple(_tables(tokens)),
    )


def unbalanced(html: str) -> list[str]:
    """List the tags that are closed without having been opened, or opened without being closed."""
    parser = _Balance()
    parser.feed(html)
    parser.close()
    return parser.wrong + parser.open


class _Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        elif tag not in _VOID:
            self.wrong.append(tag)


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or [])


def _pieces(html: str) -> list[str]:
    return re.findall(r"<!--.*?-->|<[^>]*>?", html, re.DOTALL)


def _text(token: Token) -> str:
    depth, found = 0, []
    for child in token.children or []:
        depth += {"link_open": 1, "link_close": -1}.get(child.type, 0)
        if child.type == "text" and not depth:
            found.append(child.content)
        elif child.type == "code_inline" or child.content == "<br>" or depth:
            found.append(" ")
    return "".join(found)


def _tables(tokens: list[Token]) -> Iterator[tuple[int, ...]]:
    rows: list[int] = []
    for token in tokens:
        if token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append(0)
        elif token.type in ("td_open", "th_open"):
            rows[-1] += 1
        elif token.type == "table_close":
            yield tuple(rows)
