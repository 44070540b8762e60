"""The options of ``--grade``, which asks a model how uses of skills ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.options import add_model_answers, add_settings, option_values, request_from, section
from skillgate.errors import EXIT_PASSED, IncompleteError, UsageError

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console
    from skillgate.invocations.grading import Endings, Graded, GradeRequest
    from skillgate.invocations.records import ImportRequest


def add_grading(parser: argparse.ArgumentParser, command: str) -> None:
    """Declare ``--grade`` and the options about models of a command."""
    parser.add_argument(
        "--grade",
        action="store_true",
        help="ask a model about uses with an unknown outcome; sends their last texts, keys masked, and stores none",
    )
    add_settings(parser, command)
    add_model_answers(parser, command)
    section(parser, settings.MODELS.titles[command]).add_argument(
        "--dry-run", action="store_true", help="show what would be asked and what it would cost; ask nothing"
    )


def grade_request(args: argparse.Namespace) -> GradeRequest | None:
    """Return how to grade; None without ``--grade``.

    Raises:
        UsageError: ``--dry-run`` without ``--grade``.
    """
    if not args.grade:
        if args.dry_run:
            raise UsageError("--dry-run shows the cost of --grade; add --grade")
        return None
    from skillgate.evaluation.request import ModelOptions
    from skillgate.invocations.grading import GradeRequest

    models = request_from(ModelOptions, args, keep_answers=not args.no_cache)
    return GradeRequest(option_values(args), models)


def show_cost(request: ImportRequest, wanted: GradeRequest, suffixes: tuple[str, ...], session: Console) -> int:
    """Print what would be asked about all files, and what it would cost."""
    from skillgate.evaluation.sampled import DryRun
    from skillgate.invocations.grading import grade, read_endings

    done = grade(read_endings(request, suffixes, session), request, wanted, session)
    if isinstance(done, DryRun):
        session.out(done.document if session.json else done.text)
    return EXIT_PASSED


def grade_endings(
    endings: Endings | None, request: ImportRequest, wanted: GradeRequest | None, session: Console
) -> Graded | None:
    """Ask about the uses that were found while files were imported; None if nothing was asked."""
    if endings is None or wanted is None or not endings.found:
        return None
    from skillgate.invocations.grading import Graded, grade

    done = grade(endings, request, wanted, session)
    return done if isinstance(done, Graded) else None


def new_endings(wanted: GradeRequest | None) -> Endings | None:
    """Return an empty collection of uses to ask about; None if nothing is asked."""
    if wanted is None:
        return None
    from skillgate.invocations.grading import Endings

    return Endings()


def require_answers(graded: Graded | None) -> None:
    """Raise IncompleteError if an answer is missing, with the reasons."""
    if graded is not None and graded.unanswered:
        raise IncompleteError("\n".join(graded.reasons()))
