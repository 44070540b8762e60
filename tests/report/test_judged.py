"""What people read of a judge, as text and Markdown: what it adds, how sure it is, what it cost, and what it is not."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.model.finding import rule_url
from skillgate.model.layers import Assessment, DropTest, Estimate, TriggerPrompt, Usage
from skillgate.model.report import DimensionScore, GateOutcome, Verdict
from skillgate.model.score import Outcome
from skillgate.report import markdown
from skillgate.report.explain_report import explain
from skillgate.report.judge_doubt import distrust, drop_in_words, inconclusive, trusted, wide_by
from skillgate.report.judge_words import SCRIPTED, breadth, spent, spread, who
from skillgate.report.terminal import Style, columns
from skillgate.report.text import render_check, render_score
from skillgate.scoring.composite import summarise
from tests.github.rendered import LIVE, OURS, read, reader, unbalanced
from tests.report import judged
from tests.report.pages import EVIL
from tests.report.reports import HOSTILE, a_report, a_skill, hostile_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.model.report import Report

GOLDEN = Path(__file__).parent / "golden"
HAZARDS = (*HOSTILE, *EVIL, "@octocat", "| a | b |", "</details>", "# x\n\n- y", "x" * 9_000, "`", "1. x", "")
TEXTS = st.one_of(hostile_text(), st.sampled_from(HAZARDS))
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def flat(text: str) -> str:
    return " ".join(text.split())


def text_of(report: Report, *, verbose: bool = False) -> str:
    return flat(render_score(report, Style(), verbose=verbose))


WRITES: dict[str, Callable[[Report], str]] = {
    "txt": lambda report: render_score(report, Style()),
    "verbose.txt": lambda report: render_score(report, Style(), verbose=True),
    "md": markdown.render_score,
}


@pytest.mark.parametrize("kind", WRITES)
@pytest.mark.parametrize("name", judged.REPORTS)
def test_it_is_as_it_was_looked_at(name: str, kind: str) -> None:
    """Write the files anew with ``SKILLGATE_GOLDEN=write``; then read the difference."""
    text = WRITES[kind](judged.REPORTS[name]())
    file = GOLDEN / f"judged-{name}.{kind}"
    if os.environ.get("SKILLGATE_GOLDEN") == "write":
        file.write_bytes(text.encode())
    assert text == file.read_bytes().decode()


# --- what it says ---


def test_the_lowest_judged_dimension_stands_with_its_first_reason_and_a_place_to_look() -> None:
    text = text_of(judged.three_judges())
    assert "output_quality 0.5333 ± 0.14, wide: The steps never say what a failed import returns." in text
    assert "“just retry until it works” SKILL.md:88" in text
    assert "Judge 2 would not know" not in text


FROM = (
    "wide: it comes from indirect “The numbers from accounting do not load any more” (2 of 3 judges wrong),"
    " indirect near miss “My spreadsheet is too slow” (1 of 3 judges wrong)"
)


@pytest.mark.parametrize("kind", ["txt", "md"])
def test_a_wide_triggering_accuracy_names_the_prompts_and_the_style_that_it_comes_from(kind: str) -> None:
    text = flat(WRITES[kind](judged.three_judges())).replace("\\", "")
    assert f"triggering_accuracy 0.7513 (0.61 to 0.87), {FROM}" in text


def test_at_most_three_prompts_are_named_those_of_most_judges_first() -> None:
    wrong = tuple(
        TriggerPrompt(f"prompt {number}", True, "direct", (number < 3, number < 3, False)) for number in range(6)
    )
    told = wide_by(judged.a_judged_skill(judged.a_layer(triggering=judged.a_triggering(prompts=wrong))))
    assert re.findall(r"prompt \d", told) == ["prompt 3", "prompt 4", "prompt 5"]
    assert told.endswith(" and 3 more")


def test_a_triggering_accuracy_that_is_wide_by_few_prompts_says_that() -> None:
    right = tuple(prompt for prompt in judged.PROMPTS if prompt.predicted == (prompt.should_trigger,) * 3)
    told = wide_by(judged.a_judged_skill(judged.a_layer(triggering=judged.a_triggering(prompts=right))))
    assert told.endswith("no prompt is missed, but there are only 2 (1 direct, 1 direct near miss)")


def test_a_stable_triggering_accuracy_names_no_prompt() -> None:
    layer = judged.a_layer()
    stable = layer.assessments[judged.TRIGGERING]._replace(ci_low=0.7, ci_high=0.72)
    skill = judged.a_judged_skill(layer._replace(assessments={**layer.assessments, judged.TRIGGERING: stable}))
    found = skill.dimensions[judged.TRIGGERING]._replace(ci_low=0.74, ci_high=0.76)
    assert wide_by(skill._replace(dimensions={**skill.dimensions, judged.TRIGGERING: found})) == ""


# --- drops that may be chance ---


@pytest.mark.parametrize("kind", WRITES)
def test_a_drop_that_passes_as_chance_is_listed_with_the_word(kind: str) -> None:
    text = flat(WRITES[kind](judged.fell_by_chance()).replace("\\", "").replace("`", ""))
    assert f"skills/one: {judged.BY_CHANCE}" in text
    assert text.count("inconclusive") == 1
    assert "skills/two: inconclusive" not in text
    assert "inconclusive" not in WRITES[kind](judged.three_judges())


def test_a_drop_that_an_older_report_calls_chance_gets_the_word_too() -> None:
    outcome = GateOutcome("regression", Outcome.PASS, judged.BY_CHANCE.removeprefix("inconclusive: "))
    skill = judged.a_judged_skill(gate=Verdict(passed=True, outcomes=(outcome,)))
    assert inconclusive(skill) == judged.BY_CHANCE


def test_a_drop_that_fails_the_gate_is_told_once_as_its_reason() -> None:
    outcome = GateOutcome("regression", Outcome.INCONCLUSIVE, judged.BY_CHANCE)
    skill = judged.a_judged_skill(gate=Verdict(passed=False, outcomes=(outcome,)))
    text = text_of(judged.a_judged_report(skill, gate=Verdict(passed=False)))
    assert text.count(judged.BY_CHANCE) == 1
    assert inconclusive(skill) == ""
    assert inconclusive(skill._replace(gate=skill.gate._replace(passed=None))) == judged.BY_CHANCE


def test_what_only_kept_its_score_is_not_in_doubt() -> None:
    outcome = GateOutcome("regression", Outcome.PASS, "76.50 → 76.00, allowed drop 2")
    threshold = GateOutcome("threshold", Outcome.PASS, "score 72.50 reaches 70 (inconclusive: 66.4 to 78.6)")
    assert inconclusive(judged.a_judged_skill(gate=Verdict(passed=True, outcomes=(outcome, threshold)))) == ""


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (
            judged.DROP,
            "with 19 paired answers (p = 0.21) this gate would flip on identical input in 4 % of runs;"
            " the smallest drop it can see is 9 points",
        ),
        (judged.DROP._replace(p=0.05), "with 19 paired answers (p = 0.05) this gate would flip on identical input"),
        (judged.DROP._replace(flip_rate=0.001), "in under 1 % of runs"),
        (judged.DROP._replace(flip_rate=0.0), "in 0 % of runs"),
        (judged.DROP._replace(smallest_detectable=None), "so few of them differ that it can see no drop"),
        (DropTest(0.0, units=19), "of 19 paired answers none differs: what moved is exact"),
        (DropTest(1.0, reason="judges differ: 1 before, 3 after"), "not compared answer by answer: judges differ"),
    ],
)
def test_a_comparison_tells_answers_chance_flips_and_what_it_can_see(test: DropTest, said: str) -> None:
    assert said in drop_in_words(test)
    assert said in text_of(judged.a_judged_report(judged.a_fallen_skill(test=test)), verbose=True)


def test_what_a_comparison_can_see_is_not_told_of_a_drop_that_is_real() -> None:
    assert "smallest" not in drop_in_words(judged.DROP._replace(p=0.05))
    assert drop_in_words(None) == ""


# --- whether people bear the judge out ---


@pytest.mark.parametrize("kind", WRITES)
def test_a_calibration_is_shown_wherever_the_agreement_is(kind: str) -> None:
    text = flat(WRITES[kind](judged.people_agree()))
    assert (
        "judge and people over 40 ratings of 12 skills: kappa 0.62 (0.42 to 0.80), sensitivity 0.90 (0.70 to 0.98),"
        " specificity 0.71 (0.50 to 0.86), acceptable to people 0.64 ± 0.14" in text
    )
    assert "bear this judge out" not in text


@pytest.mark.parametrize("kind", WRITES)
def test_a_judge_that_people_do_not_bear_out_is_warned_of(kind: str) -> None:
    text = flat(WRITES[kind](judged.people_disagree()))
    assert "people do not bear this judge out: kappa −0.12, no better than chance; the judge passes what" in text


@pytest.mark.parametrize(
    ("kappa", "acceptable", "warned"),
    [(0.01, 0.5, False), (0.0, 0.5, True), (-0.3, 0.5, True), (0.6, None, True), (None, 0.5, False)],
)
def test_no_kappa_is_no_reason_to_warn_and_none_above_chance_is(
    kappa: float | None, acceptable: float | None, *, warned: bool
) -> None:
    assert bool(distrust(judged.a_trust(kappa, acceptable))) is warned
    assert distrust(None) == trusted(None) == ""


# --- whose reason it is ---


def test_where_a_judge_is_missing_reasons_have_no_numbers() -> None:
    for text in (
        text_of(judged.one_judge_is_missing(), verbose=True),
        flat(explain(judged.one_judge_is_missing(), "one", "output_quality")),
    ):
        assert "2 of 3 judges answered:" in text
        assert re.search(r"[–-] Said the first that answered\. [–-] Said the last\.", text)
        assert "2: Said the last" not in text
        assert "2. Said the last" not in text
    assert "judges answered" not in text_of(judged.three_judges(), verbose=True)
    assert "5 and 6 of 10, 2 of 3 judges answered" in markdown.render_score(judged.one_judge_is_missing())


# --- why there is no score ---


def test_a_reason_that_the_skill_has_is_said_once_and_whole() -> None:
    text = render_score(judged.nothing_was_judged(), Style())
    assert text.count("not judged: see the reason") == 1
    assert flat(text).count("there is no key for the provider anthropic: set ANTHROPIC_API_KEY, or log in as its") == 1
    assert "…" not in text
    assert markdown.render_score(judged.nothing_was_judged()).count("see the reason") == 1


def test_a_reason_of_some_dimensions_is_said_once_and_never_cut() -> None:
    long = "not judged: the answer was cut off twice; ask again with --refresh, or leave sections of the skill out"
    gap = DimensionScore(None, None, weight=0.1, reason=long)
    skill = judged.a_judged_skill(dimensions={judged.QUALITY: gap, judged.ROBUSTNESS: gap})
    text = render_score(judged.a_judged_report(skill), Style())
    assert flat(text).count("leave sections of the skill out") == 1
    assert "robustness      10 %     —  as output_quality" in text
    assert "…" not in text


def test_a_judge_that_has_nothing_to_add_takes_one_line() -> None:
    layer = judged.a_layer()
    good = {judged.QUALITY: judged.an_assessment(0.9, (9, 9, 9))}
    plain = judged.a_judged_skill(layer._replace(assessments=good, triggering=None))
    composite = plain.composite._replace(ci_low=71.0, ci_high=74.0)
    text = render_score(judged.a_judged_report(plain._replace(composite=composite)), Style())
    assert [line.split() for line in text.splitlines() if line.startswith(" " * 9 + "judge")] == [
        ["judge", "72.50", "±", "1.50,", "stable"]
    ]


def test_the_last_line_tells_judges_agreement_and_cost() -> None:
    text = text_of(judged.three_judges())
    assert "standard depth measures 95 % of the weight (simulations not run)" in text
    assert (
        "judge claude-sonnet-5-5 ×3 · kappa 0.71 over 84 ratings, equal in 62 % · 4 calls, 14 answers from cache, $0.03"
        in text
    )


def test_one_judge_has_neither_interval_nor_agreement() -> None:
    text = text_of(judged.one_judge())
    assert "judge claude-sonnet-5-5 · 4 calls" in text
    assert "±" not in text
    assert "kappa" not in text
    verbose = text_of(judged.one_judge(), verbose=True)
    assert f"no interval: {judged.ONE_JUDGE}" in verbose


def test_what_was_not_judged_is_a_dash_with_its_reason() -> None:
    text = render_score(judged.could_not_be_judged(), Style())
    row = next(line for line in text.splitlines() if "skills/silent" in line)
    assert row.split()[:3] == ["—", "—", "skills/silent"]
    assert judged.NO_KEY in text
    assert "1 of 2 skills not judged" in flat(text)
    page = markdown.render_score(judged.could_not_be_judged())
    assert "| `skills/silent` | — | — |" in page
    assert "- `skills/silent` has no score: not judged: the provider anthropic has no key" in page


def test_a_dimension_that_was_not_judged_is_no_zero() -> None:
    text = text_of(judged.three_judges(), verbose=True)
    assert "robustness —; not judged: the model refused" in text
    assert "robustness 0" not in text


def test_verbose_tells_the_reasoning_of_every_judge_and_what_was_left_out() -> None:
    text = text_of(judged.calibrated(), verbose=True)
    assert all(f"{number}: The steps never say" in text for number in (1, 2, 3))
    assert "5, 5 and 6 of 10" in text
    assert "people would give 0.61 ± 0.13, from 40 labelled cases" in text
    assert "left out, since not in the text: 2 quotations" in text
    assert "✗ 2 of 3 indirect: The numbers from accounting" in text


@pytest.mark.parametrize("kind", ["verbose.txt", "md"])
def test_what_was_cut_obeyed_or_swayed_is_told(kind: str) -> None:
    text = flat(WRITES[kind](judged.cut_and_swayed())).replace("\\", "")
    assert "references/dialects.md “Every dialect” (lines 120 to 900)" in text
    assert "references/logo.png" in text
    assert "2 answers obeyed the skill's text" in text
    assert "output_quality by +0.20; the lower score counts" in text
    assert "orchestration_fitness by −0.10" in text


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        (Usage(calls=18, cached=0, cost_usd=1.5), "18 calls, $1.50"),
        (Usage(calls=1, cached=1, cost_usd=0.0021), "1 call, 1 answer from cache, $0.0021"),
        (Usage(cached=18), "0 calls, 18 answers from cache, $0.00"),
        (Usage(calls=2, cost_usd=None, cost_reason="no price for x"), "2 calls, cost unknown (no price for x)"),
        (Usage(calls=2, retries=3, cost_usd=0.01), "2 calls, 3 sent again, $0.01"),
    ],
)
def test_an_unknown_cost_is_never_nothing(usage: Usage, said: str) -> None:
    assert spent(usage) == said


@pytest.mark.parametrize(
    ("score", "low", "high", "written", "called"),
    [
        (0.5, 0.46, 0.54, "± 0.04", "stable"),
        (0.5, 0.45, 0.55, "± 0.05", "wide"),
        (0.98, 0.9, 1.0, "(0.90 to 1.00)", "wide"),
        (0.98, 0.91, 1.0, "(0.91 to 1.00)", "stable"),  # the longer arm is 0.07, half the width 0.045
        (0.5, None, None, "", ""),
        (None, 0.1, 0.2, "", ""),
    ],
)
def test_an_interval_is_written_as_it_lies(
    score: float | None, low: float | None, high: float | None, written: str, called: str
) -> None:
    assert spread(score, low, high) == written
    assert breadth(score, low, high) == called


def test_models_are_counted_once_for_a_run() -> None:
    layers = [judged.a_layer((judged.SONNET, judged.HAIKU)), judged.a_layer((judged.SONNET, judged.HAIKU))]
    assert who(layers) == f"{judged.SONNET}, {judged.HAIKU}"


def test_a_report_without_a_judge_says_nothing_of_one() -> None:
    report = a_report(a_skill())
    assert "quick depth measures 80 % of the weight (judge and simulations not run)" in text_of(report)
    assert "judge" not in markdown.render_score(report).lower()


# --- answers that no model gave ---


@pytest.mark.parametrize("name", ["text", "verbose", "check", "markdown", "explain"])
def test_answers_of_a_script_are_said_to_be_that_before_anything_else(name: str) -> None:
    writes: dict[str, Callable[[Report], str]] = {
        "text": lambda report: render_score(report, Style()),
        "verbose": lambda report: render_score(report, Style(), verbose=True),
        "check": lambda report: render_check(report, Style()),
        "markdown": markdown.render_score,
        "explain": lambda report: explain(report, "one", "output_quality"),
    }
    first = writes[name](judged.scripted()).lstrip("> *⚠️")
    assert first.startswith(f"{SCRIPTED} (provider scripted)")
    assert "says nothing of it" in flat(first)
    assert SCRIPTED not in writes[name](judged.three_judges())


# --- nothing that a model or a skill says is obeyed ---


def is_inert(text: str) -> bool:
    shown = {character for character in text if unicodedata.category(character) in _HIDDEN} - set(
        "\n\u200b\u200c\u200d"
    )
    return not shown and not any(line.lstrip().startswith("::") or "##[" in line for line in text.splitlines())


@pytest.mark.parametrize("verbose", [False, True])
@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_no_text_of_a_model_does_anything_at_a_terminal(text: str, *, verbose: bool) -> None:
    for width in (60, 100):
        written = render_score(judged.hostile(text), Style(width=width), verbose=verbose)
        assert is_inert(written)
        assert len(written) < 60_000
        body = written.splitlines()
        assert all(columns(line) <= width + 2 for line in body if line.startswith(" " * 11))


@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_no_text_of_a_model_is_markup(text: str) -> None:
    written = markdown.render_score(judged.hostile(text))
    page = read(written)
    assert unbalanced(reader().render(written)) == []
    assert set(page.html) <= OURS
    assert [address for address in page.addresses if not address.startswith(rule_url(""))] == []
    assert [found for told in page.texts if (found := LIVE.search(told))] == []
    assert all(len(set(cells)) == 1 for cells in page.rows)
    assert not page.kinds & {"image", "hr", "fence", "code_block", "s_open", "hardbreak"}
    assert len(written) < 100_000


def test_a_summary_counts_what_has_no_score() -> None:
    report = judged.could_not_be_judged()
    assert report.summary == summarise(report.results)
    assert report.summary.by_badge["none"] == 1


def test_a_calibration_set_that_says_too_little_corrects_nothing() -> None:
    item = Assessment(0.5, ratings=(5,), corrected=Estimate(None, reason="3 labels"), ci_reason=judged.ONE_JUDGE)
    layer = judged.a_layer(("m",), assessments={judged.QUALITY: item})
    text = text_of(judged.a_judged_report(judged.a_judged_skill(layer)), verbose=True)
    assert "not corrected by the calibration set: 3 labels" in text
