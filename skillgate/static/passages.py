"""Passages: what a model reads as text, those that a reader of the rendered page never sees included.

Paragraphs, list items, table rows and headings come as they were parsed, without code. What the page does not show
(comments, titles, attributes, hidden elements) is searched for in the file itself, with its code blanked out. Each text
is folded: white space, emphasis, character references and tags do not hide it from a search. Every search is one pass.
Patterns are lower-case and meet lower-cased text: that is cheaper to compile than patterns that ignore case.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from skillgate.model.skill import Document, Skill
from skillgate.named_tuple import NamedTuple
from skillgate.static.text import without_fences

_REFERENCE = r"&#?\w{1,31};"
_END = "\0"  # of a text among others; no document has one
_TAG = r"</?[a-zA-Z][^<>\0]*>"
_UNDERSCORES = r"(?<![^\W_])_+|_+(?![^\W_])"  # those at the edge of a word
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff")
_DELIMITER = r"[ \t>]*\|?[ \t]*:?-[-:| \t]*\Z"
_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("「", "」"), ("‘", "’"))
_BEFORE_SINGLE = " \n\t([{|:"
LONGEST = 20_000  # characters of a text that are searched together: judging a place reads all around it
_OVERLAP = 400  # so that nothing is cut in two
_SENTENCE = 400  # characters before a place that are taken for its sentence
_VALUES = 2_000  # of the frontmatter


class Passage(NamedTuple):
    """A piece of text, folded, that begins on ``line``; ``hidden`` where the rendered page does not show it.

    ``starts`` are the offsets in ``text`` that the lines begin at; ``header`` is the first row of its table, None
    outside of tables.
    """

    text: str
    line: int
    hidden: bool = False
    starts: tuple[int, ...] = (0,)
    header: str | None = None

    def line_at(self, offset: int) -> int:
        """Return the line of the file that an offset of the text is on."""
        return self.line + max(0, bisect_right(self.starts, offset) - 1)


class _Texts(NamedTuple):
    """The texts of a document as written, and all of them folded and joined: to look for words in one search."""

    parts: tuple[tuple[str, int, bool, str | None], ...]
    folded: str
    ends: tuple[int, ...]  # where each part ends in ``folded``


_latest: list[tuple[Skill, dict[int, _Texts]]] = []


def passages(skill: Skill, document: Document, words: tuple[str, ...]) -> Iterator[Passage]:
    """Yield what a model reads as text and that holds one of the words: blocks, headings, then what is hidden.

    ``words`` are lower-case, without line breaks; a break in the text counts as a space.
    """
    texts = _read(skill, document)
    for index in sorted(set(_holding(texts, words))):
        text, line, hidden, header = texts.parts[index]
        for passage in _passages(text, line, hidden=hidden, header=header):
            folded = passage.text.lower()
            if any(word in folded for word in words):
                yield passage


def _holding(texts: _Texts, words: tuple[str, ...]) -> Iterator[int]:
    """Yield the places of the texts that may hold one of the words."""
    for word in words:
        found = texts.folded.find(word)
        while found >= 0:
            index = bisect_right(texts.ends, found)
            yield index
            found = texts.folded.find(word, texts.ends[index])


def _read(skill: Skill, document: Document) -> _Texts:
    """Read a document once for all rules; the texts of the latest skill are remembered."""
    if not (_latest and _latest[0][0] is skill):
        _latest[:] = [(skill, {})]
    known = _latest[0][1]
    if id(document) not in known:
        parts = tuple(_all(document))
        folded = _fold("".join(f"{text}{_END}" for text, *_ in parts))
        ends = tuple(match.end() for match in re.finditer(_END, folded))
        known[id(document)] = _Texts(parts, folded, ends)
    return known[id(document)]


def _fold(text: str) -> str:
    """Fold texts at once, each with its end, as :func:`_passages` does one by one."""
    plain = _plain(text)
    if "\n>" in plain or "\n " in plain or "\n\t" in plain:
        plain = re.sub(r"\n[> \t]+", " ", plain)
    return " ".join(plain.lower().split())


def _decode(text: str) -> str:
    """Replace character references, and drop invisible characters."""
    if re.search(_REFERENCE, text):
        import html  # most texts hold no reference, and its table is large

        text = re.sub(_REFERENCE, lambda match: html.unescape(match[0]).replace("\n", " "), text)
    return text if _INVISIBLE.isdisjoint(text) else text.translate(dict.fromkeys(map(ord, _INVISIBLE)))


def _plain(text: str) -> str:
    """Drop the markup between the letters of a text; its lines stay."""
    text = _decode(text) if "&" in text or not text.isascii() else text
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
    """Yield each text as written, its line, whether it is hidden, and the header of its table."""
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
        for text, line in _unseen(_without_code_spans(without_fences(document))):
            yield text, line, True, None


def description(skill: Skill) -> Iterator[Passage]:
    """Yield the texts of the frontmatter, the description among them: they are the first that a model reads."""
    for key, value in skill.frontmatter.values.items():
        line = skill.frontmatter.line(key)
        for text in _texts(value):
            yield from _passages(text.replace("\n", " "), line)


def _texts(value: object) -> Iterator[str]:
    """Yield the texts that a value of the frontmatter holds, at any depth."""
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


# -- What the page does not show

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
_ELEMENT = r"<[a-z](?P<tag>(?:[^<>\"']++|\"[^\"]{0,999}\"|'[^']{0,999}'){0,40}+)>"
# With what each begins: the pattern of a document is made of those that can match.
_UNSEEN = (("<", f"{_COMMENT}|{_SCRIPT}"), ("]:", _DEFINITION), ("](", _TITLE), ("![", _ALT), ("<", _ELEMENT))
_VALUE = r"=\s*(?:\"([^\"]*)|'([^']*))"
_HIDING = r"(?i)<[a-z][^<>]*>"  # one of these tags hides what is between them, where it says so
_SAYS_SO = r"\bhidden\b|display\s*:\s*none"
_BACKTICKS = r"`+|\n(?=[ \t]*\n)"


def _unseen(text: str) -> Iterator[tuple[str, int]]:
    """Yield each text that the page does not show, with the line that it begins on; the code is blanked out."""
    line = counted = 0
    pattern = "|".join(part for beginning, part in _UNSEEN if beginning in text)
    for match in re.finditer(f"(?ims){pattern}", text) if pattern else ():
        kind = match.lastgroup or "comment"
        line += text.count("\n", counted, match.start(kind))
        counted = match.start(kind)
        if kind != "tag":
            yield match[kind], line + 1
        elif "=" in match[kind]:
            for value in re.finditer(_VALUE, match[kind]):
                yield value[1] or value[2] or "", line + 1 + match[kind].count("\n", 0, value.start())
    if "<" in text and re.search(f"(?i){_SAYS_SO}", text):
        yield from _hidden_elements(text)


def _hidden_elements(text: str) -> Iterator[tuple[str, int]]:
    """Yield the paragraphs that hold an element which is not shown, as a whole."""
    paragraph: list[str] = []
    for number, row in enumerate([*text.split("\n"), ""], start=1):
        if row.strip():
            paragraph.append(row)
            continue
        whole = "\n".join(paragraph)
        if "<" in whole and any(re.search(_SAYS_SO, tag.lower()) for tag in re.findall(_HIDING, whole)):
            yield whole, number - len(paragraph)
        paragraph = []


def _without_code_spans(text: str) -> str:
    """Blank out code spans; every other character keeps its place."""
    if "`" not in text:
        return text
    runs = [run.span() for run in re.finditer(_BACKTICKS, text)]
    closes: list[int] = [0] * len(runs)
    nearest: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        start, end = runs[index]
        if text[start] == "\n":
            nearest = {}
            continue
        closes[index] = nearest.get(end - start, 0)
        nearest[end - start] = end
    parts, done = [], 0
    for (start, _), close in zip(runs, closes, strict=True):
        if close and start >= done:
            span = text[start:close]
            blank = "\n".join([" " * len(row) for row in span.split("\n")]) if "\n" in span else " " * len(span)
            parts += [text[done:start], blank]
            done = close
    return "".join([*parts, text[done:]])


# -- Words that are quoted, given as an example or forbidden

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
    """Whether words are quoted, named as an example or forbidden, and not addressed to the reader."""
    if _is_quoted(passage.text, start, end) or "◌" in passage.text[start:end]:
        return True
    before = _sentence_before(passage.text, start).replace("’", "'")
    if re.search(_MENTION, before) or re.search(_FORBIDDEN, before):
        return True
    return bool(re.match(_MENTION_AFTER, passage.text[end : end + _SENTENCE].lower()))


def is_table_row(passage: Passage) -> bool:
    """Whether a passage is the row of a table that lists texts: its cells name things and instruct no one."""
    if passage.header is None:
        return False
    return bool(re.search(rf"\b(?:{_LISTS})", passage.header.lower()) or re.search(_LISTED, passage.text.lower()))


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether a part of a text is between quotation marks that open before it in the same line or block."""
    for opening, closing in _QUOTES:
        before = text.rfind(opening, 0, start + 1)
        if before < 0 or text.find(closing, max(end - 1, before + 1)) < 0:
            continue
        if opening == closing and text.count(opening, 0, start + 1) % 2 == 0:
            continue
        if opening != closing and text.rfind(closing, before + 1, start) >= 0:
            continue
        return True
    # An apostrophe opens a quotation only where no letter is before it.
    before = text.rfind("'", 0, start + 1)
    while before > 0 and text[before - 1] not in _BEFORE_SINGLE:
        before = text.rfind("'", 0, before)
    return before >= 0 and text.find("'", max(end - 1, before + 1)) >= 0


def _sentence_before(text: str, start: int) -> str:
    low = max(0, start - _SENTENCE)
    cut = max((text.rfind(mark, low, start) for mark in (". ", "! ", "? ", ".\n", "\n\n")), default=-1)
    return text[max(cut + 1, low) : start].lower()
