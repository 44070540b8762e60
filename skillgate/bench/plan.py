"""Plan a benchmark run: read and check everything that it needs before the first process starts."""
# ruff: noqa: PTH112, PTH113, PTH117, PTH118, PTH119

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.bench.documents import (
    PACKAGED_FOLDER,
    files_of,
    find_benchmark,
    narrowed,
    read_tasks,
    refuse,
    require_tasks,
    scorers_of,
    scoring_of,
)
from skillgate.bench.isolation.processes import SHARED
from skillgate.bench.isolation.sandbox import answers_of
from skillgate.bench.isolation.spawner import ProcessSpawner
from skillgate.bench.ports import Starting, Surroundings
from skillgate.bench.program import command_of
from skillgate.bench.runner import items_of
from skillgate.bench.serving import Unserved, serving
from skillgate.bench.skills import load_skills, not_loaded
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
    from skillgate.bench.ports import Adapter, Rules, Scorer
    from skillgate.bench.request import EvalRequest
    from skillgate.bench.runner import Item
    from skillgate.bench.skills import Skills
    from skillgate.console import Console
    from skillgate.model.benchmark import Loaded, Runnable

PROSE_TIMEOUT_MS = 600_000  # of a prose skill by default: as long as is waited for one answer of a model, at most
_MIB = 1024 * 1024
_PROGRAMS = (AdapterType.SUBPROCESS, AdapterType.MCP)
_SQLITE = ("", "-wal", "-shm", "-journal")


class Plan(NamedTuple):
    """What will be run, and everything that was made ready for it."""

    skills: tuple[Runnable, ...]  # in the order of the request
    loaded: Loaded  # the benchmark
    scorers: Mapping[str, Scorer]  # by the task's id
    scorer_names: Mapping[str, str]  # likewise
    adapters: Mapping[str, Adapter]  # by the skill's key
    items: tuple[Item, ...]  # every task of every skill in every run, in order
    isolated: tuple[str, ...]  # what programs are isolated from
    sandbox: str  # and by what
    stop: threading.Event  # ends every wait
    closing: ExitStack  # ends what was made ready: adapters, servers, connections, the spawner last
    added: Mapping[str, Any]  # what the benchmark's server adds to the input of tasks
    models: Models | None  # that the run uses; None where it uses none, or cannot
    model_names: tuple[str, ...]
    not_started: Mapping[str, str]  # why a skill's program cannot be started here, by its key
    answers_readable: bool | None  # whether programs can read expected answers; None where no program is run
    not_loaded: tuple[NotLoaded, ...] = ()  # skills below a directory that are not valid, and are left out


class Limits(NamedTuple):
    """What holds for one skill where a task says nothing."""

    timeout_s: float
    retries: int
    most_at_once: int | None


def limits_of(skill: Runnable, request: EvalRequest) -> Limits:
    """Return a skill's limits; options come before its own, and its own before those of the configuration."""
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
    """Read the requested benchmark, narrowed to the requested tasks; its paths are relative to ``cwd``.

    Raises:
        UsageError: there is none, or it is not valid.
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
        request: what is run.
        session: the run.
        benchmark: where it has been read already.
        skills: likewise.
        left_out: takes the skills that cannot be run, which are left out then; None: they are an error.

    Raises:
        UsageError: something is not valid; nothing was started.
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
        raise UsageError(f"{loaded.origin}: k: a pass in {k} runs is asked for, and --runs is {runs}; say --runs {k}")
    return _ready(request, session, loaded, skills, left_out)._replace(not_loaded=tuple(broken))


def _ready(
    request: EvalRequest, session: Console, loaded: Loaded, skills: Skills, left_out: list[NotLoaded] | None
) -> Plan:
    """Open everything that a run needs; what cannot be opened closes the rest."""
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
        closing = ready.pop_all()  # from here on the run closes it
    return Plan(
        skills=found,
        loaded=loaded,
        scorers=scorers,
        scorer_names={task: rule.scorer for task, rule in rules.items()},
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
    """Make ready what the calls of programs will need; what fails is the matter of the calls."""
    for skill in skills:
        if skill.spec.adapter_type in _PROGRAMS:
            with suppress(IncompleteError):  # of an MCP server at an address, whose directory no call needs
                spawner.prepare(skill.root)


def _spawner(
    request: EvalRequest, session: Console, served: Mapping[str, str], stop: threading.Event, ready: ExitStack
) -> ProcessSpawner:
    """Make what starts programs, and let them reach what is served."""
    permissions = request.permissions
    if permissions.guarded and permissions.as_caller:
        raise UsageError("--run-as-caller is for the command line: in the Action skills are a stranger's")
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
    """Check that what the models of a run may cost is wanted.

    Raises:
        UsageError: it is much, and there is neither a limit nor an approval.
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
    """Connect to models where a prose skill or a judge needs one; where that cannot be, note why."""
    prose = any(skill.spec.adapter_type is AdapterType.SKILLMD for skill in skills)
    if not prose and not any(SCORERS.flag(rule.scorer, "ASKS_MODEL") for rule in rules.values()):
        return None, surroundings
    from skillgate.llm import require_packages  # most runs ask no model

    try:
        require_packages()
    except IncompleteError as error:
        session.note(f"what a model has to answer is not measured: {error}")
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
        raise UsageError(f"{skill.shown}: a static skill is read and never run; benchmark it on one that is static")
    if kind not in ADAPTERS.names():
        runs = ", ".join(ADAPTERS.names())
        raise UsageError(f"{skill.shown}: this version runs no {kind} skills yet; it runs: {runs}")
    adapter: Adapter = ADAPTERS.load(kind).open_adapter(skill, surroundings)
    return adapter


def _answers(skills: Sequence[Runnable], loaded: Loaded, request: EvalRequest, session: Console) -> Answers:
    """Return every place that holds expected answers, so that programs of skills are isolated from them."""
    cwd, config = session.cwd, request.config
    files = [*files_of_benchmark(loaded), *_store_files(request, session)]
    if request.tasks.benchmarks_dir is not None:
        files += files_of(os.path.join(cwd, request.tasks.benchmarks_dir))
    reports = (request.output.directory, session.config.get(settings.OUTPUT_DIR))  # the last of runs without the option
    folders = [os.path.join(cwd, FOLDER), *(os.path.join(cwd, one) for one in reports), PACKAGED_FOLDER]
    folders += [os.path.join(cwd, path) for path in (request.models.record, request.models.replay) if path is not None]
    cache = folder_of(session.environ, config.get(settings.CACHE_DIR), config.base(settings.CACHE_DIR))
    folders += [cache] if cache else []
    # Every program needs the directories of temporary files, and those where programs are.
    path = session.environ.get("PATH", os.defpath)
    needed = [tempfile.gettempdir(), *SHARED, *filter(os.path.isabs, path.split(os.pathsep))]
    return answers_of(
        [skill.root for skill in skills],
        files=[*files, *filter(os.path.isfile, (*folders, *request.answers))],
        folders=[*folders, *request.answers],
        needed=[*needed, *(file for skill in skills for file in _command_files(skill, path))],
    )


def files_of_benchmark(loaded: Loaded) -> Iterator[str]:
    """Yield a benchmark's file, and those of the scorers that its tasks name; not all need to be there."""
    yield os.path.join(loaded.folder, os.path.basename(loaded.origin))
    for task in loaded.benchmark.tasks:
        for path in (task.evaluator.custom_scorer_path, task.expected_output.custom_scorer_path):
            if path is not None:
                yield os.path.join(loaded.folder, path.rpartition(":")[0])
        for word in task.evaluator.command[:8]:
            path = os.path.join(loaded.folder, word)
            if "\0" not in word and _may_hold_answers(loaded.folder, path):
                yield path


def _may_hold_answers(folder: str, path: str) -> bool:
    """Whether a file that a scorer's command names may hold answers: a program from elsewhere does not."""
    return is_within(os.path.realpath(path), os.path.realpath(folder)) or not os.access(path, os.X_OK)


def _store_files(request: EvalRequest, session: Console) -> Iterator[str]:
    from skillgate.store.results import named_store

    with suppress(UsageError):  # opening the store reports it
        path = named_store(request.store.name, session)[0].path
        if path is not None:
            yield from (path + ending for ending in _SQLITE)


def _command_files(skill: Runnable, search_path: str) -> Iterator[str]:
    """Yield the files that a skill's command names, and its program."""
    if skill.spec.adapter_type not in _PROGRAMS:
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
