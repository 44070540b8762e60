"""How requests flow to a provider: who waits, how many are sent at once, what is retried, and when a run ends early."""
# ruff: noqa: PTH103, PTH118

from __future__ import annotations

import errno
import heapq
import math
import os
import queue
import threading
import time
from collections import Counter
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from skillgate.llm.port import ProviderError
from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tenacity import RetryCallState

    from skillgate.llm.port import Asker
    from skillgate.model.exchange import Request

try:
    import fcntl

    HAS_LOCKS = True
except ImportError:  # Windows
    HAS_LOCKS = False

T = TypeVar("T")
Owner = TypeVar("Owner")

STEADY = 8  # replies in a row after which one more request is sent at once
MOST_FAILURES = 5  # requests in a row, each after its last try
LOCK_FILE = "turns"
POLL_S = 0.1
"""How often another process's lock is tried. A blocking call would not do: a system takes two threads of two processes
that wait for one another for a deadlock, since it knows of no threads."""
LONGEST_S = 600.0  # of waiting for another process, as long as one request may take; then its work is done here, too
_LOOK_S = 0.1  # how often a wait looks whether the run has ended
_FINAL = (Cause.CREDENTIALS, Cause.BILLING, Cause.MODEL)  # what will not change while a run lasts
_COUNTED = (Cause.SERVER, Cause.NETWORK, Cause.RATE, Cause.REPLY, Cause.REQUEST)  # the rest is about one request alone
_OF_SUBJECT = (Cause.REQUEST, Cause.REPLY)  # of the counted: what the text of one skill can bring about
_ONE_MODEL = (403, 404)  # of HTTP
_OFFSET_DIGITS = 15  # of a hexadecimal key: 60 bits, an offset that every system takes
_BUSY = frozenset({errno.EACCES, errno.EAGAIN})


class RateLimiter:
    """Limits how many requests are sent at once: half as many after a refusal, then slowly more. Thread-safe."""

    def __init__(self) -> None:
        self.limit = math.inf  # until a provider says that there are too many; the driver has a limit of its own
        self._active = 0
        self._replies = 0
        self._changed = threading.Condition()

    @contextmanager
    def slot(self, check: Callable[[], None]) -> Iterator[None]:
        """Wait until there is room, then take it for the block; ``check`` raises where the run has ended."""
        with self._changed:
            while self._active >= self.limit:
                check()
                self._changed.wait(_LOOK_S)
            self._active += 1
        try:
            yield
        finally:
            with self._changed:
                self._active -= 1
                self._changed.notify_all()

    def refused(self) -> None:
        """Halve the limit, to one at least."""
        with self._changed:
            self.limit = max(1, min(self.limit, self._active) // 2)
            self._replies = 0

    def answered(self) -> None:
        """Count a reply; after several in a row one more request may be on its way."""
        with self._changed:
            self._replies += 1
            if self._replies >= STEADY:
                self._replies = 0
                self.limit += 1
                self._changed.notify_all()


class StoppedError(Exception):
    """The run has ended for this request; the text says why."""


class CircuitBreaker:
    """Ends a run early: what fails for everybody need not fail fifty times. Thread-safe.

    One request that failed may be bad luck; several in a row, each after all its tries, are an outage. A refused key or
    an unpaid account ends the run at once. A model that is not there, or that the key may not use, ends only the
    requests for that model.

    What the text of a skill can cause ends no request of another skill: a request that is refused as such, an answer
    that cannot be read, a whole session that fails. Several of one skill in a row end the requests about that skill,
    and count once for the run, however many they are.
    """

    def __init__(self, most_failures: int = MOST_FAILURES, *, stop: threading.Event | None = None) -> None:
        """Start closed; ``stop`` ends the run from outside, as at Ctrl-C."""
        self._most_failures = most_failures
        self._stop = stop
        self._changed = threading.Condition()
        self._row = 0
        self._rows: Counter[str] = Counter()  # by subject
        self._failing: set[str] = set()  # the subjects that failed since something was answered
        self._reason: str | None = None
        self._models: dict[str, str] = {}
        self._subjects: dict[str, str] = {}

    def reason(self, model: str, subject: str = "") -> str | None:
        """Return why a model is asked no more about a subject, None where it is."""
        if self._stop is not None and self._stop.is_set():
            self.trip("the run was interrupted")
        with self._changed:
            return self._ended(model, subject)

    def check(self, model: str, subject: str = "") -> None:
        """Raise StoppedError where a request must not be sent."""
        reason = self.reason(model, subject)
        if reason is not None:
            raise StoppedError(reason)

    def trip(self, reason: str) -> None:
        """End the run, and wake all who wait. The first reason stays."""
        with self._changed:
            self._reason = self._reason or reason
            self._changed.notify_all()

    def answered(self, subject: str = "") -> None:
        """Note that a request about a subject was answered, well or badly: the provider is there."""
        with self._changed:
            self._row = 0
            self._failing.clear()
            self._rows.pop(subject, None)

    def failed(self, error: ProviderError, model: str, subject: str = "", *, session: bool = False) -> None:
        """Note the error of a request's last try; a subject's text can make a whole ``session`` fail in any way."""
        if error.cause in _FINAL:
            if error.cause is Cause.MODEL or error.status in _ONE_MODEL:
                self._end_for(self._models, model, f"stopped for this model: {error}")
            else:
                self.trip(f"stopped: {error}")
        elif error.cause in _COUNTED:
            self._count(error, subject, of_subject=session or error.cause in _OF_SUBJECT)

    def pause(self, seconds: float, model: str, subject: str = "") -> None:
        """Wait before another try; raise StoppedError as soon as the run ends."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.check(model, subject)
            with self._changed:
                if self._ended(model, subject) is None:
                    self._changed.wait(left if self._stop is None else min(left, _LOOK_S))
        self.check(model, subject)

    def _ended(self, model: str, subject: str) -> str | None:
        return self._reason or self._models.get(model) or self._subjects.get(subject)

    def _count(self, error: ProviderError, subject: str, *, of_subject: bool) -> None:
        with self._changed:
            if of_subject:
                self._rows[subject] += 1
                self._failing.add(subject)
            else:
                self._row += 1
            own, row = self._rows[subject], self._row + len(self._failing)
        if of_subject and own >= self._most_failures:
            why = f"stopped for this skill after {own} of its requests in a row failed; the last: {error}"
            self._end_for(self._subjects, subject, why)
        if row >= self._most_failures:
            self.trip(f"stopped after {row} requests in a row that failed; the last: {error}")

    def _end_for(self, reasons: dict[str, str], name: str, reason: str) -> None:
        with self._changed:
            reasons.setdefault(name, reason)
            self._changed.notify_all()


class RetryPolicy(NamedTuple):
    """How long to keep trying one request."""

    tries: int = 4
    first_wait_s: float = 0.5
    """Doubled for each further one, and up to half of it added by chance, so that clients that failed together do not
    come back together."""
    longest_wait_s: float = 60.0
    """Where a server asks for a longer wait there is no other try: one before its time would only be refused."""
    deadline_s: float = 180.0  # no try begins later than this after the first


def with_retries(send: Callable[[], T], policy: RetryPolicy, pause: Callable[[float], None]) -> T:
    """Send until there is a reply, or until another try is of no use; return what ``send`` returns.

    An SDK left to itself sleeps as long as a server asks it to, hours included; here each wait is bounded, and so are
    all tries of one request together. Whatever ``pause`` raises ends the tries; else the last ProviderError is raised.
    """
    from tenacity import (
        Retrying,
        retry_if_exception,
        stop_after_attempt,
        stop_before_delay,
        wait_exponential,
        wait_random,
    )

    growing = wait_exponential(multiplier=policy.first_wait_s) + wait_random(0, policy.first_wait_s / 2)

    def is_worthwhile(error: BaseException) -> bool:
        if not isinstance(error, ProviderError) or not error.retryable:
            return False
        return error.retry_after_s is None or error.retry_after_s <= policy.longest_wait_s

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        wanted = error.retry_after_s if isinstance(error, ProviderError) else None
        return min(policy.longest_wait_s, growing(state) if wanted is None else wanted)

    retrying = Retrying(
        stop=stop_after_attempt(policy.tries) | stop_before_delay(policy.deadline_s),
        wait=wait,
        retry=retry_if_exception(is_worthwhile),
        sleep=pause,
        reraise=True,
    )
    return retrying(send)


class Queued(NamedTuple, Generic[Owner]):
    """A request in the queue. The lowest layer and number go first; no two numbers are equal."""

    layer: int
    number: int
    request: Request
    owner: Owner


class RequestQueue(Generic[Owner]):
    """Requests by layer, and among those of one layer as they came; of each prefix one goes ahead.

    A provider caches the beginning of a prompt once it has read it, and others that begin alike then cost a tenth. So
    the first of them goes alone, and the others follow when it was answered. An answer from our own cache has warmed
    nothing at the provider: then the next one goes ahead.
    """

    def __init__(self) -> None:
        self._numbers = count()
        self._heap: list[Queued[Owner]] = []
        self._warm: set[str] = set()
        self._held: dict[str, list[Queued[Owner]]] = {}  # by prefix that is being warmed

    def put(self, request: Request, owner: Owner, layer: int) -> None:
        """Let a request wait."""
        heapq.heappush(self._heap, Queued(layer, next(self._numbers), request, owner))

    def next(self, *, before: int) -> Queued[Owner] | None:
        """Take the next request that can be sent, None for none; requests of the layer ``before`` on are dropped."""
        if not self.has_next(before=before):
            return None
        first = heapq.heappop(self._heap)
        if first.request.prefix and first.request.prefix not in self._warm:
            self._held[first.request.prefix] = []
        return first

    def has_next(self, *, before: int) -> bool:
        """Return whether :meth:`next` would return a request."""
        while self._heap:
            first = self._heap[0]
            if first.layer < before and first.request.prefix not in self._held:
                return True
            heapq.heappop(self._heap)
            if first.layer < before:
                self._held[first.request.prefix].append(first)
        return False

    def answered(self, request: Request, *, cached: bool) -> None:
        """Release those that waited for this request; ``cached``: the answer came from our own cache."""
        if request.prefix and not cached:
            self._warm.add(request.prefix)
        for held in self._held.pop(request.prefix, ()):
            heapq.heappush(self._heap, held)


class Outcome(NamedTuple):
    """How something that was waited for continues: with a value, or with an exception."""

    value: Any = None
    error: BaseException | None = None


class Sender(Protocol[Owner]):
    """Has requests answered, ``busy`` of them now: by threads, or by batches. For one caller's thread."""

    busy: int

    def send(self, place: Queued[Owner]) -> None:
        """Have a request answered; returns at once."""

    def take(self, timeout_s: float) -> tuple[Queued[Owner], Outcome] | None:
        """Wait for an answer; None where none comes in time."""

    def dismiss(self) -> None:
        """Let go of everything: nothing more is sent or taken."""


class WorkerPool(Generic[Owner]):
    """Threads that ask, made as they are needed: the only place where a model is waited for one request at a time.

    They are daemons, which end with the process: an answer that never comes cannot keep it alive.
    """

    def __init__(self, asker: Asker) -> None:
        self.busy = 0
        self._asker = asker
        self._threads = 0
        self._wanted: queue.SimpleQueue[Queued[Owner] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[Queued[Owner], Outcome]] = queue.SimpleQueue()

    def send(self, place: Queued[Owner]) -> None:
        """Have a request answered; returns at once."""
        self.busy += 1
        if self._threads < self.busy:
            self._threads += 1
            threading.Thread(target=self._work, name=f"ask-{self._threads}", daemon=True).start()
        self._wanted.put(place)

    def take(self, timeout_s: float) -> tuple[Queued[Owner], Outcome] | None:
        """Wait for an answer; None where none comes in time."""
        try:
            answer = self._answers.get(timeout=timeout_s)
        except queue.Empty:
            return None
        self.busy -= 1
        return answer

    def dismiss(self) -> None:
        """Let every thread end after what it is doing."""
        for _ in range(self._threads):
            self._wanted.put(None)

    def _work(self) -> None:
        while (place := self._wanted.get()) is not None:
            try:
                outcome = Outcome(self._asker.ask(place.request))
            except BaseException as error:  # noqa: BLE001 - raised again on the caller's thread
                outcome = Outcome(error=error)
            self._answers.put((place, outcome))


class KeyLocks:
    """Locks by key, among the threads of a process and among processes on one disk. Thread-safe.

    Processes lock single bytes of one file, at an offset that the key gives. A system lets go of such a lock when its
    process ends, however it ends, so nothing is ever left behind. Where a system or a disk has no such locks, threads
    alone exclude each other. One object for a folder and process: closing another's file would drop this one's locks.
    """

    def __init__(self, folder: str, *, stop: threading.Event | None = None, longest_s: float = LONGEST_S) -> None:
        """Take the folder, ``""`` for threads alone; once ``stop`` is set nothing waits any more."""
        self._folder = folder
        self._stop = stop if stop is not None else threading.Event()
        self._longest_s = longest_s
        self._change = threading.Condition()
        self._taken: set[str] = set()
        self._file: int | None = None
        self._locks = HAS_LOCKS and folder != ""

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Wait for the lock of a key of hexadecimal digits, and hold it within the block."""
        with self._change:
            while key in self._taken:
                self._change.wait()
            self._taken.add(key)
        try:
            offset = int(key[:_OFFSET_DIGITS], 16)
            locked = self._wait_for_processes(offset)
            try:
                yield
            finally:
                if locked and self._file is not None:
                    fcntl.lockf(self._file, fcntl.LOCK_UN, 1, offset)
        finally:
            with self._change:
                self._taken.discard(key)
                self._change.notify_all()

    def close(self) -> None:
        """Let go of the file."""
        with self._change:
            self._locks = False
            if self._file is not None and not self._taken:
                os.close(self._file)
                self._file = None

    def _wait_for_processes(self, offset: int) -> bool:
        """Lock a byte once no other process has it; return whether it is locked."""
        began = time.monotonic()
        while True:
            locked = self._locked(offset)
            if locked is not None:
                return locked
            if time.monotonic() - began > self._longest_s or self._stop.wait(POLL_S):
                return False

    def _locked(self, offset: int) -> bool | None:
        """Try to lock a byte; None where another process has it, False where there are no locks."""
        file = self._opened()
        if file is None:
            return False
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
        except OSError as error:
            return None if error.errno in _BUSY else False
        return True

    def _opened(self) -> int | None:
        """Open the file of locks; never through a symbolic link, and never truncated."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        with self._change:
            if self._locks and self._file is None:
                try:
                    os.makedirs(self._folder, mode=0o700, exist_ok=True)
                    self._file = os.open(os.path.join(self._folder, LOCK_FILE), flags, 0o600)
                except OSError:
                    self._locks = False
            return self._file if self._locks else None
