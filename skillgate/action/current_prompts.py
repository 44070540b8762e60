"""Prompts and tasks in ``evals/``: a branch that began before they changed is not measured on the old ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.model.score import Depth
from skillgate.model.text import printable
from skillgate.skill.git import changes, differing

if TYPE_CHECKING:
    from skillgate.action.context import Stand

_EVALS = re.compile(r"(?:^|(?P<folder>.*?)/)evals/", re.DOTALL)
_MOST = 3  # directories that are named


def require_current_prompts(stand: Stand, depth: Depth) -> None:
    """Make sure that no skill would be measured on prompts that the base branch has replaced.

    Both sides of a change are measured on the prompts that it began with. They are policy too, and another set at the
    tip cannot be put to a skill that was written before it without changing what the skill is compared with.

    Raises:
        UsageError: the base branch has changed the prompts of a skill that the run would measure.
        IncompleteError: git fails.
    """
    base = stand.base
    if depth is Depth.QUICK or base.commit is None or base.tip is None or base.tip == base.commit:
        return
    found = filter(None, map(_EVALS.match, differing(stand.top, base.commit, base.tip)))
    folders = sorted({match["folder"] or "" for match in found})
    if stand.changed_only and folders:
        touched = changes(stand.top, base.commit, committed=True)
        folders = [
            one for one in folders if any(f"/{path}".startswith(f"/{one}/".replace("//", "/")) for path in touched)
        ]
    if folders:
        named = ", ".join(f"{printable(one)[:80] or '.'}/evals" for one in folders[:_MOST])
        more = f" and {len(folders) - _MOST} more" if len(folders) > _MOST else ""
        raise UsageError(
            f"the base branch has changed {named}{more} since this change began, and its skill would be measured on"
            " the old prompts; bring the branch up to date"
        )
