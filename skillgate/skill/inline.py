"""The text of one block: what reads as instruction, what it links to, what it mentions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.skill import Link, Span
from skillgate.skill.markdown import parse_inline

if TYPE_CHECKING:
    from markdown_it.token import Token

    from skillgate.skill.links import Resolver

CODE_MARK = "◌"
MAX_SEARCHED = 10_000  # characters of a line that are searched for a target that no link in it spells out
_NAMESPACED = re.compile(r"[a-z0-9][a-z0-9-]*:[a-z0-9][a-z0-9-]*\Z")
_PUNCTUATION = "()[]{}<>,;:.!?\"'*_"


class Inline(NamedTuple):
    """One block's text in two readings, with its links and mentions.

    Attributes:
        text: what reads as instruction: code spans are ``◌``, the text of a dead link is gone.
        shown: what a reader sees, with the code and the targets of live links, for comparing lines.
        line: the line of the file its first line stands on.
        links: its links and images.
        mentions: paths in running text and code spans, and names of other skills; none of them checked yet.
    """

    text: str
    shown: str
    line: int
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
                )  # the words of a picture instruct nobody
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


def _targets(line: str) -> dict[str, int]:
    """Give the place of each target that a line writes as ``](target`` or ``](<target``, its first where repeated."""
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
    up in the block's source, so that what follows stands on its own line again.
    """

    __slots__ = ("_content", "_cursor", "_folded", "_seen", "read")

    def __init__(self, content: str, children: list[Token]) -> None:
        self.read = 0
        self._content = content
        self._cursor = self._seen = 0
        self._folded = content.count("\n") > sum(map(_breaks, children))

    def before(self, child: Token) -> int:
        """Give how many breaks come before what the child adds, those it stands for among them."""
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
    """Drop the text of a dead link, so that writing one earns nothing; tell live ones apart by their target."""
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
