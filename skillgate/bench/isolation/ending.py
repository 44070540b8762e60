"""When a foreign program has to be ended, how it is, and in what words that is told."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.isolation.family import end, family, has_any, inherits
from skillgate.bench.isolation.leftovers import taken
from skillgate.model.bench_result import ErrorKind
from skillgate.process import ends_within

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.bench.ports import Limits
    from skillgate.process import Child

WORDS = {
    ErrorKind.TIMEOUT: "gave no answer within {limits.timeout_s:g} s and was ended",
    ErrorKind.OUTPUT_LIMIT: "wrote more than {limits.stdout_bytes:,} bytes and was ended",
    ErrorKind.MEMORY_LIMIT: "used more than {limits.memory_bytes:,} bytes of memory and was ended",
    ErrorKind.PROCESS_LIMIT: "had more than {limits.processes} processes at once and was ended",
    ErrorKind.DISK_LIMIT: "wrote more than {limits.disk_bytes:,} bytes of files, or too many to count, and was ended",
    ErrorKind.STOPPED: "was ended with the run",
}
"""What follows the program's name, by kind; a format that takes ``limits``."""
_TERM_S = 0.3  # between asking a program to end and ending it


class Owned(NamedTuple):
    """What belongs to a call that runs: its user, what tells the orphans that it left, its home.

    Attributes:
        user: the number of a user that nothing else runs as; None for this process's own.
        owns: as of :func:`skillgate.bench.isolation.family.family`.
        home: an absolute directory, whose parent is the call's own too.
    """

    user: int | None
    owns: Callable[[float], bool] | None
    home: str


def too_much(leader: int, owned: Owned, limits: Limits) -> ErrorKind | None:
    """Say which limit a program and all that it started exceed together; None for none."""
    members = family(leader, owned.user, owned.owns)
    if limits.processes is not None and len(members) > limits.processes:
        return ErrorKind.PROCESS_LIMIT
    if limits.memory_bytes is not None and sum(member.memory for member in members) > limits.memory_bytes:
        return ErrorKind.MEMORY_LIMIT
    around = os.path.dirname(owned.home)  # noqa: PTH120
    if limits.disk_bytes is not None and taken(around) > limits.disk_bytes:
        return ErrorKind.DISK_LIMIT
    return None


def ask_to_end(child: Child) -> None:
    """Ask a program's group to end, and give it a moment to do so."""
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGTERM)
    ends_within(child, _TERM_S)


def end_all(child: Child, owned: Owned) -> None:
    """End a program, where it still runs, and all that it left behind."""
    child.poll()  # it is not to be counted where it has ended
    hidden = has_any(owned.user) if owned.user is not None else owned.owns is not None and inherits()
    if child.poll() is None or hidden or _leaves(child.pid):
        end(child.pid, owned.user, owned.owns)
    child.wait()


def _leaves(leader: int) -> bool:
    """Tell whether a program that has ended left something of its group behind."""
    try:
        os.killpg(leader, 0)
    except OSError:
        return False
    return True
