"""The kernel's own limits for programs: a shell sets them for itself and then becomes the program.

That takes a millisecond, leaves no moment in which they do not hold, and needs no right, as setting them from outside
does. No word of the program's command is read by the shell.
"""
# ruff: noqa: PTH123

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

resource: Any  # typed as that, since Windows has none
try:
    import resource
except ImportError:
    resource = None

FILE_BYTES = 1024 * 1024 * 1024
"""The largest file that a program may write."""
OPEN_FILES = 1024
_THREADS = 1024
"""Of one user at once, its processes counted too: the kernel has no limit for processes alone."""
_SHELL = "/bin/sh"
_SCRIPT = (
    "{{ ulimit -c 0; ulimit -f {blocks}; ulimit -n {files}; ulimit -u {threads} || ulimit -p {threads};"
    # Where memory runs out, the kernel ends it before anything else.
    ' echo 1000 >/proc/self/oom_score_adj; }} 2>/dev/null; exec "$@"'
)


def dump_no_core() -> None:
    """Let neither this process nor what it starts write its memory into a file when it crashes."""
    if resource is not None:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def bounded(argv: Sequence[str], *, alone: bool) -> tuple[str, ...]:
    """Give the command that runs another one within the kernel's limits; on Linux alone it is another one.

    Args:
        argv: an absolute program and its arguments.
        alone: whether nothing else runs as its user. Where not, it may have as many threads more than the whole system
            has now.
    """
    if sys.platform != "linux" or not os.path.exists(_SHELL):  # noqa: PTH110
        return tuple(argv)
    threads = _THREADS if alone else _THREADS + _threads_there_are()
    # POSIX counts files in blocks of 512 bytes. What a limit already forbids stays forbidden.
    script = _SCRIPT.format(blocks=FILE_BYTES // 512, files=OPEN_FILES, threads=threads)
    return (_SHELL, "-c", script, "sh", *argv)


def _threads_there_are() -> int:
    with open("/proc/loadavg", encoding="ascii") as file:
        return int(file.read().split()[3].partition("/")[2])
