"""Write files safely, in directories that a stranger may have filled.

A pull request can hold a symbolic link in the place of a report, or of its folder: nothing is written through one.
"""
# ruff: noqa: PTH101, PTH103, PTH105, PTH108, PTH114, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.model.skill import SKILL_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator


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


def replace(path: str, data: bytes, *, status: os.stat_result | None = None) -> None:
    """Write a file as a whole: a reader sees the old bytes or the new ones, and a failure leaves the old ones.

    Args:
        path: the file, existing or not; a symbolic link is replaced, not followed.
        data: its bytes.
        status: the file whose permissions and, where the system allows it, owner to take; by default only the
            calling user can read the new file.

    Raises:
        OSError: it cannot be written.
    """
    with prepared(path, data, status=status) as temporary:
        os.replace(temporary, path)


@contextmanager
def prepared(path: str, data: bytes, *, status: os.stat_result | None = None) -> Iterator[str]:
    """Write a temporary file beside ``path`` and yield its path; remove it if the block did not move it.

    For callers that check once more before they replace the file; otherwise like :func:`replace`.
    """
    import tempfile  # most runs write no file

    descriptor, temporary = tempfile.mkstemp(prefix=".skillgate-", suffix=".tmp", dir=os.path.dirname(path))
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if status is not None:
            with suppress(AttributeError, OSError):  # Windows has no owners; only root may give a file away
                os.chown(temporary, status.st_uid, status.st_gid)
            os.chmod(temporary, stat.S_IMODE(status.st_mode))
        yield temporary
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def toplevel(path: str) -> str | None:
    """Find the repository that a directory lies in, without asking git.

    Args:
        path: an absolute path without symbolic links.

    Returns:
        The nearest directory at or above ``path`` that holds a ``.git`` of any kind (worktrees and submodules have a
        file there); None without one.
    """
    while not os.path.lexists(os.path.join(path, ".git")):
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent
    return path


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
