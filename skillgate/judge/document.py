"""The whole skill as one fenced text; where that is longer than a request may be, whole sections go, and it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.judge.fence import CLOSE, OPEN, marker, named, sealed, visible
from skillgate.model.judging import Cut
from skillgate.skill import frontmatter
from skillgate.skill.documents import MARKDOWN
from skillgate.skill.markdown import parse_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.judge.subject import Dossier, Page, Passage

KIND = "skill"
MOST_SECTIONS = 200  # that one file is taken apart into; a file of more is taken apart at its higher headings
LONGEST_HEADING = 80
_LEFT_OUT = f"{OPEN}not shown: "


class Shown(NamedTuple):
    """What a judge is shown.

    Attributes:
        text: all pages, fenced, the main file first; each begins with a marker that names it.
        cut: what was left out since all of it was too long: sections by page and line, a whole page under the heading
            ``""``. Passages that were to be left out are not among them.
    """

    text: str
    cut: tuple[Cut, ...]


class _Sheet(NamedTuple):
    """A page made visible: its lines, of which a passage left out is one marker and then None."""

    page: Page
    lines: list[str | None]

    def written(self, first: int, last: int) -> str:
        """Join lines, counted from 1, both ends included."""
        return "\n".join(line for line in self.lines[first - 1 : last] if line is not None)

    def size(self, first: int, last: int) -> int:
        """Count the characters of lines; what stands for a passage left out counts nothing."""
        return sum(map(_weight, self.lines[first - 1 : last]))


def shown(dossier: Dossier, *, most_characters: int, without: Sequence[Passage] = (), main_only: bool = False) -> Shown:
    """Write a skill's pages as one fenced text.

    Sections go in the order of the pages, the main file's before all others, each as long as there is room for it as a
    whole. Only a section that is longer than all the room there is is cut within, at a paragraph. Time is linear.

    Args:
        dossier: the skill.
        most_characters: of the pages' text as it is shown; our own markers are not counted.
        without: passages that a marker takes the place of.
        main_only: whether every page but the first is left out.
    """
    parts: list[str] = []
    cut: list[Cut] = []
    room = most_characters
    for index, page in enumerate(dossier.pages):
        sheet = _Sheet(page, _lines(page, without))
        parts.append(marker(f"file {named(page.path)}"))
        if main_only and index:
            chosen = [_whole(sheet)]
            written = _not_shown(chosen)
        else:
            written, chosen, used = _within(sheet, room, most_characters)
            room -= used
        parts.append(written)
        cut += chosen
    return Shown(sealed(KIND, "\n".join(parts)), tuple(cut))


def _lines(page: Page, without: Sequence[Passage]) -> list[str | None]:
    """Make a page visible line by line; markers take the place of the passages in it."""
    lines: list[str | None] = list(visible(page.text).removesuffix("\n").split("\n"))
    for passage in without:
        if passage.path != page.path or not 1 <= passage.first <= min(passage.last, len(lines)):
            continue
        last = min(passage.last, len(lines))
        lines[passage.first - 1 : last] = [None] * (last - passage.first + 1)
        lines[passage.first - 1] = f"{_LEFT_OUT}{_span(passage.first, last)}{CLOSE}"
    return lines


def _weight(line: str | None) -> int:
    return 0 if line is None or line.startswith(_LEFT_OUT) else len(line) + 1


def _whole(sheet: _Sheet) -> Cut:
    return Cut(sheet.page.path, "", 1, len(sheet.lines))


def _within(sheet: _Sheet, room: int, limit: int) -> tuple[str, list[Cut], int]:
    """Write as much of a page as there is room for; give what was left out, and the characters it took."""
    size = sheet.size(1, len(sheet.lines))
    if size - 1 <= room:  # the last line needs no end
        return sheet.written(1, len(sheet.lines)), [], size - 1
    parts: list[str] = []
    run: list[Cut] = []
    cut: list[Cut] = []
    used = 0
    for section in _sections(sheet.page, len(sheet.lines)):
        kept, rest = _fit(sheet, section, room - used, limit)
        if kept is not None:
            parts += [_not_shown(run)] if run else []
            run = []
            parts.append(kept)
            used += len(kept) + 1
        if rest is not None:
            run.append(rest)
            cut.append(rest)
    if not parts:
        return _not_shown([_whole(sheet)]), [_whole(sheet)], 0
    parts += [_not_shown(run)] if run else []
    return "\n".join(parts), cut, used


def _fit(sheet: _Sheet, section: Cut, room: int, limit: int) -> tuple[str | None, Cut | None]:
    """Give what of a section is shown, and what is not."""
    size = sheet.size(section.first, section.last)
    if size - 1 <= room:
        return sheet.written(section.first, section.last), None
    return _beginning(sheet, section, room, limit) if size - 1 > limit else (None, section)


def _beginning(sheet: _Sheet, section: Cut, room: int, limit: int) -> tuple[str | None, Cut]:
    """Cut a section after the last paragraph there is room for, else after a line, else within a line that is huge."""
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
        before = sheet.written(section.first, last)
        piece = _piece(following, room - len(before) - 1)
        kept = f"{before}\n{piece}" if before else piece
        return kept or None, section._replace(first=last + 1)
    last = blank or last
    if last < section.first:
        return None, section
    return sheet.written(section.first, last), section._replace(first=last + 1)


def _piece(line: str, room: int) -> str:
    """Cut a line after a word, and not within a code point that is written out."""
    piece = line[: max(0, room)]
    if piece.rfind(OPEN) > piece.rfind(CLOSE):
        piece = piece[: piece.rfind(OPEN)]
    return piece[: piece.rfind(" ") + 1] or piece


def _sections(page: Page, count: int) -> Iterator[Cut]:
    """Divide a page of so many lines at its headings; what stands above the first is a section under ``""``."""
    starts = _headings(page)
    if not starts or starts[0][0] > 1:
        starts = [(1, ""), *starts]
    for index, (first, heading) in enumerate(starts):
        last = starts[index + 1][0] - 1 if index + 1 < len(starts) else count
        yield Cut(page.path, heading, first, last)


def _headings(page: Page) -> list[tuple[int, str]]:
    """Give the line and text of each heading outside of code, lists and quotes, at most so many."""
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
    """Stand for sections left out one after the other."""
    first, last = run[0], run[-1]
    more = f" and {len(run) - 1} more" if len(run) > 1 else ""
    what = f"section {named(first.heading)}{more}, " if first.heading or more else ""
    return f"{_LEFT_OUT}{what}{_span(first.first, last.last)}{CLOSE}"


def _span(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"
