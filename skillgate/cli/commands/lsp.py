"""Serve an editor: findings, fixes, hovers and completions for SKILL.md, over standard input and output.

An editor starts it; how to set one up is in docs/how-to/editors.md. It evaluates the text in the editor, saved or not,
with the configuration of the skill's repository. House rules of that repository that are code do not run, because who
only opens a file has not decided to trust it.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

from skillgate.errors import EXIT_PASSED, IncompleteError, UsageError

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console

GROUP = "everyday"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the trust in house rules."""
    parser.add_argument("--stdio", action="store_true", help="has no effect: some editors add it")
    parser.add_argument(
        "--run-house-rules",
        action="store_true",
        help="also run house rules that are code, of every repository that is opened",
    )


def run(args: argparse.Namespace, session: Console) -> int:
    """Serve until the editor closes the connection."""
    if sys.stdin is None:
        raise UsageError("there is no standard input; an editor starts this command")
    try:
        from skillgate.lsp.server import serve  # needs the extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs", "attrs"):
            raise
        raise IncompleteError(
            f"the language server needs a package that is not installed ({error.name} is missing);"
            " pip install 'skillgate-action[lsp]'"
        ) from None
    from skillgate.lsp.analysis import Options

    gc.enable()  # it lives for long
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_DFL)  # there is nothing to tidy up, and a thread waits for the editor
    protocol = os.dup(1)
    os.dup2(2, 1)  # whatever prints must not disturb the protocol
    options = Options(
        environ=session.environ,
        config_file=session.config_file,
        no_house_rules=session.no_house_rules,
        run_house_rules=args.run_house_rules,
    )
    with os.fdopen(protocol, "wb") as stdout:
        serve(options, session.note, sys.stdin.buffer, stdout)
    return EXIT_PASSED
