"""Runs tasks again that a change seems to have broken, on both sides, to tell a broken task from a flaky one.

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
from skillgate.model.bench_diff import Rerun, RerunOutcome
from skillgate.model.bench_result import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.bench import BenchReport, CompletionReport
    from skillgate.model.bench_result import TaskResult

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


Reruns = Mapping[tuple[str, str], Sequence[Rerun]]
"""What was run again, by skill and benchmark."""

Run = Callable[[Side, Sequence[Wanted]], "Sequence[TaskResult]"]
"""Runs what is wanted; what has no result in the answer was not measured."""


@dataclass(slots=True, kw_only=True)
class _Candidate:
    """A task that passed in every run of the base and failed in every run of the head, as far as it was run.

    ``runs`` counts the measured first runs of each side, ``last`` is the highest number of one.
    """

    skill: str
    benchmark: str
    task: str
    runs: dict[Side, int]
    last: int
    again: dict[Side, list[bool]] = field(default_factory=lambda: {Side.BASE: [], Side.HEAD: []})
    reason: str | None = None

    @property
    def is_flaky(self) -> bool:
        return not all(self.again[Side.BASE]) or any(self.again[Side.HEAD])

    @property
    def is_open(self) -> bool:
        return self.reason is None and not self.is_flaky

    def total(self, side: Side) -> int:
        return self.runs[side] + len(self.again[side])

    def outcome(self) -> RerunOutcome:
        if self.is_flaky:
            return RerunOutcome.FLAKY
        enough = min(self.total(side) for side in Side) >= ENOUGH
        return RerunOutcome.BROKEN if enough else RerunOutcome.UNMEASURED


def rerun(before: BenchReport, after: BenchReport, run: Run) -> Reruns:
    """Run the tasks again that passed before and fail now.

    Args:
        before: the report of the base.
        after: the report of the head; skills are paired by key and benchmark.
        run: runs tasks; a :class:`SkillgateError` that it raises leaves what it was asked for unmeasured.

    Returns:
        What became of each such task, also of those that had enough runs and were not run again.
    """
    sides = {
        Side.BASE: {(one.skill_id, one.benchmark_id): one for one in before.reports},
        Side.HEAD: {(one.skill_id, one.benchmark_id): one for one in after.reports},
    }
    keys = [key for key in sides[Side.HEAD] if key in sides[Side.BASE]]
    candidates = [one for key in keys for one in _candidates(key, sides[Side.BASE][key], sides[Side.HEAD][key])]
    flaky = {key[0] for key in keys if any(_is_flaky(reports[key]) for reports in sides.values())}
    while True:
        waiting = [one for one in candidates if one.is_open and _missing(one, flaky)]
        if not waiting:
            break
        for side in Side:
            _again([one for one in waiting if one.is_open and side in _missing(one, flaky)], side, run)
        flaky |= {one.skill for one in waiting if one.is_flaky}
    found: dict[tuple[str, str], list[Rerun]] = {key: [] for key in keys}
    for one in candidates:
        found[one.skill, one.benchmark].append(_told(one))
    return found


def _missing(one: _Candidate, flaky: Iterable[str]) -> tuple[Side, ...]:
    """Give the sides that have too few runs."""
    enough = ENOUGH_IF_FLAKY if one.skill in flaky else ENOUGH
    return tuple(side for side in Side if one.total(side) < enough)


def _again(wanted: Sequence[_Candidate], side: Side, run: Run) -> None:
    """Run each task once more on one side, and note what came of it."""
    if not wanted:
        return
    try:
        results = run(side, [Wanted(one.skill, one.task, one.last + len(one.again[side]) + 1) for one in wanted])
    except SkillgateError as error:
        for one in wanted:
            one.reason = str(error).splitlines()[0][:_REASON]
        return
    found = {(result.skill_id, result.task_id): result for result in results}
    for one in wanted:
        result = found.get((one.skill, one.task))
        if result is None or result.status is Status.SKIPPED:
            one.reason = ((result.error if result else None) or "it was skipped")[:_REASON]
        else:
            one.again[side].append(result.status is Status.PASS)


def _told(one: _Candidate) -> Rerun:
    base, head = one.again[Side.BASE], one.again[Side.HEAD]
    return Rerun(
        task_id=one.task,
        outcome=one.outcome(),
        a_passed=sum(base),
        a_total=len(base),
        b_passed=sum(head),
        b_total=len(head),
        reason=one.reason,
    )


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
    """Say of each task which of its measured runs passed."""
    found: dict[str, list[bool]] = {}
    for result in report.task_results:
        if result.status is not Status.SKIPPED:
            found.setdefault(result.task_id, []).append(result.status is Status.PASS)
    return found
