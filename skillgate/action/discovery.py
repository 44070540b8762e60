"""The skills that a run is about: what the inputs name in the working tree, less what they leave out."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.action.paths import inside
from skillgate.config_file import DISK
from skillgate.skill.discover import Discovery, discover

if TYPE_CHECKING:
    from skillgate.action.context import Stand


def find(stand: Stand) -> Discovery:
    """Find the skills; a path that only the base has is no mistake: the change removed it, or began before it came.

    Raises:
        UsageError: a path is nowhere, is no skill, or leads out of the workspace.
    """
    workspace = stand.place.workspace
    paths = asked(stand)
    here = [path for path in paths if DISK.is_there(os.path.join(workspace, path)) or not _was(stand, path)]
    if not here:
        return Discovery(roots=(), notices=(), single=False)
    found = discover(here, cwd=workspace, excluded=excluded(stand), beside=True)
    if not stand.name:
        return found
    named = (
        root._replace(name=stand.name) if not root.directory and _is_top(stand, root.tree) else root
        for root in found.roots
    )
    return found._replace(roots=tuple(named))


def asked(stand: Stand) -> list[str]:
    """Give the paths that are asked about, relative to the workspace.

    Raises:
        UsageError: one leads out of the workspace.
    """
    return [_shown(stand, path) for path in _listed(stand) if not path.startswith("!")] or [_shown(stand, ".")]


def excluded(stand: Stand) -> tuple[str, ...]:
    """Give the directories that are left out, relative to the workspace, with ``/``.

    Raises:
        UsageError: one leads out of the workspace.
    """
    paths = [path.removeprefix("!").strip() for path in _listed(stand) if path.startswith("!")]
    return tuple(_shown(stand, path).replace(os.sep, "/") for path in paths)


def _listed(stand: Stand) -> tuple[str, ...]:
    listed = stand.inputs["paths"]
    return listed if isinstance(listed, tuple) and listed else (".",)


def _shown(stand: Stand, path: str) -> str:
    place = inside(stand.place.workspace, os.path.join(stand.place.directory, path), f"input paths: {path!r}")
    return os.path.relpath(place, stand.place.workspace)


def _was(stand: Stand, path: str) -> bool:
    if stand.base.commit is None:
        return False
    place = os.path.join(stand.place.workspace, path)
    return stand.then.is_there(place) or stand.files.is_there(place)


def _is_top(stand: Stand, tree: object) -> bool:
    return getattr(tree, "root", None) == stand.top
