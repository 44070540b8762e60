"""What a comment says of a benchmark: the figures of each skill, before and after, and the tasks that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.action.comment.fit import Section
from skillgate.model.bench import Flip, Pairing, Status
from skillgate.model.score import Outcome
from skillgate.report.bench_diff import rerun_words
from skillgate.report.escape import code, inert
from skillgate.report.findings import bounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.action.comment.subject import Subject
    from skillgate.model.bench import BenchChange, CompletionReport, Rerun, TaskChange

_TEXT = 200  # characters of a reason
_NAME = 80
_READABLE = " · ⚠️ programs could read the expected answers"
_MOVED = (Flip.BROKEN, Flip.REMOVED, Flip.FIXED)
_SIGNS = {Flip.BROKEN: "❌ no longer passes", Flip.REMOVED: "⚠️ is gone", Flip.FIXED: "✅ passes now"}
_TESTED = {Outcome.PASS: "", Outcome.FAIL: "got worse: ", Outcome.INCONCLUSIVE: "cannot tell: "}


def benchmark(subject: Subject, *, most: int, folded: int) -> Iterator[Section]:
    """Show a benchmark: one row a skill, worst first, and the tasks that moved or failed, folded away."""
    if subject.bench is None:
        return
    reports = sorted(subject.bench.reports, key=_worst_first)
    changes = {
        (one.skill_id, one.benchmark_id): one for one in (subject.bench_diff.changes if subject.bench_diff else ())
    }
    shown = [_row(one, changes.get((one.skill_id, one.benchmark_id))) for one in reports[:most]]
    name = reports[0].benchmark_id if reports and subject.trusted else ""
    head = (
        "",
        (f"**Benchmark {inert(bounded(name, _NAME))}**" if name else "**Benchmark**")
        + (_READABLE if subject.bench.run.answers_readable else ""),
        "",
        "| | skill | completed | partial score | p95 | composite | |",
        "|:-:|---|--:|--:|--:|--:|---|",
    )
    if shown:
        yield Section.of("skills of the benchmark", head, shown, most=most, rank=3, total=len(reports))
    yield _tasks(reports, changes, most=folded)


def has_moved(subject: Subject) -> bool:
    """Whether a benchmark's results are not those of the base; those of a skill without a base are new."""
    if subject.bench is None or subject.bench_diff is None:
        return subject.bench is not None
    changes = subject.bench_diff.changes
    return any(one.pairing is not Pairing.BOTH or any(t.flip is not Flip.SAME for t in one.tasks) for one in changes)


def got_worse(subject: Subject) -> bool:
    """Whether a skill misses a bound of the benchmark, or does worse on it than in the base and not by chance."""
    reports = subject.bench.reports if subject.bench else ()
    tests = [change.test for change in subject.bench_diff.changes] if subject.bench_diff else []
    failed = any(test is not None and test.verdict is Outcome.FAIL for test in tests)
    return failed or any(one.gate.passed is False for one in reports)


def _worst_first(one: CompletionReport) -> tuple[bool, float, str]:
    return one.gate.passed is not False, one.summary.completion_rate or 0.0, one.skill_id


def _row(one: CompletionReport, change: BenchChange | None) -> str:
    counts, summary = one.summary.counts, one.summary
    before = {metric.name: metric.a for metric in change.metrics} if change and change.pairing is Pairing.BOTH else {}
    tested = change.test.verdict if change is not None and change.test is not None else Outcome.PASS
    is_doubtful = counts.skipped or one.incomplete or tested is Outcome.INCONCLUSIVE
    sign = "❌" if one.gate.passed is False or tested is Outcome.FAIL else "⚠️" if is_doubtful else "✅"
    cells = (
        sign,
        code(bounded(one.skill_id, _NAME)),
        _moved(before.get("completionRate"), summary.completion_rate, percent=True)
        + f" ({counts.passed} of {counts.total})",
        _moved(before.get("partialScore"), summary.partial_score),
        _latency(before.get("p95Ms"), one.latency.p95),
        _moved(before.get("compositeScore"), summary.composite_score),
        inert(bounded(_verdict(one, change), _TEXT)),
    )
    return f"| {' | '.join(cells)} |"


def _verdict(one: CompletionReport, change: BenchChange | None) -> str:
    parts = [outcome.reason for outcome in one.gate.outcomes if outcome.verdict is not Outcome.PASS]
    if one.summary.counts.skipped:
        parts.append(f"{one.summary.counts.skipped} results could not be measured")
    if one.incomplete:
        parts.append(one.incomplete)
    if change is None or change.pairing is not Pairing.BOTH:
        parts.append("no baseline")
    elif change.test is not None:
        parts.append(_TESTED[change.test.verdict] + change.test.reason)
        parts += change.notices
    return "; ".join(parts)


def _moved(before: float | None, now: float | None, *, percent: bool = False) -> str:
    text = [
        ("—" if value is None else f"{100 * value:.1f} %" if percent else f"{value:.3f}") for value in (before, now)
    ]
    return text[1] if before is None or before == now else f"{text[0]} → **{text[1]}**"


def _latency(before: float | None, now: float | None) -> str:
    text = ["—" if value is None else f"{value:,.0f} ms" for value in (before, now)]
    return text[1] if before is None else f"{text[0]} → {text[1]}"


def _tasks(reports: Sequence[CompletionReport], changes: dict[tuple[str, str], BenchChange], *, most: int) -> Section:
    """List what moved, and of skills without a base what does not pass."""
    lines: list[str] = []
    broken = fixed = failing = 0
    for one in reports:
        change = changes.get((one.skill_id, one.benchmark_id))
        if change is None or change.pairing is not Pairing.BOTH:
            found = list(_failing(one))
            failing += len(found)
            lines += found
            continue
        moved = sorted((task for task in change.tasks if task.flip in _MOVED), key=lambda task: _MOVED.index(task.flip))
        broken += sum(task.flip is Flip.BROKEN for task in moved)
        fixed += sum(task.flip is Flip.FIXED for task in moved)
        reruns = {rerun.task_id: rerun for rerun in change.reruns}
        lines += [_task(one.skill_id, task, reruns.get(task.task_id)) for task in moved]
    counted = ((broken, "no longer pass"), (fixed, "pass now"), (failing, "do not pass"))
    words = ", ".join(f"{count} {what}" for count, what in counted if count)
    if not lines:
        return Section("tasks of the benchmark")
    head = ("", f"<details><summary>Tasks of the benchmark: {words or len(lines)}</summary>", "")
    tail = ("", "</details>")
    return Section.of("tasks of the benchmark", head, lines[:most], most=most, tail=tail, rank=7, total=len(lines))


def _task(skill: str, task: TaskChange, rerun: Rerun | None) -> str:
    golden = " (golden)" if task.golden else ""
    runs = f", {task.a_passed}/{task.a_total} → {task.b_passed}/{task.b_total}" if task.a_total and task.b_total else ""
    why = f": {inert(bounded(task.reason, _TEXT))}" if task.reason and task.flip is not Flip.FIXED else ""
    name, who = code(bounded(task.task_id, _NAME)), code(bounded(skill, _NAME))
    rerun_text = f" ({inert(bounded(rerun_words(rerun), _TEXT))})" if rerun is not None else ""
    return f"- {who} {name}{golden} {_SIGNS[task.flip]}{runs}{rerun_text}{why}"


def _failing(one: CompletionReport) -> Iterator[str]:
    for result in one.task_results:
        if result.status in (Status.PASS, Status.SKIPPED):
            continue
        run = f" (run {result.run})" if result.run > 1 else ""
        why = result.error or result.reason or ""
        reason = f": {inert(bounded(why, _TEXT))}" if why else ""
        name = code(bounded(result.task_id, _NAME))
        yield f"- {code(bounded(one.skill_id, _NAME))} {name}{run} {result.status.value}{reason}"
