"""What sessions, matches and lift measured on two sides: what moved, and why nothing is said to have moved."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

import jsonschema
import pytest
from hypothesis import given, settings

from skillgate.action.comment.comment import comment
from skillgate.format import Style
from skillgate.model.documents import Diff
from skillgate.model.layers import Estimate, Rating
from skillgate.model.report import Composite
from skillgate.report.compare import compare
from skillgate.report.json import read
from skillgate.report.json import render as render_json
from skillgate.report.rendering import render
from skillgate.report.schema import report_schema
from skillgate.report.simulated_compared import sampled_changes
from tests.github import judged as situations
from tests.github.build import run
from tests.report import judged
from tests.report import simulated as build
from tests.report.diffs import differing
from tests.report.pages import Page, taken_apart
from tests.report.test_judged import TEXTS, flat

if TYPE_CHECKING:
    from skillgate.model.report import SkillResult

_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def written(diff: Diff, form: str, *, verbose: bool = False) -> str:
    """Write a diff, without the escapes of Markdown; of a page the words alone."""
    text = render(diff, "diff", form, Style(width=120), verbose=verbose)
    return flat(Page(text).text if form == "html" else text.replace("\\", ""))


def better() -> SkillResult:
    """Give the same skill after sessions on the same prompts that graded it higher, and matches it won more of."""
    measures = {**build.MEASURES, "quality": Estimate(0.8, 0.7, 0.9, 6), "f1": Estimate(None, reason="no near misses")}
    rated = build.ranking(elo=Rating(1540.2, 1500.0, 1580.0))
    lift = build.LIFT._replace(lift=Estimate(0.25, 0.1, 0.4, 3))
    return build.a_simulated_skill(build.sessions(measures=measures, mc_score=0.78), rated, lift=lift)


def before() -> SkillResult:
    return build.a_simulated_skill(matches=build.ranking(), lift=build.LIFT)


def test_a_diff_says_what_sessions_matches_and_lift_moved_with_their_numbers() -> None:
    diff = differing((before(), better()))
    text = written(diff, "text")
    assert "quality 0.70 (0.50 to 0.82) 0.80 (± 0.10) ▲ 0.10 5 → 6" in text
    assert "mc_score 0.7413 0.7800 ▲ 0.0387" in text
    assert "F1 not measured after: no near misses" in text
    assert "Elo 1,507 (± 34) 1,540 (± 40) ▲ 33 3" in text
    assert "lift +0.18 (−0.12 to 0.46) +0.25 (± 0.15) ▲ 0.07 3" in text
    assert "Bradley–Terry" not in text
    assert "Bradley–Terry 1,523 (± 210) 1,523 (± 210) = 3" in written(diff, "text", verbose=True)
    page = written(diff, "markdown")
    assert "| quality | 0.70 (0.50 to 0.82) | 0.80 (± 0.10) | ▲ 0.10 | 5 → 6 |" in page
    assert "- F1 not measured after: no near misses" in page
    assert "0.80 ± 0.10" in written(diff, "html")


def test_nothing_is_subtracted_of_sessions_on_other_prompts() -> None:
    layer = build.sessions(prompts_digest="0" * 32)
    diff = differing((build.a_simulated_skill(), build.a_simulated_skill(layer)))
    (change,) = diff.skills
    assert change.change is None
    assert {item.change for item in change.dimensions.values()} == {None}
    assert {item.change for item in change.sampled} == {None}
    text = written(diff, "text")
    assert "sessions not compared: other prompts of the sessions: 5f5f5f5f5f5f before, 000000000000 after" in text
    assert "▲" not in text + written(diff, "markdown")


def test_a_dimension_that_sessions_of_one_side_measured_is_hinted_at() -> None:
    scores = {name: item for name, item in build.sessions().scores.items() if name is not build.QUALITY}
    pair = (build.a_simulated_skill(), build.a_simulated_skill(build.sessions(scores=scores)))
    told = "sessions measured output_quality on one side only"
    assert any(hint.startswith(told) for hint in differing(pair).hints)
    assert any(hint.startswith(told) for hint in compare(*pair, version="1", digest="").hints)


def test_a_diff_with_sessions_comes_back_from_json_and_an_older_one_too() -> None:
    diff = differing((before(), better()))
    written = render_json(diff)
    assert read(written, source="diff.json") == diff
    jsonschema.Draft202012Validator(report_schema()).validate(json.loads(written))
    older = json.loads(written)
    del older["skills"][0]["sampled"]
    found = read(json.dumps(older), source="older.json")
    assert isinstance(found, Diff)
    assert found.skills[0].sampled == ()


def test_a_comment_says_what_moved_against_the_base() -> None:
    now = better()._replace(gate=build.PASSED)
    report = build.a_simulated_report(now, gate=build.PASSED)
    text = comment(situations.told(run(), report, (before(), report.results[0]))).replace("\\", "")
    assert "| quality | 0.70 (0.50 to 0.82) | 0.80 (± 0.10) | ▲ 0.10 | 5 → 6 |" in text
    assert "| Elo | 1,507 (± 34) | 1,540 (± 40) | ▲ 33 | 3 |" in text
    assert "| lift | +0.18 (−0.12 to 0.46) | +0.25 (± 0.15) | ▲ 0.07 | 3 |" in text


def by_chance() -> tuple[SkillResult, SkillResult]:
    """Give a skill whose score fell by 5 points while one judge rates one dimension one step lower."""
    layer = judged.a_layer()
    lower = judged.an_assessment(0.5, (5, 5, 5), ci_low=0.45, ci_high=0.55)
    after = judged.a_judged_skill(layer._replace(assessments={**layer.assessments, judged.QUALITY: lower}))
    was = judged.a_judged_skill()._replace(composite=Composite(75.0, None))
    return was, after._replace(composite=after.composite._replace(score=70.0))


def test_a_drop_that_passes_as_chance_is_one_line_of_a_diff() -> None:
    diff = differing(by_chance(), gated=True)
    told = "inconclusive: it went 75.00 → 70.00, which the paired test does not distinguish from chance"
    assert all(written(diff, form).count(told) == 1 for form in ("text", "markdown", "html"))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"corpus": "f" * 64}, "other corpora: eeeeeeeeeeee before, ffffffffffff after"),
        ({"model": "m-2"}, "other judges of matches: claude-sonnet-5-5 before, m-2 after"),
        ({"seed": 7}, "other seeds of matches: 0 before, 7 after"),
        ({"elo": None, "bradley_terry": None, "reason": "no corpus"}, "not measured after: no corpus"),
    ],
)
def test_ratings_in_another_field_are_not_subtracted(changes: dict[str, object], reason: str) -> None:
    other = build.a_simulated_skill(matches=build.ranking(**changes))
    found = sampled_changes(build.a_simulated_skill(matches=build.ranking()), other)[-2:]
    assert [(item.name, item.change, item.reason) for item in found] == [
        ("elo", None, reason),
        ("bradley_terry", None, reason),
    ]


def test_lift_over_other_tasks_is_not_subtracted() -> None:
    tasks = (*build.LIFT.tasks[:2], build.a_task("other", 0.5, 0.5))
    pair = (before(), before()._replace(lift=build.LIFT._replace(tasks=tasks)))
    (found,) = (item for item in sampled_changes(*pair) if item.name == "lift")
    assert (found.change, found.reason) == (
        None,
        "other tasks: 3, 2 of them on both sides, before, 3, 2 of them on both sides, after",
    )


def test_answers_that_came_in_a_batch_are_the_same_measurement() -> None:
    batched = build.a_simulated_skill(build.sessions(provider="batch"))
    assert {item.change for item in sampled_changes(build.a_simulated_skill(), batched)} == {0.0}
    assert not [item for item in sampled_changes(build.a_simulated_skill(), batched) if item.reason]


@given(TEXTS)
@settings(max_examples=30, deadline=None)
def test_no_reason_does_anything_where_it_is_shown(text: str) -> None:
    diff = differing((before(), build.hostile(text).results[0]))
    shown = render(diff, "diff", "text", Style())
    assert not [each for each in shown if unicodedata.category(each) in _HIDDEN and each not in "\n\u200b"]
    page = taken_apart(render(diff, "diff", "html", Style()))  # raises on markup that is not balanced
    assert "Sessions, matches and lift" in page.text
