"""Files that a hostile program wrote: how much they take, and how they are removed."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from skillgate.errors import IncompleteError
from skillgate.process import run

SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/dev/mqueue")  # noqa: S108 - where every user may write
ENDLESS = 2**63
_MOST_FILES = 100_000
_DEEPEST = 100
_BLOCK = 512  # st_blocks counts in these


def taken(folder: str) -> int:
    """Give the bytes on disk of all below a directory; ``ENDLESS`` for what nobody counts in time.

    That is more than 100,000 files, or more than 100 directories in one another. Files that were deleted and are still
    open are not seen.
    """
    total = files = 0
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop()
        if depth > _DEEPEST:
            return ENDLESS
        with suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                files += 1
                with suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
                if files > _MOST_FILES:
                    return ENDLESS
    return total


def remove(folder: str) -> None:
    """Remove a directory, whatever was done to it: closed or endlessly nested directories included."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if not os.path.lexists(folder):
        return
    with suppress(IncompleteError):  # tools without Python's bounds
        run(["chmod", "-R", "u+rwX", "--", folder])
    with suppress(IncompleteError):
        run(["rm", "-rf", "--", folder])


def remove_of(user: int, since_ns: int = 0) -> None:
    """Remove what a user that nothing else runs as left where everybody may write.

    Args:
        user: the user's number.
        since_ns: nanoseconds since the epoch: a place that was not changed since then is not looked through. Only its
            owner, the system, can make such a place look older.
    """
    for place in SHARED:
        with suppress(OSError):
            if os.stat(place).st_mtime_ns < since_ns:  # noqa: PTH116
                continue
        with suppress(OSError), os.scandir(place) as entries:
            own = [entry for entry in entries if entry.stat(follow_symlinks=False).st_uid == user]
            for entry in own:
                if entry.is_dir(follow_symlinks=False):
                    remove(entry.path)
                else:
                    with suppress(OSError):
                        os.unlink(entry.path)  # noqa: PTH108
