"""Where the expected answers of a benchmark run lie, so that programs of skills can be kept from them."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from skillgate.bench.catalog import PACKAGED_FOLDER, files_of
from skillgate.bench.isolation.answers import answers_of
from skillgate.bench.program import command_of
from skillgate.errors import UsageError
from skillgate.llm.answers import folder_of
from skillgate.model.executable import AdapterType
from skillgate.store.target import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.bench.isolation.answers import Answers
    from skillgate.cli.bench_options import Asked
    from skillgate.cli.session import Session
    from skillgate.model.benchmark import Loaded
    from skillgate.model.executable import Runnable

_PROGRAMS = (AdapterType.SUBPROCESS, AdapterType.MCP)
_SQLITE = ("", "-wal", "-shm", "-journal")


def answers_for(skills: Sequence[Runnable], loaded: Loaded, asked: Asked, session: Session) -> Answers:
    """Return every place of a run that holds expected answers: benchmarks, tests, reports, recordings, the store."""
    cwd = session.cwd
    files = [*files_of_benchmark(loaded), *_others(asked, cwd), *_store(asked, session)]
    folders = [os.path.join(cwd, FOLDER), os.path.join(cwd, asked.output_dir), PACKAGED_FOLDER]
    folders += [os.path.join(cwd, value) for key in ("record", "replay") if isinstance(value := asked.asking[key], str)]
    given = asked.config.get("cache-dir")
    kept = folder_of(session.environ, given if isinstance(given, str) else None, asked.config.base("cache-dir"))
    folders += [kept] if kept else []
    return answers_of(
        [skill.root for skill in skills],
        files=[*files, *(path for path in (*folders, *asked.answers) if os.path.isfile(path))],  # noqa: PTH113
        folders=[*folders, *asked.answers],
        needed=[path for skill in skills for path in _named(skill)],
    )


def files_of_benchmark(loaded: Loaded) -> Iterator[str]:
    """Give a benchmark's file, and those of the scorers that its tasks name; not all need to be there."""
    yield os.path.join(loaded.folder, os.path.basename(loaded.origin))  # noqa: PTH119
    for task in loaded.benchmark.tasks:
        for path in (task.evaluator.custom_scorer_path, task.expected_output.custom_scorer_path):
            if path is not None:
                yield os.path.join(loaded.folder, path.rpartition(":")[0])
        yield from (os.path.join(loaded.folder, word) for word in task.evaluator.command[:8] if "\0" not in word)


def _others(asked: Asked, cwd: str) -> Iterator[str]:
    if asked.benchmarks_dir is not None:
        yield from files_of(os.path.join(cwd, asked.benchmarks_dir))


def _store(asked: Asked, session: Session) -> Iterator[str]:
    from skillgate.cli.storing import named_store

    with suppress(UsageError):  # whoever opens the store says so
        path = named_store(asked.store, session)[0].path
        if path is not None:
            yield from (path + ending for ending in _SQLITE)


def _named(skill: Runnable) -> Iterator[str]:
    """Give the files that a skill's command names."""
    if skill.spec.adapter_type not in _PROGRAMS:
        return
    with suppress(UsageError):  # whoever opens the adapter says so
        for word in command_of(skill):
            path = os.path.join(skill.root, word)
            if "\0" not in word and not word.startswith("-") and os.path.isfile(path):  # noqa: PTH113
                yield path
