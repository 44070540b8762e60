"""Comments that suppress findings: ``<!-- skillgate: ignore RULE until 2027-01-31: why -->``.

A comment in lines of its own covers itself and the block below it, a whole code block included; next to other text it
covers its lines. ``ignore-file`` covers the file. In frontmatter a YAML comment says the same after ``#``: in its own
line it covers the key below. A reason is required: a comment without one, or with one such as ``x``, suppresses nothing
and is reported.

What looks like a comment in a code span, a link's title, an attribute, a script or a value of the frontmatter is text.
So the parsers are asked. Those of Markdown report no places: each mark is numbered, in as many characters as it has,
and the numbers are looked for in their output.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import yaml

from skillgate.model.skill import Problem, Span, Waiver
from skillgate.named_tuple import NamedTuple
from skillgate.skill.commonmark import parse_blocks, parse_inline
from skillgate.skill.frontmatter import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.skill import CodeBlock, Document


MARK = "skillgate:"
_CANDIDATE = rf"<!--[\s>]*{MARK}"
_NUMBER = rf"\s*(\d{{{len(MARK)}}})"
# HTML in one pass: comments, elements whose content is no HTML, tags. What has begun may end with the text, and so
# never fails.
_HTML = (
    r"(?is)<!--(?P<comment>.*?)(?P<end>-->|\Z)|<(?P<raw>script|style|textarea|title)\b.*?(?:</(?P=raw)\b|\Z)"
    r"|<[?!][^>]*+(?:>|\Z)|<[a-z/](?:[^>\"']++|\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)"
)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Marked(NamedTuple):
    """A comment that begins with the mark: its own offsets and those of what follows the mark, and whether it ends."""

    start: int
    text: int
    closed: bool


def in_markdown(body: str) -> list[Marked]:
    """Find the comments of a body that begin with the mark, in order."""
    candidates = list(re.finditer(_CANDIDATE, body))
    if not candidates:
        return []
    parts, done = [], 0
    for number, match in enumerate(candidates):
        parts += [body[done : match.end() - len(MARK)], f"{number:0{len(MARK)}}"]
        done = match.end()
    real = dict(_numbers("".join([*parts, body[done:]])))
    return [
        Marked(match.start(), match.end(), real[number]) for number, match in enumerate(candidates) if number in real
    ]


def _numbers(body: str) -> Iterator[tuple[int, bool]]:
    """Return the number of each comment, and whether it is closed; of what is read as text those that are not."""
    parsed = parse_blocks(body)
    lines = body.split("\n")
    for token in parsed.tokens:
        if token.type == "html_block":
            yield from _in_html(token.content)
        elif token.type == "inline":
            yield from _in_text(token.content, parsed.environment)
        elif token.type == "tr_open" and token.map:  # what has no column is in no cell
            yield from _in_text(lines[token.map[0]], parsed.environment)


def _in_html(content: str) -> Iterator[tuple[int, bool]]:
    for match in re.finditer(_HTML, content) if "<!--" in content else ():
        number = re.match(_NUMBER, match["comment"] or "")
        if number:
            yield int(number[1]), bool(match["end"])


def _in_text(content: str, environment: dict[str, Any]) -> Iterator[tuple[int, bool]]:
    for child in (parse_inline(content, environment) if "<!--" in content else None) or ():
        closed = child.type == "html_inline"
        look = re.match if closed else re.search
        number = look(f"<!--{_NUMBER}", child.content) if closed or child.type == "text" else None
        if number:
            yield int(number[1]), closed


def in_yaml(source: str) -> Iterator[tuple[int, int, str]]:
    """Return the comments of a frontmatter that begin with the mark: line, column of the ``#``, what follows the mark.

    Both count from 0. Where the text is no YAML those behind the first error are text.
    """
    if len(source) > MAX_BYTES:  # it is never read
        return
    spans, end = _scalars(source)
    firsts = [span.first for span in spans]
    for row, line in enumerate(source.split("\n")):
        if MARK not in line or row > end:
            continue
        for found in re.finditer(r"(?:^|(?<=[ \t]))#", line):
            before = bisect_right(firsts, (row, found.start())) - 1
            if before < 0 or not _holds(spans[before], row, found.start()):
                text = re.match(rf"#[ \t]*{MARK}(.*)", line[found.start() :])
                if text:
                    yield row, found.start(), text[1]
                break


class _Scalar(NamedTuple):
    """A value: first line and column, and those that it ends before; whether it is a block below ``|`` or ``>``."""

    first: tuple[int, int]
    last: tuple[int, int]
    block: bool


def _scalars(source: str) -> tuple[list[_Scalar], int]:
    """Find the values that could hold a comment's characters, and the last line that is YAML."""
    found = []
    row = 0
    try:
        for token in yaml.scan(source.replace("\t", " "), Loader=_LOADER):
            row = token.end_mark.line
            if isinstance(token, yaml.ScalarToken):
                first, last = token.start_mark, token.end_mark
                block = token.style in ("|", ">")
                found.append(_Scalar((first.line, first.column), (last.line, last.column), block))
    except (yaml.YAMLError, ValueError):
        return found, row
    return found, source.count("\n")


def _holds(scalar: _Scalar, row: int, column: int) -> bool:
    """Return whether a place behind the beginning of a value is inside of it, and not next to the ``|`` of a block."""
    return (row, column) < scalar.last and not (scalar.block and row == scalar.first[0])


MAX_COMMENTS = 500  # of one file; each is compared with every finding
MIN_WORDS = 2  # of a reason
MIN_BYTES = 8  # of a reason of one word
_FAR = 100  # characters before a place that are looked at, so that no search goes over a whole text
_FORM = r"\s*ignore(?P<file>-file)?\s+(?P<rules>[A-Z][A-Z0-9_]*(?:\s*,\s*[A-Z][A-Z0-9_]*)*)"
_FORM += r"(?:\s+until\s+(?P<until>[^\s:]+))?\s*:(?P<reason>.*)"
_TOKEN = r"`+|<!--|\n(?=[ \t]*\n)"  # noqa: S105 - what may open or end a code span or a comment
_HOW = "write <!-- skillgate: ignore RULE until YYYY-MM-DD: why --> (until is optional)"


class _Comment(NamedTuple):
    """A comment: where it begins, what follows the mark (None: it never ends), and the last line that it covers."""

    row: int
    column: int
    text: str | None
    last: int


def waivers(document: Document, *, main: bool) -> Iterator[Waiver | Problem]:
    """Read the comments of a document; what is no valid one becomes a problem, which names its file unless ``main``.

    Each valid comment is followed by problems that may come true: for each rule that it suppresses nothing of
    (``suppression_unused``) and, where it has an end, that it has run out (``suppression_expired``). Which of them do
    shows when findings and day are known; their messages begin with the rule's id.
    """
    if MARK not in document.text:
        return
    lines = document.text.split("\n")
    head = document.first_line - 1
    every = chain(_in_frontmatter(lines[:head]), _in_body(lines, head, document.code_blocks))
    found = list(islice(every, MAX_COMMENTS + 1))
    where = None if main else document.file
    for comment in found[:MAX_COMMENTS]:
        yield from _read(comment, document.file, len(lines), where)
    for comment in found[MAX_COMMENTS:]:
        message = f"comments from here on suppress nothing (maximum {MAX_COMMENTS} in a file)"
        yield Problem("suppression_invalid", Span(comment.row, comment.column), message, where)


def _read(comment: _Comment, file: str, end: int, where: str | None) -> Iterator[Waiver | Problem]:
    span = Span(comment.row, comment.column)
    form = None if comment.text is None else re.fullmatch(_FORM, comment.text, re.DOTALL)
    reason = "" if form is None else " ".join(form["reason"].split())
    if form is None or not any(map(str.isalnum, reason)):
        why = "this comment is never closed and" if comment.text is None else "this comment"
        yield Problem("suppression_invalid", span, f"{why} suppresses nothing: {_HOW}", where)
        return
    until = form["until"]
    if until is not None and not _is_date(until):
        yield Problem("suppression_invalid", span, f"{until[:40]!r} is not a date: {_HOW}", where)
        return
    if not _is_reason(reason):
        message = f"this comment suppresses nothing: reason {reason!r} is too short; give at least two words"
        yield Problem("suppression_invalid", span, message, where)
        return
    first, last = (1, end) if form["file"] else (comment.row, comment.last)
    rules = tuple(dict.fromkeys(word.strip() for word in form["rules"].split(",")))
    yield Waiver(file, comment.row, rules, first, last, reason, until, whole=bool(form["file"]))
    for rule in rules:
        message = f"{rule} is suppressed here, but there is no such finding"
        yield Problem("suppression_unused", span, message, where)
        if until is not None:
            message = f"{rule} is no longer suppressed: the comment ended on {until}"
            yield Problem("suppression_expired", span, message, where)


def _is_reason(text: str) -> bool:
    """Ask for two words, or for one of 8 bytes: three characters of Chinese may well say why."""
    words = [word for word in text.split() if any(map(str.isalnum, word))]
    return len(words) >= MIN_WORDS or len(text.encode("utf-8", "replace")) >= MIN_BYTES


def _is_date(text: str) -> bool:
    from datetime import date  # only where a comment has an end

    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _in_frontmatter(lines: Sequence[str]) -> Iterator[_Comment]:
    if not any(MARK in line for line in lines):
        return
    for index, column, text in in_yaml("\n".join(lines[1:-1])):
        row = index + 2
        last = row if lines[row - 1][:column].strip() else _last_of_key(lines, row)
        yield _Comment(row, column + 1, text, last)


def _last_of_key(lines: Sequence[str], row: int) -> int:
    """Find the last line of the key below a comment: what is indented more belongs to it, and a list's items do."""
    index = row
    while index < len(lines) and _says_nothing(lines[index]):
        index += 1
    if index >= len(lines) - 1:  # the closing ``---``
        return row
    depth, is_item = _indent(lines[index]), lines[index].lstrip().startswith("- ")
    last = index = index + 1
    while index < len(lines):
        line = lines[index]
        belongs = _indent(line) > depth or (_indent(line) == depth and not is_item and line.lstrip().startswith("- "))
        if not belongs and not _says_nothing(line):
            break
        index += 1
        last = index if belongs else last
    return last


def _says_nothing(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _in_body(lines: Sequence[str], head: int, blocks: Sequence[CodeBlock]) -> Iterator[_Comment]:
    """Return the comments of a body that begin with the mark and are comments to Markdown."""
    body = "\n".join(lines[head:])
    marked = in_markdown(body)
    if not marked:
        return
    shown = _shown(lines, head, blocks)
    ends = _block_ends(shown, blocks)
    starts = [0, *(found.end() for found in re.finditer("\n", body))]
    for start, begin, closed in marked:
        stop = body.find("-->", begin) if closed else begin
        first, last = bisect_right(starts, start), bisect_right(starts, stop)
        row, end_row = head + first, head + last
        alone = all(_is_blank(line) for line in shown[row - 1 : end_row])
        text = body[begin:stop] if closed else None
        yield _Comment(row, start - starts[first - 1] + 1, text, ends[end_row] if alone else end_row)


def _shown(lines: Sequence[str], head: int, blocks: Sequence[CodeBlock]) -> list[str]:
    """Return the lines of a document without frontmatter and without comments, those of its code as they are."""
    fenced = {row for block in blocks for row in range(block.line, block.end_line + 1)}
    text = "\n".join("" if row <= head or row in fenced else line for row, line in enumerate(lines, start=1))
    shown = _without(text, _spans(text)).split("\n")
    for row in fenced:
        shown[row - 1] = lines[row - 1]
    return shown


def _spans(text: str) -> list[tuple[int, int, bool]]:
    """Find the comments outside code spans: where each begins and ends, and whether it is closed.

    In linear time: text may be made to keep a search busy.
    """
    tokens = list(re.finditer(_TOKEN, text))
    closes, blanks = _ends(tokens, len(text))
    found, done, end = [], 0, 0
    for token, close, blank in zip(tokens, closes, blanks, strict=True):
        start = token.start()
        if start < done or token[0] == "\n" or _is_escaped(text, start):
            continue
        if token[0] != "<!--":
            done = close
            continue
        if end < start + 4:
            end = text.find("-->", start + 4)
            end = len(text) if end < 0 else end
        # Within a paragraph it ends there or is none; at the beginning of a line it continues over blank lines.
        closed = end < len(text) and (end < blank or _begins_line(text, start))
        done = end + 3 if closed else start + 4
        found.append((start, done, closed))
    return found


def _ends(tokens: Sequence[re.Match[str]], length: int) -> tuple[list[int], list[int]]:
    """Return for each token where a code span that it opens ends (0: nowhere), and where its paragraph does."""
    closes, blanks = [0] * len(tokens), [0] * len(tokens)
    nearest: dict[int, int] = {}
    blank = length
    for index in range(len(tokens) - 1, -1, -1):
        start, end = tokens[index].span()
        if tokens[index][0] == "\n":
            nearest, blank = {}, start
        elif tokens[index][0] != "<!--":
            closes[index] = nearest.get(end - start, 0)
            nearest[end - start] = end
        blanks[index] = blank
    return closes, blanks


def _is_escaped(text: str, at: int) -> bool:
    before = text[max(0, at - _FAR) : at]
    return bool((len(before) - len(before.rstrip("\\"))) % 2)


def _begins_line(text: str, at: int) -> bool:
    low = max(0, at - _FAR)
    return _is_blank(text[max(text.rfind("\n", low, at) + 1, low) : at])


def _without(text: str, spans: Sequence[tuple[int, int, bool]]) -> str:
    """Blank out the comments that are closed, line breaks left."""
    parts, done = [], 0
    for start, stop, closed in spans:
        if closed:
            parts += [text[done:start], "\n" * text.count("\n", start, stop)]
            done = stop
    return "".join([*parts, text[done:]])


def _is_blank(text: str) -> bool:
    return not text.strip(" \t>")  # what a quotation begins with says nothing


def _indent(line: str) -> int:
    line = line.expandtabs(4)
    return len(line) - len(line.lstrip(" "))


def _block_ends(lines: Sequence[str], blocks: Sequence[CodeBlock]) -> list[int]:
    """Return for each line, counted from 0, where the block at or below it ends.

    That is before a blank line, or where a fenced block closes; lines that hold nothing but comments are blank here.
    """
    begins = [block.line for block in blocks]
    ends = [len(lines)] * (len(lines) + 1)
    end = below = len(lines)
    for index in range(len(lines) - 1, -1, -1):
        if _is_blank(lines[index]):
            end = index
            ends[index] = below
            continue
        at = bisect_right(begins, end) - 1
        below = max(end, blocks[at].end_line) if at >= 0 and begins[at] > index else end
        ends[index] = below
    return ends
