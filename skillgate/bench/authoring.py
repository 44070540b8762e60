"""Check files of skills and benchmarks, and probe and import benchmarks: ``bench validate``, ``check``, ``import``."""
# ruff: noqa: PTH100, PTH110, PTH112, PTH113, PTH118, PTH119, PTH123

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.bench.documents import (
    BENCHMARK_JSON,
    MAX_BYTES,
    check_benchmark,
    check_task,
    find_benchmark,
    packaged,
    parse_json,
    prepare_scorer,
    read_json,
    read_tasks,
    refuse,
    rules_of,
    scorer_of,
    scorers_of,
    scoring_of,
    shortened,
)
from skillgate.bench.ports import UnscoredError, alone
from skillgate.bench.program import command_of
from skillgate.bench.skills import (
    CONFIG_JSON,
    SKILL_JSON,
    check_runnable,
    has_address,
    misspelt_keys,
    read_config,
    read_skill,
)
from skillgate.errors import CodecError, SkillgateError, UsageError
from skillgate.files import write
from skillgate.model.benchmark import ABSENT, AdapterType, Benchmark, Task
from skillgate.model.codec import decode
from skillgate.registry import SCORERS
from skillgate.skill.walk import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.bench.isolation.spawner import ProcessSpawner
    from skillgate.bench.ports import Scorer
    from skillgate.console import Console
    from skillgate.model.benchmark import Loaded, Runnable

    Mapped = Callable[[Mapping[str, Any], int], dict[str, Any]]

NULL, ECHO, CONSTANT = "null", "echo", "constant"
SELF_CHECK = "selfCheck"  # of a benchmark's metadata: how many tasks each probe may pass by the benchmark's design
LIKES = ("gaia-v1", "toolbench-lite")
_MOST_CONSTANTS = 200  # that are tried
_MOST_LINE = 5_000_000  # bytes
_FIELDS = ("id", "input", "expected", "tags", "description")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}|[0-9]{1,3}(?:,[0-9]{3}){1,90})(?:\.[0-9]{1,300})?")


class Checked(NamedTuple):
    """One file: what it is taken for, and what is wrong with it."""

    path: str
    kind: str | None  # skill, adapter, benchmark or tasks; None for a file that is none of them
    problems: tuple[str, ...]
    unchecked: int = 0  # JSON Schemas in it that were not looked at, since the package for them is not installed
    notices: tuple[str, ...] = ()  # keys that are probably misspelt, formats that cannot be checked
    not_started: str = ""  # why this machine cannot start the skill's program although it exists


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
    """Check one file, by its name and by what it holds, with the checks that a run begins with."""
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
    words = f"{shown}: is no skill.json, no adapter.config.json and no benchmark: it has no tasks"
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
    # Nothing is validated with these schemas, so a format that cannot be checked lets nothing pass: it is a notice.
    formats = {key: format_problem(schema) for key, schema in found.items() if key not in problems}
    notices = (f"{shown}: {key}: {problem}" for key, problem in formats.items() if problem)
    lines = tuple(f"{shown}: {key}: {problem}" for key, problem in problems.items())
    return Checked(shown, "skill", lines, notices=(*misspelt, *notices))


def _check_tasks(loaded: Loaded, shown: str, kind: str) -> Checked:
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


class Probe(NamedTuple):
    """What one way of doing nothing passes."""

    name: str  # null, echo (its input, or one value of it) or constant (one answer to everything)
    passed: tuple[str, ...]  # the ids of tasks, in order
    allowed: int  # how many it may, as the benchmark says of itself; 0 where it says nothing
    answer: Any = None  # of constant: the answer that passes most

    @property
    def is_fine(self) -> bool:
        """Whether it passes no more than it may."""
        return len(self.passed) <= self.allowed


class Probed(NamedTuple):
    """What a benchmark lets pass."""

    benchmark: str  # its id
    probes: tuple[Probe, ...]
    checked: int  # how many tasks were
    left_out: tuple[str, ...]  # the ids of tasks that only a model or a program can score


def probe_benchmark(word: str, benchmarks_dir: str | None, session: Console) -> Probed:
    """Try answers that know nothing on one benchmark, by its id or its file; nothing is started, no model used.

    Raises:
        UsageError: there is no such benchmark, or it is not valid.
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
        session.note(f"{benchmark.id}: not checked, since a model or a program scores: {', '.join(left_out)}")
    scorers = scorers_of(replace(loaded, benchmark=benchmark), rules, alone())
    return Probed(benchmark.id, _probes(benchmark, scorers), len(tasks), left_out)


def _probes(benchmark: Benchmark, scorers: Mapping[str, Scorer]) -> tuple[Probe, ...]:
    """Try what knows nothing; what cannot be scored is not passed. ``scorers`` are by the task's id."""
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
    return (
        Probe(NULL, null, allowed.get(NULL, 0)),
        Probe(ECHO, echo, allowed.get(ECHO, 0)),
        Probe(CONSTANT, best, allowed.get(CONSTANT, 0), answer),
    )


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
    """Return the answers that a skill might always give: every one that is expected somewhere, and the usual ones."""
    values: list[Any] = [True, False, "true", "", 0, 1, [], {}]
    for task in benchmark.tasks:
        values += [] if task.expected_output.value is ABSENT else [task.expected_output.value]
        values += task.expected_output.keywords
    distinct: dict[str, Any] = {}
    for value in values:
        distinct.setdefault(json.dumps(value, sort_keys=True), value)
    return [*distinct.values()][:_MOST_CONSTANTS]


class ImportRequest(NamedTuple):
    """Which lines of JSON become which benchmark; exactly one of ``like`` and ``fields`` is set."""

    file: str  # of the lines
    output: str  # the benchmark's file
    like: str | None  # the data set that the lines are of
    fields: str | None  # which are input, expected, id, tags, description, as input=FIELD,expected=FIELD
    attachments: str | None  # where the files are that tasks name
    id: str | None  # the benchmark's; None for the data set's, or the file's name
    version: str  # the benchmark's
    force: bool  # whether a file that is there is overwritten


class Imported(NamedTuple):
    """What came of a file of lines."""

    data: dict[str, Any]  # the benchmark, as its file has it
    tasks: int  # how many it has
    bad: tuple[str, ...]  # a line for each line that could not be mapped, with its number
    left_out: tuple[str, ...]  # a line for each that was left out on purpose, such as one that needs a file


class LineError(Exception):
    """A line is no task of its kind; the message says why."""


class LeftOutError(Exception):
    """A line is well formed and makes no task; the message says why."""


def import_lines(request: ImportRequest, session: Console) -> Imported:
    """Read the lines, one's own copy of a published data set or by a map of their fields, and write the benchmark.

    Raises:
        UsageError: an option does not fit, the file cannot be read, no line of it is a task, or the benchmark cannot
            be written.
    """
    if (request.like is None) == (request.fields is None):
        raise UsageError(f"bench import needs --like ({', '.join(LIKES)}) or --map input=FIELD,expected=FIELD")
    cwd = session.cwd
    source, target = os.path.join(cwd, request.file), os.path.join(cwd, request.output)
    if os.path.lexists(target) and not request.force:
        raise UsageError(f"{request.output} is there already; --force overwrites it")
    if os.path.exists(target) and os.path.realpath(target) == os.path.realpath(source):
        raise UsageError(f"{request.output} is the file that is read")
    attachments = None if request.attachments is None else os.path.join(cwd, request.attachments)
    if attachments is not None and not os.path.isdir(attachments):
        raise UsageError(f"--attachments {request.attachments}: there is no such directory")
    if not os.path.isfile(source):
        raise UsageError(f"{request.file} is no file" if os.path.lexists(source) else f"{request.file} does not exist")
    try:
        with open(source, "rb") as lines:
            found = _imported(lines, request, _mapping(request, attachments))
    except OSError as error:
        raise UsageError(f"{request.file} cannot be read: {error.strerror}") from error
    # Half of a character becomes the escape that JSON has for it.
    data = (json.dumps(found.data, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    if len(data) > MAX_BYTES:
        raise UsageError(f"the benchmark would be larger than {MAX_BYTES:,} bytes; import its lines in parts")
    home = os.path.join(cwd, "benchmarks")  # where they are looked for
    write(request.output, data, cwd=cwd, parents=os.path.normpath(os.path.join(target, os.pardir)) == home)
    return found


def _mapping(request: ImportRequest, attachments: str | None) -> Mapped:
    """Return what makes a task of a line and its number; raise UsageError for a map of fields that is none."""
    if request.like == "gaia-v1":
        return lambda row, _: _gaia(row, attachments)
    if request.fields is None:
        return _toolbench
    names: dict[str, str] = {}
    for part in request.fields.split(","):
        key, equals, field = (word.strip() for word in part.partition("="))
        if not equals or not field or key not in _FIELDS:
            raise UsageError(f"--map: expected {', '.join(f'{name}=FIELD' for name in _FIELDS)}; found {part!r}")
        if key in names:
            raise UsageError(f"--map: {key} stands twice")
        names[key] = field
    if missing := [key for key in ("input", "expected") if key not in names]:
        raise UsageError(f"--map: {' and '.join(missing)} must be there, as in input=question,expected=answer")
    return lambda row, number: _by_fields(row, number, names)


def _imported(lines: Iterable[bytes], request: ImportRequest, mapped: Mapped) -> Imported:
    shown, like = request.file, request.like
    tasks: dict[str, dict[str, Any]] = {}
    bad: list[str] = []
    left_out: list[str] = []
    digest = hashlib.sha256()
    for number, line in enumerate(lines, start=1):
        digest.update(line)
        if not line.strip():
            continue
        try:
            task = _task(line, f"{shown}:{number}", mapped, number)
        except LeftOutError as why:
            left_out.append(f"{shown}:{number}: {why}")
        except UsageError as error:
            bad += str(error).splitlines()
        else:
            if task["id"] in tasks:
                bad.append(f"{shown}:{number}: the id {task['id'][:80]!r} was there before")
            tasks.setdefault(task["id"], task)
    name = shown.replace("\\", "/").rpartition("/")[2]
    plain = re.sub(r"[^a-z0-9_.-]+", "-", name.partition(".")[0].lower()).strip("-._") or "imported"
    identifier = request.id or like or plain
    data: dict[str, Any] = {"id": identifier, "name": identifier, "version": request.version}
    metadata: dict[str, Any] = {}
    if like is not None:
        published = packaged(like).benchmark
        data |= {"name": published.name, "domain": published.domain}
        metadata = {"source": published.metadata.get("source"), "license": published.metadata.get("license")}
    metadata |= {"importedFrom": name, "sha256": digest.hexdigest()}
    data |= {"scoringMethod": "mean", "metadata": metadata, "tasks": [*tasks.values()]}
    if not tasks:
        refuse([*shortened(bad), *shortened(left_out), "no line is a task: nothing was written"])
    refuse(check_benchmark(decode(Benchmark, data)))
    return Imported(data, len(tasks), tuple(bad), tuple(left_out))


def _task(line: bytes, where: str, mapped: Mapped, number: int) -> dict[str, Any]:
    """Map one line, and check the task as every task is; raise UsageError naming the line, or LeftOutError."""
    if len(line) > _MOST_LINE:
        raise UsageError(f"{where}: is longer than {_MOST_LINE:,} bytes")
    try:
        row = parse_json(line.strip(), where)
    except UsageError as error:
        raise UsageError(str(error).replace(f"{where}:1:", f"{where}:")) from None
    if not isinstance(row, dict):
        raise UsageError(f"{where}: expected an object of JSON on each line")
    try:
        task = mapped(row, number)
        json.dumps(task, allow_nan=False)
        problems = list(check_task(decode(Task, task)))
    except (OverflowError, RecursionError, ValueError):  # 1e999, or nested as deep as can still be read
        raise UsageError(f"{where}: it cannot be written as JSON again") from None
    except LineError as error:
        raise UsageError(f"{where}: {error}") from None
    except CodecError as error:
        problems = str(error).splitlines()
    refuse(f"{where}: {problem}" for problem in problems)
    return task


def _by_fields(row: Mapping[str, Any], number: int, names: Mapping[str, str]) -> dict[str, Any]:
    """Map a line by the names of its fields; an input that is no object becomes ``{"input": …}``."""
    data = _field(row, names["input"])
    task: dict[str, Any] = {
        "id": _identifier(row, names["id"]) if "id" in names else f"line-{number}",
        "inputData": data if isinstance(data, dict) else {"input": data},
        "expectedOutput": {"type": "exact", "value": _field(row, names["expected"])},
    }
    if "tags" in names:
        tags = _field(row, names["tags"])
        task["tags"] = [str(tag) for tag in (tags if isinstance(tags, list) else [tags])]
    if "description" in names:
        task["description"] = str(_field(row, names["description"]))
    return task


def _gaia(row: Mapping[str, Any], attachments: str | None) -> dict[str, Any]:
    """Map a line of GAIA; a number is compared as a number, any other answer as a text whatever its case."""
    answer = _field(row, "Final answer")
    if not isinstance(answer, str | int | float) or isinstance(answer, bool):
        raise LineError("'Final answer': expected a text")
    text = str(answer).strip()
    if text in ("", "?"):
        raise LeftOutError("has no answer: that of the test split is not published")
    task: dict[str, Any] = {
        "id": _identifier(row, "task_id"),
        "inputData": {"question": _text(row, "Question")},
        "expectedOutput": {"type": "exact", "value": text, "caseSensitive": False},
        "tags": [f"level-{str(row['Level'])[:20]}"] if row.get("Level") is not None else [],
    }
    if _NUMBER.fullmatch(text):
        plain = text.replace(",", "")
        task["expectedOutput"] = {"type": "numeric", "value": float(plain) if "." in plain else int(plain)}
    name = row.get("file_name")
    if name:
        task["inputData"]["file"] = _attached(str(name), attachments)
        task["tags"].append("attachment")
    return task


def _attached(name: str, attachments: str | None) -> str:
    if attachments is None:
        raise LeftOutError(f"needs the file {name[:120]!r}; --attachments DIR says where it is")
    path = os.path.join(attachments, name)
    if not os.path.isfile(path):  # also where no file can have such a name
        raise LeftOutError(f"needs the file {name[:120]!r}, which is not in the directory of attachments")
    path = os.path.realpath(path)
    if not path.startswith(os.path.join(os.path.realpath(attachments), "")):
        raise LineError(f"'file_name': {name[:120]!r} leads out of the directory of attachments")
    return path


def _toolbench(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Map a line of ToolBench's kind: ``query``, the tools, and what is expected.

    Tools are ``api_list``, ``tools`` or ``apis``, and are passed on as they are. What is expected is the first of:
    ``answer`` (a value to equal), ``criteria`` (for a judge), ``relevant APIs`` (one pair of tool and API).

    Raises:
        LineError: a field is not there or of another kind.
        LeftOutError: it needs more than one call.
    """
    tools = next((row[key] for key in ("api_list", "tools", "apis") if row.get(key)), None)
    if not isinstance(tools, list):
        raise LineError("expected a list 'api_list', 'tools' or 'apis'")
    key = next((key for key in ("query_id", "id", "task_id") if row.get(key) is not None), None)
    return {
        "id": f"query-{number}" if key is None else _identifier(row, key),
        "inputData": {"query": _text(row, "query"), "tools": tools},
        "expectedOutput": _expected(row),
        "tags": ["tool-use"],
    }


def _expected(row: Mapping[str, Any]) -> dict[str, Any]:
    if row.get("answer") is not None:
        return {"type": "exact", "value": row["answer"]}
    if row.get("criteria"):
        return {"type": "llm_judge", "judgePrompt": _text(row, "criteria")}
    pairs = row.get("relevant APIs", row.get("relevant_apis"))
    if not isinstance(pairs, list) or not pairs:
        raise LineError("expected 'answer', 'criteria' or 'relevant APIs'")
    if len(pairs) > 1:
        raise LeftOutError(f"needs {len(pairs)} calls in turn, and an answer is one")
    match pairs[0]:
        case [str() as tool, str() as api]:
            return {"type": "exact", "value": {"tool": tool, "api": api}}
        case _:
            raise LineError("'relevant APIs': expected pairs of tool and API")


def _field(row: Mapping[str, Any], key: str) -> Any:  # noqa: ANN401 - JSON
    if key not in row:
        raise LineError(f"{key!r} is missing; there are: {', '.join(map(str, list(row)[:12]))}"[:400])
    return row[key]


def _text(row: Mapping[str, Any], key: str) -> str:
    value = _field(row, key)
    if not isinstance(value, str) or not value.strip():
        raise LineError(f"{key!r}: expected a text that is not empty")
    return value


def _identifier(row: Mapping[str, Any], key: str) -> str:
    value = _field(row, key)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise LineError(f"{key!r}: expected a text or a whole number")
    return str(value).strip()


def validate(paths: Sequence[str], session: Console) -> list[Checked]:
    """Check the files of skills that run and of benchmarks, and whether programs can be started here.

    Raises:
        UsageError: a path does not exist.
    """
    checked = [check_file(path, cwd=session.cwd) for path in find_files(paths, cwd=session.cwd)]
    return _with_starting(checked, session)


def _with_starting(checked: Sequence[Checked], session: Console) -> list[Checked]:
    """Add to each valid skill.json why its program, which exists, cannot be started here; nothing is run."""
    skills = [one for one in checked if one.kind == "skill" and not one.problems]
    if not skills or session.config.get(settings.ALLOW_EXEC) is not True:
        return list(checked)
    from skillgate.bench.isolation.spawner import ProcessSpawner  # only where programs may run

    try:
        spawner = ProcessSpawner(
            path=session.environ.get("PATH", os.defpath),
            stop=threading.Event(),
            sandbox=session.config.get(settings.SANDBOX),
        )
    except SkillgateError as error:
        session.note(f"not looked at whether programs can be started: {error}")
        return list(checked)
    with closing(spawner):
        return [one._replace(not_started=_problem(one, spawner, session)) if one in skills else one for one in checked]


def _problem(one: Checked, spawner: ProcessSpawner, session: Console) -> str:
    skill = read_skill(os.path.abspath(os.path.join(session.cwd, one.path)), one.path)
    try:
        argv = _command(skill)
    except UsageError:  # the check of the file says so
        return ""
    if not argv:
        return ""
    copy = skill.config.work_dir == "copy"
    return spawner.unstartable(argv, root=skill.root, env=skill.config.env, copy=copy) or ""


def _command(skill: Runnable) -> tuple[str, ...]:
    kind = skill.spec.adapter_type
    is_program = kind is AdapterType.SUBPROCESS or (kind is AdapterType.MCP and not has_address(skill))
    return command_of(skill) if is_program else ()
