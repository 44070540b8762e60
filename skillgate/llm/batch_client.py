"""Batches on their way: submitted once, looked at now and then, read when they have ended.

Every call is repeated while that can help, within bounds; it raises ProviderError, or StoppedError once the run ends.
What was submitted is on disk first; where a connection was lost while a batch was being submitted, or the process ended
then, the batch is looked for among the provider's latest before it is submitted again. The provider does not say which
requests a batch holds, only how many: a match is one of as many requests, made since then, that this run does not know;
its results tell by their keys whether it was.
"""

from __future__ import annotations

import json
import os
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate.errors import UsageError
from skillgate.llm.flow import RetryPolicy, StoppedError, with_retries
from skillgate.llm.port import ProviderError
from skillgate.llm.providers.batch import is_id
from skillgate.model.digest import digest
from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.llm.providers.batch import Batches, Line, State
    from skillgate.model.exchange import Request

T = TypeVar("T")

FORMAT = 1
MOST_FILE_BYTES = 512 << 20  # of a list of batches that is read; 10,000 requests take about 0.4 MB
PATIENT = RetryPolicy(tries=10, first_wait_s=2.0, longest_wait_s=300.0, deadline_s=1_800.0)
"""Who waits for hours need not give up after three minutes."""
TIMEOUT_S = 600.0  # of one call: a batch of 64 MB is sent in it
_CLOCKS_S = 300.0  # that the provider's clock may be behind ours
_LOOK_S = 60.0  # of one look
_TICK_S = 0.5  # Windows notices Ctrl-C only between waits
_GONE = (404, 410)
_MOST_NOTES = 100


class Intent(NamedTuple):
    """A batch that was to be submitted: its name in the file, the time in seconds since 1970, the requests' keys."""

    name: str
    at_s: float
    keys: tuple[str, ...]
    batch: str = ""  # its id, "" where that was not written down


class BatchJournal:
    """Which batches of a run are out, on disk first: a run that was killed asks for them, and pays once.

    A line of JSON each: what is about to be submitted (``intent``, with the keys of its requests and the time), the id
    it got (``batch``), or that it was refused (``void``). A run that ends between submitting and the second line knows
    of a batch without an id. For one process at a time.
    """

    def __init__(self, file: str, *, now: Callable[[], float]) -> None:
        """Open the file, which may exist.

        Raises UsageError where it cannot be read or written, or was written by another version.
        """
        self._now = now
        self._count = 0
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            self._file = os.open(file, flags | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(os.dup(self._file), "rb") as reader:
                data = reader.read(MOST_FILE_BYTES + 1)
        except OSError as error:
            raise UsageError(f"{file}: the batches of a run cannot be kept there: {error.strerror}") from error
        if len(data) > MOST_FILE_BYTES:
            os.close(self._file)
            raise UsageError(f"{file} is larger than {MOST_FILE_BYTES >> 20} MiB: it is no list of batches")
        # What earlier processes submitted and was not refused, oldest first; and how many lines could not be read.
        self.intents, self.unread = _read(data)
        self.known = {intent.batch for intent in self.intents if intent.batch}  # the ids of all batches of this run
        self._salt = digest(data)
        if data and not data.endswith(b"\n"):
            os.write(self._file, b"\n")  # a line that was cut off stays alone

    def intend(self, keys: Sequence[str]) -> Intent:
        """Write down that a batch is about to be submitted.

        Raises OSError where it cannot be written: then it must not be submitted, or it would be paid for in vain.
        """
        self._count += 1
        name = digest(self._salt.encode(), str(os.getpid()).encode(), str(self._count).encode())
        intent = Intent(name, self._now(), tuple(keys))
        self._append({"format": FORMAT, "intent": name, "at": intent.at_s, "keys": list(keys)})
        return intent

    def submitted(self, intent: Intent, batch: str) -> None:
        """Write down the id that a batch got; may raise OSError."""
        self.known.add(batch)
        self._append({"batch": batch, "intent": intent.name})

    def void(self, intent: Intent) -> None:
        """Write down that a batch was not taken; may raise OSError."""
        self._append({"void": intent.name})

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _append(self, line: dict[str, Any]) -> None:
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)


def _read(data: bytes) -> tuple[tuple[Intent, ...], int]:
    """Read the lines of a file, and count those that say nothing; raise UsageError for those of another version."""
    intents: dict[str, Intent] = {}
    unread = 0
    for text in data.split(b"\n"):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
            unread += not (isinstance(line, dict) and _took(line, intents))
        except (ValueError, RecursionError):
            unread += 1
    return tuple(intents.values()), unread


def _took(line: dict[str, Any], intents: dict[str, Intent]) -> bool:
    """Add what a line says to the intents; return whether it says anything."""
    name, batch, void = line.get("intent"), line.get("batch"), line.get("void")
    if "keys" in line:
        if line.get("format") != FORMAT:
            raise UsageError(f"a list of batches of format {line.get('format')!r}: this version reads {FORMAT}")
        keys, at_s = line["keys"], line.get("at")
        if not (isinstance(name, str) and isinstance(keys, list) and isinstance(at_s, int | float)):
            return False
        if not all(isinstance(key, str) for key in keys):
            return False
        intents[name] = Intent(name, float(at_s), tuple(keys))
        return True
    if isinstance(name, str) and name in intents and is_id(batch):
        intents[name] = intents[name]._replace(batch=batch)
        return True
    return isinstance(void, str) and intents.pop(void, None) is not None


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
