"""Rules across skills on catalogues of any size and make: claims in step with the skills, never with their pairs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.model.finding import Listing, Member, SkillTexts
from skillgate.static.across import claims_across

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.model.finding import Claim


def member(
    path: str, description: str, lines: Iterable[str] = (), *, name: str = "", uses: Iterable[str] = ()
) -> Member:
    told = SkillTexts(lines=tuple(enumerate(lines, start=5)), uses=tuple(enumerate(uses, start=50)))
    listing = Listing(name=name or path.rpartition("/")[2], description=description)
    return Member(path=path, listing=listing, texts=lambda: told)


def counted(found: Iterable[tuple[str, Claim]]) -> Counter[str]:
    return Counter(claim.id for _, claim in found)


BODY = [f"in step {number} the form is read by hand" for number in range(12)]


def test_thousands_of_copies_give_one_claim_for_each_copy() -> None:
    copies = [member(f"skills/s{number:04}", "Fills forms.", BODY, name="pdf") for number in range(3_000)]
    found = claims_across(copies)
    assert counted(found)["DUPLICATE_NAME"] == 3_000
    assert counted(found)["DUPLICATED_CONTENT"] == 2_999
    assert {claim.other for _, claim in found if claim.id == "DUPLICATED_CONTENT"} == {"skills/s0000"}
    assert max(len(claim.message) for _, claim in found) < 200


def test_thousands_of_names_for_one_description_give_one_claim_for_each() -> None:
    found = claims_across([member(f"skills/s{number:04}", "Fills forms and reads them.") for number in range(3_000)])
    assert counted(found)["INDISTINCT"] == 2_999


def test_a_sentence_of_half_the_catalogue_is_no_copy() -> None:
    shared = "detailed documentation lives in the references and is read when this here does not suffice"
    own = [f"{shared} {number}" for number in range(4)]
    skills = [member(f"skills/s{number}", f"Topic {number}.", [*own, f"of {number} alone"]) for number in range(21)]
    assert counted(claims_across(skills[:20]))["DUPLICATED_CONTENT"] == 19
    assert counted(claims_across(skills))["DUPLICATED_CONTENT"] == 0


@pytest.mark.parametrize("lines", [["the same line again"] * 300_000, [f"line of number {n}" for n in range(300_000)]])
def test_bodies_of_hundreds_of_thousands_of_lines_give_one_claim(lines: list[str]) -> None:
    found = claims_across([member("skills/a", "Reads.", lines), member("skills/b", "Writes.", lines)])
    assert counted(found)["DUPLICATED_CONTENT"] == 1


def test_lines_that_two_bodies_have_in_other_orders_give_one_claim() -> None:
    lines = [f"line of number {number} and no other" for number in range(20_000)]
    mixed = [line for number in range(10_000) for line in (lines[number], lines[-1 - number])]
    found = claims_across([member("skills/a", "Reads.", lines), member("skills/b", "Writes.", mixed)])
    ((_, claim),) = [item for item in found if item[1].id == "DUPLICATED_CONTENT"]
    assert claim.message.startswith("20000 of 20000 lines of prose")


LINES = st.lists(st.sampled_from(BODY), max_size=40)


@given(st.lists(LINES, min_size=2, max_size=6))
def test_a_passage_that_is_claimed_stands_in_both_places(bodies: list[list[str]]) -> None:
    skills = {f"skills/s{number}": lines for number, lines in enumerate(bodies)}
    found = claims_across([member(path, "", lines) for path, lines in skills.items()])
    pairs = [(path, claim.other) for path, claim in found if claim.id == "DUPLICATED_CONTENT"]
    assert len(pairs) == len(set(pairs))
    for path, claim in found:
        if claim.id != "DUPLICATED_CONTENT" or claim.other is None or " of " in claim.message:
            continue
        words = claim.message.replace("all of the prose, ", "").replace(",", "").split()
        here, there = words[1], words[-1].rpartition(":")[2]
        first, last = (int(part) - 5 for part in here.split("–"))
        start, end = (int(part) - 5 for part in there.split("–"))
        assert skills[path][first : last + 1] == skills[claim.other][start : end + 1]
        assert last - first + 1 >= 8


SKILLS = st.lists(st.tuples(st.text("abc ", max_size=40), LINES), max_size=6)


@given(SKILLS)
def test_the_order_that_skills_are_given_in_changes_nothing(texts: list[tuple[str, list[str]]]) -> None:
    skills = [member(f"skills/s{number}", text, lines) for number, (text, lines) in enumerate(texts)]
    assert set(claims_across(skills[::-1])) == set(claims_across(skills))
