"""The document over all skills: order, bounds, and what is told of what is left out."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy")

from skillgate.invocations.summary import MOST_CHARTED, MOST_DAYS, MOST_SKILLS, report
from skillgate.model.codec import encode
from skillgate.model.report import Tool
from tests.invocations.observed import NOW, by_skill, history, many, seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.invocation import InvocationReport
    from tests.invocations.observed import Observation


def of(some: Iterable[Observation], days: int | None = 30) -> InvocationReport:
    tool, seen = Tool(version="1"), by_skill(some)
    return report(seen, now=NOW, days=days, rubric="1.1", tool=tool, store="store.db", config_digest="d")


def test_skills_stand_by_average_and_the_leaderboard_from_five_rated() -> None:
    some = [
        *many([60.0] * 5, skill="a"),
        *many([None, None], skill="b"),
        *many([80.0] * 4, skill="c"),
        *many([70.0] * 5, skill="d"),
        *many([70.0] * 9, skill="e"),
    ]
    found = of(some)
    assert [one.skill for one in found.skills] == ["c", "d", "e", "a", "b"]
    assert (found.leaderboard, found.below_minimum) == (("d", "e", "a"), 2)
    assert [one.skill for one in found.trends] == ["d", "e", "a"]
    assert (found.invocations, found.rated) == (25, 23)
    # Of 23 rated, four have 80 and are Good, the others 60 or 70 and Acceptable.
    assert found.tiers == {"Excellent": 0, "Good": 4, "Acceptable": 19, "Below Average": 0, "Poor": 0, "Failing": 0}


def test_the_window_and_what_made_it_stand_in_the_document() -> None:
    found = of(history([50.0] * 5, [80.0] * 5))
    assert (found.since, found.until, found.days) == (NOW - timedelta(days=30), NOW, 30)
    assert (found.rubric_version, found.store, found.config_digest) == ("1.1", "store.db", "d")
    assert of((), days=None).since is None
    encode(found)


def test_an_empty_store_gives_a_document_of_nothing() -> None:
    found = of(())
    assert (found.invocations, found.skills, found.leaderboard, found.coverage) == (0, (), (), None)
    assert (found.daily, found.notices) == ((), ())
    encode(found)


def test_what_lies_before_the_window_is_nowhere() -> None:
    found = of([seen(10.0, days_ago=31, skill="gone"), *history([50.0] * 5, [80.0] * 5)])
    assert [one.skill for one in found.skills] == ["one"]
    assert len(of([seen(10.0, days_ago=31, skill="gone")], days=None).skills) == 1


def test_days_are_over_all_skills_and_of_each_on_the_leaderboard() -> None:
    some = [
        *(seen(60.0, days_ago=2, skill="a") for _ in range(6)),
        *(seen(90.0, days_ago=1, skill="a") for _ in range(2)),
        *(seen(30.0, days_ago=1, skill="b") for _ in range(4)),
    ]
    found = of(some)
    assert [(day.day, day.n, day.average) for day in found.daily] == [
        ("2026-07-18", 6, 60.0),
        ("2026-07-19", 6, 50.0),  # 2 × 90 and 4 × 30 are 300, ÷ 6
    ]
    assert {name: [(day.n, day.average) for day in days] for name, days in (found.by_skill or {}).items()} == {
        "a": [(6, 60.0), (2, 90.0)]
    }


def test_r29_opportunities_are_of_all_four_components_the_weakest_first() -> None:
    some = [
        *many([60.0] * 5, skill="a", efficiency=13.9, quality=15.0, completion=17.5),
        *many([60.0] * 5, skill="b", satisfaction=5.0),
        *many([60.0] * 4, skill="few", completion=0.0),
    ]
    # 5 of 25, 15 of 30, 13.9 of 20; 17.5 of 25 are 0.7 and enough.
    found = [(one.skill, one.component, one.share, one.n) for one in of(some).opportunities]
    assert found == [("b", "satisfaction", 0.2, 5), ("a", "quality", 0.5, 5), ("a", "efficiency", 0.695, 5)]
    assert all(one.recommendation for one in of(some).opportunities)


def test_what_is_not_rated_or_scored_and_unknown_categories_are_told() -> None:
    some = [
        *many([80.0] * 3, skill="a", category="poetry\x1b[31m"),
        *many([None] * 2, skill="b"),
        *many([None] * 4, skill="c", coverage=0.0, category=None),
        seen(50.0, days_ago=-0.5, skill="d"),
    ]
    unrated, bare, unknown, without, ahead = of(some).notices
    assert unrated.startswith("2 of 10 invocations are not rated")
    assert bare.startswith("4 of 10 invocations have no points by rubric 1.1")
    assert unknown.startswith("3 invocations with unknown categories (poetry\\x1b[31m)")
    assert without.startswith("4 invocations without a category")
    assert ahead.startswith("1 skill with invocations after")
    assert of(many([80.0] * 3)).notices == ()


def test_the_published_rubric_has_no_total_for_other_categories_and_none_is_said_to_be_observed_too_little() -> None:
    some = many([None] * 4, category="analysis", coverage=0.8) + many([None] * 2, category="poetry", coverage=0.8)
    found = report(by_skill(some), now=NOW, days=30, rubric="1.0", tool=Tool(version="1"), store="store.db")
    unrated, unknown = found.notices
    assert "a baseline for code_generation only" in unrated
    assert unknown.endswith("neither efficiency nor total")
    assert "observed" not in unrated + unknown


def test_all_invocations_of_unknown_categories_are_counted_however_many_these_are() -> None:
    some = [seen(80.0, category=f"c{number}") for number in range(40)]
    unknown, without = of([*some, *many([80.0] * 3, skill="one", category=None)]).notices
    assert unknown.startswith("40 invocations with unknown categories (c0, c1, c2, c3, c4, o")
    assert without.startswith("3 invocations without a category")


def crowd(skills: int) -> Iterator[Observation]:
    """Give skills of which those with a higher number have more invocations, up to nine; all in their order."""
    for number in range(skills):
        yield from many([50.0 + number % 50] * (1 + 9 * number // skills), skill=f"s{number:06}")


def test_a_store_of_many_skills_gives_a_bounded_document_and_says_so() -> None:
    skills = MOST_SKILLS + 500
    found = of(crowd(skills))
    assert (len(found.skills), len(found.by_skill or {})) == (MOST_SKILLS, MOST_CHARTED)
    assert min(one.invocation_count for one in found.skills) == 4  # a ninth of 1,500 each has 1, 2, 3, …
    assert found.rated == sum(found.tiers.values() if found.tiers else ()) == sum(day.n for day in found.daily)
    assert found.notices[-1].startswith(f"500 of {skills} skills are not listed")
    assert set(found.by_skill or {}) == set(found.leaderboard[:MOST_CHARTED])


def test_days_beyond_a_year_are_left_out_of_the_courses_and_not_of_the_figures() -> None:
    some = [seen(50.0, days_ago=500 - number, skill="a") for number in range(480)]
    found = of(some, days=None)
    assert (len(found.daily), len((found.by_skill or {})["a"])) == (MOST_DAYS, MOST_DAYS)
    assert (found.rated, found.skills[0].invocation_count) == (480, 480)
    assert found.daily[-1].day == (NOW - timedelta(days=21)).date().isoformat()
    assert any(notice.startswith("the last 366 of 480 days with rated invocations") for notice in found.notices)
