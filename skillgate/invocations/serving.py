"""Receive OpenTelemetry data over HTTP, and import the uses of skills in it into a store.

A request is acknowledged when what is needed of it is on the disk, in a spool. The spool is imported regularly and at
the end. Requests come from anyone who reaches the address: everything about them is limited, and no text of theirs is
written or shown.

Source: the specification of OTLP 1.10, OTLP/HTTP.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import socket
import sys
import threading
import time
import zlib
from base64 import b64decode
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from importlib.util import find_spec
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from skillgate.errors import IncompleteError, SkillgateError, UsageError
from skillgate.files import require_place
from skillgate.format import plural
from skillgate.invocations.formats import FAULTS, Counts, Options, Problems, places, reader, take
from skillgate.invocations.formats._input import NotJsonError, parsed
from skillgate.invocations.rubric import scorer
from skillgate.invocations.spool import FullError, arrivals, lines, opened, reduced
from skillgate.invocations.telemetry import LEFT_OUT, OnceRun
from skillgate.invocations.wire import count_fields
from skillgate.model.invocation import Fate

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.console import Console
    from skillgate.invocations.spool import Spool
    from skillgate.store.invocations import InvocationStore

LOOPBACK = "127.0.0.1"
PORT = 4318
"""The port of OTLP/HTTP."""
MOST_BYTES = 8 << 20
"""Maximum bytes of a request's body, packed or not."""
MOST_CONNECTIONS = 64
MOST_SPOOLED = 256 << 20
"""Default maximum bytes of a spool."""
_AT_WORK = 1  # maximum requests that are read at once: parsed, one takes many times its size in memory
_MOST_PARTS = 1_000_000  # maximum objects and lists of a JSON body, or fields of protobuf; they take 200 MB
_WAIT_S = 5  # how long a request waits for that, and what a refused sender is asked to wait
_IDLE_S = 30  # how long a connection may say nothing
_SLOWEST_S = 60  # how long a request may take to arrive
_SILENT_S = 5  # how long a trace or session must be silent before it is imported, unless the server ends
_OVERDUE_S = 600  # how long data that is over may stay without new requests
_JSON, _PROTOBUF = "application/json", "application/x-protobuf"
_SIGNALS = {"/v1/traces": "traces", "/v1/logs": "logs", "/v1/metrics": "metrics"}
_REJECTED = {"traces": "rejectedSpans", "logs": "rejectedLogRecords", "metrics": "rejectedDataPoints"}
_NO_GRPC = "this port does not speak gRPC; set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf or http/json at the sender"
_NO_PROTOBUF = (
    "protobuf needs opentelemetry-proto: pip install 'skillgate-action[otlp]'; or set"
    " OTEL_EXPORTER_OTLP_PROTOCOL=http/json at the sender"
)
_NO_METRICS = "metrics are not stored; set OTEL_METRICS_EXPORTER=none"


class ServeRequest(NamedTuple):
    """Receive telemetry, and import it.

    Attributes:
        host: an address; None for this machine only.
        port: 0 for any free one.
        token: that senders must have; None for none.
        spool: folder for what was received.
        most: maximum bytes of it.
        every_s: seconds between imports.
        project: stored as the origin.
        category: for invocations without one.
    """

    store: str | None
    rubric: str
    host: str | None
    port: int
    token: str | None
    spool: str
    most: int
    every_s: float
    project: str | None
    category: str | None


class Served(NamedTuple):
    """What a server did: requests acknowledged, and invocations that were new or changed."""

    url: str
    requests: int
    new: int
    updated: int


class Server(ThreadingHTTPServer):
    """Answers requests; ``accepted`` counts those that were acknowledged."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self, host: str | None, port: int, token: str | None, spool: Spool, note: Callable[[str], None]
    ) -> None:
        """Bind the address.

        Raises:
            UsageError: it is no address, or one that other machines reach, without a token.
            IncompleteError: it is in use, or may not be bound.
        """
        try:
            found = socket.getaddrinfo(host or LOOPBACK, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (OSError, UnicodeError):
            raise UsageError(f"--host: {host!r} is no address of this machine") from None
        self.address_family, _, _, _, address = found[0]
        if not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback and token is None:
            raise UsageError(
                f"other machines can reach {host}; use --token-env NAME for a token that senders must have"
            )
        self.spool, self.token = spool, token
        self.accepted = self.at_work = 0
        self.ending = False  # whether no more requests are taken
        self.waiting: dict[socket.socket, float] = {}  # connections to which a request has to come, and since when
        self._note, self._noted = note, set[str]()
        self.guard = threading.Lock()
        self.readers = threading.BoundedSemaphore(_AT_WORK)
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        try:
            super().__init__((str(address[0]), port), Handler)
        except OSError as error:
            raise IncompleteError(f"cannot listen on {host or LOOPBACK}:{port}: {error.strerror}") from error
        bound = str(self.server_address[0])
        self.url = f"http://{f'[{bound}]' if ':' in bound else bound}:{self.server_address[1]}"

    def server_bind(self) -> None:
        """Bind without asking a name server for this machine's name."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class
        """Answer a connection in its own thread, or refuse it if there are too many.

        Before that, the one whose request has been awaited for longest makes room: it may never come.
        """
        if self._room.acquire(blocking=False) or (self._end_longest() and self._room.acquire(timeout=_WAIT_S)):
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            head = f"HTTP/1.1 503 Service Unavailable\r\nRetry-After: {_WAIT_S}\r\nContent-Length: 0\r\n"
            request.sendall(f"{head}Connection: close\r\n\r\n".encode())
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer one connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def service_actions(self) -> None:
        """Close connections that have been silent, or slow, for too long."""
        with self.guard:
            for connection in [one for one, at in self.waiting.items() if time.monotonic() - at > _SLOWEST_S]:
                self._end(connection)

    def _end_longest(self) -> bool:
        """Close the connection whose request has been awaited for longest; return whether there is one."""
        with self.guard:
            if self.waiting:
                self._end(min(self.waiting, key=self.waiting.__getitem__))
                return True
        return False

    def _end(self, connection: socket.socket) -> None:
        """Have the thread of a connection find that nothing more comes. The caller has the guard."""
        del self.waiting[connection]
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    def wait_for(self, connection: socket.socket, *, more: bool) -> None:
        """Note whether ``more`` of a request has to come from a connection."""
        with self.guard:
            if more:
                self.waiting[connection] = time.monotonic()
            else:
                self.waiting.pop(connection, None)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401, ARG002
        """Ignore a client that went away; report anything else without its data."""
        error = sys.exception()
        if not isinstance(error, OSError):
            self.note(f"a request failed: {type(error).__name__}")

    def note(self, text: str) -> None:
        """Report something once."""
        with self.guard:
            known = text in self._noted or len(self._noted) >= 100
            self._noted.add(text)
        if not known:
            self._note(text)

    def finish(self) -> None:
        """Take no more requests, and wait for those that have begun, for some seconds."""
        self.ending = True
        until = time.monotonic() + _WAIT_S
        while self.at_work and time.monotonic() < until:
            time.sleep(0.02)


class _RefusedError(Exception):
    """A request that is answered with an error; ``wait`` asks the sender to try later."""

    def __init__(self, status: int, message: str, *, wait: bool = False) -> None:
        super().__init__(message)
        self.status, self.wait = status, wait


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S
    server: Server
    raw_requestline: bytes

    def setup(self) -> None:
        """Begin to wait for a request."""
        super().setup()
        self.server.wait_for(self.connection, more=True)

    def finish(self) -> None:
        """Wait no more."""
        self.server.wait_for(self.connection, more=False)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - as the base class
        """Write nothing: a request line is a sender's text."""

    def parse_request(self) -> bool:
        """Refuse HTTP/2, with which gRPC begins; otherwise as the base class."""
        if self.raw_requestline.startswith(b"PRI * HTTP/2"):
            self.requestline, self.request_version, self.command = "", "HTTP/1.1", ""
            self.server.note(f"a sender was refused: {_NO_GRPC}")
            self._answer(505, json.dumps({"message": _NO_GRPC}).encode(), _JSON, close=True)
            return False
        return super().parse_request()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer a request that is no HTTP, without repeating it."""
        self._answer(code, json.dumps({"message": "not a valid request"}).encode(), _JSON, close=True)

    def do_POST(self) -> None:
        """Store what a request has."""
        kind = (self.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
        with self.server.guard:
            self.server.at_work += 1
        try:
            signal = self._signal(kind)
            self.server.wait_for(self.connection, more=True)
            body = self._body()
            self.server.wait_for(self.connection, more=False)
            self._answer(200, _encoded(self._stored(signal, kind, body), kind, signal), kind)
            with self.server.guard:
                self.server.accepted += 1
        except _RefusedError as refused:
            text = str(refused)
            body = json.dumps({"message": text}).encode()
            if kind == _PROTOBUF:  # google.rpc.Status
                body = b"\x12" + bytes([len(text[:120])]) + text[:120].encode("ascii", "replace")
            self._answer(refused.status, body, kind if kind == _PROTOBUF else _JSON, wait=refused.wait, close=True)
        finally:
            with self.server.guard:
                self.server.at_work -= 1

    def _other(self) -> None:
        self._answer(405, json.dumps({"message": "only POST is answered"}).encode(), _JSON, close=True)

    do_GET = do_PUT = do_DELETE = do_OPTIONS = do_HEAD = do_PATCH = _other  # noqa: N815 - as the base class

    def _signal(self, kind: str) -> str:
        """Return what a request is about. Raises _RefusedError if it is not answered."""
        headers, token = self.headers, self.server.token
        if self.server.ending:
            raise _RefusedError(503, "the server is ending", wait=True)
        if token is not None:
            authorization = (headers.get("Authorization") or "").encode("utf-8", "replace")
            if not hmac.compare_digest(authorization, f"Bearer {token}".encode()):
                raise _RefusedError(401, "the header Authorization must be: Bearer, and the token")
        if headers.get("Origin") is not None:
            raise _RefusedError(403, "web pages may not send telemetry here")
        if kind.startswith("application/grpc"):
            raise _RefusedError(415, _NO_GRPC)
        if kind not in (_JSON, _PROTOBUF):
            raise _RefusedError(415, f"Content-Type must be {_JSON} or {_PROTOBUF}")
        signal = _SIGNALS.get(self.path.partition("?")[0])
        if signal is None:
            raise _RefusedError(404, f"known paths are {', '.join(_SIGNALS)}")
        if kind == _PROTOBUF and not has_protobuf():
            self.server.note(f"a sender was refused: {_NO_PROTOBUF}")
            raise _RefusedError(415, _NO_PROTOBUF)
        return signal

    def _body(self) -> bytes:
        headers, packed = self.headers, (self.headers.get("Content-Encoding") or "identity").strip().lower()
        if packed not in ("identity", "gzip"):
            raise _RefusedError(415, "Content-Encoding must be gzip or identity")
        chunked = (headers.get("Transfer-Encoding") or "").strip().lower()
        length = headers.get("Content-Length") or ""
        if chunked and (chunked != "chunked" or length):
            raise _RefusedError(400, "invalid Transfer-Encoding")
        until = time.monotonic() + _SLOWEST_S
        if chunked:
            body = self._chunks(until)
        elif length.isascii() and length.isdecimal() and len(length) <= 12:
            body = self._exactly(int(length), until)
        else:
            raise _RefusedError(411, "Content-Length is missing")
        return _unpacked(body) if packed == "gzip" else body

    def _exactly(self, size: int, until: float) -> bytes:
        if size > MOST_BYTES:
            raise _RefusedError(413, f"the body is longer than {MOST_BYTES:,} bytes")
        parts: list[bytes] = []
        while size:
            part = self.rfile.read1(min(size, 65_536))
            if not part or time.monotonic() > until:
                raise _RefusedError(408, "the body did not arrive")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _chunks(self, until: float) -> bytes:
        parts: list[bytes] = []
        total = 0
        while True:
            line = self.rfile.readline(1_000).partition(b";")[0].strip()
            if not line or len(line) > 8 or line.strip(b"0123456789abcdefABCDEF"):
                raise _RefusedError(400, "invalid chunks")
            size = int(line, 16)
            total += size
            if total > MOST_BYTES:
                raise _RefusedError(413, f"the body is longer than {MOST_BYTES:,} bytes")
            if not size:
                break
            parts.append(self._exactly(size, until))
            self.rfile.readline(1_000)
        while self.rfile.readline(1_000).strip():  # trailers
            if time.monotonic() > until:
                raise _RefusedError(408, "the body did not arrive")
        return b"".join(parts)

    def _stored(self, signal: str, kind: str, body: bytes) -> dict[str, Any]:
        """Write what is needed of a body to the spool; return what was not taken."""
        readers = self.server.readers
        if not readers.acquire(timeout=_WAIT_S):
            raise _RefusedError(503, "too many requests at once", wait=True)
        try:
            document = _document(body, kind, signal)
            if signal == "metrics":
                return {_REJECTED[signal]: str(_points(document)), "errorMessage": _NO_METRICS}
            found = reduced(signal, document)
            self.server.spool.append(found.lines())
        except FullError as full:
            self.server.note(f"requests are refused: {full}")
            raise _RefusedError(503, str(full), wait=True) from None
        except RecursionError:
            raise _RefusedError(400, "the body is nested too deeply") from None
        finally:
            readers.release()
        return {_REJECTED[signal]: str(found.rejected), "errorMessage": found.reason} if found.reason else {}

    def _answer(self, status: int, body: bytes, kind: str, *, wait: bool = False, close: bool = False) -> None:
        self.close_connection = self.close_connection or close
        self.send_response_only(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if wait:
            self.send_header("Retry-After", str(_WAIT_S))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.server.wait_for(self.connection, more=True)


def _unpacked(body: bytes) -> bytes:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        found = unpacker.decompress(body, MOST_BYTES)
    except zlib.error:
        raise _RefusedError(400, "the body is not gzip") from None
    if unpacker.unconsumed_tail:
        raise _RefusedError(413, f"the unpacked body is longer than {MOST_BYTES:,} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise _RefusedError(400, "the body is not one whole gzip file")
    return found


@cache
def has_protobuf() -> bool:
    """Whether the package for protobuf is installed."""
    return find_spec("opentelemetry") is not None and find_spec("opentelemetry.proto") is not None


def _service(signal: str) -> Any:  # noqa: ANN401 - a generated module
    name = "trace" if signal == "traces" else signal
    return import_module(f"opentelemetry.proto.collector.{name}.v1.{name}_service_pb2")


def _document(body: bytes, kind: str, signal: str) -> object:
    """Return a document of OTLP JSON. Raises _RefusedError."""
    if kind == _JSON:
        if body.count(b"{") + body.count(b"[") > _MOST_PARTS:
            raise _RefusedError(413, f"the body has more than {_MOST_PARTS:,} objects and lists")
        try:
            document = parsed(body)
        except NotJsonError as problem:
            raise _RefusedError(400, f"the body is not OTLP JSON: {problem}") from None
        if not isinstance(document, dict):
            raise _RefusedError(400, "the body is not OTLP JSON: expected an object")
        return document
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError

    service = _service(signal)
    name = {"traces": "Trace", "logs": "Logs", "metrics": "Metrics"}[signal]
    message = getattr(service, f"Export{name}ServiceRequest")()
    try:
        if count_fields(body, message.DESCRIPTOR, most=_MOST_PARTS) > _MOST_PARTS:
            raise _RefusedError(413, f"the body has more than {_MOST_PARTS:,} fields")
        message.ParseFromString(body)
        document = MessageToDict(message)
    except (DecodeError, RecursionError, ValueError):
        raise _RefusedError(400, "the body is not OTLP protobuf") from None
    for resource in document.get("resourceSpans", ()):
        for scope in resource.get("scopeSpans", ()):
            for span in scope.get("spans", ()):
                _in_hexadecimal(span)
    return document


def _in_hexadecimal(span: dict[str, Any]) -> None:
    """Write the ids of a span as OTLP JSON does; protobuf's JSON has them in Base64."""
    for key in ("traceId", "spanId", "parentSpanId"):
        if key in span:
            span[key] = b64decode(span[key]).hex()


def _points(document: object) -> int:
    """Return how many data points a document of metrics has."""
    if isinstance(document, dict):
        own = document.get("dataPoints")
        inner = (one for key, one in document.items() if key != "dataPoints" and isinstance(one, dict | list))
        return (len(own) if isinstance(own, list) else 0) + sum(map(_points, inner))
    return sum(map(_points, document)) if isinstance(document, list) else 0


def _encoded(answer: dict[str, Any], kind: str, signal: str) -> bytes:
    document = {"partialSuccess": answer} if answer else {}
    if kind == _JSON:
        return json.dumps(document).encode()
    from google.protobuf.json_format import ParseDict

    name = {"traces": "Trace", "logs": "Logs", "metrics": "Metrics"}[signal]
    response = ParseDict(document, getattr(_service(signal), f"Export{name}ServiceResponse")())
    return bytes(response.SerializeToString())


# Imports


class _Importer:
    """Imports a spool; a use is replaced as more of it arrives."""

    def __init__(
        self, store: InvocationStore, spool: Spool, request: ServeRequest, note: Callable[[str], None]
    ) -> None:
        self._store, self._spool, self._request, self._note = store, spool, request, note
        self.new = self.updated = 0
        self._imported = -1  # requests whose data was imported
        self._due = 0.0  # when to run without new requests

    def run(self, requests: int, *, ending: bool = False) -> None:
        """Import what was received, if there is more than before. Raises SkillgateError, OSError.

        Traces and sessions that are not silent yet wait until the end: of two spans with the same use the outer one
        counts, and the inner one comes first.
        """
        from skillgate.store.invocations import Origin  # brings in the database's packages

        if requests == self._imported and time.monotonic() < self._due:
            return
        request, score = self._request, scorer(self._request.rubric)
        paths = self._spool.closed()
        busy = [] if ending else [unit for unit, at in arrivals(paths).items() if at > time.time() - _SILENT_S]
        if paths:
            counts = Counts()
            problems = Problems("received telemetry", self._note)
            options = Options(datetime.now(UTC), category=request.category)
            origin = Origin(None, request.project)
            found = places(reader("otlp")(lines(paths, without=frozenset(busy)), options), score)
            with self._store.importing(request.rubric, score, update=True, origin=origin, looks_up=True) as run:
                once = OnceRun(run)
                take(found, once, problems, counts)
            if once.left_out:
                self._note(LEFT_OUT)
            problems.close()
            self.new += counts.fates[Fate.NEW]
            self.updated += counts.fates[Fate.UPDATED]
            for warning in counts.warnings:
                self._note(warning)
            self._spool.compact(paths, now=time.time())
        self._imported = -1 if busy else requests
        self._due = time.monotonic() + _OVERDUE_S


def serve(
    request: ServeRequest, session: Console, *, stopped: threading.Event, ready: Callable[[Server], None]
) -> Served:
    """Receive telemetry until ``stopped`` is set; call ``ready`` when requests are answered.

    Raises:
        UsageError: the address, the spool or the store cannot be used.
        IncompleteError: what was received could not be imported; it is in the spool.
    """
    from skillgate.store.invocations import open_invocations  # brings in the database's packages
    from skillgate.store.results import named_store
    from skillgate.store.target import require_packages

    require_place(request.spool, session.cwd)
    target, _ = named_store(request.store, session)
    require_packages(target)
    with (
        closing(open_invocations(target, create=True)) as store,
        opened(request.spool, most=request.most) as spool,
        Server(request.host, request.port, request.token, spool, session.note) as server,
    ):
        importer = _Importer(store, spool, request, server.note)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        try:
            ready(server)
            _import_until(stopped, importer, server, request.every_s)
        finally:
            server.shutdown()
            thread.join()
            server.finish()
        try:
            importer.run(server.accepted, ending=True)
        except (SkillgateError, OSError) as error:
            _incomplete(str(error), error, request.spool)
        except FAULTS as error:
            _incomplete(f"the last import failed: unexpected {type(error).__name__}", error, request.spool)
        return Served(server.url, server.accepted, importer.new, importer.updated)


def _import_until(stopped: threading.Event, importer: _Importer, server: Server, every_s: float) -> None:
    """Import regularly; an import that takes long is followed by a longer pause."""
    pause = 0.0
    while not stopped.wait(pause):
        began = time.monotonic()
        try:
            importer.run(server.accepted)
        except (SkillgateError, OSError) as error:
            server.note(f"cannot import now, and will try again: {error}")
        except FAULTS as error:  # what a sender wrote must not end the server
            server.note(f"cannot import now, and will try again: unexpected {type(error).__name__}")
        pause = max(every_s, 5 * (time.monotonic() - began))


def _incomplete(why: str, error: Exception, spool: str) -> NoReturn:
    raise IncompleteError(
        f"{why}\neverything acknowledged is in {spool}; start `skillgate log serve` again to import it"
    ) from error


def summary(served: Served) -> str:
    """Describe what a server did, in one line."""
    return f"{plural(served.requests, 'request')}, {served.new:,} new, {served.updated:,} updated"
