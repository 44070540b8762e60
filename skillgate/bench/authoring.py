"""Check files of skills and benchmarks, and probe benchmarks: ``bench validate`` and ``bench check``."""
# ruff: noqa: PTH100, PTH112, PTH118, PTH119

from __future__ import annotations

import json
import os
import threading
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.bench.documents import (
    BENCHMARK_JSON,
    check_of,
    find_benchmark,
    prepare_scorer,
    read_json,
    read_tasks,
    rules_of,
    scorer_of,
    scorers_of,
    scoring_of,
)
from skillgate.bench.ports import Refusal, UnscoredError, alone
from skillgate.bench.program import PROGRAMS, command_of, runs_in_copy
from skillgate.bench.skills import (
    CONFIG_JSON,
    SKILL_JSON,
    check_runnable,
    has_address,
    misspelt_keys,
    read_config,
    read_skill,
)
from skillgate.errors import SkillgateError, UsageError
from skillgate.model.benchmark import ABSENT, ERROR, AdapterType
from skillgate.registry import SCORERS
from skillgate.skill.walk import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.bench.isolation.spawner import ProcessSpawner
    from skillgate.bench.ports import Scorer
    from skillgate.console import Console
    from skillgate.model.benchmark import Benchmark, Loaded, Task

NULL, ECHO, CONSTANT, REFUSE = "null", "echo", "constant", "refuse"
SELF_CHECK = "selfCheck"  # metadata key: how many tasks each probe may pass by design
_MOST_CONSTANTS = 200


class Checked(NamedTuple):
    """A checked file, its kind and its problems."""

    path: str
    kind: str | None  # skill, adapter, benchmark or tasks; None for any other file
    problems: tuple[str, ...]
    unchecked: int = 0  # JSON Schemas not checked because jsonschema is not installed
    notices: tuple[str, ...] = ()  # probably misspelt keys, formats that cannot be checked
    not_started: str = ""  # why the skill's program, which exists, cannot be started here


def find_files(paths: Sequence[str], *, cwd: str) -> tuple[str, ...]:
    """List the named files, and below named directories all files of known kinds.

    These are skill.json, adapter.config.json, benchmark.json, ``*.eval.json``, and every JSON file in a directory
    named benchmarks.

    Raises:
        UsageError: A path does not exist.
    """
    found: dict[str, str] = {}
    for path in paths:
        place = os.path.abspath(os.path.join(cwd, path))
        if os.path.isdir(place):
            for file in _files_below(place):
                found.setdefault(file, os.path.normpath(os.path.join(path, os.path.relpath(file, place))))
        elif os.path.lexists(place):
            found.setdefault(place, path)
        else:
            raise UsageError(f"{path} does not exist")
    return tuple(found.values())


def _files_below(place: str) -> Iterator[str]:
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and name[:1] != ".")
        for name in sorted(names):
            fits = name in (SKILL_JSON, CONFIG_JSON, BENCHMARK_JSON) or name.endswith(".eval.json")
            if fits or (name.endswith(".json") and os.path.basename(folder) == "benchmarks"):
                yield os.path.join(folder, name)


def check_file(shown: str, *, cwd: str) -> Checked:
    """Check one file, by its name and content, with the checks that a run starts with."""
    place = os.path.abspath(os.path.join(cwd, shown))
    name = os.path.basename(place)
    kind: str | None = None
    try:
        if name == SKILL_JSON:
            kind = "skill"
            return _check_skill(place, shown)
        if name == CONFIG_JSON:
            kind = "adapter"
            read_config(place, shown)
            return Checked(shown, kind, ())
        kind = _kind(read_json(place, shown))
        if kind is not None:
            return _check_tasks(read_tasks(place, shown), shown, kind)
    except UsageError as error:
        return Checked(shown, kind, tuple(str(error).splitlines()))
    words = f"{shown}: not a skill.json, adapter.config.json or benchmark: it has no tasks"
    return Checked(shown, None, (words,))


def _kind(data: Any) -> str | None:  # noqa: ANN401 - JSON
    if isinstance(data, dict) and "tasks" in data:
        return "benchmark" if "id" in data else "tasks"
    return "tasks" if isinstance(data, list) else None


def _check_skill(place: str, shown: str) -> Checked:
    skill = read_skill(place, shown)
    check_runnable(skill)
    misspelt = misspelt_keys(read_json(place, shown), shown)
    declared = {"inputSchema": dict(skill.spec.input_schema), "outputSchema": dict(skill.spec.output_schema)}
    found = {key: schema for key, schema in declared.items() if schema}
    try:
        from skillgate.bench.schemas import format_problem, schema_problem
    except ModuleNotFoundError:
        return Checked(shown, "skill", (), len(found), misspelt)
    problems = {key: problem for key, schema in found.items() if (problem := schema_problem(schema))}
    # No answer is validated with these schemas, so a format that cannot be checked is only a notice.
    formats = {key: format_problem(schema) for key, schema in found.items() if key not in problems}
    notices = (f"{shown}: {key}: {problem}" for key, problem in formats.items() if problem)
    lines = tuple(f"{shown}: {key}: {problem}" for key, problem in problems.items())
    return Checked(shown, "skill", lines, notices=(*misspelt, *notices))


def _check_tasks(loaded: Loaded, shown: str, kind: str) -> Checked:
    """Check that every task can be scored, by preparing its scorer; nothing is started."""
    surroundings = alone()
    problems: list[str] = []
    unchecked = 0
    for index, task in enumerate(loaded.benchmark.tasks):
        scorer = scorer_of(task, None)
        if scorer is None:  # --evaluator decides
            continue
        package = SCORERS.text(scorer, "PACKAGE")
        if package and find_spec(package) is None:
            unchecked += 1
            continue
        try:
            prepare_scorer(task, rules_of(task, scorer, loaded.folder), surroundings)
        except UsageError:  # a scorer that is a program cannot be prepared here
            if not SCORERS.flag(scorer, "STARTS_PROGRAM"):
                raise
        except ValueError as error:
            problems += [f"{shown}: tasks[{index}].{line}" for line in str(error).splitlines()]
    return Checked(shown, kind, tuple(problems), unchecked)


class Probe(NamedTuple):
    """The tasks that one do-nothing skill passes."""

    name: str  # null, echo (the input or a value of it), constant (always the same answer), refuse (the same error)
    passed: tuple[str, ...]  # task ids, in order
    allowed: (
        int  # how many it may pass, from the benchmark's metadata; default 0, for refuse the tasks that expect an error
    )
    answer: Any = None  # constant: the answer that passes most tasks

    @property
    def is_fine(self) -> bool:
        """Whether it passes no more tasks than allowed."""
        return len(self.passed) <= self.allowed


class Probed(NamedTuple):
    """The probes of a benchmark."""

    benchmark: str  # id
    probes: tuple[Probe, ...]
    checked: int  # number of tasks
    left_out: tuple[str, ...]  # ids of tasks that only a model or a program can score


def probe_benchmark(word: str, benchmarks_dir: str | None, session: Console) -> Probed:
    """Try do-nothing answers on a benchmark, given by id or file. Nothing is started, no model is asked.

    Raises:
        UsageError: There is no such benchmark, or it is not valid.
    """
    loaded, notices = find_benchmark(word, benchmarks_dir, cwd=session.cwd)
    for notice in notices:
        session.note(notice)
    rules = scoring_of(loaded, "exact")
    left_out = tuple(
        name
        for name, rule in rules.items()
        if SCORERS.flag(rule.scorer, "ASKS_MODEL") or SCORERS.flag(rule.scorer, "STARTS_PROGRAM")
    )
    tasks = tuple(task for task in loaded.benchmark.tasks if task.id not in left_out)
    benchmark = replace(loaded.benchmark, tasks=tasks)
    if left_out:
        session.note(f"{benchmark.id}: not checked, because a model or a program scores them: {', '.join(left_out)}")
    scorers = scorers_of(replace(loaded, benchmark=benchmark), rules, alone())
    return Probed(benchmark.id, probes_of(benchmark, scorers), len(tasks), left_out)


def probes_of(benchmark: Benchmark, scorers: Mapping[str, Scorer]) -> tuple[Probe, ...]:
    """Run the probes; an answer that cannot be scored does not pass. ``scorers`` is keyed by task id.

    By default no task may pass, except that a refusal passes those that expect one.
    """
    design = benchmark.metadata.get(SELF_CHECK)
    counts = design if isinstance(design, dict) else {}
    allowed = {name: count for name, count in counts.items() if isinstance(count, int)}
    null = tuple(task.id for task in benchmark.tasks if _passes(scorers[task.id], [None]))
    echo = tuple(task.id for task in benchmark.tasks if _passes(scorers[task.id], _echoes(task)))
    best: tuple[str, ...] = ()
    answer: Any = None
    for one in _constants(benchmark):
        passed = tuple(task.id for task in benchmark.tasks if _passes(scorers[task.id], [one]))
        if len(passed) > len(best):
            best, answer = passed, one
    refused = _refused(benchmark, scorers)
    errors = len(refused) if len(refused) < len(benchmark.tasks) else 0  # not all may be refusals
    return (
        Probe(NULL, null, allowed.get(NULL, 0)),
        Probe(ECHO, echo, allowed.get(ECHO, 0)),
        Probe(CONSTANT, best, allowed.get(CONSTANT, 0), answer),
        Probe(REFUSE, refused, allowed.get(REFUSE, errors)),
    )


def _refused(benchmark: Benchmark, scorers: Mapping[str, Scorer]) -> tuple[str, ...]:
    """Return the tasks that one error as the reply to every call passes: with any code, and all expected texts."""
    tasks = [
        task
        for task in benchmark.tasks
        if all(scorer_of(one, None) == ERROR for one in (task, *map(check_of, (*task.setup, *task.steps[:-1]))))
    ]
    expected = [task.expected_output for task in tasks]
    text = "\n".join(dict.fromkeys(one.contains for one in expected if one.contains))
    best: tuple[str, ...] = ()
    for code in dict.fromkeys((None, *(one.code for one in expected))):
        passed = tuple(task.id for task in tasks if _is_passed(scorers[task.id], Refusal(code, text)))
        best = max(best, passed, key=len)
    return best


def _passes(scorer: Scorer, answers: list[Any]) -> bool:
    return any(_is_passed(scorer, answer) or _is_passed(scorer, {"result": answer}) for answer in answers)


def _is_passed(scorer: Scorer, answer: Any) -> bool:  # noqa: ANN401 - JSON
    try:
        return scorer.score(answer).passed
    except UnscoredError:
        return False


def _echoes(task: Task) -> list[Any]:
    data = dict(task.input_data)
    return [data, json.dumps(data, ensure_ascii=False), *data.values()]


def _constants(benchmark: Benchmark) -> list[Any]:
    """Return candidates for a constant answer: every expected value, and common ones."""
    values: list[Any] = [True, False, "true", "", 0, 1, [], {}]
    for task in benchmark.tasks:
        values += [] if task.expected_output.value is ABSENT else [task.expected_output.value]
        values += task.expected_output.keywords
    distinct: dict[str, Any] = {}
    for value in values:
        distinct.setdefault(json.dumps(value, sort_keys=True), value)
    return [*distinct.values()][:_MOST_CONSTANTS]


def validate(paths: Sequence[str], session: Console) -> list[Checked]:
    """Check files of executable skills and benchmarks, and whether programs can be started here.

    Raises:
        UsageError: A path does not exist.
    """
    checked = [check_file(path, cwd=session.cwd) for path in find_files(paths, cwd=session.cwd)]
    return _with_starting(checked, session)


def _with_starting(checked: Sequence[Checked], session: Console) -> list[Checked]:
    """Add to each valid skill.json why its existing program cannot be started here; nothing is run."""
    skills = [one for one in checked if one.kind == "skill" and not one.problems]
    if not skills or session.config.get(settings.ALLOW_EXEC) is not True:
        return list(checked)
    from skillgate.bench.isolation.spawner import ProcessSpawner  # only if programs may be started

    try:
        spawner = ProcessSpawner(
            path=session.environ.get("PATH", os.defpath),
            stop=threading.Event(),
            sandbox=session.config.get(settings.SANDBOX),
        )
    except SkillgateError as error:
        session.note(f"not checked whether programs can be started: {error}")
        return list(checked)
    with closing(spawner):
        return [one._replace(not_started=_problem(one, spawner, session)) if one in skills else one for one in checked]


def _problem(one: Checked, spawner: ProcessSpawner, session: Console) -> str:
    skill = read_skill(os.path.abspath(os.path.join(session.cwd, one.path)), one.path)
    kind = skill.spec.adapter_type
    try:
        if kind not in PROGRAMS or (kind is AdapterType.MCP and has_address(skill)):
            return ""
        argv = command_of(skill)
    except UsageError:  # the file's check reports it
        return ""
    return spawner.unstartable(argv, root=skill.root, env=skill.config.env, copy=runs_in_copy(skill)) or ""
