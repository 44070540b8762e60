"""The journal of one run: every reply is on disk before anything uses it, so that a run that was killed can go on.

A line of JSON is written, in one piece, before a request goes out and when its reply has come, whatever that is worth:
a run that goes on sees what the one before it saw, in the order in which that saw it. What is asked for several times
is given as often as it was answered. Failures of a provider are not kept: what was not answered is asked again.

A line outlives its process, however that ends; a power failure may take the last ones along. With a key each is signed:
what comes out of a journal is kept as a model's answer, so nobody else may have written it.
"""
# ruff: noqa: PTH103, PTH108, PTH118

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

from skillgate.llm import journal_file
from skillgate.llm.answers import fields_of, identity, reply_of, seconds_of
from skillgate.llm.classify import classify
from skillgate.llm.journal_file import MOST_LINE, SUFFIX
from skillgate.llm.ledger import AGAIN, GOT, KEPT, LOST, SENT, Ledger, Spent
from skillgate.model.digest import digest
from skillgate.model.exchange import Answer
from skillgate.model.simulating import Resumed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillgate.llm.budget import Budget
    from skillgate.llm.port import Provider
    from skillgate.llm.seal import Seal
    from skillgate.model.exchange import Reply, Request

FORMAT = 1  # of a line: changes with what is written
KEPT_DAYS = 30
"""How long the journal of a run lies that nobody went on with."""
MOST_BYTES = 8 << 30  # of a journal that is read; 300,000 replies take about two
_DAY_S = 86_400.0
_MARK = b"\t"  # between a line and its mark; JSON has none that is not escaped
_UNWRITABLE = (TypeError, ValueError, RecursionError)


class Journal:
    """What one run sent and received. Thread-safe; one object for a run and process.

    Attributes:
        path: of the file; what else is kept of the same run may lie beside it, under a name that begins like it.
        failure: why something could not be written, or why there is no journal; None as long as all is well. The run
            goes on all the same.
        refused: how many lines of an earlier process were none that a journal writes, and count for nothing.
    """

    def __init__(self, folder: str, run: str, *, now: Callable[[], float], seal: Seal | None = None) -> None:
        """Open the journal of a run, and read what earlier processes left in it.

        Where another process has it, this one goes on without: waiting would take as long as a run.

        Args:
            folder: which need not exist; it is made for this user alone. Old journals in it are removed.
            run: a digest of all that makes this run this run: paths, contents, configuration, version.
            now: a clock that gives seconds since 1970.
            seal: signs lines, and checks those that are there; None: they are not signed.
        """
        self.path = os.path.join(folder, digest(run.encode("utf-8", "surrogatepass")) + SUFFIX)
        self.failure: str | None = None
        self.refused = 0
        self._run = run
        self._now = now
        self._seal = seal
        self._lock = Lock()
        self._ledger = Ledger()
        self._before: Spent | None = None  # what earlier processes spent; None where there were none
        self._taken = 0
        self._written = False
        self._charged = False
        self._whole = True
        self._foreign = False
        self._file: int | None = None
        journal_file.sweep(folder, now() - KEPT_DAYS * _DAY_S)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            self._file = journal_file.opened(self.path)
            if self._file is None:
                self.failure = "another process is at the same run: this one keeps no journal, and cannot be resumed"
            else:
                self._begin(self._file)
        except OSError as error:
            self._fail(error)

    @property
    def ignored(self) -> str | None:
        """What an earlier process left and this run's key did not sign, so that it is not used; None for nothing."""
        if self._foreign:
            return "the journal of a run that was cut short was ignored: it is not signed with this run's key"
        if not self.refused or self._seal is None:
            return None
        lines = (
            "1 line of the run's journal was"
            if self.refused == 1
            else f"{self.refused:,} lines of the run's journal were"
        )
        return f"{lines} ignored: not whole, or not signed with this run's key"

    @property
    def resumed(self) -> Resumed | None:
        """What this run took from the one it goes on from; None where there was none.

        What was on its way when that ended is in ``repeated`` once it is sent again, and not in the cost.
        """
        with self._lock:
            if self._before is None:
                return None
            cost = None if self._before.unpriced else self._before.usd
            return Resumed(self._taken, self._ledger.repeated, cost)

    def charge(self, budget: Budget) -> None:
        """Count what earlier processes spent against a budget, the first time that this is called."""
        with self._lock:
            if self._charged or self._before is None:
                return
            self._charged = True
        budget.carry(self._before)

    def get(self, request: Request, provider: Provider) -> Answer | None:
        """Give what an earlier process received for a request: each reply once, in their order; None for none left.

        The reply is judged as it was then, good or not; it counts as kept, and as sent by nobody.
        """
        key = identity(request, provider)
        while (line := self._next(key)) is not None:
            reply = reply_of(line.get("reply"))
            answer = None if reply is None else _judged(request, reply)
            if answer is not None:
                with self._lock:
                    self._taken += GOT in line
                return answer._replace(first_seconds=seconds_of(line.get("seconds")))
        return None

    def sent(self, request: Request, provider: Provider, most: float = 0.0) -> None:
        """Note that a request is about to be sent, once for each try.

        Args:
            request: what is asked.
            provider: who is asked.
            most: US dollars that it can cost, 0 where nothing limits the cost.
        """
        key, model = identity(request, provider), str(request.body.get("model", ""))
        with self._lock:
            self._ledger.sent(key, model, most)
            self._append({SENT: key, "model": model, "most": most})

    def got(
        self, request: Request, provider: Provider, reply: Reply, cost: float | None, counted: float | None = None
    ) -> None:
        """Note the reply to a request that was sent; call it before anything uses the reply.

        Args:
            request: what was asked.
            provider: who was asked.
            reply: whatever it is worth.
            cost: US dollars, None where that is unknown.
            counted: against the limit of the cost, None for the cost.
        """
        key = identity(request, provider)
        with self._lock:
            self._ledger.got(key, cost, counted)
            self._append({GOT: key, "cost": cost, "counted": counted, "reply": fields_of(reply)})

    def kept(self, request: Request, provider: Provider, reply: Reply, seconds: float | None = None) -> None:
        """Note a reply that was kept from another run: it may have gone from there when this one is resumed."""
        with self._lock:
            self._append({KEPT: identity(request, provider), "reply": fields_of(reply), "seconds": seconds})

    def lost(self, request: Request, provider: Provider, cost: float | None = 0.0) -> None:
        """Note that a try gave no reply; ``cost`` is None where one may have been made and paid for."""
        key = identity(request, provider)
        with self._lock:
            self._ledger.lost(key, cost)
            self._append({LOST: key, "cost": cost})

    def close(self, *, done: bool) -> None:
        """End the run: one that is done needs no journal; one that is not leaves it, unless nothing was sent.

        What comes after that, at the end of a run that was interrupted, is not written.
        """
        with self._lock:
            file, self._file = self._file, None
            if file is None:
                return
            if not done and (self._written or self._before is not None):
                os.close(file)
                return
            if os.name == "nt":  # where a file that is open stays
                os.close(file)
            with suppress(OSError):
                os.unlink(self.path)  # before it is let go: whoever waits for it finds that it is gone
            if os.name != "nt":
                os.close(file)

    def _begin(self, file: int) -> None:
        """Read the file, or begin it where it is new, or of another run."""
        size = os.fstat(file).st_size
        if size and size <= MOST_BYTES and self._read(file):
            self._ledger.ended()
            self._before = self._ledger.spent
            self._append({AGAIN: self._date()})
            return
        self._foreign = size > 0 and self._seal is not None
        self._ledger = Ledger()
        self.refused = 0
        os.ftruncate(file, 0)
        self._append({"journal": FORMAT, "run": self._run, "date": self._date()})
        self._written = False

    def _read(self, file: int) -> bool:
        """Read all lines, and cut the last one off where it is torn; False where they are of another run."""
        end = 0
        for place, line in journal_file.lines(file, self._decoded):
            end = place.start + place.length
            if not place.start:
                if line is None or line.get("journal") != FORMAT or line.get("run") != self._run:
                    return False
            elif line is None or not self._ledger.read(line, place):
                self.refused += 1
        os.ftruncate(file, end)
        return end > 0

    def _next(self, key: str) -> Mapping[str, Any] | None:
        with self._lock:
            if self._file is None:
                return None
            while (place := self._ledger.taken(key)) is not None:
                try:
                    os.lseek(self._file, place.start, os.SEEK_SET)
                    data = os.read(self._file, place.length)
                except OSError:
                    continue
                line = self._decoded(data)
                if line is not None and key in (line.get(GOT), line.get(KEPT)):
                    return line
        return None

    def _decoded(self, data: bytes) -> Mapping[str, Any] | None:
        """Return the object of a line; None where it is none, or should be signed and is not."""
        text, _, mark = data.rstrip(b"\n").partition(_MARK)
        if self._seal is not None and not self._seal.fits(mark.decode(errors="replace"), *self._signed(text)):
            return None
        return journal_file.decoded(text)

    def _signed(self, text: bytes) -> tuple[bytes, ...]:
        return b"journal", self._run.encode("utf-8", "surrogatepass"), text

    def _append(self, line: Mapping[str, Any]) -> None:
        """Write a line in one piece. Under the lock."""
        if self._file is None:
            return
        try:
            data = json.dumps(line, default=dict).encode()
        except _UNWRITABLE:
            return  # a resumed run asks again
        mark = b"" if self._seal is None else _MARK + self._seal.mark(*self._signed(data)).encode()
        data += mark + b"\n"
        if len(data) > MOST_LINE:
            return
        self._written = True
        try:
            data = data if self._whole else b"\n" + data
            self._whole = False
            written = os.write(self._file, data)
            self._whole = written == len(data)
            if not self._whole:
                self.failure = self.failure or f"the journal of the run is not complete: {self.path}: no space left"
                os.ftruncate(self._file, os.fstat(self._file).st_size - written)
                self._whole = True
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        why = error.strerror or str(error)
        self.failure = self.failure or f"the journal of the run cannot be written: {self.path}: {why}"

    def _date(self) -> str:
        return datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="seconds")


def _judged(request: Request, reply: Reply) -> Answer | None:
    try:
        found = classify(request, reply)
    except (OverflowError, ValueError, RecursionError):
        return None  # nor could the run that received it make anything of it
    return Answer(found.status, found.value, reply, found.cause, found.reason, cached=True)
