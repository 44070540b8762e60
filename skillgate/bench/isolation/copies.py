"""Copies of skills' directories, for calls that may write into one or cannot read the skill's own."""
# ruff: noqa: PTH101, PTH114, PTH116, PTH118

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from skillgate.errors import IncompleteError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


def copy_for_all(root: str, place: str, hidden: Collection[str] = ()) -> None:
    """Copy a skill's directory so that every user can read and run it.

    Args:
        root: the directory.
        place: where the copy is made.
        hidden: real paths of files and directories that are left out.

    Raises:
        IncompleteError: it cannot be copied.
    """
    try:
        copy_of(root, place, hidden)
        for path in all_of(place):
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)
    except (OSError, shutil.Error) as error:
        reason = getattr(error, "strerror", None) or "a file of it is in the way"
        raise IncompleteError(f"{root} cannot be copied for the user it runs as: {reason}") from error


def copy_of(root: str, place: str, hidden: Collection[str] = ()) -> None:
    """Copy a skill's directory, without its repository's own and what is ``hidden``; links stay links.

    Raises:
        OSError, shutil.Error: it cannot be copied.
    """
    usual = shutil.ignore_patterns(".git", "__pycache__")

    def left_out(folder: str, names: list[str]) -> set[str]:
        real = os.path.realpath(folder)
        return {*usual(folder, names), *(name for name in names if os.path.join(real, name) in hidden)}

    shutil.copytree(root, place, symlinks=True, ignore=left_out)


def all_of(place: str) -> Iterator[str]:
    """Give the paths of a directory and of all below it."""
    for folder, _, names in os.walk(place):
        yield folder
        yield from (os.path.join(folder, name) for name in names)
