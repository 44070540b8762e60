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
from skillgate.llm.providers.scripted import Failure, Message, document, error_document, failure
from skillgate.llm.scripted.requests import complaint, input_tokens, question_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skillgate.llm.providers.scripted import Engine
    from skillgate.model.score import Json


MOST_BYTES = 32 << 20  # of one request, as the API takes them
IDLE_S = 60  # how long a connection may say nothing
MESSAGES = "/v1/messages"
COUNT = "/v1/messages/count_tokens"
CHATS = "/v1/chat/completions"
HEALTH = "/healthz"
_MOST_TOKENS = 4096  # of a chat that names no limit
_ENDS = {"max_tokens": "length", "refusal": "content_filter", "tool_use": "tool_calls"}
_ERROR_TYPES = {401: "authentication_error", 429: "rate_limit_error"}
_PIECE = 400  # characters of text in one event of a stream


class Options(NamedTuple):
    """How a demo server behaves."""

    host: str = "127.0.0.1"  # a name or an address
    port: int = 0  # 0 for one that is free
    to_others: bool = False  # whether ``host`` may be an address that other machines reach
    latency_s: float = 0.0  # that every reply takes at least
    record: TextIO | None = None  # where exchanges are written, a line of JSON each, without headers
    log: Callable[[str], None] | None = None  # called with a line about each exchange, with nothing of its text
    most_connections: int = 256  # at once, a thread for each; what is beyond is closed unread


_LOCAL = Options()
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - how a client here reaches who listens there


class DemoServer(ThreadingHTTPServer):
    """Listens from the moment it is made; ``serve_forever`` answers until ``shutdown`` is called."""

    daemon_threads = True
    request_queue_size = 128
    block_on_close = False

    def __init__(self, engine: Engine, options: Options = _LOCAL) -> None:
        """Bind the address.

        Raises UsageError where it is no address of this machine, or one that other machines reach and that was not
        allowed; IncompleteError where it is in use, or may not be bound.
        """
        family, address = _address(options.host, options.port)
        if not options.to_others and not is_loopback(address[0]):
            raise UsageError(f"{options.host} can be reached from other machines; the demo server answers everyone")
        self.address_family = family
        self.engine = engine
        self.options = options
        self.stopped = threading.Event()
        self.unrecorded: str | None = None  # why an exchange could not be recorded
        self._room = threading.BoundedSemaphore(options.most_connections)
        self._record = threading.Lock()
        try:
            super().__init__(address, Handler)
        except OSError as error:
            raise IncompleteError(f"cannot listen on {options.host}:{options.port}: {error.strerror}") from error
        bound = str(self.server_address[0])
        self.local = is_loopback(bound)  # whether only this machine can reach it
        host = _EVERYWHERE.get(bound, bound)
        self.base_url = f"http://{f'[{host}]' if ':' in host else host}:{self.server_address[1]}"

    def server_bind(self) -> None:
        """Bind without asking a name server for this machine's name, which the nearest base class does."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class
        """Answer a connection in its own thread, as long as there are not too many."""
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
        """Record one exchange, and report it in a line."""
        if self.options.record is not None:
            line = json.dumps({"path": path, "question": question, "status": status, **more}) + "\n"
            try:
                with self._record:
                    self.options.record.write(line)
                    self.options.record.flush()
            except (OSError, ValueError) as error:  # a full disk; ValueError: closed, since the run is over
                self.unrecorded = str(error)
        if self.options.log is not None:
            self.options.log(f"{path} {status} {question or '-'}")


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine alone."""
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback


def _address(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    """Look a host up; raise UsageError where there is none of that name."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:  # UnicodeError: a name that no name server could know
        raise UsageError(f"{host!r} is no address to listen on: {error}") from None
    family, _, _, _, address = addresses[0]
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
        """Log nothing; the server reports exchanges itself."""

    def do_GET(self) -> None:
        """Answer whether the server is up."""
        if self.path.partition("?")[0] == HEALTH:
            self._send_json(200, {"status": "ok", "scripted": True})
        else:
            self._send_json(404, error_document(failure(404, f"there is nothing but GET {HEALTH}")))

    def do_POST(self) -> None:
        """Answer a request to a model."""
        path = self.path.partition("?")[0]
        write_error = chat_error if path == CHATS else error_document
        answers: dict[str, Callable[[Json], None]] = {MESSAGES: self._message, COUNT: self._count, CHATS: self._chat}
        try:
            answers.get(path, self._nothing)(parsed(self._body()))
        except Unreadable as problem:
            self.close_connection = self.close_connection or problem.close
            known = path if path in answers else "elsewhere"  # what else a path holds may be confidential
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
        translated = messages_body(body)
        outcome = self.demo.engine.answer(translated)
        self._hold_back(outcome)
        if isinstance(outcome, Failure):
            self._fail(CHATS, translated, outcome, chat_error(outcome))
            return
        self._note(CHATS, translated, outcome)
        self._send_json(200, chat_document(outcome), mark=outcome.id, cut=outcome.cut)

    def _body(self) -> bytes:
        """Read the body; raise Unreadable where its length is not given, or is too large."""
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
        sent = list(events(message))
        for event in sent[: len(sent) // 2] if message.cut else sent:
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


def messages_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Put the body of a chat of OpenAI's into that of the Messages API, without sampling parameters."""
    turns = body.get("messages")
    turns = turns if isinstance(turns, list) else []
    turns = [turn for turn in turns if isinstance(turn, dict)]
    system = [_blocks(turn.get("content")) for turn in turns if turn.get("role") in ("system", "developer")]
    translated: dict[str, Any] = {
        "model": body.get("model"),
        "max_tokens": body.get("max_completion_tokens") or body.get("max_tokens") or _MOST_TOKENS,
        "messages": [
            {"role": turn.get("role"), "content": _blocks(turn.get("content"))}
            for turn in turns
            if turn.get("role") not in ("system", "developer")
        ],
    }
    if system:
        translated["system"] = [block for blocks in system if isinstance(blocks, list) for block in blocks]
    schema = _schema(body.get("response_format"))
    if schema is not None:
        translated["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return translated


def chat_document(message: Message) -> dict[str, Any]:
    """Write a message as a chat's completion."""
    text = "".join(block["text"] for block in message.content if block["type"] == "text")
    used = message.tokens
    return {
        "id": f"chatcmpl-{message.id.removeprefix('msg_')}",
        "object": "chat.completion",
        "created": 0,
        "model": message.model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text or None, "refusal": None},
                "finish_reason": _ENDS.get(message.stop_reason, "stop"),
            }
        ],
        "usage": {
            "prompt_tokens": used.input,
            "completion_tokens": used.output,
            "total_tokens": used.input + used.output,
        },
    }


def chat_error(failed: Failure) -> dict[str, Any]:
    """Write a failure as this protocol does."""
    kind = _ERROR_TYPES.get(failed.status, "invalid_request_error" if failed.status < 500 else "server_error")
    return {"error": {"message": failed.message, "type": kind, "param": None, "code": failed.type}}


def _blocks(content: Json) -> Json:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _schema(form: Json) -> Json:
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        return None
    within = form.get("json_schema")
    return within.get("schema") if isinstance(within, dict) else None


def events(message: Message) -> Iterator[bytes]:
    """Yield the events of a stream, as the Messages API sends it, each as it goes over the wire."""
    whole = document(message)
    usage = whole["usage"]
    start = {**whole, "content": [], "stop_reason": None, "stop_details": None, "usage": {**usage, "output_tokens": 1}}
    yield _event("message_start", message=start)
    for index, block in enumerate(whole["content"]):
        yield from _block_events(index, block)
    ended = {name: whole[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield _event("message_delta", delta=ended, usage={"output_tokens": usage["output_tokens"]})
    yield _event("message_stop")


def _block_events(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    if block["type"] == "text":
        whole, kind, field = block["text"], "text_delta", "text"
        empty = {**block, "text": ""}
    else:
        whole, kind, field = json.dumps(block["input"]), "input_json_delta", "partial_json"
        empty = {**block, "input": {}}
    yield _event("content_block_start", index=index, content_block=empty)
    for at in range(0, len(whole), _PIECE):
        yield _event("content_block_delta", index=index, delta={"type": kind, field: whole[at : at + _PIECE]})
    yield _event("content_block_stop", index=index)


def _event(name: str, **data: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()


def parsed(data: bytes) -> Json:
    """Read JSON from an untrusted sender; raise Unreadable where the interpreter cannot hold it."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_refused)
    except (ValueError, RecursionError):
        raise Unreadable(failure(400, "the request body is not valid JSON"), close=False) from None


def _refused(name: str) -> NoReturn:
    raise ValueError(name)
