"""The lines of a source file around a finding, for pages; no secret can be read in them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from skillgate.files import unlinked
from skillgate.static.secrets import masked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LONGEST = 2_000_000  # bytes of a file that is read
_LINE = 200  # characters of a line that are shown


def _plain(path: str, flags: int) -> int:
    """Open without following a link, and without waiting for a writer."""
    return unlinked(path, flags | getattr(os, "O_NONBLOCK", 0))


def excerpts(cwd: str) -> Callable[[str, int], Sequence[tuple[int, str]]]:
    """Return a reader of a line and its neighbours, with their numbers; empty where the file cannot be read."""

    @cache
    def lines(path: str) -> list[str]:
        try:
            with open(Path(cwd, path), "rb", opener=_plain) as file:
                return masked(file.read(_LONGEST).decode("utf-8", errors="replace")).splitlines()
        except (OSError, ValueError):
            return []

    def around(path: str, line: int) -> list[tuple[int, str]]:
        found = lines(path)
        last = min(len(found), line + 1) if line <= len(found) else 0
        return [(number, found[number - 1][:_LINE]) for number in range(max(1, line - 1), last + 1)]

    return around
