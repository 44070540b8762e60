"""The passages of a document that can speak to a model, those that a reader of the rendered page never sees included.

Paragraphs, list items, table rows and headings come as they were parsed: code is no part of them. What the page does
not show is looked for in the file itself, with its code blanked out. Each text is folded: white space, emphasis,
character references and tags are no way around a search.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.finding import Hit
from skillgate.model.skill import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Document, Skill

_REFERENCE = r"&#?\w{1,31};"
_TAG = r"</?[a-zA-Z][^<>]*>"
_UNDERSCORES = r"(?<![^\W_])_+|_+(?![^\W_])"  # those at the edge of a word
_INVISIBLE = "[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
_DELIMITER = r"[ \t>]*\|?[ \t]*:?-[-:| \t]*\Z"
_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("「", "」"), ("‘", "’"))
_BEFORE_SINGLE = " \n\t([{|:"
LONGEST = 20_000  # characters of a text that are looked at together: what judges a place looks at all around it
_OVERLAP = 400  # so that nothing is cut in two
_SENTENCE = 400  # characters before a place that are taken for its sentence
_VALUES = 2_000  # of the frontmatter


class Passage(NamedTuple):
    """A piece of text, folded, that begins on ``line``; ``hidden`` where the rendered page does not show it.

    ``starts`` are the offsets in ``text`` that the lines begin at; ``header`` is the first row of its table, None where
    it is no row.
    """

    text: str
    line: int
    hidden: bool = False
    starts: tuple[int, ...] = (0,)
    header: str | None = None

    def line_at(self, offset: int) -> int:
        """Give the line of the file that a place of the text stands on."""
        return self.line + max(0, bisect_right(self.starts, offset) - 1)


def passages(document: Document, words: tuple[str, ...]) -> Iterator[Passage]:
    """Give what a model reads as text and that holds one of the words: blocks, headings, then what is hidden.

    Args:
        document: the parsed file.
        words: lower-case, without line breaks; a break in the text counts as a space.
    """
    whole = _whole(document.text)
    present = tuple(word for word in words if word in whole)
    for text, line, hidden, header in _all(document) if present else ():
        for passage in _passages(text, line, hidden=hidden, header=header):
            folded = passage.text.lower()
            if any(word in folded for word in present):
                yield passage


def _whole(text: str) -> str:
    """Fold a file, with its tags and without them, as :func:`_plain` does and a little more: in far less time."""
    for mark in ("\n>", "*", "_", "~~", "\\"):
        text = text.replace(mark, " " if mark == "\n>" else "")
    if "&" in text or not text.isascii():
        text = _decoded(text)
    folded = " ".join(text.lower().split())
    return f"{folded} {re.sub(_TAG, '', folded)}" if "<" in folded else folded


def _decoded(text: str) -> str:
    """Replace character references, and drop characters that nobody sees."""
    if re.search(_REFERENCE, text):
        import html  # most texts hold no reference, and its table is large

        text = re.sub(_REFERENCE, lambda match: html.unescape(match[0]).replace("\n", " "), text)
    return re.sub(_INVISIBLE, "", text) if not text.isascii() else text


def _plain(text: str) -> str:
    """Drop what stands between the letters of a text and is none; its lines stay."""
    text = _decoded(text) if "&" in text or not text.isascii() else text
    if "<" in text:
        text = re.sub(_TAG, "", text)
    if "_" in text:
        text = re.sub(_UNDERSCORES, "", text)
    return text.replace("*", "").replace("~~", "").replace("\\", "")


def _passages(text: str, line: int, *, hidden: bool = False, header: str | None = None) -> Iterator[Passage]:
    """Fold a text to one line that knows where its lines began, and cut it where it is long."""
    plain = _plain(text)
    if len(plain) <= LONGEST and "\n" not in plain:
        yield Passage(" ".join(plain.lstrip("> \t").split()), line, hidden, header=header)
        return
    parts, starts, size = [], [], 0
    for row in plain.split("\n"):
        words = " ".join(row.lstrip("> \t").split())
        starts.append(size)
        if words:
            parts.append(words)
            size += len(words) + 1
    folded = " ".join(parts)
    for begin in range(0, max(1, len(folded) - _OVERLAP), LONGEST - _OVERLAP):
        first = max(0, bisect_right(starts, begin) - 1)
        last = bisect_left(starts, begin + LONGEST)
        offsets = tuple(start - begin for start in starts[first:last])
        yield Passage(folded[begin : begin + LONGEST], line + first, hidden, offsets, header)


def _all(document: Document) -> Iterator[tuple[str, int, bool, str | None]]:
    """Give each text as it stands, its line, whether it is hidden, and the header of its table."""
    lines, header, below = document.text.split("\n"), None, 0
    for block in document.blocks:
        row = " | " in block.text and "\n" not in block.text
        if row and block.line < len(lines) and re.match(_DELIMITER, lines[block.line]):
            header, below = block.text, block.line + 2
        elif not row or block.line != below:
            header = None
        else:
            below += 1
        yield block.text, block.line, False, header
    for heading in document.headings:
        yield heading.text, heading.line, False, None
    if "<" in document.text or "[" in document.text:
        from skillgate.static.unseen import unseen, without_code_spans

        for text, line in unseen(without_code_spans(without_fences(document))):
            yield text, line, True, None


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
    """Give the texts of the frontmatter, the description among them: they are the first that a model reads."""
    for key, value in skill.frontmatter.values.items():
        line = skill.frontmatter.line(key)
        for text in _texts(value):
            yield from _passages(text.replace("\n", " "), line)


def _texts(value: object) -> Iterator[str]:
    """Give the texts that a value of the frontmatter holds, at any depth."""
    pending, left = list[object]([value]), _VALUES
    while pending and left:
        left -= 1
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            pending += [part for pair in item.items() for part in pair]
        elif isinstance(item, list | tuple | set):
            pending += item


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
    low = max(0, start - _SENTENCE)
    cut = max((text.rfind(mark, low, start) for mark in (". ", "! ", "? ", ".\n", "\n\n")), default=-1)
    return text[max(cut + 1, low) : start].lower()


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
# A table whose header holds one of these lists texts and what to think of them.
_LISTS = (
    r"attack|inject|jailbreak|malicious|threat|risk|severity|verdict|examples?|patterns?|phrases?|texts?|inputs?|prompts?"
    r"|payloads?|messages?|quotes?|requests?|says?|said|triggers?|keywords?|categor|technique|types?|signals?|meaning"
    r"|means|avoid|never|not\b|don't|bad|wrong|excuses?|thoughts?|reality|rationali|mistakes?|red flags?|tests?"
    r"|scenarios?|cases?|expected|claims?"
)
_LISTED = r"attack|inject|jailbreak|malicious|suspicious|untrusted|\bthreat|\brefuse|\breject"


def is_mentioned(passage: Passage, start: int, end: int) -> bool:
    """Tell whether words are quoted, named as an example or forbidden, and not addressed to whoever reads them."""
    if quoted(passage.text, start, end) or "◌" in passage.text[start:end]:
        return True
    before = sentence_before(passage.text, start).replace("’", "'")
    if re.search(_MENTION, before) or re.search(_FORBIDDEN, before):
        return True
    return bool(re.match(_MENTION_AFTER, passage.text[end : end + _SENTENCE].lower()))


def is_table_row(passage: Passage) -> bool:
    """Tell whether a passage is the row of a table that lists texts: its cells name things, and instruct nobody."""
    if passage.header is None:
        return False
    return bool(re.search(rf"\b(?:{_LISTS})", passage.header.lower()) or re.search(_LISTED, passage.text.lower()))
