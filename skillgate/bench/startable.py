"""Check files, and whether this machine can start the programs of skills: what ``bench validate`` does."""
# ruff: noqa: PTH100, PTH118

from __future__ import annotations

import os
import threading
from contextlib import closing
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.bench.authoring import check_file, find_files
from skillgate.bench.isolation.spawner import ProcessSpawner
from skillgate.bench.program import command_of
from skillgate.bench.skills import has_address, read_skill
from skillgate.errors import SkillgateError, UsageError
from skillgate.model.benchmark import AdapterType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.bench.authoring import Checked
    from skillgate.console import Console
    from skillgate.model.benchmark import Runnable


def validate(paths: Sequence[str], session: Console) -> list[Checked]:
    """Check the files of skills that run and of benchmarks, and whether programs can be started here.

    Raises:
        UsageError: a path does not exist.
    """
    checked = [check_file(path, cwd=session.cwd) for path in find_files(paths, cwd=session.cwd)]
    return _with_starting(checked, session)


def _with_starting(checked: Sequence[Checked], session: Console) -> list[Checked]:
    """Add to each valid skill.json why its program, which exists, cannot be started here; nothing is run."""
    skills = [one for one in checked if one.kind == "skill" and not one.problems]
    if not skills or session.config.get(settings.ALLOW_EXEC) is not True:
        return list(checked)
    try:
        spawner = ProcessSpawner(
            path=session.environ.get("PATH", os.defpath),
            stop=threading.Event(),
            sandbox=session.config.get(settings.SANDBOX),
        )
    except SkillgateError as error:
        session.note(f"not looked at whether programs can be started: {error}")
        return list(checked)
    with closing(spawner):
        return [one._replace(not_started=_problem(one, spawner, session)) if one in skills else one for one in checked]


def _problem(one: Checked, spawner: ProcessSpawner, session: Console) -> str:
    skill = read_skill(os.path.abspath(os.path.join(session.cwd, one.path)), one.path)
    try:
        argv = _command(skill)
    except UsageError:  # the check of the file says so
        return ""
    if not argv:
        return ""
    copy = skill.config.work_dir == "copy"
    return spawner.unstartable(argv, root=skill.root, env=skill.config.env, copy=copy) or ""


def _command(skill: Runnable) -> tuple[str, ...]:
    kind = skill.spec.adapter_type
    is_program = kind is AdapterType.SUBPROCESS or (kind is AdapterType.MCP and not has_address(skill))
    return command_of(skill) if is_program else ()
