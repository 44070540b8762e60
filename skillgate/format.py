"""Write text for people: counts and figures, rounded but never across a limit, and nothing that a terminal obeys."""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


_JOINERS = "\u200c\u200d"  # needed inside words of several scripts and in emoji; they hide nothing
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, format characters (bidi among them), surrogates, separators


def printable(text: str) -> str:
    r"""Write a text on one line with nothing invisible in it.

    Line breaks and tabs become one space each; controls (ESC among them), bidirectional and other format characters but
    the zero-width joiners, lone surrogates and Unicode's separators become ``\x1b`` or ``\u{202e}``; what a CI runner
    would take for a command is broken by an invisible space.
    """
    if not text.isprintable():
        text = "".join(map(_shown, text.replace("\r\n", "\n")))
        # What was made harmless before stays as it is.
        text = text.replace(":\\u{200b}:", ":\u200b:").replace("#\\u{200b}#[", "#\u200b#[")
    return uncommanded(text) if "::" in text or "##[" in text else text


def uncommanded(line: str) -> str:
    """Keep a line from being a command to a CI runner: ``::name::`` at its start, or ``##[name]`` anywhere."""
    line = line.replace("##[", "#\u200b#[")
    head = line.lstrip()
    return line[: len(line) - len(head)] + ":\u200b" + head[1:] if head.startswith("::") else line


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Suggest the nearest of some names, as in `` (did you mean 'score'?)``; empty when none is near."""
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


_MOST_DIGITS = 9  # figures have no more; what differs further down comes from adding up
_SMALLEST = 0.005  # of a change that is not 0: scores have two decimals


def apart(value: float, limits: Iterable[float], digits: int) -> str:
    """Write a number with so many decimals, or with as many more as keep it on its side of each limit."""
    bounds = tuple(limits)
    for enough in range(digits, _MOST_DIGITS + 1):
        if all((round(value, enough) >= limit) == (value >= limit) for limit in bounds):
            return f"{value:.{enough}f}"
    return f"{value:.{digits}f}"


def signed(value: float) -> str:
    """Write a change with its sign, as in ``−4.2``, and below whole numbers that it does not reach.

    A change of 2.96 is not one of 3, and an interval from 0.04 leaves 0 out.
    """
    size = abs(value)
    written = apart(size, (_SMALLEST, math.ceil(size)), 1)
    return f"{'+' if value > 0 else '−'}{written}" if float(written) else "0.0"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun, as in ``1 skill``, ``2 matches`` or ``1,200 tries``."""
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("try") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{count:,} {noun}"


def percent(share: float, digits: int = 1) -> str:
    """Write a ratio as a percentage, as in ``93.3 %``."""
    return f"{100 * share:.{digits}f} %"


def interval(low: float, high: float, digits: int = 0) -> str:
    """Write the ends of an interval, as in ``62–71``."""
    return f"{low:.{digits}f}–{high:.{digits}f}"
