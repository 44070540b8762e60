"""One run of skills against a benchmark: everything is checked before the first process starts."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__
from skillgate.bench.catalog import find_benchmark, narrowed, read_tasks, require_tasks
from skillgate.bench.gating import BenchPolicy, gate
from skillgate.bench.isolation.spawner import ProcessSpawner
from skillgate.bench.loading import load_skills
from skillgate.bench.metrics import summarise
from skillgate.bench.planning import items_of, limits_of, scorers_of, scoring_of
from skillgate.bench.ports import Surroundings
from skillgate.bench.runner import Job, run
from skillgate.cli.bench_publishing import publish, watching
from skillgate.config import config_digest
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.model.bench import BenchReport, CompletionReport, RunSettings
from skillgate.model.benchmark import MAX_LATENCY_MS
from skillgate.model.report import Tool, Verdict
from skillgate.registry import Room

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.bench.ports import Adapter, Scorer
    from skillgate.bench.runner import Item
    from skillgate.cli.session import Session
    from skillgate.model.bench_result import TaskResult
    from skillgate.model.benchmark import Loaded
    from skillgate.model.executable import Runnable

_ADAPTERS = Room("skillgate.bench.adapters")


class Asked(NamedTuple):
    """What the options say.

    Attributes:
        skills: paths.
        benchmark: an id or a path; ``tasks`` is a file of tasks in its place.
        benchmarks_dir: where other benchmarks lie.
        task_ids, tags: which tasks, empty for all.
        runs, concurrency, timeout_ms, retries, retry_delay_s: as given, with defaults filled in.
        given: which of ``timeout-ms`` and ``retries`` were given.
        evaluator: the scorer of tasks that name none.
        policy: the gates.
        allow_skipped: whether what could not be measured changes no exit code.
        allow_env: variables that skills may be given.
        allow_exec: whether programs may be started.
        prose: whether prose skills that a search meets are taken in.
        formats, output_dir: of the files that are written.
        progress: ``bar``, ``json`` or ``none``.
    """

    skills: tuple[str, ...]
    benchmark: str
    tasks: str | None
    benchmarks_dir: str | None
    task_ids: tuple[str, ...]
    tags: tuple[str, ...]
    runs: int
    concurrency: int
    timeout_ms: int
    retries: int
    retry_delay_s: float
    given: frozenset[str]
    evaluator: str
    policy: BenchPolicy
    allow_skipped: bool
    allow_env: frozenset[str]
    allow_exec: bool
    prose: bool
    formats: tuple[str, ...]
    output_dir: str
    progress: str


class Plan(NamedTuple):
    """What will be run: the skills, the benchmark, its scorers, the items in their order."""

    skills: tuple[Runnable, ...]
    loaded: Loaded
    scorers: Mapping[str, Scorer]
    scorer_names: Mapping[str, str]
    adapters: Mapping[str, Adapter]
    items: tuple[Item, ...]
    spawner: ProcessSpawner
    stop: threading.Event


def planned(asked: Asked, session: Session) -> Plan:
    """Read and check everything that a run needs.

    Raises:
        UsageError: something is not valid; nothing was started.
    """
    if asked.tasks is None:
        loaded, notices = find_benchmark(asked.benchmark, asked.benchmarks_dir, cwd=session.cwd)
    else:
        loaded, notices = read_tasks(os.path.join(session.cwd, asked.tasks), asked.tasks), ()
    require_tasks(loaded)
    loaded = narrowed(loaded, asked.task_ids, asked.tags)
    skills = load_skills(asked.skills, cwd=session.cwd, prose=asked.prose)
    for notice in (*notices, *skills.notices):
        session.note(notice)
    rules = scoring_of(loaded, asked.evaluator)
    stop = threading.Event()
    with ExitStack() as ready:
        spawner = ProcessSpawner(path=session.environ.get("PATH", os.defpath), stop=stop)
        ready.callback(spawner.close)
        surroundings = Surroundings(
            spawner=spawner if asked.allow_exec else None,
            environ=session.environ,
            allow_env=asked.allow_env,
            allow_host=frozenset(),
            guarded=False,
            served={},
            stop=stop,
        )
        scorers = scorers_of(loaded, rules, surroundings)
        adapters = _adapters(skills.found, surroundings)
        for skill in skills.found:
            spawner.prepare(skill.root)
        ready.pop_all()  # from here on the run closes it
    names = {task: rule.scorer.value for task, rule in rules.items()}
    items = items_of(skills.found, loaded, runs=asked.runs)
    return Plan(skills.found, loaded, scorers, names, adapters, items, spawner, stop)


def evaluated(plan: Plan, asked: Asked, session: Session) -> BenchReport:
    """Run a plan and compute its report.

    Raises:
        KeyboardInterrupt: it was interrupted; what was there by then has been written, marked as incomplete.
        SystemExit: likewise.
    """
    began, clock = datetime.now(UTC), time.perf_counter()
    limits = {
        skill.key: limits_of(skill, timeout_ms=asked.timeout_ms, retries=asked.retries, given=asked.given)
        for skill in plan.skills
    }
    job = Job(
        items=plan.items,
        adapters=plan.adapters,
        scorers=plan.scorers,
        scorer_names=plan.scorer_names,
        added={},
        timeout_s={key: limit.timeout_s for key, limit in limits.items()},
        retries={key: limit.retries for key, limit in limits.items()},
        most_at_once={key: limit.most_at_once for key, limit in limits.items()},
        concurrency=asked.concurrency,
        retry_delay_s=asked.retry_delay_s,
        stop=plan.stop,
    )
    found: list[TaskResult] = []
    told = watching(asked.progress, session, len(plan.items))

    def done(result: TaskResult) -> None:
        found.append(result)
        told(result)

    try:
        results = run(job, done)
    except (KeyboardInterrupt, SystemExit):
        partial = _report(plan, asked, session, found, began, time.perf_counter() - clock, "the run was interrupted")
        publish(partial, asked.formats, asked.output_dir, session)
        raise
    finally:
        for adapter in plan.adapters.values():
            adapter.close()
        plan.spawner.close()
        told(None)
    return _report(plan, asked, session, results, began, time.perf_counter() - clock, None)


def exit_code(report: BenchReport, *, allow_skipped: bool) -> int:
    """Give the exit code: a gate that failed comes before what could not be measured."""
    if report.gate.passed is False:
        return EXIT_GATE_FAILED
    skipped = sum(one.summary.counts.skipped for one in report.reports)
    measured = sum(one.summary.counts.total for one in report.reports)
    return EXIT_INCOMPLETE if (skipped and not allow_skipped) or not measured else EXIT_PASSED


def _adapters(skills: Sequence[Runnable], surroundings: Surroundings) -> dict[str, Adapter]:
    found: dict[str, Adapter] = {}
    problems: list[str] = []
    for skill in skills:
        kind = skill.spec.adapter_type.value
        if kind not in _ADAPTERS.names():
            runs = ", ".join(_ADAPTERS.names())
            problems.append(f"{skill.shown}: this version runs no {kind} skills yet; it runs: {runs}")
            continue
        try:
            found[skill.key] = _ADAPTERS.load(kind).open_adapter(skill, surroundings)
        except UsageError as error:
            problems += str(error).splitlines()
    if problems:
        raise UsageError("\n".join(problems))
    return found


def _report(
    plan: Plan,
    asked: Asked,
    session: Session,
    results: Sequence[TaskResult],
    began: datetime,
    seconds: float,
    incomplete: str | None,
) -> BenchReport:
    reports = [_of_skill(skill, plan, asked, results, began, incomplete) for skill in plan.skills]
    reports.sort(key=lambda one: (-(one.summary.composite_score or 0.0), one.skill_id))
    verdicts = [one.gate.passed for one in reports if one.gate.passed is not None]
    measured = sum(one.summary.counts.total for one in reports)
    whole = measured + sum(one.summary.counts.skipped for one in reports)
    return BenchReport(
        reports=tuple(reports),
        tool=Tool(version=__version__),
        config_digest=config_digest(session.config),
        run=RunSettings(
            runs=asked.runs,
            concurrency=asked.concurrency,
            timeout_ms=asked.timeout_ms,
            retries=asked.retries,
            evaluator=asked.evaluator,
            isolated=plan.spawner.isolated,
            tasks=asked.task_ids,
            tags=asked.tags,
        ),
        coverage=measured / whole if whole else None,
        gate=Verdict(passed=all(verdicts) if verdicts else None),
        duration_s=round(seconds, 3),
    )


def _of_skill(
    skill: Runnable,
    plan: Plan,
    asked: Asked,
    results: Sequence[TaskResult],
    began: datetime,
    incomplete: str | None,
) -> CompletionReport:
    own = tuple(result for result in results if result.skill_id == skill.key)
    benchmark = plan.loaded.benchmark
    figures = summarise(own, benchmark, runs=asked.runs)
    verdict = gate(figures, own, asked.policy)
    if incomplete is not None and verdict.passed:
        verdict = Verdict(passed=False, outcomes=verdict.outcomes)
    return CompletionReport(
        skill_id=skill.key,
        skill_version=skill.spec.version,
        skill_digest=skill.digest,
        skill_path=skill.shown,
        adapter=skill.spec.adapter_type.value,
        benchmark_id=benchmark.id,
        benchmark_version=benchmark.version,
        benchmark_digest=plan.loaded.digest,
        scoring_method=benchmark.scoring_method,
        max_latency_ms=benchmark.max_latency_ms or MAX_LATENCY_MS,
        timestamp=began,
        summary=figures.summary,
        latency=figures.latency,
        task_results=own,
        token_cost=figures.token_cost,
        by_tag=figures.by_tag,
        gate=verdict,
        incomplete=incomplete,
    )
