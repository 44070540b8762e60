"""Users for calls that run at once: as root each has a number of its own, that nothing else runs as."""

# ruff: noqa: PTH112, PTH116, PTH208

from __future__ import annotations

import os
import socket
import threading
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import IncompleteError

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

    def __init__(self, *, switch: bool = True) -> None:
        """Make ready; without ``switch`` calls run as the caller's user, as they do for all but root."""
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        self._block, self._claim = _claimed() if is_root and switch else (None, None)
        self.switches = self._block is not None
        self._free: list[int] = []
        self._tired: deque[int] = deque()
        self._tiring: set[int] = set()
        self._made = 0
        self._lock = threading.Lock()

    @contextmanager
    def taken(self) -> Iterator[Slot]:
        """Take a slot for as long as the context lasts."""
        with self._lock:
            if self._free:
                number = self._free.pop()
            elif self._tired and (self.switches and self._made >= _BLOCK):
                number = self._tired.popleft()
            else:
                number, self._made = self._made, self._made + 1
        try:
            user = None if self._block is None else FIRST_USER + self._block * _BLOCK + number
            yield Slot(number, user)
        finally:
            with self._lock:
                if number in self._tiring and self.switches:
                    self._tired.append(number)
                else:
                    self._free.append(number)
                self._tiring.discard(number)

    def tire(self, slot: Slot) -> None:
        """Say that what ran in a slot was ended by force: others are taken first, while any is left.

        What such a program started may not be quite gone yet, and counts among the processes that its user may have.
        """
        with self._lock:
            self._tiring.add(slot.number)

    def users(self) -> range:
        """Give the numbers of the users that calls have run as."""
        first = FIRST_USER + (self._block or 0) * _BLOCK
        return range(first, first + (self._made if self.switches else 0))

    def close(self) -> None:
        """Give the numbers back."""
        if self._claim is not None:
            self._claim.close()


def _claimed() -> tuple[int | None, socket.socket | None]:
    """Claim a block of numbers that no other run has, for as long as the socket is open; Linux alone can.

    The claim is known within a network namespace. Containers beside each other begin at different blocks, and a block
    whose users run something already is left to them.

    Raises:
        IncompleteError: every block is taken.
    """
    first, busy = _namespace(), _users()
    for step in range(_BLOCKS):
        block = (first + step) % _BLOCKS
        begin = FIRST_USER + block * _BLOCK
        if any(begin <= user < begin + _BLOCK for user in busy):
            continue
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0skillgate-users-{block}")  # a name without a file, which goes with the process
        except OSError:
            claim.close()
        else:
            return block, claim
    if os.path.isdir(
        "/proc/self/ns"
    ):  # Linux: never as root for want of another user: somebody may have taken the names on purpose
        raise IncompleteError(
            "no users are left that programs could run as: other evaluations, or something that holds their names, have"
            f" all {_BLOCKS} blocks of them; wait for these to end"
        )
    return None, None


def _namespace() -> int:
    try:
        return os.stat("/proc/self/ns/net").st_ino
    except OSError:
        return 0


def _users() -> set[int]:
    """Return those of the users of all blocks that something runs as, as far as that can be seen."""
    found: set[int] = set()
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return found
    for name in names:
        with suppress(OSError):
            user = os.stat(f"/proc/{name}").st_uid
            if user not in found and FIRST_USER <= user < FIRST_USER + _BLOCKS * _BLOCK and not _has_ended(name):
                found.add(user)
    return found


def _has_ended(name: str) -> bool:
    """Whether a process only waits for its parent to take note of its end, which an init may be slow to do."""
    with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
        return file.read(4_096).rpartition(b")")[2].split()[:1] == [b"Z"]
