"""Compares two benchmark reports for ``report diff``."""
# ruff: noqa: PTH119

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from skillgate import __version__, settings
from skillgate.bench.evaluation.reading import KIND, kinds_of, read_bench
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, UsageError
from skillgate.model.score import Outcome
from skillgate.registry import Room

if TYPE_CHECKING:
    from skillgate.model.bench import BenchReport
    from skillgate.model.bench_diff import BenchDiff
    from skillgate.report.terminal import Style
    from skillgate.session import Session

_RENDERERS = Room("skillgate.report")
_CHOICES = ("ignore", "warn", "fail")
_UNITS = {"ms": 1.0, "s": 1000.0}


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Declare what a regression of benchmarks is."""
    group = parser.add_argument_group("reports of benchmarks: what is worse (fails with --fail-on-regression)")
    group.add_argument(
        "--max-completion-drop",
        metavar="SHARE",
        type=_share,
        help="by how much the completion rate may fall (default: 0; what chance explains is inconclusive)",
    )
    for figure in ("partial", "composite"):
        group.add_argument(
            f"--max-{figure}-drop", metavar="SHARE", type=_share, help=f"by how much the {figure} score may fall"
        )
    group.add_argument(
        "--max-p95-increase",
        metavar="SHARE|MS",
        type=_increase,
        help="by how much the 95th percentile of latencies may grow: 0.25, 25%% or 200ms; less than 50 ms or a"
        " quarter is noise",
    )
    for word in ("new", "removed"):
        group.add_argument(
            f"--{word}-tasks",
            choices=_CHOICES,
            help=f"what {word} tasks do; with ignore or warn the tasks of both are compared on another version of the"
            " benchmark too",
        )
    group.add_argument(
        "--golden", metavar="ID", action="append", default=[], help="a task that must not be lost; repeatable"
    )


def limits_given(args: argparse.Namespace) -> list[str]:
    """List the options about benchmarks that were given."""
    names = ("max_completion_drop", "max_partial_drop", "max_composite_drop", "max_p95_increase")
    found = [name for name in (*names, "new_tasks", "removed_tasks") if getattr(args, name) is not None]
    return [f"--{name.replace('_', '-')}" for name in (*found, *(["golden"] if args.golden else []))]


def are_benchmarks(args: argparse.Namespace, session: Session) -> bool:
    """Tell whether both files are benchmark reports.

    Raises:
        UsageError: one is and the other is not.
    """
    kinds = kinds_of((args.a, args.b), session)
    if set(kinds.values()) == {KIND}:
        return True
    if KIND in kinds.values() and all(kinds.values()):
        told = " and ".join(f"{shown} is of kind {kind}" for shown, kind in kinds.items())
        raise UsageError(f"{told}: only two documents of one kind can be compared")
    return False


def labels_of(args: argparse.Namespace) -> tuple[str, str]:
    """Give what to call the two: as asked, else by their files; equal names get their directories, or a letter."""
    names = [os.path.basename(args.a) or args.a, os.path.basename(args.b) or args.b]
    if names[0] == names[1]:
        names = [args.a, args.b]
    if names[0] == names[1]:
        names = [f"{names[0]} (A)", f"{names[1]} (B)"]
    return args.label_a or names[0], args.label_b or names[1]


def bench_diff(args: argparse.Namespace, session: Session) -> tuple[BenchDiff, int]:
    """Compare two benchmark reports, and give the exit code too.

    With ``--fail-on-regression`` all but PASS fails; of a fall that chance may explain ``--on-inconclusive`` decides.

    Raises:
        UsageError: one is not valid, an option does not fit, or numpy and scipy are missing.
    """
    if args.max_drop is not None:
        raise UsageError("--max-drop is for scores; of benchmarks it is --max-completion-drop, as a share such as 0.02")
    try:
        from skillgate.bench.diffing import diff
    except ModuleNotFoundError as error:
        raise UsageError(
            f'comparing benchmark reports needs {error.name}: pip install "skillgate-action[stats]"'
        ) from error
    from skillgate.bench.diff_limits import DiffPolicy, is_chance

    a, b = (_report(shown, session) for shown in (args.a, args.b))
    _require_golden(args.golden, a, b)
    share, ms = args.max_p95_increase or (None, None)
    label_a, label_b = labels_of(args)
    found = diff(
        a,
        b,
        label_a=label_a,
        label_b=label_b,
        version=__version__,
        policy=DiffPolicy(
            max_completion_drop=args.max_completion_drop or 0.0,
            max_partial_drop=args.max_partial_drop,
            max_composite_drop=args.max_composite_drop,
            max_p95_share=share,
            max_p95_ms=ms,
            new_tasks=args.new_tasks,
            removed_tasks=args.removed_tasks,
            golden=frozenset(args.golden),
        ),
    )
    if not args.fail_on_regression or found.verdict is Outcome.PASS:
        return found, EXIT_PASSED
    if not is_chance(found):
        return found, EXIT_GATE_FAILED
    word = args.on_inconclusive
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


def rendered_diff(found: BenchDiff, form: str, style: Style, *, verbose: bool) -> str:
    """Render a diff; only its format's module is loaded."""
    module = _RENDERERS.load("json" if form == "json" else f"bench_diff_{form}")
    text: str = module.render(found, style, verbose=verbose) if form == "text" else module.render(found)
    return text


def _report(shown: str, session: Session) -> BenchReport:
    report = read_bench(shown, session)
    keys = [(one.skill_id, one.benchmark_id) for one in report.reports]
    if len(set(keys)) < len(keys):
        raise UsageError(f"{shown} is not a benchmark report: a skill stands twice in it on one benchmark")
    return report


def _require_golden(golden: list[str], *sides: BenchReport) -> None:
    known = {result.task_id for side in sides for one in side.reports for result in one.task_results}
    for task in golden:
        if task not in known:
            raise UsageError(f"--golden {task}: neither report has such a task")


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
