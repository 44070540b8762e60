"""Compares two benchmark reports for ``report diff``."""
# ruff: noqa: PTH118, PTH119

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from skillgate import __version__
from skillgate.cli.findings import read_whole
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, CodecError, UsageError
from skillgate.model.bench import BenchReport
from skillgate.model.codec import decode
from skillgate.model.score import SCHEMA_VERSION, Outcome
from skillgate.report.json import kind_of, parsed

if TYPE_CHECKING:
    import argparse

    from skillgate.cli.session import Session
    from skillgate.model.bench_diff import BenchDiff

KIND = "bench"


def are_benchmarks(args: argparse.Namespace, session: Session) -> bool:
    """Tell whether both files are benchmark reports; one that cannot be read is none, and is told by who reads it."""
    try:
        return all(kind_of(_read(shown, session)) == KIND for shown in (args.a, args.b))
    except UsageError:
        return False


def bench_diff(args: argparse.Namespace, session: Session) -> tuple[BenchDiff, int]:
    """Compare two benchmark reports, and give the exit code too.

    With ``--fail-on-regression`` what could not be told from chance fails as well: the figures fell.

    Raises:
        UsageError: one is not valid, an option does not fit, or numpy and scipy are missing.
    """
    if args.max_drop is not None:
        raise UsageError("--max-drop is for scores; of benchmarks the completion rate may not fall")
    try:
        from skillgate.bench.diffing import DiffPolicy, diff
    except ModuleNotFoundError as error:
        raise UsageError(
            f'comparing benchmark reports needs {error.name}: pip install "skillgate-action[stats]"'
        ) from error
    a, b = (_report(shown, session) for shown in (args.a, args.b))
    found = diff(
        a,
        b,
        label_a=args.label_a or os.path.basename(args.a),
        label_b=args.label_b or os.path.basename(args.b),
        version=__version__,
        policy=DiffPolicy(),
    )
    failed = args.fail_on_regression and found.verdict is not Outcome.PASS
    return found, EXIT_GATE_FAILED if failed else EXIT_PASSED


def _report(shown: str, session: Session) -> BenchReport:
    data = _read(shown, session)
    version = data.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UsageError(
            f"{shown} has schema version {version}: a later skillgate wrote it, and this one cannot read it"
        )
    try:
        report = decode(BenchReport, data)
    except CodecError as error:
        raise UsageError(f"{shown} is not a benchmark report: {error}") from None
    keys = [(one.skill_id, one.benchmark_id) for one in report.reports]
    if len(set(keys)) < len(keys):
        raise UsageError(f"{shown} is not a benchmark report: a skill stands twice in it on one benchmark")
    return report


def _read(shown: str, session: Session) -> Any:  # noqa: ANN401 - JSON
    return parsed(read_whole(os.path.join(session.cwd, shown), shown, "the report"), source=shown)
