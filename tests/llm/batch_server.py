"""A server on the loopback that speaks the Message Batches API, keeps its batches, and misbehaves as it is told to.

Every request of a batch is given a result by a function of its key, its body and how often that key was submitted; a
batch ends after so many looks. What a call is to do instead of its work is queued by the call's kind.
"""

from __future__ import annotations

import json
import threading
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    Result = dict[str, Any]
    Answering = Callable[[str, Mapping[str, Any], int], Result]

USAGE = {"input_tokens": 1_000, "output_tokens": 100}
CREATE, LOOK, LIST, RESULTS = "create", "look", "list", "results"


def succeeded(text: str = "4", **changes: object) -> Result:
    content = [{"type": "text", "text": text}]
    fields = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5", "content": content}
    return {"type": "succeeded", "message": {**fields, "stop_reason": "end_turn", "usage": USAGE, **changes}}


def errored(kind: str, said: str = "no") -> Result:
    return {"type": "errored", "error": {"type": "error", "error": {"type": kind, "message": said}}}


EXPIRED: Result = {"type": "expired"}
CANCELED: Result = {"type": "canceled"}


def echoed(key: str, body: Mapping[str, Any], tries: int) -> Result:
    """Answer with what was asked."""
    return succeeded(body["messages"][-1]["content"])


class Fault(NamedTuple):
    """What a call gets instead of what it asks for.

    Attributes:
        status: of HTTP; 0: the connection is cut off.
        done: whether its work is done all the same, so that only the answer is lost.
        headers: sent with it.
        held: the call waits until the server is closed.
    """

    status: int = 0
    done: bool = False
    headers: Mapping[str, str] = {}
    held: bool = False


class Batch(NamedTuple):
    id: str
    requests: tuple[tuple[str, Mapping[str, Any]], ...]
    created: str


class BatchServer:
    """Runs within a ``with``.

    Attributes:
        batches: in the order in which they were submitted.
        calls: the kind of each call, as it came.
        answering: gives each request its result.
        looks: how often a batch is looked at before it has ended.
        slow: ids of batches that do not end.
        look_headers: of every look.
        extra: lines that stand before the results, whatever is in them.
        foreign: batches of others, as they are listed.
        arrived: set when a call came that is held.
    """

    def __init__(self, answering: Answering = echoed, *, looks: int = 1) -> None:
        self.batches: list[Batch] = []
        self.calls: list[str] = []
        self.answering = answering
        self.looks = looks
        self.slow: set[str] = set()
        self.look_headers: Mapping[str, str] = {}
        self.extra: list[bytes] = []
        self.foreign: list[dict[str, Any]] = []
        self.arrived = threading.Event()
        self._faults: dict[str, list[Fault]] = {}
        self._looked: dict[str, int] = {}
        self._submitted: dict[str, int] = {}
        self._released = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (_Handler,), {"owner": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def sizes(self) -> list[int]:
        return [len(batch.requests) for batch in self.batches]

    def wrong(self, kind: str, *faults: Fault) -> None:
        """Let the next calls of a kind go wrong."""
        self._faults.setdefault(kind, []).extend(faults)

    def fault(self, kind: str) -> Fault | None:
        with self._lock:
            self.calls.append(kind)
            waiting = self._faults.get(kind)
            return waiting.pop(0) if waiting else None

    def create(self, document: Mapping[str, Any]) -> dict[str, Any]:
        with self._lock:
            requests = tuple((one["custom_id"], one["params"]) for one in document["requests"])
            created = datetime.now(UTC).isoformat()
            batch = Batch(f"msgbatch_{len(self.batches) + 1}", requests, created)
            self.batches.append(batch)
            self._looked[batch.id] = 0
            for key, _ in requests:
                self._submitted[key] = self._submitted.get(key, 0) + 1
            return self.shown(batch)

    def find(self, name: str) -> Batch | None:
        return next((batch for batch in self.batches if batch.id == name), None)

    def look(self, batch: Batch) -> dict[str, Any]:
        with self._lock:
            self._looked[batch.id] += 1
            return self.shown(batch)

    def shown(self, batch: Batch) -> dict[str, Any]:
        ended = self._looked[batch.id] >= self.looks and batch.id not in self.slow
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        counts["succeeded" if ended else "processing"] = len(batch.requests)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": batch.created,
            "expires_at": batch.created,
            "ended_at": batch.created if ended else None,
            "results_url": "https://elsewhere.invalid/results" if ended else None,
        }

    def results(self, batch: Batch) -> bytes:
        """Give the results of a batch, the last request's first."""
        lines = [
            json.dumps({"custom_id": key, "result": self.answering(key, body, self._submitted[key])}).encode()
            for key, body in reversed(batch.requests)
        ]
        return b"\n".join((*self.extra, *lines)) + b"\n"

    def hold(self) -> None:
        self.arrived.set()
        self._released.wait(60)

    def __enter__(self) -> BatchServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    owner: BatchServer

    def do_POST(self) -> None:
        document = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        self._answer(CREATE, lambda: self.owner.create(document))

    def do_GET(self) -> None:
        _, _, rest = self.path.partition("/v1/messages/batches")
        name, _, what = rest.strip("/").partition("/")
        if not name or name.startswith("?"):
            listed = [self.owner.shown(batch) for batch in reversed(self.owner.batches)]
            self._answer(LIST, lambda: {"data": [*self.owner.foreign, *listed], "has_more": False})
            return
        batch = self.owner.find(name)
        kind = RESULTS if what == "results" else LOOK
        if batch is None:
            self.owner.fault(kind)
            self._fail(404)
        elif kind == RESULTS:
            self._answer(kind, lambda: self.owner.results(batch))
        else:
            self._answer(kind, lambda: self.owner.look(batch), self.owner.look_headers)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def _answer(self, kind: str, work: Callable[[], Any], headers: Mapping[str, str] | None = None) -> None:
        fault = self.owner.fault(kind)
        if fault is None:
            made = work()
            self._give(200, made if isinstance(made, bytes) else json.dumps(made).encode(), headers or {})
            return
        if fault.done:
            work()
        if fault.held:
            self.owner.hold()
        if fault.status and not fault.held:
            self._fail(fault.status, fault.headers)
        self.close_connection = True

    def _fail(self, status: int, headers: Mapping[str, str] | None = None) -> None:
        said = {"type": "error", "error": {"type": "api_error", "message": f"scripted {status}"}}
        self._give(status, json.dumps(said).encode(), headers or {})

    def _give(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def of_others(name: str, requests: int) -> dict[str, Any]:
    """A batch of somebody else's, as a list shows it."""
    now = datetime.fromtimestamp(time.time(), UTC).isoformat()
    counts = {"processing": requests, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    return {"id": name, "processing_status": "in_progress", "request_counts": counts, "created_at": now}
