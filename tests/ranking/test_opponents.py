"""Whom a skill is compared with: by category, length and rating, never with itself; and what can come of it at all."""

from __future__ import annotations

import random

import pytest

from skillgate.ranking.corpus import opponents
from skillgate.ranking.layer import assumed, hindrance
from skillgate.ranking.ratings import elo
from tests.ranking.matches import entrant, member


def test_the_category_comes_before_the_length_and_the_length_before_the_rating() -> None:
    members = [
        member("other-kind", category="reference", lines=100, rating=1500),
        member("longest", lines=900, rating=1500),
        member("longer", lines=180, rating=1500),
        member("alike-but-strong", lines=110, rating=1800),
        member("alike", lines=129, rating=1510),
    ]
    found = opponents(entrant(lines=100), members)
    assert [one.name for one in found] == ["alike", "alike-but-strong", "longer", "longest", "other-kind"]


def test_a_skill_without_a_category_is_compared_with_any() -> None:
    members = [member("far", category="workflow", lines=900), member("near", category="reference", lines=100)]
    assert [one.name for one in opponents(entrant(category=""), members)] == ["near", "far"]


def test_categories_are_told_apart_without_regard_to_letter_case() -> None:
    members = [member("near", category="reference"), member("same", category="WorkFlow", lines=150)]
    assert [one.name for one in opponents(entrant(), members)] == ["same", "near"]


def test_a_known_rating_finds_its_equals() -> None:
    members = [member("middling", rating=1500), member("strong", rating=1790), member("stronger", rating=1900)]
    assert [one.name for one in opponents(entrant(), members, rating=1800)] == ["strong", "stronger", "middling"]


def test_whoever_has_no_match_comes_after_all_that_have() -> None:
    rated = [member(f"good-{number:02}", rating=1600.0 + number, lines=900, category="other") for number in range(16)]
    stubs = [member(f"stub-{number:02}", matches=0) for number in range(16)]
    assert set(opponents(entrant(), [*stubs, *rated])) == set(rated)
    assert [one.matches for one in opponents(entrant(), [*stubs, *rated[:10]])] == [20] * 10 + [0] * 6
    assert assumed(0, 16) is None
    assert (assumed(6, 16) or "").startswith("6 of 16 opponents have no matches and an assumed rating of 1500; ")


def test_what_cannot_be_rated_is_no_opponent() -> None:
    members = [member("rated"), member("refused", rateable=False)]
    assert [one.name for one in opponents(entrant(), members)] == ["rated"]


def test_a_skill_never_meets_itself() -> None:
    own = entrant("merge-sheets")
    members = [
        member("renamed", digest=own.digest),
        member("merge-sheets", digest="an earlier state", path="skills/merge-sheets"),
        member("merge-sheets", digest="a namesake", path="others/merge-sheets"),
        member("another", path="skills/merge-sheets"),
    ]
    assert {one.digest for one in opponents(own, members, path="skills/merge-sheets")} == {
        "a namesake",
        "digest-of-another",
    }


def test_a_text_that_is_there_twice_is_met_once() -> None:
    members = [member("copy", digest="d", path="b/copy"), member("copy", digest="d", path="a/copy")]
    assert [one.path for one in opponents(entrant(), members)] == ["a/copy"]
    assert [one.path for one in opponents(entrant(), members[::-1])] == ["a/copy"]


def test_the_order_of_the_members_changes_nothing() -> None:
    rng = random.Random(4)
    members = [
        member(f"skill-{number}", lines=rng.randint(50, 900), rating=1500 + rng.randint(-3, 3) * 50)
        for number in range(60)
    ]
    wanted = opponents(entrant(), members)
    assert len(wanted) == 16
    for _ in range(5):
        rng.shuffle(members)
        assert opponents(entrant(), members) == wanted


@pytest.mark.parametrize(("n", "found"), [(1, 1), (5, 5), (16, 7)])
def test_there_are_as_many_as_are_asked_for_and_no_more_than_there_are(n: int, found: int) -> None:
    assert len(opponents(entrant(), [member(f"s{number}") for number in range(7)], n)) == found


def test_files_without_lines_can_be_compared() -> None:
    assert len(opponents(entrant(lines=0), [member("empty", lines=0), member("long", lines=10_000)])) == 2


@pytest.mark.parametrize("ratings", [[1500.0] * 5, [1300.0] * 16, [1500.0]])
def test_few_or_weak_opponents_hold_the_best_badge_back_whatever_the_matches_give(ratings: list[float]) -> None:
    highest = elo(1500.0, [(rating, 1.0) for rating in ratings])
    assert highest < 1600
    said = hindrance(ratings)
    assert said is not None
    assert f"an Elo of {int(highest)};" in said
    assert f"{len(ratings)} opponent" in said
    assert "Platinum needs 1600" in said


def test_the_range_of_the_opponents_is_named() -> None:
    said = hindrance([1400.0, 1555.5])
    assert said is not None
    assert "2 opponents rated 1400 to 1556 " in said


@pytest.mark.parametrize("ratings", [[], [1500.0] * 16, [1700.0] * 8])
def test_nothing_is_said_where_the_best_badge_can_be_reached(ratings: list[float]) -> None:
    assert hindrance(ratings) is None
