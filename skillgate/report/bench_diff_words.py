"""What every format says of a diff of benchmark reports: figures, and the tasks that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.bench import Basis, Flip, Pairing, RerunOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.bench import BenchChange, Metric, PairedTest, Rerun, TaskChange

NAMES = {
    "completionRate": "completed",
    "partialScore": "partial",
    "errorRate": "errors",
    "consistencyScore": "consistent",
    "p95Ms": "p95 (ms)",
    "compositeScore": "composite",
}
"""What the figures are called; others keep their key."""
_MOVED = (Flip.BROKEN, Flip.REMOVED, Flip.UNMEASURED, Flip.FIXED, Flip.ADDED, Flip.CHANGED)
_WHY = 200


def moved(tasks: Sequence[TaskChange]) -> list[TaskChange]:
    """List the tasks that did not stay as they were, what was lost first."""
    found = [task for task in tasks if task.flip in _MOVED]
    return sorted(found, key=lambda task: (not (task.golden and task.flip is Flip.BROKEN), _MOVED.index(task.flip)))


def name_of(metric: Metric) -> str:
    """Give what a figure is called."""
    return NAMES.get(metric.name, metric.name)


def number(metric: Metric, value: float | None) -> str:
    """Write one side of a figure."""
    return "—" if value is None else f"{value:.{_digits(metric)}f}"


def change(metric: Metric) -> str:
    """Write by how much a figure moved, with its sign."""
    if metric.delta is None:
        return "—"
    digits = _digits(metric)
    return "=" if round(metric.delta, digits) == 0 else f"{metric.delta:+.{digits}f}".replace("-", "−")


def meant(metric: Metric) -> str:
    """Say whether a change is good: ``better``, ``worse``, ``within noise``, or nothing."""
    if metric.noise:
        return "within noise"
    if metric.better is None or round(metric.delta or 0.0, _digits(metric)) == 0:
        return ""
    return "better" if metric.better else "worse"


def passes(passed: int, total: int) -> str:
    """Write how many runs of a task passed."""
    return f"{passed}/{total}" if total else "—"


def why(task: TaskChange) -> str:
    """Say why a task is not held any more."""
    if task.flip is Flip.FIXED:
        return ""
    kind = f"{task.error_kind.value}: " if task.error_kind and task.reason else ""
    return (kind + (task.reason or ""))[:_WHY]


def tested(test: PairedTest) -> str:
    """Say what the test over tasks found; without p where the verdict rests on broken tasks."""
    said = f"{test.tasks} tasks of both: {test.fixed} fixed, {test.broken} broken"
    if test.mcnemar_p is not None and test.basis is not Basis.BROKEN:
        said += f" (McNemar p = {test.mcnemar_p:.3f})"
    if test.mean_difference is not None:
        said += f"; mean score {_signed(test.mean_difference)}"
    if test.ci_low is not None and test.ci_high is not None:
        said += f" (95 % interval {_signed(test.ci_low)} to {_signed(test.ci_high)})"
    return said


def rerun_words(rerun: Rerun) -> str:
    """Say what running a task again has shown: how many of the reruns passed before and after."""
    said = f"run again: {passes(rerun.a_passed, rerun.a_total)} → {passes(rerun.b_passed, rerun.b_total)}, "
    if not rerun.a_total and not rerun.b_total:
        said = "" if rerun.outcome is not RerunOutcome.BROKEN else "not run again, "
    if rerun.outcome is RerunOutcome.UNMEASURED:
        return f"{said}could not be run again: {rerun.reason or 'no reason is given'}"
    return f"{said}{rerun.outcome.value}"


def alone(change: BenchChange) -> str:
    """Say where a skill is that stands in one report alone."""
    return "New: only in the second report." if change.pairing is Pairing.ADDED else "Gone: only in the first report."


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _digits(metric: Metric) -> int:
    return 0 if metric.name.endswith("Ms") else 3
