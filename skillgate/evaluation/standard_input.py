"""A skill with a text that is not on disk: from standard input, for ``check -``, or from the buffers of an editor."""
# ruff: noqa: PTH112, PTH118, PTH119, PTH120

from __future__ import annotations

import errno
import os
import sys
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.files import toplevel
from skillgate.model.skill import SKILL_FILE, Entry, EntryKind, SkillRoot, SkillSource
from skillgate.skill.find import MAX_BYTES, Discovery
from skillgate.skill.tree import DiskTree
from skillgate.skill.walk import Plugins, join

if TYPE_CHECKING:
    from skillgate.model.skill import Tree


class StandardInput(NamedTuple):
    """The bytes of a main file, and where it lies; None for a skill that is this file alone.

    ``data`` of None is what the disk has. ``others`` are other files of the skill, by path in its directory, with their
    bytes.
    """

    data: bytes | None
    filename: str | None
    others: tuple[tuple[str, bytes], ...] = ()


def read_standard_input(filename: str | None) -> StandardInput:
    """Read standard input.

    Raises:
        UsageError: there is none, or ``filename`` is no main file's.
    """
    if filename is not None and os.path.basename(filename).upper() != SKILL_FILE.upper():
        raise UsageError(f"--stdin-filename {filename}: expected the path of a {SKILL_FILE} file")
    if sys.stdin is None:
        raise UsageError("there is no standard input")
    return StandardInput(sys.stdin.buffer.read(MAX_BYTES + 1), filename)


def discovery_of(given: StandardInput, cwd: str) -> Discovery:
    """Return the skill as if its main file were on disk; its other files are those on disk, if any."""
    data = given.data or b""
    if given.filename is None:
        root = SkillRoot(_TextTree(_NoTree(), SKILL_FILE, data), "", SKILL_FILE, "", PurePosixPath())
        return _discovery(root._replace(name=_name(root, data)))
    full = os.path.normpath(os.path.join(cwd, given.filename))
    folder, file_name = os.path.split(full)
    shown = PurePosixPath(os.path.relpath(folder, cwd).replace(os.sep, "/"))
    name = os.path.basename(folder)
    if not os.path.isdir(folder):
        return _discovery(SkillRoot(_TextTree(_NoTree(), file_name, data), "", file_name, name, shown))
    real = os.path.realpath(folder)
    # As far as the searched tree of a skill in no repository: its folder of skills, and what that lies in.
    disk = DiskTree(toplevel(real) or os.path.dirname(os.path.dirname(real)))
    directory = disk.locate(real)
    buffers = (*given.others, *(() if given.data is None else ((file_name, given.data),)))
    tree: Tree = disk
    for file, text in buffers:
        tree = _TextTree(tree, join(directory, file), text)
    return _discovery(SkillRoot(tree, directory, file_name, name, shown, Plugins(tree).of(directory)))


def _discovery(root: SkillRoot) -> Discovery:
    return Discovery(roots=(root,), notices=(), single=True)


def _name(root: SkillRoot, data: bytes) -> str:
    """Return the name that the skill says, which a directory would have."""
    from skillgate.skill.parse import parse

    source = SkillSource(root=root._replace(name="skill"), data=data, size=len(data))
    return parse(source).frontmatter.text("name") or "skill"


class _NoTree:
    """A tree without files."""

    origin = ""

    def entry(self, path: str) -> Entry | None:
        return None if path else Entry(kind=EntryKind.DIRECTORY)

    def real(self, path: str) -> str | None:
        return None if path else ""

    def names(self, path: str) -> tuple[str, ...]:  # noqa: ARG002 - the interface of a tree
        return ()

    def read(self, path: str, *, limit: int) -> bytes:  # noqa: ARG002
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


class _TextTree:
    """A tree in which one file has other bytes, whether it is there or not."""

    def __init__(self, below: Tree, path: str, data: bytes) -> None:
        self.origin: str = getattr(below, "origin", "")
        self._below, self._path, self._data = below, path, data

    def entry(self, path: str) -> Entry | None:
        return Entry(kind=EntryKind.FILE, size=len(self._data)) if path == self._path else self._below.entry(path)

    def real(self, path: str) -> str | None:
        return path if path == self._path else self._below.real(path)

    def names(self, path: str) -> tuple[str, ...]:
        folder, _, name = self._path.rpartition("/")
        found = self._below.names(path)
        return tuple(sorted({*found, name})) if path == folder else found

    def read(self, path: str, *, limit: int) -> bytes:
        return self._data[:limit] if path == self._path else self._below.read(path, limit=limit)
