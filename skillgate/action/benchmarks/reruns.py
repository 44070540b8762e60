"""Run tasks of a benchmark again that a change seems to have broken, on the base's skills and on the head's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.evaluation.plan import planned
from skillgate.bench.evaluation.running import results_of
from skillgate.bench.reading.catalog import narrowed
from skillgate.bench.reading.loading import Skills
from skillgate.bench.results.rerunning import Side, rerun
from skillgate.bench.runner import Item

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.action.session import ActionSession
    from skillgate.bench.evaluation.plan import Plan
    from skillgate.bench.request import EvalRequest
    from skillgate.bench.results.rerunning import Reruns, Wanted
    from skillgate.llm.ledger import Spent
    from skillgate.model.bench import BenchReport
    from skillgate.model.bench_result import TaskResult
    from skillgate.model.benchmark import Loaded
    from skillgate.model.executable import Runnable


class SharedBudget:
    """What a run has spent on models: its scores and the base, head and reruns of its benchmark share the limits."""

    def __init__(self, spent: Spent) -> None:
        """Begin with what the scores took."""
        self._spent = spent

    def open(self, plan: Plan) -> Plan:
        """Hold a plan to what the plans before have left; it has to be run before the next one is opened."""
        if plan.models is not None:
            plan.models.carry(self._spent)
        return plan

    def close(self, plan: Plan) -> None:
        """Take note of what a plan has spent."""
        if plan.models is not None:
            self._spent = plan.models.spent

    @property
    def usd(self) -> float:
        """What is known to be spent, in US dollars."""
        return self._spent.usd


def rerun_broken(
    before: BenchReport,
    after: BenchReport,
    skills: Mapping[Side, Sequence[Runnable]],
    loaded: Loaded,
    request: EvalRequest,
    session: ActionSession,
    budget: SharedBudget,
) -> Reruns:
    """Run the tasks again that passed in ``before`` and fail in ``after``.

    Args:
        before: the report of the base.
        after: the report of the head.
        skills: those of each side; a base's skill has the key of the head's.
        loaded: the benchmark.
        request: how it is run.
        session: the run.
        budget: what may still be spent.
    """

    def run(side: Side, wanted: Sequence[Wanted]) -> tuple[TaskResult, ...]:
        keys = {one.skill for one in wanted}
        chosen = Skills(tuple(skill for skill in skills[side] if skill.key in keys), ())
        some = narrowed(loaded, {one.task for one in wanted}, ())
        plan = budget.open(planned(request, session, some, chosen))
        try:
            return results_of(plan._replace(items=_items(plan, wanted)), request, session, [])
        finally:
            budget.close(plan)
            plan.closing.close()

    spent = budget.usd
    found = rerun(before, after, run)
    if budget.usd > spent:
        session.note(f"benchmark: running tasks again cost ${budget.usd - spent:.4f}")
    return found


def _items(plan: Plan, wanted: Sequence[Wanted]) -> tuple[Item, ...]:
    skills = {skill.key: skill for skill in plan.skills}
    tasks = {task.id: task for task in plan.loaded.benchmark.tasks}
    known = [one for one in wanted if one.skill in skills]
    return tuple(Item(order, skills[one.skill], tasks[one.task], one.run) for order, one in enumerate(known))
