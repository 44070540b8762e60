"""Puts new bytes in the place of a file's old ones, in a directory that a stranger may have filled.

No link is followed, nothing is written outside the tree, a file that changed meanwhile is left alone, and a reader sees
the old text or the new one, never a part.
"""
# Plain strings and `os`, as in skillgate.skill.tree: what is checked here is what the system calls are given.
# ruff: noqa: PTH101, PTH105, PTH108, PTH116, PTH118, PTH120

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.skill.tree import DiskTree

if TYPE_CHECKING:
    from skillgate.model.skill import SkillRoot

_LINKED = "it is a symbolic link, or lies behind one"
_OUTSIDE = "it lies outside the skill"
_READ_ONLY = "it is read-only"
_FULL = "its directory is read-only"
_CHANGED = "it changed since it was read"

# What exists only on some systems: never follow a link put in place since the check, never wait for a pipe's writer,
# never translate line ends.
_READ = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
    _READ |= getattr(os, _flag, 0)


def disk_of(root: SkillRoot) -> DiskWriter:
    """Give what writes the files of a skill.

    Raises:
        UsageError: the skill lies in a commit, which cannot be changed.
    """
    if not isinstance(root.tree, DiskTree):
        raise UsageError(f"{str(root.path)!r} lies in a commit: only files on disk can be mended")
    return DiskWriter(root.tree.root, root.directory)


class DiskWriter:
    """Writes files of one skill.

    Attributes:
        top: the tree's directory on disk, absolute, without symbolic links.
        directory: the skill's directory in the tree, which paths have to lie in; ``""`` for the tree's own.
    """

    __slots__ = ("directory", "top")

    def __init__(self, top: str, directory: str = "") -> None:
        self.top, self.directory = top, directory

    def replace(self, file: str, before: bytes, after: bytes) -> str | None:
        """Replace the bytes of a file, keeping its permissions and, where the system lets us, its owner.

        Args:
            file: its tree path.
            before: the bytes it has to hold still.
            after: the bytes it is to hold.

        Returns:
            A note where the file had other names (hard links): they keep the old text.

        Raises:
            OSError: as the operating system says, or for what is refused: a link, a read-only file or directory, a
                file that changed. Nothing was written then.
        """
        place = self._place(file)
        status = _checked(place, before)
        temporary = _written(place, after, status)
        try:
            _checked(place, before)
            os.replace(temporary, place)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        return "its other hard links keep the old text" if status.st_nlink > 1 else None

    def _place(self, file: str) -> str:
        below = f"{self.directory}/" if self.directory else ""
        if not file.startswith(below) or ".." in file.split("/"):
            raise PermissionError(errno.EPERM, _OUTSIDE, file)
        return os.path.join(self.top, *file.split("/"))


def _checked(place: str, before: bytes) -> os.stat_result:
    """Make sure that a file may be replaced, and give its status.

    Raises:
        OSError: it may not.
    """
    directory = os.path.dirname(place)
    status = os.lstat(place)
    if os.path.realpath(directory) != directory or not stat.S_ISREG(status.st_mode):
        raise OSError(errno.ELOOP, _LINKED, place)
    if not status.st_mode & 0o222 or not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, _READ_ONLY, place)
    # A directory's read-only attribute means nothing on Windows; root may write everywhere, and is not asked to.
    if os.name != "nt" and not os.stat(directory).st_mode & 0o222:
        raise PermissionError(errno.EACCES, _FULL, directory)
    with os.fdopen(os.open(place, _READ), "rb") as stream:
        opened = os.fstat(stream.fileno())
        if not os.path.samestat(opened, status):
            raise OSError(errno.EBUSY, _CHANGED, place)
        if stream.read(len(before) + 1) != before:
            raise OSError(errno.EBUSY, _CHANGED, place)
    return status


def _written(place: str, data: bytes, status: os.stat_result) -> str:
    """Write a new file beside another, with its permissions, and give its path."""
    descriptor, temporary = tempfile.mkstemp(prefix=".skillgate-", suffix=".tmp", dir=os.path.dirname(place))
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        change_owner = getattr(os, "chown", None)  # only where files have owners
        if change_owner is not None:
            with suppress(OSError):
                change_owner(temporary, status.st_uid, status.st_gid)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    return temporary
