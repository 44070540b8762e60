"""Asks a model for one call of a benchmark: within its time, and not beyond the end of the run."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, TypeVar

from skillgate.model.exchange import Answer, Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.model.exchange import Steps

T = TypeVar("T")

_TICK_S = 0.05  # in which the end of the run is heard


class LateError(Exception):
    """There was no answer in time. One that is on its way may still come, and is paid for."""


class EndedError(Exception):
    """The run ended before there was an answer."""


def carried_out(
    steps: Steps[T], ask: Callable[[Request], Answer], *, timeout_s: float | None, stop: threading.Event
) -> T:
    """Run what asks a model, one request after the other, to its end.

    Args:
        steps: yields requests, never several together.
        ask: answers one; called on another thread, so that one that takes for ever holds nobody up.
        timeout_s: for all of it; None for no limit.
        stop: ends it.

    Raises:
        LateError: the time is over.
        EndedError: ``stop`` is set.
    """
    until = None if timeout_s is None else time.monotonic() + timeout_s
    try:
        wanted = next(steps)
        while True:
            if not isinstance(wanted, Request):
                message = "requests come one by one here"
                raise TypeError(message)
            wanted = steps.send(_answered(wanted, ask, until, stop))
    except StopIteration as ended:
        found: T = ended.value
        return found
    finally:
        steps.close()


def _answered(request: Request, ask: Callable[[Request], Answer], until: float | None, stop: threading.Event) -> Answer:
    found: list[Answer | BaseException] = []
    there = threading.Event()

    def work() -> None:
        try:
            found.append(ask(request))
        except BaseException as error:  # noqa: BLE001 - raised again on the caller's thread
            found.append(error)
        there.set()

    threading.Thread(target=work, name="ask", daemon=True).start()
    while not there.wait(_TICK_S):
        if stop.is_set():
            raise EndedError
        if until is not None and time.monotonic() >= until:
            raise LateError
    (answer,) = found
    if isinstance(answer, BaseException):
        raise answer
    return answer
