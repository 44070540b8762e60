"""What the tasks of both arms say together: mean scores, the mean paired difference with its interval, and a test.

Everything is computed from the rows alone. A task of which one arm was not measured is in no figure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from skillgate.evals.wording import folded
from skillgate.model.judging import Estimate
from skillgate.stats.paired import mean_difference
from skillgate.stats.resampling import sign_flip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.simulating import LiftTask

LEAST = 5
"""Tasks with other prompts under which no lift is told: of so few the spread is known too badly for an interval."""
MOST_LOST = 0.2  # of the tasks; beyond that the rest does not speak for all
DIGITS = 6
_EXACT = 12  # digits of a difference; what is beyond comes of rounding


class Paired(NamedTuple):
    """The figures of a :class:`skillgate.model.simulating.Lift`; ``reason`` says why there is no lift, else None."""

    lift: Estimate
    with_skill: Estimate
    without_skill: Estimate
    p: float | None = None
    reason: str | None = None


class _Pair(NamedTuple):
    """Both scores of a task, and the number of its prompt."""

    prompt: int
    one: float
    two: float


def paired(tasks: Sequence[LiftTask], *, seed: int) -> Paired:
    """Compare the arms task by task.

    The interval is that of :func:`skillgate.stats.paired.mean_difference`: t over tasks, those with the same prompt as
    one draw, wider where few tasks tell the arms apart. The test is exact up to 15 prompts whose arms differ: each
    difference could as well have the other sign.

    Args:
        tasks: all of them.
        seed: of the arrangements of the test where there are too many to try all.
    """
    pairs = _pairs(tasks)
    n = len(pairs)
    lost = _lost(tasks, n)
    if lost is not None:
        nothing = Estimate(None, n=n, reason=lost)
        return Paired(nothing, nothing, nothing, reason=lost)
    means = (_mean([pair.one for pair in pairs]), _mean([pair.two for pair in pairs]))
    few = _few(len({pair.prompt for pair in pairs}))
    if few is not None:
        return Paired(Estimate(None, n=n, reason=few), *means, reason=few)
    return Paired(_difference(pairs), *means, p=_p(pairs, seed))


def _pairs(tasks: Sequence[LiftTask]) -> list[_Pair]:
    """Give the tasks with two scores; those with the same prompt, by its words, share a number."""
    numbers: dict[str, int] = {}
    found = []
    for task in tasks:
        number = numbers.setdefault(folded(task.prompt) or task.prompt, len(numbers))
        one, two = task.with_skill.score, task.without_skill.score
        if one is not None and two is not None:
            found.append(_Pair(number, one, two))
    return found


def _mean(scores: Sequence[float]) -> Estimate:
    return Estimate(round(math.fsum(scores) / len(scores), DIGITS), n=len(scores))


def _difference(pairs: Sequence[_Pair]) -> Estimate:
    differences = [pair.one - pair.two for pair in pairs]
    found = round(math.fsum(differences) / len(pairs), DIGITS)
    ends = mean_difference(differences, [pair.prompt for pair in pairs])
    if ends is None:  # under two prompts, which are too few before
        return Estimate(found, n=len(pairs))
    low, high = (round(end, DIGITS) for end in ends)
    return Estimate(found, min(found, low), max(found, high), len(pairs))


def _lost(tasks: Sequence[LiftTask], pairs: int) -> str | None:
    """Say why the tasks that were measured do not speak for all, None where they do."""
    lost = len(tasks) - pairs
    if pairs and lost <= MOST_LOST * len(tasks):
        return None
    return f"{lost} of {len(tasks)} tasks were not measured: {_why(tasks)}"


def _few(prompts: int) -> str | None:
    if prompts >= LEAST:
        return None
    many = "task has" if prompts == 1 else "tasks have"
    return f"only {prompts} {many} two scores: under {LEAST} nothing is said of a mean"


def _why(tasks: Sequence[LiftTask]) -> str:
    arms = (arm for task in tasks for arm in (task.with_skill, task.without_skill))
    return next((arm.reason for arm in arms if arm.score is None and arm.reason), "no reason is known")


def _p(pairs: Sequence[_Pair], seed: int) -> float | None:
    """Give the two-sided p of the exchange test over prompts; None where no prompt tells the arms apart.

    The null distribution is symmetric, so it is twice the one-sided one.
    """
    sums: dict[int, float] = {}
    for pair in pairs:
        sums[pair.prompt] = sums.get(pair.prompt, 0.0) + pair.one - pair.two
    apart = [round(value, _EXACT) for value in sums.values()]
    if not any(apart):
        return None
    side = -1.0 if math.fsum(apart) < 0 else 1.0
    return min(1.0, 2 * sign_flip([side * value for value in apart], seed=seed))
