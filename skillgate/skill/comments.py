"""Which comments of a file are comments to whoever reads it: those of its Markdown, and those of its YAML.

What looks like one in a code span, a link's title, an attribute, a script or a value of the frontmatter is text. So the
parsers are asked. Those of Markdown tell of no places: each mark is numbered, in as many characters as it has, and the
numbers are looked for in what they give.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from skillgate.skill.frontmatter import MAX_BYTES
from skillgate.skill.markdown import parse_blocks, parse_inline

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """A comment that begins with the mark: offsets of its own and of what follows the mark, and whether it ends."""

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
    """Give the number of each comment, and whether it is closed; of what is read as text those that are not."""
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
    """Give the comments of a frontmatter that begin with the mark: line, column of the ``#``, what follows the mark.

    Both count from 0. Where the text is no YAML those behind the first error are text.
    """
    if len(source) > MAX_BYTES:  # nobody reads it
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
    """Tell whether a place behind the beginning of a value is inside of it, and not beside the ``|`` of a block."""
    return (row, column) < scalar.last and not (scalar.block and row == scalar.first[0])
