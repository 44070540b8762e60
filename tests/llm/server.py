"""A server on the loopback that speaks the protocols of the models, and misbehaves as it is told to.

What it is to do is given as behaviours, one for each request in the order in which they arrive; the last one stays.
Everything it was sent is kept.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    Behaviour = Callable[["Handler"], None]

USAGE = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 3}


class Seen(NamedTuple):
    """A request as it arrived; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Any


class ModelServer:
    """Runs within a ``with``. Attributes: ``seen``, and ``released``, set when hanging requests are to end."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self.seen: list[Seen] = []
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._behaviours = list(behaviours)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"model": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def bodies(self) -> list[Any]:
        return [one.body for one in self.seen]

    def then(self, *behaviours: Behaviour) -> None:
        """Do this from now on."""
        with self._lock:
            self._behaviours = list(behaviours)

    def next(self, seen: Seen) -> Behaviour:
        with self._lock:
            self.seen.append(seen)
            return self._behaviours.pop(0) if len(self._behaviours) > 1 else self._behaviours[0]

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    model: ModelServer

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.model.next(Seen(self.path, headers, json.loads(data)))(self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def give(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def raw(data: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Answer with these bytes."""
    return lambda handler: handler.give(status, data, headers or {})


def document(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Answer with a JSON document."""
    return raw(json.dumps(value).encode(), status=status, headers=headers)


def message(text: str = '{"score": 7}', **changes: object) -> Behaviour:
    """Answer with a message of the Messages API, with changed or added fields."""
    content = [{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": text}]
    fields = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5", "content": content}
    return document(
        {**fields, "stop_reason": "end_turn", "stop_sequence": None, "usage": USAGE, **changes},
        headers={"request-id": "req_1"},
    )


def completion(text: str | None = '{"score": 7}', *, ended: str | None = "stop", **message_fields: object) -> Behaviour:
    """Answer with a chat completion."""
    choice = {"index": 0, "finish_reason": ended, "message": {"role": "assistant", "content": text, **message_fields}}
    usage = {"prompt_tokens": 110, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 10}}
    return document({"id": "chat_1", "object": "chat.completion", "model": "m-1", "choices": [choice], "usage": usage})


def refusal(status: int, kind: str, said: str = "no", *, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Answer with an error as the API words it."""
    return document({"type": "error", "error": {"type": kind, "message": said}}, status=status, headers=headers)


def cut_off(status: int) -> Behaviour:
    """Promise more than comes, and hang up."""

    def answer(handler: Handler) -> None:
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", "5000")
        handler.end_headers()
        handler.wfile.write(b'{"type": "message", "content": [')
        handler.close_connection = True

    return answer


cut = cut_off(200)


def hang_up(handler: Handler) -> None:
    """Say nothing, and hang up."""
    handler.close_connection = True


def hang(handler: Handler) -> None:
    """Say nothing until the server is closed."""
    handler.model.released.wait(60)
    handler.close_connection = True


def drip(handler: Handler) -> None:
    """Send a byte now and then, without end."""
    handler.send_response(200)
    handler.send_header("content-length", "100000000")
    handler.end_headers()
    try:
        while not handler.model.released.wait(0.02):
            handler.wfile.write(b" ")
            handler.wfile.flush()
    except OSError:
        pass
    handler.close_connection = True


def without_end(head: bytes, piece: bytes, *, pause_s: float = 0.02) -> Behaviour:
    """Send these bytes, then those over and over, until the other side has gone or the server is closed."""

    def answer(handler: Handler) -> None:
        handler.close_connection = True
        try:
            handler.wfile.write(head)
            while not handler.model.released.wait(pause_s):
                handler.wfile.write(piece)
                handler.wfile.flush()
        except OSError:
            pass

    return answer


def echo_headers(status: int) -> Behaviour:
    """Answer with an error that quotes what was sent, key included."""

    def answer(handler: Handler) -> None:
        quoted = "; ".join(f"{name}: {value}" for name, value in handler.headers.items())
        refusal(status, "invalid_request_error", quoted)(handler)

    return answer
