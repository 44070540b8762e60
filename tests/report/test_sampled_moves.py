"""What sessions, matches and lift measured on two sides: what moved, and why nothing is said to have moved."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

import jsonschema
import pytest
from hypothesis import given, settings

from skillgate.action.comment.comment import comment
from skillgate.model.documents import Diff
from skillgate.model.layers import Estimate, Rating
from skillgate.model.report import Composite
from skillgate.model.score import Dimension
from skillgate.report import html, markdown
from skillgate.report.compare import compare
from skillgate.report.json import read
from skillgate.report.json import render as render_json
from skillgate.report.schema import report_schema
from skillgate.report.simulated_compared import sampled_changes
from skillgate.report.terminal import Style
from skillgate.report.text import render_diff, render_score
from tests.github import judged as situations
from tests.github.build import run
from tests.report import judged
from tests.report import simulated as build
from tests.report.diffs import differing
from tests.report.pages import taken_apart
from tests.report.test_judged import TEXTS, flat

if TYPE_CHECKING:
    from skillgate.model.report import Report, SkillResult

_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def text_of(report: Report, *, verbose: bool = False) -> str:
    return flat(render_score(report, Style(), verbose=verbose))


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
    text = flat(render_diff(diff, Style()))
    assert "sessions: quality 0.70 → 0.80 ▲ 0.10 (n = 5 → 6); mc_score 0.7413 → 0.7800 ▲ 0.0387" in text
    assert "F1 not measured after: no near misses" in text
    assert "ranking: Elo 1,507 → 1,540 ▲ 33 (n = 3)" in text
    assert "lift: +0.18 → +0.25 ▲ 0.07 (n = 3)" in text
    page = markdown.render_diff(diff).replace("\\", "")
    assert "| `skills/one` | quality | 0.70 (0.50 to 0.82) | 0.80 ± 0.10 | ▲ 0.10 | 5 → 6 |" in page
    assert "- `skills/one` F1 not measured after: no near misses" in page
    seen = taken_apart(html.render_diff(diff)).text
    assert "What sessions, matches and lift measure" in seen
    assert "0.80 ± 0.10" in seen


def test_nothing_is_subtracted_of_sessions_on_other_prompts() -> None:
    layer = build.sessions(prompts_digest="0" * 32)
    diff = differing((build.a_simulated_skill(), build.a_simulated_skill(layer)))
    (change,) = diff.skills
    assert change.change is None
    assert {item.change for item in change.dimensions.values()} == {None}
    assert {item.change for item in change.sampled} == {None}
    text = flat(render_diff(diff, Style()))
    assert "sessions: not compared: other prompts of the sessions: 5f5f5f5f5f5f before, 000000000000 after" in text
    assert "▲" not in text + markdown.render_diff(diff)
    assert "⚠️ | `skills/one`" in markdown.render_diff(diff)


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


def test_a_reason_of_many_measures_is_said_once() -> None:
    why = "5 of 11 sessions were not measured (server 5): the server answered 529"
    nothing = dict.fromkeys(build.MEASURES, Estimate(None, n=6, reason=why))
    layer = build.sessions(
        measures=nothing, scores={}, spread={}, tokens=None, mc_score=None, mc_reason=f"activation_rate: {why}"
    )
    report = build.a_simulated_report(build.a_simulated_skill(layer._replace(reason=why)))
    for text in (text_of(report, verbose=True), flat(markdown.render_score(report).replace("\\", ""))):
        assert text.count("the server answered 529") == 1
        assert "not measured for that: activation, " in text
    assert "sessions measure 0 of the 37 % of the weight that are theirs" in text_of(report)


def test_sessions_that_measured_all_that_is_theirs_say_no_share() -> None:
    scores = dict.fromkeys(Dimension, build.MEASURES["quality"])
    report = build.a_simulated_report(build.a_simulated_skill(build.sessions(scores=scores)))
    assert "that are theirs" not in text_of(report)


def test_a_comment_says_what_moved_against_the_base() -> None:
    now = better()._replace(gate=build.PASSED)
    report = build.a_simulated_report(now, gate=build.PASSED)
    text = comment(situations.told(run(), report, (before(), report.results[0]))).replace("\\", "")
    assert "sessions against the base: quality 0.70 → 0.80 ▲ 0.10 (n = 5 → 6)" in text
    assert "ranking against the base: Elo 1,507 → 1,540 ▲ 33 (n = 3)" in text
    assert "lift against the base: +0.18 → +0.25 ▲ 0.07 (n = 3)" in text


def by_chance() -> tuple[SkillResult, SkillResult]:
    """Give a skill whose score fell by 5 points while one judge rates one dimension one step lower."""
    layer = judged.a_layer()
    lower = judged.an_assessment(0.5, (5, 5, 5), ci_low=0.45, ci_high=0.55)
    after = judged.a_judged_skill(layer._replace(assessments={**layer.assessments, judged.QUALITY: lower}))
    was = judged.a_judged_skill()._replace(composite=Composite(75.0, None))
    return was, after._replace(composite=after.composite._replace(score=70.0))


def test_a_drop_that_passes_as_chance_is_one_line_of_a_diff() -> None:
    diff = differing(by_chance(), gated=True)
    told = "inconclusive: it went 75.00 → 70.00, which the paired test does not tell from chance"
    text, page = flat(render_diff(diff, Style())), markdown.render_diff(diff).replace("\\", "")
    assert text.count(told) == page.count(told) == 1
    assert f"skills/one: {told}" in text
    assert "**Drops that may be chance**" in page
    assert told in taken_apart(html.render_diff(diff)).text


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
    shown = render_diff(diff, Style())
    assert not [each for each in shown if unicodedata.category(each) in _HIDDEN and each not in "\n\u200b"]
    seen = taken_apart(html.render_diff(diff)).text  # raises on markup that is not balanced
    assert "What sessions, matches and lift measure" in seen
