"""One run of skills against a benchmark: everything is checked before the first process starts."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.catalog import find_benchmark, narrowed, read_tasks, require_tasks
from skillgate.bench.isolation.spawner import ProcessSpawner
from skillgate.bench.loading import load_skills
from skillgate.bench.planning import items_of, limits_of, scorers_of, scoring_of
from skillgate.bench.ports import Surroundings
from skillgate.bench.runner import Job, run
from skillgate.cli.bench_publishing import publish, watching
from skillgate.cli.bench_reporting import report_of
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.registry import Room

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.bench.ports import Adapter, Scorer
    from skillgate.bench.runner import Item
    from skillgate.cli.bench_options import Asked
    from skillgate.cli.session import Session
    from skillgate.model.bench import BenchReport
    from skillgate.model.bench_result import TaskResult
    from skillgate.model.benchmark import Loaded
    from skillgate.model.executable import Runnable

_ADAPTERS = Room("skillgate.bench.adapters")


class Plan(NamedTuple):
    """What will be run: the skills, the benchmark, its scorers, the items in their order.

    ``closing`` ends what was made ready for it: adapters, servers, connections, the spawner last.
    """

    skills: tuple[Runnable, ...]
    loaded: Loaded
    scorers: Mapping[str, Scorer]
    scorer_names: Mapping[str, str]
    adapters: Mapping[str, Adapter]
    items: tuple[Item, ...]
    isolated: tuple[str, ...]
    stop: threading.Event
    closing: ExitStack


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
            allow_host=asked.allow_host,
            guarded=False,
            served={},
            stop=stop,
        )
        scorers = scorers_of(loaded, rules, surroundings)
        adapters = _adapters(skills.found, surroundings)
        for adapter in adapters.values():
            ready.callback(adapter.close)
        for skill in skills.found:
            spawner.prepare(skill.root)
        closing = ready.pop_all()  # from here on the run closes it
    names = {task: rule.scorer.value for task, rule in rules.items()}
    items = items_of(skills.found, loaded, runs=asked.runs)
    return Plan(skills.found, loaded, scorers, names, adapters, items, spawner.isolated, stop, closing)


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
        partial = report_of(plan, asked, session, found, began, time.perf_counter() - clock, "the run was interrupted")
        publish(partial, asked.formats, asked.output_dir, session)
        raise
    finally:
        plan.closing.close()
        told(None)
    return report_of(plan, asked, session, results, began, time.perf_counter() - clock, None)


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
