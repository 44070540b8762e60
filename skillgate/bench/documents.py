"""Read the JSON files of skills and benchmarks strictly, and check what their shape cannot say; find benchmarks.

What is wrong with a file is reported with its place. Benchmarks are the packaged ones, those of a directory, a named
file, or a file of tasks.
"""
# ruff: noqa: PTH112, PTH113, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate.bench.ports import Rules
from skillgate.errors import CodecError, UsageError
from skillgate.format import did_you_mean
from skillgate.model.benchmark import (
    ABSENT,
    CHECK_TYPE,
    CHECKS,
    MAX_ID,
    MAX_TASKS,
    RESTARTS,
    SCOPES,
    SKILL_ID,
    STATIC,
    UNSUPPORTED,
    VERSION,
    WITHOUT_ENTRYPOINT,
    WORK_DIRS,
    AdapterType,
    Benchmark,
    Loaded,
    State,
)
from skillgate.model.benchmark import BENCHMARK_ID as BENCHMARK_ID
from skillgate.model.codec import decode
from skillgate.model.skill import digest
from skillgate.registry import SCORERS, SERVERS, scorers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from skillgate.bench.ports import Prepare, Scorer, Surroundings
    from skillgate.model.benchmark import AdapterConfig, Executable, Task

MAX_BYTES = 20_000_000
T = TypeVar("T")
_MOST_PROBLEMS = 20
PACKAGED_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "builtin")  # noqa: PTH100
BENCHMARK_JSON = "benchmark.json"
PACKAGED = "packaged"


def read_json(place: str, shown: str) -> Any:  # noqa: ANN401 - JSON
    """Read one file as JSON, strictly: no key twice, no NaN. ``shown`` names it in messages.

    Raises:
        UsageError: it cannot be read or is no JSON; with line and column.
    """
    return parse_json(read_bytes(place, shown, MAX_BYTES), shown)


def read_bytes(place: str, shown: str, most: int, *, name: str | None = None, too_large: str | None = None) -> bytes:
    """Read a plain file of at most ``most`` bytes; ``name`` and ``too_large`` replace words of the messages.

    Raises:
        UsageError: it is missing, no plain file, unreadable or too large.
    """
    try:
        if not os.path.isfile(place):  # a pipe would never end
            raise UsageError(f"{name or shown} " + ("is no file" if os.path.lexists(place) else "does not exist"))
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
        UsageError: it is no JSON.
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
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def _constant(word: str) -> Any:  # noqa: ANN401 - JSON
    raise ValueError(f"{word} is no JSON number")


def decoded(kind: type[T], data: object, shown: str) -> T:
    """Decode a document.

    Raises:
        UsageError: it has not the shape of one; every problem, a line each.
    """
    try:
        return decode(kind, data)
    except CodecError as error:
        raise UsageError("\n".join(f"{shown}: {line}" for line in str(error).splitlines())) from None


def refuse(problems: Iterable[str], most: int | None = None) -> None:
    """Raise UsageError if there are problems: a line each, of which the first ``most``."""
    lines = list(problems)
    if lines:
        raise UsageError("\n".join(lines if most is None else shortened(lines, most)))


def shortened(lines: Sequence[str], most: int = 20) -> list[str]:
    """Return the first lines, and one that counts the others."""
    more = len(lines) - most
    return [*lines[:most], *([f"… and {more} more"] if more > 0 else [])]


def is_version(text: str) -> bool:
    """Whether a text is a semantic version."""
    return re.fullmatch(VERSION, text) is not None


def check_executable(spec: Executable) -> Iterator[str]:
    """Yield what is wrong with a skill.json, each line beginning with the key that it is about."""
    if not re.fullmatch(SKILL_ID, spec.id):
        yield f"id: expected lower-case letters, digits, _ and -, found {spec.id[:80]!r}"
    if not spec.name.strip():
        yield "name: expected a name, found an empty text"
    yield from _check_version(spec.version)
    if not spec.entrypoint.strip() and spec.adapter_type not in WITHOUT_ENTRYPOINT:
        yield "entrypoint: expected a URL or a command, found an empty text"
    if "\0" in spec.entrypoint:
        yield "entrypoint: holds a NUL"
    if spec.adapter is not None:
        yield from (f"adapter.{line}" for line in check_config(spec.adapter))


def check_config(config: AdapterConfig) -> Iterator[str]:
    """Yield what is wrong with an adapter's settings."""
    for key, word, known in (("workDir", config.work_dir, WORK_DIRS), ("restart", config.restart, RESTARTS)):
        if word not in known:
            yield f"{key}: expected {' or '.join(known)}, found {word[:80]!r}"
    if any("\0" in text for text in (*config.args, *config.serve, config.command or "")):
        yield "args, command, serve: hold a NUL"
    if any("\0" in text for text in (*config.env, *config.env.values())):
        yield "env: holds a NUL"
    if config.args and not config.command:
        yield "args: are for a command, and there is none; a command line stands whole in the entrypoint"


def unsupported(spec: Executable) -> str | None:
    """Return why a valid skill cannot be run, None where it can."""
    if spec.adapter_type not in UNSUPPORTED:
        return None
    runs = ", ".join(kind.value for kind in AdapterType if kind not in UNSUPPORTED)
    return (
        f"adapterType {spec.adapter_type.value} is valid and nothing here runs it (these are run: {runs}); put a small"
        " subprocess or http skill in front of it"
    )


def check_benchmark(benchmark: Benchmark) -> Iterator[str]:
    """Yield what is wrong with a benchmark, each line beginning with the key that it is about."""
    if not re.fullmatch(BENCHMARK_ID, benchmark.id):
        yield f"id: expected lower-case letters, digits, _, - and ., found {benchmark.id[:80]!r}"
    yield from _check_version(benchmark.version)
    if benchmark.adapter not in (None, STATIC):
        yield f"adapter: expected static or nothing, found {benchmark.adapter!r}"
    if benchmark.server is not None and benchmark.server not in SERVERS.names():
        yield f"server: expected {' or '.join(SERVERS.names())} or nothing, found {benchmark.server[:80]!r}"
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
    """Yield where a task and a static benchmark do not fit: a skill that is run must never score itself."""
    named = {task.evaluator.type, task.expected_output.type} - {None}
    if benchmark.adapter != STATIC:
        if STATIC in named:
            yield 'expectedOutput.type: static is for benchmarks with "adapter": "static"'
        return
    if named != {STATIC}:
        yield 'expectedOutput.type: a static benchmark takes the score of its check: expected "static"'
    word = task.input_data.get(CHECK_TYPE)
    if word not in CHECKS:
        yield f"inputData.{CHECK_TYPE}: expected one of {', '.join(CHECKS)}, found {str(word)[:80]!r}"


def check_task(task: Task) -> Iterator[str]:
    """Yield what is wrong with one task."""
    if not task.id.strip() or len(task.id) > MAX_ID:
        yield "id: expected 1 to 200 characters"
    if task.weight <= 0:
        yield f"weight: expected a number above 0, found {task.weight:g}"
    if task.evaluator.scope not in SCOPES:
        yield f"evaluator.scope: expected values or json, found {task.evaluator.scope[:80]!r}"
    try:
        scorer = scorer_of(task, None)
    except ValueError as error:
        yield from str(error).splitlines()
        return
    if scorer is not None:
        yield from _unmet(task, scorer)
    elif all(any(_unmet(task, name)) for name in set(scorers().values()) if not SCORERS.text(name, "ADAPTER")):
        needs = "value, keywords, patterns, schema, judgePrompt or customScorerPath"
        yield f"expectedOutput: expected {needs}, found nothing that any scorer could use"


def scorer_of(task: Task, default: str | None) -> str | None:
    """Return the scorer of a task: its evaluator's type, what is expected's, else the default.

    Raises:
        ValueError: a name is unknown, or the two differ.
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
        both = " and ".join(f"{key} says {word}" for key, word in named.items())
        raise ValueError(f"evaluator.type: {both}: leave one out")
    return found.pop() if found else default


def rules_of(task: Task, default: str, folder: str) -> Rules:
    """Return how a task is scored.

    Raises:
        ValueError: as :func:`scorer_of`, or what is expected does not fit the scorer; a line each.
    """
    scorer = scorer_of(task, default) or default
    problems = list(_unmet(task, scorer))
    if problems:
        raise ValueError("\n".join(problems))
    return Rules(scorer, task.evaluator, task.expected_output, folder)


def prepare_scorer(task: Task, rules: Rules, surroundings: Surroundings) -> Scorer:
    """Make the scorer of one task ready; see :class:`skillgate.bench.ports.Prepare`."""
    prepare: Prepare = getattr(SCORERS.load(rules.scorer), rules.scorer)
    return prepare(task, rules, surroundings)


def scoring_of(loaded: Loaded, default: str) -> dict[str, Rules]:
    """Return how each task is scored, by its id.

    Raises:
        UsageError: something expected does not fit its scorer; every problem, a line each.
    """
    return _by_task(loaded, lambda task: rules_of(task, scorers()[default], loaded.folder))


def scorers_of(loaded: Loaded, rules: Mapping[str, Rules], surroundings: Surroundings) -> dict[str, Scorer]:
    """Make every task's scorer ready; only the files of those that are used are loaded.

    Raises:
        UsageError: what a task expects cannot be; every problem, a line each.
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
    """Yield what a scorer needs and is not there, else what its ``check`` says of it."""
    needs = SCORERS.texts(scorer, "NEEDS")
    if needs and not any(_has(task, need) for need in needs):
        yield f"{needs[0]}: expected by scorer {scorer}, found nothing"
    elif SCORERS.defines(scorer, "check"):
        yield from SCORERS.load(scorer).check(task.expected_output)


def _has(task: Task, need: str) -> bool:
    part, _, key = need.partition(".")
    holder = task.evaluator if part == "evaluator" else task.expected_output
    value = getattr(holder, re.sub("(?=[A-Z])", "_", key).lower())
    if key == "value":  # of which every text and null is one
        return value is not ABSENT
    return bool(value.strip()) if isinstance(value, str) else value is not None and value != ()


def _check_version(version: str) -> Iterator[str]:
    if not is_version(version):
        yield f"version: expected a semantic version such as 1.0.0, found {version[:80]!r}"


class Listed(NamedTuple):
    """The benchmarks there are, by id, and what was left out of a directory and why."""

    found: dict[str, Loaded]
    notices: tuple[str, ...]


def packaged_ids() -> tuple[str, ...]:
    """List the ids of the packaged benchmarks, sorted; no file is read."""
    return tuple(sorted(name.removesuffix(".json") for name in os.listdir(PACKAGED_FOLDER) if name.endswith(".json")))


def packaged(identifier: str) -> Loaded:
    """Read one packaged benchmark.

    Raises:
        UsageError: there is none of that id.
    """
    if identifier not in packaged_ids():
        raise UsageError(f"there is no packaged benchmark {identifier!r}{did_you_mean(identifier, packaged_ids())}")
    file = os.path.join(PACKAGED_FOLDER, f"{identifier}.json")
    return read_benchmark(file, f"{identifier} ({PACKAGED})", origin=PACKAGED)


def listed(folder: str | None, *, cwd: str) -> Listed:
    """List every benchmark: the packaged ones, and those of a directory, which come before them.

    A file that is no benchmark stops no other one from being found.

    Args:
        folder: the directory as the user wrote it; one that does not exist holds none.
        cwd: the working directory, absolute.
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
            notices.append(f"left out: {shown} has the id {identifier!r} of {own[identifier]}")
            continue
        if identifier in found:
            notices.append(f"{shown} takes the place of the packaged benchmark {identifier!r}")
        own[identifier] = shown
        found[identifier] = loaded
    return Listed(found, tuple(notices))


def find_benchmark(word: str, folder: str | None, *, cwd: str) -> tuple[Loaded, tuple[str, ...]]:
    """Return the benchmark that an id or a path means, and what a reader should know.

    Raises:
        UsageError: there is none, or its file is not valid.
    """
    place = os.path.normpath(os.path.join(cwd, word))
    inside = os.path.join(place, BENCHMARK_JSON)
    is_path = word.endswith(".json") or "/" in word or os.sep in word
    if os.path.isdir(place) and os.path.isfile(inside):
        return read_benchmark(inside, f"{word.rstrip('/')}/{BENCHMARK_JSON}"), ()
    if is_path and os.path.isdir(place):
        raise UsageError(f"{word} is a directory without a {BENCHMARK_JSON}; name a benchmark's file or id")
    if is_path:
        return read_benchmark(place, word), ()
    if folder is None and word in packaged_ids():
        return packaged(word), ()
    known = listed(folder, cwd=cwd)
    if word not in known.found:
        notices = "".join(f"\n{notice}" for notice in known.notices)
        raise UsageError(
            f"there is no benchmark {word!r}{did_you_mean(word, known.found)}; known:"
            f" {', '.join(sorted(known.found))}; a file is named by its path, as in ./{word}.json{notices}"
        )
    loaded = known.found[word]
    return loaded, tuple(notice for notice in known.notices if loaded.origin != PACKAGED or "left out" in notice)


def read_benchmark(file: str, shown: str, *, origin: str | None = None) -> Loaded:
    """Read a benchmark by its absolute path; ``shown`` names it, and is its origin unless that is ``packaged``.

    Raises:
        UsageError: it is not valid; every problem, a line each.
    """
    return _loaded(read_json(file, shown), file, shown, origin or shown)


def read_tasks(file: str, shown: str) -> Loaded:
    """Read a file of tasks: a list of them, an object with ``tasks``, or, if it has an ``id``, a whole benchmark.

    Raises:
        UsageError: it is not valid.
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
    """Select the tasks of some ids or with all of some tags; the digest stays that of the whole.

    Raises:
        UsageError: an id or a tag is of no task, or nothing is left.
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
        raise UsageError(f"no task of benchmark {benchmark.id} has all of the tags {', '.join(tags)}")
    return replace(loaded, benchmark=replace(benchmark, tasks=tasks))


def require_tasks(loaded: Loaded) -> None:
    """Refuse a benchmark without tasks, and say where they come from.

    Raises:
        UsageError: it has none.
    """
    benchmark = loaded.benchmark
    if benchmark.status is State.PLACEHOLDER or not benchmark.tasks:
        source = benchmark.metadata.get("source", "its publisher")
        raise UsageError(
            f"benchmark {benchmark.id} is a placeholder without tasks ({source}); import your copy of its data:"
            f" skillgate bench import FILE.jsonl --like {benchmark.id} --output my-benchmark.json"
        )


def digest_of(data: Any) -> str:  # noqa: ANN401 - JSON
    """Digest JSON, whatever the order of its keys."""
    return digest(json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode())


def files_of(folder: str) -> Iterator[str]:
    """Yield the files of a directory that may be benchmarks."""
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
