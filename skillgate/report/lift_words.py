"""What every format says of the same tasks with the skill and without it, in plain words.

Tasks' names and graders come from the skill: they are bounded and on one line; whoever shows them makes them inert.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.report.simulated_words import short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.layers import Estimate, Lift, LiftTask

_NAMED = 3  # tasks and graders that are named
_NAME = 60  # characters of a task's name


def lift_in_words(lift: Lift) -> Iterator[str]:
    """Say what the skill adds, how sure that is, which answers are preferred, where it hurts, what was not graded."""
    if lift.lift.value is None:
        yield f"no lift: {short(lift.reason or lift.lift.reason)}"
    else:
        yield _mean(lift)
    if lift.wins + lift.losses + lift.draws:
        preferred = f"{lift.wins} with the skill, {lift.losses} without it, {lift.draws} neither"
        yield f"blind comparison prefers {preferred}"
    if harmed := hurts(lift):
        named = ", ".join(f"“{short(task.id, _NAME)}” {signed(change)}" for task, change in harmed[:_NAMED])
        left = f" and {len(harmed) - _NAMED} more" if len(harmed) > _NAMED else ""
        yield f"it hurts {plural(len(harmed), 'task')}: {named}{left}"
    if lift.lift.value is not None and lift.reason:
        yield f"not wholly measured: {short(lift.reason)}"
    if lift.unsupported:
        named = ", ".join(short(name, _NAME) for name in lift.unsupported[:_NAMED])
        left = f" and {len(lift.unsupported) - _NAMED} more" if len(lift.unsupported) > _NAMED else ""
        yield f"graders that nothing here does: {named}{left}"


def _mean(lift: Lift) -> str:
    text = f"lift {signed(lift.lift.value or 0.0)}"
    if lift.lift.ci_low is not None and lift.lift.ci_high is not None:
        text += f" ({signed(lift.lift.ci_low)} to {signed(lift.lift.ci_high)})"
    chance = f", p = {lift.p:.3f}" if lift.p is not None else ", no p: nothing differs"
    both = f"{_score(lift.with_skill)} with the skill, {_score(lift.without_skill)} without it"
    return f"{text}{chance}, over {plural(lift.lift.n, 'task')} ({short(lift.source, _NAME)}): {both}"


def _score(found: Estimate) -> str:
    return "—" if found.value is None else f"{found.value:.2f}"


def signed(value: float) -> str:
    """Write a difference with its sign."""
    return f"{value:+.2f}".replace("-", "−")


def change_of(task: LiftTask) -> float | None:
    """Give the score with the skill less the one without; None where either was not measured."""
    one, other = task.with_skill.score, task.without_skill.score
    return None if one is None or other is None else one - other


def hurts(lift: Lift) -> list[tuple[LiftTask, float]]:
    """List the tasks that are done worse with the skill, the worst first."""
    known = [(task, change) for task in lift.tasks if (change := change_of(task)) is not None and change < 0]
    return sorted(known, key=lambda pair: pair[1])


def task_in_words(task: LiftTask) -> str:
    """Write one task on a line: both scores, what is preferred, and why a score is missing."""
    arms = (("with", task.with_skill), ("without", task.without_skill))
    scores = ", ".join(f"{word} {'—' if arm.score is None else f'{arm.score:.2f}'}" for word, arm in arms)
    change = change_of(task)
    parts = [f"“{short(task.id, _NAME)}” {'—' if change is None else signed(change)} ({scores})"]
    if task.preferred:
        preferences = {"with": "prefers the one with it", "without": "prefers the one without it"}
        parts.append(preferences.get(task.preferred, "prefers neither"))
    why = [f"{word}: {short(arm.reason)}" for word, arm in arms if arm.score is None and arm.reason]
    return "; ".join((*parts, *why))
