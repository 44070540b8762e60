"""Transports over a network backend: what httpx2's own do, and proxies of the environment."""

from __future__ import annotations

import asyncio
import os
import ssl
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("httpx2")

import httpcore2
import httpx2

from skillgate.http_transport import AsyncTransport, Transport, client
from tests.llm.server import ModelServer, raw, without_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.llm.server import Behaviour

TLS = ssl.create_default_context()
BEHAVIOURS = {
    "an answer": raw(b'{"a": 1}', status=200, headers={"x-a": "b"}),
    "a failure": raw(b"no", status=429, headers={"retry-after": "7"}),
    "no HTTP": without_end(b"hello\r\n", b"", pause_s=0),
    "a header without end": without_end(b"HTTP/1.1 200 OK\r\nx-a: ", b"", pause_s=1),
    "a body without end": without_end(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", b"", pause_s=1),
}


class Backend(httpcore2.SyncBackend):
    """The network, with a list of where connections went."""

    def __init__(self, *, reach: bool = True) -> None:
        self.hosts: list[str] = []
        self._reach = reach

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        self.hosts.append(host)
        if not self._reach:
            raise httpcore2.ConnectError("unreachable here")
        return super().connect_tcp(host, port, timeout, local_address, socket_options)


def received(response: httpx2.Response) -> tuple[object, ...]:
    headers = [(name, value) for name, value in response.headers.items() if name != "date"]
    return response.status_code, headers, response.content, response.http_version


def outcome(make: Callable[[], httpx2.Client], url: str) -> tuple[object, ...]:
    """What a client makes of one request."""
    with make() as http:
        try:
            response = http.post(url, json={"q": 1}, timeout=httpx2.Timeout(5, read=0.3))
        except httpx2.HTTPError as error:
            return type(error), str(error), error.request.url
        return received(response)


async def async_outcome(transport: httpx2.AsyncBaseTransport, url: str) -> tuple[object, ...]:
    async with httpx2.AsyncClient(transport=transport, trust_env=False) as http:
        try:
            response = await http.post(url, json={"q": 1}, timeout=httpx2.Timeout(5, read=0.3))
        except httpx2.HTTPError as error:
            return type(error), str(error), error.request.url
        return received(response)


@pytest.mark.parametrize("behaviour", BEHAVIOURS.values(), ids=list(BEHAVIOURS))
def test_an_exchange_is_as_that_of_the_librarys_own_transport(behaviour: Behaviour) -> None:
    with ModelServer(behaviour) as server:
        backend = Backend()
        ours = outcome(lambda: httpx2.Client(transport=Transport(backend, TLS)), server.url)
        theirs = outcome(lambda: httpx2.Client(trust_env=False), server.url)
        ours_async = asyncio.run(async_outcome(AsyncTransport(httpcore2.AnyIOBackend(), TLS), server.url))
        theirs_async = asyncio.run(async_outcome(httpx2.AsyncHTTPTransport(verify=TLS), server.url))
        bodies = server.bodies
    assert ours == theirs
    assert ours_async == theirs_async
    assert bodies == [{"q": 1}] * 4
    assert backend.hosts == ["127.0.0.1"]


def test_an_unreachable_host_and_a_foreign_scheme_are_errors_of_httpx2() -> None:
    backend = Backend(reach=False)
    assert outcome(lambda: httpx2.Client(transport=Transport(backend, TLS)), "http://a.example")[:2] == (
        httpx2.ConnectError,
        "unreachable here",
    )
    kinds = {
        outcome(make, "ftp://a.example")[:2]
        for make in (lambda: httpx2.Client(transport=Transport(backend, TLS)), lambda: httpx2.Client(trust_env=False))
    }
    assert len(kinds) == 1


def test_an_error_of_the_backend_passes_as_it_is() -> None:
    class Refused(Backend):
        def connect_tcp(self, *_: object, **__: object) -> httpcore2.NetworkStream:
            raise httpx2.ConnectTimeout("the time is over")

    with pytest.raises(httpx2.ConnectTimeout, match="the time is over"):
        httpx2.Client(transport=Transport(Refused(), TLS)).get("http://a.example")


PROXIES = [
    # environment, address, host that the connection goes to
    ({}, "http://a.example", "a.example"),
    ({"HTTP_PROXY": "http://p.example:3128"}, "http://a.example", "p.example"),
    ({"HTTP_PROXY": "p.example:3128"}, "http://a.example", "p.example"),
    ({"HTTP_PROXY": "http://p.example:3128"}, "https://a.example", "a.example"),
    ({"HTTPS_PROXY": "http://u:w@p.example"}, "https://a.example", "p.example"),
    ({"ALL_PROXY": "http://p.example", "HTTP_PROXY": "http://q.example"}, "http://a.example", "q.example"),
    ({"ALL_PROXY": "http://p.example", "HTTP_PROXY": "http://q.example"}, "https://a.example", "p.example"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "*"}, "http://a.example", "a.example"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "b.example, a.example"}, "http://a.example", "a.example"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "example"}, "http://a.example", "a.example"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": ".a.example"}, "http://a.example", "p.example"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "*.a.example"}, "http://b.a.example", "b.a.example"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "localhost"}, "http://localhost:1", "localhost"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "10.0.0.0/8"}, "http://10.1.2.3", "10.1.2.3"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "10.0.0.0/8"}, "http://11.1.2.3", "p.example"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "::1"}, "http://[::1]:8000", "::1"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "::/64"}, "http://[::1]:8000", "::1"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "[::1]"}, "http://[::1]:8000", "::1"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "http://a.example:81"}, "http://a.example:81", "a.example"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "http://a.example:81"}, "http://a.example:82", "p.example"),
    ({"ALL_PROXY": "http://p.example", "NO_PROXY": "10.0.0.0/99,a.example"}, "http://a.example", "a.example"),
]


@pytest.mark.parametrize(("environment", "address", "host"), PROXIES)
def test_the_proxies_of_the_environment_are_used(
    environment: dict[str, str], address: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    backend = Backend(reach=False)
    with client(backend) as http, pytest.raises(httpx2.ConnectError):
        http.get(address)
    assert backend.hosts == [host]


def test_a_proxy_that_cannot_be_used_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "ftp://p.example")
    with pytest.raises(ValueError, match="Unknown scheme for proxy URL"):
        client(Backend())


def test_a_tunnel_through_a_proxy_carries_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with ModelServer(raw(b"no", status=407)) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url.replace("http://", "http://user:word@"))
        with client(Backend()) as http:
            assert http.post("http://a.example/", json={}).status_code == 407
        assert server.seen[0].headers["proxy-authorization"] == "Basic dXNlcjp3b3Jk"
