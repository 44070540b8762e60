"""R24: the day on which the mean of ten in a row last was a point above its best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.invocations.figures import DAY_S, Improvement

if TYPE_CHECKING:
    from collections.abc import Sequence


def day(totals: Sequence[float]) -> int | None:
    """Follow one total a day, the first on day 100."""
    followed = Improvement()
    followed.add(((100 + index) * DAY_S + 5, total) for index, total in enumerate(totals))
    return followed.day


def test_r24_nothing_rated_has_no_day() -> None:
    assert day([]) is None


@pytest.mark.parametrize("totals", [[50.0], [10.0, 90.0], [50.0] * 10, [50.0] * 40, [90.0] * 10 + [10.0] * 20])
def test_r24_without_an_improvement_it_is_the_first_day(totals: list[float]) -> None:
    assert day(totals) == 100


def test_r24_a_jump_of_one_total_by_ten_is_a_point_of_the_mean() -> None:
    # Ten of 50; the eleventh is 60 and takes the place of a 50: the mean is 51.
    assert day([50.0] * 10 + [60.0]) == 110
    assert day([50.0] * 10 + [59.9]) == 100


def test_r24_a_slow_creep_counts_once_it_adds_up_to_a_point() -> None:
    # From the eleventh on each total is half a point higher, so the k-th later mean is 50 + 0.05·k·(k + 1)/2 for
    # k ≤ 10: 0.90 at k = … 5 is 0.75, at 6 it is 1.05.
    totals = [50.0] * 10 + [50.5 + 0.5 * step for step in range(6)]
    assert day(totals[:-1]) == 100
    assert day(totals) == 115


def test_r24_what_was_lost_and_won_back_is_no_improvement() -> None:
    assert day([50.0] * 10 + [20.0] * 10 + [50.0] * 10) == 100
    # The best, 50, is a whole point exceeded when the tenth of 51 is in.
    assert day([50.0] * 10 + [20.0] * 10 + [51.0] * 10) == 129


def test_r24_the_next_improvement_is_over_the_last_one() -> None:
    # Means 51, 52, 53: improvements on days 110, 111 and 112; 60s leave the window from 120 on, and new ones keep it.
    assert day([50.0] * 10 + [60.0] * 3 + [50.0] * 7) == 112


def test_r24_a_point_that_rounding_hides_is_a_point() -> None:
    # Ten of 0.1 and one of 10.1: the mean is 1.1, which in binary is not 0.1 + 1.
    assert day([0.1] * 10 + [10.1]) == 110


def test_r24_a_point_is_found_after_a_hundred_thousand_totals() -> None:
    """The running sum must not have drifted away from the ten it stands for."""
    totals = [33.33, 66.67, 0.01, 99.99, 12.34, 87.66, 45.67, 54.33, 71.3, 28.7] * 10_000
    assert day(totals) == 100
    # The oldest of the last ten, 33.33, gives way to 43.33: exactly a point.
    assert day([*totals, 43.33]) == 100_100
    assert day([*totals, 43.32]) == 100
