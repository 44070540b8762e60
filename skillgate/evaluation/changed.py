"""Which skills a change touches: by Git for ``--changed``, by file names for ``--files``."""
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

_MOST_NAMES = 2_000  # of a skill that are checked for links
_MOST_LINKS = 40  # as many as Linux follows before it reports a loop


def touched(
    roots: Sequence[SkillRoot], since: str | None, session: Console, *, committed: bool = False
) -> Callable[[SkillRoot, Assessment | None], bool]:
    """Ask Git what changed, and return a test of whether that touches a skill.

    These changes touch a skill:

    - a file in its directory (except in a nested skill), or at the target of a symbolic link in it
    - .gitattributes at or above it
    - a new link to it
    - another commit of its submodule
    - an added or removed file elsewhere that its evaluation asked for, such as a link target, or symbolic link on its
      path

    Args:
        roots: the found skills; each is compared in its own repository.
        since: the revision to compare with, from where the branch left it; None for the last commit.
        session: the run.
        committed: whether only commits since and new files count.

    Raises:
        UsageError: a skill is not in a repository, or there is no such revision.
        IncompleteError: Git is missing or fails.
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


def owning_skills(files: Iterable[str], cwd: str, excluded: Callable[[str], bool] | None = None) -> list[str]:
    """Return the directories of the skills that files belong to; the files may be deleted.

    Files of no skill are ignored, and those of a skill in a directory that is ``excluded``: a hook passes files that
    no user named. Nothing above a file's repository (without one, above the working directory) is searched.
    """
    owners: dict[str, None] = {}
    for file in files:
        owner = _owning_skill(os.path.normpath(os.path.join(cwd, file)), cwd)
        if owner is not None:
            owners[os.path.relpath(owner, cwd)] = None
    return [owner for owner in owners if excluded is None or not any(map(excluded, (owner, *_above(owner))))]


def _owning_skill(path: str, cwd: str) -> str | None:
    """Search upward by the path as written: a main file belongs to its directory even if it is a link elsewhere."""
    top = toplevel(os.path.dirname(path)) or cwd
    while _lies_in(path, top) or _lies_in(os.path.realpath(path), os.path.realpath(top)):
        try:
            if os.path.isdir(path) and main_file(DiskTree(path).listing("")) is not None:
                return path
        except OSError:
            pass  # cannot be listed: not a skill
        path = os.path.dirname(path)
    return None


def _lies_in(path: str, top: str) -> bool:
    return os.path.join(path, "").startswith(os.path.join(top, ""))


def _changed(roots: Sequence[SkillRoot], since: str | None, session: Console, *, committed: bool) -> dict[str, bool]:
    """Return the changed absolute paths, with ``/``, and whether each was added or removed.

    Asks each repository with a skill; without a skill, that of the working directory.
    """
    places = {_place(root) or "/": str(root.path) for root in roots} or {os.path.realpath(session.cwd): session.cwd}
    tops: dict[str, dict[str, bool]] = {}
    for place, shown in places.items():
        top = toplevel(place)
        if top is None:
            raise UsageError(f"--changed needs Git, but {shown} is not in a repository")
        if top not in tops:
            tops[top] = _changed_in(top, since, committed=committed)
    return {path: moved for paths in tops.values() for path, moved in paths.items()}


def _changed_in(top: str, since: str | None, *, committed: bool) -> dict[str, bool]:
    """Ask one repository. A submodule is compared with the commit in its outer repository."""
    from skillgate.skill.git import changes, commit_of, holds_submodule  # starts processes

    around: dict[str, bool] = {}
    outer = toplevel(os.path.dirname(top))
    if outer is not None and outer != top:
        if holds_submodule(outer, os.path.relpath(top, outer).replace(os.sep, "/")):
            around, since = _changed_in(outer, since, committed=committed), None
        elif since is not None and commit_of(top, since) is None:
            since = None  # a nested repository with its own history
    prefix = os.path.join(top, "").replace(os.sep, "/")
    paths = changes(top, since, committed=committed).items()
    # A path with a trailing slash is an untracked repository: its skills are compared in itself.
    return around | {prefix + path: moved for path, moved in paths if not path.endswith("/")}


def _came_or_went(directory: str, moved: Collection[str]) -> bool:
    """Whether a directory with added or removed files is itself new or removed."""
    return all(
        os.path.join(folder, name).replace(os.sep, "/") in moved
        for folder, _, files in os.walk(directory)
        for name in files
    )


def _links(root: SkillRoot) -> Iterator[str]:
    """Yield the absolute paths of the symbolic links out of a skill's directory."""
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
            continue  # a nested skill
        for name, kind in listing.items():
            path = join(current, name)
            if kind is EntryKind.DIRECTORY and name not in SKIPPED:
                pending.append(path)
            elif kind is None and not (tree.real(path) or "").startswith(f"{root.directory}/"):
                yield tree.origin + path


def _followed_in_tree(root: SkillRoot, path: str) -> tuple[tuple[str, ...], str]:
    """Follow a tree path; return its directories too, since each may have been a link that is now removed.

    The disk is not read if the tree knows that there is no link.
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
        The symbolic links on it, each by its real place, as Git names it; and its end, which may not exist.
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
    """Yield the parent directories of a path, innermost first."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _all_above(paths: Iterable[str]) -> set[str]:
    """Return all parent directories of the paths."""
    folders: set[str] = set()
    for path in paths:
        for folder in _above(path):
            if folder in folders:
                break
            folders.add(folder)
    return folders


def _owners(paths: Iterable[str], owners: Collection[str]) -> set[str]:
    """Return the innermost skill directory around each path, as a set."""
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
