"""HTTP as the providers use it: answers within a size and a time, and what a lost connection means.

A library's own time-outs begin again with every read. So an occasional byte of a header, endless interim answers, or
the extensions of a chunk could hold a request for ever. Here every read and write of a connection has what is left of
the try's time, and what is read is counted. Bodies are decompressed here too, piece by piece, so that a small one
cannot become a huge one; an SDK that reads the body of a failure as a whole is bounded as well.
"""

from __future__ import annotations

import json
import socket
import zlib
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import httpcore2
import httpx2

from skillgate import http_transport
from skillgate.errors import UsageError
from skillgate.llm import prices
from skillgate.llm.port import ProviderError, no_message, shown
from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Iterator, Mapping

    from skillgate.llm.port import Destination

MOST_BYTES = 8 << 20  # of an answer; 128,000 tokens take about 0.5 MB
MOST_FAILURE_BYTES = 256 << 10  # of what is read of a failure's body; the rest is left
MOST_WIRE_BYTES = 4 * MOST_BYTES  # of all that a server sends in a try: headers, interim answers, frames of chunks
CONNECT_S = 10.0  # the most to wait for a connection
LostError = httpx2.HTTPError  # what is raised when the connection fails, or the time of a try is over
_NOT_SENT = (httpx2.WriteError, httpx2.WriteTimeout)  # the request did not get there as a whole
_PIECE = 64 << 10  # of what is sent at once: each has what is left of the time
_GZIP_OR_ZLIB = 47  # of zlib: whichever the first bytes say
_COMPRESSED = ("gzip", "x-gzip")
# As anthropic's SDK sets them: a long answer outlives what forgets silent connections.
_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 60), ("TCP_KEEPCNT", 5))
        if hasattr(socket, name)
    ),
]


class TooMuchError(Exception):
    """An answer is larger than any message is; the text says how large."""


class Received(NamedTuple):
    """An answer of a server, whatever its status; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    @property
    def good(self) -> bool:
        """Whether the server says that it succeeded."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """What came as text, whatever is in it."""
        return self.data.decode(errors="replace")


class _Try:
    """What is left to a try."""

    def __init__(self, timeout_s: float) -> None:
        self.deadline = monotonic() + timeout_s
        self.wire_bytes = MOST_WIRE_BYTES


_TRY: ContextVar[_Try | None] = ContextVar("skillgate_try", default=None)


@contextmanager
def within(timeout_s: float) -> Iterator[None]:
    """Bound all that a client of :func:`client` does in this thread within the block.

    What is not over by then raises ``httpx2.TimeoutException``, and its connection is closed.
    """
    token = _TRY.set(_Try(timeout_s))
    try:
        yield
    finally:
        _TRY.reset(token)


def client() -> httpx2.Client:
    """Return a client that keeps to the bounds of a try, proxies of the environment included.

    It follows no redirect: key and skill go where they were sent.
    """
    http = http_transport.client(_Network())
    http.headers["accept-encoding"] = "gzip"
    http.event_hooks = {"response": [_bound_body]}
    return http


def timeout(total_s: float) -> httpx2.Timeout:
    """Return the longest silence within a try, and the time for a connection."""
    return httpx2.Timeout(total_s, connect=min(CONNECT_S, total_s))


def post(http: httpx2.Client, url: str, *, headers: Mapping[str, str], body: object, timeout_s: float) -> Received:
    """Send a JSON document and read the whole answer; all of it within ``timeout_s``.

    Raises:
        LostError: there was none, or not all of it in time.
        TooMuchError: it is larger than any message is.
    """
    with (
        within(timeout_s),
        http.stream("POST", url, json=body, headers=dict(headers), timeout=timeout(timeout_s)) as response,
    ):
        return received(response)


def received(response: Any) -> Received:  # noqa: ANN401 - httpx2's, or that of an SDK around it
    """Read all of a streamed response."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Received(response.status_code, headers, b"".join(response.iter_bytes()))


def address(url: str, *, option: str) -> str:
    """Return a base URL without a slash at its end; ``option`` names it in messages.

    Raises:
        UsageError: it is not an ``http`` or ``https`` address, or it holds a user or a password, which would take the
            key's place and get into messages; the message does not repeat it.
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        has_user = "@" in (parts.netloc if good else url)
    except ValueError:
        good, has_user = False, "@" in url
    if has_user:
        raise UsageError(
            f"{option}: an address that holds a user or a password is not taken; leave them out, the key belongs in its"
            " environment variable"
        )
    if not good:
        raise UsageError(f'{option}: "{shown(without_credentials(url))}" is not an address such as https://host/v1')
    return url.rstrip("/")


def without_credentials(url: str) -> str:
    """Return a URL without user, password and query, for messages, reports and keys of caches."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def document(data: bytes, place: Destination) -> Mapping[str, Any]:
    """Decode an answer that must be a JSON object; raise ProviderError if it is not (``REPLY``)."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise no_message("what is no JSON object", place)
    return value


def counted(*numbers: object) -> tuple[int, ...] | None:
    """Read counts of tokens; what a reply leaves out is 0.

    Returns None where one is no count that can be, or all are 0, which no reply takes: then its cost is unknown.
    """
    counts = [0 if number is None else number for number in numbers]
    if not all(prices.is_count(count) for count in counts) or not any(counts):
        return None
    return tuple(count for count in counts if isinstance(count, int))


def lost(error: BaseException | None, place: Destination, *, timeout_s: float) -> ProviderError:
    """Say why there is no answer: too slow, not to be reached, or cut off.

    Whatever was sent as a whole may have been answered, and be paid for, though nothing or not all of it arrived.
    """
    sent = not isinstance(error, _NOT_SENT)
    if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return ProviderError(Cause.NETWORK, f"no connection to {place.endpoint} in time", retryable=True)
    if isinstance(error, httpx2.TimeoutException):
        why = f"no answer from {place.endpoint} within {timeout_s:g} s"
        return ProviderError(Cause.NETWORK, why, retryable=True, lost=sent)
    why = shown(str(error or ""), place.secrets) or "no reason given"
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError | httpx2.UnsupportedProtocol):
        # A certificate does not become good by another try.
        retryable = isinstance(error, httpx2.ConnectError) and "CERTIFICATE" not in why
        return ProviderError(Cause.NETWORK, f"cannot reach {place.endpoint}: {why}", retryable=retryable)
    why = f"the connection to {place.endpoint} was cut off: {why}"
    return ProviderError(Cause.NETWORK, why, retryable=True, lost=sent)


class _Network(httpcore2.NetworkBackend):
    """Opens connections that keep to the bounds of the try for which they are used."""

    def __init__(self) -> None:
        self._network = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpx2.ConnectTimeout)
        options = (*_KEEP_ALIVE, *(socket_options or ()))
        return _Stream(self._network.connect_tcp(host, port, left, local_address, options))

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._stream.read(max_bytes, _left(timeout, httpx2.ReadTimeout))
        bounds = _TRY.get()
        if bounds is not None:
            bounds.wire_bytes -= len(data)
            if bounds.wire_bytes < 0:
                raise httpx2.ReadError(f"more than {MOST_WIRE_BYTES >> 20} MiB came")
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for at in range(0, len(buffer), _PIECE):
            self._stream.write(buffer[at : at + _PIECE], _left(timeout, httpx2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpx2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def _left(timeout: float | None, late: type[httpx2.TimeoutException]) -> float | None:
    """Return the seconds that the next step may take; raise ``late`` where none are left."""
    bounds = _TRY.get()
    if bounds is None:
        return timeout
    left = bounds.deadline - monotonic()
    if left <= 0:
        raise late("the time of the try is over")
    return left if timeout is None else min(left, timeout)


def _bound_body(response: httpx2.Response) -> None:
    """Put a bounded body in the place of an answer's, before it is read.

    A coding that was not requested is not undone: what is in it is then no JSON.
    """
    coding = response.headers.pop("content-encoding", "").strip().lower()
    body: Any = response.stream
    response.stream = _Body(body, compressed=coding in _COMPRESSED, failure=not response.is_success)


class _Body(httpx2.SyncByteStream):
    """A body of no more than so many bytes, decompressed."""

    def __init__(self, body: httpx2.SyncByteStream, *, compressed: bool, failure: bool) -> None:
        self._body = body
        self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB) if compressed else None
        self._failure = failure

    def __iter__(self) -> Iterator[bytes]:
        left = MOST_FAILURE_BYTES if self._failure else MOST_BYTES
        for chunk in self._body:
            piece = self._plain(chunk, left + 1)
            if len(piece) > left:
                if self._failure:
                    yield piece[:left]
                    return
                raise TooMuchError(f"more than {MOST_BYTES >> 20} MiB")
            left -= len(piece)
            yield piece

    def close(self) -> None:
        self._body.close()

    def _plain(self, chunk: bytes, most: int) -> bytes:
        if self._inflate is None:
            return chunk
        try:
            return self._inflate.decompress(chunk, most)
        except zlib.error:
            raise httpx2.DecodingError("the body is not compressed as it says") from None
