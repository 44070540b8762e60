"""CommonMark with tables, parsed by markdown-it within bounds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import (
    StateBlock,
    blockquote,
    code,
    fence,
    heading,
    hr,
    html_block,
    lheading,
    list_block,
    paragraph,
    reference,
    table,
)
from markdown_it.rules_inline import html_inline

from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

    Rule = Callable[[StateBlock, int, int, bool], bool]


MAX_LINES = 20_000  # the longest published document has 1,302
MAX_CHARACTERS = 1 << 20
MAX_LINE = 1 << 16
DEEPEST = 16  # levels of nesting: a list takes two, a quote one; published: 7
QUOTE_LINES = 100_000  # lines that quotes may look ahead; published: 46
CELLS = 100_000  # cells of tables; published: 1,519
INLINE_WORK = 600_000  # units of about two microseconds; published: 60,387

_WORTH = re.compile(r"[\[`<\\&]|__")
_SPECIAL = re.compile(r"[\n!#$%&*+\-:<=>@\[\\\]^_`{}~]")
_BLANK = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_COMMENT_END = "comment end"


class Blocks(NamedTuple):
    """The block tokens of a body, what inline parsing needs, and whether all of the body was read."""

    tokens: list[Token]
    environment: dict[str, Any]
    complete: bool


class _Parser(MarkdownIt):
    """markdown-it without its URL policy: targets are compared with files, never followed or rendered."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the library's name
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802
        return True


def parse_blocks(text: str) -> Blocks:
    """Parse a body, its line ends normalised, into block tokens."""
    readable = _readable(text)
    tokens: list[Token] = []
    environment: dict[str, Any] = {"quote lines": QUOTE_LINES, "cells": CELLS, "inline work": INLINE_WORK}
    try:
        if readable:
            state = _State(readable, _PARSER, environment, tokens)
            _PARSER.block.tokenize(state, 0, state.lineMax)
    except (RecursionError, MemoryError):
        return Blocks([], environment, complete=False)
    spent = not environment["quote lines"] or not environment["cells"]
    return Blocks(tokens, environment, complete=len(readable) == len(text) and not spent)


def parse_inline(content: str, environment: dict[str, Any]) -> list[Token] | None:
    """Parse the text of one block; None if it holds no inline structure, or where the budget for that is spent.

    In the second case ``environment["inline work"]`` is below 0.
    """
    if not _WORTH.search(content) or not can_parse(content, environment):
        return None
    children: list[Token] = []
    try:
        _PARSER.inline.parse(content, _PARSER, environment, children)
    except (RecursionError, MemoryError):
        environment["inline work"] = -1
        return None
    return children


def can_parse(content: str, environment: dict[str, Any]) -> bool:
    """Whether the budget suffices for the text of a block, which it is charged for."""
    work = _inline_work(content)
    suffices: bool = work <= environment["inline work"]
    environment["inline work"] = environment["inline work"] - work if suffices else -1
    return suffices


def _readable(body: str) -> str:
    """Cut what is read as Markdown to a size that bounds the cost; line numbers stay as they are."""
    if len(body) <= MAX_LINE and body.count("\n") < MAX_LINES:
        return body
    lines = body.split("\n", MAX_LINES)[:MAX_LINES]
    text = "\n".join(line[:MAX_LINE] for line in lines)
    return text if len(text) <= MAX_CHARACTERS else text[: text.rfind("\n", 0, MAX_CHARACTERS) + 1]


def _inline_work(text: str) -> int:
    brackets = text.count("[")
    special = len(_SPECIAL.findall(text))
    return special * (8 + min(brackets, 32)) + len(text) * min(1 + brackets, 33) // 8


def _spend(state: StateBlock, key: str, start: int, end: int, price: int) -> bool:
    """Charge a construct for the lines up to the next blank one, which bounds what it can cost."""
    left: int = state.env[key]
    line = start
    end = min(end, start + left // price + 1)
    while line < end and not state.isEmpty(line):
        line += 1
    state.env[key] = left = max(0, left - (line - start) * price)
    return left > 0


def _bounded_quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.level >= DEEPEST or not state.env["quote lines"] or not blockquote(state, start, end, True):
        return False
    return silent or (_spend(state, "quote lines", start, end, 1) and blockquote(state, start, end, False))


def _bounded_list(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    return state.level < DEEPEST and list_block(state, start, end, silent)


def _may_be_table(state: StateBlock, start: int, end: int) -> bool:
    """Whether the next line begins as the one below the header of a table does."""
    if start + 2 > end:
        return False
    place = state.bMarks[start + 1] + state.tShift[start + 1]
    return place < state.eMarks[start + 1] and state.src[place] in "|-:"


def _bounded_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if not _may_be_table(state, start, end) or not state.env["cells"] or not table(state, start, end, True):
        return False
    if silent:
        return True
    columns = state.src.count("|", state.bMarks[start], state.eMarks[start]) + 1
    return _spend(state, "cells", start, end, columns) and table(state, start, end, False)


def _comment_or_tag(state: StateInline, silent: bool) -> bool:
    """Read a comment in linear time, as CommonMark 0.31 defines it; any other tag as the library does."""
    text, start = state.src, state.pos
    if not text.startswith("<!--", start):
        return html_inline(state, silent)
    end = start + 5 if text.startswith("<!-->", start) else start + 6 if text.startswith("<!--->", start) else 0
    if not end:
        if _last_comment_end(state) < start + 4:
            return False
        end = text.find("-->", start + 4) + 3
    if end > state.posMax:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = text[start:end]
    state.pos = end
    return True


def _last_comment_end(state: StateInline) -> int:
    """Find the last ``-->`` of text, once for each text."""
    known = state.env.get(_COMMENT_END)
    if known is None or known[0] is not state.src:
        known = state.env[_COMMENT_END] = (state.src, state.src.rfind("-->"))
    last: int = known[1]
    return last


READ = frozenset(("heading_open", "inline", "fence", "html_block", "table_open", "tr_open", "tr_close", "table_close"))


class _Token:
    """A block token with the attributes that are read; the library's has thirteen."""

    content = info = ""
    map: list[int] | None = None

    def __init__(self, kind: str, tag: str, level: int) -> None:
        self.type, self.tag, self.level = kind, tag, level


_UNREAD = _Token("", "", 0)  # what rules write to it is of no use


class _State(StateBlock):
    """The library's state, which only keeps the tokens that are read: no paragraph, list or cell around a text."""

    def __init__(self, text: str, parser: MarkdownIt, environment: dict[str, Any], tokens: list[Token]) -> None:
        super().__init__("", parser, environment, tokens)
        self.src = text
        rows = text.split("\n")
        if not rows[-1].strip(" \t"):
            del rows[-1]  # the library takes it for no line
        start = 0
        begins, ends, indents, columns = [], [], [], []
        for row in rows:
            size = len(row)
            indent = size - len(row.lstrip(" \t"))
            begins.append(start)
            ends.append(start + size)
            indents.append(indent)
            columns.append(len(row[:indent].expandtabs(4)) if indent else 0)
            start += size + 1
        # One more than there are lines, as the library has it.
        self.bMarks, self.eMarks = [*begins, len(text)], [*ends, len(text)]
        self.tShift, self.sCount, self.bsCount = [*indents, 0], [*columns, 0], [0] * (len(rows) + 1)
        self.lineMax = len(rows)

    def push(self, ttype: str, tag: str, nesting: int) -> Any:  # noqa: ANN401 - half of a token will do
        if nesting < 0:
            self.level -= 1
        token = _UNREAD
        if ttype in READ:
            token = _Token(ttype, tag, self.level)
            self.tokens.append(token)  # type: ignore[arg-type]
        if nesting > 0:
            self.level += 1
        return token


# The rules that can open a block, by the character that it begins with, in the order of the library: most lines begin
# no block at all. The second of a pair are those that may end a paragraph, as the library registers them.
_OPENING: dict[str, tuple[Rule, ...]] = {
    **dict.fromkeys("`~", (fence,)),
    ">": (_bounded_quote,),
    **dict.fromkeys("*-", (hr, _bounded_list)),
    "_": (hr,),
    **dict.fromkeys("+0123456789", (_bounded_list,)),
    "[": (reference,),
    "<": (html_block,),
    "#": (heading,),
}


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a block of any kind."""
    if _bounded_table(state, start, end, silent) or code(state, start, end, silent):
        return True
    place = state.bMarks[start] + state.tShift[start]
    for rule in _OPENING.get(state.src[place], ()):
        if rule(state, start, end, silent):
            return True
    if _is_one_line(state, start, end):
        token = state.push("inline", "", 0)
        token.level += 1  # it is in a paragraph
        token.content = state.src[place : state.eMarks[start]].strip(_BLANK)
        state.line = start + 1
        token.map = [start, start + 1]
        return True
    return lheading(state, start, end, silent) or paragraph(state, start, end, silent)


def _is_one_line(state: StateBlock, start: int, end: int) -> bool:
    """Whether it is certain that a paragraph ends with the line that it begins on, and nothing underlines it."""
    following = start + 1
    if end != state.lineMax:
        return False
    if following == end or state.isEmpty(following):
        return True
    if not 0 <= state.sCount[following] < state.blkIndent:
        return False
    outer, state.parentType = state.parentType, "paragraph"  # what may end one differs from what may end a list
    is_ended = _ends_paragraph(state, following, end, True)
    state.parentType = outer
    return is_ended


def _ending(*rules: Rule) -> Rule:
    """Combine the rules that may end another block."""
    opening = {key: found for key, some in _OPENING.items() if (found := tuple(rule for rule in some if rule in rules))}
    has_tables = _bounded_table in rules

    def ends(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        place = state.bMarks[start] + state.tShift[start]
        if place < state.eMarks[start]:
            for rule in opening.get(state.src[place], ()):
                if rule(state, start, end, silent):
                    return True
        return has_tables and _bounded_table(state, start, end, silent)

    return ends


_INNER = (fence, _bounded_quote, hr)
_OUTER = (*_INNER, _bounded_list, html_block, heading)
_ends_paragraph = _ending(*_OUTER, _bounded_table)


def _build() -> MarkdownIt:
    """Make the parser: every CommonMark rule matters to one count or another; the core rules do not run."""
    parser = _Parser("commonmark")
    block = parser.block.ruler
    block.before("table", "block", _block)
    block.push("end of paragraph", _ends_paragraph, {"alt": ["paragraph", "reference"]})
    block.push("end of quote", _ending(*_OUTER), {"alt": ["blockquote"]})
    block.push("end of list", _ending(*_INNER), {"alt": ["list"]})
    block.enableOnly(("block", "code", "end of paragraph", "end of quote", "end of list"))  # "code" for its indent
    parser.inline.ruler.at("html_inline", _comment_or_tag)
    return parser


_PARSER = _build()
