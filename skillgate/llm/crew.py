"""Threads that ask: the only place where a model is waited for one request at a time.

They are daemons, which end with the process: an answer that never comes cannot keep it alive.
"""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from skillgate.llm.port import Asker
    from skillgate.llm.waiting import Place

Owner = TypeVar("Owner")


class Outcome(NamedTuple):
    """How something that was waited for goes on: with a value, or with an exception."""

    value: Any = None
    error: BaseException | None = None


class Sender(Protocol[Owner]):
    """Whoever has requests answered, many at once: threads, or batches. For one caller's thread.

    Attributes:
        busy: how many requests are with it.
    """

    busy: int

    def send(self, place: Place[Owner]) -> None:
        """Have a request answered; returns at once."""

    def take(self, timeout_s: float) -> tuple[Place[Owner], Outcome] | None:
        """Wait for an answer; None where none comes in time."""

    def dismiss(self) -> None:
        """Let go of everything: nothing more is sent or taken."""


class Crew(Generic[Owner]):
    """Threads that ask, made as they are needed. For one caller's thread.

    Attributes:
        busy: how many requests are with them.
    """

    def __init__(self, asker: Asker) -> None:
        """Take whom they ask."""
        self.busy = 0
        self._asker = asker
        self._threads = 0
        self._asked: queue.SimpleQueue[Place[Owner] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[Place[Owner], Outcome]] = queue.SimpleQueue()

    def send(self, place: Place[Owner]) -> None:
        """Have a request answered."""
        self.busy += 1
        if self._threads < self.busy:
            self._threads += 1
            threading.Thread(target=self._work, name=f"ask-{self._threads}", daemon=True).start()
        self._asked.put(place)

    def take(self, timeout_s: float) -> tuple[Place[Owner], Outcome] | None:
        """Wait for an answer; None where none comes in time."""
        try:
            found = self._answers.get(timeout=timeout_s)
        except queue.Empty:
            return None
        self.busy -= 1
        return found

    def dismiss(self) -> None:
        """Let every thread end after what it is doing."""
        for _ in range(self._threads):
            self._asked.put(None)

    def _work(self) -> None:
        while (place := self._asked.get()) is not None:
            try:
                outcome = Outcome(self._asker.ask(place.request))
            except BaseException as error:  # noqa: BLE001 - raised again on the caller's thread
                outcome = Outcome(error=error)
            self._answers.put((place, outcome))
