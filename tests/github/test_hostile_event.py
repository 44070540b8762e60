"""A payload is in part somebody else's word: what has not the form of a fact is not taken for one."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.action.github import LARGEST, Event, read_event
from skillgate.errors import UsageError
from tests.github.test_event import BASE, ENVIRON, HEAD, change, finished, read
from tests.report.reports import hostile_text

EVENTS = ("pull_request", "pull_request_target", "push", "merge_group", "workflow_run", "schedule", "")
KEYS = (
    *("pull_request", "merge_group", "workflow_run", "number", "head", "base", "repo", "full_name", "sha", "ref", "id"),
    *("head_sha", "base_sha", "head_branch", "head_repository", "owner", "login", "event", "before", "draft"),
)


def anything() -> st.SearchStrategy[Any]:
    """Give JSON of any shape that uses the keys of payloads."""
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        hostile_text(),
        st.just(HEAD),
        st.just("main"),
    )
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    )


def assert_sound(event: Event) -> None:
    """Check that every text is of the form that it promises."""
    run = event.workflow_run
    commits = (event.sha, event.head_sha, event.base_sha, event.group_head_sha, event.group_base_sha, event.before)
    for commit in (*commits, run.head_sha if run else None):
        assert commit is None or re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", commit)
    for name in (event.repository, event.head_repository):
        assert re.fullmatch(r"(?:[A-Za-z0-9_-]+/[A-Za-z0-9._-]+)?", name)
    for branch in (event.base_ref, run.head_branch if run else ""):
        assert not re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|^-|^/", branch)
    for number in (event.pull_request, run.id if run else None, event.run_id):
        assert number is None or (type(number) is int and 0 < number < 2**63)
    assert re.fullmatch(r"(?:https?://[^\s@?#]+)?", event.run_url)


@settings(deadline=None)
@given(st.sampled_from(EVENTS), anything())
def test_no_payload_of_any_shape_gets_past_the_forms(name: str, payload: object) -> None:
    try:
        event = read(name, json.dumps(payload))
    except UsageError:
        assert name in ("pull_request", "pull_request_target", "workflow_run")
    else:
        assert_sound(event)


@settings(deadline=None)
@given(st.sampled_from(EVENTS), st.text(st.characters(codec=None)))
def test_no_text_in_place_of_a_payload_raises_anything_but_a_usage_error(name: str, text: str) -> None:
    try:
        assert_sound(read(name, text))
    except UsageError:
        assert name in ("pull_request", "pull_request_target", "workflow_run")


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(sorted({*ENVIRON, "GITHUB_EVENT_NAME"})), hostile_text()))
def test_no_variable_gets_past_the_forms(environ: dict[str, str]) -> None:
    assert_sound(read_event(environ, None))


@pytest.mark.parametrize(
    "branch",
    [
        "--upload-pack=touch /tmp/x",
        "-x",
        "a b",
        "a\nb",
        "a\0b",
        "a..b",
        "a~1",
        "a^{commit}",
        "HEAD:secret",
        "a\\b",
        "@",
        "a@{1}",
        "/a",
        "a/",
        "a//b",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "a.",
        "a*",
        "a?",
        "a[b]",
        "\x1b[31m",
        "\x9b",
        "\ud800",
        "x" * 1025,
        "",
        17,
        None,
        ["main"],
    ],
)
def test_a_branch_that_git_would_not_have_is_not_known(branch: object) -> None:
    assert read("pull_request", change(base={"sha": BASE, "ref": branch})).base_ref == ""
    run = read("workflow_run", finished(head_branch=branch)).workflow_run
    assert run is not None
    assert run.head_branch == ""


@pytest.mark.parametrize(
    "branch", ["$(id)", "`id`", "a;b", "a'b\"c", "<img/src=x>", "@octo-org", "#12", "a|b&c", "añ/漢", "{{x}}"]
)
def test_a_branch_that_git_has_is_given_as_it_is_for_others_to_make_inert(branch: str) -> None:
    assert read("pull_request", change(base={"sha": BASE, "ref": branch})).base_ref == branch


@pytest.mark.parametrize(
    "name", ["a", "a/b/c", "../x", "a/..", "a/.", "-a/b", "a/b c", "a/b\n", "a/b?x", "a/b#c", "a@b/c", "é/b"]
)
def test_what_no_repository_is_called_is_none(name: str) -> None:
    event = read("pull_request", change(head={"sha": HEAD, "repo": {"full_name": name}}), GITHUB_REPOSITORY=name)
    assert (event.head_repository, event.repository, event.run_url, event.is_fork) == ("", "", "", True)


@pytest.mark.parametrize(
    "number", [0, -1, 1.0, True, "0", "-1", "1.0", "017", " 17", "１７", 2**63, 10**400, [17], None]
)
def test_what_is_no_number_of_a_pull_request_is_refused(number: object) -> None:
    with pytest.raises(UsageError, match="its number is not known"):
        read("pull_request", change(number=number))


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "https://",
        "https://a b",
        "https://user:pass@host",
        "https://host/?x",
        "//host",
        "file:///etc",
        "https://host/\n",
    ],
)
def test_what_is_no_server_is_not_known(address: str) -> None:
    event = read("push", GITHUB_SERVER_URL=address, GITHUB_API_URL=address)
    assert (event.server_url, event.api_url, event.run_url) == ("", "", "")


@pytest.mark.parametrize(
    "commit", ["a" * 39, "a" * 41, "g" * 40, "main", "-" * 40, "a" * 40 + "\n", 17, None, "０" * 40]
)
def test_what_is_no_commit_is_not_known(commit: object) -> None:
    assert read("pull_request", change(head={"sha": commit})).head_sha is None


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"a":' * 200_000, "1" * 100_000, '{"pull_request":{"number":' + "9" * 5000 + "}}"]
)
def test_deep_and_long_payloads_are_a_problem_and_no_crash(text: str) -> None:
    assert read("push", text).name == "push"
    with pytest.raises(UsageError, match="its number is not known"):
        read("pull_request", text)


def test_a_payload_above_the_limit_is_not_parsed() -> None:
    whole = json.dumps(change())
    with pytest.raises(UsageError, match="larger than 25 MB"):
        read("pull_request", whole + " " * LARGEST)
    assert read("pull_request", whole + " " * (LARGEST - len(whole))).pull_request == 17


def test_the_workspace_is_an_absolute_path() -> None:
    assert read("push", GITHUB_WORKSPACE="relative/path").workspace == ""
    assert read("push", GITHUB_WORKSPACE="/x" * 4000).workspace == ""
