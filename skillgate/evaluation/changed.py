"""Which skills a change touches: by git for ``--changed``, by the files themselves for ``--files``."""
# ruff: noqa: PTH112, PTH115, PTH117, PTH118, PTH120

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.files import toplevel
from skillgate.model.skill import EntryKind
from skillgate.skill.tree import DiskTree
from skillgate.skill.walk import SKIPPED, join, main_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from skillgate.console import Console
    from skillgate.model.finding import Assessment
    from skillgate.model.skill import SkillRoot

_MOST_NAMES = 2_000  # of a skill that are looked at for links
_MOST_LINKS = 40  # as many as Linux follows before it calls a path a loop


def touched(
    roots: Sequence[SkillRoot], since: str | None, session: Console, *, committed: bool = False
) -> Callable[[SkillRoot, Assessment | None], bool]:
    """Ask git what changed, and return the test of whether that touches a skill.

    A skill is touched by a change of a file in its directory (of a skill below it, that one is) or in a place that a
    symbolic link in it leads to, by what says how git lays files out (.gitattributes) at or above it, by a link that
    leads to it anew, by another commit of the submodule it lies in, and by the coming and going of a file elsewhere
    that judging it asked for, such as one it links to, or of a symbolic link on the path to it.

    Args:
        roots: the skills that were found; each is held against the repository it lies in.
        since: the revision to compare with, from where the branch left it; None for the last commit.
        session: the run.
        committed: whether only what was committed since counts, and new files.

    Raises:
        UsageError: a skill is in no repository, or there is no such revision.
        IncompleteError: git is missing or fails.
    """
    changed = _changed(roots, since, session, committed=committed)
    own = _owners(changed, {_place(root) for root in roots})
    above_changed = _all_above(changed)
    attributes = tuple(path.rpartition("/")[0] + "/" for path in changed if path.endswith("/.gitattributes"))
    moved = {path for path, came_or_went in changed.items() if came_or_went}
    above_moved = _all_above(moved)

    def came_or_went(path: str) -> bool:
        return path in moved or (path in above_moved and _came_or_went(path, moved))

    def is_touched(root: SkillRoot, facts: Assessment | None) -> bool:
        place = _place(root)
        shown = os.path.normpath(os.path.join(session.cwd, root.path)).replace(os.sep, "/")
        paths = (place, shown, *_above(place), *_above(shown))
        if place in own or not changed.keys().isdisjoint(paths) or f"{place}/".startswith(attributes):
            return True
        for links, end in map(_followed, _links(root) if changed else ()):
            if end in above_changed or not changed.keys().isdisjoint((*links, end)):
                return True
        for path in facts.outside if facts is not None and changed else ():
            links, end = _followed_in_tree(root, path)
            if came_or_went(end) or not changed.keys().isdisjoint(links):
                return True
        return False

    return is_touched


def owning_skills(files: Iterable[str], cwd: str) -> list[str]:
    """Return the directories of the skills that files belong to; files need not exist any more.

    What belongs to no skill is passed over. Nothing above a file's repository (without one, above the working
    directory) is looked at.
    """
    owners: dict[str, None] = {}
    for file in files:
        owner = _owning_skill(os.path.normpath(os.path.join(cwd, file)), cwd)
        if owner is not None:
            owners[os.path.relpath(owner, cwd)] = None
    return list(owners)


def _owning_skill(path: str, cwd: str) -> str | None:
    """Look upward by the path as it is written: a main file may be a link to anywhere, and is its directory's still."""
    top = toplevel(os.path.dirname(path)) or cwd
    while _lies_in(path, top) or _lies_in(os.path.realpath(path), os.path.realpath(top)):
        try:
            if os.path.isdir(path) and main_file(DiskTree(path).listing("")) is not None:
                return path
        except OSError:
            pass  # nothing can be listed there: it is no skill
        path = os.path.dirname(path)
    return None


def _lies_in(path: str, top: str) -> bool:
    return os.path.join(path, "").startswith(os.path.join(top, ""))


def _changed(roots: Sequence[SkillRoot], since: str | None, session: Console, *, committed: bool) -> dict[str, bool]:
    """Return the absolute paths that changed, with ``/``, and whether each came or went.

    Each repository that holds a skill is asked; without a skill, that of the working directory.
    """
    places = {_place(root) or "/": str(root.path) for root in roots} or {os.path.realpath(session.cwd): session.cwd}
    tops: dict[str, dict[str, bool]] = {}
    for place, shown in places.items():
        top = toplevel(place)
        if top is None:
            raise UsageError(f"--changed asks git, and {shown} is in no repository")
        if top not in tops:
            tops[top] = _changed_in(top, since, committed=committed)
    return {path: moved for paths in tops.values() for path, moved in paths.items()}


def _changed_in(top: str, since: str | None, *, committed: bool) -> dict[str, bool]:
    """Ask one repository. The commit that a submodule is compared with is that of the repository around it."""
    from skillgate.skill.git import changes, commit_of, holds_submodule  # starts processes

    around: dict[str, bool] = {}
    outer = toplevel(os.path.dirname(top))
    if outer is not None and outer != top:
        if holds_submodule(outer, os.path.relpath(top, outer).replace(os.sep, "/")):
            around, since = _changed_in(outer, since, committed=committed), None
        elif since is not None and commit_of(top, since) is None:
            since = None  # a repository that somebody put into this one: it has a history of its own
    prefix = os.path.join(top, "").replace(os.sep, "/")
    paths = changes(top, since, committed=committed).items()
    # What ends in a slash is a repository that git does not know about: its skills are held against itself.
    return around | {prefix + path: moved for path, moved in paths if not path.endswith("/")}


def _came_or_went(directory: str, moved: Collection[str]) -> bool:
    """Whether a directory below which files came or went is itself new or gone."""
    return all(
        os.path.join(folder, name).replace(os.sep, "/") in moved
        for folder, _, files in os.walk(directory)
        for name in files
    )


def _links(root: SkillRoot) -> Iterator[str]:
    """Yield the absolute paths of the symbolic links in a skill's directory that lead out of it."""
    tree, left = root.tree, _MOST_NAMES
    pending = [root.directory] if isinstance(tree, DiskTree) and root.directory else []
    while pending and left > 0 and isinstance(tree, DiskTree):
        current = pending.pop()
        try:
            listing = tree.listing(current)
        except OSError:
            continue
        left -= len(listing)
        if current != root.directory and main_file(listing) is not None:
            continue  # a skill of its own
        for name, kind in listing.items():
            path = join(current, name)
            if kind is EntryKind.DIRECTORY and name not in SKIPPED:
                pending.append(path)
            elif kind is None and not (tree.real(path) or "").startswith(f"{root.directory}/"):
                yield tree.origin + path


def _followed_in_tree(root: SkillRoot, path: str) -> tuple[tuple[str, ...], str]:
    """Follow a tree path; its directories count too, any of which may have been a link that is gone.

    The disk is not asked where the tree knows that there is no link.
    """
    tree, known = root.tree, path
    origin: str = getattr(tree, "origin", "")
    while tree.real(known) is None and tree.entry(known) is None:
        known = known.rpartition("/")[0]
    links, end = ((), origin + path) if tree.real(known) == known else _followed(origin + path)
    return (*links, *_above(end), *_above(origin + path)), end


def _followed(path: str) -> tuple[tuple[str, ...], str]:
    """Follow an absolute path.

    Returns:
        The symbolic links on it, each by its own real place, as git names it; and where it ends, whether something is
        there or not.
    """
    links: list[str] = []
    pending, reached = path.split("/")[::-1], ""
    while pending:
        name = pending.pop()
        if name == "..":
            reached = reached.rpartition("/")[0]
        elif name not in ("", "."):
            step = f"{reached}/{name}" if reached or path.startswith("/") else name
            try:
                target = os.readlink(step) if len(links) < _MOST_LINKS else None
            except (OSError, ValueError):  # no link
                target = None
            if target is None:
                reached = step
                continue
            links.append(step)
            reached = "" if os.path.isabs(target) else reached
            pending += target.replace(os.sep, "/").split("/")[::-1]
    return tuple(links), reached


def _place(root: SkillRoot) -> str:
    origin: str = getattr(root.tree, "origin", "")
    return f"{origin}{root.directory}".rstrip("/")


def _above(path: str) -> Iterator[str]:
    """Yield the directories that a path lies in, the innermost first."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _all_above(paths: Iterable[str]) -> set[str]:
    """Return every directory that one of the paths lies in, each looked at once."""
    folders: set[str] = set()
    for path in paths:
        for folder in _above(path):
            if folder in folders:
                break
            folders.add(folder)
    return folders


def _owners(paths: Iterable[str], owners: Collection[str]) -> set[str]:
    """Return the skills, by their directories, that are the innermost around one of the paths."""
    known: dict[str, str] = {"": ""}
    for path in paths:
        passed = []
        folder = path.rpartition("/")[0]
        while folder not in known and folder not in owners:
            passed.append(folder)
            folder = folder.rpartition("/")[0]
        owner = known.get(folder, folder)
        known.update(dict.fromkeys((*passed, folder), owner))
    return set(known.values()) & set(owners)
