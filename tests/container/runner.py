"""A step of a Docker action, run as GitHub's runner runs it, in our own words.

The workspace belongs to uid 1001, the container runs as root without ``--user``; home, event, file commands and
workspace are mounted where the runner mounts them; inputs come as ``INPUT_*`` with their hyphens, defaults from
action.yml.
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.container.engine import PROJECT
from tests.container.limits import Log, read_log, shown_summary
from tests.container.pull_request import REPOSITORY
from tests.github.runner_protocol import ProtocolError, outputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.container.engine import Engine

OWNER = 1001  # whose the workspace is on GitHub's own machines
TOKEN = "ghs_0123456789abcdefghijklmnopqrstuvwxyz"  # nobody's; the stand-in for GitHub takes it
_FILES = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
_MOUNTS = {"home": "/github/home", "workflow": "/github/workflow", "commands": "/github/file_commands"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How a step ended.

    Attributes:
        code: the container's exit code.
        said: all of its log.
        log: what the runner makes of it.
        outputs: what later steps see; also those of a step that failed.
        summary: the job summary, None where the runner would drop it.
        refused: what the runner refuses in the file commands, ``""`` for nothing.
        root_owned: what the step left in the workspace that the next checkout could not remove.
    """

    code: int
    said: str
    log: Log
    outputs: Mapping[str, str]
    summary: str | None
    refused: str
    root_owned: tuple[str, ...]


@dataclass(kw_only=True)
class Runner:
    """A machine that runs one job in one workspace."""

    engine: Engine
    image: str
    folder: Path
    api_url: str = "https://api.github.com"
    context: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Lay out the runner's directories; the workspace is the caller's to fill."""
        for name in ("workspace", *_MOUNTS):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    @property
    def workspace(self) -> Path:
        """The directory that the job's checkout fills."""
        return self.folder / "workspace"

    def run(
        self,
        event: str = "push",
        payload: Mapping[str, Any] | None = None,
        *,
        inputs: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        args: tuple[str, ...] = (),
        network: str = "host",
    ) -> Step:
        """Run the step.

        Args:
            event: the event's name.
            payload: the event itself.
            inputs: the step's ``with``.
            env: the step's ``env``; the runner's own variables go over it.
            args: what the container gets in place of its default command.
            network: ``host`` or ``none``.
        """
        (self.folder / "workflow/event.json").write_text(json.dumps(payload or {}), encoding="utf-8")
        places = self._file_commands()
        environ = {**(env or {}), **_inputs(inputs or {}), **self._variables(event), **places}
        _own(self.workspace)
        done = self.engine.docker(*self._command(environ, args, network), env=environ)
        return self._step(done.code, done.said)

    def _command(self, environ: Mapping[str, str], args: tuple[str, ...], network: str) -> tuple[str, ...]:
        options = ["--rm", "--network", network, "--workdir", "/github/workspace"]
        for name in environ:
            options += ["--env", name] if name not in ("PATH", "HOME") else ["--env", f"{name}={environ[name]}"]
        for name, target in (*_MOUNTS.items(), ("workspace", "/github/workspace")):
            options += ["--volume", f"{self.folder / name}:{target}"]
        return ("run", *options, self.image, *args)

    def _variables(self, event: str) -> dict[str, str]:
        return {
            "HOME": "/github/home",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.api_url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "42",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_WORKFLOW": "skillgate",
            "GITHUB_JOB": "skillgate",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "GITHUB_WORKSPACE": "/github/workspace",
            "RUNNER_OS": "Linux",
            **self.context,
        }

    def _file_commands(self) -> dict[str, str]:
        """Make the files anew for a step, owned by the runner and writable by it alone."""
        step = uuid.uuid4().hex
        for old in (self.folder / "commands").iterdir():
            old.unlink()
        for name in _FILES:
            path = self.folder / "commands" / f"{name.lower()}_{step}"
            path.touch(mode=0o644)
            os.chown(path, OWNER, OWNER)
        return {name: f"/github/file_commands/{name.lower()}_{step}" for name in _FILES}

    def _step(self, code: int, said: str) -> Step:
        texts = {path.name.rpartition("_")[0]: path.read_bytes() for path in (self.folder / "commands").iterdir()}
        values, refused = {}, ""
        try:
            values = outputs(texts["github_output"].decode("utf-8"))
        except ProtocolError as error:
            refused = str(error)
        return Step(
            code=code,
            said=said,
            log=read_log(said),
            outputs=values,
            summary=shown_summary(texts["github_step_summary"].decode("utf-8")),
            refused=refused,
            root_owned=_root_owned(self.workspace),
        )


def _inputs(given: Mapping[str, str]) -> dict[str, str]:
    """Give every input as a variable: those of the step, then the defaults of action.yml."""
    declared = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    known = {"${{ github.token }}": TOKEN}
    defaults = {name: entry["default"] for name, entry in declared.items() if "default" in entry}
    values = {**{name: known.get(value, value) for name, value in defaults.items()}, **given}
    return {"INPUT_" + name.replace(" ", "_").upper(): value for name, value in values.items()}


def _own(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, OWNER, OWNER, follow_symlinks=False)


def _root_owned(folder: Path) -> tuple[str, ...]:
    return tuple(
        sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.lstat().st_uid != OWNER)
    )
