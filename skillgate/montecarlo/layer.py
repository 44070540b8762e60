"""Layer 3 for one skill: prompts, a session for each, a grade for each answer, and what they measure.

No session waits for another, and none for a grade. Where the run may end early, sessions go in waves, and what is left
is not run as soon as it cannot change the verdict of the gates that were asked for.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from skillgate.model.exchange import Together
from skillgate.model.simulating import COMPLETED, NOT_RUN, Simulation
from skillgate.montecarlo.assembly import row, simulated
from skillgate.montecarlo.curtailment import decided
from skillgate.montecarlo.gaps import lacking
from skillgate.montecarlo.grading import NOT_ASKED, Grade, Run, graded
from skillgate.montecarlo.session import named_file, session
from skillgate.montecarlo.tools import ORDERS
from skillgate.montecarlo.transcript import RUNNER, transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.model.exchange import Steps
    from skillgate.model.judging import TriggerPrompt
    from skillgate.montecarlo.subject import Plan, Simulated, Subject

WAVE = 8
"""Sessions between two looks at the gates: as many as are on their way at once as a rule, so that looking costs no
time. The verdict does not depend on it."""


def simulate(subject: Subject, plan: Plan, clock: Callable[[], int]) -> Steps[Simulated]:
    """Simulate one skill's sessions.

    Args:
        subject: the skill.
        plan: the models, and how many sessions.
        clock: monotonic nanoseconds.

    Returns:
        The layer for the report and what failed. Nothing that a provider does raises: what has no answer is None with
        the reason.
    """
    from skillgate.montecarlo.prompts import prompts, unlisted

    started = clock()
    found = (yield from prompts(subject, plan)) if subject.unlisted is None else unlisted(subject)
    cases = sorted(found.cases, key=lambda case: not case.should_trigger)
    runs: tuple[Run, ...] = ()
    stopped: str | None = None
    if lacking(found) is None:
        runs, stopped = yield from _run(subject, plan, cases)
    left = tuple(Simulation(case.prompt, case.should_trigger, case.style, NOT_RUN) for case in cases[len(runs) :])
    spent_ms = (clock() - started) // 1_000_000
    return simulated(subject, plan, found, runs, left, stopped=stopped, duration_ms=spent_ms)


def _run(subject: Subject, plan: Plan, cases: Sequence[TriggerPrompt]) -> Steps[tuple[tuple[Run, ...], str | None]]:
    """Run the sessions, all or as many as the gates need; the second value says why it were not all."""
    branches = _branches(subject, plan, cases)
    if plan.stop is None:
        everything: tuple[Run, ...] = yield Together(branches)
        return everything, None
    runs: tuple[Run, ...] = ()
    while len(runs) < len(cases):
        wave: tuple[Run, ...] = yield Together(branches[len(runs) : len(runs) + WAVE])
        runs += wave
        rest = cases[len(runs) :]
        fitting = sum(case.should_trigger for case in rest)
        why = decided([row(run) for run in runs], fitting_left=fitting, left=len(rest), stop=plan.stop)
        if rest and why is not None:
            return runs, f"after {len(runs)} of {len(cases)} sessions: {why}"
    return runs, None


def _branches(subject: Subject, plan: Plan, cases: Sequence[TriggerPrompt]) -> tuple[Steps[Run], ...]:
    """Make a generator for each session; those with the same prompt are told apart by their sample.

    Whatever the order: with few siblings two orders can be one.
    """
    seen: Counter[str] = Counter()
    branches = []
    file = named_file(subject)
    for index, case in enumerate(cases):
        branches.append(_graded(subject, plan, case, index, sample=seen[case.prompt], file=file))
        seen[case.prompt] += 1
    return tuple(branches)


def _graded(
    subject: Subject, plan: Plan, case: TriggerPrompt, index: int, *, sample: int, file: str | None
) -> Steps[Run]:
    """Run a session, then have its answer graded where a figure rests on that."""
    order = index % ORDERS
    if plan.runner == RUNNER:
        went = yield from transcript(subject, plan, case, order, sample=sample)
    else:
        went = yield from session(subject, plan, case, order, index, sample=sample, file=file)
    if went.outcome != COMPLETED:
        return Run(case, went, Grade())
    if not case.should_trigger and not went.activated:
        return Run(case, went, Grade(ungraded=NOT_ASKED))
    grade = yield from graded(subject, plan, case, went.answer)
    return Run(case, went, grade)
