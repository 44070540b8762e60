"""Answers of GitHub's API, read: what another try is worth, where the next page is, what went wrong in a sentence."""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from skillgate.action.comment.sticky import Comment
from skillgate.errors import IncompleteError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


class Answer(NamedTuple):
    """One answer.

    Attributes:
        status: of HTTP; 0 where no answer came.
        headers: by lower-case name.
        data: the JSON, decoded; None where there is none.
        problem: why no answer came, as the name of an error.
    """

    status: int
    headers: Mapping[str, str] = {}
    data: Any = None
    problem: str = ""

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
    """Return whether an answer is a rate limit, which passes by itself, and no matter of rights: both may be 403."""
    message = answer.message.casefold()
    if answer.status != _FORBIDDEN or _NOT_ACCESSIBLE in message:
        return answer.status == _TOO_MANY
    headers = answer.headers
    return "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0" or "rate limit" in message


def forbidden(answer: Answer) -> bool:
    """Return whether more rights, or another token, would change an answer."""
    return answer.status == _FORBIDDEN and not limited(answer)


def passing(answer: Answer) -> bool:
    """Return whether a failure may be gone the next time: no answer, a server's error, a rate limit."""
    return answer.status == 0 or answer.status >= 500 or limited(answer)


def delay_s(answer: Answer, tries: int) -> float | None:
    """Say how many seconds to wait before another try.

    A time of day in an answer is held against the answer's own, so no other clock has to be right.

    Args:
        answer: the last one.
        tries: how many there were before it.

    Returns:
        None where another try is worth nothing, or they are used up.
    """
    if not passing(answer) or tries >= len(BACKOFF_S):
        return None
    asked = _retry_after_s(answer)
    if not limited(answer):
        return max(BACKOFF_S[tries], asked or 0.0)
    if asked is None and answer.headers.get("x-ratelimit-remaining") == "0":
        asked = _reset_s(answer)
    return SECONDARY_S * 2**tries if asked is None else max(asked, BACKOFF_S[0])


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
