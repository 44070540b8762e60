"""Badges: what they say, how they are drawn, and that no text of a skill becomes a part of the picture."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given

from skillgate.model.report import Composite, Report, SkillName, SkillResult
from skillgate.model.score import Badge
from skillgate.report.badge_svg import svg, width
from skillgate.report.shields import NO_BADGE, NOT_MEASURED, Shield, endpoint, of_catalogue, of_skill
from tests.report.judged import a_judged_skill, a_layer
from tests.report.reports import a_finding, a_report, a_skill, hostile_text, unread

_SVG = "{http://www.w3.org/2000/svg}"


def says(skill: SkillResult, **changes: object) -> str:
    """Give what the badge of a skill says."""
    report: Report = a_report(skill)._replace(**changes)  # type: ignore[arg-type]
    return of_skill(skill, report).message


def test_a_badge_says_what_a_skill_earned() -> None:
    assert says(a_judged_skill(findings=())) == "Silver 72.50"
    assert "estimate" not in of_skill(a_judged_skill(findings=()), a_report(a_judged_skill())).title
    assert "(estimated from the files alone, " in of_skill(a_skill(), a_report(a_skill())).title
    assert says(a_skill(composite=Composite(91.25, Badge.PLATINUM))) == "Platinum 91.25 (estimate)"


def test_a_badge_names_the_errors_beside_it() -> None:
    two = a_skill(a_finding(), a_finding(line=9), composite=Composite(85.0, Badge.GOLD))
    assert says(two) == "Gold 85.00, 2 errors (estimate)"
    one = a_skill(a_finding(), composite=Composite(85.0, Badge.GOLD), path="skills/two")
    assert of_catalogue(a_report(two, one)).message == "2 Gold, 3 errors (estimate)"
    assert "2 errors" in svg(of_skill(two, a_report(two)))


def test_no_badge_and_not_measured_are_two_things() -> None:
    none, locked = a_skill(composite=Composite(42.0, None)), unread()
    assert says(none) == "no badge 42.00 (estimate)"
    assert says(locked) == "not measured"
    report = a_report(none, locked)
    assert (of_skill(none, report).color, of_skill(locked, report).color) == (NO_BADGE, NOT_MEASURED)


@pytest.mark.parametrize(("provider", "word"), [("scripted", "scripted"), ("replay", "replayed")])
def test_made_up_answers_and_a_part_of_a_run_earn_no_badge(provider: str, word: str) -> None:
    made_up = a_judged_skill(a_layer(live=False, provider=provider))
    assert says(made_up) == word
    assert of_catalogue(a_report(made_up, a_judged_skill(path="skills/two"))).message == word
    assert says(a_judged_skill(), shard="1/4") == "part 1/4 of a run"


def test_a_catalogue_says_how_many_have_which_badge_in_the_colour_of_the_least() -> None:
    gold = a_skill(path="skills/two", composite=Composite(85.0, Badge.GOLD))
    both = of_catalogue(a_report(a_skill(), gold))
    assert (both.label, both.message) == ("2 skills", "1 Gold, 1 Silver (estimate)")
    assert both.color == of_skill(a_skill(), a_report(a_skill())).color
    assert of_catalogue(a_report(gold, unread())).message == "1 Gold, 1 not measured (estimate)"
    assert of_catalogue(a_report()).message == "not measured"


def test_the_endpoint_is_the_form_that_shields_io_reads() -> None:
    found = json.loads(endpoint(of_skill(a_judged_skill(), a_report(a_judged_skill()))))
    assert found["schemaVersion"] == 1
    assert (found["label"], found["message"]) == ("one", "Silver 72.50, 1 error")
    assert set(found["color"]) <= set("0123456789abcdef")


@given(hostile_text(), hostile_text())
def test_a_hostile_name_is_text_in_a_picture_and_nothing_more(name: str, other: str) -> None:
    skill = a_skill()._replace(skill=SkillName(name, "skills/one"))
    drawn = svg(of_skill(skill, a_report(skill)))
    raw = svg(Shield(name, other, "#6e6e6e", name + other))
    for text in (drawn, raw):
        root = ElementTree.fromstring(text.encode(errors="backslashreplace"))
        found = {element.tag.removeprefix(_SVG) for element in root.iter()}
        assert found == {"svg", "title", "rect", "path", "g", "text"}
        assert {key for element in root.iter() for key in element.attrib if key.startswith("on")} == set()
        assert {
            key for element in root.iter() for key in element.attrib if key.endswith(("href", "src", "style"))
        } == set()


def test_texts_are_drawn_inside_the_picture() -> None:
    root = ElementTree.fromstring(svg(Shield("名前 of a skill", "Gold 84.10", "#8a6500", "t")))
    whole = int(root.attrib["width"])
    ends = [int(one.attrib["x"]) + int(one.attrib["textLength"]) for one in root.iter(f"{_SVG}text")]
    starts = [int(one.attrib["x"]) for one in root.iter(f"{_SVG}text")]
    assert 0 < starts[0] < ends[0] < starts[1] < ends[1] < whole
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == root.findtext(f"{_SVG}title") == "t"
    assert width("ill") < width("abc") < width("MMM") < width("名前名")
