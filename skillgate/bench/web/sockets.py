"""Connections of one try: all of it within one time, to addresses that may be reached, and ended with the run.

A library's own time-outs begin anew with every read, so a byte a second would hold a call for ever.
"""

from __future__ import annotations

import os
import selectors
import socket
import ssl
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import httpcore2

from skillgate.bench.web.hosts import UnreachableError
from skillgate.model.bench_result import ErrorKind

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable

    from skillgate.bench.web.hosts import Hosts

_TICK_S = 0.1
MOST_WIRE_BYTES = 12 << 20  # of all that comes in a try: headers, interim answers, chunks, body


class Try:
    """The bounds of one try.

    Attributes:
        kind: why it was ended, where that was not an answer; None else.
        reason: in words.
        cut_off: whether the other side closed its end.
    """

    def __init__(self, hosts: Hosts, timeout_s: float, stop: threading.Event) -> None:
        """Begin it: its time runs from here."""
        self.hosts = hosts
        self.kind: ErrorKind | None = None
        self.reason = ""
        self.cut_off = False
        self._until = time.monotonic() + timeout_s
        self._stop = stop
        self._came = 0

    def left(self) -> float:
        """Give the seconds that are left.

        Raises:
            httpcore2.ReadTimeout: none are; or the run is to end.
        """
        if self._stop.is_set():
            self.kind, self.reason = ErrorKind.STOPPED, "it was ended with the run"
            raise httpcore2.ReadTimeout(self.reason)
        left = self._until - time.monotonic()
        if left <= 0:
            self.kind = ErrorKind.TIMEOUT
            raise httpcore2.ReadTimeout("its time is over")
        return left

    def count(self, data: bytes) -> None:
        """Count what came.

        Raises:
            httpcore2.ReadError: it is too much.
        """
        self._came += len(data)
        self.cut_off = self.cut_off or not data
        if self._came > MOST_WIRE_BYTES:
            self.kind, self.reason = ErrorKind.OUTPUT_LIMIT, f"it sent more than {MOST_WIRE_BYTES:,} bytes"
            raise httpcore2.ReadError(self.reason)

    def wait(self, sock: socket.socket, *, reading: bool) -> None:
        """Wait until a socket can be read or written."""
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_READ if reading else selectors.EVENT_WRITE)
            while not selector.select(min(_TICK_S, self.left())):
                continue


class Network(httpcore2.NetworkBackend):
    """Opens the connections of one try."""

    def __init__(self, bounds: Try) -> None:
        """Take the try's bounds."""
        self._bounds = bounds

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - there is one time for all
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """Connect to an address of a host that may be reached."""
        bounds = self._bounds
        try:
            addresses = bounds.hosts.found(host, port, bounds.left())
        except UnreachableError as error:
            bounds.left()
            if error.late or error.refused:
                bounds.kind, bounds.reason = (ErrorKind.TIMEOUT if error.late else ErrorKind.CONNECTION), str(error)
            raise httpcore2.ConnectError(str(error)) from None
        problem: OSError | None = None
        for address in addresses:
            try:
                return _Stream(self._connected(address, port), bounds)
            except OSError as error:
                problem = error
        raise httpcore2.ConnectError(f"{host}:{port}: {problem.strerror if problem else 'no address'}")

    def _connected(self, address: str, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with ExitStack() as failing:
            sock = failing.enter_context(socket.socket(family, socket.SOCK_STREAM))
            sock.setblocking(False)
            with suppress(BlockingIOError):
                sock.connect((address, port))
            self._bounds.wait(sock, reading=False)
            _require(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            failing.pop_all()  # it is connected, and whoever has it closes it
        return sock


class _Stream(httpcore2.NetworkStream):
    """A connection; its socket never blocks."""

    def __init__(self, sock: socket.socket, bounds: Try) -> None:
        self._sock = sock
        self._bounds = bounds

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        while True:
            self._bounds.left()
            try:
                data = self._sock.recv(max_bytes)
            except (BlockingIOError, ssl.SSLWantReadError):
                self._bounds.wait(self._sock, reading=True)
            except ssl.SSLWantWriteError:
                self._bounds.wait(self._sock, reading=False)
            except OSError as error:
                raise httpcore2.ReadError(error.strerror or str(error)) from None
            else:
                self._bounds.count(data)
                return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        left = memoryview(buffer)
        while left:
            self._bounds.left()
            try:
                left = left[self._sock.send(left) :]
            except (BlockingIOError, ssl.SSLWantWriteError):
                self._bounds.wait(self._sock, reading=False)
            except ssl.SSLWantReadError:
                self._bounds.wait(self._sock, reading=True)
            except OSError as error:
                raise httpcore2.WriteError(error.strerror or str(error)) from None

    def close(self) -> None:
        self._sock.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        try:
            wrapped = ssl_context.wrap_socket(
                self._sock, server_hostname=server_hostname, do_handshake_on_connect=False
            )
        except (OSError, ValueError) as error:
            raise httpcore2.ConnectError(f"TLS: {error}") from None
        self._sock = wrapped
        while True:
            self._bounds.left()
            try:
                wrapped.do_handshake()
            except ssl.SSLWantReadError:
                self._bounds.wait(wrapped, reading=True)
            except ssl.SSLWantWriteError:
                self._bounds.wait(wrapped, reading=False)
            except OSError as error:
                self.close()
                raise httpcore2.ConnectError(f"TLS: {getattr(error, 'reason', None) or error}") from None
            else:
                return self

    def get_extra_info(self, info: str) -> object:
        return self._sock if info == "socket" else None


def _require(number: int) -> None:
    if number:
        raise OSError(number, os.strerror(number))
