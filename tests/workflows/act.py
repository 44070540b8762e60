"""The example workflows, run by `act`: a runner of GitHub's workflows that is not ours.

The workflow files are those that a repository would have, byte for byte. Only what they use is at hand: `action.yml` is
a copy that points at the image built here, and the reusable workflows beside it are copies that name it, as a release
pins them. Checkout is act's own, and the actions for artifacts, caches and attestations are stand-ins that copy files
to and from a directory of the host. As on GitHub each job has a workspace of its own, which holds nothing before
checkout. Not as on GitHub: the job runs as root, and no permission is enforced.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillgate.cli.commands.init import FILES, place, reference, workflow
from skillgate.homepage import ACCOUNT, repository
from tests.container.engine import BASE_IMAGE, PROJECT
from tests.container.pull_request import REPOSITORY
from tests.container.runner import TOKEN
from tests.hooks.workshop import Done, tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.container.engine import Engine

RUN_S = 300.0
_STORE = "/store"  # where a job sees it
_INPUTS = {
    "NAME": "name",
    "FOLDER": "path",
    "PATTERN": "pattern",
    "KEY": "key",
    "PREFIX": "restore-keys",
    "SUBJECT": "subject-path",
    "RUN_ID": "run-id",
    "GITHUB_TOKEN_GIVEN": "github-token",
    "DAYS": "retention-days",
    "REPLACE": "overwrite",
}
_RUNS = {
    # Of one path its content, of several they themselves; a name that is taken is refused.
    "actions/upload-artifact": """\
to="/store/artifacts/$NAME"
[ "$REPLACE" != true ] || rm -rf "$to"
mkdir -p /store/artifacts && mkdir "$to"
if [ "$(printf '%s\\n' "$FOLDER" | grep -c .)" = 1 ]; then cp -R "$FOLDER/." "$to/"; else cp -R $FOLDER "$to/"; fi
""",
    # Of one name its content, of a pattern a directory for each.
    "actions/download-artifact": """\
mkdir -p "$FOLDER"
if [ -n "$PATTERN" ]; then cp -R /store/artifacts/$PATTERN "$FOLDER/"
else cp -R "/store/artifacts/$NAME/." "$FOLDER/"; fi
""",
    # What is not there is not kept, and that is no failure; a key is written once.
    "actions/cache/save": """\
if [ -e "$FOLDER" ]; then
mkdir -p /store/caches && mkdir "/store/caches/$KEY" && cp -R "$FOLDER" "/store/caches/$KEY/content"
else echo "nothing to keep: $FOLDER"; fi
""",
    # The newest whose key begins so.
    "actions/cache/restore": """\
found="$(ls -td "/store/caches/$PREFIX"* 2>/dev/null | head -n 1)"
if [ -n "$found" ]; then
if [ -d "$found/content" ]; then mkdir -p "$FOLDER" && cp -R "$found/content/." "$FOLDER/"
else mkdir -p "$(dirname "$FOLDER")" && cp "$found/content" "$FOLDER"; fi
echo "key=${found##*/}" >> "$GITHUB_OUTPUT"
fi
""",
    "astral-sh/setup-uv": """\
python3 -m venv /tmp/uv && /tmp/uv/bin/pip install --quiet uv && echo /tmp/uv/bin >> "$GITHUB_PATH"
""",
    "actions/attest-build-provenance": 'mkdir -p /store/attested && cp "$SUBJECT" /store/attested/\n',
}


def workflows() -> dict[str, str]:
    """Give the workflow files of a repository that uses all of them, text by path."""
    return {place(name): workflow(name) for name in FILES}


def pinned(name: str) -> str:
    """Give a reusable workflow that names our account, as a release pins it."""
    text = (PROJECT / ".github/workflows" / name).read_text(encoding="utf-8")
    return text.replace(f"{ACCOUNT}/skillgate", repository())


@dataclass(slots=True, kw_only=True)
class Act:
    """act, with an engine to run jobs in and an image for our own action.

    Attributes:
        folder: what act itself writes goes here.
        env: variables of every job, such as where a model listens.
        secrets: the repository's, beside the token.
        runs: how many there were.
        manifest: the text of our own action.yml; else that of the project, with the image.
    """

    engine: Engine
    image: str
    folder: Path
    api_url: str = "http://127.0.0.1:9"  # where nobody listens
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    runs: int = 0
    manifest: str = ""

    @property
    def store(self) -> Path:
        """What outlives a job: ``artifacts/NAME`` and ``attested/`` of the last run, and ``caches/KEY``."""
        return self.folder / "store"

    def artifact(self, name: str, path: str) -> Any:
        """Read a JSON file of an artifact of the last run."""
        return json.loads((self.store / "artifacts" / name / path).read_text(encoding="utf-8"))

    def run(self, name: str, event: str, payload: Mapping[str, Any], workspace: Path) -> Done:
        """Run a workflow of ours in a workspace.

        Args:
            name: the workflow's, as ``init --workflow`` takes it.
            event: what starts it.
            payload: the event; of ``workflow_run`` the artifacts of the run before stay to be read.
            workspace: a clone that has the workflow; jobs get copies of it.
        """
        assert (workspace / place(name)).read_text(encoding="utf-8") == workflow(name)
        return self.run_file(place(name), event, payload, workspace)

    def run_file(
        self, path: str, event: str, payload: Mapping[str, Any], workspace: Path, *, machine: str = BASE_IMAGE
    ) -> Done:
        """Run a workflow file of a workspace, on a machine that this image stands for."""
        text = (workspace / path).read_text(encoding="utf-8")
        told = self.folder / "event.json"
        told.write_text(json.dumps(payload), encoding="utf-8")
        remote = ["git", "config", "remote.origin.url", f"https://github.com/{REPOSITORY}"]
        subprocess.run(remote, cwd=workspace, check=True)
        self.runs += 1
        self.store.mkdir(exist_ok=True)
        if event != "workflow_run":
            for old in ("artifacts", "attested"):
                shutil.rmtree(self.store / old, ignore_errors=True)
        env = {"GITHUB_API_URL": self.api_url, "GITHUB_RUN_ID": str(self.runs), **self.env}
        argv = [
            *(tool("act") or "act", event, "--directory", str(workspace), "--workflows", path),
            *("--eventpath", str(told), "--pull=false", "--rm"),
            *("--platform", f"ubuntu-latest={machine}", "--platform", f"macos-latest={machine}"),
            *("--network", "host", "--container-daemon-socket", "-", "--action-offline-mode", "--no-cache-server"),
            *("--container-options", f"--volume {self.store}:{_STORE}", "--defaultbranch", "main"),
        ]
        for key, value in {"GITHUB_TOKEN": TOKEN, **self.secrets}.items():
            argv += ["--secret", f"{key}={value}"]
        for key, value in env.items():
            argv += ["--env", f"{key}={value}"]
        for used, at in self._actions(text).items():
            argv += ["--local-repository", f"{used}={at}"]
        return self._run(argv)

    def _run(self, argv: list[str]) -> Done:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(home), **self.engine.environ()}
        done = subprocess.run(
            argv,
            env=environ,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=RUN_S,
            check=False,
        )
        return Done(done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"))

    def _actions(self, text: str) -> dict[str, Path]:
        """Lay out what a workflow and those that it calls use; every action but checkout, which act does itself."""
        manifest = (PROJECT / "action.yml").read_text(encoding="utf-8")
        ours = self.manifest or manifest.replace("image: Dockerfile", f"image: docker://{self.image}")
        assert ours != manifest
        places = {reference(): self._lay_out(reference(), "", ours)}
        for name in re.findall(rf"uses: {repository()}/\.github/workflows/(\S+)@v", text):
            called = pinned(name)
            text += called
            place = places[reference()] / ".github/workflows" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(called, encoding="utf-8")
        for action, version in re.findall(r"uses: ((?:actions|astral-sh)/[\w/-]+)@(\S+)", text):
            if action != "actions/checkout":
                owner, name, *below = action.split("/")
                used = f"{owner}/{name}@{version}"
                places[used] = self._lay_out(used, "/".join(below), _stub(_RUNS[action]))
        return places

    def _lay_out(self, used: str, below: str, manifest: str) -> Path:
        at = self.folder / "actions" / re.sub(r"\W", "-", used)
        (at / below).mkdir(parents=True, exist_ok=True)
        (at / below / "action.yml").write_text(manifest, encoding="utf-8")
        return at


def _stub(run: str) -> str:
    """Give the manifest of an action that runs some lines of shell; JSON is YAML."""
    step = {
        "id": "run",
        "shell": "sh",
        "env": {variable: f"${{{{ inputs.{name} }}}}" for variable, name in _INPUTS.items()},
        "run": "set -e\n" + run,
    }
    outputs = {"cache-matched-key": {"description": "what was found", "value": "${{ steps.run.outputs.key }}"}}
    return json.dumps(
        {
            "name": "stand-in",
            "description": "Copies files.",
            "inputs": {name: {"description": name} for name in _INPUTS.values()},
            "outputs": outputs,
            "runs": {"using": "composite", "steps": [step]},
        }
    )
