"""A scripted model behind a socket: the Messages API and OpenAI's chats, for tests and for trying the tool."""

from __future__ import annotations

import ipaddress
import json
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TextIO, cast

from skillgate.errors import IncompleteError, UsageError
from skillgate.llm.scripted.chat import chat_document, chat_error, messages_body
from skillgate.llm.scripted.conversation import input_tokens, question_of
from skillgate.llm.scripted.demands import complaint
from skillgate.llm.scripted.outcome import Failure, Message, document, error_document, failure
from skillgate.llm.scripted.streaming import events

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.llm.scripted.engine import Engine
    from skillgate.model.fields import Json


MOST_BYTES = 32 << 20  # of one request, as the API takes them
IDLE_S = 60  # how long a connection may say nothing
MESSAGES = "/v1/messages"
COUNT = "/v1/messages/count_tokens"
CHATS = "/v1/chat/completions"
HEALTH = "/healthz"


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


class Unreadable(Exception):  # noqa: N818 - answered with the failure it holds
    """A request that is answered without being understood; what follows on the connection cannot be either."""

    def __init__(self, failed: Failure, *, close: bool) -> None:
        super().__init__(failed.message)
        self.failed = failed
        self.close = close


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection, one after the other. Nothing of a header is ever written anywhere."""

    protocol_version = "HTTP/1.1"
    server_version = "skillgate-demo"
    sys_version = ""
    timeout = IDLE_S
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave together
    error_content_type = "application/json"
    error_message_format = '{"type": "error", "error": {"type": "api_error", "message": "HTTP %(code)d"}}'

    @property
    def demo(self) -> DemoServer:
        """The server that took the connection."""
        return cast("DemoServer", self.server)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class
        """Log nothing; the server tells of exchanges itself."""

    def do_GET(self) -> None:
        """Answer who asks whether the server is up."""
        if self.path.partition("?")[0] == HEALTH:
            self._send_json(200, {"status": "ok", "scripted": True})
        else:
            self._send_json(404, error_document(failure(404, f"there is nothing but GET {HEALTH}")))

    def do_POST(self) -> None:
        """Answer a request to a model."""
        path = self.path.partition("?")[0]
        write_error = chat_error if path == CHATS else error_document
        answers: dict[str, Callable[[Json], None]] = {
            MESSAGES: self._message,
            COUNT: self._count,
            CHATS: self._chat,
        }
        try:
            answers.get(path, self._nothing)(parsed(self._body()))
        except Unreadable as problem:
            self.close_connection = self.close_connection or problem.close
            known = path if path in answers else "elsewhere"  # what else stands in a path may be meant for nobody
            self.demo.note(path=known, question="", status=problem.failed.status, body=None, reply=None, rule=None)
            self._send_json(problem.failed.status, write_error(problem.failed))

    def _nothing(self, _body: Json) -> None:
        raise Unreadable(failure(404, f"there is nothing here but {MESSAGES}, {COUNT} and {CHATS}"), close=False)

    def _message(self, body: Json) -> None:
        outcome = self.demo.engine.answer(body)
        self._hold_back(outcome)
        if isinstance(outcome, Failure):
            self._fail(MESSAGES, body, outcome, error_document(outcome))
            return
        self._note(MESSAGES, body, outcome)
        if body.get("stream"):
            self._stream(outcome)
        else:
            self._send_json(200, document(outcome), mark=outcome.id, cut=outcome.cut)

    def _count(self, body: Json) -> None:
        wrong = complaint({**body, "max_tokens": 1} if isinstance(body, dict) else body)
        if wrong is not None:
            raise Unreadable(failure(400, wrong), close=False)
        self._send_json(200, {"input_tokens": input_tokens(body)})

    def _chat(self, body: Json) -> None:
        if not isinstance(body, dict):
            raise Unreadable(failure(400, "the request body is not a JSON object"), close=False)
        if body.get("stream"):
            raise Unreadable(failure(400, "stream: chats are not streamed here"), close=False)
        put = messages_body(body)
        outcome = self.demo.engine.answer(put)
        self._hold_back(outcome)
        if isinstance(outcome, Failure):
            self._fail(CHATS, put, outcome, chat_error(outcome))
            return
        self._note(CHATS, put, outcome)
        self._send_json(200, chat_document(outcome), mark=outcome.id, cut=outcome.cut)

    def _body(self) -> bytes:
        """Read the body.

        Raises:
            Unreadable: its length is not given, or is too large.
        """
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdecimal()):
            raise Unreadable(failure(411, "a Content-Length is required"), close=True)
        if len(length) > 12 or int(length) > MOST_BYTES:
            raise Unreadable(failure(413, f"larger than {MOST_BYTES >> 20} MiB"), close=True)
        data = self.rfile.read(int(length))
        if len(data) < int(length):
            raise Unreadable(failure(400, "the body ends early"), close=True)
        return data

    def _hold_back(self, outcome: Message | Failure) -> None:
        self.demo.stopped.wait(max(outcome.delay_s, self.demo.options.latency_s))

    def _fail(self, path: str, body: Json, failed: Failure, reply: Json) -> None:
        question = "" if complaint(body) else question_of(body)
        self.demo.note(path=path, question=question, status=failed.status, body=body, reply=reply, rule=failed.rule)
        wait = {} if failed.retry_after_s is None else {"retry-after": f"{failed.retry_after_s:g}"}
        self._send_json(failed.status, reply, headers=wait)

    def _note(self, path: str, body: Json, message: Message) -> None:
        self.demo.note(
            path=path, question=question_of(body), status=200, body=body, reply=document(message), rule=message.rule
        )

    def _send_json(
        self, status: int, value: Json, *, mark: str = "", headers: dict[str, str] | None = None, cut: bool = False
    ) -> None:
        data = json.dumps(value).encode()
        self._head(status, "application/json", mark, {**(headers or {}), "Content-Length": str(len(data))})
        if cut:
            self.close_connection = True
            data = data[: len(data) // 2]
        self.wfile.write(data)

    def _stream(self, message: Message) -> None:
        self._head(200, "text/event-stream", message.id, {"Transfer-Encoding": "chunked"})
        found = list(events(message))
        for event in found[: len(found) // 2] if message.cut else found:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.flush()
        if message.cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _head(self, status: int, kind: str, mark: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("x-skillgate-scripted", "true")
        if mark:
            self.send_header("request-id", mark)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()


def parsed(data: bytes) -> Json:
    """Read JSON that anybody may have sent.

    Raises:
        Unreadable: it is none, or nothing that the interpreter can hold.
    """
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_refused)
    except (ValueError, RecursionError):
        raise Unreadable(failure(400, "the request body is not valid JSON"), close=False) from None


def _refused(name: str) -> NoReturn:
    raise ValueError(name)
