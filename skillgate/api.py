"""The Python interface, without the streams and exit codes of the command line."""

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
    """Score all skills at some paths, at quick depth: nothing is sent anywhere.

    Args:
        paths: skills, or directories with skills at any depth; by default the current directory.
        policy: the gate for each skill; by default none.

    Returns:
        The report, with results in the order of their paths. An unreadable skill has ``evaluated`` False. Without any
            skill, the report has no results.

    Raises:
        skillgate.errors.UsageError: a path does not exist, or is a file that is not a skill.
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
