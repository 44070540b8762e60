"""Which skills a change touches: by git for ``--changed``, by the files themselves for ``--files``."""
# ruff: noqa: PTH112, PTH118, PTH120

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.skill.tree import DiskTree, toplevel
from skillgate.skill.walk import main_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from skillgate.cli.session import Session
    from skillgate.model.assessment import Assessment
    from skillgate.model.skill import SkillRoot


def touched(
    roots: Sequence[SkillRoot], since: str | None, session: Session
) -> Callable[[SkillRoot, Assessment | None], bool]:
    """Ask git what changed, and give the test of whether that touches a skill.

    A skill is touched by a change of a file in its directory (of a skill below it, that one is), by a link that leads
    to it anew, by another commit of the submodule it lies in, and by the coming and going of a file elsewhere that
    judging it asked for, such as one it links to.

    Args:
        roots: the skills that were found; each is held against the repository it lies in.
        since: the revision to compare with, from where the branch left it; None for the last commit.
        session: the run.

    Raises:
        UsageError: a skill is in no repository, or there is no such revision.
        IncompleteError: git is missing or fails.
    """
    changed = _changed(roots, since, session)
    owners = {_place(root) for root in roots}
    own = {_owner(path, owners) for path in changed}
    moved = {path for path, came_or_went in changed.items() if came_or_went}
    above_moved = {folder for path in moved for folder in _above(path)}

    def is_touched(root: SkillRoot, facts: Assessment | None) -> bool:
        place = _place(root)
        shown = os.path.normpath(os.path.join(session.cwd, root.path)).replace(os.sep, "/")
        ways = (place, shown, *_above(place), *_above(shown))
        if place in own or not changed.keys().isdisjoint(ways):
            return True
        origin: str = getattr(root.tree, "origin", "")
        asked = [origin + path for path in facts.outside] if facts is not None else []
        return any(path in moved or (path in above_moved and _came_or_went(path, moved)) for path in asked)

    return is_touched


def owning_skills(files: Iterable[str], cwd: str) -> list[str]:
    """Give the directories of the skills that files belong to; files need not exist any more.

    What belongs to no skill is passed over. Nothing above a file's repository (without one, above the working
    directory) is looked at.
    """
    found: dict[str, None] = {}
    for file in files:
        owner = _owning_skill(os.path.normpath(os.path.join(cwd, file)), cwd)
        if owner is not None:
            found[os.path.relpath(owner, cwd)] = None
    return list(found)


def _owning_skill(path: str, cwd: str) -> str | None:
    top = toplevel(os.path.realpath(os.path.dirname(path))) or os.path.realpath(cwd)
    inside = os.path.join(top, "")
    while os.path.join(os.path.realpath(path), "").startswith(inside):
        if _is_skill(path):
            return path
        path = os.path.dirname(path)
    return None


def _is_skill(directory: str) -> bool:
    try:
        return os.path.isdir(directory) and main_file(DiskTree(directory).listing("")) is not None
    except OSError:
        return False


def _changed(roots: Sequence[SkillRoot], since: str | None, session: Session) -> dict[str, bool]:
    """Give the absolute paths that changed, with ``/``, and whether each came or went.

    Each repository that holds a skill is asked; without a skill, that of the working directory.
    """
    places = {_place(root) or "/": str(root.path) for root in roots} or {os.path.realpath(session.cwd): session.cwd}
    tops: dict[str, dict[str, bool]] = {}
    for place, shown in places.items():
        top = toplevel(place)
        if top is None:
            raise UsageError(f"--changed asks git, and {shown} is in no repository")
        if top not in tops:
            tops[top] = _changed_in(top, since)
    return {path: moved for found in tops.values() for path, moved in found.items()}


def _changed_in(top: str, since: str | None) -> dict[str, bool]:
    """Ask one repository. The commit that a submodule is compared with is that of the repository around it."""
    from skillgate.skill.git import changes, holds_submodule  # starts processes

    around: dict[str, bool] = {}
    outer = toplevel(os.path.dirname(top))
    if outer is not None and outer != top and holds_submodule(outer, os.path.relpath(top, outer).replace(os.sep, "/")):
        around, since = _changed_in(outer, since), None
    prefix = os.path.join(top, "").replace(os.sep, "/")
    # What ends in a slash is a repository that nobody told git about: its skills are held against itself.
    found = {prefix + path: moved for path, moved in changes(top, since).items() if not path.endswith("/")}
    return around | found


def _came_or_went(directory: str, moved: Collection[str]) -> bool:
    """Tell whether a directory below which files came or went is itself new or gone."""
    for folder, _, files in os.walk(directory):
        if any(os.path.join(folder, name).replace(os.sep, "/") not in moved for name in files):
            return False
    return True


def _place(root: SkillRoot) -> str:
    origin: str = getattr(root.tree, "origin", "")
    return f"{origin}{root.directory}".rstrip("/")


def _above(path: str) -> Iterator[str]:
    """Give the directories that a path lies in, the innermost first."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _owner(path: str, owners: Collection[str]) -> str | None:
    """Find the innermost skill that a path lies in, by its directory."""
    return next((folder for folder in _above(path) if folder in owners), None)
