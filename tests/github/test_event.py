"""What GitHub says of a run is read as it says it, and what it does not say is not made up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillgate.action.github import Event, WorkflowRun, mode_of, read_event
from skillgate.errors import UsageError

HEAD, BASE, MERGE = "a" * 39 + "1", "b" * 39 + "2", "c" * 39 + "3"
ENVIRON = {
    "GITHUB_REPOSITORY": "octo-org/octo.repo",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_RUN_ID": "1658821493",
    "GITHUB_SHA": MERGE,
    "GITHUB_WORKSPACE": "/github/workspace",
}


def change(**changes: Any) -> dict[str, Any]:
    """Give a pull request as payloads have it."""
    plain = {
        "number": 17,
        "draft": False,
        "head": {"sha": HEAD, "ref": "topic", "repo": {"full_name": "octo-org/octo.repo", "fork": False}},
        "base": {"sha": BASE, "ref": "release/1.x", "repo": {"full_name": "octo-org/octo.repo"}},
    }
    return {"pull_request": plain | changes}


def finished(**changes: Any) -> dict[str, Any]:
    """Give a workflow's end as payloads have it."""
    plain = {
        "id": 7016532110,
        "head_sha": HEAD,
        "head_branch": "topic",
        "event": "pull_request",
        "conclusion": "failure",
        "head_repository": {"full_name": "someone/octo.repo", "owner": {"login": "someone"}},
        "pull_requests": [],
    }
    return {"workflow_run": plain | changes}


def read(name: str, payload: object = None, **variables: str) -> Event:
    text = payload if isinstance(payload, str) or payload is None else json.dumps(payload)
    return read_event({"GITHUB_EVENT_NAME": name} | ENVIRON | variables, text)


def test_a_pull_request_is_read_with_both_its_sides() -> None:
    event = read("pull_request", change())
    assert event == Event(
        name="pull_request",
        repository="octo-org/octo.repo",
        server_url="https://github.com",
        api_url="https://api.github.com",
        run_id=1658821493,
        sha=MERGE,
        workspace="/github/workspace",
        pull_request=17,
        head_sha=HEAD,
        head_repository="octo-org/octo.repo",
        base_ref="release/1.x",
        base_sha=BASE,
    )
    assert event.repository_url == "https://github.com/octo-org/octo.repo"
    assert event.run_url == "https://github.com/octo-org/octo.repo/actions/runs/1658821493"


@pytest.mark.parametrize(
    ("repository", "is_fork"),
    [
        ({"full_name": "octo-org/octo.repo"}, False),
        ({"full_name": "Octo-Org/Octo.Repo"}, False),
        ({"full_name": "someone/octo.repo"}, True),
        ({"full_name": "not a name"}, True),
        ({}, True),
        (None, True),
        ("octo-org/octo.repo", True),
    ],
)
def test_a_head_that_is_not_surely_this_repository_is_a_fork(repository: object, *, is_fork: bool) -> None:
    event = read("pull_request", change(head={"sha": HEAD, "ref": "topic", "repo": repository}))
    assert event.is_fork is is_fork
    assert event.head_sha == HEAD


def test_without_the_name_of_the_base_this_repository_is_the_base() -> None:
    assert not read("pull_request", change(base={"ref": "main", "sha": BASE})).is_fork


def test_a_draft_is_one() -> None:
    assert read("pull_request", change(draft=True)).draft
    assert not read("pull_request", change(draft="true")).draft


@pytest.mark.parametrize("name", ["pull_request_target", "pull_request_review"])
def test_other_events_of_a_pull_request_bring_it_too(name: str) -> None:
    assert read(name, change()).pull_request == 17


def test_a_merge_group_has_both_its_commits() -> None:
    event = read("merge_group", {"merge_group": {"head_sha": HEAD, "base_sha": BASE, "base_ref": "refs/heads/main"}})
    assert (event.group_head_sha, event.group_base_sha, event.pull_request) == (HEAD, BASE, None)


def test_a_push_has_what_it_replaced_but_a_new_branch_replaced_nothing() -> None:
    assert read("push", {"before": BASE}).before == BASE
    assert read("push", {"before": "0" * 40}).before is None
    assert read("schedule", {"before": BASE}).before is None


def test_a_finished_workflow_is_read_with_what_finds_its_pull_request() -> None:
    event = read("workflow_run", finished())
    assert event.workflow_run == WorkflowRun(7016532110, HEAD, "topic", "someone", "pull_request", "failure")
    assert event.url_of_run(event.workflow_run.id).endswith("/octo-org/octo.repo/actions/runs/7016532110")


def test_a_finished_workflow_of_a_deleted_fork_has_no_owner() -> None:
    run = read("workflow_run", finished(head_repository=None, conclusion=None, head_branch=None)).workflow_run
    assert run == WorkflowRun(7016532110, HEAD, event="pull_request")


@pytest.mark.parametrize(
    ("name", "payload", "message"),
    [
        ("pull_request", None, "there is no payload; run this in a GitHub workflow"),
        ("pull_request", "{", "is not valid JSON"),
        ("pull_request", "[]", "is not an object"),
        ("pull_request", {}, "has no valid one in pull_request"),
        ("pull_request_target", change(number="x"), "the event is pull_request_target, but its number is not known"),
        ("workflow_run", finished(id=None), "its id is not known"),
        ("workflow_run", finished(head_sha="main"), "its commit is not known"),
        ("workflow_run", {}, "its id and its commit is not known"),
    ],
)
def test_an_event_that_cannot_do_without_its_payload_says_what_is_wrong(
    name: str, payload: object, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read(name, payload)


@pytest.mark.parametrize("name", ["push", "schedule", "workflow_dispatch", "merge_group", "issue_comment"])
@pytest.mark.parametrize("payload", [None, "", "{", "[]", "null", "{}"])
def test_any_other_event_is_told_with_less(name: str, payload: str | None) -> None:
    event = read(name, payload)
    assert (event.name, event.sha, event.pull_request, event.before) == (name, MERGE, None, None)


def test_outside_of_github_nothing_is_known() -> None:
    event = read_event({}, None)
    assert event == Event()
    assert (event.repository_url, event.run_url) == ("", "")


def test_a_server_of_ones_own_keeps_its_addresses_without_the_last_slash() -> None:
    event = read(
        "push", GITHUB_SERVER_URL="https://ghe.example.com:8443/", GITHUB_API_URL="https://ghe.example.com/api/v3/"
    )
    assert (event.server_url, event.api_url) == ("https://ghe.example.com:8443", "https://ghe.example.com/api/v3")
    assert read("push", GITHUB_API_URL="http://[::1]:8080").api_url == "http://[::1]:8080"


def test_commits_of_sha_256_are_read_and_letters_become_small() -> None:
    assert read("push", GITHUB_SHA="AB" * 32).sha == "ab" * 32


@pytest.mark.parametrize(
    ("name", "asked", "mode"),
    [
        ("workflow_run", "auto", "comment"),
        ("pull_request", "auto", "gate"),
        ("", "auto", "gate"),
        ("workflow_run", "gate", "gate"),
        ("push", "comment", "comment"),
    ],
)
def test_the_mode_is_what_was_asked_for_else_follows_the_event(name: str, asked: str, mode: str) -> None:
    assert mode_of(Event(name=name), asked) == mode
