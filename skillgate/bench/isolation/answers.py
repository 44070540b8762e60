"""Where the expected answers of a run lie, and what a program may not see for that."""
# ruff: noqa: PTH112, PTH113, PTH114, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from skillgate.access import READ, closed_by, is_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
        return any(
            _is_open(file) for file in (*self.files, *(one for folder in self.folders for one in _below(folder)))
        )


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
    kept = [*places, *map(os.path.realpath, needed)]
    found_files = {os.path.realpath(file) for file in files if not os.path.isdir(file)}
    found_folders: set[str] = set()
    wanted = [os.path.realpath(folder) for folder in folders if not os.path.isfile(folder)]
    wanted += [folder for place in places for folder in _own_folders(place)]
    for folder in wanted:
        if any(is_within(one, folder) for one in kept):
            found_files |= set(_known(folder))
        else:
            found_folders.add(folder)
    for place in places:
        found_files |= {file for file in _known(place) if not any(is_within(file, one) for one in found_folders)}
    for start in (*places, *(os.path.dirname(file) for file in found_files)):
        found_folders |= set(_history(start, kept))
    top = [one for one in found_folders if not any(is_within(one, other) for other in found_folders - {one})]
    alone = [one for one in found_files if not any(is_within(one, folder) for folder in top)]
    return Answers(tuple(sorted(top)), tuple(sorted(alone)))


def _own_folders(place: str) -> Iterator[str]:
    """Give the directories of a skill that hold answers; none through a link that leads out of it."""
    for name in FOLDERS:
        real = os.path.realpath(os.path.join(place, name))
        if os.path.isdir(real) and real != place and is_within(real, place):
            yield real


def _known(folder: str) -> Iterator[str]:
    """Give the files below a directory that are known by their names to hold answers."""
    for file in _below(folder):
        name = os.path.basename(file)
        is_report = name.startswith(_REPORTS) and name.endswith(_REPORT_ENDINGS)
        if is_report or name.endswith(_ENDINGS) or name in _NAMES:
            yield file


def _below(folder: str) -> Iterator[str]:
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


def _history(start: str, kept: Iterable[str]) -> Iterator[str]:
    """Give the directory of the repository that a directory is in: what it remembers holds the answers too."""
    for _ in range(_MOST_ABOVE):
        own = os.path.join(start, ".git")
        if os.path.lexists(own):
            real = _linked(own) if os.path.isfile(own) else os.path.realpath(own)
            if os.path.isdir(real) and not any(is_within(one, real) for one in kept):
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
