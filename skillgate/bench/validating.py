"""Checks the files of skills that run and of benchmarks, each by itself: what is wrong with it, a line each."""
# ruff: noqa: PTH100, PTH112, PTH118, PTH119

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.catalog import BENCHMARK_JSON, read_tasks
from skillgate.bench.files import read_json
from skillgate.bench.loading import CONFIG_JSON, SKILL_JSON, read_config, read_skill
from skillgate.bench.misspelt import misspelt_in_skill
from skillgate.errors import UsageError
from skillgate.skill.walk import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.benchmark import Benchmark
    from skillgate.model.executable import Executable

_FOLDER = "benchmarks"
_EVAL = ".eval.json"


class Checked(NamedTuple):
    """One file: what it is taken for, and what is wrong with it.

    ``kind`` is ``skill``, ``adapter``, ``benchmark`` or ``tasks``; None for a file that is none of them. ``unchecked``
    counts the JSON Schemas in it that were not looked at, since the package that knows them is not installed;
    ``notices`` name keys that are probably misspelt. ``not_started`` says why this machine cannot start the skill's
    program although it exists, ``""`` where it can.
    """

    path: str
    kind: str | None
    problems: tuple[str, ...]
    unchecked: int = 0
    notices: tuple[str, ...] = ()
    not_started: str = ""


def find_files(paths: Sequence[str], *, cwd: str) -> tuple[str, ...]:
    """List the files that paths mean: one that is named, or all of their kinds below a directory.

    Those are skill.json, adapter.config.json, benchmark.json, files whose name ends in ``.eval.json``, and every other
    JSON file of a directory called benchmarks.

    Raises:
        UsageError: a path does not exist.
    """
    found: dict[str, str] = {}
    for path in paths:
        place = os.path.abspath(os.path.join(cwd, path))
        if os.path.isdir(place):
            for file in _below(place):
                found.setdefault(file, os.path.normpath(os.path.join(path, os.path.relpath(file, place))))
        elif os.path.lexists(place):
            found.setdefault(place, path)
        else:
            raise UsageError(f"{path} does not exist")
    return tuple(found.values())


def check_file(shown: str, *, cwd: str) -> Checked:
    """Check one file, by its name and by what it holds."""
    place = os.path.abspath(os.path.join(cwd, shown))
    name = os.path.basename(place)
    kind: str | None = None
    try:
        if name == SKILL_JSON:
            kind = "skill"
            found = _with_schemas(shown, kind, _declared(read_skill(place, shown).spec))
            return found._replace(notices=misspelt_in_skill(read_json(place, shown), shown))
        if name == CONFIG_JSON:
            kind = "adapter"
            read_config(place, shown)
            return Checked(shown, kind, ())
        data = read_json(place, shown)
        kind = _kind(data)
        if kind is not None:
            loaded = read_tasks(place, shown)
            return _with_schemas(shown, kind, _expected(loaded.benchmark))._replace(notices=loaded.notices)
    except UsageError as error:
        return Checked(shown, kind, tuple(str(error).splitlines()))
    words = f"{shown}: is no skill.json, no adapter.config.json and no benchmark: it has no tasks"
    return Checked(shown, None, (words,))


def _kind(data: Any) -> str | None:  # noqa: ANN401 - JSON
    if isinstance(data, list):
        return "tasks"
    if isinstance(data, dict) and "tasks" in data:
        return "benchmark" if "id" in data else "tasks"
    return None


def _below(place: str) -> Iterator[str]:
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and name[:1] != ".")
        for name in sorted(names):
            fits = name in (SKILL_JSON, CONFIG_JSON, BENCHMARK_JSON) or name.endswith(_EVAL)
            if fits or (name.endswith(".json") and os.path.basename(folder) == _FOLDER):
                yield os.path.join(folder, name)


def _with_schemas(shown: str, kind: str, schemas: Iterator[tuple[str, Any]]) -> Checked:
    """Check the schemas in a file that is valid otherwise; those that allow all or nothing need no check."""
    found = [(key, schema) for key, schema in schemas if schema and not isinstance(schema, bool)]
    try:
        from skillgate.bench.schemas import schema_problem
    except ModuleNotFoundError:
        return Checked(shown, kind, (), unchecked=len(found))
    problems = ((key, schema_problem(schema)) for key, schema in found)
    return Checked(shown, kind, tuple(f"{shown}: {key}: {problem}" for key, problem in problems if problem))


def _declared(spec: Executable) -> Iterator[tuple[str, Any]]:
    yield "inputSchema", dict(spec.input_schema)
    yield "outputSchema", dict(spec.output_schema)


def _expected(benchmark: Benchmark) -> Iterator[tuple[str, Any]]:
    for index, task in enumerate(benchmark.tasks):
        yield f"tasks[{index}].expectedOutput.schema", task.expected_output.schema
