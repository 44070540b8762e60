"""Compare two benchmark reports: what ``report diff`` does with reports of benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, settings
from skillgate.bench.evaluation.reading import KIND, kinds_of, read_bench
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, UsageError
from skillgate.model.score import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.bench.results.diff_limits import DiffPolicy
    from skillgate.model.bench import BenchReport
    from skillgate.model.bench_diff import BenchDiff
    from skillgate.session import Session


class DiffRequest(NamedTuple):
    """Which reports are compared, and what is worse.

    Attributes:
        a, b: their files.
        label_a, label_b: what to call them.
        policy: what a regression is.
        is_gate: whether a regression fails.
        on_inconclusive: what a fall does that chance may explain: ``point``, ``pass``, ``warn`` or ``fail``; None: what
            the configuration says, else ``point`` where a report has one run of each task, else ``warn``.
    """

    a: str
    b: str
    label_a: str
    label_b: str
    policy: DiffPolicy
    is_gate: bool
    on_inconclusive: str | None


def are_benchmarks(a: str, b: str, session: Session) -> bool:
    """Return whether both files are benchmark reports.

    Raises:
        UsageError: one is and the other is not.
    """
    kinds = kinds_of((a, b), session)
    if set(kinds.values()) == {KIND}:
        return True
    if KIND in kinds.values() and all(kinds.values()):
        message = " and ".join(f"{shown} is of kind {kind}" for shown, kind in kinds.items())
        raise UsageError(f"{message}: only two documents of one kind can be compared")
    return False


def bench_diff(request: DiffRequest, session: Session) -> tuple[BenchDiff, int]:
    """Compare two benchmark reports, and return the exit code too.

    Where a regression fails, all but PASS fails; of a fall that chance may explain ``on_inconclusive`` decides.

    Raises:
        UsageError: one is not valid, a golden task is in neither, or numpy and scipy are missing.
    """
    try:
        from skillgate.bench.results.diffing import diff
    except ModuleNotFoundError as error:
        raise UsageError(
            f'comparing benchmark reports needs {error.name}: pip install "skillgate-action[stats]"'
        ) from error
    from skillgate.bench.results.diff_limits import is_chance

    a, b = (_report(shown, session) for shown in (request.a, request.b))
    _require_golden(request.policy.golden, a, b)
    found = diff(
        a,
        b,
        label_a=request.label_a,
        label_b=request.label_b,
        version=__version__,
        policy=request.policy,
    )
    if not request.is_gate or found.verdict is Outcome.PASS:
        return found, EXIT_PASSED
    if not is_chance(found):
        return found, EXIT_GATE_FAILED
    word = request.on_inconclusive
    if word is None and session.config.origin(settings.ON_INCONCLUSIVE) != "default":
        word = session.config.get(settings.ON_INCONCLUSIVE)
    if word is None:
        word = "point" if _has_one_run(a, b) else "warn"
    if word == "warn":
        session.note(f"warning: {found.reasons[0]}")
    return found, EXIT_PASSED if word in ("pass", "warn") else EXIT_GATE_FAILED


def _has_one_run(*sides: BenchReport) -> bool:
    """Whether a report has one run of each task; of another program's reports only the results say so."""
    return any(
        max((result.run for one in side.reports for result in one.task_results), default=1) == 1 for side in sides
    )


def _report(shown: str, session: Session) -> BenchReport:
    report = read_bench(shown, session)
    keys = [(one.skill_id, one.benchmark_id) for one in report.reports]
    if len(set(keys)) < len(keys):
        raise UsageError(f"{shown} is not a benchmark report: a skill stands twice in it on one benchmark")
    return report


def _require_golden(golden: Sequence[str], *sides: BenchReport) -> None:
    known = {result.task_id for side in sides for one in side.reports for result in one.task_results}
    for task in golden:
        if task not in known:
            raise UsageError(f"--golden {task}: neither report has such a task")
