"""``run``: the skills that a search finds, and what of their report is selected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.evidence import of_skill
from skillgate.bench.finding import Wanted
from skillgate.bench.gating import DEFAULT_COMPLETION
from skillgate.bench.listing import list_skills
from skillgate.bench.loading import load_found
from skillgate.bench.selecting import GATE, Entrant, choose, misfits
from skillgate.cli.commands.find import matching
from skillgate.errors import UsageError
from skillgate.model.report import GateOutcome, Verdict
from skillgate.model.score import Outcome
from skillgate.model.strategy import Filters, Pick, Selection

if TYPE_CHECKING:
    import argparse

    from skillgate.bench.loading import Skills
    from skillgate.cli.bench_options import Asked
    from skillgate.model.bench import BenchReport, CompletionReport, NotLoaded
    from skillgate.model.strategy import Choice, Strategy
    from skillgate.session import Session

TOP_K = 5


class Searched(NamedTuple):
    """What a search found: skills to evaluate, those that no evaluation could save, what could not be read."""

    skills: Skills
    misfits: tuple[Pick, ...]
    broken: tuple[NotLoaded, ...]


def searched(args: argparse.Namespace, strategy: Strategy, session: Session) -> Searched:
    """Find the skills that are to be evaluated.

    Raises:
        UsageError: there is none.
    """
    folder = args.skills_dir
    listing = list_skills(folder, "--skills-dir", cwd=session.cwd, prose=args.prose or args.adapter == "skillmd")
    found = list(matching(listing.found, Wanted(args.query, args.tag, args.adapter)))
    if listing.left_out:
        session.note(f"{listing.left_out} prose skills (SKILL.md) were left out; --prose takes them in")
    picks: list[Pick] = []
    files: dict[str, str] = {}
    for one in found:
        entrant = Entrant(one.skill.id, one.skill.adapter_type.value, one.skill.tags, None)
        reasons = misfits(entrant, strategy.filters)
        if reasons:
            picks.append(Pick(skill_id=one.skill.id, selected=False, rank=None, reasons=reasons))
        else:
            files[one.file] = one.shown
    skills, broken = load_found(files)
    broken = (*listing.broken, *broken)
    if not skills.found:
        told = [f"{one.path}: {one.reason}" for one in broken]
        told += [f"{one.skill_id}: {'; '.join(one.reasons)}" for one in picks]
        raise UsageError("\n".join([f"no skill to evaluate was found in {folder}: nothing was run", *told[:20]]))
    return Searched(skills, tuple(picks), broken)


def with_bounds(asked: Asked, strategy: Strategy) -> tuple[Asked, Strategy]:
    """Make one of the gates and of the strategy's filters: options, then the file, then the settings, then 0.7."""
    policy, filters = asked.policy, strategy.filters
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
    return asked._replace(policy=policy), replace(strategy, filters=filters, top_k=top_k)


def selected(
    report: BenchReport, found: Searched, strategy: Strategy, *, allow_skipped: bool, strict: bool
) -> tuple[BenchReport, tuple[Choice, ...], tuple[Entrant, ...]]:
    """Select of a report whose gates are the strategy's filters, and mark each skill in it.

    Args:
        report: of all skills that were evaluated.
        found: what was searched.
        strategy: with its bounds.
        allow_skipped: whether a skill may be selected of which not everything was measured.
        strict: whether a skill that fails a gate fails the run, as ``--exit-on-fail`` asks.

    Returns:
        The report, what became of each skill, and the skills that this is about.
    """
    entrants = tuple(
        Entrant(
            id=one.skill_id,
            adapter=one.adapter,
            tags=(),
            figures=of_skill(one, report.run).figures,
            refused=_refused(one, allow_skipped=allow_skipped),
        )
        for one in report.reports
    )
    # The filters are answered already: some before the evaluation, the others with the gates.
    choices = choose(entrants, replace(strategy, filters=Filters()))
    by_entrant = {choice.entrant: choice for choice in choices}
    reports = tuple(_marked(one, by_entrant[number]) for number, one in enumerate(report.reports))
    count = sum(choice.selected for choice in choices)
    failed = strict and any(one.gate.passed is False for one in report.reports)
    measured = any(one.summary.counts.total for one in report.reports)
    passed = (bool(count) and not failed) if measured else None
    verdict = {True: Outcome.PASS, False: Outcome.FAIL, None: Outcome.UNMEASURED}[passed]
    said = f"{count} of {len(entrants) + len(found.misfits)} skills selected"
    picks = tuple(
        Pick(skill_id=entrants[one.entrant].id, selected=one.selected, rank=one.rank, reasons=one.reasons)
        for one in choices
    )
    told = tuple(f"{one.skill_id} was not evaluated: {'; '.join(one.reasons)}" for one in found.misfits)
    marked = replace(
        report,
        reports=reports,
        gate=Verdict(passed=passed, outcomes=(GateOutcome(gate=GATE, verdict=verdict, reason=said),)),
        selection=Selection(strategy=strategy, skills=(*picks, *found.misfits)),
        notices=(*report.notices, *told),
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
    said = "selected" if choice.selected else "not selected"
    verdict = Outcome.PASS if choice.selected else Outcome.FAIL
    outcome = GateOutcome(gate=GATE, verdict=verdict, reason=f"{said}: {words}" if words else said)
    return replace(one, gate=Verdict(passed=choice.selected, outcomes=(*one.gate.outcomes, outcome)))
