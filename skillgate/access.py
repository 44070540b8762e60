"""Which files and directories every user of this machine can reach."""
# ruff: noqa: PTH112, PTH115, PTH118, PTH120

from __future__ import annotations

import os
from errno import ELOOP
from stat import S_ISLNK
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

EXECUTE, READ, READ_AND_EXECUTE = 0o001, 0o004, 0o005
_MOST_LINKS = 40


def open_to_all(path: str) -> bool:
    """Return whether every user can reach an absolute path and execute it (of a directory: enter and read it)."""
    return closed_by(path, READ_AND_EXECUTE if os.path.isdir(path) else EXECUTE) is None


def closed_by(path: str, wanted: int = EXECUTE, *, owned: str | None = None) -> str | None:
    """Return the first place on the way to a path that other users cannot pass, links followed; None if they can.

    Args:
        path: absolute, and there.
        wanted: what they need of the file itself, as the last digit of a mode.
        owned: a directory of which the program gets a copy that its user owns; None for none.

    Raises:
        OSError: the path is not there, or its links have no end.
    """
    final = os.path.realpath(path)
    is_owned = owned is not None and is_within(path, owned)
    for place, status in passed(path, owned if is_owned and owned is not None else "/"):
        if S_ISLNK(status.st_mode):
            continue
        bits = status.st_mode >> 6 if owned is not None and is_within(place, owned) else status.st_mode
        needed = wanted if place == final else EXECUTE
        if bits & needed != needed:
            return place
    return None


def passed(path: str, start: str = "/") -> Iterator[tuple[str, os.stat_result]]:
    """Yield each place that the system passes on its way to an absolute path: links, and what they lead to.

    Args:
        path: absolute.
        start: a directory on the way, where to begin.

    Raises:
        OSError: the path is not there, or its links have no end.
    """
    here, links = start, 0
    waiting = _parts(os.path.relpath(path, start)) if path != start else []
    yield here, os.lstat(here)
    while waiting:
        part = waiting.pop(0)
        place = os.path.dirname(here) if part == ".." else os.path.join(here, part)
        status = os.lstat(place)
        yield place, status
        if not S_ISLNK(status.st_mode):
            here = place
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(ELOOP, os.strerror(ELOOP), path)
        target = os.readlink(place)
        here = "/" if target.startswith("/") else here
        waiting[:0] = _parts(target)


def is_within(path: str, folder: str) -> bool:
    """Return whether a path is a directory or below it, going by the words of both."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def unreachable(shown: str, path: str, obstacle: str) -> str:
    """Return the message for a file that the user of programs of skills cannot reach: what, where, how to fix it."""
    of = "" if shown == path else f" ({shown})"
    mode = f"{os.lstat(obstacle).st_mode & 0o7777:04o}"
    why = f"has mode {mode}" if obstacle == path else f"is behind {obstacle} (mode {mode})"
    return (
        f"{path}{of} {why}, and programs of skills run as another user here; install it for all users (below"
        " /usr/local, for example), open it to them, or use --run-as-caller"
    )


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
