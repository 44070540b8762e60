"""The example workflows, run by `act`: a runner of GitHub's workflows that is not ours.

The workflow files are those that a repository would have, byte for byte. Only what they use is at hand: `action.yml` is
a copy that points at the image built here, checkout is act's own, and the two actions for artifacts are stand-ins that
copy a directory. Not as on GitHub: the job runs as root in the directory it was given, and no permission is enforced.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillgate.cli.workflows import ACTION, FILES, place, workflow
from tests.container.engine import BASE_IMAGE, PROJECT
from tests.container.pull_request import REPOSITORY
from tests.container.runner import TOKEN
from tests.hooks.workshop import Done, tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.container.engine import Engine

ARTIFACTS = ".artifacts"  # in the workspace, the one directory that host and job share
_COPY = "mkdir -p {to} && cp -R {source}/. {to}/"
_STUB = """\
name: stand-in
description: Copies a directory.
inputs:
  name: {{description: of the artifact}}
  path: {{description: the directory}}
  run-id: {{description: where it is}}
  github-token: {{description: to fetch it with}}
  retention-days: {{description: how long it is kept}}
runs:
  using: composite
  steps:
    - shell: sh
      env:
        NAME: ${{{{ inputs.name }}}}
        FOLDER: ${{{{ inputs.path }}}}
      run: {run}
"""
_UPLOAD = _COPY.format(source='"$FOLDER"', to=f'"{ARTIFACTS}/$NAME"')
_DOWNLOAD = _COPY.format(source=f'"{ARTIFACTS}/$NAME"', to='"$FOLDER"')


def workflows() -> dict[str, str]:
    """Give the workflow files of a repository that uses all of them, text by path."""
    return {place(name): workflow(name) for name in FILES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """act, with an engine to run jobs in and an image for our own action."""

    engine: Engine
    image: str
    folder: Path
    api_url: str = "http://127.0.0.1:9"  # where nobody listens

    def run(self, name: str, event: str, payload: Mapping[str, Any], workspace: Path) -> Done:
        """Run a workflow of ours in a workspace.

        Args:
            name: the workflow's, as ``init --workflow`` takes it.
            event: what starts it.
            payload: the event.
            workspace: a clone that has the workflow.
        """
        assert (workspace / place(name)).read_text(encoding="utf-8") == workflow(name)
        told = self.folder / "event.json"
        told.write_text(json.dumps(payload), encoding="utf-8")
        remote = ["git", "config", "remote.origin.url", f"https://github.com/{REPOSITORY}"]
        subprocess.run(remote, cwd=workspace, check=True)
        argv = [
            *(tool("act") or "act", event, "--directory", str(workspace), "--workflows", place(name)),
            *("--eventpath", str(told), "--platform", f"ubuntu-latest={BASE_IMAGE}", "--pull=false", "--rm", "--bind"),
            *("--network", "host", "--container-daemon-socket", "-", "--action-offline-mode", "--no-cache-server"),
            *("--secret", f"GITHUB_TOKEN={TOKEN}", "--env", f"GITHUB_API_URL={self.api_url}"),
            *("--defaultbranch", "main"),
        ]
        for used, at in self._actions(workflow(name)).items():
            argv += ["--local-repository", f"{used}={at}"]
        return self._run(argv)

    def _run(self, argv: list[str]) -> Done:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(home), **self.engine.environ()}
        done = subprocess.run(
            argv, env=environ, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=180, check=False
        )
        return Done(done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"))

    def _actions(self, text: str) -> dict[str, Path]:
        """Lay out what a workflow uses; every action but checkout, which act does itself."""
        manifest = (PROJECT / "action.yml").read_text(encoding="utf-8")
        ours = manifest.replace("image: Dockerfile", f"image: docker://{self.image}")
        assert ours != manifest
        manifests = {ACTION: ours}
        for used in re.findall(r"uses: (actions/\S+)", text):
            if "checkout" not in used:
                manifests[used] = _STUB.format(run=json.dumps(_UPLOAD if "upload" in used else _DOWNLOAD))
        places = {used: self.folder / "actions" / re.sub(r"\W", "-", used) for used in manifests}
        for used, at in places.items():
            at.mkdir(parents=True, exist_ok=True)
            (at / "action.yml").write_text(manifests[used], encoding="utf-8")
        return places
