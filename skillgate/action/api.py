"""The door to GitHub's API: the only module that imports PyGithub.

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
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

import github
from requests import RequestException

from skillgate import __version__
from skillgate.action.github import Answer, GitHubError, delay_s, explain, forbidden, next_page, origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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
