"""Score skills: one number each, the reasons, and what to fix first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.evaluation import BADGES_HELP, add_evaluation, publish_estimate, publish_score, score_request
from skillgate.cli.options import add_models, add_sessions, section
from skillgate.errors import EXIT_PASSED
from skillgate.evaluation.request import CertificateRequest
from skillgate.evaluation.run import evaluate, exit_code
from skillgate.model.score import Depth
from skillgate.report.rendering import formats_of

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console
    from skillgate.model.report import Report

POSITION = 2
GROUP = "everyday"
FORMATS = formats_of("score")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare paths, depth, gate and output."""
    add_evaluation(parser, settings.SCORE, FORMATS)
    add_models(parser)
    add_sessions(parser)
    section(parser, "output").add_argument(
        "--badges", metavar="DIR", help=f"{BADGES_HELP}; scores from the files alone are marked as estimates"
    )


_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


def run(args: argparse.Namespace, session: Console) -> int:
    """Score, print, gate."""
    request = score_request(args, session)
    wanted = CertificateRequest(badges=args.badges)
    if args.badges is not None:
        from skillgate.evaluation.certify import require_written  # few runs write badges

        require_written(wanted, session)
    evaluation = evaluate(request, session)
    if evaluation.estimate is not None:
        publish_estimate(evaluation.estimate, args, session)
        return EXIT_PASSED
    publish_score(evaluation, args, session)
    if args.badges is not None:
        _write_badges(evaluation.report, wanted, session)
    evaluation.finish()
    if (
        evaluation.report.depth is Depth.QUICK
        and session.config.origin(settings.DEPTH) == "default"
        and args.depth is None
    ):
        _tell_what_a_key_is_for(session)
    return exit_code(evaluation)


def _write_badges(report: Report, wanted: CertificateRequest, session: Console) -> None:
    """Write the badges, and say how a README shows them."""
    from skillgate.evaluation.certify import CATALOGUE, require_outside, write_certificates

    require_outside([result.skill.path for result in report.results], wanted, session)
    write_certificates(report, {}, wanted, session)
    session.note(f"wrote badges; for a README: ![skills]({wanted.badges}/{CATALOGUE}.svg)")


def _tell_what_a_key_is_for(session: Console) -> None:
    """Note what the next depth would add if there is a key; a key alone never runs it."""
    if any(session.environ.get(name) for name in _KEYS):
        session.note(
            "use --depth standard to have a model judge every dimension, including output quality and robustness,"
            " for about $0.1 to $0.4 per skill (--depth standard --dry-run shows the estimate)"
        )
