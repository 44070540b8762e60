"""Every repair, by the rule whose finding it fixes, where there is one right way to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from skillgate.model.skill import CodeBlock, Document, Skill
from skillgate.skill.frontmatter import name_defect, same_name
from skillgate.static.code import certain_language, syntax_error

BOM = "\ufeff"
LINE_END = "\r\n|\r|\n"


class Edit(NamedTuple):
    """Characters to replace: those of the file from ``start`` to before ``stop``. ``line`` is the finding's line."""

    line: int
    start: int
    stop: int
    text: str


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


class Fix(NamedTuple):
    """The declaration of a repair: an entry of ``FIXES``.

    Attributes:
        find: gives the edits of a page, of which any part may be left out. No two repairs touch the same characters.
        silent: the parsed file stays the same, so the repair need not be tried before it is made.
    """

    find: Callable[[Page], Iterator[Edit]]
    silent: bool = False


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


def _byte_order_mark(page: Page) -> Iterator[Edit]:
    """Take away the byte order mark.

    A file with two of them is left alone: readers take away one, and the second hides the frontmatter. To take both
    away would change what the file says.
    """
    if page.raw.startswith(BOM) and not page.raw.startswith(BOM + BOM):
        yield Edit(1, 0, 1, "")


def _frontmatter_tab(page: Page) -> Iterator[Edit]:
    """Put one space in place of the white space with a tab between a frontmatter key and its value."""
    for problem in page.skill.problems_of("frontmatter_tab") if page.main else ():
        line = problem.span.line
        gap = re.match(r"[^:]+:([ \t]+)", page.lines[line - 1])
        if gap is not None:
            start = page.starts[line - 1]
            yield Edit(line, start + gap.start(1), start + gap.end(1), " ")


def _line_ends(page: Page) -> Iterator[Edit]:
    """Make every line end a line feed."""
    wrong = "\r" if "\r" in page.ends else "\r\n"
    if wrong not in page.ends:
        return
    line = page.ends.index(wrong) + 1
    for start, text, end in zip(page.starts, page.lines, page.ends, strict=False):
        if end != "\n":
            yield Edit(line, start + len(text), start + len(text) + len(end), "\n")


# What some YAML reader takes for something else than text.
_NOT_TEXT = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


def _name_mismatch(page: Page) -> Iterator[Edit]:
    """Return the skill the name of its directory.

    Only where the directory's name is a valid one and the name is written plainly on one line. A skill that is the root
    of its repository keeps its name: what a checkout is called has no meaning.
    """
    skill = page.skill
    if not page.main or not _differs(skill):
        return
    line = skill.frontmatter.line("name")
    text = page.lines[line - 1]
    key = re.match(r"[ ]*name:[ \t]+", text)
    if key is None:
        return
    for quote in ("", "'", '"'):
        written = f"{quote}{skill.frontmatter.values['name']}{quote}"
        end = key.end() + len(written)
        if text[key.end() : end] == written and re.fullmatch(r"(?:[ \t]+#.*)?[ \t]*", text[end:]):
            start = page.starts[line - 1]
            yield Edit(line, start + key.end(), start + end, _written(skill.root.name, quote))
            return


def _differs(skill: Skill) -> bool:
    head, wanted = skill.frontmatter, skill.root.name
    name, line = head.text("name"), head.line("name")
    if any(problem.span.line == line for problem in skill.problems_of("duplicate_key")):
        return False
    certain = bool(skill.root.directory and wanted) and name_defect(wanted) is None
    return certain and bool(name) and not same_name(name, wanted)


def _written(name: str, quote: str) -> str:
    """Keep existing quotes; add some only if the unquoted name might not be read as text."""
    if not quote and (not name[0].isalpha() or name in _NOT_TEXT):
        quote = '"'
    return f"{quote}{name}{quote}"


def _no_final_newline(page: Page) -> Iterator[Edit]:
    """End the last line."""
    if page.document.text and page.lines[-1]:
        yield Edit(len(page.lines), len(page.raw), len(page.raw), "\n")


def _untagged_code(page: Page) -> Iterator[Edit]:
    """Name the language of a code block where its code leaves no doubt."""
    for block in page.document.code_blocks if page.document.complete else ():
        language = _language(block)
        text = page.lines[block.line - 1].rstrip(" \t")
        if language and text.endswith(("```", "~~~")):
            place = page.starts[block.line - 1] + len(text)
            yield Edit(block.line, place, place, language)


def _language(block: CodeBlock) -> str | None:
    """Return the language of an untagged block; None if a tag would add another finding."""
    if block.language or not block.closed or not block.lines:
        return None
    language = certain_language(block.code)
    return language if language and syntax_error(language, block.code) is None else None


FIXES = {
    "BYTE_ORDER_MARK": Fix(_byte_order_mark, silent=True),
    "FRONTMATTER_TAB": Fix(_frontmatter_tab),
    "LINE_ENDS": Fix(_line_ends, silent=True),
    "NAME_MISMATCH": Fix(_name_mismatch),
    "NO_FINAL_NEWLINE": Fix(_no_final_newline),
    "UNTAGGED_CODE": Fix(_untagged_code),
}
