"""The figures of benchmark reports as every format writes them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural
from skillgate.model.bench import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.bench import BenchReport, CompletionReport, Proportion, TaskResult

NOTHING = "—"


class TaskRow(NamedTuple):
    """All runs of one task: how many passed of those that were measured, and one that did not, with its words."""

    task: str
    passed: int
    measured: int
    skipped: int
    worst: TaskResult
    latency_ms: float | None

    @property
    def status(self) -> str:
        """Give the word for it: its status, ``flaky`` where some runs passed and others did not."""
        if 0 < self.passed < self.measured:
            return "flaky"
        return self.worst.status.value


_WORST = (Status.ERROR, Status.TIMEOUT, Status.FAIL, Status.SKIPPED, Status.PASS)


def rows(results: Iterable[TaskResult]) -> list[TaskRow]:
    """Fold the runs of each task into one row: what failed first, then in order."""
    found: dict[str, list[TaskResult]] = {}
    for result in results:
        found.setdefault(result.task_id, []).append(result)
    table = [_row(task, runs) for task, runs in found.items()]
    return sorted(table, key=lambda row: (_WORST.index(row.worst.status), row.passed))


def _row(task: str, runs: list[TaskResult]) -> TaskRow:
    statuses = Counter(run.status for run in runs)
    worst = min(runs, key=lambda run: _WORST.index(run.status))
    times = [run.latency_ms for run in runs if run.latency_ms is not None]
    skipped = statuses[Status.SKIPPED]
    return TaskRow(task, statuses[Status.PASS], len(runs) - skipped, skipped, worst, max(times, default=None))


def why(result: TaskResult) -> str:
    """Say why a result is what it is: the error with its kind, else the scorer's reason."""
    if result.error:
        return f"{result.error_kind.value}: {result.error}" if result.error_kind else result.error
    return result.reason or ""


def percent(share: float | None) -> str:
    """Write a ratio, as in ``93.3 %``."""
    return NOTHING if share is None else f"{100 * share:.1f} %"


def milliseconds(value: float | None) -> str:
    """Write a time, as in ``188 ms``."""
    return NOTHING if value is None else f"{value:.0f} ms"


def figure(value: float | None, digits: int = 3) -> str:
    """Write a number with so many decimals."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def interval(share: Proportion | None) -> str:
    """Write the ends of a share's interval in per cent, ``""`` where it has none."""
    if share is None or share.ci_low is None or share.ci_high is None:
        return ""
    return f"{100 * share.ci_low:.0f}–{100 * share.ci_high:.0f}"


def warnings(report: BenchReport) -> Iterator[str]:
    """Say what weakens every figure of a report: what programs of skills could do."""
    if report.run.run_as_caller:
        yield "programs ran as the calling user (--run-as-caller)"
    if report.run.answers_readable:
        yield "programs could read the expected answers; --sandbox bwrap keeps them away"


def usage(report: CompletionReport) -> str:
    """Write tokens and cost, ``""`` where nobody reported any; a cost that is not known is left out."""
    found = report.token_cost
    if found is None:
        return ""
    cost = "" if found.cost_usd is None else f", ${found.cost_usd:.4f}"
    return f"{found.total:,} tokens ({found.input:,} in, {found.output:,} out){cost}"


def is_sure(report: BenchReport) -> bool:
    """Tell whether everything that was to be measured was."""
    return bool(report.reports) and not any(
        one.summary.counts.skipped or not one.summary.counts.total or one.incomplete for one in report.reports
    )


def outcome(report: CompletionReport) -> str:
    """Write what the gate says of one skill."""
    return {True: "pass", False: "FAIL", None: NOTHING}[report.gate.passed]


def verdict(report: BenchReport) -> str:
    """Say in one line what came of all of it."""
    skipped = sum(one.summary.counts.skipped for one in report.reports)
    count = len(report.reports)
    said = f"{plural(count, 'skill')}"
    if skipped:
        said += f", {plural(skipped, 'result')} not measured"
    if report.selection is not None:
        word = {True: "PASS", False: "FAIL", None: "NOT MEASURED"}[report.gate.passed]
        return f"{word}: {'; '.join((*(gate.reason for gate in report.gate.outcomes), said))}"
    if report.gate.passed is None:
        return f"No gate was asked for: {said}"
    failed = [one.skill_id for one in report.reports if one.gate.passed is False]
    if report.gate.passed:
        return f"PASS: {said}"
    return f"FAIL: {', '.join(failed) or 'what was not measured'} ({said})"
