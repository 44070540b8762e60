"""Find and read the files that record invocations, a line at a time: a file may be larger than memory.

A path may be a directory, such as the one in which Claude Code has its projects: then every ``.jsonl`` file below it is
read, and links in it are not followed.
"""
# ruff: noqa: PTH111, PTH112, PTH113, PTH117, PTH118, PTH120, PTH123

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import UsageError
from skillgate.invocations.formats import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.invocations.formats import Lines

STDIN = "-"
_HEAD = 65_536  # bytes that a format is recognised by
_SUFFIX = ".jsonl"


class Recording(NamedTuple):
    """A file to read: how it was named, and where it is; ``-`` is the standard input."""

    shown: str
    path: str
    parent: str | None = None  # the directory that was named in its place


class Opened(NamedTuple):
    """An open file: the bytes that it begins with, and its size, 0 where it is not known."""

    file: IO[bytes]
    head: bytes
    size: int


def recordings(paths: Iterable[str], *, cwd: str) -> tuple[list[Recording], list[str]]:
    """List the files that some paths name, each once, and what is wrong with the others."""
    found: dict[str, Recording] = {}
    problems: list[str] = []
    for path in paths:
        place = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
        if path == STDIN:
            found[STDIN] = Recording("<stdin>", STDIN)
        elif os.path.isdir(place):
            below = list(_below(path, place, problems))
            problems += [] if below else [f"{path} holds no {_SUFFIX} file"]
            found.update({one.path: one for one in below})
        elif not os.path.lexists(place):
            problems.append(f"{path} does not exist")
        elif not os.path.isfile(place):
            problems.append(f"{path} is neither a file nor a directory")
        else:
            found.setdefault(place, Recording(path, place))
    return list(found.values()), problems


def _below(shown: str, place: str, problems: list[str]) -> Iterator[Recording]:
    def closed(error: OSError) -> None:
        folder = os.path.join(shown, os.path.relpath(error.filename, place))
        problems.append(f"{os.path.normpath(folder)} cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(place, onerror=closed):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(_SUFFIX) and _holds_any(path):
                yield Recording(os.path.join(shown, os.path.relpath(path, place)), path, shown)


def _holds_any(path: str) -> bool:
    """Whether a plain file has any bytes: a session that was never used leaves an empty one."""
    try:
        found = os.lstat(path)
        return stat.S_ISREG(found.st_mode) and found.st_size > 0
    except OSError:  # it was there a moment ago
        return False


@contextmanager
def opened(recording: Recording) -> Iterator[Opened]:
    """Open a file, and read its beginning; raise UsageError where it cannot be read."""
    try:
        if recording.path == STDIN:
            yield _piped()
            return
        with open(recording.path, "rb") as file:
            head = file.read(_HEAD)
            file.seek(0)
            yield Opened(file, head, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise UsageError(f"{recording.shown} cannot be read: {error.strerror}") from error


def _piped() -> Opened:
    """Wait for as much of the standard input as a format is recognised by: a pipe gives it in pieces of any size."""
    if sys.stdin is None:
        raise UsageError("the standard input is closed")
    head = sys.stdin.buffer.read(_HEAD)
    return Opened(BufferedReader(_Headed(head, sys.stdin.buffer)), head, 0)


class _Headed(RawIOBase):
    """A stream whose beginning was read before."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a buffer of any kind
        size = len(buffer)
        some, self._head = (self._head[:size], self._head[size:]) if self._head else (self._rest.read(size), b"")
        buffer[: len(some)] = some
        return len(some)


def lines(file: IO[bytes], first: int = 1, *, whole: bool = False) -> Lines:
    """Yield the lines from where a file stands, with their numbers, without their ends.

    With ``whole`` the rest of a line that is too long comes too, in pieces under the same number.
    """
    number = first
    while line := file.readline(LONGEST + 1):
        yield number, line.rstrip(b"\r\n")
        while not line.endswith(b"\n") and (line := file.readline(LONGEST + 1)):
            if whole:
                yield number, line.rstrip(b"\r\n")
        number += 1


def lines_between(file: IO[bytes], start: int, end: int, first: int) -> Lines:
    """Yield the lines from one place of a file to another, both ends of lines; ``first`` is the first number."""
    file.seek(start)
    for number, line in lines(file, first):
        yield number, line
        if file.tell() >= end:
            return


def sibling_lines(recording: Recording, relative: str) -> Lines | None:
    """Return the lines of a file near another one, None where there is none; no link is followed, and no ``..``."""
    if recording.path == STDIN:
        return None
    parts = relative.split("/")
    if os.path.isabs(relative) or any(part in ("", ".", "..") or "\0" in part for part in parts):
        return None
    place = os.path.join(os.path.dirname(recording.path), *parts)
    here = os.path.realpath(os.path.dirname(recording.path))
    if not os.path.isfile(place) or not os.path.realpath(place).startswith(os.path.join(here, "")):
        return None
    return _closing(place)


def _closing(place: str) -> Lines:
    with open(place, "rb") as file:
        yield from lines(file)
