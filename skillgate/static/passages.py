"""The passages of a document that can speak to a model, those that a reader of the rendered page never sees included.

Paragraphs, list items, table rows and headings come as they were parsed: code is no part of them. HTML comments, the
titles of links and the texts of reference definitions (``[//]: # (…)``) are looked for in the file itself, with its
code blanked out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.finding import Hit, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Document, Skill

_CODE_SPAN = r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)"
_COMMENT = r"<!--(?P<comment>.*?)(?:-->|\Z)"
_DEFINITION = r"^[ ]{0,3}\[[^\]\n]+\]:[ \t]*\S+[ \t]+[\"'(](?P<definition>[^\n]+)[\"')][ \t]*$"
_TITLE = r"\]\([^()\s]*[ \t]+\"(?P<title>[^\"\n]+)\"[ \t]*\)"
_HIDDEN = f"(?ms){_COMMENT}|{_DEFINITION}|{_TITLE}"
_OWN = "skillgate:"  # a comment that sets a finding aside speaks to this tool
_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("「", "」"), ("‘", "’"))
_BEFORE_SINGLE = " \n\t([{|:"
LONGEST = 20_000  # characters of one passage that are looked at


class Passage(NamedTuple):
    """A piece of text that begins on ``line``; ``hidden`` where the rendered page does not show it."""

    text: str
    line: int
    hidden: bool = False

    def line_at(self, offset: int) -> int:
        """Give the line of the file that a place of the text stands on."""
        return self.line + self.text.count("\n", 0, offset)


def passages(document: Document, words: tuple[str, ...]) -> Iterator[Passage]:
    """Give what a model reads as text and that holds one of the words: blocks, headings, then what is hidden.

    Args:
        document: the parsed file.
        words: lower-case, without line breaks; a break in the text counts as a space.
    """
    whole = _folded(document.text)
    present = tuple(word for word in words if word in whole)
    for passage in _all(document) if present else ():
        folded = _folded(passage.text)
        for word in present:
            if word in folded:
                yield passage
                break


def _folded(text: str) -> str:
    return text.lower().replace("\n", " ")


def _all(document: Document) -> Iterator[Passage]:
    for block in document.blocks:
        yield Passage(block.text[:LONGEST], block.line)
    for heading in document.headings:
        yield Passage(heading.text, heading.line)
    yield from _hidden(document)


def _hidden(document: Document) -> Iterator[Passage]:
    """Give HTML comments, titles of links and texts of reference definitions, where they are not code."""
    if "<!--" not in document.text and '")' not in document.text and "\n[" not in document.text:
        return
    text = without_code(document)
    for match in re.finditer(_HIDDEN, text):
        kind = match.lastgroup or "comment"
        if _OWN not in match[kind]:
            yield Passage(match[kind][:LONGEST], text.count("\n", 0, match.start(kind)) + 1, hidden=True)


def without_code(document: Document) -> str:
    """Blank out frontmatter, fenced code and code spans; every other character stays where it stood."""
    return re.sub(_CODE_SPAN, lambda match: " " * len(match[0]), without_fences(document))


def without_fences(document: Document) -> str:
    """Blank out frontmatter and fenced code; every other line stays where it stood."""
    lines = document.text.split("\n")
    for row in range(min(document.first_line - 1, len(lines))):
        lines[row] = ""
    for block in document.code_blocks:
        for row in range(block.line - 1, min(block.end_line, len(lines))):
            lines[row] = ""
    return "\n".join(lines)


def description(skill: Skill) -> Iterator[Passage]:
    """Give the description as a passage: it is the first that a model reads of a skill."""
    text = skill.frontmatter.text("description")
    if text:
        yield Passage(text[:LONGEST].replace("\n", " "), skill.frontmatter.line("description"))


def quoted(text: str, start: int, end: int) -> bool:
    """Tell whether a place of a text stands between quotation marks that open before it in the same line or block."""
    for opening, closing in _QUOTES:
        before = text.rfind(opening, 0, start + 1)
        if before < 0 or text.find(closing, max(end - 1, before + 1)) < 0:
            continue
        if opening == closing and text.count(opening, 0, start + 1) % 2 == 0:
            continue
        if opening != closing and text.rfind(closing, before + 1, start) >= 0:
            continue
        return True
    return _single_quoted(text, start, end)


def _single_quoted(text: str, start: int, end: int) -> bool:
    """Look for ``'…'``: an apostrophe opens a quotation only where no letter stands before it."""
    before = text.rfind("'", 0, start + 1)
    while before > 0 and text[before - 1] not in _BEFORE_SINGLE:
        before = text.rfind("'", 0, before)
    return before >= 0 and text.find("'", max(end - 1, before + 1)) >= 0


def sentence_before(text: str, start: int) -> str:
    """Give what stands before a place in its own sentence, lower-cased."""
    cut = max((text.rfind(mark, 0, start) for mark in (". ", "! ", "? ", ".\n", "\n\n")), default=-1)
    return text[cut + 1 : start].lower()


def hit(document: Document, skill: Skill, line: int, message: str, *, column: int = 1) -> Hit:
    """Make a hit in a document; the main one is named by no file."""
    main = skill.documents and document is skill.documents[0]
    return Hit(Span(line, column), message, file=None if main else document.file)


# What announces that words are spoken of: examples, things to find. It may stand anywhere before them in the sentence.
_MENTION = (
    r"\b(?:such as|e\.g\.|for instance|examples?|phrases?|patterns?|payloads?|attack\w*|attempt\w*|inject\w*"
    r"|jailbreak\w*|detect\w*|looks? for|looking for|flag(?:s|ged)?|rejects?|refuses?|block(?:s|ed)?|scan\w*"
    r"|malicious|adversar\w*"
    r"|hostile|untrusted|says?|said|saying|reads|contain\w*|claim\w*|text that|anything that|whether)(?!\w)"
)
_FORBIDDEN = (
    r"(?:\bnot|\w+n't|\bnever|\bno|\bcannot|\bavoid|\brefuse|\blike|\btry|\btries|\btrying)\b"
    r"\W*(?:\w+\W+){0,3}\Z"
)
_MENTION_AFTER = (
    r"[\"'”’`]|[^\w\n]{0,3}(?:is|are|counts? as|indicates?) (?:an? )?(?:attack|injection|example|sign|red flag)"
)


def is_mentioned(passage: Passage, start: int, end: int) -> bool:
    """Tell whether words are quoted, named as an example or forbidden, and not addressed to whoever reads them."""
    if quoted(passage.text, start, end) or "◌" in passage.text[start:end]:
        return True
    before = sentence_before(passage.text, start).replace("’", "'")
    if re.search(_MENTION, before) or re.search(_FORBIDDEN, before):
        return True
    return bool(re.match(_MENTION_AFTER, passage.text[end:].lower()))


def is_table_row(passage: Passage) -> bool:
    """Tell whether a passage is the row of a table: cells name things, and instruct nobody."""
    return not passage.hidden and " | " in passage.text and "\n" not in passage.text
