"""Bootstrap and permutation against scipy's, and what they do at the edges."""

from __future__ import annotations

from typing import Any

import pytest

np = pytest.importorskip("numpy")
scipy_stats = pytest.importorskip("scipy.stats")

from skillgate.stats.resampling import (  # noqa: E402
    at_least,
    bootstrap,
    critical,
    holm,
    mean_of_sums,
    p_value,
    sign_flip,
    swaps,
)


def columns(values: Any) -> Any:
    return np.column_stack((np.ones(len(values)), values))


@pytest.mark.parametrize("n", [5, 40, 300])
def test_the_bootstrap_of_a_mean_is_that_of_scipy(n: int) -> None:
    values = np.random.default_rng(n).gamma(2.0, 1.0, n)
    found = bootstrap(columns(values), mean_of_sums, seed=1, resamples=20_000)
    theirs = scipy_stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=2)
    expected, width = theirs.confidence_interval, theirs.confidence_interval.high - theirs.confidence_interval.low
    assert found == pytest.approx((expected.low, expected.high), abs=0.03 * width)


def test_whole_clusters_are_drawn_together() -> None:
    rng = np.random.default_rng(4)
    centres = rng.normal(0, 1, 30)
    values, names = np.repeat(centres, 8), np.repeat(np.arange(30), 8)
    alone = bootstrap(columns(values), mean_of_sums, seed=1)
    together = bootstrap(columns(values), mean_of_sums, seed=1, clusters=names.tolist())
    by_centre = bootstrap(columns(centres), mean_of_sums, seed=1)
    assert alone is not None
    assert together == pytest.approx(by_centre)
    assert together is not None
    assert together.high - together.low > 2.5 * (alone.high - alone.low)  # √8 times as wide


def test_clustered_intervals_cover_and_others_do_not() -> None:
    rng = np.random.default_rng(11)
    names = np.repeat(np.arange(25), 9).tolist()
    held = {"clusters": 0, "items": 0}
    for seed in range(150):
        values = np.repeat(rng.normal(0, 1, 25), 9) + rng.normal(0, 0.5, 225)
        table = columns(values)
        for name, clusters in (("clusters", names), ("items", None)):
            found = bootstrap(table, mean_of_sums, seed=seed, clusters=clusters, resamples=400)
            assert found is not None
            held[name] += found.low <= 0 <= found.high
    assert held["clusters"] >= 0.87 * 150
    assert held["items"] <= 0.65 * 150


def test_too_little_to_draw_from_or_an_undefined_statistic_give_none() -> None:
    assert bootstrap(columns([1.0]), mean_of_sums, seed=1) is None
    assert bootstrap(columns([1.0, 2.0]), mean_of_sums, seed=1, clusters=(3, 3)) is None
    assert bootstrap(columns([1.0, 2.0]), lambda sums: np.full(len(sums), np.nan), seed=1) is None


@pytest.mark.parametrize("n", [2, 5, 8, 12])
@pytest.mark.parametrize("seed", range(4))
def test_the_sign_flip_test_is_exact_for_few_differences(n: int, seed: int) -> None:
    differences = np.round(np.random.default_rng(seed).normal(0.4, 1, n), 1)
    differences[differences == 0] = 0.1
    theirs = scipy_stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", alternative="greater", n_resamples=np.inf
    )
    assert sign_flip(differences.tolist()) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_the_sign_flip_test_of_many_is_that_of_scipy_but_for_chance() -> None:
    differences = np.random.default_rng(1).normal(0.25, 1, 60)
    theirs = scipy_stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", alternative="greater", n_resamples=20_000, rng=3
    )
    assert sign_flip(differences.tolist(), seed=5) == pytest.approx(theirs.pvalue, abs=0.012)


def test_differences_of_nothing_prove_nothing() -> None:
    assert sign_flip(()) == 1.0
    assert sign_flip((0.0, 0.0)) == 1.0


def test_p_is_never_zero() -> None:
    assert sign_flip([1.0] * 15) == 2**-15
    assert sign_flip([1.0] * 100) == 1 / 10_000


def test_ties_count_whatever_the_order_of_summing() -> None:
    assert sign_flip((0.1, 0.2, 0.3)) == 1 / 8
    assert sign_flip((0.1, 0.2, -0.3)) == pytest.approx(5 / 8)


@pytest.mark.parametrize("units", [0, 1, 4, 15])
def test_every_exchange_is_tried_once_and_that_as_found_comes_first(units: int) -> None:
    table = swaps(units, seed=1)
    assert table.shape == (2**units, units)
    assert not table[0].any()
    assert len({tuple(row) for row in table.tolist()}) == 2**units


def test_exchanges_of_many_units_are_by_chance_and_by_seed() -> None:
    table = swaps(16, seed=1)
    assert table.shape == (10_000, 16)
    assert not table[0].any()
    assert np.array_equal(table, swaps(16, seed=1))
    assert not np.array_equal(table, swaps(16, seed=2))


def test_the_critical_value_is_the_least_that_is_rare() -> None:
    null = np.arange(1, 101, dtype=float)
    assert critical(null, 0.05) == 96.0
    assert at_least(null, 96.0) == 0.05
    assert critical(np.zeros(50), 0.05) is None
    assert critical(np.asarray([3.0, 1.0, 2.0]), 0.05) is None  # one in three is not rare


def test_p_is_the_share_that_reaches_the_first() -> None:
    assert p_value(np.asarray([2.0, 1.0, 3.0, 2.0])) == 0.75


def test_holm_adjusts_step_by_step_in_the_order_given() -> None:
    assert holm(()) == ()
    assert holm((0.03,)) == (0.03,)
    assert holm((0.04, 0.01, 0.03)) == pytest.approx((0.06, 0.03, 0.06))
    assert holm((0.6, 0.9)) == (1.0, 1.0)


def test_holm_is_that_of_statsmodels() -> None:
    multitest: Any = pytest.importorskip("statsmodels.stats.multitest")
    ps = np.random.default_rng(2).uniform(0, 0.2, 12).tolist()
    assert holm(ps) == pytest.approx(tuple(multitest.multipletests(ps, method="holm")[1]))
