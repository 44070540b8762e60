"""What differs between two benchmark reports, task by task, and whether it got worse: PASS, FAIL or INCONCLUSIVE."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.results.diff_limits import DiffPolicy, accepts, limits, told
from skillgate.bench.results.paired_test import paired_test
from skillgate.model.bench_diff import BenchChange, BenchDiff, Flip, Metric, Pairing, TaskChange
from skillgate.model.bench_result import Status
from skillgate.model.report import Tool, Verdict
from skillgate.model.score import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.bench.results.rerunning import Reruns
    from skillgate.model.bench import BenchReport, CompletionReport
    from skillgate.model.bench_diff import Rerun
    from skillgate.model.bench_result import TaskResult

_NOISE_SHARE, _NOISE_MS = 0.25, 50.0  # a latency that moved by less than both is noise
_ROUNDING = 1e-9


class _Task(NamedTuple):
    passed: int
    total: int
    score: float | None
    status: Status
    golden: bool
    worst: TaskResult


def diff(
    a: BenchReport,
    b: BenchReport,
    *,
    label_a: str,
    label_b: str,
    version: str,
    policy: DiffPolicy,
    reruns: Reruns | None = None,
) -> BenchDiff:
    """Compare two reports; skills are paired by id and benchmark.

    A golden task that is broken or gone is a regression whatever the rest says, and so is a task that passed in every
    one of several runs and now fails in every one. A completion rate that fell further than allowed is one where
    McNemar's test or the interval of the scores' differences says that it is no chance.

    Args:
        a: the report before.
        b: the report after.
        label_a: what to call the first.
        label_b: what to call the second.
        version: of this program.
        policy: what a regression is.
        reruns: the tasks that were run again, by skill and benchmark; None where nothing is run again.
    """
    before = {(one.skill_id, one.benchmark_id): one for one in a.reports}
    after = {(one.skill_id, one.benchmark_id): one for one in b.reports}
    others = tuple(_other_settings(a, b))
    changes = tuple(
        _change(before.get(key), after.get(key), policy, others, None if reruns is None else reruns.get(key, ()))
        for key in {**before, **after}
    )
    verdicts = [change.test.verdict for change in changes if change.test is not None]
    asked = [outcome.verdict for change in changes for outcome in change.gate.outcomes]
    verdict = Outcome.PASS
    if Outcome.FAIL in (*verdicts, *asked):
        verdict = Outcome.FAIL
    elif {*verdicts, *asked} - {Outcome.PASS} or not verdicts or any(c.pairing is Pairing.REMOVED for c in changes):
        verdict = Outcome.INCONCLUSIVE
    return BenchDiff(
        label_a=label_a,
        label_b=label_b,
        changes=changes,
        verdict=verdict,
        reasons=tuple(_reasons(changes, verdict)),
        tool=Tool(version=version),
        models=tuple(dict.fromkeys((*a.models, *b.models))),
        coverage=min(shares) if (shares := [one.coverage for one in (a, b) if one.coverage is not None]) else None,
        config_digest=b.config_digest or None,
        notices=tuple(_notices(a, b, label_a, label_b)),
    )


def _reasons(changes: Sequence[BenchChange], verdict: Outcome) -> Iterator[str]:
    order = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS)
    tested = [(change, change.test) for change in changes if change.test is not None]
    for wanted in order:
        yield from (
            f"{one.skill_id} on {one.benchmark_id}: {test.reason}" for one, test in tested if test.verdict is wanted
        )
        yield from (
            f"{one.skill_id} on {one.benchmark_id}: {outcome.reason}"
            for one in changes
            for outcome in one.gate.outcomes
            if _plain(outcome.verdict) is wanted
        )
    yield from (
        f"{one.skill_id} on {one.benchmark_id}: is in the first report alone, so nobody knows how it does now"
        for one in changes
        if one.pairing is Pairing.REMOVED
    )
    if not tested and verdict is Outcome.INCONCLUSIVE:
        yield "no skill is in both reports on the same benchmark"


def _plain(verdict: Outcome) -> Outcome:
    """Give the verdict of all that a limit's own makes: what was not measured decides nothing."""
    return Outcome.INCONCLUSIVE if verdict is Outcome.UNMEASURED else verdict


def _older(report: BenchReport) -> bool:
    return report.tool.name != Tool(version="").name


def _other_settings(a: BenchReport, b: BenchReport) -> Iterator[str]:
    """Say what makes two runs two measurements: who answers or judges, and what scores by default."""
    if _older(a) or _older(b):
        return
    for name, one, other in (
        ("default scorer", a.run.evaluator, b.run.evaluator),
        ("models", ", ".join(a.models) or "none", ", ".join(b.models) or "none"),
    ):
        if one != other:
            yield f"the {name} changed: {one}, then {other}"


def _notices(a: BenchReport, b: BenchReport, label_a: str, label_b: str) -> Iterator[str]:
    older = [label for label, side in ((label_a, a), (label_b, b)) if _older(side)]
    if older:
        yield f"{' and '.join(older)} come from another program: settings, versions and digests are not known of them"
        return
    for name, one, other in (
        ("runs", a.run.runs, b.run.runs),
        ("a timeout in ms of", a.run.timeout_ms, b.run.timeout_ms),
        ("retries", a.run.retries, b.run.retries),
    ):
        if one != other:
            yield f"{label_a} has {name} {one}, {label_b} {other}"


def _change(
    a: CompletionReport | None,
    b: CompletionReport | None,
    policy: DiffPolicy,
    others: Sequence[str],
    reruns: Sequence[Rerun] | None,
) -> BenchChange:
    one = b or a
    if one is None:
        message = "a change is of at least one report"
        raise ValueError(message)
    if a is None or b is None:
        return BenchChange(
            skill_id=one.skill_id,
            benchmark_id=one.benchmark_id,
            pairing=Pairing.ADDED if a is None else Pairing.REMOVED,
            a_version=None if a is None else a.skill_version,
            b_version=None if b is None else b.skill_version,
        )
    tasks = tuple(_tasks(a, b, policy.golden))
    metrics = tuple(_metrics(a, b))
    digests = a.benchmark_digest, b.benchmark_digest
    doubts = [
        f"{name}: {report.incomplete}"
        for name, report in (("before", a), ("after", b))
        if report.incomplete is not None
    ]
    doubts += others
    text = f"the benchmark's own text is another: {a.benchmark_version} and {b.benchmark_version}"
    is_other = all(digests) and digests[0] != digests[1]
    is_accepted = is_other and accepts(tasks, policy)
    if not is_other and any(task.flip in (Flip.ADDED, Flip.REMOVED) for task in tasks) and not accepts(tasks, policy):
        doubts.append("not all tasks are in both reports")
    doubts += [text] * (is_other and not is_accepted)
    test = paired_test(tasks, policy, decidable=not doubts, reruns=reruns)
    asked = tuple(limits(metrics, tasks, test, policy))
    return BenchChange(
        skill_id=one.skill_id,
        benchmark_id=one.benchmark_id,
        pairing=Pairing.BOTH,
        a_version=a.skill_version,
        b_version=b.skill_version,
        metrics=metrics,
        tasks=tasks,
        test=test,
        reruns=tuple(reruns or ()),
        gate=Verdict(passed=all(one.verdict is Outcome.PASS for one in asked) if asked else None, outcomes=asked),
        notices=(*doubts, *([text] * is_accepted), *told(tasks, policy)),
    )


def _by_task(report: CompletionReport) -> dict[str, _Task]:
    found: dict[str, list[TaskResult]] = {}
    for result in report.task_results:
        if result.status is not Status.SKIPPED:
            found.setdefault(result.task_id, []).append(result)
    return {task: _folded(runs) for task, runs in found.items()}


def _folded(runs: Sequence[TaskResult]) -> _Task:
    worst = min(runs, key=lambda run: (run.status is Status.PASS, run.score or 0.0))
    passed = sum(run.status is Status.PASS for run in runs)
    score = math.fsum(run.score or 0.0 for run in runs) / len(runs)
    return _Task(passed, len(runs), score, worst.status, any(run.golden for run in runs), worst)


def _tasks(before: CompletionReport, after: CompletionReport, golden: Sequence[str]) -> Iterator[TaskChange]:
    a, b = _by_task(before), _by_task(after)
    both = {one.task_id for one in before.task_results} & {one.task_id for one in after.task_results}
    for task in dict.fromkeys((*a, *b, *(one.task_id for one in before.task_results if one.task_id in both))):
        one, other = a.get(task), b.get(task)
        unmeasured = task in both and (one is None or other is None)
        yield TaskChange(
            task_id=task,
            flip=Flip.UNMEASURED if unmeasured else _flip(one, other),
            a_passed=one.passed if one else 0,
            a_total=one.total if one else 0,
            b_passed=other.passed if other else 0,
            b_total=other.total if other else 0,
            a_score=one.score if one else None,
            b_score=other.score if other else None,
            a_status=one.status if one else None,
            b_status=other.status if other else None,
            golden=task in golden or bool((one and one.golden) or (other and other.golden)),
            error_kind=other.worst.error_kind if other else None,
            reason=(other.worst.error or other.worst.reason) if other else None,
        )


def _flip(a: _Task | None, b: _Task | None) -> Flip:
    """Say what became of a task: it holds where more than half of its runs pass."""
    if a is None or b is None:
        return Flip.ADDED if a is None else Flip.REMOVED
    held, holds = 2 * a.passed > a.total, 2 * b.passed > b.total
    if held != holds:
        return Flip.FIXED if holds else Flip.BROKEN
    moved = abs((a.score or 0.0) - (b.score or 0.0)) > _ROUNDING
    return Flip.CHANGED if moved else Flip.SAME


def _metrics(a: CompletionReport, b: CompletionReport) -> Iterator[Metric]:
    one, other = a.summary, b.summary
    for name, before, after, higher in (
        ("completionRate", one.completion_rate, other.completion_rate, True),
        ("partialScore", one.partial_score, other.partial_score, True),
        ("errorRate", one.error_rate, other.error_rate, False),
        ("consistencyScore", one.consistency_score, other.consistency_score, True),
        ("p95Ms", a.latency.p95, b.latency.p95, False),
        ("compositeScore", one.composite_score, other.composite_score, True),
    ):
        delta = None if before is None or after is None else after - before
        noise = name == "p95Ms" and delta is not None and before is not None and _is_noise(delta, before)
        better = None if not delta or noise else (delta > 0) is higher
        yield Metric(name=name, a=before, b=after, delta=delta, better=better, noise=noise)


def _is_noise(delta: float, before: float) -> bool:
    return abs(delta) < max(_NOISE_MS, _NOISE_SHARE * before)
