"""The journal of one run: every reply is on disk before anything uses it, so that a run that was killed can resume.

A line of JSON is written, in one piece, before a request goes out and when its reply has come, whatever its worth. So a
resumed run sees what the one before it saw, in the same order. What was requested several times
comes back as often as it was answered. Failures of a provider are not stored: what was not answered is sent once more.

A line outlives its process, however that ends; a power failure may take the last ones along. With a key each is signed:
what comes out of a journal is cached as a model's answer, so nothing else may have written it.

A run by batches has a list of them as well (:class:`BatchJournal`).
"""
# ruff: noqa: PTH103, PTH108, PTH116, PTH118

from __future__ import annotations

import json
import os
import stat
import sys
from collections import Counter, defaultdict, deque
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import UsageError
from skillgate.llm.answers import fields_of, identity, reply_of, seconds_of
from skillgate.llm.port import UNREADABLE, classify, is_batch_id
from skillgate.llm.prices import Spent
from skillgate.model.layers import Resumed
from skillgate.model.skill import DIGEST_BYTES, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.llm.answers import Seal
    from skillgate.llm.port import Provider
    from skillgate.llm.prices import Budget
    from skillgate.model.exchange import Answer, Reply, Request

FORMAT = 1  # of a line: changes with what is written
SUFFIX = ".journal"  # of a journal's name, which begins with a digest
STORED_DAYS = 30  # how long the journal of a run lies that was not resumed
MOST_BYTES = 8 << 30  # of a journal that is read; 300,000 replies take about two
MOST_LINE = 64 << 20  # bytes; a reply of the longest kind takes about one million
SENT, GOT, REUSED, LOST, RESUMED = "sent", "got", "kept", "lost", "again"
"""What a line begins with, and what it is of: a try, its reply, an answer of earlier runs, a try that gave none; and a
process that resumes where another one ended."""
_MOST_USD = 1e6  # of one request: nothing costs more, whatever a file says
_DAY_S = 86_400.0
_MARK = b"\t"  # between a line and its mark; JSON has none that is not escaped
_UNWRITABLE = (TypeError, ValueError, RecursionError)
_OPENINGS = 5  # times that a journal may be removed, by a run that ends, just when it was opened
_FLAGS = ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NONBLOCK")  # not blocking: there may be a pipe in its place
_KEY_DIGITS = 2 * DIGEST_BYTES
_HEXADECIMAL = frozenset("0123456789abcdef")
BATCH_FORMAT = 1  # of a line of a list of batches
MOST_BATCH_BYTES = 512 << 20  # of a list of batches that is read; 10,000 requests take about 0.4 MB


class Extent(NamedTuple):
    """Where a line lies: bytes from the file's beginning, and how many."""

    start: int
    length: int


class Journal:
    """What one run sent and received. Thread-safe; one object for a run and process."""

    def __init__(self, folder: str, run: str, *, now: Callable[[], float], seal: Seal | None = None) -> None:
        """Open the journal of a run, and read what earlier processes left in it.

        If another process has it, this one continues without it: waiting would take as long as a run. The folder is
        made for this user alone; old journals in it are removed. ``run`` is a digest of all that makes this run this
        run: paths, contents, configuration, version.
        """
        # Other files of the same run may lie next to it, with a name that begins like it.
        self.path = os.path.join(folder, digest(run.encode("utf-8", "surrogatepass")) + SUFFIX)
        self.failure: str | None = None  # why something was not written, or there is no journal; the run goes on
        self.refused = 0  # lines of an earlier process that are none that a journal writes, and count for nothing
        self._run = run
        self._now = now
        self._seal = seal
        self._lock = Lock()
        self._ledger = _Ledger()
        self._before: Spent | None = None  # what earlier processes spent; None where there were none
        self._taken = 0
        self._written = False
        self._charged = False
        self._whole = True
        self._foreign = False
        self._file: int | None = None
        _sweep(folder, now() - STORED_DAYS * _DAY_S)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            self._file = _opened(self.path)
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
        lines = "1 line of the run's journal was"
        if self.refused > 1:
            lines = f"{self.refused:,} lines of the run's journal were"
        return f"{lines} ignored: not whole, or not signed with this run's key"

    @property
    def resumed(self) -> Resumed | None:
        """What this run took from the one that it resumes; None if there was none.

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
        """Return what an earlier process received for a request: each reply once, in order; None for none left.

        The reply is judged as it was then, good or not; it counts as cached, and as not sent.
        """
        key = identity(request, provider)
        while (line := self._next(key)) is not None:
            reply = reply_of(line.get("reply"))
            if reply is None:
                continue
            try:
                answer = classify(request, reply).answer(reply)
            except UNREADABLE:
                continue  # nor could the run that received it make anything of it
            with self._lock:
                self._taken += GOT in line
            return answer._replace(cached=True, first_seconds=seconds_of(line.get("seconds")))
        return None

    def sent(self, request: Request, provider: Provider, most: float = 0.0) -> None:
        """Note a try that is about to be sent; ``most`` is what it can cost in US dollars, 0 without a limit."""
        key, model = identity(request, provider), str(request.body.get("model", ""))
        with self._lock:
            self._ledger.sent(key, model, most)
            self._append({SENT: key, "model": model, "most": most})

    def got(
        self, request: Request, provider: Provider, reply: Reply, cost: float | None, counted: float | None = None
    ) -> None:
        """Note the reply to a request, whatever it is worth; call it before anything uses the reply.

        ``cost`` is in US dollars, None where it is unknown; ``counted`` against the limit, None for the cost.
        """
        key = identity(request, provider)
        with self._lock:
            self._ledger.got(key, cost, counted)
            self._append({GOT: key, "cost": cost, "counted": counted, "reply": fields_of(reply)})

    def reused(self, request: Request, provider: Provider, reply: Reply, seconds: float | None = None) -> None:
        """Note a reply that was cached by another run: it may have gone from there when this one is resumed."""
        with self._lock:
            self._append({REUSED: identity(request, provider), "reply": fields_of(reply), "seconds": seconds})

    def lost(self, request: Request, provider: Provider, cost: float | None = 0.0) -> None:
        """Note that a try gave no reply; ``cost`` is None where one may have been made and paid for."""
        key = identity(request, provider)
        with self._lock:
            self._ledger.got(key, cost, None)
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
                os.unlink(self.path)  # before it is let go: a process that waits for it finds that it is gone
            if os.name != "nt":
                os.close(file)

    def _begin(self, file: int) -> None:
        """Read the file, or begin it where it is new, or of another run."""
        size = os.fstat(file).st_size
        if size and size <= MOST_BYTES and self._read(file):
            self._ledger.ended()
            self._before = self._ledger.spent
            self._append({RESUMED: self._date()})
            return
        self._foreign = size > 0 and self._seal is not None
        self._ledger = _Ledger()
        self.refused = 0
        os.ftruncate(file, 0)
        self._append({"journal": FORMAT, "run": self._run, "date": self._date()})
        self._written = False

    def _read(self, file: int) -> bool:
        """Read all lines, and cut the last one off where it is torn; False where they are of another run."""
        end = 0
        for extent, data in _lines(file):
            line = self._decoded(data)
            end = extent.start + extent.length
            if not extent.start:
                if line is None or line.get("journal") != FORMAT or line.get("run") != self._run:
                    return False
            elif line is None or not self._ledger.read(line, extent):
                self.refused += 1
        os.ftruncate(file, end)
        return end > 0

    def _next(self, key: str) -> Mapping[str, Any] | None:
        with self._lock:
            if self._file is None:
                return None
            while (extent := self._ledger.taken(key)) is not None:
                try:
                    os.lseek(self._file, extent.start, os.SEEK_SET)
                    data = os.read(self._file, extent.length)
                except OSError:
                    continue
                line = self._decoded(data)
                if line is not None and key in (line.get(GOT), line.get(REUSED)):
                    return line
        return None

    def _decoded(self, data: bytes) -> Mapping[str, Any] | None:
        """Return the object of a line; None if it has none, or should be signed and is not."""
        text, _, mark = data.rstrip(b"\n").partition(_MARK)
        if self._seal is not None and not self._seal.fits(mark.decode(errors="replace"), *self._signed(text)):
            return None
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return line if isinstance(line, dict) else None

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


class _Try(NamedTuple):
    model: str
    most: float


class _Ledger:
    """The sum of a journal's lines, of earlier processes and of this one."""

    def __init__(self) -> None:
        self.spent = Spent()
        self.repeated = 0  # requests sent again, since it was not known what had become of them when a process ended
        self._waiting: defaultdict[str, deque[Extent]] = defaultdict(deque)
        self._out: defaultdict[str, list[_Try]] = defaultdict(list)
        self._ended: Counter[str] = Counter()  # what was out when a process ended, and was not sent again

    def read(self, line: Mapping[str, Any], extent: Extent) -> bool:
        """Take a line of a file; False, with no effect, if a journal does not write such a line."""
        kind = next(iter(line), None)
        if kind == RESUMED:
            self.ended()
            return True
        key = line.get(kind) if kind in (SENT, GOT, REUSED, LOST) else None
        if not isinstance(key, str) or len(key) != _KEY_DIGITS or not _HEXADECIMAL.issuperset(key):
            return False
        amounts = {name: _usd(line.get(name)) for name in ("most", "cost", "counted")}
        if any(amounts[name] is None and line.get(name) is not None for name in amounts):
            return False
        if kind in (GOT, REUSED) and not isinstance(line.get("reply"), dict):
            return False
        if kind == SENT:
            self.sent(key, str(line.get("model")), amounts["most"] or 0.0)
        elif kind in (LOST, GOT):
            self.got(key, amounts["cost"], amounts["counted"] if kind == GOT else None)
        if kind in (GOT, REUSED):
            self._waiting[key].append(extent)
        return True

    def sent(self, key: str, model: str, most: float) -> None:
        """Note that a request goes out; ``most`` is what it can cost."""
        self._out[key].append(_Try(model, most))
        self.spent = self.spent._replace(calls=self.spent.calls + 1)
        if self._ended[key]:
            self._ended[key] -= 1
            self.repeated += 1

    def got(self, key: str, cost: float | None, counted: float | None) -> None:
        """Note what a try cost, and what it counts; None where that is unknown: then it counts the most."""
        tries = self._out.get(key)
        known = tries.pop(0) if tries else _Try("", 0.0)
        if counted is None:
            counted = known.most if cost is None else cost
        spent = self.spent
        unpriced = spent.unpriced if cost is not None else tuple(sorted({*spent.unpriced, known.model}))
        self.spent = Spent(spent.calls, spent.usd + (cost or 0.0), spent.counted + counted, unpriced)

    def ended(self) -> None:
        """Note that a process ended: what it had sent may have been answered, and counts with its maximum cost.

        What it cost is in no sum of known costs.
        """
        for key, tries in self._out.items():
            self._ended[key] += len(tries)
            counted = sum(each.most for each in tries)
            self.spent = self.spent._replace(counted=self.spent.counted + counted)
        self._out.clear()

    def taken(self, key: str) -> Extent | None:
        """Return where the next reply to a request lies, each once; None where there is none."""
        extents = self._waiting.get(key)
        return extents.popleft() if extents else None


def _usd(value: object) -> float | None:
    """Read US dollars; None where a value is no amount that one request can cost."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MOST_USD else None


def _opened(path: str) -> int | None:
    """Open a journal for this process alone, None where another one has it; raise OSError where it is no file."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    for name in _FLAGS:
        flags |= getattr(os, name, 0)
    for _ in range(_OPENINGS):
        file = os.open(path, flags, 0o600)  # it quotes skills that others may not read
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise OSError(0, "it is no file")
        locked, there = _locked(file), _is_at(file, path)
        if locked and there:
            return file
        os.close(file)
        if there:
            return None
    return None


def _is_at(file: int, path: str) -> bool:
    """Whether a path still leads to a file; not where that was removed since its run was done."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except OSError:
        return False


def _locked(file: int) -> bool:
    """Lock a file until it is closed or the process ends; a system or disk without locks excludes no process."""
    if sys.platform == "win32":
        return True
    try:
        os.lockf(file, os.F_TLOCK, 0)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


def _lines(file: int) -> Iterator[tuple[Extent, bytes]]:
    """Yield the lines of a file that end; ``b""`` for one that is too long."""
    with open(file, "rb", closefd=False) as handle:  # a second descriptor would drop the lock
        start = 0
        while data := handle.readline(MOST_LINE):
            whole, length = data, len(data)
            while not data.endswith(b"\n") and (data := handle.readline(MOST_LINE)):
                whole, length = b"", length + len(data)
            if not data:
                return  # torn
            yield Extent(start, length), whole
            start += length


def _sweep(folder: str, before: float) -> None:
    """Remove the journals not written to since, with the files next to them that begin alike; nothing else."""
    try:
        with os.scandir(folder) as listed:
            entries = list(listed)
    except OSError:
        return
    for entry in entries:
        mark = entry.name[_KEY_DIGITS : _KEY_DIGITS + len(SUFFIX)]
        if mark != SUFFIX or entry.name[:_KEY_DIGITS].strip("0123456789abcdef"):
            continue
        with suppress(OSError):  # another run may have been faster
            if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime < before:
                os.unlink(entry.path)


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
                data = reader.read(MOST_BATCH_BYTES + 1)
        except OSError as error:
            raise UsageError(f"{file}: the batches of a run cannot be stored there: {error.strerror}") from error
        if len(data) > MOST_BATCH_BYTES:
            os.close(self._file)
            raise UsageError(f"{file} is larger than {MOST_BATCH_BYTES >> 20} MiB: it is no list of batches")
        # What earlier processes submitted and was not refused, oldest first; and how many lines could not be read.
        self.intents, self.unread = _intents(data)
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
        self._append({"format": BATCH_FORMAT, "intent": name, "at": intent.at_s, "keys": list(keys)})
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


def _intents(data: bytes) -> tuple[tuple[Intent, ...], int]:
    """Read the lines of a file, and count those that say nothing; raise UsageError for those of another version."""
    intents: dict[str, Intent] = {}
    unread = 0
    for text in data.split(b"\n"):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
            unread += not (isinstance(line, dict) and _notes_intent(line, intents))
        except (ValueError, RecursionError):
            unread += 1
    return tuple(intents.values()), unread


def _notes_intent(line: dict[str, Any], intents: dict[str, Intent]) -> bool:
    """Add what a line says to the intents; return whether it says anything."""
    name, batch, void = line.get("intent"), line.get("batch"), line.get("void")
    if "keys" in line:
        if line.get("format") != BATCH_FORMAT:
            raise UsageError(f"a list of batches of format {line.get('format')!r}: this version reads {BATCH_FORMAT}")
        keys, at_s = line["keys"], line.get("at")
        if not (isinstance(name, str) and isinstance(keys, list) and isinstance(at_s, int | float)):
            return False
        if not all(isinstance(key, str) for key in keys):
            return False
        intents[name] = Intent(name, float(at_s), tuple(keys))
        return True
    if isinstance(name, str) and name in intents and is_batch_id(batch):
        intents[name] = intents[name]._replace(batch=batch)
        return True
    return isinstance(void, str) and intents.pop(void, None) is not None
