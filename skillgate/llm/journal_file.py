"""The file of a journal: opened by one process at a time, read line by line, removed when it is old."""
# ruff: noqa: PTH108, PTH116

from __future__ import annotations

import json
import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from skillgate.llm.ledger import Place
from skillgate.model.digest import DIGEST_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

SUFFIX = ".journal"
"""Of its name, which begins with a digest."""
MOST_LINE = 64 << 20  # bytes; a reply of the longest kind takes about one million
_OPENINGS = 5  # times that a journal may be removed, by a run that ends, just when it was opened
_FLAGS = ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NONBLOCK")  # not blocking: somebody may have put a pipe there
_NAME_DIGITS = 2 * DIGEST_BYTES


def opened(path: str) -> int | None:
    """Open a journal, made where it is missing, for this process alone; None where another one has it.

    Raises:
        OSError: it cannot be opened, or is no file.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    for name in _FLAGS:
        flags |= getattr(os, name, 0)
    for _ in range(_OPENINGS):
        file = os.open(path, flags, 0o600)  # it quotes skills that others may not read
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise OSError(0, "it is no file")
        locked, there = _locked(file), _is_at(file, path)
        if locked and there:
            return file
        os.close(file)
        if there:
            return None
    return None


def _is_at(file: int, path: str) -> bool:
    """Say whether a path still leads to a file; not where that was removed since its run was done."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except OSError:
        return False


def _locked(file: int) -> bool:
    """Lock a file until it is closed or the process ends; where a system or a disk has no locks nobody is kept out."""
    if sys.platform == "win32":
        return True
    try:
        os.lockf(file, os.F_TLOCK, 0)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


def lines(file: int, read: Callable[[bytes], Mapping[str, Any] | None]) -> Iterator[tuple[Place, Any]]:
    """Give the lines of a file that end, each with its object as ``read`` gives it; None for none, or one too long."""
    with open(file, "rb", closefd=False) as handle:  # a second descriptor would drop the lock
        start = 0
        while data := handle.readline(MOST_LINE):
            whole, length = data, len(data)
            while not data.endswith(b"\n") and (data := handle.readline(MOST_LINE)):
                whole, length = b"", length + len(data)
            if not data:
                return  # torn
            yield Place(start, length), read(whole)
            start += length


def decoded(data: bytes) -> Mapping[str, Any] | None:
    """Decode a line; None where it is no JSON object."""
    try:
        line = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def sweep(folder: str, before: float) -> None:
    """Remove the journals that nobody has written to since, with what lies beside them; nothing else."""
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except OSError:
        return
    for entry in entries:
        mark = entry.name[_NAME_DIGITS : _NAME_DIGITS + len(SUFFIX)]
        if mark != SUFFIX or entry.name[:_NAME_DIGITS].strip("0123456789abcdef"):
            continue
        with suppress(OSError):  # another run may have been faster
            if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime < before:
                os.unlink(entry.path)
