"""The door to GitHub's API, the only module that imports PyGithub, and the repository behind it.

Of PyGithub the requester is used, under its objects: it knows the base path of an Enterprise server, sends the token
to that one host, ignores a ``.netrc``, and refuses redirects to another host or scheme. What it would do on its own is
turned off or gone round:

- its ``GithubRetry`` sleeps by itself and without a common limit, and would send a POST again whose reply was lost,
  which makes a second comment: here all waiting is counted, and only what may be sent twice is sent again;
- its lists end in an AssertionError at a ``Link`` to another host: pages are followed here, below the base only.
"""

from __future__ import annotations

import json
import logging
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from urllib.parse import urlsplit

import github
from requests import RequestException

from skillgate import __version__
from skillgate.action.comment import sticky
from skillgate.action.github import (
    Answer,
    GitHubError,
    address,
    comments,
    delay_s,
    explain,
    forbidden,
    issues,
    next_page,
    origin,
    passing,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from github.Requester import Requester

TIMEOUT_S = 20  # of every request: to connect, and between two pieces of an answer
MAX_WAIT_S = 120.0  # of all waiting of a connection: a comment is not worth a runner's hour
BETWEEN_WRITES_S = 1.0  # GitHub's advice: at least a second between writing requests
JITTER = 0.25  # of a wait, at most, is added to it
PER_PAGE = 100  # the most GitHub gives
MAX_PAGES = 100  # 10,000 entries, four times the comments that GitHub allows in one place
_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}


class Connection:
    """Requests to one API with one token; what is worth another try is tried again, within a limit of time."""

    def __init__(
        self,
        requester: Requester,
        token: str,
        *,
        sleep: Callable[[float], None],
        clock: Callable[[], float],
        jitter: Callable[[], float],
    ) -> None:
        self._requester = requester
        self._token = token
        self._sleep, self._clock, self._jitter = sleep, clock, jitter
        self._waited_s = 0.0
        self._last_write: float | None = None

    @property
    def graphql_url(self) -> str:
        """The address of GraphQL, which is not below the base address of an Enterprise server."""
        return self._requester.graphql_url

    def close(self) -> None:
        """Close the sockets; another request opens new ones."""
        self._requester.close()

    def request(
        self,
        verb: str,
        path: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        body: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request, once, to the base address's host and no other.

        ``path``: below the base address, with ``/`` in front, or :attr:`graphql_url`.

        Returns:
            The answer, whatever it is; status 0 where none came.

        Raises:
            GitHubError: what answers there is not GitHub's API.
        """
        writes = verb != "GET" and path != self.graphql_url
        if writes:
            self._pause_before_write()
        try:
            status, headers, text = self._requester.requestJson(verb, path, dict(parameters or {}), {**_HEADERS}, body)
        except RequestException as error:  # its text may quote the header with the token
            return Answer(0, problem=type(error).__name__)
        except (RuntimeError, ValueError):  # a redirect to another host or scheme; a rate limit that is no number
            self._stop("the address of GitHub's API leads elsewhere or is none; check GITHUB_API_URL")
        finally:
            if writes:
                self._last_write = self._clock()
        return Answer(status, headers, _json(text))

    def settle(self, verb: str, path: str, **of: Mapping[str, Any] | None) -> Answer:
        """Send what may be sent twice until it is carried out, or another try is worth nothing; see :meth:`request`."""
        tries = 0
        while True:
            answer = self.request(verb, path, **of)
            if answer.ok or delay_s(answer, tries) is None:
                return answer
            self.wait_after(answer, tries)
            tries += 1

    def send(self, verb: str, path: str, **of: Mapping[str, Any] | None) -> Answer:
        """Send what may be sent twice until it is carried out; see :meth:`request`.

        Raises:
            GitHubError: it was not.
        """
        answer = self.settle(verb, path, **of)
        if not answer.ok:
            self.fail(answer)
        return answer

    def pages(self, path: str, parameters: Mapping[str, str]) -> Iterator[list[Any]]:
        """Return a list page by page.

        Raises:
            GitHubError: a page did not come, or the list has no end: half a list would be taken for all of it.
        """
        query: dict[str, Any] = {**parameters, "per_page": PER_PAGE}
        target, sent = path, query
        seen: set[object] = set()
        for page in range(2, MAX_PAGES + 2):
            answer = self.send("GET", target, parameters=sent)
            items = answer.data
            if not isinstance(items, list):
                self._stop("GitHub's answer is no list; check GITHUB_API_URL")
            fresh = {item["id"] for item in items if isinstance(item, dict) and isinstance(item.get("id"), int)} - seen
            seen |= fresh
            yield items
            following = next_page(answer, self._requester.base_url)
            uncounted = "link" not in answer.headers and len(items) >= PER_PAGE  # a proxy may drop the header
            if not fresh or (following is None and not uncounted):
                return
            target, sent = (following, {}) if following else (path, {**query, "page": page})
        self._stop(f"GitHub lists more than {MAX_PAGES * PER_PAGE:,} entries")

    def wait_after(self, answer: Answer, tries: int) -> None:
        """Wait until another try is worth it.

        Raises:
            GitHubError: it is not, or not within the time that there is.
        """
        seconds = delay_s(answer, tries)
        if seconds is None:
            self.fail(answer)
        self._wait(seconds + JITTER * min(seconds, 8.0) * self._jitter(), f"; {explain(answer)}")

    def fail(self, answer: Answer) -> NoReturn:
        """Give up on an answer.

        Raises:
            GitHubError: always, with what the answer means.
        """
        self._stop(explain(answer), forbidden=forbidden(answer))

    def _pause_before_write(self) -> None:
        if self._last_write is not None:
            gap = BETWEEN_WRITES_S - max(self._clock() - self._last_write, 0.0)
            if gap > 0:
                self._wait(gap)

    def _wait(self, seconds: float, why: str = "") -> None:
        if self._waited_s + seconds > MAX_WAIT_S:
            self._stop(f"GitHub would have to be waited for longer than the {MAX_WAIT_S:g} s that are allowed{why}")
        self._waited_s += seconds
        self._sleep(seconds)

    def _stop(self, message: str, *, forbidden: bool = False) -> NoReturn:
        raise GitHubError(message.replace(self._token, "***"), forbidden=forbidden) from None


def open_connection(
    api_url: str, token: str, *, sleep: Callable[[float], None], clock: Callable[[], float], jitter: Callable[[], float]
) -> Connection:
    """Open a connection; nothing is asked of GitHub yet.

    ``api_url``: ``https://api.github.com``, or ``https://HOST/api/v3`` of an Enterprise server. ``token``: a
    workflow's, an App's or a person's. ``clock``: seconds since any moment. ``jitter``: a number in [0, 1), so that
    many runs do not come back at once.

    Raises:
        GitHubError: an argument is none of these.
    """
    if not _is_base(api_url):
        raise GitHubError("the address of GitHub's API is not one like https://api.github.com; check GITHUB_API_URL")
    if not re.fullmatch(r"[!-~]+", token):
        raise GitHubError("there is no token for GitHub's API, or it has characters that no token has")
    _silence()
    client = github.Github(
        auth=github.Auth.Token(token),
        base_url=api_url.rstrip("/"),
        timeout=TIMEOUT_S,
        user_agent=f"skillgate/{__version__}",
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )
    return Connection(client.requester, token, sleep=sleep, clock=clock, jitter=jitter)


def _is_base(url: str) -> bool:
    try:
        scheme, host, _ = origin(url)
        parts = urlsplit(url)
    except ValueError:
        return False
    extra = parts.query or parts.fragment or parts.username or parts.password
    return scheme in ("https", "http") and bool(host) and not extra and re.fullmatch(r"[!-~]+", url) is not None


def _silence() -> None:
    """Keep the libraries' own log out of every stream: PyGithub writes to stderr, and quotes whole requests in it."""
    for name in ("github", "urllib3"):
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.handlers = [logging.NullHandler()]


def _json(text: str) -> Any:  # noqa: ANN401 -- any JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_GONE = (404, 410)  # of a comment or an issue that was listed a moment ago
_VIEWER = "query { viewer { login } }"


class _VanishedError(Exception):
    """A comment or an issue was deleted after it was listed; ``id`` names it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.id = number


class Posted(NamedTuple):
    """What became of a comment."""

    status: str  # created, updated, unchanged, skipped (none was there, and none was to be made), forbidden or failed
    url: str = ""  # the comment's page
    reason: str = ""  # why not, or what was left undone: one sentence for a warning, without the token


class Repository:
    """One repository on GitHub, the comments on its pull requests, and its issue about regressions."""

    def __init__(self, connection: Connection, full_name: str) -> None:
        self._connection = connection
        self._path = f"/repos/{full_name}"
        self._login: str | None = None

    def put_comment(self, number: int, body: str, marker: str, *, create: bool = True) -> Posted:
        """Make a pull request's one comment say ``body``: write it, write it anew, or leave it.

        The oldest comment that begins with the marker and was written by the token's own account is kept; later ones
        become pointers to it. A comment that another account wrote is never touched, marker or not, wherever GitHub
        tells who the token writes as (see :func:`skillgate.action.comment.sticky.decide` for where it does not).

        ``body``: Markdown, at most 65,536 UTF-16 code units, with the marker as its first line. ``marker``: as
        :func:`skillgate.action.comment.sticky.marker` gives it. ``create``: whether to make a comment where
        there is none yet.

        Returns:
            What happened. A failure of GitHub is returned and never raised: it must not change a gate's result.
        """
        refusal = sticky.refusal(body, marker)
        if refusal:
            return Posted("failed", reason=refusal)
        try:
            return self._put(f"{self._path}/issues/{number}/comments", body, marker, create=create)
        except GitHubError as error:
            return Posted("forbidden" if error.forbidden else "failed", reason=str(error))
        finally:
            self._connection.close()

    def put_issue(self, marker: str, title: str, body: str) -> Posted:
        """Make the one open issue of a marker say ``body``: open it, write it anew, or leave it.

        As with :meth:`put_comment` an issue is ours by its marker and its author together; later ones become pointers
        to the oldest, and are closed.

        ``body``: Markdown, at most 65,536 UTF-16 code units.

        Returns:
            What happened; a failure of GitHub is returned and never raised.
        """
        refusal = sticky.refusal(body, marker)
        if refusal:
            return Posted("failed", reason=refusal)
        return self._posted(lambda: self._open(marker, title, body))

    def close_issue(self, marker: str, body: str) -> Posted:
        """Close the open issues of a marker, and say why in a comment; ``skipped`` where there is none.

        ``marker``: the first line of their bodies.

        Returns:
            What happened; a failure of GitHub is returned and never raised.
        """
        return self._posted(lambda: self._close(marker, body))

    def _posted(self, act: Callable[[], Posted]) -> Posted:
        try:
            return act()
        except GitHubError as error:
            if error.forbidden:
                return Posted("forbidden", reason=f"the job needs `permissions: issues: write` for an issue: {error}")
            return Posted("failed", reason=str(error))
        finally:
            self._connection.close()

    def _open(self, marker: str, title: str, body: str) -> Posted:
        gone: set[int] = set()
        while True:
            try:
                return self._put_issue(marker, title, body, gone)
            except _VanishedError as error:
                gone.add(error.id)

    def _put_issue(self, marker: str, title: str, body: str, gone: Collection[int]) -> Posted:
        tries = 0
        decision = self._decide_issue(marker, body, gone)
        while decision.current is None:
            answer = self._connection.request("POST", f"{self._path}/issues", body={"title": title, "body": body})
            if answer.ok:
                return Posted("created", address(answer.data))
            self._connection.wait_after(answer, tries)
            tries += 1
            decision = self._decide_issue(marker, body, gone)  # it may be there, and only the reply was lost
        existing = decision.current
        if decision.outdated:
            self._change(existing, {"title": title, "body": body})
        for duplicate in decision.duplicates:
            with suppress(_VanishedError):
                self._change(
                    duplicate, {"body": sticky.pointer(existing), "state": "closed", "state_reason": "not_planned"}
                )
        return Posted("updated" if decision.outdated else "created" if tries else "unchanged", existing.url)

    def _close(self, marker: str, body: str) -> Posted:
        decision = self._decide_issue(marker, "")
        if decision.current is None:
            return Posted("skipped")
        for one in (decision.current, *decision.duplicates):
            # First of all it is closed: a comment that is lost then is missed less than one each night.
            with suppress(_VanishedError):
                self._change(one, {"state": "closed", "state_reason": "completed"})
                self._connection.request("POST", f"{self._path}/issues/{one.id}/comments", body={"body": body})
        return Posted("closed", decision.current.url)

    def _decide_issue(self, marker: str, body: str, gone: Collection[int] = ()) -> sticky.Decision:
        listed = self._connection.pages(f"{self._path}/issues", {"state": "open"})
        found = [one for page in listed for one in issues(page) if one.id not in gone]
        candidates = sticky.marked(found, marker)
        return sticky.decide(candidates, body, self._writes_as() if candidates else None)

    def _change(self, issue: sticky.Comment, fields: Mapping[str, str]) -> None:
        self._patch(issue, f"{self._path}/issues/{issue.id}", fields)

    def _patch(self, one: sticky.Comment, path: str, fields: Mapping[str, str]) -> None:
        """Edit a comment or an issue."""
        answer = self._connection.settle("PATCH", path, body=fields)
        if answer.status in _GONE:
            raise _VanishedError(one.id)
        if not answer.ok:
            self._connection.fail(answer)

    def find_pull_request(self, owner: str, branch: str, head_sha: str) -> int | None:
        """Find the one open pull request whose head is exactly a commit.

        ``owner``: of the repository the branch is in: a fork's owner, for a pull request from a fork.

        Returns:
            Its number. None where there is none, or its head is another commit by now, or there are several, since what
            was found beside one base is not true of another.

        Raises:
            GitHubError: GitHub could not be asked.
        """
        label = f"{owner}:{branch}"
        if not label.isprintable() or not head_sha:
            return None
        try:
            pages = self._connection.pages(f"{self._path}/pulls", {"state": "open", "head": label})
            # The query is not relied on: after a repository's change of name GitHub's redirect may lose it.
            found = [item["number"] for page in pages for item in page if _is_head(item, label, head_sha)]
        finally:
            self._connection.close()
        return found[0] if len(found) == 1 else None

    def _put(self, path: str, body: str, marker: str, *, create: bool) -> Posted:
        gone: set[int] = set()  # deleted since they were listed: a list that is late may name them again
        while True:
            try:
                decision = self._decide(path, body, marker, gone)
                if decision.current:
                    return self._keep(decision.current, body, decision)
                return self._create(path, body, marker, gone) if create else Posted("skipped")
            except _VanishedError as error:
                gone.add(error.id)

    def _decide(self, path: str, body: str, marker: str, gone: Collection[int]) -> sticky.Decision:
        written = [one for page in self._connection.pages(path, {}) for one in comments(page) if one.id not in gone]
        candidates = sticky.marked(written, marker)
        return sticky.decide(candidates, body, self._writes_as() if candidates else None)

    def _create(self, path: str, body: str, marker: str, gone: Collection[int]) -> Posted:
        tries = 0
        while not (answer := self._connection.request("POST", path, body={"body": body})).ok:
            self._connection.wait_after(answer, tries)
            tries += 1
            decision = self._decide(path, body, marker, gone)  # the comment may be there, and only the reply was lost
            if decision.current:
                posted = self._keep(decision.current, body, decision)
                return posted if decision.outdated else posted._replace(status="created")
        if not isinstance(answer.data, dict) or not isinstance(answer.data.get("id"), int):
            return Posted("failed", reason="GitHub's answer tells of no comment; check GITHUB_API_URL")
        return Posted("created", address(answer.data))

    def _keep(self, existing: sticky.Comment, body: str, decision: sticky.Decision) -> Posted:
        if decision.outdated:
            self._edit(existing, body)
        posted = Posted("updated" if decision.outdated else "unchanged", existing.url)
        try:
            for duplicate in decision.duplicates:
                with suppress(_VanishedError):
                    self._edit(duplicate, sticky.pointer(existing))
        except GitHubError as error:
            return posted._replace(reason=f"a second comment of an earlier run could not be edited: {error}")
        return posted

    def _edit(self, comment: sticky.Comment, body: str) -> None:
        self._patch(comment, f"{self._path}/issues/comments/{comment.id}", {"body": body})

    def _writes_as(self) -> str | None:
        """Ask who the token writes as; None where GitHub does not say.

        An App's token, and a workflow's is one, has no ``GET /user``, but GraphQL knows its bot. A server that does
        not answer GraphQL may still know a person's token.
        """
        connection = self._connection
        if self._login is None:
            viewer = connection.settle("POST", connection.graphql_url, body={"query": _VIEWER})
            self._login = _login(viewer.data, "data", "viewer")
            if self._login is None:
                user = connection.settle("GET", "/user")
                self._login = _login(user.data)
                if self._login is None and (passing(viewer) or passing(user)):
                    connection.fail(viewer if passing(viewer) else user)
        return self._login


def _login(data: Any, *path: str) -> str | None:  # noqa: ANN401 -- any JSON
    for key in (*path, "login"):
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, str) and data else None


def _is_head(item: Any, label: str, sha: str) -> bool:  # noqa: ANN401 -- any JSON
    if not isinstance(item, dict) or not isinstance(item.get("number"), int):
        return False
    head = item.get("head")
    return isinstance(head, dict) and head.get("label") == label and head.get("sha") == sha


def open_repository(
    api_url: str,
    token: str,
    full_name: str,
    *,
    sleep: Callable[[float], None],
    clock: Callable[[], float],
    jitter: Callable[[], float],
) -> Repository:
    """Open a repository; nothing is asked of GitHub yet.

    ``api_url``: as :func:`open_connection` takes it, and so are the others. ``token``: a workflow's, an App's or a
    person's. ``clock``: seconds since any moment. ``jitter``: a number in [0, 1), so that many runs do not come
    back at once.

    Raises:
        GitHubError: an argument is none of these.
    """
    connection = open_connection(api_url, token, sleep=sleep, clock=clock, jitter=jitter)
    if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*/(?!\.{1,2}$)[A-Za-z0-9_.-]+", full_name):
        raise GitHubError("the repository is not named as OWNER/NAME")
    return Repository(connection, full_name)
