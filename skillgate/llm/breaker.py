"""Ends a run early: what fails for everybody need not fail fifty times.

One request that failed may be bad luck; several in a row, each after all its tries, are an outage. A refused key or an
unpaid account will not change while the run lasts. A model that is not there, or that the key may not use, stops only
the requests for that model.

What the text of a skill can bring about ends no other skill's: a request that is refused as such, an answer that cannot
be read, a whole session that fails. Several of one skill in a row stop the requests about that skill, and count once
for the run, however many they are.
"""

from __future__ import annotations

from collections import Counter
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
_OF_SUBJECT = (Cause.REQUEST, Cause.REPLY)  # of the counted: what the text of one skill can bring about
_ONE_MODEL = (403, 404)  # of HTTP
_LOOK_S = 0.1  # how often a wait looks at an event from outside


class StoppedError(Exception):
    """The run has ended for this request; the text says why."""


class Breaker:
    """Watches how requests end. Thread-safe."""

    def __init__(self, most_failures: int = MOST_FAILURES, *, stop: Event | None = None) -> None:
        """Start closed.

        Args:
            most_failures: so many requests in a row end the run, or one skill's part of it.
            stop: set from outside to end it, as at Ctrl-C.
        """
        self._most_failures = most_failures
        self._stop = stop
        self._changed = Condition()
        self._row = 0
        self._rows: Counter[str] = Counter()  # by subject
        self._failing: set[str] = set()  # the subjects that failed since something was answered
        self._reason: str | None = None
        self._models: dict[str, str] = {}
        self._subjects: dict[str, str] = {}

    def reason(self, model: str, subject: str = "") -> str | None:
        """Say why nothing is asked of a model about a subject any more, None where it is."""
        if self._stop is not None and self._stop.is_set():
            self.trip("the run was interrupted")
        with self._changed:
            return self._ended(model, subject)

    def check(self, model: str, subject: str = "") -> None:
        """Let a request pass.

        Raises:
            StoppedError: it must not be sent.
        """
        reason = self.reason(model, subject)
        if reason is not None:
            raise StoppedError(reason)

    def trip(self, reason: str) -> None:
        """End the run, and wake whoever waits. The first reason stays."""
        with self._changed:
            self._reason = self._reason or reason
            self._changed.notify_all()

    def answered(self, subject: str = "") -> None:
        """A request about a subject was answered, well or badly: the provider is there."""
        with self._changed:
            self._row = 0
            self._failing.clear()
            self._rows.pop(subject, None)

    def failed(self, error: ProviderError, model: str, subject: str = "", *, session: bool = False) -> None:
        """A request has failed, after its last try.

        Args:
            error: of that try.
            model: that was asked.
            subject: what the request was about.
            session: whether it was a whole session, which the text of its subject can make fail in any way.
        """
        if error.cause in _FINAL:
            if error.cause is Cause.MODEL or error.status in _ONE_MODEL:
                self._trip_model(str(error), model)
            else:
                self.trip(f"stopped: {error}")
        elif error.cause in _COUNTED:
            self._count(error, subject, of_subject=session or error.cause in _OF_SUBJECT)

    def pause(self, seconds: float, model: str, subject: str = "") -> None:
        """Wait before another try.

        Raises:
            StoppedError: the run ended meanwhile; nothing is waited for any longer.
        """
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0:
            self.check(model, subject)
            with self._changed:
                if self._ended(model, subject) is None:
                    self._changed.wait(left if self._stop is None else min(left, _LOOK_S))
        self.check(model, subject)

    def _ended(self, model: str, subject: str) -> str | None:
        return self._reason or self._models.get(model) or self._subjects.get(subject)

    def _count(self, error: ProviderError, subject: str, *, of_subject: bool) -> None:
        """Count a failure, for the run or for its subject, and end what has failed too often in a row."""
        with self._changed:
            if of_subject:
                self._rows[subject] += 1
                self._failing.add(subject)
            else:
                self._row += 1
            own, row = self._rows[subject], self._row + len(self._failing)
        if of_subject and own >= self._most_failures:
            self._trip_subject(f"stopped for this skill after {own} of its requests in a row failed", error, subject)
        if row >= self._most_failures:
            self.trip(f"stopped after {row} requests in a row that failed; the last: {error}")

    def _trip_subject(self, reason: str, error: ProviderError, subject: str) -> None:
        with self._changed:
            self._subjects.setdefault(subject, f"{reason}; the last: {error}")
            self._changed.notify_all()

    def _trip_model(self, reason: str, model: str) -> None:
        with self._changed:
            self._models.setdefault(model, f"stopped for this model: {reason}")
            self._changed.notify_all()
