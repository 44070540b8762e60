"""Plan a benchmark run: read and check everything that it needs before the first process starts."""
# ruff: noqa: PTH112, PTH118

from __future__ import annotations

import os
import threading
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.bench.evaluation.answers import answers_for
from skillgate.bench.isolation.spawner import ProcessSpawner
from skillgate.bench.planning import items_of, require_runs, scorers_of, scoring_of
from skillgate.bench.ports import Starting, Surroundings
from skillgate.bench.reading.catalog import find_benchmark, narrowed, read_tasks, require_tasks
from skillgate.bench.reading.loading import load_skills, not_loaded
from skillgate.bench.serving import Unserved, serving
from skillgate.errors import IncompleteError, UsageError
from skillgate.model.bench import NotLoaded
from skillgate.model.bench_result import ErrorKind
from skillgate.model.benchmark import STATIC
from skillgate.model.executable import AdapterType
from skillgate.registry import ADAPTERS, SCORERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.bench.evaluation.models import Models
    from skillgate.bench.ports import Adapter, Rules, Scorer
    from skillgate.bench.reading.loading import Skills
    from skillgate.bench.request import EvalRequest
    from skillgate.bench.runner import Item
    from skillgate.model.benchmark import Loaded
    from skillgate.model.executable import Runnable
    from skillgate.session import Session

_MIB = 1024 * 1024


class Plan(NamedTuple):
    """What will be run, and everything that was made ready for it.

    Attributes:
        skills: in the order of the request.
        loaded: the benchmark.
        scorers, scorer_names: of the tasks, by their ids.
        adapters: of the skills, by their keys.
        items: every task of every skill in every run, in order.
        isolated, sandbox: what programs are kept from, and by what.
        answers_readable: whether programs can read expected answers; None where no program is run.
        stop: ends every wait.
        closing: ends what was made ready: adapters, servers, connections, the spawner last.
        added: what the benchmark's server adds to the input of tasks.
        models: that the run asks; None where it asks none, or cannot.
        model_names: of ``models``.
        not_started: why a skill's program cannot be started here, by its key.
        not_loaded: skills below a directory that are not valid, and are left out.
    """

    skills: tuple[Runnable, ...]
    loaded: Loaded
    scorers: Mapping[str, Scorer]
    scorer_names: Mapping[str, str]
    adapters: Mapping[str, Adapter]
    items: tuple[Item, ...]
    isolated: tuple[str, ...]
    sandbox: str
    stop: threading.Event
    closing: ExitStack
    added: Mapping[str, Any]
    models: Models | None
    model_names: tuple[str, ...]
    not_started: Mapping[str, str]
    answers_readable: bool | None
    not_loaded: tuple[NotLoaded, ...] = ()


def benchmark_of(request: EvalRequest, session: Session, *, cwd: str | None = None) -> Loaded:
    """Read the requested benchmark, narrowed to the requested tasks.

    Args:
        request: what is run.
        session: for its working directory and its notes.
        cwd: what its paths are relative to; None: the working directory.

    Raises:
        UsageError: there is none, or it is not valid.
    """
    cwd = session.cwd if cwd is None else cwd
    tasks = request.tasks
    folder = tasks.benchmarks_dir
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
    session: Session,
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
    skills = _loaded(request, session, loaded, broken) if skills is None else skills
    for notice in skills.notices:
        session.note(notice)
    require_runs(loaded, request.execution.runs)
    return _ready(request, session, loaded, skills, left_out)._replace(not_loaded=tuple(broken))


def _ready(
    request: EvalRequest, session: Session, loaded: Loaded, skills: Skills, left_out: list[NotLoaded] | None
) -> Plan:
    """Open everything that a run needs; what cannot be opened closes the rest."""
    rules = scoring_of(loaded, request.execution.evaluator)
    stop = threading.Event()
    with ExitStack() as ready:
        served = ready.enter_context(serving(loaded.benchmark.server))
        spawner = _spawner(request, session, served.variables, stop, ready)
        surroundings = _surroundings(request, session, spawner, served.variables, stop)
        models, surroundings = _with_models(skills.found, rules, request, session, surroundings)
        if models is not None:
            ready.callback(models.close)
        scorers = scorers_of(loaded, rules, surroundings)
        adapters = _adapters(skills.found, surroundings, loaded, ready, left_out)
        skills = skills._replace(found=tuple(skill for skill in skills.found if skill.key in adapters))
        spawner.hide(answers_for(skills.found, loaded, request, session))
        readable = spawner.answers_readable if any(isinstance(one, Starting) for one in adapters.values()) else None
        not_started = _not_started(adapters)
        model_names = () if models is None else models.names(adapters.values(), scorers.values())
        if served.problem is not None:
            adapters = dict.fromkeys(adapters, Unserved(served.problem))
        else:
            adapters |= {key: Unserved(problem, ErrorKind.NOT_STARTED) for key, problem in not_started.items()}
            _prepare([skill for skill in skills.found if skill.key not in not_started], loaded, spawner)
        closing = ready.pop_all()  # from here on the run closes it
    return Plan(
        skills=skills.found,
        loaded=loaded,
        scorers=scorers,
        scorer_names={task: rule.scorer for task, rule in rules.items()},
        adapters=adapters,
        items=items_of(skills.found, loaded, runs=request.execution.runs, shard=request.shard),
        isolated=_isolated(spawner, loaded),
        sandbox=spawner.sandbox,
        stop=stop,
        closing=closing,
        added=served.added,
        models=models,
        model_names=model_names,
        not_started=not_started,
        answers_readable=readable,
    )


def _surroundings(
    request: EvalRequest, session: Session, spawner: ProcessSpawner, served: Mapping[str, str], stop: threading.Event
) -> Surroundings:
    """Return what adapters and scorers may use."""
    return Surroundings(
        spawner=spawner if request.permissions.programs else None,
        environ=session.environ,
        allow_env=request.permissions.env,
        allow_host=request.permissions.hosts,
        guarded=request.permissions.guarded,
        served=served,
        stop=stop,
    )


def _loaded(request: EvalRequest, session: Session, loaded: Loaded, broken: list[NotLoaded]) -> Skills:
    """Read the requested skills; a static benchmark runs none of them."""
    is_run = loaded.benchmark.adapter is None
    return load_skills(request.skills, cwd=session.cwd, prose=request.prose, left=broken, runnable=is_run)


def _isolated(spawner: ProcessSpawner, loaded: Loaded) -> tuple[str, ...]:
    """Say what programs are kept from; a static benchmark runs none."""
    return spawner.isolated if loaded.benchmark.adapter is None else ()


def _prepare(skills: Sequence[Runnable], loaded: Loaded, spawner: ProcessSpawner) -> None:
    """Make ready what the calls of programs will need; what fails is the matter of the calls."""
    for skill in skills if loaded.benchmark.adapter is None else ():
        if skill.spec.adapter_type in (AdapterType.SUBPROCESS, AdapterType.MCP):
            with suppress(IncompleteError):  # of an MCP server at an address, whose directory no call needs
                spawner.prepare(skill.root)


def _not_started(adapters: Mapping[str, Adapter]) -> dict[str, str]:
    """Say by the key of a skill why its program, which exists, cannot be started here."""
    found = {key: one.unstartable() for key, one in adapters.items() if isinstance(one, Starting)}
    return {key: problem for key, problem in found.items() if problem is not None}


def _spawner(
    request: EvalRequest, session: Session, served: Mapping[str, str], stop: threading.Event, ready: ExitStack
) -> ProcessSpawner:
    """Make what starts programs, and let them reach what is served."""
    path = session.environ.get("PATH", os.defpath)
    if request.permissions.guarded and request.permissions.as_caller:
        raise UsageError("--run-as-caller is for the command line: in the Action skills are a stranger's")
    spawner = ProcessSpawner(
        path=path,
        stop=stop,
        sandbox=request.permissions.sandbox,
        memory_bytes=request.permissions.memory_mb * _MIB,
        as_caller=request.permissions.as_caller,
    )
    ready.callback(spawner.close)
    spawner.reach(served)
    if spawner.notice and request.permissions.programs:
        session.note(spawner.notice)
    return spawner


def require_leave(plan: Plan) -> None:
    """Make sure that what the models of a run may cost is wanted.

    Raises:
        UsageError: it is much, and nobody gave a limit or agreed.
    """
    models = plan.models
    if models is not None:
        models.require_leave(lambda: models.forecast(plan.items, plan.adapters, plan.scorers, {}))


def _with_models(
    skills: Sequence[Runnable],
    rules: Mapping[str, Rules],
    request: EvalRequest,
    session: Session,
    surroundings: Surroundings,
) -> tuple[Models | None, Surroundings]:
    """Connect to models where a prose skill or a judge needs one; where that cannot be, say why not.

    Raises:
        UsageError: an option of models does not fit.
    """
    prose = any(skill.spec.adapter_type is AdapterType.SKILLMD for skill in skills)
    if not prose and not any(SCORERS.flag(rule.scorer, "ASKS_MODEL") for rule in rules.values()):
        return None, surroundings
    from skillgate.llm.extras import require_packages  # most runs ask no model

    try:
        require_packages()
    except IncompleteError as error:
        session.note(f"what a model has to answer is not measured: {error}")
        return None, surroundings._replace(no_model=str(error))
    from skillgate.bench.evaluation.models import Models

    models = Models(session, request.config, request.models, surroundings.stop)
    found = surroundings._replace(ask=models.ask, model=models.model, judge_model=models.judge_model)
    return models, found


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
    if problems:
        raise UsageError("\n".join(problems))
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
