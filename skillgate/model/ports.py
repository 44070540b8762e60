"""What the pure rooms may ask of the world, as Protocols; a door implements each of them."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol


class EntryKind(Enum):
    """What a path in a tree is."""

    FILE = "file"
    DIRECTORY = "directory"
    OTHER = "other"  # a pipe, a device, a link that leads nowhere or outside the tree
    UNREADABLE = "unreadable"  # below a directory that may not be read: nobody can tell whether it is there


class Entry(NamedTuple):
    """One path of a tree: its kind and, for a file, its size in bytes."""

    kind: EntryKind
    size: int = 0


class Tree(Protocol):
    """Files below one root: a directory on disk, or one commit in a git object store.

    Paths are ``/``-separated, relative to the root, without ``.`` or ``..``; ``""`` is the root itself. Names match
    exactly, letter case included, on every file system. Nothing outside the root is ever looked at: a symbolic link
    that leads there is an entry of kind ``OTHER``.
    """

    def entry(self, path: str) -> Entry | None:
        """Describe a path, symbolic links followed; None when there is nothing."""

    def real(self, path: str) -> str | None:
        """Give the path without symbolic links; None where it leads nowhere or outside the root."""

    def names(self, path: str) -> tuple[str, ...]:
        """List a directory, sorted by code point; empty when it is none or cannot be read."""

    def read(self, path: str, *, limit: int) -> bytes:
        """Read at most ``limit`` bytes of a regular file.

        Raises:
            OSError: as the operating system (or, for a commit, git) reports it.
        """
