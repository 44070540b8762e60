"""GitHub's event and API answers, with every value checked."""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from skillgate.action.comment.sticky import Comment
from skillgate.errors import IncompleteError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


LARGEST = 25 * 1024 * 1024  # characters; GitHub sends no webhook payload above 25 MB
_LONGEST = 1024  # characters of a variable or a branch; GitHub's own limit for a ref is 255 bytes
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # names of managed users have an underscore
_REPOSITORY = re.compile(_OWNER.pattern + r"/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_WORD = re.compile(r"[a-z][a-z_]{0,63}")
_ADDRESS = re.compile(r"https?://(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?(?:/[A-Za-z0-9._~-]+)*/?")
_NOT_IN_A_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|^[-./]|[./]$|^@$")
_LARGEST_NUMBER = 2**63 - 1
_CHANGES = ("pull_request", "pull_request_target")
_OF_CHANGES = (*_CHANGES, "pull_request_review", "pull_request_review_comment", "issue_comment")
Object: TypeAlias = dict[str, object]


BACKOFF_S = (1.0, 2.0, 4.0, 8.0)  # before each retry after a server error or a broken connection
SECONDARY_S = 60.0  # GitHub's recommendation for a rate limit without a time: a minute, then doubled
_FORBIDDEN, _TOO_MANY = 403, 429
_PORTS = {"https": 443, "http": 80}
_NOT_ACCESSIBLE = "resource not accessible"  # "by integration", "by personal access token": the token's rights
_OTHER_GROUNDS = ("locked", "archived", "saml", "allow list")  # 403 that more permissions for the job would not fix
_SENTENCES = {
    401: "GitHub rejects the token: it is wrong or expired",
    403: "the token lacks permission: give the job `permissions: pull-requests: write`; in a pull request from a"
    " fork the token is always read-only, so comment from a second workflow (workflow_run)",
    404: "GitHub finds no such pull request, or the token is for another repository",
    410: "comments or issues are disabled here",
    422: "GitHub rejects the request",
}


class WorkflowRun(NamedTuple):
    """The finished run that started this one, to comment on a fork's pull request."""

    id: int  # of the run, for its artifacts
    head_sha: str  # the commit it ran on
    head_branch: str = ""  # ``""`` if not known; with ``head_owner`` it identifies the pull request
    head_owner: str = ""  # the login of the owner of the head's repository, ``""`` if deleted
    event: str = ""  # its event, such as ``pull_request``; ``""`` if not known
    conclusion: str = ""  # ``success``, ``failure`` and so on; ``""`` if not known


class Event(NamedTuple):
    """What started this run. Unknown texts are ``""``; unknown commits and numbers are None."""

    name: str = ""  # ``pull_request``, ``push``, …; "" outside of GitHub
    repository: str = ""  # ``OWNER/NAME``, where the workflow runs
    server_url: str = ""  # without a trailing slash, such as ``https://github.com``
    api_url: str = ""  # the same, such as ``https://api.github.com``
    run_id: int | None = None
    sha: str | None = None  # the commit of the event; for a pull request GitHub's merge commit
    workspace: str = ""  # the absolute path of the checkout in this process
    pull_request: int | None = None
    head_sha: str | None = None  # the head of the pull request
    head_repository: str = ""  # its repository; "" for a deleted fork
    base_ref: str = ""  # the target branch, without ``refs/heads/``
    base_sha: str | None = None  # that branch's tip at the event
    is_fork: bool = False  # whether the head is in another, deleted or unnamed repository
    draft: bool = False
    group_head_sha: str | None = None  # of a merge group
    group_base_sha: str | None = None
    before: str | None = None  # the commit that a push replaced; None for a new branch
    workflow_run: WorkflowRun | None = None
    on_pull_request: bool = False  # for ``issue_comment``: whether it is on a pull request, or may be

    @property
    def is_change(self) -> bool:
        """Whether it is about commits that are not merged yet."""
        return self.pull_request is not None or self.name in ("merge_group", "workflow_run", "issue_comment")

    @property
    def is_about_pull_request(self) -> bool:
        """Whether an event without its own pull request is still about one."""
        return self.on_pull_request or (self.workflow_run is not None and self.workflow_run.event in _OF_CHANGES)

    @property
    def repository_url(self) -> str:
        """The repository's page, ``""`` if not known."""
        return f"{self.server_url}/{self.repository}" if self.server_url and self.repository else ""

    def url_of_run(self, run: int | None) -> str:
        """Return the page of a workflow run in this repository, ``""`` if not known."""
        return f"{self.repository_url}/actions/runs/{run}" if self.repository_url and run is not None else ""

    @property
    def run_url(self) -> str:
        """The page of this workflow run, ``""`` if not known."""
        return self.url_of_run(self.run_id)


def read_event(environ: Mapping[str, str], payload: str | None) -> Event:
    """Read what started this run.

    ``payload``: the text of the file that ``GITHUB_EVENT_PATH`` names, None without one; at most ``LARGEST`` characters
    are read.

    Returns:
        The event. Values that are only in the payload are unknown if it is missing or malformed.

    Raises:
        UsageError: the event is a pull request without a number, or a finished workflow without id or commit; the
            message says why.
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


def mode_of(event: Event, mode: str) -> str:
    """Resolve ``auto`` to ``comment`` (after a workflow has ended) or ``gate``."""
    if mode != "auto":
        return mode
    return "comment" if event.name == "workflow_run" else "gate"


def _with_pull_request(event: Event, change: Object, problem: str) -> Event:
    """Add the pull request of any event, such as a review."""
    number = _number(change.get("number"))
    if number is None:
        if event.name in _CHANGES:
            raise UsageError(f"the event is {event.name}, but its number is not known: {_why(problem, 'pull_request')}")
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
        raise UsageError(f"the event is workflow_run, but {missing} is not known: {_why(problem, 'workflow_run')}")
    return WorkflowRun(
        identity,
        commit,
        head_branch=_branch(run.get("head_branch")),
        head_owner=_matching(_OWNER, _object(_object(run, "head_repository"), "owner").get("login")),
        event=_matching(_WORD, run.get("event")),
        conclusion=_matching(_WORD, run.get("conclusion")),
    )


def _payload(text: str | None) -> tuple[Object, str]:
    """Return the payload's object, and its problem: ``""`` for none."""
    if text is None:
        return {}, "there is no payload; run this in a GitHub workflow, which sets GITHUB_EVENT_PATH"
    if len(text) > LARGEST:
        return {}, f"the payload is larger than {LARGEST // 2**20} MB"
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # a number of many digits is a ValueError too
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return {}, f"the payload of GITHUB_EVENT_PATH is not valid JSON: {reason}"
    return (data, "") if isinstance(data, dict) else ({}, "the payload of GITHUB_EVENT_PATH is not an object")


def _why(problem: str, key: str) -> str:
    return problem or f"the payload of GITHUB_EVENT_PATH has no valid one in {key}"


def _object(table: Object, key: str) -> Object:
    found = table.get(key)
    return found if isinstance(found, dict) else {}


def _matching(form: re.Pattern[str], value: object) -> str:
    return value if isinstance(value, str) and len(value) <= _LONGEST and form.fullmatch(value) else ""


def _commit(value: object) -> str | None:
    """Return a commit; all zeros mean none."""
    found = _matching(_COMMIT, value.lower() if isinstance(value, str) else value)
    return found if found.strip("0") else None


def _number(value: object) -> int | None:
    """Return a positive number of the payload or a variable."""
    if isinstance(value, str) and re.fullmatch(r"[1-9][0-9]{0,18}", value):
        value = int(value)
    return value if type(value) is int and 0 < value <= _LARGEST_NUMBER else None


def _branch(value: object) -> str:
    """Return a branch name that Git allows, which is still not safe text; it never begins with a dash."""
    if not isinstance(value, str) or not value or len(value) > _LONGEST or _NOT_IN_A_BRANCH.search(value):
        return ""
    return "" if any(unicodedata.category(character) in ("Cc", "Cs") for character in value) else value


def _path(value: str | None) -> str:
    """Return an absolute path, ``""`` for anything else."""
    is_path = value is not None and len(value) <= 4 * _LONGEST and value.startswith("/") and "\0" not in value
    return value if value and is_path else ""


class Answer(NamedTuple):
    """One answer."""

    status: int  # of HTTP; 0 without an answer
    headers: Mapping[str, str] = {}  # by lower-case name
    data: Any = None  # the decoded JSON; None if there is none
    problem: str = ""  # why there is no answer, as the name of an error

    @property
    def ok(self) -> bool:
        """Whether the request succeeded."""
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """GitHub's own message on a failure: one line of at most 200 printable characters."""
        text = self.data.get("message") if isinstance(self.data, dict) else None
        words = " ".join(text.split()) if isinstance(text, str) else ""
        return "".join(letter for letter in words if letter.isprintable())[:200]


class GitHubError(IncompleteError):
    """A request to GitHub failed; ``forbidden`` if the token lacks permission."""

    def __init__(self, message: str, *, forbidden: bool = False) -> None:
        super().__init__(message)
        self.forbidden = forbidden


def limited(answer: Answer) -> bool:
    """Whether an answer is a rate limit, which is temporary, and not missing permission: both may be 403."""
    message = answer.message.casefold()
    if answer.status != _FORBIDDEN or _NOT_ACCESSIBLE in message:
        return answer.status == _TOO_MANY
    headers = answer.headers
    return "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0" or "rate limit" in message


def forbidden(answer: Answer) -> bool:
    """Whether more permissions, or another token, would change an answer."""
    return answer.status == _FORBIDDEN and not limited(answer)


def passing(answer: Answer) -> bool:
    """Whether a failure may be temporary: no answer, a server error, a rate limit."""
    return answer.status == 0 or answer.status >= 500 or limited(answer)


def delay_s(answer: Answer, tries: int) -> float | None:
    """Return how many seconds to wait before a retry.

    A time in an answer is compared with the answer's own date, so no other clock must be right. ``tries``: the number
    of earlier retries.

    Returns:
        None if a retry is useless, or all are used up.
    """
    if not passing(answer) or tries >= len(BACKOFF_S):
        return None
    wanted = _retry_after_s(answer)
    if not limited(answer):
        return max(BACKOFF_S[tries], wanted or 0.0)
    if wanted is None and answer.headers.get("x-ratelimit-remaining") == "0":
        wanted = _reset_s(answer)
    return SECONDARY_S * 2**tries if wanted is None else max(wanted, BACKOFF_S[0])


def _retry_after_s(answer: Answer) -> float | None:
    text = answer.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    now, when = _seconds(answer.headers.get("date", "")), _seconds(text)
    return None if now is None or when is None else max(when - now, 0.0)


def _reset_s(answer: Answer) -> float | None:
    now, text = _seconds(answer.headers.get("date", "")), answer.headers.get("x-ratelimit-reset", "").strip()
    if now is None or not re.fullmatch(r"[0-9]{1,12}", text):
        return None
    return max(float(text) - now, 0.0) + 1.0  # the limit is lifted at some time in that second


def _seconds(date: str) -> float | None:
    """Return the seconds since the epoch of an HTTP date."""
    try:
        when = parsedate_to_datetime(date)
    except ValueError:
        return None
    return when.replace(tzinfo=when.tzinfo or UTC).timestamp()


def explain(answer: Answer) -> str:
    """Return one sentence on what went wrong and what to do."""
    if answer.status == 0:
        return f"cannot reach GitHub ({answer.problem})"
    reply = f"{answer.status}: {answer.message}" if answer.message else f"{answer.status}"
    if limited(answer):
        return f"GitHub's rate limit is reached ({reply})"
    if answer.status >= 500:
        return f"GitHub has an internal error ({reply})"
    if forbidden(answer) and any(word in answer.message.casefold() for word in _OTHER_GROUNDS):
        return f"GitHub does not allow this ({reply})"
    return f"{_SENTENCES.get(answer.status, 'unexpected answer from GitHub')} ({reply})"


def next_page(answer: Answer, base_url: str) -> str | None:
    """Return the next page of a list.

    Its address is in a header. It must be below the base address, with the same scheme, host and port: a token must not
    go anywhere else, whatever an answer or a proxy says.

    Returns:
        The path and query below the base address; ``""`` if there is another page with an unusable address (then
            count); None after the last one.
    """
    for part in answer.headers.get("link", "").split(","):
        match = re.fullmatch(r'\s*<([^<>\s]*)>((?:\s*;\s*\w+="[^"]*")*)\s*', part)
        if match and re.search(r'(?i)\brel="next"', match[2]):
            return _below(match[1], base_url)
    return None


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host in lower case, and port, by default the scheme's own.

    Raises:
        ValueError: port or host is not valid.
    """
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


def _below(url: str, base_url: str) -> str:
    try:
        same = origin(url) == origin(base_url)
    except ValueError:
        return ""
    parts, prefix = urlsplit(url), urlsplit(base_url).path.rstrip("/") + "/"
    # No escapes and no dots that mean another place: a client may resolve them after this check.
    plain = re.fullmatch(r"[A-Za-z0-9._~/-]+", parts.path) and not {".", ".."} & set(parts.path.split("/"))
    if not same or parts.username or parts.password or not plain or not parts.path.startswith(prefix):
        return ""
    return f"/{parts.path.removeprefix(prefix)}?{parts.query}"


def comments(items: list[Any]) -> Iterator[Comment]:
    """Read a page of comments; other items are skipped."""
    for item in items:
        if isinstance(item, dict) and isinstance(item.get("id"), int) and isinstance(item.get("body"), str):
            author, app = item.get("user"), item.get("performed_via_github_app")
            yield Comment(
                id=item["id"],
                body=item["body"],
                url=address(item),
                login=_text(author, "login"),
                bot=_text(author, "type") == "Bot",
                app=_text(app, "slug"),
            )


def issues(items: list[Any]) -> Iterator[Comment]:
    """Read a page of issues, by number; pull requests, which GitHub lists too, are skipped."""
    for item in items:
        if isinstance(item, dict) and "pull_request" not in item and isinstance(item.get("number"), int):
            yield from (found._replace(id=item["number"]) for found in comments([item]))


def address(data: Any) -> str:  # noqa: ANN401 -- any JSON
    """Return a comment's page; ``""`` if the answer has none that is safe in a link."""
    url = _text(data, "html_url")
    return url if re.fullmatch(r"https?://[!-'*-;=?-Z_a-z~]+", url) else ""


def _text(data: Any, key: str) -> str:  # noqa: ANN401 -- any JSON
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, str) else ""
