"""An HTTP client for the servers of skills: bounded in time and size, and only to addresses that may be reached."""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import httpcore2
import httpx2

from skillgate.bench.addresses import refusal
from skillgate.llm import bounded

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable

    from httpcore2 import SOCKET_OPTION, NetworkBackend, NetworkStream

    from skillgate.bench.addresses import Reach

_TICK_S = 0.1  # in which the end of the run is heard
_CONNECT_S = 10.0
_MOST = 256  # connections: as many as there are calls at once


class UnreachedError(Exception):
    """An address must not be reached; the text says why."""


class StoppedError(Exception):
    """The run ended while something was waited for."""


def client(within: Reach, stop: threading.Event, *, verify: ssl.SSLContext | bool = True) -> httpx2.Client:
    """Make a client without proxies, cookies or credentials of the environment, which follows no redirect.

    What it does within ``skillgate.llm.bounded.within(seconds)`` takes no longer than that.

    Raises:
        UnreachedError: while it connects.
        StoppedError: when ``stop`` is set while it waits.
    """
    made = httpx2.Client(
        trust_env=False,
        follow_redirects=False,
        verify=verify,
        limits=httpx2.Limits(max_connections=_MOST, max_keepalive_connections=0),
    )
    transport: Any = made._transport
    transport._pool._network_backend = _Network(transport._pool._network_backend, within, stop)
    return bounded.bound(made)


class _Network:
    """Connects to the very address that was looked at, so that a name cannot mean another one by then."""

    def __init__(self, network: NetworkBackend, within: Reach, stop: threading.Event) -> None:
        self._network, self._within, self._stop = network, within, stop

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> _Stream:
        until = time.monotonic() + min(_CONNECT_S, _CONNECT_S if timeout is None else timeout)
        addresses = _looked_up(host, port, until)
        for address in addresses:
            why = refusal(address, host, port, self._within)
            if why is not None:
                raise UnreachedError(why)
        failed: Exception = httpx2.ConnectError(f"{host} has no address")
        for address in addresses:
            left = until - time.monotonic()
            try:
                stream = self._network.connect_tcp(address, port, max(0.05, left), local_address, socket_options)
                return _Stream(stream, self._stop)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
        raise failed

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[SOCKET_OPTION] | None = None
    ) -> NetworkStream:
        del timeout, socket_options
        raise UnreachedError(f"{path} is no address")

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


class _Stream:
    """A connection whose reads end with the run."""

    def __init__(self, stream: NetworkStream, stop: threading.Event) -> None:
        self._stream, self._stop = stream, stop

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _TICK_S if until is None else min(_TICK_S, until - time.monotonic())
            try:
                return self._stream.read(max_bytes, max(left, 0.001))
            except httpcore2.ReadTimeout:
                if self._stop.is_set():
                    raise StoppedError from None
                if until is not None and time.monotonic() >= until:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Stream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout), self._stop)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def _looked_up(host: str, port: int, until: float) -> list[str]:
    """Look a name up, for no longer than there is time: the system's own call has no limit.

    Raises:
        httpx2.ConnectError: it has no address.
        httpx2.ConnectTimeout: nothing was heard in time.
    """
    found: list[str] = []
    problem: list[str] = []

    def look() -> None:
        try:
            rows = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
            found.extend(dict.fromkeys(str(row[4][0]) for row in rows))
        except (OSError, UnicodeError) as error:
            problem.append(getattr(error, "strerror", None) or str(error))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(max(0.0, until - time.monotonic()))
    if looking.is_alive():
        raise httpx2.ConnectTimeout(f"nothing was heard of the address of {host}")
    if problem or not found:
        raise httpx2.ConnectError(f"{host}: {problem[0] if problem else 'no address'}")
    return found
