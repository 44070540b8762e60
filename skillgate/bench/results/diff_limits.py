"""How far a benchmark report may lie from the one before it, and what that says of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.bench_diff import Basis, Flip, Pairing
from skillgate.model.report import GateOutcome
from skillgate.model.score import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.bench_diff import BenchDiff, Metric, PairedTest, TaskChange

GATE = "regression"
CHOICES = ("ignore", "warn", "fail")
_ROUNDING = 1e-9
_NAMED = 5  # tasks in a reason


class DiffPolicy(NamedTuple):
    """What a regression is.

    Attributes:
        max_completion_drop: by how much the completion rate may fall, and which share of tasks may break, in [0, 1].
        max_partial_drop, max_composite_drop: likewise; None: as far as it likes.
        max_p95_share: by which share of itself the 95th percentile of latencies may grow; None: as far as it likes.
        max_p95_ms: by how many milliseconds; None: likewise.
        new_tasks, removed_tasks: ``ignore``, ``warn`` or ``fail``; None: a warning, and reports on different versions
            of a benchmark are not the same measurement. With ``ignore`` or ``warn`` the tasks of both are compared.
        golden: ids of tasks that must not be lost, beside those that the benchmark names.
    """

    max_completion_drop: float = 0.0
    max_partial_drop: float | None = None
    max_composite_drop: float | None = None
    max_p95_share: float | None = None
    max_p95_ms: float | None = None
    new_tasks: str | None = None
    removed_tasks: str | None = None
    golden: tuple[str, ...] = ()


def accepts(tasks: Sequence[TaskChange], policy: DiffPolicy) -> bool:
    """Tell whether what tasks came and went explains another benchmark, and is asked to be let be."""
    flips = {task.flip for task in tasks} & {Flip.ADDED, Flip.REMOVED}
    asked = {Flip.ADDED: policy.new_tasks, Flip.REMOVED: policy.removed_tasks}
    return bool(flips) and all(asked[flip] is not None for flip in flips)


def is_chance(found: BenchDiff) -> bool:
    """Whether all that keeps a diff from PASS is a fall that chance may explain."""
    tests = [change.test for change in found.changes if change.test is not None]
    outcomes = [outcome.verdict for change in found.changes for outcome in change.gate.outcomes]
    return (
        found.verdict is Outcome.INCONCLUSIVE
        and bool(tests)
        and {test.basis for test in tests} <= {None, Basis.CHANCE}
        and set(outcomes) <= {Outcome.PASS, Outcome.INCONCLUSIVE}
        and all(change.pairing is not Pairing.REMOVED for change in found.changes)
    )


def told(tasks: Sequence[TaskChange], policy: DiffPolicy) -> Iterator[str]:
    """Say which tasks came or went, where that is not to be ignored and does not fail."""
    for flip, word, asked in (
        (Flip.ADDED, "new", policy.new_tasks),
        (Flip.REMOVED, "gone", policy.removed_tasks),
    ):
        found = [task.task_id for task in tasks if task.flip is flip]
        if found and asked in (None, "warn"):
            yield f"{_counted(found)} {word}: {listed(found)}"


def limits(
    metrics: Sequence[Metric], tasks: Sequence[TaskChange], test: PairedTest, policy: DiffPolicy
) -> Iterator[GateOutcome]:
    """Answer what was asked beyond the completion rate, each limit by itself."""
    named = {metric.name: metric for metric in metrics}
    if policy.max_partial_drop is not None:
        real = test.ci_high is not None and test.ci_high < 0
        yield _fall("partial score", named["partialScore"], policy.max_partial_drop, is_real=real)
    if policy.max_composite_drop is not None:
        yield _fall("composite", named["compositeScore"], policy.max_composite_drop, is_real=True)
    if policy.max_p95_share is not None or policy.max_p95_ms is not None:
        yield _slower(named["p95Ms"], policy)
    for flip, word, asked in (
        (Flip.ADDED, "new", policy.new_tasks),
        (Flip.REMOVED, "gone", policy.removed_tasks),
    ):
        found = [task.task_id for task in tasks if task.flip is flip]
        if asked == "fail":
            said = f"{_counted(found)} {word}: {listed(found)}" if found else f"no task is {word}"
            yield GateOutcome(GATE, Outcome.FAIL if found else Outcome.PASS, said)


def _fall(what: str, metric: Metric, most: float, *, is_real: bool) -> GateOutcome:
    """Answer one limit; one that is passed by what may be chance is inconclusive."""
    if metric.delta is None:
        return GateOutcome(GATE, Outcome.UNMEASURED, f"the {what} was not measured on both sides")
    fell = -metric.delta
    if fell <= most + _ROUNDING:
        return GateOutcome(GATE, Outcome.PASS, f"the {what} moved by {metric.delta:+.3f}; it may fall by {most:g}")
    said = f"the {what} fell by {fell:.3f}, by more than {most:g}"
    if is_real:
        return GateOutcome(GATE, Outcome.FAIL, said)
    return GateOutcome(GATE, Outcome.INCONCLUSIVE, f"{said}, which chance may explain: more runs would tell")


def _slower(metric: Metric, policy: DiffPolicy) -> GateOutcome:
    if metric.delta is None or metric.a is None:
        return GateOutcome(GATE, Outcome.UNMEASURED, "the 95th percentile of latencies was not measured on both sides")
    bounds = [] if policy.max_p95_ms is None else [policy.max_p95_ms]
    bounds += [] if policy.max_p95_share is None else [policy.max_p95_share * metric.a]
    most = min(bounds)
    said = f"the 95th percentile of latencies moved by {metric.delta:+.0f} ms; it may grow by {most:.0f} ms"
    if metric.delta <= most + _ROUNDING:
        return GateOutcome(GATE, Outcome.PASS, said)
    if metric.noise:
        return GateOutcome(GATE, Outcome.PASS, f"{said}; that is within what repeated runs show")
    return GateOutcome(GATE, Outcome.FAIL, said)


def _counted(found: Sequence[str]) -> str:
    return "1 task is" if len(found) == 1 else f"{len(found)} tasks are"


def listed(found: Sequence[str]) -> str:
    """Name the first five tasks, and count the others."""
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(found[:_NAMED]) + more
