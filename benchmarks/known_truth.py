"""Compare what `certify` measures with a world with a known truth, seed by seed.

    python -m benchmarks.known_truth [--seeds N] [--first N] [--simulations N]

A scripted world says how often a skill is loaded, how good answers are, how many sessions fail, and how strong the
skill is; opponents have the ratings that matches between them gave in such a world. Each seed is another world with the
same truth; the true rating is the one that expects, of those opponents, what the true strengths do. The table says in
how many of them the stated 95 % interval of each quantity holds the truth: at least 89 of 100 are to.

Needs the `llm` extra; 100 seeds take some minutes.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.cli.main import main as command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ACTIVATION, NEAR_MISS = 0.9, 0.1
QUALITY, SD, STEP = 0.7, 0.1, 0.1  # grades are rounded to tenths, which adds to their spread
DELIVERS, COVERS = 0.85, 0.8
FAILURES = {"refusal": 0.03, "truncated": 0.02, "empty": 0.02, "max_turns": 0.01}
OUTAGES, BIAS = 0.01, 0.06
STRENGTH, OPPONENTS = 1600.0, 24
NAME = "parcel-labels"
WORLD = """\
world:
  seed: {seed}
  target: {name}
  activation: {{should: {activation}, near_miss: {near}}}
  quality: {{mean: {quality}, sd: {sd}}}
  delivers: {delivers}
  covers: {covers}
  failures: {{{failures}}}
  outages: {{overloaded: {outages}, retry_after_s: 0}}
  strengths: {{{strengths}}}
  position_bias: {bias}
rules: []
"""


class Bound(NamedTuple):
    """A stated interval, and the truth that it is to hold."""

    low: float | None
    high: float | None
    truth: float

    @property
    def holds(self) -> bool:
        """Return whether there is an interval and the truth is in it; ends are given with six decimals."""
        if self.low is None or self.high is None:
            return False
        return self.low - 1e-6 <= self.truth <= self.high + 1e-6


class Certified(NamedTuple):
    """One world: the intervals of rates and ratings, that of the median of tokens, and the tokens of each session."""

    bounds: dict[str, Bound]
    median: tuple[float | None, float | None]
    tokens: tuple[int, ...]


def main(arguments: list[str]) -> int:
    """Run the seeds and print the table; 1 where a quantity is held too seldom."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--simulations", type=int, default=50)
    args = parser.parse_args(arguments)
    found: list[Certified] = []
    with tempfile.TemporaryDirectory() as folder:
        place = prepared(Path(folder))
        for seed in range(args.first, args.first + args.seeds):
            found.append(certified(place, seed, args.simulations))
            print(f"\rseed {seed}", end="", file=sys.stderr, flush=True)
    print("\n| quantity | truth | held in | of | mean width |\n|---|---|---|---|---|")
    bounds = by_quantity(found)
    for name, several in sorted(bounds.items()):
        widths = [one.high - one.low for one in several if one.low is not None and one.high is not None]
        truth = statistics.fmean(one.truth for one in several)
        held = sum(one.holds for one in several)
        print(f"| {name} | {truth:.4g} | {held} | {len(several)} | {statistics.fmean(widths):.3f} |")
    least = min(sum(one.holds for one in several) for several in bounds.values())
    return 0 if least >= math.floor(0.89 * args.seeds) else 1


def by_quantity(found: Sequence[Certified]) -> dict[str, list[Bound]]:
    """Give the stated intervals of each quantity; the true median of tokens is that of all runs of all worlds."""
    tokens = statistics.median(count for one in found for count in one.tokens)
    bounds: dict[str, list[Bound]] = {}
    for one in found:
        low, high = one.median
        for name, bound in {**one.bounds, "tokens": Bound(low, high, tokens)}.items():
            bounds.setdefault(name, []).append(bound)
    return bounds


def prepared(folder: Path) -> Path:
    """Write the skill, its siblings and a corpus that is rated by matches in a world of the same strengths."""
    for name in (NAME, "invoice-mail", "stock-count", "return-slips"):
        _skill(folder / "skills", name)
    names = [f"rival-{number:02}" for number in range(OPPONENTS)]
    for name in names:
        _skill(folder / "rivals", name)
    _run(folder, "corpus", "build", "rivals", "--corpus-dir", "corpus")
    strengths = ", ".join(f"{name}: {strength(name)}" for name in names)
    (folder / "rivals.yaml").write_text(f"world: {{seed: 0, strengths: {{{strengths}}}, position_bias: {BIAS}}}\n")
    _run(folder, "corpus", "rate", "--provider", "scripted", "--script", "rivals.yaml", "--corpus-dir", "corpus")
    return folder


def strength(name: str) -> float:
    """Give the true strength of a rival: from 1300 to 1760, evenly."""
    return 1300.0 + 20.0 * int(name.rpartition("-")[2])


def certified(folder: Path, seed: int, simulations: int) -> Certified:
    """Certify the skill in one world, and give the stated intervals with the truth."""
    rivals = {f"rival-{number:02}": strength(f"rival-{number:02}") for number in range(OPPONENTS)}
    strengths = {NAME: STRENGTH, **rivals}
    world = WORLD.format(
        seed=seed,
        name=NAME,
        activation=ACTIVATION,
        near=NEAR_MISS,
        quality=QUALITY,
        sd=SD,
        delivers=DELIVERS,
        covers=COVERS,
        failures=", ".join(f"{key}: {value}" for key, value in FAILURES.items()),
        outages=OUTAGES,
        bias=BIAS,
        strengths=", ".join(f"{key}: {value}" for key, value in strengths.items()),
    )
    (folder / "world.yaml").write_text(world)
    words = ("certify", f"skills/{NAME}", "--provider", "scripted", "--script", "world.yaml", "--corpus-dir", "corpus")
    document = _run(folder, *words, "--simulations", str(simulations), "--seed", str(seed), "--json")
    layers = {layer["name"]: layer for layer in json.loads(document)["layers"]}
    sessions = layers["montecarlo"]
    median = sessions["measures"]["tokens"]
    counts = tuple(run["tokens"] for run in sessions["runs"] if run["tokens"] is not None)
    bounds = {**_sessions(sessions), **_matches(layers["ranking"])}
    return Certified(bounds, (median["ci_low"], median["ci_high"]), counts)


def _sessions(layer: dict[str, Any]) -> dict[str, Bound]:
    truths = {
        "activation_rate": ACTIVATION,
        "activation_rate_wilson": ACTIVATION,
        "false_activation_rate": NEAR_MISS,
        "f1": 2 * ACTIVATION / (1 + ACTIVATION + NEAR_MISS),
        "failure_rate": sum(FAILURES.values()),
        "quality": QUALITY,
        "quality_cv": math.sqrt(SD**2 + STEP**2 / 12) / QUALITY,
        "orchestration": DELIVERS,
        "scope": COVERS,
    }
    return {name: _bound(layer["measures"][name], truth) for name, truth in truths.items()}


def _matches(layer: dict[str, Any]) -> dict[str, Bound]:
    ratings = [match["opponent_rating"] for match in layer["played"]]
    strengths = [strength(match["opponent"]) for match in layer["played"]]
    # What the judge prefers for its place alone is a draw, which draws the rating to the opponents'.
    share = sum((1 - BIAS) * _expected(STRENGTH, one) + BIAS / 2 for one in strengths)
    truth = _root(lambda rating: sum(_expected(rating, one) for one in ratings) - share)
    rating = layer["bradley_terry"]
    return {
        "bradley_terry": Bound(rating["ci_low"], rating["ci_high"], truth),
        "position_bias": _bound(layer["position_bias"], BIAS),
    }


def _bound(estimate: dict[str, Any], truth: float) -> Bound:
    return Bound(estimate["ci_low"], estimate["ci_high"], truth)


def _expected(one: float, other: float) -> float:
    return 1 / (1 + 10 ** ((other - one) / 400))


def _root(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 4000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2


def _skill(folder: Path, name: str) -> None:
    place = folder / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    words = name.replace("-", " ")
    body = "\n".join(
        f"{number}. Take the {words} of the day, check step {number} against the list, and write down what is missing."
        for number in range(1, 14)
    )
    (place / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: Prepares {words} for a warehouse. Use when {words} are asked for.\n---\n\n"
        f"# {words.title()}\n\n## Steps\n\n{body}\n\n## Output\n\nA table of {words}, one row each.\n"
    )


def _run(folder: Path, *words: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    home = str(folder / "home")
    shutil.rmtree(home, ignore_errors=True)
    environ = {"HOME": home, "XDG_CACHE_HOME": f"{home}/cache"}
    code = command(words, stdout=out, stderr=err, environ=environ, cwd=str(folder))
    if code not in (0, 1):
        raise SystemExit(f"{' '.join(words)}: exit {code}\n{err.getvalue()}")
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
