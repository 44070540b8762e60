"""What came of a run: its documents, its result, its exit code and the reasons; and the store they go to."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, settings
from skillgate.action.workspace import ActionSession, Checkout, require_untracked
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, IncompleteError, UsageError
from skillgate.evaluation.run import is_unjudged
from skillgate.model.bench import BenchDiff, Pairing
from skillgate.model.documents import ActionRun
from skillgate.model.finding import Severity
from skillgate.model.layers import JudgeLayer, MonteCarloLayer, RankingLayer
from skillgate.model.report import Report, SkillResult, Tool
from skillgate.model.score import Outcome
from skillgate.report.tally import worst_first
from skillgate.report.text import blamed_outside, failures
from skillgate.scoring.gate import sampled_layers
from skillgate.store.target import Target, require_file, require_packages, target_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.action.context import RunContext
    from skillgate.action.github import Event
    from skillgate.model.bench import BenchReport
    from skillgate.model.documents import Diff, SkillChange
    from skillgate.model.invocation import GateCheck, InvocationReport


BENCHMARK = "benchmark"
"""The gate that a benchmark answers."""
_LAYERS = {JudgeLayer: "judged", MonteCarloLayer: "simulated", RankingLayer: "ranked"}
_FAILED = {"failed": "failed", "triggered": "went off"}
_MISSING = ("no_data", "unmeasured")


class Results(NamedTuple):
    """The documents of a run."""

    run: ActionRun
    report: Report
    diff: Diff | None
    bench: BenchReport | None = None
    bench_diff: BenchDiff | None = None
    invocations: InvocationReport | None = None  # what is recorded of the skills, with the gates on it
    config_digest: str = ""  # of the configuration that held


def new_record(context: RunContext, event: Event) -> ActionRun:
    """Return the record of a run with what is known before it."""
    base = context.base
    return ActionRun(
        result="pass",
        exit_code=EXIT_PASSED,
        tool=Tool(version=__version__),
        event=event.name,
        head=base.head,
        change=base.change,
        base=context.compared.commit,
        compared=context.compared.how,
        policy="the base" if context.is_change else "this commit",
        policy_commit=base.tip or "",
        changed_only=context.changed_only,
    )


def with_scores(run: ActionRun, report: Report, diff: Diff | None, context: RunContext, *, complete: bool) -> ActionRun:
    """Return the run with what its report says; ``complete`` is whether all directories could be searched."""
    reasons = (*_failed(report, diff), *_unread(report, run.beside, complete=complete))
    code = EXIT_GATE_FAILED if report.gate.passed is False else EXIT_PASSED
    if code == EXIT_PASSED and reasons and context.request.on_unmeasured != "pass":
        code = EXIT_INCOMPLETE
    return _with_code(run, code, reasons)


def with_benchmark(
    run: ActionRun, report: BenchReport | None, diff: BenchDiff | None, context: RunContext, lost: tuple[str, ...] = ()
) -> ActionRun:
    """Return the run with what its benchmark says.

    It fails where ``fail-on`` lists benchmark and a gate failed, a skill got worse and chance does not explain it, or
    the change takes a skill from the benchmark and not from the repository (``lost``, in words); of a fall that chance
    may explain only with ``on-inconclusive: fail``. Such a fall is a notice, except with ``on-inconclusive: pass``.
    What could not be measured is a reason, and makes the exit code 3, or 1 where ``fail-on`` lists unmeasured, unless
    ``on-unmeasured`` is pass.
    """
    fail_on, undecided = _fail_on(context), context.config.get(settings.ON_INCONCLUSIVE)
    failed = [*lost, *_failed_gates(report), *_regressions(diff, strict=undecided == "fail")]
    lines = tuple(f"benchmark: {line}" for line in failed)
    missing = tuple(f"benchmark: {line}" for line in _unmeasured(report))
    notices = run.notices
    if undecided in ("point", "warn"):
        notices = (*notices, *(f"benchmark: {line}" for line in _undecided(diff)))
    gates = BENCHMARK in fail_on
    if not gates:
        notices, lines = (*notices, *lines), ()
    code = _code(run, context, failed=gates and bool(failed), missing=bool(missing))
    return _with_code(dataclasses.replace(run, notices=notices), code, (*run.reasons, *lines, *missing))


def with_gates(run: ActionRun, checks: Sequence[GateCheck], context: RunContext, session: ActionSession) -> ActionRun:
    """Return the run with what gates on recorded invocations say, each check by the path of its skill.

    A requirement that failed or a trigger that went off fails the step, unless ``fail-on`` is never: then it is noted.
    What could not be answered is a reason, and makes the exit code 3, or 1 where ``fail-on`` lists unmeasured, unless
    ``on-unmeasured`` is pass. A trigger with too few invocations has not gone off.
    """
    failed = [f"{_gate(one)} {_FAILED[one.status]}: {_why(one)}" for one in checks if one.status in _FAILED]
    missing = [f"{_gate(one)} could not be answered: {_why(one)}" for one in checks if one.status in _MISSING]
    if "never" in _fail_on(context):
        for line in failed:
            session.note(line)
        failed = []
    # What fails the step stands first, before what could not be measured.
    reasons = (*run.reasons, *failed) if run.exit_code == EXIT_GATE_FAILED else (*failed, *run.reasons)
    code = _code(run, context, failed=bool(failed), missing=bool(missing))
    return _with_code(run, code, (*reasons, *missing))


def with_budget(run: ActionRun, report: Report, spent: str | None) -> ActionRun:
    """Return the run with the budget that ended it early, first of all: what it left unmeasured is no skill's fault."""
    left = sum(is_unjudged(result) for result in report.results)
    if spent is None or not left:
        return run
    count = len(report.results) - len(run.beside)
    reason = f"budget: {spent}; {left} of {count} skill{'s' * (count != 1)} could not be wholly measured"
    return dataclasses.replace(run, reasons=(reason, *run.reasons))


def with_failure(run: ActionRun, reason: str) -> ActionRun:
    """Return the run with something that could not be done: it does not pass."""
    code = EXIT_INCOMPLETE if run.exit_code == EXIT_PASSED else run.exit_code
    return _with_code(run, code, (*run.reasons, reason))


def _code(run: ActionRun, context: RunContext, *, failed: bool, missing: bool) -> int:
    """Return the exit code of a run once more was gated: ``failed`` its gates, ``missing`` what they need."""
    code = run.exit_code
    if failed and code in (EXIT_PASSED, EXIT_INCOMPLETE):
        code = EXIT_GATE_FAILED
    if missing and context.request.on_unmeasured != "pass" and code == EXIT_PASSED:
        code = EXIT_GATE_FAILED if "unmeasured" in _fail_on(context) else EXIT_INCOMPLETE
    return code


def _with_code(run: ActionRun, code: int, reasons: tuple[str, ...]) -> ActionRun:
    result = {EXIT_PASSED: "pass", EXIT_GATE_FAILED: "fail"}.get(code, "error")
    return dataclasses.replace(run, result=result, exit_code=code, reasons=reasons)


def _fail_on(context: RunContext) -> tuple[str, ...]:
    return context.config.get(settings.FAIL_ON) or ()


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
    words = f"{old} of them there before" if new else "there before" if old == 1 else "all of them there before"
    return f" (errors: {words})"


def _unread(report: Report, extras: Sequence[str], *, complete: bool) -> Iterator[str]:
    for result in report.results:
        if result.skill.path in extras:
            continue
        if result.composite.score is None:
            yield f"{result.skill.path} was not measured: {result.composite.reason}"
        for layer in sampled_layers(result):
            if result.composite.score is not None and layer.reason:
                yield f"{result.skill.path} was not wholly {_LAYERS[type(layer)]}: {layer.reason}"
    if not complete:
        yield "not all directories could be searched: there may be skills that nobody saw"


def _failed_gates(report: BenchReport | None) -> Iterator[str]:
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


def _gate(check: GateCheck) -> str:
    return f"{check.skill}: the gate {check.gate} on recorded invocations"


def _why(check: GateCheck) -> str:
    return "; ".join(check.failures) or check.status.replace("_", " ")


def store_target(checkout: Checkout, address: str) -> Target:
    """Return the store that the input ``store`` names, before anything is run.

    Raises:
        UsageError: the store cannot be used, or a change could have filled it; or its address holds a password.
    """
    if "://" not in address:
        require_untracked(checkout, address, f"input store: {address}")
    target = target_of(address, cwd=checkout.workspace)
    if target.secrets:
        raise UsageError("input store: an address with a password is in the log; give the step PGPASSWORD under env")
    require_packages(target)
    if target.path is not None:
        require_file(target, create=True)
    return target


def write_results(results: Results, target: Target, head: str, session: ActionSession) -> str | None:
    """Write the reports of the commit ``head``, without secrets; return what to say where that failed."""
    from skillgate.model.codec import encode
    from skillgate.store.keeper import Provenance, document_digest, open_store  # brings in the database's packages

    branch = session.environ.get("GITHUB_HEAD_REF") or session.environ.get("GITHUB_REF_NAME") or None
    documents = [one for one in (results.report if results.report.results else None, results.bench) if one is not None]
    try:
        store = open_store(target, create=True)
        try:
            for one in map(session.redactor.clean_values, documents):
                store.write(one, document_digest(encode(one)), Provenance("action", None, head or None, branch))
        finally:
            store.close()
    except (IncompleteError, UsageError) as error:
        return f"the results could not be kept: {error}"
    return None
