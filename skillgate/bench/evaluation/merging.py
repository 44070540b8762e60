"""Join the shards of one benchmark run: what ``report merge`` does with reports of benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.evaluation.reading import read_bench
from skillgate.bench.joining import Part, join
from skillgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.bench.gating import BenchPolicy
    from skillgate.model.bench import BenchReport
    from skillgate.session import Session


def merge(names: Sequence[str], policy: BenchPolicy, session: Session) -> BenchReport:
    """Return the report that the whole run would have had.

    Args:
        names: the shards' files.
        policy: the gates of the whole run.
        session: for its working directory.

    Raises:
        UsageError: the files are not all shards of one run, or a required task was not run.
    """
    if len(set(names)) < len(names):
        raise UsageError("a shard is given twice")
    report = join([Part(name, read_bench(name, session)) for name in names], policy)
    known = {result.task_id for one in report.reports for result in one.task_results}
    missing = [task for task in policy.require_tasks if task not in known]
    if missing:
        raise UsageError(f"--require-task {missing[0]}: no such task was run")
    return report
