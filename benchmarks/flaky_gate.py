"""How often the gate on benchmarks fails a change that changed nothing, where tasks are flaky.

    python -m benchmarks.flaky_gate [--tasks 20] [--action 200] [--pairs 500]

A skill answers each task rightly with a fixed chance, drawn by seed, side, task and run. Both sides are the same skill,
so every failure of the gate is false. The runner, the scorer, the figures, the reruns and the diff are the real ones;
only the skill lies in this process, for speed. The first table runs what the Action does: each side once or several
times, then the lost tasks again. The second compares two reports as `report diff --fail-on-regression` does. In both,
`broken` counts the runs in which at least one task was called broken in every run.

The column `3 of 3 alone` is what the rule would do that takes three runs of each side as enough whatever the other
tasks show.
"""

from __future__ import annotations

import argparse
import os
import random
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.diff import diff, is_chance
from skillgate.bench.documents import scorers_of, scoring_of
from skillgate.bench.metrics import summarise
from skillgate.bench.ports import Reply, Surroundings
from skillgate.bench.request import DiffPolicy
from skillgate.bench.runner import Item, Job, Side, items_of, rerun, run
from skillgate.model.bench import BenchReport, CompletionReport, RunSettings
from skillgate.model.benchmark import (
    AdapterConfig,
    AdapterType,
    Benchmark,
    Executable,
    Expected,
    Loaded,
    Runnable,
    Task,
)
from skillgate.model.report import Tool
from skillgate.model.score import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.bench.ports import Call
    from skillgate.bench.runner import Wanted
    from skillgate.model.bench import BenchDiff, TaskResult

CHANCES = (0.9, 0.5)
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_SPEC = Executable(id="flaky", name="Flaky", version="1.0.0", adapter_type=AdapterType.SUBPROCESS, entrypoint="flaky")
SKILL = Runnable(spec=_SPEC, config=AdapterConfig(), root=os.curdir, shown="flaky", digest="", key="flaky")


class Flaky(NamedTuple):
    """One side of a simulated change: an adapter that answers rightly with a fixed chance.

    ``broken`` is a task that always passes in the base and never in the head, ``""`` for none.
    """

    seed: int
    side: Side
    chance: float
    broken: str = ""

    def passes(self, task: str, number: int) -> bool:
        """Whether a run of a task passes."""
        if task == self.broken:
            return self.side is Side.BASE
        return random.Random(f"{self.seed} {self.side.value} {task} {number}").random() < self.chance

    def invoke(self, call: Call) -> Reply:
        """Answer a task."""
        return Reply(output="right" if self.passes(call.task.id, call.run) else "wrong")

    def close(self) -> None:
        """Do nothing."""


class World(NamedTuple):
    """A benchmark, and how it is scored."""

    loaded: Loaded
    job: Job

    @classmethod
    def of(cls, tasks: int) -> World:
        """Make a benchmark of so many tasks."""
        expected = Expected(type="exact", value="right")
        made = tuple(Task(id=f"t{n:03d}", input_data={}, expected_output=expected) for n in range(tasks))
        loaded = Loaded(
            benchmark=Benchmark(id="own", name="Own", version="1.0.0", tasks=made),
            folder=os.curdir,
            origin="made",
            digest="0" * 16,
        )
        rules = scoring_of(loaded, "exact")
        nothing = Surroundings(None, {}, frozenset(), frozenset(), guarded=True, served={}, stop=threading.Event())
        job = Job(
            items=(),
            adapters={},
            scorers=scorers_of(loaded, rules, nothing),
            scorer_names=dict.fromkeys(rules, "exact"),
            added={},
            timeout_s={SKILL.key: 1.0},
            retries={},
            most_at_once={},
            concurrency=1,
            retry_delay_s=0.0,
            stop=threading.Event(),
        )
        return cls(loaded, job)

    def results(self, skill: Flaky, items: Sequence[Item]) -> tuple[TaskResult, ...]:
        """Run items of one side."""
        job = self.job._replace(items=items, adapters={SKILL.key: skill}, stop=threading.Event())
        return run(job, lambda _: None)

    def report(self, skill: Flaky, runs: int) -> BenchReport:
        """Run every task so many times."""
        found = self.results(skill, items_of([SKILL], self.loaded, runs=runs))
        figures = summarise(found, self.loaded.benchmark, runs=runs)
        one = CompletionReport(
            skill_id=SKILL.key,
            skill_version="1.0.0",
            benchmark_id="own",
            timestamp=_BEGAN,
            summary=figures.summary,
            latency=figures.latency,
            task_results=found,
            benchmark_digest=self.loaded.digest,
        )
        return BenchReport(reports=(one,), tool=Tool(version="0"), config_digest="", run=RunSettings(runs=runs))


class Counted(NamedTuple):
    """Of how many simulated changes what came out."""

    of: int
    failed: int
    broken: int
    undecided: int
    three_alone: int = 0


def gate_of_action(world: World, seed: int, chance: float, runs: int, *, broken: str = "") -> BenchDiff:
    """Do what the Action does with a change that breaks one task or none: run both sides, and the lost tasks again."""
    skills = {side: Flaky(seed, side, chance, broken) for side in Side}
    before, after = (world.report(skills[side], runs) for side in Side)
    tasks = {task.id: task for task in world.loaded.benchmark.tasks}

    def again(side: Side, wanted: Sequence[Wanted]) -> Sequence[TaskResult]:
        items = [Item(order, SKILL, tasks[one.task], one.run) for order, one in enumerate(wanted)]
        return world.results(skills[side], items)

    return _compared(before, after, reruns=rerun(before, after, again))


def diff_of_reports(world: World, seed: int, chance: float, runs: int) -> BenchDiff:
    """Compare the reports of two runs of one skill."""
    before, after = (world.report(Flaky(seed, side, chance), runs) for side in Side)
    return _compared(before, after, reruns=None)


def _compared(before: BenchReport, after: BenchReport, **more: object) -> BenchDiff:
    return diff(before, after, label_a="a", label_b="b", version="0", policy=DiffPolicy(), **more)  # type: ignore[arg-type]


def action(tasks: int, chance: float, runs: int, times: int) -> Counted:
    """Count what the Action does in so many changes, with seeds from 0."""
    world = World.of(tasks)
    found = [gate_of_action(world, seed, chance, runs) for seed in range(times)]
    alone = sum(_three_alone(seed, chance, max(3, runs), tasks) for seed in range(times))
    return counted(found)._replace(three_alone=alone)


def reports(tasks: int, chance: float, runs: int, pairs: int) -> Counted:
    """Count what the diff of two reports says in so many pairs, with seeds from 0."""
    world = World.of(tasks)
    return counted([diff_of_reports(world, seed, chance, runs) for seed in range(pairs)])


def counted(found: Sequence[BenchDiff]) -> Counted:
    """Count failures, those that rest on broken tasks, and what is left to chance."""
    tests = [change.test for one in found for change in one.changes if change.test is not None]
    return Counted(
        of=len(found),
        failed=sum(one.verdict is Outcome.FAIL for one in found),
        broken=sum(bool(test.broken_tasks) for test in tests),
        undecided=sum(is_chance(one) for one in found),
    )


def _three_alone(seed: int, chance: float, runs: int, tasks: int) -> bool:
    before, after = (Flaky(seed, side, chance) for side in Side)
    numbers = range(1, runs + 1)
    names = [f"t{n:03d}" for n in range(tasks)]
    return any(
        all(before.passes(name, n) for n in numbers) and not any(after.passes(name, n) for n in numbers)
        for name in names
    )


def _row(chance: float, runs: int, of: Counted, *counts: int) -> str:
    return f"| {chance} | {runs} | {' | '.join(f'{100 * count / of.of:.1f} %' for count in counts)} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--action", type=int, default=200, help="simulated changes in the Action, for each row")
    parser.add_argument("--pairs", type=int, default=500, help="pairs of reports, for each row")
    args = parser.parse_args()
    print(f"Action: {args.tasks} unchanged tasks, {args.action} changes\n")
    print("| passes | runs | gate fails | broken | left to chance | 3 of 3 alone |")
    print("|--:|--:|--:|--:|--:|--:|")
    for chance in CHANCES:
        for runs in (1, 2, 3):
            one = action(args.tasks, chance, runs, args.action)
            print(_row(chance, runs, one, one.failed, one.broken, one.undecided, one.three_alone), flush=True)
    print(f"\nreport diff: {args.tasks} unchanged tasks, {args.pairs} pairs\n")
    print("| passes | runs | fails | broken | left to chance |")
    print("|--:|--:|--:|--:|--:|")
    for chance in CHANCES:
        for runs in (1, 2, 3):
            one = reports(args.tasks, chance, runs, args.pairs)
            print(_row(chance, runs, one, one.failed, one.broken, one.undecided), flush=True)


if __name__ == "__main__":
    main()
