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
    check_of,
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
from skillgate.errors import CodecError, SkillgateError, UsageError
from skillgate.files import write
from skillgate.model.benchmark import ABSENT, ERROR, AdapterType, Benchmark, Task
from skillgate.model.codec import decode
from skillgate.registry import SCORERS
from skillgate.skill.walk import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.bench.isolation.spawner import ProcessSpawner
    from skillgate.bench.ports import Scorer
    from skillgate.console import Console
    from skillgate.model.benchmark import Loaded

    Mapped = Callable[[Mapping[str, Any], int], dict[str, Any]]

NULL, ECHO, CONSTANT, REFUSE = "null", "echo", "constant", "refuse"
SELF_CHECK = "selfCheck"  # metadata key: how many tasks each probe may pass by design
LIKES = ("gaia-v1", "toolbench-lite")
_MOST_CONSTANTS = 200
_MOST_LINE = 5_000_000  # bytes
_FIELDS = ("id", "input", "expected", "tags", "description")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}|[0-9]{1,3}(?:,[0-9]{3}){1,90})(?:\.[0-9]{1,300})?")


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


class ImportRequest(NamedTuple):
    """Which JSON lines to import as which benchmark; exactly one of ``like`` and ``fields`` is set."""

    file: str  # with JSON lines
    output: str  # benchmark file to write
    like: str | None  # the published data set of the lines
    fields: str | None  # fields for input, expected, id, tags, description, as input=FIELD,expected=FIELD
    attachments: str | None  # directory of files named in tasks
    id: str | None  # of the benchmark; None: from the data set or the file name
    version: str  # of the benchmark
    force: bool  # whether to overwrite an existing file


class Imported(NamedTuple):
    """The result of an import."""

    data: dict[str, Any]  # content of the benchmark file
    tasks: int  # number of tasks
    bad: tuple[str, ...]  # one message per invalid line, with its number
    left_out: tuple[str, ...]  # one message per line left out on purpose, such as one that needs a file


class LineError(Exception):
    """A line is not a valid task; the message says why."""


class LeftOutError(Exception):
    """A line is valid but left out; the message says why."""


def import_lines(request: ImportRequest, session: Console) -> Imported:
    """Read lines of a published data set, or with mapped fields, and write them as a benchmark.

    Raises:
        UsageError: An option is not valid, the file cannot be read, no line is a task, or the benchmark cannot be
            written.
    """
    if (request.like is None) == (request.fields is None):
        raise UsageError(f"bench import needs --like ({', '.join(LIKES)}) or --map input=FIELD,expected=FIELD")
    cwd = session.cwd
    source, target = os.path.join(cwd, request.file), os.path.join(cwd, request.output)
    if os.path.lexists(target) and not request.force:
        raise UsageError(f"{request.output} already exists; use --force to overwrite it")
    if os.path.exists(target) and os.path.realpath(target) == os.path.realpath(source):
        raise UsageError(f"{request.output} is also the input file")
    attachments = None if request.attachments is None else os.path.join(cwd, request.attachments)
    if attachments is not None and not os.path.isdir(attachments):
        raise UsageError(f"--attachments {request.attachments}: there is no such directory")
    if not os.path.isfile(source):
        raise UsageError(
            f"{request.file} is not a file" if os.path.lexists(source) else f"{request.file} does not exist"
        )
    try:
        with open(source, "rb") as lines:
            found = _imported(lines, request, _mapping(request, attachments))
    except OSError as error:
        raise UsageError(f"{request.file} cannot be read: {error.strerror}") from error
    # A lone surrogate is written as a JSON escape.
    data = (json.dumps(found.data, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    if len(data) > MAX_BYTES:
        raise UsageError(f"the benchmark would be larger than {MAX_BYTES:,} bytes; import its lines in parts")
    home = os.path.join(cwd, "benchmarks")  # where benchmarks are searched
    write(request.output, data, cwd=cwd, parents=os.path.normpath(os.path.join(target, os.pardir)) == home)
    return found


def _mapping(request: ImportRequest, attachments: str | None) -> Mapped:
    """Return the function from a line and its number to a task; raise UsageError if --map is not valid."""
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
            raise UsageError(f"--map: {key} is given twice")
        names[key] = field
    if missing := [key for key in ("input", "expected") if key not in names]:
        raise UsageError(f"--map: {' and '.join(missing)} missing; expected input=FIELD,expected=FIELD")
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
                bad.append(f"{shown}:{number}: duplicate id {task['id'][:80]!r}")
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
        refuse([*shortened(bad), *shortened(left_out), "no line is a valid task: nothing was written"])
    refuse(check_benchmark(decode(Benchmark, data)))
    return Imported(data, len(tasks), tuple(bad), tuple(left_out))


def _task(line: bytes, where: str, mapped: Mapped, number: int) -> dict[str, Any]:
    """Map one line and check its task; raise UsageError with the line's number, or LeftOutError."""
    if len(line) > _MOST_LINE:
        raise UsageError(f"{where}: longer than {_MOST_LINE:,} bytes")
    try:
        row = parse_json(line.strip(), where)
    except UsageError as error:
        raise UsageError(str(error).replace(f"{where}:1:", f"{where}:")) from None
    if not isinstance(row, dict):
        raise UsageError(f"{where}: expected one JSON object per line")
    try:
        task = mapped(row, number)
        json.dumps(task, allow_nan=False)
        problems = list(check_task(decode(Task, task)))
    except (OverflowError, RecursionError, ValueError):  # 1e999, or nested almost too deeply
        raise UsageError(f"{where}: not representable as JSON (a number is too large, or nested too deeply)") from None
    except LineError as error:
        raise UsageError(f"{where}: {error}") from None
    except CodecError as error:
        problems = str(error).splitlines()
    refuse(f"{where}: {problem}" for problem in problems)
    return task


def _by_fields(row: Mapping[str, Any], number: int, names: Mapping[str, str]) -> dict[str, Any]:
    """Map a line by field names; an input that is not an object becomes ``{"input": …}``."""
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
    """Map a line of GAIA; numbers are compared as numbers, other answers as case-insensitive text."""
    answer = _field(row, "Final answer")
    if not isinstance(answer, str | int | float) or isinstance(answer, bool):
        raise LineError("'Final answer': expected a string or a number")
    text = str(answer).strip()
    if text in ("", "?"):
        raise LeftOutError("has no answer (answers of the test split are not published)")
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
        raise LeftOutError(f"needs the file {name[:120]!r}; pass its directory with --attachments DIR")
    path = os.path.join(attachments, name)
    if not os.path.isfile(path):  # also for names that no file can have
        raise LeftOutError(f"needs the file {name[:120]!r}, which is not in the attachments directory")
    path = os.path.realpath(path)
    if not path.startswith(os.path.join(os.path.realpath(attachments), "")):
        raise LineError(f"'file_name': {name[:120]!r} is outside the attachments directory")
    return path


def _toolbench(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Map a line in the style of ToolBench: ``query``, the tools, and the expectation.

    Tools are ``api_list``, ``tools`` or ``apis``, unchanged. The expectation is the first of: ``answer`` (an equal
    value), ``criteria`` (for a judge), ``relevant APIs`` (one pair of tool and API).

    Raises:
        LineError: A field is missing or has the wrong type.
        LeftOutError: The task needs more than one call.
    """
    tools = next((row[key] for key in ("api_list", "tools", "apis") if row.get(key)), None)
    if not isinstance(tools, list):
        raise LineError("expected a list in 'api_list', 'tools' or 'apis'")
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
        raise LeftOutError(f"needs {len(pairs)} calls, but an answer is a single call")
    match pairs[0]:
        case [str() as tool, str() as api]:
            return {"type": "exact", "value": {"tool": tool, "api": api}}
        case _:
            raise LineError("'relevant APIs': expected pairs of tool and API")


def _field(row: Mapping[str, Any], key: str) -> Any:  # noqa: ANN401 - JSON
    if key not in row:
        raise LineError(f"{key!r} is missing; found: {', '.join(map(str, list(row)[:12]))}"[:400])
    return row[key]


def _text(row: Mapping[str, Any], key: str) -> str:
    value = _field(row, key)
    if not isinstance(value, str) or not value.strip():
        raise LineError(f"{key!r}: expected a non-empty string")
    return value


def _identifier(row: Mapping[str, Any], key: str) -> str:
    value = _field(row, key)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise LineError(f"{key!r}: expected a string or an integer")
    return str(value).strip()


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
