"""Run skills against a benchmark: tasks, scores, intervals, gates.

Everything is checked before the first process starts. A skill that a path names and that is not valid is refused; one
below a directory is left out and named in the report, and makes the exit code 3. A skill's own crash, wrong reply or
time-out is a failure of the skill; what could not be measured is outside of every rate, is counted, and makes the exit
code 3. A gate that is named fails the run; --exit-on-fail asks for a completion rate of 0.7, or of --min-completion.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillgate import settings
from skillgate.bench.evaluation.sharding import add_shard
from skillgate.cli.bench_options import add_benchmark, add_gates, add_results, add_running, asked_of
from skillgate.cli.options import add_asking
from skillgate.errors import EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.model.text import printable
from skillgate.store.results import add_keeping, add_write_back

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from skillgate.bench.evaluation.running import Plan
    from skillgate.cli.bench_options import Asked
    from skillgate.llm.dry import Forecast
    from skillgate.model.bench import BenchReport, NotLoaded
    from skillgate.session import Session
    from skillgate.store.results import Keeping

GROUP = "programs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_benchmark(parser)
    add_running(parser)
    add_shard(parser)
    add_asking(parser)
    add_gates(parser)
    add_results(parser)
    add_keeping(parser)
    add_write_back(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    """Evaluate.

    Raises:
        UsageError: something is not valid; nothing was run.
    """
    from skillgate.bench.evaluation.asking import require_leave
    from skillgate.bench.evaluation.publishing import rendered, require_output
    from skillgate.bench.evaluation.running import evaluated, exit_code, planned
    from skillgate.bench.evaluation.writing_back import require_writable
    from skillgate.store.results import keeping, settled

    asked = asked_of(args, session)
    plan = planned(asked, session)
    if args.dry_run:
        with plan.closing:
            return _foresee(plan, asked, args, session)
    try:
        require_required(plan, asked)
        require_output(asked.formats, asked.output_dir, session)
        require_leave(plan)
        if args.write_metadata:
            require_writable(plan.skills, asked, session)
        kept = keeping(args, session)
    except UsageError:
        plan.closing.close()
        raise
    if args.exit_on_fail and asked.runs == 1:
        session.note("one run cannot tell a flaky skill from a good one: --runs 3 shows its consistency")
    report = evaluated(plan, asked, session, kept)
    problem = delivered(report, plan, asked, args, kept, session)
    session.out(rendered(report, "json" if session.json else "text", session))
    return settled(exit_code(report, allow_skipped=asked.allow_skipped), problem, session)


def delivered(
    report: BenchReport, plan: Plan, asked: Asked, args: argparse.Namespace, kept: Keeping, session: Session
) -> str | None:
    """Write a report wherever it is asked for; what to say where one of these places failed, None where none did."""
    from skillgate.bench.evaluation.publishing import publish
    from skillgate.bench.evaluation.writing_back import write_back

    problems: list[str | None] = []
    try:
        publish(report, asked.formats, asked.output_dir, session)
    except UsageError as error:  # such as a full disk: what was measured is kept and printed, and is no usage error
        problems.append(str(error))
    problems.append(kept.keep(report))
    if args.write_metadata:
        problems.append(write_back(plan.skills, report, session))
    return "\n".join(filter(None, problems)) or None


def _foresee(plan: Plan, asked: Asked, args: argparse.Namespace, session: Session) -> int:
    """Refuse what a run would refuse, and say what it would do; nothing is run and nothing written."""
    from skillgate.bench.evaluation.publishing import require_output
    from skillgate.store.results import require_store

    require_required(plan, asked)
    require_output(asked.formats, asked.output_dir, session, make=False)
    require_store(args, session)
    forecast = plan.models.forecast(plan.items, plan.adapters, plan.scorers, {}) if plan.models else None
    lines = plan_lines(plan, asked)
    if plan.models is not None and forecast is not None:
        lines[-1:-1] = plan.models.lines(forecast)
    session.out(
        json.dumps(plan_document(plan, forecast, plan.not_loaded), indent=2) if session.json else "\n".join(lines)
    )
    for broken in plan.not_loaded:
        session.note(f"{broken.path} cannot be loaded: {broken.reason}")
    return foreseen_code(plan, asked)


def foreseen_code(plan: Plan, asked: Asked) -> int:
    """Give the exit code of a run as far as it is known before: what cannot be loaded or started is not measured."""
    if plan.not_loaded:
        return EXIT_INCOMPLETE
    empty = len(plan.not_started) == len(plan.skills)
    return EXIT_INCOMPLETE if plan.not_started and (empty or not asked.allow_skipped) else EXIT_PASSED


def require_required(plan: Plan, asked: Asked) -> None:
    """Make sure that every task of --require-task is run.

    Raises:
        UsageError: one is not.
    """
    known = {task.id for task in plan.loaded.benchmark.tasks}
    missing = [task for task in asked.policy.require_tasks if task not in known]
    if missing:
        raise UsageError(f"--require-task {missing[0]}: no such task is run; known: {', '.join(sorted(known)[:20])}")


def plan_document(plan: Plan, forecast: Forecast | None, not_loaded: Iterable[NotLoaded]) -> dict[str, Any]:
    """Say what would be run for programs; ``estimate`` is null where no model would be asked."""
    benchmark = plan.loaded.benchmark
    estimate = None
    if forecast is not None:
        from skillgate.llm.dry import document  # few runs ask a model

        estimate = document(forecast)
    return {
        "kind": "plan",
        "benchmark": {"id": benchmark.id, "version": benchmark.version, "tasks": len(benchmark.tasks)},
        "skills": [
            {"id": skill.key, "version": skill.spec.version, "adapter": skill.spec.adapter_type.value}
            for skill in plan.skills
        ],
        "calls": len(plan.items),
        "notLoaded": [{"path": one.path, "reason": one.reason} for one in not_loaded],
        "notStarted": [{"id": key, "problem": problem} for key, problem in plan.not_started.items()],
        "estimate": estimate,
    }


def plan_lines(plan: Plan, asked: Asked) -> list[str]:
    """Say what would be run."""
    from skillgate.bench.planning import PROSE_TIMEOUT_MS
    from skillgate.model.executable import AdapterType

    benchmark = plan.loaded.benchmark
    scorers: dict[str, int] = {}
    for task in benchmark.tasks:
        name = plan.scorer_names[task.id]
        scorers[name] = scorers.get(name, 0) + 1
    lines = [f"benchmark {benchmark.id} {benchmark.version} ({plan.loaded.origin}): {len(benchmark.tasks)} tasks"]
    lines.append("scorers: " + ", ".join(f"{name} {count}" for name, count in sorted(scorers.items())))
    if benchmark.server is not None:
        lines.append(f"server: {benchmark.server}, on loopback while it runs")
    lines += [
        f"skill {skill.key} {skill.spec.version}: {benchmark.adapter or skill.spec.adapter_type.value}, {skill.shown}"
        for skill in plan.skills
    ]
    lines += [f"skill {key} would be skipped: {problem}" for key, problem in plan.not_started.items()]
    own = sum(task.timeout_ms is not None for task in benchmark.tasks)
    bounded = f" ({own} of the tasks have limits of their own)" if own else ""
    lines.append(
        f"{len(plan.items)} calls: {len(plan.skills)} skills × {len(benchmark.tasks)} tasks × {asked.runs} runs,"
        f" {asked.concurrency} at once, {asked.timeout_ms} ms each{bounded},"
        f" {asked.retries} retries"
    )
    if asked.shard is not None:
        lines.append(
            f"shard {asked.shard[0]} of {asked.shard[1]}: the calls are its own, of all skills and tasks above"
        )
    prose = any(skill.spec.adapter_type is AdapterType.SKILLMD for skill in plan.skills)
    if prose and asked.config.origin(settings.TIMEOUT_MS) == "default":
        lines.append(f"prose skills: {PROSE_TIMEOUT_MS} ms each where their settings name no time")
    lines.append("nothing was run, nothing was written")
    return [printable(line) for line in lines]
