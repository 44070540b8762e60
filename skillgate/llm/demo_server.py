"""A scripted model behind a socket: the Messages API and OpenAI's chats, for tests and for trying the tool."""

from __future__ import annotations

import ipaddress
import json
import socket
import sys
import threading
from http.server import ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from skillgate.errors import IncompleteError, UsageError
from skillgate.llm.scripted.handler import Handler

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.llm.scripted.engine import Engine
    from skillgate.model.fields import Json


class Options(NamedTuple):
    """How a demo server behaves.

    Attributes:
        host: a name or an address.
        port: 0 for one that is free.
        to_others: whether ``host`` may be an address that other machines reach.
        latency_s: that every reply takes at least.
        record: where exchanges are written, a line of JSON each, without headers; None for nowhere.
        told: called with one line about each exchange, which holds nothing of its text.
        most_connections: at once, a thread for each; what is beyond is closed unread.
    """

    host: str = "127.0.0.1"
    port: int = 0
    to_others: bool = False
    latency_s: float = 0.0
    record: TextIO | None = None
    told: Callable[[str], None] | None = None
    most_connections: int = 256


_LOCAL = Options()
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - how a client here reaches who listens there


class DemoServer(ThreadingHTTPServer):
    """Listens from the moment it is made; ``serve_forever`` answers until ``shutdown`` is called.

    Attributes:
        base_url: its address for a client on this machine, for ``ANTHROPIC_BASE_URL``.
        local: whether only this machine can reach it.
        unrecorded: why an exchange could not be recorded, None where all were.
    """

    daemon_threads = True
    request_queue_size = 128
    block_on_close = False

    def __init__(self, engine: Engine, options: Options = _LOCAL) -> None:
        """Bind the address.

        Raises:
            UsageError: it is no address of this machine, or one that other machines reach and that was not allowed.
            IncompleteError: it is in use, or may not be bound.
        """
        family, address = _address(options.host, options.port)
        if not options.to_others and not is_loopback(address[0]):
            raise UsageError(f"{options.host} can be reached from other machines; the demo server answers anybody")
        self.address_family = family
        self.engine = engine
        self.options = options
        self.stopped = threading.Event()
        self.unrecorded: str | None = None
        self._room = threading.BoundedSemaphore(options.most_connections)
        self._record = threading.Lock()
        try:
            super().__init__(address, Handler)
        except OSError as error:
            raise IncompleteError(f"cannot listen on {options.host}:{options.port}: {error.strerror}") from error
        bound = str(self.server_address[0])
        self.local = is_loopback(bound)
        host = _EVERYWHERE.get(bound, bound)
        self.base_url = f"http://{f'[{host}]' if ':' in host else host}:{self.server_address[1]}"

    def server_bind(self) -> None:
        """Bind without asking a name server for this machine's name, which the nearest base class does."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class
        """Answer a connection in a thread of its own, as long as there are not too many."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer one connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Pass over a client that went away; anything else is a bug, and shown as the base class does."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def note(self, *, path: str, question: str, status: int, **more: Json) -> None:
        """Record one exchange, and tell of it in a line."""
        if self.options.record is not None:
            line = json.dumps({"path": path, "question": question, "status": status, **more}) + "\n"
            try:
                with self._record:
                    self.options.record.write(line)
                    self.options.record.flush()
            except (OSError, ValueError) as error:  # a full disk; ValueError: closed, since the run is over
                self.unrecorded = str(error)
        if self.options.told is not None:
            self.options.told(f"{path} {status} {question or '-'}")


def is_loopback(host: str) -> bool:
    """Tell whether an address is reached from this machine alone."""
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback


def _address(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    """Look a host up.

    Raises:
        UsageError: there is none of that name.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:  # UnicodeError: a name that no name server could know
        raise UsageError(f"{host!r} is no address to listen on: {error}") from None
    family, _, _, _, address = found[0]
    return family, (str(address[0]), int(address[1]))
