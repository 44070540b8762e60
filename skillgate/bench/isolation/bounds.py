"""The kernel's own limits for a program that was just started; Linux alone can set them from outside."""
# ruff: noqa: PTH123

from __future__ import annotations

from contextlib import suppress
from typing import Any

resource: Any  # typed as that, since Windows has none and macOS less of it
try:
    import resource
except ImportError:
    resource = None

FILE_BYTES = 1024 * 1024 * 1024
"""The largest file that a program may write."""
OPEN_FILES = 1024
_THREADS = 1024
"""Of one user at once, its processes counted too: the kernel has no limit for processes alone."""


def dump_no_core() -> None:
    """Let neither this process nor what it starts write its memory into a file when it crashes."""
    if resource is not None:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def bound(pid: int, *, alone: bool) -> None:
    """Bound what a program and all that it starts may use; its first milliseconds are not bounded.

    Args:
        pid: the program, just started; that it has ended is no error.
        alone: whether nothing else runs as its user. Where not, it may have as many threads more than the whole system
            has now.
    """
    if resource is None or not hasattr(resource, "prlimit"):
        return
    threads = _THREADS if alone else _THREADS + _threads_there_are()
    rows = (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_NPROC, threads),
    )
    for kind, most in rows:
        with suppress(OSError, ValueError):
            limit = min(most, resource.prlimit(pid, kind)[1]) if _is_limited(pid, kind) else most
            resource.prlimit(pid, kind, (limit, limit))
    with suppress(OSError), open(f"/proc/{pid}/oom_score_adj", "w") as file:
        file.write("1000")  # where memory runs out, the kernel ends it before anything else


def _is_limited(pid: int, kind: int) -> bool:
    return bool(resource.prlimit(pid, kind)[1] != resource.RLIM_INFINITY)


def _threads_there_are() -> int:
    with open("/proc/loadavg", encoding="ascii") as file:
        return int(file.read().split()[3].partition("/")[2])
