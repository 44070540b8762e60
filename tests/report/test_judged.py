"""What people read of a judge, as text and Markdown: what it adds, how sure it is, what it cost, and what it is not."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.model.judging import Assessment, Estimate, Usage
from skillgate.report import markdown
from skillgate.report.explain_report import explain
from skillgate.report.judge_words import SCRIPTED, breadth, spent, spread, who
from skillgate.report.terminal import Style, columns
from skillgate.report.text import render_check, render_score
from skillgate.scoring.summary import summarise
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


def test_a_wide_score_names_the_prompts_and_the_style_that_it_comes_from() -> None:
    text = text_of(judged.three_judges())
    assert "72.50 ± 6.10, wide; 2 of 4 trigger prompts missed: 1 indirect, 1 indirect near miss" in text
    assert "“The numbers from accounting do not load any more”" in text


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
    assert "output_quality by +0.20" in text
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


def _is_inert(text: str) -> bool:
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
        assert _is_inert(written)
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
    assert [address for address in page.addresses if "example.com/rules" not in address] == []
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
