"""A lock that one process holds at a time; the system lets go of it when the process ends, however it ends."""

from __future__ import annotations

import sys

try:
    import fcntl

    HAS_FLOCK = True
except ImportError:  # Windows
    HAS_FLOCK = False


def locked(descriptor: int) -> bool:
    """Lock an open file, without waiting; closing it lets go.

    Returns:
        Whether it is this one's now; False where another has it, in this process too.
    """
    try:
        if sys.platform == "win32":
            import msvcrt  # only there

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        elif HAS_FLOCK:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
