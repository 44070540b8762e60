"""``report merge`` and ``report diff`` of benchmark reports: their options, and what they print and write."""
# ruff: noqa: PTH119

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.bench.evaluation.publishing import rendered
from skillgate.cli.bench_request import merge_policy, named_gates
from skillgate.cli.options import given_settings, output_format
from skillgate.cli.parser import Rare
from skillgate.errors import UsageError
from skillgate.files import require_place, write
from skillgate.report.rendering import formats_of, render, writer
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    from skillgate.session import Session

_CHOICES = ("ignore", "warn", "fail")
_UNITS = {"ms": 1.0, "s": 1000.0}


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Declare what a regression of benchmarks is."""
    group = parser.add_argument_group("reports of benchmarks: what is worse (fails with --fail-on-regression)")
    group.add_argument(
        "--max-completion-drop",
        metavar="SHARE",
        type=_share,
        help=Rare("by how much the completion rate may fall (default: 0; what chance explains is inconclusive)"),
    )
    for figure in ("partial", "composite"):
        group.add_argument(
            f"--max-{figure}-drop", metavar="SHARE", type=_share, help=Rare(f"by how much the {figure} score may fall")
        )
    group.add_argument(
        "--max-p95-increase",
        metavar="SHARE|MS",
        type=_increase,
        help=Rare(
            "by how much the 95th percentile of latencies may grow: 0.25, 25%% or 200ms; less than 50 ms or a"
            " quarter is noise"
        ),
    )
    for word in ("new", "removed"):
        group.add_argument(
            f"--{word}-tasks",
            choices=_CHOICES,
            help=Rare(
                f"what {word} tasks do; with ignore or warn the tasks of both are compared on another version of the"
                " benchmark too"
            ),
        )
    group.add_argument(
        "--golden", metavar="ID", action="append", default=[], help=Rare("a task that must not be lost; repeatable")
    )


def limits_given(args: argparse.Namespace) -> list[str]:
    """List the options about benchmarks that were given."""
    values = {
        "--max-completion-drop": args.max_completion_drop,
        "--max-partial-drop": args.max_partial_drop,
        "--max-composite-drop": args.max_composite_drop,
        "--max-p95-increase": args.max_p95_increase,
        "--new-tasks": args.new_tasks,
        "--removed-tasks": args.removed_tasks,
        "--golden": args.golden or None,
    }
    return [option for option, value in values.items() if value is not None]


def merge_benchmarks(args: argparse.Namespace, session: Session) -> int:
    """Join shards of a benchmark run, write the report, and return the exit code that the whole run would have had.

    Raises:
        UsageError: an option does not fit, or the files are not all shards of one run.
    """
    from skillgate.bench.evaluation.merging import merge
    from skillgate.bench.evaluation.running import exit_code

    _refuse_score_options(args)
    forms = [output_format(args), *(form for form, _ in args.output_file)]
    for form in forms:
        showable = formats_of("bench")
        if form not in showable:
            raise UsageError(f"a report of benchmarks has no format {form}; it has {', '.join(showable)}")
        writer("bench", form)  # what a format needs and is not installed is said now
    for _, place in args.output_file:
        require_place(place, session.cwd)
    report = merge(args.shards, merge_policy(args, session.config), session)
    for form, place in args.output_file:
        text = rendered(report, form, session, style=Style())
        write(place, text.encode(errors="backslashreplace"), cwd=session.cwd)
    session.out(rendered(report, forms[0], session))
    return exit_code(report, allow_skipped=args.allow_skipped)


def refuse_bench_options(args: argparse.Namespace) -> None:
    """Refuse options about benchmarks where scores are joined.

    Raises:
        UsageError: there is one.
    """
    named = [*named_gates(args), *["allow-skipped"] * args.allow_skipped]
    if named:
        raise UsageError(f"--{named[0]} is for reports of benchmarks, and these are scores")
    if output_format(args) == "csv" or any(form == "csv" for form, _ in args.output_file):
        raise UsageError("a report of scores has no CSV; reports of benchmarks have")


def diff_benchmarks(args: argparse.Namespace, form: str, session: Session) -> int:
    """Compare two benchmark reports, write what differs in a format, and return the exit code.

    Raises:
        UsageError: one is not valid, an option does not fit, or numpy and scipy are missing.
    """
    from skillgate.bench.evaluation.diffing import DiffRequest, bench_diff
    from skillgate.bench.results.diff_limits import DiffPolicy

    if args.max_drop is not None:
        raise UsageError(
            f"--{settings.MAX_DROP.key} is for scores; of benchmarks it is --max-completion-drop, as a share such as"
            " 0.02"
        )
    share, ms = args.max_p95_increase or (None, None)
    label_a, label_b = labels_of(args)
    policy = DiffPolicy(
        max_completion_drop=args.max_completion_drop or 0.0,
        max_partial_drop=args.max_partial_drop,
        max_composite_drop=args.max_composite_drop,
        max_p95_share=share,
        max_p95_ms=ms,
        new_tasks=args.new_tasks,
        removed_tasks=args.removed_tasks,
        golden=tuple(args.golden),
    )
    request = DiffRequest(args.a, args.b, label_a, label_b, policy, args.fail_on_regression, args.on_inconclusive)
    found, code = bench_diff(request, session)
    style = Style(width=session.width, color=session.color) if args.output is None else Style()
    text = render(found, "bench-diff", form, style, verbose=session.verbose)
    if args.output is None:
        session.out(text)
    else:
        write(args.output, text.encode(errors="backslashreplace"), cwd=session.cwd)
        session.note(f"wrote {args.output}: {found.verdict.value}")
    return code


def labels_of(args: argparse.Namespace) -> tuple[str, str]:
    """Return what to call the two: their files' names if no option says; equal ones get directories, or a letter."""
    names = [os.path.basename(args.a) or args.a, os.path.basename(args.b) or args.b]
    if names[0] == names[1]:
        names = [args.a, args.b]
    if names[0] == names[1]:
        names = [f"{names[0]} (A)", f"{names[1]} (B)"]
    return args.label_a or names[0], args.label_b or names[1]


def _refuse_score_options(args: argparse.Namespace) -> None:
    """Raise UsageError if an option is about scores."""
    of_scores = {setting.key for setting in settings.of_group(settings.GATE)} - {settings.ON_INCONCLUSIVE.key}
    named = [key for key in given_settings(args) if key in of_scores]
    written = {"certificate": args.certificate, "certificate-days": args.certificate_days, "badges": args.badges}
    named += [key for key, value in written.items() if value is not None]
    named += ["allow-empty"] * args.allow_empty
    if named:
        raise UsageError(f"--{named[0]} is for scores, and these are reports of benchmarks")


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        hint = f"; did you mean {number / 100:g}?" if 1 < number <= 100 else ""
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, found {text!r}{hint}")
    return number


def _increase(text: str) -> tuple[float | None, float | None]:
    """Read a share of what it was, or milliseconds."""
    unit = next((unit for unit in ("%", "ms", "s") if text.endswith(unit)), "")
    try:
        number = float(text.removesuffix(unit))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(
            f"expected a share such as 0.25 or 25%, or a time such as 200ms; found {text!r}"
        )
    if unit in _UNITS:
        return None, number * _UNITS[unit]
    if not unit and number > 10:
        raise argparse.ArgumentTypeError(f"{text!r} has no unit: write {text}ms for milliseconds, or {text}%")
    return (number / 100 if unit else number), None
