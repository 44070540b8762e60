"""Run as the GitHub Action: check a pull request and post the result as a comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console

GROUP = "reference"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: the runner passes inputs as INPUT_* variables."""
    parser.epilog = "Inputs are read from the runner's INPUT_* variables; see action.yml."


def run(args: argparse.Namespace, session: Console) -> int:  # noqa: ARG001
    """Run the Action in this environment."""
    from skillgate.action import main  # help and other commands need nothing of it

    return main.run(session)
