"""Where the expected answers of a benchmark run lie, so that programs of skills can be kept from them."""
# ruff: noqa: PTH117, PTH118

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.access import is_within
from skillgate.bench.isolation.answers import answers_of
from skillgate.bench.isolation.leftovers import SHARED
from skillgate.bench.program import command_of
from skillgate.bench.reading.catalog import PACKAGED_FOLDER, files_of
from skillgate.errors import UsageError
from skillgate.llm.answers import folder_of
from skillgate.model.executable import AdapterType
from skillgate.store.target import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.bench.isolation.answers import Answers
    from skillgate.bench.request import EvalRequest
    from skillgate.model.benchmark import Loaded
    from skillgate.model.executable import Runnable
    from skillgate.session import Session

_PROGRAMS = (AdapterType.SUBPROCESS, AdapterType.MCP)
_SQLITE = ("", "-wal", "-shm", "-journal")


def answers_for(skills: Sequence[Runnable], loaded: Loaded, request: EvalRequest, session: Session) -> Answers:
    """Return every place of a run that holds expected answers: benchmarks, tests, reports, recordings, the store."""
    cwd = session.cwd
    files = [*files_of_benchmark(loaded), *_others(request, cwd), *_store(request, session)]
    reports = (request.output.directory, session.config.get(settings.OUTPUT_DIR))  # the last of runs without the option
    folders = [os.path.join(cwd, FOLDER), *(os.path.join(cwd, one) for one in reports), PACKAGED_FOLDER]
    folders += [os.path.join(cwd, path) for path in (request.models.record, request.models.replay) if path is not None]
    config = request.config
    cache = folder_of(session.environ, config.get(settings.CACHE_DIR), config.base(settings.CACHE_DIR))
    folders += [cache] if cache else []
    return answers_of(
        [skill.root for skill in skills],
        files=[*files, *(path for path in (*folders, *request.answers) if os.path.isfile(path))],  # noqa: PTH113
        folders=[*folders, *request.answers],
        needed=[*_shared(session), *(path for skill in skills for path in _named(skill, session))],
    )


def files_of_benchmark(loaded: Loaded) -> Iterator[str]:
    """Yield a benchmark's file, and those of the scorers that its tasks name; not all need to be there."""
    yield os.path.join(loaded.folder, os.path.basename(loaded.origin))  # noqa: PTH119
    for task in loaded.benchmark.tasks:
        for path in (task.evaluator.custom_scorer_path, task.expected_output.custom_scorer_path):
            if path is not None:
                yield os.path.join(loaded.folder, path.rpartition(":")[0])
        for word in task.evaluator.command[:8]:
            path = os.path.join(loaded.folder, word)
            if "\0" not in word and _is_of(loaded.folder, path):
                yield path


def _is_of(folder: str, path: str) -> bool:
    """Return whether a file that a scorer's command names may hold answers: a program from elsewhere does not."""
    return is_within(os.path.realpath(path), os.path.realpath(folder)) or not os.access(path, os.X_OK)


def _others(request: EvalRequest, cwd: str) -> Iterator[str]:
    if request.tasks.benchmarks_dir is not None:
        yield from files_of(os.path.join(cwd, request.tasks.benchmarks_dir))


def _store(request: EvalRequest, session: Session) -> Iterator[str]:
    from skillgate.store.results import named_store

    with suppress(UsageError):  # whoever opens the store says so
        path = named_store(request.store.name, session)[0].path
        if path is not None:
            yield from (path + ending for ending in _SQLITE)


def _shared(session: Session) -> Iterator[str]:
    """Yield the directories that every program needs: those of temporary files, and those where programs are."""
    yield from (tempfile.gettempdir(), *SHARED)
    yield from filter(os.path.isabs, session.environ.get("PATH", os.defpath).split(os.pathsep))


def _named(skill: Runnable, session: Session) -> Iterator[str]:
    """Yield the files that a skill's command names, and its program."""
    if skill.spec.adapter_type not in _PROGRAMS:
        return
    with suppress(UsageError):  # whoever opens the adapter says so
        command = command_of(skill)
        program = shutil.which(command[0], path=session.environ.get("PATH", os.defpath))
        if program is not None and os.path.isabs(program):
            yield program
        for word in command:
            path = os.path.join(skill.root, word)
            if "\0" not in word and not word.startswith("-") and os.path.isfile(path):  # noqa: PTH113
                yield path
