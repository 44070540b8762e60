"""What a skill adds: each task done with it and without it, and both answers graded blind.

No task waits for another. Once both arms of one are done, each answer is held to what is expected of it, and the two
are compared in both orders. What was not measured leaves its task out of the figures; a task that failed scores 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.judge.expense import is_live, usage
from skillgate.model.exchange import Together
from skillgate.model.judging import Estimate, TriggerPrompt
from skillgate.model.simulating import COMPLETED, FAILED, NOT_MEASURED, Arm, Lift, LiftTask
from skillgate.model.text import printable
from skillgate.montecarlo.arms import with_skill, without_skill
from skillgate.montecarlo.expectations import held, unmet
from skillgate.montecarlo.grading import graded
from skillgate.montecarlo.preference import DRAW, WITH, WITHOUT, Preferred, preferred
from skillgate.montecarlo.subject import Lifted
from skillgate.montecarlo.tasks import Tasks, tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.exchange import Answer, Steps
    from skillgate.montecarlo.arms import Attempt
    from skillgate.montecarlo.subject import Plan, Subject
    from skillgate.montecarlo.tasks import Task

RUNNER = "messages"
"""What runs the tasks, whatever runs the simulations: an agent of its own would have more in one arm than the skill."""
MOST_SILENCED = 0.05
"""Of the tasks, that what was read can have kept from being measured: who writes it could choose which."""
MOST_UNCOMPARED = 0.2  # of the pairs of answers


class _Scored(NamedTuple):
    """An arm for the report, and whether what was read can be why it has no score."""

    arm: Arm
    lost: bool
    answers: tuple[Answer, ...]


class _Done(NamedTuple):
    """A task for the report, and what it took.

    Attributes:
        task: its row.
        lost: whether what was read can be why an arm has no score.
        compared: what the comparison gave; None where there were no two answers.
        answers: all that came, for the usage.
    """

    task: LiftTask
    lost: bool
    compared: Preferred | None
    answers: tuple[Answer, ...]


def lift(subject: Subject, plan: Plan) -> Steps[Lifted]:
    """Find out what one skill adds.

    Args:
        subject: the skill, with its own tasks if it brings any.
        plan: the models; how many sessions are simulated changes nothing here.

    Returns:
        The figures for the report and what failed. Nothing that a provider does raises: what has no answer is None
        with the reason.
    """
    unreadable = subject.library.body(subject.name)
    if unreadable.text is None:
        yield Together(())
        missing = f"the skill has no text that could be loaded: {unreadable.problem or 'it cannot be read'}"
        return _lifted(plan, Tasks((), "generated", missing=missing), ())
    found = yield from tasks(subject, plan)
    done: tuple[_Done, ...] = yield Together(tuple(_done(subject, plan, task) for task in found.tasks))
    return _lifted(plan, found, done)


def _done(subject: Subject, plan: Plan, task: Task) -> Steps[_Done]:
    """Do a task in both arms, then have the answers graded and compared."""
    attempts: tuple[Attempt, Attempt] = yield Together(
        (with_skill(subject, plan, task), without_skill(subject, plan, task))
    )
    first, second = attempts
    both = first.outcome == second.outcome == COMPLETED
    comparing = (preferred(subject, plan, task.prompt, first.answer, second.answer),) if both else ()
    grading = (_scored(subject, plan, task, first), _scored(subject, plan, task, second))
    one, two, *compared = yield Together((*grading, *comparing))
    said: Preferred | None = compared[0] if compared else None
    told = said or Preferred()
    row = LiftTask(task.id, task.prompt, one.arm, two.arm, told.preferred, told.position_bias)
    answers = (*first.answers, *second.answers, *one.answers, *two.answers, *told.answers)
    return _Done(row, one.lost or two.lost, said, answers)


def _scored(subject: Subject, plan: Plan, task: Task, attempt: Attempt) -> Steps[_Scored]:
    """Score an answer by what is expected of it, else by its quality; what failed has met nothing."""
    reason = printable(f"{attempt.kind}: {attempt.reason}")
    arm = Arm(attempt.outcome, None, tokens=attempt.tokens, duration_s=attempt.duration_s)
    if attempt.outcome != COMPLETED:
        if attempt.outcome == FAILED:
            arm = arm._replace(score=0.0, expectations=unmet(task.expectations, f"there is no answer: {reason}"))
        return _Scored(arm._replace(reason=reason), attempt.provoked, ())
    if task.expectations:
        found = yield from held(subject, plan, task.prompt, attempt.answer, task.expectations)
        arm = arm._replace(score=found.score, expectations=found.expectations, reason=found.reason or None)
        return _Scored(arm, found.lost, found.answers)
    # As a near miss, that is without the question of what the skill promises: the other arm knows nothing of it.
    case = TriggerPrompt(task.prompt, should_trigger=False)
    grade = yield from graded(subject, plan, case, attempt.answer)
    return _Scored(arm._replace(score=grade.quality, reason=grade.ungraded), grade.lost > 0, grade.answers)


def _lifted(plan: Plan, found: Tasks, done: Sequence[_Done]) -> Lifted:
    """Put the figures together."""
    rows = tuple(one.task for one in done)
    answers = (*found.answers, *(answer for one in done for answer in one.answers))
    nothing = Estimate(None, reason=found.missing)
    bare = Lift(
        nothing,
        nothing,
        nothing,
        tasks=rows,
        source=found.source,
        unsupported=tuple(map(printable, found.unsupported)),
        reason=found.missing,
        model=plan.model.model,
        grader=plan.grader.model,
        provider=plan.provider,
        live=is_live(answers, live=plan.live),
        usage=usage(answers),
        runner=RUNNER,
    )
    return Lifted(bare, found.missing) if found.missing is not None else _counted(bare, plan, done)


def _counted(bare: Lift, plan: Plan, done: Sequence[_Done]) -> Lifted:
    from skillgate.montecarlo.paired_lift import paired  # numpy: loaded while answers were awaited

    says = paired(bare.tasks, seed=plan.seed)
    told = [task.preferred for task in bare.tasks]
    found = bare._replace(
        lift=says.lift,
        with_skill=says.with_skill,
        without_skill=says.without_skill,
        p=says.p,
        reason=says.reason,
        wins=told.count(WITH),
        losses=told.count(WITHOUT),
        draws=told.count(DRAW),
    )
    silenced = _silenced(done)
    if silenced is not None:
        nothing = Estimate(None, n=says.lift.n, reason=silenced)
        found = found._replace(lift=nothing, with_skill=nothing, without_skill=nothing, p=None, reason=silenced)
    gaps = (found.reason, _uncompared(done))
    return Lifted(found, "; ".join(gap for gap in gaps if gap is not None) or None)


def _silenced(done: Sequence[_Done]) -> str | None:
    """Say that more tasks are lost than may be where what was read can be why; None where not."""
    lost = [one.task for one in done if one.lost]
    if len(lost) <= MOST_SILENCED * len(done):
        return None
    arms = (arm for task in lost for arm in (task.with_skill, task.without_skill) if arm.score is None)
    why = next((arm.reason for arm in arms if arm.reason), NOT_MEASURED)
    return f"{len(lost)} of {len(done)} tasks have no score, and what was read can have brought that about: {why}"


def _uncompared(done: Sequence[_Done]) -> str | None:
    """Say that too many pairs of answers were not compared, None where enough were."""
    pairs = [one.compared for one in done if one.compared is not None]
    missing = [one for one in pairs if one.preferred is None]
    if len(missing) <= MOST_UNCOMPARED * len(pairs):
        return None
    return f"{len(missing)} of {len(pairs)} pairs of answers were not compared: {missing[0].reason}"
