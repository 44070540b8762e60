"""Users for calls that run at once: as root each has a number of its own, that nothing else runs as."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST_USER = 61_184
"""The first of the numbers that systemd keeps for users made on the fly (61184–65519): no account has one of them."""


_BLOCKS = 16
_BLOCK = 256  # as many calls as can run at once


class Slot(NamedTuple):
    """One call's place; ``user`` is the number that it runs as, None for the caller's own."""

    number: int
    user: int | None


class Slots:
    """Gives each call a slot while it runs. Thread-safe.

    Attributes:
        switches: whether calls run as users of their own.
    """

    def __init__(self) -> None:
        self._block, self._claim = _claimed() if hasattr(os, "geteuid") and os.geteuid() == 0 else (None, None)
        self.switches = self._block is not None
        self._free: list[int] = []
        self._made = 0
        self._lock = threading.Lock()

    @contextmanager
    def taken(self) -> Iterator[Slot]:
        """Take a slot for as long as the context lasts."""
        with self._lock:
            if self._free:
                number = self._free.pop()
            else:
                number, self._made = self._made, self._made + 1
        try:
            user = None if self._block is None else FIRST_USER + self._block * _BLOCK + number
            yield Slot(number, user)
        finally:
            with self._lock:
                self._free.append(number)

    def close(self) -> None:
        """Give the numbers back."""
        if self._claim is not None:
            self._claim.close()


def _claimed() -> tuple[int | None, socket.socket | None]:
    """Claim a block of numbers that no other run has, for as long as the socket is open; Linux alone can."""
    for block in range(_BLOCKS):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0skillgate-users-{block}")  # a name without a file, which goes with the process
        except OSError:
            claim.close()
        else:
            return block, claim
    return None, None
