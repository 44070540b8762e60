"""The page of a judged report: what the judges said, where, how sure it is; inert whatever they were made to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings

from skillgate.model.report import Composite
from skillgate.report.html import page, render_score
from skillgate.report.html_charts import whisker
from skillgate.report.html_shell import LIMIT
from skillgate.report.judge_page import method
from skillgate.report.judge_words import SCRIPTED
from tests.browser import Browser
from tests.report import judged
from tests.report.pages import EVIL, HEAD, REPOSITORY, RUN_URL, a_run, taken_apart
from tests.report.test_judged import FROM, TEXTS

if TYPE_CHECKING:
    from pathlib import Path


def test_every_judged_dimension_has_score_interval_ratings_and_reasons() -> None:
    seen = taken_apart(render_score(judged.calibrated())).text
    assert "Output quality 0.5333 ± 0.14 wide 5, 5 and 6 of 10" in seen
    assert "Judge 2: The steps never say what a failed import returns." in seen
    assert "2 quotations were not in the text and are left out" in seen
    assert "People would give 0.61 ± 0.13, from 40 labelled cases" in seen
    assert "Robustness the model refused — — —" in seen


def test_a_quotation_leads_to_its_line_at_the_commit() -> None:
    text = page(report=judged.three_judges(), run=a_run(), repository_url=REPOSITORY, run_url=RUN_URL)
    assert f'href="{REPOSITORY}/blob/{HEAD}/skills/one/SKILL.md?plain=1#L88"' in text
    taken_apart(text, REPOSITORY)
    untrusted = page(report=judged.three_judges(), run=a_run(), repository_url=REPOSITORY, trusted=False)
    assert f"{REPOSITORY}/blob/" not in untrusted


def test_trigger_prompts_are_marked_and_the_rates_stand_above() -> None:
    seen = taken_apart(render_score(judged.three_judges())).text
    assert "recall 0.67 (0.30 to 0.93)" in seen
    assert "✗ My spreadsheet is too slow indirect near miss not for it 1 of 3 load it" in seen
    assert "✓ Import this CSV file into the orders table direct for it 3 of 3 load it" in seen


def test_it_says_who_judged_how_far_they_agree_and_what_it_cost() -> None:
    seen = taken_apart(render_score(judged.three_judges())).text
    assert "Judges claude-sonnet-5-5 ×3" in seen
    assert "kappa 0.71 over 84 ratings, equal in 62 %" in seen
    assert "Asked 4 calls, 14 answers from cache, $0.03" in seen
    assert "72.50 ± 6.10, wide" in seen


def test_a_skill_that_was_not_judged_is_a_dash_with_its_reason() -> None:
    seen = taken_apart(render_score(judged.could_not_be_judged())).text
    assert "No score: not judged: the provider anthropic has no key" in seen
    assert "skills/silent —" in seen


def test_what_was_let_through_is_said_with_the_verdict() -> None:
    run = a_run("x", result="pass", reasons=(), exit_code=0)
    seen = taken_apart(page(report=judged.could_not_be_judged(), run=run, repository_url=REPOSITORY), REPOSITORY).text
    assert "1 of 2 skills not judged, let through by on-unmeasured: pass (the provider anthropic has no key)" in seen
    failed = page(report=judged.could_not_be_judged(), run=a_run("x"), repository_url=REPOSITORY)
    assert "let through" not in failed


def test_answers_of_a_script_are_the_first_thing_on_the_page_and_in_its_title() -> None:
    seen = taken_apart(render_score(judged.scripted())).text
    assert seen.startswith("Scripted answers · ")
    assert seen.index(SCRIPTED) < seen.index("In detail")
    assert SCRIPTED not in render_score(judged.three_judges())


def test_remarks_stand_as_notes() -> None:
    seen = taken_apart(render_score(judged.cut_and_swayed())).text
    assert "“Every dialect” (lines 120 to 900)" in seen
    assert "answers obeyed the skill's text" in seen
    assert "+0.20" in seen


def test_a_drop_that_may_be_chance_stands_with_the_verdict_and_with_the_skill() -> None:
    seen = taken_apart(render_score(judged.fell_by_chance())).text
    assert seen.index(f"skills/one: {judged.BY_CHANCE}") < seen.index("Each skill")
    assert seen.count("nconclusive: it went 76.50 → 72.50") == 2
    assert "With 19 paired answers (p = 0.21) this gate would flip on identical input in 4 % of runs" in seen
    assert "nconclusive" not in taken_apart(render_score(judged.three_judges())).text


def test_a_calibration_and_its_warning_are_shown() -> None:
    seen = taken_apart(render_score(judged.people_disagree())).text
    assert seen.index("eople do not bear this judge out: kappa −0.12") < seen.index("In detail")
    assert "Calibration judge and people over 40 ratings of 12 skills: kappa −0.12" in seen
    assert seen.count("bear this judge out") == 1
    agreed = taken_apart(render_score(judged.people_agree())).text
    assert "acceptable to people 0.64 ± 0.14" in agreed
    assert "bear this judge out" not in agreed
    assert "Calibration" not in taken_apart(render_score(judged.three_judges())).text


def test_how_far_judges_agree_is_one_row() -> None:
    names = [name for name, _ in method(judged.three_judges())]
    assert names == ["Judges", "Agreement", "Asked"]
    told = dict(method(judged.three_judges()))["Agreement"]
    assert told.startswith("3 opinions, kappa 0.71 over 84 ratings, equal in 62 %. Further: 95 % interval of kappa")


def test_a_wide_triggering_accuracy_names_its_prompts() -> None:
    assert FROM in taken_apart(render_score(judged.three_judges())).text


def test_where_a_judge_is_missing_reasons_have_no_numbers() -> None:
    seen = taken_apart(render_score(judged.one_judge_is_missing())).text
    assert "Said the first that answered. Said the last." in seen
    assert "2 of 3 judges answered" in seen
    assert "Judge 2: Said" not in seen


def test_a_reason_that_the_skill_has_is_said_once() -> None:
    seen = taken_apart(render_score(judged.nothing_was_judged())).text
    assert seen.count("not judged: see the reason") == 1


def test_a_whisker_stays_within_its_chart() -> None:
    drawn = whisker(0.5, 0.25, 0.75)
    assert drawn is not None
    assert (drawn.at, drawn.low, drawn.high, drawn.width) == (50.0, 25.0, 75.0, 50.0)
    alone = whisker(0.5, None, None)
    assert alone is not None
    assert alone.width == 0.0
    beyond = whisker(2.0, -1.0, 3.0)
    assert beyond is not None
    assert (beyond.at, beyond.low, beyond.high) == (100.0, 0.0, 100.0)
    assert whisker(None, None, None) is None


@settings(max_examples=40, deadline=None)
@given(text=TEXTS)
def test_whatever_a_model_says_is_text(text: str) -> None:
    written = render_score(judged.hostile(text))
    taken_apart(written)
    assert len(written) < 200_000


def test_a_page_of_many_judged_skills_stays_within_its_limit() -> None:
    layer = judged.a_layer()
    long = judged.an_assessment(reasoning=("word " * 4_000,) * 9, ratings=(5,) * 9)
    talkative = layer._replace(assessments=dict.fromkeys(layer.assessments, long))
    skills = [judged.a_judged_skill(talkative, f"skills/{number}") for number in range(150)]
    text = render_score(judged.a_judged_report(*skills))
    assert len(text.encode()) <= LIMIT
    assert "more skills in the JSON report" in taken_apart(text).text


def test_on_a_narrow_page_a_missing_badge_and_the_findings_stand_apart(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    plain = judged.a_judged_skill(composite=Composite(40.0, None))
    file.write_text(render_score(judged.a_judged_report(plain, judged.a_judged_skill(path="b"))), encoding="utf-8")
    apart = """(() => {
      const boxes = [...document.querySelectorAll('.skill > summary > *')].map(each => each.getBoundingClientRect())
      const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
      const pairs = boxes.flatMap((a, i) => boxes.slice(i + 1).map(b => [a, b]))
      return [boxes.length, pairs.filter(([a, b]) => over(a, b)).length]
    })()"""
    for width in (360, 390, 1280):
        browser.screen(width)
        browser.open(file.as_uri())
        assert browser.run(apart) == [8, 0]


def test_a_browser_runs_and_asks_for_nothing(browser: Browser, tmp_path: Path) -> None:
    pages = {f"evil-{index}": render_score(judged.hostile(text)) for index, text in enumerate(EVIL)}
    pages["plain"] = render_score(judged.scripted())
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
