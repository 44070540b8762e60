"""Reads all files of a skill's directory into one digest: what a certificate is about."""
# Plain strings: names are bytes that may be anything.
# ruff: noqa: PTH112, PTH114, PTH115, PTH118, PTH120, PTH123

from __future__ import annotations

import errno
import hashlib
import os
import stat
from typing import TYPE_CHECKING

from skillgate.files import toplevel
from skillgate.model.certificate import Content
from skillgate.skill.walk import SKIPPED, VERSION_CONTROL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_BLOCK = 1 << 20
_MOST_FILES = 20_000
_FLAGS = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _flag, 0)


def content_of(directory: str) -> Content:
    """Digest what a directory holds: files by their bytes, links by where they say they lead.

    What git ignores is left out where the directory lies in a repository; elsewhere what tools fill.

    Args:
        directory: absolute.

    Raises:
        IncompleteError: git is missing, or refuses the repository.
    """
    real = os.path.realpath(directory)
    if not os.path.isdir(real):
        return Content(None, reason="there is no such directory")
    files: dict[str, str] = {}
    try:
        paths = _paths(real)
        if len(paths) > _MOST_FILES:
            return Content(None, reason=f"it holds more than {_MOST_FILES:,} files")
        for path in paths:
            path.encode("utf-8")  # a name of other bytes has no form in JSON that no other name shares
            files[path] = _said(os.path.join(real, path))
        digest = digest_of(files)
    except UnicodeEncodeError:
        return Content(None, reason="a name in it is not UTF-8")
    except OSError as error:
        return Content(None, reason=f"it cannot be read: {error.strerror or error}")
    return Content(digest, files, _leaving(real, files))


def digest_of(files: Mapping[str, str]) -> str:
    """Give the digest of a list of files, whatever its order; each part is told from its neighbours by its length."""
    found = hashlib.sha256()
    for pair in sorted(files.items()):
        for part in pair:
            data = part.encode("utf-8")
            found.update(len(data).to_bytes(8, "little"))
            found.update(data)
    return f"sha256:{found.hexdigest()}"


def _paths(real: str) -> list[str]:
    """List the files below a directory that are its own, relative to it and with ``/``, sorted."""
    top = toplevel(real)
    if top is None:
        return sorted(_walk(real, "", SKIPPED))
    from skillgate.errors import IncompleteError
    from skillgate.skill.git import complaint, decoded, git  # starts git

    done = git(real, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if done.returncode:
        raise IncompleteError(f"git cannot tell which files a skill has: {complaint(done)}")
    found: set[str] = set()
    for name in {decoded(part).rstrip("/") for part in done.stdout.split(b"\0") if part}:
        place = os.path.join(real, name)
        if os.path.isdir(place) and not os.path.islink(place):  # a repository of its own inside
            found.update(_walk(real, name, VERSION_CONTROL))
        elif os.path.lexists(place) and os.path.realpath(os.path.dirname(place)) == os.path.dirname(place):
            found.add(name)  # what is tracked may be deleted, or a link may be where its directory was
    return sorted(found)


def _walk(real: str, below: str, left_out: Collection[str]) -> Iterator[str]:
    """Give what lies below a directory, no link followed."""
    pending, count = [below], 0
    while pending:
        folder = pending.pop()
        with os.scandir(os.path.join(real, folder)) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    pending += [] if entry.name in left_out else [path]
                else:
                    count += 1
                    if count > _MOST_FILES + 1:
                        return
                    yield path


def _said(place: str) -> str:
    status = os.lstat(place)
    if stat.S_ISLNK(status.st_mode):
        return f"link:{os.readlink(place)}"
    if not stat.S_ISREG(status.st_mode):
        return "other"
    found, descriptor = hashlib.sha256(), os.open(place, _FLAGS)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "a file became something else")
        while data := file.read(_BLOCK):
            found.update(data)
    return f"sha256:{found.hexdigest()}"


def _leaving(real: str, files: Mapping[str, str]) -> str | None:
    """Say what in a directory the digest does not cover: where a link leads out of it, and what is no file."""
    for path, said in files.items():
        if said == "other":
            return f"{path} is no file"
        if said.startswith("link:"):
            target = os.path.realpath(os.path.join(real, path))
            inside = os.path.relpath(target, real).replace(os.sep, "/")
            if inside not in files and not any(name.startswith(f"{inside}/") for name in files):
                return f"{path} is a symbolic link to what the digest of the directory does not cover"
    return None
