"""What a Markdown file holds and its rendered page does not show: comments, titles, attributes, hidden elements.

Every search is one pass over the text, whatever it holds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMENT = r"<!--(?P<comment>.*?)(?:-->|\Z)|<[?!](?P<declaration>[^<>]*)>"
# To Markdown such an element begins a block that ends with it, or with the document.
_SCRIPT = r"^[ ]{0,3}<(?:script|style|textarea)(?=[\s>])(?P<script>.*?)(?:</(?:script|style|textarea)|\Z)"
_SPACE = r"(?:[ \t]+\n?|\n)[ \t]*"
_DEFINITION = rf"^[ \t>]*\[[^\[\]\n]+\]:[ \t]*\S+{_SPACE}[\"'(](?P<definition>[^\n]+)[\"')][ \t]*$"
_TARGET = r"(?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)"
_BREAK = r"\n(?![ \t]*\n)"  # a title may run over lines, but not over a blank one
_TITLE = (
    rf"\]\({_TARGET}{_SPACE}(?:\"(?P<double>(?:[^\"\n]|{_BREAK})+)\"|'(?P<single>(?:[^'\n]|{_BREAK})+)'"
    rf"|\((?P<round>(?:[^()\n]|{_BREAK})+)\))"
)
_ALT = r"!\[(?P<alt>[^\[\]]*)(?=\])"
_TAG = r"<[a-z](?P<tag>(?:[^<>\"']++|\"[^\"]{0,999}\"|'[^']{0,999}'){0,40}+)>"
_UNSEEN = f"(?ims){_COMMENT}|{_SCRIPT}|{_DEFINITION}|{_TITLE}|{_ALT}|{_TAG}"
_VALUE = r"=\s*(?:\"([^\"]*)|'([^']*))"
_HIDING = r"(?i)<[a-z][^<>]*>"  # one of these tags hides what stands between them, where it says so
_SAYS_SO = r"\bhidden\b|display\s*:\s*none"
_BACKTICKS = r"`+|\n(?=[ \t]*\n)"


def unseen(text: str) -> Iterator[tuple[str, int]]:
    """Give each text that the page does not show, with the line that it begins on.

    Args:
        text: a document, its code blanked out.
    """
    line = counted = 0
    for match in re.finditer(_UNSEEN, text):
        kind = match.lastgroup or "comment"
        line += text.count("\n", counted, match.start(kind))
        counted = match.start(kind)
        if kind != "tag":
            yield match[kind], line + 1
        elif "=" in match[kind]:
            for value in re.finditer(_VALUE, match[kind]):
                yield value[1] or value[2] or "", line + 1 + match[kind].count("\n", 0, value.start())
    yield from _hidden_elements(text)


def _hidden_elements(text: str) -> Iterator[tuple[str, int]]:
    """Give the paragraphs that hold an element which is not shown, as a whole."""
    if "<" not in text or not re.search(f"(?i){_SAYS_SO}", text):
        return
    paragraph: list[str] = []
    for number, row in enumerate([*text.split("\n"), ""], start=1):
        if row.strip():
            paragraph.append(row)
            continue
        whole = "\n".join(paragraph)
        if "<" in whole and any(re.search(_SAYS_SO, tag.lower()) for tag in re.findall(_HIDING, whole)):
            yield whole, number - len(paragraph)
        paragraph = []


def without_code_spans(text: str) -> str:
    """Blank out code spans; every other character stays where it stood."""
    runs = list(re.finditer(_BACKTICKS, text))
    closes: list[int] = [0] * len(runs)
    nearest: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        if runs[index][0] == "\n":
            nearest = {}
            continue
        length = len(runs[index][0])
        closes[index] = nearest.get(length, 0)
        nearest[length] = runs[index].end()
    parts, done = [], 0
    for run, close in zip(runs, closes, strict=True):
        if close and run.start() >= done:
            parts += [text[done : run.start()], re.sub(r"[^\n]", " ", text[run.start() : close])]
            done = close
    return "".join([*parts, text[done:]])
