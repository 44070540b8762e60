"""Files that an input names and that a gate reads: of a change as the tip of its base branch has them."""
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.evaluation.findings import MAX_BYTES, read_whole
from skillgate.files import toplevel
from skillgate.skill.commit import open_commit
from skillgate.skill.git import is_tracked
from skillgate.skill.tree_files import TreeFiles

if TYPE_CHECKING:
    from skillgate.action.context import RunContext
    from skillgate.config_file import Files
    from skillgate.evaluation.findings import Reading


def read_of_base(context: RunContext) -> Reading:
    """Return what reads a baseline report or other tools' findings.

    What git tracks is read from the tip of the base branch. What an earlier step has put beside the checkout, and git
    does not track, is read where it lies.

    Raises:
        UsageError: when asked for a file that the change may have brought: one that only the change has, that lies
            behind a link or in a repository inside of this one, or that an earlier step wrote over one of the base's.
    """

    def read(place: str, shown: str, what: str) -> str:
        if context.base.commit is None:
            return read_whole(place, shown, what)
        if context.files.tip.is_file(place):
            if _is_written_over(context, place):
                raise UsageError(
                    f"{what} {shown} is in the repository, and an earlier step has written over it; let it write to"
                    " another path"
                )
            return context.read_policy_file(place, shown, what)
        _require_own(context, place, f"{what} {shown}")
        return read_whole(place, shown, what)

    return read


def _require_own(context: RunContext, place: str, shown: str) -> None:
    """Refuse a file that the base branch does not have and that is the change's.

    Raises:
        UsageError: it is, or it may be.
    """
    real = os.path.realpath(place)
    owner = toplevel(os.path.dirname(real))
    if owner not in (None, context.checkout.top) and f"{owner}/".startswith(f"{context.checkout.top}/"):
        raise UsageError(f"{shown} lies in a repository inside of this one, whose files the change may choose")
    below = os.path.relpath(os.path.normpath(place), context.checkout.workspace)
    by_name = os.path.normpath(os.path.join(os.path.realpath(context.checkout.workspace), below))
    for one in {real, by_name}:
        inside = os.path.relpath(one, context.checkout.top).replace(os.sep, "/")
        if not inside.startswith("../") and is_tracked(context.checkout.top, inside):
            if context.files.is_removed(place):
                raise UsageError(f"{shown} is no longer in the base branch; update the branch")
            raise UsageError(f"{shown} comes with this change; it can be used after the merge")
    if real != by_name and not below.startswith(".."):
        raise UsageError(f"{shown} is, or lies behind, a symbolic link, which a change may have made")


def _is_written_over(context: RunContext, place: str) -> bool:
    """Return whether a file in the working tree is not what the commit that is checked out has there."""
    here = _text(context.files.head, place)
    return here is not None and here != _text(
        TreeFiles(open_commit(context.checkout.workspace, context.base.head)), place
    )


def _text(files: Files, place: str) -> bytes | None:
    """Read a file with line ends as git keeps them, None where there is none."""
    try:
        return files.read(place, MAX_BYTES + 1).replace(b"\r\n", b"\n") if files.is_file(place) else None
    except OSError:
        return None
