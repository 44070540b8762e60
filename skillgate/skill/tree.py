"""A directory on disk as a :class:`~skillgate.model.skill.Tree`: read within its bounds, and files replaced safely."""
# ruff: noqa: PTH105, PTH112, PTH116, PTH118, PTH120

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.files import prepared
from skillgate.model.skill import Entry, EntryKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.skill import SkillRoot
    from skillgate.skill.walk import Forest


# Plain strings: a Path for every entry would cost more than the system calls.


_FILE, _DIRECTORY, _OTHER = EntryKind.FILE, EntryKind.DIRECTORY, EntryKind.OTHER
_UNREADABLE = EntryKind.UNREADABLE

# What exists only on some systems: never wait for a pipe's writer, never follow a link put in place since the check,
# never become the controlling terminal's owner, never translate line ends.
_OPEN_FLAGS = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
    _OPEN_FLAGS |= getattr(os, _flag, 0)


class DiskTree:
    """The files below ``root`` (absolute, without links), each directory listed once.

    ``origin`` is what precedes a tree path in the absolute path, with ``/``. Besides the
    :class:`~skillgate.model.skill.Tree` it offers what a walk needs: :meth:`listing` and :meth:`real`.
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
        """List a directory, sorted by code point; empty if it is no directory or cannot be read."""
        real = self.real(path)
        try:
            return () if real is None else tuple(sorted(self.listing(real)))
        except OSError:
            return ()

    def read(self, path: str, *, limit: int) -> bytes:
        """Read at most ``limit`` bytes of a regular file, never waiting for a pipe or a device.

        Raises:
            OSError: EXDEV for a link that leads outside, EINVAL for what is neither a file nor a directory, and others.
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
        """Resolve the links of a tree path; None for nothing there, a loop, or a link that leads outside the tree."""
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
        """Return the tree path of a directory inside, whose absolute path holds no symbolic links.

        Its ancestors are known to be directories from then on: none is listed just to look its name up.
        """
        path = directory[len(self._prefix) :].replace(os.sep, "/")
        known = path
        while known:
            self._reals[known] = known
            known = known.rpartition("/")[0]
        return path

    def leads_outside(self, path: str) -> bool:
        """Return whether a link leads to a directory outside the tree, rather than to nothing or to itself."""
        return self.real(path) is None and os.path.isdir(self._on_disk(path))

    def _is_closed(self, path: str) -> bool:
        """Return whether a path that was not found lies below a directory that may not be read."""
        nearest, place = "", ""
        for name in path.split("/"):  # from the top, where most paths of many parts end
            place = f"{place}/{name}" if place else name
            real = self.real(place)
            if real is None:
                break
            nearest = real
        try:
            self.listing(nearest)
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
        return OSError(errno.EXDEV, "a symbolic link to a file outside the tree", path)

    def _on_disk(self, path: str) -> str:
        return self._prefix + path.replace("/", os.sep) if path else self.root


def _kind(entry: os.DirEntry[str]) -> EntryKind | None:
    if entry.is_file(follow_symlinks=False):
        return _FILE
    if entry.is_dir(follow_symlinks=False):
        return None if os.name == "nt" and _is_junction(entry) else _DIRECTORY
    return None if entry.is_symlink() else _OTHER


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a Windows junction, which calls itself a directory and leads anywhere."""
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


class TreeFiles:
    """A commit in the place of the working tree, or the working tree alone: what lies outside of it is not there."""

    __slots__ = ("_tree",)

    def __init__(self, tree: Forest) -> None:
        self._tree = tree

    def is_file(self, path: str) -> bool:
        """Return whether an absolute path is a file in the tree, links inside it followed."""
        inside = self._inside(path)
        entry = None if inside is None else self._tree.entry(inside)
        return entry is not None and entry.kind is EntryKind.FILE

    def is_there(self, path: str) -> bool:
        """Return whether an absolute path is in the tree; the repository's own ``.git`` counts as being there."""
        inside = self._inside(path)
        return inside is not None and (inside == ".git" or self._tree.entry(inside) is not None)

    def read(self, path: str, limit: int) -> bytes:
        """Read at most ``limit`` bytes of a file.

        Raises:
            OSError: there is no such file.
            IncompleteError: git could not be asked.
        """
        inside = self._inside(path)
        if inside is None:
            raise FileNotFoundError(2, os.strerror(2), path)
        return self._tree.read(inside, limit=limit)

    def _inside(self, path: str) -> str | None:
        shown = os.path.normpath(path).replace(os.sep, "/")
        if shown + "/" == self._tree.origin:
            return ""
        return shown[len(self._tree.origin) :] if shown.startswith(self._tree.origin) else None


def disk_of(root: SkillRoot) -> DiskWriter:
    """Return what writes the files of a skill. Raises UsageError: it lies in a commit, which cannot be changed."""
    if not isinstance(root.tree, DiskTree):
        raise UsageError(f"{str(root.path)!r} is in a commit; only files on disk can be fixed")
    return DiskWriter(root.tree.root, root.directory)


class DiskWriter:
    """Writes files below ``directory`` (``""`` for all) of the tree at ``top``, absolute and without symbolic links."""

    __slots__ = ("directory", "top")

    def __init__(self, top: str, directory: str = "") -> None:
        self.top, self.directory = top, directory

    def replace(self, file: str, before: bytes, after: bytes) -> str | None:
        """Replace the bytes of a file by its tree path, with its permissions and, where the system lets us, its owner.

        Returns:
            A note where the file had other names (hard links): they keep the old text.

        Raises:
            OSError: as the system says, or for a link, a read-only file or directory, a file that no longer holds
                ``before``. Nothing was written then.
        """
        place = self._place(file)
        status = _checked(place, before)
        with prepared(place, after, status=status) as temporary:
            _checked(place, before)  # nothing may have happened meanwhile
            os.replace(temporary, place)
        return "its other hard links still have the old text" if status.st_nlink > 1 else None

    def _place(self, file: str) -> str:
        below = f"{self.directory}/" if self.directory else ""
        if not file.startswith(below) or ".." in file.split("/"):
            raise PermissionError(errno.EPERM, "it is outside the skill", file)
        return os.path.join(self.top, *file.split("/"))


def _checked(place: str, before: bytes) -> os.stat_result:
    """Make sure that a file may be replaced, and give its status. Raises OSError: it may not."""
    directory = os.path.dirname(place)
    status = os.lstat(place)
    if os.path.realpath(directory) != directory or not stat.S_ISREG(status.st_mode):
        raise OSError(errno.ELOOP, "it is a symbolic link, or its path contains one", place)
    if not status.st_mode & 0o222 or not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only", place)
    # A directory's read-only attribute means nothing on Windows; root may write everywhere, and is not asked to.
    if os.name != "nt" and not os.stat(directory).st_mode & 0o222:
        raise PermissionError(errno.EACCES, "its directory is read-only", directory)
    with os.fdopen(os.open(place, _OPEN_FLAGS), "rb") as stream:
        opened = os.fstat(stream.fileno())
        if not os.path.samestat(opened, status) or stream.read(len(before) + 1) != before:
            raise OSError(errno.EBUSY, "it changed since it was read", place)
    return status
