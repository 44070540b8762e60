"""What came of a run: its result, its exit code, and the reasons."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED
from skillgate.model.finding import Severity
from skillgate.model.judging import JudgeLayer
from skillgate.model.score import Outcome
from skillgate.model.simulating import MonteCarloLayer, RankingLayer
from skillgate.report.tally import worst_first
from skillgate.report.text import blamed_outside, failures
from skillgate.scoring.regression import sampled_layers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.action.context import Stand
    from skillgate.model.diff import Diff, SkillChange
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.run import ActionRun

_DONE = {JudgeLayer: "judged", MonteCarloLayer: "simulated", RankingLayer: "ranked"}


def judged(run: ActionRun, report: Report, diff: Diff | None, stand: Stand, *, complete: bool) -> ActionRun:
    """Say what came of it, with the reasons."""
    reasons = [*_failed(report, diff), *_unread(report, run.beside, complete=complete)]
    code = EXIT_GATE_FAILED if report.gate.passed is False else EXIT_PASSED
    if code == EXIT_PASSED and reasons and stand.inputs["on-unmeasured"] != "pass":
        code = EXIT_INCOMPLETE
    result = {EXIT_PASSED: "pass", EXIT_GATE_FAILED: "fail"}.get(code, "error")
    return dataclasses.replace(run, result=result, exit_code=code, reasons=tuple(reasons))


def _failed(report: Report, diff: Diff | None) -> Iterator[str]:
    changes = {change.path: change for change in diff.skills} if diff else {}
    for result in worst_first(report.results):
        if result.gate.passed is False:
            old = _old_errors(result, changes.get(result.skill.path))
            yield f"{result.skill.path}: {'; '.join(failures(result))}{old}"
    yield from blamed_outside(report)


def _old_errors(result: SkillResult, change: SkillChange | None) -> str:
    """Say how many of the errors that fail a skill were there before: it fails by them once it is touched."""
    errors = sum(finding.severity is Severity.ERROR for finding in result.findings)
    fails = any(outcome.gate == "error" and outcome.verdict is Outcome.FAIL for outcome in result.gate.outcomes)
    if change is None or change.before is None or not fails:
        return ""
    new = sum(finding.severity is Severity.ERROR for finding in change.new)
    if new == errors:
        return ""
    old = errors - new
    told = f"{old} of them there before" if new else "there before" if old == 1 else "all of them there before"
    return f" (errors: {told})"


def _unread(report: Report, beside: Sequence[str], *, complete: bool) -> Iterator[str]:
    for result in report.results:
        if result.skill.path in beside:
            continue
        if result.composite.score is None:
            yield f"{result.skill.path} was not measured: {result.composite.reason}"
        for layer in sampled_layers(result):
            if result.composite.score is not None and layer.reason:
                yield f"{result.skill.path} was not wholly {_DONE[type(layer)]}: {layer.reason}"
    if not complete:
        yield "not all directories could be searched: there may be skills that nobody saw"
