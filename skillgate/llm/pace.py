"""How many requests a provider is sent at once: fewer when it says that there are too many, then slowly more again."""

from __future__ import annotations

import math
from contextlib import contextmanager
from threading import Condition
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEADY = 8  # replies in a row after which one more is tried at once
_LOOK_S = 0.1  # how often a wait looks whether the run has ended


class Pace:
    """Lets so many through at once. Thread-safe.

    Attributes:
        limit: how many; infinite until a provider says that there are too many.
    """

    def __init__(self) -> None:
        """Begin without a limit: the driver has one of its own."""
        self.limit = math.inf
        self._active = 0
        self._replies = 0
        self._changed = Condition()

    @contextmanager
    def turn(self, check: Callable[[], None]) -> Iterator[None]:
        """Wait until there is room, then take it for the ``with``.

        Args:
            check: raises where the run has ended, so that nobody waits for it.
        """
        with self._changed:
            while self._active >= self.limit:
                check()
                self._changed.wait(_LOOK_S)
            self._active += 1
        try:
            yield
        finally:
            with self._changed:
                self._active -= 1
                self._changed.notify_all()

    def refused(self) -> None:
        """The provider said that it is asked too much: half as many from now on, one at least."""
        with self._changed:
            self.limit = max(1, min(self.limit, self._active) // 2)
            self._replies = 0

    def answered(self) -> None:
        """A reply came: after several in a row one more may be on its way."""
        with self._changed:
            self._replies += 1
            if self._replies >= STEADY:
                self._replies = 0
                self.limit += 1
                self._changed.notify_all()
