"""Gates: requirements and triggers, their bounds, and what they say of too little or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy")

from skillgate.errors import UsageError
from skillgate.invocations.summary import check, exit_code, gate_json, verdict
from skillgate.model.invocation_gate import PACKAGED, Gate, chosen, known
from skillgate.model.score import Outcome
from tests.invocations.observed import NOW, by_skill, columns, many, seen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.model.invocation import GateCheck
    from tests.invocations.observed import Observation

SEEDS_KEYS = {"gate", "passed", "failures", "stats"}
OUR_KEYS = {"skill", "kind", "description", "status", "days_since_improvement", "last_improved_at"}
SEEDS_STATS = {"avg_score", "invocation_count", "error_rate"}
OUR_STATS = {
    *("skill", "recorded", "median", "deviation", "interval", "components", "tiers", "errors_known"),
    *("error_interval", "unrecovered_rate", "endings_known", "coverage", "first_seen", "last_seen", "categories"),
    *("reasons", "shared", "sharing_known", "tokens", "duration_ms", "cost_usd", "groups", "more_groups", "versions"),
}


def of(gate: str | Gate, some: Iterable[Observation], *, days: int | None = 30) -> GateCheck:
    gates = (PACKAGED[gate] if isinstance(gate, str) else gate,)
    return check(gates, columns(some), now=NOW, days=days)[0]


def good(n: int = 10, total: float = 80.0, errors: int = 0) -> list[Observation]:
    some = many([total] * n, error_count=0)
    return [item._replace(error_count=1) if index < errors else item for index, item in enumerate(some)]


def custom(**bounds: Any) -> Gate:
    return known({"own": bounds})["own"]


def told(found: GateCheck) -> tuple[str, bool | None]:
    return found.status, found.passed


def test_the_packaged_gates_have_the_rubrics_bounds() -> None:
    assert {name: gate.bounds for name, gate in PACKAGED.items()} == {
        "publish": {"min_score": 70, "min_invocations": 10, "max_error_rate": 0.1},
        "feature": {"min_score": 85, "min_invocations": 50, "max_error_rate": 0.05},
        "deprecation": {"max_score": 40, "min_invocations": 20, "max_age_without_improvement": 90},
    }
    assert [gate.kind for gate in PACKAGED.values()] == ["requirement", "requirement", "trigger"]
    assert all(gate.description for gate in PACKAGED.values())


def test_a_requirement_passes_where_every_bound_holds_at_its_edge() -> None:
    found = of("publish", good(10, 70.0, errors=1))
    assert (told(found), found.failures) == (("passed", True), ())
    assert (found.stats.error_rate, found.stats.invocation_count) == (0.1, 10)


def test_a_requirement_fails_with_every_bound_that_was_missed() -> None:
    found = of("publish", good(8, 60.0, errors=4))
    assert told(found) == ("failed", False)
    assert found.failures == (
        "average score 60.00 is below 70",
        "number of rated invocations in the last 30 days 8 is below 10",
        "error rate 0.5000 is above 0.1",
    )


@pytest.mark.parametrize(
    ("totals", "shown"),
    [([69.92, 70.0], "69.96"), ([69.9992, 70.0], "69.9996"), ([*[70.0] * 9_999, 69.99], "69.999999")],
)
def test_r25_a_message_shows_enough_digits_to_tell_a_figure_from_its_bound(totals: list[float], shown: str) -> None:
    found = of(custom(min_score=70), many(totals))
    assert told(found) == ("failed", False)
    assert found.failures[0].startswith(f"average score {shown} is below 70")


def test_r25_adding_up_does_not_keep_a_score_below_its_bound() -> None:
    assert told(of(custom(min_score=0.1), many([0.1] * 3))) == ("passed", True)
    assert told(of(custom(min_score=70.1), many([70.1] * 7))) == ("passed", True)


def test_an_interval_that_straddles_the_bound_is_told_and_the_average_decides() -> None:
    found = of("publish", many([20.0, 100.0] * 5, error_count=0))
    assert told(found) == ("failed", False)
    assert found.failures == ("average score 60.00 is below 70 (inconclusive: 29.84 to 90.16)",)


def test_r25_without_any_row_in_the_window_there_is_no_data() -> None:
    for some in ((), [seen(80.0, days_ago=31)]):
        found = of("publish", some)
        assert told(found) == ("no_data", None)
        assert found.failures == ("no invocation was recorded in the last 30 days",)
        assert (found.stats.skill, found.stats.recorded) == ("one", 0)
    assert told(of("publish", [seen(80.0, days_ago=31)], days=None)) == ("failed", False)


@pytest.mark.parametrize("n", [1, 9])
def test_too_few_rated_fail_a_requirement_and_unrated_ones_do_not_count(n: int) -> None:
    some = [*good(n, 99.0), *(seen(None, days_ago=0.01, error_count=0) for _ in range(50))]
    found = of("publish", some)
    assert told(found) == ("failed", False)
    assert found.failures == (f"number of rated invocations in the last 30 days {n} is below 10",)


def test_a_figure_that_nobody_measured_leaves_a_requirement_unanswered_unless_another_fails() -> None:
    found = of("publish", many([80.0] * 12))
    assert told(found) == ("unmeasured", None)
    assert found.failures == ("error rate was not measured: no invocation has an error count",)
    failed = of("publish", many([60.0] * 12))
    assert told(failed) == ("failed", False)
    assert failed.failures[0] == "average score 60.00 is below 70"
    assert "not measured" in failed.failures[1]


def test_r26_the_rate_of_failures_can_be_asked_for_instead_of_that_of_errors() -> None:
    recovered = many([80.0] * 9, error_count=1, ending="recovered")
    some = [*recovered, seen(20.0, days_ago=0.01, error_count=1, ending="hard_failure")]
    assert told(of(custom(max_error_rate=0.2), some)) == ("failed", False)
    assert told(of(custom(max_unrecovered_rate=0.1), some)) == ("passed", True)
    assert told(of(custom(max_unrecovered_rate=0.05), some)) == ("failed", False)


def test_r25_a_figure_is_written_on_its_side_of_a_bound_with_decimals() -> None:
    failed = of(custom(min_score=69.996), many([69.99] * 6 + [70.0] * 6))
    assert failed.failures[0].startswith("average score 69.995 is below 69.996")
    high = of(custom(max_error_rate=0.33328), [*many([80.0] * 2, error_count=0), seen(80.0, days_ago=0, error_count=1)])
    assert high.failures == ("error rate 0.3333 is above 0.33328",)


def test_coverage_and_the_age_of_an_improvement_can_be_required() -> None:
    some = many([80.0] * 12, coverage=0.5)
    assert told(of(custom(min_coverage=0.5), some)) == ("passed", True)
    assert told(of(custom(min_coverage=0.51), some)) == ("failed", False)
    # Twelve times 0.7, added up and divided, are a little less.
    assert told(of(custom(min_coverage=0.7), many([80.0] * 12, coverage=0.7))) == ("passed", True)
    old = [seen(80.0, days_ago=40), seen(80.0, days_ago=1)]
    assert told(of(custom(max_age_without_improvement=40), old)) == ("passed", True)
    found = of(custom(max_age_without_improvement=39), old)
    assert (told(found), found.days_since_improvement) == (("failed", False), 40)
    assert found.failures == ("days without improvement 40 is above 39",)


def fading(total: float, *, n: int = 20, since: float = 90) -> list[Observation]:
    """Give totals of the last days, and one from so many days ago."""
    return [seen(total, days_ago=since), *many([total] * n)]


@pytest.mark.parametrize(
    ("some", "status"),
    [
        (fading(40.0), "triggered"),
        (fading(39.0, since=400), "triggered"),
        (fading(40.01), "clear"),
        (fading(95.0, n=50), "clear"),  # passes "deprecation" in the rubric as it is written
        (fading(40.0, since=89), "clear"),
        (fading(40.0, n=19), "insufficient_data"),
        (fading(95.0, n=5), "insufficient_data"),
        ((), "insufficient_data"),
    ],
)
def test_r23_a_trigger_goes_off_where_all_of_its_conditions_hold(some: Iterable[Observation], status: str) -> None:
    found = of("deprecation", some)
    assert told(found) == (status, {"triggered": False, "clear": True}.get(status))
    assert found.failures


def test_r23_a_trigger_says_what_holds_and_what_does_not() -> None:
    assert of("deprecation", fading(40.0)).failures == (
        "average score 40.00 is within 40",
        "number of rated invocations in the last 30 days 20 reaches 20",
        "days without improvement 90 reaches 90",
    )
    assert of("deprecation", fading(95.0)).failures == ("average score 95.00 is above 40",)
    assert of("deprecation", fading(40.0, n=19)).failures == (
        "number of rated invocations in the last 30 days 19 is below 20",
    )


def test_r24_the_age_of_an_improvement_is_over_all_history_and_the_average_over_the_window() -> None:
    old = [seen(20.0, days_ago=200 - index / 100) for index in range(10)]
    better = [seen(40.0, days_ago=120)]
    found = of("deprecation", [*old, *better, *many([30.0] * 20)])
    # Ten of 20, then a 40: the mean is 22. The 30s lift it further, so the last improvement is of today.
    assert (found.days_since_improvement, found.status) == (0, "clear")
    assert found.last_improved_at is not None
    assert found.last_improved_at.isoformat() == "2026-07-20T00:00:00+00:00"
    still = of("deprecation", [*old, *better, *many([20.0] * 20)])
    assert (still.days_since_improvement, still.status, still.stats.avg_score) == (120, "triggered", 20.0)


def test_r24_nothing_rated_has_no_day_of_improvement() -> None:
    found = of(custom(max_age_without_improvement=5), [seen(None)])
    assert (told(found), found.last_improved_at) == (("unmeasured", None), None)


@pytest.mark.parametrize(
    ("tables", "bounds"),
    [
        ({"publish": {"min_score": 80.0}}, {"min_score": 80, "min_invocations": 10, "max_error_rate": 0.1}),
        ({"publish": {"max_error_rate": 1.0}}, {"min_score": 70, "min_invocations": 10, "max_error_rate": 1}),
    ],
)
def test_a_configuration_changes_a_packaged_gate_bound_by_bound(tables: Any, bounds: dict[str, float]) -> None:
    found = known(tables)
    assert found["publish"].bounds == bounds
    assert found["publish"].description == PACKAGED["publish"].description
    assert (found["feature"], tuple(found)) == (PACKAGED["feature"], tuple(PACKAGED))


def test_the_rubrics_own_table_can_be_written_into_a_configuration_as_it_is() -> None:
    """Its trigger has no word for being one; a largest score makes it one."""
    found = known({"old": {"max_score": 30.0, "min_invocations": 5, "max_age_without_improvement": 10}})
    assert (found["old"].kind, found["old"].description) == ("trigger", "")
    assert known({"new": {"min_score": 30.0}})["new"].kind == "requirement"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": "trigger", "max_score": 40.0, "min_score": 20.0}, "a trigger does not ask for min_score"),
        ({"kind": "trigger", "max_error_rate": 0.2}, "a trigger does not ask for max_error_rate"),
        ({"kind": "requirement", "max_score": 40.0}, "a requirement does not ask for max_score"),
        ({"kind": "trigger", "min_invocations": 4}, "a trigger needs max_score or max_age_without_improvement"),
        ({"description": "for nothing"}, "a requirement needs min_score or min_invocations or"),
    ],
)
def test_a_gate_that_could_not_mean_what_it_says_is_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        known({"own": table})


def test_r25_an_unknown_gate_is_refused_with_the_known_ones() -> None:
    gates = known({"release": {"min_score": 1.0}})
    assert chosen(["release", "publish", "release"], gates) == (gates["release"], gates["publish"])
    expected = r"unknown gate 'publsh' \(did you mean 'publish'\?\); known are publish, feature, deprecation, release"
    with pytest.raises(UsageError, match=expected):
        chosen(["publish", "publsh"], gates)


def test_many_skills_are_answered_in_one_pass() -> None:
    some = [*many([80.0] * 12, skill="a", error_count=0), *many([60.0] * 12, skill="b", error_count=0)]
    found = [one for seen in by_skill(some) for one in check(tuple(PACKAGED.values()), seen, now=NOW, days=30)]
    assert [(one.skill, one.gate, one.status) for one in found] == [
        *(("a", "publish", "passed"), ("a", "feature", "failed"), ("a", "deprecation", "insufficient_data")),
        *(("b", "publish", "failed"), ("b", "feature", "failed"), ("b", "deprecation", "insufficient_data")),
    ]
    alone = [of(gate, many([80.0] * 12, error_count=0)) for gate in PACKAGED]
    assert [one.failures for one in alone] == [one.failures for one in found[:3]]


@pytest.mark.parametrize(
    ("found", "code", "passed"),
    [
        ((), 0, None),
        (("passed",), 0, True),
        (("passed", "insufficient_data", "clear"), 0, True),
        (("passed", "no_data"), 3, None),
        (("unmeasured",), 3, None),
        (("no_data", "failed", "unmeasured"), 1, False),
        (("passed", "triggered"), 1, False),
    ],
)
def test_a_failure_comes_before_a_gap_and_a_gap_before_nothing(
    found: tuple[str, ...], code: int, *, passed: bool | None
) -> None:
    examples = {
        "passed": of("publish", good()),
        "failed": of("publish", good(9)),
        "no_data": of("publish", ()),
        "unmeasured": of("publish", many([80.0] * 12)),
        "triggered": of("deprecation", fading(40.0)),
        "clear": of("deprecation", fading(95.0)),
        "insufficient_data": of("deprecation", ()),
    }
    checks = [examples[status] for status in found]
    assert [one.status for one in checks] == list(found)
    assert exit_code(checks) == code
    together = verdict(checks)
    assert (together.passed, len(together.outcomes)) == (passed, len(checks))
    assert all(outcome.reason.startswith("one: ") for outcome in together.outcomes)


def test_a_verdict_holds_what_each_gate_says() -> None:
    together = verdict([of("publish", good(9)), of("deprecation", ()), of("publish", ())])
    assert [outcome.verdict for outcome in together.outcomes] == [
        *(Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.UNMEASURED)
    ]


def test_an_object_of_a_gate_has_the_rubrics_keys_and_ours() -> None:
    for some in (good(), good(3), ()):
        found = gate_json(of("publish", some))
        assert set(found) == SEEDS_KEYS | OUR_KEYS
        assert set(found["stats"]) == SEEDS_STATS | OUR_STATS
    assert (found["gate"], found["passed"], found["stats"]["avg_score"]) == ("publish", None, None)
