"""Intervals against scipy's own, and by how often they hold what they are to hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

np = pytest.importorskip("numpy")
scipy_stats = pytest.importorskip("scipy.stats")

from skillgate.stats.intervals import (  # noqa: E402
    balanced,
    balanced_f1,
    clopper_pearson,
    half_width_t,
    mean_t,
    rate_draws,
    wilson,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

RATES = (0.0, 0.01, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99, 1.0)


def test_exact_intervals_are_those_of_scipy_for_every_count_up_to_200() -> None:
    """By the quantiles of scipy's beta, all counts of one n at once; the binomial test's own follows for some."""
    for n in range(1, 201):
        k = np.arange(n + 1)
        low, high = scipy_stats.beta.ppf(0.025, k, n - k + 1), scipy_stats.beta.ppf(0.975, k + 1, n - k)
        low[0], high[n] = 0.0, 1.0
        assert np.allclose([clopper_pearson(int(one), n) for one in k], np.column_stack((low, high)), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 10, 50, 200])
@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(("interval", "method"), [(clopper_pearson, "exact"), (wilson, "wilson")])
def test_intervals_of_rates_are_those_of_the_binomial_test(interval: Any, method: str, n: int, level: float) -> None:
    for k in range(n + 1):
        expected = scipy_stats.binomtest(k, n).proportion_ci(confidence_level=level, method=method)
        assert interval(k, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("interval", "method"), [(clopper_pearson, "beta"), (wilson, "wilson")])
def test_intervals_of_rates_are_those_of_statsmodels(interval: Any, method: str) -> None:
    proportion: Any = pytest.importorskip("statsmodels.stats.proportion")
    for n in (7, 50, 60):
        for k in range(n + 1):
            assert interval(k, n) == pytest.approx(proportion.proportion_confint(k, n, method=method), abs=1e-9)


@pytest.mark.parametrize("interval", [clopper_pearson, wilson])
def test_no_trials_leave_the_whole_range(interval: Any) -> None:
    assert interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("n", [5, 20, 60])
def test_exact_intervals_cover_at_every_rate(n: int) -> None:
    ends = np.asarray([clopper_pearson(k, n) for k in range(n + 1)])
    for rate in np.linspace(0, 1, 201):
        holds = (ends[:, 0] <= rate + 1e-12) & (rate <= ends[:, 1] + 1e-12)
        assert scipy_stats.binom.pmf(np.arange(n + 1), n, rate) @ holds >= 0.95


@pytest.mark.parametrize(("k", "n", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0), (1, 2, 0.0)])
def test_what_is_no_count_or_level_is_refused(k: int, n: int, level: float) -> None:
    for interval in (clopper_pearson, wilson):
        with pytest.raises(ValueError, match=r"expected|between"):
            interval(k, n, level)


@pytest.mark.parametrize("values", [(0.5, 0.6), (0.4, 0.5, 0.45), (0.3, 0.5, 0.4, 0.6, 0.45, 0.5)])
def test_the_interval_of_a_mean_is_that_of_the_t_distribution(values: Sequence[float]) -> None:
    mean, error = np.mean(values), scipy_stats.sem(values)
    expected = scipy_stats.t.interval(0.95, len(values) - 1, loc=mean, scale=error)
    assert mean_t(values) == pytest.approx((max(0.0, expected[0]), min(1.0, expected[1])))
    assert half_width_t(values) == pytest.approx((expected[1] - expected[0]) / 2)


def test_equal_values_keep_the_least_width() -> None:
    assert mean_t((0.7, 0.7, 0.7), 0.05) == pytest.approx((0.65, 0.75))
    assert mean_t((0.7, 0.7, 0.7)) == pytest.approx((0.7, 0.7))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_an_interval_ends_where_the_scale_does(value: float) -> None:
    low, high = mean_t((value, value), 0.05)
    assert 0.0 <= low <= value <= high <= 1.0


def test_one_value_has_no_interval() -> None:
    with pytest.raises(ValueError, match="two values"):
        mean_t((0.7,))


def test_balanced_f1_is_f1_with_as_many_of_one_kind_as_of_the_other() -> None:
    recall, false_alarms = 0.8, 0.3
    precision = recall / (recall + false_alarms)
    assert balanced(recall, false_alarms) == pytest.approx(2 * precision * recall / (precision + recall))
    assert balanced(0.0, 0.0) == 0.0
    assert balanced(1.0, 1.0) == pytest.approx(2 / 3)  # always firing


def _coverage(positives: int, near_misses: int) -> dict[tuple[float, float], float]:
    """Sum the probability of every outcome whose interval holds the true value: no chance is in it."""
    hit, alarm = np.arange(positives + 1), np.arange(near_misses + 1)
    ends = np.asarray(
        [[balanced_f1(_outcomes(k, positives), _outcomes(a, near_misses), seed=1) for a in alarm] for k in hit]
    )
    found = {}
    for recall in RATES:
        for false_alarms in RATES:
            true = balanced(recall, false_alarms)
            holds = (ends[..., 0] <= true + 1e-12) & (true - 1e-12 <= ends[..., 1])
            chance = np.outer(
                scipy_stats.binom.pmf(hit, positives, recall), scipy_stats.binom.pmf(alarm, near_misses, false_alarms)
            )
            found[recall, false_alarms] = float(np.sum(chance * holds))
    return found


def _outcomes(successes: int, n: int) -> list[float]:
    return [1.0] * successes + [0.0] * (n - successes)


@pytest.mark.parametrize(("positives", "near_misses", "least"), [(5, 5, 0.93), (10, 10, 0.95), (50, 10, 0.945)])
def test_the_interval_of_f1_covers_whatever_the_rates(positives: int, near_misses: int, least: float) -> None:
    found = _coverage(positives, near_misses)
    assert min(found.values()) >= least
    assert sum(found.values()) / len(found) < 0.99  # and is not wide without need


def test_a_perfect_skill_is_inside_its_own_interval_and_proves_nothing() -> None:
    low, high = balanced_f1((1.0,) * 5, (0.0,) * 5)
    assert high == 1.0
    assert 0.5 < low < 0.8


def test_more_prompts_tell_more() -> None:
    few = balanced_f1((1.0,) * 4 + (0.0,), (0.0,) * 5)
    many = balanced_f1(((1.0,) * 4 + (0.0,)) * 10, (0.0,) * 50)
    assert many.high - many.low < 0.6 * (few.high - few.low)


def test_shares_of_judges_count_as_parts_of_a_success() -> None:
    low, high = balanced_f1((2 / 3,) * 5, (1 / 3,) * 5)
    assert low < balanced(2 / 3, 1 / 3) < high


def test_the_same_seed_gives_the_same_interval() -> None:
    assert balanced_f1((1.0, 0.0), (0.0,), seed=3) == balanced_f1((1.0, 0.0), (0.0,), seed=3)


@pytest.mark.parametrize("values", [(), (1.5,), (-0.1,), (math.nan,)])
def test_what_are_no_outcomes_is_refused(values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="at least one value"):
        balanced_f1(values, (0.0,))
    with pytest.raises(ValueError, match="at least one value"):
        rate_draws(values, np.random.default_rng(0))
