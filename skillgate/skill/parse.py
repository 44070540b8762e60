"""Bytes to a Skill. Never raises on content: what is wrong becomes a problem, and what cannot be read is left empty."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from skillgate.model.skill import BETWEEN_BLOCKS, Document, EntryKind, Frontmatter, Problem, Skill, Span, Waiver
from skillgate.skill import documents, frontmatter
from skillgate.skill.description import routing_of
from skillgate.skill.links import Resolver
from skillgate.skill.markdown import Body
from skillgate.skill.suppressions import waivers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import SkillRoot, SkillSource, Tree

MAX_BYTES = 5_000_000
CHARACTERS_PER_TOKEN = 2.6  # a cautious figure: vendors' tokenisers give 2.6 to 4 characters a token on such text
MAX_LISTED = 2_000  # files of one directory that are looked at
_BOM = "\ufeff"


def parse(source: SkillSource) -> Skill:
    """Parse a skill's main file and look at the files beside it."""
    unscored = _unscorable(source)
    if unscored is not None:
        return Skill(root=source.root, frontmatter=Frontmatter(), problems=(unscored,), unscored=unscored.message)
    raw = source.data.decode("utf-8")
    text, problems = _normalise(raw)
    problems += _misnamed(source.root)
    cut = frontmatter.split(text)
    if cut.problem:
        problems.append(cut.problem)
    head = Frontmatter()
    if cut.yaml is not None:
        head, found = frontmatter.parse(cut.yaml)
        problems += found
    if not cut.body.strip() and not (cut.yaml or "").strip():
        empty = Problem(rule="empty_file", span=Span(), message="the file holds neither frontmatter nor instructions")
        return Skill(root=source.root, frontmatter=head, problems=(empty,), unscored=empty.message)
    return _assemble(source, text, cut, head, problems)


def _assemble(
    source: SkillSource, text: str, cut: frontmatter.Split, head: Frontmatter, problems: list[Problem]
) -> Skill:
    root = source.root
    resolver = Resolver(root)
    body = Body(cut.body, first_line=cut.body_line, resolver=resolver)
    problems += _not_directories(root)
    if not body.complete:
        message = "only part of the file is read: it is too long, or made to keep a parser busy"
        problems.append(Problem(rule="partly_read", span=Span(line=cut.body_line), message=message))
    if not body.holds_anything:
        message = "there are no instructions below the frontmatter"
        problems.append(Problem(rule="no_body", span=Span(line=max(1, cut.body_line - 1)), message=message))
    main = body.document(f"{root.directory}/{root.file_name}" if root.directory else root.file_name, text)
    names = documents.survey(root, main)
    problems += _clashes(root, names.files)
    read = tuple(documents.documents(root, names))
    parsed = (main, *(one for one in read if isinstance(one, Document)))
    problems += (one for one in read if isinstance(one, Problem))
    aside = [one for document in parsed for one in waivers(document, main=document is main)]
    problems += (one for one in aside if isinstance(one, Problem))
    reached = {link.resolved for link in body.links} | {_mentioned(resolver, word) for word in body.mentions}
    linked = frozenset(path for path in reached if path is not None)
    related = {resolver.other_skill(path) for path in linked} | {resolver.sibling(word) for word in body.mentions}
    return Skill(
        root=root,
        frontmatter=head,
        problems=tuple(problems),
        routing=routing_of(head.text("description"), head.text("when_to_use")),
        lines=_lines(text, body.comments),
        tokens=ceil(len(cut.body) / CHARACTERS_PER_TOKEN),
        headings=main.headings,
        code_blocks=main.code_blocks,
        blocks=main.blocks,
        links=main.links,
        table_headers=tuple(body.table_headers),
        prose_lines=tuple(body.prose_lines),
        related=frozenset(path for path in related if path is not None),
        linked=linked,
        references=frozenset(_files(root.tree, _below(root, "references"))),
        assets=frozenset(_files(root.tree, _below(root, "assets"))),
        prose=BETWEEN_BLOCKS.join(block.text for block in body.blocks if block.prose).lower(),
        siblings=source.siblings,
        prose_words=sum(block.words for block in body.blocks if block.prose),
        has_body=body.holds_anything,
        documents=parsed,
        scripts=tuple(documents.scripts(root, names.files)),
        files=names.files,
        waivers=tuple(one for one in aside if isinstance(one, Waiver)),
    )


def _unscorable(source: SkillSource) -> Problem | None:
    """Name the reason why the bytes hold no document at all, None when they do."""
    if source.size > MAX_BYTES:
        message = f"the file has {source.size:,} bytes; at most {MAX_BYTES:,} are read"
        return Problem(rule="file_too_large", span=Span(), message=message)
    if not source.data.strip():
        message = "the file is empty"
        return Problem(rule="empty_file", span=Span(), message=message)
    nul = source.data.find(b"\x00")
    try:
        source.data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8: byte 0x{source.data[error.start]:02x} at offset {error.start}"
        return Problem(rule="not_utf8", span=_span(source.data, error.start), message=message)
    if nul >= 0:
        message = f"the file holds a NUL byte at offset {nul}"
        return Problem(rule="nul_byte", span=_span(source.data, nul), message=message)
    return None


def _span(data: bytes, offset: int) -> Span:
    start = data.rfind(b"\n", 0, offset) + 1
    column = len(data[start:offset].decode("utf-8", "replace")) + 1
    return Span(line=data.count(b"\n", 0, offset) + 1, column=column)


def _normalise(raw: str) -> tuple[str, list[Problem]]:
    """Drop a byte order mark and make every line end a line feed, as CommonMark does; both are reported."""
    problems = []
    text = raw
    if text.startswith(_BOM):
        text = text[1:]
        message = "the file begins with a byte order mark, which some readers take for part of the first line"
        problems.append(Problem(rule="byte_order_mark", span=Span(), message=message))
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        lone = text.find("\r")
        name = "Windows line ends (CRLF)" if lone < 0 else "carriage returns alone as line ends"
        line = raw.count("\n", 0, raw.find("\r")) + 1 if lone < 0 else text.count("\n", 0, lone) + 1
        problems.append(Problem(rule="line_ends", span=Span(line=line), message=f"the file has {name}"))
        text = text.replace("\r", "\n")
    return text, problems


def _lines(text: str, comments: list[tuple[int, int]]) -> int:
    """Count physical lines, each run of blank ones once: padding a file with them changes nothing.

    A line of an HTML comment is blank, since it is nothing to a reader.
    """
    hidden = {line for first, last in comments for line in range(first, last + 1)}
    count, blank = 0, False
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        empty = number in hidden or not line.strip()
        count += not (empty and blank)
        blank = empty
    return count


def _misnamed(root: SkillRoot) -> list[Problem]:
    if root.file_name == "SKILL.md":
        return []
    message = f"the file is called {root.file_name}; readers on most systems look for SKILL.md alone"
    return [Problem(rule="file_name", span=Span(), message=message)]


def _clashes(root: SkillRoot, files: tuple[str, ...]) -> Iterator[Problem]:
    """Find files whose paths differ in letter case alone: capitals come first in their order, as in ``SKILL.md``."""
    cut = len(root.directory) + 1 if root.directory else 0
    first: dict[str, str] = {}
    for path in files:
        other = first.setdefault(path.casefold(), path)
        if other != path:
            message = f"{path[cut:]} beside {other[cut:]}: a file system that folds letter case keeps one of them"
            yield Problem(rule="file_name_clash", span=Span(), message=message, file=path)


def _not_directories(root: SkillRoot) -> Iterator[Problem]:
    for name in ("references", "assets", "scripts"):
        entry = root.tree.entry(_below(root, name))
        if entry is None or entry.kind is EntryKind.DIRECTORY:
            continue
        what = (
            "a file" if entry.kind is EntryKind.FILE else "a link that leads nowhere inside the tree, or no plain file"
        )
        yield Problem(rule="not_a_directory", span=Span(), message=f"{name} is {what}, and should be a directory")


def _below(root: SkillRoot, name: str) -> str:
    return f"{root.directory}/{name}" if root.directory else name


def _files(tree: Tree, directory: str) -> Iterator[str]:
    """List the non-empty files below a directory, at most 2,000 names of it, without recursion.

    What a symbolic link leads to counts only where it leads to another place below the same directory.
    """
    top = tree.real(directory)
    if top is None or (f"{directory}/".startswith(f"{top}/") and top != directory):
        return  # nothing there, or a link to the skill itself or to what it lies in
    pending, seen, entered = [directory], 0, set[str]()
    while pending and seen < MAX_LISTED:
        current = pending.pop()
        for name in tree.names(current):
            seen += 1
            path = f"{current}/{name}"
            entry, real = tree.entry(path), tree.real(path)
            if entry is None or real is None or not real.startswith(f"{top}/"):
                continue
            if entry.kind is EntryKind.DIRECTORY and real not in entered:
                entered.add(real)
                pending.append(path)
            elif entry.kind is EntryKind.FILE and entry.size:
                yield path


def _mentioned(resolver: Resolver, word: str) -> str | None:
    return resolver.resolve(word, resolver.classify(word)) if "/" in word else None
