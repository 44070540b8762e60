"""The servers that packaged benchmarks need: each file declares its ``SERVICE``.

They listen on loopback alone, are bounded, and answer the same to the same request.
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
_MOST_BODY = 1_000_000  # bytes of a request that are read
_MOST_CONNECTIONS = 128
_PATIENCE_S = 15.0  # for a client that says nothing


class Request(NamedTuple):
    """One request; its headers are by lower-case name."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    """What is answered."""

    status: int
    value: Any = b""  # written as JSON; bytes are sent as they are
    headers: tuple[tuple[str, str], ...] = ()  # in addition to the type and length of the content
    after_s: float = 0.0  # how long it is held back
    content_type: str = "application/json"


class Handler(BaseHTTPRequestHandler):
    """Reads one request and sends what :meth:`answer` returns for it."""

    timeout = _PATIENCE_S
    server_version = "skillgate"
    sys_version = ""
    server: Listener

    def answer(self, request: Request) -> Answer:
        """Answer one request; the same request has the same answer."""
        raise NotImplementedError

    def _handle(self) -> None:
        text = self.headers.get("Content-Length", "0")
        length = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        if not 0 <= length <= _MOST_BODY:
            self._discard(length)
            self._send(Answer(413, {"code": "too_large", "message": f"at most {_MOST_BODY} bytes are read"}))
            return
        body = self.rfile.read(length)
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100, errors="replace"))
        self._send(self.answer(Request(self.command, parts.path, query, headers, body)))

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = _handle  # noqa: N815 - as the base class names them

    def _discard(self, left: int) -> None:
        """Take in what was announced, within bounds: a client that still sends would see a broken connection."""
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
        """Say nothing: what foreign programs ask for is no part of a run's output."""


class Listener(ThreadingHTTPServer):
    """Listens on loopback from the moment it is made; answers once it serves."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, handler: type[Handler], port: int = 0) -> None:
        """Bind a port, 0 for one that is free; OSError where it cannot be bound."""
        self.ended = threading.Event()  # set when it is to close; what is held back is answered then
        self._room = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        super().__init__((HOST, port), handler)
        self.url = f"http://{HOST}:{self.server_address[1]}"  # without a slash at the end

    def server_bind(self) -> None:
        """Bind without asking a name server for this machine's name, which the nearest base class does."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class
        """Answer a connection in a thread of its own, as long as there are not too many."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class
        """Answer one connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class
        """Pass over a client that went away; anything else is a bug, and shown as the base class does."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Service(NamedTuple):
    """What a file of this package declares as ``SERVICE``."""

    handler: type[Handler]
    key: str  # in a task's input, and in capitals in the names of variables
    file: tuple[str, bytes] | None = None  # that skills can read instead of sending requests: name and content
