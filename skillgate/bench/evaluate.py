"""Evaluate skills on a benchmark, run one task, or find skills and select the best; or preview any of these.

The use cases behind ``eval``, ``task`` and ``run``: check everything, run the plan, report.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.bench.documents import check_benchmark, digest_of
from skillgate.bench.finding import GATE, Entrant, choose, list_skills, matching, misfits, of_skill
from skillgate.bench.plan import PROSE_TIMEOUT_MS, limits_of, planned, require_approval
from skillgate.bench.ports import Scored
from skillgate.bench.publishing import (
    publish,
    report_of,
    require_output,
    require_writable,
    started,
    watching,
    write_back,
)
from skillgate.bench.reports import exit_code
from skillgate.bench.request import DEFAULT_COMPLETION
from skillgate.bench.runner import Job, run
from skillgate.bench.selecting import strategy_of
from skillgate.bench.skills import load_found
from skillgate.errors import EXIT_INCOMPLETE, EXIT_PASSED, CodecError, UsageError
from skillgate.format import printable
from skillgate.model.bench import Status
from skillgate.model.benchmark import AdapterType, Benchmark, Filters, Loaded, Pick, Selection
from skillgate.model.codec import decode
from skillgate.model.report import GateOutcome, Verdict
from skillgate.model.score import Outcome
from skillgate.store.results import keeping, require_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.bench.finding import Wanted
    from skillgate.bench.plan import Plan
    from skillgate.bench.publishing import Progress
    from skillgate.bench.request import EvalRequest
    from skillgate.bench.selecting import StrategyRequest
    from skillgate.bench.skills import Skills
    from skillgate.console import Console
    from skillgate.llm.estimates import Forecast
    from skillgate.model.bench import BenchReport, CompletionReport, TaskResult
    from skillgate.model.benchmark import Choice, NotLoaded, Runnable, Strategy
    from skillgate.store.results import Keeping

_TASK = "task"
TOP_K = 5


class Evaluated(NamedTuple):
    """The result of a run. ``problem`` says why the report could not be written, if it could not."""

    report: BenchReport
    exit_code: int
    problem: str | None


class Preview(NamedTuple):
    """What a run would do, as text lines and as a document, and the expected exit code."""

    lines: tuple[str, ...]
    document: dict[str, Any]
    not_loaded: tuple[NotLoaded, ...]
    exit_code: int


def evaluate(request: EvalRequest, session: Console) -> Evaluated:
    """Run skills on a benchmark and write the report.

    Raises:
        UsageError: An input is not valid; nothing was run.
    """
    plan = planned(request, session)
    try:
        store = prepared(plan, request, session)
        progress = started(plan, request, session, resume=request.resume)
    except UsageError:
        plan.closing.close()
        raise
    if request.execution.runs == 1 and (request.exit_on_fail or not request.policy.is_empty):
        session.note("a gate on a single run cannot detect flaky skills; use --runs 3")
    report = evaluated(plan, request, session, store, progress)
    problem = delivered(report, plan, request, store, session)
    progress.close(complete=problem is None)
    return Evaluated(report, exit_code(report, allow_skipped=request.allow_skipped), problem)


def preview(request: EvalRequest, session: Console) -> Preview:
    """Return what a run would do, with the same checks; nothing is run or written.

    Raises:
        UsageError: An input is not valid.
    """
    plan = planned(request, session)
    with plan.closing:
        _check_required_tasks(plan, request)
        require_output(request.output.formats, request.output.directory, session, make=False)
        require_store(request.store, session)
        return preview_of(plan, request, plan.not_loaded)


def prepared(plan: Plan, request: EvalRequest, session: Console) -> Keeping:
    """Check before the run that its results can be written and its cost is approved.

    Raises:
        UsageError: They cannot be written, the cost is not approved, or a required task is missing.
    """
    _check_required_tasks(plan, request)
    require_output(request.output.formats, request.output.directory, session)
    require_approval(plan)
    if request.output.metadata:
        require_writable(plan.skills, request, session)
    return keeping(request.store, session)


def _check_required_tasks(plan: Plan, request: EvalRequest) -> None:
    """Raise UsageError if a task of --require-task does not exist."""
    known = {task.id for task in plan.loaded.benchmark.tasks}
    missing = [task for task in request.policy.require_tasks if task not in known]
    if missing:
        raise UsageError(f"--require-task {missing[0]}: there is no such task; known: {', '.join(sorted(known)[:20])}")


def evaluated(
    plan: Plan,
    request: EvalRequest,
    session: Console,
    store: Keeping | None = None,
    progress: Progress | None = None,
) -> BenchReport:
    """Run a plan and compute its report; ``progress`` stores each result, and may have some already.

    Raises:
        KeyboardInterrupt, SystemExit: The run was interrupted; its results so far are written, marked incomplete.
    """
    began, clock = datetime.now(UTC), time.perf_counter()
    found: list[TaskResult] = [] if progress is None else list(progress.finished)
    resumed = len(found)
    try:
        results = results_of(plan, request, session, found, progress)
    except (KeyboardInterrupt, SystemExit):
        seconds = time.perf_counter() - clock
        partial = report_of(plan, request, session, found, began, seconds, "the run was interrupted")
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
        session.note(f"some model requests failed: {plan.models.unanswered}")
    report = report_of(plan, request, session, results, began, time.perf_counter() - clock, None)
    if not resumed:
        return report
    notice = f"{resumed} of {len(results)} results are of an earlier start of this run, which was interrupted"
    return replace(report, notices=(*report.notices, notice))


def results_of(
    plan: Plan, request: EvalRequest, session: Console, found: list[TaskResult], progress: Progress | None = None
) -> tuple[TaskResult, ...]:
    """Run the items of a plan that have no result in ``found``; each result is appended to it as it arrives.

    The plan stays open.
    """
    finished = {(one.skill_id, one.task_id, one.run) for one in found}
    items = [item for item in plan.items if (item.skill.key, item.task.id, item.run) not in finished]
    limits = {skill.key: limits_of(skill, request) for skill in plan.skills}
    job = Job(
        items=items,
        adapters=plan.adapters,
        scorers=plan.scorers,
        scorer_names=plan.scorer_names,
        checks=plan.checks,
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
        if progress is not None:
            progress.add(result)
        show(result)

    for result in found:
        show(result)
    try:
        run(job, done)
    finally:
        show(None)
    by_item = {(one.skill_id, one.task_id, one.run): one for one in found}
    return tuple(by_item[item.skill.key, item.task.id, item.run] for item in plan.items)


def delivered(report: BenchReport, plan: Plan, request: EvalRequest, store: Keeping, session: Console) -> str | None:
    """Write a report to all requested places; return the problems, or None."""
    problems: list[str | None] = []
    try:
        publish(report, request.output.formats, request.output.directory, session)
    except UsageError as error:  # such as a full disk: results are still printed, and it is no usage error
        problems.append(str(error))
    problems.append(store.keep(report))
    if request.output.metadata:
        problems.append(write_back(plan.skills, report, session))
    return "\n".join(filter(None, problems)) or None


def preview_of(plan: Plan, request: EvalRequest, not_loaded: tuple[NotLoaded, ...]) -> Preview:
    """Return what running a plan would do; ``not_loaded`` lists the unreadable skills."""
    models = plan.models
    forecast = models.forecast(plan.items, plan.adapters, plan.scorers, {}) if models is not None else None
    lines = _lines(plan, request)
    if models is not None and forecast is not None:
        lines[-1:-1] = models.lines(forecast)
    # A skill that cannot be started is not measured.
    none_started = len(plan.not_started) == len(plan.skills)
    incomplete = not_loaded or (plan.not_started and (none_started or not request.allow_skipped))
    code = EXIT_INCOMPLETE if incomplete else EXIT_PASSED
    return Preview(tuple(lines), _document(plan, forecast, not_loaded), not_loaded, code)


def _document(plan: Plan, forecast: Forecast | None, not_loaded: Sequence[NotLoaded]) -> dict[str, Any]:
    """Return the plan as a document; ``estimate`` is null if no model would be asked."""
    benchmark = plan.loaded.benchmark
    estimate = None
    if forecast is not None:
        from skillgate.llm.estimates import document  # few runs ask a model

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
    """Return the plan as text."""
    benchmark, execution = plan.loaded.benchmark, request.execution
    scorers = Counter(plan.scorer_names[task.id] for task in benchmark.tasks)
    lines = [f"benchmark {benchmark.id} {benchmark.version} ({plan.loaded.origin}): {len(benchmark.tasks)} tasks"]
    lines.append("scorers: " + ", ".join(f"{name} {count}" for name, count in sorted(scorers.items())))
    if benchmark.server is not None:
        lines.append(f"server: {benchmark.server}, on loopback during the run")
    lines += [
        f"skill {skill.key} {skill.spec.version}: {benchmark.adapter or skill.spec.adapter_type.value}, {skill.shown}"
        for skill in plan.skills
    ]
    lines += [f"skill {key} would be skipped: {problem}" for key, problem in plan.not_started.items()]
    own = sum(task.timeout_ms is not None for task in benchmark.tasks)
    bounded = f" ({own} of the tasks have their own limits)" if own else ""
    lines.append(
        f"{len(plan.items)} calls: {len(plan.skills)} skills × {len(benchmark.tasks)} tasks × {execution.runs} runs,"
        f" {execution.concurrency} at once, {execution.timeout_ms} ms each{bounded},"
        f" {execution.retries} retries"
    )
    if request.shard is not None:
        part, of = request.shard
        lines.append(f"shard {part} of {of}: only its calls are run, of all skills and tasks above")
    prose = any(skill.spec.adapter_type is AdapterType.SKILLMD for skill in plan.skills)
    if prose and request.config.origin(settings.TIMEOUT_MS) == "default":
        lines.append(f"prose skills: {PROSE_TIMEOUT_MS} ms each, unless their settings set a time")
    lines.append("nothing was run, nothing was written")
    return [printable(line) for line in lines]


class Expectation(NamedTuple):
    """The expected answer of a single task."""

    option: str  # name of the command-line option, without dashes
    output: Mapping[str, Any]  # as expectedOutput in a benchmark
    directory: str  # base of relative paths in it


class TaskRequest(NamedTuple):
    """A single task to run."""

    input: Mapping[str, Any]
    expected: Expectation | None  # None: any answer passes
    evaluation: EvalRequest  # how to run it; with one skill


class Answered(NamedTuple):
    """The result of one task."""

    result: TaskResult
    skill: Runnable
    models: tuple[str, ...]  # models used
    is_scored: bool  # whether there was an expectation

    @property
    def status(self) -> str:
        """``answered`` for an answer without an expectation, else the result's status."""
        is_answer = not self.is_scored and self.result.status is Status.PASS
        return "answered" if is_answer else self.result.status.value


def run_task(request: TaskRequest, session: Console) -> Answered:
    """Run one task on one skill.

    Raises:
        UsageError: An input is not valid; nothing was run.
    """
    evaluation, is_scored = request.evaluation, request.expected is not None
    plan = planned(evaluation, session, _one_task(request, session))
    try:
        _require_one(plan, evaluation.skills[0])
        require_approval(plan)
    except UsageError:
        plan.closing.close()
        raise
    if not is_scored:
        plan = plan._replace(scorers={_TASK: _AnyAnswer()}, scorer_names={_TASK: ""})
    report = evaluated(plan, evaluation, session)
    (result,) = report.reports[0].task_results
    return Answered(result, plan.skills[0], plan.model_names, is_scored)


def _require_one(plan: Plan, word: str) -> None:
    if len(plan.skills) != 1:
        names = ", ".join(skill.shown for skill in plan.skills[:5])
        raise UsageError(f"--skill {word} matches {len(plan.skills)} skills ({names}); choose one")


class _AnyAnswer:
    """Pass every answer."""

    def score(self, output: Any) -> Scored:  # noqa: ANN401, ARG002 - as every scorer
        return Scored(1.0, passed=True, reason="")


def _one_task(request: TaskRequest, session: Console) -> Loaded:
    """Return a benchmark with the one task; raise UsageError if the input or expectation is not valid."""
    expected = request.expected or Expectation("", {"type": "exact", "value": None}, session.cwd)
    task = {"id": _TASK, "inputData": request.input, "expectedOutput": expected.output}
    data = {"id": _TASK, "name": "One task", "version": "0.0.0", "tasks": [task]}
    try:
        benchmark = decode(Benchmark, data)
    except CodecError as error:
        raise UsageError(str(error)) from None
    problems = list(check_benchmark(benchmark))
    if problems:
        place = f"--{expected.option}: " if expected.option else ""
        raise UsageError("\n".join(place + problem for problem in problems))
    return Loaded(benchmark=benchmark, origin="the command line", folder=expected.directory, digest=digest_of(data))


class RunRequest(NamedTuple):
    """Which skills to search for, how to evaluate them, and which to select."""

    directory: str
    wanted: Wanted
    evaluation: EvalRequest  # without skills
    strategy: StrategyRequest


class Selected(NamedTuple):
    """The result of a run."""

    report: BenchReport  # all evaluated skills, marked as selected or not
    choices: tuple[Choice, ...]  # one per skill
    entrants: tuple[Entrant, ...]  # the skills of the choices
    exit_code: int
    problem: str | None  # why the report could not be written


class _Searched(NamedTuple):
    """The skills to evaluate, those that fail a filter already, and unreadable ones."""

    skills: Skills
    misfits: tuple[Pick, ...]
    broken: tuple[NotLoaded, ...]


def find_and_select(request: RunRequest, session: Console) -> Selected:
    """Find skills, evaluate them, select the best, and write the report.

    Raises:
        UsageError: An input is not valid, or nothing was found; nothing was run.
    """
    evaluation, strategy = _with_bounds(request.evaluation, strategy_of(request.strategy, cwd=session.cwd))
    found, plan = _planned(request, evaluation, strategy, session)
    with plan.closing:
        store = prepared(plan, evaluation, session)
        report = evaluated(plan, evaluation, session, store)
        report, choices, entrants = _selected(report, found, strategy, evaluation)
        problem = delivered(report, plan, evaluation, store, session)
    code = exit_code(report, allow_skipped=evaluation.allow_skipped)
    return Selected(report, choices, entrants, code, problem)


def preview_search(request: RunRequest, session: Console) -> tuple[Preview, tuple[str, ...]]:
    """Return what would be run, and which skills would not be evaluated and why.

    Raises:
        UsageError: An input is not valid, or nothing was found.
    """
    evaluation, strategy = _with_bounds(request.evaluation, strategy_of(request.strategy, cwd=session.cwd))
    found, plan = _planned(request, evaluation, strategy, session)
    with plan.closing:
        notes = tuple(f"{one.skill_id} would not be evaluated: {'; '.join(one.reasons)}" for one in found.misfits)
        return preview_of(plan, evaluation, found.broken), notes


def _planned(
    request: RunRequest, evaluation: EvalRequest, strategy: Strategy, session: Console
) -> tuple[_Searched, Plan]:
    """Search, and plan the run of the found skills; raise UsageError if none can be run."""
    found = _searched(request, strategy, session)
    left_out: list[NotLoaded] = []
    plan = planned(evaluation, session, skills=found.skills, left_out=left_out)
    if not plan.skills:
        plan.closing.close()
        raise UsageError("\n".join(["none of the found skills can be run", *(one.reason for one in left_out)]))
    return found._replace(broken=(*found.broken, *left_out)), plan


def _searched(request: RunRequest, strategy: Strategy, session: Console) -> _Searched:
    """Find the skills to evaluate; raise UsageError if there is none."""
    directory, wanted = request.directory, request.wanted
    prose = request.evaluation.prose or wanted.adapter == AdapterType.SKILLMD.value
    listing = list_skills(directory, "--skills-dir", cwd=session.cwd, prose=prose)
    if listing.left_out:
        session.note(f"{listing.left_out} prose skills (SKILL.md) left out; use --prose to include them")
    picks: list[Pick] = []
    files: dict[str, str] = {}
    for one in matching(listing.found, wanted):
        entrant = Entrant(one.skill.id, one.skill.adapter_type.value, one.skill.tags, None)
        reasons = misfits(entrant, strategy.filters)
        if reasons:
            picks.append(Pick(skill_id=one.skill.id, selected=False, rank=None, reasons=reasons))
        else:
            files[one.file] = one.shown
    skills, broken = load_found(files)
    broken = (*listing.broken, *broken)
    if not skills.found:
        problems = [f"{one.path}: {one.reason}" for one in broken]
        problems += [f"{one.skill_id}: {'; '.join(one.reasons)}" for one in picks]
        raise UsageError("\n".join([f"found no skill to evaluate in {directory}; nothing was run", *problems[:20]]))
    return _Searched(skills, tuple(picks), broken)


def _with_bounds(request: EvalRequest, strategy: Strategy) -> tuple[EvalRequest, Strategy]:
    """Merge gates and filters; precedence: options, strategy file, settings, then 0.7 for the completion rate."""
    policy, filters = request.policy, strategy.filters
    least = policy.min_completion if filters.min_completion_rate is None else filters.min_completion_rate
    policy = policy._replace(
        min_completion=DEFAULT_COMPLETION if least is None else least,
        max_error_rate=policy.max_error_rate if filters.max_error_rate is None else filters.max_error_rate,
        max_p95_ms=policy.max_p95_ms if filters.max_latency_p95_ms is None else filters.max_latency_p95_ms,
    )
    filters = replace(
        filters,
        min_completion_rate=policy.min_completion,
        max_error_rate=policy.max_error_rate,
        max_latency_p95_ms=policy.max_p95_ms,
    )
    top_k = TOP_K if strategy.top_k is None else strategy.top_k
    return request._replace(policy=policy), replace(strategy, filters=filters, top_k=top_k)


def _selected(
    report: BenchReport, found: _Searched, strategy: Strategy, request: EvalRequest
) -> tuple[BenchReport, tuple[Choice, ...], tuple[Entrant, ...]]:
    """Mark each skill in the report as selected or not; return the report, the choices and their skills."""
    entrants = tuple(
        Entrant(
            id=one.skill_id,
            adapter=one.adapter,
            tags=(),
            figures=of_skill(one, report.run).figures,
            refused=_refused(one, allow_skipped=request.allow_skipped),
        )
        for one in report.reports
    )
    # The filters were applied before the evaluation or with the gates.
    choices = choose(entrants, replace(strategy, filters=Filters()))
    by_entrant = {choice.entrant: choice for choice in choices}
    reports = tuple(_marked(one, by_entrant[number]) for number, one in enumerate(report.reports))
    count = sum(choice.selected for choice in choices)
    failed = request.exit_on_fail and any(one.gate.passed is False for one in report.reports)
    measured = any(one.summary.counts.total for one in report.reports)
    passed = (bool(count) and not failed) if measured else None
    verdict = {True: Outcome.PASS, False: Outcome.FAIL, None: Outcome.UNMEASURED}[passed]
    text = f"{count} of {len(entrants) + len(found.misfits)} skills selected"
    picks = tuple(
        Pick(skill_id=entrants[one.entrant].id, selected=one.selected, rank=one.rank, reasons=one.reasons)
        for one in choices
    )
    notices = tuple(f"{one.skill_id} was not evaluated: {'; '.join(one.reasons)}" for one in found.misfits)
    marked = replace(
        report,
        reports=reports,
        gate=Verdict(passed=passed, outcomes=(GateOutcome(GATE, verdict, text),)),
        selection=Selection(strategy=strategy, skills=(*picks, *found.misfits)),
        notices=(*report.notices, *notices),
        not_loaded=(*report.not_loaded, *found.broken),
    )
    return marked, choices, entrants


def _refused(one: CompletionReport, *, allow_skipped: bool) -> tuple[str, ...]:
    counts = one.summary.counts
    reasons = [gate.reason for gate in one.gate.outcomes if gate.verdict is not Outcome.PASS]
    if counts.skipped and not allow_skipped:
        reasons.append(f"{counts.skipped} of {counts.skipped + counts.total} results were not measured")
    return tuple(reasons)


def _marked(one: CompletionReport, choice: Choice) -> CompletionReport:
    known = {gate.reason for gate in one.gate.outcomes}
    words = "; ".join(reason for reason in choice.reasons if reason not in known)
    text = "selected" if choice.selected else "not selected"
    verdict = Outcome.PASS if choice.selected else Outcome.FAIL
    outcome = GateOutcome(GATE, verdict, f"{text}: {words}" if words else text)
    return replace(one, gate=Verdict(passed=choice.selected, outcomes=(*one.gate.outcomes, outcome)))
