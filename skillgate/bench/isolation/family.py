"""The processes that a foreign program is and has started, as Linux shows them; elsewhere only the program itself."""
# ruff: noqa: PTH112, PTH123, PTH208

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import NamedTuple

_PROC = "/proc"
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Member(NamedTuple):
    """One process and its resident memory in bytes."""

    pid: int
    memory: int


def family(leader: int, user: int | None) -> tuple[Member, ...]:
    """List the processes of a session, what these have started, and all of a user that is the program's own.

    Args:
        leader: the process that leads the session; processes that left it are found while what started them lives.
        user: the number of a user that nothing else runs as; None for none.
    """
    if not os.path.isdir(_PROC):
        return ()
    table = {pid: found for pid in _pids() if (found := _read(pid)) is not None}
    inside = {pid for pid, row in table.items() if pid == leader or row.session == leader or row.user == user}
    before = -1
    while len(inside) != before:
        before = len(inside)
        inside |= {pid for pid, row in table.items() if row.parent in inside}
    inside.discard(os.getpid())
    return tuple(Member(pid, table[pid].memory) for pid in inside)


def end(leader: int, user: int | None) -> None:
    """Kill a program's group, and everything that is still found of it."""
    with suppress(OSError):
        os.killpg(leader, signal.SIGKILL)
    for _ in range(20):  # what starts others while it is looked for is found in the next round
        members = family(leader, user)
        if not members:
            return
        for member in members:
            with suppress(OSError):
                os.kill(member.pid, signal.SIGKILL)


class _Row(NamedTuple):
    parent: int
    session: int
    memory: int
    user: int


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(_PROC) if name.isdigit()]


def _read(pid: int) -> _Row | None:
    """Read one process; None where it has gone or is only waited for."""
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            data = file.read()
            owner = os.fstat(file.fileno()).st_uid
    except OSError:
        return None
    fields = data[data.rfind(b")") + 2 :].split()  # a name may hold blanks and brackets
    if len(fields) < 22 or fields[0] in (b"Z", b"X"):
        return None
    return _Row(parent=int(fields[1]), session=int(fields[3]), memory=int(fields[21]) * _PAGE, user=owner)
