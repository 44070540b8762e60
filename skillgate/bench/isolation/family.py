"""The processes that a foreign program is and has started, as Linux shows them; elsewhere only the program itself."""
# ruff: noqa: PTH112, PTH123, PTH208

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from skillgate.process import children

if TYPE_CHECKING:
    from collections.abc import Callable

_PROC = "/proc"
_END_S = 10.0  # more than a fork bomb of as many processes as the limits let it have takes
_PAUSE_S = 0.001
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Member(NamedTuple):
    """One process and its resident memory in bytes."""

    pid: int
    memory: int


def family(leader: int, user: int | None, owns: Callable[[float], bool] | None = None) -> tuple[Member, ...]:
    """List the processes of a session, what these have started, and all of a user that is the program's own.

    Args:
        leader: the process that leads the session; processes that left it are found while what started them lives.
        user: the number of a user that nothing else runs as; None for none.
        owns: where this process inherits what programs leave behind: whether a process that was inherited is this
            program's, by when it was started (seconds on the clock of :func:`now`).
    """
    if not os.path.isdir(_PROC):
        return ()
    if owns is None:
        table = _table(thorough=user is not None)
        adopted: set[int] = set()
    else:
        with children() as known:
            table = _table(thorough=user is not None)
            adopted = {pid for pid, row in _inherited(table, known) if owns(row.started)}
    table = {pid: row for pid, row in table.items() if not row.ended}
    inside = {pid for pid, row in table.items() if pid == leader or row.session == leader or row.user == user}
    inside |= adopted & table.keys()
    before = -1
    while len(inside) != before:
        before = len(inside)
        inside |= {pid for pid, row in table.items() if row.parent in inside}
    inside.discard(os.getpid())
    return tuple(Member(pid, table[pid].memory) for pid in inside)


def now() -> float:
    """Give the time on the clock that processes' starts are told on: seconds since the machine started."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else 0.0


def inherits() -> bool:
    """Tell quickly whether this process may have inherited anything; True where that is not known."""
    found: set[int] = set()
    asked = False
    with suppress(OSError), children() as known:
        for thread in os.listdir(f"{_PROC}/self/task"):
            with suppress(FileNotFoundError), open(f"{_PROC}/self/task/{thread}/children", "rb") as file:
                found.update(map(int, file.read().split()))
                asked = True
        return not asked or not found <= known
    return True


def end(leader: int, user: int | None, owns: Callable[[float], bool] | None = None) -> None:
    """Kill a program's group, and everything that is still found of it; for arguments see :func:`family`."""
    with suppress(OSError):
        os.killpg(leader, signal.SIGKILL)
    until = time.monotonic() + _END_S
    while time.monotonic() < until:  # what starts others while it is looked for is found in the next round
        members = family(leader, user, owns)
        if not members:
            return
        for member in members:
            with suppress(OSError):
                os.kill(member.pid, signal.SIGKILL)
        time.sleep(_PAUSE_S)


def has_any(user: int) -> bool:
    """Tell quickly whether any process runs as a user, one that only is to be waited for included."""
    try:
        os.getpriority(os.PRIO_USER, user)
    except ProcessLookupError:
        return False
    return True


def _table(*, thorough: bool) -> dict[int, _Row]:
    return {pid: found for pid in _pids() if (found := _read(pid, thorough=thorough)) is not None}


def _inherited(table: dict[int, _Row], known: frozenset[int]) -> list[tuple[int, _Row]]:
    """Find what this process inherited; what of it has ended is waited for, so that its number is free again."""
    own, session = os.getpid(), os.getsid(0)
    rows = [
        (pid, row) for pid, row in table.items() if row.parent == own and row.session != session and pid not in known
    ]
    for pid, row in rows:
        if row.ended:
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)
    return rows


class _Row(NamedTuple):
    parent: int
    session: int
    started: float
    memory: int
    user: int
    ended: bool


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(_PROC) if name.isdigit()]


def _read(pid: int, *, thorough: bool) -> _Row | None:
    """Read one process; None where it has gone. Its user is certain where it is read thoroughly."""
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            data = file.read()
            owner = os.fstat(file.fileno()).st_uid
        if thorough and owner == 0:  # so a process is shown that closed itself to others
            owner = _real_user(pid)
    except OSError:
        return None
    fields = data[data.rfind(b")") + 2 :].split()  # a name may hold blanks and brackets
    if len(fields) < 22:
        return None
    return _Row(
        parent=int(fields[1]),
        session=int(fields[3]),
        started=int(fields[19]) / _TICKS,
        memory=int(fields[21]) * _PAGE,
        user=owner,
        ended=fields[0] in (b"Z", b"X"),
    )


def _real_user(pid: int) -> int:
    with open(f"{_PROC}/{pid}/status", "rb") as file:
        lines = file.read().split(b"\n")
    return next((int(line.split()[1]) for line in lines if line.startswith(b"Uid:")), 0)
