"""Which files hold the recorded invocations that a run asks about: of a change none that it could have written.

What git tracks is read as the base has it; what only the change brings counts after the merge. A file that git does not
know, such as a downloaded artifact or a restored cache, is read where it lies.
"""
# ruff: noqa: PTH112, PTH118, PTH120

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import IncompleteError, UsageError
from skillgate.invocations.reading import Recording, beside, recordings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from skillgate.action.context import RunContext
    from skillgate.invocations.ports import Lines

_NESTED = "lies in a repository inside of this one, whose files a change may choose"


class Source(NamedTuple):
    """A file to read, and what gives the lines of files near it."""

    recording: Recording
    beside: Callable[[str], Lines | None]


class Places(NamedTuple):
    """Where invocations are recorded, before any is read.

    Attributes:
        here: files of the workspace.
        base: paths that the base has, relative to the repository's top.
        notes: what a reader should know: what is not there, what comes with the change.
    """

    here: tuple[Source, ...] = ()
    base: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not self.here and not self.base


def find_places(context: RunContext) -> Places:
    """Find what the input ``invocations`` names.

    Raises:
        UsageError: a path leads out of the workspace, or through a link or repository that a change may have made; or
            nothing is there, and none comes with the change.
        IncompleteError: git fails.
    """
    here: list[Source] = []
    base: list[str] = []
    notes: list[str] = []
    problems: list[str] = []
    for path in context.request.invocations:
        place = context.checkout.inside(path, _shown(path))
        if context.base.commit is None:
            found, missing = recordings([place], cwd=context.checkout.workspace)
            here += [_source(one, context) for one in found]
            problems += [_relative(problem, place, path) for problem in missing]
            continue
        there = context.files.tip.is_there(place)
        if there:
            base.append(_below(context, place))
        mine, waiting = _untracked(context, place, path, there=there)
        here += mine
        notes += [_note(context, one) for one in waiting]
        if not there and not mine and not waiting:
            problems.append(f"{path} {'holds no .jsonl file' if os.path.isdir(place) else 'does not exist'}")
    if problems and not (here or base or notes):
        raise UsageError(f"input invocations: there is nothing to read: {'; '.join(problems)}")
    unique = {source.recording.path: source for source in here}
    return Places(tuple(unique.values()), tuple(dict.fromkeys(base)), (*problems, *notes))


@contextmanager
def sources(places: Places, context: RunContext) -> Iterator[tuple[Source, ...]]:
    """Return the files, those of the base in a directory of their own for as long as they are needed.

    Raises:
        IncompleteError: git fails.
    """
    if not places.base or context.base.commit is None:
        yield places.here
        return
    import tempfile

    from skillgate.skill.checkout import check_out  # starts processes

    with tempfile.TemporaryDirectory(prefix="skillgate-base-") as tree:
        check_out(context.checkout.top, context.base.tip or context.base.commit, tree)
        found, _ = recordings([os.path.normpath(os.path.join(tree, path)) for path in places.base], cwd=tree)
        # Links in the base lead to files of the base alone: others are not checked out.
        shown = [one._replace(shown=os.path.relpath(one.path, tree)) for one in found]
        yield (*(Source(one, partial(beside, one)) for one in shown), *places.here)


def _untracked(context: RunContext, place: str, path: str, *, there: bool) -> tuple[list[Source], list[str]]:
    """Return the files at a place of the workspace that no change can have brought, and the names of those that it has.

    Raises:
        UsageError: the place lies behind a link or in another repository.
        IncompleteError: git fails.
    """
    if not os.path.lexists(place):
        return [], []
    # Of a file all that lies near it, since what a sub-agent did is read from there.
    known = _tracked(context, place if os.path.isdir(place) else os.path.dirname(place))
    if os.path.realpath(place) != _real(context, place):
        if there:
            return [], []  # as the base has it
        if place in known:
            return [], [path]
        raise UsageError(f"{_shown(path)} is, or lies behind, a symbolic link, which a change may have made")
    found, _ = recordings([place], cwd=context.checkout.workspace)
    waiting, mine = [], []
    linked = frozenset(map(os.path.realpath, known))
    for one in found:
        if context.files.tip.is_there(one.path):
            continue
        if one.path in known:
            waiting.append(os.path.relpath(one.path, context.checkout.directory))
            continue
        _require_own(context, one.path, path)
        mine.append(_source(one, context, linked))
    return mine, waiting


def _note(context: RunContext, shown: str) -> str:
    if context.files.is_removed(os.path.join(context.checkout.directory, shown)):
        return f"{shown} is no longer in the base branch, and does not count"
    return f"{shown} comes with this change; it counts after the merge"


def _require_own(context: RunContext, file: str, path: str) -> None:
    if not _is_own(context, os.path.realpath(file)):
        raise UsageError(f"{_shown(path)} {_NESTED}")


def _is_own(context: RunContext, real: str) -> bool:
    from skillgate.files import toplevel

    return toplevel(os.path.dirname(real)) in (None, context.checkout.top)


def _tracked(context: RunContext, place: str) -> frozenset[str]:
    """Return the absolute paths of all that git tracks at or below a place.

    Raises:
        IncompleteError: git fails.
    """
    from skillgate.skill.git import complaint, decoded, git  # starts processes

    done = git(context.checkout.top, "--literal-pathspecs", "ls-files", "-z", "--", _below(context, place))
    if done.returncode:
        raise IncompleteError(f"git cannot tell which files it tracks: {complaint(done)}")
    below = (os.path.join(context.checkout.top, decoded(name)) for name in done.stdout.split(b"\0") if name)
    return frozenset(os.path.normpath(os.path.join(context.checkout.workspace, _from(context, name))) for name in below)


def _from(context: RunContext, real: str) -> str:
    return os.path.relpath(real, os.path.realpath(context.checkout.workspace))


def _source(recording: Recording, context: RunContext, tracked: Collection[str] = ()) -> Source:
    """Name a file as a reader knows it; what lies beside it and git tracks is not read with it."""
    one = recording._replace(shown=os.path.relpath(recording.path, context.checkout.directory))

    def near(relative: str) -> Lines | None:
        place = os.path.realpath(os.path.join(os.path.dirname(one.path), relative))
        return beside(one, relative) if place not in tracked and _is_own(context, place) else None

    return Source(one, near)


def _real(context: RunContext, place: str) -> str:
    """Return where a place of the workspace would be if no link led there but those on the way to the workspace."""
    return os.path.normpath(
        os.path.join(os.path.realpath(context.checkout.workspace), os.path.relpath(place, context.checkout.workspace))
    )


def _below(context: RunContext, place: str) -> str:
    return os.path.relpath(_real(context, place), context.checkout.top).replace(os.sep, "/")


def _shown(path: str) -> str:
    return f"input invocations: {path!r}"


def _relative(problem: str, place: str, path: str) -> str:
    return problem.replace(place, path, 1)
