"""Processes of programs: their users, limits, children and leftovers, and how to stop them.

Processes are read from ``/proc`` on Linux; elsewhere only the program itself is known.
"""
# ruff: noqa: PTH108, PTH110, PTH112, PTH116, PTH120, PTH123, PTH208

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.isolation.seclusion import adopts_orphans
from skillgate.errors import IncompleteError
from skillgate.model.bench import ErrorKind
from skillgate.process import children, ends_within, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.bench.ports import Limits
    from skillgate.process import Child

FIRST_USER = 61_184
"""The first uid that systemd reserves for dynamic users (61184–65519); no account has one of them."""
ENDED_BECAUSE = {
    ErrorKind.TIMEOUT: "gave no answer within {limits.timeout_s:g} s and was stopped",
    ErrorKind.OUTPUT_LIMIT: "wrote more than {limits.stdout_bytes:,} bytes and was stopped",
    ErrorKind.MEMORY_LIMIT: "used more than {limits.memory_bytes:,} bytes of memory and was stopped",
    ErrorKind.PROCESS_LIMIT: "had more than {limits.processes} processes at once and was stopped",
    ErrorKind.DISK_LIMIT: "wrote more than {limits.disk_bytes:,} bytes of files, or too many to count, and was stopped",
    ErrorKind.STOPPED: "was stopped with the run",
}
"""Message by kind, to follow the program's name; a format string with ``limits``."""
SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/dev/mqueue")  # noqa: S108 - writable for every user
ENDLESS = 2**63
_MOST_COUNTED = 100_000
_DEEPEST = 100
_DISK_BLOCK = 512  # st_blocks counts in these
_BLOCKS = 16
_BLOCK = 256  # as many calls as can run at once
_PROC = "/proc"
_TERM_S = 0.3  # between SIGTERM and SIGKILL
_END_S = 10.0  # longer than stopping a fork bomb within the process limit takes
_PAUSE_S = 0.001
_TICK_S = 0.02  # process start times are in hundredths of a second
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_SHELL = "/bin/sh"
_FILE_BYTES = 1024 * 1024 * 1024  # maximum size of a file that a program writes
_OPEN_FILES = 1024
_THREADS = 1024  # per user, processes included: the kernel has no limit for processes only
_SCRIPT = (
    "{{ ulimit -c 0; ulimit -f {blocks}; ulimit -n {files}; ulimit -u {threads} || ulimit -p {threads};"
    # If memory runs out, the kernel kills it first.
    ' echo 1000 >/proc/self/oom_score_adj; }} 2>/dev/null; exec "$@"'
)


class Slot(NamedTuple):
    """The slot of one of the concurrent calls."""

    number: int
    user: int | None  # uid of the call; None for the caller's


class Owned(NamedTuple):
    """What belongs to a running call."""

    user: int | None  # uid that only this call has; None for this process's
    owns: Callable[[float], bool] | None  # see family
    home: str  # absolute directory; its parent belongs to the call too


class Slots:
    """Gives each running call a slot; as root, each slot has its own unused user. Thread-safe."""

    def __init__(self, *, switch: bool = True) -> None:
        """Prepare; without ``switch``, or if not root, calls run as the caller's user."""
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        self._block, self._claim = _claim_block() if is_root and switch else (None, None)
        self.switches = self._block is not None  # whether calls run as their own users
        self._free: list[int] = []
        self._tired: deque[int] = deque()
        self._tiring: set[int] = set()
        self._made = 0
        self._adopts = adopts_orphans()
        self._first_start: float | None = None
        self._running: dict[int, float] = {}  # start of each call
        self._lock = threading.Lock()

    @contextmanager
    def taken(self) -> Iterator[Slot]:
        """Hold a slot for the context."""
        with self._lock:
            if self._free:
                number = self._free.pop()
            elif self._tired and self.switches and self._made >= _BLOCK:
                number = self._tired.popleft()
            else:
                number, self._made = self._made, self._made + 1
        try:
            user = None if self._block is None else FIRST_USER + self._block * _BLOCK + number
            yield Slot(number, user)
        finally:
            with self._lock:
                if number in self._tiring and self.switches:
                    self._tired.append(number)
                else:
                    self._free.append(number)
                self._tiring.discard(number)

    def tire(self, slot: Slot) -> None:
        """Note that the program in a slot was killed, so that other slots are used first.

        Its children may not be gone yet, and would count towards the process limit of the slot's user.
        """
        with self._lock:
            self._tiring.add(slot.number)

    @contextmanager
    def running(self, slot: Slot) -> Iterator[Callable[[float], bool] | None]:
        """Mark a call as running; yield a test for its orphans by start time, None if orphans are not inherited.

        The system does not record who started an orphan. It belongs to a call that ran at its start, so it is stopped
        with the last of these calls.
        """
        if not self._adopts:
            yield None
            return
        with self._lock:
            began = self._running[slot.number] = _now()
            if self._first_start is None:
                self._first_start = began
        try:
            yield lambda started: self._owns(slot.number, started)
        finally:
            with self._lock:
                del self._running[slot.number]

    def _owns(self, number: int, started: float) -> bool:
        with self._lock:
            if self._first_start is None or started < self._first_start - _TICK_S:
                return False  # not ours
            return all(began > started + _TICK_S for other, began in self._running.items() if other != number)

    def users(self) -> range:
        """Return the uids that calls have used."""
        first = FIRST_USER + (self._block or 0) * _BLOCK
        return range(first, first + (self._made if self.switches else 0))

    def close(self) -> None:
        """Release the uids."""
        if self._claim is not None:
            self._claim.close()


def _claim_block() -> tuple[int | None, socket.socket | None]:
    """Claim a block of uids that no other run uses, while the socket is open; Linux only.

    The claim is visible within a network namespace only. So each container starts at another block, and skips blocks
    with running processes.

    Raises:
        IncompleteError: Every block is taken.
    """
    try:
        first = os.stat("/proc/self/ns/net").st_ino
    except OSError:
        first = 0
    busy = _busy_users()
    for step in range(_BLOCKS):
        block = (first + step) % _BLOCKS
        begin = FIRST_USER + block * _BLOCK
        if any(begin <= user < begin + _BLOCK for user in busy):
            continue
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0skillgate-users-{block}")  # an abstract socket, which ends with the process
        except OSError:
            claim.close()
        else:
            return block, claim
    # On Linux, never fall back to root: an attacker may hold the names on purpose.
    if os.path.isdir("/proc/self/ns"):
        raise IncompleteError(
            "no user ids are left to run programs as: other evaluations, or a program that holds their names, use"
            f" all {_BLOCKS} blocks; wait for them to end"
        )
    return None, None


def _busy_users() -> set[int]:
    """Return the uids of all blocks that have processes, as far as visible."""
    users: set[int] = set()
    with suppress(OSError):
        for pid in _pids():
            with suppress(OSError):
                user = os.stat(f"{_PROC}/{pid}").st_uid
                if user not in users and FIRST_USER <= user < FIRST_USER + _BLOCKS * _BLOCK:
                    process = _read_process(pid, thorough=False)  # init may be slow to reap it
                    users |= {user} if process is not None and not process.ended else set()
    return users


def bounded(argv: Sequence[str], *, alone: bool) -> tuple[str, ...]:
    """Return the command wrapped so that it runs within kernel limits; unchanged except on Linux.

    A shell sets the limits for itself and then becomes the program. That takes a millisecond, leaves no moment without
    limits, and needs no privilege, unlike setting them from outside. The shell does not interpret the command's words.

    Args:
        argv: The absolute path of a program, and its arguments.
        alone: Whether nothing else runs as its user. If not, the thread limit is added to the number of threads that
            the whole system has now.
    """
    if sys.platform != "linux" or not os.path.exists(_SHELL):
        return tuple(argv)
    threads = _THREADS
    if not alone:
        with open("/proc/loadavg", encoding="ascii") as file:
            threads += int(file.read().split()[3].partition("/")[2])
    # POSIX counts file sizes in blocks of 512 bytes. Stricter existing limits stay.
    script = _SCRIPT.format(blocks=_FILE_BYTES // 512, files=_OPEN_FILES, threads=threads)
    return (_SHELL, "-c", script, "sh", *argv)


def exceeded(leader: int, owned: Owned, limits: Limits) -> ErrorKind | None:
    """Return which limit a program and its descendants exceed together; None for none."""
    members = family(leader, owned.user, owned.owns)
    if limits.processes is not None and len(members) > limits.processes:
        return ErrorKind.PROCESS_LIMIT
    if limits.memory_bytes is not None and sum(members.values()) > limits.memory_bytes:
        return ErrorKind.MEMORY_LIMIT
    if limits.disk_bytes is not None and disk_usage(os.path.dirname(owned.home)) > limits.disk_bytes:
        return ErrorKind.DISK_LIMIT
    return None


def request_end(child: Child) -> None:
    """Send SIGTERM to a program's group, and wait a moment."""
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGTERM)
    ends_within(child, _TERM_S)


def end_all(child: Child, owned: Owned) -> None:
    """Kill a program and everything it left behind."""
    child.poll()  # reap it first, so that it is not counted
    is_hidden = _has_any(owned.user) if owned.user is not None else owned.owns is not None and _may_inherit()
    if child.poll() is None or is_hidden or _has_group(child.pid):
        _kill(child.pid, owned)
    child.wait()


def _has_group(leader: int) -> bool:
    """Whether processes of a program's group still exist."""
    try:
        os.killpg(leader, 0)
    except OSError:
        return False
    return True


def _kill(leader: int, owned: Owned) -> None:
    """Kill a program's group and all processes found of it."""
    with suppress(OSError):
        os.killpg(leader, signal.SIGKILL)
    until = time.monotonic() + _END_S
    while time.monotonic() < until:  # new children are found in the next round
        members = family(leader, owned.user, owned.owns)
        if not members:
            return
        for pid in members:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE_S)


def _has_any(user: int) -> bool:
    """Whether any process, even a zombie, runs as a user."""
    try:
        os.getpriority(os.PRIO_USER, user)
    except ProcessLookupError:
        return False
    return True


def _may_inherit() -> bool:
    """Whether this process may have inherited processes; True if unknown."""
    pids: set[int] = set()
    is_known = False
    with suppress(OSError), children() as known:
        for thread in os.listdir(f"{_PROC}/self/task"):
            with suppress(FileNotFoundError), open(f"{_PROC}/self/task/{thread}/children", "rb") as file:
                pids.update(map(int, file.read().split()))
                is_known = True
        return not is_known or not pids <= known
    return True


def family(leader: int, user: int | None, owns: Callable[[float], bool] | None = None) -> dict[int, int]:
    """Return the processes of a session, their descendants and all of a user, with resident memory in bytes.

    Args:
        leader: Leader of the session; processes that left it are found while their parent lives.
        user: A uid that only this program has; None for none.
        owns: If this process inherits orphans: whether an orphan belongs to this program, by its start in seconds
            since boot.
    """
    if not os.path.isdir(_PROC):
        return {}
    adopted: set[int] = set()
    if owns is None:
        table = _read_processes(thorough=user is not None)
    else:
        with children() as known:
            table = _read_processes(thorough=user is not None)
            adopted = {pid for pid, row in _inherited(table, known) if owns(row.started)}
    table = {pid: row for pid, row in table.items() if not row.ended}
    inside = {pid for pid, row in table.items() if pid == leader or row.session == leader or row.user == user}
    inside |= adopted & table.keys()
    before = -1
    while len(inside) != before:
        before = len(inside)
        inside |= {pid for pid, row in table.items() if row.parent in inside}
    return {pid: table[pid].memory for pid in inside if pid != os.getpid()}


class _Process(NamedTuple):
    parent: int
    session: int
    started: float  # on the clock of _now
    memory: int
    user: int
    ended: bool


def _now() -> float:
    """Return seconds since boot, the clock of process start times."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else 0.0


def _inherited(table: dict[int, _Process], known: frozenset[int]) -> list[tuple[int, _Process]]:
    """Return the inherited processes, and reap those that have ended."""
    own, session = os.getpid(), os.getsid(0)
    rows = [(p, row) for p, row in table.items() if row.parent == own and row.session != session and p not in known]
    for pid, row in rows:
        if row.ended:
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)
    return rows


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(_PROC) if name.isdigit()]


def _read_processes(*, thorough: bool) -> dict[int, _Process]:
    return {pid: row for pid in _pids() if (row := _read_process(pid, thorough=thorough)) is not None}


def _read_process(pid: int, *, thorough: bool) -> _Process | None:
    """Read one process; None if it is gone. Its user is reliable if ``thorough``."""
    # Called for all processes several times a second per call; psutil takes three to six times as long.
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            data = file.read()
            user = os.fstat(file.fileno()).st_uid
        if thorough and user == 0:  # shown for a process that is not dumpable
            with open(f"{_PROC}/{pid}/status", "rb") as file:
                lines = file.read().split(b"\n")
            user = next((int(line.split()[1]) for line in lines if line.startswith(b"Uid:")), 0)
    except OSError:
        return None
    fields = data[data.rfind(b")") + 2 :].split()  # a name may contain spaces and brackets
    if len(fields) < 22:
        return None
    parent, session, started, pages = (int(fields[index]) for index in (1, 3, 19, 21))
    return _Process(parent, session, started / _TICKS, pages * _PAGE, user, ended=fields[0] in (b"Z", b"X"))


def disk_usage(folder: str) -> int:
    """Return the bytes on disk below a directory; ``ENDLESS`` above 100,000 files or 100 nested directories.

    Deleted files that are still open are not counted.
    """
    total = files = 0
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop()
        if depth > _DEEPEST:
            return ENDLESS
        with suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                files += 1
                with suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * _DISK_BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
                if files > _MOST_COUNTED:
                    return ENDLESS
    return total


def remove(folder: str) -> None:
    """Remove a directory, even with inaccessible or deeply nested directories."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if not os.path.lexists(folder):
        return
    with suppress(IncompleteError):  # tools without Python's recursion limit
        run(["chmod", "-R", "u+rwX", "--", folder])
    with suppress(IncompleteError):
        run(["rm", "-rf", "--", folder])


def remove_of(user: int, since_ns: int = 0) -> None:
    """Remove a call user's files from world-writable directories.

    Args:
        user: A uid that nothing else uses.
        since_ns: Skip directories not modified since then, in nanoseconds since the epoch. Only their owner, the
            system, could make them look older.
    """
    for place in SHARED:
        with suppress(OSError):
            if os.stat(place).st_mtime_ns < since_ns:
                continue
        with suppress(OSError), os.scandir(place) as entries:
            for entry in [entry for entry in entries if entry.stat(follow_symlinks=False).st_uid == user]:
                if entry.is_dir(follow_symlinks=False):
                    remove(entry.path)
                else:
                    with suppress(OSError):
                        os.unlink(entry.path)
