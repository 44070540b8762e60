"""Find the user's own adapters: a command in the skill's settings, or an installed entry point.

Both run like the program of a skill, with the same isolation. So nothing that a skill can name runs in this process.
"""
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.format import printable

if TYPE_CHECKING:
    from skillgate.model.benchmark import Runnable

GROUP = "skillgate.adapters"


def plugin_command(skill: Runnable) -> tuple[str, ...]:
    """Return the command of the user's own adapter for a skill.

    Raises:
        UsageError: There is no such adapter; the message says how to get one.
    """
    config = skill.config
    if config.command is not None:
        return (config.command, *config.args)
    found = _entry_point(config.plugin or skill.spec.adapter_type.value, skill)
    with open(os.path.join(os.path.dirname(__file__), "_plugin_driver.py"), encoding="utf-8") as source:  # noqa: PTH123
        driver = source.read()
    folder = None if found.dist is None else os.path.realpath(str(found.dist.locate_file("")))
    about = {"paths": [folder] if folder else [], "name": found.name, "value": found.value, "group": GROUP}
    return (sys.executable, "-I", "-c", driver, json.dumps(about))


def _entry_point(name: str, skill: Runnable) -> EntryPoint:
    installed = {point.name: point for point in entry_points(group=GROUP)}
    if name not in installed:
        known = ", ".join(sorted(installed)) or "none"
        raise UsageError(
            f"{skill.shown}: adapterType {skill.spec.adapter_type.value}: no adapter {printable(name)[:80]!r} is"
            f" installed (entry points of {GROUP}: {known}); install a package with one, or set command in"
            " adapter.config.json"
        )
    return installed[name]
