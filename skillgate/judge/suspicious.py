"""From a line that layer 1 complains of to the whole passage that speaks there, which a judge is then asked without."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from skillgate.judge.subject import Passage
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.assessment import Assessment
    from skillgate.model.skill import Document

RULES = frozenset(("JUDGE_ADDRESSED", "INSTRUCTION_OVERRIDE", "HIDDEN_UNICODE"))
"""The rules whose claims make a passage suspicious, but for what they say for information only."""

# What ends where it says so, whatever blank lines stand in it; as CommonMark has it, or the end of the text.
_ENCLOSED = re.compile(
    r"(?ims)<!--.*?(?:-->|\Z)|^[ ]{0,3}<(?:script|style|textarea)(?=[\s>]).*?(?:</(?:script|style|textarea)|\Z)"
)
_KEY = re.compile(r"[^\s#-][^:]*:")


def passages(documents: Iterable[tuple[str, Document]], facts: Assessment) -> tuple[Passage, ...]:
    """Find the passages that speak to a judge or a model, or hide something.

    Args:
        documents: the skill's Markdown files by path relative to the skill, the main one first.
        facts: what layer 1 knows of it. Comments that set a finding aside make no difference here.

    Returns:
        Whole paragraphs, list items, comments or values of the frontmatter, by file and line; none overlap.
    """
    lines: dict[str, set[int]] = {}
    for claim in facts.claims:
        if claim.id in RULES and claim.severity is not Severity.INFO:
            lines.setdefault(claim.file, set()).add(claim.line)
    found: list[Passage] = []
    for path, document in documents:
        if path in lines:
            around = _Around(document)
            spans = (around.line(line) for line in sorted(lines[path]))
            found += (Passage(path, first, last) for first, last in _merged(spans))
    return tuple(found)


class _Around:
    """Finds what stands around a line of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._lines = document.text.split("\n")
        self._headings = {heading.line for heading in document.headings}
        self._blocks = sorted((block.line, block.line + block.text.count("\n")) for block in document.blocks)
        self._enclosed = list(_enclosed(document.text))

    def line(self, line: int) -> tuple[int, int]:
        """Give the first and last line of the passage that a line is in."""
        if line < self._document.first_line:
            return self._value(line)
        found = [*self._covering(self._enclosed, line), *self._covering(self._blocks, line)]
        if found:
            return min(first for first, _ in found), max(last for _, last in found)
        return (line, line) if line in self._headings else self._paragraph(line)

    def _covering(self, spans: list[tuple[int, int]], line: int) -> list[tuple[int, int]]:
        """Give the last of the spans that begin up to a line, where it reaches that far."""
        index = bisect_right(spans, line, key=lambda span: span[0]) - 1
        return [spans[index]] if index >= 0 and line <= spans[index][1] else []

    def _value(self, line: int) -> tuple[int, int]:
        """Give a key of the frontmatter with all of its value."""
        first, end = line, self._document.first_line - 1  # the line that closes the frontmatter
        while first > 2 and not _KEY.match(self._lines[first - 1]):
            first -= 1
        last = line
        while last + 1 < end and not _KEY.match(self._lines[last]):
            last += 1
        return first, last

    def _paragraph(self, line: int) -> tuple[int, int]:
        first = last = min(line, len(self._lines))
        while first > self._document.first_line and self._lines[first - 2].strip():
            first -= 1
        while last < len(self._lines) and self._lines[last].strip():
            last += 1
        return first, last


def _enclosed(text: str) -> Iterator[tuple[int, int]]:
    line, counted = 1, 0
    for match in _ENCLOSED.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        yield line, line + match[0].count("\n")


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged
