"""Runs layers against an asker with several requests on their way at once, and yields their results in input order.

Layers are generators, and all of their code runs on the caller's thread; only ``ask`` runs on others. Those end with
the process: an answer that never comes cannot keep it alive. Where many requests are answered together, as in batches,
:func:`drive` runs the same layers.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from skillgate.llm.flow import Outcome, Queued, RequestQueue, Sender, WorkerPool
from skillgate.llm.port import Progress
from skillgate.model.exchange import Answer, Cause, Status, Together

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from skillgate.llm.port import Asker, Watch
    from skillgate.model.exchange import Request, Steps

T = TypeVar("T")

OPEN = 4
"""How many layers may be open for each request in flight. One for each is what is needed as a rule; more where requests
wait for the prompt cache to be warm."""
AHEAD = 32  # how many layers, for each request in flight, may be done before the results of an earlier one can be taken
GRACE_S = 10.0  # how long an interrupted run waits for answers that are on their way, so that they are kept
_TICK_S = 0.5  # Windows notices Ctrl-C only between waits; and the time that passed is shown


class _Task:
    """A generator that was started: a layer, or a branch of one."""

    __slots__ = ("branch", "layer", "missing", "parent", "results", "steps")

    def __init__(
        self, steps: Generator[Request | Together, Any, Any], layer: int, parent: _Task | None, branch: int
    ) -> None:
        self.steps = steps
        self.layer = layer
        self.parent = parent
        self.branch = branch
        self.results: list[Any] = []  # of its own branches, while it waits for them
        self.missing = 0


def run(
    layers: Sequence[Callable[[], Steps[T]]],
    asker: Asker,
    *,
    in_flight: int = 8,
    watch: Watch | None = None,
    stop: threading.Event | None = None,
    grace_s: float = GRACE_S,
) -> Generator[T, None, None]:
    """Run layers and yield their results in their order, each as soon as all before it are done.

    A layer is started only when there is nothing left to send of those before it, so that memory does not grow with
    their number. Requests of earlier layers go first. Of requests with the same prefix one goes ahead: it warms the
    provider's prompt cache for the others.

    An exception in a layer ends the run where its result would have been taken: nothing more is sent, and what is on
    its way may take ``grace_s`` to be cached. So it is with Ctrl-C, and when the caller closes the iterator, which one
    that may be interrupted between two results should do (``contextlib.closing``); a second Ctrl-C waits for nothing.

    Args:
        layers: each makes its generator when it is its turn.
        asker: answers requests, on several threads at once.
        in_flight: the most requests on their way at once.
        watch: gets how far the run is, on the caller's thread.
        stop: ends the run once it is set: what was not sent by then is answered with ``Cause.STOPPED``. It is set here
            when the run is interrupted, for those who wait between tries.
        grace_s: seconds.
    """
    ends = stop if stop is not None else threading.Event()
    running: _Run[T] = _Run(layers, WorkerPool(asker), in_flight, watch, ends, warming=True)
    try:
        yield from running.results()
    finally:
        running.end(grace_s)


def drive(
    layers: Sequence[Callable[[], Steps[T]]], sender: Sender[Any], *, watch: Watch | None, stop: threading.Event
) -> Generator[T, None, None]:
    """Run layers as :func:`run` does, all of them open at once, with a sender that takes any number of requests.

    Whatever the layers want is sent before anything is waited for; none goes ahead to warm a prompt cache. A run that
    ends early waits for nothing. The sender must look at ``stop``, too, for what is with it.
    """
    running: _Run[T] = _Run(layers, sender, sys.maxsize, watch, stop, warming=False)
    try:
        yield from running.results()
    finally:
        running.end(0.0)


class _Run(Generic[T]):
    def __init__(
        self,
        layers: Sequence[Callable[[], Steps[T]]],
        sender: Sender[_Task],
        in_flight: int,
        watch: Watch | None,
        stop: threading.Event,
        *,
        warming: bool,
    ) -> None:
        self._layers = layers
        self._watch = watch
        self._stop = stop
        self._in_flight = in_flight
        self._sender = sender
        self._warming = warming
        self._queue: RequestQueue[_Task] = RequestQueue()
        self._open: dict[int, list[_Task]] = {}  # by layer, all tasks of it
        self._done: dict[int, Outcome] = {}
        self._started = 0
        self._taken = 0
        self._failed = len(layers)  # the first layer that failed; nothing is asked for any after it
        self._ready: deque[tuple[_Task, Outcome]] = deque()
        self._progress = Progress(layers=len(layers))
        self._began = time.monotonic()

    def results(self) -> Iterator[T]:
        for index in range(len(self._layers)):
            while index not in self._done:
                self._step()
            outcome = self._done.pop(index)
            self._taken = index + 1
            if outcome.error is not None:
                raise outcome.error
            yield outcome.value

    def end(self, grace_s: float) -> None:
        """Send nothing more, wait for what is on its way, let go of all."""
        if self._taken < len(self._layers) or self._sender.busy:
            self._stop.set()
        deadline = time.monotonic() + grace_s
        try:
            while self._sender.busy and (left := deadline - time.monotonic()) > 0:
                self._sender.take(min(left, _TICK_S))
        finally:
            self._sender.dismiss()
            for tasks in self._open.values():
                _close(tasks)

    def _step(self) -> None:
        """Send what can be sent, then go on with the next answer that comes."""
        self._fill()
        if self._sender.busy:
            self._receive(self._sender.take(_TICK_S))
        self._go_on()

    def _fill(self) -> None:
        while self._sender.busy < self._in_flight:
            place = self._queue.next(before=self._failed)
            if place is not None:
                self._send(place)
            elif not self._start():
                return
        if not self._queue.has_next(before=self._failed):
            self._start()  # so that there is something to send at once when an answer comes

    def _send(self, place: Queued[_Task]) -> None:
        if self._stop.is_set():
            reason = "the run was stopped before this was asked"
            self._answered(place, Answer(Status.ERROR, cause=Cause.STOPPED, reason=reason))
            self._go_on()
        else:
            self._sender.send(place)

    def _start(self) -> bool:
        """Start the next layer, unless there is none, or it must wait for others."""
        index = self._started
        crowded = len(self._open) >= OPEN * self._in_flight or index - self._taken >= AHEAD * self._in_flight
        if crowded or index >= min(self._failed, len(self._layers)):
            return False
        self._started += 1
        try:
            task = _Task(self._layers[index](), index, None, 0)
        except Exception as error:  # noqa: BLE001 - raised again where the layer's result is taken
            self._ended(index, Outcome(error=error))
            return True
        self._open[index] = [task]
        self._ready.append((task, Outcome()))
        self._go_on()
        return True

    def _receive(self, taken: tuple[Queued[_Task], Outcome] | None) -> None:
        if taken is None:
            self._report()
            return
        place, outcome = taken
        if outcome.error is None:
            self._answered(place, outcome.value)
        else:
            self._queue.answered(place.request, cached=False)
            self._ready.append((place.owner, outcome))

    def _answered(self, place: Queued[_Task], answer: Answer) -> None:
        self._queue.answered(place.request, cached=answer.cached)
        self._ready.append((place.owner, Outcome(answer)))
        before = self._progress
        paid = None if before.cost_usd is None or answer.cost_usd is None else before.cost_usd + answer.cost_usd
        self._report(
            calls=before.calls + 1,
            cached=before.cached + answer.cached,
            failed=before.failed + (answer.status is not Status.OK),
            cost_usd=paid,
        )

    def _go_on(self) -> None:
        """Go on with every generator that has what it waited for."""
        while self._ready:
            task, outcome = self._ready.popleft()
            if task.layer not in self._open:
                continue  # its layer has ended
            try:
                wanted = task.steps.send(outcome.value) if outcome.error is None else task.steps.throw(outcome.error)
            except StopIteration as ended:
                self._finished(task, ended.value)
            except Exception as error:  # noqa: BLE001 - raised again where the layer's result is taken
                self._ended(task.layer, Outcome(error=error))
            else:
                self._want(task, wanted)

    def _want(self, task: _Task, wanted: Request | Together) -> None:
        if not isinstance(wanted, Together):
            self._queue.put(wanted if self._warming else wanted._replace(prefix=""), task, task.layer)
            return
        task.missing = len(wanted.branches)
        task.results = [None] * task.missing
        if not wanted.branches:
            self._ready.append((task, Outcome(())))
        for number, steps in enumerate(wanted.branches):
            branch = _Task(steps, task.layer, task, number)
            self._open[task.layer].append(branch)
            self._ready.append((branch, Outcome()))

    def _finished(self, task: _Task, value: Any) -> None:  # noqa: ANN401 - whatever the generator gives
        parent = task.parent
        if parent is None:
            self._ended(task.layer, Outcome(value))
            return
        self._open[task.layer].remove(task)
        parent.results[task.branch] = value
        parent.missing -= 1
        if not parent.missing:
            self._ready.append((parent, Outcome(tuple(parent.results))))
            parent.results = []

    def _ended(self, layer: int, outcome: Outcome) -> None:
        self._done[layer] = outcome
        tasks = self._open.pop(layer, [])
        if outcome.error is not None:
            self._failed = min(self._failed, layer)
            _close(tasks)
        self._report(layers_done=self._progress.layers_done + 1)

    def _report(self, **changed: Any) -> None:  # noqa: ANN401 - fields of Progress
        elapsed_s = time.monotonic() - self._began
        self._progress = self._progress._replace(in_flight=self._sender.busy, elapsed_s=elapsed_s, **changed)
        if self._watch is not None:
            self._watch(self._progress)


def _close(tasks: Sequence[_Task]) -> None:
    """Close generators, branches before what waits for them."""
    for task in reversed(tasks):
        task.steps.close()
