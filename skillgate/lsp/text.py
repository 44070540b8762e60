"""Places in a text as editors count them, and the smallest edits from one text to another."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

BOM = "\ufeff"
_LINE_END = re.compile("\r\n|\r|\n")  # as the protocol has it: no other character ends a line
_TOKEN = re.compile(r"!?\[[^\]]*\](?:\([^)\s]*\))?|(?:(?<=\]\()|(?<=\]\(<))[^()<>\s]+|(?<=`)[^`]+(?=`)")
_UNITS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}

Place = tuple[int, int]
"""A line and a column in the units of the editor, both from 0."""


class Edit(NamedTuple):
    """Characters to replace: from ``start`` to before ``stop``, counted from the beginning of the text."""

    start: int
    stop: int
    text: str


class Text:
    """A text with its lines. ``encoding`` says what an editor counts as one column."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self.encoding = encoding if encoding in _UNITS else "utf-16"
        ends = list(_LINE_END.finditer(text))
        self._starts = [0, *(end.end() for end in ends)]
        self._stops = [*(end.start() for end in ends), len(text)]

    @property
    def lines(self) -> int:
        """How many lines there are; a line end at the end of the text begins one more."""
        return len(self._starts)

    def line(self, row: int) -> str:
        """Return a line without its end; ``""`` behind the last."""
        return self.text[self._starts[row] : self._stops[row]] if 0 <= row < self.lines else ""

    def start(self, row: int) -> int:
        """Return the offset of a line."""
        return self._starts[row]

    def place(self, offset: int) -> Place:
        """Return the place of a character."""
        row = bisect_right(self._starts, offset) - 1
        return row, self._units(self.text[self._starts[row] : offset])

    def column(self, place: Place) -> int:
        """Return how many characters of its line precede a place; what is behind the line's end is at its end."""
        row, units = place
        line, count = self.line(row), 0
        for column, character in enumerate(line):
            if count >= units:
                return column
            count += self._units(character)
        return len(line)

    def offset(self, place: Place) -> int:
        """Return the character at a place; that at the end of the text for one behind it."""
        return self._starts[place[0]] + self.column(place) if 0 <= place[0] < self.lines else len(self.text)

    def finding(self, line: int, column: int) -> tuple[int, int]:
        """Return the characters that a finding is about, whose line and column count from 1.

        A link, its target or a code span, if one begins there; else the rest of the line without white space.
        """
        row = min(max(line - 1, 0), self.lines - 1)
        text = self.line(row)
        start = column - 1 + (row == 0 and text.startswith(BOM))
        if column <= 1:
            start = len(text) - len(text.lstrip().removeprefix(BOM))
        start = min(max(start, 0), len(text))
        found = _TOKEN.match(text, start)
        stop = found.end() if found else max(start, len(text.rstrip()))
        return self._starts[row] + start, self._starts[row] + stop

    def _units(self, text: str) -> int:
        return len(text.encode(_UNITS[self.encoding], "surrogatepass")) // _BYTES[self.encoding]


def edits(before: str, after: str) -> tuple[Edit, ...]:
    """Return the edits that turn one text into the other.

    One for each line that differs, if both have as many lines, as after safe fixes; else one for all that differs.
    """
    ours, theirs = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(ours) != len(theirs):
        whole = _trimmed(before, Edit(0, len(before), after))
        return (whole,)
    found, start = [], 0
    for old, new in zip(ours, theirs, strict=True):
        if old != new:
            found.append(_trimmed(before, Edit(start, start + len(old), new)))
        start += len(old)
    return tuple(found)


def _trimmed(before: str, edit: Edit) -> Edit:
    """Leave out what is the same at the beginning and at the end; a line end of two characters stays whole."""
    old, new = before[edit.start : edit.stop], edit.text
    most = min(len(old), len(new))
    head = next((index for index in range(most) if old[index] != new[index]), most)
    tail = next((index for index in range(most - head) if old[-1 - index] != new[-1 - index]), most - head)
    stop = len(old) - tail
    if head > 0 and old[head - 1] == "\r" and (old[head : head + 1] == "\n" or new[head : head + 1] == "\n"):
        head -= 1
    if old[stop - 1 : stop + 1] == "\r\n" and tail and stop:
        stop, tail = stop + 1, tail - 1
    return Edit(edit.start + head, edit.start + stop, new[head : len(new) - tail])
