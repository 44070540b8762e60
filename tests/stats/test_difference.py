"""The difference of two means: against scipy where one of the two intervals is the wider, and what chance leaves."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

np = pytest.importorskip("numpy")
scipy_stats = pytest.importorskip("scipy.stats")

from skillgate.stats.resampling import (  # noqa: E402
    Sample,
    benjamini_hochberg,
    difference,
    difference_p,
    resampled,
    sample,
)

FEW_WIDE = ([60.0, 61.0, 62.0, 63.0, 64.0, 62.0, 61.0, 63.0], [20.0, 95.0, 50.0, 70.0, 85.0])
FEW_NARROW = ([20.0, 95.0, 50.0, 70.0, 85.0, 40.0, 99.0, 10.0], [61.0, 62.0, 63.0, 62.0, 61.5])


def test_a_sample_is_described_by_its_mean_and_its_spread_by_one_less() -> None:
    # Mean 72; squares of 2, 4, 4, 2, 0 add up to 40; 40 ÷ 4 = 10.
    assert sample([70, 76, 68, 74, 72]) == pytest.approx(Sample(5, 72.0, 10**0.5))
    assert sample([]) == Sample(0, None, None)
    assert sample([3.0]) == Sample(1, 3.0, None)


def test_equal_values_do_not_spread_whatever_their_mean_rounds_to() -> None:
    assert sample(array("d", [70.1] * 7)).deviation == 0.0


@pytest.mark.parametrize(("before", "after", "equal"), [(*FEW_WIDE, False), (*FEW_NARROW, True)])
def test_the_wider_of_welchs_and_the_pooled_interval_counts(
    before: list[float], after: list[float], *, equal: bool
) -> None:
    expected: dict[bool, Any] = {
        pooled: scipy_stats.ttest_ind(after, before, equal_var=pooled).confidence_interval(0.975)
        for pooled in (True, False)
    }
    found = difference(sample(before), sample(after))
    assert found == pytest.approx(tuple(expected[equal]))
    widths = {pooled: ends.high - ends.low for pooled, ends in expected.items()}
    assert widths[equal] > widths[not equal]


def test_samples_without_any_spread_have_no_interval() -> None:
    assert difference(sample([60.0] * 5), sample([75.0] * 5)) is None


def test_a_small_sample_almost_without_spread_does_not_make_the_interval_that_of_the_other_alone() -> None:
    before, after = [100.0] * 54 + [0.0] * 6, [100.0] * 9 + [99.0]
    alone = scipy_stats.ttest_ind(after, before, equal_var=False).confidence_interval(0.95)
    found = difference(sample(before), sample(after))
    assert found is not None
    assert alone.low > 0  # Welch's alone would call ten runs of a skill that always failed one in ten a change
    assert found.low < 0


def test_one_value_is_no_sample_to_compare() -> None:
    with pytest.raises(ValueError, match="needs two values of each, found 1 and 2"):
        difference(sample([1.0]), sample([1.0, 2.0]))


def test_resampling_gives_the_same_for_the_same_seed_and_agrees_with_t_for_many_values() -> None:
    rng = np.random.default_rng(5)
    before, after = rng.normal(60, 12, 300).round(2), rng.normal(66, 12, 200).round(2)
    found = resampled(before, after, seed=1)
    assert found == resampled(before, after, seed=1)
    expected = scipy_stats.ttest_ind(after, before, equal_var=False).confidence_interval(0.95)
    assert found == pytest.approx(tuple(expected), abs=0.25)
    assert resampled([1.0], [1.0, 2.0], seed=1) is None


def test_resampling_a_million_values_draws_counts_of_distinct_ones() -> None:
    values = np.tile(np.arange(100.0), 10_000)
    found = resampled(values, values + 1, seed=1)
    assert found is not None
    # The standard error of each mean is 28.87 ÷ 1000; of the difference 0.0408, and 1.96 times that is 0.080.
    assert found == pytest.approx((0.92, 1.08), abs=0.01)


@pytest.mark.parametrize("pair", [FEW_WIDE, FEW_NARROW])
def test_p_is_twice_the_larger_of_welchs_and_the_pooled_one(pair: tuple[list[float], list[float]]) -> None:
    before, after = pair
    alone = [scipy_stats.ttest_ind(after, before, equal_var=pooled).pvalue for pooled in (True, False)]
    assert difference_p(sample(before), sample(after)) == pytest.approx(min(1.0, 2 * max(alone)))


def test_p_is_below_five_percent_exactly_where_the_interval_excludes_0() -> None:
    rng, seen = np.random.default_rng(3), set()
    for number in range(400):
        before, after = rng.normal(60, 10, 9), rng.normal(60 + number % 20, 4 + number % 7, 6)
        found = difference(sample(before), sample(after))
        assert found is not None
        excludes = found.low > 0 or found.high < 0
        assert (difference_p(sample(before), sample(after)) < 0.05) == excludes
        seen.add(excludes)
    assert seen == {True, False}


def test_p_without_any_spread_is_the_share_of_orders_that_look_so() -> None:
    assert difference_p(sample([60.0] * 5), sample([75.0] * 5)) == pytest.approx(2 / 252)
    assert difference_p(sample([60.0] * 5), sample([60.0] * 5)) == 1.0


def test_false_discoveries_are_adjusted_as_scipy_does() -> None:
    for n in (1, 2, 30):
        ps = np.random.default_rng(n).random(n) ** 3
        assert benjamini_hochberg(list(ps)) == pytest.approx(tuple(scipy_stats.false_discovery_control(ps)))
    assert benjamini_hochberg([]) == ()
