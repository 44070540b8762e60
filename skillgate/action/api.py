"""Access to GitHub's API; the only module that imports PyGithub.

Only PyGithub's requester is used, without its objects: it knows the base path of an Enterprise server, sends the token
only to that host, ignores a ``.netrc``, and refuses redirects to another host or scheme. Some of its features are
disabled or avoided:

- its ``GithubRetry`` sleeps without a common limit, and repeats a POST if the reply was lost, which makes a second
comment: here all waiting is limited, and only safe requests are repeated;
- its lists end in an AssertionError at a ``Link`` to another host: here pages are followed only below the base.
"""

from __future__ import annotations

import json
import logging
import re
from contextlib import suppress
from functools import partial
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
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from github.Requester import Requester

    from skillgate.action.comment.issue import Issue

TIMEOUT_S = 20  # of every request: to connect, and between two parts of an answer
MAX_WAIT_S = 120.0  # of all waiting of a connection: a comment is not worth an hour of a runner
BETWEEN_WRITES_S = 1.0  # GitHub recommends at least a second between writing requests
JITTER = 0.25  # maximum share of a wait that is added to it
PER_PAGE = 100  # GitHub's maximum
MAX_PAGES = 100  # 10,000 entries, four times GitHub's limit of comments
_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}


class Connection:
    """Requests to one API with one token, with retries within a time limit."""

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
        """The GraphQL address, which is not below the base address on an Enterprise server."""
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
        """Send one request, once, only to the host of the base address.

        ``path``: below the base address, with a leading ``/``, or :attr:`graphql_url`.

        Returns:
            The answer, whatever it is; with status 0 if there was none.

        Raises:
            GitHubError: the address is not GitHub's API.
        """
        writes = verb != "GET" and path != self.graphql_url
        if writes:
            self._pause_before_write()
        try:
            status, headers, text = self._requester.requestJson(verb, path, dict(parameters or {}), {**_HEADERS}, body)
        except RequestException as error:  # its text may quote the header with the token
            return Answer(0, problem=type(error).__name__)
        except (RuntimeError, ValueError):  # a redirect to another host or scheme; a rate limit that is not a number
            self._stop("the address of GitHub's API is wrong or redirects elsewhere; check GITHUB_API_URL")
        finally:
            if writes:
                self._last_write = self._clock()
        return Answer(status, headers, _json(text))

    def settle(self, verb: str, path: str, **of: Mapping[str, Any] | None) -> Answer:
        """Send a repeatable request until it succeeds or retrying is useless; see :meth:`request`."""
        tries = 0
        while True:
            answer = self.request(verb, path, **of)
            if answer.ok or delay_s(answer, tries) is None:
                return answer
            self.wait_after(answer, tries)
            tries += 1

    def send(self, verb: str, path: str, **of: Mapping[str, Any] | None) -> Answer:
        """Send a repeatable request until it succeeds; see :meth:`request`.

        Raises:
            GitHubError: it failed.
        """
        answer = self.settle(verb, path, **of)
        if not answer.ok:
            self.fail(answer)
        return answer

    def pages(self, path: str, parameters: Mapping[str, str]) -> Iterator[list[Any]]:
        """Yield a list page by page.

        Raises:
            GitHubError: a page is missing, or the list does not end: half a list must not pass for all of it.
        """
        query: dict[str, Any] = {**parameters, "per_page": PER_PAGE}
        target, sent = path, query
        seen: set[object] = set()
        for page in range(2, MAX_PAGES + 2):
            answer = self.send("GET", target, parameters=sent)
            items = answer.data
            if not isinstance(items, list):
                self._stop("GitHub's answer is not a list; check GITHUB_API_URL")
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
        """Wait until it makes sense to retry.

        Raises:
            GitHubError: it does not, or not within the time limit.
        """
        seconds = delay_s(answer, tries)
        if seconds is None:
            self.fail(answer)
        self._wait(seconds + JITTER * min(seconds, 8.0) * self._jitter(), f"; {explain(answer)}")

    def fail(self, answer: Answer) -> NoReturn:
        """Give up on an answer.

        Raises:
            GitHubError: always, with an explanation of the answer.
        """
        self._stop(explain(answer), forbidden=forbidden(answer))

    def _pause_before_write(self) -> None:
        if self._last_write is not None:
            gap = BETWEEN_WRITES_S - max(self._clock() - self._last_write, 0.0)
            if gap > 0:
                self._wait(gap)

    def _wait(self, seconds: float, why: str = "") -> None:
        if self._waited_s + seconds > MAX_WAIT_S:
            self._stop(f"GitHub requires a longer wait than the maximum of {MAX_WAIT_S:g} s{why}")
        self._waited_s += seconds
        self._sleep(seconds)

    def _stop(self, message: str, *, forbidden: bool = False) -> NoReturn:
        raise GitHubError(message.replace(self._token, "***"), forbidden=forbidden) from None


def _is_base(url: str) -> bool:
    try:
        scheme, host, _ = origin(url)
        parts = urlsplit(url)
    except ValueError:
        return False
    extra = parts.query or parts.fragment or parts.username or parts.password
    return scheme in ("https", "http") and bool(host) and not extra and re.fullmatch(r"[!-~]+", url) is not None


def _silence() -> None:
    """Silence the libraries' own logs: PyGithub writes whole requests to stderr."""
    for name in ("github", "urllib3"):
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.handlers = [logging.NullHandler()]


def _json(text: str) -> Any:  # noqa: ANN401 -- any JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_GONE = (404, 410)  # of a comment or an issue that was just listed
_NEEDS_ISSUES = "the job needs `permissions: issues: write` for an issue: "
_IMPORTANCE = ("forbidden", "failed", "created", "updated", "closed", "unchanged", "skipped")
_VIEWER = "query { viewer { login } }"


class _VanishedError(Exception):
    """A comment or an issue was deleted after it was listed; ``id`` is its number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.id = number


class Posted(NamedTuple):
    """The result of posting a comment or an issue."""

    status: str  # created, updated, unchanged, skipped (none exists, and none is wanted), forbidden or failed
    url: str = ""  # the page of the comment, or those of the issues, one per line
    reason: str = ""  # why it failed or is incomplete: one sentence for a warning, without the token


class Repository:
    """One repository on GitHub, with the comments on its pull requests and its issues about regressions."""

    def __init__(self, connection: Connection, full_name: str) -> None:
        self._connection = connection
        self._path = f"/repos/{full_name}"
        self._login: str | None = None
        self._listed: list[sticky.Comment] | None = None  # the open issues

    def put_comment(self, number: int, body: str, marker: str, *, create: bool = True) -> Posted:
        """Create, update or leave the one comment on a pull request, so that it is ``body``.

        The oldest comment that begins with the marker and is from the token's own account is used; later ones become
        pointers to it. A comment from another account is never changed, with or without a marker, if GitHub says who
        the token writes as (see :func:`skillgate.action.comment.sticky.decide` if it does not).

        ``body``: Markdown, at most 65,536 UTF-16 code units, with the marker as its first line. ``marker``: from
        :func:`skillgate.action.comment.sticky.marker`. ``create``: whether to create a comment if there is none yet.

        Returns:
            The result. A failure of GitHub is returned and never raised: it must not change a gate's result.
        """
        if refusal := sticky.refusal(body, marker):
            return Posted("failed", reason=refusal)
        path = f"{self._path}/issues/{number}/comments"
        return self._posted(lambda: _retried(lambda gone: self._put(path, body, marker, gone, create=create)))

    def update_issues(self, marks: re.Pattern[str], decide: Callable[[frozenset[str]], Iterable[Issue]]) -> Posted:
        """Open, update or close issues, as ``decide`` says from the markers of the open ones.

        As with :meth:`put_comment`, both marker and author identify our issues. If several have one marker, later ones
        become pointers to the oldest, and are closed.

        ``marks``: what the markers match.

        Returns:
            The most important result, with the addresses of all issues, one per line. A failure of GitHub is returned
                and never raised; after one that is not about permissions, the other issues are still handled.
        """
        done: list[Posted] = []
        known: frozenset[str] = frozenset()

        def listed() -> Posted:
            nonlocal known
            known = self._own_marks(marks)
            return Posted("skipped")

        done.append(self._posted(listed, _NEEDS_ISSUES))
        for issue in decide(known) if done[0].status == "skipped" else ():
            if done[-1].status == "forbidden":
                break
            if refusal := sticky.refusal(issue.body, issue.marker) if issue.body else "":
                done.append(Posted("failed", reason=refusal))
                continue
            done.append(self._posted(partial(self._update_issue, issue), _NEEDS_ISSUES))
        first = min(done, key=lambda one: _IMPORTANCE.index(one.status))
        return first._replace(url="\n".join(dict.fromkeys(one.url for one in done if one.url)))

    def _update_issue(self, issue: Issue) -> Posted:
        if not issue.body:
            return self._close(issue.marker, issue.closing)
        return _retried(lambda gone: self._put_issue(issue.marker, issue.title, issue.body, gone))

    def _own_marks(self, marks: re.Pattern[str]) -> frozenset[str]:
        """Return the markers of our open issues."""
        found = {sticky.first_line(one.body) for one in self._open_issues()}
        return frozenset(
            mark for mark in found if marks.fullmatch(mark) and self._decide_issue(mark, "").current is not None
        )

    def _posted(self, act: Callable[[], Posted], needed: str = "") -> Posted:
        try:
            return act()
        except GitHubError as error:
            if error.forbidden:
                return Posted("forbidden", reason=f"{needed}{error}")
            return Posted("failed", reason=str(error))
        finally:
            self._connection.close()

    def _put_issue(self, marker: str, title: str, body: str, gone: Collection[int]) -> Posted:
        tries = 0
        decision = self._decide_issue(marker, body, gone)
        while decision.current is None:
            answer = self._connection.request("POST", f"{self._path}/issues", body={"title": title, "body": body})
            if answer.ok:
                return Posted("created", address(answer.data))
            self._connection.wait_after(answer, tries)
            tries += 1
            self._listed = None
            decision = self._decide_issue(marker, body, gone)  # it may exist, if only the reply was lost
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
            # Close it first: a lost comment matters less than a new one each night.
            with suppress(_VanishedError):
                self._change(one, {"state": "closed", "state_reason": "completed"})
                self._connection.request("POST", f"{self._path}/issues/{one.id}/comments", body={"body": body})
        return Posted("closed", decision.current.url)

    def _decide_issue(self, marker: str, body: str, gone: Collection[int] = ()) -> sticky.Decision:
        return self._decided(self._open_issues(), marker, body, gone)

    def _open_issues(self) -> list[sticky.Comment]:
        if self._listed is None:
            pages = self._connection.pages(f"{self._path}/issues", {"state": "open"})
            self._listed = [one for page in pages for one in issues(page)]
        return self._listed

    def _decided(
        self, found: Iterable[sticky.Comment], marker: str, body: str, gone: Collection[int]
    ) -> sticky.Decision:
        candidates = sticky.marked([one for one in found if one.id not in gone], marker)
        return sticky.decide(candidates, body, self._writes_as() if candidates else None)

    def _change(self, one: sticky.Comment, fields: Mapping[str, str], kind: str = "issues") -> None:
        """Edit an issue or a comment."""
        answer = self._connection.settle("PATCH", f"{self._path}/{kind}/{one.id}", body=fields)
        if answer.status in _GONE:
            raise _VanishedError(one.id)
        if not answer.ok:
            self._connection.fail(answer)

    def find_pull_request(self, owner: str, branch: str, head_sha: str) -> int | None:
        """Find the only open pull request that has exactly this commit as its head.

        ``owner``: the owner of the branch's repository; for a pull request from a fork, the fork's owner.

        Returns:
            Its number. None if there is none, its head has moved to another commit, or there are several, since results
                for one base do not apply to another.

        Raises:
            GitHubError: GitHub could not be asked.
        """
        label = f"{owner}:{branch}"
        if not label.isprintable() or not head_sha:
            return None
        try:
            pages = self._connection.pages(f"{self._path}/pulls", {"state": "open", "head": label})
            # Do not rely on the query: after a repository is renamed, GitHub's redirect may lose it.
            found = [item["number"] for page in pages for item in page if _is_head(item, label, head_sha)]
        finally:
            self._connection.close()
        return found[0] if len(found) == 1 else None

    def _put(self, path: str, body: str, marker: str, gone: Collection[int], *, create: bool) -> Posted:
        decision = self._decide(path, body, marker, gone)
        if decision.current:
            return self._keep(decision.current, body, decision)
        return self._create(path, body, marker, gone) if create else Posted("skipped")

    def _decide(self, path: str, body: str, marker: str, gone: Collection[int]) -> sticky.Decision:
        written = (one for page in self._connection.pages(path, {}) for one in comments(page))
        return self._decided(written, marker, body, gone)

    def _create(self, path: str, body: str, marker: str, gone: Collection[int]) -> Posted:
        tries = 0
        while not (answer := self._connection.request("POST", path, body={"body": body})).ok:
            self._connection.wait_after(answer, tries)
            tries += 1
            decision = self._decide(path, body, marker, gone)  # the comment may exist, if only the reply was lost
            if decision.current:
                posted = self._keep(decision.current, body, decision)
                return posted if decision.outdated else posted._replace(status="created")
        if not isinstance(answer.data, dict) or not isinstance(answer.data.get("id"), int):
            return Posted("failed", reason="GitHub's answer is not a comment; check GITHUB_API_URL")
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
            return posted._replace(reason=f"a duplicate comment of an earlier run could not be edited: {error}")
        return posted

    def _edit(self, comment: sticky.Comment, body: str) -> None:
        self._change(comment, {"body": body}, "issues/comments")

    def _writes_as(self) -> str | None:
        """Return who the token writes as; None if GitHub does not say.

        The token of an App or a workflow has no ``GET /user``, but GraphQL knows its bot. A server without GraphQL may
        still know a person's token.
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


def _retried(act: Callable[[set[int]], Posted]) -> Posted:
    """Act again without the comments or issues that vanished: a stale list may still name them."""
    gone: set[int] = set()
    while True:
        try:
            return act(gone)
        except _VanishedError as error:
            gone.add(error.id)


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
    """Open a repository; nothing is sent to GitHub yet.

    ``api_url``: ``https://api.github.com``, or ``https://HOST/api/v3`` of an Enterprise server. ``token``: of a
    workflow, an App or a person. ``clock``: seconds since any moment. ``jitter``: a number in [0, 1), so that many runs
    do not retry at once.

    Raises:
        GitHubError: an argument is not valid.
    """
    if not _is_base(api_url):
        raise GitHubError("the address of GitHub's API is not like https://api.github.com; check GITHUB_API_URL")
    if not re.fullmatch(r"[!-~]+", token):
        raise GitHubError("the token for GitHub's API is missing or has invalid characters")
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
    if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*/(?!\.{1,2}$)[A-Za-z0-9_.-]+", full_name):
        raise GitHubError("the repository is not in the form OWNER/NAME")
    return Repository(Connection(client.requester, token, sleep=sleep, clock=clock, jitter=jitter), full_name)
