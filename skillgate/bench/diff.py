"""Compare two benchmark reports task by task, and decide whether there is a regression: PASS, FAIL or INCONCLUSIVE.

Broken tasks decide first, then a paired test, then each limit of the policy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.model.bench import (
    Basis,
    BenchChange,
    BenchDiff,
    Flip,
    Metric,
    PairedTest,
    Pairing,
    RerunOutcome,
    Status,
    TaskChange,
)
from skillgate.model.report import GateOutcome, Tool, Verdict
from skillgate.model.score import Outcome
from skillgate.stats.intervals import mcnemar
from skillgate.stats.resampling import bootstrap, mean_of_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.bench.request import DiffPolicy
    from skillgate.bench.runner import Reruns
    from skillgate.model.bench import BenchReport, CompletionReport, Rerun, TaskResult
    from skillgate.stats.intervals import Interval

GATE = "regression"
ALPHA = 0.05
_FEWEST = 5  # minimum tasks for an interval of differences
_NOISE_SHARE, _NOISE_MS = 0.25, 50.0  # a latency change below the larger of the two is noise
_ROUNDING = 1e-9
_NAMED = 5  # tasks listed in a reason


class _Task(NamedTuple):
    """A task in one report, over all measured runs."""

    passed: int = 0
    total: int = 0
    score: float | None = None
    status: Status | None = None  # of the worst run
    golden: bool = False
    worst: TaskResult | None = None


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

    It is always a regression if a golden task is broken or missing, or if a task passed in every one of several runs
    and now fails in every one. A completion rate that fell further than allowed is a regression if McNemar's test or
    the interval of the score differences is significant.

    Args:
        a: The report before.
        b: The report after.
        label_a: Name of the first report.
        label_b: Name of the second report.
        version: Version of this program.
        policy: What counts as a regression.
        reruns: The rerun tasks, by skill and benchmark; None without reruns.
    """
    before = {(one.skill_id, one.benchmark_id): one for one in a.reports}
    after = {(one.skill_id, one.benchmark_id): one for one in b.reports}
    others = tuple(_other_settings(a, b))
    changes: list[BenchChange] = []
    for key in {**before, **after}:
        one, other = before.get(key), after.get(key)
        if one and other:
            changes.append(_change(one, other, policy, others, None if reruns is None else reruns.get(key, ())))
        else:
            pairing = Pairing.REMOVED if one else Pairing.ADDED
            a_version, b_version = (report.skill_version if report else None for report in (one, other))
            changes.append(
                BenchChange(
                    skill_id=key[0], benchmark_id=key[1], pairing=pairing, a_version=a_version, b_version=b_version
                )
            )
    verdict = _verdict(changes)
    shares = [one.coverage for one in (a, b) if one.coverage is not None]
    return BenchDiff(
        label_a=label_a,
        label_b=label_b,
        changes=tuple(changes),
        verdict=verdict,
        reasons=tuple(_reasons(changes, verdict)),
        tool=Tool(version=version),
        models=tuple(dict.fromkeys((*a.models, *b.models))),
        coverage=min(shares, default=None),
        config_digest=b.config_digest or None,
        notices=tuple(_notices(a, b, label_a, label_b)),
    )


def _verdict(changes: Sequence[BenchChange]) -> Outcome:
    outcomes = {change.test.verdict for change in changes if change.test is not None}
    is_open = not outcomes or any(change.pairing is Pairing.REMOVED for change in changes)
    outcomes |= {outcome.verdict for change in changes for outcome in change.gate.outcomes}
    if Outcome.FAIL in outcomes:
        return Outcome.FAIL
    return Outcome.INCONCLUSIVE if is_open or outcomes != {Outcome.PASS} else Outcome.PASS


def is_chance(found: BenchDiff) -> bool:
    """Whether only a drop that may be chance prevents PASS."""
    tests = [change.test for change in found.changes if change.test is not None]
    outcomes = {outcome.verdict for change in found.changes for outcome in change.gate.outcomes}
    return (
        found.verdict is Outcome.INCONCLUSIVE
        and bool(tests)
        and {test.basis for test in tests} <= {None, Basis.CHANCE}
        and outcomes <= {Outcome.PASS, Outcome.INCONCLUSIVE}
        and all(change.pairing is not Pairing.REMOVED for change in found.changes)
    )


def _reasons(changes: Sequence[BenchChange], verdict: Outcome) -> Iterator[str]:
    tested = [(change, change.test) for change in changes if change.test is not None]
    for wanted in (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS):
        yield from (f"{_label(one)}: {test.reason}" for one, test in tested if test.verdict is wanted)
        # Unmeasured gates do not decide.
        same = (wanted, Outcome.UNMEASURED) if wanted is Outcome.INCONCLUSIVE else (wanted,)
        gates = ((one, gate) for one in changes for gate in one.gate.outcomes)
        yield from (f"{_label(one)}: {gate.reason}" for one, gate in gates if gate.verdict in same)
    words = "is missing in the second report, so its current state is unknown"
    yield from (f"{_label(one)}: {words}" for one in changes if one.pairing is Pairing.REMOVED)
    if not tested and verdict is Outcome.INCONCLUSIVE:
        yield "no skill is in both reports on the same benchmark"


def _label(change: BenchChange) -> str:
    return f"{change.skill_id} on {change.benchmark_id}"


def _is_foreign(report: BenchReport) -> bool:
    return report.tool.name != Tool(version="").name


def _other_settings(a: BenchReport, b: BenchReport) -> Iterator[str]:
    """Yield changed settings that make two runs incomparable: models and the default scorer."""
    if _is_foreign(a) or _is_foreign(b):
        return
    for name, one, other in (
        ("default scorer", a.run.evaluator, b.run.evaluator),
        ("models", ", ".join(a.models) or "none", ", ".join(b.models) or "none"),
    ):
        if one != other:
            yield f"the {name} changed from {one} to {other}"


def _notices(a: BenchReport, b: BenchReport, label_a: str, label_b: str) -> Iterator[str]:
    foreign = [label for label, side in ((label_a, a), (label_b, b)) if _is_foreign(side)]
    if foreign:
        yield f"{' and '.join(foreign)} come from another program: settings, versions and digests are unknown"
        return
    for name, one, other in (
        ("runs", a.run.runs, b.run.runs),
        ("a timeout in ms of", a.run.timeout_ms, b.run.timeout_ms),
        ("retries", a.run.retries, b.run.retries),
    ):
        if one != other:
            yield f"{label_a} has {name} {one}, {label_b} {other}"


def _change(
    a: CompletionReport, b: CompletionReport, policy: DiffPolicy, others: Sequence[str], reruns: Sequence[Rerun] | None
) -> BenchChange:
    tasks, metrics = tuple(_tasks(a, b, policy.golden)), tuple(_metrics(a, b))
    flips = {task.flip for task in tasks} & {Flip.ADDED, Flip.REMOVED}
    choices = {Flip.ADDED: policy.new_tasks, Flip.REMOVED: policy.removed_tasks}
    is_accepted = bool(flips) and all(choices[flip] is not None for flip in flips)
    is_other = bool(a.benchmark_digest and b.benchmark_digest) and a.benchmark_digest != b.benchmark_digest
    text = f"the benchmark's content differs: {a.benchmark_version} and {b.benchmark_version}"
    sides = (("before", a), ("after", b))
    doubts = [f"{name}: {report.incomplete}" for name, report in sides if report.incomplete is not None]
    doubts += others
    if not is_other and flips and not is_accepted:
        doubts.append("not all tasks are in both reports")
    doubts += [text] * (is_other and not is_accepted)
    test = _paired_test(tasks, policy, decidable=not doubts, reruns=reruns)
    outcomes = tuple(_limits({one.name: one for one in metrics}, tasks, test, policy))
    notices = [*doubts, *[text] * (is_other and is_accepted)]
    for flip, word, choice in _came_and_went(policy):
        names = [task.task_id for task in tasks if task.flip is flip]
        if names and choice in (None, "warn"):
            notices.append(_counted(names, word))
    return BenchChange(
        skill_id=b.skill_id,
        benchmark_id=b.benchmark_id,
        pairing=Pairing.BOTH,
        a_version=a.skill_version,
        b_version=b.skill_version,
        metrics=metrics,
        tasks=tasks,
        test=test,
        reruns=tuple(reruns or ()),
        gate=Verdict(all(one.verdict is Outcome.PASS for one in outcomes) if outcomes else None, outcomes),
        notices=tuple(notices),
    )


def _by_task(report: CompletionReport) -> dict[str, _Task]:
    found: dict[str, list[TaskResult]] = {}
    for result in report.task_results:
        if result.status is not Status.SKIPPED:
            found.setdefault(result.task_id, []).append(result)
    return {task: _together(runs) for task, runs in found.items()}


def _together(runs: Sequence[TaskResult]) -> _Task:
    worst = min(runs, key=lambda run: (run.status is Status.PASS, run.score or 0.0))
    passed = sum(run.status is Status.PASS for run in runs)
    score = math.fsum(run.score or 0.0 for run in runs) / len(runs)
    return _Task(passed, len(runs), score, worst.status, any(run.golden for run in runs), worst)


def _tasks(before: CompletionReport, after: CompletionReport, golden: Sequence[str]) -> Iterator[TaskChange]:
    a, b = _by_task(before), _by_task(after)
    both = {one.task_id for one in before.task_results} & {one.task_id for one in after.task_results}
    for task in dict.fromkeys((*a, *b, *(one.task_id for one in before.task_results if one.task_id in both))):
        one, other = a.get(task, _Task()), b.get(task, _Task())
        worst = other.worst
        yield TaskChange(
            task_id=task,
            flip=_flip(one, other, is_in_both=task in both),
            a_passed=one.passed,
            a_total=one.total,
            b_passed=other.passed,
            b_total=other.total,
            a_score=one.score,
            b_score=other.score,
            a_status=one.status,
            b_status=other.status,
            golden=task in golden or one.golden or other.golden,
            error_kind=worst.error_kind if worst else None,
            reason=(worst.error or worst.reason) if worst else None,
        )


def _flip(a: _Task, b: _Task, *, is_in_both: bool) -> Flip:
    """Return how a task changed; a task passes if more than half of its runs pass."""
    if not (a.total and b.total) and is_in_both:
        return Flip.UNMEASURED
    if not (a.total and b.total):
        return Flip.REMOVED if a.total else Flip.ADDED
    held, holds = 2 * a.passed > a.total, 2 * b.passed > b.total
    if held != holds:
        return Flip.FIXED if holds else Flip.BROKEN
    return Flip.CHANGED if abs((a.score or 0.0) - (b.score or 0.0)) > _ROUNDING else Flip.SAME


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
        delta, noise = None, False
        if before is not None and after is not None:
            delta = after - before
            noise = name == "p95Ms" and abs(delta) < max(_NOISE_MS, _NOISE_SHARE * before)
        better = None if not delta or noise else (delta > 0) is higher
        yield Metric(name=name, a=before, b=after, delta=delta, better=better, noise=noise)


def _came_and_went(policy: DiffPolicy) -> tuple[tuple[Flip, str, str | None], ...]:
    """Return the words for tasks in only one report, and the policy for them."""
    return (Flip.ADDED, "new", policy.new_tasks), (Flip.REMOVED, "gone", policy.removed_tasks)


def _limits(
    metrics: Mapping[str, Metric], tasks: Sequence[TaskChange], test: PairedTest, policy: DiffPolicy
) -> Iterator[GateOutcome]:
    """Decide all limits except the completion rate."""
    if policy.max_partial_drop is not None:
        real = test.ci_high is not None and test.ci_high < 0
        yield _fall("partial score", metrics["partialScore"], policy.max_partial_drop, is_real=real)
    if policy.max_composite_drop is not None:
        yield _fall("composite", metrics["compositeScore"], policy.max_composite_drop, is_real=True)
    if policy.max_p95_share is not None or policy.max_p95_ms is not None:
        yield _slower(metrics["p95Ms"], policy)
    for flip, word, choice in _came_and_went(policy):
        names = [task.task_id for task in tasks if task.flip is flip]
        if choice == "fail":
            text = _counted(names, word) if names else f"no task is {word}"
            yield GateOutcome(GATE, Outcome.FAIL if names else Outcome.PASS, text)


def _fall(what: str, metric: Metric, most: float, *, is_real: bool) -> GateOutcome:
    """Decide one limit; a drop above it that may be chance is inconclusive."""
    if metric.delta is None:
        return GateOutcome(GATE, Outcome.UNMEASURED, f"the {what} was not measured on both sides")
    if -metric.delta <= most + _ROUNDING:
        return GateOutcome(GATE, Outcome.PASS, f"the {what} changed by {metric.delta:+.3f} (allowed drop {most:g})")
    text = f"the {what} fell by {-metric.delta:.3f} (allowed drop {most:g})"
    if is_real:
        return GateOutcome(GATE, Outcome.FAIL, text)
    return GateOutcome(GATE, Outcome.INCONCLUSIVE, f"{text}, which may be chance; use more runs")


def _slower(metric: Metric, policy: DiffPolicy) -> GateOutcome:
    if metric.delta is None or metric.a is None:
        return GateOutcome(GATE, Outcome.UNMEASURED, "the 95th percentile of latencies was not measured on both sides")
    bounds = [] if policy.max_p95_ms is None else [policy.max_p95_ms]
    bounds += [] if policy.max_p95_share is None else [policy.max_p95_share * metric.a]
    most = min(bounds)
    text = f"the 95th percentile of latencies changed by {metric.delta:+.0f} ms (allowed increase {most:.0f} ms)"
    if metric.delta <= most + _ROUNDING:
        return GateOutcome(GATE, Outcome.PASS, text)
    if metric.noise:
        return GateOutcome(GATE, Outcome.PASS, f"{text}; this is within the noise of repeated runs")
    return GateOutcome(GATE, Outcome.FAIL, text)


def _counted(names: Sequence[str], word: str) -> str:
    return f"{'1 task is' if len(names) == 1 else f'{len(names)} tasks are'} {word}: {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


class _Facts(NamedTuple):
    """The paired tasks and their statistics."""

    both: Sequence[TaskChange]  # measured on both sides
    fixed: Sequence[TaskChange]
    broken: Sequence[TaskChange]
    always: Mapping[str, tuple[int, int]]  # passed every run before, fail every run now: runs per side
    drop: float  # decrease of the share of passed results
    p: float | None  # McNemar's test; None without tasks
    interval: Interval | None  # mean difference of scores; None below five tasks
    reruns: Sequence[Rerun]


def _paired_test(
    tasks: Sequence[TaskChange], policy: DiffPolicy, *, decidable: bool, reruns: Sequence[Rerun] | None
) -> PairedTest:
    """Decide whether the tasks got worse; ``decidable`` is whether the reports are comparable."""
    both = [task for task in tasks if task.a_total and task.b_total]
    fixed = [task for task in both if task.flip is Flip.FIXED]
    broken = [task for task in both if task.flip is Flip.BROKEN]
    differences = [(task.b_score or 0.0) - (task.a_score or 0.0) for task in both]
    rates = [task.b_passed / task.b_total - task.a_passed / task.a_total for task in both]
    interval = None
    if len(differences) >= _FEWEST:
        columns = np.column_stack([np.ones(len(differences)), differences])
        interval = bootstrap(columns, mean_of_sums, seed=0)
    always = _always_broken(broken, reruns or ())
    drop = -math.fsum(rates) / len(rates) if rates else 0.0
    p = mcnemar(len(broken), len(fixed)) if both else None
    facts = _Facts(both, fixed, broken, always, drop, p, interval, reruns or ())
    verdict, basis, reason = _decided(tasks, facts, policy, decidable=decidable)
    return PairedTest(
        tasks=len(both),
        fixed=len(fixed),
        broken=len(broken),
        mcnemar_p=p,
        mean_difference=math.fsum(differences) / len(differences) if differences else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        verdict=verdict,
        reason=reason,
        basis=basis,
        broken_tasks=tuple(always),
    )


def _always_broken(broken: Sequence[TaskChange], reruns: Sequence[Rerun]) -> dict[str, tuple[int, int]]:
    """Find the tasks that passed in every run before and fail in every run now; reruns decide if there are any."""
    by_task = {one.task_id: one for one in reruns}
    found = {}
    for task in broken:
        rerun = by_task.get(task.task_id)
        if rerun is not None and rerun.outcome is RerunOutcome.BROKEN:
            found[task.task_id] = task.a_total + rerun.a_total, task.b_total + rerun.b_total
        elif rerun is not None and rerun.outcome is RerunOutcome.FLAKY:
            continue
        elif task.a_passed == task.a_total > 1 and task.b_passed == 0 and task.b_total > 1:
            found[task.task_id] = task.a_total, task.b_total
    return found


def _decided(
    tasks: Sequence[TaskChange], facts: _Facts, policy: DiffPolicy, *, decidable: bool
) -> tuple[Outcome, Basis | None, str]:
    gone = [task.task_id for task in tasks if task.golden and task.flip in (Flip.BROKEN, Flip.REMOVED)]
    counts = f"{len(facts.fixed)} task{'s' * (len(facts.fixed) != 1)} fixed, {len(facts.broken)} broken"
    if gone:
        return Outcome.FAIL, Basis.GOLDEN, f"golden tasks are broken or missing: {', '.join(gone)}"
    if not facts.both:
        return Outcome.INCONCLUSIVE, Basis.UNMEASURED, "no task was measured on both sides"
    if not decidable:
        return Outcome.INCONCLUSIVE, Basis.OTHER, f"the two reports are not comparable; {counts}"
    if len(facts.always) / len(facts.both) > policy.max_completion_drop + _ROUNDING:
        return Outcome.FAIL, Basis.BROKEN, _broken_words(facts)
    if facts.drop > policy.max_completion_drop + _ROUNDING:
        return _fallen(f"{counts}; {100 * facts.drop:.1f} % fewer results pass on the tasks of both", facts)
    unmeasured = sum(task.flip is Flip.UNMEASURED for task in tasks)
    if unmeasured:
        reason = f"{counts}; {unmeasured} of the tasks were skipped, so their state is unknown"
        return Outcome.INCONCLUSIVE, Basis.UNMEASURED, reason + _rerun_words(facts)
    return Outcome.PASS, None, counts + _rerun_words(facts)


def _fallen(text: str, facts: _Facts) -> tuple[Outcome, Basis, str]:
    """Decide a rate that fell further than allowed."""
    if facts.p is not None and facts.p < ALPHA:
        return Outcome.FAIL, Basis.MCNEMAR, f"{text} (p = {facts.p:.3f})"
    if facts.interval is not None and facts.interval.high < 0:
        low, high = (f"{end:+.3f}".replace("-", "−") for end in (facts.interval.low, facts.interval.high))
        return Outcome.FAIL, Basis.INTERVAL, f"{text} (95 % interval of the mean score {low} to {high})"
    text = f"{text} (p = {facts.p:.3f}), which may be chance"
    if facts.reruns:
        return Outcome.INCONCLUSIVE, Basis.CHANCE, text + _rerun_words(facts)
    is_single = min(max(task.a_total for task in facts.both), max(task.b_total for task in facts.both)) < 2
    advice = "use --runs 3 on both sides" if is_single else "use more runs"
    return Outcome.INCONCLUSIVE, Basis.CHANCE, f"{text}; {advice}"


def _broken_words(facts: _Facts) -> str:
    count, total = len(facts.always), len(facts.both)
    runs = {number for pair in facts.always.values() for number in pair}
    often = f"in {max(runs)} of {max(runs)} runs" if len(runs) == 1 else "in every run"
    text = f"{count} of {total} tasks {'is' if count == 1 else 'are'} broken {often}: {_listed(list(facts.always))}"
    others = len(facts.broken) - count
    text += f"; {others} more no longer pass{'es' * (others == 1)} reliably" if others else ""
    fixed = len(facts.fixed)
    return f"{text}; {fixed} task{'s are' if fixed > 1 else ' is'} fixed" if fixed else text


def _rerun_words(facts: _Facts) -> str:
    """Return the result of reruns, beginning with a semicolon; ``""`` without reruns."""
    total = len(facts.reruns)
    flaky = sum(one.outcome is RerunOutcome.FLAKY for one in facts.reruns)
    missing = [one.reason or "no reason is given" for one in facts.reruns if one.outcome is RerunOutcome.UNMEASURED]
    text = f"; {flaky} of {total} failing tasks are flaky (seen in reruns)" if flaky else ""
    return text + (f"; {len(missing)} of {total} failing tasks could not be rerun: {missing[0]}" if missing else "")
