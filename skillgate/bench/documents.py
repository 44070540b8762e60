"""Read and check the JSON files of skills and benchmarks, and find benchmarks.

Problems are reported with file and position. A benchmark is packaged, in the benchmarks directory, a named file, or a
file of tasks.
"""
# ruff: noqa: PTH112, PTH113, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate.bench.http.messages import check_request
from skillgate.bench.ports import Rules
from skillgate.bench.steps import names_in, names_of
from skillgate.errors import CodecError, UsageError
from skillgate.format import did_you_mean
from skillgate.model.benchmark import (
    ABSENT,
    CAPTURED,
    CHECK_TYPE,
    CHECKS,
    MAX_ID,
    MAX_STEPS,
    MAX_TASKS,
    POST,
    RESTARTS,
    SCOPES,
    SKILL_ID,
    STATIC,
    TOKEN_PLACES,
    VERSION,
    WITHOUT_ENTRYPOINT,
    WORK_DIRS,
    Benchmark,
    Expected,
    Loaded,
    State,
    Task,
)
from skillgate.model.benchmark import BENCHMARK_ID as BENCHMARK_ID
from skillgate.model.codec import decode
from skillgate.model.skill import digest
from skillgate.registry import SCORERS, SERVERS, scorers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from skillgate.bench.ports import Checks, Prepare, Scorer, Surroundings
    from skillgate.model.benchmark import AdapterConfig, Executable, Step

MAX_BYTES = 20_000_000
T = TypeVar("T")
_MOST_PROBLEMS = 20
PACKAGED_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "builtin")  # noqa: PTH100
BENCHMARK_JSON = "benchmark.json"
PACKAGED = "packaged"


def read_json(place: str, shown: str) -> Any:  # noqa: ANN401 - JSON
    """Read a JSON file strictly: no duplicate key, no NaN. ``shown`` is its name in messages.

    Raises:
        UsageError: It cannot be read or is not JSON; with line and column.
    """
    return parse_json(read_bytes(place, shown, MAX_BYTES), shown)


def read_bytes(place: str, shown: str, most: int, *, name: str | None = None, too_large: str | None = None) -> bytes:
    """Read a regular file of up to ``most`` bytes; ``name`` and ``too_large`` replace words of the messages.

    Raises:
        UsageError: It is missing, not a regular file, unreadable or too large.
    """
    try:
        if not os.path.isfile(place):  # reading a pipe could block forever
            raise UsageError(f"{name or shown} " + ("is not a file" if os.path.lexists(place) else "does not exist"))
        with open(place, "rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > most:
        raise UsageError(f"{shown} is larger than {too_large or f'{most:,} bytes'}")
    return data


def parse_json(data: bytes, shown: str) -> Any:  # noqa: ANN401 - JSON
    """Parse JSON as strictly as :func:`read_json`.

    Raises:
        UsageError: It is not JSON.
    """
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown} is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{shown}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise UsageError(f"{shown} is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{shown}: not JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"duplicate key {twice!r} in one object")
    return found


def _constant(word: str) -> Any:  # noqa: ANN401 - JSON
    raise ValueError(f"{word} is not a JSON number")


def decoded(kind: type[T], data: object, shown: str) -> T:
    """Decode a document.

    Raises:
        UsageError: It does not have the expected shape; one problem per line.
    """
    try:
        return decode(kind, data)
    except CodecError as error:
        raise UsageError("\n".join(f"{shown}: {line}" for line in str(error).splitlines())) from None


def refuse(problems: Iterable[str], most: int | None = None) -> None:
    """Raise UsageError if there are problems: one per line, up to ``most``."""
    lines = list(problems)
    if lines:
        raise UsageError("\n".join(lines if most is None else shortened(lines, most)))


def shortened(lines: Sequence[str], most: int = 20) -> list[str]:
    """Return the first lines, and a line with the number of others."""
    more = len(lines) - most
    return [*lines[:most], *([f"… and {more} more"] if more > 0 else [])]


def is_version(text: str) -> bool:
    """Whether text is a semantic version."""
    return re.fullmatch(VERSION, text) is not None


def check_executable(spec: Executable) -> Iterator[str]:
    """Yield the problems of a skill.json, each beginning with its key."""
    if not re.fullmatch(SKILL_ID, spec.id):
        yield f"id: expected lower-case letters, digits, _ and -, found {spec.id[:80]!r}"
    if not spec.name.strip():
        yield "name: expected a name, found an empty string"
    yield from _check_version(spec.version)
    if not spec.entrypoint.strip() and spec.adapter_type not in WITHOUT_ENTRYPOINT:
        yield "entrypoint: expected a URL or a command, found an empty string"
    if "\0" in spec.entrypoint:
        yield "entrypoint: contains a NUL character"
    if spec.adapter is not None:
        yield from (f"adapter.{line}" for line in check_config(spec.adapter))


def check_config(config: AdapterConfig) -> Iterator[str]:
    """Yield the problems of an adapter's settings."""
    for key, word, known in (("workDir", config.work_dir, (*WORK_DIRS, None)), ("restart", config.restart, RESTARTS)):
        if word not in known:
            yield f"{key}: expected {' or '.join(filter(None, known))}, found {str(word)[:80]!r}"
    if config.method not in (POST, None):
        yield f"method: expected POST, found {config.method[:80]!r}; eval-skills sends a POST whatever this says"
    if any("\0" in text for text in (*config.args, *config.serve, config.command or "")):
        yield "args, command, serve: contain a NUL character"
    if any("\0" in text for text in (*config.env, *config.env.values())):
        yield "env: contains a NUL character"
    if config.args and not config.command:
        yield "args: requires command; otherwise write the whole command line as the entrypoint"
    if config.auth_in not in TOKEN_PLACES:
        yield f"authIn: expected {' or '.join(TOKEN_PLACES)}, found {config.auth_in[:80]!r}"
    yield from check_request(config.request)


def check_benchmark(benchmark: Benchmark) -> Iterator[str]:
    """Yield the problems of a benchmark, each beginning with its key."""
    if not re.fullmatch(BENCHMARK_ID, benchmark.id):
        yield f"id: expected letters, digits, spaces, _, - and ., found {benchmark.id[:80]!r}"
    yield from _check_version(benchmark.version)
    if benchmark.adapter not in (None, STATIC):
        yield f"adapter: expected static or no value, found {benchmark.adapter!r}"
    if benchmark.server is not None and benchmark.server not in SERVERS.names():
        yield f"server: expected {' or '.join(SERVERS.names())} or no value, found {benchmark.server[:80]!r}"
    if not benchmark.tasks and benchmark.status is State.ACTIVE:
        yield "tasks: expected at least one task, found none"
    if len(benchmark.tasks) > MAX_TASKS:
        yield f"tasks: expected at most {MAX_TASKS:,}, found {len(benchmark.tasks):,}"
    seen: dict[str, int] = {}
    for index, task in enumerate(benchmark.tasks):
        if task.id in seen:
            yield f"tasks[{index}].id: {task.id[:80]!r} is also the id of tasks[{seen[task.id]}]"
        seen.setdefault(task.id, index)
        yield from (f"tasks[{index}].{line}" for line in (*_check_static(task, benchmark), *check_task(task)))


def _check_static(task: Task, benchmark: Benchmark) -> Iterator[str]:
    """Yield conflicts of a task and the kind of benchmark: a running skill must never score itself."""
    named = {task.evaluator.type, task.expected_output.type} - {None}
    if benchmark.adapter != STATIC:
        if STATIC in named:
            yield 'expectedOutput.type: static requires a benchmark with "adapter": "static"'
        return
    if named != {STATIC}:
        yield 'expectedOutput.type: expected "static" in a static benchmark'
    word = task.input_data.get(CHECK_TYPE)
    if word not in CHECKS:
        yield f"inputData.{CHECK_TYPE}: expected one of {', '.join(CHECKS)}, found {str(word)[:80]!r}"


def check_task(task: Task) -> Iterator[str]:
    """Yield the problems of one task."""
    if not task.id.strip() or len(task.id) > MAX_ID:
        yield "id: expected 1 to 200 characters"
    if task.weight <= 0:
        yield f"weight: expected a number above 0, found {task.weight:g}"
    yield from _check_scope(task.evaluator.scope)
    yield from check_steps(task)
    try:
        scorer = scorer_of(task, None)
    except ValueError as error:
        yield from str(error).splitlines()
        return
    if scorer is not None:
        yield from _unmet(task, scorer)
    elif all(any(_unmet(task, name)) for name in set(scorers().values()) if not SCORERS.flag(name, "BY_NAME")):
        needs = "value, keywords, patterns, schema, judgePrompt or customScorerPath"
        yield f"expectedOutput: expected {needs}, found nothing that a scorer can use"


def _check_scope(scope: str | None) -> Iterator[str]:
    if scope not in (*SCOPES, None):
        yield f"evaluator.scope: expected {', '.join(SCOPES)}, found {str(scope)[:80]!r}"


def check_steps(task: Task) -> Iterator[str]:
    """Yield the problems of a task's steps: their checks, and values that no earlier step captures."""
    known = set(task.input_data) if task.steps else set()
    if not task.steps and (task.setup or task.teardown):
        yield from (f"inputData: {line}" for line in _unknown(task.input_data, known | _captured(task.setup)))
    if task.steps and task.request is not None:
        yield "request: has no effect in a task with steps; write it in each step"
    yield from check_request(task.request)
    values = {*task.input_data, *_captured(task.setup)}
    yield from (f"request: {line}" for line in _unknown_names(names_of(task.request), values))
    for key, steps in (("setup", task.setup), ("steps", task.steps), ("teardown", task.teardown)):
        if len(steps) > MAX_STEPS:
            yield f"{key}: expected at most {MAX_STEPS} steps, found {len(steps)}"
        for index, step in enumerate(steps):
            used = _unknown_names(names_of(step.request), known | step.input_data.keys())
            lines = (
                *_check_step(step),
                *(f"inputData: {line}" for line in _unknown(step.input_data, known)),
                *check_request(step.request),
                *(f"request: {line}" for line in used),
            )
            yield from (f"{key}[{index}].{line}" for line in lines)
            known |= step.capture.keys()


def _captured(steps: Iterable[Step]) -> set[str]:
    return {name for step in steps for name in step.capture}


def _unknown(data: Any, known: Collection[str]) -> Iterator[str]:  # noqa: ANN401 - JSON
    for name in sorted(names_in(data) - set(known)):
        yield f"no earlier step captures {{{{{name}}}}}{did_you_mean(name, known)}"


def _unknown_names(names: Collection[str], known: Collection[str]) -> Iterator[str]:
    for name in sorted(set(names) - set(known)):
        yield f"there is no value for {{{{{name}}}}}{did_you_mean(name, known)}"


def _check_step(step: Step) -> Iterator[str]:
    yield from _check_scope(step.evaluator.scope)
    for name, pointer in step.capture.items():
        if not re.fullmatch(CAPTURED, name):
            yield f"capture: expected letters, digits and _ in a name, found {name[:80]!r}"
        if pointer[:1] not in ("", "/"):
            yield f"capture.{name[:80]}: expected a JSON pointer such as /id, found {pointer[:80]!r}"
    check = check_of(step)
    try:
        scorer = scorer_of(check, None)
    except ValueError as error:
        yield from str(error).splitlines()
        return
    if scorer is None and step.expected_output is not None:
        yield "expectedOutput.type: required in a step"
    elif scorer is not None and (scorer == STATIC or SCORERS.flag(scorer, "ASKS_MODEL")):
        yield f"expectedOutput.type: {scorer} cannot check a step"
    elif scorer is not None:
        yield from _unmet(check, scorer)


def check_of(step: Step) -> Task:
    """Return a step's check in the form of a task."""
    expected = step.expected_output or Expected()
    return Task(id="step", input_data=step.input_data, expected_output=expected, evaluator=step.evaluator)


def scorer_of(task: Task, default: str | None) -> str | None:
    """Return a task's scorer: the type of its evaluator or expectation, else the default.

    Raises:
        ValueError: A name is unknown, or the two differ.
    """
    known = scorers()
    words = (("evaluator.type", task.evaluator.type), ("expectedOutput.type", task.expected_output.type))
    named = {key: word for key, word in words if word is not None}
    for key, word in named.items():
        if word not in known:
            near = did_you_mean(word, known)
            raise ValueError(f"{key}: unknown scorer {word[:80]!r}{near}; known: {', '.join(known)}")
    found = {known[word] for word in named.values()}
    if len(found) > 1:
        both = " and ".join(f"{key} is {word}" for key, word in named.items())
        raise ValueError(f"evaluator.type: {both}: remove one")
    return found.pop() if found else default


def rules_of(task: Task, default: str, folder: str) -> Rules:
    """Return how to score a task.

    Raises:
        ValueError: As :func:`scorer_of`, or the expectation does not match the scorer; one problem per line.
    """
    scorer = scorer_of(task, default) or default
    problems = list(_unmet(task, scorer))
    if problems:
        raise ValueError("\n".join(problems))
    return Rules(scorer, task.evaluator, task.expected_output, folder)


def prepare_scorer(task: Task, rules: Rules, surroundings: Surroundings) -> Scorer:
    """Prepare the scorer of one task; see :class:`skillgate.bench.ports.Prepare`."""
    prepare: Prepare = getattr(SCORERS.load(rules.scorer), rules.scorer)
    return prepare(task, rules, surroundings)


def scoring_of(loaded: Loaded, default: str) -> dict[str, Rules]:
    """Return how to score each task, by task id.

    Raises:
        UsageError: An expectation does not match its scorer; one problem per line.
    """
    return _by_task(loaded, lambda task: rules_of(task, scorers()[default], loaded.folder))


def checks_of(loaded: Loaded, surroundings: Surroundings) -> dict[str, Checks]:
    """Prepare the checks of all steps of each task, by task id: of its setup, its steps and its teardown, in order.

    Raises:
        UsageError: An expectation is not valid; one problem per line.
    """

    def prepared(step: Step) -> tuple[str, Scorer] | None:
        check = check_of(step)
        scorer = scorer_of(check, None)
        rules = scorer and Rules(scorer, check.evaluator, check.expected_output, loaded.folder)
        return (scorer, prepare_scorer(check, rules, surroundings)) if scorer and rules else None

    return _by_task(loaded, lambda task: tuple(map(prepared, (*task.setup, *task.steps, *task.teardown))))


def scorers_of(loaded: Loaded, rules: Mapping[str, Rules], surroundings: Surroundings) -> dict[str, Scorer]:
    """Prepare every task's scorer; only used scorers are imported.

    Raises:
        UsageError: An expectation is not valid; one problem per line.
    """
    return _by_task(loaded, lambda task: prepare_scorer(task, rules[task.id], surroundings))


def _by_task(loaded: Loaded, make: Callable[[Task], T]) -> dict[str, T]:
    found: dict[str, T] = {}
    problems: list[str] = []
    for index, task in enumerate(loaded.benchmark.tasks):
        try:
            found[task.id] = make(task)
        except ValueError as error:
            problems += [f"{loaded.origin}: tasks[{index}].{line}" for line in str(error).splitlines()]
    refuse(problems, _MOST_PROBLEMS)
    return found


def _unmet(task: Task, scorer: str) -> Iterator[str]:
    """Yield the scorer's missing keys, else the problems that its ``check`` finds."""
    needs = SCORERS.texts(scorer, "NEEDS")
    if needs and not any(_has(task, need) for need in needs):
        yield f"{needs[0]}: required by scorer {scorer}, but missing"
    elif SCORERS.defines(scorer, "check"):
        yield from SCORERS.load(scorer).check(task.expected_output)


def _has(task: Task, need: str) -> bool:
    part, _, key = need.partition(".")
    holder = task.evaluator if part == "evaluator" else task.expected_output
    value = getattr(holder, re.sub("(?=[A-Z])", "_", key).lower())
    if key == "value":  # an empty string and null are values too
        return value is not ABSENT
    return bool(value.strip()) if isinstance(value, str) else value is not None and value != ()


def _check_version(version: str) -> Iterator[str]:
    if not is_version(version):
        yield f"version: expected a semantic version such as 1.0.0, found {version[:80]!r}"


class Listed(NamedTuple):
    """All benchmarks by id, and notices about invalid files."""

    found: dict[str, Loaded]
    notices: tuple[str, ...]


def packaged_ids() -> tuple[str, ...]:
    """Return the sorted ids of the packaged benchmarks; no file is read."""
    return tuple(sorted(name.removesuffix(".json") for name in os.listdir(PACKAGED_FOLDER) if name.endswith(".json")))


def packaged(identifier: str) -> Loaded:
    """Read one packaged benchmark.

    Raises:
        UsageError: There is none with that id.
    """
    if identifier not in packaged_ids():
        raise UsageError(f"there is no packaged benchmark {identifier!r}{did_you_mean(identifier, packaged_ids())}")
    file = os.path.join(PACKAGED_FOLDER, f"{identifier}.json")
    return read_benchmark(file, f"{identifier} ({PACKAGED})", origin=PACKAGED)


def listed(folder: str | None, *, cwd: str) -> Listed:
    """List the packaged benchmarks and those of a directory, which take precedence.

    Invalid files are skipped with a notice.

    Args:
        folder: The directory as the user wrote it; it need not exist.
        cwd: The absolute working directory.
    """
    found = {identifier: packaged(identifier) for identifier in packaged_ids()}
    notices: list[str] = []
    own: dict[str, str] = {}
    for file in files_of(os.path.join(cwd, folder)) if folder else ():
        shown = os.path.relpath(file, cwd) if file.startswith(os.path.join(cwd, "")) else file
        try:
            loaded = read_benchmark(file, shown)
        except UsageError as error:
            notices += [f"left out: {line}" for line in str(error).splitlines()[:3]]
            continue
        identifier = loaded.benchmark.id
        if identifier in own:
            notices.append(f"left out: {shown} has the same id {identifier!r} as {own[identifier]}")
            continue
        if identifier in found:
            notices.append(f"{shown} replaces the packaged benchmark {identifier!r}")
        own[identifier] = shown
        found[identifier] = loaded
    return Listed(found, tuple(notices))


def find_benchmark(word: str, folder: str | None, *, cwd: str) -> tuple[Loaded, tuple[str, ...]]:
    """Return the benchmark with an id or path, and notices.

    Raises:
        UsageError: There is none, or its file is not valid.
    """
    place = os.path.normpath(os.path.join(cwd, word))
    inside = os.path.join(place, BENCHMARK_JSON)
    is_path = word.endswith(".json") or "/" in word or os.sep in word
    if os.path.isdir(place) and os.path.isfile(inside):
        return read_benchmark(inside, f"{word.rstrip('/')}/{BENCHMARK_JSON}"), ()
    if is_path and os.path.isdir(place):
        raise UsageError(f"{word} is a directory without a {BENCHMARK_JSON}; pass a benchmark's file or id")
    if is_path:
        return read_benchmark(place, word), ()
    if folder is None and word in packaged_ids():
        return packaged(word), ()
    known = listed(folder, cwd=cwd)
    if word not in known.found:
        notices = "".join(f"\n{notice}" for notice in known.notices)
        raise UsageError(
            f"there is no benchmark {word!r}{did_you_mean(word, known.found)}; known:"
            f" {', '.join(sorted(known.found))}; for a file, pass its path, as in ./{word}.json{notices}"
        )
    loaded = known.found[word]
    return loaded, tuple(notice for notice in known.notices if loaded.origin != PACKAGED or "left out" in notice)


def read_benchmark(file: str, shown: str, *, origin: str | None = None) -> Loaded:
    """Read a benchmark by its absolute path; ``shown`` is its name in messages, and its origin by default.

    Raises:
        UsageError: It is not valid; one problem per line.
    """
    return _loaded(read_json(file, shown), file, shown, origin or shown)


def read_tasks(file: str, shown: str) -> Loaded:
    """Read a file of tasks: a list, an object with ``tasks``, or a complete benchmark if there is an ``id``.

    Raises:
        UsageError: It is not valid.
    """
    data = read_json(file, shown)
    whole = data if isinstance(data, dict) else {"tasks": data}
    if not isinstance(whole.get("tasks"), list):
        raise UsageError(f"{shown}: expected a list of tasks, an object with tasks, or a benchmark")
    unnamed = {"id": "custom", "name": "Custom tasks", "version": "0.0.0"}
    return _loaded(whole if "id" in whole else {**unnamed, **whole}, file, shown, shown)


def _loaded(data: Any, file: str, shown: str, origin: str) -> Loaded:  # noqa: ANN401 - JSON
    benchmark = decoded(Benchmark, data, shown)
    refuse(f"{shown}: {line}" for line in check_benchmark(benchmark))
    return Loaded(benchmark=benchmark, origin=origin, folder=os.path.dirname(file), digest=digest_of(data))


def narrowed(loaded: Loaded, ids: Collection[str], tags: Collection[str]) -> Loaded:
    """Select the tasks with given ids, or with all given tags; the digest is still that of the whole benchmark.

    Raises:
        UsageError: No task has the id or tag, or no task is left.
    """
    benchmark = loaded.benchmark
    known_ids = {task.id for task in benchmark.tasks}
    known_tags = {tag for task in benchmark.tasks for tag in task.tags}
    refuse(
        f"benchmark {benchmark.id} has no {what} {word!r}{did_you_mean(word, known)}"
        for what, words, known in (("task", ids, known_ids), ("tag", tags, known_tags))
        for word in words
        if word not in known
    )
    tasks = tuple(task for task in benchmark.tasks if (not ids or task.id in ids) and set(tags) <= {*task.tags})
    if not tasks:
        raise UsageError(f"no task of benchmark {benchmark.id} has all the tags {', '.join(tags)}")
    return replace(loaded, benchmark=replace(benchmark, tasks=tasks))


def require_tasks(loaded: Loaded) -> None:
    """Refuse a benchmark without tasks.

    Raises:
        UsageError: It has none; the message says how to import them.
    """
    benchmark = loaded.benchmark
    if benchmark.status is State.PLACEHOLDER or not benchmark.tasks:
        source = benchmark.metadata.get("source", "its publisher")
        raise UsageError(
            f"benchmark {benchmark.id} is a placeholder without tasks ({source}); import your copy of the data:"
            f" skillgate bench import FILE.jsonl --like {benchmark.id} --output my-benchmark.json"
        )


def digest_of(data: Any) -> str:  # noqa: ANN401 - JSON
    """Return a digest of JSON that does not depend on the order of keys."""
    return digest(json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode())


def files_of(folder: str) -> Iterator[str]:
    """Yield the files in a directory that may be benchmarks."""
    if not os.path.isdir(folder):
        return
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".json") and os.path.isfile(path):
            yield path
        elif os.path.isfile(os.path.join(path, BENCHMARK_JSON)):
            yield os.path.join(path, BENCHMARK_JSON)
        elif name == "definitions" and os.path.isdir(path):
            yield from (os.path.join(path, one) for one in sorted(os.listdir(path)) if one.endswith(".json"))
