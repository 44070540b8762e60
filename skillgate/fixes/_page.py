"""What repairs are made of: a file as it stands, the characters of it to replace, and the change that comes of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from skillgate.model.skill import Document, Skill

BOM = "\ufeff"
LINE_END = "\r\n|\r|\n"


class Edit(NamedTuple):
    """Characters to replace: those of the file from ``start`` to before ``stop``. ``line`` is the finding's line."""

    line: int
    start: int
    stop: int
    text: str


class Page(NamedTuple):
    """One file of a skill, as it stands and as it was parsed.

    Attributes:
        skill: the skill it belongs to.
        document: its facts; their line numbers are those of ``lines``, counted from 1.
        main: whether it is the skill's main file.
        raw: all of it, with its byte order mark and its own line ends.
        lines: its lines without their ends; the last is ``""`` where the file ends with a line end.
        ends: the end of each line but the last.
        starts: where each line begins in ``raw``.
    """

    skill: Skill
    document: Document
    main: bool
    raw: str
    lines: tuple[str, ...]
    ends: tuple[str, ...]
    starts: tuple[int, ...]

    def edited(self, edits: Iterable[Edit]) -> str:
        """Give the text with edits made. A line end that one adds is that of the file, unless those are mended too."""
        made = sorted(edits, key=lambda edit: (edit.start, edit.stop))
        mends_ends = any("\r" in self.raw[edit.start : edit.stop] for edit in made)
        newline = "\n" if mends_ends or not self.ends else self.ends[-1]
        parts: list[str] = []
        position = 0
        for edit in made:
            parts += (self.raw[position : edit.start], edit.text.replace("\n", newline))
            position = edit.stop
        return "".join((*parts, self.raw[position:]))


class Fix(NamedTuple):
    """The declaration of a repair: one per file of this room, whose name in capitals is the rule that it mends.

    Attributes:
        find: gives the edits of a page, of which any part may be left out. No two repairs touch the same characters.
        silent: no reader of the parsed file could tell the difference, so it need not be tried before it is made.
    """

    find: Callable[[Page], Iterator[Edit]]
    silent: bool = False


class Change(NamedTuple):
    """What is to become of one file.

    Attributes:
        file: its tree path.
        path: the file as shown to people: the skill's directory as it was given, then the file in it, with ``/``.
        before, after: its bytes.
        rules: the ids of the findings that are mended, sorted.
        skipped: why the file is left as it is, although it has such findings; None where it is to be written.
    """

    file: str
    path: str
    before: bytes
    after: bytes
    rules: tuple[str, ...]
    skipped: str | None = None


class Result(NamedTuple):
    """What became of a change: ``reason`` says why it was not written, ``note`` what else one should know of it."""

    change: Change
    written: bool
    reason: str | None = None
    note: str | None = None


def page_of(skill: Skill, document: Document, data: bytes) -> Page | None:
    """Cut the bytes of a document into lines; None where they are no longer what was parsed."""
    try:
        raw = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    parts = re.split(f"({LINE_END})", raw)
    lines, ends = tuple(parts[::2]), tuple(parts[1::2])
    if "\n".join(lines).removeprefix(BOM) != document.text:
        return None
    starts, position = [0], 0
    for line, end in zip(lines, ends, strict=False):
        position += len(line) + len(end)
        starts.append(position)
    main = document is skill.documents[0]
    return Page(skill, document, main, raw, lines, ends, tuple(starts))
