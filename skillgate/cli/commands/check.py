"""Check skills: findings, one a line, and the gate. What the commit hooks run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.evaluation import add_evaluation, evaluate, exit_code, publish

if TYPE_CHECKING:
    import argparse

    from skillgate.cli.session import Session

FORMATS = ("text", "json", "markdown")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare paths, depth, gate and output."""
    add_evaluation(parser, FORMATS)


def run(args: argparse.Namespace, session: Session) -> int:
    """Check, print, gate."""
    evaluation = evaluate(args, session, command="check")
    publish(evaluation, args, session, command="check")
    return exit_code(evaluation)
