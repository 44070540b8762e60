"""Events without a base of their own: the repository's own commit is gated, a pull request's is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.action.pull_request import PullRequest, skill
from tests.cli.running import git

if TYPE_CHECKING:
    from pathlib import Path

OWN_RULES = {".skillgate.yaml": "fail-on: never\n", "skills/merge-sheets/SKILL.md": "# y\n"}
ON_CHANGE: dict[str, Any] = {"issue": {"number": 7, "pull_request": {"url": "https://api.github.example/pulls/7"}}}
REFUSAL = "refusing to gate"


def finished(event: str, head: str) -> dict[str, Any]:
    return {"workflow_run": {"id": 99, "head_sha": head, "event": event, "conclusion": "success"}}


@pytest.fixture
def made(tmp_path: Path) -> PullRequest:
    """A pull request that brings its own rules, with its head checked out; the run's own commit is that of main."""
    made = PullRequest(folder=tmp_path / "work")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": "threshold: 20\n"})
    made.change(OWN_RULES, merge=False)
    git(made.folder, "checkout", "-q", "--detach", "change")
    made.sha = git(made.folder, "rev-parse", "main")
    return made


def _head(made: PullRequest) -> str:
    return git(made.folder, "rev-parse", "change")


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("issue_comment", ON_CHANGE),
        ("issue_comment", {}),
        ("workflow_run", finished("pull_request", "a" * 40)),
        ("workflow_run", finished("pull_request_target", "a" * 40)),
    ],
)
def test_a_head_that_is_checked_out_is_refused_with_an_annotation(
    made: PullRequest, name: str, payload: dict[str, Any]
) -> None:
    made.name, made.event = name, payload
    ran = made.run(mode="gate")
    assert (ran.code, ran.outputs["result"], ran.outputs["score"]) == (2, "error", "")
    assert f"{REFUSAL} {_head(made)[:12]} in the event {name}" in ran.outputs["reasons"]
    assert f"::error title=skillgate::{REFUSAL}" in ran.log


@pytest.mark.parametrize("name", ["workflow_dispatch", "repository_dispatch", "check_run", "schedule", "issue_comment"])
@pytest.mark.parametrize("ref", ["refs/remotes/pull/7/head", "refs/remotes/pull/7/merge", "refs/pull/7/head"])
def test_a_ref_of_a_pull_request_is_refused(made: PullRequest, name: str, ref: str) -> None:
    git(made.folder, "update-ref", ref, _head(made))
    made.name, made.event = name, {"issue": {"number": 3}}
    ran = made.run()
    assert (ran.code, ran.outputs["result"]) == (2, "error")
    assert REFUSAL in ran.outputs["reasons"]


@pytest.mark.parametrize("name", ["workflow_dispatch", "repository_dispatch"])
def test_a_run_that_names_a_pull_request_gates_no_other_commit(made: PullRequest, name: str) -> None:
    made.name, made.event = name, {}
    ran = made.run(pr_number="7")
    assert (ran.code, ran.outputs["result"]) == (2, "error")
    assert REFUSAL in ran.outputs["reasons"]


@pytest.mark.parametrize("name", ["workflow_dispatch", "repository_dispatch", "issue_comment"])
def test_another_commit_than_the_events_is_gated_by_its_own_rules_and_that_is_said(
    made: PullRequest, name: str
) -> None:
    made.name, made.event = name, {"issue": {"number": 3}}
    ran = made.run()
    assert ran.code == 0, ran.err
    assert any("never check out a pull request's head here" in notice for notice in ran.run["notices"])


@pytest.mark.parametrize("place", ["main", "main~1"])
@pytest.mark.parametrize(
    ("name", "payload"), [("issue_comment", ON_CHANGE), ("workflow_run", finished("pull_request", "a" * 40))]
)
def test_the_default_branch_is_gated(made: PullRequest, name: str, payload: dict[str, Any], place: str) -> None:
    git(made.folder, "checkout", "-q", "main")
    made.sha = made.base({"README.md": "# More\n"})
    git(made.folder, "checkout", "-q", "--detach", place)
    made.name, made.event = name, payload
    ran = made.run(mode="gate")
    assert (ran.code, ran.run["policy"], ran.run["notices"]) == (0, "this commit", []), ran.err
    named = made.run(mode="gate", pr_number="7")  # it would be told of a verdict that is none of its own
    assert (named.code, named.outputs["result"]) == (2, "error")
    assert "does not contain the pull request's own commit" in named.outputs["reasons"]
