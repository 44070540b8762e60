"""The rank correlation, against scipy's, and how often its interval holds the truth."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")
scipy_stats = pytest.importorskip("scipy.stats")

from skillgate.stats.plain import Spearman, spearman  # noqa: E402


def test_it_is_scipys_with_ties_too() -> None:
    rng = np.random.default_rng(1)
    for n in (4, 12, 60):
        a, b = rng.normal(0, 1, n).round(1), rng.integers(0, 5, n).astype(float)
        found = spearman(list(zip(a.tolist(), b.tolist(), strict=True)))
        assert found is not None
        assert found.rho == pytest.approx(scipy_stats.spearmanr(a, b).statistic)
        assert found.low < found.rho < found.high


def test_the_interval_holds_the_truth_in_about_95_of_100_cases() -> None:
    rng, hits, truth = np.random.default_rng(2), 0, 6 / np.pi * np.arcsin(0.6 / 2)
    for _ in range(1_000):
        drawn = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 20)
        found = spearman([(float(x), float(y)) for x, y in drawn])
        assert found is not None
        hits += found.low <= truth <= found.high
    assert 930 <= hits <= 990


def test_a_perfect_order_and_no_order_at_all() -> None:
    assert spearman([(n, n * n) for n in range(6)]) == Spearman(1.0, 1.0, 1.0)
    assert spearman([(1.0, n) for n in range(6)]) is None
    with pytest.raises(ValueError, match="four pairs"):
        spearman([(1, 2)] * 3)
