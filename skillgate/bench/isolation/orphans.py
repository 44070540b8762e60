"""Which call an inherited process belongs to: what a program left behind in a session of its own, its starter gone."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillgate.bench.isolation.family import now
from skillgate.bench.isolation.prctl import adopts_orphans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TICK_S = 0.02  # starts are told in hundredths of a second


class Orphans:
    """Knows the calls that run. Thread-safe.

    Nothing says who started an orphan. It is of a call that ran when it was started, so it goes with the last of these.
    """

    def __init__(self) -> None:
        self._adopts = adopts_orphans()
        self._first: float | None = None
        self._running: dict[int, float] = {}
        self._made = 0
        self._lock = threading.Lock()

    @contextmanager
    def call(self) -> Iterator[Callable[[float], bool] | None]:
        """Count a call as running; give what tells its orphans by their start, None where none are inherited."""
        if not self._adopts:
            yield None
            return
        with self._lock:
            number, self._made = self._made, self._made + 1
            began = self._running[number] = now()
            if self._first is None:
                self._first = began
        try:
            yield lambda started: self._owns(number, started)
        finally:
            with self._lock:
                del self._running[number]

    def _owns(self, number: int, started: float) -> bool:
        with self._lock:
            if self._first is None or started < self._first - _TICK_S:
                return False  # it is none of ours
            return all(began > started + _TICK_S for other, began in self._running.items() if other != number)
