"""Runs a server that answers a POST of JSON with JSON."""

from __future__ import annotations

import json
import re
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from skillgate.bench.ports import MAX_WORDS, Reply
from skillgate.bench.web.target import origin_of, target_of
from skillgate.errors import UsageError
from skillgate.model.bench_result import BenchUsage, ErrorKind

try:
    import httpcore2
    import httpx2

    from skillgate.bench.web.sockets import Network, Try
except ModuleNotFoundError as missing:
    raise UsageError('skills of adapterType http need httpx2: pip install "skillgate-action[bench]"') from missing

if TYPE_CHECKING:
    import threading

    from skillgate.bench.ports import Call, Surroundings
    from skillgate.bench.web.target import Target
    from skillgate.model.executable import Runnable

MOST_BYTES = 5 * 1024 * 1024  # of an answer's body
_MOST_FAILURE_BYTES = 4_096  # of a failure's, which is only quoted
_MOST_REDIRECTS = 5
_AGAIN = frozenset((408, 425, 429))  # beside 5xx
_USAGE = "x-usage-{}-tokens"


def open_adapter(skill: Runnable, surroundings: Surroundings) -> HttpAdapter:
    """Make ready to ask a server; nothing is sent yet.

    Raises:
        UsageError: its address, a header or its token cannot be.
    """
    return HttpAdapter(skill, target_of(skill, surroundings), surroundings.stop)


class HttpAdapter:
    """Makes a connection of its own for each call: one that is kept may have been closed just when it is used."""

    def __init__(self, skill: Runnable, target: Target, stop: threading.Event) -> None:
        self._skill, self._target, self._stop = skill, target, stop
        self._tls = ssl.create_default_context()
        self._met = False  # whether it has ever answered

    def invoke(self, call: Call) -> Reply:
        """Ask once; see :class:`skillgate.bench.ports.Adapter`."""
        bounds = Try(self._target.hosts, call.timeout_s, self._stop)
        try:
            reply = self._asked(call, bounds)
            self._met = True
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            reply = _failed(error, bounds, call.timeout_s, self._target)
            if isinstance(error, httpx2.ConnectError) and bounds.kind is None and self._is_not_served():
                reply = _wrong(ErrorKind.SERVER, f"its server does not run; skillgate bench serve {self._skill.shown}")
        return reply._replace(
            output=self._target.redacted(reply.output), error=self._target.redacted(reply.error)[:MAX_WORDS]
        )

    def close(self) -> None:
        """Nothing stays between calls."""

    def _is_not_served(self) -> bool:
        """Tell a server that nobody has started on this machine yet from one that went away."""
        host = origin_of(self._target.url)[1]
        here = host in ("localhost", "127.0.0.1", "::1")
        return bool(self._skill.config.serve) and here and not self._met

    def _asked(self, call: Call, bounds: Try) -> Reply:
        spec = self._skill.spec
        body = {"skillId": spec.id, "version": spec.version, "input": dict(call.data)}
        headers = {
            **self._target.headers,
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "X-Skillgate-Version": _version(),
        }
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        transport = httpx2.HTTPTransport(verify=self._tls, trust_env=False)
        transport._pool = httpcore2.ConnectionPool(  # it has no public place for the network that it is to use
            ssl_context=self._tls, max_keepalive_connections=0, network_backend=Network(bounds)
        )
        url = self._target.url
        with httpx2.Client(transport=transport, trust_env=False, timeout=None, follow_redirects=False) as client:
            for _ in range(_MOST_REDIRECTS + 1):
                request = client.build_request("POST", url, content=content, headers=headers)
                response = client.send(request, stream=True)
                try:
                    found = self._next(url, response)
                    if found is None:
                        return self._read(response)
                    if isinstance(found, Reply):
                        return found
                    url = found
                finally:
                    response.close()
        return _wrong(ErrorKind.REDIRECT, f"it redirected more than {_MOST_REDIRECTS} times")

    def _next(self, url: str, response: httpx2.Response) -> str | Reply | None:
        """Say where a redirect leads; a reply where it is not followed, None where it is no redirect."""
        status, location = response.status_code, response.headers.get("location")
        if status not in (301, 302, 303, 307, 308) or location is None:
            return None
        there, same = location, False
        try:
            there = urljoin(url, location)
            same = origin_of(there) == origin_of(url)
        except ValueError:  # it is no address
            pass
        told = f"it answered {status} with the location {self._target.shown(there)}"
        if not same:
            return _wrong(ErrorKind.REDIRECT, f"{told}, which is another host, scheme or port, and is not followed")
        if status not in (307, 308):
            words = "which makes a GET of the POST, and is not followed; answer 307 or 308, or name that address"
            return _wrong(ErrorKind.REDIRECT, f"{told}, {words}")
        return there

    def _read(self, response: httpx2.Response) -> Reply:
        status = response.status_code
        if not 200 <= status < 300:
            return self._refused(response)
        coding = response.headers.get("content-encoding", "identity").strip().lower()
        if coding != "identity":
            shown = self._target.shown(coding)
            return _broken(f"status {status}: its answer is coded as {shown}, which was not asked for")
        body = bytearray()
        for piece in response.iter_raw():
            body += piece
            if len(body) > MOST_BYTES:
                return _wrong(ErrorKind.OUTPUT_LIMIT, f"its answer is larger than {MOST_BYTES:,} bytes")
        if not body.strip():
            return _broken(f"status {status}: its answer is empty, expected JSON")
        try:
            output = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
        except UnicodeDecodeError as error:
            return _broken(f"status {status}: byte {error.start} of its answer is not UTF-8")
        except json.JSONDecodeError as error:
            shown = self._target.shown(error.doc[:400])
            return _broken(f"status {status}: no JSON at offset {error.pos} of its answer ({error.msg}): {shown}")
        except RecursionError:
            return _broken(f"status {status}: its answer is nested too deeply")
        except ValueError as error:
            return _broken(f"status {status}: {error}")
        return Reply(output=output, usage=_usage(response.headers))

    def _refused(self, response: httpx2.Response) -> Reply:
        status = response.status_code
        body = bytearray()
        if response.headers.get("content-encoding", "identity").strip().lower() == "identity":
            for piece in response.iter_raw():
                body += piece
                if len(body) >= _MOST_FAILURE_BYTES:
                    break
        text = self._target.shown(bytes(body[:_MOST_FAILURE_BYTES]).decode("utf-8", "replace"))
        told = f"it answered with status {status}" + (f": {text}" if text else "")
        if status in (401, 403):
            return _wrong(ErrorKind.AUTH, told)
        again = status in _AGAIN or status >= 500
        wait_s = _retry_after(response.headers.get("retry-after", "")) if again else None
        return _wrong(ErrorKind.HTTP_STATUS, told)._replace(retryable=again, retry_after_s=wait_s)


def _failed(error: Exception, bounds: Try, timeout_s: float, target: Target) -> Reply:
    """Say what came instead of an answer."""
    text = target.shown(str(error))
    if bounds.kind is ErrorKind.TIMEOUT and not bounds.reason:
        return _wrong(ErrorKind.TIMEOUT, f"it gave no answer within {timeout_s:g} s")._replace(retryable=True)
    if bounds.kind is not None:
        return _wrong(bounds.kind, bounds.reason)
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return _wrong(ErrorKind.REDIRECT, f"it redirected to what is no address: {text}")
    if isinstance(error, httpx2.RemoteProtocolError | httpx2.DecodingError) and not bounds.cut_off:
        return _broken(f"its answer is no HTTP: {text}")
    return _wrong(ErrorKind.CONNECTION, f"the connection failed: {text}")._replace(retryable=True)


def _wrong(kind: ErrorKind, words: str) -> Reply:
    return Reply(kind=kind, error=words, answered=False)


def _broken(words: str) -> Reply:
    return _wrong(ErrorKind.PROTOCOL, words)._replace(retryable=True)


def _retry_after(text: str) -> float | None:
    """Read seconds or a date; None for anything else."""
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


def _version() -> str:
    from skillgate import __version__

    return __version__


def _refuse(word: str) -> Any:  # noqa: ANN401 - JSON
    raise ValueError(f"its answer holds {word}, which JSON does not have")
