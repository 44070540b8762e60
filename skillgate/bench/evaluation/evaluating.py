"""Evaluate skills as a request asks: check everything, run the plan, write its report; or say what would be run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.bench.evaluation.plan import planned, require_leave
from skillgate.bench.evaluation.publishing import publish, require_output
from skillgate.bench.evaluation.running import evaluated, exit_code
from skillgate.bench.evaluation.writing_back import require_writable, write_back
from skillgate.bench.planning import PROSE_TIMEOUT_MS
from skillgate.errors import EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.model.executable import AdapterType
from skillgate.model.text import printable
from skillgate.store.results import keeping, require_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.bench.evaluation.plan import Plan
    from skillgate.bench.request import EvalRequest
    from skillgate.llm.dry import Forecast
    from skillgate.model.bench import BenchReport, NotLoaded
    from skillgate.session import Session
    from skillgate.store.results import Keeping


class Evaluated(NamedTuple):
    """The result of a run: its report, its exit code, and where the report could not be written, in words."""

    report: BenchReport
    exit_code: int
    problem: str | None


class Preview(NamedTuple):
    """What a run would do: in lines for people, as a document for programs, and its exit code as far as it is known."""

    lines: tuple[str, ...]
    document: dict[str, Any]
    not_loaded: tuple[NotLoaded, ...]
    exit_code: int


def evaluate(request: EvalRequest, session: Session) -> Evaluated:
    """Run skills on a benchmark and write the report.

    Raises:
        UsageError: something is not valid; nothing was run.
    """
    plan = planned(request, session)
    try:
        store = prepared(plan, request, session)
    except UsageError:
        plan.closing.close()
        raise
    if request.exit_on_fail and request.execution.runs == 1:
        session.note("one run cannot tell a flaky skill from a good one: --runs 3 shows its consistency")
    report = evaluated(plan, request, session, store)
    problem = delivered(report, plan, request, store, session)
    return Evaluated(report, exit_code(report, allow_skipped=request.allow_skipped), problem)


def preview(request: EvalRequest, session: Session) -> Preview:
    """Say what a run would do, and refuse what it would refuse; nothing is run and nothing written.

    Raises:
        UsageError: something is not valid.
    """
    plan = planned(request, session)
    with plan.closing:
        _require_required(plan, request)
        require_output(request.output.formats, request.output.directory, session, make=False)
        require_store(request.store, session)
        return preview_of(plan, request, plan.not_loaded)


def prepared(plan: Plan, request: EvalRequest, session: Session) -> Keeping:
    """Make sure, before anything is run, that its results can be written, and that its cost is agreed to.

    Raises:
        UsageError: they cannot, it is not, or a required task is not run.
    """
    _require_required(plan, request)
    require_output(request.output.formats, request.output.directory, session)
    require_leave(plan)
    if request.output.metadata:
        require_writable(plan.skills, request, session)
    return keeping(request.store, session)


def delivered(report: BenchReport, plan: Plan, request: EvalRequest, store: Keeping, session: Session) -> str | None:
    """Write a report wherever it is requested; return where that failed, in words, None where nowhere."""
    problems: list[str | None] = []
    try:
        publish(report, request.output.formats, request.output.directory, session)
    except UsageError as error:  # such as a full disk: what was measured is kept and printed, and is no usage error
        problems.append(str(error))
    problems.append(store.keep(report))
    if request.output.metadata:
        problems.append(write_back(plan.skills, report, session))
    return "\n".join(filter(None, problems)) or None


def preview_of(plan: Plan, request: EvalRequest, not_loaded: tuple[NotLoaded, ...]) -> Preview:
    """Say what running a plan would do; ``not_loaded`` are the skills that cannot be read."""
    models = plan.models
    forecast = models.forecast(plan.items, plan.adapters, plan.scorers, {}) if models is not None else None
    lines = _lines(plan, request)
    if models is not None and forecast is not None:
        lines[-1:-1] = models.lines(forecast)
    code = EXIT_INCOMPLETE if not_loaded else _exit_code(plan, request)
    return Preview(tuple(lines), _document(plan, forecast, not_loaded), not_loaded, code)


def _require_required(plan: Plan, request: EvalRequest) -> None:
    """Raise UsageError if a task of --require-task is not run."""
    known = {task.id for task in plan.loaded.benchmark.tasks}
    missing = [task for task in request.policy.require_tasks if task not in known]
    if missing:
        raise UsageError(f"--require-task {missing[0]}: no such task is run; known: {', '.join(sorted(known)[:20])}")


def _exit_code(plan: Plan, request: EvalRequest) -> int:
    """Return the exit code of a run as far as it is known before: what cannot be started is not measured."""
    empty = len(plan.not_started) == len(plan.skills)
    return EXIT_INCOMPLETE if plan.not_started and (empty or not request.allow_skipped) else EXIT_PASSED


def _document(plan: Plan, forecast: Forecast | None, not_loaded: Sequence[NotLoaded]) -> dict[str, Any]:
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


def _lines(plan: Plan, request: EvalRequest) -> list[str]:
    """Say what would be run for people."""
    benchmark, execution = plan.loaded.benchmark, request.execution
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
        f"{len(plan.items)} calls: {len(plan.skills)} skills × {len(benchmark.tasks)} tasks × {execution.runs} runs,"
        f" {execution.concurrency} at once, {execution.timeout_ms} ms each{bounded},"
        f" {execution.retries} retries"
    )
    if request.shard is not None:
        part, of = request.shard
        lines.append(f"shard {part} of {of}: the calls are its own, of all skills and tasks above")
    prose = any(skill.spec.adapter_type is AdapterType.SKILLMD for skill in plan.skills)
    if prose and request.config.origin(settings.TIMEOUT_MS) == "default":
        lines.append(f"prose skills: {PROSE_TIMEOUT_MS} ms each where their settings name no time")
    lines.append("nothing was run, nothing was written")
    return [printable(line) for line in lines]
