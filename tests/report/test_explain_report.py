"""Why a skill has the score it has: shares, evidence, reasons, places; and nothing in it is obeyed."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given, settings

from skillgate.errors import UsageError
from skillgate.format import Style
from skillgate.model.report import Report
from skillgate.model.score import Dimension
from skillgate.model.single_report import SingleReport
from skillgate.report.explain_report import explain
from tests.github.rendered import LIVE, read, reader, unbalanced
from tests.report import judged
from tests.report.reports import a_report
from tests.report.test_judged import FROM, TEXTS, is_inert


def bands(dimension: Dimension) -> tuple[tuple[float, float, str], ...]:
    return tuple((low / 100, low / 100 + 0.19, f"{dimension.value} from {low}") for low in (0, 20, 40, 60, 80))


def single(report: Report) -> SingleReport:
    names = {field.name for field in fields(SingleReport)}
    result = report.results[0]._asdict()
    header = {name: getattr(report, name) for name in ("depth", "coverage", "config_digest", "tool", "models")}
    return SingleReport(**{key: value for key, value in {**result, **header}.items() if key in names})


def test_each_layer_stands_with_its_share_of_the_blend() -> None:
    text = explain(judged.three_judges(), "one", "triggering_accuracy")
    assert "Score **0.7513** (0.61 to 0.87), wide, grade C, weight 25 % of the composite." in text
    assert "| static | 0.8200 | 38 % |" in text  # 15 of 15 + 25
    assert "| judge | 0.7100 | 62 % |" in text
    assert "| montecarlo | — | not measured; 60 % where all layers are |" in text


def test_static_evidence_stands_with_points_and_lines() -> None:
    text = explain(judged.three_judges(), "one", "triggering_accuracy")
    assert "- **0.15 / 0.15** name `skills/one/SKILL.md:2`" in text
    assert "- **0.00 / 0.09** no sign of “proactively” `skills/one/SKILL.md:3`" in text


def test_every_judge_is_heard_and_every_quotation_has_its_place() -> None:
    text = explain(judged.calibrated(), "skills/one", "output-quality", anchors=bands)
    assert "ratings 5, 5 and 6 of 10" in text
    assert all(f"- **judge {number}** The steps never say" in text for number in (1, 2, 3))
    assert "- **judge 2** “just retry until it works” `SKILL.md:88`" in text
    assert "- see first what the judges quote: `skills/one/SKILL.md:88`" in text
    assert "2 quotations left out, not in the text" in text
    assert "people would give 0.61 ± 0.13" in text


def test_the_band_of_the_judged_score_is_marked() -> None:
    text = explain(judged.three_judges(), "one", "output_quality", anchors=bands)
    assert "| → | 0.40 | 0.59 | output\\_quality from 40 |" in text
    assert text.count("→") == 1
    assert "What the scores mean to a judge" not in explain(judged.three_judges(), "one", "output_quality")


def test_prompts_stand_with_what_each_judge_predicts() -> None:
    text = explain(judged.three_judges(), "one", "triggering_accuracy")
    assert "| **missed** | yes, no, no | indirect near miss | My spreadsheet is too slow |" in text
    assert "recall 0.67 (0.30 to 0.93), n = 6" in text
    assert "`skills/one/SKILL.md:3` say when to use it (**+11.8**, low effort, +11.8 per hour)" in text


def test_a_wide_triggering_accuracy_names_its_prompts() -> None:
    text = explain(judged.three_judges(), "one", "triggering_accuracy").replace("\\", "")
    assert f"- triggering_accuracy 0.7513 (0.61 to 0.87), {FROM}" in text
    assert FROM not in explain(judged.three_judges(), "one", "output_quality").replace("\\", "")


def test_for_a_terminal_nothing_is_escaped_and_no_rule_is_drawn() -> None:
    text = explain(judged.calibrated(), "one", "triggering_accuracy", anchors=bands, markdown=False)
    assert text.startswith("skills/one: triggering_accuracy\n")
    assert "\nStatic: frontmatter_quality\n" in text
    assert "→  0.60  0.79  triggering_accuracy from 60" in text
    assert "Score 0.7513 (0.61 to 0.87)" in text
    assert "- skills/one/SKILL.md:3 say when to use it (+11.8, low effort, +11.8 per hour)" in text
    assert not set("\\`*#|") & set(text)
    narrow = explain(judged.calibrated(), "one", "output_quality", markdown=False, style=Style(width=60))
    assert all(len(line) <= 60 for line in narrow.splitlines())
    assert "\u200b" not in text


@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_for_a_terminal_nothing_that_a_model_says_is_obeyed(text: str) -> None:
    report = judged.hostile(text)
    for dimension in ("output_quality", "triggering_accuracy", "robustness"):
        assert is_inert(explain(report, "skills/one", dimension, anchors=bands, markdown=False))


def test_one_judge_says_why_there_is_no_interval() -> None:
    text = explain(judged.one_judge(), "one", "output_quality")
    assert f"No interval: {judged.ONE_JUDGE}." in text
    assert f"0.5333; no interval: {judged.ONE_JUDGE}; ratings 5 of 10" in text


@pytest.mark.parametrize(("skill", "dimension"), [("silent", "output_quality"), ("one", "robustness")])
def test_what_was_not_judged_has_its_reason_and_no_number(skill: str, dimension: str) -> None:
    text = explain(judged.could_not_be_judged(), skill, dimension, anchors=bands)
    assert "Score —" in text
    assert "Not judged: " in text
    assert "→" not in text
    assert "| judge | — | not measured" in text


def test_a_quick_report_is_explained_by_its_static_layer_alone() -> None:
    result = judged.a_judged_skill()
    text = explain(a_report(result._replace(layers=result.layers[:1])), "one", "triggering_accuracy")
    assert "| static | 0.8200 | 100 % |" in text
    assert "### Judge" not in text


def test_a_report_of_one_skill_is_explained_likewise() -> None:
    report = judged.three_judges()
    assert explain(single(report), "one", "robustness") == explain(report, "one", "robustness")


def test_a_skill_is_found_by_path_before_name_and_must_be_one() -> None:
    report = judged.a_judged_report(judged.a_judged_skill(path="a/one"), judged.a_judged_skill(path="b/one"))
    assert explain(report, "b/one/", "robustness").startswith("## `b/one`: robustness")
    with pytest.raises(UsageError, match="2 skills of the report are called 'one'; name one by its path: a/one, b/one"):
        explain(report, "one", "robustness")


@pytest.mark.parametrize(
    ("skill", "dimension", "said"),
    [
        ("onee", "robustness", r"no skill 'onee' \(did you mean 'one'\?\)"),
        ("xyz", "robustness", "no skill 'xyz': it holds skills/one, one"),
        ("one", "robustnes", r"no dimension 'robustnes' \(did you mean 'robustness'\?\)"),
        ("one", "zzz", "the dimensions are triggering_accuracy"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(skill: str, dimension: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        explain(judged.three_judges(), skill, dimension)


@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_nothing_that_a_model_says_is_live(text: str) -> None:
    report = judged.hostile(text)
    for dimension in ("output_quality", "triggering_accuracy", "robustness"):
        written = explain(report, "skills/one", dimension, anchors=bands)
        page = read(written)
        assert unbalanced(reader().render(written)) == []
        assert set(page.html) <= {"<br>"}
        assert page.addresses == ()
        assert [found for told in page.texts if (found := LIVE.search(told))] == []
        assert all(len(set(cells)) == 1 for cells in page.rows)
        assert not page.kinds & {"image", "hr", "fence", "code_block", "s_open", "hardbreak"}
