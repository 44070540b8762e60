"""Format text for people: counts, figures rounded but never across a limit, no terminal commands."""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING

from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


_JOINERS = "\u200c\u200d"  # needed inside words of several scripts and in emoji; they hide nothing
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, format characters (bidi among them), surrogates, separators


def printable(text: str) -> str:
    r"""Return a text on one line, without invisible characters.

    Line breaks and tabs become one space each. Controls (also ESC), lone surrogates, Unicode's separators and format
    characters (also bidirectional ones, but not the zero-width joiners) become ``\x1b`` or ``\u{202e}``. A command for
    a CI runner is broken by an invisible space.
    """
    if not text.isprintable():
        text = "".join(map(_shown, text.replace("\r\n", "\n")))
        # Already escaped commands stay as they are.
        text = text.replace(":\\u{200b}:", ":\u200b:").replace("#\\u{200b}#[", "#\u200b#[")
    return uncommanded(text) if "::" in text or "##[" in text else text


def uncommanded(line: str) -> str:
    """Break commands for a CI runner: ``::name::`` at the start of a line, or ``##[name]`` anywhere."""
    line = line.replace("##[", "#\u200b#[")
    head = line.lstrip()
    return line[: len(line) - len(head)] + ":\u200b" + head[1:] if head.startswith("::") else line


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Suggest the nearest name, as in `` (did you mean 'score'?)``; ``""`` if none is near."""
    import difflib  # only on the way to an error

    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _shown(character: str) -> str:
    if character in "\n\t":
        return " "
    if character in _JOINERS or unicodedata.category(character) not in _HIDDEN:
        return character
    point = ord(character)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{{{point:04x}}}"


_MOST_DIGITS = 9  # figures have no more; later digits differ by rounding errors
_SMALLEST = 0.005  # of a change that is not 0: scores have two decimals


def apart(value: float, limits: Iterable[float], digits: int) -> str:
    """Format a number with ``digits`` decimals, or more to keep it on its side of each limit."""
    bounds = tuple(limits)
    for enough in range(digits, _MOST_DIGITS + 1):
        if all((round(value, enough) >= limit) == (value >= limit) for limit in bounds):
            return f"{value:.{enough}f}"
    return f"{value:.{digits}f}"


def signed(value: float) -> str:
    """Format a change with its sign, as in ``−4.2``, never rounded up to a whole number.

    A change of 2.96 is not one of 3, and an interval from 0.04 excludes 0.
    """
    size = abs(value)
    written = apart(size, (_SMALLEST, math.ceil(size)), 1)
    return f"{'+' if value > 0 else '−'}{written}" if float(written) else "0.0"


def plural(count: int, noun: str) -> str:
    """Format a count with its noun, as in ``1 skill``, ``2 matches`` or ``1,200 tries``."""
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("try") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{count:,} {noun}"


def percent(share: float, digits: int = 1) -> str:
    """Format a ratio as a percentage, as in ``93.3 %``."""
    return f"{100 * share:.{digits}f} %"


def interval(low: float, high: float, digits: int = 0) -> str:
    """Format the ends of an interval, as in ``62–71``."""
    return f"{low:.{digits}f}–{high:.{digits}f}"


_CODES = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "bold": 1, "dim": 2}


class Style(NamedTuple):
    """The layout of text: its width in columns, whether colours and links may be used, and whether people read it.

    Without a terminal, lists of findings have one line for each, however long: programs read them.
    """

    width: int = 100
    color: bool = False
    links: bool = False
    terminal: bool = False

    def linked(self, text: str, url: str) -> str:
        """Make a text a link, as terminals read it (OSC 8), or leave it as it is; the address must be printable."""
        return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if self.links and url and url.isprintable() else text

    def paint(self, text: str, *names: str) -> str:
        """Wrap a string in colour codes, or leave it as it is."""
        if not self.color or not names or not text:
            return text
        codes = ";".join(str(_CODES[name]) for name in names)
        return f"\x1b[{codes}m{text}\x1b[0m"
