"""The checkout that a run works in, and which places of it a change cannot have filled."""
# ruff: noqa: PTH112, PTH118, PTH120

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError

if TYPE_CHECKING:
    from skillgate.config_file import Files


class Checkout(NamedTuple):
    """Where a run works.

    Attributes:
        workspace: the absolute directory that a step may read and write.
        directory: the absolute directory in it that paths and configuration are relative to.
        top: the repository's top, the workspace without one.
        name: what a skill at the repository's top is called, whose directory on a runner may be called anything; ``""``
            where GitHub does not say.
    """

    workspace: str
    directory: str
    top: str
    name: str = ""

    def inside(self, path: str, shown: str) -> str:
        """Return the absolute path of a place that an input names relative to the directory.

        Raises:
            UsageError: it lies outside of the workspace, or in git's own directory.
        """
        return inside(self.workspace, os.path.join(self.directory, path), shown)


class Versions(NamedTuple):
    """The files that a run reads policy from and compares; without a change, all of them are the disk's.

    Attributes:
        tip: those of the base branch's tip.
        start: those of the commit that the change is compared with, where it left the base branch.
        head: the working tree's; of a change, never through a link that leads out of it.
    """

    tip: Files
    start: Files
    head: Files

    def is_removed(self, place: str) -> bool:
        """Return whether the base branch has removed an absolute path since the change began."""
        return self.start is not self.tip and self.start.is_there(place) and not self.tip.is_there(place)


def inside(workspace: str, path: str, shown: str) -> str:
    """Return the absolute path of a place in the workspace, links left as they are.

    Raises:
        UsageError: it lies outside, by its name or by a link on its way; or in git's own directory.
    """
    place = os.path.normpath(os.path.join(workspace, path))
    for one, top in ((place, workspace), (os.path.realpath(place), os.path.realpath(workspace))):
        if one != top and not one.startswith(top.rstrip(os.sep) + os.sep):
            raise UsageError(f"{shown} leads out of the workspace")
        if ".git" in PurePath(os.path.relpath(one, top)).parts:
            raise UsageError(f"{shown} is git's own")
    return place


def require_untracked(checkout: Checkout, path: str, shown: str) -> None:
    """Refuse a place, relative to the workspace, that a change could have filled.

    Raises:
        UsageError: it lies outside the workspace or behind a link, or git knows it.
    """
    workspace, top = checkout.workspace, checkout.top
    place = inside(workspace, path, shown)
    from skillgate.files import toplevel
    from skillgate.skill.git import is_tracked  # starts processes

    real = os.path.realpath(place)
    if real != os.path.join(os.path.realpath(workspace), os.path.relpath(place, workspace)):
        raise UsageError(f"{shown} is, or lies behind, a symbolic link, which a change may have made")
    below = os.path.relpath(real, top).replace(os.sep, "/")
    folder = real if os.path.isdir(real) else os.path.dirname(real)
    if below == "." or is_tracked(top, below) or toplevel(folder) not in (None, top):
        raise UsageError(
            f"{shown} holds files of the repository, so a change could bring what is in it; name a place that only"
            " actions/cache fills"
        )
