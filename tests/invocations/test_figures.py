"""The figures of one skill: computed by hand beside them, and None with a reason where too little is known."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy")

from skillgate.invocations.figures import figures, seconds, tally_of, time_of
from skillgate.model.codec import encode
from skillgate.model.invocation import ComponentFigure, SkillFigures
from tests.invocations.observed import NOW, Observation, at, columns, seen


def of(*some: Observation) -> SkillFigures:
    return figures(tally_of(columns(some), now=NOW, days=None))


def test_mean_median_deviation_and_interval_are_those_of_the_totals() -> None:
    found = of(*(seen(total) for total in (70, 76, 68, 74, 72)))
    # 360 ÷ 5; squares of 2, 4, 4, 2 and 0 add up to 40, ÷ 4 is 10, its root 3.1623.
    assert (found.avg_score, found.median, found.invocation_count) == (72.0, 72.0, 5)
    assert found.deviation == pytest.approx(3.16227766)
    assert found.interval is not None
    # t of 4 degrees of freedom is 2.7764; × 3.1623 ÷ √5 is 3.9265.
    assert (found.interval.low, found.interval.high) == pytest.approx((68.0735, 75.9265), abs=1e-4)
    assert found.interval.method == "Student's t"


def test_an_interval_does_not_leave_the_scale() -> None:
    found = of(*(seen(total) for total in (100, 100, 100, 20)))
    assert found.interval is not None
    assert found.interval.high == 100.0


def test_a_mean_holds_nothing_that_only_adding_up_left_there() -> None:
    assert of(*(seen(0.1) for _ in range(3))).avg_score == 0.1  # 0.1 + 0.1 + 0.1 is 0.30000000000000004


def test_unrated_ones_are_recorded_and_take_no_part_in_averages_and_tiers() -> None:
    found = of(seen(None), seen(80.0), seen(None))
    assert (found.recorded, found.invocation_count, found.avg_score) == (3, 1, 80.0)
    assert sum(found.tiers.values()) == 1
    assert list(found.tiers) == ["Excellent", "Good", "Acceptable", "Below Average", "Poor", "Failing"]


def test_a_component_is_averaged_over_those_that_measure_it() -> None:
    found = of(seen(80.0, efficiency=10.0), seen(80.0, efficiency=18.0), seen(80.0))
    # 28 ÷ 2 is 14 of 20.
    assert found.components["efficiency"] == ComponentFigure(mean=14.0, share=0.7, most=20, n=2)
    assert found.components["satisfaction"] == ComponentFigure(mean=None, share=None, most=25, n=0)
    assert (found.reasons or {})["components.satisfaction"] == "no invocation measures satisfaction"


def test_r26_the_error_rate_is_the_share_with_an_error_of_those_whose_errors_were_counted() -> None:
    found = of(*(seen(80.0, error_count=count) for count in (0, 3, None, 0, 1, None)))
    assert (found.error_rate, found.errors_known) == (0.5, 4)
    assert found.error_interval is not None
    # The exact interval of 2 of 4, from the table of Clopper and Pearson.
    assert (found.error_interval.low, found.error_interval.high) == pytest.approx((0.0676, 0.9324), abs=1e-4)


def test_r26_an_error_of_an_unrated_invocation_counts_too() -> None:
    assert of(seen(None, error_count=2), seen(90.0, error_count=0)).error_rate == 0.5


@pytest.mark.parametrize(
    ("told", "known", "failed"),
    [
        ({"ending": "hard_failure"}, 1, 1),
        ({"ending": "explained_failure", "completion": 5.0}, 1, 1),
        ({"ending": "workaround", "completion": 10.0}, 1, 0),
        ({"ending": "recovered", "error_count": 4}, 1, 0),
        ({"completion": 5.0}, 1, 1),
        ({"completion": 0.0, "error_count": 1}, 1, 1),
        ({"completion": 10.0}, 1, 0),
        ({"completion": 25.0, "error_count": 0}, 1, 0),
        ({"completion": 25.0}, 0, 0),  # by rubric 1.0, of which nobody observed anything
        ({}, 0, 0),
    ],
)
def test_r26_an_invocation_is_unrecovered_by_its_ending_else_by_its_points(
    told: dict[str, Any], known: int, failed: int
) -> None:
    found = of(seen(50.0, **told))
    assert (found.endings_known, found.unrecovered_rate) == (known, failed / known if known else None)


def test_what_too_few_cannot_say_is_none_with_a_reason() -> None:
    none, one, equal = of(seen(None, coverage=0.1)), of(seen(80.0)), of(seen(80.0), seen(80.0))
    assert (none.avg_score, none.median, none.interval) == (None, None, None)
    assert (none.reasons or {})["avg_score"].startswith("none of 1 recorded is rated: too little was observed")
    assert (one.avg_score, one.deviation, one.interval) == (80.0, None, None)
    assert (one.reasons or {})["interval"] == "only one total"
    assert (equal.deviation, equal.interval) == (0.0, None)
    assert "are equal" in (equal.reasons or {})["interval"]
    for found in (none, one, equal):
        assert (found.error_rate, found.error_interval, found.unrecovered_rate) == (None, None, None)
        assert {"error_rate", "unrecovered_rate"} <= set(found.reasons or {})


def test_nothing_recorded_is_no_zero() -> None:
    found = of()
    assert (found.recorded, found.avg_score, found.coverage, found.first_seen) == (0, None, None, None)
    assert (found.reasons or {})["coverage"] == "nothing was recorded"
    encode(found)


def test_coverage_is_averaged_over_all_and_times_are_those_of_the_window() -> None:
    found = of(seen(None, days_ago=3, coverage=0.25, category="b"), seen(80.0, coverage=0.75, category=None))
    assert (found.coverage, found.categories) == (0.5, ("b",))
    assert (found.first_seen, found.last_seen) == (time_of(at(3)), time_of(at(1)))
    assert seconds(NOW) == at(0)
