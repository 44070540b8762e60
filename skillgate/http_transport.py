"""Transports for httpx2 over a network backend of the caller; httpx2's own transports accept none.

Requests, responses, timeouts and errors are mapped to httpcore2 and back like in ``httpx2.HTTPTransport``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterable, Iterable
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies

import httpcore2
import httpx2

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Iterator

_ERRORS: dict[type[Exception], type[httpx2.TransportError]] = {
    getattr(httpcore2, name): getattr(httpx2, name)
    for name in (
        "TimeoutException", "ConnectTimeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "NetworkError",
        "ConnectError", "ReadError", "WriteError", "ProxyError", "UnsupportedProtocol", "ProtocolError",
        "LocalProtocolError", "RemoteProtocolError",
    )
}  # fmt: skip
_LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)  # as anthropic's SDK sets them


class Transport(httpx2.BaseTransport):
    """HTTP/1.1 over a network backend, directly or through a proxy."""

    def __init__(
        self,
        backend: httpcore2.NetworkBackend,
        tls: ssl.SSLContext,
        *,
        proxy: str | None = None,
        limits: httpx2.Limits = _LIMITS,
    ) -> None:
        via = None if proxy is None else _proxy(proxy)
        self._pool = httpcore2.ConnectionPool(proxy=via, network_backend=backend, **_options(tls, limits))

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; return its response, with the body not yet read."""
        with _mapped():
            response = self._pool.handle_request(_request(request))
        return _response(response, _Body(response.stream))

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class AsyncTransport(httpx2.AsyncBaseTransport):
    """HTTP/1.1 over a network backend; it uses no proxy."""

    def __init__(
        self, backend: httpcore2.AsyncNetworkBackend, tls: ssl.SSLContext, *, limits: httpx2.Limits = _LIMITS
    ) -> None:
        self._pool = httpcore2.AsyncConnectionPool(network_backend=backend, **_options(tls, limits))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; return its response, with the body not yet read."""
        with _mapped():
            response = await self._pool.handle_async_request(_request(request))
        return _response(response, _AsyncBody(response.stream))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


def client(backend: httpcore2.NetworkBackend) -> httpx2.Client:
    """Return a client over ``backend`` that trusts the environment's certificates and uses its proxies."""
    tls = httpx2.create_ssl_context()
    direct = Transport(backend, tls)
    mounts: dict[str, httpx2.BaseTransport | None] = {}
    for pattern, proxy in _environment_proxies().items():
        try:
            httpx2.Client(transport=direct, mounts={pattern: None})
        except httpx2.InvalidURL:
            continue  # like httpx2, curl and Go: ignore an entry that cannot be parsed
        mounts[pattern] = None if proxy is None else Transport(backend, tls, proxy=proxy)
    return httpx2.Client(transport=direct, mounts=mounts)


class _Body(httpx2.SyncByteStream):
    def __init__(self, stream: object) -> None:
        assert isinstance(stream, Iterable)
        self._stream: Any = stream

    def __iter__(self) -> Iterator[bytes]:
        with _mapped():
            yield from self._stream

    def close(self) -> None:
        if hasattr(self._stream, "close"):
            self._stream.close()


class _AsyncBody(httpx2.AsyncByteStream):
    def __init__(self, stream: object) -> None:
        assert isinstance(stream, AsyncIterable)
        self._stream: Any = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _mapped():
            async for part in self._stream:
                yield part

    async def aclose(self) -> None:
        if hasattr(self._stream, "aclose"):
            await self._stream.aclose()


@contextmanager
def _mapped() -> Iterator[None]:
    """Raise httpx2's error for httpcore2's; the backend's own errors pass."""
    try:
        yield
    except tuple(_ERRORS) as error:
        kind = next(_ERRORS[kind] for kind in type(error).__mro__ if kind in _ERRORS)
        raise kind(str(error)) from error


def _request(request: httpx2.Request) -> httpcore2.Request:
    return httpcore2.Request(
        method=request.method,
        url=_url(request.url),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


def _response(response: httpcore2.Response, body: httpx2.SyncByteStream | httpx2.AsyncByteStream) -> httpx2.Response:
    return httpx2.Response(response.status, headers=response.headers, stream=body, extensions=response.extensions)


def _url(url: httpx2.URL) -> httpcore2.URL:
    return httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


def _options(tls: ssl.SSLContext, limits: httpx2.Limits) -> dict[str, Any]:
    return {
        "ssl_context": tls,
        "max_connections": limits.max_connections,
        "max_keepalive_connections": limits.max_keepalive_connections,
        "keepalive_expiry": limits.keepalive_expiry,
    }


def _proxy(url: str) -> httpcore2.Proxy:
    proxy = httpx2.Proxy(url)
    if proxy.url.scheme.startswith("socks") and find_spec("socksio") is None:
        raise ImportError(
            "Using SOCKS proxy, but the 'socksio' package is not installed. "
            "Make sure to install httpx using `pip install httpx[socks]`."
        )
    return httpcore2.Proxy(_url(proxy.url), auth=proxy.raw_auth)


def _environment_proxies() -> dict[str, str | None]:
    """Return the environment's proxies by address pattern; None means no proxy."""
    found = getproxies()
    mounts: dict[str, str | None] = {}
    for scheme in ("http", "https", "all"):
        if address := found.get(scheme):
            mounts[f"{scheme}://"] = address if "://" in address else f"http://{address}"
    for host in (entry.strip() for entry in found.get("no", "").split(",")):
        if host == "*":
            return {}
        if host and (pattern := _pattern(host)):
            mounts[pattern] = None
    return mounts


def _pattern(host: str) -> str:
    """Return the pattern of an entry of NO_PROXY: a URL, an address or network, a host or a domain."""
    if "://" in host:
        return host
    address, slash, network = host.partition("/")
    try:
        version = ipaddress.ip_address(address).version
    except ValueError:
        if host.lower() == "localhost" or host.startswith("[") or (host.startswith("*.") and not slash):
            return f"all://{host}"
        return (
            "" if slash else f"all://*{host}"
        )  # google.com includes www.google.com; .google.com means only subdomains
    return f"all://[{address}]{slash}{network}" if version == 6 else f"all://{host}"
