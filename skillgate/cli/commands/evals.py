"""Lint or list the eval sets of skills, or calibrate the judge with human ratings."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.options import (
    Rare,
    add_models,
    add_output,
    add_paths,
    add_settings,
    option_values,
    output_format,
    request_from,
    style_of,
    write_text,
)
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED
from skillgate.evals.rules import THRESHOLD
from skillgate.files import require_place
from skillgate.format import Style
from skillgate.model.score import Depth
from skillgate.report.rendering import formats_of, render

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.console import Console
    from skillgate.model.evals import EvalsReport

GROUP = "model"
FORMATS = formats_of("evals")
_LEVELS = ("error", "warning", "never")
_LINT = "find eval sets that cannot distinguish a good skill from a bad one"
_SHOW = "list the contents of the eval sets: prompts, tasks, results"
_CALIBRATE = "judge skills that people have rated, and write a calibration of the judge"
_FORMS = """\
Eval sets are in a skill's evals/ directory: trigger sets and evals.json as written by skill-creator, the cases of
Claude Code's plugin evals, and evals/triggers.yaml, a list of prompts with should_trigger. Only calibrate asks a
model."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    words = parser.add_subparsers(dest="word", required=True, metavar="|".join(_WORDS))
    for name, (help_text, declare, _) in _WORDS.items():
        declare(words.add_parser(name, help=help_text, description=f"{help_text.capitalize()}.\n\n{_FORMS}"))


def run(args: argparse.Namespace, session: Console) -> int:
    """Run the subcommand.

    Raises:
        UsageError: a path or an option is not valid, or there is no eval set.
    """
    code: int = _WORDS[args.word][2](args, session)
    return code


def _declare_lint(parser: argparse.ArgumentParser) -> None:
    _declare_show(parser)
    parser.add_argument(
        "--threshold",
        metavar="SHARE",
        type=_share,
        help="the rate that the sets must be able to show, between 0 and 1; setting it makes TOO_SMALL"
        f" an error (default: {THRESHOLD}, a warning)",
    )
    parser.add_argument(
        "--results",
        metavar="FILE",
        action="append",
        default=[],
        help=Rare(
            "also check recorded results: benchmark.json, grading.json, aggregate-result.json or the"
            " output of trigger runs (those in evals/ are found anyway); repeatable"
        ),
    )
    parser.add_argument(
        f"--{settings.FAIL_ON.key}",
        metavar="LEVEL",
        choices=_LEVELS,
        default="error",
        help=f"exit with 1 on findings of this severity or worse: {', '.join(_LEVELS)} (default: error)",
    )


def _declare_show(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    parser.add_argument("--allow-empty", action="store_true", help=Rare("pass if there is no eval set at all"))
    add_output(parser, FORMATS)


def _declare_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("labels", metavar="LABELS", help="a YAML list of skill, dimension and human (0 to 10)")
    add_paths(parser)
    parser.add_argument(
        "--output-file", dest="calibration_file", metavar="FILE", required=True, help="the calibration file to write"
    )
    add_settings(parser, settings.CALIBRATE)
    add_models(parser, no_cache=True)


def _run_lint(args: argparse.Namespace, session: Console) -> int:
    from skillgate.evaluation.evals import LintRequest, lint_sets

    _require_places(args, session)
    request = request_from(LintRequest, args, paths=tuple(args.paths) or (".",))
    report = lint_sets(request, session)
    _publish(report, args, session)
    if report.gate.passed is False:
        return EXIT_GATE_FAILED
    return EXIT_PASSED if report.complete else EXIT_INCOMPLETE


def _run_show(args: argparse.Namespace, session: Console) -> int:
    from skillgate.evaluation.evals import show_sets

    _require_places(args, session)
    report = show_sets(tuple(args.paths) or (".",), session, allow_empty=args.allow_empty)
    _publish(report, args, session)
    return EXIT_PASSED if report.complete else EXIT_INCOMPLETE


def _run_calibrate(args: argparse.Namespace, session: Console) -> int:
    from skillgate.cli.evaluation import model_options
    from skillgate.evaluation.evals import Calibrated, CalibrateRequest, calibrate
    from skillgate.evaluation.request import EvaluateRequest, Scope

    request = EvaluateRequest(
        config=session.config.with_options({**option_values(args), settings.DEPTH.key: Depth.STANDARD.value}),
        scope=Scope(tuple(args.paths) or (".",)),
        models=model_options(args),
        use_cache=not args.no_cache,
        digest=False,
    )
    done = calibrate(CalibrateRequest(args.labels, args.calibration_file, request), session)
    if not isinstance(done, Calibrated):
        session.out(done.text)
        return EXIT_PASSED
    session.out(f"wrote {args.calibration_file}: {done.items} of {done.labels} labels")
    for name, one in done.measures:
        shown = one.reason if one.value is None else f"{one.value:.2f} ({one.ci_low:.2f} to {one.ci_high:.2f})"
        session.out(f"  {name:<12} {shown}")
    return EXIT_INCOMPLETE if done.left_out else EXIT_PASSED


# To add a subcommand, add a line: its help, its arguments, and what it does.
_WORDS: dict[str, tuple[str, Callable[..., None], Callable[..., int]]] = {
    "lint": (_LINT, _declare_lint, _run_lint),
    "show": (_SHOW, _declare_show, _run_show),
    "calibrate": (_CALIBRATE, _declare_calibrate, _run_calibrate),
}


def _publish(report: EvalsReport, args: argparse.Namespace, session: Console) -> None:
    for form, path in args.output_file:
        write_text(path, render(report, "evals", form, Style(), verbose=session.verbose), session)
    session.out(render(report, "evals", output_format(args), style_of(session), verbose=session.verbose))


def _require_places(args: argparse.Namespace, session: Console) -> None:
    output_format(args)
    for _, path in args.output_file:
        require_place(path, session.cwd)


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1 such as 0.8, found {text!r}")
    return number
