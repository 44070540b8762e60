"""Score skills: one number each, what it rests on, and what to do first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.evaluation import add_evaluation, evaluate, exit_code, publish

if TYPE_CHECKING:
    import argparse

    from skillgate.cli.session import Session

FORMATS = ("text", "json", "markdown", "html", "sarif", "github", "gitlab", "junit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare paths, depth, gate and output."""
    add_evaluation(parser, FORMATS)


def run(args: argparse.Namespace, session: Session) -> int:
    """Score, print, gate."""
    evaluation = evaluate(args, session, command="score")
    publish(evaluation, args, session, command="score")
    return exit_code(evaluation)
