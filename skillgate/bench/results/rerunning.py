"""Rerun the tasks that a change seems to have broken, on both sides, to tell a broken task from a flaky one.

A task that passed in every run of the base and failed in every run of the head is run again until each side has three
runs. It is broken if all three passed before and none does now. An unchanged flaky task looks like that at most once in
64 times, but among many tasks that happens often. So a skill that has shown itself flaky (one of its tasks passed in
some runs of a side and not in others) needs six runs of each side, which an unchanged task survives at most once in
4,096 times. A side stops as soon as a rerun decides against it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import SkillgateError
from skillgate.model.bench import Rerun, RerunOutcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.bench import BenchReport, CompletionReport, TaskResult

ENOUGH = 3
ENOUGH_IF_FLAKY = 6
_REASON = 300  # characters


class Side(enum.Enum):
    """Which version of the skills is run."""

    BASE = "base"
    HEAD = "head"


class Wanted(NamedTuple):
    """One run of a task of a skill (by its key); ``run`` continues the numbers of the runs before."""

    skill: str
    task: str
    run: int


Reruns = Mapping[tuple[str, str], Sequence[Rerun]]  # by skill and benchmark
Run = Callable[[Side, Sequence[Wanted]], "Sequence[TaskResult]"]  # what it returns no result for was not measured


@dataclass(slots=True, kw_only=True)
class _Candidate:
    """A task that passed in every run of the base and failed in every run of the head, as far as it was run."""

    skill: str
    benchmark: str
    task: str
    runs: dict[Side, int]  # how many first runs of each side were measured
    last: int  # the highest number of a run
    reruns: dict[Side, list[bool]] = field(default_factory=lambda: {Side.BASE: [], Side.HEAD: []})
    reason: str | None = None  # why it was not measured

    @property
    def is_flaky(self) -> bool:
        return not all(self.reruns[Side.BASE]) or any(self.reruns[Side.HEAD])

    def total(self, side: Side) -> int:
        return self.runs[side] + len(self.reruns[side])

    def lacks_runs(self, side: Side, flaky: Iterable[str]) -> bool:
        """Whether a side needs a further run to decide; ``flaky`` are skills that have shown themselves so."""
        enough = ENOUGH_IF_FLAKY if self.skill in flaky else ENOUGH
        return self.reason is None and not self.is_flaky and self.total(side) < enough

    def result(self) -> Rerun:
        outcome = RerunOutcome.FLAKY
        if not self.is_flaky:
            enough = min(self.total(side) for side in Side) >= ENOUGH
            outcome = RerunOutcome.BROKEN if enough else RerunOutcome.UNMEASURED
        base, head = self.reruns[Side.BASE], self.reruns[Side.HEAD]
        return Rerun(
            task_id=self.task,
            outcome=outcome,
            a_passed=sum(base),
            a_total=len(base),
            b_passed=sum(head),
            b_total=len(head),
            reason=self.reason,
        )


def rerun(before: BenchReport, after: BenchReport, run: Run) -> Reruns:
    """Rerun the tasks that passed before and fail now.

    Args:
        before: the report of the base.
        after: the report of the head; skills are paired by key and benchmark.
        run: runs tasks; a :class:`SkillgateError` that it raises leaves those tasks unmeasured.

    Returns:
        What became of each such task, also of those that had enough runs and were not rerun.
    """
    base = {(one.skill_id, one.benchmark_id): one for one in before.reports}
    head = {(one.skill_id, one.benchmark_id): one for one in after.reports}
    keys = [key for key in head if key in base]
    candidates = [one for key in keys for one in _candidates(key, base[key], head[key])]
    flaky = {key[0] for key in keys if _is_flaky(base[key]) or _is_flaky(head[key])}
    while waiting := [one for one in candidates if any(one.lacks_runs(side, flaky) for side in Side)]:
        for side in Side:
            _rerun_side([one for one in waiting if one.lacks_runs(side, flaky)], side, run)
        flaky |= {one.skill for one in waiting if one.is_flaky}
    found: dict[tuple[str, str], list[Rerun]] = {key: [] for key in keys}
    for one in candidates:
        found[one.skill, one.benchmark].append(one.result())
    return found


def _rerun_side(candidates: Sequence[_Candidate], side: Side, run: Run) -> None:
    """Run each task once more on one side, and note what came of it."""
    if not candidates:
        return
    try:
        results = run(side, [Wanted(one.skill, one.task, one.last + len(one.reruns[side]) + 1) for one in candidates])
    except SkillgateError as error:
        for one in candidates:
            one.reason = str(error).splitlines()[0][:_REASON]
        return
    found = {(result.skill_id, result.task_id): result for result in results}
    for one in candidates:
        result = found.get((one.skill, one.task))
        if result is None or result.status is Status.SKIPPED:
            one.reason = ((result.error if result else None) or "it was skipped")[:_REASON]
        else:
            one.reruns[side].append(result.status is Status.PASS)


def _candidates(key: tuple[str, str], before: CompletionReport, after: CompletionReport) -> Iterator[_Candidate]:
    a, b = _passes(before), _passes(after)
    last = max((result.run for one in (before, after) for result in one.task_results), default=0)
    for task, runs in a.items():
        if task in b and all(runs) and not any(b[task]):
            counts = {Side.BASE: len(runs), Side.HEAD: len(b[task])}
            yield _Candidate(skill=key[0], benchmark=key[1], task=task, runs=counts, last=last)


def _is_flaky(report: CompletionReport) -> bool:
    return any(0 < sum(runs) < len(runs) for runs in _passes(report).values())


def _passes(report: CompletionReport) -> dict[str, list[bool]]:
    """Return which measured runs of each task passed."""
    found: dict[str, list[bool]] = {}
    for result in report.task_results:
        if result.status is not Status.SKIPPED:
            found.setdefault(result.task_id, []).append(result.status is Status.PASS)
    return found
