"""Compare the ratings of matches with plain loops and with choix, which also fits Bradley–Terry.

    python -m benchmarks.ratings [--skills N] [--matches N] [--resamples N] [--results N] [--rounds N]

Elo's spread over 500 resamples of 1,000 matches: all resamples at once, and one after the other. Bradley–Terry over
2,000 skills of 20 matches each: Newton's method over the list of games, a plain loop of the usual fixed-point (MM)
steps, and choix's three ways where it is installed. All fit the same likelihood: the prior of one game is given to the
others as two half games, one each way, against one more player. Beside each time stand its ratio to ours within the
run, and the largest difference in points.

Needs the `llm` or `stats` extra; choix is left out where it is absent.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.ranking.ratings import bradley_terry, elo, elo_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Game = tuple[int, int, float]
    Pair = tuple[int, int]

SCALE = 400 / math.log(10)
SEED = 20_261_122
PRIOR = 1.0  # games: choix takes whole ones, and a game is two pairs there
NEAR = 1e-4  # points: where the plain loop ends


class Timed(NamedTuple):
    """The minimum time of some rounds, and the result of the last."""

    name: str
    wall_s: float
    found: Array


def timed(name: str, call: Callable[[], Sequence[float] | Array], rounds: int) -> Timed:
    """Run a call so many times."""
    least, found = math.inf, np.zeros(0)
    for _ in range(rounds):
        began = time.perf_counter()
        found = np.asarray(call(), dtype=np.float64)
        least = min(least, time.perf_counter() - began)
    return Timed(name, least, found)


def spread_one_by_one(results: Sequence[tuple[float, float]], resamples: int) -> tuple[float, float, float]:
    """Give what :func:`elo_interval` gives, by playing every resample alone."""
    drawn = np.random.default_rng(SEED).integers(0, len(results), (len(results), resamples)).T.tolist()
    ratings = [elo(1500.0, [results[match] for match in column]) for column in drawn]
    low, high = np.quantile(ratings, (0.025, 0.975))
    return elo(1500.0, results), float(low), float(high)


def games_of(skills: int, matches: int) -> list[Game]:
    """Play so many matches for each skill on average, a tenth of them drawn, by strengths 200 points apart or so."""
    rng = np.random.default_rng(SEED)
    strengths = rng.normal(0, 200, skills)
    many = skills * matches // 2
    one = rng.integers(0, skills, many)
    two = (one + rng.integers(1, skills, many)) % skills
    won = rng.random(many) < 1 / (1 + 10 ** ((strengths[two] - strengths[one]) / 400))
    score = np.where(rng.random(many) < 0.1, 0.5, won)
    return list(zip(one.tolist(), two.tolist(), score.tolist(), strict=True))


def pairs_of(skills: int, games: Sequence[Game]) -> list[Pair]:
    """Write games as pairs of winner and loser, two for each, and the prior as games against one more player."""
    pairs = []
    for one, two, score in games:
        pairs += [(one, two)] * round(2 * score) + [(two, one)] * round(2 - 2 * score)
    return pairs + [pair for skill in range(skills) for pair in ((skill, skills), (skills, skill))]


def by_loops(skills: int, pairs: Sequence[Pair]) -> Array:
    """Fit Bradley–Terry by MM steps over Python's lists, until no rating moves by more than NEAR."""
    weights = [1.0] * (skills + 1)
    wins = [0] * (skills + 1)
    for winner, _ in pairs:
        wins[winner] += 1
    moved = math.inf
    while moved > NEAR:
        shares = [0.0] * (skills + 1)
        for one, two in pairs:
            share = 1 / (weights[one] + weights[two])
            shares[one] += share
            shares[two] += share
        after = [won / share for won, share in zip(wins, shares, strict=True)]
        moved = max(abs(SCALE * math.log(new / old)) for new, old in zip(after, weights, strict=True))
        weights = after
    return anchored(np.log(weights), skills)


def anchored(strengths: Array, skills: int) -> Array:
    """Put strengths on the Elo scale, the median of the skills at 1500."""
    own = strengths[:skills]
    ratings: Array = 1500 + SCALE * (own - np.median(own))
    return ratings


def by_choix(skills: int, pairs: Sequence[Pair]) -> list[Timed]:
    """Fit by choix's three ways, once each; empty where it is not installed."""
    try:
        choix = import_module("choix")
    except ImportError:
        return []
    ways = {
        "choix, opt (Newton-CG)": partial(choix.opt_pairwise, alpha=0.0, method="Newton-CG", tol=1e-9),
        "choix, mm": partial(choix.mm_pairwise, alpha=0.0, max_iter=100_000, tol=1e-9),
        "choix, ilsr": partial(choix.ilsr_pairwise, alpha=0.0, max_iter=1_000, tol=1e-8),
    }

    def fitted(way: Callable[[int, Sequence[Pair]], Array]) -> Array:
        return anchored(way(skills + 1, pairs), skills)

    return [timed(name, partial(fitted, way), 1) for name, way in ways.items()]


def rows(title: str, taken: Sequence[Timed]) -> list[str]:
    """Write a table; the first is ours."""
    ours = taken[0]
    lines = [title, f"{'':<44}{'wall ms':>10}{'÷ ours':>10}{'differs by':>12}"]
    for one in taken:
        differs = float(np.max(np.abs(one.found - ours.found)))
        lines.append(f"{one.name:<44}{1_000 * one.wall_s:10.1f}{one.wall_s / ours.wall_s:10.1f}{differs:12.1e}")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; a clock fails no build."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    defaults = (("skills", 2_000), ("matches", 20), ("resamples", 500), ("results", 1_000), ("rounds", 3))
    for name, default in defaults:
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args(argv)
    rng = np.random.default_rng(SEED)
    results = list(
        zip(
            rng.normal(1500, 150, args.results).tolist(),
            rng.choice((0.0, 0.5, 1.0), args.results).tolist(),
            strict=True,
        )
    )
    spreads = (
        timed("all at once", lambda: elo_interval(1500.0, results, seed=SEED, resamples=args.resamples), args.rounds),
        timed("one after the other", lambda: spread_one_by_one(results, args.resamples), args.rounds),
    )
    print("\n".join(rows(f"Elo's spread, {args.resamples} resamples of {args.results:,} matches", spreads)))
    games = games_of(args.skills, args.matches)
    pairs = pairs_of(args.skills, games)
    fits = (
        timed("Newton over the games", lambda: bradley_terry(args.skills, games, PRIOR), args.rounds),
        timed(f"a plain loop of MM steps, to {NEAR:g} points", lambda: by_loops(args.skills, pairs), 1),
        *by_choix(args.skills, pairs),
    )
    print("\n".join(rows(f"Bradley–Terry, {args.skills:,} skills, {len(games):,} matches", fits)))
    weak = timed("", lambda: bradley_terry(args.skills, games), args.rounds)
    print(f"with the weak prior that corpora are rated with: {1_000 * weak.wall_s:.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
