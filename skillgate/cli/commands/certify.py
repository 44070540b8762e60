"""Certify skills: files, judges, simulated sessions and matches, with a badge; goes on where it was cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.commands.score import FORMATS
from skillgate.cli.evaluation import add_evaluation, evaluate, exit_code, publish
from skillgate.cli.options import add_models, add_sessions
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.evaluate.certifying import add_certificates, require_certificates, with_contents, write_certificates

if TYPE_CHECKING:
    import argparse

    from skillgate.session import Session

GROUP = "model"
_DEPTHS = ("deep", "certify")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare paths, depth, gate, models, sessions, shard and output."""
    add_evaluation(parser, FORMATS)
    add_models(parser)
    add_sessions(parser)
    add_certificates(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    """Ask everything, print, write certificates, gate.

    Raises:
        UsageError: an option asks for less than a certificate rests on.
    """
    if args.depth is None and args.layers is None:
        args.depth = "certify"
    if args.depth not in _DEPTHS:
        raise UsageError(
            "certify simulates sessions: give --depth certify (the default) or deep; score has quick and standard"
        )
    require_certificates(args, session)
    evaluation = evaluate(args, session, command="score")
    if evaluation.estimate is not None:
        from skillgate.evaluate.models.spending import estimated  # brings in the judge

        session.out(estimated(evaluation.estimate, args))
        return EXIT_PASSED
    evaluation = evaluation._replace(report=with_contents(evaluation.report, args, session))
    write_certificates(evaluation.report, args, session)
    publish(evaluation, args, session, command="score")
    evaluation.finish()
    return exit_code(evaluation)
