"""What GitHub says of this run: facts from the runner's variables and from the event's payload, each one checked.

A payload is in part the word of whoever opened the pull request (branch names, the head's repository). What does not
have the form that GitHub gives such a value is left out, and no text is ever put together to something that is run.

Source of the forms: GitHub's "Variables" and "Webhook events and payloads" references, and git's check-ref-format.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from skillgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST = 25 * 1024 * 1024  # characters; GitHub sends no webhook payload above 25 MB
_LONGEST = 1024  # characters of a variable or a branch; GitHub's own limit for a ref is 255 bytes
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # an underscore stands in names of managed users
_REPOSITORY = re.compile(_OWNER.pattern + r"/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_WORD = re.compile(r"[a-z][a-z_]{0,63}")
_ADDRESS = re.compile(r"https?://(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?(?:/[A-Za-z0-9._~-]+)*/?")
_NOT_IN_A_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|^[-./]|[./]$|^@$")
_LARGEST_NUMBER = 2**63 - 1
_CHANGES = ("pull_request", "pull_request_target")
_OF_CHANGES = (*_CHANGES, "pull_request_review", "pull_request_review_comment", "issue_comment")

Object: TypeAlias = dict[str, object]


class WorkflowRun(NamedTuple):
    """The run whose end has started this one: the first half of a comment on a fork's pull request.

    Attributes:
        id: of the run, for its artifacts.
        head_sha: the commit it ran on.
        head_branch: ``""`` where it is not known; with ``head_owner`` it finds the pull request.
        head_owner: the login of who owns the head's repository, ``""`` where that is gone.
        event: what had started it, as ``pull_request``; ``""`` where it is not known.
        conclusion: ``success``, ``failure`` and so on; ``""`` where it is not known.
    """

    id: int
    head_sha: str
    head_branch: str = ""
    head_owner: str = ""
    event: str = ""
    conclusion: str = ""


class Event(NamedTuple):
    """What started this run. Texts that are not known are ``""``; commits and numbers are None.

    Attributes:
        name: ``pull_request``, ``push``, …; ``""`` outside of GitHub.
        repository: ``OWNER/NAME``, where the workflow runs.
        server_url: without a slash at the end, as ``https://github.com``.
        api_url: likewise, as ``https://api.github.com``.
        run_id: of this workflow run.
        sha: the commit that GitHub names for the event; of a pull request its own merge commit.
        workspace: the absolute path of the checkout as this process sees it.
        pull_request: its number.
        head_sha, head_repository: what the pull request brings, and from where; the latter ``""`` of a deleted fork.
        base_ref, base_sha: the branch it goes to, without ``refs/heads/``, and that branch's tip when the event arose.
        is_fork: whether the head is somebody else's repository: another one, a deleted one, or one that is not told.
        draft: whether the pull request is one.
        group_head_sha, group_base_sha: of a merge group.
        before: the commit that a push replaced; None for a new branch.
        workflow_run: of the event of that name.
        on_pull_request: of ``issue_comment``, whether the comment is on a pull request; also where nothing says so.
    """

    name: str = ""
    repository: str = ""
    server_url: str = ""
    api_url: str = ""
    run_id: int | None = None
    sha: str | None = None
    workspace: str = ""
    pull_request: int | None = None
    head_sha: str | None = None
    head_repository: str = ""
    base_ref: str = ""
    base_sha: str | None = None
    is_fork: bool = False
    draft: bool = False
    group_head_sha: str | None = None
    group_base_sha: str | None = None
    before: str | None = None
    workflow_run: WorkflowRun | None = None
    on_pull_request: bool = False

    @property
    def is_about_pull_request(self) -> bool:
        """Whether an event that has no pull request of its own is about one all the same."""
        return self.on_pull_request or (self.workflow_run is not None and self.workflow_run.event in _OF_CHANGES)

    @property
    def repository_url(self) -> str:
        """The repository's page, ``""`` where it is not known."""
        return f"{self.server_url}/{self.repository}" if self.server_url and self.repository else ""

    def url_of_run(self, run: int | None) -> str:
        """Return the page of a workflow run in this repository, ``""`` where it is not known."""
        return f"{self.repository_url}/actions/runs/{run}" if self.repository_url and run is not None else ""

    @property
    def run_url(self) -> str:
        """The page of this workflow run, ``""`` where it is not known."""
        return self.url_of_run(self.run_id)


def read_event(environ: Mapping[str, str], payload: str | None) -> Event:
    """Read what started this run.

    Args:
        environ: the runner's variables.
        payload: the text of the file that ``GITHUB_EVENT_PATH`` names, None without one; at most ``LARGEST``
            characters are read.

    Returns:
        What is known. A payload that is missing or malformed leaves out what only it says.

    Raises:
        UsageError: the event is a pull request without a number, or a finished workflow without its id or commit; the
            message says why it is not known.
    """
    name = _matching(_WORD, environ.get("GITHUB_EVENT_NAME"))
    event_data, problem = _payload(payload)
    event = Event(
        name=name,
        repository=_matching(_REPOSITORY, environ.get("GITHUB_REPOSITORY")),
        server_url=_matching(_ADDRESS, environ.get("GITHUB_SERVER_URL")).rstrip("/"),
        api_url=_matching(_ADDRESS, environ.get("GITHUB_API_URL")).rstrip("/"),
        run_id=_number(environ.get("GITHUB_RUN_ID")),
        sha=_commit(environ.get("GITHUB_SHA")),
        workspace=_path(environ.get("GITHUB_WORKSPACE")),
        before=_commit(event_data.get("before")) if name == "push" else None,
    )
    if name == "merge_group":
        group = _object(event_data, "merge_group")
        return event._replace(
            group_head_sha=_commit(group.get("head_sha")), group_base_sha=_commit(group.get("base_sha"))
        )
    if name == "workflow_run":
        return event._replace(workflow_run=_workflow_run(_object(event_data, "workflow_run"), problem))
    if name == "issue_comment":
        issue = _object(event_data, "issue")
        return event._replace(on_pull_request=not issue or issue.get("pull_request") is not None)
    return _with_pull_request(event, _object(event_data, "pull_request"), problem)


def mode_of(event: Event, asked: str) -> str:
    """Decide between ``gate`` and ``comment``: ``auto`` comments on the workflow that has ended, else it gates."""
    if asked != "auto":
        return asked
    return "comment" if event.name == "workflow_run" else "gate"


def _with_pull_request(event: Event, change: Object, problem: str) -> Event:
    """Add the pull request, whichever event (a review of it, say) brought it."""
    number = _number(change.get("number"))
    if number is None:
        if event.name in _CHANGES:
            raise UsageError(f"the event is {event.name}, and its number is not known: {_why(problem, 'pull_request')}")
        return event
    head, base = _object(change, "head"), _object(change, "base")
    source = _matching(_REPOSITORY, _object(head, "repo").get("full_name"))
    target = _matching(_REPOSITORY, _object(base, "repo").get("full_name")) or event.repository
    return event._replace(
        pull_request=number,
        head_sha=_commit(head.get("sha")),
        head_repository=source,
        base_ref=_branch(base.get("ref")),
        base_sha=_commit(base.get("sha")),
        is_fork=not source or source.lower() != target.lower(),
        draft=change.get("draft") is True,
    )


def _workflow_run(run: Object, problem: str) -> WorkflowRun:
    identity, commit = _number(run.get("id")), _commit(run.get("head_sha"))
    if identity is None or commit is None:
        missing = " and ".join(["its id"] * (identity is None) + ["its commit"] * (commit is None))
        raise UsageError(f"the event is workflow_run, and {missing} is not known: {_why(problem, 'workflow_run')}")
    return WorkflowRun(
        identity,
        commit,
        head_branch=_branch(run.get("head_branch")),
        head_owner=_matching(_OWNER, _object(_object(run, "head_repository"), "owner").get("login")),
        event=_matching(_WORD, run.get("event")),
        conclusion=_matching(_WORD, run.get("conclusion")),
    )


def _payload(text: str | None) -> tuple[Object, str]:
    """Return the payload's object, and what is wrong with it: ``""`` for nothing."""
    if text is None:
        return {}, "there is no payload; run this in a GitHub workflow, where GITHUB_EVENT_PATH names it"
    if len(text) > LARGEST:
        return {}, f"the payload has more than {LARGEST // 2**20} MB"
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # a number of many digits is a ValueError too
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return {}, f"the payload of GITHUB_EVENT_PATH is not valid JSON: {reason}"
    return (data, "") if isinstance(data, dict) else ({}, "the payload of GITHUB_EVENT_PATH is not an object")


def _why(problem: str, key: str) -> str:
    return problem or f"the payload of GITHUB_EVENT_PATH has no valid one below {key}"


def _object(table: Object, key: str) -> Object:
    found = table.get(key)
    return found if isinstance(found, dict) else {}


def _matching(form: re.Pattern[str], value: object) -> str:
    return value if isinstance(value, str) and len(value) <= _LONGEST and form.fullmatch(value) else ""


def _commit(value: object) -> str | None:
    """Return a commit; the one of zeros only stands for none."""
    found = _matching(_COMMIT, value.lower() if isinstance(value, str) else value)
    return found if found.strip("0") else None


def _number(value: object) -> int | None:
    """Return a positive number, of the payload or of a variable."""
    if isinstance(value, str) and re.fullmatch(r"[1-9][0-9]{0,18}", value):
        value = int(value)
    return value if type(value) is int and 0 < value <= _LARGEST_NUMBER else None


def _branch(value: object) -> str:
    """Return a branch's name as git allows it, which is still anything but inert; it never begins with a dash."""
    if not isinstance(value, str) or not value or len(value) > _LONGEST or _NOT_IN_A_BRANCH.search(value):
        return ""
    return "" if any(unicodedata.category(character) in ("Cc", "Cs") for character in value) else value


def _path(value: str | None) -> str:
    """Return an absolute path, ``""`` for anything else."""
    is_path = value is not None and len(value) <= 4 * _LONGEST and value.startswith("/") and "\0" not in value
    return value if value and is_path else ""
