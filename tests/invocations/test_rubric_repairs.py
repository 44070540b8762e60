"""What was wrong with the rubric, R1 to R17 and R22, case by case: what it gives to the letter, and corrected.

Each case changes the flawless record, which is worth 25, 20, 30 and 25 points by both versions.
"""

from __future__ import annotations

from typing import Any

import pytest

from skillgate.invocations.rubric import explainer, scorer
from skillgate.model.invocation import Accuracy, Component, Ending, Invocation, Tier
from tests.invocations.rubric_records import EMPTY, FLAWLESS

_COMPLETION, _EFFICIENCY, _QUALITY, _SATISFACTION = (component.value for component in Component)
_NO_CODE_SIGNALS = dict.fromkeys(("linter_passed", "types_valid", "tests_passed"))
_NO_USER = dict.fromkeys(("user_accepted", "user_used_output", "user_edit_ratio", "follow_up_count", "follow_up_open"))

_CASES = [
    # 200 × 40 insights beside 2,000 tokens is 8; 5 calls beside 3 is 6; 6 × 20 s ÷ 30 s is 4.
    pytest.param({"skill_category": "analysis"}, _EFFICIENCY, None, 18, id="R01-analysis"),
    pytest.param({"skill_category": "poetry"}, _EFFICIENCY, None, 18, id="R01-unknown category"),
    pytest.param({"skill_category": None}, _EFFICIENCY, None, 18, id="R01-no category"),
    # 150 × 40 beside 15,000 is 8 × 0.4 = 3.2; 4 calls beside 8 is 3; 45 s beside 90 s is 3.
    pytest.param(
        {"skill_category": "design", "tokens_used": 15_000, "tool_call_count": 8, "duration_ms": 90_000},
        _EFFICIENCY,
        None,
        9.2,
        id="R01-design",
    ),
    # 8 calls for each of 2 searches beside 32 is 3, whatever the number of files; 100 × 40 tokens are enough; 60 s
    # beside 120 s is 3.
    pytest.param(
        {"skill_category": "research", "tool_call_count": 32, "units": 2, "files_changed": 9, "duration_ms": 120_000},
        _EFFICIENCY,
        None,
        14,
        id="R02-calls by searches",
    ),
    # 5 × 1 beside 10 is 3; tokens 8, time 4.
    pytest.param({"skill_category": "analysis", "tool_call_count": 10}, _EFFICIENCY, None, 15, id="R02-one analysis"),
    # Tokens 8 and time 3 of 14: 20 × 11 ÷ 14 = 15.714…
    pytest.param(
        {"files_changed": None, "duration_ms": 60_000}, _EFFICIENCY, 17, 15.71, id="R02-code without files changed"
    ),
    pytest.param({"files_changed": 0, "duration_ms": 60_000}, _EFFICIENCY, 11, 15.71, id="R02-no files changed"),
    # Calls 6 and time 3 of 12; to the letter tokens are 0.
    pytest.param({"output_size": 0, "duration_ms": 60_000}, _EFFICIENCY, 9, 15, id="R02-an output of no size"),
    # To the letter no tokens, no calls and no time are the best there is.
    pytest.param(
        {"tokens_used": 0, "tool_call_kinds": None, "tool_call_count": None, "duration_ms": 0, "output_size": 1},
        _EFFICIENCY,
        20,
        None,
        id="R03-zeros",
    ),
    pytest.param(
        {"tokens_used": None, "tool_call_kinds": None, "tool_call_count": None, "duration_ms": None},
        _EFFICIENCY,
        None,
        None,
        id="R03-nothing recorded",
    ),
    # Calls 6 and time 3 of 12: 20 × 9 ÷ 12.
    pytest.param({"tokens_used": 0, "duration_ms": 60_000}, _EFFICIENCY, 17, 15, id="R03-no tokens beside an output"),
    pytest.param({"tool_call_kinds": 0, "tool_call_count": 0}, _EFFICIENCY, 20, 20, id="R03-no calls is a measurement"),
    # 3 beside 12 calls of two tools is 6 × 0.25 = 1.5; the letter counts the tools.
    pytest.param({"tool_call_kinds": 2, "tool_call_count": 12}, _EFFICIENCY, 20, 15.5, id="R04-calls by tool"),
    pytest.param({"tool_call_kinds": 6, "tool_call_count": None}, _EFFICIENCY, 17, 17, id="R04-a list"),
    pytest.param({"tool_call_kinds": None, "tool_call_count": 6}, _EFFICIENCY, 17, 17, id="R04-a count"),
    # 8 × −1 + 6 + 6 = 4; no output is no measure of tokens.
    pytest.param({"output_size": -40}, _EFFICIENCY, 4, 20, id="R05-negative size"),
    # 12 − 10 + 8; completeness is 0 at least.
    pytest.param({"delivered_items": -2}, _QUALITY, 10, 20, id="R05-negative delivery"),
    # 10 + 8 × 2 + 7 = 33 of 25.
    pytest.param({"user_edit_ratio": -1}, _SATISFACTION, 33, 25, id="R05-negative edit ratio"),
    # 10 + 8 × 0.951 + 7 = 24.608.
    pytest.param({"user_edit_ratio": 0.049}, _SATISFACTION, 24, 24.61, id="R06-edits"),
    # 8 × 2,000 ÷ 2,001 = 7.996: 19.996 in all.
    pytest.param({"tokens_used": 2_001}, _EFFICIENCY, 19, 20.0, id="R06-tokens"),
    # 6 × 3 ÷ 16 = 1.125, with 8 and 6: 15.125, which lies between 15.12 and 15.13.
    pytest.param({"tool_call_kinds": 16, "tool_call_count": 16}, _EFFICIENCY, 15, 15.13, id="R06-half up"),
    pytest.param({"duration_ms": 60_000}, _EFFICIENCY, 17, 17, id="R07-time of one task"),
    pytest.param({"duration_ms": 60_000, "time_units": 2}, _EFFICIENCY, 17, 20, id="R07-time of two"),
    pytest.param({"error_count": None}, _COMPLETION, 25, None, id="R08-nobody kept count"),
    pytest.param({"partial_completion": True}, _COMPLETION, 25, 15, id="R08-partial without errors"),
    pytest.param({"workaround_used": True}, _COMPLETION, 25, 10, id="R08-workaround without errors"),
    pytest.param({"crashed": True}, _COMPLETION, 25, 0, id="R08-crashed without errors"),
    pytest.param({"output_size": 0, "delivered_items": None}, _COMPLETION, 25, 0, id="R08-produced nothing"),
    pytest.param({"output_size": 0}, _COMPLETION, 25, 25, id="R08-no size, but items"),
    pytest.param({"failure_explained": True}, _COMPLETION, 25, 5, id="R08-explained failure without errors"),
    pytest.param(
        {"error_count": 1, "recovered": True, "partial_completion": True}, _COMPLETION, 20, 15, id="R08-the lowest flag"
    ),
    pytest.param({"error_count": 1, "recovered": True}, _COMPLETION, 20, 20, id="R08-recovered"),
    pytest.param({"recovered": True}, _COMPLETION, 25, 20, id="R08-recovered without errors"),
    pytest.param({"error_count": 1, "failure_explained": True}, _COMPLETION, 5, 5, id="R08-explained"),
    pytest.param({"error_count": None, "failure_explained": True}, _COMPLETION, 25, 5, id="R08-explained, uncounted"),
    pytest.param({"error_count": 1}, _COMPLETION, 0, 0, id="R08-errors alone"),
    *(
        pytest.param({"ending": ending, "crashed": True}, _COMPLETION, 25, points, id=f"R08-said to be {ending.value}")
        for ending, points in zip(Ending, (25, 20, 15, 10, 5, 0), strict=True)
    ),
    pytest.param({"error_count": 1}, _EFFICIENCY, 20, 0, id="R09-a failure is not efficient"),
    pytest.param({"error_count": 1, "failure_explained": True}, _EFFICIENCY, 20, 0, id="R09-nor an explained one"),
    pytest.param({"error_count": 1, "workaround_used": True}, _EFFICIENCY, 20, 20, id="R09-a workaround is no failure"),
    # Of 30 no more than the 10 × 1 ÷ 4 of completeness; to the letter 12 + 2 + 8.
    pytest.param({"error_count": 1, "requested_items": 8}, _QUALITY, 22, 2.5, id="R09-what it delivered"),
    pytest.param({"error_count": 1, "requested_items": None}, _QUALITY, 30, 0, id="R09-delivery unknown"),
    pytest.param(
        {"error_count": 1, "accuracy": None, "output_validated": None, "requested_items": None, **_NO_CODE_SIGNALS},
        _QUALITY,
        15,  # there is feedback, so 0, and 10, and 3 + 2 for a linter and types that nobody ran
        None,
        id="R09-unmeasured stays unmeasured",
    ),
    pytest.param(
        {"accuracy": None, "output_validated": True}, _QUALITY, 18, 30, id="R11-feedback that says nothing of accuracy"
    ),
    # 10 and 8 of 18.
    pytest.param(
        {"accuracy": None, "feedback_given": None, "output_validated": None}, _QUALITY, 26, 30, id="R11-no errors"
    ),
    pytest.param({"accuracy": Accuracy.MOSTLY}, _QUALITY, 27, 27, id="R11-mostly"),
    pytest.param({"accuracy": Accuracy.PARTIALLY}, _QUALITY, 24, 24, id="R11-partially"),
    pytest.param({"accuracy": Accuracy.INACCURATE}, _QUALITY, 18, 18, id="R11-inaccurate, though validated"),
    pytest.param({**_NO_CODE_SIGNALS}, _QUALITY, 27, 30, id="R12-no signals of code"),
    pytest.param({"tests_passed": None}, _QUALITY, 27, 30, id="R12-tests not run"),
    pytest.param({"tests_passed": False}, _QUALITY, 27, 27, id="R12-tests failed"),
    # The linter's 3 of 5 known points: 8 × 0.6 = 4.8.
    pytest.param(
        {"types_valid": False, "tests_passed": None}, _QUALITY, 25, 26.8, id="R12-types failed, tests not run"
    ),
    # 12 + 5 of 22: 30 × 17 ÷ 22 = 23.18…; to the letter 8 points come free.
    pytest.param({"output_type": "text", "delivered_items": 1}, _QUALITY, 25, 23.18, id="R12-no code"),
    pytest.param({"requested_items": 4, "delivered_items": None}, _QUALITY, 22, 30, id="R13-delivery unknown"),
    pytest.param({"requested_items": 0, "delivered_items": 0}, _QUALITY, 20, 30, id="R13-nothing requested"),
    # 7 + 7 of 17: 25 × 14 ÷ 17 = 20.588…
    pytest.param({"user_edit_ratio": None}, _SATISFACTION, 21, 20.59, id="R14-accepted, edits unknown"),
    # 7 + 8 × 0.95 + 7.
    pytest.param({"user_edit_ratio": 0.05}, _SATISFACTION, 21, 21.6, id="R14-edited by a twentieth"),
    pytest.param({**_NO_USER}, _SATISFACTION, 11, None, id="R15-no word from the user"),
    # 10 + 8 of 18.
    pytest.param({"follow_up_count": None, "follow_up_open": None}, _SATISFACTION, 25, 25, id="R15-follow-ups unknown"),
    # 8 + 7 of 15.
    pytest.param({"user_accepted": None, "user_used_output": None}, _SATISFACTION, 15, 25, id="R15-acceptance unknown"),
    pytest.param({"user_accepted": False, "user_used_output": None}, _SATISFACTION, 15, 15, id="R15-not accepted"),
    pytest.param({"user_accepted": False}, _SATISFACTION, 20, 20, id="R15-used"),
    pytest.param({"follow_up_count": 1, "follow_up_open": 1}, _SATISFACTION, 22, 20, id="R16-one, still open"),
    pytest.param({"follow_up_count": 1, "follow_up_open": 0}, _SATISFACTION, 22, 22, id="R16-one, resolved"),
    pytest.param({"follow_up_count": 1, "follow_up_open": None}, _SATISFACTION, 22, 22, id="R16-one"),
    pytest.param({"follow_up_count": 3, "follow_up_open": 0}, _SATISFACTION, 20, 20, id="R16-three, resolved"),
    pytest.param({"follow_up_count": 3, "follow_up_open": 1}, _SATISFACTION, 18, 18, id="R16-three, one open"),
    pytest.param({"follow_up_count": 3, "follow_up_open": None}, _SATISFACTION, 18, 18, id="R16-three, unknown"),
    pytest.param({"rating": "negative"}, _SATISFACTION, 25, 12, id="R17-displeased"),
    # 0 of 10, 8 of 8 and 7 of 7, limited; and alone 0 of 10.
    pytest.param(
        {"rating": "negative", "user_accepted": None, "user_used_output": None},
        _SATISFACTION,
        15,
        12,
        id="R17-bad word",
    ),
    pytest.param({**_NO_USER, "rating": "negative"}, _SATISFACTION, 11, 0, id="R17-a bad word alone"),
    # 0 + 0 + 7.
    pytest.param(
        {"rating": "negative", "user_accepted": False, "user_used_output": False, "user_edit_ratio": 1},
        _SATISFACTION,
        7,
        7,
        id="R17-displeased by little",
    ),
    pytest.param(
        {"rating": "positive", "user_accepted": None, "user_used_output": None}, _SATISFACTION, 15, 25, id="R17-pleased"
    ),
    pytest.param({"rating": "positive", "user_accepted": False}, _SATISFACTION, 20, 20, id="R17-pleased, not accepted"),
]


@pytest.mark.parametrize(("changes", "component", "literal", "corrected"), _CASES)
def test_a_defect_stands_in_the_letter_and_is_mended_in_the_correction(
    changes: dict[str, Any], component: str, literal: float | None, corrected: float | None
) -> None:
    record = FLAWLESS._replace(**changes)
    assert getattr(scorer("1.0")(record), component) == literal
    assert getattr(scorer("1.1")(record), component) == corrected


def test_r01_the_baseline_that_was_used_is_named() -> None:
    for category in ("code_generation", "analysis", "design", "research"):
        assert scorer("1.1")(EMPTY._replace(skill_category=category)).baseline == category
    assert scorer("1.1")(EMPTY._replace(skill_category="poetry")).baseline == "analysis"
    assert scorer("1.1")(EMPTY).baseline == "analysis"


def test_r02_the_units_are_named_where_a_score_is_explained() -> None:
    told = {part.name: part.note for part in explainer("1.1")(FLAWLESS._replace(skill_category="research"))}
    assert "(findings)" in told["tokens"]
    assert "8 × 1 (assumed) (searches)" in told["tool calls"]


def test_r05_no_number_takes_a_part_out_of_its_range() -> None:
    wild = {"tokens_used": 1, "output_size": 1e300, "duration_ms": 1e-300, "delivered_items": 1e300, "time_units": -1}
    for changes in (wild, {"user_edit_ratio": 1e300}, {"units": -3, "skill_category": "design"}, {"files_changed": -1}):
        for part in explainer("1.1")(FLAWLESS._replace(**changes)):
            assert part.points is None or 0 <= part.points <= part.most


def test_r09_a_hard_failure_has_what_it_delivered_and_what_the_user_made_of_it() -> None:
    failed = FLAWLESS._replace(error_count=1)
    assert scorer("1.0")(failed).total == 0 + 20 + 30 + 25
    assert scorer("1.1")(failed).total == 0 + 0 + 10 + 25
    limits = {part.component: part.points for part in explainer("1.1")(failed) if part.name == "limit"}
    assert limits == {Component.EFFICIENCY: -20, Component.QUALITY: -20}


def test_r09_efficiency_that_was_not_measured_is_not_0() -> None:
    failed = EMPTY._replace(ending=Ending.HARD_FAILURE)
    assert scorer("1.1")(failed)[1:6] == (0, None, None, None, None)


def test_r10_an_empty_record_has_no_score() -> None:
    # The letter gives 25 for no errors, 8 + 10 + 8 and 4 + 7, though nobody saw anything.
    assert scorer("1.0")(EMPTY)[1:7] == (25, None, 26, 11, None, 0.8)
    assert scorer("1.1")(EMPTY)[1:7] == (None, None, None, None, None, 0)


_OF_CODE = EMPTY._replace(output_type="code", error_count=0)


@pytest.mark.parametrize(
    ("record", "coverage", "total"),
    [
        # 25 for the ending and 10 for completeness, of 100: (25 + 30 × 0.5) ÷ 55 of what is known.
        pytest.param(_OF_CODE._replace(requested_items=2, delivered_items=1), 0.35, 72.73, id="R10-just enough"),
        # 25 and 8.
        pytest.param(_OF_CODE._replace(linter_passed=True), 0.33, None, id="R10-too little"),
        # 25 and 10 of 92, since code quality cannot apply.
        pytest.param(EMPTY._replace(error_count=0, user_accepted=True), 35 / 92, 85.0, id="R10-no code"),
    ],
)
def test_r10_a_total_needs_a_third_of_the_signals(record: Invocation, coverage: float, total: float | None) -> None:
    score = scorer("1.1")(record)
    assert score.coverage == pytest.approx(coverage)
    assert score.total == total


def test_r12_text_needs_no_signals_of_code_to_be_fully_observed() -> None:
    text = FLAWLESS._replace(output_type="text", linter_passed=None, types_valid=None, tests_passed=None)
    assert scorer("1.1")(text).coverage == 1
    assert "code quality" not in {part.name for part in explainer("1.1")(text)}


def test_r14_coverage_says_that_the_edits_are_unknown() -> None:
    assert scorer("1.1")(FLAWLESS._replace(user_edit_ratio=None)).coverage == pytest.approx(0.92)


@pytest.mark.parametrize(
    ("total", "tier"),
    [
        pytest.param(100, Tier.EXCELLENT, id="R22-100"),
        pytest.param(90, Tier.EXCELLENT, id="R22-90"),
        pytest.param(89.99, Tier.GOOD, id="R22-89.99"),
        pytest.param(74.5, Tier.ACCEPTABLE, id="R22-74.5"),
        pytest.param(59.5, Tier.BELOW_AVERAGE, id="R22-59.5"),
        pytest.param(39.5, Tier.POOR, id="R22-39.5"),
        pytest.param(19.99, Tier.FAILING, id="R22-19.99"),
        pytest.param(0, Tier.FAILING, id="R22-0"),
    ],
)
def test_r22_every_total_has_a_tier(total: float, tier: Tier) -> None:
    assert Tier.of(total) is tier
