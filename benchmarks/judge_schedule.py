"""Measure `score --depth standard` against what cannot be saved: start-up, and waiting for a model.

    python -m benchmarks.judge_schedule [--skills N] [--latency-ms N] [--in-flight N] [--judges N] [--rounds N]

A scripted model server on loopback takes 200 ms for every answer. Beside the run itself are measured, in turn, the
import of the SDK alone and the same command when every answer is kept, which is start-up, static layer and report.
The bound is the import plus a list schedule: as many requests in flight as may be, none before what it depends on,
and of those that begin alike one ahead of the others. Aim: at most 1.15 times the bound. Then memory, for so many
skills and for ten times as many, with a model that answers at once.

Needs the `llm` extra. CPU time and memory are left out where the system does not tell them.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.static import ROOT, Run, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

IMPORT = "import anthropic"
ASSESSMENTS = 4  # requests of one judge that show the whole skill
SUBJECTS = ("invoices", "ledgers", "maps", "recipes", "tickets", "photographs", "contracts", "surveys", "harvests")


class Call(NamedTuple):
    """A request of a schedule.

    Attributes:
        skill: requests of earlier skills go first.
        number: the same among those of one skill.
        prefix: of those with the same one, one goes ahead; -1: none.
        then: how many requests become ready with its answer.
    """

    skill: int
    number: int
    prefix: int = -1
    then: int = 0


def calls_of(skill: int, judges: int) -> tuple[Call, ...]:
    """List what is asked of one skill at once: the prompts, which the predictions wait for, and the assessments."""
    prompts = Call(skill, 0, then=judges)
    return (prompts, *(Call(skill, 1 + number, judge) for judge in range(judges) for number in range(ASSESSMENTS)))


def rounds_of(skills: int, *, judges: int, in_flight: int) -> tuple[int, ...]:
    """Give how many calls are on their way in each round of a list schedule, where all take the same time.

    Args:
        skills: how many are judged.
        judges: of each.
        in_flight: calls that may be on their way at once.
    """
    ready = [call for skill in range(skills) for call in calls_of(skill, judges)]
    heapq.heapify(ready)
    warm: set[tuple[int, int]] = set()
    rounds: list[int] = []
    while ready:
        sent: list[Call] = []
        held: list[Call] = []
        warming: set[tuple[int, int]] = set()
        while ready and len(sent) < in_flight:
            call = heapq.heappop(ready)
            prefix = (call.skill, call.prefix)
            if call.prefix >= 0 and prefix not in warm and prefix in warming:
                held.append(call)
                continue
            warming.add(prefix)
            sent.append(call)
        warm |= warming
        after = [Call(call.skill, 100 + number) for call in sent for number in range(call.then)]
        for call in (*held, *after):
            heapq.heappush(ready, call)
        rounds.append(len(sent))
    return tuple(rounds)


def write_skills(folder: Path, many: int) -> None:
    """Write skills of usual size, no two alike."""
    for number in range(many):
        name = f"keep-{SUBJECTS[number % len(SUBJECTS)]}-{number}"
        thing = name.replace("-", " ")
        steps = "\n".join(
            f"{step}. Look at entry {step} of {thing}, compare it with its neighbour, and note what differs and why."
            for step in range(1, 101)
        )
        (folder / name).mkdir()
        (folder / name / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Sorts {thing} into order. Use when the user asks for {thing} by date.\n"
            f"---\n\n# {name}\n\n## When to use\n\nFor {thing}, and nothing else.\n\n## Steps\n\n{steps}\n",
            encoding="utf-8",
        )


@contextmanager
def server(latency_ms: int) -> Iterator[str]:
    """Run the scripted model server in a new process; return its address."""
    command = [sys.executable, "-m", "skillgate", "demo-server", "--json", "--latency-ms", str(latency_ms)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["base_url"]
        finally:
            process.terminate()


class Bench(NamedTuple):
    """Where things are: the skills, a folder for answers and compiled modules, and the options of every run."""

    skills: Path
    scratch: Path
    options: tuple[str, ...]

    def score(self, answers: str) -> Run:
        """Score the skills, with the answers cached under this name."""
        kept = str(self.scratch / answers)
        command = ("-m", "skillgate", "score", "--depth", "standard", "-q", "--cache-dir", kept, *self.options)
        return run((*command, str(self.skills)), bytecode=str(self.scratch / "bytecode"))

    def imports(self) -> Run:
        """Import the SDK and end."""
        return run(("-c", IMPORT), bytecode=str(self.scratch / "bytecode"))


def timed(bench: Bench, rounds: int) -> tuple[Run, Run, Run]:
    """Measure the import, the run, and the run again, in turn; give medians, the first round not counted."""
    names = [f"answers-{number}" for number in range(rounds + 1)]
    taken = [(bench.imports(), bench.score(name), bench.score(name)) for name in names]
    imports, fresh, again = (sorted(runs, key=lambda one: one.wall_s) for runs in zip(*taken[1:], strict=True))
    return imports[rounds // 2], fresh[rounds // 2], again[rounds // 2]


@contextmanager
def place(skills: int, latency_ms: int, options: Sequence[str]) -> Iterator[Bench]:
    """Write skills, start a server and point the SDK at it."""
    with tempfile.TemporaryDirectory() as folder, server(latency_ms) as address:
        top = Path(folder)
        (top / "skills").mkdir()
        write_skills(top / "skills", skills)
        os.environ.update(ANTHROPIC_BASE_URL=address, ANTHROPIC_API_KEY="none", XDG_CACHE_HOME=str(top / "cache"))
        yield Bench(top / "skills", top, tuple(options))


def row(name: str, taken: Run, ratio: float | None = None) -> str:
    """Give a row of the table; ``ratio`` is the wall time of the run over this one's."""
    return f"{name:<34}{taken.wall_s:8.2f}{taken.cpu_s:8.2f}{taken.peak_mb:9.1f}" + (f"{ratio:8.2f}" if ratio else "")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; a clock fails no build."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name, default in (("skills", 20), ("latency-ms", 200), ("in-flight", 8), ("judges", 1), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args(argv)
    options = ("--in-flight", str(args.in_flight), "--judges", str(args.judges))
    with place(args.skills, args.latency_ms, options) as bench:
        imports, fresh, again = timed(bench, args.rounds)
    rounds = rounds_of(args.skills, judges=args.judges, in_flight=args.in_flight)
    waiting = len(rounds) * args.latency_ms / 1000
    bound, beside = imports.wall_s + waiting, again.wall_s + waiting
    print(f"{args.skills} skills, {args.judges} judges, {args.latency_ms} ms, {args.in_flight} in flight; medians")
    print(f"{'':<34}{'wall s':>8}{'CPU s':>8}{'peak MB':>9}{'run ÷':>8}")
    print(f"{f'list schedule, {len(rounds)} rounds':<34}{waiting:8.2f}")
    print(row("import of the SDK, and the schedule", imports._replace(wall_s=bound), fresh.wall_s / bound))
    print(row("all answers cached, and the schedule", again._replace(wall_s=beside), fresh.wall_s / beside))
    print(row("the run", fresh, 1.0))
    for many in (args.skills, 10 * args.skills):
        with place(many, 0, (*options, "--max-calls", "1000000")) as bench:  # a limit: nobody is to be asked
            print(row(f"{many} skills, a model without delay", bench.score("answers")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
