"""Batches on their way: submitted once, looked at now and then, read when they have ended.

Every call is repeated while that can help, within bounds. What was submitted is on disk first; where a connection was
lost while a batch was being submitted, or the process ended then, the batch is looked for among the provider's latest
before it is submitted again. The provider does not say which requests a batch holds, only how many, so what is found is
one of as many requests, made since then, that this run does not know; its results tell by their keys whether it was.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from skillgate.llm.batch_journal import Intent
from skillgate.llm.breaker import StoppedError
from skillgate.llm.port import Provider, ProviderError
from skillgate.llm.retrying import Policy, persistent
from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.llm.batch_journal import BatchJournal
    from skillgate.llm.batch_shapes import Line, State
    from skillgate.model.exchange import Reply, Request

T = TypeVar("T")

MOST_REQUESTS = 10_000
"""In a batch; the API takes 100,000."""
MOST_BYTES = 64 << 20
"""Of a batch; the API takes 256 MB."""
PATIENT = Policy(tries=10, first_wait_s=2.0, longest_wait_s=300.0, deadline_s=1_800.0)
"""Who waits for hours need not give up after three minutes."""
TIMEOUT_S = 600.0  # of one call: a batch of 64 MB is sent in it
_CLOCKS_S = 300.0  # that the provider's clock may be behind ours
_LOOK_S = 60.0  # of one look
_TICK_S = 0.5  # Windows notices Ctrl-C only between waits
_GONE = (404, 410)
_MOST_NOTES = 100


class BatchProvider(Provider, Protocol):
    """A provider that answers many requests together, later."""

    @property
    def kept_as(self) -> Provider:
        """The provider in whose name answers are kept."""

    def create(self, requests: Sequence[tuple[str, Request]], *, timeout_s: float) -> State:
        """Submit a batch of requests, each with its key."""

    def retrieve(self, batch: str, *, timeout_s: float) -> State:
        """Look how a batch is."""

    def recent(self, *, timeout_s: float) -> tuple[State, ...]:
        """List the latest batches."""

    def results(self, batch: str) -> Iterator[Line]:
        """Read the results of a batch that has ended."""

    def reply(self, request: Request, result: Mapping[str, Any]) -> Reply:
        """Read the result of one request."""

    def size(self, request: Request) -> int:
        """Give the bytes that a request takes in a batch, about."""


class Polling(NamedTuple):
    """How often a batch is looked at.

    Attributes:
        first_s: after it was submitted; multiplied with ``factor`` after each look, up to ``longest_s``.
        factor: at least 1.
        longest_s: the most between two looks.
        longest_asked_s: the most that a server's ``retry-after`` is obeyed.
        most_s: how long a batch is waited for in all; the provider ends each within 24 hours.
    """

    first_s: float = 10.0
    factor: float = 1.5
    longest_s: float = 300.0
    longest_asked_s: float = 900.0
    most_s: float = 26 * 3_600.0


class Out(Generic[T]):
    """A batch that is out.

    Attributes:
        wishes: by their keys, the requests in it that somebody waits for.
        due: when it is looked at next, on the clock of ``time.monotonic``; an old one at once.
        last: when it is given up.
    """

    def __init__(self, polling: Polling, now: float, *, old: bool) -> None:
        """Begin to wait."""
        self.wishes: dict[str, T] = {}
        self.due = now if old else now + polling.first_s
        self.last = now + polling.most_s
        self._interval_s = polling.first_s

    def looked(self, polling: Polling, now: float, asked_s: float) -> None:
        """Wait for the next look, as long as the server asks where that is longer."""
        self.due = now + max(self._interval_s, min(asked_s, polling.longest_asked_s))
        self._interval_s = min(self._interval_s * polling.factor, polling.longest_s)


class Post:
    """Submits batches and reads them. For one thread.

    Attributes:
        held: by the key of a request, the batch of an earlier process of this run that holds it.
        repeated: requests that were submitted again though they may have been out: what became of the first batch
            nobody could tell.
        stop: ends every wait once it is set.
        notes: what was strange, for people.
    """

    def __init__(
        self,
        provider: BatchProvider,
        journal: BatchJournal | None,
        *,
        policy: Policy = PATIENT,
        now: Callable[[], float],
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Take whom to send to and where to write down what is out.

        Args:
            provider: takes batches.
            journal: None: a run that ends early cannot be gone on with.
            policy: how long to keep trying each call.
            now: a clock that gives seconds since 1970.
            timeout_s: of one call.
        """
        self.held: dict[str, str] = {}
        self.repeated = 0
        self.stop = threading.Event()
        self.notes: tuple[str, ...] = ()
        self._provider = provider
        self._journal = journal
        self._policy = policy
        self._now = now
        self._timeout_s = timeout_s
        self._ids: set[str] = set()
        self._keys: dict[str, frozenset[str]] = {}

    def recover(self) -> None:
        """Find out which batches of earlier processes are out.

        Raises:
            ProviderError: the provider cannot be asked for one whose id was not written down.
        """
        intents = self._journal.intents if self._journal is not None else ()
        for intent in intents:
            batch = intent.batch or self._adopted(intent)
            if batch:
                self._keys[batch] = frozenset(intent.keys)
                self.held.update(dict.fromkeys(intent.keys, batch))

    def submit(self, requests: Sequence[tuple[str, Request]]) -> str:
        """Submit a batch; gives its id.

        Raises:
            ProviderError: it was not taken, or (``lost``) nobody knows whether it was.
            StoppedError: the run ended meanwhile.
        """
        keys = tuple(key for key, _ in requests)
        intent = self._intended(keys)
        lost = False

        def once() -> str:
            nonlocal lost
            found = self._found(intent) if lost else None
            if lost and found is None:
                self.repeated += len(keys)
            lost = False
            try:
                return found or self._provider.create(requests, timeout_s=self._timeout_s).batch
            except ProviderError as error:
                lost = error.lost
                raise

        try:
            batch = self._persistent(once)
        except (ProviderError, StoppedError):
            if not lost and self._journal is not None:
                self._written(lambda journal: journal.void(intent))
            raise
        self._ids.add(batch)
        self._keys[batch] = frozenset(keys)
        self._written(lambda journal: journal.submitted(intent, batch))
        return batch

    def look(self, batch: str) -> State:
        """Look how a batch is.

        Raises:
            ProviderError: that cannot be told.
            StoppedError: the run ended meanwhile.
        """
        return self._persistent(lambda: self._provider.retrieve(batch, timeout_s=min(_LOOK_S, self._timeout_s)))

    def read(self, batch: str, take: Callable[[Line], None]) -> None:
        """Read all results of a batch; after a connection was lost ``take`` gets those before it once more.

        Raises:
            ProviderError: there are none, or not all of them came.
            StoppedError: the run ended meanwhile.
        """

        def once() -> None:
            for line in self._provider.results(batch):
                take(line)

        self._persistent(once)

    def note(self, text: str) -> None:
        """Note what was strange, unless very much was."""
        if len(self.notes) < _MOST_NOTES:
            self.notes = (*self.notes, text)

    def holds(self, batch: str, key: str) -> bool:
        """Say whether this run asked for a request in a batch."""
        return key in self._keys.get(batch, ())

    def is_gone(self, batch: str, error: ProviderError, *, ended: bool) -> bool:
        """Say whether a batch is no longer there, so that its requests must be submitted again.

        A batch of this process that was just taken cannot be gone before it has ended.
        """
        return error.status in _GONE and (ended or batch not in self._ids)

    def _intended(self, keys: tuple[str, ...]) -> Intent:
        if self._journal is None:
            return Intent("", self._now(), keys)
        try:
            return self._journal.intend(keys)
        except OSError as error:
            raise ProviderError(Cause.STOPPED, f"what is submitted cannot be written down: {error.strerror}") from None

    def _written(self, write: Callable[[BatchJournal], None]) -> None:
        """Write where there is a journal; a batch that is out is waited for even where its id cannot be written."""
        try:
            if self._journal is not None:
                write(self._journal)
        except OSError:
            self._journal = None  # the next one would not be written down either; its intent tells of this one

    def _adopted(self, intent: Intent) -> str | None:
        """Find the batch of an intent without an id; where there is none its requests are repeated."""
        found = self._persistent(lambda: self._found(intent))
        if found is None:
            self.repeated += len(intent.keys)
        else:
            self._written(lambda journal: journal.submitted(intent, found))
        self._written(lambda journal: journal.void(intent) if found is None else None)
        return found

    def _found(self, intent: Intent) -> str | None:
        """Look for the batch of an intent among the provider's latest; the first that was made since then."""
        known = self._ids | set(self._journal.known if self._journal is not None else ())
        since = intent.at_s - _CLOCKS_S
        fitting = [
            state
            for state in self._provider.recent(timeout_s=self._timeout_s)
            if state.requests == len(intent.keys) and state.created_s >= since and state.batch not in known
        ]
        return min(fitting, key=lambda state: abs(state.created_s - intent.at_s)).batch if fitting else None

    def _persistent(self, once: Callable[[], T]) -> T:
        return persistent(once, self._policy, self.pause)

    def pause(self, seconds: float) -> None:
        """Wait.

        Raises:
            StoppedError: the run ended meanwhile.
        """
        end = time.monotonic() + seconds
        while not self.stop.is_set() and (left := end - time.monotonic()) > 0:
            self.stop.wait(min(left, _TICK_S))
        if self.stop.is_set():
            raise StoppedError("the run was stopped")
