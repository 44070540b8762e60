"""What is asked of figures: what was not measured never passes."""

from __future__ import annotations

import pytest

from skillgate.bench.metrics import gate, summarise
from skillgate.bench.request import BenchPolicy
from skillgate.model.bench import Status
from skillgate.model.score import Outcome
from tests.bench.made import result
from tests.bench.test_metrics import bench

HALF = [result("a"), result("b", Status.FAIL)]
NOTHING = [result("a", Status.SKIPPED)]


def asked(results: list, **policy: object) -> tuple[bool | None, list[Outcome]]:  # type: ignore[type-arg]
    verdict = gate(summarise(results, bench(), runs=1), results, BenchPolicy(**policy))  # type: ignore[arg-type]
    return verdict.passed, [outcome.verdict for outcome in verdict.outcomes]


def test_nothing_asked_is_no_verdict() -> None:
    assert asked(HALF) == (None, [])


@pytest.mark.parametrize(
    ("policy", "passed"),
    [
        ({"min_completion": 0.5}, True),  # equality passes
        ({"min_completion": 0.51}, False),
        ({"min_partial": 0.6}, False),
        ({"min_composite": 0.5}, True),
        ({"max_error_rate": 0.0}, True),
        ({"max_p95_ms": 9.0}, False),
        ({"require_tasks": ("a",)}, True),
        ({"require_tasks": ("a", "b")}, False),
        ({"require_tasks": ("c",)}, False),
    ],
)
def test_each_gate(policy: dict[str, object], passed: bool) -> None:
    assert asked(HALF, **policy)[0] is passed


@pytest.mark.parametrize("policy", [{"min_completion": 0.0}, {"max_error_rate": 1.0}, {"max_p95_ms": 1e9}])
def test_what_was_not_measured_does_not_pass(policy: dict[str, object]) -> None:
    assert asked(NOTHING, **policy) == (False, [Outcome.UNMEASURED])


def test_a_required_task_that_was_skipped_once_is_not_measured() -> None:
    results = [result("a"), result("a", Status.SKIPPED, number=2)]
    assert asked(results, require_tasks=("a",)) == (False, [Outcome.UNMEASURED])


def test_a_bound_inside_the_interval_can_be_made_to_fail() -> None:
    results = [result(f"t{n}", Status.PASS if n % 5 else Status.FAIL) for n in range(20)]
    assert asked(results, min_completion=0.75)[0] is True
    assert asked(results, min_completion=0.75, on_inconclusive="fail") == (False, [Outcome.INCONCLUSIVE])


def test_a_bound_is_held_against_the_figure_with_the_decimals_that_are_shown() -> None:
    two_of_three = [result("a"), result("b"), result("c", Status.FAIL, latency_ms=10.4)]
    assert asked(two_of_three, min_completion=0.6667, min_partial=0.6667)[0] is True
    assert asked(two_of_three, min_completion=0.6668)[0] is False
    assert asked(two_of_three, max_p95_ms=10.0)[0] is True
    tenths = [result(name, score=score) for name, score in (("a", 0.6), ("b", 0.8), ("c", 0.7))]
    assert asked(tenths, min_partial=0.7)[0] is True
