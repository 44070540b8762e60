"""Checks the files of skills that run and of benchmarks, each by itself, with the checks that a run begins with."""
# ruff: noqa: PTH100, PTH112, PTH118, PTH119

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.checking import prepare_scorer, rules_of, scorer_of
from skillgate.bench.ports import alone
from skillgate.bench.reading.catalog import BENCHMARK_JSON, read_tasks
from skillgate.bench.reading.files import read_json
from skillgate.bench.reading.loading import CONFIG_JSON, SKILL_JSON, read_config, read_skill
from skillgate.bench.reading.misspelt import misspelt_in_skill
from skillgate.bench.reading.runnable import check_runnable
from skillgate.errors import UsageError
from skillgate.registry import SCORERS
from skillgate.skill.walk import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.benchmark import Loaded

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
            return _skill(place, shown)
        if name == CONFIG_JSON:
            kind = "adapter"
            read_config(place, shown)
            return Checked(shown, kind, ())
        kind = _kind(read_json(place, shown))
        if kind is not None:
            return _tasks(read_tasks(place, shown), shown, kind)
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


def _skill(place: str, shown: str) -> Checked:
    skill = read_skill(place, shown)
    check_runnable(skill)
    misspelt = misspelt_in_skill(read_json(place, shown), shown)
    declared = {"inputSchema": dict(skill.spec.input_schema), "outputSchema": dict(skill.spec.output_schema)}
    found = {key: schema for key, schema in declared.items() if schema}
    try:
        from skillgate.bench.schemas import format_problem, schema_problem
    except ModuleNotFoundError:
        return Checked(shown, "skill", (), len(found), misspelt)
    problems = {key: problem for key, schema in found.items() if (problem := schema_problem(schema))}
    # Nothing is validated with these schemas, so a format that cannot be checked lets nothing pass: it is a notice.
    formats = {key: format_problem(schema) for key, schema in found.items() if key not in problems}
    notices = (f"{shown}: {key}: {problem}" for key, problem in formats.items() if problem)
    told = tuple(f"{shown}: {key}: {problem}" for key, problem in problems.items())
    return Checked(shown, "skill", told, notices=(*misspelt, *notices))


def _tasks(loaded: Loaded, shown: str, kind: str) -> Checked:
    """Check that every task can be scored, by what makes its scorer ready in a run; nothing is started."""
    surroundings = alone()
    problems: list[str] = []
    unchecked = 0
    for index, task in enumerate(loaded.benchmark.tasks):
        scorer = scorer_of(task, None)
        if scorer is None:  # as --evaluator says
            continue
        package = SCORERS.text(scorer, "PACKAGE")
        if package and find_spec(package) is None:
            unchecked += 1
            continue
        try:
            prepare_scorer(task, rules_of(task, scorer, loaded.folder), surroundings)
        except UsageError:  # a program scores, and none may be started
            if not SCORERS.flag(scorer, "STARTS_PROGRAM"):
                raise
        except ValueError as error:
            problems += [f"{shown}: tasks[{index}].{line}" for line in str(error).splitlines()]
    return Checked(shown, kind, tuple(problems), unchecked)
