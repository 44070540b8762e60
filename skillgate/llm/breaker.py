"""Ends a run early: what fails for everybody need not fail fifty times.

One request that failed may be bad luck; several in a row, each after all its tries, are an outage. A refused key or an
unpaid account will not change while the run lasts. A model that is not there, or that the key may not use, stops only
the requests for that model.
"""

from __future__ import annotations

from threading import Condition
from time import monotonic
from typing import TYPE_CHECKING

from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from threading import Event

    from skillgate.llm.port import ProviderError

MOST_FAILURES = 5  # requests in a row, each after its last try
_FINAL = (Cause.CREDENTIALS, Cause.BILLING, Cause.MODEL)
_COUNTED = (Cause.SERVER, Cause.NETWORK, Cause.RATE, Cause.REPLY, Cause.REQUEST)  # the rest is about one request alone
_ONE_MODEL = (403, 404)  # of HTTP
_LOOK_S = 0.1  # how often a wait looks at an event from outside


class StoppedError(Exception):
    """The run has ended for this request; the text says why."""


class Breaker:
    """Watches how requests end. Thread-safe."""

    def __init__(self, most_failures: int = MOST_FAILURES, *, stop: Event | None = None) -> None:
        """Start closed.

        Args:
            most_failures: so many requests in a row end the run.
            stop: set from outside to end it, as at Ctrl-C.
        """
        self._most_failures = most_failures
        self._stop = stop
        self._changed = Condition()
        self._row = 0
        self._reason: str | None = None
        self._models: dict[str, str] = {}

    def reason(self, model: str) -> str | None:
        """Say why nothing is asked of a model any more, None where it is."""
        if self._stop is not None and self._stop.is_set():
            self.trip("the run was interrupted")
        with self._changed:
            return self._reason or self._models.get(model)

    def check(self, model: str) -> None:
        """Let a request pass.

        Raises:
            StoppedError: it must not be sent.
        """
        reason = self.reason(model)
        if reason is not None:
            raise StoppedError(reason)

    def trip(self, reason: str) -> None:
        """End the run, and wake whoever waits. The first reason stays."""
        with self._changed:
            self._reason = self._reason or reason
            self._changed.notify_all()

    def answered(self) -> None:
        """A request was answered, well or badly: the provider is there."""
        with self._changed:
            self._row = 0

    def failed(self, error: ProviderError, model: str) -> None:
        """A request has failed, after its last try."""
        if error.cause in _FINAL:
            if error.cause is Cause.MODEL or error.status in _ONE_MODEL:
                self._trip_model(str(error), model)
            else:
                self.trip(f"stopped: {error}")
        elif error.cause in _COUNTED:
            with self._changed:
                self._row += 1
                row = self._row
            if row >= self._most_failures:
                self.trip(f"stopped after {row} requests in a row that failed; the last: {error}")

    def pause(self, seconds: float, model: str) -> None:
        """Wait before another try.

        Raises:
            StoppedError: the run ended meanwhile; nothing is waited for any longer.
        """
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0:
            self.check(model)
            with self._changed:
                if self._reason is None and model not in self._models:
                    self._changed.wait(left if self._stop is None else min(left, _LOOK_S))
        self.check(model)

    def _trip_model(self, reason: str, model: str) -> None:
        with self._changed:
            self._models.setdefault(model, f"stopped for this model: {reason}")
            self._changed.notify_all()
