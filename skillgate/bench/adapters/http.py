"""Call an HTTP API with the request of a task, or a server that answers a JSON POST with JSON."""

from __future__ import annotations

import hashlib
import json
import os
import re
import selectors
import socket
import ssl
import time
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from skillgate import __version__
from skillgate.bench.addresses import UnreachableError, coding_of, is_retryable, origin_of, redirected, target_of
from skillgate.bench.answers import HttpAnswer, redacted, strict_json
from skillgate.bench.http.messages import Message, UnsendableError, merged, message_of, method_of, overlaid
from skillgate.bench.ports import MAX_WORDS, Refusal, Reply
from skillgate.bench.steps import MissingValueError
from skillgate.errors import UsageError
from skillgate.model.bench import BenchUsage, ErrorKind

try:
    import httpcore2
    import httpx2

    from skillgate.http_transport import Transport
except ModuleNotFoundError as missing:
    raise UsageError('skills of adapterType http need httpx2: pip install "skillgate-action[bench]"') from missing

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable

    from skillgate.bench.addresses import Hosts, Target
    from skillgate.bench.ports import Call, Surroundings
    from skillgate.model.benchmark import HttpRequest, Runnable

T = TypeVar("T")
MOST_BYTES = 5 * 1024 * 1024  # of a response body
_MOST_FAILURE_BYTES = 65_536  # of an error response
_MOST_REDIRECTS = 5
_CHANGING = ("POST", "PATCH")  # a second call could do it twice,
_CHARSET = re.compile(  # of texts only: others of Python's codecs are slow, or decode no text
    r"utf-?(8|16|32)|us-ascii|iso-8859-[1-9][0-9]?|latin-?1|windows-125[0-8]|koi8-[ru]|shift_jis|euc-(jp|kr)"
    r"|gb(2312|k|18030)|big5",
    re.IGNORECASE,
)
_NOT_DONE = (408, 425, 429, 503)  # unless the server says that it did not
_USAGE = "x-usage-{}-tokens"
_TICK_S = 0.1
_MOST_WIRE_BYTES = 12 << 20  # received in one attempt: headers, interim responses, chunks, body


def open_adapter(skill: Runnable, surroundings: Surroundings) -> HttpAdapter:
    """Prepare to call a server; nothing is sent yet.

    Raises:
        UsageError: The address, a header or the token is not valid.
    """
    return HttpAdapter(skill, target_of(skill, surroundings), surroundings.stop)


class HttpAdapter:
    """Opens a new connection for each call: an open one may be closed by the server just before it is used."""

    def __init__(self, skill: Runnable, target: Target, stop: threading.Event) -> None:
        self._skill, self._target, self._stop = skill, target, stop
        self._tls = ssl.create_default_context()
        self._has_answered = False

    def invoke(self, call: Call) -> Reply:
        """Call once; see :class:`skillgate.bench.ports.Adapter`."""
        request = merged(self._skill.config.request, call.request)
        bounds = Try(self._target.hosts, call.timeout_s, self._stop)
        try:
            message = self._envelope(call) if request is None else self._message(request, call)
            reply = self._exchange(message, bounds, is_own=request is not None, follows=not call.refusable)
            self._has_answered = True
        except (MissingValueError, UnsendableError) as problem:
            why = f"there is no value for {{{{{problem}}}}}" if isinstance(problem, MissingValueError) else problem
            reply = _wrong(ErrorKind.PROTOCOL, f"nothing was sent: {why}")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            reply = _failed(error, bounds, call.timeout_s, self._target)
            if isinstance(error, httpx2.ConnectError) and bounds.kind is None and self._is_not_served():
                words = f"its server is not running; start it with skillgate bench serve {self._skill.shown}"
                reply = _wrong(ErrorKind.SERVER, words)
        reply = redacted(reply, self._target.secrets)
        if request is not None and method_of(request) in _CHANGING:
            is_not_done = reply.refusal is not None and reply.refusal.code in _NOT_DONE
            reply = reply._replace(retryable=reply.retryable and is_not_done)
        if request is not None and reply.answered:
            reply = reply._replace(output=HttpAnswer(reply.output))
        return reply._replace(error=reply.error[:MAX_WORDS])

    def close(self) -> None:
        """Do nothing: no connection outlives a call."""

    def _is_not_served(self) -> bool:
        """Whether the server is a local one that was never started, rather than one that stopped."""
        host = origin_of(self._target.url)[1]
        here = host in ("localhost", "127.0.0.1", "::1")
        return bool(self._skill.config.serve) and here and not self._has_answered

    def _envelope(self, call: Call) -> Message:
        """Return the POST of a skill that is written for skillgate."""
        spec, url = self._skill.spec, self._target.url
        body = {"skillId": spec.id, "version": spec.version, "input": dict(call.data)}
        headers = {
            **self._target.headers,
            "Content-Type": "application/json",
            "Accept": "application/json",
            "X-Skillgate-Version": __version__,
        }
        if self._target.query:
            url += ("&" if "?" in url else "?") + urlencode(self._target.query)
        return Message("POST", url, headers, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))

    def _message(self, request: HttpRequest, call: Call) -> Message:
        """Return what a task sends to an API."""
        target = self._target
        with_token = request.auth is not False
        headers = {"Accept": "*/*", "User-Agent": f"skillgate/{__version__}"}
        headers = overlaid(headers, target.headers if with_token else target.plain_headers)
        values = call.data if call.values is None else call.values
        return message_of(request, values, target.url, headers=headers, query=target.query if with_token else None)

    def _exchange(self, message: Message, bounds: Try, *, is_own: bool, follows: bool) -> Reply:
        transport = Transport(Network(bounds), self._tls, limits=httpx2.Limits(max_keepalive_connections=0))
        headers = {**message.headers, "Accept-Encoding": "identity"}
        url = message.url
        with httpx2.Client(transport=transport, trust_env=False, timeout=None, follow_redirects=False) as client:
            for _ in range(_MOST_REDIRECTS + 1):
                request = client.build_request(message.method, url, content=message.content, headers=headers)
                response = client.send(request, stream=True)
                try:
                    following = self._next(url, response, message.method) if follows or not is_own else None
                    if following is None:
                        return self._read_own(response) if is_own else self._read(response)
                    if isinstance(following, Reply):
                        return self._unfollowed(response, following) if is_own else following
                    url = following
                finally:
                    response.close()
        return _wrong(ErrorKind.REDIRECT, f"it redirected more than {_MOST_REDIRECTS} times")

    def _next(self, url: str, response: httpx2.Response, method: str) -> str | Reply | None:
        """Return the target of a redirect, a failed reply if it is not followed, or None if there is no redirect."""
        status, location = response.status_code, response.headers.get("location")
        if status not in (301, 302, 303, 307, 308) or location is None:
            return None
        there, same = redirected(url, location, url)
        words = f"it answered {status} with location {self._target.shown(there)}"
        if not same:
            return _wrong(ErrorKind.REDIRECT, f"{words}; redirects to another host, scheme or port are not followed")
        if status not in (307, 308) and method not in ("GET", "HEAD"):
            why = f"so the {method} would become a GET; answer 307 or 308, or use that address as the entrypoint"
            return _wrong(ErrorKind.REDIRECT, f"{words}, {why}")
        return there

    def _unfollowed(self, response: httpx2.Response, reply: Reply) -> Reply:
        """Return the reply of an API that redirects, which a task may expect."""
        answer = _whole(response, None)
        refusal = Refusal(response.status_code, reply.error, answer)
        return reply._replace(output=answer, answered=True, refusal=refusal)

    def _read_own(self, response: httpx2.Response) -> Reply:
        """Read the answer of an API: status, headers and body."""
        if not 200 <= response.status_code < 300:
            return self._refused(response)
        body = self._body(response)
        if isinstance(body, Reply):
            return body
        content = _content(response, body)
        if _says_json(response) and body.strip():
            try:
                content = strict_json(body.decode("utf-8-sig"))
            except UnicodeDecodeError as error:
                return _broken(f"status {response.status_code}: byte {error.start} of its answer is not UTF-8")
            except (ValueError, RecursionError) as error:
                words = f"status {response.status_code}: its answer says that it is JSON, and is not: {error}"
                return _broken(self._target.shown(words))
        return Reply(output=_whole(response, content), usage=_usage(response.headers))

    def _body(self, response: httpx2.Response) -> bytes | Reply:
        """Read the body of an answer within its limits, or return why that failed."""
        coding = coding_of(response.headers)
        if coding != "identity":
            words = f"its answer has Content-Encoding {self._target.shown(coding)}, which was not requested"
            return _broken(f"status {response.status_code}: {words}")
        body = bytearray()
        for piece in response.iter_raw():
            body += piece
            if len(body) > MOST_BYTES:
                return _wrong(ErrorKind.OUTPUT_LIMIT, f"its answer is larger than {MOST_BYTES:,} bytes")
        return bytes(body)

    def _read(self, response: httpx2.Response) -> Reply:
        status = response.status_code
        if not 200 <= status < 300:
            return self._refused(response)
        body = self._body(response)
        if isinstance(body, Reply):
            return body
        if not body.strip():
            return _broken(f"status {status}: its answer is empty, expected JSON")
        try:
            output = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
        except UnicodeDecodeError as error:
            return _broken(f"status {status}: byte {error.start} of its answer is not UTF-8")
        except json.JSONDecodeError as error:
            shown = self._target.shown(error.doc[:400])
            return _broken(f"status {status}: invalid JSON at offset {error.pos} of its answer ({error.msg}): {shown}")
        except RecursionError:
            return _broken(f"status {status}: its answer is nested too deeply")
        except ValueError as error:
            return _broken(f"status {status}: {error}")
        return Reply(output=output, usage=_usage(response.headers))

    def _refused(self, response: httpx2.Response) -> Reply:
        status = response.status_code
        body = bytearray()
        if coding_of(response.headers) == "identity":
            for piece in response.iter_raw():
                body += piece
                if len(body) >= _MOST_FAILURE_BYTES:
                    del body[_MOST_FAILURE_BYTES:]
                    break
        text = self._target.shown(bytes(body).decode("utf-8", "replace"))
        words = f"it answered with status {status}" + (f": {text}" if text else "")
        answer = _whole(response, _content(response, bytes(body)))
        refusal = Refusal(status, bytes(body).decode("utf-8", "replace"), answer)
        reply = Reply(output=answer, kind=ErrorKind.AUTH, error=words, refusal=refusal)
        if status in (401, 403):
            return reply
        retryable = is_retryable(status)
        wait_s = _retry_after(response.headers.get("retry-after", "")) if retryable else None
        return reply._replace(kind=ErrorKind.HTTP_STATUS, retryable=retryable, retry_after_s=wait_s)


def _whole(response: httpx2.Response, content: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return status, headers and body for scorers; cookies are left out."""
    headers = {name.lower(): value for name, value in response.headers.items() if name.lower() != "set-cookie"}
    return {"status": response.status_code, "headers": headers, "body": content}


def _content(response: httpx2.Response, body: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return a body: JSON if its type is JSON or missing, else text, else its size and digest; null if it is empty."""
    if not body:
        return None
    if _says_json(response) or "content-type" not in response.headers:
        with suppress(ValueError, RecursionError):
            return strict_json(body.decode("utf-8-sig"))
    named = response.charset_encoding or ""
    try:
        return body.decode(named if _CHARSET.fullmatch(named) else "utf-8")
    except UnicodeDecodeError:
        return {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}


def _says_json(response: httpx2.Response) -> bool:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


class Try:
    """The limits of one attempt: its total time, the addresses it may reach, and the end of the run.

    The library's own time-outs restart with every read, so one byte a second would keep a call open forever.
    """

    def __init__(self, hosts: Hosts, timeout_s: float, stop: threading.Event) -> None:
        """Start the clock of the attempt."""
        self.hosts = hosts
        self.kind: ErrorKind | None = None  # why the attempt was ended, if it was
        self.reason = ""
        self.cut_off = False  # whether the server closed the connection
        self._until = time.monotonic() + timeout_s
        self._stop = stop
        self._came = 0

    def left(self) -> float:
        """Return the remaining seconds; raise httpcore2.ReadTimeout if there are none or the run ends."""
        if self._stop.is_set():
            self.kind, self.reason = ErrorKind.STOPPED, "it was stopped with the run"
            raise httpcore2.ReadTimeout(self.reason)
        left = self._until - time.monotonic()
        if left <= 0:
            self.kind = ErrorKind.TIMEOUT
            raise httpcore2.ReadTimeout("its time is over")
        return left

    def count(self, data: bytes) -> None:
        """Count received bytes; raise httpcore2.ReadError above the limit."""
        self._came += len(data)
        self.cut_off = self.cut_off or not data
        if self._came > _MOST_WIRE_BYTES:
            self.kind, self.reason = ErrorKind.OUTPUT_LIMIT, f"it sent more than {_MOST_WIRE_BYTES:,} bytes"
            raise httpcore2.ReadError(self.reason)

    def wait(self, sock: socket.socket, *, reading: bool) -> None:
        """Wait until a socket is readable or writable."""
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_READ if reading else selectors.EVENT_WRITE)
            while not selector.select(min(_TICK_S, self.left())):
                continue


class Network(httpcore2.NetworkBackend):
    """Opens the connections of one attempt."""

    def __init__(self, bounds: Try) -> None:
        """Store the limits of the attempt."""
        self._bounds = bounds

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the attempt has one time limit
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """Connect to an allowed address of a host."""
        bounds = self._bounds
        try:
            addresses = bounds.hosts.addresses(host, port, bounds.left())
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
            if number := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(number, os.strerror(number))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            failing.pop_all()  # the stream closes it
        return sock


class _Stream(httpcore2.NetworkStream):
    """A connection; its socket never blocks."""

    def __init__(self, sock: socket.socket, bounds: Try) -> None:
        self._sock = sock
        self._bounds = bounds

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        data = self._when_ready(lambda: self._sock.recv(max_bytes), reading=True, failure=httpcore2.ReadError)
        self._bounds.count(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        left = memoryview(buffer)
        while left:
            sent = self._when_ready(partial(self._sock.send, left), reading=False, failure=httpcore2.WriteError)
            left = left[sent:]

    def close(self) -> None:
        self._sock.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        try:
            self._sock = wrapped = ssl_context.wrap_socket(
                self._sock, server_hostname=server_hostname, do_handshake_on_connect=False
            )
        except (OSError, ValueError) as error:
            raise httpcore2.ConnectError(f"TLS: {error}") from None
        try:
            self._when_ready(wrapped.do_handshake, reading=True, failure=httpcore2.ConnectError)
        except httpcore2.ConnectError as error:
            self.close()
            raise httpcore2.ConnectError(f"TLS: {error}") from None
        return self

    def _when_ready(self, act: Callable[[], T], *, reading: bool, failure: type[Exception]) -> T:
        """Call ``act`` until it no longer has to wait for the socket; raise ``failure`` for an OSError."""
        while True:
            self._bounds.left()
            try:
                return act()
            except ssl.SSLWantReadError:
                self._bounds.wait(self._sock, reading=True)
            except ssl.SSLWantWriteError:
                self._bounds.wait(self._sock, reading=False)
            except BlockingIOError:
                self._bounds.wait(self._sock, reading=reading)
            except OSError as error:
                raise failure(getattr(error, "reason", None) or error.strerror or str(error)) from None

    def get_extra_info(self, info: str) -> object:
        return self._sock if info == "socket" else None


def _failed(error: Exception, bounds: Try, timeout_s: float, target: Target) -> Reply:
    """Return the reply for a request that failed."""
    text = target.shown(str(error))
    if bounds.kind is ErrorKind.TIMEOUT and not bounds.reason:
        return _wrong(ErrorKind.TIMEOUT, f"it gave no answer within {timeout_s:g} s")._replace(retryable=True)
    if bounds.kind is not None:
        return _wrong(bounds.kind, bounds.reason)
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return _wrong(ErrorKind.REDIRECT, f"it redirected to an invalid address: {text}")
    if isinstance(error, httpx2.RemoteProtocolError | httpx2.DecodingError) and not bounds.cut_off:
        return _broken(f"its answer is not valid HTTP: {text}")
    return _wrong(ErrorKind.CONNECTION, f"the connection failed: {text}")._replace(retryable=True)


def _wrong(kind: ErrorKind, words: str) -> Reply:
    return Reply(kind=kind, error=words, answered=False)


def _broken(words: str) -> Reply:
    return _wrong(ErrorKind.PROTOCOL, words)._replace(retryable=True)


def _retry_after(text: str) -> float | None:
    """Read seconds or a date; return None for anything else."""
    text = text.strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    date = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())


def _usage(headers: httpx2.Headers) -> BenchUsage | None:
    read = []
    for name in ("input", "output", "total"):
        text = headers.get(_USAGE.format(name), "").strip()
        read.append(int(text) if re.fullmatch(r"[0-9]{1,15}", text) else 0)
    return BenchUsage(input=read[0], output=read[1], total=read[2] or read[0] + read[1]) if any(read) else None


def _refuse(word: str) -> Any:  # noqa: ANN401 - JSON
    raise ValueError(f"its answer contains {word}, which is not valid JSON")
