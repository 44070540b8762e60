"""Plan a benchmark run: read and check everything before the first process starts."""
# ruff: noqa: PTH112, PTH113, PTH117, PTH118, PTH119

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.bench.conformance import input_notices
from skillgate.bench.documents import (
    PACKAGED_FOLDER,
    check_of,
    checks_of,
    files_of,
    find_benchmark,
    narrowed,
    read_tasks,
    refuse,
    require_tasks,
    scorers_of,
    scoring_of,
)
from skillgate.bench.http.messages import unsendable
from skillgate.bench.isolation.processes import SHARED
from skillgate.bench.isolation.sandbox import answers_of
from skillgate.bench.isolation.spawner import ProcessSpawner
from skillgate.bench.ports import Starting, Surroundings
from skillgate.bench.program import PROGRAMS, command_of
from skillgate.bench.runner import items_of
from skillgate.bench.serving import Unserved, serving
from skillgate.bench.skills import load_skills, not_loaded
from skillgate.bench.steps import has_steps
from skillgate.errors import IncompleteError, UsageError
from skillgate.files import is_within
from skillgate.llm.answers import folder_of
from skillgate.model.bench import ErrorKind
from skillgate.model.benchmark import STATIC, AdapterType, NotLoaded
from skillgate.registry import ADAPTERS, SCORERS
from skillgate.store.target import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.bench.isolation.sandbox import Answers
    from skillgate.bench.models import Models
    from skillgate.bench.ports import Adapter, Checks, Rules, Scorer
    from skillgate.bench.request import EvalRequest
    from skillgate.bench.runner import Item
    from skillgate.bench.skills import Skills
    from skillgate.console import Console
    from skillgate.model.benchmark import Loaded, Runnable, Step, Task

PROSE_TIMEOUT_MS = 600_000  # default for prose skills: the maximum wait for one model answer
_MOST_PROBLEMS = 20
_MIB = 1024 * 1024
_SQLITE = ("", "-wal", "-shm", "-journal")


class Plan(NamedTuple):
    """What to run, and everything prepared for it."""

    skills: tuple[Runnable, ...]  # in the order of the request
    loaded: Loaded  # the benchmark
    scorers: Mapping[str, Scorer]  # by task id
    scorer_names: Mapping[str, str]  # by task id
    checks: Mapping[str, Checks]  # of the steps of each task, by task id
    adapters: Mapping[str, Adapter]  # by skill key
    items: tuple[Item, ...]  # every task of every skill in every run, in order
    isolated: tuple[str, ...]  # what programs are isolated from
    sandbox: str  # none or bwrap
    stop: threading.Event  # ends every wait
    closing: ExitStack  # closes adapters, servers, connections, and last the spawner
    added: Mapping[str, Any]  # the benchmark server's addition to task input
    models: Models | None  # None if the run uses none, or cannot
    model_names: tuple[str, ...]
    not_started: Mapping[str, str]  # why a skill's program cannot be started here, by skill key
    answers_readable: bool | None  # whether programs can read expected answers; None without programs
    not_loaded: tuple[NotLoaded, ...] = ()  # invalid skills below a directory


class Limits(NamedTuple):
    """Limits of one skill's tasks, unless a task has its own."""

    timeout_s: float
    retries: int
    most_at_once: int | None


def limits_of(skill: Runnable, request: EvalRequest) -> Limits:
    """Return a skill's limits; precedence: options, the skill's own, the configuration."""
    timeout_ms, retries = request.execution.timeout_ms, request.execution.retries
    origin = request.config.origin(settings.TIMEOUT_MS)
    if origin == "default" and skill.spec.adapter_type is AdapterType.SKILLMD:
        timeout_ms = PROSE_TIMEOUT_MS
    if origin != "option" and skill.config.timeout_ms is not None:
        timeout_ms = skill.config.timeout_ms
    if request.config.origin(settings.RETRIES) != "option" and skill.config.retries is not None:
        retries = skill.config.retries
    return Limits(timeout_ms / 1000, retries, skill.config.max_concurrency)


def benchmark_of(request: EvalRequest, session: Console, *, cwd: str | None = None) -> Loaded:
    """Read the requested benchmark with the requested tasks; paths are relative to ``cwd``.

    Raises:
        UsageError: There is none, or it is not valid.
    """
    cwd = session.cwd if cwd is None else cwd
    tasks, folder = request.tasks, request.tasks.benchmarks_dir
    is_option = request.config.origin(settings.BENCHMARKS_DIR) == "option"
    if folder is not None and is_option and not os.path.isdir(os.path.join(cwd, folder)):
        raise UsageError(f"--{settings.BENCHMARKS_DIR.key} {folder}: there is no such directory")
    if tasks.file is None:
        loaded, notices = find_benchmark(tasks.benchmark, folder, cwd=cwd)
    else:
        loaded, notices = read_tasks(os.path.join(cwd, tasks.file), tasks.file), ()
    for notice in notices:
        session.note(notice)
    require_tasks(loaded)
    return narrowed(loaded, tasks.ids, tasks.tags)


def planned(
    request: EvalRequest,
    session: Console,
    benchmark: Loaded | None = None,
    skills: Skills | None = None,
    left_out: list[NotLoaded] | None = None,
) -> Plan:
    """Read and check everything that a run needs.

    Args:
        request: What to run.
        session: The console.
        benchmark: If it was read already.
        skills: If they were read already.
        left_out: Receives the skills that cannot be run; if None, they are an error.

    Raises:
        UsageError: An input is not valid; nothing was started.
    """
    broken: list[NotLoaded] = []
    loaded = benchmark_of(request, session) if benchmark is None else benchmark
    if skills is None:
        is_run = loaded.benchmark.adapter is None  # a static benchmark runs no skill
        skills = load_skills(request.skills, cwd=session.cwd, prose=request.prose, left=broken, runnable=is_run)
    for notice in skills.notices:
        session.note(notice)
    k, runs = loaded.benchmark.k, request.execution.runs
    if k is not None and k > runs:
        raise UsageError(f"{loaded.origin}: k is {k}, but --runs is {runs}; use --runs {k}")
    plan = _ready(request, session, loaded, skills, left_out)._replace(not_loaded=tuple(broken))
    for notice in input_notices(plan.skills, loaded):
        session.note(notice)
    return plan


def _ready(
    request: EvalRequest, session: Console, loaded: Loaded, skills: Skills, left_out: list[NotLoaded] | None
) -> Plan:
    """Open everything that a run needs; on failure, close what was opened."""
    rules = scoring_of(loaded, request.execution.evaluator)
    stop = threading.Event()
    permissions = request.permissions
    with ExitStack() as ready:
        served = ready.enter_context(serving(loaded.benchmark.server))
        spawner = _spawner(request, session, served.variables, stop, ready)
        surroundings = Surroundings(
            spawner=spawner if permissions.programs else None,
            environ=session.environ,
            allow_env=permissions.env,
            allow_host=permissions.hosts,
            guarded=permissions.guarded,
            served=served.variables,
            stop=stop,
        )
        models, surroundings = _with_models(skills.found, rules, request, session, surroundings)
        if models is not None:
            ready.callback(models.close)
        scorers = scorers_of(loaded, rules, surroundings)
        checks = checks_of(loaded, surroundings)
        adapters = _adapters(skills.found, surroundings, loaded, ready, left_out)
        found = tuple(skill for skill in skills.found if skill.key in adapters)
        spawner.hide(_answers(found, loaded, request, session))
        starting = {key: one for key, one in adapters.items() if isinstance(one, Starting)}
        readable = spawner.answers_readable if starting else None
        unstartable = {key: one.unstartable() for key, one in starting.items()}
        not_started = {key: problem for key, problem in unstartable.items() if problem is not None}
        model_names = () if models is None else models.names(adapters.values(), scorers.values())
        if served.problem is not None:
            adapters = dict.fromkeys(adapters, Unserved(served.problem))
        else:
            adapters |= {key: Unserved(problem, ErrorKind.NOT_STARTED) for key, problem in not_started.items()}
            if loaded.benchmark.adapter is None:
                _prepare([skill for skill in found if skill.key not in not_started], spawner)
        closing = ready.pop_all()  # the run closes it
    return Plan(
        skills=found,
        loaded=loaded,
        scorers=scorers,
        scorer_names={task: rule.scorer for task, rule in rules.items()},
        checks=checks,
        adapters=adapters,
        items=items_of(found, loaded, runs=request.execution.runs, shard=request.shard),
        isolated=spawner.isolated if loaded.benchmark.adapter is None else (),
        sandbox=spawner.sandbox,
        stop=stop,
        closing=closing,
        added=served.added,
        models=models,
        model_names=model_names,
        not_started=not_started,
        answers_readable=readable,
    )


def _prepare(skills: Sequence[Runnable], spawner: ProcessSpawner) -> None:
    """Prepare the calls of programs; failures are reported by the calls."""
    for skill in skills:
        if skill.spec.adapter_type in PROGRAMS:
            with suppress(IncompleteError):  # an MCP server at an address needs no copy
                spawner.prepare(skill.root)


def _spawner(
    request: EvalRequest, session: Console, served: Mapping[str, str], stop: threading.Event, ready: ExitStack
) -> ProcessSpawner:
    """Make the spawner, and let programs reach the benchmark's server."""
    permissions = request.permissions
    if permissions.guarded and permissions.as_caller:
        raise UsageError("--run-as-caller is not allowed in the Action, where skills are untrusted")
    spawner = ProcessSpawner(
        path=session.environ.get("PATH", os.defpath),
        stop=stop,
        sandbox=permissions.sandbox,
        memory_bytes=permissions.memory_mb * _MIB,
        as_caller=permissions.as_caller,
    )
    ready.callback(spawner.close)
    spawner.reach(served)
    if spawner.notice and permissions.programs:
        session.note(spawner.notice)
    return spawner


def require_approval(plan: Plan) -> None:
    """Require approval for expensive model requests.

    Raises:
        UsageError: The estimate is high, and there is neither a limit nor approval.
    """
    models = plan.models
    if models is not None:
        models.require_approval(lambda: models.forecast(plan.items, plan.adapters, plan.scorers, {}))


def _with_models(
    skills: Sequence[Runnable],
    rules: Mapping[str, Rules],
    request: EvalRequest,
    session: Console,
    surroundings: Surroundings,
) -> tuple[Models | None, Surroundings]:
    """Connect to models if a prose skill or a judge needs one; print a note if that is impossible."""
    prose = any(skill.spec.adapter_type is AdapterType.SKILLMD for skill in skills)
    if not prose and not any(SCORERS.flag(rule.scorer, "ASKS_MODEL") for rule in rules.values()):
        return None, surroundings
    from skillgate.llm import require_packages  # most runs ask no model

    try:
        require_packages()
    except IncompleteError as error:
        session.note(f"results that need a model are not measured: {error}")
        return None, surroundings._replace(no_model=str(error))
    from skillgate.bench.models import Models

    models = Models(session, request.config, request.models, surroundings.stop)
    return models, surroundings._replace(ask=models.ask, model=models.model, judge_model=models.judge_model)


def _adapters(
    skills: Sequence[Runnable],
    surroundings: Surroundings,
    loaded: Loaded,
    ready: ExitStack,
    left_out: list[NotLoaded] | None,
) -> dict[str, Adapter]:
    found: dict[str, Adapter] = {}
    problems: list[str] = []
    for skill in skills:
        try:
            found[skill.key] = _adapter(skill, surroundings, loaded)
            ready.callback(found[skill.key].close)
        except UsageError as error:
            if left_out is None:
                problems += str(error).splitlines()
            else:
                left_out.append(not_loaded(skill.shown, str(error).splitlines()))
    refuse(problems)
    return found


def _adapter(skill: Runnable, surroundings: Surroundings, loaded: Loaded) -> Adapter:
    kind = loaded.benchmark.adapter or skill.spec.adapter_type.value
    if kind == STATIC != loaded.benchmark.adapter:
        raise UsageError(f"{skill.shown}: a static skill is never run; use a static benchmark")
    if kind not in ADAPTERS.names():
        runs = ", ".join(ADAPTERS.names())
        raise UsageError(f"{skill.shown}: {kind} skills are not supported; supported: {runs}")
    refuse(f"{skill.shown}: {line}" for line in _unfit(kind, loaded.benchmark.tasks))
    if kind == AdapterType.HTTP.value:
        more = (loaded.benchmark.server,) if loaded.benchmark.server else ()
        tasks = ((task, unsendable(skill.config.request, task, more)) for task in loaded.benchmark.tasks)
        refuse((f"{skill.shown}: task {task.id!r}: {line}" for task, lines in tasks for line in lines), _MOST_PROBLEMS)
    adapter: Adapter = ADAPTERS.load(kind).open_adapter(skill, surroundings)
    return adapter


def _unfit(kind: str, tasks: Sequence[Task]) -> Iterator[str]:
    """Yield why skills of a kind cannot do some of the tasks."""
    for task in tasks:
        calls: tuple[Task | Step, ...] = (task, *task.setup, *task.steps, *task.teardown)
        if has_steps(task) and kind in (AdapterType.SKILLMD.value, STATIC):
            yield f"task {task.id!r} has steps, which {kind} skills cannot do"
        elif kind != AdapterType.MCP.value and any(call.tool is not None for call in calls):
            yield f"task {task.id!r} names a tool, which only mcp skills have"
        elif kind != AdapterType.HTTP.value and any(call.request is not None for call in calls):
            yield f"task {task.id!r} has a request, which only http skills can make"


def _answers(skills: Sequence[Runnable], loaded: Loaded, request: EvalRequest, session: Console) -> Answers:
    """Return all places with expected answers, to hide them from programs of skills."""
    cwd, config = session.cwd, request.config
    files = [*files_of_benchmark(loaded), *_store_files(request, session)]
    if request.tasks.benchmarks_dir is not None:
        files += files_of(os.path.join(cwd, request.tasks.benchmarks_dir))
    reports = (
        request.output.directory,
        session.config.get(settings.OUTPUT_DIR),
    )  # the second: reports of runs without the option
    folders = [os.path.join(cwd, FOLDER), *(os.path.join(cwd, one) for one in reports), PACKAGED_FOLDER]
    folders += [os.path.join(cwd, path) for path in (request.models.record, request.models.replay) if path is not None]
    cache = folder_of(session.environ, config.get(settings.CACHE_DIR), config.base(settings.CACHE_DIR))
    folders += [cache] if cache else []
    # Programs need the temporary directories and those on PATH.
    path = session.environ.get("PATH", os.defpath)
    needed = [tempfile.gettempdir(), *SHARED, *filter(os.path.isabs, path.split(os.pathsep))]
    return answers_of(
        [skill.root for skill in skills],
        files=[*files, *filter(os.path.isfile, (*folders, *request.answers))],
        folders=[*folders, *request.answers],
        needed=[*needed, *(file for skill in skills for file in _command_files(skill, path))],
    )


def files_of_benchmark(loaded: Loaded) -> Iterator[str]:
    """Yield a benchmark's file and those of its scorers; not all need to exist."""
    yield os.path.join(loaded.folder, os.path.basename(loaded.origin))
    tasks = loaded.benchmark.tasks
    steps = (step for task in tasks for step in (*task.setup, *task.steps, *task.teardown))
    for task in (*tasks, *map(check_of, steps)):
        for path in (task.evaluator.custom_scorer_path, task.expected_output.custom_scorer_path):
            if path is not None:
                yield os.path.join(loaded.folder, path.rpartition(":")[0])
        for word in task.evaluator.command[:8]:
            path = os.path.join(loaded.folder, word)
            if "\0" not in word and _may_hold_answers(loaded.folder, path):
                yield path


def _may_hold_answers(folder: str, path: str) -> bool:
    """Whether a file in a scorer's command may contain answers: programs outside the benchmark do not."""
    return is_within(os.path.realpath(path), os.path.realpath(folder)) or not os.access(path, os.X_OK)


def _store_files(request: EvalRequest, session: Console) -> Iterator[str]:
    from skillgate.store.results import named_store

    with suppress(UsageError):  # opening the store reports it
        path = named_store(request.store.name, session)[0].path
        if path is not None:
            yield from (path + ending for ending in _SQLITE)


def _command_files(skill: Runnable, search_path: str) -> Iterator[str]:
    """Yield a skill's program and the files named in its command."""
    if skill.spec.adapter_type not in PROGRAMS:
        return
    with suppress(UsageError):  # opening the adapter reports it
        command = command_of(skill)
        program = shutil.which(command[0], path=search_path)
        if program is not None and os.path.isabs(program):
            yield program
        for word in command:
            path = os.path.join(skill.root, word)
            if "\0" not in word and not word.startswith("-") and os.path.isfile(path):
                yield path
