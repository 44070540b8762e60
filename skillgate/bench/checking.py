"""Check what the shape of a skill.json or a benchmark cannot say: ids, versions, scorers that fit what is expected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from skillgate.bench.documents import refuse
from skillgate.bench.ports import Rules
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
    State,
)
from skillgate.model.benchmark import BENCHMARK_ID as BENCHMARK_ID
from skillgate.registry import SCORERS, SERVERS, scorers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skillgate.bench.ports import Prepare, Scorer, Surroundings
    from skillgate.model.benchmark import AdapterConfig, Benchmark, Executable, Loaded, Task

T = TypeVar("T")
_MOST_PROBLEMS = 20


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
