"""Agreement against scikit-learn and pingouin, degenerate ratings included."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import TYPE_CHECKING

import pytest

np = pytest.importorskip("numpy")

from skillgate.stats.agreement import (  # noqa: E402
    CONSTANT,
    icc_2_1,
    kappa,
    kappa_of_sums,
    mean_pairwise_kappa,
    products,
    shares,
)
from tests.stats.oracles import pingouin_icc, sklearn_kappa, table  # noqa: E402

if TYPE_CHECKING:
    from skillgate.stats.agreement import Weights

WEIGHTS: tuple[tuple[Weights, str | None], ...] = (("quadratic", "quadratic"), ("linear", "linear"), ("none", None))


@pytest.mark.parametrize(("weights", "theirs"), WEIGHTS)
@pytest.mark.parametrize("items", [2, 5, 40, 200])
@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_that_of_scikit_learn(weights: Weights, theirs: str | None, items: int, seed: int) -> None:
    one, two = zip(*table(items, 2, seed=seed), strict=True)
    assert kappa(one, two, weights=weights).value == pytest.approx(sklearn_kappa(one, two, theirs), abs=1e-12)


@pytest.mark.parametrize(("weights", "theirs"), WEIGHTS)
def test_kappa_is_that_of_scikit_learn_on_every_small_table(weights: Weights, theirs: str | None) -> None:
    for one, two in product(product((0, 7, 10), repeat=3), repeat=2):
        found = kappa(one, two, weights=weights)
        if len({*one, *two}) == 1:
            assert found == (None, CONSTANT)
        else:
            assert found.value == pytest.approx(sklearn_kappa(one, two, theirs), abs=1e-12)


def test_kappa_depends_on_differences_alone() -> None:
    one, two = (1, 4, 7, 9), (2, 4, 6, 9)
    shifted = kappa([value / 10 + 3 for value in one], [value / 10 + 3 for value in two])
    assert shifted.value == pytest.approx(kappa(one, two).value)


def test_kappa_of_nothing_or_of_different_lengths() -> None:
    assert kappa((), ()) == (None, "no ratings")
    with pytest.raises(ValueError, match="as many"):
        kappa((1, 2), (1,))


@pytest.mark.parametrize(("weights", "theirs"), WEIGHTS)
def test_kappa_of_several_is_the_mean_over_pairs(weights: Weights, theirs: str | None) -> None:
    ratings = table(60, 4, seed=9)
    raters = list(zip(*ratings, strict=True))
    expected = [sklearn_kappa(one, two, theirs) for one, two in combinations(raters, 2)]
    assert mean_pairwise_kappa(ratings, weights=weights).value == pytest.approx(sum(expected) / len(expected))


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [([], "no ratings"), ([(3,), (4,)], "needs two raters"), ([(5, 5), (5, 5)], "every rating is the same")],
)
def test_kappa_of_several_says_why_there_is_none(ratings: list[tuple[int, ...]], reason: str) -> None:
    found = mean_pairwise_kappa(ratings)
    assert found.value is None
    assert reason in (found.reason or "")


def test_one_pair_without_a_kappa_leaves_none_at_all() -> None:
    assert mean_pairwise_kappa([(5, 5, 1), (5, 5, 9)]).value is None


@pytest.mark.parametrize("raters", [2, 3, 9])
def test_kappa_from_sums_is_the_same(raters: int) -> None:
    ratings = table(50, raters, seed=raters)
    sums = products(ratings).sum(axis=0, keepdims=True)
    assert float(kappa_of_sums(sums)[0]) == pytest.approx(mean_pairwise_kappa(ratings).value)


def test_kappa_from_sums_of_equal_ratings_is_undefined() -> None:
    assert math.isnan(float(kappa_of_sums(products([(7, 7)] * 5).sum(axis=0, keepdims=True))[0]))


@pytest.mark.parametrize("raters", [2, 3, 9])
@pytest.mark.parametrize("items", [5, 40, 200])
def test_icc_is_that_of_pingouin(raters: int, items: int) -> None:
    ratings = table(items, raters, seed=items + raters)
    assert icc_2_1(ratings).value == pytest.approx(pingouin_icc(ratings), abs=1e-9)


def test_icc_of_raters_who_differ_by_a_constant_is_below_one() -> None:
    ratings = [(value, value + 2) for value in (1, 3, 5, 7, 8)]
    assert icc_2_1(ratings).value == pytest.approx(pingouin_icc(ratings), abs=1e-9)
    assert (icc_2_1(ratings).value or 0) < 0.9


@pytest.mark.parametrize(
    "ratings", [[], [(1, 2)], [(3,), (4,), (5,)], [(5, 5), (5, 5)], [(0.1, 0.1, 0.1)] * 3, [(0, 1), (1, 0)]]
)
def test_icc_says_why_there_is_none(ratings: list[tuple[float, ...]]) -> None:
    found = icc_2_1(ratings)
    assert found.value is None
    assert found.reason


def test_plain_shares_count_pairs_of_ratings() -> None:
    found = shares([(5, 5, 6), (1, 3, 9)])
    assert found == (1 / 6, 3 / 6)
    assert shares([]) is None
    assert shares([(4,)]) is None
