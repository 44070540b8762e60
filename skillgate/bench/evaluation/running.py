"""Run a plan, and compute its report and exit code."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skillgate.bench.evaluation.publishing import publish, watching
from skillgate.bench.evaluation.reporting import report_of
from skillgate.bench.planning import limits_of
from skillgate.bench.runner import Job, run
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.model.score import Outcome

if TYPE_CHECKING:
    from skillgate.bench.evaluation.plan import Plan
    from skillgate.bench.request import EvalRequest
    from skillgate.model.bench import BenchReport
    from skillgate.model.bench_result import TaskResult
    from skillgate.session import Session
    from skillgate.store.results import Keeping


def evaluated(plan: Plan, request: EvalRequest, session: Session, store: Keeping | None = None) -> BenchReport:
    """Run a plan and compute its report.

    Raises:
        KeyboardInterrupt: it was interrupted; what was there by then has been written, marked as incomplete.
        SystemExit: likewise.
    """
    began, clock = datetime.now(UTC), time.perf_counter()
    found: list[TaskResult] = []
    try:
        results = results_of(plan, request, session, found)
    except (KeyboardInterrupt, SystemExit):
        partial = report_of(
            plan, request, session, found, began, time.perf_counter() - clock, "the run was interrupted"
        )
        try:
            publish(partial, request.output.formats, request.output.directory, session)
        except UsageError as error:
            session.note(str(error))
        problem = None if store is None else store.keep(partial)
        if problem is not None:
            session.note(problem)
        raise
    finally:
        plan.closing.close()
    if plan.models is not None and plan.models.unanswered:
        session.note(f"not everything was answered: {plan.models.unanswered}")
    return report_of(plan, request, session, results, began, time.perf_counter() - clock, None)


def results_of(plan: Plan, request: EvalRequest, session: Session, found: list[TaskResult]) -> tuple[TaskResult, ...]:
    """Run the items of a plan; ``found`` takes each result as it comes. The plan is left open."""
    limits = {skill.key: limits_of(skill, request) for skill in plan.skills}
    job = Job(
        items=plan.items,
        adapters=plan.adapters,
        scorers=plan.scorers,
        scorer_names=plan.scorer_names,
        added=plan.added,
        timeout_s={key: limit.timeout_s for key, limit in limits.items()},
        retries={key: limit.retries for key, limit in limits.items()},
        most_at_once={key: limit.most_at_once for key, limit in limits.items()},
        concurrency=request.execution.concurrency,
        retry_delay_s=request.execution.retry_delay_s,
        stop=plan.stop,
    )
    show = watching(request.output.progress, session, len(plan.items))

    def done(result: TaskResult) -> None:
        found.append(result)
        show(result)

    try:
        return run(job, done)
    finally:
        show(None)


def exit_code(report: BenchReport, *, allow_skipped: bool) -> int:
    """Return the exit code: a failed gate comes before what could not be measured, a gate's own figure included."""
    if report.gate.passed is False:
        gates = (report.gate, *(one.gate for one in report.reports))
        verdicts = {outcome.verdict for gate in gates for outcome in gate.outcomes}
        decided = verdicts & {Outcome.FAIL, Outcome.INCONCLUSIVE}
        return EXIT_GATE_FAILED if decided else EXIT_INCOMPLETE  # for want of a figure: nothing that a skill did
    skipped = sum(one.summary.counts.skipped for one in report.reports)
    measured = sum(one.summary.counts.total for one in report.reports)
    empty = not measured and (skipped or report.run.shard is None)  # a shard may have been dealt nothing
    incomplete = (skipped and not allow_skipped) or empty or report.not_loaded
    return EXIT_INCOMPLETE if incomplete else EXIT_PASSED
