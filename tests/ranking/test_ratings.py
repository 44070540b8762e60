"""Ratings against formulas written by hand, another program's, and simulated skills of known strength."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, getcontext
from typing import TYPE_CHECKING

import numpy as np
import pytest

from skillgate.ranking import ratings
from skillgate.ranking.ratings import REACH, bradley_terry, bradley_terry_one, elo, elo_interval
from skillgate.stats.intervals import clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Game = tuple[int, int, float]

SCALE = 400 / math.log(10)
MIXED = [(1450.0, 1.0), (1610.0, 0.0), (1500.0, 0.5), (1385.0, 1.0), (1720.0, 0.5), (1500.0, 1.0)]


def games_of(strengths: npt.NDArray[np.float64], many: int, seed: int) -> list[Game]:
    """Play games between players drawn by chance; one in five is a draw."""
    rng = np.random.default_rng(seed)
    games = []
    for _ in range(many):
        one, two = (int(player) for player in rng.choice(len(strengths), 2, replace=False))
        won = rng.random() < 1 / (1 + 10 ** ((strengths[two] - strengths[one]) / 400))
        games.append((one, two, 0.5 if rng.random() < 0.2 else float(won)))
    return games


# Elo


def test_elo_is_the_methods_formula_to_a_billionth() -> None:
    getcontext().prec = 40
    rating = Decimal(1500)
    for opponent, score in MIXED:
        hope = 1 / (1 + Decimal(10) ** ((Decimal(opponent) - rating) / 400))
        rating += 32 * (Decimal(score) - hope)
    assert elo(1500.0, MIXED) == pytest.approx(float(rating), abs=1e-9)


@pytest.mark.parametrize(
    ("results", "wanted"),
    [
        ([], 1500.0),
        ([(1500.0, 1.0)], 1516.0),
        ([(1500.0, 0.5)], 1500.0),
        ([(1900.0, 0.0)], 1500 - 32 / 11),
        ([(1100.0, 1.0)], 1500 + 32 / 11),
    ],
)
def test_elo_of_results_that_can_be_reckoned_by_head(results: list[tuple[float, float]], wanted: float) -> None:
    assert elo(1500.0, results) == pytest.approx(wanted, abs=1e-9)


def test_five_wins_against_the_median_end_below_the_best_badge() -> None:
    assert elo(1500.0, [(1500.0, 1.0)] * 5) == pytest.approx(1573, abs=0.5)


def test_elos_spread_is_that_of_resamples_played_one_by_one() -> None:
    found = elo_interval(1500.0, MIXED, seed=3)
    drawn = np.random.default_rng(3).integers(0, len(MIXED), (len(MIXED), 500))
    played = [elo(1500.0, [MIXED[match] for match in column]) for column in drawn.T]
    low, high = np.quantile(played, (0.025, 0.975))
    assert found == pytest.approx((elo(1500.0, MIXED), low, high), abs=1e-9)
    assert found.ci_low < found.rating < found.ci_high


def test_elos_spread_hangs_on_the_seed_alone() -> None:
    assert elo_interval(1500.0, MIXED, seed=1) == elo_interval(1500.0, MIXED, seed=1)
    assert elo_interval(1500.0, MIXED, seed=1) != elo_interval(1500.0, MIXED, seed=2)


def test_one_match_says_no_more_than_what_it_could_have_given() -> None:
    assert elo_interval(1500.0, [(1500.0, 1.0)], seed=0) == (1516.0, 1484.0, 1516.0)


@pytest.mark.parametrize("rated", [lambda: elo_interval(1500.0, [], seed=0), lambda: bradley_terry_one([])])
def test_nothing_is_no_rating(rated: object) -> None:
    assert callable(rated)
    with pytest.raises(ValueError, match="at least one result"):
        rated()


# Bradley–Terry of many


def test_two_players_are_as_far_apart_as_their_wins() -> None:
    found = bradley_terry(2, [(0, 1, 1.0)] * 3 + [(0, 1, 0.0)], prior=1e-9)
    assert found[0] - found[1] == pytest.approx(400 * math.log10(3), abs=1e-4)
    assert found.sum() == pytest.approx(3000)


@pytest.mark.parametrize("seed", range(4))
def test_strengths_equal_choix_where_the_prior_is_games_against_one_more_player(seed: int) -> None:
    choix = pytest.importorskip("choix", reason="choix, another program's Bradley–Terry, is not installed")
    players = 12
    games = games_of(np.random.default_rng(seed).normal(0, 200, players), 80, seed)
    pairs = []  # a game is two pairs, so that a draw is one win for each; the prior one pair each way
    for one, two, score in games:
        pairs += [(one, two)] * round(2 * score) + [(two, one)] * round(2 - 2 * score)
    pairs += [pair for player in range(players) for pair in ((player, players), (players, player))]
    theirs = SCALE * choix.opt_pairwise(players + 1, pairs, alpha=0.0, method="Newton-CG", tol=1e-13)[:players]
    ours = bradley_terry(players, games, prior=1.0)
    assert ours - 1500 == pytest.approx(theirs - np.median(theirs), abs=1e-6 * SCALE)


@pytest.mark.parametrize("seed", range(3))
def test_without_a_word_from_the_prior_strengths_equal_choix_as_it_is(seed: int) -> None:
    choix = pytest.importorskip("choix", reason="choix, another program's Bradley–Terry, is not installed")
    players = 6
    games = [game for game in games_of(np.zeros(players), 400, seed) if game[2] != 0.5]
    pairs = [(one, two) if score else (two, one) for one, two, score in games]
    theirs = SCALE * choix.ilsr_pairwise(players, pairs, alpha=0.0, max_iter=1_000, tol=1e-12)
    ours = bradley_terry(players, games, prior=1e-9)
    assert ours - 1500 == pytest.approx(theirs - np.median(theirs), abs=1e-6 * SCALE)


def test_neither_the_order_of_games_nor_that_of_players_matters() -> None:
    games = games_of(np.random.default_rng(5).normal(0, 300, 30), 200, 5)
    rng = np.random.default_rng(6)
    names = [int(name) for name in rng.permutation(30)]
    shuffled = [games[int(place)] for place in rng.permutation(len(games))]
    renamed = [
        (names[one], names[two], score) if place % 2 else (names[two], names[one], 1 - score)
        for place, (one, two, score) in enumerate(shuffled)
    ]
    assert bradley_terry(30, renamed)[names] == pytest.approx(bradley_terry(30, games), abs=1e-6)


def test_who_had_lost_where_he_won_would_be_as_far_on_the_other_side() -> None:
    games = games_of(np.random.default_rng(7).normal(0, 300, 20), 150, 7)
    turned = [(one, two, 1 - score) for one, two, score in games]
    assert bradley_terry(20, turned) - 1500 == pytest.approx(1500 - bradley_terry(20, games), abs=1e-6)


@pytest.mark.parametrize(
    ("players", "games"),
    [
        (1, []),
        (4, []),
        (2, [(0, 1, 1.0)] * 500),
        (4, [(0, 1, 1.0), (2, 3, 1.0)]),
        (5, [(one, two, 1.0) for one, two in itertools.combinations(range(5), 2)] * 40),
        (3, [(0, 1, 1.0)] * 300 + [(1, 2, 1.0)] * 300),
    ],
    ids=["one player", "no game", "one wins all", "two islands", "a ladder", "a chain"],
)
def test_ratings_are_finite_and_the_median_is_1500(players: int, games: list[Game]) -> None:
    found = bradley_terry(players, games)
    assert found.shape == (players,)
    assert np.isfinite(found).all()
    assert np.median(found) == pytest.approx(1500)
    for one, two, _ in games:
        assert found[one] > found[two]


def test_a_draw_is_half_a_win_for_each() -> None:
    drawn = [(0, 1, 0.5), (1, 2, 0.5), (0, 2, 1.0)]
    split = [(0, 1, 1.0), (0, 1, 0.0), (1, 2, 1.0), (1, 2, 0.0), (0, 2, 1.0), (0, 2, 1.0)]
    assert bradley_terry(3, drawn, prior=0.2) == pytest.approx(bradley_terry(3, split, prior=0.4), abs=1e-6)


def test_two_thousand_skills_are_found_in_their_order() -> None:
    strengths = np.random.default_rng(8).normal(1500, 200, 2_000)
    rng = np.random.default_rng(9)
    one = rng.integers(0, 2_000, 20_000)
    two = (one + rng.integers(1, 2_000, 20_000)) % 2_000
    won = rng.random(20_000) < 1 / (1 + 10 ** ((strengths[two] - strengths[one]) / 400))
    found = bradley_terry(2_000, list(zip(one.tolist(), two.tolist(), won.astype(float).tolist(), strict=True)))
    assert np.corrcoef(found, strengths)[0, 1] > 0.84  # 20 games each tell a strength to 80 points or so


def test_the_ratings_are_where_the_likelihood_is_flat() -> None:
    games = games_of(np.random.default_rng(10).normal(0, 500, 40), 200, 10)
    odds = (bradley_terry(40, games) - 1500) / SCALE

    def height(shift: float) -> float:
        at = odds + shift
        told = -0.1 * float(np.sum(np.log(2 * np.cosh(at / 2))))
        for one, two, score in games:
            ahead = at[one] - at[two]
            told -= score * math.log1p(math.exp(-ahead)) + (1 - score) * math.log1p(math.exp(ahead))
        return told

    middle = max((shift / 1_000 for shift in range(-2_000, 2_001)), key=height)
    odds = odds + middle  # the prior knows where the median lies, the ratings do not say it
    for player in range(40):
        for nudge in (-0.05, 0.05):
            before, odds[player] = odds[player], odds[player] + nudge
            moved = height(0.0)
            odds[player] = before
            assert moved < height(0.0)


@pytest.mark.parametrize(
    ("players", "games", "prior"),
    [(2, [(0, 0, 1.0)], 0.1), (2, [(0, 2, 1.0)], 0.1), (2, [(0, 1, 1.5)], 0.1), (0, [], 0.1), (2, [(0, 1, 1.0)], 0.0)],
)
def test_what_is_no_game_is_refused(players: int, games: list[Game], prior: float) -> None:
    with pytest.raises(ValueError, match=r"a game is|infinite"):
        bradley_terry(players, games, prior)


# Bradley–Terry of one


def _chance(strength: float, opponents: Sequence[float]) -> list[float]:
    return [1 / (1 + 10 ** ((opponent - strength) / 400)) for opponent in opponents]


def test_half_of_the_points_against_equals_is_their_rating() -> None:
    found = bradley_terry_one([(1620.0, 1.0), (1620.0, 0.0)] * 8, prior=1e-9)
    assert found.rating == pytest.approx(1620, abs=1e-4)
    assert found.ci_high - found.rating == pytest.approx(found.rating - found.ci_low, abs=1e-4)


def test_the_rating_is_that_of_the_many_where_the_opponents_are_pinned() -> None:
    """Two opponents who played each other ten thousand times over are as good as fixed."""
    games = [(1, 2, 0.5)] * 100_000 + [(0, 1, 1.0)] * 3 + [(0, 2, 0.0)] * 1
    many = bradley_terry(3, games, prior=1e-6)
    one = bradley_terry_one([(0.0, 1.0)] * 3 + [(0.0, 0.0)], prior=1e-9)
    assert many[0] - many[1] == pytest.approx(one.rating, abs=0.05)


def test_the_order_of_results_does_not_matter() -> None:
    assert bradley_terry_one(MIXED) == pytest.approx(bradley_terry_one(MIXED[::-1]), abs=1e-6)


@pytest.mark.parametrize("many", [1, 2, 16, 100])
def test_who_wins_all_has_an_interval_that_ends_where_it_is_said_to(many: int) -> None:
    found = bradley_terry_one([(1500.0, 1.0)] * many)
    assert found.ci_high == 1500 + REACH
    share = 0.025 ** (1 / many)  # the strength at which as many wins are no rarer than 2.5 %
    assert found.ci_low == pytest.approx(1500 + 400 * math.log10(share / (1 - share)), abs=1e-6)
    assert found.ci_low < found.rating <= found.ci_high
    turned = bradley_terry_one([(1500.0, 0.0)] * many)
    assert [3000 - turned.rating, 3000 - turned.ci_high, 3000 - turned.ci_low] == pytest.approx(list(found))


def test_equal_opponents_make_it_clopper_and_pearsons_interval() -> None:
    for wins in range(1, 16):
        found = bradley_terry_one([(1500.0, 1.0)] * wins + [(1500.0, 0.0)] * (16 - wins))
        shares = [1 / (1 + 10 ** ((1500 - end) / 400)) for end in found[1:]]
        assert shares == pytest.approx(clopper_pearson(wins, 16), abs=1e-9)


@pytest.mark.parametrize("many", [5, 16, 30])
@pytest.mark.parametrize("strength", [1300.0, 1500.0, 1600.0, 1700.0, 1900.0, 2100.0])
def test_the_interval_covers_whatever_the_strength(many: int, strength: float) -> None:
    """Exactly: over every sum of wins with its probability, not by chance; opponents of many ratings."""
    opponents = [1500 + 180 * math.sin(7 * place) for place in range(many)]
    sums = np.ones(1)
    for chance in _chance(strength, opponents):
        sums = np.convolve(sums, (1 - chance, chance))
    covered = 0.0
    for wins in range(many + 1):
        results = [(opponent, float(place < wins)) for place, opponent in enumerate(opponents)]
        found = bradley_terry_one(results)
        covered += float(sums[wins]) * (found.ci_low <= strength <= found.ci_high)
    assert covered >= 0.95


@pytest.mark.parametrize("strength", [1500.0, 1700.0, 1900.0])
@pytest.mark.parametrize("drawn", [0.1, 0.4])
def test_the_interval_covers_where_matches_are_drawn(strength: float, drawn: float) -> None:
    """Draws take as much from wins as from losses, as far as there are any."""
    rng = np.random.default_rng(11)
    opponents = [1400.0, 1450.0, 1500.0, 1550.0] * 4
    chances = np.asarray(_chance(strength, opponents))
    half = np.minimum(drawn, 2 * np.minimum(chances, 1 - chances)) / 2
    told = {}
    hits, runs = 0, 4_000
    for chance in rng.random((runs, 16)):
        score = np.where(chance < chances - half, 1.0, np.where(chance < chances + half, 0.5, 0.0))
        total = float(score.sum())
        if total not in told:
            told[total] = bradley_terry_one(list(zip(opponents, score.tolist(), strict=True)))
        hits += told[total].ci_low <= strength <= told[total].ci_high
    assert hits / runs >= 0.95


def test_more_matches_tell_more() -> None:
    widths = []
    for many in (4, 16, 64):
        found = bradley_terry_one([(1500.0, 1.0), (1500.0, 0.0)] * (many // 2))
        widths.append(found.ci_high - found.ci_low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < widths[0] / 3


def test_a_strong_skill_is_rated_nearer_than_elo_comes() -> None:
    rng = np.random.default_rng(12)
    chance = _chance(1700.0, [1500.0])[0]
    both = []
    for _ in range(200):
        results = [(1500.0, float(won)) for won in rng.random(16) < chance]
        lost = sum(score == 0.0 for _, score in results)
        both.append((1500 + 400 * math.log10((16.05 - lost) / (lost + 0.05)), elo(1500.0, results)))
        assert lost > 2 or bradley_terry_one(results).rating == pytest.approx(both[-1][0], abs=1e-6)
    strengths, elos = np.median(np.asarray(both), axis=0)
    assert abs(strengths - 1700) < 30
    assert elos < 1640


def test_the_prior_moves_a_rating_of_sixteen_matches_by_a_point_or_two() -> None:
    results = [(1500.0, 1.0)] * 12 + [(1500.0, 0.0)] * 4
    assert bradley_terry_one(results).rating == pytest.approx(bradley_terry_one(results, prior=1e-9).rating, abs=2)
    assert ratings.PRIOR == 0.1
