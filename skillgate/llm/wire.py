"""HTTP as the providers use it: answers read within a size and a time, and what a lost connection means.

With :mod:`skillgate.llm.bounded` the keeper of ``httpx2``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import httpx2

from skillgate.errors import UsageError
from skillgate.llm import bounded, prices
from skillgate.llm.failures import no_message, shown
from skillgate.llm.port import ProviderError
from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.llm.failures import Place

_NO_USER = "leave them out, the key belongs in its environment variable"
CONNECT_S = 10.0  # the most to wait for a connection
LostError = httpx2.HTTPError
"""What is raised when the connection fails, or the time of a try is over."""
TooMuchError = bounded.TooMuchError
_NOT_SENT = (httpx2.WriteError, httpx2.WriteTimeout)  # the request did not get there as a whole


class Received(NamedTuple):
    """An answer of a server, whatever its status; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    @property
    def good(self) -> bool:
        """Whether the server says that this is what was asked for."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """Give what came as text, whatever is in it."""
        return self.data.decode(errors="replace")


def address(url: str, *, option: str) -> str:
    """Give a base URL without a slash at its end.

    Args:
        url: as the user gave it.
        option: where, for the message.

    Raises:
        UsageError: it is not an ``http`` or ``https`` address, or it holds a user or a password, which would take the
            key's place and get into messages; the message does not repeat it.
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        named = "@" in (parts.netloc if good else url)
    except ValueError:
        good, named = False, "@" in url
    if named:
        raise UsageError(f"{option}: an address that holds a user or a password is not taken; {_NO_USER}")
    if not good:
        raise UsageError(f'{option}: "{shown(without_credentials(url))}" is not an address such as https://host/v1')
    return url.rstrip("/")


def without_credentials(url: str) -> str:
    """Give a URL without user, password and query, for messages, reports and keys of caches."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def client() -> httpx2.Client:
    """A client with the library's own TLS settings. It follows no redirect: key and skill go where they were sent."""
    return bounded.bound(httpx2.Client(follow_redirects=False))


def timeout(total_s: float) -> httpx2.Timeout:
    """The longest silence within a try, and the time for a connection."""
    return httpx2.Timeout(total_s, connect=min(CONNECT_S, total_s))


def post(http: httpx2.Client, url: str, *, headers: Mapping[str, str], body: object, timeout_s: float) -> Received:
    """Send a JSON document and read the whole answer; all of it within ``timeout_s``.

    Raises:
        LostError: there was none, or not all of it in time.
        TooMuchError: it is larger than any message is.
    """
    with (
        bounded.within(timeout_s),
        http.stream("POST", url, json=body, headers=dict(headers), timeout=timeout(timeout_s)) as response,
    ):
        return Received(response.status_code, lowered(response.headers), b"".join(response.iter_bytes()))


def lowered(headers: httpx2.Headers) -> Mapping[str, str]:
    """Give headers by their names in lower case."""
    return {name.lower(): value for name, value in headers.items()}


def document(data: bytes, place: Place) -> Mapping[str, Any]:
    """Decode an answer that is to be a JSON object.

    Raises:
        ProviderError: it is none (``REPLY``).
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise no_message("what is no JSON object", place)
    return found


def counted(*numbers: object) -> tuple[int, ...] | None:
    """Read counts of tokens; what a reply leaves out is 0.

    Returns:
        None where one is no count that can be, or where all are 0, which no reply takes: then nobody knows what it
        took.
    """
    found = [0 if number is None else number for number in numbers]
    if not all(prices.is_count(number) for number in found) or not any(found):
        return None
    return tuple(number for number in found if isinstance(number, int))


def lost(error: BaseException | None, place: Place, *, timeout_s: float) -> ProviderError:
    """Say why there is no answer: too slow, not to be reached, or cut off.

    Whatever was sent as a whole may have been answered, and be paid for, though nothing or not all of it arrived.

    Args:
        error: what the HTTP library said.
        place: where the request went.
        timeout_s: the time it had.
    """
    sent = not isinstance(error, _NOT_SENT)
    if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return ProviderError(Cause.NETWORK, f"no connection to {place.endpoint} in time", again=True)
    if isinstance(error, httpx2.TimeoutException):
        why = f"no answer from {place.endpoint} within {timeout_s:g} s"
        return ProviderError(Cause.NETWORK, why, again=True, lost=sent)
    why = shown(str(error or ""), place.secrets) or "no reason given"
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError | httpx2.UnsupportedProtocol):
        # A certificate does not become good by asking again.
        again = isinstance(error, httpx2.ConnectError) and "CERTIFICATE" not in why
        return ProviderError(Cause.NETWORK, f"cannot reach {place.endpoint}: {why}", again=again)
    why = f"the connection to {place.endpoint} was cut off: {why}"
    return ProviderError(Cause.NETWORK, why, again=True, lost=sent)
