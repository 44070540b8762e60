"""What text for a terminal is made of: colours, widths of wide characters, wrapping with a hanging indent."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import printable, uncommanded

if TYPE_CHECKING:
    from collections.abc import Iterator

NARROW = 80  # columns under which bars are left out and indents shrink
_CODES = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "bold": 1, "dim": 2}


class Style(NamedTuple):
    """How a text is laid out: ``width`` in columns, and whether colours may be used."""

    width: int = 100
    color: bool = False

    def paint(self, text: str, *names: str) -> str:
        """Wrap a text in colour codes, or leave it as it is."""
        if not self.color or not names or not text:
            return text
        codes = ";".join(str(_CODES[name]) for name in names)
        return f"\x1b[{codes}m{text}\x1b[0m"


def columns(text: str) -> int:
    """Count the columns a text takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def pad(text: str, width: int) -> str:
    """Fill a text with spaces up to a width."""
    return text + " " * max(0, width - columns(text))


def cut(text: str, width: int) -> str:
    """Shorten a text to a width, with an ellipsis in its middle: both ends of a path are informative."""
    if columns(text) <= width:
        return text
    head = max(1, (width - 1) // 3)
    tail = text
    while tail and columns(tail) > width - 1 - head:
        tail = tail[1:]
    start = text
    while start and columns(start) > head:
        start = start[:-1]
    return f"{start}…{tail}"


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines of at most ``width`` columns, at spaces where there are any."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and columns(line) + 1 + columns(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
        while columns(line) > width > 0:
            fitting = _fitting(line, width)
            lines.append(line[:fitting])
            line = line[fitting:]
    return [uncommanded(item) for item in ([*lines, line] if line or not lines else lines)]


def _fitting(text: str, width: int) -> int:
    taken = 0
    for index, character in enumerate(text):
        taken += _columns(character)
        if taken > width:
            return max(1, index)
    return len(text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def margin(style: Style) -> str:
    """Return the spaces before the lines of one skill."""
    return " " * (9 if style.width >= NARROW else 2)


def hanging(label: str, text: str, style: Style, tone: str) -> Iterator[str]:
    """Write a text next to a label, its further lines below its first; ``tone`` is ``""`` for none."""
    head = f"{margin(style)}{label:8}  "
    lines = wrap(printable(text), max(20, style.width - len(head)))
    tones = (tone,) if tone else ()
    yield style.paint(head + lines[0], *tones)
    yield from (style.paint(" " * len(head) + line, *tones) for line in lines[1:])
