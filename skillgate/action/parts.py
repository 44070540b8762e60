"""What a run of the Action does beside scores: a benchmark, gates on recorded invocations, keeping what was found."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import EXIT_INCOMPLETE, EXIT_PASSED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.action.context import Stand
    from skillgate.action.invocations.gates import Asked
    from skillgate.action.listening import Listening
    from skillgate.model.bench import BenchReport
    from skillgate.model.bench_diff import BenchDiff
    from skillgate.model.diff import Diff
    from skillgate.model.invocation_report import InvocationReport
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.run import ActionRun
    from skillgate.store.target import Target

BENCH_ALONE = ("skills", "runs", "min-completion", "allow-exec", "allow-env")
"""The inputs that do something only where a benchmark is run."""


class Evaluated(NamedTuple):
    """What came of a run.

    Attributes:
        run, report, diff: of the skills.
        bench, bench_diff: of the benchmark; None without one or without a base.
        was: what each skill was in the base of the change, by its path now; None without a base.
        invocations: what is recorded of the skills, with the gates on it; None where none was asked for.
    """

    run: ActionRun
    report: Report
    diff: Diff | None
    bench: BenchReport | None = None
    bench_diff: BenchDiff | None = None
    was: Mapping[str, SkillResult] | None = None
    invocations: InvocationReport | None = None


def storing(stand: Stand, session: Listening) -> Target | None:
    """Make sure that results can be kept, where they are to be.

    Raises:
        UsageError: they cannot.
    """
    if not stand.inputs["store"]:
        return None
    from skillgate.action.storing import prepared  # most runs keep nothing

    return prepared(stand, session)


def kept(done: Evaluated, place: Target, stand: Stand, session: Listening) -> Evaluated:
    """Keep the results; that they could not be is told, and no run passes that was to keep them."""
    from skillgate.action.storing import keep

    problem = keep(done, place, stand, session)
    if problem is None:
        return done
    run = dataclasses.replace(done.run, reasons=(*done.run.reasons, problem))
    if run.exit_code == EXIT_PASSED:
        run = dataclasses.replace(run, exit_code=EXIT_INCOMPLETE, result="error")
    return done._replace(run=run)


def gating(stand: Stand, session: Listening) -> Asked | None:
    """Make sure that gates on recorded invocations can be asked, where they are to be.

    Raises:
        UsageError: they cannot.
        IncompleteError: git fails.
    """
    if not (stand.inputs["invocations"] or stand.inputs["gate"]):
        return None
    from skillgate.action.invocations.gates import prepared  # most runs ask none

    return prepared(stand, session)


def gated(done: Evaluated, asked: Asked | None, stand: Stand, session: Listening) -> Evaluated:
    """Ask the gates on recorded invocations."""
    if asked is None:
        return done
    from skillgate.action.invocations.gates import gated as asked_of

    return asked_of(done, asked, stand, session)


def benchmarked(done: Evaluated, stand: Stand, session: Listening) -> Evaluated:
    """Run the benchmark too, where one is asked for."""
    if not (stand.inputs["benchmark"] or stand.inputs["tasks"]):
        named = [name for name in BENCH_ALONE if stand.inputs[name]]
        if named:
            session.note(f"input {named[0]} does nothing without the input benchmark")
        return done._replace(run=dataclasses.replace(done.run, notices=session.notes))
    from skillgate.action.benchmarks.outcome import touching, with_benchmark  # most runs have none
    from skillgate.action.benchmarks.running import benched
    from skillgate.llm.ledger import Spent

    usage = done.report.usage
    cost = usage.cost_usd or 0.0
    found = benched(stand, session, Spent(calls=usage.calls, usd=cost, counted=cost))
    run = dataclasses.replace(done.run, notices=session.notes)
    if found is None:
        return done._replace(run=run)
    run = dataclasses.replace(run, policy_changes=(*run.policy_changes, *found.changed))
    run = touching(run, done, found, stand)
    run = with_benchmark(run, found.report, found.diff, stand, found.lost)
    return done._replace(run=run, bench=found.report, bench_diff=found.diff)
