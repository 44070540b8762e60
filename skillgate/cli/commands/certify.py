"""Certify skills by files, judges, simulated sessions and matches, with a badge; resumes if interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.commands.score import FORMATS
from skillgate.cli.evaluation import (
    add_certificates,
    add_evaluation,
    certificate_request,
    publish_estimate,
    publish_score,
    score_request,
)
from skillgate.cli.options import Rare, add_models, add_sessions, shard_of_word
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.evaluation.certify import certify
from skillgate.evaluation.run import exit_code

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console

GROUP = "model"
_DEPTHS = ("deep", "certify")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare paths, depth, gate, models, sessions, shard and output."""
    add_evaluation(parser, settings.CERTIFY, FORMATS)
    add_models(parser)
    add_sessions(parser)
    group = parser.add_argument_group("certificate, badges and shards")
    group.add_argument(
        "--shard",
        metavar="I/N",
        type=shard_of_word,
        help=Rare("certify only the I-th of N parts of the skills; report merge joins the reports"),
    )
    add_certificates(group)


def run(args: argparse.Namespace, session: Console) -> int:
    """Certify, print, write certificates, gate.

    Raises:
        UsageError: an option asks for less than a certificate needs.
    """
    if args.depth is None and args.layers is None:
        args.depth = "certify"
    if args.depth not in _DEPTHS:
        raise UsageError(
            "certify simulates sessions; use --depth certify (the default) or deep (for quick and standard use score)"
        )
    request = score_request(args, session)
    request = request._replace(scope=request.scope._replace(shard=args.shard))
    outputs = [path for _, path in args.output_file]
    evaluation = certify(request, certificate_request(args), session, outputs=outputs)
    if evaluation.estimate is not None:
        publish_estimate(evaluation.estimate, args, session)
        return EXIT_PASSED
    publish_score(evaluation, args, session)
    evaluation.finish()
    return exit_code(evaluation)
