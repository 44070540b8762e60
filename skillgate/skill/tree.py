"""A real directory as a :class:`~skillgate.model.ports.Tree`."""
# Plain strings: a Path for every entry would cost more than the system calls.
# ruff: noqa: PTH112, PTH116, PTH118

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from skillgate.model.ports import Entry, EntryKind

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE, _DIRECTORY, _OTHER = EntryKind.FILE, EntryKind.DIRECTORY, EntryKind.OTHER
_UNREADABLE = EntryKind.UNREADABLE

# What exists only on some systems: never wait for a pipe's writer, never follow a link put in place since the check,
# never become the controlling terminal's owner, never translate line ends.
_OPEN_FLAGS = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
    _OPEN_FLAGS |= getattr(os, _flag, 0)


class DiskTree:
    """The files below one directory, each directory listed once.

    Beside the :class:`~skillgate.model.ports.Tree` it offers what a walk needs: :meth:`listing` and :meth:`real`.

    Attributes:
        root: the directory, absolute, without symbolic links.
        origin: what precedes a tree path in the absolute path, with ``/``.
    """

    __slots__ = ("_broken", "_listings", "_prefix", "_reals", "origin", "root")

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._prefix = os.path.join(self.root, "")
        self.origin = self._prefix.replace(os.sep, "/")
        self._listings: dict[str, dict[str, EntryKind | None]] = {}
        self._reals: dict[str, str | None] = {"": ""}
        self._broken: set[str] = set()  # links that lead nowhere or outside

    def entry(self, path: str) -> Entry | None:
        """Describe a path, symbolic links followed; None when there is nothing."""
        real = self.real(path)
        if real is None:
            if path in self._broken:
                return Entry(kind=_OTHER)
            return Entry(kind=_UNREADABLE) if self._is_closed(path) else None
        try:
            status = os.lstat(self._on_disk(real))
        except PermissionError:
            return Entry(kind=_UNREADABLE)
        except OSError:
            return None
        if stat.S_ISREG(status.st_mode):
            return Entry(kind=_FILE, size=status.st_size)
        return Entry(kind=_DIRECTORY if stat.S_ISDIR(status.st_mode) else _OTHER)

    def names(self, path: str) -> tuple[str, ...]:
        """List a directory, sorted by code point; empty when it is none or cannot be read."""
        real = self.real(path)
        try:
            return () if real is None else tuple(sorted(self.listing(real)))
        except OSError:
            return ()

    def read(self, path: str, *, limit: int) -> bytes:
        """Read at most ``limit`` bytes of a regular file, never waiting for a pipe or a device.

        Raises:
            OSError: as the operating system reports it; EXDEV for a link that leads outside, EINVAL for what is
                neither a file nor a directory.
        """
        real = self.real(path)
        if real is None:
            raise self._refusal(path)
        disk_path = self._on_disk(real)
        _require_regular(os.lstat(disk_path), path)  # opening a device can already do something
        descriptor = os.open(disk_path, _OPEN_FLAGS)
        try:
            status = os.fstat(descriptor)
            _require_regular(status, path)
            return _content(descriptor, limit, status.st_size)
        finally:
            os.close(descriptor)

    def listing(self, real: str) -> Mapping[str, EntryKind | None]:
        """List a directory given by its real tree path: each name's kind, None for a symbolic link.

        Raises:
            OSError: it is no directory, or cannot be read.
        """
        found = self._listings.get(real)
        if found is None:
            with os.scandir(self._on_disk(real)) as entries:
                found = {entry.name: _kind(entry) for entry in entries}
            self._listings[real] = found
        return found

    def real(self, path: str) -> str | None:
        """Resolve the symbolic links of a tree path.

        Returns:
            The same place as a tree path without links; None when there is nothing, for a loop, and when a link
            leads outside the tree.
        """
        reals = self._reals
        if path in reals:
            return reals[path]
        pending = []
        while path not in reals:  # not recursive: a path can have thousands of parts
            path, _, name = path.rpartition("/")
            pending.append(name)
        real = reals[path]
        while pending and real is not None:
            name = pending.pop()
            found = self._step(real, name)
            path = f"{path}/{name}" if path else name
            reals[path] = found
            if found is None and name in self._listings.get(real, ()):
                self._broken.add(path)
            real = found
        return real

    def locate(self, directory: str) -> str:
        """Give the tree path of a directory inside, whose absolute path holds no symbolic links.

        Its ancestors are known to be directories from then on: none is listed just to look its name up.
        """
        path = directory[len(self._prefix) :].replace(os.sep, "/")
        known = path
        while known:
            self._reals[known] = known
            known = known.rpartition("/")[0]
        return path

    def leads_outside(self, path: str) -> bool:
        """Tell whether a link leads to a directory outside the tree, rather than to nothing or to itself."""
        return self.real(path) is None and os.path.isdir(self._on_disk(path))

    def _is_closed(self, path: str) -> bool:
        """Tell whether a path that was not found lies below a directory that may not be read."""
        real = None
        while path and real is None:
            path = path.rpartition("/")[0]
            real = self.real(path)
        try:
            self.listing(real or "")
        except PermissionError:
            return True
        except OSError:
            return False
        return False

    def _step(self, directory: str, name: str) -> str | None:
        try:
            listing = self.listing(directory)
        except OSError:
            return None
        if name not in listing:
            return None
        path = f"{directory}/{name}" if directory else name
        return path if listing[name] is not None else self._follow(path)

    def _follow(self, link: str) -> str | None:
        disk_path = self._on_disk(link)
        try:
            os.stat(disk_path)  # the kernel bounds a chain of links, realpath would recurse along it
            target = os.path.realpath(disk_path, strict=True)
        except OSError:
            return None
        if target == self.root:
            return ""
        inside = target[len(self._prefix) :].replace(os.sep, "/") if target.startswith(self._prefix) else None
        # What git keeps for itself, tokens perhaps among it, is no part of the tree.
        return None if inside is None or ".git" in inside.split("/") else inside

    def _refusal(self, path: str) -> OSError:
        if path not in self._broken:
            return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        directory, _, name = path.rpartition("/")
        try:
            os.stat(os.path.join(self._on_disk(self.real(directory) or ""), name))
        except OSError as error:
            return OSError(error.errno, error.strerror, path)
        return OSError(errno.EXDEV, "a symbolic link that leads outside the tree", path)

    def _on_disk(self, path: str) -> str:
        return self._prefix + path.replace("/", os.sep) if path else self.root


def _kind(entry: os.DirEntry[str]) -> EntryKind | None:
    if entry.is_file(follow_symlinks=False):
        return _FILE
    if entry.is_dir(follow_symlinks=False):
        return None if os.name == "nt" and _is_junction(entry) else _DIRECTORY
    return None if entry.is_symlink() else _OTHER


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """Tell a Windows junction, which calls itself a directory and leads anywhere, from a real one."""
    return bool(getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0))


def _require_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)


def _content(descriptor: int, limit: int, size: int) -> bytes:
    """Read at most ``limit`` bytes; ``size`` is what the file is said to have, and may be wrong."""
    data = os.read(descriptor, min(limit, size + 1))
    if len(data) == size or len(data) == limit:  # one more was asked for: there is none
        return data
    parts, left = [data], limit - len(data)
    while left and (data := os.read(descriptor, left)):
        parts.append(data)
        left -= len(data)
    return b"".join(parts)
