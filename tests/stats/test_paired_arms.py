"""McNemar's test and the interval of a mean difference, against scipy's and statsmodels', and by what they cover."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

np = pytest.importorskip("numpy")
scipy_stats = pytest.importorskip("scipy.stats")

from benchmarks.coverage_worlds import PAIRS  # noqa: E402
from skillgate.stats.intervals import mcnemar, mean_difference  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.mark.parametrize("first", range(0, 30, 3))
def test_mcnemar_is_the_binomial_test_of_what_differs(first: int) -> None:
    for second in range(30):
        expected = scipy_stats.binomtest(first, first + second).pvalue if first + second else 1.0
        assert mcnemar(first, second) == pytest.approx(expected, abs=1e-12)


def test_mcnemar_is_that_of_statsmodels() -> None:
    tables: Any = pytest.importorskip("statsmodels.stats.contingency_tables")
    for first, second in ((0, 6), (3, 9), (12, 12), (1, 40)):
        theirs = tables.mcnemar([[10, first], [second, 4]], exact=True).pvalue
        assert mcnemar(first, second) == pytest.approx(theirs, abs=1e-12)


def test_mcnemar_refuses_what_is_no_count() -> None:
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 3)


def test_a_symmetric_difference_has_the_t_interval() -> None:
    values = (0.1, 0.3, -0.2, 0.4, 0.15, -0.05, 0.25)
    symmetric = [*values, *(0.4 - value for value in values)]  # without skew
    expected = scipy_stats.t.interval(
        0.95, len(symmetric) - 1, loc=np.mean(symmetric), scale=scipy_stats.sem(symmetric)
    )
    assert mean_difference(symmetric) == pytest.approx(expected)


def test_units_of_one_prompt_are_one_draw() -> None:
    rng = np.random.default_rng(2)
    centres = rng.normal(0.1, 0.2, 20)
    repeated, names = np.repeat(centres, 6).tolist(), np.repeat(np.arange(20), 6).tolist()
    alone = mean_difference(repeated)
    assert mean_difference(repeated, names) == pytest.approx(mean_difference(centres.tolist()))
    assert alone is not None
    low, high = mean_difference(repeated, names) or (0, 0)
    assert high - low > 2 * (alone.high - alone.low)


@pytest.mark.parametrize(("values", "clusters"), [((), None), ((0.5,), None), ((0.5, 0.2), (3, 3))])
def test_one_cluster_has_no_interval(values: Sequence[float], clusters: Sequence[int] | None) -> None:
    assert mean_difference(values, clusters) is None


@pytest.mark.parametrize(("values", "clusters"), [((0.5, 1.5), None), ((0.5, 0.1), (1,)), ((0.5, float("nan")), None)])
def test_what_are_no_differences_is_refused(values: Sequence[float], clusters: Sequence[int] | None) -> None:
    with pytest.raises(ValueError, match="expected differences"):
        mean_difference(values, clusters)


def test_ten_equal_differences_do_not_prove_that_all_are() -> None:
    low, high = mean_difference([0.0] * 10) or (0, 0)
    assert (low, high) == pytest.approx((-0.308, 0.308), abs=1e-3)  # none of ten: at most 30.8 % were missed
    assert mean_difference([1.0] * 10) == pytest.approx((1 - 2 * 0.3085, 1.0), abs=1e-3)


CELLS = list(product(PAIRS, (10, 20, 50), (1, 3)))


@pytest.mark.parametrize(("world", "groups", "each"), CELLS)
def test_the_interval_of_a_mean_difference_covers(world: str, groups: int, each: int) -> None:
    """The least of many cells of 1,000 is some 0.01 below what is true."""
    draw, rng = PAIRS[world], np.random.default_rng(groups + each)
    true = float(draw(np.random.default_rng(9), 200_000, 1).mean())
    names = np.repeat(np.arange(groups), each).tolist()
    held = 0
    for _ in range(1_000):
        low, high = mean_difference(draw(rng, groups, each).ravel().tolist(), names) or (0.0, 0.0)
        held += low - 1e-9 <= true <= high + 1e-9
    assert held >= 930
