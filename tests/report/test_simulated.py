"""What people read of sessions, matches and lift: figures with what they rest on, what is missing, never more."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from skillgate.action.comment.comment import COMMENT_UNITS, comment, headline, summary
from skillgate.action.comment.fit import utf16
from skillgate.model.layers import COMPLETED, DropTest, Estimate, Spread
from skillgate.model.report import Composite, StaticLayer
from skillgate.model.score import Badge, Depth, Dimension
from skillgate.report import markdown
from skillgate.report.compare import compare
from skillgate.report.explain_report import explain
from skillgate.report.html import render_score as page_of
from skillgate.report.judge_words import SCRIPTED
from skillgate.report.lift_words import hurts, lift_in_words
from skillgate.report.ranking_words import elo_condition, tally
from skillgate.report.simulated_charts import box, field, grades, styles
from skillgate.report.simulated_compared import sampled_changes
from skillgate.report.simulated_words import by_prompt, measured, wide
from skillgate.report.terminal import Style, columns
from skillgate.report.text import render_compare, render_score
from tests.github import judged as situations
from tests.github.build import run
from tests.github.rendered import LIVE, OURS, read, reader, unbalanced
from tests.report import simulated as build
from tests.report.pages import taken_apart
from tests.report.test_judged import TEXTS, flat

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.action.comment.subject import Subject
    from skillgate.model.report import Report

GOLDEN = Path(__file__).parent / "golden"
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def text_of(report: Report, *, verbose: bool = False) -> str:
    return flat(render_score(report, Style(), verbose=verbose))


def subject_of(report: Report) -> Subject:
    results = tuple(result._replace(gate=build.PASSED) for result in report.results)
    passing = report._replace(results=results, gate=build.PASSED)
    return situations.told(run(), passing, *((None, result) for result in results))


WRITES: dict[str, Callable[[Report], str]] = {
    "txt": lambda report: render_score(report, Style()),
    "verbose.txt": lambda report: render_score(report, Style(), verbose=True),
    "md": markdown.render_score,
    "comment.md": lambda report: comment(subject_of(report)),
}


@pytest.mark.parametrize("kind", WRITES)
@pytest.mark.parametrize("name", build.REPORTS)
def test_it_is_as_it_was_looked_at(name: str, kind: str) -> None:
    """Write the files anew with ``SKILLGATE_GOLDEN=write``; then read the difference."""
    text = WRITES[kind](build.REPORTS[name]())
    file = GOLDEN / f"simulated-{name}.{kind}"
    if os.environ.get("SKILLGATE_GOLDEN") == "write":
        file.write_bytes(text.encode())
    assert text == file.read_bytes().decode()


# --- sessions ---


def test_rates_have_their_intervals_and_the_number_of_sessions() -> None:
    text = text_of(build.deep())
    assert "activation 75 % (35 to 97 %), n = 8; false activation 50 % ± 49 %, n = 2; F1 0.67 (0.40 to 0.85)" in text
    assert "quality 0.70 (0.50 to 0.82), CV 0.31, n = 5; failures 10 % (0 to 44 %), n = 10" in text
    assert "tokens 5,250 (quartiles 5,200 to 5,300, 1 outlier), n = 8; mc_score 0.7413" in text


def test_what_failed_stands_apart_from_what_was_not_measured() -> None:
    assert "of 11 sessions 1 failed (1 refusal), 1 not measured (1 server) and in no figure" in text_of(build.deep())


def test_a_wide_measure_names_style_and_prompts() -> None:
    told = (
        "wide: activation ± 0.31 (indirect prompts vary more, moved most by “The numbers from accounting do not load…”)"
    )
    assert told in text_of(build.deep())


def test_only_what_is_asked_for_in_full_says_what_is_stable() -> None:
    layer = build.sessions(spread={"quality": Spread("stable", 0.02)})
    assert wide(layer) == ""
    assert wide(layer, every=True) == "stable: quality"


@pytest.mark.parametrize("kind", ["txt", "md", "comment.md"])
def test_a_run_that_ended_early_gives_bounds_and_no_estimate(kind: str) -> None:
    text = flat(WRITES[kind](build.stopped_early()).replace("\\", ""))
    assert "activation" in text
    assert "between 10 and 70 %" in text
    assert "25 %," not in text
    assert "stopped early after 4 of 10 sessions: min-activation 0.8 cannot be reached any more" in text
    assert "6 not run" in text


@pytest.mark.parametrize("kind", WRITES)
def test_an_outage_is_no_zero(kind: str) -> None:
    text = flat(WRITES[kind](build.outage()).replace("\\", ""))
    assert "not simulated: 11 of 11 sessions were not measured (server 11): the server answered 529" in text
    assert "activation 0" not in text
    assert "no Elo: there is no corpus to rank against" in text


def test_only_verbose_lists_every_session_that_failed_or_missed_once_for_each_prompt() -> None:
    brief, whole = text_of(build.deep()), text_of(build.deep(), verbose=True)
    assert f"indirect, did not load it, quality 0.40 ×2: “{build.MISSED}”" in whole
    assert "indirect, failed (refusal): “It stopped”" in whole
    assert "near miss, loaded it, quality 0.60: “My spreadsheet is slow”" in whole
    assert "Take these rows in" not in whole
    assert "It stopped" not in brief


def test_sessions_take_few_lines_unless_more_is_asked_for() -> None:
    lines = render_score(build.certified(), Style()).splitlines()
    start = next(index for index, line in enumerate(lines) if line.strip().startswith("sessions"))
    end = next(index for index, line in enumerate(lines) if line.strip().startswith("lift"))
    assert end - start <= 15
    assert all(columns(line) <= 100 for line in lines)


def test_outcomes_of_one_prompt_stand_together() -> None:
    same, other = build.a_run(), build.a_run(activated=False)
    assert [(found.activated, count) for found, count in by_prompt([same, other, same])] == [(True, 2), (False, 1)]


def test_a_measure_without_a_value_is_a_dash_with_its_reason() -> None:
    assert measured("scope", Estimate(None, n=3, reason="only 3 of 5")) == "— (only 3 of 5)"
    assert measured("activation_rate", Estimate(0.0, 0.0, 0.3, 9)) == "0 % (0 to 30 %)"


# --- ranking ---


def test_a_rating_stands_with_its_spread_and_bradley_terry_beside_it() -> None:
    text = text_of(build.certified())
    assert "Elo 1,507 (resampled 1,471 to 1,540), Bradley–Terry 1,523 (1,310 to 1,730)" in text
    assert "3 matches: 1 won, 1 drawn, 1 lost, 1 not decided; win rate 50 %; position bias 33 % (1 to 91 %)" in text
    assert "wins on triggering_accuracy; loses on output_quality" in text
    assert "provisional: " in text


def test_a_match_that_was_not_decided_is_no_draw() -> None:
    assert tally(build.MATCHES[3:]) == "1 not decided"


@pytest.mark.parametrize(
    ("composite", "told"),
    [
        (Composite(91.0, Badge.PLATINUM, elo=1650.0), "Platinum asks for an Elo of 1,600, and it has 1,650"),
        (Composite(91.0, Badge.GOLD, elo=1550.0, badge_reason="Platinum needs an Elo of 1600, and has 1550"), ""),
        (
            Composite(74.0, None, elo=1350.0, badge_reason="no badge: scripted"),
            "the Elo of 1,400 that Silver asks for is not reached: 1,350",
        ),
        (Composite(74.0, Badge.SILVER), "without an Elo it rests on the composite alone"),
        (Composite(None, None), ""),
    ],
)
def test_the_badge_tells_its_condition_on_the_elo_once(composite: Composite, told: str) -> None:
    skill = build.a_simulated_skill(matches=build.ranking())._replace(composite=composite)
    assert elo_condition(skill) == told


def test_no_ranking_says_nothing_of_an_elo() -> None:
    assert "Elo" not in text_of(build.deep())


# --- lift ---


def test_lift_names_the_tasks_that_it_hurts_and_what_was_not_graded() -> None:
    text = text_of(build.certified())
    assert "lift +0.18 (−0.12 to +0.46), p = 0.250, over 3 tasks (evals)" in text
    assert "it hurts 1 task: “describe” −0.20" in text
    assert "graders that nothing here does: evals/evals.json: python" in text


def test_a_task_that_was_not_measured_hurts_nothing() -> None:
    lift = build.LIFT._replace(tasks=(build.a_task("load", None, 0.9), build.a_task("merge", 0.4, 0.4)))
    assert hurts(lift) == []


def test_no_lift_is_said_with_its_reason() -> None:
    lift = build.LIFT._replace(lift=Estimate(None, reason="no task was measured"), wins=0, losses=0, tasks=())
    assert next(lift_in_words(lift)) == "no lift: no task was measured"


# --- the run ---


@pytest.mark.parametrize("kind", WRITES)
def test_a_part_of_a_run_and_one_that_was_resumed_say_so(kind: str) -> None:
    text = flat(WRITES[kind](build.resumed()).replace("\\", "").replace("\u200b", ""))
    assert "shard 2/4" in text
    assert "resumed: 230 answers were kept, 3 requests sent once more; the run before had spent $1.25" in text


@pytest.mark.parametrize("kind", WRITES)
def test_answers_of_a_script_are_said_before_anything_else(kind: str) -> None:
    text = WRITES[kind](build.scripted()).replace("\u200b", "")
    assert SCRIPTED in text.splitlines()[kind == "comment.md"]
    assert SCRIPTED not in WRITES[kind](build.certified())


def test_sessions_of_a_script_are_told_of_without_a_judge_too() -> None:
    skill = build.a_simulated_skill(build.sessions(live=False, provider="scripted"))
    alone = tuple(layer for layer in skill.layers if isinstance(layer, StaticLayer | type(build.sessions())))
    report = build.a_simulated_report(skill._replace(layers=alone))
    assert render_score(report, Style()).startswith(SCRIPTED)
    assert SCRIPTED in markdown.render_score(report)


def test_a_depth_that_simulates_does_not_say_that_it_did_not() -> None:
    assert "not run)" not in text_of(build.certified())


# --- explain ---


@pytest.mark.parametrize(
    ("dimension", "told"),
    [
        (Dimension.TRIGGERING_ACCURACY, f"| {build.MISSED} | indirect | did not load it, quality 0.40 ×2 |"),
        (Dimension.OUTPUT_QUALITY, "| Load orders.csv | direct | 0.30 |"),
        (Dimension.ORCHESTRATION_FITNESS, "| Load orders.csv | direct | loaded it, quality 0.30 |"),
        (Dimension.SCOPE_CALIBRATION, "| Load the feed | direct | loaded it, quality 0.70 |"),
        (Dimension.TOKEN_EFFICIENCY, "| Load orders.csv | direct | 7,900 |"),
        (Dimension.ROBUSTNESS, "| It stopped | indirect | failed (refusal) |"),
    ],
)
def test_explain_lists_the_sessions_that_a_dimension_rests_on(dimension: Dimension, told: str) -> None:
    text = explain(build.certified(), "skills/one", dimension.value).replace("\\", "")
    part = text.partition("### Simulated sessions")[2]
    assert told in part
    assert "Take these rows in" not in part or dimension in (Dimension.OUTPUT_QUALITY, Dimension.TOKEN_EFFICIENCY)


def test_explain_gives_the_sessions_their_share_of_the_score() -> None:
    text = explain(build.certified(), "skills/one", "triggering_accuracy")
    assert "| montecarlo | 0.6667 |" in text
    assert "| montecarlo | — | not measured" in explain(build.stopped_early(), "skills/one", "triggering_accuracy")


# --- the page and its charts ---


@pytest.mark.parametrize("name", build.REPORTS)
def test_every_page_is_well_formed_and_says_what_its_charts_show(name: str) -> None:
    page = taken_apart(page_of(build.REPORTS[name]()))
    assert "Simulated sessions" in page.text


def test_the_page_tells_grades_styles_tokens_and_matches_in_words() -> None:
    text = taken_apart(page_of(build.certified())).text
    assert "Answers by grade, from 0 to 10. 3: 1; 6: 1; 7: 1; 8: 2; 9: 1." in text
    assert "Indirect" in text
    assert "1 of 3" in text
    assert "Matches by the opponent's rating: won against 1,432; drawn against 1,560; lost against 1,611." in text
    assert "describe 0.5000 0.7000 ▼ 0.2000 without" in text


def test_there_is_no_chart_of_nothing() -> None:
    layer = build.sessions(runs=(), tokens=None)
    assert (grades(layer.runs), box(layer), styles(layer.runs)) == (None, None, ())
    assert field(build.ranking(played=())) is None


def test_charts_stay_within_their_width() -> None:
    layer = build.sessions(runs=tuple(build.a_run(tokens=count, quality=1.0) for count in (1, 5200, 900_000)))
    drawn, columns_of, matches = box(layer), grades(layer.runs), field(build.ranking())
    assert drawn is not None
    assert columns_of is not None
    assert matches is not None
    places = (drawn.low, drawn.q1, drawn.median, drawn.q3, drawn.high, *drawn.outliers, *(at for at, _ in drawn.ticks))
    assert all(0 <= at <= 100 for at in (*places, *(dot.at for dot in matches.dots)))
    assert all(item.left >= 0 and item.left + item.width <= 100 for item in columns_of.columns)
    assert len(drawn.outliers) == 2


def test_styles_count_the_sessions_that_were_measured_alone() -> None:
    assert [(item.name, item.loaded, item.total) for item in styles(build.RUNS)] == [
        ("direct", 5, 5),
        ("indirect", 1, 3),
        ("near miss", 1, 2),
    ]


# --- the comment ---


def test_a_comment_tells_the_elo_in_the_row_and_the_sessions_folded_away() -> None:
    text = comment(subject_of(build.certified())).replace("\\", "")
    assert "| Silver, 1 error, Elo 1,507 |" in text
    folded = text.partition("<summary>What simulated sessions and matches say</summary>")[2]
    assert "activation 75 % (35 to 97 %), n = 8" in folded
    assert "lift +0.18" in folded


def test_a_comment_says_what_moved_against_the_base_of_what_sessions_measure() -> None:
    now = build.a_simulated_skill(gate=build.PASSED)
    quality = now.dimensions[build.QUALITY]
    then = now._replace(dimensions={**now.dimensions, build.QUALITY: quality._replace(score=0.7)})
    report = build.a_simulated_report(now, gate=build.PASSED)
    text = comment(situations.told(run(), report, (then, now))).replace("\\", "")
    assert "against the base, of what sessions measure: output_quality 0.7000 → 0.5333" in text


def test_a_comment_on_many_skills_stays_within_its_limit() -> None:
    long = build.sessions(
        runs=tuple(build.a_run(f"{number} " + "word " * 900, activated=False) for number in range(60))
    )
    skills = [build.a_simulated_skill(long, build.ranking(), f"skills/{number}") for number in range(120)]
    text = comment(subject_of(build.a_simulated_report(*skills)))
    assert utf16(text) <= COMMENT_UNITS
    assert "115 more skills in the report" in text


def test_sessions_that_cannot_be_compared_are_said_not_to_be() -> None:
    now = build.a_simulated_skill(gate=build.PASSED)
    drop = DropTest(None, reason="the prompts of the sessions differ")
    report = build.a_simulated_report(now._replace(drop=drop), gate=build.PASSED)
    quality = now.dimensions[build.QUALITY]
    then = now._replace(dimensions={**now.dimensions, build.QUALITY: quality._replace(score=0.7)})
    text = comment(situations.told(run(), report, (then, report.results[0]))).replace("\\", "")
    assert "not compared with the base: the prompts of the sessions differ" in text
    assert "nothing moved" not in text


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


def test_bounds_of_a_run_that_ended_early_stand_beside_nothing() -> None:
    early = build.stopped_early().results[0]
    found = sampled_changes(build.a_simulated_skill(), early)
    assert {item.after.value for item in found} == {None}
    assert {item.reason for item in found} == {"not measured after: the sessions ended early"}


def test_a_comparison_shows_them_as_text_and_as_markdown() -> None:
    results = (build.a_simulated_skill(matches=build.ranking()), build.a_simulated_skill(path="skills/two"))
    found = compare(*results, version="1", digest="", depth=Depth.DEEP)
    assert "quality 0.70 0.70 = failures 10 % 10 % = tokens" in flat(render_compare(found, Style()))
    assert "Elo, Bradley–Terry not compared: only the skill before has matches" in flat(render_compare(found, Style()))
    assert "| Elo | 1,507 | — | — |" in markdown.render_compare(found)


# --- hostile texts ---


@settings(max_examples=30, deadline=None)
@given(text=TEXTS)
def test_nothing_that_a_session_or_an_opponent_says_reaches_a_terminal_alive(text: str) -> None:
    for verbose in (False, True):
        written = render_score(build.hostile(text), Style(), verbose=verbose)
        assert {each for each in written if unicodedata.category(each) in _HIDDEN} <= set("\n\u200b\u200c\u200d")
        assert not [line for line in written.splitlines() if line.lstrip().startswith("::")]
        assert "##[" not in written


@settings(max_examples=25, deadline=None)
@given(text=TEXTS)
def test_nothing_that_a_session_or_an_opponent_says_is_live_in_markdown(text: str) -> None:
    report = build.hostile(text)
    explained = [explain(report, "skills/one", dimension.value) for dimension in build.SIMULATED]
    for written in (
        markdown.render_score(report),
        comment(subject_of(report)),
        summary(subject_of(report)),
        *explained,
    ):
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
    taken_apart(page_of(build.hostile(text)))


def test_a_session_that_completed_without_a_grade_says_why() -> None:
    runs = (build.a_run(quality=None, ungraded="the grader refused"), build.a_run())
    assert all(one.outcome == COMPLETED for one in runs)
    text = text_of(build.a_simulated_report(build.a_simulated_skill(build.sessions(runs=runs))))
    assert "1 answer without a grade: the grader refused" in text
