"""What Linux is asked about this process itself; elsewhere, and where Python has no ctypes, nothing is done."""

from __future__ import annotations

import sys

try:
    import ctypes
except ImportError:  # an interpreter that was built without libffi
    _CALL = None
else:
    _CALL = getattr(ctypes.CDLL(None, use_errno=True), "prctl", None) if sys.platform == "linux" else None

# Of <linux/prctl.h>.
_GET_DUMPABLE, _SET_DUMPABLE = 3, 4
_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37
_SET_NO_NEW_PRIVS, _GET_NO_NEW_PRIVS = 38, 39


def close_to_others() -> bool:
    """Keep processes of the same user from this one's environment, memory and open files; say whether that worked.

    What a child inherits by ``exec`` is not concerned: programs that are started can be looked into as before.
    """
    return _prctl(_SET_DUMPABLE, 0) == 0


def is_closed_to_others() -> bool:
    """Tell whether :func:`close_to_others` holds."""
    return _prctl(_GET_DUMPABLE) == 0


def adopt_orphans() -> bool:
    """Become the parent of what children leave behind, wherever it hid; say whether that worked."""
    return _prctl(_SET_CHILD_SUBREAPER, 1) == 0


def adopts_orphans() -> bool:
    """Tell whether :func:`adopt_orphans` holds."""
    if _CALL is None:
        return False
    found = ctypes.c_int(0)
    return _CALL(_GET_CHILD_SUBREAPER, ctypes.byref(found), 0, 0, 0) == 0 and found.value == 1


def gain_no_privileges() -> bool:
    """Make programs with set-user-id bits give no rights to what is started from now on; say whether that worked."""
    return _prctl(_SET_NO_NEW_PRIVS, 1) == 0


def gains_no_privileges() -> bool:
    """Tell whether :func:`gain_no_privileges` holds."""
    return _prctl(_GET_NO_NEW_PRIVS) == 1


def _prctl(option: int, value: int = 0) -> int:
    """Call it; -1 where it is not there."""
    if _CALL is None:
        return -1
    number = ctypes.c_ulong
    result: int = _CALL(option, number(value), number(0), number(0), number(0))
    return result
