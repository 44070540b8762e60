"""The test of Mann and Kendall: held against scipy, and its level by counting every order."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy.special import ndtr

from skillgate.report.trends import ALPHA
from skillgate.stats.plain import mann_kendall


@pytest.mark.parametrize(("values", "s"), [((1, 2, 3, 4, 5), 10), ((5, 4, 3, 2, 1), -10), ((1, 1, 1, 1, 1), 0)])
def test_it_counts_pairs_in_order(values: tuple[float, ...], s: int) -> None:
    assert mann_kendall(values).s == s


def test_its_p_is_that_of_the_published_formula_with_ties() -> None:
    values = (0.5, 0.6, 0.6, 0.7, 0.7, 0.7, 0.9, 0.8)
    found = mann_kendall(values)
    array = np.asarray(values)
    s = int(np.sign(np.subtract.outer(array, array))[np.tril_indices(8)].sum())
    variance = (8 * 7 * 21 - 2 * 1 * 9 - 3 * 2 * 11) / 18
    assert found.s == s
    assert found.p == pytest.approx(2 * float(ndtr(-(s - 1) / np.sqrt(variance))))


@pytest.mark.parametrize("n", [5, 6, 7])
def test_of_all_orders_of_a_series_without_trend_few_are_called(n: int) -> None:
    """Exactly, for values that all differ: each order is as likely as any other."""
    called = [mann_kendall(order).p < ALPHA for order in permutations(range(n))]
    assert sum(called) / len(called) <= ALPHA


@pytest.mark.parametrize("n", [5, 6, 7])
@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_ties_make_it_call_no_more(n: int, rate: float) -> None:
    """Exactly, for runs of one task that passes or fails by chance."""
    share = sum(
        rate ** sum(order) * (1 - rate) ** (n - sum(order))
        for order in product((0, 1), repeat=n)
        if mann_kendall(order).p < ALPHA
    )
    assert share <= ALPHA


def test_a_steady_rise_of_five_is_called() -> None:
    assert mann_kendall((0.1, 0.2, 0.3, 0.4, 0.5)).p < ALPHA


def test_under_five_values_there_is_no_test() -> None:
    with pytest.raises(ValueError, match="needs 5 values"):
        mann_kendall((1, 2, 3, 4))
