"""Show how the time of an evaluation grows with the size of hostile documents.

    python -m benchmarks.growth [SHAPE …] [--size N] [--limit SECONDS] [--profile]

Each shape is evaluated at N, 2N and 4N characters, each time in a process of its own, which is stopped at the limit.
The exponent is that of both doublings: 1 is linear, 2 quadratic. Shapes of the frontmatter end at 60,000 characters.
Times are CPU seconds of the evaluation alone, the least of three where they are below a second.
"""

from __future__ import annotations

import argparse
import cProfile
import math
import pstats
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import shapes
from skillgate import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

STEEP = 1.3  # exponents above this are marked
SLOW = 3.0  # seconds a megabyte above this are marked
_FRONT = 15_000  # characters a frontmatter shape begins with


class Growth(NamedTuple):
    """CPU seconds at three sizes, each the double of the one before; inf where the limit was reached."""

    shape: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """Give the power of the size that the time grows with, over both doublings."""
        first, *_, last = self.seconds
        if math.isinf(last):
            return math.inf
        return math.log(last / first) / math.log(self.sizes[-1] / self.sizes[0])

    @property
    def seconds_per_mb(self) -> float:
        """Give the seconds a million characters at the largest size."""
        return self.seconds[-1] / self.sizes[-1] * 1e6

    @property
    def marked(self) -> bool:
        """Return whether the shape grows too fast or costs too much."""
        return self.exponent > STEEP or self.seconds_per_mb > SLOW


def measure(shape: str, size: int, *, limit_s: float) -> Growth:
    """Measure one shape at three sizes."""
    start = min(size, _FRONT) if shape not in shapes.BODIES else size
    sizes = (start, 2 * start, 4 * start)
    return Growth(shape, sizes, tuple(_in_a_process(shape, each, limit_s=limit_s) for each in sizes))


def _in_a_process(shape: str, size: int, *, limit_s: float) -> float:
    command = [sys.executable, "-m", "benchmarks.growth", shape, "--size", str(size), "--once"]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return math.inf
    return float(done.stdout)


def once(shape: str, size: int, *, profile: bool = False) -> float:
    """Evaluate a shape in this process and give the CPU seconds, the least of three for what is short."""
    text = shapes.write(shape, size)
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "shape"
        directory.mkdir()
        (directory / "SKILL.md").write_text(text, encoding="utf-8", newline="\n")
        _warm_up(Path(folder))
        if profile:
            _profile(directory)
        first = _timed(directory)
        return first if first > 1 else min(first, _timed(directory), _timed(directory))


def _warm_up(folder: Path) -> None:
    """Import everything and fill the caches with a small skill."""
    directory = folder / "small"
    directory.mkdir()
    (directory / "SKILL.md").write_text(shapes.write("code spans", 20), encoding="utf-8")
    evaluate(directory)


def _timed(directory: Path) -> float:
    started = time.process_time()
    evaluate(directory)
    return time.process_time() - started


def _profile(directory: Path) -> None:
    profiler = cProfile.Profile()
    profiler.runcall(evaluate, directory)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(8)


def row(growth: Growth) -> str:
    """Write one line of the table."""
    times = "".join(f"{seconds:9.3f}" for seconds in growth.seconds)
    mark = "  <--" if growth.marked else ""
    return f"{growth.shape:<28}{growth.sizes[0]:8}{times}{growth.exponent:9.2f}{growth.seconds_per_mb:9.2f}{mark}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; always 0, for a clock fails no build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help="names of shapes; by default all of them")
    parser.add_argument("--size", type=int, default=30_000, help="characters at the first of three sizes")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a process is stopped")
    parser.add_argument("--profile", action="store_true", help="show where the time goes at the first size")
    parser.add_argument("--once", action="store_true", help="measure the first size alone, in this process")
    args = parser.parse_args(argv)
    chosen = args.shapes or shapes.names()
    if args.once or args.profile:
        for shape in chosen:
            print(f"{once(shape, args.size, profile=args.profile):.6f}")
        return 0
    print(f"{'shape':<28}{'n':>8}{'t(n)':>9}{'t(2n)':>9}{'t(4n)':>9}{'exponent':>9}{'s/MB':>9}")
    for shape in chosen:
        print(row(measure(shape, args.size, limit_s=args.limit)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
