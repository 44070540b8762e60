"""How often each interval holds the true value, at nominal 95 %: exact sums where there are, else by simulation.

    python -m benchmarks.coverage [--repetitions N] [--write]

With ``--write`` the table goes into ``docs/coverage.md``. It takes some minutes; ``--repetitions`` bounds how often any
cell is simulated, to try it out.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import binom

from benchmarks.coverage_page import PAGE, Covered, page
from benchmarks.coverage_ranking import DRAWN, MATCHES, STRENGTHS, elo_cells, strength_cells
from benchmarks.coverage_worlds import (
    BENCHES,
    COMPOSITES,
    GRADES,
    JUDGES,
    LIFTS,
    PAIRS,
    SKILLS,
    composite_cells,
    judged_cells,
    lift_tasks,
    marks,
    skill_cells,
)
from skillgate.montecarlo.measures import paired
from skillgate.scoring.sampled import HALF_STEP
from skillgate.stats.agreement import kappa_of_sums, products
from skillgate.stats.intervals import balanced, balanced_f1, clopper_pearson, mean_difference, mean_t, wilson
from skillgate.stats.resampling import bootstrap, mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

RATES = (0.0, 0.01, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99, 1.0)
TRIALS = (5, 10, 20, 50, 60, 100, 200)
PROMPTS = ((5, 5), (10, 10), (50, 10))
SIZES = (5, 10, 25, 50)
GROUPS, UNITS = (10, 20, 50), (1, 3)
DECIDED = (5, 13, 16, 30)  # matches; 13 are what may be left of 16
TASKS = (5, 10, 30)
PANELS = (2, 3, 5)
MARKED, NOISES = (40, 100), (0.5, 1.2)
_TRUTH = 200_000  # draws that a true mean is taken from
_ROUNDING = 1e-9


class Often(NamedTuple):
    """How often each kind of interval is simulated in a cell."""

    differences: int = 5_000
    lifts: int = 2_000
    ratings: int = 5_000
    elo: int = 500
    means: int = 1_000
    sessions: int = 400
    composites: int = 150
    kappas: int = 300

    def at_most(self, most: int | None) -> Often:
        """Bound all of them."""
        return self if most is None else Often(*(min(most, one) for one in self))


def _summary(interval: str, grid: str, cells: Sequence[tuple[float, float]], often: int | None = None) -> Covered:
    held, widths = (np.asarray(column) for column in zip(*cells, strict=True))
    least, mean, half_width = (round(float(figure), 3) for figure in (held.min(), held.mean(), np.nanmean(widths)))
    return Covered(interval, grid, len(cells), least, mean, half_width, often)


def rates(name: str, interval: Callable[[int, int], tuple[float, float]], trials: Sequence[int] = TRIALS) -> Covered:
    """Sum over all outcomes of binomials."""
    cells = []
    for n in trials:
        ends = np.asarray([interval(k, n) for k in range(n + 1)])
        for rate in RATES:
            chance = binom.pmf(np.arange(n + 1), n, rate)
            holds = (ends[:, 0] <= rate + _ROUNDING) & (rate <= ends[:, 1] + _ROUNDING)
            cells.append((float(chance @ holds), float(chance @ (ends[:, 1] - ends[:, 0])) / 2))
    return _summary(name, f"n of {_listed(trials)}; {len(RATES)} rates", cells)


def f1(positives: int, near_misses: int) -> Covered:
    """Sum over all outcomes of both binomials."""
    hit, alarm = range(positives + 1), range(near_misses + 1)
    ends = np.asarray(
        [[balanced_f1(_outcomes(k, positives), _outcomes(a, near_misses), seed=1) for a in alarm] for k in hit]
    )
    cells = []
    for recall, alarms in product(RATES, RATES):
        true = balanced(recall, alarms)
        chance = np.outer(binom.pmf(hit, positives, recall), binom.pmf(alarm, near_misses, alarms))
        holds = (ends[..., 0] <= true + _ROUNDING) & (true <= ends[..., 1] + _ROUNDING)
        cells.append((float(np.sum(chance * holds)), float(np.sum(chance * (ends[..., 1] - ends[..., 0]))) / 2))
    grid = f"{positives} + {near_misses} prompts; {len(RATES)}² pairs of rates"
    return _summary("class-balanced F1", grid, cells)


def _outcomes(successes: int, n: int) -> list[float]:
    return [1.0] * successes + [0.0] * (n - successes)


def means(repetitions: int) -> Covered:
    """Simulate means of grades."""
    cells = []
    for seed, (draw, n) in enumerate(product(GRADES.values(), SIZES)):
        rng = np.random.default_rng(seed)
        true = float(draw(np.random.default_rng(10_000 + seed), 1_000_000).mean())
        found = [mean_interval(draw(rng, n).tolist(), seed=index) for index in range(repetitions)]
        cells.append(_held(found, true))
    return _summary(
        "mean of grades in [0, 1]", f"n of {_listed(SIZES)}; {len(GRADES)} distributions", cells, repetitions
    )


def _held(found: Sequence[tuple[float, float] | None], true: float) -> tuple[float, float]:
    ends = np.asarray([pair for pair in found if pair is not None])
    holds = (ends[:, 0] <= true + _ROUNDING) & (true <= ends[:, 1] + _ROUNDING)
    return float(holds.mean()), float(np.mean(ends[:, 1] - ends[:, 0])) / 2


def differences(repetitions: int) -> Covered:
    """Simulate paired differences, one or several units to a prompt."""
    cells = [difference_cell(*cell, repetitions) for cell in product(PAIRS, GROUPS, UNITS)]
    grid = f"{_listed(GROUPS)} prompts with {_listed(UNITS)} units each; {len(PAIRS)} distributions"
    return _summary("mean paired difference", grid, cells, repetitions)


def difference_cell(world: str, groups: int, each: int, repetitions: int) -> tuple[float, float]:
    """Give coverage and mean half-width in one cell."""
    draw, seed = PAIRS[world], list(product(PAIRS, GROUPS, UNITS)).index((world, groups, each))
    rng, true = np.random.default_rng(seed), float(draw(np.random.default_rng(10_000 + seed), _TRUTH, 1).mean())
    names = np.repeat(np.arange(groups), each).tolist()
    return _held([mean_difference(draw(rng, groups, each).ravel().tolist(), names) for _ in range(repetitions)], true)


def lifts(repetitions: int) -> Covered:
    """Simulate what skills gain, through the figures of lift themselves."""
    cells = [lift_cell(*cell, repetitions) for cell in product(LIFTS, TASKS)]
    return _summary("lift", f"{_listed(TASKS)} tasks; {len(LIFTS)} kinds of scores", cells, repetitions)


def lift_cell(world: str, tasks: int, repetitions: int) -> tuple[float, float]:
    """Give coverage and mean half-width in one cell."""
    draw, seed = LIFTS[world], list(product(LIFTS, TASKS)).index((world, tasks))
    rng = np.random.default_rng(seed)
    one, two = draw(np.random.default_rng(10_000 + seed), _TRUTH)
    found: list[tuple[float, float] | None] = []
    for index in range(repetitions):
        lift = paired(lift_tasks(*draw(rng, tasks)), seed=index).lift
        found.append(None if lift.ci_low is None or lift.ci_high is None else (lift.ci_low, lift.ci_high))
    return _held(found, float(np.mean(one - two)))


def panel(judges: int, repetitions: int) -> Covered:
    """Simulate the mean rating of several judges; true is what all judges would give on average."""
    cells = []
    for seed, draw in enumerate(JUDGES.values()):
        rng, true = np.random.default_rng(seed), float(draw(np.random.default_rng(10_000 + seed), _TRUTH).mean())
        cells.append(_held([mean_t(draw(rng, judges).tolist(), HALF_STEP) for _ in range(repetitions)], true))
    return _summary(f"rating by {judges} judges", f"{len(JUDGES)} distributions", cells, repetitions)


def kappas(repetitions: int) -> Covered:
    """Simulate the agreement of two raters, items drawn one by one."""
    cells = []
    for seed, (items, noise) in enumerate(product(MARKED, NOISES)):
        rng, many = np.random.default_rng(seed), marks(np.random.default_rng(10_000 + seed), _TRUTH, noise)
        true = float(kappa_of_sums(products(many.tolist()).sum(axis=0)[None, :])[0])
        rows = [products(marks(rng, items, noise).tolist()) for _ in range(repetitions)]
        cells.append(_held([bootstrap(one, kappa_of_sums, seed=index) for index, one in enumerate(rows)], true))
    grid = f"{_listed(MARKED)} items; {len(NOISES)} kinds of raters"
    return _summary("kappa, quadratic", grid, cells, repetitions)


def strength() -> Covered:
    """Sum over all scores of matches."""
    shares = _listed([f"{100 * share:.0f} %" for share in DRAWN])
    return _summary("strength, Bradley–Terry", f"{_matches()}; {shares} drawn", strength_cells())


def elo(repetitions: int) -> Iterator[Covered]:
    """Simulate what Elo's spread holds."""
    for name, cells in elo_cells(repetitions).items():
        yield _summary(f"Elo's resampling spread, compared with {name}", _matches(), cells, repetitions)


def _matches() -> str:
    return f"{_listed(MATCHES)} matches; {len(STRENGTHS)} strengths"


def table(often: Often) -> Iterator[Covered]:
    """Measure every interval."""
    yield rates("rate, Clopper–Pearson", clopper_pearson)
    yield rates("rate, Wilson", wilson)
    yield from (f1(*sizes) for sizes in PROMPTS)
    yield strength()
    yield from elo(often.elo)
    yield rates("position bias, Clopper–Pearson", clopper_pearson, DECIDED)
    yield differences(often.differences)
    yield lifts(often.lifts)
    yield from (panel(judges, often.ratings) for judges in PANELS)
    yield kappas(often.kappas)
    yield means(often.means)
    for name, cells in skill_cells(often.sessions).items():
        grid = f"50 + 10 and 15 + 5 sessions; {len(SKILLS)} kinds of skill"
        yield _summary(f"sessions: {name}", grid, cells, often.sessions)
    benches = f"{_listed([judges for judges, _ in BENCHES])} judges, mild or strict throughout"
    yield _summary("composite at depth standard", benches, judged_cells(often.sessions), often.sessions)
    worlds = composite_cells(often.composites)
    yield _summary("composite at depth deep", f"{len(COMPOSITES)} kinds of judges and skills", worlds, often.composites)


def _listed(values: Sequence[object]) -> str:
    return " or ".join((", ".join(map(str, values[:-1])), str(values[-1])))


def main() -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, help="at most so many in a cell")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found = []
    for item in table(Often().at_most(options.repetitions)):
        print(item.row(), flush=True)
        found.append(item)
    if options.write:
        PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
