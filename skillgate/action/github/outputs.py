"""The outputs of a run that are counted from its documents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate.model.bench_diff import Flip

if TYPE_CHECKING:
    from collections.abc import Collection

    from skillgate.action.comment.subject import Subject
    from skillgate.model.report import Report

SCORE_OUTPUTS = (
    *("skills", "errors", "warnings", "score", "scores"),
    *("coverage", "model-calls", "cached-answers", "cost-usd"),
)
"""The outputs that :func:`score_outputs` returns."""


def score_outputs(report: Report, beside: Collection[str]) -> dict[str, str]:
    """Count what is asked about, with the findings that others share with it or that belong to no skill."""
    asked = [result for result in report.results if result.skill.path not in beside]
    scores = {result.skill.path: result.composite.score for result in asked}
    known = [score for score in scores.values() if score is not None]
    counts = report.summary.findings
    return {
        "skills": str(len(asked)),
        "errors": str(counts.get("error", 0)),
        "warnings": str(counts.get("warning", 0)),
        "score": f"{min(known):.2f}" if known else "",
        "scores": json.dumps(scores, ensure_ascii=True),
        "coverage": f"{report.coverage:.2f}" if report.coverage is not None else "",
        "model-calls": str(report.usage.calls),
        "cached-answers": str(report.usage.cached),
        "cost-usd": f"{report.usage.cost_usd:.4f}" if report.usage.cost_usd is not None else "",
    }


def benchmark_outputs(subject: Subject, path: str) -> dict[str, str]:
    """Return the outputs of the benchmark, whose document has this path; empty without one."""
    bench, diff = subject.bench, subject.bench_diff
    if bench is None:
        return {"completion": "", "completions": "", "broken-tasks": "", "benchmark-json": ""}
    rates = {one.skill_id: one.summary.completion_rate for one in bench.reports}
    known = [rate for rate in rates.values() if rate is not None]
    broken = sum(task.flip is Flip.BROKEN for change in diff.changes for task in change.tasks) if diff else None
    return {
        "completion": f"{min(known):.4f}" if known else "",
        "completions": json.dumps(rates, ensure_ascii=True),
        "broken-tasks": "" if broken is None else str(broken),
        "benchmark-json": path,
    }


def gate_outputs(subject: Subject, path: str) -> dict[str, str]:
    """Return the outputs of gates on recorded invocations, whose document has this path; empty without one."""
    if subject.invocations is None:
        return {"gates": "", "invocations-json": ""}
    gates: dict[str, dict[str, str]] = {}
    for one in subject.invocations.gates:
        gates.setdefault(one.skill, {})[one.gate] = one.status
    return {
        "gates": json.dumps(gates, ensure_ascii=True),
        "invocations-json": path,
    }
