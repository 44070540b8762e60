"""Compute figures of results, with intervals over tasks, and decide their gates. Unmeasured figures are None."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from statistics import NormalDist, pstdev, stdev
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.bench import BenchSummary, BenchUsage, Counts, Latency, MeanInterval, Proportion, Status, TagRow
from skillgate.model.benchmark import MAX_LATENCY_MS, Method
from skillgate.model.report import GateOutcome, Verdict
from skillgate.model.score import Outcome
from skillgate.scoring.gate import Measurement, at_least, at_most
from skillgate.stats.plain import LEVEL, wilson_ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.bench.request import BenchPolicy
    from skillgate.model.bench import TaskResult
    from skillgate.model.benchmark import Benchmark

GATE = "benchmark"
COMPLETION, SPEED, RELIABILITY = 0.5, 0.2, 0.3  # weights of the composite
RESAMPLES = 1_000
_FEWEST = 10  # minimum results for an interval of the mean
_RESAMPLED = 1_000  # tasks; above, the normal interval is as good and much faster


class Figures(NamedTuple):
    """The figures of one skill on one benchmark."""

    summary: BenchSummary
    latency: Latency
    by_tag: Mapping[str, TagRow]
    token_cost: BenchUsage | None


def summarise(results: Sequence[TaskResult], benchmark: Benchmark, *, runs: int, seed: int = 0) -> Figures:
    """Compute the figures; skipped results are counted but not part of any figure.

    Args:
        results: In any order.
        benchmark: For its method, k and latency limit.
        runs: Requested runs per task.
        seed: For the bootstrap.
    """
    measured = [result for result in results if result.status is not Status.SKIPPED]
    latency, tasks = latency_of(measured), _by_task(measured)
    counts = _counts(results)
    if not measured:
        why = "nothing was measured" if results else "there are no results"
        return Figures(_empty(counts, results, why), latency, {}, _usage(results))
    completion, errors = counts.passed / counts.total, (counts.errors + counts.timeouts) / counts.total
    k = benchmark.k or runs
    passes = {task: _passes(found) for task, found in tasks.items()}
    reasons: dict[str, str] = {}
    several = runs > 1
    if not several:
        reasons |= dict.fromkeys(("consistencyScore", "agreement"), "needs more than one run")
    chances = _chances(passes.values(), k)
    if chances is None:
        reasons |= dict.fromkeys(("passAtK", "passHatK"), f"a task has fewer than {k} measured runs")
    interval = mean_interval(list(tasks.values()), seed=seed) if len(measured) >= _FEWEST else None
    if interval is None:
        reasons["confidenceInterval"] = f"fewer than {_FEWEST} results" if len(measured) < _FEWEST else "one task"
    summary = BenchSummary(
        completion_rate=completion,
        partial_score=_partial(measured, benchmark, chances, reasons),
        error_rate=errors,
        consistency_score=_consistency(measured) if several else None,
        composite_score=_composite(completion, errors, latency, counts.total, benchmark),
        weighted_completion_rate=_weighted(measured, [float(r.status is Status.PASS) for r in measured]),
        completion_interval=_proportion(passes.values()),
        confidence_interval=interval,
        k=k,
        pass_at_k=chances[0] if chances else None,
        pass_hat_k=chances[1] if chances else None,
        agreement=_agreement(tasks.values()) if several else None,
        flaky_tasks=tuple(task for task, (passed, n) in passes.items() if 0 < passed < n),
        counts=counts,
        error_kinds=_kinds(results),
        reasons=reasons,
    )
    return Figures(summary, latency, _tags(measured), _usage(results))


def latency_of(results: Iterable[TaskResult]) -> Latency:
    """Return nearest-rank percentiles over all latencies, including errors; a timeout counts as its limit."""
    times = sorted(result.latency_ms for result in results if result.latency_ms is not None)
    if not times:
        return Latency(p50=None, p95=None, p99=None, n=0)
    at = [times[max(0, math.ceil(share * len(times)) - 1)] for share in (0.5, 0.95, 0.99)]
    return Latency(p50=at[0], p95=at[1], p99=at[2], n=len(times))


def mean_interval(tasks: Sequence[Sequence[TaskResult]], *, seed: int = 0) -> MeanInterval | None:
    """Return the 95 % interval of the mean score, resampling whole tasks. None below two tasks."""
    sums = [(math.fsum(r.score or 0.0 for r in found), len(found)) for found in tasks]
    total, n = math.fsum(part for part, _ in sums), sum(count for _, count in sums)
    if len(sums) < 2 or not n:
        return None
    mean = total / n
    if len(sums) > _RESAMPLED:
        z = NormalDist().inv_cdf(1 - (1 - LEVEL) / 2)
        half = z * stdev(part / count for part, count in sums) / math.sqrt(len(sums))
        low, high = max(0.0, mean - half), min(1.0, mean + half)
        return MeanInterval(mean=mean, ci_low=low, ci_high=high, n=len(sums), method="normal")
    draw = random.Random(seed)  # noqa: S311 - resampling, not a secret
    drawn = sorted(_ratio(draw.choices(sums, k=len(sums))) for _ in range(RESAMPLES))
    tail = round((1 - LEVEL) / 2 * RESAMPLES)
    low, high = min(mean, drawn[tail]), max(mean, drawn[-tail - 1])
    return MeanInterval(mean=mean, ci_low=low, ci_high=high, n=len(sums), method="bootstrap")


def _ratio(parts: Sequence[tuple[float, int]]) -> float:
    return math.fsum(part for part, _ in parts) / sum(count for _, count in parts)


def _by_task(results: Iterable[TaskResult]) -> dict[str, list[TaskResult]]:
    found: dict[str, list[TaskResult]] = {}
    for result in results:
        found.setdefault(result.task_id, []).append(result)
    return dict(sorted(found.items()))


def _passes(results: Sequence[TaskResult]) -> tuple[int, int]:
    """Return passes and total."""
    return sum(result.status is Status.PASS for result in results), len(results)


def _counts(results: Sequence[TaskResult]) -> Counts:
    found = Counter(result.status for result in results)
    skipped = found.pop(Status.SKIPPED, 0)
    return Counts(
        total=sum(found.values()),
        passed=found[Status.PASS],
        failed=found[Status.FAIL],
        errors=found[Status.ERROR],
        timeouts=found[Status.TIMEOUT],
        skipped=skipped,
        retries=sum(len(result.attempts) for result in results),
    )


def _kinds(results: Iterable[TaskResult]) -> dict[str, int]:
    found = Counter(result.error_kind.value for result in results if result.error_kind is not None)
    return dict(sorted(found.items()))


def _empty(counts: Counts, results: Sequence[TaskResult], why: str) -> BenchSummary:
    names = ("completionRate", "partialScore", "errorRate", "consistencyScore", "compositeScore")
    return BenchSummary(
        completion_rate=None,
        partial_score=None,
        error_rate=None,
        consistency_score=None,
        composite_score=None,
        counts=counts,
        error_kinds=_kinds(results),
        reasons=dict.fromkeys(names, why),
    )


def _composite(completion: float, errors: float, latency: Latency, total: int, benchmark: Benchmark) -> float:
    """Combine completion, speed and reliability; speed is 0 if fewer than half have a latency."""
    speed = 0.0
    if latency.p95 is not None and 2 * latency.n >= total:
        speed = 1.0 - min(1.0, latency.p95 / (benchmark.max_latency_ms or MAX_LATENCY_MS))
    return COMPLETION * completion + SPEED * speed + RELIABILITY * (1.0 - errors)


def _partial(
    results: Sequence[TaskResult], benchmark: Benchmark, chances: tuple[float, float] | None, reasons: dict[str, str]
) -> float | None:
    scores = [result.score or 0.0 for result in results]
    match benchmark.scoring_method:
        case Method.MEAN:
            return math.fsum(scores) / len(scores)
        case Method.WEIGHTED_MEAN:
            return _weighted(results, scores)
        case Method.PASS_AT_K:
            if chances is None:
                reasons["partialScore"] = reasons["passAtK"]
                return None
            return chances[0]


def _weighted(results: Sequence[TaskResult], values: Sequence[float]) -> float:
    whole = math.fsum(result.weight for result in results)
    return min(1.0, math.fsum(r.weight * value for r, value in zip(results, values, strict=True)) / whole)


def _consistency(results: Iterable[TaskResult]) -> float:
    """Return 1 − the population standard deviation of the runs' completion rates."""
    runs: defaultdict[int, list[bool]] = defaultdict(list)
    for result in results:
        runs[result.run].append(result.status is Status.PASS)
    return max(0.0, 1.0 - pstdev(sum(passed) / len(passed) for passed in runs.values()))


def _chances(passes: Iterable[tuple[int, int]], k: int) -> tuple[float, float] | None:
    """Return pass@k and pass^k, means of unbiased estimators over tasks; None if a task has fewer than k runs."""
    any_of, all_of = [], []
    for passed, n in passes:
        if n < k:
            return None
        total = math.comb(n, k)
        any_of.append(1.0 - math.comb(n - passed, k) / total)
        all_of.append(math.comb(passed, k) / total)
    return math.fsum(any_of) / len(any_of), math.fsum(all_of) / len(all_of)


def _agreement(tasks: Iterable[Sequence[TaskResult]]) -> float:
    """Return the mean share of a task's runs with its most frequent status."""
    shares = [max(Counter(r.status for r in found).values()) / len(found) for found in tasks]
    return math.fsum(shares) / len(shares)


def _proportion(passes: Iterable[tuple[int, int]]) -> Proportion:
    """Return the share of passes over tasks; each task counts with its own share."""
    shares = [passed / n for passed, n in passes]
    if not shares:
        return Proportion(value=None, reason="nothing was measured")
    k = min(math.fsum(shares), float(len(shares)))
    low, high = wilson_ends(k, len(shares))
    return Proportion(value=k / len(shares), ci_low=low, ci_high=high, n=len(shares))


def _tags(results: Iterable[TaskResult]) -> dict[str, TagRow]:
    found: defaultdict[str, list[TaskResult]] = defaultdict(list)
    for result in results:
        for tag in result.tags:
            found[tag].append(result)
    return {tag: _tag(found[tag]) for tag in sorted(found)}


def _tag(results: Sequence[TaskResult]) -> TagRow:
    tasks = _by_task(results)
    partial = math.fsum(r.score or 0.0 for r in results) / len(results)
    completion = _proportion(map(_passes, tasks.values()))
    return TagRow(tasks=len(tasks), total=len(results), completion=completion, partial_score=partial)


def _usage(results: Iterable[TaskResult]) -> BenchUsage | None:
    """Add up tokens; the cost is None unless all costs are known."""
    found = [result.usage for result in results if result.usage is not None]
    if not found:
        return None
    known = [usage.cost_usd for usage in found if usage.cost_usd is not None]
    return BenchUsage(
        input=sum(usage.input for usage in found),
        output=sum(usage.output for usage in found),
        total=sum(usage.total for usage in found),
        cost_usd=math.fsum(known) if len(known) == len(found) else None,
    )


def gate(figures: Figures, results: Sequence[TaskResult], policy: BenchPolicy) -> Verdict:
    """Decide every gate; an unmeasured figure does not pass."""
    if policy.is_empty:
        return Verdict(passed=None)
    outcomes = tuple(_outcomes(figures, results, policy))
    return Verdict(passed=all(outcome.verdict is Outcome.PASS for outcome in outcomes), outcomes=outcomes)


def _outcomes(figures: Figures, results: Sequence[TaskResult], policy: BenchPolicy) -> Iterator[GateOutcome]:
    summary, reasons = figures.summary, figures.summary.reasons
    interval = summary.completion_interval
    ends = (None, None) if interval is None else (interval.ci_low, interval.ci_high)
    for name, key, value, (low, high), least in (
        ("completion rate", "completionRate", summary.completion_rate, ends, policy.min_completion),
        ("partial score", "partialScore", summary.partial_score, (None, None), policy.min_partial),
        ("composite", "compositeScore", summary.composite_score, (None, None), policy.min_composite),
    ):
        if least is not None:
            measured = Measurement(name, _rounded(value), low, high, reasons.get(key))
            yield at_least(measured, least, gate=GATE, digits=4, on_inconclusive=policy.on_inconclusive)
    if policy.max_error_rate is not None:
        errors = Measurement("error rate", _rounded(summary.error_rate), reason=reasons.get("errorRate"))
        yield at_most(errors, policy.max_error_rate, gate=GATE, digits=4)
    if policy.max_p95_ms is not None:
        p95 = _rounded(figures.latency.p95, digits=0)
        slow = Measurement("95th percentile of latencies (ms)", p95, reason="no latency was measured")
        yield at_most(slow, policy.max_p95_ms, gate=GATE, digits=0)
    yield from (_required(task, results) for task in policy.require_tasks)


def _rounded(value: float | None, *, digits: int = 4) -> float | None:
    """Round to the decimals shown in a gate's reason, so that 2 of 3 reach 0.6667."""
    return None if value is None else round(value, digits)


def _required(task: str, results: Sequence[TaskResult]) -> GateOutcome:
    found = [result for result in results if result.task_id == task]
    measured = [result for result in found if result.status is not Status.SKIPPED]
    if len(measured) < len(found) or not found:
        why = "was not run" if not found else "was skipped"
        return GateOutcome(GATE, Outcome.UNMEASURED, f"required task {task} {why}")
    passed, total = _passes(measured)
    verdict = Outcome.PASS if passed == total else Outcome.FAIL
    return GateOutcome(GATE, verdict, f"required task {task} passed in {passed} of {total} runs")
