"""Answers requests: from the run's journal, from the cache, else from a provider; within breaker, budget, retries.

Every request comes out with an :class:`~skillgate.model.exchange.Answer`, whatever the provider did, so that one that
fails leaves a hole in a report and no more.

:func:`run` runs layers against an asker with several requests on their way at once, and yields their results in input
order. Layers are generators, and all of their code runs on the caller's thread; only ``ask`` runs on others. Those end
with the process: an answer that never comes cannot keep it alive. Where many requests are answered together, as in
batches, :func:`drive` runs the same layers.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from skillgate.llm.flow import (
    CircuitBreaker,
    Outcome,
    Queued,
    RateLimiter,
    RequestQueue,
    RetryPolicy,
    Sender,
    StoppedError,
    WorkerPool,
    with_retries,
)
from skillgate.llm.port import UNREADABLE, Progress, ProviderError, classify, outgrown
from skillgate.model.exchange import Answer, Cause, Status, Together, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from skillgate.llm.answers import Answers
    from skillgate.llm.journal import Journal
    from skillgate.llm.port import Asker, Provider, Watch
    from skillgate.llm.prices import Budget, Reservation
    from skillgate.llm.providers.replay import Recorder
    from skillgate.model.exchange import Reply, Request, Steps

TIMEOUT_S = 600.0  # of one try, as the SDK's own default: a long answer is given in one piece


class Records:
    """Where a run's answers are stored: its journal, the cache between runs, a recording; each may be None."""

    def __init__(
        self,
        provider: Provider,
        budget: Budget,
        answers: Answers | None,
        journal: Journal | None,
        recorder: Recorder | None,
    ) -> None:
        """Take them; what earlier processes of the run spent is charged to the budget."""
        self.answers = answers
        self.journal = journal
        self._provider = provider
        self._recorder = recorder
        if journal is not None:
            journal.charge(budget)

    def resumed(self, request: Request) -> Answer | None:
        """Return what this run was answered in an earlier process, and cache it where that could not any more."""
        answer = None if self.journal is None else self.journal.get(request, self._provider)
        if answer is not None and answer.reply is not None:
            self.cache(request, answer.reply, answer.status)
        return answer

    def reused(self, request: Request, cached: Answer | None) -> Answer | None:
        """Note that what was cached is used, since it may have gone when this run is resumed."""
        if cached is not None and cached.reply is not None and self.journal is not None:
            self.journal.reused(request, self._provider, cached.reply, cached.first_seconds)
        return cached

    def cache(self, request: Request, reply: Reply, status: Status, seconds: float | None = None) -> None:
        """Cache every reply; else the next run would repeat the bad ones, and only those."""
        if self.answers is None:
            return
        self.answers.put(request, self._provider, reply, seconds=seconds)
        if request.instead_of is not None and status is Status.OK:
            self.answers.put(request.instead_of, self._provider, reply, seconds=seconds)

    def record(self, request: Request, answer: Answer, provider: Provider) -> None:
        """Write an answer down in the recording."""
        if self._recorder is not None:
            self._recorder.record(request, answer, provider)


class PortAsker:
    """Asks one provider. Thread-safe. ``asker.breaker.trip("…")`` ends the run early."""

    def __init__(
        self,
        provider: Provider,
        *,
        budget: Budget,
        answers: Answers | None = None,
        journal: Journal | None = None,
        retrying: RetryPolicy = RetryPolicy(),  # noqa: B008 - it is a value
        breaker: CircuitBreaker | None = None,
        recorder: Recorder | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Take whom to ask and what to keep to; each try has ``timeout_s``.

        The journal may have begun in an earlier process. A breaker with an event of the driver's ends waits at Ctrl-C.
        """
        self.breaker = breaker if breaker is not None else CircuitBreaker()
        self.provider = provider
        self.budget = budget
        self.records = Records(provider, budget, answers, journal, recorder)
        self._policy = retrying
        self.timeout_s = timeout_s
        self.limiter = RateLimiter()

    def ask(self, request: Request) -> Answer:
        """Answer a request; blocks until there is an outcome."""
        records = self.records
        answers = records.answers
        with nullcontext() if answers is None else answers.exclusive(request, self.provider) as cached:
            answer = records.resumed(request) or records.reused(request, cached) or self._send(request)
        records.record(request, answer, self.provider)
        return answer

    def _send(self, request: Request) -> Answer:
        stopped = self.breaker.reason(*_whom(request))
        if stopped is not None:
            return Answer(Status.ERROR, cause=Cause.STOPPED, reason=stopped)
        reservation = self.budget.reserve(request)
        if reservation is None:
            return self._refused(request)
        tries = _Tries(self, request, reservation)
        try:
            reply = with_retries(tries.send, self._policy, tries.pause)
            return self._answer(request, reply, reservation, tries)
        except ProviderError as error:
            self.breaker.failed(error, *_whom(request), session="runner" in request.body)
            reason = f"{error} (after {tries.count})" if tries.sent > 1 else str(error)
            answer = Answer(Status.ERROR, cause=error.cause, reason=reason)
        except StoppedError as error:
            answer = Answer(Status.ERROR, cause=Cause.STOPPED, reason=str(error))
        except _SpentError:
            answer = self._refused(request)
            answer = answer._replace(reason=f"{answer.reason} (after {tries.count}; the last: {tries.failure})")
        finally:  # ends a reservation that no reply has ended
            if not tries.lost:
                self.budget.release(reservation, sent=tries.sent > 0)
            # What a lost answer cost is not known; one before the last try was counted when it was sent again.
            cost = self.budget.settle(reservation, None, reservation.model) if tries.has_lost else 0.0
        return answer._replace(sent=tries.sent, cost_usd=cost)

    def _refused(self, request: Request) -> Answer:
        """Say why the budget allowed no request."""
        stopped = self.breaker.reason(*_whom(request))  # while it waited
        if stopped is not None:
            return Answer(Status.ERROR, cause=Cause.STOPPED, reason=stopped)
        return Answer(Status.ERROR, cause=Cause.BUDGET, reason=self.budget.reason or "the budget is used up")

    def _answer(self, request: Request, reply: Reply, reservation: Reservation, tries: _Tries) -> Answer:
        """Count a reply, which was paid for whatever it is worth, and store it."""
        with tries.reading():
            requests = requests_of(request, reply)
            counted = self.budget.counted(reservation, reply.tokens, reply.model, requests=requests)
            cost = self.budget.settle(reservation, reply.tokens, reply.model, requests=requests)
            result = classify(request, reply)
        if self.records.journal is not None:
            self.records.journal.got(request, self.provider, reply, cost, counted)
        self.breaker.answered(request.subject)
        self.records.cache(request, reply, result.status, tries.seconds)
        tokens = reply.tokens or Tokens()
        return result.answer(reply)._replace(sent=tries.sent, cost_usd=cost, tokens=tokens, seconds=tries.seconds)


class _SpentError(Exception):
    """The budget lets no further try through."""


class _Tries:
    """The tries of one request."""

    def __init__(self, asker: PortAsker, request: Request, reservation: Reservation) -> None:
        self.sent = 0
        self.lost = self.has_lost = False  # whether the last one, or any, may have been answered and paid for in vain
        self.failure = ""  # of the last one that failed
        self.seconds = 0.0  # of the last one
        self._asker = asker
        self._request = request
        self._reservation = reservation

    @property
    def count(self) -> str:
        return f"{self.sent} {'try' if self.sent == 1 else 'tries'}"

    def send(self) -> Reply:
        self._check()
        if self.sent:
            lost, self.lost = self.lost, False
            if not self._asker.budget.reserve_retry(self._reservation, lost=lost):
                raise _SpentError
            self._check()  # it may have waited
        with self._asker.limiter.slot(self._check), self.reading():
            self.sent += 1
            journal = self._asker.records.journal
            if journal is not None:
                journal.sent(self._request, self._asker.provider, self._reservation.usd)
            began = time.monotonic()
            try:
                reply = self._asker.provider.send(self._request, timeout_s=self._asker.timeout_s)
            except ProviderError as error:
                if error.cause is Cause.RATE:
                    self._asker.limiter.refused()
                if error.cause is not Cause.TOO_LONG:
                    raise
                reply = outgrown(self._request, error)
            self.seconds = time.monotonic() - began
            self._asker.limiter.answered()
            return reply

    def pause(self, seconds: float) -> None:
        self._asker.breaker.pause(seconds, *_whom(self._request))

    def _check(self) -> None:
        self._asker.breaker.check(*_whom(self._request))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Note what becomes of a try, and take a reply that nothing can be made of for a lost one."""
        try:
            yield
        except ProviderError as error:
            self._note(error)
            raise
        except UNREADABLE as error:
            # Without the error's own words: it may quote what was sent.
            failure = ProviderError(Cause.REPLY, f"the reply cannot be read ({type(error).__name__})")
            self._note(failure)
            raise failure from None

    def _note(self, error: ProviderError) -> None:
        self.failure = str(error)
        self.lost = error.lost
        self.has_lost = self.has_lost or error.lost
        journal = self._asker.records.journal
        if journal is not None:
            cost = None if error.lost and not self._asker.budget.free else 0.0
            journal.lost(self._request, self._asker.provider, cost)


def requests_of(request: Request, reply: Reply) -> int:
    """Count the requests that a reply took: one, or those of a session, each of which ends with calls or the session.

    Calls of one request whose results came one by one look like several: then there are a few more.
    """
    if "runner" not in request.body:
        return 1
    results = (block.get("type") == "tool_result" for block in reply.content)
    return 1 + sum(1 for is_result, is_next in pairwise(results) if is_result and not is_next)


def _whom(request: Request) -> tuple[str, str]:
    """Return the model that is asked and what it is asked about, as the breaker knows both."""
    return str(request.body.get("model", "")), request.subject


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
        """Send what can be sent, then process the next answer."""
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
        """Resume every generator that has what it waited for."""
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
