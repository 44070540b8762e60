"""The skills of a benchmark before and after a change: found by the same paths on both sides, and paired by place."""
# ruff: noqa: PTH110, PTH112, PTH113, PTH114, PTH115, PTH116, PTH118, PTH123, PTH208

from __future__ import annotations

import dataclasses
import os
import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from skillgate.action.context import RunContext, excluded_paths
from skillgate.bench.skills import Skills, load_skills
from skillgate.errors import UsageError
from skillgate.model.skill import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.action.request import Checkout
    from skillgate.bench.request import EvalRequest
    from skillgate.model.benchmark import Runnable

_MOST_FILES = 20_000
_MOST_BYTES = 500_000_000


class Sides(NamedTuple):
    """The skills of both sides."""

    now: Skills  # the checked-out skills to run
    earlier: Mapping[str, Runnable]  # skills of the base, by the key of their current skill
    removed: tuple[str, ...] = ()  # sentences on removed skills of the base
    lost: tuple[str, ...] = ()  # sentences on those whose directory still exists, but that would no longer run
    notes: tuple[str, ...] = ()  # notes for the reader
    gone: tuple[str, ...] = ()  # the directories of ``removed`` and ``lost``, relative to the top


def head_skills(context: RunContext, request: EvalRequest, *, there: Sequence[str]) -> Skills:
    """Read the checked-out skills; a path that is only in the base is skipped, even if it is the only one.

    Raises:
        UsageError: there is none, or one is not valid.
    """
    here = context.checkout.directory
    paths = [
        one
        for one in request.skills
        if os.path.lexists(os.path.join(here, one))
        or not any(os.path.exists(os.path.join(folder, one)) for folder in there)
    ]
    if request.skills and not paths:
        return Skills((), ())
    return load_skills(paths, cwd=here, prose=request.prose, without=_excluded(context, top_of(context.checkout)))


def pair_sides(context: RunContext, request: EvalRequest, now: Skills, *, tree: str, there: str) -> Sides:
    """Find the base's skills by the same paths, and match them with the current ones.

    A skill is matched by its directory, whatever its name; if it moved, by its id. ``now``: the checked-out skills.
    ``tree``: a directory with the base's files. ``there``: the directory in it that corresponds to the run's own.
    """
    before = _base_skills(context, request, tree, there)
    left = {(place_of(one, tree), one.spec.id): one for one in before.found}
    earlier: dict[str, Runnable] = {}
    top = top_of(context.checkout)
    for by_id, by_place in ((True, True), (False, True), (True, False)):
        for skill in now.found:
            if skill.key in earlier:
                continue
            place = place_of(skill, top)
            for where, name in left:
                if (not by_place or where == place) and (not by_id or name == skill.spec.id):
                    earlier[skill.key] = dataclasses.replace(left.pop((where, name)), key=skill.key)
                    break
    removed, lost = [], []
    for where, name in left:
        if os.path.lexists(os.path.join(top, where)):
            lost.append(f"{name} in {where} still exists but would no longer run")
        else:
            removed.append(f"{name} in {where} was removed")
    notes = tuple(f"a skill of the base cannot run and is left out of the baseline: {line}" for line in before.notices)
    gone = tuple(where for where, _ in left)
    return Sides(_retried(now, earlier, request), earlier, tuple(removed), tuple(lost), notes, gone)


def touched(context: RunContext, both: Sides, tree: str) -> tuple[Runnable, ...]:
    """Return the skills that are not byte for byte the same as in the base.

    A skill includes its whole directory, and the files and directories of the repository that its settings name.
    """
    top = top_of(context.checkout)
    found = []
    for skill in both.now.found:
        was = both.earlier.get(skill.key)
        if was is None or place_of(skill, top) != place_of(was, tree):
            found.append(skill)
            continue
        before = _state(was, tree)
        if before is None or before != _state(skill, top):
            found.append(skill)
    return tuple(found)


def top_of(checkout: Checkout) -> str:
    """Return the repository's top, as a prefix of the run's own directory."""
    return checkout.top if checkout.directory.startswith(checkout.top) else os.path.realpath(checkout.top)


def _base_skills(context: RunContext, request: EvalRequest, tree: str, there: str) -> Skills:
    here, top = context.checkout.directory, top_of(context.checkout)
    paths = []
    for path in request.skills:
        below = os.path.relpath(os.path.normpath(os.path.join(here, path)), top)
        place = os.path.normpath(os.path.join(tree, below))
        if not below.startswith("..") and os.path.exists(place):
            paths.append(place)
    without = [os.path.join(tree, os.path.relpath(folder, top)) for folder in _excluded(context, top)]
    try:
        return load_skills(paths, cwd=there, prose=request.prose, without=without, lenient=True)
    except UsageError as error:
        return Skills((), tuple(str(error).splitlines()[:3]))


def _excluded(context: RunContext, top: str) -> list[str]:
    """Return the directories excluded by the input ``paths``, if the benchmark takes its skills from it."""
    if context.request.benchmark.skills:
        return []
    return [os.path.normpath(os.path.join(top, path)) for path in excluded_paths(context)]


def place_of(skill: Runnable, top: str) -> str:
    """Return a skill's directory relative to the top, with ``/``."""
    return os.path.relpath(skill.root, top).replace(os.sep, "/")


def _retried(now: Skills, earlier: Mapping[str, Runnable], request: EvalRequest) -> Skills:
    """Allow no skill more tries than in its base: more tries make every task easier; they apply after the merge."""
    skills = []
    for skill in now.found:
        was, own = earlier.get(skill.key), skill.config.retries
        tries = request.execution.retries if was is None or was.config.retries is None else was.config.retries
        if own is not None and own > tries:
            skill = dataclasses.replace(skill, config=dataclasses.replace(skill.config, retries=tries))
        skills.append(skill)
    return now._replace(found=tuple(skills))


def _state(skill: Runnable, top: str) -> dict[str, str] | None:
    """Digest all parts of a skill, by place in the repository; None if there is too much."""
    found = {}
    for place in (skill.root, *_named(skill, os.path.realpath(top))):
        contents = _contents(place, top)
        if contents is None:
            return None
        found[os.path.relpath(place, top)] = contents
    return found


def _named(skill: Runnable, top: str) -> list[str]:
    """Find the files and directories outside of a skill, but in the repository, that its settings name."""
    config = skill.config
    texts = [config.command or "", *config.args, *config.serve, *config.env.values()]
    words = [*_words(skill.spec.entrypoint), *texts, *(word for text in texts for word in _words(text))]
    parts = {part for word in words for part in (word, *re.split(r"[=:,;]", word)) if part}
    root = os.path.realpath(skill.root)
    found = set()
    for part in parts:
        place = os.path.normpath(os.path.join(skill.root, part))
        real = "" if "\0" in part else os.path.realpath(place)
        is_inside = real == root or real.startswith(os.path.join(root, ""))
        if os.path.exists(real) and (real == top or real.startswith(os.path.join(top, ""))) and not is_inside:
            found.add(place)
    return sorted(found)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _contents(root: str, top: str) -> str | None:
    """Digest a file, or everything in a directory that Git can store; None if there is too much.

    Nothing is left out, not even directories of tools: programs can read their code from anywhere.
    """
    parts: list[bytes] = []
    left = [_MOST_FILES, _MOST_BYTES]
    try:
        for path in _below(root, os.path.realpath(top)) if os.path.isdir(root) else [root]:
            left[0] -= 1
            parts += [os.fsencode(os.path.relpath(path, root)), *_file(path, left, os.path.realpath(top))]
            if min(left) < 0:
                return None
    except OSError:  # an unreadable file may have changed
        return None
    return digest(*parts)


def _below(root: str, top: str) -> Iterator[str]:
    """Yield files and links, in order; also through links to directories inside the top, each once."""
    waiting, seen = [root], set()
    while waiting:
        folder = waiting.pop()
        real = os.path.realpath(folder)
        if real in seen or not (real == top or real.startswith(os.path.join(top, ""))):
            continue
        seen.add(real)
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isdir(path):
                yield path
            if os.path.isdir(path) and name != ".git":
                waiting.append(path)


def _file(path: str, left: list[int], top: str) -> Sequence[bytes]:
    """Return mode, target and contents of a file or link."""
    is_link = os.path.islink(path)
    leads = os.fsencode(os.readlink(path)) if is_link else b""
    real = os.path.realpath(path)
    if not os.path.isfile(real) or not real.startswith(os.path.join(top, "")):
        return (b"", leads, b"")
    mode = b"x" if os.stat(real).st_mode & 0o100 else b"-"
    left[1] -= os.stat(real).st_size
    if left[1] < 0:
        return ()
    with open(real, "rb") as file:
        return (mode, leads, file.read())
