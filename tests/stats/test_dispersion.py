"""Quartiles, outliers, variation and medians: against numpy and scipy, and where there is nothing to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

np = pytest.importorskip("numpy")
scipy_stats = pytest.importorskip("scipy.stats")

from skillgate.stats.intervals import median_interval, outliers, quartiles, variation  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 50, 61])
def test_quartiles_are_those_of_numpy(n: int) -> None:
    values = np.random.default_rng(n).lognormal(7, 1, n)
    assert quartiles(values.tolist()) == pytest.approx(np.percentile(values, [25, 50, 75]))
    assert quartiles(values.tolist())[2] - quartiles(values.tolist())[0] == pytest.approx(  # type: ignore[index]
        scipy_stats.iqr(values)
    )


def test_nothing_has_no_quartiles() -> None:
    assert quartiles(()) is None


def test_values_beyond_the_fences_are_outliers_and_those_on_them_are_not() -> None:
    values = [1.0, 2, 3, 4, 5, 6, 7, 8, 9]  # quartiles 3 and 7: the fences are −3 and 13
    assert outliers(values) == 0
    assert outliers([*values[:-1], 13.0]) == 0
    assert outliers([*values[:-1], 13.1]) == 1
    assert outliers([-50.0, *values[1:-1], 50.0]) == 2


@pytest.mark.parametrize("values", [(1.0,) * 7, (1.0, 2, 3, 4, 5, 6, 100), (3.0,) * 9, (3.0,) * 8 + (90.0,)])
def test_too_few_or_equal_quartiles_say_nothing_of_outliers(values: Sequence[float]) -> None:
    assert outliers(values) is None


@pytest.mark.parametrize("seed", range(5))
def test_variation_is_that_of_scipy(seed: int) -> None:
    values = np.random.default_rng(seed).uniform(0.1, 1, 30)
    assert variation(values.tolist()).value == pytest.approx(scipy_stats.variation(values))


def test_equal_values_do_not_vary() -> None:
    assert variation([0.7] * 9).value == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("values", [(), (0.4,), (0.0, 0.0), (1.0, -1.0), (1e300, -1e300), (0.1, 0.2, -0.3)])
def test_variation_without_a_mean_is_none_with_a_reason(values: Sequence[float]) -> None:
    found = variation(values)
    assert found.value is None
    assert found.reason


@pytest.mark.parametrize("n", range(5, 80))
def test_the_interval_of_a_median_is_that_of_the_sign_test(n: int) -> None:
    """The ends leave at most 2.5 % below and above; one value further in would leave more."""
    low, high = median_interval(range(1, n + 1)) or (0, 0)
    assert low + high == n + 1
    outside = scipy_stats.binom.cdf(low - 1, n, 0.5)
    assert outside <= 0.025 or (n == 5 and low == 1)
    assert scipy_stats.binom.cdf(low, n, 0.5) > 0.025


def test_a_median_of_four_has_no_interval() -> None:
    assert median_interval((1, 2, 3, 4)) is None
    with pytest.raises(ValueError, match="level"):
        median_interval((1, 2, 3, 4, 5), 1.0)
