"""Padding buys nothing: strategies on five weak and five strong public skills, by readers' ratings."""

from __future__ import annotations

import os
import random
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from skillgate.model.score import Badge
from skillgate.model.skill import Skill, SkillSource
from skillgate.scoring.composite import MIN_COVERAGE, award, composite, coverage
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse
from skillgate.static import layer
from tests.properties.gaming import FORMS, GERMAN_DESCRIPTION, STRATEGIES, halves, scrambled

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(os.environ.get("SKILLGATE_TEST_DATA", ""), "corpus")
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="SKILLGATE_TEST_DATA names no test data")

_PLUGINS = "wshobson-agents/plugins"
WEAK = (  # rated 3 or less
    f"{_PLUGINS}/cloud-infrastructure/skills/hybrid-cloud-networking",
    f"{_PLUGINS}/llm-application-dev/skills/prompt-engineering-patterns",
    f"{_PLUGINS}/shell-scripting/skills/bats-testing-patterns",
    f"{_PLUGINS}/hr-legal-compliance/skills/employment-contract-templates",
    f"{_PLUGINS}/shell-scripting/skills/bash-defensive-patterns",
)
STRONG = (  # rated 7 or more
    "getsentry-skills/skills/pr-writer",
    "getsentry-skills/skills/gha-security-review",
    "obra-superpowers/skills/systematic-debugging",
    f"{_PLUGINS}/llm-finetuning/skills/eval-harness-first",
    f"{_PLUGINS}/dgx-spark-ops/skills/spark-environment-setup",
)
MOST_POINTS, MOST_RATING = 2.0, 0.5
LEAST_COST = 15.0


class Standing(NamedTuple):
    """Composite, badge, estimate and findings of a skill at quick depth."""

    score: float | None
    badge: Badge | None
    estimate: float | None
    rules: frozenset[str]


@cache
def source(path: str) -> SkillSource:
    """Read one of the skills."""
    (root,) = discover([str(DATA / path)]).roots
    found = read(root)
    assert isinstance(found, SkillSource)
    return found


def standing(skill: Skill) -> Standing:
    """Evaluate a skill."""
    result = layer.run(skill, optional=False)
    measured = {dimension: one.score for dimension, one in result.dimensions.items()}
    score = composite(measured, len(result.anti_patterns)) if coverage(measured) >= MIN_COVERAGE else None
    rules = frozenset(claim.id for claim in result.claims)
    return Standing(score, award(score, None, withheld=result.no_badge)[0], result.estimate.value, rules)


def edited(path: str, text: str) -> Standing:
    """Evaluate a skill with another text."""
    data = text.encode()
    return standing(parse(source(path)._replace(data=data, size=len(data))))


@cache
def before(path: str) -> Standing:
    """Evaluate a skill as it is."""
    return standing(parse(source(path)))


def text_of(path: str) -> str:
    """Return the text of a skill."""
    return source(path).data.decode()


def points(badge: Badge | None) -> float:
    """Return what a badge asks for."""
    return 0.0 if badge is None else badge.composite


def check_no_gain(was: Standing, after: Standing) -> None:
    """Assert that an edit gains no badge, 2 points at most, and 0.5 of the estimate."""
    assert (after.score or 0) <= (was.score or 0) + MOST_POINTS
    assert points(after.badge) <= points(was.badge)
    assert (after.estimate or 0) <= (was.estimate or 0) + MOST_RATING


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("path", [*WEAK, *STRONG], ids=lambda path: path.rpartition("/")[2])
def test_a_strategy_gains_no_badge_and_hardly_a_point(strategy: str, path: str) -> None:
    after = edited(path, STRATEGIES[strategy](text_of(path), random.Random(strategy)))
    check_no_gain(before(path), after)


@pytest.mark.parametrize("strategy", ["bullets that differ in a number", "lines of random words", "lorem ipsum"])
def test_much_padding_is_a_finding(strategy: str) -> None:
    path = WEAK[0]
    assert "FILLER_TEXT" not in before(path).rules
    assert "FILLER_TEXT" in edited(path, STRATEGIES[strategy](text_of(path), random.Random(1))).rules


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", [*WEAK, *STRONG], ids=lambda path: path.rpartition("/")[2])
def test_another_form_of_the_same_text_changes_nothing(form: str, path: str) -> None:
    was, after = before(path), edited(path, FORMS[form](text_of(path), random.Random(1)))
    assert after.badge is was.badge
    assert after.score == pytest.approx(was.score, abs=0.05)
    assert after.estimate == pytest.approx(was.estimate, abs=0.11)


@pytest.mark.parametrize("path", [*WEAK, *STRONG], ids=lambda path: path.rpartition("/")[2])
def test_scrambling_the_words_of_every_line_costs(path: str) -> None:
    after = edited(path, scrambled(text_of(path), random.Random(1)))
    assert (after.score or 0) <= (before(path).score or 0) - LEAST_COST


@pytest.mark.parametrize("path", [*WEAK, *STRONG], ids=lambda path: path.rpartition("/")[2])
def test_dropping_half_of_the_sections_never_gains(path: str) -> None:
    for text in halves(text_of(path)):
        assert (edited(path, text).score or 0) <= (before(path).score or 0) + 0.01


@pytest.mark.parametrize("path", [*WEAK, *STRONG], ids=lambda path: path.rpartition("/")[2])
def test_a_foreign_description_never_gains(path: str) -> None:
    after = edited(path, GERMAN_DESCRIPTION(text_of(path), random.Random(1)))
    assert (after.score, after.badge, after.estimate) == (None, None, None)


def test_good_lines_of_another_skill_are_reported_and_not_gated(record_property: Callable[[str, object], None]) -> None:
    good = "\n".join(text_of(STRONG[1]).split("\n---\n", 1)[1].split("\n")[:150])
    gains = {path: (edited(path, f"{text_of(path)}\n\n{good}").score or 0) - (before(path).score or 0) for path in WEAK}
    record_property("points gained by pasting 150 good lines", gains)
    print("points gained by pasting 150 good lines:", gains)
