"""Puts the user's secrets out of reach of the programs that this process will start.

The variables that a process was started with stand in ``/proc/<pid>/environ`` as long as it lives, for every process of
its user, whatever it does to its own copy. So it starts itself again, with the same process number, without them; they
come over in a file without a name that is read once. Then it closes itself to other processes of its user.

What started this process (a shell, a runner) holds them still, and nothing here can change that. Does nothing but on
Linux.
"""
# ruff: noqa: PTH115, PTH123

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

_HANDED = b"SKILLGATE_HANDED"
_FILE = "skillgate-variables"
_HARMLESS = frozenset(
    b"PATH HOME LANG LANGUAGE TERM COLORTERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TZ CI"
    b" TMPDIR TEMP TMP PWD OLDPWD SHLVL SHELL USER LOGNAME HOSTNAME LS_COLORS EDITOR PAGER VIRTUAL_ENV _"
    b" LD_LIBRARY_PATH".split()  # the last one: interpreters out of a tool cache do not start without it
) | {_HANDED}
_HARMLESS_PREFIXES = (b"LC_", b"XDG_", b"PYTHON")
_STATE = {"clean": False}

# Of <linux/prctl.h>.
_GET_DUMPABLE, _SET_DUMPABLE = 3, 4
_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37
_SET_NO_NEW_PRIVS, _GET_NO_NEW_PRIVS = 38, 39


def seclude() -> None:
    """Start this process again without the variables that are not known to be harmless, then close it to others.

    Does not return where it starts again: it is called again then. What does not work is left out; what holds is known
    from :func:`is_secluded`.
    """
    if sys.platform != "linux":
        return
    if _HANDED in os.environb:  # whatever it holds, there is no third start
        _take_variables(os.environb.pop(_HANDED))
    elif exposed():
        _restart()
    _STATE["clean"] = not exposed()  # now: afterwards the file is closed to this process as well
    # What a child inherits by exec is not concerned: programs that are started can be looked into as before.
    _prctl(_SET_DUMPABLE, 0)
    if os.geteuid() != 0:  # as root, what a call leaves is found by its user
        adopt_orphans()
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no crash writes memory into a file


def is_secluded() -> bool:
    """Return whether programs of the same user find no secret in this process."""
    return _STATE["clean"] and _prctl(_GET_DUMPABLE) == 0


def exposed() -> tuple[str, ...]:
    """Return the names of the variables that this process was started with and that may be secrets; sorted."""
    try:
        with open("/proc/self/environ", "rb") as file:
            rows = file.read().split(b"\0")
    except OSError:
        return ("/proc/self/environ",)  # what cannot be looked at is not known to be clean
    names = {row.partition(b"=")[0] for row in rows if row}
    return tuple(sorted(os.fsdecode(name) for name in names if not _is_harmless(name)))


def adopt_orphans() -> None:
    """Become the parent of what children leave behind, wherever it hid."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def adopts_orphans() -> bool:
    """Return whether :func:`adopt_orphans` holds."""
    library = libc()
    if library is None or not hasattr(library, "prctl"):
        return False
    import ctypes

    result = ctypes.c_int(0)
    return library.prctl(_GET_CHILD_SUBREAPER, ctypes.byref(result), 0, 0, 0) == 0 and result.value == 1


def gain_no_privileges() -> None:
    """Make programs with set-user-id bits give no rights to what is started from now on."""
    _prctl(_SET_NO_NEW_PRIVS, 1)


def gains_no_privileges() -> bool:
    """Return whether :func:`gain_no_privileges` holds."""
    return _prctl(_GET_NO_NEW_PRIVS) == 1


@cache
def libc() -> ctypes.CDLL | None:
    """Return the C library on Linux; None elsewhere, and for a Python that was built without libffi."""
    if sys.platform != "linux":
        return None
    try:
        import ctypes  # after the second start alone
    except ImportError:
        return None
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int = 0) -> int:
    """Call prctl; -1 where it is not there."""
    library = libc()
    if library is None or not hasattr(library, "prctl"):
        return -1
    import ctypes

    number = ctypes.c_ulong
    result: int = library.prctl(option, number(value), number(0), number(0), number(0))
    return result


def _is_harmless(name: bytes) -> bool:
    return name in _HARMLESS or name.startswith(_HARMLESS_PREFIXES)


def _restart() -> None:
    """Replace this process by itself; returns only where that cannot be done."""
    if not sys.executable or sys.argv[:1] in ([], [""], ["-"]):  # a program that was read from a stream is read once
        return
    harmless = {name: value for name, value in os.environb.items() if _is_harmless(name)}
    rest = b"\0".join(name + b"=" + value for name, value in os.environb.items() if name not in harmless)
    with suppress(OSError):
        number = os.memfd_create(_FILE, 0)
        with open(number, "wb", closefd=False) as file:
            file.write(rest)
        os.lseek(number, 0, os.SEEK_SET)
        os.set_inheritable(number, True)
        try:
            words = [sys.executable, *sys.orig_argv[1:]]
            os.execve(sys.executable, words, {**harmless, _HANDED: str(number).encode()})  # noqa: S606 - itself
        finally:
            os.close(number)


def _take_variables(number: bytes) -> None:
    """Take over the variables that the first start left, and close their file."""
    with suppress(OSError, ValueError):
        descriptor = int(number)
        if not os.readlink(f"/proc/self/fd/{descriptor}").startswith(f"/memfd:{_FILE}"):
            return
        with open(descriptor, "rb") as file:
            rows = file.read().split(b"\0")
        for row in rows:
            name, equals, value = row.partition(b"=")
            if equals:
                os.environb[name] = value  # lies on the heap, which /proc/<pid>/environ does not show
