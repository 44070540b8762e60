"""What a benchmark's result does to the verdict of a run: gates, regressions, what could not be measured."""
# ruff: noqa: PTH118

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED
from skillgate.model.bench_diff import Pairing
from skillgate.model.score import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.action.benchmarks.running import Benched
    from skillgate.action.context import Stand
    from skillgate.action.parts import Evaluated
    from skillgate.model.bench import BenchReport
    from skillgate.model.bench_diff import BenchDiff
    from skillgate.model.run import ActionRun

GATE = "benchmark"


def touching(run: ActionRun, done: Evaluated, found: Benched, stand: Stand) -> ActionRun:
    """Count the skills of the benchmark that the change touches with those that are scored, each directory once."""
    benchmarked = len(found.report.reports) if found.report else 0
    if found.touched is None or run.touched is None:
        return dataclasses.replace(run, benchmarked=benchmarked)
    scored = {result.skill.path for result in done.report.results if result.skill.path not in run.beside}
    scored |= {change.path for change in done.diff.skills if change.after is None} if done.diff else set()
    top, workspace = os.path.realpath(stand.top), os.path.realpath(stand.place.workspace)
    known = {os.path.realpath(os.path.join(workspace, path)) for path in scored}
    more = {os.path.realpath(os.path.join(top, path)) for path in found.touched} - known
    return dataclasses.replace(run, benchmarked=benchmarked, touched=run.touched + len(more))


def with_benchmark(
    run: ActionRun, report: BenchReport | None, diff: BenchDiff | None, stand: Stand, lost: tuple[str, ...] = ()
) -> ActionRun:
    """Add to a run what its benchmark says.

    It fails where ``fail-on`` lists benchmark and a gate failed, a skill got worse and chance does not explain it, or
    the change takes a skill from the benchmark and not from the repository (``lost``, in words); of a fall that chance
    may explain only with ``on-inconclusive: fail``. Such a fall is told, except with ``on-inconclusive: pass``. What
    could not be measured is told, and makes the exit code 3, or 1 where ``fail-on`` lists unmeasured, unless
    ``on-unmeasured`` is pass.
    """
    listed = stand.config.get(settings.FAIL_ON)
    words = listed if isinstance(listed, tuple) else ()
    undecided = stand.config.get(settings.ON_INCONCLUSIVE)
    failed = [*lost, *_gates(report), *_regressions(diff, strict=undecided == "fail")]
    missing = list(_unmeasured(report))
    told = tuple(f"benchmark: {line}" for line in failed)
    code = run.exit_code
    if failed and GATE in words and code in (EXIT_PASSED, EXIT_INCOMPLETE):
        code = EXIT_GATE_FAILED
    if missing and stand.inputs["on-unmeasured"] != "pass" and code == EXIT_PASSED:
        code = EXIT_GATE_FAILED if "unmeasured" in words else EXIT_INCOMPLETE
    notices = run.notices
    if undecided in ("point", "warn"):
        notices = (*notices, *(f"benchmark: {line}" for line in _undecided(diff)))
    if GATE not in words:  # told, and fails nothing
        notices, told = (*notices, *told), ()
    result = {EXIT_PASSED: "pass", EXIT_GATE_FAILED: "fail"}.get(code, "error")
    reasons = (*run.reasons, *told, *(f"benchmark: {line}" for line in missing))
    return dataclasses.replace(run, exit_code=code, result=result, reasons=reasons, notices=notices)


def _gates(report: BenchReport | None) -> Iterator[str]:
    for one in report.reports if report else ():
        if one.gate.passed is False:
            reasons = [outcome.reason for outcome in one.gate.outcomes if outcome.verdict is not Outcome.PASS]
            yield f"{one.skill_id} on {one.benchmark_id}: {'; '.join(reasons) or 'its gate failed'}"


def _regressions(diff: BenchDiff | None, *, strict: bool) -> Iterator[str]:
    for change in diff.changes if diff else ():
        test = change.test
        if test is not None and (test.verdict is Outcome.FAIL or (strict and test.verdict is Outcome.INCONCLUSIVE)):
            yield f"{change.skill_id} on {change.benchmark_id} got worse: {test.reason}"
        elif change.pairing is Pairing.REMOVED:
            yield f"{change.skill_id} on {change.benchmark_id} is gone"


def _undecided(diff: BenchDiff | None) -> Iterator[str]:
    for change in diff.changes if diff else ():
        if change.test is not None and change.test.verdict is Outcome.INCONCLUSIVE:
            yield f"{change.skill_id} on {change.benchmark_id}: cannot tell whether it got worse: {change.test.reason}"


def _unmeasured(report: BenchReport | None) -> Iterator[str]:
    for one in report.reports if report else ():
        counts = one.summary.counts
        if counts.skipped:
            whole = counts.total + counts.skipped
            why = next((result.error for result in one.task_results if result.status.value == "skipped"), None)
            yield f"{one.skill_id}: {counts.skipped} of {whole} results could not be measured: {why or 'no reason'}"
        elif one.incomplete is not None:
            yield f"{one.skill_id}: {one.incomplete}"
