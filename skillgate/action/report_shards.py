"""Join the reports of earlier jobs of the same run, compare them with another report, and decide.

The reports are this workflow's own, as those of its jobs on a commit that is trusted; in a pull request they could be
anybody's, and there they are refused.
"""
# ruff: noqa: PTH118

from __future__ import annotations

import dataclasses
import os
import tempfile
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.action.base.policies import policies_of
from skillgate.action.context import load_context
from skillgate.action.outcome import Results, new_record, with_budget, with_scores
from skillgate.action.run import wanted_gates, with_gates
from skillgate.config import config_digest
from skillgate.errors import UsageError
from skillgate.evaluation.depth import chosen_depth
from skillgate.evaluation.diffing import DiffRequest, diff_files
from skillgate.evaluation.findings import read_whole
from skillgate.evaluation.policies import require_bounds
from skillgate.evaluation.shards import joined
from skillgate.model.documents import SingleReport
from skillgate.model.report import Report, Verdict
from skillgate.model.score import Outcome
from skillgate.report.joining import decided
from skillgate.report.json import read, render
from skillgate.scoring.regression import sampled_layers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.action.context import RunContext
    from skillgate.action.github.event import Event
    from skillgate.action.request import ActionRequest
    from skillgate.action.session import ActionSession
    from skillgate.model.diff import Diff

_CHANGES = "input reports: what earlier jobs have found is told where the workflow's own commit was evaluated, not in"
_COMPARABLE = "depth", "scoring_version", "models"
_BUDGETS = (settings.MAX_COST_USD.key, settings.MAX_CALLS.key)  # a reason that a budget gave names one of them


def merge_reports(request: ActionRequest, event: Event, session: ActionSession) -> Results:
    """Join the reports that the input names, compare them with another report, and decide.

    Gates of skills are those that the earlier jobs were given; what is decided here is the regression.

    Raises:
        UsageError: the event is a change, or a report does not do.
    """
    if event.pull_request is not None or event.name in ("merge_group", "workflow_run", "issue_comment"):
        raise UsageError(f"{_CHANGES} {event.name}")
    context = load_context(request, event, session.cwd)
    session = session.with_config(context.config)
    depth = chosen_depth(context.config)
    require_bounds(context.config, depth)
    for notice in context.notes:
        session.note(notice)
    gates = wanted_gates(context, session)
    report = _report(context, session)
    diff = _compared(context, report, session)
    if diff is not None:
        report = _with_regressions(report, diff)
    run = dataclasses.replace(new_record(context, event), notices=session.notes)
    run = with_scores(run, report, diff, context, complete=True)
    short = sorted({reason for reason in _reasons(report) if any(limit in reason for limit in _BUDGETS)})
    run = with_budget(run, report, "; ".join(short[:3]) or None)
    return with_gates(Results(run, report, diff, config_digest=config_digest(context.config)), gates, context, session)


def _reasons(report: Report) -> Iterator[str]:
    """Return why layers that ask models were not wholly measured."""
    for result in report.results:
        yield from (layer.reason for layer in sampled_layers(result) if layer.reason)


def _report(context: RunContext, session: ActionSession) -> Report:
    """Read the reports: one over all skills as it is, or all the shards of one run, joined."""
    names = [_inside(context, name, "reports") for name in context.request.reports]
    if len(names) == 1:
        alone = _read(names[0], session.cwd, "the report")
        if alone.shard is None:
            return alone
    return joined(names, None, lambda depth: policies_of(context, session, {}, depth), session)[0]


def _compared(context: RunContext, report: Report, session: ActionSession) -> Diff | None:
    """Compare with the report that the input ``baseline`` names; None without one, and where numbers mean others.

    Raises:
        UsageError: it is no report, or a revision, of which there is none.
    """
    name = context.compared.value
    if name is None:
        return None
    if not name.endswith(".json"):
        raise UsageError("input baseline: reports are compared with a report: write report:PATH, or none")
    name = _inside(context, name, "baseline")
    before = _read(name, session.cwd, "the baseline")
    other = [key for key in _COMPARABLE if getattr(before, key) != getattr(report, key)]
    if other:
        session.note(f"not compared with {name}: it has another {' and '.join(other).replace('_', ' ')}")
        return None
    with tempfile.TemporaryDirectory(prefix="skillgate-report-") as folder:
        place = os.path.join(folder, "report.json")
        with open(place, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(render(report))
        request = DiffRequest(a=name, b=place, label_a=name, label_b="this run", gated=_gates_regressions(context))
        return diff_files(request, session)


def _gates_regressions(context: RunContext) -> bool:
    return "regression" in (context.config.get(settings.FAIL_ON) or ())


def _with_regressions(report: Report, diff: Diff) -> Report:
    """Add to each skill the outcome of its regression gate, where there is one."""
    if diff.gate.passed is None and not diff.gate.outcomes:
        return report
    outcomes = {one.after.path: one.regression for one in diff.skills if one.after and one.regression}
    results = []
    for result in report.results:
        found = outcomes.get(result.skill.path)
        if found is not None:
            fails = found.verdict is Outcome.FAIL or result.gate.passed is False
            passed = False if fails else result.gate.passed
            # Shards that were compared with the same report have said so already, each for its own skills.
            others = tuple(one for one in result.gate.outcomes if one.gate != found.gate)
            result = result._replace(gate=Verdict(passed, (*others, found)))
        results.append(result)
    return decided(report._replace(results=tuple(results)))


def _read(name: str, workspace: str, what: str) -> Report:
    """Read a report over several skills.

    Raises:
        UsageError: it is none.
    """
    document = read(read_whole(os.path.join(workspace, name), name, what), source=name)
    if isinstance(document, SingleReport):
        raise UsageError(f"{name} is about one skill, and not a report of the Action")
    if not isinstance(document, Report):
        raise UsageError(f"{name} is not a report of scores")
    return document


def _inside(context: RunContext, name: str, declared: str) -> str:
    place = context.checkout.inside(name, f"input {declared}: {name!r}")
    return os.path.relpath(place, context.checkout.workspace)
