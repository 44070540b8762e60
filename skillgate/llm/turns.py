"""Turns at what only one should do at a time, by key: among the threads of a process, and among processes on one disk.

Processes take turns by locks on single bytes of one file, at an offset that the key gives. A system lets go of such a
lock when its process ends, however it ends, so nothing is ever left behind. Where a system or a disk has no such locks,
only threads take turns.
"""
# ruff: noqa: PTH103, PTH118, PTH120

from __future__ import annotations

import errno
import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl

    HAS_LOCKS = True
except ImportError:  # Windows
    HAS_LOCKS = False

FILE = "turns"
POLL_S = 0.1
"""How often another process's lock is tried. No call that waits for it: a system takes two threads of two processes
that wait for one another for a deadlock, since it knows of no threads."""
LONGEST_S = 600.0
"""Of waiting for another process, as long as one request may take; then what was waited for is done here."""
_OFFSET_DIGITS = 15  # of a hexadecimal key: 60 bits, an offset that every system takes
_BUSY = frozenset({errno.EACCES, errno.EAGAIN})


class Turns:
    """Thread-safe. One object for a folder and process: closing another's file would drop this one's locks."""

    def __init__(self, folder: str, *, stop: threading.Event | None = None, longest_s: float = LONGEST_S) -> None:
        """Take the folder, ``""`` for threads alone; once ``stop`` is set nothing waits any more."""
        self._folder = folder
        self._stop = stop if stop is not None else threading.Event()
        self._longest_s = longest_s
        self._change = threading.Condition()
        self._taken: set[str] = set()
        self._file: int | None = None
        self._locks = HAS_LOCKS and folder != ""

    @contextmanager
    def turn(self, key: str) -> Iterator[None]:
        """Wait for the turn at a key, and have it within the block.

        Args:
            key: hexadecimal digits.
        """
        self._among_threads(key)
        try:
            offset = int(key[:_OFFSET_DIGITS], 16)
            locked = self._among_processes(offset)
            try:
                yield
            finally:
                if locked:
                    self._unlock(offset)
        finally:
            with self._change:
                self._taken.discard(key)
                self._change.notify_all()

    def close(self) -> None:
        """Let go of the file."""
        with self._change:
            self._locks = False
            if self._file is not None and not self._taken:
                os.close(self._file)
                self._file = None

    def _among_threads(self, key: str) -> None:
        with self._change:
            while key in self._taken:
                self._change.wait()
            self._taken.add(key)

    def _among_processes(self, offset: int) -> bool:
        """Lock a byte once no other process has it; give whether it is locked."""
        began = time.monotonic()
        while True:
            locked = self._locked(offset)
            if locked is not None:
                return locked
            if time.monotonic() - began > self._longest_s or self._stop.wait(POLL_S):
                return False

    def _locked(self, offset: int) -> bool | None:
        """Try to lock a byte; None where another process has it, False where there are no locks."""
        file = self._opened()
        if file is None:
            return False
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
        except OSError as error:
            return None if error.errno in _BUSY else False
        return True

    def _unlock(self, offset: int) -> None:
        if self._file is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, offset)

    def _opened(self) -> int | None:
        with self._change:
            if not self._locks:
                return None
            if self._file is None:
                self._file = _file(os.path.join(self._folder, FILE))
                self._locks = self._file is not None
            return self._file


def _file(path: str) -> int | None:
    """Open the file of locks, made where it is missing; never through a symbolic link, and never truncated."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError:
        return None
