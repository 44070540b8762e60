"""Markdown to tokens: CommonMark and tables, with only the rules that the static layer looks at.

Block structure is parsed for the whole body. Inline structure (links, code spans, HTML, emphasis) is parsed only in a
block whose text holds a character that can open one, which is a small part of an ordinary skill.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from markdown_it.token import Token

INLINE_OPENERS = ("[", "`", "<", "\\", "&", "__")


class _Parser(MarkdownIt):
    """markdown-it without its URL policy: targets are compared with files, never followed or rendered."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the library's name
        return url

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802
        return True


# Every CommonMark rule matters to one count or another; the core rules (normalising, joining, replacing) do not run.
_PARSER = _Parser("commonmark").enable("table")


def parse_blocks(text: str) -> tuple[list[Token], dict[str, object]]:
    """Parse a body into block tokens; the second value carries its link reference definitions."""
    tokens: list[Token] = []
    environment: dict[str, object] = {}
    _PARSER.block.parse(text, _PARSER, environment, tokens)
    return tokens, environment


def parse_inline(content: str, environment: dict[str, object]) -> list[Token] | None:
    """Parse the text of one block; None where it holds no inline structure at all."""
    if not any(opener in content for opener in INLINE_OPENERS):
        return None
    children: list[Token] = []
    _PARSER.inline.parse(content, _PARSER, environment, children)
    return children
