"""From the results of a benchmark run to its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.bench.results.gating import gate
from skillgate.bench.results.metrics import summarise
from skillgate.config import config_digest
from skillgate.model.bench import BenchReport, CompletionReport, RunSettings
from skillgate.model.benchmark import MAX_LATENCY_MS
from skillgate.model.executable import AdapterType
from skillgate.model.report import Tool, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from skillgate.bench.evaluation.plan import Plan
    from skillgate.bench.request import EvalRequest
    from skillgate.model.bench_result import TaskResult
    from skillgate.model.executable import Runnable
    from skillgate.session import Session


def report_of(
    plan: Plan,
    request: EvalRequest,
    session: Session,
    results: Sequence[TaskResult],
    began: datetime,
    seconds: float,
    incomplete: str | None,
) -> BenchReport:
    """Compute the report of what was run, in the time that it took; ``incomplete`` says why results are missing."""
    reports = [_of_skill(skill, plan, request, results, began, incomplete) for skill in plan.skills]
    reports.sort(key=lambda one: (-(one.summary.composite_score or 0.0), one.skill_id))
    verdicts = [one.gate.passed for one in reports if one.gate.passed is not None]
    measured = sum(one.summary.counts.total for one in reports)
    whole = len(plan.items)  # what an interrupted run did not come to was not measured either
    return BenchReport(
        reports=tuple(reports),
        tool=Tool(version=__version__),
        config_digest=config_digest(session.config),
        run=RunSettings(
            runs=request.execution.runs,
            concurrency=request.execution.concurrency,
            timeout_ms=request.execution.timeout_ms,
            retries=request.execution.retries,
            evaluator=request.execution.evaluator,
            sandbox=plan.sandbox,
            isolated=plan.isolated,
            answers_readable=plan.answers_readable,
            run_as_caller=request.permissions.as_caller,
            shard="/".join(map(str, request.shard)) if request.shard else None,
            all_tasks=tuple(task.id for task in plan.loaded.benchmark.tasks) if request.shard else (),
            tasks=request.tasks.ids,
            tags=request.tasks.tags,
        ),
        coverage=measured / whole if whole else None,
        gate=Verdict(passed=all(verdicts) if verdicts else None),
        duration_s=round(seconds, 3),
        models=plan.model_names,
        notices=() if plan.models is None else plan.models.notices(),
        not_loaded=plan.not_loaded,
    )


def _of_skill(
    skill: Runnable,
    plan: Plan,
    request: EvalRequest,
    results: Sequence[TaskResult],
    began: datetime,
    incomplete: str | None,
) -> CompletionReport:
    own = tuple(result for result in results if result.skill_id == skill.key)
    benchmark = plan.loaded.benchmark
    figures = summarise(own, benchmark, runs=request.execution.runs)
    verdict = gate(figures, own, request.policy)
    if incomplete is not None and verdict.passed:
        verdict = Verdict(passed=False, outcomes=verdict.outcomes)
    return CompletionReport(
        skill_id=skill.key,
        skill_version=skill.spec.version,
        skill_digest=skill.digest,
        skill_path=skill.shown,
        adapter=benchmark.adapter or skill.spec.adapter_type.value,
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
        model=plan.models.model if plan.models and skill.spec.adapter_type is AdapterType.SKILLMD else None,
    )
