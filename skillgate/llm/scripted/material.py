"""What a request shows of a skill, as far as an answer that is made up takes from it: real lines, and words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The form of the fences around an author's text, by which it is told from what is asked.
_BEGIN = re.compile(r"^⟦begin ([a-z][a-z0-9 ]*) ([0-9a-f]+)⟧$", re.MULTILINE)
_OURS = "⟦"  # begins a marker between an author's lines, or stands for a character that is not shown
_UNQUOTABLE = (_OURS, "...", "…")  # dots in a quotation would say that something is left out
_WORD = re.compile(r"[^\W\d_]{3,}")
_DESCRIPTION = re.compile(r"^description:(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_DIMENSION = re.compile(r"^Dimension (\w+)$", re.MULTILINE)
_LONGEST_QUOTATION = 160  # characters
_MOST_LINES = 200  # of a text that are looked at for quotations: a demonstration is not to wait for itself
_FEWEST_WORDS = 3  # of a line that is worth quoting
# Words that say nothing of a subject; as prose they can be read.
_COMMON = frozenset(
    """
    about after all also and any are because been before being both but can cannot could did does each every for from
    had has have here how into its just like made make many may more most much must need not now one only other our out
    over own per please same she should skill skills some such than that the their them then there these they this those
    through too two under use used user users uses using very want wants was way were what when where whenever which
    while who why will with within without would yes you your
    """.split()  # noqa: SIM905
)


class Fenced(NamedTuple):
    """One fenced text: its kind and its lines, without the markers between them that its author did not write."""

    kind: str
    lines: tuple[str, ...]


def fenced(texts: Sequence[str]) -> tuple[Fenced, ...]:
    """Find the fenced texts."""
    return tuple(
        Fenced(kind, tuple(line for line in text[first:last].split("\n")[1:-1] if not line.startswith(_OURS)))
        for text in texts
        for kind, first, last in _spans(text)
    )


def outside(text: str) -> str:
    """Give what of a text stands outside of fences."""
    kept, end = [], 0
    for _, first, last in _spans(text):
        kept.append(text[end:first])
        end = last
    return "".join([*kept, text[end:]])


def quotable(parts: Sequence[Fenced]) -> tuple[str, ...]:
    """List lines of an author that can be quoted, long ones cut at a word; of a long text every n-th."""
    lines = [line for part in parts for line in part.lines]
    looked_at = (line.strip() for line in lines[:: 1 + len(lines) // _MOST_LINES])
    found = (line for line in looked_at if not any(mark in line for mark in _UNQUOTABLE))
    return tuple(_shortened(line) for line in found if len(_WORD.findall(line)) >= _FEWEST_WORDS)


def told_words(text: str) -> tuple[str, ...]:
    """List the words that say what a text is about, each once, in small letters, in their order; plurals as one."""
    found = (word.casefold() for word in _WORD.findall(text))
    return tuple(dict.fromkeys(_singular(word) for word in found if word not in _COMMON))


def description(parts: Sequence[Fenced]) -> str:
    """Find the description in the first fenced text that has one; ``""`` where none has."""
    for part in parts:
        match = _DESCRIPTION.search("\n".join(part.lines))
        if match:
            return " ".join(match[1].split()).strip("'\"|>- ")
    return ""


def asked_for(names: Sequence[str], text: str) -> tuple[str, ...]:
    """List those of some names that a question is about, in its order.

    They stand in lines of their own, as in ``Dimension robustness``; where none does, any mention counts.
    """
    headed = [match[1] for match in _DIMENSION.finditer(text) if match[1] in names]
    if headed:
        return tuple(dict.fromkeys(headed))
    places = ((re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text), name) for name in names)
    return tuple(name for _, name in sorted((match.start(), name) for match, name in places if match is not None))


def _spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Give the kind, the start and the end of each fenced part, both fences included; an open end is the text's."""
    last = 0
    while (begin := _BEGIN.search(text, last)) is not None:
        closer = f"\n⟦end {begin[1]} {begin[2]}⟧"
        at = text.find(closer, begin.end())
        last = len(text) if at < 0 else at + len(closer)
        yield begin[1], begin.start(), last


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _shortened(line: str) -> str:
    if len(line) <= _LONGEST_QUOTATION:
        return line
    return line[:_LONGEST_QUOTATION].rpartition(" ")[0] or line[:_LONGEST_QUOTATION]
