"""Protect the user's secrets from the programs that this process starts. Linux only.

Every process of the user can read the initial variables of a process in ``/proc/<pid>/environ``, whatever it does to
its own copy. So this process restarts itself, with the same pid, without them; they are passed in an unnamed file
that is read once. Then it makes itself inaccessible to other processes of its user.

The parent of this process (a shell, a runner) still has the variables, which cannot be changed from here.
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
    b" LD_LIBRARY_PATH".split()  # the last one: interpreters from a tool cache need it to start
) | {_HANDED}
_HARMLESS_PREFIXES = (b"LC_", b"XDG_", b"PYTHON")
_STATE = {"clean": False}

# From <linux/prctl.h>.
_GET_DUMPABLE, _SET_DUMPABLE = 3, 4
_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37
_SET_NO_NEW_PRIVS, _GET_NO_NEW_PRIVS = 38, 39


def seclude() -> None:
    """Restart this process without variables that may be secrets, then make it inaccessible to others.

    Does not return if it restarts: the new start calls it again. Steps that fail are skipped; :func:`is_secluded`
    returns the result.
    """
    if sys.platform != "linux":
        return
    if _HANDED in os.environb:  # never restart twice
        _take_variables(os.environb.pop(_HANDED))
    elif exposed():
        _restart()
    _STATE["clean"] = not exposed()  # check now: the next step denies this process access too
    # Not inherited by exec: started programs can be inspected as before.
    _prctl(_SET_DUMPABLE, 0)
    if os.geteuid() != 0:  # as root, leftovers of a call are found by their user
        adopt_orphans()
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core dumps


def is_secluded() -> bool:
    """Return whether programs of the same user cannot find a secret in this process."""
    return _STATE["clean"] and _prctl(_GET_DUMPABLE) == 0


def exposed() -> tuple[str, ...]:
    """Return the sorted names of initial variables that may be secrets."""
    try:
        with open("/proc/self/environ", "rb") as file:
            rows = file.read().split(b"\0")
    except OSError:
        return ("/proc/self/environ",)  # unreadable: not known to be clean
    names = {row.partition(b"=")[0] for row in rows if row}
    return tuple(sorted(os.fsdecode(name) for name in names if not _is_harmless(name)))


def adopt_orphans() -> None:
    """Become the parent of all orphans of child processes."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def adopts_orphans() -> bool:
    """Return whether :func:`adopt_orphans` is in effect."""
    library = libc()
    if library is None or not hasattr(library, "prctl"):
        return False
    import ctypes

    result = ctypes.c_int(0)
    return library.prctl(_GET_CHILD_SUBREAPER, ctypes.byref(result), 0, 0, 0) == 0 and result.value == 1


def gain_no_privileges() -> None:
    """Disable set-user-id bits for all programs started from now on."""
    _prctl(_SET_NO_NEW_PRIVS, 1)


def gains_no_privileges() -> bool:
    """Return whether :func:`gain_no_privileges` is in effect."""
    return _prctl(_GET_NO_NEW_PRIVS) == 1


@cache
def libc() -> ctypes.CDLL | None:
    """Return the C library on Linux; None elsewhere, or if Python was built without libffi."""
    if sys.platform != "linux":
        return None
    try:
        import ctypes  # only after the restart
    except ImportError:
        return None
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int = 0) -> int:
    """Call prctl; return -1 if it is not available."""
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
    """Replace this process with a new start of itself; return only if that fails."""
    if not sys.executable or sys.argv[:1] in ([], [""], ["-"]):  # a program read from a stream cannot be read again
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
    """Read the variables passed by the first start, and close their file."""
    with suppress(OSError, ValueError):
        descriptor = int(number)
        if not os.readlink(f"/proc/self/fd/{descriptor}").startswith(f"/memfd:{_FILE}"):
            return
        with open(descriptor, "rb") as file:
            rows = file.read().split(b"\0")
        for row in rows:
            name, equals, value = row.partition(b"=")
            if equals:
                os.environb[name] = value  # stored on the heap, which /proc/<pid>/environ does not show
