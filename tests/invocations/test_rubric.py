"""The versions of the rubric by the door that everybody enters through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.errors import UsageError
from skillgate.invocations.rubric import DEFAULT, VERSIONS, explainer, scorer
from skillgate.model.invocation import Component, Invocation, InvocationScore, Part
from tests.invocations.rubric_records import EMPTY, FLAWLESS, records

versions = st.sampled_from(VERSIONS)


def test_there_are_two_versions_and_the_corrected_one_is_the_default() -> None:
    assert VERSIONS == ("1.0", "1.1")
    assert DEFAULT == "1.1"
    assert scorer()(FLAWLESS).rubric == "1.1"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_score_names_its_version(version: str) -> None:
    assert scorer(version)(FLAWLESS) == InvocationScore(version, 25, 20, 30, 25, 100, 1.0, "code_generation")


@pytest.mark.parametrize("version", ["2.0", "", "v1_1", "1.1 ", "_parts"])
def test_an_unknown_version_is_refused_and_the_known_ones_are_named(version: str) -> None:
    with pytest.raises(UsageError, match=r"unknown rubric version .*; known versions: 1\.0, 1\.1"):
        scorer(version)
    with pytest.raises(UsageError, match=r"known versions: 1\.0, 1\.1"):
        explainer(version)


def _of(parts: tuple[Part, ...], component: Component) -> tuple[list[Part], float]:
    """Give the parts of a component, and what is taken from it as a whole."""
    own = [part for part in parts if part.component is component]
    return [part for part in own if part.most], sum(part.points or 0 for part in own if not part.most)


@given(records())
def test_the_parts_of_the_corrected_rubric_add_up_to_its_score(record: Invocation) -> None:
    score, parts = scorer("1.1")(record), explainer("1.1")(record)
    for component in Component:
        shown, taken = _of(parts, component)
        known = [(part.points, part.most) for part in shown if part.points is not None]
        component_score = getattr(score, component.value)
        if not known:
            assert component_score is None
            continue
        share = sum(points for points, _ in known) / sum(most for _, most in known)
        assert component_score == pytest.approx(component.points * share + taken, abs=0.0051)
    observed = sum(part.most for part in parts if part.points is not None)
    assert score.coverage == pytest.approx(observed / sum(part.most for part in parts))


@given(records())
def test_the_parts_of_the_literal_rubric_add_up_to_its_score(record: Invocation) -> None:
    score, parts = scorer("1.0")(record), explainer("1.0")(record)
    for component in Component:
        shown, taken = _of(parts, component)
        points = [part.points for part in shown]
        known = [one for one in points if one is not None]
        expected = pytest.approx(sum(known) + taken) if len(known) == len(points) else None
        assert getattr(score, component.value) == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_every_part_has_words_and_at_most_its_points(version: str) -> None:
    for record in (EMPTY, FLAWLESS, FLAWLESS._replace(error_count=2, rating="negative", tokens_used=7_777)):
        for part in explainer(version)(record):
            assert part.note
            assert part.points is None or part.points <= part.most


@given(versions, records())
def test_what_is_told_has_no_text_of_the_record_in_it(version: str, record: Invocation) -> None:
    hostile = "\x1b[2J{error_count}<script>"
    named = record._replace(skill_name=hostile, skill_category=hostile, model=hostile, extra={"note": hostile})
    for part in explainer(version)(named):
        assert not {"\x1b", "{", "}", "<"} & set(part.note)


@pytest.mark.parametrize("version", VERSIONS)
def test_told_numbers_are_those_of_the_record(version: str) -> None:
    slow = FLAWLESS._replace(tokens_used=123_456_789, output_size=40.5)
    told = {part.name: part.note for part in explainer(version)(slow)}
    assert told["tokens"] == "123456789 tokens; 50 × 40.5 (lines of code) expected"
