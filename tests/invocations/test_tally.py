"""One pass over observations: what is counted, what lies outside, and what a million of them cost."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy")

from skillgate.invocations.figures import MOST_CATEGORIES, figures, tally_of
from skillgate.model.invocation import Tier
from skillgate.store.observations import gathered
from tests.invocations.observed import DAY, NOW, Observation, at, columns, row, seen, summary

if TYPE_CHECKING:
    from skillgate.invocations.figures import Tally


def counted(some: list[Observation], *, days: int | None = None) -> Tally:
    return tally_of(columns(some), now=NOW, days=days)


def test_what_is_not_later_than_the_window_begins_is_left_out() -> None:
    some = [seen(10.0, days_ago=30.5), seen(20.0, days_ago=30), seen(30.0, days_ago=29.9), seen(40.0, days_ago=1)]
    tally = counted(some, days=30)
    assert (tally.recorded, list(tally.totals), tally.first) == (2, [30.0, 40.0], at(29.9))
    assert counted(some).recorded == 4


def test_totals_before_the_last_days_are_counted_apart_and_those_without_one_nowhere() -> None:
    tally = counted([seen(50.0, days_ago=9), seen(None, days_ago=8), seen(60.0, days_ago=7), seen(70.0, days_ago=6.9)])
    assert (tally.before, list(tally.totals), tally.recorded) == (2, [50.0, 60.0, 70.0], 4)


@pytest.mark.parametrize(
    ("total", "tier"),
    [
        *((100, Tier.EXCELLENT), (90, Tier.EXCELLENT), (89.99, Tier.GOOD), (89.5, Tier.GOOD)),
        *((74.99, Tier.ACCEPTABLE), (59.5, Tier.BELOW_AVERAGE), (40, Tier.BELOW_AVERAGE)),
        *((39.99, Tier.POOR), (19.99, Tier.FAILING), (0, Tier.FAILING)),
    ],
)
def test_r22_every_total_has_the_one_tier_that_the_rubric_gives_it(total: float, tier: Tier) -> None:
    assert {one for one, number in counted([seen(total)]).tiers.items() if number} == {tier}
    assert Tier.of(total) is tier


def test_days_are_those_of_utc_and_add_up_over_parts() -> None:
    midnight = at(0) // DAY * DAY
    some = [seen(total)._replace(at=midnight + second) for total, second in ((10.0, -1), (20.0, 0), (40.0, 1))]
    tally = counted(some)
    assert tally.days == {midnight // DAY - 1: (1, 10.0), midnight // DAY: (2, 60.0)}


def test_all_categories_are_counted_and_the_most_frequent_listed() -> None:
    some = [seen(50.0, category=f"c{number:03}") for number in range(100)]
    found = counted([*some, seen(50.0, category=None), *[seen(50.0, category="design")] * 2])
    assert len(found.categories) == 102
    listed = figures(found).categories
    assert (len(listed), "design" in listed) == (MOST_CATEGORIES, True)


def test_a_million_observations_of_a_skill_stay_small() -> None:
    """One hundred bytes of each are held while a figure is computed, and a few numbers of each besides."""
    one = seen(71.25, error_count=0, ending="complete", completion=25.0, efficiency=18.5, quality=27.0)
    part = summary([row(1, one)] * 10_000)
    tracemalloc.start()
    try:
        found = figures(tally_of(gathered("one", (part for _ in range(100))), now=NOW, days=None))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (found.recorded, found.avg_score) == (1_000_000, 71.25)
    assert most < 250_000_000
