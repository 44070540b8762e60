"""Checks the files of skills that run and of benchmarks, each by itself: what is wrong with it, a line each."""
# ruff: noqa: PTH100, PTH112, PTH118, PTH119

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.catalog import BENCHMARK_JSON, read_tasks
from skillgate.bench.files import read_json
from skillgate.bench.loading import CONFIG_JSON, SKILL_JSON, read_config, read_skill
from skillgate.errors import UsageError
from skillgate.skill.walk import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FOLDER = "benchmarks"
_EVAL = ".eval.json"


class Checked(NamedTuple):
    """One file: what it is taken for, and what is wrong with it.

    ``kind`` is ``skill``, ``adapter``, ``benchmark`` or ``tasks``; None for a file that is none of them.
    """

    path: str
    kind: str | None
    problems: tuple[str, ...]


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
            skill = read_skill(place, shown)
            return Checked(shown, kind, tuple(_schemas(shown, skill.spec)))
        if name == CONFIG_JSON:
            kind = "adapter"
            read_config(place, shown)
            return Checked(shown, kind, ())
        data = read_json(place, shown)
        kind = _kind(data)
        if kind is not None:
            loaded = read_tasks(place, shown)
            return Checked(shown, kind, tuple(_expected(shown, loaded.benchmark)))
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


def _schemas(shown: str, spec: Any) -> Iterator[str]:  # noqa: ANN401 - an Executable
    for key, schema in (("inputSchema", spec.input_schema), ("outputSchema", spec.output_schema)):
        problem = _schema_problem(dict(schema))
        if problem:
            yield f"{shown}: {key}: {problem}"


def _expected(shown: str, benchmark: Any) -> Iterator[str]:  # noqa: ANN401 - a Benchmark
    for index, task in enumerate(benchmark.tasks):
        schema = task.expected_output.schema
        problem = None if schema is None else _schema_problem(schema)
        if problem:
            yield f"{shown}: tasks[{index}].expectedOutput.schema: {problem}"


def _schema_problem(schema: Any) -> str | None:  # noqa: ANN401 - JSON
    """Say why something is no JSON Schema; None where it is one, or where the package that knows is not installed."""
    if not schema or isinstance(schema, bool):
        return None
    try:
        from skillgate.bench.schemas import schema_problem
    except ModuleNotFoundError:
        return None
    return schema_problem(schema)
