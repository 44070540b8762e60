"""Compare `eval` of programs with the bare cost of starting them, and measure its overhead.

    python -m benchmarks.eval_speed [--rounds N] [--many TASKS]

Twenty tasks in three runs are 60 processes, four at a time. The bare cost is the same 60 programs with the same bytes
on their standard input, started by four threads that do nothing else; `eval` is measured from its first start of a
program to the last reply, as its report tells, and its own start-up apart. Both take turns within one run. Aims: at
most 1.15 times the bare cost, 0.30 s of start-up, 60 MB, and less than the spawns where one process answers many.

With `--many 10000` as many tasks run through persistent workers, 16 at once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.static import ROOT, waited

if TYPE_CHECKING:
    from collections.abc import Sequence

TASKS, RUNS, AT_ONCE = 20, 3, 4
PROGRAM = """\
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    reply = {"jsonrpc": "2.0", "id": request["id"], "result": 2 * request["params"]["n"]}
    print(json.dumps(reply), flush=True)
"""
_ENVIRONMENT = {
    **{"HOME": "/nonexistent", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
    **{"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"},
}


class Taken(NamedTuple):
    """What one `eval` took: from first start to last reply, the rest of it, and its peak of memory."""

    calls_s: float
    beside_s: float
    cpu_s: float
    peak_mb: float


def written(folder: Path, *, tasks: int, persistent: bool) -> tuple[Path, Path]:
    """Write a skill and a benchmark; give the paths of both."""
    skill = folder / ("persistent" if persistent else "spawned")
    skill.mkdir()
    skill.chmod(0o755)
    spec: dict[str, Any] = {"id": "doubler", "name": "Doubler", "version": "1.0.0", "adapterType": "subprocess"}
    spec |= {"entrypoint": "python3 skill.py"} | ({"adapter": {"persistent": True}} if persistent else {})
    (skill / "skill.json").write_text(json.dumps(spec), encoding="utf-8")
    (skill / "skill.py").write_text(PROGRAM, encoding="utf-8")
    listed = [
        {"id": f"t{n}", "inputData": {"n": n}, "expectedOutput": {"type": "exact", "value": 2 * n}}
        for n in range(tasks)
    ]
    benchmark = folder / f"{skill.name}.json"
    whole = {"id": "doubles", "name": "Doubles", "version": "1.0.0", "tasks": listed}
    benchmark.write_text(json.dumps(whole), encoding="utf-8")
    return skill, benchmark


def bare(skill: Path) -> float:
    """Start the 60 programs and read their replies; seconds."""

    def call(number: int) -> None:
        request = json.dumps({"jsonrpc": "2.0", "method": "invoke", "params": {"n": number}, "id": 1})
        done = subprocess.run(
            ["python3", "skill.py"],
            cwd=skill,
            env={**_ENVIRONMENT, "PATH": os.environ["PATH"]},
            input=f"{request}\n".encode(),
            capture_output=True,
            check=True,
        )
        if json.loads(done.stdout)["result"] != 2 * number:
            message = f"the program answered {done.stdout!r}"
            raise RuntimeError(message)

    began = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as crew:
        list(crew.map(call, [n % TASKS for n in range(TASKS * RUNS)]))
    return time.perf_counter() - began


def evaluated(skill: Path, benchmark: Path, place: Path, *, runs: int, at_once: int, stored: bool = False) -> Taken:
    """Run `eval` in a new process.

    Raises:
        RuntimeError: not every task passed, so that the time means nothing.
    """
    command = [
        *(sys.executable, "-m", "skillgate", "eval", "--skills", str(skill), "--benchmark", str(benchmark)),
        *("--runs", str(runs), "--concurrency", str(at_once), "--format", "json", "--output-dir", str(place), "--json"),
        *(() if stored else ("--no-store",)),
    ]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=log, text=True, env=environ)
        took = waited(process, began)
    if process.returncode:
        raise RuntimeError((place / "log").read_text(encoding="utf-8"))
    report = json.loads((place / "eval-result.json").read_text(encoding="utf-8"))
    if report["reports"][0]["summary"]["completionRate"] != 1:
        message = "not every task passed"
        raise RuntimeError(message)
    return Taken(report["duration_s"], took.wall_s - report["duration_s"], took.cpu_s, took.peak_mb)


def middle(taken: Sequence[Taken]) -> Taken:
    """Give the median of each figure."""
    return Taken(*(median(column) for column in zip(*taken, strict=True)))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; a clock fails no build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--many", type=int, default=0, metavar="TASKS")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "out").mkdir()
        spawned, persistent = (written(folder, tasks=TASKS, persistent=kept) for kept in (False, True))
        floor: list[float] = []
        kinds = {
            "a process for each call": (spawned, False),
            "and the store": (spawned, True),
            "persistent workers": (persistent, False),
        }
        each: dict[str, list[Taken]] = {kind: [] for kind in kinds}
        helped: list[float] = []
        for number in range(args.rounds + 1):
            floor.append(bare(spawned[0]))
            for kind, (paths, stored) in kinds.items():
                each[kind].append(evaluated(*paths, folder / "out", runs=RUNS, at_once=AT_ONCE, stored=stored))
            began = time.perf_counter()
            subprocess.run([sys.executable, "-m", "skillgate", "--help"], check=True, capture_output=True, cwd=ROOT)
            helped.append(time.perf_counter() - began)
            if not number:  # the first round compiles the modules
                floor, helped, each = [], [], {kind: [] for kind in each}
        bound = median(floor)
        print(f"| {TASKS} tasks × {RUNS} runs, {AT_ONCE} at once | calls s | ÷ bare | overhead s | CPU s | peak MB |")
        print("|---|--:|--:|--:|--:|--:|")
        print(f"| {TASKS * RUNS} bare spawns | {bound:.2f} | 1.00 | | | |")
        for kind, runs in each.items():
            took = middle(runs)
            print(
                f"| eval, {kind} | {took.calls_s:.2f} | {took.calls_s / bound:.2f} | {took.beside_s:.2f}"
                f" | {took.cpu_s:.2f} | {took.peak_mb:.0f} |"
            )
        print(f"\n`--help`: {median(helped):.3f} s")
        if args.many:
            (folder / "many").mkdir()
            paths = written(folder / "many", tasks=args.many, persistent=True)
            took = evaluated(*paths, folder / "out", runs=1, at_once=16)
            print(
                f"\n{args.many:,} tasks, 16 at once, persistent workers: {took.calls_s:.1f} s,"
                f" {took.beside_s:.1f} s overhead, {took.peak_mb:.0f} MB"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
