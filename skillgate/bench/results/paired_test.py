"""Whether the tasks of two benchmark reports say that a skill got worse: broken tasks first, then the paired test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.bench.results.diff_limits import listed
from skillgate.model.bench_diff import Basis, Flip, PairedTest, RerunOutcome
from skillgate.model.score import Outcome
from skillgate.stats.paired import mcnemar
from skillgate.stats.resampling import bootstrap, mean_of_sums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.bench.results.diff_limits import DiffPolicy
    from skillgate.model.bench_diff import Rerun, TaskChange
    from skillgate.stats.intervals import Interval

ALPHA = 0.05
_FEWEST = 5  # tasks that an interval of differences needs
_ROUNDING = 1e-9
_SEED = 0


class _Facts(NamedTuple):
    """What is known before it is decided.

    Attributes:
        both: the tasks that both sides measured.
        fixed, broken: those of them that changed sides.
        always: those that passed in every run before and fail in every run now, with how many runs each side has.
        drop: by how much the share of passed results fell over these tasks.
        p: of McNemar's test; None without tasks.
        interval: of the scores' mean difference; None under five tasks.
        reruns: the tasks that were run again; None where nothing is run again.
    """

    both: Sequence[TaskChange]
    fixed: Sequence[TaskChange]
    broken: Sequence[TaskChange]
    always: Mapping[str, tuple[int, int]]
    drop: float
    p: float | None
    interval: Interval | None
    reruns: Sequence[Rerun] | None


class _Decided(NamedTuple):
    verdict: Outcome
    basis: Basis | None
    reason: str


def paired_test(
    tasks: Sequence[TaskChange], policy: DiffPolicy, *, decidable: bool, reruns: Sequence[Rerun] | None
) -> PairedTest:
    """Decide whether the tasks got worse.

    Args:
        tasks: what became of each.
        policy: what a regression is.
        decidable: whether the two reports are the same measurement.
        reruns: the tasks that were run again; None where nothing is run again.
    """
    both = [task for task in tasks if task.a_total and task.b_total]
    fixed = [task for task in both if task.flip is Flip.FIXED]
    broken = [task for task in both if task.flip is Flip.BROKEN]
    differences = [(task.b_score or 0.0) - (task.a_score or 0.0) for task in both]
    rates = [task.b_passed / task.b_total - task.a_passed / task.a_total for task in both]
    interval = None
    if len(differences) >= _FEWEST:
        columns = np.column_stack([np.ones(len(differences)), differences])
        interval = bootstrap(columns, mean_of_sums, seed=_SEED)
    facts = _Facts(
        both=both,
        fixed=fixed,
        broken=broken,
        always=_always_broken(broken, reruns),
        drop=-math.fsum(rates) / len(rates) if rates else 0.0,
        p=mcnemar(len(broken), len(fixed)) if both else None,
        interval=interval,
        reruns=reruns,
    )
    decided = _decided(tasks, facts, policy, decidable=decidable)
    return PairedTest(
        tasks=len(both),
        fixed=len(fixed),
        broken=len(broken),
        mcnemar_p=facts.p,
        mean_difference=math.fsum(differences) / len(differences) if differences else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        verdict=decided.verdict,
        reason=decided.reason,
        basis=decided.basis,
        broken_tasks=tuple(facts.always),
    )


def _always_broken(broken: Sequence[TaskChange], reruns: Sequence[Rerun] | None) -> dict[str, tuple[int, int]]:
    """Find the tasks that passed in every run before and fail in every run now; reruns decide where there are some."""
    again = {one.task_id: one for one in reruns or ()}
    found = {}
    for task in broken:
        rerun = again.get(task.task_id)
        if rerun is not None and rerun.outcome is RerunOutcome.BROKEN:
            found[task.task_id] = task.a_total + rerun.a_total, task.b_total + rerun.b_total
        elif rerun is not None and rerun.outcome is RerunOutcome.FLAKY:
            continue
        elif task.a_passed == task.a_total > 1 and task.b_passed == 0 and task.b_total > 1:
            found[task.task_id] = task.a_total, task.b_total
    return found


def _decided(tasks: Sequence[TaskChange], facts: _Facts, policy: DiffPolicy, *, decidable: bool) -> _Decided:
    gone = [task.task_id for task in tasks if task.golden and task.flip in (Flip.BROKEN, Flip.REMOVED)]
    said = f"{len(facts.fixed)} task{'s' * (len(facts.fixed) != 1)} fixed, {len(facts.broken)} broken"
    if gone:
        return _Decided(Outcome.FAIL, Basis.GOLDEN, f"golden tasks are broken or gone: {', '.join(gone)}")
    if not facts.both:
        return _Decided(Outcome.INCONCLUSIVE, Basis.UNMEASURED, "no task was measured on both sides")
    if not decidable:
        return _Decided(Outcome.INCONCLUSIVE, Basis.OTHER, f"the two are not the same measurement; {said}")
    if len(facts.always) / len(facts.both) > policy.max_completion_drop + _ROUNDING:
        return _Decided(Outcome.FAIL, Basis.BROKEN, _broken_words(facts))
    if facts.drop > policy.max_completion_drop + _ROUNDING:
        return _fallen(f"{said}; of the tasks of both {100 * facts.drop:.1f} % fewer results pass", facts)
    unmeasured = sum(task.flip is Flip.UNMEASURED for task in tasks)
    if unmeasured:
        reason = f"{said}; {unmeasured} of the tasks were skipped, so their state is unknown"
        return _Decided(Outcome.INCONCLUSIVE, Basis.UNMEASURED, reason + _rerun_words(facts))
    return _Decided(Outcome.PASS, None, said + _rerun_words(facts))


def _fallen(said: str, facts: _Facts) -> _Decided:
    """Decide about a rate that fell further than allowed."""
    if facts.p is not None and facts.p < ALPHA:
        return _Decided(Outcome.FAIL, Basis.MCNEMAR, f"{said} (p = {facts.p:.3f})")
    if facts.interval is not None and facts.interval.high < 0:
        low, high = (f"{end:+.3f}".replace("-", "−") for end in (facts.interval.low, facts.interval.high))
        return _Decided(Outcome.FAIL, Basis.INTERVAL, f"{said} (95 % interval of the mean score {low} to {high})")
    said = f"{said} (p = {facts.p:.3f}), which chance may explain"
    if facts.reruns:
        return _Decided(Outcome.INCONCLUSIVE, Basis.CHANCE, said + _rerun_words(facts))
    is_single = min(max(task.a_total for task in facts.both), max(task.b_total for task in facts.both)) < 2
    advice = "one run cannot tell, run both sides with --runs 3" if is_single else "more runs would tell"
    return _Decided(Outcome.INCONCLUSIVE, Basis.CHANCE, f"{said}: {advice}")


def _broken_words(facts: _Facts) -> str:
    count, total = len(facts.always), len(facts.both)
    runs = {number for pair in facts.always.values() for number in pair}
    often = f"in {max(runs)} of {max(runs)} runs" if len(runs) == 1 else "in every run"
    said = f"{count} of {total} tasks {'is' if count == 1 else 'are'} broken {often}: {listed(list(facts.always))}"
    others = len(facts.broken) - count
    said += f"; {others} more no longer pass{'es' * (others == 1)}" if others else ""
    fixed = len(facts.fixed)
    return f"{said}; {fixed} task{'s are' if fixed > 1 else ' is'} fixed" if fixed else said


def _rerun_words(facts: _Facts) -> str:
    """Say what running tasks again has shown; ``""`` where none was."""
    if not facts.reruns:
        return ""
    flaky = sum(one.outcome is RerunOutcome.FLAKY for one in facts.reruns)
    missing = [one.reason or "no reason is given" for one in facts.reruns if one.outcome is RerunOutcome.UNMEASURED]
    said = [f"{flaky} of {len(facts.reruns)} lost tasks turned out flaky when run again"] if flaky else []
    if missing:
        said.append(f"{len(missing)} of {len(facts.reruns)} lost tasks could not be run again: {missing[0]}")
    return "".join(f"; {words}" for words in said)
