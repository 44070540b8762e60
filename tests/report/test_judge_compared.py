"""Judged skills side by side: scores that mean different things are not compared, and it is said why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skillgate.format import Style
from skillgate.model.report import Composite
from skillgate.model.score import Depth, Outcome
from skillgate.report.compare import compare
from skillgate.report.judge_compared import SCRIPTED, doubt, sides
from skillgate.report.rendering import render
from tests.report import judged
from tests.report.diffs import differing
from tests.report.pages import Page

if TYPE_CHECKING:
    from skillgate.model.documents import Comparison
    from skillgate.model.report import SkillResult


def otherwise(**changes: Any) -> SkillResult:
    """Give the same skill, judged otherwise."""
    return judged.a_judged_skill(judged.a_layer()._replace(**changes))


def better() -> SkillResult:
    """Give the same skill, better in one dimension."""
    layer = judged.a_layer()
    item = judged.an_assessment(0.7, (7, 7, 7), ci_low=0.65, ci_high=0.75)
    assessments = {**layer.assessments, judged.QUALITY: item}
    skill = judged.a_judged_skill(layer._replace(assessments=assessments))
    return skill._replace(composite=skill.composite._replace(score=75.0))


def compared(a: SkillResult, b: SkillResult) -> Comparison:
    return compare(a, b, version="1.2.3", digest="")


def texts_of(document: object, kind: str) -> list[str]:
    """Write a document for a terminal, as Markdown and as a page; the words alone."""
    text, page = (render(document, kind, form, Style()) for form in ("text", "markdown"))
    seen = Page(render(document, kind, "html", Style())).text
    return [" ".join(found.replace("\\", "").replace("\u200b", "").split()) for found in (text, page, seen)]


DIGEST = judged.a_triggering()._replace(digest="0" * 64)
APART = {
    "models": (otherwise(models=(judged.HAIKU,) * 3), "other models: claude-sonnet-5-5 before, claude-haiku-5-5 after"),
    "prompt version": (otherwise(prompt_version="2"), "other prompt version: 1 before, 2 after"),
    "rubric version": (otherwise(rubric_version="2"), "other rubric version: 1 before, 2 after"),
    "prompts": (otherwise(triggering=DIGEST), "other trigger prompts: 5f5f5f5f5f5f before, 000000000000 after"),
    "live": (otherwise(live=False), "other live and made-up answers: a model's before, scripted or replayed after"),
    "depth": (judged.a_judged_skill()._replace(layers=()), "only the skill before was judged"),
}


@pytest.mark.parametrize("name", APART)
def test_scores_that_mean_different_things_are_not_compared(name: str) -> None:
    other, said = APART[name]
    (change,) = differing((judged.a_judged_skill(), other._replace(composite=Composite(40.0, None)))).skills
    assert change.change is None
    assert all(item.change is None and item.better is None for item in change.dimensions.values())
    assert change.regression is not None
    assert change.regression.verdict is Outcome.INCONCLUSIVE
    assert change.regression.reason == f"inconclusive: {said}"


@pytest.mark.parametrize("name", APART)
def test_compare_refuses_likewise(name: str) -> None:
    other, said = APART[name]
    comparison = compared(judged.a_judged_skill(), other)
    assert comparison.change is None
    assert comparison.hints[0] == f"inconclusive: {said}"
    assert {item.change for item in comparison.dimensions.values()} == {None}
    assert all(f"inconclusive: {said}" in text for text in texts_of(comparison, "compare"))


def test_more_opinions_of_the_same_judges_are_compared() -> None:
    one, three = judged.a_judged_skill(judged.a_layer((judged.SONNET,))), judged.a_judged_skill()
    assert compared(one, three).change == 0.0


def test_a_lost_score_has_its_own_reason() -> None:
    (change,) = differing((judged.a_judged_skill(), judged.unjudged("skills/one"))).skills
    assert change.regression is not None
    assert "inconclusive" not in change.regression.reason
    assert "has no key" in change.regression.reason


def test_an_undecided_diff_passes_nobody_and_says_which_and_why() -> None:
    other, said = APART["models"]
    diff = differing((judged.a_judged_skill(), other), gated=True)
    assert diff.gate.passed is None
    assert diff.hints == (f"inconclusive: {said} (skills/one)",)
    assert all(f"inconclusive: {said}" in text for text in texts_of(diff, "diff"))


def test_what_the_judge_alone_gave_stands_below_the_blend() -> None:
    comparison = compared(judged.a_judged_skill(), better())
    assert comparison.depth is Depth.STANDARD
    assert comparison.models == (judged.SONNET,)
    assert sides(comparison)[judged.QUALITY] == ("judge, 3 opinions", 0.5333, 0.7, 0.1667, "± 0.14 → ± 0.05")
    page = render(comparison, "compare", "markdown", Style())
    assert "judge, 3 opinions | 0.5333 | 0.7000 | ▲ 0.1667 (± 0.14 → ± 0.05) |" in page


@pytest.mark.parametrize("kind", ["compare", "diff"])
def test_answers_of_a_script_on_either_side_are_warned_of_once(kind: str) -> None:
    scripted = otherwise(live=False, provider="scripted")
    document = compared(scripted, scripted) if kind == "compare" else differing((scripted, scripted), gated=False)
    for text in texts_of(document, kind):
        assert text.count(SCRIPTED) == 1


def test_a_drop_that_the_paired_test_does_not_tell_from_chance_is_no_regression() -> None:
    """The score fell by 5 points, one judge rates one dimension one step lower, and nothing static moved."""
    layer = judged.a_layer()
    lower = judged.an_assessment(0.5, (5, 5, 5), ci_low=0.45, ci_high=0.55)
    after = judged.a_judged_skill(layer._replace(assessments={**layer.assessments, judged.QUALITY: lower}))
    after = after._replace(composite=after.composite._replace(score=70.0))
    (change,) = differing((judged.a_judged_skill()._replace(composite=Composite(75.0, None)), after)).skills
    assert change.change == -5.0
    assert change.regression is not None
    assert change.regression.verdict is Outcome.PASS
    assert "does not distinguish from chance" in change.regression.reason
    assert doubt(change.regression) == f"inconclusive: {change.regression.reason.removeprefix('inconclusive: ')}"
