"""The skill's text as judges are shown it, and the places in it of what they quote.

The whole skill is one fenced text; where that is longer than a request may be, whole sections go, and it is said.

A quotation counts where its words are in a page in that order and with nothing between them, but for white space,
letter case, kinds of quotes and dashes, and Markdown's marks. What a judge says of file and line is not used.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import printable
from skillgate.judge.asking import CLOSE, OPEN, ask, marker, named, sealed, visible
from skillgate.model.exchange import Cause
from skillgate.model.layers import Cut
from skillgate.skill import frontmatter
from skillgate.skill.commonmark import parse_blocks
from skillgate.skill.parse import MARKDOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.judge.subject import Dossier, Page, Passage
    from skillgate.model.exchange import Answer, Request, Steps

KIND = "skill"
MOST_SECTIONS = 200  # that one file is taken apart into; a file of more is taken apart at its higher headings
LONGEST_HEADING = 80
MOST_NAMED = 5  # of what a message lists
FEWEST_CHARACTERS = 4  # of a quotation, folded: less is found anywhere and shows nothing
MOST_CHARACTERS = 240  # of a quotation as shown
MOST_SOUGHT = 50  # quotations of one rating: judges give about three, and a reply can hold hundreds of thousands
LONGEST_SOUGHT = 2_000  # characters of one
_MOST_PARTS = 10  # of a quotation that leaves something out
_MOST_OMITTED = 2_000  # characters between its parts
_MOST_STARTS = 500  # places at which one is looked for: a text of one word over and over costs no more than another
_LEFT_OUT = f"{OPEN}not shown: "


class Shown(NamedTuple):
    """What a judge is shown: all pages, fenced, the main file first; each begins with a marker that names it.

    ``cut`` is what was left out since all of it was too long: sections by page and line, a whole page under the heading
    ``""``. Passages that were to be left out are not among them.
    """

    text: str
    cut: tuple[Cut, ...]


class _Sheet(NamedTuple):
    """A page made visible: its lines, of which a passage left out is one marker and then None."""

    page: Page
    lines: list[str | None]

    def text(self, first: int, last: int) -> str:
        """Join lines, counted from 1, both ends included."""
        return "\n".join(line for line in self.lines[first - 1 : last] if line is not None)

    def size(self, first: int, last: int) -> int:
        """Count the characters of lines, each with its end; the marker of a passage left out counts nothing."""
        return sum(map(_weight, self.lines[first - 1 : last]))


def _weight(line: str | None) -> int:
    return 0 if line is None or line.startswith(_LEFT_OUT) else len(line) + 1


class Readings:
    """A skill's text as it is shown, whole or in part, each made once and only when it is needed."""

    def __init__(self, dossier: Dossier, most_characters: int, without: Sequence[Passage] = ()) -> None:
        self._dossier = dossier
        self._most = most_characters
        self._without = tuple(without)

    @cached_property
    def whole(self) -> Shown:
        """Every page."""
        return shown(self._dossier, most_characters=self._most, without=self._without)

    @cached_property
    def main(self) -> Shown:
        """The main file alone."""
        return shown(self._dossier, most_characters=self._most, without=self._without, main_only=True)

    def ask(
        self, request: Callable[[str], Request], ask: Callable[[Request], Steps[Answer]] = ask
    ) -> Steps[tuple[tuple[Answer, ...], tuple[Cut, ...]]]:
        """Ask about the whole skill; where that is beyond the model's context, about the main file alone.

        Return the answers, of which the last counts, and what its request left out.
        """
        answer = yield from ask(request(self.whole.text))
        if answer.cause is not Cause.TOO_LONG or len(self._dossier.pages) < 2:
            return (answer,), self.whole.cut
        second = yield from ask(request(self.main.text))
        return (answer, second), self.main.cut


def shown(dossier: Dossier, *, most_characters: int, without: Sequence[Passage] = (), main_only: bool = False) -> Shown:
    """Write a skill's pages as one fenced text; markers take the place of the passages ``without``.

    Sections go in the order of the pages, the main file's before all others, each as long as there is room for it as a
    whole. ``most_characters`` counts the pages as shown, without our own markers. Only a section that is longer than
    all the room there is is cut within, at a paragraph. Time is linear.
    """
    parts: list[str] = []
    cut: list[Cut] = []
    room = most_characters
    for index, page in enumerate(dossier.pages):
        sheet = _Sheet(page, _lines(page, without))
        parts.append(marker(f"file {named(page.path)}"))
        if main_only and index:
            chosen = [Cut(page.path, "", 1, len(sheet.lines))]
            text = _not_shown(chosen)
        else:
            text, chosen, used = _fitted(sheet, room, most_characters)
            room -= used
        parts.append(text)
        cut += chosen
    return Shown(sealed(KIND, "\n".join(parts)), tuple(cut))


def _lines(page: Page, without: Sequence[Passage]) -> list[str | None]:
    """Make a page visible line by line; markers take the place of the passages in it."""
    lines: list[str | None] = list(visible(page.text).removesuffix("\n").split("\n"))
    for passage in without:
        if passage.path == page.path and 1 <= passage.first <= min(passage.last, len(lines)):
            last = min(passage.last, len(lines))
            lines[passage.first - 1 : last] = [None] * (last - passage.first + 1)
            lines[passage.first - 1] = f"{_LEFT_OUT}{_span(passage.first, last)}{CLOSE}"
    return lines


def _fitted(sheet: _Sheet, room: int, limit: int) -> tuple[str, list[Cut], int]:
    """Write as much of a page as there is room for; return what was left out, and the characters it took, too."""
    count = len(sheet.lines)
    size = sheet.size(1, count) - 1  # the last line needs no end
    if size <= room:
        return sheet.text(1, count), [], size
    parts: list[str] = []
    run: list[Cut] = []
    cut: list[Cut] = []
    used = 0
    for section in _sections(sheet.page, count):
        text, rest = _fitted_section(sheet, section, room - used, limit)
        if text is not None:
            parts += [_not_shown(run)] if run else []
            run = []
            parts.append(text)
            used += len(text) + 1
        if rest is not None:
            run.append(rest)
            cut.append(rest)
    if not parts:
        whole = [Cut(sheet.page.path, "", 1, count)]
        return _not_shown(whole), whole, 0
    parts += [_not_shown(run)] if run else []
    return "\n".join(parts), cut, used


def _fitted_section(sheet: _Sheet, section: Cut, room: int, limit: int) -> tuple[str | None, Cut | None]:
    """Return what of a section is shown, and what is not.

    One longer than the limit is cut after the last paragraph there is room for, else after a line, else within a huge
    one.
    """
    size = sheet.size(section.first, section.last) - 1
    if size <= room:
        return sheet.text(section.first, section.last), None
    if size <= limit:
        return None, section
    last, blank, used = section.first - 1, 0, 0
    for number in range(section.first, section.last + 1):
        line = sheet.lines[number - 1]
        used += _weight(line)
        if used - 1 > room:
            break
        last = number
        blank = number if line is not None and not line.strip() else blank
    following = sheet.lines[last] or ""
    if len(following) > limit:  # it could never be shown whole
        before = sheet.text(section.first, last)
        piece = _piece(following, room - len(before) - 1)
        return (f"{before}\n{piece}" if before else piece) or None, section._replace(first=last + 1)
    last = blank or last
    if last < section.first:
        return None, section
    return sheet.text(section.first, last), section._replace(first=last + 1)


def _piece(line: str, room: int) -> str:
    """Cut a line after a word, and not within a code point that is written out."""
    piece = line[: max(0, room)]
    if piece.rfind(OPEN) > piece.rfind(CLOSE):
        piece = piece[: piece.rfind(OPEN)]
    return piece[: piece.rfind(" ") + 1] or piece


def _sections(page: Page, count: int) -> Iterator[Cut]:
    """Divide a page of so many lines at its headings; what comes before the first is a section under ``""``."""
    starts = _headings(page)
    if not starts or starts[0][0] > 1:
        starts = [(1, ""), *starts]
    ends = [*(line - 1 for line, _ in starts[1:]), count]
    for (first, heading), last in zip(starts, ends, strict=True):
        yield Cut(page.path, heading, first, last)


def _headings(page: Page) -> list[tuple[int, str]]:
    """Return the line and text of each heading outside of code, lists and quotes, at most so many."""
    if not page.path.lower().endswith(MARKDOWN):
        return []
    body = frontmatter.split(page.text)
    tokens = parse_blocks(body.body).tokens
    found = [
        (token.tag, token.map[0] + body.body_line, " ".join(tokens[index + 1].content.split())[:LONGEST_HEADING])
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    while len(found) > MOST_SECTIONS and len(levels := {tag for tag, *_ in found}) > 1:
        found = [heading for heading in found if heading[0] != max(levels)]
    return [(line, text) for _, line, text in found[:MOST_SECTIONS]]


def _not_shown(run: Sequence[Cut]) -> str:
    """Return the marker of sections left out one after the other."""
    first, last = run[0], run[-1]
    more = f" and {len(run) - 1} more" if len(run) > 1 else ""
    what = f"section {named(first.heading)}{more}, " if first.heading or more else ""
    return f"{_LEFT_OUT}{what}{_span(first.first, last.last)}{CLOSE}"


def _span(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


def place(cut: Cut | Passage) -> str:
    """Write where lines are, for people: path, line numbers, and the heading where there is one."""
    lines = str(cut.first) if cut.first == cut.last else f"{cut.first}–{cut.last}"
    heading = f' "{printable(cut.heading)}"' if isinstance(cut, Cut) and cut.heading else ""
    return f"{printable(cut.path)}:{lines}{heading}"


def first_few(names: Sequence[str], separator: str = ", ", noun: str = "more") -> str:
    """List some names, and count the others."""
    more = f" and {len(names) - MOST_NAMED} {noun}" if len(names) > MOST_NAMED else ""
    return separator.join(names[:MOST_NAMED]) + more


_WRAPPED = "\"'“”„«»‘’"  # a quotation may come in quotes of its own
_MARKS = "*_`#>|~\\"
_RUN = re.compile(rf"[^\s{re.escape(_MARKS)}]+")
# What marks words left out, and what a fence writes for a character that is not seen.
_OMISSION = re.compile(r"\[?(?:…|\.{3,})\]?|⟦[^⟧]*⟧")
_SAME = str.maketrans({**dict.fromkeys("“”„«»‘’‚´'", '"'), **dict.fromkeys("‐‑‒–—−", "-")})


class Place(NamedTuple):
    """Where a quotation is: the page's path, the line counted from 1, and the words as the page has them."""

    path: str
    line: int
    text: str


class _Folded(NamedTuple):
    """A text without what is folded, and where each run of it begins in both."""

    text: str
    starts: list[int]
    origins: list[int]

    def origin(self, offset: int) -> int:
        """Return the place in the page of an offset in the folded text."""
        run = max(bisect_right(self.starts, offset) - 1, 0)
        return self.origins[run] + offset - self.starts[run]


class Library:
    """The pages of one skill, folded once and searched for every quotation."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = [(page, _fold(page.text)) for page in pages]

    def find(self, quotation: str) -> Place | None:
        """Find a quotation; None where it is nowhere, or too short to say anything.

        One that leaves something out (``…``) is found by all its parts, in order, near one another; the first is shown.
        """
        bare = quotation.strip().strip(_WRAPPED)
        for pieces in ([bare], _OMISSION.split(bare)):  # dots may be the page's own
            words = [piece for piece in pieces if piece.strip()]
            parts = [part for part in (_fold(piece).text for piece in words[: _MOST_PARTS + 1]) if part]
            if not 0 < len(parts) <= _MOST_PARTS or min(map(len, parts)) < FEWEST_CHARACTERS:
                continue
            for page, folded in self._pages:
                start = _find(folded.text, parts)
                if start is not None:
                    return _place(page, folded, start, start + len(parts[0]))
        return None


def find_all(quotations: Sequence[str], library: Library) -> tuple[tuple[Place, ...], int]:
    """Return the places of those that are in the text, each once, and how many are not, or were not looked for."""
    sought = quotations[:MOST_SOUGHT]
    places = [library.find(one) if len(one) <= LONGEST_SOUGHT else None for one in sought]
    dropped = places.count(None) + len(quotations) - len(sought)
    return tuple(dict.fromkeys(place for place in places if place is not None)), dropped


def _find(text: str, parts: Sequence[str]) -> int | None:
    """Find the first place at which all parts follow one another, from each occurrence of the first one on."""
    start = text.find(parts[0])
    for _ in range(_MOST_STARTS):
        if start < 0:
            return None
        if _is_apart(text, start, parts[0]) and _follow(text, start + len(parts[0]), parts[1:]):
            return start
        start = text.find(parts[0], start + len(parts[0]))
    return None


def _follow(text: str, end: int, parts: Sequence[str]) -> bool:
    for part in parts:
        start = text.find(part, end, end + _MOST_OMITTED + len(part))
        if start < 0 or not _is_apart(text, start, part):
            return False
        end = start + len(part)
    return True


def _is_apart(text: str, start: int, part: str) -> bool:
    """Return whether a part neither begins nor ends within a word (of ASCII): "do it" is not what "undo it" says."""
    end = start + len(part)
    edges = (text[max(start - 1, 0) : start] + part[0], part[-1] + text[end : end + 1])
    return not any(len(both) == 2 and both.isascii() and both.isalnum() for both in edges)


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
    return _Folded("".join(pieces), starts, origins)


def _place(page: Page, folded: _Folded, start: int, end: int) -> Place:
    first, last = folded.origin(start), folded.origin(end - 1) + 1
    words = " ".join(page.text[first:last].split())
    if len(words) > MOST_CHARACTERS:
        words = words[: MOST_CHARACTERS - 1].rstrip() + "…"
    return Place(page.path, page.text.count("\n", 0, first) + 1, words)
