"""What people read of sessions, matches and lift: figures with what they rest on, what is missing, never more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from skillgate.action.comment.comment import COMMENT_UNITS, comment, headline, summary, utf16
from skillgate.format import Style
from skillgate.model.layers import DropTest, Estimate, Loads, Spread
from skillgate.model.report import Composite, StaticLayer
from skillgate.model.score import Badge, Depth, Dimension
from skillgate.report import sessions
from skillgate.report.compare import compare
from skillgate.report.explain_report import explain
from skillgate.report.formats.text import columns
from skillgate.report.ranking import elo_condition, hurts, lift_in_words, ranking_blocks, tally
from skillgate.report.rendering import render
from skillgate.report.simulated_compared import sampled_changes
from skillgate.report.view import Chart, Fold, Table
from tests.github import judged as situations
from tests.github.build import run
from tests.github.rendered import LIVE, OURS, read, reader, unbalanced
from tests.report import simulated as build
from tests.report.pages import taken_apart
from tests.report.simulated import WRITERS, brief, whole
from tests.report.test_judged import TEXTS, is_inert, said
from tests.report.test_judged import situations as trees
from tests.report.tree import matches_golden

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.action.comment.subject import Subject
    from skillgate.model.report import Report
    from skillgate.report.view import Block


def subject_of(report: Report) -> Subject:
    results = tuple(result._replace(gate=build.PASSED) for result in report.results)
    passing = report._replace(results=results, gate=build.PASSED)
    return situations.told(run(), passing, *((None, result) for result in results))


def test_every_situation_is_as_it_was_looked_at() -> None:
    assert matches_golden("simulated.tree", trees(build.REPORTS, "certified"))


# --- sessions ---


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize(
    "row",
    [
        r"activation.{,14} 75 %.{,14} \(35 to 97 %\).{,14} 8.{,14} wide",
        r"false activation.{,14} 50 %.{,14} ± 49 %.{,14} 2",
        r"quality.{,14} 0\.70.{,14} \(0\.50 to 0\.82\).{,14} 5",
        r"mc_score.{,14} 0\.7413",
        r"okens: median 5,250, quartiles 5,200 to 5,300, 1 outlier, n = 8",
        r"not measured: covers the request: only 3 sessions say so, 5 are needed",
        r"of 11 sessions 1 failed \(1 refusal\), 1 not measured \(1 server, in no figure\)",
        r"wide: activation ± 0\.31 \(indirect prompts vary more, changed most by “The numbers from accounting do",
        r"claude-sonnet-5-5 tested next to 12 other skills, graded by claude-haiku-5-5; prompts: evals and",
    ],
)
def test_figures_have_their_intervals_and_the_number_of_sessions(kind: str, row: str) -> None:
    assert re.search(row, said(build.deep(), kind))


def test_a_further_measure_is_only_shown_when_asked_for() -> None:
    assert "quality CV" not in said(build.deep())
    assert "5 more measures; -v shows them" in said(build.deep())
    assert "quality CV 0.31 (0.10 to 0.50) 5" in said(build.deep(), "whole")


def test_stable_measures_are_not_called_wide() -> None:
    layer = build.sessions(spread={"quality": Spread("stable", 0.02)})
    assert sessions.wide(layer) == ""
    assert "5 stable" in said(build.a_simulated_report(build.a_simulated_skill(layer)))


@pytest.mark.parametrize("kind", WRITERS)
def test_a_run_that_ended_early_gives_bounds_and_no_estimate(kind: str) -> None:
    text = said(build.stopped_early(), kind)
    assert re.search("activation.{,14} between 10 and 70 %", text)
    assert "25 %" not in text
    assert "topped early after 4 of 10 sessions: min-activation 0.8 cannot be reached any more" in text
    assert "6 not run" in text


@pytest.mark.parametrize("kind", WRITERS)
def test_an_outage_is_no_zero(kind: str) -> None:
    text = said(build.outage(), kind)
    assert text.count("the server answered 529") == 1
    assert "not simulated: 11 of 11 sessions were not measured (server 11): the server answered 529" in text
    assert "activation" not in text
    assert "no Elo: there is no corpus to rank against" in text


@pytest.mark.parametrize(("kind", "shown"), [("brief", False), ("whole", True), ("markdown", True), ("html", True)])
def test_sessions_that_failed_or_missed_are_listed_once_for_each_prompt(kind: str, *, shown: bool) -> None:
    text = said(build.deep(), kind)
    for outcome in ("indirect did not load it, quality 0.40 ×2", "indirect failed (refusal)", "near miss loaded it"):
        assert (outcome in text.replace(" | ", " ").replace(" outcome ", " ")) is shown
    assert "Take these rows in" not in text


def test_outcomes_of_one_prompt_are_grouped() -> None:
    same, other = build.a_run(), build.a_run(activated=False)
    assert [(it.activated, n) for it, n in sessions.by_prompt([same, other, same])] == [(True, 2), (False, 1)]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"runs": (build.a_run(quality=None, ungraded="the grader refused"),)}, "1 answer without a grade: the grader"),
        ({"obeyed": 2}, "2 grades obeyed the answer's text instead of the question, and are ignored"),
        ({"answered_by": ("m-2",)}, "answered by m-2, not by the requested model"),
        ({"short": "8 of 10 prompts could be generated"}, "8 of 10 prompts could be generated"),
        (
            {"loads": Loads(2, 50, 50, 0.4)},
            "loaded in 2 of 50 sessions: everything they measure except triggering counts",
        ),
        ({"reason": "too many lost grades"}, "not completely simulated: too many lost grades"),
        ({"runner": "agent-sdk", "siblings": 0}, "claude-sonnet-5-5 tested in Claude Code itself alone, graded by"),
        (
            {"siblings_source": "corpus", "grader": build.SONNET},
            "next to 12 other skills of the corpus, graded by itself",
        ),
        ({"mc_score": None, "mc_reason": "no near misses"}, "not measured: mc_score: no near misses"),
    ],
)
def test_what_weakens_the_sessions_is_reported(changes: dict[str, object], found: str) -> None:
    assert found in said(build.a_simulated_report(build.a_simulated_skill(build.sessions(**changes))))


def test_a_reason_of_many_measures_is_reported_once() -> None:
    why = "5 of 11 sessions were not measured (server 5): the server answered 529"
    nothing = dict.fromkeys(build.MEASURES, Estimate(None, n=6, reason=why))
    layer = build.sessions(
        measures=nothing, scores={}, spread={}, tokens=None, mc_score=None, mc_reason=f"activation_rate: {why}"
    )
    report = build.a_simulated_report(build.a_simulated_skill(layer._replace(reason=why)))
    for kind in WRITERS:
        text = said(report, kind)
        assert text.count("the server answered 529") == 1
        assert re.search("not measured: activation, .*, mc_score for that reason", text)
    assert "sessions measure 0 of the 37 % of the weight that belong to them" in said(report, "whole")
    full = build.sessions(scores=dict.fromkeys(Dimension, build.MEASURES["quality"]))
    assert "belong to them" not in said(build.a_simulated_report(build.a_simulated_skill(full)), "whole")


# --- ranking ---


@pytest.mark.parametrize("kind", WRITERS)
def test_a_rating_has_its_spread_and_bradley_terry_with_it(kind: str) -> None:
    text = said(build.certified(), kind)
    assert "Elo 1,507 (resampled 1,471 to 1,540), Bradley–Terry 1,523 (1,310 to 1,730)" in text
    assert "3 matches: 1 won, 1 drawn, 1 lost, 1 not decided; win rate 50 %; position bias 33 % (1 to 91 %)" in text
    assert "wins on triggering_accuracy; loses on output_quality" in text
    assert "provisional: " in text
    assert "Elo" not in said(build.deep(), kind)


def test_a_match_that_was_not_decided_is_no_draw() -> None:
    assert tally(build.MATCHES[3:]) == "1 not decided"


@pytest.mark.parametrize(
    ("composite", "found"),
    [
        (Composite(91.0, Badge.PLATINUM, elo=1650.0), "Platinum requires an Elo of 1,600: it has 1,650"),
        (Composite(91.0, Badge.GOLD, elo=1550.0, badge_reason="Platinum needs an Elo of 1600, and has 1550"), ""),
        (
            Composite(74.0, None, elo=1350.0, badge_reason="no badge: scripted"),
            "the Elo of 1,400 that Silver requires is not reached: 1,350",
        ),
        (Composite(74.0, Badge.SILVER), "without an Elo the badge rests on the composite alone"),
        (Composite(None, None), ""),
    ],
)
def test_the_condition_on_the_elo_is_reported_once(composite: Composite, found: str) -> None:
    skill = build.a_simulated_skill(matches=build.ranking())._replace(composite=composite)
    assert elo_condition(skill) == found


# --- lift ---


@pytest.mark.parametrize("kind", WRITERS)
def test_lift_names_the_tasks_that_it_hurts_and_what_was_not_graded(kind: str) -> None:
    text = said(build.certified(), kind)
    assert "ift +0.18 (−0.12 to +0.46), p = 0.250, over 3 tasks (evals): 0.80 with the skill, 0.62 without it" in text
    assert "blind comparison prefers 2 with the skill, 1 without it, 0 neither" in text
    assert "it hurts 1 task: “describe” −0.20" in text
    assert "unsupported graders: evals/evals.json: python" in text
    assert ("0.50 0.70 ▼ 0.20 without it" in text) is (kind == "whole")


def test_a_task_that_was_not_measured_hurts_nothing() -> None:
    lift = build.LIFT._replace(tasks=(build.a_task("load", None, 0.9), build.a_task("merge", 0.4, 0.4)))
    assert hurts(lift) == []


def test_a_missing_lift_has_its_reason() -> None:
    lift = build.LIFT._replace(lift=Estimate(None, reason="no task was measured"), wins=0, losses=0, tasks=())
    assert next(lift_in_words(lift)) == "no lift: no task was measured"


# --- the run ---


def test_a_part_of_a_run_and_one_that_was_resumed_say_so() -> None:
    assert "shard 2/4: the other skills are in the reports of the other parts" in said(build.resumed())
    for kind in ("whole", "markdown", "html"):
        text = said(build.resumed(), kind).replace("\u200b", "")
        assert "230 answers reused, 3 requests sent again; the earlier run cost $1.25" in text
        assert "gainst 231 other skills (corpus eeeeeeeeeee…)" in text


def test_sessions_of_a_script_are_warned_of_without_a_judge_too() -> None:
    skill = build.a_simulated_skill(build.sessions(live=False, provider="scripted"))
    alone = tuple(layer for layer in skill.layers if isinstance(layer, StaticLayer | type(build.sessions())))
    report = build.a_simulated_report(skill._replace(layers=alone))
    warning = "SCRIPTED OR REPLAYED ANSWERS (provider scripted): no model read the skill"
    assert f"{warning}, so the numbers of sessions and matches say nothing about it." in said(report)
    assert all(warning in said(build.scripted(), kind).replace("\u200b", "") for kind in WRITERS)
    assert "SCRIPTED" not in said(build.outage())  # matches that did not take place have no answers


# --- explain ---


@pytest.mark.parametrize(
    ("dimension", "found"),
    [
        (Dimension.TRIGGERING_ACCURACY, f"| indirect | did not load it, quality 0.40 ×2 | {build.MISSED} |"),
        (Dimension.OUTPUT_QUALITY, "| direct | 0.30 | Load orders.csv |"),
        (Dimension.ORCHESTRATION_FITNESS, "| direct | loaded it, quality 0.30 | Load orders.csv |"),
        (Dimension.SCOPE_CALIBRATION, "| direct | loaded it, quality 0.70 | Load the feed |"),
        (Dimension.TOKEN_EFFICIENCY, "| direct | 7,900 | Load orders.csv |"),
        (Dimension.ROBUSTNESS, "| indirect | failed (refusal) | It stopped |"),
    ],
)
def test_explain_lists_the_sessions_that_a_dimension_rests_on(dimension: Dimension, found: str) -> None:
    text = explain(build.certified(), "skills/one", dimension.value).replace("\\", "")
    part = text.partition("### Simulated sessions")[2]
    assert found in part
    assert "Take these rows in" not in part or dimension in (Dimension.OUTPUT_QUALITY, Dimension.TOKEN_EFFICIENCY)


def test_explain_gives_the_sessions_their_share_of_the_score() -> None:
    text = explain(build.certified(), "skills/one", "triggering_accuracy")
    assert "| montecarlo | 0.6667 | 60 % |" in text
    assert "| montecarlo | — | not measured" in explain(build.stopped_early(), "skills/one", "triggering_accuracy")
    other = explain(build.certified(), "skills/one", Dimension.CODE_TEMPLATE_QUALITY.value)
    assert "Sessions do not measure this dimension" in other


# --- charts ---


def charts_of(found: tuple[Block, ...]) -> Iterator[Chart]:
    for block in found:
        if isinstance(block, Chart):
            yield block
        elif isinstance(block, Fold):
            yield from charts_of(block.blocks)


def test_charts_say_what_they_show() -> None:
    found = {chart.title: chart.said for chart in charts_of(build.blocks(build.certified().results[0]))}
    assert list(found.values()) == [
        "3: 1; 6: 1; 7: 1; 8: 2; 9: 1.",
        "median 5,250, quartiles 5,200 to 5,300, 1 outlier, n = 8",
        "won against 1,432; drawn against 1,560; lost against 1,611.",
    ]


def test_there_is_no_chart_of_nothing() -> None:
    layer = build.sessions(runs=(), tokens=None)
    assert not list(charts_of(sessions.skill_blocks(build.a_simulated_skill(layer))))
    assert not list(charts_of(ranking_blocks(build.a_simulated_skill(matches=build.ranking(played=())))))


def test_charts_stay_within_their_width() -> None:
    runs = tuple(build.a_run(tokens=count, quality=1.0) for count in (1, 5200, 900_000))
    skill = build.a_simulated_skill(build.sessions(runs=runs), build.ranking())
    found = list(charts_of(build.blocks(skill)))
    shapes = [shape for chart in found for shape in chart.drawing.shapes]
    assert all(0 <= shape.x <= 100 for shape in shapes)
    assert all(0 <= shape.x + shape.width <= 100.001 for shape in shapes if shape.kind in ("rect", "line"))
    assert sum(shape.style == "was" for shape in found[1].drawing.shapes) == 2  # outliers


def test_styles_count_only_the_sessions_that_were_measured() -> None:
    (fold,) = (fold for fold in _folds(build.deep()) if fold.summary == "Styles, grades and tokens")
    table = fold.blocks[0]
    assert isinstance(table, Table)
    assert [(row.cells[0], row.cells[2]) for row in table.rows] == [
        ("direct", "5 of 5"),
        ("indirect", "1 of 3"),
        ("near miss", "1 of 2"),
    ]


def _folds(report: Report) -> list[Fold]:
    (outer,) = sessions.skill_blocks(report.results[0])
    assert isinstance(outer, Fold)
    return [block for block in outer.blocks if isinstance(block, Fold)]


# --- the comment ---


def test_a_comment_tells_the_elo_in_the_row_and_the_sessions_folded_away() -> None:
    text = comment(subject_of(build.certified())).replace("\\", "")
    assert "| Silver, 1 error, Elo 1,507 |" in text
    folded = text.partition("<summary>Details: ")[2]
    assert "| activation | 75 % | (35 to 97 %) | 8 | wide |" in folded
    assert "lift +0.18" in folded


def test_a_comment_says_what_moved_against_the_base_of_what_sessions_measure() -> None:
    now = build.a_simulated_skill(gate=build.PASSED)
    quality = now.dimensions[build.QUALITY]
    then = now._replace(dimensions={**now.dimensions, build.QUALITY: quality._replace(score=0.7)})
    report = build.a_simulated_report(now, gate=build.PASSED)
    text = comment(situations.told(run(), report, (then, now))).replace("\\", "")
    assert re.search(r"\| output_quality \| 0\.70 → \*\*0\.53\*\* ▼ 0\.17 \(.*\) \|", text)


def test_a_comment_on_many_skills_stays_within_its_limit() -> None:
    long = build.sessions(
        runs=tuple(build.a_run(f"{number} " + "word " * 900, activated=False) for number in range(60))
    )
    skills = [build.a_simulated_skill(long, build.ranking(), f"skills/{number}") for number in range(120)]
    text = comment(subject_of(build.a_simulated_report(*skills)))
    assert utf16(text) <= COMMENT_UNITS
    assert "<summary>108 more skills</summary>" in text
    assert "How sure is this?" in text


def test_sessions_that_cannot_be_compared_are_said_not_to_be() -> None:
    now = build.a_simulated_skill(gate=build.PASSED)
    drop = DropTest(None, reason="the prompts of the sessions differ")
    report = build.a_simulated_report(now._replace(drop=drop), gate=build.PASSED)
    quality = now.dimensions[build.QUALITY]
    then = now._replace(dimensions={**now.dimensions, build.QUALITY: quality._replace(score=0.7)})
    text = comment(situations.told(run(), report, (then, report.results[0]))).replace("\\", "")
    assert "not compared answer by answer: the prompts of the sessions differ" in text


# --- two skills side by side ---


def test_figures_of_the_same_prompts_have_a_change_others_have_none() -> None:
    a = build.a_simulated_skill(matches=build.ranking())
    better = {**build.MEASURES, "quality": Estimate(0.8, 0.7, 0.9, 5)}
    b = build.a_simulated_skill(build.sessions(measures=better), build.ranking())
    assert [item.change for item in sampled_changes(a, b) if item.name == "quality"] == [0.1]
    assert {item.reason for item in sampled_changes(a, b)} == {None}
    other = build.a_simulated_skill(build.sessions(measures=better, prompts_digest="0" * 32))
    assert {item.change for item in sampled_changes(a, other)} == {None}
    assert {item.reason for item in sampled_changes(a, other)} == {
        "other prompts of the sessions: 5f5f5f5f5f5f before, 000000000000 after",
        "only the skill before has matches",
    }


def test_bounds_of_a_run_that_ended_early_are_compared_with_nothing() -> None:
    early = build.stopped_early().results[0]
    found = sampled_changes(build.a_simulated_skill(), early)
    assert {item.after.value for item in found} == {None}
    assert {item.reason for item in found} == {"not measured after: the sessions ended early"}


def test_a_comparison_shows_figures_that_do_not_differ_only_when_asked_for() -> None:
    results = (build.a_simulated_skill(matches=build.ranking()), build.a_simulated_skill(path="skills/two"))
    found = compare(*results, version="1", digest="", depth=Depth.DEEP)
    short, full = (" ".join(render(found, "compare", "text", Style(), verbose=it).split()) for it in (False, True))
    assert "Sessions, matches and lift: no change" in short
    assert "ranking not compared: only the skill before has matches" in short
    assert "quality 0.70 (0.50 to 0.82) 0.70 (0.50 to 0.82) = 5" in full
    assert "| Elo | 1,507 (± 34) | — | — | 3 → 0 |" in render(found, "compare", "markdown", Style())


# --- hostile texts ---


@settings(max_examples=30, deadline=None)
@given(text=TEXTS)
def test_nothing_that_a_session_or_an_opponent_says_does_anything_at_a_terminal(text: str) -> None:
    for written in (brief(build.hostile(text), 80), whole(build.hostile(text), 80)):
        assert is_inert(written)
        assert all(columns(line) <= 82 for line in written.splitlines())


@settings(max_examples=25, deadline=None)
@given(text=TEXTS)
def test_nothing_that_a_session_or_an_opponent_says_is_live_in_markdown(text: str) -> None:
    report = build.hostile(text)
    explained = [explain(report, "skills/one", dimension.value) for dimension in build.SIMULATED]
    for written in (WRITERS["markdown"](report), comment(subject_of(report)), summary(subject_of(report)), *explained):
        page = read(written)
        assert unbalanced(reader().render(written)) == []
        assert set(page.html) <= OURS | {"<!-- skillgate:v1 key=default -->"}
        assert [found for told in page.texts if (found := LIVE.search(told))] == []
        assert all(len(set(cells)) == 1 for cells in page.rows)
        assert not page.kinds & {"image", "hr", "fence", "code_block", "s_open", "hardbreak"}
    assert "\n" not in headline(subject_of(report))


@settings(max_examples=25, deadline=None)
@given(text=TEXTS)
def test_nothing_that_a_session_or_an_opponent_says_is_markup_in_a_page(text: str) -> None:
    taken_apart(WRITERS["html"](build.hostile(text)))
