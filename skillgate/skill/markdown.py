"""The Markdown of a skill, walked once for headings, text, code, links and mentions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.skill import CodeBlock, Document, Heading, Link, Span, TextBlock, anchor_key
from skillgate.named_tuple import NamedTuple
from skillgate.skill.commonmark import can_parse, parse_blocks, parse_inline
from skillgate.skill.language import reads_as_prose, word_count

if TYPE_CHECKING:
    from markdown_it.token import Token

    from skillgate.skill.links import Resolver


CODE_MARK = "◌"
MAX_SEARCHED = 10_000  # characters of a line that are searched for a target that no link in it spells out
_NAMESPACED = re.compile(r"[a-z0-9][a-z0-9-]*:[a-z0-9][a-z0-9-]*\Z")
_PUNCTUATION = "()[]{}<>,;:.!?\"'*_"


class Inline(NamedTuple):
    """One block's text in two readings, with its links and mentions."""

    text: str  # what reads as instruction: code spans are ``◌``, the text of a dead link is gone
    shown: str
    line: int  # the line of the file its first line stands on
    links: tuple[Link, ...] = ()
    mentions: frozenset[str] = frozenset()


class InlineReader:
    """Reads the inline content of a body's blocks."""

    def __init__(
        self, lines: list[str], environment: dict[str, object], *, first_line: int, resolver: Resolver
    ) -> None:
        self._lines = lines
        self._environment = environment
        self._first_line = first_line
        self._resolver = resolver
        self._places: dict[int, dict[str, int]] = {}

    def read(self, content: str, line: int) -> Inline:
        """Read one block's content, which begins on ``line`` of the file."""
        if _CODE_ONLY.match(content) and can_parse(content, self._environment):
            return _with_code(content, line)
        children = parse_inline(content, self._environment)
        if children is None:
            return Inline(text=content, shown=content, line=line, mentions=_mentions(content))
        return self._assemble(content, children, line)

    def _assemble(self, content: str, children: list[Token], start: int) -> Inline:
        text: list[str] = []
        shown: list[str] = []
        links: list[Link] = []
        mentions: list[str] = []
        stack: list[tuple[Link, int, int, int]] = []
        lines = _Lines(content, children)
        for child in children:
            kind = child.type
            breaks = "\n" * lines.before(child)
            if breaks:
                text.append(breaks)
                shown.append(breaks)
            if kind == "code_inline":
                text.append(CODE_MARK)
                shown.append(child.content)
                mentions.append(child.content.strip())
            elif kind == "link_open":
                link = self._link(str(child.attrs.get("href", "")), start + lines.read)
                stack.append((link, len(text), len(shown), len(mentions)))
            elif kind == "link_close" and stack:
                link, text_mark, shown_mark, mentions_mark = stack.pop()
                links.append(link)
                _settle(link, text, text_mark, shown, shown_mark)
                if link.dead:
                    del mentions[mentions_mark:]
            elif kind == "image":
                link = self._link(str(child.attrs.get("src", "")), start + lines.read)
                links.append(link)
                shown.append(
                    "" if link.dead else f"{child.content} {link.target}"
                )  # the words of a picture are no instructions
            elif child.content and kind != "html_inline":
                text.append(child.content)
                shown.append(child.content)
        plain = "".join(text)
        named = _mentions(plain).union(mentions) - {""}
        return Inline(text=plain, shown="".join(shown), line=start, links=tuple(links), mentions=named)

    def _link(self, target: str, line: int) -> Link:
        kind = self._resolver.classify(target)
        row = line - self._first_line
        found = self._place(target, row) if target and 0 <= row < len(self._lines) else -1
        return Link(
            target=target,
            kind=kind,
            span=Span(line=line, column=found + 1 if found >= 0 else 1),
            resolved=self._resolver.resolve(target, kind),
        )

    def _place(self, target: str, row: int) -> int:
        """Find a target in its line, from 0: where a link to it is written, else where it occurs at all; -1 nowhere."""
        if row not in self._places:
            self._places[row] = _targets(self._lines[row])
        found = self._places[row].get(target)
        return self._lines[row].find(target, 0, MAX_SEARCHED) if found is None else found


# One line with code spans and no other markup, as most blocks that have any.
_CODE_ONLY = re.compile(r"[^`\n*_\[\]<\\&]*(?:`[^`\n ][^`\n]*`(?!`)[^`\n*_\[\]<\\&]*)+\Z")


def _with_code(content: str, line: int) -> Inline:
    pieces = content.split("`")
    plain = CODE_MARK.join(pieces[::2])
    named = _mentions(plain).union(map(str.strip, pieces[1::2])) - {""}
    return Inline(text=plain, shown="".join(pieces), line=line, mentions=named)


def _targets(line: str) -> dict[str, int]:
    """Return the place of each target that a line writes as ``](target`` or ``](<target``, its first where repeated."""
    places: dict[str, int] = {}
    place = 0
    first, *rest = line.split("](")
    for before, piece in zip((first, *rest), rest, strict=False):
        place += len(before) + 2
        bare = piece.removeprefix("<")
        ends = ">" if len(bare) < len(piece) else ") \t"
        end = min((cut for cut in map(bare.find, ends) if cut >= 0), default=len(bare))
        places.setdefault(bare[:end], place + len(piece) - len(bare))
    return places


class _Lines:
    """Counts the line breaks of a block while its children are read.

    The parser reports most of them. Those inside a code span or a link's title it folds away; then each text is looked
    up in the block's source, so that what follows is on its own line again.
    """

    __slots__ = ("_content", "_cursor", "_folded", "_seen", "read")

    def __init__(self, content: str, children: list[Token]) -> None:
        self.read = 0
        self._content = content
        self._cursor = self._seen = 0
        self._folded = content.count("\n") > sum(map(_breaks, children))

    def before(self, child: Token) -> int:
        """Return how many breaks come before what the child adds, those it stands for among them."""
        found = _breaks(child)
        if self._folded and child.content and child.type in ("text", "code_inline"):
            place = self._content.find(child.content, self._cursor)
            if place >= 0:
                self._seen += self._content.count("\n", self._cursor, place)
                self._cursor = place
                found = max(0, self._seen - self.read)
        elif self._folded and child.type in ("link_open", "image"):
            place = self._content.find("[", self._cursor)
            found = max(0, self._seen + self._content.count("\n", self._cursor, max(place, 0)) - self.read)
        self.read += found
        return found


def _breaks(child: Token) -> int:
    if child.type in ("softbreak", "hardbreak"):
        return 1
    return child.content.count("\n") if child.type == "html_inline" else 0


def _settle(link: Link, text: list[str], text_mark: int, shown: list[str], shown_mark: int) -> None:
    """Drop the text of a dead link, so that writing one earns nothing; distinguish live ones by their target."""
    if link.dead:
        breaks = "\n" * sum(part.count("\n") for part in text[text_mark:])
        del text[text_mark:]
        del shown[shown_mark:]
        text.append(breaks)
        shown.append(breaks)
    else:
        shown.append(f" {link.target}")


def _mentions(text: str) -> frozenset[str]:
    """Find what could be a path or the name of another skill with its plugin: ``docs/x.md``, ``kit:sort-files``."""
    if "/" not in text and ":" not in text:
        return frozenset()
    found = set()
    for word in text.split():
        if "/" in word or ":" in word:
            bare = word.rstrip(_PUNCTUATION) if word.startswith(".") else word.strip(_PUNCTUATION)
            if "/" in bare or _NAMESPACED.match(bare):
                found.add(bare)
    return frozenset(found)


_MARKER = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?(?:\[[ xX]\]\s+)?")
_COMMENT = r"(?s)<!--.*?(?:-->|\Z)"
_TAG = r"</?[A-Za-z][^<>]*>"
_NOT_TEXT = r"(?i)\s*<(?:(?:script|style|pre|textarea)(?=[\s/>])|\?|![a-z\[])"
_ANCHOR = r"(?i)<[a-z][^<>]*?\b(?:id|name)\s*=\s*[\"']?([^\s\"'<>]+)"
_HIDDEN = r"(?i)<[a-z][^<>]*(?:\bhidden\b|display\s*:\s*none)[^<>]*>"


class _Section:
    """A heading with a section that is still open."""

    __slots__ = ("code_lines", "heading", "level", "line", "links", "words")

    def __init__(self, heading: str, level: int, line: int) -> None:
        self.heading, self.level, self.line = heading, level, line
        self.words = self.links = self.code_lines = 0

    def close(self) -> Heading:
        return Heading(self.level, self.heading, self.line, self.words, self.links, self.code_lines)


class Body:
    """Collects the facts of one body.

    ``first_line`` is the line of the file that the body begins on. ``counted`` is False for a document next to the main
    file: what only the scores are made from (words, prose, what a section holds) is then not asked for.
    """

    def __init__(self, text: str, *, first_line: int, resolver: Resolver, counted: bool = True) -> None:
        self._counted = counted
        self.blocks: list[TextBlock] = []
        self.code_blocks: list[CodeBlock] = []
        self.links: list[Link] = []
        self.table_headers: list[tuple[int, tuple[str, ...]]] = []
        self.prose_lines: list[tuple[int, str]] = []
        self.mentions: set[str] = set()
        self.anchors: set[str] = set()
        self.comments: list[tuple[int, int]] = []  # first and last line of each comment that is a block
        self._sections: list[_Section] = []
        self._open: list[_Section] = []
        if "=" in text and "<" in text:
            self.anchors.update(anchor_key(name) for name in re.findall(_ANCHOR, text))
        self._first_line = first_line
        self._resolver = resolver
        parsed = parse_blocks(text)
        self._inline = InlineReader(text.split("\n"), parsed.environment, first_line=first_line, resolver=resolver)
        self._walk(parsed.tokens)
        self.complete = parsed.complete and parsed.environment["inline work"] >= 0

    @property
    def headings(self) -> tuple[Heading, ...]:
        """Return the headings in order, each with what its section holds."""
        return tuple(section.close() for section in self._sections)

    @property
    def holds_anything(self) -> bool:
        """Return whether there is text below the frontmatter, or code."""
        return any(block.words for block in self.blocks) or any(block.lines for block in self.code_blocks)

    def document(self, file: str, text: str) -> Document:
        """Return the body as a document: ``file`` is its tree path, ``text`` the whole of it."""
        return Document(
            file=file,
            text=text,
            first_line=self._first_line,
            headings=self.headings,
            code_blocks=tuple(self.code_blocks),
            blocks=tuple(self.blocks),
            links=tuple(self.links),
            anchors=frozenset(self.anchors),
            mentions=frozenset(self.mentions),
            complete=self.complete,
        )

    def _walk(self, tokens: list[Token]) -> None:
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "heading_open":
                self._heading(token, tokens[position + 1])
                position += 1
            elif token.type == "inline":
                self._text(self._inline.read(token.content, self._line(token)))
            elif token.type == "fence":
                self._fence(token)
            elif token.type == "html_block":
                self._html(token)
            elif token.type == "table_open":
                position = self._table(tokens, position)
            position += 1

    def _line(self, token: Token) -> int:
        return self._first_line + (token.map[0] if token.map else 0)

    def _heading(self, token: Token, inline: Token) -> None:
        level, line = int(token.tag[1]), self._line(token)
        read = self._inline.read(inline.content, line)
        self._keep(read)
        self.anchors.add(anchor_key(read.shown))
        while self._open and self._open[-1].level >= level:
            self._open.pop()
        section = _Section(read.text.replace("\n", " ").strip(), level, line)
        self._sections.append(section)
        self._open.append(section)
        self._credit(links=self._leading_on(read))

    def _text(self, read: Inline, *, table: bool = False) -> None:
        self._keep(read)
        if not self._counted:
            self.blocks.append(TextBlock(text=read.text, line=read.line, words=0, prose=True))
            return
        words = word_count(read.text)
        self._credit(words=words, links=self._leading_on(read))
        prose = words > 0 and reads_as_prose(read.text)
        leads_on = CODE_MARK in read.text or any(not link.dead for link in read.links)
        self.blocks.append(TextBlock(text=read.text, line=read.line, words=words, prose=prose, leads_on=leads_on))
        rows = (read.shown.replace("\n", " "),) if table else read.shown.split("\n")
        for offset, row in enumerate(rows):
            marker = _MARKER.match(row)
            folded = " ".join(row[marker.end() if marker else 0 :].lower().split())
            if folded:
                self.prose_lines.append((read.line + offset, folded))

    def _keep(self, read: Inline) -> None:
        self.links.extend(read.links)
        self.mentions.update(read.mentions)

    def _fence(self, token: Token) -> None:
        start, end = token.map or (0, 0)
        code = token.content
        language = token.info.split(maxsplit=1)[0].lower() if token.info.strip() else ""
        closed = code.count("\n") + (code[-1:] not in ("", "\n")) == end - start - 2
        block = CodeBlock(language, code, self._first_line + start, self._first_line + end - 1, closed)
        self.code_blocks.append(block)
        if self._counted:
            self._credit(code_lines=block.lines)

    def _html(self, token: Token) -> None:
        """Read a passage between tags, such as ``<important>``, as the instruction it is to a model."""
        if token.content.lstrip().startswith("<!--") and token.map:
            lines = token.content[: token.content.rfind("-->") + 3].count("\n")
            self.comments.append((self._line(token), self._line(token) + lines))
        if re.match(_NOT_TEXT, token.content) or re.search(_HIDDEN, token.content):
            return
        shown = re.sub(_COMMENT, lambda match: "\n" * match[0].count("\n"), token.content)
        text = re.sub(_TAG, "", shown).rstrip()
        if text.strip():
            self._text(Inline(text=text, shown=text, line=self._line(token)))

    def _table(self, tokens: list[Token], position: int) -> int:
        """Read a table's rows up to its close; its position is returned."""
        header: tuple[int, tuple[str, ...]] | None = None
        cells: list[Inline] = []
        body_rows = 0
        while tokens[position].type != "table_close":
            token = tokens[position]
            if token.type == "inline":
                cells.append(self._inline.read(token.content, self._line(token)))
            elif token.type == "tr_close" and cells:
                if header is None:
                    header = (cells[0].line, tuple(cell.text.strip() for cell in cells))
                elif any(cell.text.strip() for cell in cells):
                    body_rows += 1
                self._text(_row(cells), table=True)
                cells = []
            position += 1
        if header is not None and body_rows:
            self.table_headers.append(header)
        return position

    def _leading_on(self, read: Inline) -> int:
        """Count the links, paths and names that lead to another skill or agent."""
        if not self._counted or (not read.links and not read.mentions):
            return 0
        found = (link.resolved for link in read.links if link.resolved is not None)
        links = sum(1 for path in found if self._resolver.other_skill(path) is not None)
        return links + sum(1 for word in read.mentions if self._resolver.leads_on(word))

    def _credit(self, *, words: int = 0, links: int = 0, code_lines: int = 0) -> None:
        for section in self._open:
            section.words += words
            section.links += links
            section.code_lines = max(section.code_lines, code_lines)


def _row(cells: list[Inline]) -> Inline:
    return Inline(
        text=" | ".join(cell.text.replace("\n", " ") for cell in cells),
        shown=" | ".join(cell.shown.replace("\n", " ") for cell in cells),
        line=cells[0].line,
        links=tuple(link for cell in cells for link in cell.links),
        mentions=frozenset().union(*(cell.mentions for cell in cells)),
    )
