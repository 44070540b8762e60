"""The files of a tree by their absolute paths on disk: what :class:`skillgate.config_file.Files` asks for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.model.ports import EntryKind

if TYPE_CHECKING:
    from skillgate.skill.walk import Forest


class TreeFiles:
    """A commit in the place of the working tree, or the working tree alone: what lies outside of it is not there."""

    __slots__ = ("_tree",)

    def __init__(self, tree: Forest) -> None:
        self._tree = tree

    def is_file(self, path: str) -> bool:
        """Tell whether an absolute path is a file in the tree, links inside it followed."""
        inside = self._inside(path)
        entry = None if inside is None else self._tree.entry(inside)
        return entry is not None and entry.kind is EntryKind.FILE

    def is_there(self, path: str) -> bool:
        """Tell whether an absolute path is in the tree; the repository's own ``.git`` counts as being there."""
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
