"""What became of a baseline's skills that are not here any more: moved, left out of the checkout, or gone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.model.skill import SkillRoot
    from skillgate.session import Session

SHOWN = 5  # skills that are gone, named one by one


def tell_absent(top: str, paths: Sequence[str], session: Session) -> None:
    """Say which skills a sparse checkout leaves out, and which are there and were not found."""
    for is_there, said in ((False, "not checked out"), (True, "here, but not found below the paths")):
        named = [path for path in paths if os.path.lexists(os.path.join(top, path)) is is_there]  # noqa: PTH118
        if named:
            more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
            are, were = ("skill is", "was") if len(named) == 1 else ("skills are", "were")
            shown = f"{', '.join(named[:SHOWN])}{more}"
            session.note(f"{len(named)} {are} {said}, and {were} neither gated nor looked for: {shown}")


def not_in_head(top: str, files: Mapping[str, str]) -> tuple[str, ...]:
    """Pick the skills, by their directories and main files, that the checked-out commit does not have either."""
    from skillgate.skill.commit import open_commit
    from skillgate.skill.walk import join

    tree = open_commit(top, "HEAD")
    return tuple(path for path, file in files.items() if tree.real(join(path, file)) != join(path, file))


def moved_since(
    top: str, revision: str, now: Mapping[str, SkillRoot], then: Mapping[str, str], *, committed: bool
) -> dict[str, str]:
    """Ask git which skills moved, by their main files: the directory then by the directory now."""
    from skillgate.model.skill import SKILL_FILE
    from skillgate.skill.git import renames
    from skillgate.skill.walk import join

    told = renames(top, revision, SKILL_FILE, committed=committed)
    before = {join(directory, file): directory for directory, file in then.items() if directory not in now}
    asked = {join(path, root.file_name): path for path, root in now.items() if path not in then}
    return {asked[new]: before[old] for new, old in told.items() if new in asked and old in before}
