"""One commit as a :class:`~skillgate.model.ports.Tree`.

It is read from git's objects alone; nothing is checked out, so no filter, hook or symbolic link of the repository comes
to life. Importing this module imports :mod:`subprocess`.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from skillgate.errors import IncompleteError, UsageError
from skillgate.files import toplevel
from skillgate.model.ports import Entry, EntryKind
from skillgate.skill.git import complaint, decoded, git, unknown_revision

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FILE, _DIRECTORY, _OTHER = EntryKind.FILE, EntryKind.DIRECTORY, EntryKind.OTHER
_MAX_LINKS = 40  # as many as Linux follows before it calls a path a loop
_MAX_TARGET_BYTES = 4096  # PATH_MAX: no system makes a longer link
_NEIGHBOUR_BYTES = 64 * 1024  # a file is read together with its neighbours up to this size: one process, not many


def open_commit(repo_dir: str, rev: str) -> GitTree:
    """Open the files of a commit.

    Args:
        repo_dir: an absolute path anywhere inside the repository.
        rev: a branch, tag, hash or any other name of a commit.

    Raises:
        UsageError: there is no repository, or no such commit in it.
        IncompleteError: git is missing, or the commit's objects are.
    """
    done = git(repo_dir, "rev-parse", "--verify", "--end-of-options", f"{rev}^{{commit}}")
    if done.returncode:
        raise UsageError(unknown_revision(repo_dir, rev))
    commit = done.stdout.split()[-1].decode("ascii")
    files = git(repo_dir, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    if files.returncode:
        raise IncompleteError(f"git cannot list the files of {rev}: {complaint(files)}")
    return GitTree(repo_dir, files.stdout)


class GitTree:
    """The files of one commit; offers the same as :class:`~skillgate.skill.tree.DiskTree`.

    Attributes:
        root: the top of the repository, absolute.
        origin: what precedes a tree path in the absolute path, with ``/``.
    """

    __slots__ = ("_contents", "_directories", "_objects", "_repo_dir", "origin", "root")

    def __init__(self, repo_dir: str, listed: bytes) -> None:
        """Take the output of ``git ls-tree -r -z -l --full-tree``."""
        self.root = toplevel(repo_dir) or repo_dir
        self.origin = self.root.rstrip(os.sep).replace(os.sep, "/") + "/"
        self._repo_dir = repo_dir
        self._directories: dict[str, dict[str, EntryKind | None]] = {"": {}}
        self._objects: dict[str, tuple[str, int]] = {}  # path → object name, size in bytes
        self._contents: dict[str, bytes] = {}  # object name → bytes
        for line in listed.split(b"\0"):
            if line:
                self._add(line)

    def entry(self, path: str) -> Entry | None:
        """Describe a path, symbolic links followed; None when there is nothing."""
        real = self.real(path)
        if real is None:
            directory, _, name = path.rpartition("/")
            parent = self.real(directory)
            listed = parent is not None and name in self._directories.get(parent, ())
            return Entry(kind=_OTHER) if listed else None
        if real in self._directories:
            return Entry(kind=_DIRECTORY)
        return Entry(kind=_FILE, size=self._objects[real][1]) if real in self._objects else Entry(kind=_OTHER)

    def names(self, path: str) -> tuple[str, ...]:
        """List a directory, sorted by code point; empty when it is none."""
        real = self.real(path)
        return () if real is None else tuple(sorted(self._directories.get(real, ())))

    def read(self, path: str, *, limit: int) -> bytes:
        """Read at most ``limit`` bytes of a file.

        Raises:
            OSError: there is no such file; EXDEV for a link that leads outside or nowhere; EINVAL for a submodule.
            IncompleteError: git could not be asked.
        """
        real = self.real(path)
        if real is None or real not in self._objects:
            raise self._refusal(path)
        name = self._objects[real][0]
        if name not in self._contents:
            self.fetch((real, *self._neighbours(real)))
        return self._contents[name][:limit]

    def listing(self, real: str) -> Mapping[str, EntryKind | None]:
        """List a directory given by its real tree path: each name's kind, None for a symbolic link.

        Raises:
            OSError: it is no directory.
        """
        try:
            return self._directories[real]
        except KeyError:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), real) from None

    def real(self, path: str) -> str | None:
        """Resolve the symbolic links of a tree path; None for nothing, a loop, or a link that leads outside."""
        pending, real, links = path.split("/")[::-1], "", 0
        while pending:
            name = pending.pop()
            if name == "..":  # only from a link: a path asked for has none
                if not real:
                    return None
                real = real.rpartition("/")[0]
            elif name not in ("", "."):
                if name not in self._directories.get(real, ()):
                    return None
                kind = self._directories[real][name]
                below = f"{real}/{name}" if real else name
                if kind is not None:
                    real = below
                    continue
                target, links = self._target(below), links + 1
                if target.startswith("/") or links > _MAX_LINKS:
                    return None
                pending += target.split("/")[::-1]
        return real

    def leads_outside(self, path: str) -> bool:
        """Tell whether a link's own target is outside the commit (whether a directory is there cannot be known)."""
        depth = path.count("/")
        return self.real(path) is None and (
            (target := self._target(path)).startswith("/") or target.split("/").count("..") > depth
        )

    def fetch(self, paths: Iterable[str]) -> None:
        """Read the files with these real paths in one go, so that :meth:`read` has them.

        Raises:
            IncompleteError: git is missing, or an object is.
        """
        wanted = [
            name for name in dict.fromkeys(self._objects[path][0] for path in paths) if name not in self._contents
        ]
        done = git(self._repo_dir, "cat-file", "--batch", stdin="".join(f"{name}\n" for name in wanted).encode())
        rest = memoryview(done.stdout)
        for name in wanted:
            header = bytes(rest[:200]).partition(b"\n")[0]
            words = header.split()
            if len(words) != 3:  # "<name> missing", or nothing at all
                raise IncompleteError(f"git cannot read object {name}: {header.decode() or complaint(done)}")
            start, size = len(header) + 1, int(words[2])
            self._contents[name] = bytes(rest[start : start + size])
            rest = rest[start + size + 1 :]

    def _add(self, line: bytes) -> None:
        facts, _, name = line.partition(b"\t")
        mode, _, object_name, size = facts.split()
        path = decoded(name)
        kind = None if mode == b"120000" else _FILE if mode.startswith(b"100") else _OTHER
        if kind is not _OTHER:
            self._objects[path] = (object_name.decode("ascii"), int(size))
        directory, _, base = path.rpartition("/")
        while directory not in self._directories:
            self._directories[directory] = {base: kind}
            kind = _DIRECTORY
            directory, _, base = directory.rpartition("/")
        self._directories[directory].setdefault(base, kind)

    def _target(self, link: str) -> str:
        """Read a link, and with the first one all links of the commit; one too long to be real leads to ``/``."""
        if self._objects[link][1] > _MAX_TARGET_BYTES:
            return "/"
        if self._objects[link][0] not in self._contents:
            links = (
                f"{directory}/{name}" if directory else name
                for directory, listing in self._directories.items()
                for name, kind in listing.items()
                if kind is None
            )
            self.fetch(path for path in links if self._objects[path][1] <= _MAX_TARGET_BYTES)
        return decoded(self._contents[self._objects[link][0]])

    def _neighbours(self, real: str) -> list[str]:
        directory = real.rpartition("/")[0]
        paths = (f"{directory}/{name}" if directory else name for name in self._directories[directory])
        return [path for path in paths if self._objects.get(path, ("", _NEIGHBOUR_BYTES))[1] < _NEIGHBOUR_BYTES]

    def _refusal(self, path: str) -> OSError:
        entry = self.entry(path)
        if entry is None:
            return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if entry.kind is _DIRECTORY:
            return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if self.real(path) is None:
            return OSError(errno.EXDEV, "a symbolic link that leads outside the commit, to nothing or to itself", path)
        return OSError(errno.EINVAL, "not a regular file", path)
