"""Joins the shards of one benchmark run for ``report merge``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.evaluation.publishing import SUFFIXES, rendered, require_format
from skillgate.bench.evaluation.reading import read_bench
from skillgate.bench.evaluation.running import exit_code
from skillgate.bench.evaluation.sharding import GATES, gates_given
from skillgate.bench.joining import Part, join
from skillgate.cli.bench_options import policy_of
from skillgate.cli.options import gate_options, output_format
from skillgate.errors import UsageError
from skillgate.files import require_place, write
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    import argparse

    from skillgate.session import Session

FORMATS = ("text", *SUFFIXES)
_SHARED = "on-inconclusive"


def merge(args: argparse.Namespace, session: Session) -> int:
    """Join, write the report, and give the exit code that the whole run would have had.

    Raises:
        UsageError: an option does not fit, or the files are not all shards of one run.
    """
    asked = [key for key in gate_options(args) if key != _SHARED]
    asked += [key for key in ("certificate", "certificate_days", "badges") if getattr(args, key) is not None]
    if asked or args.allow_empty:
        named = asked[0].replace("_", "-") if asked else "allow-empty"
        raise UsageError(f"--{named} is for scores, and these are reports of benchmarks")
    forms = [output_format(args), *(form for form, _ in args.output_file)]
    for form in forms:
        if form not in FORMATS:
            raise UsageError(f"a report of benchmarks has no format {form}; it has {', '.join(FORMATS)}")
        require_format(form)
    for _, place in args.output_file:
        require_place(place, session.cwd)
    names = tuple(dict.fromkeys(args.shards))
    if len(names) < len(args.shards):
        raise UsageError("a shard is given twice")
    given = {key: value for key, value in gates_given(args).items() if key in GATES}
    policy = policy_of(args, session.config.with_options(given))
    report = join([Part(name, read_bench(name, session)) for name in names], policy)
    known = {result.task_id for one in report.reports for result in one.task_results}
    missing = [task for task in policy.require_tasks if task not in known]
    if missing:
        raise UsageError(f"--require-task {missing[0]}: no such task was run")
    for form, place in args.output_file:
        write(place, rendered(report, form, session, style=Style()).encode(errors="backslashreplace"), cwd=session.cwd)
    session.out(rendered(report, forms[0], session))
    return exit_code(report, allow_skipped=args.allow_skipped)


def refuse_gates(args: argparse.Namespace) -> None:
    """Refuse options about benchmarks where scores are joined.

    Raises:
        UsageError: there is one.
    """
    named = next(iter(gates_given(args)), None) or ("allow-skipped" if args.allow_skipped else None)
    if named is not None:
        raise UsageError(f"--{named} is for reports of benchmarks, and these are scores")
    if output_format(args) == "csv" or any(form == "csv" for form, _ in args.output_file):
        raise UsageError("a report of scores has no CSV; reports of benchmarks have")
