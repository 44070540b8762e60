"""Answers requests by message batches: half the price, for runs that may take hours.

All layers are open at once. Their requests go out together. When a batch has ended its answers go to the layers, which
then make their next requests. A layer asks questions that wait for one another; the longest such chain is the number of
rounds of a run. A batch that is out when a run ends early is left alone: the same run resumes it.

Every call is repeated while that can help, within bounds; it raises ProviderError, or StoppedError once the run ends.
What was submitted is on disk first. If a connection was lost or the process ended while a batch was being submitted,
the batch is looked for among the provider's latest before it is submitted again. The provider does not say which
requests a batch holds, only how many. A match has as many requests, was made since then, and is unknown to this run.
The keys of its results show whether it is the right one.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from skillgate.llm.answers import identity
from skillgate.llm.asker import Records, drive
from skillgate.llm.flow import CircuitBreaker, Outcome, RetryPolicy, StoppedError, with_retries
from skillgate.llm.journal import Intent
from skillgate.llm.port import UNREADABLE, ProviderError, classify, outgrown
from skillgate.model.exchange import Answer, Cause, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from skillgate.llm.answers import Answers
    from skillgate.llm.flow import Queued
    from skillgate.llm.journal import BatchJournal, Journal
    from skillgate.llm.port import Watch
    from skillgate.llm.prices import BatchBudget, Reservation
    from skillgate.llm.providers.batch import Batches, Line, State
    from skillgate.llm.providers.replay import Recorder
    from skillgate.model.exchange import Reply, Request, Steps

T = TypeVar("T")

PATIENT = RetryPolicy(tries=10, first_wait_s=2.0, longest_wait_s=300.0, deadline_s=1_800.0)
"""Who waits for hours need not give up after three minutes."""
TIMEOUT_S = 600.0  # of one call: a batch of 64 MB is sent in it
_CLOCKS_S = 300.0  # that the provider's clock may be behind ours
_LOOK_S = 60.0  # of one look
_TICK_S = 0.5  # Windows notices Ctrl-C only between waits
_GONE = (404, 410)
_MOST_NOTES = 100


class BatchClient:
    """Submits batches and reads them. For one thread."""

    def __init__(
        self,
        provider: Batches,
        journal: BatchJournal | None,
        *,
        policy: RetryPolicy = PATIENT,
        now: Callable[[], float],
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Take whom to send to, and where to write down what is out; None: a run that ends early cannot be resumed.

        ``policy`` and ``timeout_s`` are of one call; ``now`` gives seconds since 1970.
        """
        self.held: dict[str, str] = {}  # by a request's key, the batch of an earlier process of this run that holds it
        self.repeated = 0  # requests submitted again though they may have been out: their batch could not be found
        self.stop = threading.Event()  # ends every wait
        self.notes: tuple[str, ...] = ()  # what was strange, for people
        self._provider = provider
        self._journal = journal
        self._policy = policy
        self._now = now
        self._timeout_s = timeout_s
        self._ids: set[str] = set()
        self._keys: dict[str, frozenset[str]] = {}

    def recover(self) -> None:
        """Find out which batches of earlier processes are out; where one is not found its requests are repeated."""
        for intent in self._journal.intents if self._journal is not None else ():
            batch: str | None = intent.batch
            if not batch:
                batch = self._with_retries(partial(self._find, intent))
                if batch is None:
                    self.repeated += len(intent.keys)
                self._settle(intent, batch)
            if batch:
                self._keys[batch] = frozenset(intent.keys)
                self.held.update(dict.fromkeys(intent.keys, batch))

    def submit(self, requests: Sequence[tuple[str, Request]]) -> str:
        """Submit a batch and return its id.

        Raises ProviderError where it was not taken, or (``lost``) it is not known whether it was.
        """
        keys = tuple(key for key, _ in requests)
        intent = self._intended(keys)
        lost = False

        def once() -> str:
            nonlocal lost
            batch = self._find(intent) if lost else None
            if lost and batch is None:
                self.repeated += len(keys)
            lost = False
            try:
                return batch or self._provider.create(requests, timeout_s=self._timeout_s).batch
            except ProviderError as error:
                lost = error.lost
                raise

        try:
            batch = self._with_retries(once)
        except (ProviderError, StoppedError):
            if not lost:
                self._settle(intent, None)
            raise
        self._ids.add(batch)
        self._keys[batch] = frozenset(keys)
        self._settle(intent, batch)
        return batch

    def look(self, batch: str) -> State:
        """Look how a batch is."""
        return self._with_retries(lambda: self._provider.retrieve(batch, timeout_s=min(_LOOK_S, self._timeout_s)))

    def read(self, batch: str, take: Callable[[Line], None]) -> None:
        """Read all results of a batch; after a connection was lost ``take`` gets those before it once more."""

        def once() -> None:
            for line in self._provider.results(batch):
                take(line)

        self._with_retries(once)

    def note(self, text: str) -> None:
        """Note what was strange, unless very much was."""
        if len(self.notes) < _MOST_NOTES:
            self.notes = (*self.notes, text)

    def holds(self, batch: str, key: str) -> bool:
        """Return whether this run submitted a request in a batch."""
        return key in self._keys.get(batch, ())

    def is_gone(self, batch: str, error: ProviderError, *, ended: bool) -> bool:
        """Return whether a batch is no longer there; one that was just taken cannot be gone before it has ended."""
        return error.status in _GONE and (ended or batch not in self._ids)

    def pause(self, seconds: float) -> None:
        """Wait; raise StoppedError as soon as the run ends."""
        end = time.monotonic() + seconds
        while not self.stop.is_set() and (left := end - time.monotonic()) > 0:
            self.stop.wait(min(left, _TICK_S))
        if self.stop.is_set():
            raise StoppedError("the run was stopped")

    def _intended(self, keys: tuple[str, ...]) -> Intent:
        if self._journal is None:
            return Intent("", self._now(), keys)
        try:
            return self._journal.intend(keys)
        except OSError as error:
            raise ProviderError(Cause.STOPPED, f"what is submitted cannot be written down: {error.strerror}") from None

    def _settle(self, intent: Intent, batch: str | None) -> None:
        """Write down what became of an intent; a batch that is out is waited for even where its id is not written."""
        try:
            if self._journal is not None and batch is not None:
                self._journal.submitted(intent, batch)
            elif self._journal is not None:
                self._journal.void(intent)
        except OSError:
            self._journal = None  # the next one would not be written down either; its intent tells of this one

    def _find(self, intent: Intent) -> str | None:
        """Look for the batch of an intent among the provider's latest: the one made nearest to its time."""
        known = self._ids | (self._journal.known if self._journal is not None else set())
        since = intent.at_s - _CLOCKS_S
        fitting = [
            state
            for state in self._provider.recent(timeout_s=self._timeout_s)
            if state.requests == len(intent.keys) and state.created_s >= since and state.batch not in known
        ]
        return min(fitting, key=lambda state: abs(state.created_s - intent.at_s)).batch if fitting else None

    def _with_retries(self, once: Callable[[], T]) -> T:
        return with_retries(once, self._policy, self.pause)


Owner = TypeVar("Owner")

RESUBMITTED = 2  # how often a request is submitted again that expired or failed for a reason that may pass
MOST_REQUESTS = 10_000  # in a batch; the API takes 100,000
MOST_BYTES = 64 << 20  # of a batch; the API takes 256 MB
_FINAL = (Cause.CREDENTIALS, Cause.BILLING, Cause.MODEL)  # what will not change while a run lasts


class Polling(NamedTuple):
    """How often a batch is looked at, in seconds."""

    first_s: float = 10.0  # after it was submitted; multiplied with ``factor`` after each look, up to ``longest_s``
    factor: float = 1.5
    longest_s: float = 300.0
    longest_retry_s: float = 900.0  # the most that a server's ``retry-after`` is obeyed
    most_s: float = 26 * 3_600.0  # how long a batch is waited for in all; the provider ends each within 24 hours


class _Wanted(Generic[Owner]):
    """A request without an answer, and all who want it, the first to ask first."""

    __slots__ = ("has_lost", "key", "places", "request", "reservation", "sent")

    def __init__(self, key: str, place: Queued[Owner]) -> None:
        self.key = key
        self.request = place.request
        self.places = [place]
        self.reservation: Reservation | None = None  # under which it is submitted
        self.sent = 0  # how often it was submitted
        self.has_lost = False  # whether an answer to it may have been paid for in vain

    @property
    def model(self) -> str:
        return str(self.request.body.get("model", ""))


class _Pending(Generic[Owner]):
    """A batch that is out: its requests by their keys, and when it is looked at, on the clock of ``time.monotonic``."""

    def __init__(self, polling: Polling, *, old: bool) -> None:
        now = time.monotonic()
        self.requests: dict[str, _Wanted[Owner]] = {}
        self.due = now if old else now + polling.first_s
        self.last = now + polling.most_s
        self._interval_s = polling.first_s
        self._polling = polling

    def looked(self, now: float, retry_after_s: float) -> None:
        """Wait for the next look, as long as the server asks where that is longer."""
        self.due = now + max(self._interval_s, min(retry_after_s, self._polling.longest_retry_s))
        self._interval_s = min(self._interval_s * self._polling.factor, self._polling.longest_s)


class BatchQueue(Generic[Owner]):
    """Answers requests by batches: from the run's journal, from the cache, else from a provider; within a budget.

    For one thread; another object for another run. The breaker says whether the run ended early.
    """

    def __init__(
        self,
        provider: Batches,
        *,
        budget: BatchBudget,
        answers: Answers | None = None,
        journal: Journal | None = None,
        batches: BatchJournal | None = None,
        retrying: RetryPolicy = PATIENT,
        recorder: Recorder | None = None,
        polling: Polling = Polling(),  # noqa: B008 - it is a value
        most_requests: int = MOST_REQUESTS,
        most_bytes: int = MOST_BYTES,
        timeout_s: float = TIMEOUT_S,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Take whom to ask and what to keep to; ``retrying`` and ``timeout_s`` are of one call.

        Without a journal of ``batches`` the run cannot be resumed. A batch has ``most_bytes``, about; a request that is
        larger goes alone. ``now`` returns seconds since 1970.
        """
        self.busy = 0
        self.breaker = CircuitBreaker()
        self._provider = provider
        self._whom = provider.cached_as
        self._budget = budget
        self._records = Records(provider.cached_as, budget, answers, journal, recorder)
        self._polling = polling
        self._most_requests = most_requests
        self._most_bytes = most_bytes
        self._client = BatchClient(provider, batches, policy=retrying, now=now, timeout_s=timeout_s)
        self._recovered = False
        self._ready: deque[tuple[Queued[Owner], Outcome]] = deque()
        self._wanted: dict[str, _Wanted[Owner]] = {}
        self._queue: list[_Wanted[Owner]] = []
        self._pending: dict[str, _Pending[Owner]] = {}

    @property
    def repeated(self) -> int:
        """How many requests were submitted again though they may have been out: their batch could not be found."""
        return self._client.repeated

    @property
    def notes(self) -> tuple[str, ...]:
        """What was strange about results, for people; no more than a hundred."""
        return self._client.notes

    def begin(self, stop: threading.Event) -> None:
        """Take what ends the run."""
        self._client.stop = stop

    def send(self, place: Queued[Owner]) -> None:
        """Have a request answered. One that is out already is not submitted twice."""
        self.busy += 1
        key = identity(place.request, self._whom)
        wanted = self._wanted.get(key)
        if wanted is not None:
            wanted.places.append(place)
            return
        records = self._records
        answer = records.resumed(place.request)
        if answer is None and records.answers is not None:
            answer = records.reused(place.request, records.answers.get(place.request, self._whom))
        if answer is not None:
            self._give(place, answer)
            return
        self._wanted[key] = _Wanted(key, place)
        self._queue.append(self._wanted[key])

    def take(self, timeout_s: float) -> tuple[Queued[Owner], Outcome] | None:
        """Wait for an answer; None where none comes in time. What was sent is submitted here."""
        if not self._ready:
            self._step(timeout_s)
            if not self._ready:
                return None
        self.busy -= 1
        return self._ready.popleft()

    def dismiss(self) -> None:
        """Let go of everything; batches that are out stay out."""
        self._queue.clear()
        self._wanted.clear()
        self._pending.clear()

    def _step(self, timeout_s: float) -> None:
        try:
            self._client.pause(0.0)
            if not self._recovered and self.breaker.reason("") is None:
                self._client.recover()
                self._recovered = True
            self._submit()
            self._wait(timeout_s)
        except (StoppedError, ProviderError) as error:
            self._end(error if isinstance(error, ProviderError) else ProviderError(Cause.STOPPED, str(error)))

    def _end(self, error: ProviderError) -> None:
        """Answer all requests, also later ones, with the reason why no answers follow."""
        self.breaker.trip(f"stopped: {error}" if error.cause is not Cause.STOPPED else str(error))
        for batch, pending in self._pending.items():
            why = f"{error}; the batch {batch} is out, and the same run resumes it"
            for wanted in pending.requests.values():
                wanted.has_lost = True  # it will be paid for, even if its answer is never read
                self._fail(wanted, ProviderError(error.cause, why, status=error.status))
        self._pending.clear()
        queue, self._queue = self._queue, []
        for wanted in queue:
            self._fail(wanted, error)

    def _submit(self) -> None:
        """Submit what is wanted, in as few batches as the bounds allow."""
        queue, self._queue = self._queue, []
        chunk: list[_Wanted[Owner]] = []
        size = 0
        for number, wanted in enumerate(queue):
            if not self._may_submit(wanted):
                continue
            more = self._provider.size(wanted.request)
            if chunk and (len(chunk) >= self._most_requests or size + more > self._most_bytes):
                self._create(chunk, queue[number:])
                chunk, size = [], 0
            chunk.append(wanted)
            size += more
        if chunk:
            self._create(chunk, [])

    def _may_submit(self, wanted: _Wanted[Owner]) -> bool:
        """Return whether to submit a request now: not if it is out already, or is refused, or must wait."""
        batch = self._client.held.pop(wanted.key, None)
        if batch is not None:
            wanted.reservation = self._budget.hold(wanted.request)
            wanted.sent = 1
            self._pending.setdefault(batch, _Pending(self._polling, old=True)).requests[wanted.key] = wanted
            return False
        stopped = self.breaker.reason(wanted.model)
        if stopped is not None:
            self._fail(wanted, ProviderError(Cause.STOPPED, stopped))
            return False
        if wanted.reservation is None:
            wanted.reservation = self._budget.reserve(wanted.request)
        if wanted.reservation is None and self._budget.later:
            self._queue.append(wanted)
        elif wanted.reservation is None:
            self._fail(wanted, ProviderError(Cause.BUDGET, self._budget.reason or "the budget is used up"))
        return wanted.reservation is not None

    def _create(self, chunk: list[_Wanted[Owner]], rest: list[_Wanted[Owner]]) -> None:
        """Submit a batch; where that fails, all that waits for one has failed."""
        try:
            batch = self._client.submit([(wanted.key, wanted.request) for wanted in chunk])
        except (ProviderError, StoppedError) as error:
            self._queue = [*chunk, *rest, *self._queue]
            if isinstance(error, ProviderError) and error.lost:
                for wanted in chunk:
                    wanted.has_lost = True
                    wanted.sent += 1
            raise
        self._pending[batch] = _Pending(self._polling, old=False)
        for wanted in chunk:
            wanted.sent += 1
            self._pending[batch].requests[wanted.key] = wanted

    def _wait(self, timeout_s: float) -> None:
        """Look at the batches whose time has come; where none has, wait for the next."""
        if self._ready or not self._pending:
            return
        left = min(pending.due for pending in self._pending.values()) - time.monotonic()
        if left > 0:
            self._client.pause(min(left, timeout_s))
        now = time.monotonic()
        for batch in [batch for batch, pending in self._pending.items() if pending.due <= now]:
            self._look(batch, self._pending[batch])

    def _look(self, batch: str, pending: _Pending[Owner]) -> None:
        ended = False
        try:
            state = self._client.look(batch)
            ended = state.ended
            if ended:
                self._collect(batch, pending)
                return
        except ProviderError as error:
            if not self._client.is_gone(batch, error, ended=ended):
                raise
            self._client.note(f"the batch {batch} or its results are gone; what it held is submitted again")
            self._resubmit(batch, f"the results of the batch {batch} are gone")
            return
        now = time.monotonic()
        if now >= pending.last:
            raise ProviderError(Cause.SERVER, f"the batch {batch} did not end in time")
        pending.looked(now, state.retry_after_s or 0.0)

    def _collect(self, batch: str, pending: _Pending[Owner]) -> None:
        """Take the results of a batch that has ended."""
        strange = 0

        def take(line: Line) -> None:
            nonlocal strange
            wanted = pending.requests.pop(line.key, None)
            if wanted is not None:
                self._take_result(wanted, line.result)
            elif not self._client.holds(batch, line.key):
                strange += 1

        try:
            self._client.read(batch, take)
        finally:
            if strange:
                self._client.note(
                    f"the batch {batch} gave {strange} results that were not requested or that cannot be read"
                )
        self._resubmit(batch, f"the results of the batch {batch} leave it out")

    def _resubmit(self, batch: str, why: str) -> None:
        """Let go of a batch, and submit again what it held that has no result."""
        for wanted in self._pending.pop(batch).requests.values():
            self._retry(wanted, ProviderError(Cause.REPLY, why, retryable=True))

    def _take_result(self, wanted: _Wanted[Owner], result: Mapping[str, Any]) -> None:
        failure = None
        try:
            reply = self._provider.reply(wanted.request, result)
        except ProviderError as error:
            if error.cause is Cause.TOO_LONG:
                reply = outgrown(wanted.request, error)
            else:
                failure = error
        except UNREADABLE as error:  # its own words may quote what was sent
            failure = ProviderError(Cause.REPLY, f"the reply cannot be read ({type(error).__name__})")
        if failure is not None:
            self._retry(wanted, failure)
            return
        self._wanted.pop(wanted.key, None)
        self._answer(wanted, reply)

    def _answer(self, wanted: _Wanted[Owner], reply: Reply) -> None:
        """Count a reply, which was paid for whatever it is worth, store it, and give it to all who want it."""
        assert wanted.reservation is not None
        counted = self._budget.counted(wanted.reservation, reply.tokens, reply.model)
        cost = self._budget.settle(wanted.reservation, reply.tokens, reply.model)
        journal = self._records.journal
        if journal is not None:
            journal.sent(wanted.request, self._whom, wanted.reservation.usd)
            journal.got(wanted.request, self._whom, reply, cost, counted)
        for number, place in enumerate(wanted.places):
            answer = _judged(place.request, reply)
            if number:
                answer = answer._replace(cached=True)
                if journal is not None:
                    journal.reused(place.request, self._whom, reply)
            else:
                answer = answer._replace(sent=wanted.sent, cost_usd=cost, tokens=reply.tokens or Tokens())
            if answer.cause is not Cause.REPLY:
                self._records.cache(place.request, reply, answer.status)
            self._give(place, answer)

    def _retry(self, wanted: _Wanted[Owner], error: ProviderError) -> None:
        """Submit a request again that got no reply, or say why there is none."""
        wanted.has_lost = wanted.has_lost or error.lost
        if self._records.journal is not None and wanted.reservation is not None:
            self._records.journal.sent(wanted.request, self._whom, wanted.reservation.usd)
            cost = None if error.lost and not self._budget.free else 0.0
            self._records.journal.lost(wanted.request, self._whom, cost)
        if error.retryable and wanted.sent <= RESUBMITTED and wanted.reservation is not None:
            if self._budget.reserve_retry(wanted.reservation, lost=error.lost):
                self._queue.append(wanted)
                return
            error = ProviderError(Cause.BUDGET, f"{self._budget.reason or 'no budget is left'}; the last try: {error}")
        elif error.cause in _FINAL:
            self.breaker.failed(error, wanted.model)
        self._fail(wanted, error)

    def _fail(self, wanted: _Wanted[Owner], error: ProviderError) -> None:
        """Answer all who want a request with why there is no reply."""
        self._wanted.pop(wanted.key, None)
        cost: float | None = 0.0
        if wanted.reservation is not None:
            if wanted.has_lost:  # what a lost answer cost is not known
                cost = self._budget.settle(wanted.reservation, None, wanted.model)
            else:
                self._budget.release(wanted.reservation, sent=wanted.sent > 0)
        reason = f"{error} (after {wanted.sent} tries)" if wanted.sent > 1 else str(error)
        answer = Answer(Status.ERROR, cause=error.cause, reason=reason, sent=wanted.sent, cost_usd=cost)
        for place in wanted.places:
            self._give(place, answer)
            answer = answer._replace(sent=0, cost_usd=0.0)

    def _give(self, place: Queued[Owner], answer: Answer) -> None:
        self._records.record(place.request, answer, self._provider)
        self._ready.append((place, Outcome(answer)))


def run(
    layers: Sequence[Callable[[], Steps[T]]],
    sender: BatchQueue[Any],
    *,
    watch: Watch | None = None,
    stop: threading.Event | None = None,
) -> Generator[T, None, None]:
    """Run layers and yield their results in their order, as :func:`skillgate.llm.asker.run` does.

    An exception in a layer ends the run where its result would have been taken; so does Ctrl-C, and the caller who
    closes the iterator. Nothing is waited for then, and nothing canceled: with a journal of batches the same run, when
    it is started again, takes their results. Once ``stop`` is set, what has no answer gets ``Cause.STOPPED``.
    """
    ends = stop if stop is not None else threading.Event()
    sender.begin(ends)
    yield from drive(layers, sender, watch=watch, stop=ends)


def _judged(request: Request, reply: Reply) -> Answer:
    try:
        return classify(request, reply).answer(reply)
    except UNREADABLE as error:
        why = f"the reply cannot be read ({type(error).__name__})"
        return Answer(Status.ERROR, None, reply, Cause.REPLY, why)
