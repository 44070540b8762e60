"""Asks a model for one call of a benchmark: within its time, and not beyond the end of the run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from skillgate.llm.crew import Crew
from skillgate.llm.waiting import Place
from skillgate.model.exchange import Answer, Request

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from skillgate.model.exchange import Steps

T = TypeVar("T")

_TICK_S = 0.05  # in which the end of the run is heard


class LateError(Exception):
    """There was no answer in time. One that is on its way may still come, and is paid for."""


class EndedError(Exception):
    """The run ended before there was an answer."""


class _Asks(NamedTuple):
    """An asker, made of the function that it is."""

    ask: Callable[[Request], Answer]


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
    crew: Crew[None] = Crew(_Asks(ask))
    try:
        wanted = next(steps)
        while True:
            if not isinstance(wanted, Request):
                message = "requests come one by one here"
                raise TypeError(message)
            crew.send(Place(0, 0, wanted, None))
            wanted = steps.send(_answered(crew, until, stop))
    except StopIteration as ended:
        found: T = ended.value
        return found
    finally:
        crew.dismiss()
        steps.close()


def _answered(crew: Crew[None], until: float | None, stop: threading.Event) -> Answer:
    while (found := crew.take(_TICK_S)) is None:
        if stop.is_set():
            raise EndedError
        if until is not None and time.monotonic() >= until:
            raise LateError
    outcome = found[1]
    if outcome.error is not None:
        raise outcome.error
    answer: Answer = outcome.value
    return answer
