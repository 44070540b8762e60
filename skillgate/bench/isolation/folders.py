"""Directories of calls: where expected answers lie, copies of skills, and what hostile programs leave behind."""
# ruff: noqa: PTH101, PTH108, PTH112, PTH113, PTH114, PTH116, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import IncompleteError
from skillgate.files import READ, closed_by, is_within
from skillgate.process import run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

FOLDERS = ("tests", "evals")
"""The directories of a skill that hold what is expected of it."""
_ENDINGS = (".eval.json",)
_NAMES = ("benchmark.json", "evals.json")
_REPORTS, _REPORT_ENDINGS = "eval-result", (".json", ".md", ".html", ".csv", ".xml", ".txt")
_MOST_FILES = 20_000
_MOST_ABOVE = 64


class Answers(NamedTuple):
    """What holds expected answers: absolute paths without links; what is not there yet may be when a call begins."""

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def within(self, folder: str) -> Answers:
        """Return those that are below a directory."""
        real = os.path.realpath(folder)
        return Answers(*(tuple(one for one in part if is_within(one, real) and one != real) for part in self))

    def are_open(self) -> bool:
        """Return whether a user who may only do what all users may can read one of them."""
        return any(map(_is_open, (*self.files, *(one for folder in self.folders for one in _files_below(folder)))))


NOTHING = Answers()


def answers_of(
    roots: Iterable[str], *, files: Iterable[str], folders: Iterable[str], needed: Iterable[str] = ()
) -> Answers:
    """Return what programs of some skills may not see.

    Args:
        roots: the skills' directories.
        files: of the run: benchmarks, the store, custom scorers.
        folders: of the run: reports, recordings.
        needed: files that the skills' commands name; a directory that holds one stays, but for the files in it that
            are known to hold answers.
    """
    places = [os.path.realpath(root) for root in roots]
    visible = [*places, *map(os.path.realpath, needed)]
    found_files = {os.path.realpath(file) for file in files if not os.path.isdir(file)}
    found_folders: set[str] = set()
    wanted = [os.path.realpath(folder) for folder in folders if not os.path.isfile(folder)]
    wanted += [folder for place in places for folder in _own_folders(place)]
    for folder in wanted:
        if any(is_within(one, folder) for one in visible):
            found_files |= set(_known(folder))
        else:
            found_folders.add(folder)
    for place in places:
        found_files |= {file for file in _known(place) if not any(is_within(file, one) for one in found_folders)}
    for start in (*places, *(os.path.dirname(file) for file in found_files)):
        found_folders |= set(_history(start, visible))
    top = [one for one in found_folders if not any(is_within(one, other) for other in found_folders - {one})]
    alone = [one for one in found_files if not any(is_within(one, folder) for folder in top)]
    return Answers(tuple(sorted(top)), tuple(sorted(alone)))


def _own_folders(place: str) -> Iterator[str]:
    """Yield the directories of a skill that hold answers; none through a link that leads out of it."""
    for name in FOLDERS:
        real = os.path.realpath(os.path.join(place, name))
        if os.path.isdir(real) and real != place and is_within(real, place):
            yield real


def _known(folder: str) -> Iterator[str]:
    """Yield the files below a directory that are known by their names to hold answers."""
    for file in _files_below(folder):
        name = os.path.basename(file)
        is_report = name.startswith(_REPORTS) and name.endswith(_REPORT_ENDINGS)
        if is_report or name.endswith(_ENDINGS) or name in _NAMES:
            yield file


def _files_below(folder: str) -> Iterator[str]:
    left = _MOST_FILES
    for above, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", "node_modules")]
        for name in names:
            path = os.path.join(above, name)
            left -= 1
            if left < 0:
                return
            if not os.path.islink(path) and os.path.isfile(path):
                yield path


def _history(start: str, visible: Iterable[str]) -> Iterator[str]:
    """Yield the directory of the repository that a directory is in: its history holds the answers too."""
    for _ in range(_MOST_ABOVE):
        own = os.path.join(start, ".git")
        if os.path.lexists(own):
            real = _linked(own) if os.path.isfile(own) else os.path.realpath(own)
            if os.path.isdir(real) and not any(is_within(one, real) for one in visible):
                yield real
            return
        if os.path.dirname(start) == start:
            return
        start = os.path.dirname(start)


def _linked(file: str) -> str:
    """Return the repository's directory that a linked working tree's ``.git`` file leads to."""
    with suppress(OSError, ValueError), open(file, encoding="utf-8") as text:
        word, _, path = text.read(4096).strip().partition(": ")
        if word == "gitdir" and "\n" not in path:
            real = os.path.realpath(os.path.join(os.path.dirname(file), path))
            above = os.path.dirname(os.path.dirname(real))
            is_tree = os.path.basename(os.path.dirname(real)) == "worktrees" and os.path.isfile(f"{above}/HEAD")
            return above if is_tree else real if os.path.isfile(f"{real}/HEAD") else ""
    return ""


def _is_open(file: str) -> bool:
    try:
        return closed_by(file, READ) is None
    except OSError:  # it is gone
        return False


def copy_for_all(root: str, place: str, hidden: Collection[str] = ()) -> None:
    """Copy a skill's directory to ``place`` so that every user can read and run it; for ``hidden`` see :func:`copy_of`.

    Raises:
        IncompleteError: it cannot be copied.
    """
    try:
        copy_of(root, place, hidden)
        for path in paths_below(place):
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)
    except (OSError, shutil.Error) as error:
        reason = getattr(error, "strerror", None) or "a file of it is in the way"
        raise IncompleteError(f"{root} cannot be copied for the user it runs as: {reason}") from error


def copy_of(root: str, place: str, hidden: Collection[str] = ()) -> None:
    """Copy a skill's directory, without its repository's own and the real paths in ``hidden``; links stay links.

    Raises:
        OSError, shutil.Error: it cannot be copied.
    """

    def left_out(folder: str, names: list[str]) -> set[str]:
        real = os.path.realpath(folder)
        return {name for name in names if name in (".git", "__pycache__") or os.path.join(real, name) in hidden}

    shutil.copytree(root, place, symlinks=True, ignore=left_out)


def paths_below(place: str) -> Iterator[str]:
    """Yield the paths of a directory and of all below it."""
    for folder, _, names in os.walk(place):
        yield folder
        yield from (os.path.join(folder, name) for name in names)


SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/dev/mqueue")  # noqa: S108 - where every user may write
ENDLESS = 2**63
_MOST_COUNTED = 100_000
_DEEPEST = 100
_BLOCK = 512  # st_blocks counts in these


def disk_usage(folder: str) -> int:
    """Return the bytes on disk of all below a directory; ``ENDLESS`` for what cannot be counted in time.

    That is more than 100,000 files, or more than 100 directories in one another. Files that were deleted and are still
    open are not seen.
    """
    total = files = 0
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop()
        if depth > _DEEPEST:
            return ENDLESS
        with suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                files += 1
                with suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
                if files > _MOST_COUNTED:
                    return ENDLESS
    return total


def remove(folder: str) -> None:
    """Remove a directory, whatever was done to it: closed or endlessly nested directories included."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if not os.path.lexists(folder):
        return
    with suppress(IncompleteError):  # tools without Python's bounds
        run(["chmod", "-R", "u+rwX", "--", folder])
    with suppress(IncompleteError):
        run(["rm", "-rf", "--", folder])


def remove_of(user: int, since_ns: int = 0) -> None:
    """Remove what a user that nothing else runs as left where everybody may write.

    Args:
        user: the user's number.
        since_ns: nanoseconds since the epoch: a place that was not changed since then is not looked through. Only its
            owner, the system, can make such a place look older.
    """
    for place in SHARED:
        with suppress(OSError):
            if os.stat(place).st_mtime_ns < since_ns:
                continue
        with suppress(OSError), os.scandir(place) as entries:
            for entry in [entry for entry in entries if entry.stat(follow_symlinks=False).st_uid == user]:
                if entry.is_dir(follow_symlinks=False):
                    remove(entry.path)
                else:
                    with suppress(OSError):
                        os.unlink(entry.path)
