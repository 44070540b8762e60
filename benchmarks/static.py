"""Measure the static layer: one skill in a cold process, and a whole collection, compared with the unavoidable minimum.

    python -m benchmarks.static [--corpus DIR] [--skill DIR] [--rounds N]

Beside skillgate run, in turn (A B C D E, A B C D E, …): Python that only imports yaml and markdown_it, the floor; and
Python that then parses the same files with a plain markdown-it-py, one call a file. Printed are medians of wall time,
of CPU time and of peak memory, and the ratios of CPU time, which is the steadier figure on a machine that does other
things, to both. Aims: one skill at most 1.4 times the floor, a collection at most 1.5 times floor and parsing.

CPU time and memory come from `os.wait4` and are left out where the system has none.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[1]
FLOOR = "import yaml, markdown_it"
PARSE = f"""{FLOOR}
import sys
parser = markdown_it.MarkdownIt("commonmark").enable("table")
for path in sys.stdin.read().split("\\0"):
    with open(path, encoding="utf-8") as file:
        parser.parse(file.read())
"""


class Run(NamedTuple):
    """What one process took. ``cpu_s`` and ``peak_mb`` are 0 if the system does not report them."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def run(arguments: Sequence[str], given: str = "", *, bytecode: str) -> Run:
    """Run Python with these arguments and measure it; ``bytecode`` is where it keeps compiled modules.

    Raises:
        RuntimeError: it failed, so that its time means nothing.
    """
    started = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(given)
        process.stdin.close()
        result = waited(process, started)
        if process.returncode:
            errors = process.stderr.read() if process.stderr is not None else ""
            raise RuntimeError(f"{' '.join(arguments)[:60]} ended with {process.returncode}: {errors.strip()[-300:]}")
    return result


def waited(process: subprocess.Popen[str], started: float) -> Run:
    """Wait for a process that began at ``started`` (``time.perf_counter``), and give what it took."""
    if sys.platform == "win32":
        process.wait()
        return Run(time.perf_counter() - started, 0.0, 0.0)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10  # ru_maxrss is in bytes there, in KiB elsewhere
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def measure(cases: Mapping[str, tuple[Sequence[str], str]], rounds: int) -> dict[str, Run]:
    """Run every case once, which compiles the modules, then all of them in turn; give the median of each figure."""
    runs: dict[str, list[Run]] = {name: [] for name in cases}
    with tempfile.TemporaryDirectory() as bytecode:
        for number in range(rounds + 1):
            for name, (arguments, given) in cases.items():
                taken = run(arguments, given, bytecode=bytecode)
                if number:
                    runs[name].append(taken)
    return {
        name: Run(
            median(item.wall_s for item in taken),
            median(item.cpu_s for item in taken),
            median(item.peak_mb for item in taken),
        )
        for name, taken in runs.items()
    }


def cases(skill: Path, corpus: Path) -> dict[str, tuple[Sequence[str], str]]:
    """List what runs: for each case the arguments of Python and what it reads from stdin."""
    files = sorted(str(path) for path in corpus.rglob("SKILL.md"))
    tool = ("-m", "skillgate")
    return {
        "floor": (("-c", FLOOR), ""),
        "score, one skill": ((*tool, "score", "--no-cache", str(skill)), ""),
        "check, one skill": ((*tool, "check", "--no-cache", str(skill), "--fail-on", "never"), ""),
        f"floor and parsing, {len(files)} files": (("-c", PARSE), "\0".join(files)),
        f"score, {len(files)} skills": ((*tool, "score", "--no-cache", str(corpus), "-q"), ""),
    }


def typical(corpus: Path) -> Path:
    """Return the skill with the main file of median size."""
    files = sorted(corpus.rglob("SKILL.md"), key=lambda path: (path.stat().st_size, str(path)))
    return files[len(files) // 2].parent


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; a clock fails no build."""
    data = os.environ.get("SKILLGATE_TEST_DATA")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path(data) / "corpus" if data else ROOT / "examples")
    parser.add_argument("--skill", type=Path, help="by default the one of median size in the corpus")
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args(argv)
    corpus = args.corpus.resolve()
    skill = (args.skill or typical(corpus)).resolve()
    measured = measure(cases(skill, corpus), args.rounds)
    floor, _, _, parsed, _ = measured.values()
    size = (skill / "SKILL.md").stat().st_size
    print(f"one skill: {skill.name}, {size:,} bytes; medians of {args.rounds}; Python {sys.version.split()[0]}")
    print(f"{'':<36}{'wall ms':>9}{'CPU ms':>9}{'peak MB':>9}{'CPU / floor':>13}{'CPU / parsed':>14}")
    for name, taken in measured.items():
        ratios = [f"{taken.cpu_s / base.cpu_s:.2f}" if base.cpu_s else "—" for base in (floor, parsed)]
        times = f"{taken.wall_s * 1e3:9.1f}{taken.cpu_s * 1e3:9.1f}{taken.peak_mb:9.1f}"
        print(f"{name:<36}{times}{ratios[0]:>13}{ratios[1]:>14}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
