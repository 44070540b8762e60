"""Servers of packaged benchmarks. Each file is one server and declares its ``SERVICE``.

Servers listen on loopback only, have limits, and always answer a request in the same way.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

HOST = "127.0.0.1"
_MOST_DISCARDED = 64 << 20
_MOST_BODY = 1_000_000  # bytes of a request body
_MOST_CONNECTIONS = 128
_PATIENCE_S = 15.0  # for a silent client


class Request(NamedTuple):
    """A request; header names are in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    """A response."""

    status: int
    value: Any = b""  # sent as JSON; bytes are sent unchanged
    headers: tuple[tuple[str, str], ...] = ()  # besides Content-Type and Content-Length
    after_s: float = 0.0  # delay
    content_type: str = "application/json"


class Handler(BaseHTTPRequestHandler):
    """Reads one request and sends what :meth:`answer` returns for it."""

    timeout = _PATIENCE_S
    server_version = "skillgate"
    sys_version = ""
    server: Listener

    def answer(self, request: Request) -> Answer:
        """Answer one request; the same request gets the same answer."""
        raise NotImplementedError

    def _handle(self) -> None:
        text = self.headers.get("Content-Length", "0")
        length = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        if not 0 <= length <= _MOST_BODY:
            self._discard(length)
            self._send(Answer(413, {"code": "too_large", "message": f"maximum {_MOST_BODY} bytes"}))
            return
        body = self.rfile.read(length)
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100, errors="replace"))
        self._send(self.answer(Request(self.command, parts.path, query, headers, body)))

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = _handle  # noqa: N815 - as the base class names them

    def _discard(self, left: int) -> None:
        """Read the announced body up to a limit: otherwise a client that still sends gets a broken connection."""
        left = min(left, _MOST_DISCARDED)
        while left > 0 and (piece := self.rfile.read(min(left, 1 << 16))):
            left -= len(piece)

    def _send(self, answer: Answer) -> None:
        if answer.after_s:
            self.server.ended.wait(answer.after_s)
        value = answer.value
        data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        self.send_response(answer.status)
        for name, text in answer.headers:
            self.send_header(name, text)
        if answer.status != 204:
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if answer.status != 204 and self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - the base class's
        """Do not log: requests of skills are not part of a run's output."""


class Listener(ThreadingHTTPServer):
    """Listens on loopback from its creation; answers once it serves."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, handler: type[Handler], port: int = 0) -> None:
        """Bind a port, 0 for a free one; raise OSError if that fails."""
        self.ended = threading.Event()  # set on closing; delayed answers are sent then
        self._room = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        super().__init__((HOST, port), handler)
        self.url = f"http://{HOST}:{self.server_address[1]}"  # without a trailing slash

    def server_bind(self) -> None:
        """Bind without the host name lookup of the base class."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class
        """Answer a connection in a separate thread, up to a maximum number."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class
        """Answer one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class
        """Ignore a client that disconnected; report anything else as the base class does."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Service(NamedTuple):
    """The declaration of a server, ``SERVICE`` in its file."""

    handler: type[Handler]
    key: str  # key in task input; in capitals, part of variable names
    file: tuple[str, bytes] | None = None  # name and content of a file that skills can read instead of sending requests
