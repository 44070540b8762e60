"""Writes the files that options name, in a directory that a stranger may have filled.

A pull request can hold a symbolic link in the place of a report, or of its folder: nothing is written through one.
"""
# ruff: noqa: PTH103, PTH114, PTH118, PTH119, PTH120

from __future__ import annotations

import os
from pathlib import Path

from skillgate.errors import UsageError
from skillgate.skill.tree import toplevel
from skillgate.skill.walk import SKILL_FILE


def write(name: str, data: bytes, *, cwd: str, parents: bool = False) -> None:
    """Write a file.

    Args:
        name: as it was given; relative to ``cwd``.
        data: its bytes.
        cwd: the working directory, absolute.
        parents: whether to make the directories above it that are missing.

    Raises:
        UsageError: it cannot be written, or must not be (see :func:`require_place`).
    """
    place = require_place(name, cwd)
    try:
        if parents:
            os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb", opener=_unlinked) as file:
            file.write(data)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise UsageError(f"cannot write {name}: {getattr(error, 'strerror', None) or error}") from error


def require_place(name: str, cwd: str) -> str:
    """Give the absolute path of a file that may be written.

    Links above the repository (without one, above the working directory) are the user's own.

    Raises:
        UsageError: it is a skill's main file, or it is a symbolic link, or lies behind one in the repository.
    """
    place = os.path.normpath(os.path.join(cwd, name))
    # Windows drops blanks and dots from the end of a name.
    if os.path.basename(place).rstrip(" .").upper() == SKILL_FILE.upper():
        raise UsageError(f"cannot write {name}: that is what the main file of a skill is called; name another file")
    link = _link_on_the_way(place, cwd)
    if link is not None:
        where = "it" if link == place else os.path.relpath(link, cwd)
        raise UsageError(f"cannot write {name}: {where} is a symbolic link; name the place that it leads to")
    return place


def require_folder(name: str, cwd: str) -> None:
    """Refuse a file that must not be written, or whose directory does not exist.

    Raises:
        UsageError: as said.
    """
    if not os.path.isdir(os.path.dirname(require_place(name, cwd))):  # noqa: PTH112
        raise UsageError(f"cannot write {name}: there is no directory {os.path.dirname(name)}")


def _link_on_the_way(place: str, cwd: str) -> str | None:
    here = os.path.realpath(cwd)
    top = os.path.join(toplevel(here) or here, "")
    inside = False
    for folder in [*reversed(Path(place).parents), Path(place)]:
        if inside and os.path.islink(folder):
            return str(folder)
        try:
            inside = inside or os.path.join(os.path.realpath(folder), "").startswith(top)
        except ValueError:  # a NUL, which no file has
            return None
    return place if os.path.islink(place) else None


def _unlinked(path: str, flags: int) -> int:
    """Open a file unless it is a link; where the system cannot promise that, the check before has to do."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
