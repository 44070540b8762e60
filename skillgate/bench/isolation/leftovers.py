"""Files that a hostile program wrote: how much they take, and how they are removed."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from skillgate.errors import IncompleteError
from skillgate.process import run

SHARED = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - where every user may write
_MOST_FILES = 100_000
_BLOCK = 512  # st_blocks counts in these


def taken(folder: str) -> int:
    """Give the bytes on disk of all below a directory; of more than 100,000 files, infinitely many (2**63).

    Files that were deleted and are still open are not seen.
    """
    total = files = 0
    waiting = [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                files += 1
                with suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                if files > _MOST_FILES:
                    return 2**63
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


def remove_of(user: int) -> None:
    """Remove what a user that nothing else runs as left where everybody may write."""
    for place in SHARED:
        with suppress(OSError), os.scandir(place) as entries:
            own = [entry for entry in entries if entry.stat(follow_symlinks=False).st_uid == user]
            for entry in own:
                if entry.is_dir(follow_symlinks=False):
                    remove(entry.path)
                else:
                    with suppress(OSError):
                        os.unlink(entry.path)  # noqa: PTH108
