"""Texts cached between runs, by key: a directory of small files that any number of runs may share.

An entry is written under its own name and then moved into place, so that a reader finds all of it or nothing. Damaged
entries count as missing. Only files with the name of an entry are ever removed, whatever directory the user chose, and
no symbolic link is followed.
"""
# ruff: noqa: PTH103, PTH105, PTH108, PTH113, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.files import system_folder, waitless
from skillgate.model.skill import DIGEST_BYTES, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MAX_BYTES = 128 << 20  # of all entries; 1,000 skills take about 20 MB
KEEP = 0.75  # of the maximum: what is left after removing the oldest
DAY_S = 86_400.0
_CHECK = "checked"  # its time is that of the last size check
_FOLDER_DIGITS = 2  # of a key, name its folder; the rest names the file
_FILE_DIGITS = 2 * DIGEST_BYTES - _FOLDER_DIGITS
_UNFINISHED = ".part"  # the suffix of an entry while it is written
_HEXADECIMAL = "0123456789abcdef"


def directory(environ: Mapping[str, str]) -> str:
    """Return the directory of the cache, in the system's cache directory; ``""`` if that is not known."""
    top = system_folder(environ, "XDG_CACHE_HOME", ".cache")
    return os.path.join(top, "skillgate", "static") if top else ""


class Cache:
    """Texts by key; ``failure`` says why something could not be stored."""

    def __init__(self, folder: str, *, now: Callable[[], float], most_bytes: int = MAX_BYTES) -> None:
        """Take the directory, which may not exist, a clock of seconds since 1970, and the maximum size."""
        self.failure: str | None = None
        self._folder = folder
        self._now = now
        self._most_bytes = most_bytes
        self._written = False

    def get(self, key: str) -> str | None:
        """Return the text under a key made by ``digest``; None if it is missing or damaged."""
        path = self._path(key)
        try:
            # Nonblocking: it could be a pipe. Unbuffered: one read returns all of it.
            with open(path, "rb", buffering=0, opener=waitless) as file:
                data = file.read() or b""
                age = self._now() - os.fstat(file.fileno()).st_mtime
        except (OSError, ValueError):
            return None
        mark, _, body = data.partition(b"\n")
        if mark != _mark(key, body):
            return None
        if age > DAY_S:
            self._touch(path)
        return body.decode("utf-8", "surrogatepass")

    def put(self, key: str, text: str) -> None:
        """Store a text; if it cannot be written, ``failure`` says why."""
        path = self._path(key)
        fresh = f"{path}.{os.urandom(8).hex()}{_UNFINISHED}"  # process numbers repeat between containers
        body = text.encode("utf-8", "surrogatepass")
        self._written = True
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # it quotes skills that others may not read
            with open(fresh, "xb") as file:
                file.write(_mark(key, body) + b"\n" + body)
            os.replace(fresh, path)
        except OSError as error:
            _remove(fresh)
            if os.name == "nt" and isinstance(error, PermissionError) and os.path.isfile(path):
                return  # another run is reading it: it has the same content
            self.failure = self.failure or f"cannot write the cache: {path}: {error.strerror or error}"

    def close(self) -> None:
        """Once a day, after a run that wrote, remove the oldest entries beyond the maximum size."""
        if self._written and self.failure is None and self._is_due():
            self._shrink()

    def _is_due(self) -> bool:
        check = os.path.join(self._folder, _CHECK)
        try:
            if abs(self._now() - os.stat(check).st_mtime) < DAY_S:
                return False
            os.utime(check)
        except FileNotFoundError:
            return _made(check)
        except OSError:
            return False
        return True

    def _shrink(self) -> None:
        finished, total = [], 0
        for path, whole in self._files():
            try:
                status = os.lstat(path)
            except OSError:
                continue  # another run was faster
            if whole:
                finished.append((status.st_mtime, status.st_size, path))
                total += status.st_size
            elif self._now() - status.st_mtime > DAY_S:
                _remove(path)  # of a run that was killed
        if total <= self._most_bytes:
            return
        for _, size, path in sorted(finished):
            if total <= self._most_bytes * KEEP:
                return
            _remove(path)
            total -= size

    def _files(self) -> Iterator[tuple[str, bool]]:
        """Yield the path of every file with an entry's name, and whether it is finished."""
        for folder in _listed(self._folder):
            if not _is_hexadecimal(folder.name, _FOLDER_DIGITS) or not folder.is_dir(follow_symlinks=False):
                continue
            for file in _listed(folder.path):
                name = file.name[:_FILE_DIGITS]
                rest = file.name[_FILE_DIGITS:]
                if not _is_hexadecimal(name, _FILE_DIGITS) or not file.is_file(follow_symlinks=False):
                    continue
                if not rest or _is_unfinished(rest):
                    yield file.path, not rest

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, key[:_FOLDER_DIGITS], key[_FOLDER_DIGITS:])

    def _touch(self, path: str) -> None:
        try:
            os.utime(path)
        except OSError:
            return  # a cache that can only be read is a cache


def _mark(key: str, body: bytes) -> bytes:
    return digest(key.encode("ascii"), body).encode("ascii")


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def _is_hexadecimal(name: str, digits: int) -> bool:
    return len(name) == digits and not name.strip(_HEXADECIMAL)


def _is_unfinished(rest: str) -> bool:
    return rest.endswith(_UNFINISHED) and _is_hexadecimal(rest[1 : -len(_UNFINISHED)], 16) and rest[0] == "."


def _made(path: str) -> bool:
    try:
        with open(path, "xb"):
            return True
    except OSError:
        return False


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
