"""Compare two skills, or two revisions of a skill (REV:path)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.evaluation import model_options, publish_document, publish_estimate
from skillgate.cli.options import add_models, add_output, add_settings, option_values
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.evaluation.compare import compare_skills, exit_code
from skillgate.evaluation.request import CompareRequest
from skillgate.model.documents import Comparison
from skillgate.report.rendering import formats_of

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console

POSITION = 5
GROUP = "everyday"
FORMATS = formats_of("compare")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare both sides and what a regression is."""
    parser.add_argument("a", metavar="A", help="a skill, or REV:path of a skill in Git")
    parser.add_argument("b", metavar="B", help="the other")
    parser.add_argument(
        f"--{settings.MAX_DROP.key}",
        metavar="N",
        type=float,
        help="exit with 1 if B scores more than N points below A, or loses its badge",
    )
    parser.add_argument(
        f"--{settings.ON_INCONCLUSIVE.key}",
        metavar="WHAT",
        choices=settings.ON_INCONCLUSIVE.choices,
        help="what to do if chance may explain a judged drop: point, pass and warn allow it, fail does not",
    )
    add_settings(parser, settings.COMPARE)
    add_models(parser, no_cache=True)
    add_output(parser, FORMATS)


def run(args: argparse.Namespace, session: Console) -> int:
    """Score both sides and print the differences."""
    if args.max_drop is not None and not 0 <= args.max_drop < float("inf"):
        raise UsageError(f"--{settings.MAX_DROP.key} takes a number of at least 0")
    config = session.config.with_options(option_values(args))
    request = CompareRequest(args.a, args.b, config, models=model_options(args), max_drop=args.max_drop)
    comparison = compare_skills(request, session)
    if not isinstance(comparison, Comparison):
        publish_estimate(comparison, args, session)
        return EXIT_PASSED
    publish_document(comparison, args, session, command="compare")
    return exit_code(comparison)
