"""Comments that set findings aside: ``<!-- skillgate: ignore RULE until 2027-01-31: why -->``.

A comment in a line of its own covers itself and the block below it, a whole code block included; beside other text it
covers its line. ``ignore-file`` covers the file. In frontmatter a YAML comment says the same after ``#``. A reason has
to stand there: what has none sets nothing aside and is reported.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.finding import Span
from skillgate.model.skill import Problem, Waiver

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.skill import CodeBlock, Document

_MARK = "skillgate:"
_COMMENT = r"(?<!`)<!--[ \t]*skillgate:(?P<text>[^\n]*?)-->|^[ \t]*#[ \t]*skillgate:(?P<yaml>[^\n]*)$"
_FORM = r"[ \t]*ignore(?P<file>-file)?[ \t]+(?P<rules>[A-Z][A-Z0-9_]*(?:[ \t]*,[ \t]*[A-Z][A-Z0-9_]*)*)"
_FORM += r"(?:[ \t]+until[ \t]+(?P<until>[^\s:]+))?[ \t]*:[ \t]*(?P<reason>\S.*?)[ \t]*"
_HOW = "write <!-- skillgate: ignore RULE until YYYY-MM-DD: why -->, where until is optional"


def waivers(document: Document, *, main: bool) -> Iterator[Waiver | Problem]:
    """Read the comments of a document; what is no valid one is given as a problem.

    Args:
        document: the parsed file.
        main: whether it is the skill's main file; problems of others name their file.
    """
    if _MARK not in document.text:
        return
    lines = document.text.split("\n")
    fenced = {row for block in document.code_blocks for row in range(block.line, block.end_line + 1)}
    for row, line in enumerate(lines, start=1):
        if _MARK not in line or row in fenced:
            continue
        found = re.search(_COMMENT, line)
        if found is None or (found["yaml"] is not None and row >= document.first_line):
            continue
        text = found["text"] if found["yaml"] is None else found["yaml"]
        alone = not (line[: found.start()] + line[found.end() :]).strip()
        last = _last(lines, row, document.code_blocks) if alone else row
        yield _read(text, document.file, Span(row, found.start() + 1), last, len(lines), main=main)


def _read(text: str, file: str, span: Span, last: int, end: int, *, main: bool) -> Waiver | Problem:
    form = re.fullmatch(_FORM, text)
    where = None if main else file
    if form is None:
        return Problem("suppression_invalid", span, f"this comment suppresses nothing: {_HOW}", where)
    until = form["until"]
    if until is not None and not _is_date(until):
        return Problem("suppression_invalid", span, f"{until[:40]!r} is no date: {_HOW}", where)
    first, last = (1, end) if form["file"] else (span.line, last)
    rules = tuple(dict.fromkeys(word.strip() for word in form["rules"].split(",")))
    return Waiver(file, span.line, rules, first, last, form["reason"], until)


def _is_date(text: str) -> bool:
    from datetime import date  # only where a comment has an end

    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _last(lines: Sequence[str], row: int, blocks: Sequence[CodeBlock]) -> int:
    """Find the last line of the block below a comment: before a blank line, or where a fenced block closes."""
    index = row
    while index < len(lines) and not lines[index].strip():
        index += 1
    while index < len(lines) and lines[index].strip():
        index += 1
    covered = index
    for block in blocks:
        if row < block.line <= covered:
            covered = max(covered, block.end_line)
    return covered
