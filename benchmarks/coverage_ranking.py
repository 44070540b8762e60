"""What the figures of matches hold: Bradley–Terry's interval, summed over all outcomes, and Elo's resampling spread.

The opponents' ratings are taken as given, as both take them.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np

from skillgate.model.layers import Rating
from skillgate.ranking import MEDIAN
from skillgate.ranking.ratings import bradley_terry_one, elo_interval, expected

Cells = list[tuple[float, float]]

MATCHES = (5, 16, 30)
STRENGTHS = (1300.0, 1500.0, 1600.0, 1700.0, 1900.0, 2100.0)
DRAWN = (0.0, 0.1, 0.4)  # shares of matches, as far as a strength leaves room for them


def opponents(matches: int) -> tuple[float, ...]:
    """Give ratings from 1320 to 1680 in no order."""
    return tuple(MEDIAN + 180 * math.sin(7 * place) for place in range(matches))


def strength_cells() -> Cells:
    """Give coverage and mean half-width of Bradley–Terry's interval, in points, for each kind of skill: exact sums."""
    return [strength_cell(*cell) for cell in product(STRENGTHS, MATCHES, DRAWN)]


def strength_cell(strength: float, matches: int, drawn: float) -> tuple[float, float]:
    """Sum over all scores; draws take as much from wins as from losses."""
    chances = np.ones(1)  # of each number of half points
    for opponent in opponents(matches):
        won = expected(strength, opponent)
        half = min(drawn, 2 * won, 2 * (1 - won)) / 2
        chances = np.convolve(chances, (1 - won - half, 2 * half, won - half))
    found = [_rated(matches, halves) for halves in range(2 * matches + 1)]
    holds = np.asarray([one.ci_low <= strength <= one.ci_high for one in found])
    widths = np.asarray([one.ci_high - one.ci_low for one in found])
    return float(chances @ holds), float(chances @ widths) / 2


@cache
def _rated(matches: int, halves: int) -> Rating:
    """Rate by a score, which against given opponents is all that counts."""
    scores = [1.0] * (halves // 2) + [0.5] * (halves % 2)
    scores += [0.0] * (matches - len(scores))
    return bradley_terry_one(list(zip(opponents(matches), scores, strict=True)))


def elo_cells(repetitions: int) -> dict[str, Cells]:
    """Say how often Elo's spread holds a skill's strength, and how often the Elo that such a skill has on average."""
    cells: dict[str, Cells] = {"strength": [], "mean Elo of such a skill": []}
    for seed, (strength, matches) in enumerate(product(STRENGTHS, MATCHES)):
        found = _played(strength, matches, repetitions, seed)
        half_width = float(np.mean([one.ci_high - one.ci_low for one in found])) / 2
        mean = float(np.mean([one.rating for one in found]))
        for name, sought in zip(cells, (strength, mean), strict=True):
            held = float(np.mean([one.ci_low <= sought <= one.ci_high for one in found]))
            cells[name].append((held, half_width))
    return cells


def _played(strength: float, matches: int, repetitions: int, seed: int) -> list[Rating]:
    """Play all matches so often, from the median on."""
    rng, met = np.random.default_rng(seed), np.asarray(opponents(matches))
    chances = np.asarray([expected(strength, opponent) for opponent in met])
    found = []
    for index in range(repetitions):
        order = rng.permutation(matches)
        won = rng.random(matches) < chances[order]
        results = list(zip(met[order].tolist(), won.astype(np.float64).tolist(), strict=True))
        found.append(elo_interval(MEDIAN, results, seed=index))
    return found
