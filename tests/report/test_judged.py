"""What people read of a judge: what it adds, how sure it is, what it cost, and what weakens it."""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.format import Style
from skillgate.model.finding import rule_url
from skillgate.model.layers import Assessment, DropTest, Estimate, TriggerPrompt, Usage
from skillgate.model.report import GateOutcome, Verdict
from skillgate.model.score import Outcome
from skillgate.report import judge
from skillgate.report.explain_report import explain
from skillgate.report.formats.text import columns
from skillgate.report.judge_compared import answers_warning
from skillgate.report.links import Links
from skillgate.report.numbers import breadth, spread
from skillgate.report.rendering import render
from skillgate.report.view import Fold, Items, plain
from tests.browser import Browser
from tests.github.rendered import LIVE, OURS, read, reader, unbalanced
from tests.report import judged
from tests.report.pages import EVIL, taken_apart
from tests.report.reports import HOSTILE, a_report, a_skill, hostile_text
from tests.report.simulated import WRITERS, blocks, brief, certified, view, whole
from tests.report.tree import dump, matches_golden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from skillgate.model.report import Report
    from skillgate.report.view import Block

HAZARDS = (*HOSTILE, *EVIL, "@octocat", "| a | b |", "</details>", "# x\n\n- y", "x" * 9_000, "`", "1. x", "")
TEXTS = st.one_of(hostile_text(), st.sampled_from(HAZARDS))
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
FROM = (
    "wide: because of indirect “The numbers from accounting do not load any more” (2 of 3 judges wrong),"
    " indirect near miss “My spreadsheet is too slow” (1 of 3 judges wrong)"
)


def flat(text: str) -> str:
    return " ".join(text.split())


def said(report: Report, kind: str = "brief") -> str:
    """Write what is said, without the escapes of Markdown."""
    text = WRITERS[kind](report)
    return flat(
        taken_apart(text).text.replace(" :", ":") if kind == "html" else text.replace("\\", "").replace("`", "")
    )


def situations(reports: Mapping[str, Callable[[], Report]], first: str) -> str:
    """Write the tree of one situation, and of each other the lines that differ from it."""
    trees = {name: dump(view(make())) for name, make in reports.items()}
    parts = [f"# {first}\n{trees[first]}"]
    for name in reports:
        lines = difflib.unified_diff(trees[first].splitlines(), trees[name].splitlines(), n=0, lineterm="")
        differing = [line for line in lines if not line.startswith(("@@", "---", "+++"))]
        parts += [] if name == first else ["\n".join((f"# {name}", *differing, ""))]
    return "\n".join(parts)


def folds(found: tuple[Block, ...]) -> Iterator[Fold]:
    for block in found:
        if isinstance(block, Fold):
            yield block
            yield from folds(block.blocks)


def test_every_situation_is_as_it_was_looked_at() -> None:
    assert matches_golden("judged.tree", situations(judged.REPORTS, "three-judges"))


# --- what it says ---


@pytest.mark.parametrize("kind", WRITERS)
def test_the_lowest_dimension_has_its_first_reason_and_a_place_to_look(kind: str) -> None:
    text = said(judged.three_judges(), kind)
    assert "output_quality 0.5333 ± 0.14, wide: The steps never say what a failed import returns." in text
    assert "“just retry until it works” SKILL.md:88" in text
    assert ("Judge 2 would not know" in text) is (kind != "brief")
    assert f"triggering_accuracy 0.7513 (0.61 to 0.87), {FROM}" in text


def test_a_place_leads_to_the_file_at_the_commit() -> None:
    links = Links("https://github.com/o/r", commit="a" * 40)
    found = judge.skill_blocks(judged.a_judged_skill(), links)
    urls = re.findall("https://[^›]+", "".join(map(dump, found)))
    assert set(urls) == {f"https://github.com/o/r/blob/{'a' * 40}/skills/one/SKILL.md?plain=1#L88"}
    assert len(urls) == 3
    assert "https" not in "".join(map(dump, judge.skill_blocks(judged.a_judged_skill(), links._replace(trusted=False))))


RIGHT = tuple(prompt for prompt in judged.PROMPTS if prompt.predicted == (prompt.should_trigger,) * 3)
WRONG = tuple(TriggerPrompt(f"prompt {n}", True, "direct", (n < 3, n < 3, False)) for n in range(6))


@pytest.mark.parametrize(
    ("prompts", "found", "end"),
    [
        (WRONG, ["prompt 3", "prompt 4", "prompt 5"], " and 3 more"),
        (RIGHT, [], "no prompt is missed, but there are only 2 (1 direct, 1 direct near miss)"),
    ],
)
def test_at_most_three_prompts_are_named_those_of_most_judges_first(
    prompts: tuple[TriggerPrompt, ...], found: list[str], end: str
) -> None:
    wide = judge.wide_by(judged.a_judged_skill(judged.a_layer(triggering=judged.a_triggering(prompts=prompts))))
    assert re.findall(r"prompt \d", wide) == found
    assert wide.endswith(end)


def test_a_stable_triggering_accuracy_names_no_prompt() -> None:
    layer = judged.a_layer()
    stable = layer.assessments[judged.TRIGGERING]._replace(ci_low=0.7, ci_high=0.72)
    skill = judged.a_judged_skill(layer._replace(assessments={**layer.assessments, judged.TRIGGERING: stable}))
    found = skill.dimensions[judged.TRIGGERING]._replace(ci_low=0.74, ci_high=0.76)
    assert judge.wide_by(skill._replace(dimensions={**skill.dimensions, judged.TRIGGERING: found})) == ""


def test_a_judge_that_has_nothing_to_add_takes_one_line() -> None:
    good = {judged.QUALITY: judged.an_assessment(0.9, (9, 9, 9))}
    skill = judged.a_judged_skill(judged.a_layer()._replace(assessments=good, triggering=None))
    skill = skill._replace(composite=skill.composite._replace(ci_low=71.0, ci_high=74.0))
    first = brief(judged.a_judged_report(skill)).partition("Judge\n")[2]
    assert first.splitlines() == ["  - score 72.50 ± 1.50, stable"]


def test_reasons_quotations_and_ratings_of_every_judge_are_there_when_asked_for() -> None:
    text = said(judged.calibrated(), "whole")
    assert all(f"judge {number} The steps never say" in text for number in (1, 2, 3))
    assert "ratings 5, 5 and 6 of 10" in text
    assert "people would give 0.61 ± 0.13, from 40 labelled cases" in text
    assert "2 quotations left out, not in the text" in text
    assert "missed no, no, yes indirect The numbers from accounting" in text
    assert all(fold.quiet for fold in folds(blocks(judged.a_judged_skill())) if plain(fold.summary) != "Judge")


def test_where_a_judge_is_missing_reasons_have_no_numbers() -> None:
    report = judged.one_judge_is_missing()
    for text in (said(report, "whole"), flat(explain(report, "one", "output_quality"))):
        assert "2 of 3 judges answered" in text
        assert "Said the first that answered. " in text
        assert not re.search(r"judge \d\**\s+Said", text)
    assert "judges answered" not in said(judged.three_judges(), "whole")
    assert "5 and 6 of 10, 2 of 3 judges answered" in said(report, "markdown")


@pytest.mark.parametrize("kind", WRITERS)
def test_what_was_cut_obeyed_or_swayed_is_reported(kind: str) -> None:
    text = said(judged.cut_and_swayed(), kind)
    assert "references/dialects.md “Every dialect” (lines 120 to 900)" in text
    assert "references/logo.png" in text
    assert "2 answers obeyed the skill's text" in text
    assert "output_quality by +0.20; the lower score counts" in text
    assert "orchestration_fitness by −0.10" in text


# --- what is missing ---


def test_what_was_not_judged_has_its_reason_once_and_no_number() -> None:
    text = said(judged.could_not_be_judged())
    assert "1 of 2 skills not judged" in text
    assert judged.NO_KEY not in text  # it is the reason why there is no score, which the skill's part shows
    partly = judged.a_judged_skill(judged.a_layer(reason="not judged: the budget is spent"))
    assert "not completely judged: the budget is spent" in said(judged.a_judged_report(partly))
    whole_text = said(judged.three_judges(), "whole")
    assert re.search(r"robustness — the model refused", whole_text)
    assert "robustness 0" not in whole_text


def test_one_judge_has_neither_interval_nor_agreement() -> None:
    for kind in WRITERS:
        text = said(judged.one_judge(), kind)
        assert "one judge: no interval and no agreement; --judges 3 gives both" in text.replace(
            "One judge", "one judge"
        )
        assert "±" not in text
        assert "kappa" not in text
    assert said(judged.one_judge()).count(judged.ONE_JUDGE) == 1


def test_a_calibration_set_with_too_few_labels_corrects_nothing() -> None:
    item = Assessment(0.5, ratings=(5,), corrected=Estimate(None, reason="3 labels"), ci_reason=judged.ONE_JUDGE)
    layer = judged.a_layer(("m",), assessments={judged.QUALITY: item})
    text = said(judged.a_judged_report(judged.a_judged_skill(layer)), "whole")
    assert "not corrected by the calibration set: 3 labels" in text


# --- drops that may be chance ---


@pytest.mark.parametrize("kind", WRITERS)
def test_a_drop_that_passes_as_chance_is_a_note(kind: str) -> None:
    text = said(judged.fell_by_chance(), kind)
    assert f"skills/one: {judged.BY_CHANCE}" in text
    assert text.count("inconclusive") == 1
    assert "inconclusive" not in said(judged.three_judges(), kind)


@pytest.mark.parametrize(
    ("outcomes", "passed", "found"),
    [
        ([("regression", Outcome.PASS, judged.BY_CHANCE.removeprefix("inconclusive: "))], True, judged.BY_CHANCE),
        ([("regression", Outcome.INCONCLUSIVE, judged.BY_CHANCE)], None, judged.BY_CHANCE),
        ([("regression", Outcome.INCONCLUSIVE, judged.BY_CHANCE)], False, ""),  # it is a reason of the gate
        (
            [
                ("regression", Outcome.PASS, "76.50 → 76.00, allowed drop 2"),
                ("threshold", Outcome.PASS, "score 72.50 reaches 70 (inconclusive: 66.4 to 78.6)"),
            ],
            True,
            "",
        ),
    ],
)
def test_only_a_drop_that_fails_nothing_is_in_doubt(
    outcomes: list[tuple[str, Outcome, str]], found: str, *, passed: bool | None
) -> None:
    gate = Verdict(passed=passed, outcomes=tuple(GateOutcome(*one) for one in outcomes))
    assert judge.inconclusive(judged.a_judged_skill(gate=gate)) == found


@pytest.mark.parametrize(
    ("test", "found"),
    [
        (
            judged.DROP,
            "with 19 paired answers (p = 0.21) this gate would flip on identical input in 4 % of runs;"
            " the smallest drop it detects is 9 points",
        ),
        (judged.DROP._replace(p=0.05), "with 19 paired answers (p = 0.05) this gate would flip on identical input"),
        (judged.DROP._replace(flip_rate=0.001), "in under 1 % of runs"),
        (judged.DROP._replace(flip_rate=0.0), "in 0 % of runs"),
        (judged.DROP._replace(smallest_detectable=None), "too few of them differ to detect any drop"),
        (DropTest(0.0, units=19), "none of 19 paired answers differs: the change is exact"),
        (DropTest(1.0, reason="judges differ: 1 before, 3 after"), "not compared answer by answer: judges differ"),
    ],
)
def test_a_comparison_reports_answers_chance_flips_and_what_it_detects(test: DropTest, found: str) -> None:
    assert found in judge.drop_in_words(test)
    assert found in said(judged.a_judged_report(judged.a_fallen_skill(test=test)))
    if test.p == 0.05:  # what it detects does not matter for a drop that is real
        assert "smallest" not in judge.drop_in_words(test)


# --- who, how far they agree, what it cost ---


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (judged.three_judges, "judge claude-sonnet-5-5 ×3 · kappa 0.71 over 84 ratings, equal in 62 % · 4 calls, 14"),
        (judged.three_judges, "95 % interval of kappa 0.58 to 0.81; at most one step apart in 93 %; ICC(2,1) 0.68"),
        (judged.calibrated, "no kappa (12 ratings, 40 are needed), equal in 50 %"),
        (judged.price_unknown, "judge claude-sonnet-5-5, house-model ×2"),
        (
            judged.people_agree,
            "judge and people over 40 ratings of 12 skills: kappa 0.62 (0.42 to 0.80), sensitivity 0.90 (0.70 to 0.98),"
            " specificity 0.71 (0.50 to 0.86), acceptable to people 0.64 ± 0.14",
        ),
    ],
)
def test_a_report_says_who_judged_and_how_far_that_is_confirmed(make: Callable[[], Report], found: str) -> None:
    assert all(found in said(make(), kind) for kind in ("whole", "markdown", "html"))


@pytest.mark.parametrize(
    ("kappa", "acceptable", "warned"),
    [(0.01, 0.5, False), (0.0, 0.5, True), (-0.3, 0.5, True), (0.6, None, True), (None, 0.5, False)],
)
def test_no_kappa_is_no_reason_to_warn_and_none_above_chance_is(
    kappa: float | None, acceptable: float | None, *, warned: bool
) -> None:
    report = judged.a_judged_report(calibration=judged.a_trust(kappa, acceptable))
    assert all(("eople do not confirm this judge: " in said(report, kind)) is warned for kind in WRITERS)
    assert judge.distrust(None) == judge.trusted(None) == ""


@pytest.mark.parametrize(
    ("usage", "found"),
    [
        (Usage(calls=18, cached=0, cost_usd=1.5), "18 calls, $1.50"),
        (Usage(calls=1, cached=1, cost_usd=0.0021), "1 call, 1 answer from cache, $0.0021"),
        (Usage(cached=18), "0 calls, 18 answers from cache, $0.00"),
        (Usage(calls=2, cost_usd=None, cost_reason="no price for x"), "2 calls, cost unknown (no price for x)"),
        (Usage(calls=2, retries=3, cost_usd=0.01), "2 calls, 3 sent again, $0.01"),
    ],
)
def test_an_unknown_cost_is_never_nothing(usage: Usage, found: str) -> None:
    assert judge.spent(usage) == found


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
    assert (spread(score, low, high), breadth(score, low, high)) == (written, called)


def test_models_are_counted_once_for_a_run() -> None:
    layers = [judged.a_layer((judged.SONNET, judged.HAIKU)), judged.a_layer((judged.SONNET, judged.HAIKU))]
    assert judge.who(layers) == f"{judged.SONNET}, {judged.HAIKU}"


def test_a_report_without_a_judge_says_nothing_of_one() -> None:
    report = a_report(a_skill())
    assert (*judge.notes(report), *judge.about(report), *judge.facts(report), *judge.allowed(report.results)) == ()
    assert judge.skill_blocks(report.results[0]) == ()
    assert answers_warning(report.results) == ""


def test_a_run_that_passes_says_which_skills_it_did_not_judge() -> None:
    (text,) = judge.allowed(judged.could_not_be_judged().results)
    assert text.startswith("1 of 2 skills not judged, allowed by on-unmeasured: pass (the provider anthropic has no")


# --- answers that no model gave ---


@pytest.mark.parametrize("form", ["text", "markdown", "html", "check", "explain"])
def test_answers_of_a_script_are_reported_before_any_number(form: str) -> None:
    def written(report: Report) -> str:
        if form == "explain":
            return explain(report, "one", "output_quality", markdown=False)
        text = render(report, "check" if form == "check" else "score", "text" if form == "check" else form, Style())
        return taken_apart(text).text if form == "html" else text

    text = flat(written(judged.scripted()))
    before, _, after = text.partition("SCRIPTED OR REPLAYED ANSWERS (provider scripted)")
    assert "say nothing about it" in after
    assert form == "check" or not re.search(r"\d\.\d", before)
    assert "SCRIPTED" not in written(judged.three_judges())


# --- nothing that a model or a skill says is obeyed ---


def is_inert(text: str) -> bool:
    shown = {character for character in text if unicodedata.category(character) in _HIDDEN}
    lines = text.splitlines()
    return shown <= set("\n\u200b\u200c\u200d") and not any(
        line.lstrip().startswith("::") or "##[" in line for line in lines
    )


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, width=st.sampled_from([60, 100]))
def test_no_text_of_a_model_does_anything_at_a_terminal(text: str, width: int) -> None:
    for written in (brief(judged.hostile(text), width), whole(judged.hostile(text), width)):
        assert is_inert(written)
        assert len(written) < 60_000
        assert all(columns(line) <= width + 2 for line in written.splitlines())


@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_no_text_of_a_model_is_markup(text: str) -> None:
    written = WRITERS["markdown"](judged.hostile(text))
    page = read(written)
    assert unbalanced(reader().render(written)) == []
    assert set(page.html) <= OURS | {"<br>"}
    assert [address for address in page.addresses if not address.startswith(rule_url("X")[:-1])] == []
    assert [found for told in page.texts if (found := LIVE.search(told))] == []
    assert all(len(set(cells)) == 1 for cells in page.rows)
    assert not page.kinds & {"image", "hr", "fence", "code_block", "s_open", "hardbreak"}
    assert len(written) < 100_000


@settings(max_examples=20, deadline=None)
@given(text=TEXTS)
def test_no_text_of_a_model_does_anything_in_a_page(text: str) -> None:
    page = taken_apart(WRITERS["html"](judged.hostile(text)))  # raises on markup or an address that is not ours
    assert "Scores of the judge alone" in page.text


def test_a_browser_runs_nothing_and_requests_nothing(browser: Browser, tmp_path: Path) -> None:
    pages = {f"evil-{index}": WRITERS["html"](judged.hostile(text)) for index, text in enumerate(EVIL)}
    pages["plain"] = WRITERS["html"](certified())
    for name, text in pages.items():
        file = tmp_path / f"{name}.html"
        file.write_text(text, encoding="utf-8")
        for width in (360, 1280):
            browser.screen(width)
            browser.open(file.as_uri())
            browser.run("document.querySelectorAll('details').forEach(each => { each.open = true })")
            assert browser.run("window.owned") is None
            assert browser.seen.requests == [file.as_uri()]
            assert browser.seen.problems == []
            overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert browser.run(overflow) <= 0


def test_nothing_is_left_out_of_a_list_without_saying_so() -> None:
    many = tuple(TriggerPrompt(f"prompt {number}", True, "direct", (False,)) for number in range(400))
    report = judged.a_judged_report(judged.a_judged_skill(judged.a_layer(triggering=judged.a_triggering(prompts=many))))
    assert "200 more prompts" in said(report, "markdown")
    assert "prompt 399" in said(report, "whole")
    lists = [block for fold in folds(blocks(report.results[0])) for block in fold.blocks if isinstance(block, Items)]
    assert all(len(one.items) <= one.most for one in lists)
