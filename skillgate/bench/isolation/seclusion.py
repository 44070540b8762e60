"""Puts the user's secrets out of reach of the programs that this process will start.

The variables that a process was started with stand in ``/proc/<pid>/environ`` as long as it lives, for every process of
its user, whatever it does to its own copy. So it starts itself again, with the same process number, without them; they
come over in a file without a name that is read once. Then it closes itself to other processes of its user.

What started this process (a shell, a runner) holds them still, and nothing here can change that.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

_HANDED = b"SKILLGATE_HANDED"
_FILE = "skillgate-variables"
_KEPT = frozenset(
    b"PATH HOME LANG LANGUAGE TERM COLORTERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TZ CI"
    b" TMPDIR TEMP TMP PWD OLDPWD SHLVL SHELL USER LOGNAME HOSTNAME LS_COLORS EDITOR PAGER VIRTUAL_ENV _"
    b" LD_LIBRARY_PATH".split()  # the last one: interpreters out of a tool cache do not start without it
) | {_HANDED}
_KEPT_PREFIXES = (b"LC_", b"XDG_", b"PYTHON")
_STATE = {"clean": False}


def seclude() -> None:
    """Start this process again without the variables that are not known to be harmless, then close it to others.

    Does not return where it starts again: it is called again then. What does not work is left out; what holds can be
    asked with :func:`is_secluded`. Does nothing but on Linux.
    """
    if sys.platform != "linux":
        return
    if _HANDED in os.environb:  # whatever it holds, there is no third start
        _take(os.environb.pop(_HANDED))
    elif exposed():
        _start_again()
    _STATE["clean"] = not exposed()  # asked now: afterwards the file is closed to this process as well

    from skillgate.bench.isolation import prctl  # after the second start alone
    from skillgate.bench.isolation.bounds import dump_no_core

    prctl.close_to_others()
    if os.geteuid() != 0:  # as root, what a call leaves is found by its user
        prctl.adopt_orphans()
    dump_no_core()


def is_secluded() -> bool:
    """Tell whether programs of the same user find no secret in this process."""
    from skillgate.bench.isolation import prctl

    return _STATE["clean"] and prctl.is_closed_to_others()


def exposed() -> tuple[str, ...]:
    """Give the names of the variables that this process was started with and that may be secrets; sorted."""
    try:
        with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - pathlib costs start-up time
            rows = file.read().split(b"\0")
    except OSError:
        return ("/proc/self/environ",)  # what cannot be looked at is not known to be clean
    names = {row.partition(b"=")[0] for row in rows if row}
    return tuple(sorted(os.fsdecode(name) for name in names if not _harmless(name)))


def _harmless(name: bytes) -> bool:
    return name in _KEPT or name.startswith(_KEPT_PREFIXES)


def _start_again() -> None:
    """Replace this process by itself; returns only where that cannot be done."""
    if not sys.executable or sys.argv[:1] in ([], [""], ["-"]):  # a program that was read from a stream is read once
        return
    kept = {name: value for name, value in os.environb.items() if _harmless(name)}
    rest = b"\0".join(name + b"=" + value for name, value in os.environb.items() if name not in kept)
    with suppress(OSError):
        number = os.memfd_create(_FILE, 0)
        with open(number, "wb", closefd=False) as file:
            file.write(rest)
        os.lseek(number, 0, os.SEEK_SET)
        os.set_inheritable(number, True)
        try:
            words = [sys.executable, *sys.orig_argv[1:]]
            os.execve(sys.executable, words, {**kept, _HANDED: str(number).encode()})  # noqa: S606 - itself
        finally:
            os.close(number)


def _take(number: bytes) -> None:
    """Take over the variables that the first start left, and close their file."""
    with suppress(OSError, ValueError):
        descriptor = int(number)
        if not os.readlink(f"/proc/self/fd/{descriptor}").startswith(f"/memfd:{_FILE}"):  # noqa: PTH115
            return
        with open(descriptor, "rb") as file:
            rows = file.read().split(b"\0")
        for row in rows:
            name, equals, value = row.partition(b"=")
            if equals:
                os.environb[name] = value  # lies on the heap, which /proc/<pid>/environ does not show
