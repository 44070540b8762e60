"""Bounds of one try over HTTP: a time for all of it and a size, whatever the server does.

A library's own time-outs begin anew with every read, so that a byte of a header now and then, interim answers without
end, or the extensions of a chunk hold a request for ever. Here every read and write of a connection has what is left of
the try's time, and what is read is counted. Bodies are decompressed here too, piece by piece, so that a small one
cannot become a huge one; an SDK that reads the body of a failure as a whole is bounded as well.
"""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Iterator

    from httpcore2 import SOCKET_OPTION, NetworkBackend, NetworkStream

MOST_BYTES = 8 << 20  # of an answer; 128,000 tokens take about 0.5 MB
MOST_FAILURE_BYTES = 256 << 10  # of what is read of a failure's body; the rest is left
MOST_WIRE_BYTES = 4 * MOST_BYTES  # of all that a server sends in a try: headers, interim answers, frames of chunks
_PIECE = 64 << 10  # of what is sent at once: each has what is left of the time
_GZIP_OR_ZLIB = 47  # of zlib: whichever the first bytes say
_COMPRESSED = ("gzip", "x-gzip")


class TooMuchError(Exception):
    """An answer is larger than any message is; the text says how large."""


class _Left:
    """What is left to a try."""

    def __init__(self, timeout_s: float) -> None:
        self.deadline = monotonic() + timeout_s
        self.wire_bytes = MOST_WIRE_BYTES


_TRY: ContextVar[_Left | None] = ContextVar("skillgate_try", default=None)


@contextmanager
def within(timeout_s: float) -> Iterator[None]:
    """Bound all that a client of :func:`bound` does in this thread within the block.

    What is not over by then raises ``httpx2.TimeoutException``, and its connection is closed.
    """
    token = _TRY.set(_Left(timeout_s))
    try:
        yield
    finally:
        _TRY.reset(token)


def bound(client: httpx2.Client) -> httpx2.Client:
    """Make a client keep to the bounds of a try, proxies of the environment included; gives the same client.

    A client that finds its proxies itself has no public place for the network that it is to use, only a private one.
    """
    client.headers["accept-encoding"] = "gzip"
    client.event_hooks = {"response": [_bound_body]}
    transports: tuple[Any, ...] = (client._transport, *client._mounts.values())
    for transport in transports:
        if transport is not None:
            transport._pool._network_backend = _Network(transport._pool._network_backend)
    return client


class _Network:
    """Opens connections that keep to the bounds of the try for which they are used."""

    def __init__(self, network: NetworkBackend) -> None:
        self._network = network

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> _Stream:
        left = _left(timeout, httpx2.ConnectTimeout)
        return _Stream(self._network.connect_tcp(host, port, left, local_address, socket_options))

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[SOCKET_OPTION] | None = None
    ) -> _Stream:
        left = _left(timeout, httpx2.ConnectTimeout)
        return _Stream(self._network.connect_unix_socket(path, left, socket_options))

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


class _Stream:
    """A connection."""

    def __init__(self, stream: NetworkStream) -> None:
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
    ) -> _Stream:
        left = _left(timeout, httpx2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def _left(timeout: float | None, late: type[httpx2.TimeoutException]) -> float | None:
    """Give the seconds that the next step may take; raises ``late`` where none are left."""
    bounds = _TRY.get()
    if bounds is None:
        return timeout
    left = bounds.deadline - monotonic()
    if left <= 0:
        raise late("the time of the try is over")
    return left if timeout is None else min(left, timeout)


def _bound_body(response: httpx2.Response) -> None:
    """Put a bounded body in the place of an answer's, before anybody reads it.

    A coding that was not asked for is not undone: what is in it is then no JSON.
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
