"""The page of coverages: what is summed exactly stands there as it is, and what decides anything covers enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy.stats")

from benchmarks.coverage import (
    DECIDED,
    TRIALS,
    Often,
    difference_cell,
    differences,
    f1,
    lift_cell,
    rates,
    strength,
)
from benchmarks.coverage_page import PAGE, Covered, page, rows
from benchmarks.coverage_ranking import elo_cells
from skillgate.stats.intervals import clopper_pearson, wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TEXT = PAGE.read_text(encoding="utf-8")
FOUND = rows(TEXT)
MUST = 0.93
SHOWN_BESIDE = ("rate, Wilson", "Elo's", "kappa", "rating by 2", "rating by 3", "rating by 5")
"""What decides nothing, or is said on the page to cover too little."""


def _row(name: str, grid: str = "") -> Covered:
    (only,) = (one for one in FOUND if one.interval == name and one.grid.startswith(grid))
    return only


@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("rate, Clopper–Pearson", ""),
        ("strength, Bradley–Terry", ""),
        ("mean paired difference", ""),
        ("class-balanced F1", "50 + 10"),
    ],
)
def test_what_must_cover_does_so_in_its_worst_cell(name: str, grid: str) -> None:
    found = _row(name, grid)
    assert found.least >= MUST
    assert found.repetitions is None or found.repetitions >= 5_000


def test_whatever_decides_anything_covers_enough() -> None:
    """A least of many simulated cells is by chance below what is true; the mean over them is not."""
    deciding = [one for one in FOUND if not one.interval.startswith(SHOWN_BESIDE)]
    assert len(deciding) >= 18
    for one in deciding:
        assert one.mean >= 0.95, one.interval
        assert one.least >= 0.9, one.interval


def test_what_covers_too_little_is_named_below_the_table() -> None:
    low = [one.interval for one in FOUND if one.mean < 0.95]
    assert all(name.startswith(SHOWN_BESIDE) for name in low)
    words = TEXT.partition("Notes on some rows:")[2]
    assert "Elo's resampling spread is not an interval for a skill's strength" in words
    assert "by two judges covers too little" in words
    assert "Kappa's bootstrap interval" in words


@pytest.mark.parametrize(
    ("name", "interval", "trials"),
    [
        ("rate, Clopper–Pearson", clopper_pearson, TRIALS),
        ("rate, Wilson", wilson, TRIALS),
        ("position bias, Clopper–Pearson", clopper_pearson, DECIDED),
    ],
)
def test_exact_coverages_of_rates_stand_on_the_page(
    name: str, interval: Callable[[int, int], tuple[float, float]], trials: Sequence[int]
) -> None:
    assert rates(name, interval, trials).row() in TEXT


@pytest.mark.parametrize("prompts", [(5, 5), (50, 10)])
def test_exact_coverages_of_f1_stand_on_the_page(prompts: tuple[int, int]) -> None:
    assert f1(*prompts).row() in TEXT


def test_exact_coverages_of_strengths_stand_on_the_page() -> None:
    assert strength().row() in TEXT


@pytest.mark.parametrize(
    ("world", "groups", "each"),
    [("skewed", 10, 3), ("skewed", 10, 1), ("a prompt's own, and noise", 20, 1), ("won 3 of 10, lost 1", 20, 1)],
)
def test_the_worst_cells_of_paired_differences_hold_when_run_again(world: str, groups: int, each: int) -> None:
    """Of 2,000 repetitions one standard deviation is 0.005."""
    held, _ = difference_cell(world, groups, each, 2_000)
    assert held >= MUST


def test_the_worst_cell_of_lift_holds_when_run_again() -> None:
    held, _ = lift_cell("grades, 0.15 gained", 30, 400)
    assert held >= MUST


def test_elo_holds_no_strength_that_it_has_not_reached() -> None:
    """So its row is no coverage that anybody may rest on."""
    cells = elo_cells(40)
    assert min(held for held, _ in cells["strength"]) <= 0.05
    assert _row("Elo's resampling spread, compared with strength").mean < 0.5


def test_the_page_is_made_of_its_rows() -> None:
    assert page(FOUND) == TEXT
    assert rows(TEXT) == FOUND
    found = differences(20)
    assert (found.cells, found.repetitions) == (36, 20)
    assert found.row() in page([found])
    assert rows(page([found])) == [found]


def test_fewer_repetitions_can_be_asked_for() -> None:
    assert set(Often().at_most(7)) == {7}
    assert Often().at_most(None) == Often()
