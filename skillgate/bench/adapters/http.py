"""Runs a skill that is an HTTP server: its input is posted as JSON, its whole JSON answer is the output."""

from __future__ import annotations

import json
import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from skillgate import __version__
from skillgate.bench.addresses import reach
from skillgate.bench.ports import MAX_WORDS, Reply
from skillgate.bench.redacting import redacted
from skillgate.bench.tokens import passed
from skillgate.errors import UsageError
from skillgate.model.bench_result import BenchUsage, ErrorKind
from skillgate.model.executable import AuthType
from skillgate.model.text import printable

try:
    import httpx2

    from skillgate.bench.reaching import StoppedError, UnreachedError, client
    from skillgate.llm import bounded
except ModuleNotFoundError as error:  # told as what it is: an extra that is not installed
    raise UsageError(
        f'skills that are HTTP servers need {error.name}: pip install "skillgate-action[bench]"'
    ) from error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.ports import Call, Surroundings
    from skillgate.model.executable import AdapterConfig, Runnable

MAX_BYTES = 5 * 1024 * 1024
_MOST_REDIRECTS = 5
_TOLD = 300  # characters of a body in a message
_LATER = frozenset({408, 425, 429})
_REFUSED = frozenset({401, 403})
_MOVED = frozenset({301, 302, 303, 307, 308})
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_OURS = frozenset({"content-length", "content-type", "host", "transfer-encoding", "connection"})


def open_adapter(skill: Runnable, surroundings: Surroundings) -> HttpAdapter:
    """Make ready to send requests; none is sent yet.

    Raises:
        UsageError: the address, a header or the token does not do, or nothing of a skill may be run.
    """
    if surroundings.spawner is None:
        raise UsageError(f"{skill.shown} is a server, and nothing of a skill is run here; say --allow-exec")
    secret, headers = credentials(skill.config, surroundings, skill.shown)
    url = address_of(skill.config, skill.spec.entrypoint, skill.shown)
    within = reach(surroundings.allow_host, guarded=surroundings.guarded, served=surroundings.served)
    return HttpAdapter(skill, url, headers, secret, client(within, surroundings.stop))


def address_of(config: AdapterConfig, entrypoint: str, shown: str) -> str:
    """Give the address: the entrypoint, joined to ``baseUrl`` where it is relative (RFC 3986).

    Raises:
        UsageError: it is no http or https address, or holds a user or a password.
    """
    url = urljoin(config.base_url, entrypoint) if config.base_url else entrypoint
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not url.isprintable() or " " in url:
        raise UsageError(f"{shown}: entrypoint: expected an http or https address, found {printable(url)[:120]!r}")
    if "@" in parts.netloc:
        raise UsageError(f"{shown}: entrypoint: holds a user or a password; name a variable in authTokenEnvKey")
    return parts._replace(fragment="").geturl()


def credentials(config: AdapterConfig, surroundings: Surroundings, shown: str) -> tuple[str, dict[str, str]]:
    """Give the token, ``""`` without one, and the headers to send.

    Raises:
        UsageError: a header cannot be sent, or the token is not there or must not be given.
    """
    headers: dict[str, str] = {}
    for name, value in config.headers.items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise UsageError(f"{shown}: headers: {printable(name)[:80]!r} cannot be sent")
        if name.lower() in _OURS:
            raise UsageError(f"{shown}: headers: {name[:80]} is not the skill's to set")
        headers[name] = value
    if config.auth_type is AuthType.NONE:
        return "", headers
    where = f"{shown}: authTokenEnvKey"
    if config.auth_token_env_key is None:
        raise UsageError(f"{where}: authType {config.auth_type.value} needs the variable that holds the token")
    token = passed(config.auth_token_env_key, surroundings.environ, surroundings.allow_env, where=where)
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(f"{where}: the value of {config.auth_token_env_key[:80]} cannot be sent in a header")
    bearer = config.auth_type is AuthType.BEARER
    return token, {**headers, **({"Authorization": f"Bearer {token}"} if bearer else {"X-API-Key": token})}


class HttpAdapter:
    """Posts one request for each call."""

    def __init__(self, skill: Runnable, url: str, headers: Mapping[str, str], secret: str, http: httpx2.Client) -> None:
        self._skill, self._url, self._http = skill, url, http
        self._headers = {"Accept": "application/json", "X-Skillgate-Version": __version__, **headers}
        self._secrets = (secret,) if secret else ()

    def invoke(self, call: Call) -> Reply:
        """Ask once; see :class:`skillgate.bench.ports.Adapter`."""
        body = {"skillId": self._skill.spec.id, "version": self._skill.spec.version, "input": dict(call.data)}
        data = json.dumps(body, ensure_ascii=False).encode()
        try:
            with bounded.within(call.timeout_s):
                reply = self._asked(data, call.timeout_s)
        except httpx2.TimeoutException:
            told = f"gave no whole answer within {call.timeout_s:g} s"
            reply = _failed(ErrorKind.TIMEOUT, told, retryable=True)
        except StoppedError:
            reply = _failed(ErrorKind.STOPPED, "the run ended while it was waited for")
        except UnreachedError as error:
            reply = _failed(ErrorKind.CONNECTION, str(error))
        except bounded.TooMuchError:
            reply = _failed(ErrorKind.OUTPUT_LIMIT, f"it answered more than {MAX_BYTES:,} bytes")
        except httpx2.HTTPError as error:
            why = printable(str(error))[:_TOLD] or type(error).__name__
            reply = _failed(ErrorKind.CONNECTION, f"the connection failed: {why}", retryable=True)
        return redacted(reply, self._secrets)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _asked(self, data: bytes, timeout_s: float) -> Reply:
        url, method = self._url, "POST"
        for _ in range(_MOST_REDIRECTS + 1):
            content = data if method == "POST" else None
            headers = {**self._headers, "Content-Type": "application/json"} if content else self._headers
            request = self._http.build_request(method, url, content=content, headers=headers, timeout=timeout_s)
            response = self._http.send(request, stream=True)
            try:
                if response.status_code not in _MOVED or "location" not in response.headers:
                    return _answer(response)
                there = urljoin(url, response.headers["location"])
                if not _same_place(url, there):
                    told = f"it sends on to {printable(urlsplit(there).netloc or there)[:80]}, another host"
                    return _failed(ErrorKind.REDIRECT, f"{told}: redirects are followed on the same one alone")
                url, method = there, "GET" if response.status_code == 303 else method
            finally:
                response.close()
        return _failed(ErrorKind.REDIRECT, f"it sends on more than {_MOST_REDIRECTS} times")


def _same_place(one: str, other: str) -> bool:
    ports = {"http": 80, "https": 443}
    try:
        first, second = urlsplit(one), urlsplit(other)
        places = [(part.scheme, part.hostname, part.port or ports.get(part.scheme)) for part in (first, second)]
    except ValueError:
        return False
    return places[0] == places[1] and "@" not in second.netloc


def _answer(response: httpx2.Response) -> Reply:
    """Read an answer, and say what it is."""
    data = bytearray()
    for piece in response.iter_bytes():
        data += piece
        if len(data) > MAX_BYTES:
            return _failed(ErrorKind.OUTPUT_LIMIT, f"it answered more than {MAX_BYTES:,} bytes")
    status = response.status_code
    if 200 <= status < 300:
        return _output(bytes(data), response)
    said = printable(bytes(data[: 4 * _TOLD]).decode("utf-8", "replace")).strip()[:_TOLD]
    told = f"it answered with HTTP status {status}" + (f": {said}" if said else "")
    if status in _REFUSED:
        return _failed(ErrorKind.AUTH, told)
    again = status in _LATER or status >= 500
    reply = _failed(ErrorKind.HTTP_STATUS, told, retryable=again)
    return reply._replace(retry_after_s=_retry_after(response.headers)) if again else reply


def _output(data: bytes, response: httpx2.Response) -> Reply:
    kind = printable(response.headers.get("content-type", "no content type"))[:80]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _broken(f"byte {error.start} of its answer is not UTF-8")
    if not text.strip():
        return _broken(f"it answered with HTTP status {response.status_code} and nothing")
    try:
        output = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        said = printable(text.strip())[:_TOLD]
        return _broken(f"its answer ({kind}) is not JSON: {error.msg} at character {error.pos}: {said}")
    except (ValueError, RecursionError) as error:
        return _broken(f"its answer is not JSON: {str(error)[:_TOLD] or 'nested too deeply'}")
    return Reply(output=output, usage=_usage(response.headers))


def _refuse(word: str) -> Any:  # noqa: ANN401 - JSON
    raise ValueError(f"it holds {word}, which JSON does not have")


def _usage(headers: Mapping[str, str]) -> BenchUsage | None:
    """Read what it says of tokens; anything that is no count tells nothing."""
    texts = [headers.get(f"x-usage-{name}-tokens", "") for name in ("input", "output", "total")]
    counts = [int(text) if re.fullmatch(r"[0-9]{1,15}", text) else 0 for text in texts]
    if not any(counts):
        return None
    return BenchUsage(input=counts[0], output=counts[1], total=counts[2] or counts[0] + counts[1])


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Give the seconds that a server asks to wait; a date is held against the server's own clock."""
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    try:
        then, now = parsedate_to_datetime(text), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (then - now).total_seconds())
    except (TypeError, ValueError):
        return None


def _broken(why: str) -> Reply:
    return _failed(ErrorKind.PROTOCOL, why, retryable=True)


def _failed(kind: ErrorKind, why: str, *, retryable: bool = False) -> Reply:
    return Reply(kind=kind, error=why[:MAX_WORDS], retryable=retryable, answered=False)
