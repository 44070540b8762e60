"""What a run of the Action does beside scores: a benchmark, and keeping what was found."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import EXIT_INCOMPLETE, EXIT_PASSED

if TYPE_CHECKING:
    from skillgate.cli.action.listening import Listening
    from skillgate.cli.action.stand import Stand
    from skillgate.model.bench import BenchReport
    from skillgate.model.bench_diff import BenchDiff
    from skillgate.model.diff import Diff
    from skillgate.model.report import Report
    from skillgate.model.run import ActionRun
    from skillgate.store.target import Target

BENCH_ALONE = ("skills", "runs", "min-completion", "allow-exec", "allow-env")
"""The inputs that do something only where a benchmark is run."""


class Evaluated(NamedTuple):
    """What came of a run; ``bench`` and ``bench_diff`` of its benchmark, None without one or without a base."""

    run: ActionRun
    report: Report
    diff: Diff | None
    bench: BenchReport | None = None
    bench_diff: BenchDiff | None = None


def storing(stand: Stand, session: Listening) -> Target | None:
    """Make sure that results can be kept, where they are to be.

    Raises:
        UsageError: they cannot.
    """
    if not stand.inputs["store"]:
        return None
    from skillgate.cli.action.storing import prepared  # most runs keep nothing

    return prepared(stand, session)


def kept(done: Evaluated, place: Target, stand: Stand, session: Listening) -> Evaluated:
    """Keep the results; that they could not be is told, and no run passes that was to keep them."""
    from skillgate.cli.action.storing import keep

    problem = keep(done, place, stand, session)
    if problem is None:
        return done
    run = dataclasses.replace(done.run, reasons=(*done.run.reasons, problem))
    if run.exit_code == EXIT_PASSED:
        run = dataclasses.replace(run, exit_code=EXIT_INCOMPLETE, result="error")
    return done._replace(run=run)


def benchmarked(done: Evaluated, stand: Stand, session: Listening) -> Evaluated:
    """Run the benchmark too, where one is asked for."""
    if not (stand.inputs["benchmark"] or stand.inputs["tasks"]):
        named = [name for name in BENCH_ALONE if stand.inputs[name]]
        if named:
            session.note(f"input {named[0]} does nothing without the input benchmark")
        return done._replace(run=dataclasses.replace(done.run, notices=session.notes))
    from skillgate.cli.action.bench_outcome import with_benchmark  # most runs have none
    from skillgate.cli.action.benchmarks import benched

    found = benched(stand, session)
    run = dataclasses.replace(done.run, notices=session.notes)
    if found is None:
        return done._replace(run=run)
    run = with_benchmark(run, found.report, found.diff, stand, found.lost)
    return done._replace(run=run, bench=found.report, bench_diff=found.diff)
