"""The server of an http skill in the foreground: the program that its settings name under ``serve``."""
# ruff: noqa: PTH113, PTH118, PTH119

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.bench.ports import Surroundings
from skillgate.bench.program import variables_of
from skillgate.bench.reading.loading import SKILL_JSON, load_skills
from skillgate.errors import EXIT_PASSED, IncompleteError, UsageError
from skillgate.model.executable import AdapterType
from skillgate.model.text import printable
from skillgate.session import deliver

if TYPE_CHECKING:
    from skillgate.session import Session


def is_skill(word: str, session: Session) -> bool:
    """Return whether a word is the path of a skill.json, or of a directory with one."""
    place = os.path.join(session.cwd, word)
    if os.path.basename(place) == SKILL_JSON:
        return os.path.isfile(place)
    return os.path.isfile(os.path.join(place, SKILL_JSON))


def serve_skill(path: str, port: int, session: Session) -> int:
    """Run a skill's server until it is interrupted.

    Raises:
        UsageError: the skill is not valid, has no server, or no program may be started.
        IncompleteError: the server could not be started, or ended by itself.
    """
    from skillgate import process  # `--help` spawns nothing

    (skill,) = load_skills([path], cwd=session.cwd).found
    config = skill.config
    if skill.spec.adapter_type is not AdapterType.HTTP or not config.serve:
        words = 'name its program in adapter.config.json, as in "serve": ["python3", "server.py"]'
        hint = words if skill.spec.adapter_type is AdapterType.HTTP else "eval starts programs by itself"
        raise UsageError(f"{path} has no server to run: {hint}")
    if port:
        raise UsageError(f"--port: {path} listens where its entrypoint says; change it in skill.json")
    if not session.config.get(settings.ALLOW_EXEC):
        raise UsageError(
            f"{path}: no program may be started here: {settings.ALLOW_EXEC.key} is false in your configuration"
        )
    surroundings = Surroundings(
        spawner=None,
        environ=session.environ,
        allow_env=frozenset(session.config.get(settings.ALLOW_ENV)),
        allow_host=frozenset(),
        guarded=False,
        served={},
        stop=threading.Event(),
    )
    env = {
        "PATH": session.environ.get("PATH", os.defpath),
        "HOME": session.environ.get("HOME", skill.root),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",  # what it leaves behind would change the skill's digest
        **variables_of(skill, surroundings),
    }
    deliver(session.stdout, _announced(skill.key, skill.spec.entrypoint, as_json=session.json) + "\n", flush=True)
    status = process.attend(config.serve, cwd=skill.root, env=env)
    if status:
        raise IncompleteError(f"the server of {path} ended by itself with status {status}; what it said stands above")
    return EXIT_PASSED


def _announced(key: str, entrypoint: str, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"skill": key, "entrypoint": entrypoint}, ensure_ascii=False)
    return printable(f"Starting the server of {key}, which is to answer at {entrypoint}. Ctrl-C ends it.")
