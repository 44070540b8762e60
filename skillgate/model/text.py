"""Text for people: what a terminal would obey or a reader not see is written out; a mistyped word gets a suggestion."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_JOINERS = "\u200c\u200d"  # needed inside words of several scripts and in emoji; they hide nothing
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, format characters (bidi among them), surrogates, separators


def printable(text: str) -> str:
    r"""Write a text on one line with nothing invisible in it.

    Line breaks and tabs become one space each. Control characters (ESC among them), bidirectional controls, other
    format characters except the zero-width joiner and non-joiner, lone surrogates, and Unicode's line and paragraph
    separators become ``\x1b`` or ``\u{202e}``. What a CI runner would take for a command is broken by an invisible
    space.
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
