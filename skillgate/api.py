"""The Python interface: what the command line does, without its streams and exit codes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from skillgate.config import Config
from skillgate.console import Console
from skillgate.evaluation import run
from skillgate.evaluation.request import EvaluateRequest, Scope
from skillgate.scoring.gate import Policy

if TYPE_CHECKING:
    from pathlib import PurePath

    from skillgate.model.report import Report


def evaluate(*paths: str | PurePath, policy: Policy | None = None) -> Report:
    """Score every skill that the paths lead to, at quick depth: nothing is sent anywhere.

    Args:
        paths: skills, or directories that hold some at any depth; the current directory when none is given.
        policy: the gate for each skill; by default nothing is asked.

    Returns:
        The report, results in the order of their paths. A skill that could not be read is among them with
        ``evaluated`` False. No skill at all gives a report without results.

    Raises:
        skillgate.errors.UsageError: a path does not exist, or is a file that is no skill.
    """
    gate = policy if policy is not None else Policy()
    cwd = os.getcwd()  # noqa: PTH109
    request = EvaluateRequest(
        config=Config(cwd="."),  # no configuration file is read
        scope=Scope(tuple(os.fspath(path) for path in paths) or (".",), allow_empty=True),
        use_cache=False,
        use_processes=False,
    )
    session = Console(stdout=sys.stdout, stderr=sys.stderr, environ={}, cwd=cwd, quiet=True)
    return run.evaluate(request, session, policy=lambda _: gate).report
