"""The skills that a run is about: what the inputs name in the working tree, less what they leave out."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.config_file import DISK
from skillgate.skill.discover import Discovery, discover

if TYPE_CHECKING:
    from skillgate.action.context import RunContext


def find_skills(context: RunContext) -> Discovery:
    """Find the skills; a path that only the base has is no mistake: the change removed it, or began before it came.

    Raises:
        UsageError: a path is nowhere, is no skill, or leads out of the workspace.
    """
    workspace = context.checkout.workspace
    paths = requested_paths(context)
    here = [path for path in paths if DISK.is_there(os.path.join(workspace, path)) or not _was_there(context, path)]
    if not here:
        return Discovery(roots=(), notices=(), single=False)
    found = discover(here, cwd=workspace, excluded=excluded_paths(context), beside=True)
    if not context.checkout.name:
        return found
    named = (
        root._replace(name=context.checkout.name) if not root.directory and _is_top(context, root.tree) else root
        for root in found.roots
    )
    return found._replace(roots=tuple(named))


def requested_paths(context: RunContext) -> list[str]:
    """Return the paths that are asked about, relative to the workspace.

    Raises:
        UsageError: one leads out of the workspace.
    """
    return [_shown(context, path) for path in context.request.paths or (".",)]


def excluded_paths(context: RunContext) -> tuple[str, ...]:
    """Return the directories that are left out, relative to the workspace, with ``/``.

    Raises:
        UsageError: one leads out of the workspace.
    """
    return tuple(_shown(context, path).replace(os.sep, "/") for path in context.request.excluded)


def _shown(context: RunContext, path: str) -> str:
    return os.path.relpath(context.checkout.inside(path, f"input paths: {path!r}"), context.checkout.workspace)


def _was_there(context: RunContext, path: str) -> bool:
    if not context.is_change:
        return False
    place = os.path.join(context.checkout.workspace, path)
    return context.files.start.is_there(place) or context.files.tip.is_there(place)


def _is_top(context: RunContext, tree: object) -> bool:
    return getattr(tree, "root", None) == context.checkout.top
