"""Plan the changes that fix a skill, and write them.

A repair that a reader could notice is tried first: the skill is parsed and checked as it would be afterwards. Repairs
that change its meaning, lower one of its scores or cause a new finding are left out. Frontmatter that cannot be read is
repaired before everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from skillgate.fixes.frontmatter import frontmatter_invalid
from skillgate.fixes.pages import Edit, Page, page_of
from skillgate.fixes.repairs import FIXES, QUOTES, Fix
from skillgate.model.finding import Severity
from skillgate.model.skill import CodeBlock, Document, Entry, EntryKind, Skill, SkillRoot, SkillSource, Tree, Unreadable
from skillgate.skill.find import read
from skillgate.skill.parse import MAX_BYTES, parse
from skillgate.static import layer

LINKED = "it is a symbolic link, or its path contains one; fix the file itself"
CHANGED = "it changed while it was read"
HARMFUL = "the fix would change the meaning of the file, or cause another finding"
UNSAFE = "the fix may change what is meant; see it with --diff --unsafe-fixes"


Place = tuple[str, int]
"""The file of a finding as shown, and its line."""


class Disk(Protocol):
    """Replaces the bytes of a file."""

    def replace(self, file: str, before: bytes, after: bytes) -> str | None:
        """Write a file, given by tree path, that still holds ``before``; a note says what else one should know.

        Raises:
            OSError: why it was not written.
        """


class Change(NamedTuple):
    """What is to become of one file.

    Attributes:
        file: its tree path.
        path: the file as shown to people: the skill's directory as it was given, then the file in it, with ``/``.
        before, after: its bytes.
        rules: the ids of the findings that are fixed, sorted.
        skipped: why the file is left as it is, although it has such findings; None if it will be written.
        unsafe: those of the rules whose fix may change what the author meant.
    """

    file: str
    path: str
    before: bytes
    after: bytes
    rules: tuple[str, ...]
    skipped: str | None = None
    unsafe: tuple[str, ...] = ()


class Result(NamedTuple):
    """What became of a change: ``reason`` says why it was not written, ``note`` what else one should know of it."""

    change: Change
    written: bool
    reason: str | None = None
    note: str | None = None


class _Repair(NamedTuple):
    """All edits of one finding in one file."""

    file: str
    rule: str
    edits: tuple[Edit, ...]
    silent: bool

    @property
    def safe(self) -> bool:
        """Whether all of its edits are."""
        return all(edit.safe for edit in self.edits)


def plan(
    root: SkillRoot,
    wanted: Callable[[str], bool],
    *,
    today: str = "",
    unsafe: bool = False,
    place: Place | None = None,
) -> tuple[Change, ...]:
    """Plan the changes that fix a skill, without writing them.

    ``wanted`` returns whether to fix the findings of a rule, by its id; with a ``place`` only those there are fixed.
    Comments with an end date before ``today``, an ISO date, no longer apply (``""``: all of them apply). Fixes that may
    change what the author meant are skipped unless ``unsafe``.

    Returns:
        A change for each file that has something to fix, its main file's first, then by path; and one more, skipped,
        for what cannot be fixed safely. Nothing for a skill that cannot be read, or is no text.
    """
    source = read(root)
    if isinstance(source, Unreadable):
        return ()
    skill = parse(source)
    readable = _readable(source, skill, today) if wanted(QUOTES) else None
    if readable is None:
        return tuple(_planned(source, skill, wanted, today, unsafe=unsafe, place=place))
    planned = tuple(_planned(readable, parse(readable), wanted, today, unsafe=unsafe, place=place))
    return tuple(_from_the_start(planned, skill, source.data, readable.data))


def _planned(
    source: SkillSource,
    skill: Skill,
    wanted: Callable[[str], bool],
    today: str,
    *,
    unsafe: bool,
    place: Place | None,
) -> Iterator[Change]:
    pages = {}
    for document in skill.documents:
        data = source.data if document is skill.documents[0] else _bytes(skill.root, document)
        page = page_of(skill, document, data)
        if page is None:
            yield _change(skill.root, document.file, data, data, (), CHANGED)
        else:
            pages[document.file] = page
    found = _repairs(skill, pages.values(), wanted, today)
    repairs = tuple(one for one in found if place is None or _is_at(one, place, skill.root))
    harmless = _harmless(source, skill, pages, [repair for repair in repairs if unsafe or repair.safe])
    for page in pages.values():
        yield from _changes(page, repairs, harmless, unsafe=unsafe)


MOST_QUOTED = 8  # values of one frontmatter


def _readable(source: SkillSource, skill: Skill, today: str) -> SkillSource | None:
    """Put values in quotes until the frontmatter can be read; None if that is not enough, or nothing is wrong."""
    main = skill.documents[0].file if skill.documents else ""
    current, parsed = source, skill
    for _ in range(MOST_QUOTED):
        page = page_of(parsed, parsed.documents[0], current.data) if parsed.documents else None
        edits = list(frontmatter_invalid(page)) if page is not None else []
        if page is None or not edits or _waived(skill, main, QUOTES, edits[0].line, today):
            return None
        data = page.edited(edits).encode()
        root = source.root._replace(tree=_Changed(source.root.tree, {main: data}))
        current = source._replace(root=root, data=data, size=len(data))
        parsed = parse(current)
        if parsed.frontmatter.valid:
            return current if _reads_alike(skill.documents[0], parsed.documents[0]) else None
    return None


def _from_the_start(changes: Iterable[Change], skill: Skill, before: bytes, readable: bytes) -> Iterator[Change]:
    """Let the changes of a skill begin at its file as it is, before its frontmatter could be read."""
    root, main = skill.root, skill.documents[0].file
    others, made = [], None
    for change in changes:
        if change.file != main or change.after == change.before:
            others.append(change)
        else:
            made = change
    if made is None:
        skipped = None if root.tree.real(main) == main else LINKED
        made = Change(main, str(root.path / root.inside(main)), before, readable, (), skipped)
    yield made._replace(before=before, rules=tuple(sorted({*made.rules, QUOTES})))
    yield from (one._replace(before=before, after=before) if one.file == main else one for one in others)


def apply(changes: Iterable[Change], disk: Disk) -> tuple[Result, ...]:
    """Write changes; one that fails stops none of the others.

    Returns:
        What became of each, in their order.
    """
    return tuple(_applied(change, disk) for change in changes)


def _applied(change: Change, disk: Disk) -> Result:
    if change.skipped is not None:
        return Result(change, written=False, reason=change.skipped)
    try:
        note = disk.replace(change.file, change.before, change.after)
    except OSError as error:
        return Result(change, written=False, reason=error.strerror or str(error))
    return Result(change, written=True, note=note)


def _bytes(root: SkillRoot, document: Document) -> bytes:
    try:
        return root.tree.read(document.file, limit=MAX_BYTES)
    except OSError:
        return b"\xff"  # no text: it was there a moment ago


def _repairs(skill: Skill, pages: Iterable[Page], wanted: Callable[[str], bool], today: str) -> Iterator[_Repair]:
    """Find the repairs of wanted findings that no comment suppresses."""
    fixes = [(rule, fix) for rule, fix in FIXES.items() if wanted(rule)]
    for page in pages:
        file = page.document.file
        for rule, fix in fixes:
            found: dict[int, list[Edit]] = {}
            for edit in fix.find(page):
                found.setdefault(edit.line, []).append(edit)
            for line, edits in found.items():
                if not _waived(skill, file, rule, line, today):
                    yield _Repair(file, rule, tuple(edits), fix.silent)


def _is_at(repair: _Repair, place: Place, root: SkillRoot) -> bool:
    return place == (str(root.path / root.inside(repair.file)), repair.edits[0].line)


def _waived(skill: Skill, file: str, rule: str, line: int, today: str) -> bool:
    return any(
        waiver.file == file and rule in waiver.rules and waiver.first <= line <= waiver.last
        for waiver in skill.waivers
        if waiver.until is None or waiver.until >= today
    )


def _harmless(
    source: SkillSource, skill: Skill, pages: Mapping[str, Page], repairs: Sequence[_Repair]
) -> frozenset[_Repair]:
    """Choose the repairs that can be made together without harm."""
    harmless = [repair for repair in repairs if repair.silent]
    noticed = [repair for repair in repairs if not repair.silent]
    if noticed:
        trial = Trial(source, skill)
        # Halving finds a harmful one among many with few trials, as long as they are few themselves.
        pending = [noticed]
        while pending and trial.left:
            some = pending.pop()
            if trial.holds(_after(pages, (*harmless, *some)), {repair.rule for repair in (*harmless, *some)}):
                harmless += some
            elif len(some) > 1:
                pending += (some[len(some) // 2 :], some[: len(some) // 2])
    return frozenset(harmless)


def _after(pages: Mapping[str, Page], repairs: Iterable[_Repair]) -> dict[str, bytes]:
    """Return the bytes of each file that repairs change."""
    edits: dict[str, list[Edit]] = {}
    for repair in repairs:
        edits.setdefault(repair.file, []).extend(repair.edits)
    return {file: pages[file].edited(made).encode() for file, made in edits.items()}


def _changes(page: Page, repairs: Sequence[_Repair], harmless: frozenset[_Repair], *, unsafe: bool) -> Iterator[Change]:
    root, file = page.skill.root, page.document.file
    before = page.raw.encode()
    mine = [repair for repair in repairs if repair.file == file]
    made = [repair for repair in mine if repair in harmless]
    left = [repair for repair in mine if repair not in harmless and (unsafe or repair.safe)]
    hidden = [repair for repair in mine if not (unsafe or repair.safe)]
    if made:
        after = _after({file: page}, made)[file]
        yield _change(root, file, before, after, made, None if root.tree.real(file) == file else LINKED)
    if left:
        yield _change(root, file, before, before, left, HARMFUL)
    if hidden:
        yield _change(root, file, before, before, hidden, UNSAFE)


def _change(
    root: SkillRoot, file: str, before: bytes, after: bytes, repairs: Sequence[_Repair], skipped: str | None
) -> Change:
    rules = tuple(sorted({repair.rule for repair in repairs}))
    unsafe = tuple(sorted({repair.rule for repair in repairs if not repair.safe}))
    return Change(file, str(root.path / root.inside(file)), before, after, rules, skipped, unsafe)


# -- A skill as it would be after repairs: parsed and judged in memory, and compared with what it is

MOST = 24  # trials of one skill: each parses all of it, and its author may wish that to take long


class _Changed(NamedTuple):
    """A tree in which some files have other bytes."""

    tree: Tree
    changed: Mapping[str, bytes]

    def entry(self, path: str) -> Entry | None:
        data = self.changed.get(path)
        return self.tree.entry(path) if data is None else Entry(EntryKind.FILE, len(data))

    def real(self, path: str) -> str | None:
        return self.tree.real(path)

    def names(self, path: str) -> tuple[str, ...]:
        return self.tree.names(path)

    def read(self, path: str, *, limit: int) -> bytes:
        data = self.changed.get(path)
        return self.tree.read(path, limit=limit) if data is None else data[:limit]


class Trial:
    """Compares a skill with its state after repairs. ``left`` is how many more trials it allows."""

    def __init__(self, source: SkillSource, skill: Skill) -> None:
        self.left = MOST
        self._source, self._skill = source, skill
        self._main = skill.documents[0].file
        self._judged = layer.run(skill)
        self._known = {(claim.id, claim.file, claim.line) for claim in self._judged.claims}

    def holds(self, changed: Mapping[str, bytes], rules: Iterable[str]) -> bool:
        """Whether the skill would mean the same, score no less in anything, and have no new finding.

        ``changed`` holds new bytes by tree path; ``rules`` are those whose repairs made them. If the text is divided in
        another way, its lines cannot be compared: then fewer errors are what counts.
        """
        self.left -= 1
        root = self._source.root._replace(tree=_Changed(self._source.root.tree, changed))
        data = changed.get(self._main, self._source.data)
        after = parse(self._source._replace(root=root, data=data, size=len(data)))
        fixes = [FIXES[rule] for rule in rules]
        if any(fix.blocks for fix in fixes):
            return self._has_the_head(after, fixes) and self._has_fewer_errors(after)
        links = any(fix.links for fix in fixes)
        return self._has_the_head(after, fixes) and self._reads_alike(after, links=links) and self._is_no_worse(after)

    def _has_the_head(self, after: Skill, fixes: Iterable[Fix]) -> bool:
        before = self._skill.frontmatter
        head = dict(before.values)
        for fix in fixes:
            head |= fix.head(self._skill) if fix.head is not None else {}
        return before.valid == after.frontmatter.valid and head == after.frontmatter.values

    def _reads_alike(self, after: Skill, *, links: bool) -> bool:
        pairs = list(zip(self._skill.documents, after.documents, strict=False))
        alike = all(_reads_alike(*pair) or (links and _leads_further(*pair)) for pair in pairs)
        return alike and len(pairs) == len(self._skill.documents) == len(after.documents)

    def _has_fewer_errors(self, after: Skill) -> bool:
        """Whether errors go away, and none of another rule comes."""
        before, left = (
            [claim.id for claim in judged.claims if claim.severity is Severity.ERROR]
            for judged in (self._judged, layer.run(after))
        )
        return len(left) < len(before) and set(left) <= set(before)

    def _is_no_worse(self, after: Skill) -> bool:
        judged = layer.run(after)
        if any((claim.id, claim.file, claim.line) not in self._known for claim in judged.claims):
            return False
        for dimension, measure in self._judged.dimensions.items():
            score = judged.dimensions[dimension].score
            if measure.score is not None and (score is None or score < measure.score):
                return False
        return True


def _reads_alike(before: Document, after: Document) -> bool:
    """Compare two readings of one file in all but its text, in which the code blocks may have gained a language."""
    same = after._replace(text=before.text, code_blocks=before.code_blocks) == before
    blocks = list(zip(before.code_blocks, after.code_blocks, strict=False))
    return same and len(before.code_blocks) == len(after.code_blocks) and all(_is_same_code(*pair) for pair in blocks)


def _leads_further(before: Document, after: Document) -> bool:
    """Whether two readings of one file differ in links alone, of which none is broken that was not before."""
    links = list(zip(before.links, after.links, strict=False))
    return (
        len(before.links) == len(after.links)
        and all(one.target == two.target or (one.dead and not two.dead) for one, two in links)
        and before.code_blocks == after.code_blocks
        and [heading.text for heading in before.headings] == [heading.text for heading in after.headings]
        and [block.line for block in before.blocks] == [block.line for block in after.blocks]
        and (before.anchors, before.complete) == (after.anchors, after.complete)
    )


def _is_same_code(before: CodeBlock, after: CodeBlock) -> bool:
    code = after.code if after.code == before.code + "\n" and not before.closed else before.code
    language = before.language or after.language
    return after == before._replace(code=code, language=language)
