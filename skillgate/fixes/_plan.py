"""From a skill to the changes that mend it, and from those to the disk.

Before a repair is made that a reader could notice, the skill is parsed and judged as it would be afterwards. What would
change its meaning, lower one of its scores or bring a new finding is left out.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from skillgate.fixes._page import Change, Edit, Fix, Page, Result, page_of
from skillgate.fixes._trial import Trial
from skillgate.model.skill import Unreadable
from skillgate.registry import Room
from skillgate.skill.parse import MAX_BYTES, parse
from skillgate.skill.read import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.model.skill import Document, Skill, SkillRoot, SkillSource

FIXES = Room("skillgate.fixes")
LINKED = "it is a symbolic link, or lies behind one: mend the file itself"
CHANGED = "it changed while it was read"
HARMFUL = "the repair would change what the file says, or bring another finding"


class Disk(Protocol):
    """What can put new bytes in the place of a file's old ones."""

    def replace(self, file: str, before: bytes, after: bytes) -> str | None:
        """Write a file, given by tree path, that still holds ``before``; a note says what else one should know.

        Raises:
            OSError: why it was not written.
        """


class _Repair(NamedTuple):
    """All edits of one finding in one file."""

    file: str
    rule: str
    edits: tuple[Edit, ...]
    silent: bool


def plan(root: SkillRoot, wanted: Callable[[str], bool], *, today: str = "") -> tuple[Change, ...]:
    """Say what would mend a skill, without touching it.

    Args:
        root: where it was found: on disk, or in a commit.
        wanted: tells of a rule's id whether its findings are to be mended.
        today: the day, as an ISO date, that comments with an end are held against; ``""`` lets all of them hold.

    Returns:
        A change for each file that has something to mend, its main file's first, then by path; and one more, skipped,
        for what cannot be mended safely. Nothing for a skill that cannot be read, or is no text.
    """
    source = read(root)
    if isinstance(source, Unreadable):
        return ()
    skill = parse(source)
    pages, changes = {}, []
    for document in skill.documents:
        data = source.data if document is skill.documents[0] else _bytes(root, document)
        page = page_of(skill, document, data)
        if page is None:
            changes.append(_change(root, document.file, data, data, (), CHANGED))
        else:
            pages[document.file] = page
    repairs = tuple(_repairs(skill, pages.values(), wanted, today))
    kept = _harmless(source, skill, pages, repairs)
    for page in pages.values():
        changes += _changes(page, repairs, kept)
    return tuple(changes)


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


@cache
def _fixes() -> tuple[tuple[str, Fix], ...]:
    """Load every repair with the id of the rule whose findings it mends."""
    return tuple((name.upper(), FIXES.load(name).FIX) for name in FIXES.names())


def _repairs(skill: Skill, pages: Iterable[Page], wanted: Callable[[str], bool], today: str) -> Iterator[_Repair]:
    """Find what could be mended, without what is not wanted or set aside by a comment."""
    fixes = [(rule, fix) for rule, fix in _fixes() if wanted(rule)]
    for page in pages:
        file = page.document.file
        for rule, fix in fixes:
            found: dict[int, list[Edit]] = {}
            for edit in fix.find(page):
                found.setdefault(edit.line, []).append(edit)
            for line, edits in found.items():
                if not _waived(skill, file, rule, line, today):
                    yield _Repair(file, rule, tuple(edits), fix.silent)


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
    kept = [repair for repair in repairs if repair.silent]
    noticed = [repair for repair in repairs if not repair.silent]
    if noticed:
        trial = Trial(source, skill)
        # Halving finds a harmful one among many with few trials, as long as they are few themselves.
        pending = [noticed]
        while pending and trial.left:
            some = pending.pop()
            if trial.holds(_after(pages, (*kept, *some)), renamed=_renames((*kept, *some))):
                kept += some
            elif len(some) > 1:
                pending += (some[len(some) // 2 :], some[: len(some) // 2])
    return frozenset(kept)


def _renames(repairs: Iterable[_Repair]) -> bool:
    return any(repair.rule == "NAME_MISMATCH" for repair in repairs)


def _after(pages: Mapping[str, Page], repairs: Iterable[_Repair]) -> dict[str, bytes]:
    """Give the bytes of each file that repairs change."""
    edits: dict[str, list[Edit]] = {}
    for repair in repairs:
        edits.setdefault(repair.file, []).extend(repair.edits)
    return {file: pages[file].edited(made).encode() for file, made in edits.items()}


def _changes(page: Page, repairs: Sequence[_Repair], kept: frozenset[_Repair]) -> Iterator[Change]:
    root, file = page.skill.root, page.document.file
    before = page.raw.encode()
    mine = [repair for repair in repairs if repair.file == file]
    made = [repair for repair in mine if repair in kept]
    left = [repair for repair in mine if repair not in kept]
    if made:
        after = _after({file: page}, made)[file]
        yield _change(root, file, before, after, made, None if root.tree.real(file) == file else LINKED)
    if left:
        yield _change(root, file, before, before, left, HARMFUL)


def _change(
    root: SkillRoot, file: str, before: bytes, after: bytes, repairs: Iterable[_Repair], skipped: str | None
) -> Change:
    inside = file[len(root.directory) + 1 :] if root.directory else file
    rules = tuple(sorted({repair.rule for repair in repairs}))
    return Change(file, str(root.path / inside), before, after, rules, skipped)
