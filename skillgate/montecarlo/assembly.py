"""From sessions and grades to the layer of the report: rows, measures, usage, and what is missing and why."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING

from skillgate.judge.expense import answered_by, is_live, usage
from skillgate.judge.trouble import SWAYED
from skillgate.model.judging import Estimate
from skillgate.model.simulating import COMPLETED, FAILED, NOT_MEASURED, MonteCarloLayer, Simulation
from skillgate.model.skill import Problem, Span
from skillgate.montecarlo.gaps import gaps_of, unearned
from skillgate.montecarlo.subject import Simulated
from skillgate.montecarlo.wording import PROMPT_VERSION, RUBRIC_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.model.exchange import Answer
    from skillgate.montecarlo.gaps import Gap
    from skillgate.montecarlo.grading import Run
    from skillgate.montecarlo.measures import Measured
    from skillgate.montecarlo.prompts import Prompts
    from skillgate.montecarlo.subject import Plan, Subject

UNMEASURED = "not measured: see the reason of the layer"


def row(run: Run) -> Simulation:
    """Give a session as the report has it."""
    case, went, grade = run
    return Simulation(
        prompt=case.prompt,
        should_trigger=case.should_trigger,
        style=case.style,
        outcome=went.outcome,
        kind=went.kind,
        activated=went.activated,
        quality=grade.quality,
        tokens=went.tokens,
        delivers=grade.delivers,
        covers=grade.covers,
        turns=went.turns,
        loaded=went.loaded,
        ungraded=grade.ungraded,
    )


def simulated(
    subject: Subject,
    plan: Plan,
    found: Prompts,
    runs: Sequence[Run],
    left: Sequence[Simulation],
    *,
    stopped: str | None,
    duration_ms: int,
) -> Simulated:
    """Put together what came of a skill's sessions.

    Args:
        subject: the skill.
        plan: how they were run.
        found: their prompts.
        runs: those that were run, in the order of their prompts.
        left: rows of those that were not, since the run ended early, or there were too few prompts.
        stopped: why it ended early, None where it did not.
        duration_ms: how long it took.
    """
    from skillgate.montecarlo.measures import measured  # numpy: loaded while answers were awaited

    rows = (*map(row, runs), *left)
    fitting = sum(one.should_trigger for one in rows)
    says = measured(
        rows,
        simulations=fitting,
        near_misses=len(rows) - fitting,
        seed=plan.seed,
        stopped=stopped is not None,
    )
    gaps = tuple(gaps_of(subject, found, runs, rows))
    failure = "; ".join(gap.reason for gap in gaps) or None
    silenced = "; ".join(gap.reason for gap in gaps if gap.silenced) or None
    if silenced is not None:
        silenced += "; a text can bring that about, so the rest makes no score"
    layer = _measured(_counted(rows, _asked_for(subject, plan, rows), duration_ms), says)._replace(
        prompts_digest=found.digest,
        prompts_source=found.source,
        stopped_early=stopped,
        reason=failure,
        mc_reason=says.reason,
        short=found.short,
        siblings=len(subject.siblings),
        siblings_source=subject.siblings_source,
        silenced=silenced,
        obeyed=sum(run.grade.obeyed for run in runs),
    )
    asked = tuple(_asked(plan, found, runs))
    layer = _without(_run_by(layer, plan, asked), gaps)
    return Simulated(layer, failure, silenced, tuple(_problems(runs)), no_badge=unearned(says.loads, rows))


def _asked_for(subject: Subject, plan: Plan, rows: Sequence[Simulation]) -> tuple[int, int]:
    """Say how many sessions were asked for, and how many near misses: of a baseline's prompts what it asked for."""
    if subject.prompts_source != "baseline":
        return plan.simulations, plan.near_misses
    fitting = sum(one.should_trigger for one in rows)
    return subject.asked or (fitting, len(rows) - fitting)


def _counted(rows: tuple[Simulation, ...], asked_for: tuple[int, int], duration_ms: int) -> MonteCarloLayer:
    """Count sessions by their outcome."""
    outcomes = Counter(one.outcome for one in rows)
    return MonteCarloLayer(
        duration_ms=duration_ms,
        simulations=asked_for[0],
        near_misses=asked_for[1],
        completed=outcomes[COMPLETED],
        failed=outcomes[FAILED],
        not_measured=outcomes[NOT_MEASURED],
        mc_score=None,
        runs=rows,
        kinds=MappingProxyType(_kinds(rows)),
    )


def _measured(layer: MonteCarloLayer, says: Measured) -> MonteCarloLayer:
    return layer._replace(
        mc_score=says.mc_score,
        measures=MappingProxyType(dict(says.measures)),
        scores=MappingProxyType(dict(says.scores)),
        tokens=says.tokens,
        spread=MappingProxyType(dict(says.spread)),
        loads=says.loads,
    )


def _run_by(layer: MonteCarloLayer, plan: Plan, asked: Sequence[tuple[str, Answer]]) -> MonteCarloLayer:
    """Say who was asked, how, and what it took."""
    answers = [answer for _, answer in asked]
    return layer._replace(
        model=plan.model.model,
        grader=plan.grader.model,
        provider=plan.provider,
        live=is_live(answers, live=plan.live),
        runner=plan.runner,
        seed=plan.seed,
        max_turns=plan.max_turns,
        prompt_version=PROMPT_VERSION,
        rubric_version=RUBRIC_VERSION,
        usage=usage(answers),
        answered_by=answered_by(asked),
    )


def _asked(plan: Plan, found: Prompts, runs: Sequence[Run]) -> Iterator[tuple[str, Answer]]:
    """Give every answer with the model that it was asked of."""
    yield from ((plan.grader.model, answer) for answer in found.answers)
    for run in runs:
        yield from ((plan.model.model, answer) for answer in run.session.answers)
        yield from ((plan.grader.model, answer) for answer in run.grade.answers)


def _kinds(rows: Sequence[Simulation]) -> dict[str, int]:
    """Count failures and what was not measured by kind, the most frequent first."""
    return dict(Counter(one.kind for one in rows if one.kind is not None).most_common())


def _without(layer: MonteCarloLayer, gaps: Sequence[Gap]) -> MonteCarloLayer:
    """Take out what rests on what is missing, and with it every score; why stands in the layer, once."""
    if not gaps:
        return layer
    measures = dict(layer.measures)
    for gap in gaps:
        for name in gap.measures if gap.measures is not None else tuple(measures):
            if name in measures:
                measures[name] = Estimate(None, n=measures[name].n, reason=UNMEASURED)
    kept: Mapping[str, Estimate] = {name: one for name, one in measures.items() if one.value is not None}
    return layer._replace(
        mc_score=None,
        mc_reason=layer.mc_reason or UNMEASURED,
        measures=MappingProxyType(measures),
        scores=MappingProxyType({}),
        tokens=layer.tokens if "tokens" in kept else None,
        spread=MappingProxyType({name: one for name, one in layer.spread.items() if name in kept}),
    )


def _problems(runs: Sequence[Run]) -> Iterator[Problem]:
    obeyed = sum(run.grade.obeyed for run in runs)
    if obeyed:
        grades = "grade" if obeyed == 1 else "grades"
        message = (
            f"{obeyed} {grades} of simulated sessions got the control question wrong, and count nowhere: an answer may"
            " have asked for them, as the skill may have told it to"
        )
        yield Problem(SWAYED, Span(1), message)
