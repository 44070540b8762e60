"""Compute ratings from matches: Elo as in the method, and Bradley–Terry by maximum likelihood, both on the Elo scale.

Elo depends on the order of matches and, with 16 of them, moves at most about 150 points from its start. Bradley–Terry
has neither limit, so it rates the corpus, and a skill's report shows both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from skillgate.model.layers import Rating
from skillgate.ranking import MEDIAN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Result = tuple[float, float]
    """The opponent's rating, and the score against it: 1 won, 0.5 drawn, 0 lost."""
    Game = tuple[int, int, float]
    """The numbers of two players from 0, and the score of the first."""

K = 32.0  # how far one match moves a rating. Source: PluginEval method, Elo.
RESAMPLES = 500  # of the matches, for Elo's spread. Source: the same.
PRIOR = 0.1
"""Prior games of every player, drawn against a median opponent: enough for a finite rating after only wins, and at most
a sixtieth of the weight of 16 matches."""
REACH = 1_200.0  # points beyond the opponents where intervals end: odds of 1,000 to 1, which few matches cannot show
LEVEL = 0.95

_SCALE = 400.0 / math.log(10.0)  # Elo points for one unit of log odds
_PRECISE = 1e-9  # games: maximum difference between expected and actual score of a player
_MOST_STEPS = 200
_HALVINGS = 60  # of an interval of some thousand points: to the last digit


def expected(rating: float, opponent: float) -> float:
    """Return the expected score against an opponent, in (0, 1): 1 ÷ (1 + 10^((R_b − R_a) ÷ 400))."""
    return 0.5 * (1.0 + math.tanh((rating - opponent) / (2.0 * _SCALE)))  # the same number, and no overflow


def elo(start: float, results: Sequence[Result], k: float = K) -> float:
    """Apply matches in order: new = old + k · (score − expected), against fixed ratings.

    Source: PluginEval method, Elo.
    """
    rating = start
    for opponent, score in results:
        rating += k * (score - expected(rating, opponent))
    return rating


def elo_interval(
    start: float,
    results: Sequence[Result],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    k: float = K,
) -> Rating:
    """Return Elo with its spread over resampled matches, each resample in the order of sampling.

    The spread shows the effect of chance and order. It is not an interval of the skill's strength, which Elo does not
    reach after a few matches. For a single result it spans the ratings after a loss and after a win.

    Raises:
        ValueError: there are no results.
    """
    _need(results)
    found = elo(start, results, k)
    opponents, scores = np.asarray(results, dtype=np.float64).T
    if len(scores) == 1:
        ends = [elo(start, [(float(opponents[0]), score)], k) for score in (0.0, 1.0)]
        return Rating(found, *ends)
    drawn = np.random.default_rng(seed).integers(0, len(scores), (len(scores), resamples))
    ratings = np.full(resamples, start, dtype=np.float64)
    for match in drawn:
        ratings += k * (scores[match] - _expected(ratings, opponents[match]))
    low, high = np.quantile(ratings, ((1 - level) / 2, (1 + level) / 2))
    return Rating(found, min(found, float(low)), max(found, float(high)))


def bradley_terry(players: int, games: Sequence[Game], prior: float = PRIOR) -> Array:
    """Rate players by the games between them: maximum likelihood with a weak prior, median 1500.

    Draws are half a win for each. The order does not matter, and players with only wins, only losses or no games have
    finite ratings. Newton's method with conjugate gradients over the games, without a matrix of all players.

    Source: Bradley and Terry, 1952.

    Raises:
        ValueError: a player number or a score is out of range, a player meets itself, or the prior is not positive.
    """
    one, two, score = _columns(players, games)
    if not prior > 0:
        raise ValueError("without a prior, a rating may be infinite")
    strengths = np.zeros(players)
    for _ in range(_MOST_STEPS):
        gap = score - _logistic(strengths[one] - strengths[two])
        slope = _sums(one, gap, players) - _sums(two, gap, players) + prior * (0.5 - _logistic(strengths))
        if float(np.max(np.abs(slope))) < _PRECISE:
            break
        step = _newton_step(strengths, slope, one, two, prior)
        strengths = _further(strengths, step, slope, lambda at: _likelihood(at, one, two, score, prior))
    ratings: Array = MEDIAN + _SCALE * (strengths - np.median(strengths))
    return ratings


def bradley_terry_one(results: Sequence[Result], prior: float = PRIOR, level: float = LEVEL) -> Rating:
    """Rate one player by games against players of fixed ratings, with an exact interval.

    Only the sum of the scores matters, and its distribution at any strength is known. The interval contains the
    strengths at which as high and as low a sum has a probability of at least 2.5 %, as Clopper and Pearson's does for a
    rate. For a fractional sum it spans those of both neighbours. So it covers at least 95 %; likelihood intervals cover
    as little as 85 % for a strong player of 16 games. The prior affects the rating, not the interval, which ends
    :data:`REACH` beyond the opponents for a player that won or lost everything.

    Raises:
        ValueError: there are no results.
    """
    _need(results)
    opponents, scores = np.asarray(results, dtype=np.float64).T
    total, tail = math.fsum(scores), (1 - level) / 2
    limits = (min(MEDIAN, float(opponents.min())) - REACH, max(MEDIAN, float(opponents.max())) + REACH)

    def excess(rating: float) -> float:
        return float(np.sum(_expected(rating, opponents))) - total + prior * (expected(rating, MEDIAN) - 0.5)

    def at_least(rating: float) -> float:
        return _reaches(_expected(rating, opponents), math.floor(total)) - tail

    def above(rating: float) -> float:
        return _reaches(_expected(rating, opponents), math.ceil(total) + 1) - (1 - tail)

    rating = _root(excess, *limits)
    low = _root(at_least, *limits) if math.floor(total) > 0 else limits[0]
    high = _root(above, *limits) if math.ceil(total) < len(scores) else limits[1]
    return Rating(rating, min(low, rating), max(high, rating))


def _need(results: Sequence[Result]) -> None:
    if not results:
        raise ValueError("a rating needs at least one result")


def _expected(rating: float | Array, opponent: float | Array) -> Array:
    return _logistic((np.asarray(rating, dtype=np.float64) - opponent) / _SCALE)


def _logistic(odds: Array) -> Array:
    """Turn log odds into shares, without overflow at either end."""
    shares: Array = 0.5 * (1.0 + np.tanh(0.5 * odds))
    return shares


def _reaches(shares: Array, least: int) -> float:
    """Return the probability of at least ``least`` wins in independent games with these chances."""
    chances = np.ones(1)
    for share in shares:
        chances = np.convolve(chances, (1 - share, share))
    return float(np.sum(chances[least:]))


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Find the zero of a rising function by bisection; return an end if there is none within."""
    if rising(low) >= 0:
        return low
    if rising(high) <= 0:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2


def _columns(players: int, games: Sequence[Game]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Array]:
    table = np.asarray(games, dtype=np.float64).reshape(-1, 3)
    one, two, score = table[:, 0].astype(np.intp), table[:, 1].astype(np.intp), table[:, 2]
    outside = players < 1 or bool(np.any((table[:, :2] < 0) | (table[:, :2] >= players)))
    if outside or bool(np.any(one == two)) or not bool(np.all((score >= 0) & (score <= 1))):
        raise ValueError("a game is between two different players of those there are, with a score from 0 to 1")
    return one, two, score


def _sums(index: npt.NDArray[np.intp], values: Array, players: int) -> Array:
    return np.bincount(index, weights=values, minlength=players).astype(np.float64)


def _likelihood(
    strengths: Array, one: npt.NDArray[np.intp], two: npt.NDArray[np.intp], score: Array, prior: float
) -> float:
    """Return the log of the likelihood times the prior."""
    ahead = strengths[one] - strengths[two]
    played = score * np.logaddexp(0.0, -ahead) + (1 - score) * np.logaddexp(0.0, ahead)
    before = 0.5 * prior * (np.logaddexp(0.0, -strengths) + np.logaddexp(0.0, strengths))
    return -float(np.sum(played) + np.sum(before))


def _newton_step(
    strengths: Array, slope: Array, one: npt.NDArray[np.intp], two: npt.NDArray[np.intp], prior: float
) -> Array:
    """Solve for Newton's step by conjugate gradients, scaled by the diagonal."""
    players = len(strengths)
    chance, before = _logistic(strengths[one] - strengths[two]), _logistic(strengths)
    edges, own = chance * (1 - chance), prior * before * (1 - before)
    diagonal = own + _sums(one, edges, players) + _sums(two, edges, players)

    def curvature(along: Array) -> Array:
        flow = edges * (along[one] - along[two])
        bent: Array = own * along + _sums(one, flow, players) - _sums(two, flow, players)
        return bent

    step, left = np.zeros(players), slope.copy()
    scaled = left / diagonal
    along, size = scaled, float(left @ scaled)
    enough = 1e-20 * size
    for _ in range(4 * players + 20):
        if size <= enough:
            break
        bent = curvature(along)
        far = size / float(along @ bent)
        step, left = step + far * along, left - far * bent
        scaled = left / diagonal
        before_size, size = size, float(left @ scaled)
        along = scaled + (size / before_size) * along
    return step


def _further(at: Array, step: Array, slope: Array, height: Callable[[Array], float]) -> Array:
    """Follow Newton's step as far as the likelihood rises enough: a whole step may be too long."""
    here, gain, share = height(at), float(slope @ step), 1.0
    while share > 1e-6:
        there: Array = at + share * step
        if height(there) >= here + 1e-4 * share * gain - 1e-12 * abs(here):
            return there
        share /= 2
    return at + step
