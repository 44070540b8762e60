"""Measure `certify` of one skill against what cannot be saved: start-up, and waiting for a model.

    python -m benchmarks.certify_schedule [--simulations N] [--latency-ms N] [--in-flight N] [--judges N] [--rounds N]

A scripted model server on loopback takes 200 ms for every answer. The bound is start-up (the same command when every
answer is kept: static layer, statistics and report), plus a list schedule of what the run asked: as many
requests in flight as may be, none before what it depends on, as the report tells it of each session, and of those that
begin alike one ahead of the others. Aim: at most 1.2 times the bound.

Needs the `llm` extra. CPU time and memory are left out where the system does not tell them.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.judge_schedule import ASSESSMENTS, place, row
from benchmarks.static import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.judge_schedule import Bench
    from benchmarks.static import Run

ORDERS = 5  # in which skills are listed: sessions of one order begin alike
PROMPTS = 25  # that one request writes


class Task(NamedTuple):
    """Requests one after the other; ``fan`` more are ready with the last answer, and so are the tasks in ``then``.

    ``prefix`` names those whose first requests begin alike; "": none does.
    """

    length: int
    fan: int = 0
    prefix: str = ""
    then: tuple[Task, ...] = ()


def tasks_of(document: dict[str, Any]) -> list[Task]:
    """List what a run asked, from its report: judges, prompts, and sessions with their grades."""
    layers = {layer["name"]: layer for layer in document["layers"]}
    judges, sessions = layers["judge"]["judges"], layers["montecarlo"]
    found = [Task(1, fan=judges)]
    found += [Task(1, prefix=f"judge {judge}") for judge in range(judges) for _ in range(ASSESSMENTS)]
    runs = tuple(
        Task(run["turns"], fan=_grades(run), prefix=f"order {number % ORDERS}")
        for number, run in enumerate(sessions["runs"])
    )
    writing = -(-sessions["simulations"] // PROMPTS) + 1
    return [*found, *(Task(1) for _ in range(writing - 1)), Task(1, then=runs)]


def _grades(run: dict[str, Any]) -> int:
    if run["outcome"] != "completed":
        return 0
    return 2 if run["should_trigger"] else int(run["activated"])


def rounds_of(tasks: Sequence[Task], in_flight: int) -> int:
    """Count the rounds of a list schedule in which all requests take the same time."""
    ready = list(tasks)
    warm: set[str] = {""}
    rounds = 0
    while ready:
        sent: list[Task] = []
        held: list[Task] = []
        warming: set[str] = set()
        for task in ready:
            if len(sent) == in_flight or (task.prefix not in warm and task.prefix in warming):
                held.append(task)
                continue
            warming.add(task.prefix)
            sent.append(task)
        warm |= warming
        after = [task._replace(length=task.length - 1, prefix="") for task in sent if task.length > 1]
        for task in sent:
            if task.length == 1:
                after += [*(Task(1) for _ in range(task.fan)), *task.then]
        ready = [*held, *after]
        rounds += 1
    return rounds


def certify(bench: Bench, answers: str, report: str) -> Run:
    """Certify the skill, with the answers cached under this name."""
    kept = ("--cache-dir", str(bench.scratch / answers), "--output-file", str(bench.scratch / report))
    skill = next(bench.skills.iterdir())
    command = ("-m", "skillgate", "certify", "-q", "--max-calls", "1000000", *kept, *bench.options, str(skill))
    return run(command, bytecode=str(bench.scratch / "bytecode"))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; a clock fails no build."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name, default in (("simulations", 50), ("latency-ms", 200), ("in-flight", 8), ("judges", 3), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args(argv)
    options = [f"--{name}={getattr(args, name.replace('-', '_'))}" for name in ("simulations", "in-flight", "judges")]
    with place(1, args.latency_ms, options) as bench:
        names = [f"answers-{number}" for number in range(args.rounds + 1)]
        taken = [(certify(bench, name, "report.json"), certify(bench, name, "again.json")) for name in names]
        document = json.loads((bench.scratch / "report.json").read_text())
    fresh, again = (sorted(runs, key=lambda one: one.wall_s)[args.rounds // 2] for runs in zip(*taken[1:], strict=True))
    rounds = rounds_of(tasks_of(document), args.in_flight)
    waiting = rounds * args.latency_ms / 1000
    bound = again.wall_s + waiting
    calls = document["usage"]["calls"]
    print(
        f"1 skill, {args.simulations} simulations, {args.judges} judges, {calls} calls, {args.latency_ms} ms; medians"
    )
    print(f"{'':<34}{'wall s':>8}{'CPU s':>8}{'peak MB':>9}{'run ÷':>8}")
    print(f"{f'list schedule, {rounds} rounds':<34}{waiting:8.2f}")
    print(row("start-up, all answers cached", again))
    print(row("start-up, and the schedule", again._replace(wall_s=bound), fresh.wall_s / bound))
    print(row("the run", fresh, 1.0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
