"""Find skills, evaluate them, and select the best: what ``run`` does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.choosing import GATE, Entrant, choose, misfits, of_skill
from skillgate.bench.evaluate import delivered, evaluated, prepared, preview_of
from skillgate.bench.finding import list_skills, matching
from skillgate.bench.plan import planned
from skillgate.bench.request import DEFAULT_COMPLETION
from skillgate.bench.results.reports import exit_code
from skillgate.bench.selecting import strategy_of
from skillgate.bench.skills import load_found
from skillgate.errors import UsageError
from skillgate.model.benchmark import AdapterType, Filters, Pick, Selection
from skillgate.model.report import GateOutcome, Verdict
from skillgate.model.score import Outcome

if TYPE_CHECKING:
    from skillgate.bench.choosing import Wanted
    from skillgate.bench.evaluate import Preview
    from skillgate.bench.plan import Plan
    from skillgate.bench.request import EvalRequest
    from skillgate.bench.selecting import StrategyRequest
    from skillgate.bench.skills import Skills
    from skillgate.console import Console
    from skillgate.model.bench import BenchReport, CompletionReport
    from skillgate.model.benchmark import Choice, NotLoaded, Strategy

TOP_K = 5


class RunRequest(NamedTuple):
    """Which skills are searched for, how they are evaluated, and which of them are selected."""

    directory: str
    wanted: Wanted
    evaluation: EvalRequest  # it names no skills
    strategy: StrategyRequest


class Selected(NamedTuple):
    """The result of a run."""

    report: BenchReport  # of all skills that were evaluated, marked as selected or not
    choices: tuple[Choice, ...]  # of each skill
    entrants: tuple[Entrant, ...]  # the skills that choices are about
    exit_code: int
    problem: str | None  # where the report could not be written, in words


class _Searched(NamedTuple):
    """What a search found: skills to evaluate, those that no evaluation could save, what could not be read."""

    skills: Skills
    misfits: tuple[Pick, ...]
    broken: tuple[NotLoaded, ...]


def run(request: RunRequest, session: Console) -> Selected:
    """Find skills, evaluate them, select the best, and write the report.

    Raises:
        UsageError: something is not valid, or nothing was found; nothing was run.
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


def preview(request: RunRequest, session: Console) -> tuple[Preview, tuple[str, ...]]:
    """Return what would be run, and which skills would not be evaluated and why.

    Raises:
        UsageError: something is not valid, or nothing was found.
    """
    evaluation, strategy = _with_bounds(request.evaluation, strategy_of(request.strategy, cwd=session.cwd))
    found, plan = _planned(request, evaluation, strategy, session)
    with plan.closing:
        notes = tuple(f"{one.skill_id} would not be evaluated: {'; '.join(one.reasons)}" for one in found.misfits)
        return preview_of(plan, evaluation, found.broken), notes


def _planned(
    request: RunRequest, evaluation: EvalRequest, strategy: Strategy, session: Console
) -> tuple[_Searched, Plan]:
    """Search, and plan the run of what was found; raise UsageError if nothing can be run."""
    found = _searched(request, strategy, session)
    left_out: list[NotLoaded] = []
    plan = planned(evaluation, session, skills=found.skills, left_out=left_out)
    if not plan.skills:
        plan.closing.close()
        raise UsageError("\n".join(["no skill that was found can be run", *(one.reason for one in left_out)]))
    return found._replace(broken=(*found.broken, *left_out)), plan


def _searched(request: RunRequest, strategy: Strategy, session: Console) -> _Searched:
    """Find the skills that are to be evaluated; raise UsageError if there is none."""
    directory, wanted = request.directory, request.wanted
    prose = request.evaluation.prose or wanted.adapter == AdapterType.SKILLMD.value
    listing = list_skills(directory, "--skills-dir", cwd=session.cwd, prose=prose)
    if listing.left_out:
        session.note(f"{listing.left_out} prose skills (SKILL.md) were left out; --prose takes them in")
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
        raise UsageError("\n".join([f"no skill to evaluate was found in {directory}: nothing was run", *problems[:20]]))
    return _Searched(skills, tuple(picks), broken)


def _with_bounds(request: EvalRequest, strategy: Strategy) -> tuple[EvalRequest, Strategy]:
    """Merge the gates and the strategy's filters: options, then the file, then the settings, then 0.7."""
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
    """Mark each skill in a report whose gates are the filters; return it, the choices, and what they are about."""
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
    # The filters are decided already: some before the evaluation, the others with the gates.
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
