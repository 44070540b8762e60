"""At equal line count: a dead link never raises a score, and mending an anti-pattern never lowers the composite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skillgate.scoring.composite import MIN_COVERAGE
from tests.properties.documents import CI, TRIGGERED, UNTRIGGERED, Written, blocks, bodies, descriptions, evaluated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.report import SkillResult

_TARGETS = st.sampled_from(
    (
        "references/gone.md",
        "./references/deep/gone.md#part",
        "references/gone.md 'Title'",
        "../gone/SKILL.md",
        "../../agents/gone.md",
        "../gone-tables",
        "skills/gone",
        "scripts/gone.py",
        "gone.md",
        "<references/go ne.md>",
        "references/gone%20file.md",
        "assets/",
    )
)
_TEXTS = st.sampled_from(
    (
        "details",
        "",
        "Examples",
        "output format as JSON",
        "it returns the input parameters",
        "See also",
        "`tidy-tables`",
        "../tidy-tables/SKILL.md",
        "Use this when the table is wide, and compare it with the others before you decide",
        "**bold** and *more*",
        "x \\| y",
    )
)
_LINKS = st.builds(lambda bang, text, target: f"{bang}[{text}]({target})", st.sampled_from(("", "!")), _TEXTS, _TARGETS)
# Where a link can stand: what is before it, and what after it, on one line.
_PLACES = st.sampled_from(
    (
        ("Read the header of every file first, because it decides what can be joined.{}", ""),
        ("Words, words, words{}", ""),
        ("- item{}", ""),
        ("- {}", "\n- See also"),
        ("1. Sort the rows by date{}", " and keep the newest."),
        ("## Related{}", "\n\nThe others."),
        ("## {}", "\n\nRead the header of every file before anything else is done."),
        ("### Examples{}", ""),
        ("| Option | Best for |\n|---|---|\n| a{} |", " b |"),
        ("| Option{} | Input |\n|---|---|\n| a |", " b |"),
        ("> quoted{}", ""),
        ("**Related:**{}", ""),
    )
)


def with_link(place: tuple[str, str], link: str) -> str:
    """Put a link, or nothing, in its place."""
    before, after = place
    return before.format(f" {link}" if link else "") + after


def composites(changed: SkillResult, was: SkillResult) -> tuple[float, float]:
    """Give both composites; of a text whose language is not recognised neither state has one."""
    assert (changed.composite.score is None) == (was.composite.score is None)
    if changed.composite.score is None or was.composite.score is None:
        assert max(changed.coverage, was.coverage) < MIN_COVERAGE
        return 0.0, 0.0
    return changed.composite.score, was.composite.score


def never_higher(changed: SkillResult, was: SkillResult) -> None:
    now, before_it = composites(changed, was)
    assert now <= before_it
    for dimension, score in changed.dimensions.items():
        before = was.dimensions[dimension].score
        assert (score.score is None) == (before is None), dimension
        assert score.score is None or before is None or score.score <= before, dimension


@settings(CI, max_examples=200)
@given(bodies, _PLACES, _LINKS, blocks, descriptions)
def test_adding_a_dead_link_never_raises_the_composite_or_a_dimension(
    body: str, place: tuple[str, str], link: str, following: str, description: str
) -> None:
    without, added = (f"{body}\n\n{with_link(place, text)}\n\n{following}" for text in ("", link))
    assert without.count("\n") == added.count("\n")
    never_higher(evaluated(Written(added, description)), evaluated(Written(without, description)))


def test_a_dead_link_that_makes_a_short_file_heavy_does_not_raise_it() -> None:
    line = "Read the header of every file first, because it decides which columns can be joined with the others. " * 4
    body = "\n".join(f"{number}. {line}" for number in range(62))
    link = f"[details](references/{'x' * 4_000}.md)"
    never_higher(evaluated(Written(f"{body} {link}")), evaluated(Written(body)))


def never_lower(mended: SkillResult, was: SkillResult, rule: str) -> None:
    assert count(mended, rule) < count(was, rule)
    now, before = composites(mended, was)
    assert now >= before


def count(result: SkillResult, rule: str) -> int:
    return sum(1 for finding in result.findings if finding.id == rule)


@CI
@given(bodies, st.integers(16, 60), st.sampled_from(("MUST", "ALWAYS", "NEVER")), st.booleans())
def test_saying_should_instead_of_must_never_lowers_the_composite(
    body: str, number: int, word: str, spread: bool
) -> None:
    separator = "\n" if spread else " "
    orders = separator.join(f"You {word} keep the file number {place}." for place in range(number))
    # An order stays one: “often keep” in the place of “ALWAYS keep” would not say what to do.
    calm = orders.replace("MUST", "should").replace("ALWAYS", "should").replace("NEVER", "should not")
    loud, mended = (evaluated(Written(f"{body}\n\n{text}")) for text in (orders, calm))
    never_lower(mended, loud, "OVER_CONSTRAINED")


@CI
@given(bodies, st.text("abc xyz", max_size=19).filter(lambda text: len(text.strip()) < 20), st.sampled_from(TRIGGERED))
def test_writing_a_description_never_lowers_the_composite(body: str, short: str, long: str) -> None:
    never_lower(evaluated(Written(body, long)), evaluated(Written(body, short)), "EMPTY_DESCRIPTION")


@CI
@given(bodies, st.sampled_from(UNTRIGGERED), st.sampled_from(TRIGGERED))
def test_adding_a_trigger_phrase_never_lowers_the_composite(body: str, vague: str, trigger: str) -> None:
    never_lower(evaluated(Written(body, f"{vague} {trigger}")), evaluated(Written(body, vague)), "MISSING_TRIGGER")


@settings(CI, max_examples=25)
@given(bodies, st.integers(800, 1_000), st.booleans())
def test_moving_detail_to_references_never_lowers_the_composite(body: str, rows: int, linked: bool) -> None:
    long = "\n".join(f"Row {number} comes before row {number + 1}." for number in range(rows))
    text = f"{body}\n\nThe rest is told in [the details](references/details.md).\n\n{long}"
    plain = text if linked else text.replace("[the details](references/details.md)", "the details")
    files = {"references/details.md": "The details.\n"}
    never_lower(evaluated(Written(plain), files), evaluated(Written(plain)), "BLOATED_SKILL")


@CI
@given(bodies, _PLACES, _TEXTS, st.booleans())
def test_creating_a_missing_reference_never_lowers_the_composite(
    body: str, place: tuple[str, str], text: str, image: bool
) -> None:
    link = f"{'!' * image}[{text}](references/missing.md)"
    skill = Written(f"{body}\n\n{with_link(place, link)}")
    was = evaluated(skill)
    assume(count(was, "ORPHAN_REFERENCE"))
    assume("references/gone.md" not in body)
    never_lower(evaluated(skill, {"references/missing.md": "The details.\n"}), was, "ORPHAN_REFERENCE")


@CI
@given(bodies, _PLACES, _TEXTS)
def test_correcting_or_dropping_a_link_to_another_skill_never_lowers_the_composite(
    body: str, place: tuple[str, str], text: str
) -> None:
    def linking(target: str) -> SkillResult:
        return evaluated(Written(f"{body}\n\n{with_link(place, f'[{text}]({target})' if target else '')}"))

    was = linking("../tydi-tables/SKILL.md")
    assume(count(was, "DEAD_CROSS_REF"))
    never_lower(linking("../tidy-tables/SKILL.md"), was, "DEAD_CROSS_REF")
    never_lower(linking(""), was, "DEAD_CROSS_REF")


@pytest.mark.parametrize("files", [{}, {"references/a.md": "x"}])
def test_more_dead_links_never_score_higher_than_fewer(files: Mapping[str, str]) -> None:
    links = [f"[part {number}](references/part-{number}.md)" for number in range(14)]
    lines = [f"Read part {number} before the next one." for number in range(14)]
    scores = []
    for dead in range(15):
        body = "\n".join(
            f"{line} {link}" if at < dead else line for at, (line, link) in enumerate(zip(lines, links, strict=True))
        )
        scores.append(evaluated(Written(body), files).composite.score or 0.0)
    assert scores == sorted(scores, reverse=True)
    assert scores[1] < scores[0]
