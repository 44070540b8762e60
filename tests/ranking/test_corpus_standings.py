"""Ratings of a corpus: fitted to its matches alone, each pair once, what is no model's apart."""

from __future__ import annotations

from itertools import permutations
from statistics import median

import pytest

from skillgate.model.corpus import CorpusIndex, Indexed, Played, Provoked
from skillgate.ranking.corpus import counted, misfits, provoking, rated

pytest.importorskip("numpy")
NAMES = tuple(letter * 32 for letter in "abcde")
A, B, C, D, E = NAMES


def skill(digest: str) -> Indexed:
    """Give a member of a corpus."""
    return Indexed(digest[0], digest, digest[0], "", 100)


def played(one: str, two: str, result: float, *, model: str = "m", source: str = "live") -> Played:
    """Give a match by its result for the first one."""
    if one > two:
        one, two, result = two, one, 1.0 - result
    orders = {1.0: "win", 0.5: "draw", 0.0: "loss"}[result]
    return Played(one, two, result, (orders, orders), False, (), (), model, "1", source)


INDEX = CorpusIndex(members=tuple(map(skill, NAMES)))
LADDER = tuple(played(one, two, 1.0) for one, two in ((A, B), (B, C), (C, D), (D, E), (A, C), (B, D), (C, E)))


def ratings(index: CorpusIndex) -> dict[str, float]:
    """Give the ratings by digest."""
    return {one.digest: one.rating for one in index.members}


def test_who_wins_more_is_rated_higher_and_the_median_is_1500() -> None:
    found = rated(INDEX, LADDER, "live")
    assert sorted(NAMES, key=lambda digest: -ratings(found)[digest]) == [A, B, C, D, E]
    assert median(ratings(found).values()) == 1500
    assert [one.matches for one in found.members] == [2, 3, 4, 3, 2]
    assert found.fit is not None
    assert (found.fit.read, found.fit.pairs, found.fit.models) == (7, 7, ("m",))


def test_two_that_share_their_wins_are_equal() -> None:
    found = rated(INDEX, [played(A, B, 0.5)], "live")
    assert ratings(found) == pytest.approx(dict.fromkeys(NAMES, 1500.0))
    assert [one.anchor for one in found.members] == [True, True, False, False, False]


def test_the_order_of_matches_of_different_pairs_does_not_matter() -> None:
    first = rated(INDEX, LADDER, "live")
    for order in list(permutations(LADDER))[::600]:
        assert rated(INDEX, order, "live") == first


def test_a_pair_counts_once_by_the_match_decided_last() -> None:
    before, after = played(A, B, 1.0, model="old"), played(A, B, 0.0, model="new")
    assert counted([before, after], "live", NAMES) == (after,)
    found = rated(INDEX, [before, after], "live")
    assert ratings(found)[A] < ratings(found)[B]


def test_what_stood_in_for_a_model_is_counted_apart() -> None:
    mixed = (played(A, B, 0.0, source="scripted"), *LADDER)
    assert ratings(rated(INDEX, mixed, "live")) == ratings(rated(INDEX, LADDER, "live"))
    only = rated(INDEX, mixed, "scripted")
    assert [one.matches for one in only.members] == [1, 1, 0, 0, 0]


def test_without_a_match_nothing_is_rated() -> None:
    found = rated(INDEX, [], "live")
    assert found.fit is None
    assert set(ratings(found).values()) == {1500.0}
    assert misfits(found, []) == ()


def test_who_left_still_tells_of_those_it_met() -> None:
    index = CorpusIndex(members=INDEX.members[:4], former=INDEX.members[4:])
    found = rated(index, LADDER, "live")
    assert median(ratings(found).values()) == pytest.approx(1500)
    assert found.former[0].matches == 2
    assert not found.former[0].anchor
    assert misfits(found, LADDER) == ()


def test_ratings_that_the_matches_do_not_give_are_found() -> None:
    found = rated(INDEX, LADDER, "live")
    better = found.members[0]._replace(rating=found.members[0].rating + 1)
    forged = CorpusIndex(members=(better, *found.members[1:]), fit=found.fit)
    assert [one.digest for one, _ in misfits(forged, LADDER)] == [A]
    assert misfits(found, LADDER) == ()


def test_matches_decided_after_the_ratings_do_not_make_them_wrong() -> None:
    found = rated(INDEX, LADDER, "live")
    assert misfits(found, (*LADDER, played(A, E, 0.0))) == ()
    assert {one.digest for one, _ in misfits(found, LADDER[:-1])} >= {C, E}


def test_ratings_stay_when_members_come_and_go() -> None:
    found = rated(INDEX, LADDER, "live")
    fewer = CorpusIndex(members=(*found.members[1:], skill("f" * 32)), former=found.members[:1], fit=found.fit)
    assert misfits(fewer, LADDER) == ()


def test_a_match_that_was_played_here_counts_before_every_imported_one() -> None:
    own, brought = played(A, B, 1.0), played(A, B, 0.0, model="newer")._replace(origin="all.json")
    assert counted([own, brought], "live", NAMES) == counted([brought, own], "live", NAMES) == (own,)
    later = brought._replace(model="newest")
    assert counted([brought, later], "live", NAMES) == (later,)
    assert ratings(rated(INDEX, [*LADDER, brought], "live")) == ratings(rated(INDEX, LADDER, "live"))


def provoked(one: str, two: str, source: str = "live") -> Provoked:
    """Give a pair that a text kept from a verdict."""
    first, second = sorted((one, two))
    return Provoked(first, second, "refused", "m", "1", source)


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        ([], ""),
        (["ab"], ""),
        (["ab", "ac"], "a"),
        (["ab", "cd"], ""),
        (["ac", "ad", "ae", "bc", "bd", "be"], "ab"),
        (["ab", "ac", "ad", "ae", "bc", "bd", "be"], "ab"),
    ],
    ids=["none", "one pair", "two of one", "two pairs", "two hostile ones", "two hostile ones that met"],
)
def test_whoever_accounts_for_several_lost_pairs_stands_out_and_those_it_met_do_not(
    pairs: list[str], found: str
) -> None:
    lost = [provoked(pair[0] * 32, pair[1] * 32) for pair in pairs]
    assert provoking(lost, ()) == {letter * 32 for letter in found}


def test_a_pair_that_was_decided_after_all_is_held_against_nobody() -> None:
    lost = [provoked(A, B), provoked(A, C)]
    assert provoking(lost, [played(A, B, 1.0)]) == frozenset()


def test_who_is_not_rateable_has_no_part_in_the_fit() -> None:
    lost = (provoked(A, D), provoked(A, E))
    index = CorpusIndex(members=INDEX.members, provoked=lost)
    found = rated(index, LADDER, "live")
    first = found.members[0]
    assert (first.rateable, first.rating, first.matches, first.anchor) == (False, 1500.0, 0, False)
    rest = [match for match in LADDER if A not in (match.first, match.second)]
    assert {k: v for k, v in ratings(found).items() if k != A} == {
        k: v for k, v in ratings(rated(INDEX, rest, "live")).items() if k != A
    }
    assert (found.provoked, misfits(found, LADDER)) == (lost, ())


def test_a_stranger_s_match_does_not_make_rateable_and_a_stand_in_s_refusal_does_not_unmake() -> None:
    lost = (provoked(A, D), provoked(A, E))
    brought = [played(A, D, 1.0)._replace(origin="x"), played(A, E, 1.0)._replace(origin="x")]
    assert not rated(CorpusIndex(members=INDEX.members, provoked=lost), brought, "live").members[0].rateable
    other = tuple(one._replace(source="scripted") for one in lost)
    assert rated(CorpusIndex(members=INDEX.members, provoked=other), LADDER, "live").members[0].rateable
