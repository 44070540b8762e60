"""Answers requests by message batches: submits what is wanted, looks how it is, and takes what came of it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Generic, TypeVar

from skillgate.llm.answers import identity
from skillgate.llm.batch_desk import Desk, Wish
from skillgate.llm.batch_post import MOST_BYTES, MOST_REQUESTS, PATIENT, TIMEOUT_S, Out, Polling, Post
from skillgate.llm.breaker import Breaker, StoppedError
from skillgate.llm.port import ProviderError
from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.llm.answers import Answers
    from skillgate.llm.batch_budget import BatchBudget
    from skillgate.llm.batch_journal import BatchJournal
    from skillgate.llm.batch_post import BatchProvider
    from skillgate.llm.batch_shapes import Line
    from skillgate.llm.crew import Outcome
    from skillgate.llm.journal import Journal
    from skillgate.llm.recording import Recorder
    from skillgate.llm.retrying import Policy
    from skillgate.llm.waiting import Place

Owner = TypeVar("Owner")

RESUBMITTED = 2
"""How often a request is submitted again that expired or failed for a reason that may pass."""
_FINAL = (Cause.CREDENTIALS, Cause.BILLING, Cause.MODEL)  # what will not change while a run lasts


class BatchAsker(Generic[Owner]):
    """Answers requests by batches: from the run's journal, from what was kept, else from a provider; within a budget.

    For one thread; another object for another run.

    Attributes:
        busy: how many requests are with it.
        breaker: which says whether the run ended early.
    """

    def __init__(
        self,
        provider: BatchProvider,
        *,
        budget: BatchBudget,
        answers: Answers | None = None,
        journal: Journal | None = None,
        batches: BatchJournal | None = None,
        retrying: Policy = PATIENT,
        recorder: Recorder | None = None,
        polling: Polling = Polling(),  # noqa: B008 - it is a value
        most_requests: int = MOST_REQUESTS,
        most_bytes: int = MOST_BYTES,
        timeout_s: float = TIMEOUT_S,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Take whom to ask and what to keep to.

        Args:
            provider: takes batches.
            budget: is asked before something is submitted.
            answers: those of earlier runs, None for none.
            journal: of this run's replies, None for none.
            batches: of this run's batches, None where it need not be gone on with.
            retrying: how long to keep trying each call.
            recorder: writes down what was answered, None for nothing.
            polling: how often a batch is looked at.
            most_requests: in a batch.
            most_bytes: of a batch, about; a request that is larger goes alone.
            timeout_s: of one call.
            now: a clock that gives seconds since 1970.
        """
        self.busy = 0
        self.breaker = Breaker()
        self._provider = provider
        self._budget = budget
        self._desk: Desk[Owner] = Desk(provider, budget, answers, journal, recorder)
        self._polling = polling
        self._most_requests = most_requests
        self._most_bytes = most_bytes
        self._post = Post(provider, batches, policy=retrying, now=now, timeout_s=timeout_s)
        self._stop = threading.Event()
        self._recovered = False
        self._wishes: dict[str, Wish[Owner]] = {}
        self._queue: list[Wish[Owner]] = []
        self._out: dict[str, Out[Wish[Owner]]] = {}

    @property
    def repeated(self) -> int:
        """How many requests were submitted again though they may have been out: their batch could not be found."""
        return self._post.repeated

    @property
    def notes(self) -> tuple[str, ...]:
        """What was strange about results, for people; no more than a hundred."""
        return self._post.notes

    def begin(self, stop: threading.Event) -> None:
        """Take what ends the run."""
        self._stop = self._post.stop = stop

    def send(self, place: Place[Owner]) -> None:
        """Have a request answered. One that is out already is not submitted twice."""
        self.busy += 1
        key = identity(place.request, self._provider.kept_as)
        wish = self._wishes.get(key)
        if wish is not None:
            wish.places.append(place)
            return
        answer = self._desk.kept(place.request)
        if answer is not None:
            self._desk.give(place, answer)
            return
        self._wishes[key] = Wish(key, place)
        self._queue.append(self._wishes[key])

    def take(self, timeout_s: float) -> tuple[Place[Owner], Outcome] | None:
        """Wait for an answer; None where none comes in time. What was sent is submitted here."""
        if not self._desk.ready:
            self._step(timeout_s)
            if not self._desk.ready:
                return None
        self.busy -= 1
        return self._desk.ready.popleft()

    def dismiss(self) -> None:
        """Let go of everything; batches that are out stay out."""
        self._queue.clear()
        self._wishes.clear()
        self._out.clear()

    def _step(self, timeout_s: float) -> None:
        try:
            self._post.pause(0.0)
            if not self._recovered and self.breaker.reason("") is None:
                self._post.recover()
                self._recovered = True
            self._submit()
            self._wait(timeout_s)
        except (StoppedError, ProviderError) as error:
            self._end(error if isinstance(error, ProviderError) else ProviderError(Cause.STOPPED, str(error)))

    def _end(self, error: ProviderError) -> None:
        """Answer everything with why there is no more to come; what is wanted later is answered likewise."""
        self.breaker.trip(f"stopped: {error}" if error.cause is not Cause.STOPPED else str(error))
        for batch, out in self._out.items():
            why = f"{error}; the batch {batch} is out, and the same run goes on with it"
            for wish in out.wishes.values():
                wish.has_lost = True  # it will be paid for, whoever takes the answer
                self._fail(wish, ProviderError(error.cause, why, status=error.status))
        self._out.clear()
        queue, self._queue = self._queue, []
        for wish in queue:
            self._fail(wish, error)

    def _submit(self) -> None:
        """Submit what is wanted, in as few batches as the bounds allow."""
        queue, self._queue = self._queue, []
        chunk: list[Wish[Owner]] = []
        size = 0
        for number, wish in enumerate(queue):
            if not self._is_let(wish):
                continue
            more = self._provider.size(wish.request)
            if chunk and (len(chunk) >= self._most_requests or size + more > self._most_bytes):
                self._create(chunk, queue[number:])
                chunk, size = [], 0
            chunk.append(wish)
            size += more
        if chunk:
            self._create(chunk, [])

    def _is_let(self, wish: Wish[Owner]) -> bool:
        """Say whether a wish is to be submitted now: not if it is out already, or may not be, or must wait."""
        batch = self._post.held.pop(wish.key, None)
        if batch is not None:
            wish.reservation = self._budget.hold(wish.request)
            wish.sent = 1
            self._out.setdefault(batch, Out(self._polling, time.monotonic(), old=True)).wishes[wish.key] = wish
            return False
        stopped = self.breaker.reason(wish.model)
        if stopped is not None:
            self._fail(wish, ProviderError(Cause.STOPPED, stopped))
            return False
        if wish.reservation is None:
            wish.reservation = self._budget.reserve(wish.request)
        if wish.reservation is None and self._budget.later:
            self._queue.append(wish)
        elif wish.reservation is None:
            self._fail(wish, ProviderError(Cause.BUDGET, self._budget.reason or "the budget is used up"))
        return wish.reservation is not None

    def _create(self, chunk: list[Wish[Owner]], rest: list[Wish[Owner]]) -> None:
        """Submit a batch; where that fails, all that waits for one has failed."""
        try:
            batch = self._post.submit([(wish.key, wish.request) for wish in chunk])
        except (ProviderError, StoppedError) as error:
            self._queue = [*chunk, *rest, *self._queue]
            if isinstance(error, ProviderError) and error.lost:
                for wish in chunk:
                    wish.has_lost = True
                    wish.sent += 1
            raise
        out: Out[Wish[Owner]] = Out(self._polling, time.monotonic(), old=False)
        for wish in chunk:
            wish.sent += 1
            out.wishes[wish.key] = wish
        self._out[batch] = out

    def _wait(self, timeout_s: float) -> None:
        """Look at the batches whose time has come; where none has, wait for the next."""
        if self._desk.ready or not self._out:
            return
        soonest = min(out.due for out in self._out.values())
        left = soonest - time.monotonic()
        if left > 0:
            self._post.pause(min(left, timeout_s))
        now = time.monotonic()
        for batch in [batch for batch, out in self._out.items() if out.due <= now]:
            self._look(batch, self._out[batch])

    def _look(self, batch: str, out: Out[Wish[Owner]]) -> None:
        try:
            state = self._post.look(batch)
        except ProviderError as error:
            if not self._post.is_gone(batch, error, ended=False):
                raise
            self._gone(batch)
            return
        now = time.monotonic()
        if state.ended:
            self._collect(batch, out)
        elif now >= out.last:
            raise ProviderError(Cause.SERVER, f"the batch {batch} did not end in time")
        else:
            out.looked(self._polling, now, state.retry_after_s or 0.0)

    def _collect(self, batch: str, out: Out[Wish[Owner]]) -> None:
        """Take the results of a batch that has ended."""
        strange = 0

        def take(line: Line) -> None:
            nonlocal strange
            wish = out.wishes.pop(line.key, None)
            if wish is not None:
                self._result(wish, line)
            elif not self._post.holds(batch, line.key):
                strange += 1

        try:
            self._post.read(batch, take)
        except ProviderError as error:
            if not self._post.is_gone(batch, error, ended=True):
                raise
            self._gone(batch)
            return
        finally:
            if strange:
                self._post.note(
                    f"the batch {batch} gave {strange} results that nobody asked for or that cannot be read"
                )
        del self._out[batch]
        for wish in out.wishes.values():
            self._again(wish, ProviderError(Cause.REPLY, f"the results of the batch {batch} leave it out", again=True))

    def _gone(self, batch: str) -> None:
        """Submit again what a batch held that is not there any more."""
        self._post.note(f"the batch {batch} or its results are gone; what it held is submitted again")
        for wish in self._out.pop(batch).wishes.values():
            self._again(wish, ProviderError(Cause.REPLY, f"the results of the batch {batch} are gone", again=True))

    def _result(self, wish: Wish[Owner], line: Line) -> None:
        try:
            reply = self._desk.read(wish, line.result)
        except ProviderError as error:
            return self._again(wish, error)
        self._wishes.pop(wish.key, None)
        return self._desk.answered(wish, reply)

    def _again(self, wish: Wish[Owner], error: ProviderError) -> None:
        """Submit a request again that got no reply, or say why there is none."""
        self._desk.lost(wish, error)
        if error.again and wish.sent <= RESUBMITTED and wish.reservation is not None:
            if self._budget.again(wish.reservation, lost=error.lost):
                self._queue.append(wish)
                return
            error = ProviderError(Cause.BUDGET, f"{self._budget.reason or 'no budget is left'}; the last try: {error}")
        elif error.cause in _FINAL:
            self.breaker.failed(error, wish.model)
        self._fail(wish, error)

    def _fail(self, wish: Wish[Owner], error: ProviderError) -> None:
        self._wishes.pop(wish.key, None)
        self._desk.fail(wish, error)
