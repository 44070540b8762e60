"""One file of a skill as it is, and the characters of it to replace."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.model.skill import Document, Skill

BOM = "\ufeff"
LINE_END = "\r\n|\r|\n"


class Edit(NamedTuple):
    """Characters to replace: those of the file from ``start`` to before ``stop``.

    ``line`` is the finding's line. An edit that is not ``safe`` may change what the author meant.
    """

    line: int
    start: int
    stop: int
    text: str
    safe: bool = True


class Page(NamedTuple):
    """One file of a skill, as it is and as it was parsed.

    Attributes:
        skill: the skill it belongs to.
        document: its facts; their line numbers are those of ``lines``, counted from 1.
        main: whether it is the skill's main file.
        raw: all of it, with its byte order mark and its own line ends.
        lines: its lines without their ends; the last is ``""`` if the file ends with a line end.
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
        """Return the text with edits made. A line end that one adds is the file's, unless those are fixed too."""
        made = sorted(edits, key=lambda edit: (edit.start, edit.stop))
        mends_ends = any("\r" in self.raw[edit.start : edit.stop] for edit in made)
        newline = "\n" if mends_ends or not self.ends else self.ends[-1]
        parts: list[str] = []
        position = 0
        for edit in made:
            parts += (self.raw[position : edit.start], edit.text.replace("\n", newline))
            position = edit.stop
        return "".join((*parts, self.raw[position:]))


def page_of(skill: Skill, document: Document, data: bytes) -> Page | None:
    """Cut the bytes of a document into lines; None if they are no longer what was parsed."""
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
