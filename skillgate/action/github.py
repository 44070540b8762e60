"""What GitHub says: what started this run, and answers of its API. Each value is checked."""

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
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # an underscore stands in names of managed users
_REPOSITORY = re.compile(_OWNER.pattern + r"/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_WORD = re.compile(r"[a-z][a-z_]{0,63}")
_ADDRESS = re.compile(r"https?://(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?(?:/[A-Za-z0-9._~-]+)*/?")
_NOT_IN_A_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|^[-./]|[./]$|^@$")
_LARGEST_NUMBER = 2**63 - 1
_CHANGES = ("pull_request", "pull_request_target")
_OF_CHANGES = (*_CHANGES, "pull_request_review", "pull_request_review_comment", "issue_comment")
Object: TypeAlias = dict[str, object]


BACKOFF_S = (1.0, 2.0, 4.0, 8.0)  # before each further try after a server's error or a broken connection
SECONDARY_S = 60.0  # GitHub's advice where a rate limit comes without a time: a minute, then doubled
_FORBIDDEN, _TOO_MANY = 403, 429
_PORTS = {"https": 443, "http": 80}
_NOT_ACCESSIBLE = "resource not accessible"  # "by integration", "by personal access token": the token's rights
_OTHER_GROUNDS = ("locked", "archived", "saml", "allow list")  # 403 that more rights for the job would not mend
_SENTENCES = {
    401: "GitHub does not accept the token: it is wrong, or has expired",
    403: "the token may not do that: give the job `permissions: pull-requests: write`; in a pull request from a fork "
    "the token can only read whatever the workflow asks for, so comment from a second workflow (workflow_run)",
    404: "GitHub finds no such pull request, or the token is not one for this repository",
    410: "GitHub takes no comments, or no issues, here",
    422: "GitHub does not accept the request",
}


class WorkflowRun(NamedTuple):
    """The run whose end has started this one: the first half of a comment on a fork's pull request."""

    id: int  # of the run, for its artifacts
    head_sha: str  # the commit it ran on
    head_branch: str = ""  # ``""`` where it is not known; with ``head_owner`` it finds the pull request
    head_owner: str = ""  # the login of who owns the head's repository, ``""`` where that is gone
    event: str = ""  # what had started it, as ``pull_request``; ``""`` where it is not known
    conclusion: str = ""  # ``success``, ``failure`` and so on; ``""`` where it is not known


class Event(NamedTuple):
    """What started this run. Texts that are not known are ``""``; commits and numbers are None."""

    name: str = ""  # ``pull_request``, ``push``, …; "" outside of GitHub
    repository: str = ""  # ``OWNER/NAME``, where the workflow runs
    server_url: str = ""  # without a slash at the end, as ``https://github.com``
    api_url: str = ""  # likewise, as ``https://api.github.com``
    run_id: int | None = None
    sha: str | None = None  # the commit that GitHub names for the event; of a pull request its own merge commit
    workspace: str = ""  # the absolute path of the checkout as this process sees it
    pull_request: int | None = None
    head_sha: str | None = None  # what the pull request brings
    head_repository: str = ""  # and from where; "" of a deleted fork
    base_ref: str = ""  # the branch it goes to, without ``refs/heads/``
    base_sha: str | None = None  # that branch's tip when the event arose
    is_fork: bool = False  # whether the head is another repository, a deleted one, or one that is not named
    draft: bool = False
    group_head_sha: str | None = None  # of a merge group
    group_base_sha: str | None = None
    before: str | None = None  # the commit that a push replaced; None for a new branch
    workflow_run: WorkflowRun | None = None
    on_pull_request: bool = False  # of ``issue_comment``, whether it is on a pull request; also where nothing says so

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

    ``payload``: the text of the file that ``GITHUB_EVENT_PATH`` names, None without one; at most ``LARGEST``
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


def mode_of(event: Event, mode: str) -> str:
    """Decide between ``gate`` and ``comment``: ``auto`` comments on the workflow that has ended, else it gates."""
    if mode != "auto":
        return mode
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


class Answer(NamedTuple):
    """One answer."""

    status: int  # of HTTP; 0 where no answer came
    headers: Mapping[str, str] = {}  # by lower-case name
    data: Any = None  # the JSON, decoded; None where there is none
    problem: str = ""  # why no answer came, as the name of an error

    @property
    def ok(self) -> bool:
        """Whether the request was carried out."""
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """GitHub's own words on a failure: one line of at most 200 characters, all of them printable."""
        text = self.data.get("message") if isinstance(self.data, dict) else None
        words = " ".join(text.split()) if isinstance(text, str) else ""
        return "".join(letter for letter in words if letter.isprintable())[:200]


class GitHubError(IncompleteError):
    """GitHub did not do what was asked; ``forbidden`` where the token lacks the right to it."""

    def __init__(self, message: str, *, forbidden: bool = False) -> None:
        super().__init__(message)
        self.forbidden = forbidden


def limited(answer: Answer) -> bool:
    """Whether an answer is a rate limit, which passes by itself, and no matter of rights: both may be 403."""
    message = answer.message.casefold()
    if answer.status != _FORBIDDEN or _NOT_ACCESSIBLE in message:
        return answer.status == _TOO_MANY
    headers = answer.headers
    return "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0" or "rate limit" in message


def forbidden(answer: Answer) -> bool:
    """Whether more rights, or another token, would change an answer."""
    return answer.status == _FORBIDDEN and not limited(answer)


def passing(answer: Answer) -> bool:
    """Whether a failure may be gone the next time: no answer, a server's error, a rate limit."""
    return answer.status == 0 or answer.status >= 500 or limited(answer)


def delay_s(answer: Answer, tries: int) -> float | None:
    """Say how many seconds to wait before another try.

    A time of day in an answer is held against the answer's own, so no other clock has to be right.

    ``tries``: how many there were before it.

    Returns:
        None where another try is worth nothing, or they are used up.
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
    return max(float(text) - now, 0.0) + 1.0  # it is not said when in that second the limit is lifted


def _seconds(date: str) -> float | None:
    """Return the seconds since the epoch of a date as HTTP writes it."""
    try:
        when = parsedate_to_datetime(date)
    except ValueError:
        return None
    return when.replace(tzinfo=when.tzinfo or UTC).timestamp()


def explain(answer: Answer) -> str:
    """Say in one sentence what went wrong, and what to do about it."""
    if answer.status == 0:
        return f"GitHub cannot be reached ({answer.problem})"
    reply = f"{answer.status}: {answer.message}" if answer.message else f"{answer.status}"
    if limited(answer):
        return f"GitHub's rate limit is reached ({reply})"
    if answer.status >= 500:
        return f"GitHub has a failure of its own ({reply})"
    if forbidden(answer) and any(word in answer.message.casefold() for word in _OTHER_GROUNDS):
        return f"GitHub does not allow it ({reply})"
    return f"{_SENTENCES.get(answer.status, 'GitHub gave an answer that was not expected')} ({reply})"


def next_page(answer: Answer, base_url: str) -> str | None:
    """Find the next page of a list.

    The address stands in a header. It is taken only below the base address, on the same scheme, host and port: a
    token must not go anywhere else, whatever an answer or a proxy in between says.

    Returns:
        The path and query below the base address, ``""`` where there is another page but its address is none to
        follow (count then), None after the last one.
    """
    for part in answer.headers.get("link", "").split(","):
        match = re.fullmatch(r'\s*<([^<>\s]*)>((?:\s*;\s*\w+="[^"]*")*)\s*', part)
        if match and re.search(r'(?i)\brel="next"', match[2]):
            return _below(match[1], base_url)
    return None


def origin(url: str) -> tuple[str, str, int | None]:
    """Split off scheme, host in lower case, and port; the scheme's own port where none is given.

    Raises:
        ValueError: the port is none, or the host is not one.
    """
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


def _below(url: str, base_url: str) -> str:
    try:
        same = origin(url) == origin(base_url)
    except ValueError:
        return ""
    parts, prefix = urlsplit(url), urlsplit(base_url).path.rstrip("/") + "/"
    # No escapes and no dots that stand for another place: a client may resolve them after this look.
    plain = re.fullmatch(r"[A-Za-z0-9._~/-]+", parts.path) and not {".", ".."} & set(parts.path.split("/"))
    if not same or parts.username or parts.password or not plain or not parts.path.startswith(prefix):
        return ""
    return f"/{parts.path.removeprefix(prefix)}?{parts.query}"


def comments(items: list[Any]) -> Iterator[Comment]:
    """Read a page of comments; what is none is passed over."""
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
    """Read a page of issues, by their numbers; pull requests, which GitHub lists among them, are passed over."""
    for item in items:
        if isinstance(item, dict) and "pull_request" not in item and isinstance(item.get("number"), int):
            yield from (found._replace(id=item["number"]) for found in comments([item]))


def address(data: Any) -> str:  # noqa: ANN401 -- any JSON
    """Return a comment's page for people; ``""`` where the answer has none that could stand in a link."""
    url = _text(data, "html_url")
    return url if re.fullmatch(r"https?://[!-'*-;=?-Z_a-z~]+", url) else ""


def _text(data: Any, key: str) -> str:  # noqa: ANN401 -- any JSON
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, str) else ""
