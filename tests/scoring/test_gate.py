"""The gate: every rule passed, failed and unmeasured; regressions; skills that were not evaluated; many skills."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from skillgate.model.finding import Finding, Severity
from skillgate.model.layers import DropTest
from skillgate.model.report import Composite, DimensionScore, SkillName, SkillResult, Verdict
from skillgate.model.score import Badge, Dimension, Grade, Outcome
from skillgate.report.judge_compared import doubt
from skillgate.scoring.composite import award
from skillgate.scoring.gate import Measurement, Policy, at_least, judge, regression, together

PASS, FAIL, UNMEASURED = Outcome.PASS, Outcome.FAIL, Outcome.UNMEASURED


def result(score: float | None = 75.0, *, badge: Badge | None = None, evaluated: bool = True) -> SkillResult:
    dimensions = {
        Dimension.TRIGGERING_ACCURACY: DimensionScore(score=0.7, grade=Grade.C),
        Dimension.ROBUSTNESS: DimensionScore(score=None, grade=None, reason="not measured at quick depth"),
    }
    earned = badge if badge is not None else Badge.from_scores(score)
    reason = None if score is not None else "the file is empty"
    return SkillResult(
        composite=Composite(
            score=score, badge=earned, reason=reason, badge_reason=reason or "Gold needs 5.00 more points"
        ),
        dimensions=dimensions if score is not None else {},
        layers=(),
        skill=SkillName(name="merge-sheets", path="skills/merge-sheets"),
        evaluated=evaluated,
    )


def finding(severity: Severity) -> Finding:
    path = PurePosixPath("skills/merge-sheets/SKILL.md")
    return Finding(
        id="X", severity=severity, message="x", path=path, line=1, column=1, fix="y", url="https://example.com"
    )


def outcome(verdict: Verdict, gate: str) -> tuple[Outcome, str]:
    (found,) = (item for item in verdict.outcomes if item.gate == gate)
    return found.verdict, found.reason


def test_nothing_asked_is_no_verdict() -> None:
    assert judge(result(), Policy()) == Verdict(passed=None)


@pytest.mark.parametrize("severity", [Severity.ERROR, Severity.WARNING])
def test_findings_of_a_severity_fail_its_gate_alone(severity: Severity) -> None:
    found = result()._replace(findings=(finding(severity), finding(severity), finding(Severity.INFO)))
    verdict = judge(found, Policy(fail_on=frozenset({"error", "warning"})))
    other = {"error": "warning", "warning": "error"}[severity.value]
    assert verdict.passed is False
    assert outcome(verdict, severity.value) == (FAIL, f"2 {severity.value}s")
    assert outcome(verdict, other) == (PASS, f"0 {other}s")


def test_no_findings_pass() -> None:
    assert judge(result(), Policy(fail_on=frozenset({"error", "warning"}))).passed is True


@pytest.mark.parametrize(
    ("score", "expected"), [(75.0, PASS), (74.99, FAIL), (75.01, PASS), (0.0, FAIL), (None, UNMEASURED)]
)
def test_the_threshold(score: float | None, expected: Outcome) -> None:
    verdict = judge(result(score), Policy(fail_on=frozenset({"threshold"}), threshold=75.0))
    assert verdict.passed is (expected is PASS)
    found, reason = outcome(verdict, "threshold")
    assert found is expected
    assert ("75" in reason) if score is not None else ("the file is empty" in reason)


def test_a_threshold_of_zero_is_one() -> None:
    assert judge(result(0.0), Policy(fail_on=frozenset({"threshold"}), threshold=0.0)).passed is True
    assert judge(result(None), Policy(fail_on=frozenset({"threshold"}), threshold=0.0)).passed is False


@pytest.mark.parametrize(
    ("badge", "score", "expected"),
    [(Badge.GOLD, 85.0, PASS), (Badge.PLATINUM, 95.0, PASS), (Badge.SILVER, 75.0, FAIL), (None, None, UNMEASURED)],
)
def test_the_least_badge(badge: Badge | None, score: float | None, expected: Outcome) -> None:
    verdict = judge(result(score, badge=badge), Policy(fail_on=frozenset({"badge"}), min_badge=Badge.GOLD))
    assert verdict.passed is (expected is PASS)
    assert outcome(verdict, "badge")[0] is expected


def test_a_badge_that_was_withheld_fails_and_says_why() -> None:
    withheld = result(99.0)._replace(composite=Composite(score=99.0, badge=None, badge_reason="no badge: no body"))
    verdict = judge(withheld, Policy(fail_on=frozenset({"badge"}), min_badge=Badge.BRONZE))
    assert outcome(verdict, "badge") == (FAIL, "has no badge, Bronze is asked for: no body")


@pytest.mark.parametrize(
    ("score", "elo", "least", "said"),
    [
        (56.34, None, Badge.SILVER, "has no badge, Silver is asked for: 13.66 more points"),
        (62.5, None, Badge.GOLD, "has Bronze, Gold is asked for: 17.50 more points"),
        (72.0, 1000.0, Badge.SILVER, "has no badge, Silver is asked for: it needs an Elo of 1400, and has 1000"),
    ],
)
def test_a_badge_that_is_missed_names_the_one_asked_for(
    score: float, elo: float | None, least: Badge, said: str
) -> None:
    earned, why = award(score, elo, withheld=None)
    found = result(score)._replace(composite=Composite(score=score, elo=elo, badge=earned, badge_reason=why))
    verdict = judge(found, Policy(fail_on=frozenset({"badge"}), min_badge=least))
    assert outcome(verdict, "badge") == (FAIL, said)


def test_a_badge_that_was_withheld_is_not_promised_for_points() -> None:
    withheld = result(40.0)._replace(composite=Composite(score=40.0, badge=None, badge_reason="no badge: no body"))
    verdict = judge(withheld, Policy(fail_on=frozenset({"badge"}), min_badge=Badge.GOLD))
    assert outcome(verdict, "badge") == (FAIL, "has no badge, Gold is asked for: no body")


@pytest.mark.parametrize(
    ("name", "bound", "expected"),
    [
        ("triggering_accuracy", 0.7, PASS),
        ("triggering_accuracy", 0.7001, FAIL),
        ("robustness", 0.1, UNMEASURED),
        ("output_quality", 0.1, UNMEASURED),
    ],
)
def test_the_least_score_of_a_dimension(name: str, bound: float, expected: Outcome) -> None:
    verdict = judge(result(), Policy(fail_on=frozenset({"dimension"}), min_dimension={name: bound}))
    assert verdict.passed is (expected is PASS)
    found, reason = outcome(verdict, "dimension")
    assert found is expected
    assert name in reason


def test_several_dimensions_are_answered_one_by_one() -> None:
    policy = Policy(fail_on=frozenset({"dimension"}), min_dimension={"triggering_accuracy": 0.5, "robustness": 0.5})
    verdict = judge(result(), policy)
    assert [item.verdict for item in verdict.outcomes] == [PASS, UNMEASURED]
    assert verdict.passed is False


@pytest.mark.parametrize(("score", "passed"), [(75.0, True), (None, False)])
def test_unmeasured_is_a_gate_of_its_own(score: float | None, passed: bool) -> None:
    assert judge(result(score), Policy(fail_on=frozenset({"unmeasured"}))).passed is passed


def test_a_gate_that_fail_on_does_not_list_is_shown_and_binds_nobody() -> None:
    verdict = judge(result(10.0), Policy(fail_on=frozenset({"error"}), threshold=90.0))
    assert verdict.passed is True
    assert outcome(verdict, "threshold")[0] is FAIL
    assert judge(result(10.0), Policy(threshold=90.0)).passed is None


@pytest.mark.parametrize(
    ("before", "after", "drop", "expected"),
    [
        (75.00, 73.00, 2.0, PASS),
        (75.00, 72.99, 2.0, FAIL),
        (75.00, 90.00, 2.0, PASS),
        (75.004, 73.00, 2.0, PASS),  # 2.004 is 2.00 on two decimals
        (70.30, 70.20, 0.1, PASS),  # 0.0999… and not 0.1 in binary
        (75.00, 75.00, 0.0, PASS),
        (75.00, 74.99, 0.0, FAIL),
        (71.00, 69.50, 2.0, FAIL),  # a badge lost
        (70.49, 69.99, 2.0, FAIL),  # by half a point
        (70.48, 69.99, 2.0, PASS),  # by less, with a warning
        (70.48, 69.99, 0.4, FAIL),
        (69.99, 71.00, 2.0, PASS),
        (None, 10.00, 2.0, PASS),
        (75.00, None, 2.0, FAIL),
    ],
)
def test_a_regression_is_a_drop_or_a_lost_badge(
    before: float | None, after: float | None, drop: float, expected: Outcome
) -> None:
    assert regression("it", result(before), result(after), drop).verdict is expected


def test_a_lost_badge_is_named() -> None:
    assert regression("it", result(71.0), result(69.99), 2.0).reason == "it lost its badge Silver (71.00 → 69.99)"


def test_a_badge_lost_by_next_to_nothing_warns() -> None:
    answer = regression("it", result(70.2), result(69.99), 2.0)
    assert answer.reason == "warning: it lost its badge Silver (70.20 → 69.99) by less than 0.5 points"
    assert doubt(answer) == answer.reason


def test_a_sampled_badge_is_lost_by_any_drop_that_is_real() -> None:
    drop = drop_of(0.21, 0.21, 0.001)
    assert regression("it", result(70.2), result(69.99), 2.0, drop=drop).verdict is FAIL


def test_a_badge_withheld_now_is_lost() -> None:
    now = result(71.0)._replace(composite=Composite(score=71.0, badge=None, badge_reason="no badge: x"))
    assert regression("it", result(71.0), now, 2.0).verdict is FAIL


def test_a_baseline_is_asked_only_where_there_is_one() -> None:
    policy = Policy(fail_on=frozenset({"regression"}))
    assert judge(result(50.0), policy, result(75.0), compared=True).passed is False
    assert judge(result(74.0), policy, result(75.0), compared=True).passed is True
    new = judge(result(10.0), policy, None, compared=True)
    assert new.passed is True
    assert outcome(new, "regression") == (PASS, "no baseline: the skill is new")


def test_a_regression_that_nobody_asked_for_cannot_pass_unseen() -> None:
    assert judge(result(10.0), Policy(fail_on=frozenset({"regression"}))).outcomes == ()


def test_a_skill_that_was_not_evaluated_is_neither_passed_nor_failed() -> None:
    unread = result(None, evaluated=False)
    verdict = judge(unread, Policy(fail_on=frozenset({"error", "threshold"}), threshold=70.0))
    assert verdict.passed is None
    assert outcome(verdict, "threshold")[0] is UNMEASURED


def test_a_skill_that_was_not_evaluated_fails_where_unmeasured_fails() -> None:
    unread = result(None, evaluated=False)
    assert judge(unread, Policy(fail_on=frozenset({"unmeasured"}))).passed is False


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [((), None), ((None, None), None), ((True, None), True), ((True, True), True), ((True, False, None), False)],
)
def test_many_skills_pass_together(verdicts: tuple[bool | None, ...], expected: bool | None) -> None:
    assert together(Verdict(passed=passed) for passed in verdicts) is expected


@pytest.mark.parametrize(
    ("value", "low", "high", "expected", "inconclusive"),
    [
        (0.8, None, None, PASS, False),
        (0.8, 0.75, 0.85, PASS, False),
        (0.8, 0.65, 0.85, PASS, True),
        (0.6, 0.5, 0.75, FAIL, True),
        (0.6, 0.5, 0.65, FAIL, False),
        (0.6, 0.5, 0.70, FAIL, True),
        (0.7, 0.7, 0.75, PASS, False),
    ],
)
def test_the_point_estimate_decides_and_an_interval_across_the_bound_is_said(
    value: float,
    low: float | None,
    high: float | None,
    expected: Outcome,
    inconclusive: bool,
) -> None:
    found = at_least(Measurement("it", value, low, high), 0.7, gate="dimension")
    assert found.verdict is expected
    assert ("inconclusive" in found.reason) is inconclusive


def drop_of(points: float, certain: float, p: float | None) -> DropTest:
    return DropTest(points, certain, p, units=19, smallest_detectable=6.0, flip_rate=0.03)


@pytest.mark.parametrize(
    ("was", "now", "certain", "p", "verdict"),
    [
        (80.4, 79.4, 0.0, 0.40, PASS),  # all of it is judged, and may be chance
        (80.4, 79.4, 0.0, 0.01, FAIL),  # all of it is judged, and real
        (80.4, 79.4, 1.0, None, FAIL),  # no answer differs: what is counted lost the badge
        (80.4, 79.4, 0.5, 0.40, FAIL),  # what is counted is enough to lose it
        (80.4, 79.4, 0.3, 0.40, PASS),  # it is not
        (78.0, 75.0, 3.0, 0.90, FAIL),  # what is counted fell further than it may
        (78.0, 75.0, 1.0, 0.90, PASS),
    ],
)
def test_what_is_counted_needs_no_test_to_be_real(
    was: float, now: float, certain: float, p: float | None, verdict: Outcome
) -> None:
    found = regression("it", result(was), result(now), 2.0, drop=drop_of(was - now, certain, p))
    assert found.verdict is verdict, found.reason
    assert ("inconclusive" in found.reason) is (verdict is PASS)


def test_a_badge_that_no_match_could_tell_is_not_measured() -> None:
    """Neither kept nor lost: an outage of matches is no regression, and no way round the Elo that a badge asks for."""
    why = "no badge: not ranked: 16 of 16 matches have no result"
    before, after = result(82.0, badge=Badge.GOLD), result(82.0)
    after = after._replace(composite=after.composite._replace(badge=None, badge_reason=why))
    assert regression("it", before, after, 2.0).verdict is Outcome.UNMEASURED
    verdict = judge(after, Policy(fail_on=frozenset({"badge"}), min_badge=Badge.SILVER))
    assert verdict.passed is False
    assert [one.verdict for one in verdict.outcomes] == [Outcome.UNMEASURED]
