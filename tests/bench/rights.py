"""Root without the right to mount, as in a container."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_VERSION = 0x20080522
_SYS_ADMIN = 21


def without_mounting(work: Callable[[], T]) -> T:
    """Call ``work`` in a thread that may not mount; the rights of other threads stay."""
    found: list[T] = []

    def done() -> None:
        _drop()
        found.append(work())

    thread = threading.Thread(target=done)
    thread.start()
    thread.join()
    return found[0]


def _drop() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    rights = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; the lower 32 bits, then the upper ones
    assert libc.capget(header, rights) == 0
    rights[0] &= ~(1 << _SYS_ADMIN)
    assert libc.capset(header, rights) == 0
