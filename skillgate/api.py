"""The Python interface: what the command line does, without its streams and exit codes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.config import Config, config_digest
from skillgate.evaluate import pipeline
from skillgate.scoring.gate import Policy
from skillgate.scoring.selection import Selection
from skillgate.skill.discover import discover
from skillgate.skill.read import read

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
    asked = policy if policy is not None else Policy()
    discovery = discover([os.fspath(path) for path in paths] or ["."])
    digest = config_digest(Config(cwd="."))  # no configuration file is read
    everything = Selection(today=time.strftime("%Y-%m-%d"))
    context = pipeline.Context(
        version=__version__,
        clock=time.perf_counter_ns,
        config_digest=digest,
        policy=lambda _: asked,
        selection=lambda _: everything,
    )
    return pipeline.evaluate((read(root) for root in discovery.roots), context)
