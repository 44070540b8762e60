"""The figures: the method's formulas by hand, and what holds of any results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.bench.metrics import RESAMPLES, latency_of, mean_interval, summarise
from skillgate.model.bench import BenchUsage, ErrorKind, Status
from skillgate.model.benchmark import Benchmark, Expected, Method, Task
from skillgate.stats.plain import wilson_ends
from tests.bench.made import benchmark, result, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.bench import TaskResult


def bench(**changes: object) -> Benchmark:
    one = Task(id="t", input_data={}, expected_output=Expected(value=1))
    values = {"id": "b", "name": "b", "version": "1.0.0", "tasks": (one,), **changes}
    return Benchmark(**values)  # type: ignore[arg-type]


def test_twelve_results_of_which_every_third_fails_over_three_runs() -> None:
    results = []
    for index in range(12):
        status = Status.FAIL if index % 3 == 2 else Status.PASS
        results.append(result(f"t{index % 4}", status, number=index // 4 + 1, latency_ms=120.0))
    found = summarise(results, bench(max_latency_ms=1000), runs=3).summary
    assert found.completion_rate == pytest.approx(8 / 12)
    # The runs complete 3, 3 and 2 of 4 tasks.
    assert found.consistency_score == pytest.approx(0.882149, abs=1e-6)
    assert found.error_rate == 0
    assert found.composite_score == pytest.approx(0.5 * 8 / 12 + 0.2 * (1 - 0.12) + 0.3)
    assert round(found.composite_score or 0, 4) == 0.8093


def test_every_result_with_a_latency_counts_and_a_timeout_with_its_limit() -> None:
    results = [result("a", latency_ms=10.0), result("b", Status.TIMEOUT, latency_ms=3000.0)]
    results.append(result("c", Status.ERROR, latency_ms=1.0))
    found = latency_of(results)
    results.append(result("d", Status.ERROR, latency_ms=None))
    assert latency_of(results) == found
    assert (found.n, found.p50, found.p95) == (3, 10.0, 3000.0)


def test_a_skill_that_is_slow_and_then_crashes_is_slow() -> None:
    results = [result(f"p{index}", latency_ms=100.0) for index in range(12)]
    results += [result(f"e{index}", Status.ERROR, latency_ms=3100.0) for index in range(8)]
    found = summarise(results, bench(max_latency_ms=4000), runs=1)
    assert (found.latency.p50, found.latency.p95, found.latency.n) == (100.0, 3100.0, 20)
    assert found.summary.composite_score == pytest.approx(0.5 * 0.6 + 0.2 * (1 - 3100 / 4000) + 0.3 * 0.6)


def test_speed_gives_nothing_where_fewer_than_half_have_a_latency() -> None:
    errors = [result(f"e{index}", Status.ERROR, latency_ms=None) for index in range(3)]
    found = summarise([*errors, result("a", latency_ms=1.0)], bench(), runs=1).summary
    assert found.composite_score == pytest.approx(0.5 * 0.25 + 0.3 * 0.25)


def test_a_skill_that_only_crashes_has_what_its_speed_is_worth() -> None:
    found = summarise([result("a", Status.ERROR), result("b", Status.ERROR)], bench(), runs=1).summary
    assert found.composite_score == pytest.approx(0.2 * (1 - 10 / 30_000))


def test_a_skill_that_never_ran_has_no_latency_and_nothing_for_its_speed(tmp_path: Path) -> None:
    skill(tmp_path / "s", entrypoint="no-such-program-here")
    benchmark(tmp_path / "b.json", task())
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--json")
    (report,) = done.json["reports"]
    (one,) = report["taskResults"]
    assert (one["errorKind"], one["latencyMs"], report["latency"]["p95Ms"]) == ("spawn", None, None)
    assert report["summary"]["compositeScore"] == 0


def test_the_figures_of_a_skill_that_crashes_are_those_of_all_its_results(tmp_path: Path) -> None:
    skill(tmp_path / "s", "raise SystemExit(3)")
    benchmark(tmp_path / "b.json", task("a"), task("b"), task("c"), maxLatencyMs=60_000)
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--json")
    (report,) = done.json["reports"]
    times = sorted(one["latencyMs"] for one in report["taskResults"])
    latency = report["latency"]
    assert (latency["p50Ms"], latency["p95Ms"], latency["n"]) == (times[1], times[2], 3)
    assert report["summary"]["compositeScore"] == pytest.approx(0.2 * (1 - times[2] / 60_000))


def test_what_was_skipped_is_outside_of_every_rate() -> None:
    found = summarise([result("a"), result("b", Status.SKIPPED, error_kind=ErrorKind.SCORER)], bench(), runs=1).summary
    assert found.completion_rate == 1
    assert (found.counts.total, found.counts.skipped) == (1, 1)
    assert found.error_kinds == {"scorer": 1}


def test_nothing_measured_is_no_number_and_says_why() -> None:
    found = summarise([result("a", Status.SKIPPED)], bench(), runs=1).summary
    assert found.completion_rate is found.partial_score is found.composite_score is found.error_rate is None
    assert found.reasons["completionRate"] == "nothing was measured"


def test_one_run_has_no_consistency() -> None:
    found = summarise([result("a")], bench(), runs=1).summary
    assert found.consistency_score is None
    assert "one run" in found.reasons["consistencyScore"]


def test_pass_at_k_and_pass_hat_k() -> None:
    runs = [result("a", Status.PASS if number < 3 else Status.FAIL, number=number) for number in (1, 2, 3, 4)]
    found = summarise(runs, bench(k=2), runs=4).summary
    assert found.pass_at_k == pytest.approx(1 - math.comb(2, 2) / math.comb(4, 2))
    assert found.pass_hat_k == pytest.approx(math.comb(2, 2) / math.comb(4, 2))
    assert found.flaky_tasks == ("a",)
    assert found.agreement == pytest.approx(0.5)


def test_more_runs_than_were_measured_give_no_chance() -> None:
    found = summarise([result("a")], bench(k=3, scoring_method=Method.PASS_AT_K), runs=1).summary
    assert found.pass_at_k is found.partial_score is None
    assert "3 measured runs" in found.reasons["partialScore"]


def test_weights_count_in_the_weighted_mean_alone() -> None:
    results = [result("a", weight=3.0), result("b", Status.FAIL, weight=1.0)]
    plain = summarise(results, bench(), runs=1).summary
    heavy = summarise(results, bench(scoring_method=Method.WEIGHTED_MEAN), runs=1).summary
    assert (plain.partial_score, heavy.partial_score) == (0.5, 0.75)
    assert plain.weighted_completion_rate == 0.75
    assert heavy.completion_rate == 0.5


def test_runs_of_a_task_are_one_cluster() -> None:
    once = [result(f"t{n}", Status.PASS if n % 2 else Status.FAIL) for n in range(12)]
    thrice = [result(f"t{n}", Status.PASS if n % 2 else Status.FAIL, number=r) for n in range(12) for r in (1, 2, 3)]
    one, three = (summarise(found, bench(), runs=runs).summary for found, runs in ((once, 1), (thrice, 3)))
    assert one.completion_interval == three.completion_interval
    assert one.confidence_interval is not None
    assert three.confidence_interval is not None
    assert one.confidence_interval.ci_low == three.confidence_interval.ci_low
    assert three.confidence_interval.mean == 0.5


def test_the_bootstrap_agrees_with_the_normal_interval_where_both_fit() -> None:
    tasks = [[result(f"t{n}", Status.PASS if n % 3 else Status.FAIL)] for n in range(1000)]
    few, many = mean_interval(tasks), mean_interval([*tasks, [result("last")]])
    assert few is not None
    assert many is not None
    assert (few.method, many.method) == ("bootstrap", "normal")
    assert few.ci_low == pytest.approx(many.ci_low, abs=0.004)
    assert RESAMPLES == 1000


def test_tags_have_rows_of_their_own() -> None:
    rows = summarise([result("a", tags=("x", "y")), result("b", Status.FAIL, tags=("y",))], bench(), runs=1).by_tag
    assert list(rows) == ["x", "y"]
    assert (rows["y"].tasks, rows["y"].completion.value) == (2, 0.5)


def test_a_cost_is_known_only_where_every_part_is() -> None:
    known = result("a", usage=BenchUsage(input=1, output=2, total=3, cost_usd=0.5))
    unknown = result("b", usage=BenchUsage(input=1, output=1, total=2))
    whole = summarise([known], bench(), runs=1).token_cost
    part = summarise([known, unknown], bench(), runs=1).token_cost
    assert whole is not None
    assert part is not None
    assert (whole.cost_usd, part.cost_usd, part.total) == (0.5, None, 5)
    assert summarise([result("a")], bench(), runs=1).token_cost is None


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (7, 20), (19, 20), (500, 1000)])
def test_wilson_is_that_of_scipy(k: int, n: int) -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    low, high = scipy_stats.binomtest(k, n).proportion_ci(method="wilson")
    assert wilson_ends(k, n) == pytest.approx((low, high), abs=1e-12)


_STATUS = st.sampled_from([Status.PASS, Status.FAIL, Status.ERROR, Status.TIMEOUT, Status.SKIPPED])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3), _STATUS), max_size=30), st.randoms())
def test_figures_lie_in_range_and_do_not_depend_on_the_order(
    rows: list[tuple[int, int, Status]], shuffled: object
) -> None:
    results: list[TaskResult] = [result(f"t{task}", status, number=run) for task, run, status in dict.fromkeys(rows)]
    found = summarise(results, bench(), runs=3)
    other = list(results)
    shuffled.shuffle(other)  # type: ignore[attr-defined]
    assert summarise(other, bench(), runs=3) == found
    shares = (found.summary.completion_rate, found.summary.composite_score, found.summary.error_rate)
    assert all(share is None or 0 <= share <= 1 for share in shares)
