"""One pass over observations: what is counted, what lies outside, and what a million of them cost."""

from __future__ import annotations

import tracemalloc
from itertools import repeat

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy")

from skillgate.invocations.figures import AT_ONCE, MOST_CATEGORIES, Tally, by_skill, figures
from skillgate.model.invocation import Observation, Tier
from tests.invocations.observed import DAY, at, many, seen


def counted(some: list[Observation], *, since: int | None = None) -> Tally:
    tally = Tally("one", since=since, boundary=at(7))
    for _, parts in by_skill(some):
        for part in parts:
            tally.add(part)
    return tally


def test_skills_come_apart_in_parts_that_hold_all_of_them_in_order() -> None:
    some = [*many(range(AT_ONCE + 3), skill="a"), *many([1.0], skill="b")]
    found = [(skill, list(parts)) for skill, parts in by_skill(iter(some))]
    assert [(skill, [len(part) for part in parts]) for skill, parts in found] == [("a", [AT_ONCE, 3]), ("b", [1])]
    assert [item for _, parts in found for part in parts for item in part] == some


def test_what_is_not_later_than_the_window_begins_is_left_out() -> None:
    some = [seen(10.0, days_ago=30.5), seen(20.0, days_ago=30), seen(30.0, days_ago=29.9), seen(40.0, days_ago=1)]
    tally = counted(some, since=at(30))
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
    assert counted([seen(total)]).tiers == {tier: 1}
    assert Tier.of(total) is tier


def test_days_are_those_of_utc_and_add_up_over_parts() -> None:
    midnight = at(0) // DAY * DAY
    some = [seen(total)._replace(at=midnight + second) for total, second in ((10.0, -1), (20.0, 0), (40.0, 1))]
    tally = Tally("one", since=None, boundary=at(7))
    for item in some:
        tally.add([item])
    assert tally.days == {midnight // DAY - 1: (1, 10.0), midnight // DAY: (2, 60.0)}


def test_categories_beyond_some_are_counted_and_not_kept() -> None:
    some = [seen(50.0, category=f"c{number:03}") for number in range(100)]
    found = counted([*some, seen(50.0, category=None), seen(50.0, category="design")])
    assert {name for name in found.categories if name not in (None, "design")} == {
        f"c{number:03}" for number in range(MOST_CATEGORIES)
    }
    assert (found.categories[None], found.categories["design"]) == (1, 1)
    assert found.unnamed == 100 - MOST_CATEGORIES


def test_a_million_observations_of_a_skill_stay_small() -> None:
    """Nothing but one float of each is kept: 8 MB, and as much again while a figure is computed."""
    one = seen(71.25, error_count=0, ending="complete", completion=25.0, efficiency=18.5, quality=27.0)
    tally = Tally("one", since=None, boundary=at(7))
    tracemalloc.start()
    try:
        for _, parts in by_skill(repeat(one, 1_000_000)):
            for part in parts:
                tally.add(part)
        found = figures(tally)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (found.recorded, found.avg_score) == (1_000_000, 71.25)
    assert most < 60_000_000
