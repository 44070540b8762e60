"""An assessment written down and read back: nothing is lost, and what was not written so is not read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.model import finding
from skillgate.model.finding import Assessment, Claim, Client, Detail, Listing, Repair, Severity, SkillTexts
from skillgate.model.score import Dimension, Evidence, Measured
from skillgate.model.skill import Waiver

# Any text, halves of surrogate pairs among it: names of files and YAML escapes may hold them.
TEXTS = st.text(st.characters(), max_size=8) | st.sampled_from(["\ud83d\ude00", "a\nb", '"', "\u2028", "\x00"])
LINES = st.integers(1, 10_000)
SCORES = st.none() | st.floats(0, 1)
CLIENTS = st.lists(st.sampled_from(Client), max_size=2).map(tuple)
CLAIMS = st.builds(
    Claim,
    id=TEXTS,
    severity=st.sampled_from(Severity),
    message=TEXTS,
    file=TEXTS,
    line=LINES,
    column=LINES,
    fix=TEXTS,
    group=TEXTS,
    optional=st.booleans(),
    refused_by=CLIENTS,
    about=CLIENTS,
    other=st.none() | TEXTS,
)
LISTINGS = st.builds(
    Listing,
    name=TEXTS,
    description=TEXTS,
    when_to_use=TEXTS,
    listed=st.booleans(),
    name_line=LINES,
    description_line=LINES,
)
WAIVERS = st.builds(
    Waiver,
    file=TEXTS,
    line=LINES,
    rules=st.lists(TEXTS, max_size=2).map(tuple),
    first=LINES,
    last=LINES,
    reason=TEXTS,
    until=st.none() | TEXTS,
)
ROWS = st.lists(st.tuples(LINES, TEXTS), max_size=3).map(tuple)
TOLD = st.builds(SkillTexts, lines=ROWS, uses=ROWS)
MEASURED = st.builds(
    Measured,
    score=SCORES,
    evidence=st.lists(
        st.builds(
            Evidence,
            text=TEXTS,
            points=st.floats(-1, 1),
            possible=st.floats(0, 1),
            line=st.none() | LINES,
            advice=st.none() | TEXTS,
        ),
        max_size=2,
    ).map(tuple),
    reason=st.none() | TEXTS,
)
REPAIRS = st.builds(
    Repair,
    rule=TEXTS,
    action=TEXTS,
    line=LINES,
    scores=st.lists(st.tuples(st.sampled_from(Dimension), SCORES), max_size=3).map(tuple),
    anti_patterns=st.integers(0, 20),
)
DETAILS = st.builds(
    Detail,
    scores=st.lists(st.tuples(TEXTS, st.sampled_from(Dimension), MEASURED), max_size=3).map(tuple),
    layer_score=SCORES,
    penalised=st.lists(st.tuples(st.none() | TEXTS, LINES), max_size=2).map(tuple),
    repair=st.none() | REPAIRS,
)


@st.composite
def assessments(draw: st.DrawFn) -> Assessment:
    told, detail = draw(TOLD), draw(DETAILS)
    return Assessment(
        name=draw(TEXTS),
        unscored=draw(st.none() | TEXTS),
        claims=draw(st.lists(CLAIMS, max_size=3).map(tuple)),
        waivers=draw(st.lists(WAIVERS, max_size=2).map(tuple)),
        anti_patterns=draw(st.lists(TEXTS, max_size=3).map(tuple)),
        no_badge=draw(st.none() | TEXTS),
        measured=draw(st.dictionaries(st.sampled_from(Dimension), st.tuples(SCORES, st.none() | TEXTS))),
        short=draw(st.booleans()),
        recoverable=draw(st.floats(0, 100)),
        listing=draw(LISTINGS),
        duration_ms=3,
        texts=lambda: told,
        detail=lambda: detail,
        outside=draw(st.lists(TEXTS, max_size=2).map(tuple)),
    )


def opened(facts: Assessment) -> Assessment:
    """Put what is read later in the place of what gives it."""
    told, detail = facts.texts(), facts.detail()
    return facts._replace(texts=told, detail=detail, duration_ms=0, mark="")  # type: ignore[arg-type]


def never() -> Assessment:
    raise AssertionError("what was written can be read")


@given(assessments())
def test_what_was_written_is_read_back(facts: Assessment) -> None:
    lines = finding.assessment_text(facts).split("\n")
    found = finding.read_assessment(lines, never)
    assert opened(found) == opened(facts)
    assert list(found.measured) == list(facts.measured)
    assert [type(part) for part in found] == [type(part) for part in facts]


@given(st.lists(st.tuples(TEXTS, CLAIMS), max_size=3).map(tuple))
def test_claims_across_skills_are_read_back(claims: tuple[tuple[str, Claim], ...]) -> None:
    assert finding.read_claims(finding.claims_text(claims)) == claims


PLAIN = Assessment(
    name="n",
    unscored=None,
    claims=(),
    waivers=(),
    anti_patterns=(),
    no_badge=None,
    measured={},
    short=False,
    recoverable=0.0,
    listing=Listing("a", "b"),
    duration_ms=0,
    texts=SkillTexts,
    detail=Detail,
)


def mark(facts: Assessment) -> str:
    return finding.read_assessment(finding.assessment_text(facts).split("\n"), never).mark


def test_what_is_compared_with_other_skills_has_its_own_mark() -> None:
    told = SkillTexts(lines=((1, "a"),))
    others = [
        PLAIN,
        PLAIN._replace(texts=lambda: told),
        PLAIN._replace(texts=lambda: SkillTexts(uses=((1, "a"),))),
        PLAIN._replace(listing=Listing("a\0b", "")),
        PLAIN._replace(listing=Listing("a", "\0b")),
        PLAIN._replace(listing=Listing("a", "b", "True")),
        PLAIN._replace(listing=Listing("a", "b", "", listed=False)),
        PLAIN._replace(listing=Listing("a", "b", "", name_line=2)),
        PLAIN._replace(listing=Listing("\ud83d\ude00", "b")),
        PLAIN._replace(listing=Listing("\U0001f600", "b")),
    ]
    assert len({mark(facts) for facts in others}) == len(others)
    assert mark(PLAIN._replace(name="other", short=True)) == mark(PLAIN)


BOMB = "[" * 200_000
GOOD = finding.assessment_text(PLAIN).split("\n")


@pytest.mark.parametrize(
    "light", ["", "[]", "{}", "null", "7", "[[]]", BOMB, '"text"', GOOD[0][:-1], GOOD[1], "[1,2,3,4,5,6,7,8,9,10]"]
)
def test_another_first_line_is_no_entry(light: str) -> None:
    with pytest.raises(finding.UNREADABLE):
        finding.read_assessment([light, *GOOD[1:]], never)


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_another_number_of_lines_is_no_entry(count: int) -> None:
    with pytest.raises(finding.UNREADABLE):
        finding.read_assessment((GOOD * 2)[:count], never)


@pytest.mark.parametrize("other", ["", "[]", "{}", "null", "7", BOMB, "[[1],[2]]", "[7,7,7]"])
def test_lines_that_are_read_later_and_are_no_entry_have_the_skill_judged_again(other: str) -> None:
    told, detail = SkillTexts(lines=((4, "again"),)), Detail(layer_score=0.5)
    again = PLAIN._replace(texts=lambda: told, detail=lambda: detail)
    found = finding.read_assessment([GOOD[0], other, other], lambda: again)
    assert found.texts() is told
    assert found.detail() is detail
    assert found.name == "n"


@given(st.recursive(st.none() | st.booleans() | st.integers() | TEXTS, lambda inner: st.lists(inner, max_size=12)))
def test_any_other_json_is_no_entry_or_one_without_a_crash(value: Any) -> None:
    line = json.dumps(value)
    try:
        found = finding.read_assessment([line, line, line], lambda: PLAIN)
    except finding.UNREADABLE:
        return
    assert found.texts() is not None
