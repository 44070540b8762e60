"""The Bayesian bootstrap: what it is for hits and misses, and that no spread seen is not no spread."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")
scipy_stats = pytest.importorskip("scipy.stats")

from benchmarks.coverage_worlds import GRADES  # noqa: E402
from skillgate.stats.resampling import mean_interval, weights  # noqa: E402


@pytest.mark.parametrize(("hits", "n"), [(3, 10), (49, 50), (25, 50), (1, 5)])
def test_of_hits_and_misses_the_ends_are_quantiles_of_betas(hits: int, n: int) -> None:
    low, high = mean_interval([1.0] * hits + [0.0] * (n - hits)) or (0, 0)
    assert low == pytest.approx(scipy_stats.beta.ppf(0.025, hits + 0.25, n - hits + 0.75), abs=0.012)
    assert high == pytest.approx(scipy_stats.beta.ppf(0.975, hits + 0.75, n - hits + 0.25), abs=0.012)


def test_weights_are_one_on_average_and_lean() -> None:
    drawn = weights(40, np.random.default_rng(1))
    assert drawn.items.shape == (2_000, 40)
    assert drawn.items.mean() == pytest.approx(1.0, abs=0.02)
    assert drawn.worst.bad.mean() > 2 * drawn.worst.good.mean()
    assert drawn.best.good.mean() > 2 * drawn.best.bad.mean()


def test_equal_values_keep_a_doubt_that_shrinks_with_their_number() -> None:
    widths = []
    for n in (5, 50, 500):
        low, high = mean_interval([0.9] * n) or (0, 0)
        assert low < 0.9 < high <= 1.0
        widths.append(high - low)
    assert widths[0] > 3 * widths[1] > 15 * widths[2]


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_an_end_of_the_scale_is_inside(value: float) -> None:
    low, high = mean_interval([value] * 20) or (9, 9)
    assert 0.0 <= low <= value <= high <= 1.0
    assert high - low < 0.2


def test_nothing_has_no_interval_and_what_is_out_of_bounds_is_refused() -> None:
    assert mean_interval(()) is None
    with pytest.raises(ValueError, match="from 0"):
        mean_interval((0.5, 1.2))
    with pytest.raises(ValueError, match="from 0"):
        mean_interval((float("nan"),))
    low, high = mean_interval((-0.5, 0.5), low=-1.0) or (0, 0)
    assert -1 < low < 0 < high < 1


@pytest.mark.parametrize("world", GRADES)
@pytest.mark.parametrize("n", [5, 25])
def test_means_of_grades_are_covered_whatever_their_distribution(world: str, n: int) -> None:
    rng, draw = np.random.default_rng(n), GRADES[world]
    true = float(draw(np.random.default_rng(3), 1_000_000).mean())
    held = 0
    for seed in range(300):
        low, high = mean_interval(draw(rng, n).tolist(), seed=seed) or (0.0, 0.0)
        held += low - 1e-9 <= true <= high + 1e-9
    assert held >= 0.92 * 300
