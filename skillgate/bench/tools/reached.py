"""The streams of a session with a server over streamable HTTP: to addresses that may be reached, and bounded."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import httpcore2
import httpx2
from mcp.client.streamable_http import streamable_http_client

from skillgate.bench.tools.piped import MOST_BYTES
from skillgate.bench.web.hosts import UnreachableError
from skillgate.bench.web.target import origin_of
from skillgate.model.bench_result import ErrorKind

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Iterable

    from skillgate.bench.tools.connection import Traffic
    from skillgate.bench.web.target import Target

_AGAIN = frozenset((408, 425, 429))  # beside 5xx
_LOOKED_UP_S = 30.0


@asynccontextmanager
async def reached(target: Target, traffic: Traffic, tls: ssl.SSLContext) -> AsyncIterator[tuple[Any, Any]]:
    """Give the streams of a session; all requests end with them."""

    async def watch(response: httpx2.Response) -> None:
        _watch(response, target, traffic)

    transport = httpx2.AsyncHTTPTransport(verify=tls, trust_env=False)
    transport._pool = httpcore2.AsyncConnectionPool(  # it has no public place for the network that it is to use
        ssl_context=tls, network_backend=_Network(target, traffic)
    )
    async with (
        httpx2.AsyncClient(
            transport=transport,
            trust_env=False,
            timeout=None,
            headers={**target.headers, "Accept-Encoding": "identity"},
            event_hooks={"response": [watch]},
        ) as client,
        streamable_http_client(target.url, http_client=client, max_sse_event_size=MOST_BYTES) as streams,
    ):
        yield streams


def _watch(response: httpx2.Response, target: Target, traffic: Traffic) -> None:
    """Note what a failed call will have failed of.

    Raises:
        httpx2.DecodingError: an answer is coded as nobody asked for.
    """
    status = response.status_code
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        words = "its answer is coded in a way that was not asked for"
        traffic.failed(ErrorKind.PROTOCOL, words)
        raise httpx2.DecodingError(words, request=response.request)
    if response.request.method != "POST" or status < 300:
        return
    location = response.headers.get("location")
    if location is not None and status < 400:
        there, same = location, False
        try:
            there = urljoin(str(response.request.url), location)
            same = origin_of(there) == origin_of(target.url)
        except ValueError:  # it is no address
            pass
        if not same or status not in (307, 308):
            words = f"it answered {status} with the location {target.shown(there)}, which is not followed"
            traffic.failed(ErrorKind.REDIRECT, words, retryable=False)
        return
    if status in (401, 403):
        traffic.failed(ErrorKind.AUTH, f"it answered with status {status}", retryable=False)
    else:
        again = status in _AGAIN or status >= 500
        traffic.failed(ErrorKind.HTTP_STATUS, f"it answered with status {status}", retryable=again)


class _Network(httpcore2.AsyncNetworkBackend):
    """Opens connections to addresses that may be reached."""

    def __init__(self, target: Target, traffic: Traffic) -> None:
        self._target, self._traffic = target, traffic
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            addresses = await asyncio.to_thread(self._target.hosts.found, host, port, _LOOKED_UP_S)
            return _Stream(
                await self._network.connect_tcp(addresses[0], port, timeout, None, socket_options), self._traffic
            )
        except (UnreachableError, httpcore2.ConnectError) as error:
            refused = isinstance(error, UnreachableError) and error.refused
            words = f"the connection failed: {self._target.shown(str(error))}"
            self._traffic.failed(ErrorKind.CONNECTION, words, retryable=not refused)
            raise httpcore2.ConnectError(str(error)) from None

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Stream(httpcore2.AsyncNetworkStream):
    """A connection whose bytes are counted."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream, traffic: Traffic) -> None:
        self._stream, self._traffic = stream, traffic

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._stream.read(max_bytes, timeout)
        self._traffic.came += len(data)
        if self._traffic.came > MOST_BYTES:
            words = f"it sent more than {MOST_BYTES:,} bytes"
            self._traffic.failed(ErrorKind.OUTPUT_LIMIT, words, retryable=False)
            raise httpcore2.ReadError(words)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        return _Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout), self._traffic)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)
