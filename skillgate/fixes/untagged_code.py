"""Name the language of a code block where its code leaves no doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.fixes._page import Edit, Fix
from skillgate.static.certain_language import certain_language
from skillgate.static.syntax import syntax_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.fixes._page import Page
    from skillgate.model.skill import CodeBlock


def find(page: Page) -> Iterator[Edit]:
    """Yield an edit for each block; none in a file of which only part could be read."""
    for block in page.document.code_blocks if page.document.complete else ():
        language = _language(block)
        text = page.lines[block.line - 1].rstrip(" \t")
        if language and text.endswith(("```", "~~~")):
            place = page.starts[block.line - 1] + len(text)
            yield Edit(block.line, place, place, language)


def _language(block: CodeBlock) -> str | None:
    """Tell the language of an untagged block; None where a tag would bring a finding of its own."""
    if block.language or not block.closed or not block.lines:
        return None
    language = certain_language(block.code)
    return language if language and syntax_error(language, block.code) is None else None


FIX = Fix(find)
