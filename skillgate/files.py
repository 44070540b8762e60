"""Write files safely in directories with untrusted content, and check which files other users can reach.

A pull request can put a symbolic link in the place of a report or its directory: nothing is written through one.
"""
# ruff: noqa: PTH101, PTH103, PTH105, PTH108, PTH112, PTH113, PTH114, PTH115, PTH117, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from errno import ELOOP
from pathlib import Path
from stat import S_ISLNK
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.model.skill import SKILL_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import IO


def write(name: str, data: bytes, *, cwd: str, parents: bool = False) -> None:
    """Write a file as the user named it, relative to ``cwd``. Raises UsageError, also from :func:`require_place`."""
    place = require_place(name, cwd)
    try:
        if parents:
            os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb", opener=unlinked) as file:
            file.write(data)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise UsageError(f"cannot write {name}: {getattr(error, 'strerror', None) or error}") from error


@contextmanager
def streamed(name: str, *, cwd: str) -> Iterator[IO[bytes]]:
    """Yield a file that takes the place of the named one when the block ends; after a failure nothing changed.

    Raises:
        UsageError: it cannot be written; also from :func:`require_place`.
    """
    place = require_place(name, cwd)
    temporary = os.path.join(os.path.dirname(place), f".skillgate-{os.urandom(8).hex()}.tmp")
    if os.path.lexists(place) and not os.path.isfile(place):
        raise UsageError(f"cannot write {name}: it is not a regular file")
    try:
        with open(temporary, "xb", opener=unlinked) as file:
            yield file
        os.replace(temporary, place)
    except OSError as error:
        raise UsageError(f"cannot write {name}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def replace(path: str, data: bytes, *, status: os.stat_result | None = None) -> None:
    """Write a file atomically: readers see the old bytes or the new ones, and a failure leaves the old ones.

    A symbolic link is replaced, not followed. The new file has the permissions and, if the system allows it, the owner
    of ``status``; by default only the calling user can read it. Raises OSError.
    """
    with prepared(path, data, status=status) as temporary:
        os.replace(temporary, path)


@contextmanager
def prepared(path: str, data: bytes, *, status: os.stat_result | None = None) -> Iterator[str]:
    """Yield the path of a temporary file for a last check; it is removed unless it was moved."""
    import tempfile  # most runs write no file

    descriptor, temporary = tempfile.mkstemp(prefix=".skillgate-", suffix=".tmp", dir=os.path.dirname(path))
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if status is not None:
            with suppress(AttributeError, OSError):  # Windows has no owners; only root may give a file away
                os.chown(temporary, status.st_uid, status.st_gid)
            os.chmod(temporary, stat.S_IMODE(status.st_mode))
        yield temporary
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def toplevel(path: str) -> str | None:
    """Return the repository of a directory, without running Git.

    That is the nearest directory at or above an absolute path without links that has a ``.git`` of any kind (a file in
    worktrees and submodules); None without one.
    """
    while not os.path.lexists(os.path.join(path, ".git")):
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent
    return path


def require_place(name: str, cwd: str) -> str:
    """Return the absolute path of a file that may be written.

    Links above the repository (without one, above the working directory) are the user's own. Raises UsageError for a
    skill's main file, a symbolic link, or a path through one in the repository.
    """
    place = os.path.normpath(os.path.join(cwd, name))
    # Windows drops spaces and dots from the end of a name.
    if os.path.basename(place).rstrip(" .").upper() == SKILL_FILE.upper():
        raise UsageError(f"cannot write {name}: it would be the main file of a skill; use another name")
    link = _first_link(place, cwd)
    if link is not None:
        where = "it" if link == place else os.path.relpath(link, cwd)
        raise UsageError(f"cannot write {name}: {where} is a symbolic link; use the path that it points to")
    return place


def require_folder(name: str, cwd: str) -> None:
    """Raise UsageError if a file must not be written, or its directory does not exist."""
    if not os.path.isdir(os.path.dirname(require_place(name, cwd))):
        raise UsageError(f"cannot write {name}: directory {os.path.dirname(name)} does not exist")


def _first_link(place: str, cwd: str) -> str | None:
    here = os.path.realpath(cwd)
    top = os.path.join(toplevel(here) or here, "")
    inside = False
    for folder in [*reversed(Path(place).parents), Path(place)]:
        if inside and os.path.islink(folder):
            return str(folder)
        try:
            inside = inside or os.path.join(os.path.realpath(folder), "").startswith(top)
        except ValueError:  # a NUL, which no file has
            return None
    return place if os.path.islink(place) else None


def system_folder(environ: Mapping[str, str], variable: str, *default: str) -> str:
    """Return the system's absolute directory of a kind, such as ``XDG_CACHE_HOME``; ``""`` if it is not known.

    ``default``: the directory in the user's home if ``variable`` is not set.
    """
    if os.name == "nt":
        variable = "LOCALAPPDATA"
    top, home = environ.get(variable, ""), environ.get("HOME", "")
    if os.path.isabs(top):  # as the XDG specification says: a relative path is ignored
        return top
    return os.path.join(home, *default) if os.name != "nt" and os.path.isabs(home) else ""


def waitless(path: str, flags: int) -> int:
    """Open without waiting for a writer, in case it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def unlinked(path: str, flags: int) -> int:
    """Open a file unless it is a link; systems without O_NOFOLLOW rely on the earlier check."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


EXECUTE, READ, READ_AND_EXECUTE = 0o001, 0o004, 0o005
_MOST_LINKS = 40


def open_to_all(path: str) -> bool:
    """Return whether every user can reach and execute an absolute path (for a directory: enter and read it)."""
    return closed_by(path, READ_AND_EXECUTE if os.path.isdir(path) else EXECUTE) is None


def closed_by(path: str, wanted: int = EXECUTE, *, owned: str | None = None) -> str | None:
    """Return the first place on the path to a file that other users cannot pass, links followed; None if they can.

    ``wanted`` is the last digit of the mode that they need on the file, an existing absolute path (else OSError). For a
    directory ``owned`` the program gets a copy that its user owns.
    """
    final = os.path.realpath(path)
    is_owned = owned is not None and is_within(path, owned)
    for place, status in passed(path, owned if is_owned and owned is not None else "/"):
        if S_ISLNK(status.st_mode):
            continue
        bits = status.st_mode >> 6 if owned is not None and is_within(place, owned) else status.st_mode
        needed = wanted if place == final else EXECUTE
        if bits & needed != needed:
            return place
    return None


def passed(path: str, start: str = "/") -> Iterator[tuple[str, os.stat_result]]:
    """Yield each place on the way from ``start`` to an absolute path: links, and their targets."""
    here, links = start, 0
    waiting = _parts(os.path.relpath(path, start)) if path != start else []
    yield here, os.lstat(here)
    while waiting:
        part = waiting.pop(0)
        place = os.path.dirname(here) if part == ".." else os.path.join(here, part)
        status = os.lstat(place)
        yield place, status
        if not S_ISLNK(status.st_mode):
            here = place
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(ELOOP, os.strerror(ELOOP), path)
        target = os.readlink(place)
        here = "/" if target.startswith("/") else here
        waiting[:0] = _parts(target)


def is_within(path: str, folder: str) -> bool:
    """Return whether a path is a directory or below it, by name only."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def unreachable(shown: str, path: str, obstacle: str) -> str:
    """Return the message for a file that programs of skills cannot reach."""
    of = "" if shown == path else f" ({shown})"
    mode = f"{os.lstat(obstacle).st_mode & 0o7777:04o}"
    why = f"has mode {mode}" if obstacle == path else f"is behind {obstacle} (mode {mode})"
    return (
        f"{path}{of} {why}, and programs of skills run as another user here; install it for all"
        " users (for example in /usr/local), make it accessible to them, or use --run-as-caller"
    )


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
