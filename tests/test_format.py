"""Rounding moves no number across what it is held against."""

from __future__ import annotations

import pytest

from skillgate.format import apart, interval, percent, plural, signed


@pytest.mark.parametrize(
    ("value", "limit", "written"),
    [
        (69.94, 70, "69.9"),
        (69.96, 70, "69.96"),
        (69.99996, 70, "69.99996"),
        (70.0, 70, "70.0"),
        (70.04, 70, "70.0"),
        (70 - 1e-12, 70, "70.0"),  # left behind by adding up
    ],
)
def test_a_number_stays_on_its_side_of_a_limit(value: float, limit: float, written: str) -> None:
    assert apart(value, (limit,), 1) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-4.23, "−4.2"),
        (3.0, "+3.0"),
        (2.96, "+2.96"),
        (-9.98, "−9.98"),
        (0.04, "+0.04"),
        (0.003, "0.0"),
        (-1e-12, "0.0"),
        (0.0, "0.0"),
    ],
)
def test_a_change_has_its_sign_and_reaches_no_whole_number_by_rounding(value: float, written: str) -> None:
    assert signed(value) == written


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (plural(0, "skill"), "0 skills"),
        (plural(1, "skill"), "1 skill"),
        (plural(1200, "skill"), "1,200 skills"),
        (plural(3, "match"), "3 matches"),
        (plural(2, "try"), "2 tries"),
        (percent(0.9333), "93.3 %"),
        (percent(0.5, 0), "50 %"),
        (interval(61.6, 71), "62–71"),
        (interval(0.25, 0.5, 2), "0.25–0.50"),
    ],
)
def test_counts_percentages_and_intervals(written: str, text: str) -> None:
    assert written == text
