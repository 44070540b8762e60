"""Finding in a skill what a judge says it quotes.

A quotation counts where its words stand in a page in that order and with nothing between them. What Markdown or a
careful writer changes without changing the words is folded away on both sides: white space, letter case, kinds of
quotes and dashes, and Markdown's marks. File and line are ours; what a judge says of them is not asked.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.judge.subject import Page

FEWEST_CHARACTERS = 4  # folded: less is found anywhere and shows nothing
MOST_CHARACTERS = 240  # of a quotation as shown
MOST_SOUGHT = 50  # quotations of one rating: judges give about three, and a reply can hold hundreds of thousands
LONGEST_SOUGHT = 2_000  # characters of one
_MOST_PARTS = 10  # of a quotation that leaves something out
_BESIDE = 2_000  # characters between the parts of a quotation that leaves something out
_MOST_STARTS = 500  # places at which one is looked for: a text of one word over and over costs no more than another

_WRAPPED = "\"'“”„«»‘’"  # a quotation may come in quotes of its own
_MARKS = "*_`#>|~\\"
_RUN = re.compile(rf"[^\s{re.escape(_MARKS)}]+")
# What stands for words left out, and what a fence writes for a character that nobody sees.
_OMISSION = re.compile(r"\[?(?:…|\.{3,})\]?|⟦[^⟧]*⟧")
_SAME = str.maketrans({**dict.fromkeys("“”„«»‘’‚´'", '"'), **dict.fromkeys("‐‑‒–—−", "-")})


class Place(NamedTuple):
    """Where a quotation stands: the page's path, the line counted from 1, and the words as the page has them."""

    path: str
    line: int
    text: str


class _Folded(NamedTuple):
    """A text without what is folded, and where each run of it begins in both."""

    text: str
    starts: tuple[int, ...]
    origins: tuple[int, ...]

    def origin(self, offset: int) -> int:
        """Give the place in the page of an offset in the folded text."""
        run = max(bisect_right(self.starts, offset) - 1, 0)
        return self.origins[run] + offset - self.starts[run]


class Library:
    """The pages of one skill, folded once and searched for every quotation."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = tuple(pages)
        self._folded = tuple(_fold(page.text) for page in self._pages)

    def find(self, quotation: str) -> Place | None:
        """Find a quotation; None where it stands nowhere, or is too short to say anything.

        One that leaves something out (``…``) is found by all its parts, in order, near one another; the first is shown.
        """
        bare = quotation.strip().strip(_WRAPPED)
        for pieces in ([bare], _OMISSION.split(bare)):  # dots may be the page's own
            said = [piece for piece in pieces if piece.strip()]
            parts = [part for part in (_fold(piece).text for piece in said[: _MOST_PARTS + 1]) if part]
            place = self._find(parts) if _is_sought(parts) else None
            if place is not None:
                return place
        return None

    def _find(self, parts: Sequence[str]) -> Place | None:
        for page, folded in zip(self._pages, self._folded, strict=True):
            at = _find(folded.text, parts)
            if at is not None:
                return _place(page, folded, at, at + len(parts[0]))
        return None


def _is_sought(parts: Sequence[str]) -> bool:
    return 0 < len(parts) <= _MOST_PARTS and min(map(len, parts)) >= FEWEST_CHARACTERS


def found(quotations: Sequence[str], library: Library) -> tuple[tuple[Place, ...], int]:
    """Give the places of those that are in the text, each once, and how many are not, or were not looked for."""
    sought = quotations[:MOST_SOUGHT]
    places = [library.find(one) if len(one) <= LONGEST_SOUGHT else None for one in sought]
    dropped = places.count(None) + len(quotations) - len(sought)
    return tuple(dict.fromkeys(place for place in places if place is not None)), dropped


def _find(text: str, parts: Sequence[str]) -> int | None:
    """Look for the first place at which all parts follow one another, from each occurrence of the first one on."""
    start = text.find(parts[0])
    for _ in range(_MOST_STARTS):
        if start < 0 or (_apart(text, start, parts[0]) and _follow(text, start + len(parts[0]), parts[1:])):
            break
        start = text.find(parts[0], start + len(parts[0]))
    else:
        return None
    return start if start >= 0 else None


def _follow(text: str, end: int, parts: Sequence[str]) -> bool:
    for part in parts:
        at = text.find(part, end, end + _BESIDE + len(part))
        if at < 0 or not _apart(text, at, part):
            return False
        end = at + len(part)
    return True


def _apart(text: str, at: int, part: str) -> bool:
    """Tell whether a part neither begins nor ends within a word: "do it" is not what "undo it" says.

    Scripts that put no space between words have none to look for.
    """
    end = at + len(part)
    return not (_within_word(text[max(at - 1, 0) : at], part[0]) or _within_word(part[-1], text[end : end + 1]))


def _within_word(before: str, after: str) -> bool:
    both = before + after
    return len(both) == 2 and both.isascii() and both.isalnum()


def _fold(text: str) -> _Folded:
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    length = end = 0
    for run in _RUN.finditer(text):
        # Marks alone, as in `**`, do not part words; white space does.
        if pieces and text[end : run.start()].strip(_MARKS):
            pieces.append(" ")
            length += 1
        starts.append(length)
        origins.append(run.start())
        word = run.group().translate(_SAME).lower()
        pieces.append(word)
        length += len(word)
        end = run.end()
    return _Folded("".join(pieces), tuple(starts), tuple(origins))


def _place(page: Page, folded: _Folded, start: int, end: int) -> Place:
    first, last = folded.origin(start), folded.origin(end - 1) + 1
    shown = " ".join(page.text[first:last].split())
    if len(shown) > MOST_CHARACTERS:
        shown = shown[: MOST_CHARACTERS - 1].rstrip() + "…"
    return Place(path=page.path, line=page.text.count("\n", 0, first) + 1, text=shown)
