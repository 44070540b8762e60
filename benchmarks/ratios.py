"""Print every ratio of the static layer in one run: before and after, compared with its floor and with other linters.

    python -m benchmarks.ratios [--before REVISION] [--tools DIR] [--corpus DIR] [--rounds N] [--no-profile]

The cases run in turn, repeatedly: Python that imports the parsers, a plain markdown-it parse of every Markdown file of
the corpus, and `check` of one file and of the corpus, without a cache and with a filled one, by REVISION and by the
working tree. Printed are medians of CPU and wall time, and CPU time divided by the floor: the imports for one file, the
plain parse for the corpus. Then come the tables of `benchmarks.peers` with the linters that are in DIR, and the CPU
time of a cold run in one process by module.
"""

from __future__ import annotations

import argparse
import os
import pstats
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import peers, same_output
from benchmarks.static import FLOOR, PARSE, ROOT, Run, typical, waited

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PROFILED = """
import cProfile, os, runpy, sys
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one process
output = sys.argv.pop(1)
profile = cProfile.Profile()
try:
    profile.runcall(runpy.run_module, "skillgate", run_name="__main__", alter_sys=True)
except SystemExit:
    pass
profile.dump_stats(output)
"""
MODULES = 30


def run(arguments: Sequence[str], tree: Path, folder: Path, given: str = "") -> Run:
    """Run Python with the modules of ``tree`` and measure it; exit codes 0 and 1 are good."""
    env = {
        **os.environ,
        "PYTHONPATH": str(tree),
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "XDG_CACHE_HOME": str(folder / f"cache-{tree.name}"),
    }
    source = folder / "stdin"
    source.write_text(given, encoding="utf-8")
    started = time.perf_counter()
    with (
        source.open() as stdin,
        subprocess.Popen(
            [sys.executable, *arguments], cwd=folder, env=env, stdin=stdin, stdout=subprocess.DEVNULL, text=True
        ) as process,
    ):
        taken = waited(process, started)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(arguments)[:60]} ended with {process.returncode}")
    return taken


def measure(trees: Mapping[str, Path], corpus: Path, folder: Path, rounds: int) -> dict[tuple[str, str], Run]:
    """Run every case once, which compiles modules and fills caches, then all in turn; return medians."""
    files = "\0".join(sorted(str(path) for path in corpus.rglob("*.md") if path.is_file()))
    one = typical(corpus)
    cases: dict[tuple[str, str], tuple[Sequence[str], Path, str]] = {
        ("imports", ""): (("-c", FLOOR), ROOT, ""),
        ("plain parse", ""): (("-c", PARSE), ROOT, files),
    }
    for what, path in (("one file", one), ("corpus", corpus)):
        for state, more in (("cold", ("--no-cache",)), ("warm", ())):
            for name, tree in trees.items():
                words = ("-m", "skillgate", "check", *more, str(path), "--fail-on", "never")
                cases[f"{what}, {state}", name] = (words, tree, "")
    runs: dict[tuple[str, str], list[Run]] = {key: [] for key in cases}
    for number in range(rounds + 1):
        for key, (arguments, tree, given) in cases.items():
            taken = run(arguments, tree, folder, given)
            if number:
                runs[key].append(taken)
    return {key: Run(*map(median, zip(*taken, strict=True))) for key, taken in runs.items()}


def table(measured: Mapping[tuple[str, str], Run]) -> Iterator[str]:
    """Lay out the figures as a Markdown table."""
    yield "| Case | Version | Wall ms | CPU ms | Peak MB | CPU ÷ imports | CPU ÷ plain parse |"
    yield "|---|---|---|---|---|---|---|"
    floors = [measured[name, ""].cpu_s for name in ("imports", "plain parse")]
    for (case, name), taken in measured.items():
        ratios = " | ".join(f"{taken.cpu_s / floor:.2f}" if floor else "—" for floor in floors)
        times = f"{taken.wall_s * 1e3:,.0f} | {taken.cpu_s * 1e3:,.0f} | {taken.peak_mb:.1f}"
        yield f"| {case} | {name or '—'} | {times} | {ratios} |"


def by_module(corpus: Path, folder: Path) -> Iterator[str]:
    """Profile a cold run of the working tree in one process, and list the modules that take most of its time."""
    output = folder / "profile"
    words = ("check", "--no-cache", str(corpus), "--fail-on", "never")
    run(("-c", PROFILED, str(output), *words), ROOT, folder)
    own: Counter[str] = Counter()
    for (file, _, function), (_, _, seconds, _, _) in pstats.Stats(str(output)).stats.items():  # type: ignore[attr-defined]
        path = file.replace("\\", "/")
        name = path.rpartition("site-packages/")[2]
        for top in (ROOT, Path(sysconfig.get_path("stdlib"))):
            name = name.removeprefix(f"{top.as_posix()}/")
        own[name if file != "~" else f"built-in: {function}"] += seconds
    total = sum(own.values())
    yield "| Module | Share of the time |"
    yield "|---|---|"
    yield from (f"| {name} | {seconds / total:.1%} |" for name, seconds in own.most_common(MODULES))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; a clock fails no build."""
    data = os.environ.get("SKILLGATE_TEST_DATA")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="REVISION", help="a commit to compare with")
    parser.add_argument("--tools", type=Path, metavar="DIR", help="where benchmarks.peers has installed other linters")
    parser.add_argument("--corpus", type=Path, default=Path(data) / "corpus" if data else ROOT / "examples")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--no-profile", action="store_true", help="leave out the profile by module")
    args = parser.parse_args(argv)
    corpus = args.corpus.resolve()
    with tempfile.TemporaryDirectory(prefix="ratios-") as name:
        folder = Path(name)
        before = {"before": same_output.checkout(args.before, folder / "before", ROOT)} if args.before else {}
        for line in table(measure({**before, "after": ROOT}, corpus, folder, args.rounds)):
            print(line)
        if not args.no_profile:
            print()
            for line in by_module(corpus, folder):
                print(line)
    print()
    for line in peers.report(peers.chosen(args.tools, {}), corpus, args.rounds):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
