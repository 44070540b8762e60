"""Whether a skill can be run, as far as its files say: what eval refuses before it starts anything."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.bench.checking import unsupported
from skillgate.bench.program import command_of
from skillgate.bench.tokens import require_passable
from skillgate.bench.web.target import check_target
from skillgate.errors import UsageError
from skillgate.model.executable import AdapterType

if TYPE_CHECKING:
    from skillgate.model.executable import Runnable


def check_runnable(skill: Runnable) -> None:
    """Refuse a skill that no run could start or ask, whatever the options and variables.

    Raises:
        UsageError: saying why; what a shape cannot say, and what needs no look at the surroundings.
    """
    why = unsupported(skill.spec)
    if why is not None:
        raise UsageError(f"{skill.shown}: {why}")
    kind = skill.spec.adapter_type
    if kind is AdapterType.SKILLMD:
        from skillgate.bench.adapters.skillmd import subject_of  # loads what sessions need

        subject_of(skill)
    elif kind is AdapterType.HTTP or (kind is AdapterType.MCP and has_address(skill)):
        check_target(skill)
    elif kind in (AdapterType.SUBPROCESS, AdapterType.MCP):
        command_of(skill)
        for name in skill.config.pass_env:
            require_passable(name, {name}, where=f"{skill.shown}: passEnv")


def has_address(skill: Runnable) -> bool:
    """Whether an MCP server is reached at an address; otherwise it is a program.

    Raises:
        UsageError: the address has another scheme, or the tool's name is no text.
    """
    name = skill.spec.metadata.get("toolName")
    if name is not None and not isinstance(name, str):
        raise UsageError(f"{skill.shown}: metadata.toolName: expected a text")
    entrypoint = skill.spec.entrypoint.strip()
    is_address = re.match(r"https?://", entrypoint, re.IGNORECASE) is not None
    if skill.config.command is None and (is_address or skill.config.base_url is not None):
        return True
    if re.match(r"[a-z][a-z0-9+.-]*://", entrypoint, re.IGNORECASE):
        shown = entrypoint[:80]
        raise UsageError(f"{skill.shown}: entrypoint: expected a command, or an http(s) address, found {shown!r}")
    return False
