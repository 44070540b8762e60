"""Run as the GitHub Action: gate a pull request and say it in one comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console

GROUP = "reference"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: inputs come as INPUT_* variables, as the runner sets them."""
    parser.epilog = "Inputs are read from the INPUT_* variables of the runner; see action.yml."


def run(args: argparse.Namespace, session: Console) -> int:  # noqa: ARG001
    """Run the Action in this environment."""
    from skillgate.action import main  # help and other commands need nothing of it

    return main.run(session)
