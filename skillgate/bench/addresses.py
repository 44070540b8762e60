"""Addresses, headers and tokens of skill servers. Access is checked on the address that is connected to."""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from base64 import b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, quote_plus, urljoin, urlsplit

from skillgate.bench.answers import without
from skillgate.bench.http.messages import CARRIES_TOKEN, HEADER, OF_TRANSPORT
from skillgate.bench.ports import passed, require_passable
from skillgate.bench.steps import names_of
from skillgate.errors import UsageError
from skillgate.format import did_you_mean, printable
from skillgate.model.benchmark import AdapterType, AuthType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skillgate.bench.ports import Surroundings
    from skillgate.model.benchmark import Runnable

_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?")
_PLATFORM = "168.63.129.16"  # a public address, but on Azure the host with its secrets
_SHOWN = 200  # characters of quoted text in a message
_TOKEN = re.compile(r"[\x21-\x7e]+")
_API_KEY = "X-API-Key"
_OURS = CARRIES_TOKEN | OF_TRANSPORT | {"content-type", "accept"}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class UnreachableError(Exception):
    """A host has no address, or no allowed one; the message says which."""

    def __init__(self, reason: str, *, late: bool = False, refused: bool = False) -> None:
        super().__init__(reason)
        self.late = late  # the lookup timed out
        self.refused = refused  # it has addresses, but none is allowed


class Hosts(NamedTuple):
    """The hosts that skills may reach."""

    allowed: frozenset[str] = frozenset()  # HOST and HOST:PORT allowed by the user
    guarded: bool = False  # whether loopback must be allowed or served
    served: frozenset[str] = frozenset()  # HOST:PORT of the benchmark's own server

    def problem(self, host: str, port: int, address: str) -> str:
        """Return why an address of a host is refused; ``""`` if it is allowed."""
        names = {host.lower().rstrip("."), address}
        if self.allowed & {*names, *(joined(name, port) for name in names)}:
            return ""
        kind = _special(address)
        if kind == "loopback":
            if not self.guarded or self.served & {joined(name, port) for name in names}:
                return ""
        elif not kind:
            return ""
        subject = address if address == host else f"{host} is {address}, which"
        return f"{subject} is a {kind} address, which is not allowed; use --allow-host {joined(host, port)}"

    def addresses(self, host: str, port: int, timeout_s: float) -> tuple[str, ...]:
        """Return the allowed addresses of a host, in resolver order.

        Raises:
            UnreachableError: There is none.
        """
        refused = ""
        fine: list[str] = []
        for address in _resolve(host, port, timeout_s):
            problem = self.problem(host, port, address)
            refused = problem or refused
            if not problem:
                fine.append(address)
        if not fine:
            raise UnreachableError(refused or f"{host} has no address", refused=bool(refused))
        return tuple(fine)


def hosts_of(surroundings: Surroundings) -> Hosts:
    """Return the hosts that skills may reach in a run."""
    served = set()
    for value in surroundings.served.values():
        with suppress(ValueError):  # not a URL
            _, host, port = origin_of(value)
            if host:
                served.add(joined(host, port))
    return Hosts(surroundings.allow_host, surroundings.guarded, frozenset(served))


def allowed_of(words: Iterable[str]) -> frozenset[str]:
    """Read the allowed hosts, each ``HOST``, ``HOST:PORT``, an address, or ``[ADDRESS]:PORT``.

    Raises:
        UsageError: One has another form.
    """
    return frozenset(_allowed_host(word.strip().lower()) for word in words)


def joined(host: str, port: int) -> str:
    """Return ``HOST:PORT``, with brackets around an IPv6 address."""
    host = host.lower().rstrip(".")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _allowed_host(word: str) -> str:
    bare = word[1:-1] if word.startswith("[") and word.endswith("]") else word
    if _is_address(bare):
        return str(ipaddress.ip_address(bare))
    host, _, port = word.rpartition(":") if re.search(r":[0-9]+$", word) else (word, "", "")
    inner = host[1:-1]
    is_address = host.startswith("[") and host.endswith("]") and _is_address(inner)
    if not (is_address or _NAME.fullmatch(host)) or (port and not 1 <= int(port[:6]) <= 65_535):
        raise UsageError(f"--allow-host: expected a host or HOST:PORT without scheme and path, found {word[:80]!r}")
    if is_address:
        return joined(str(ipaddress.ip_address(inner)), int(port))
    return joined(host, int(port)) if port else host.rstrip(".")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _special(address: str) -> str:
    """Return the kind of an address that is not public; ``""`` for a public one."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return _special(str(inner))
    for kind, holds in (
        ("loopback", ip.is_loopback),
        ("link-local", ip.is_link_local),
        ("multicast", ip.is_multicast),
        ("unspecified", ip.is_unspecified),
        ("private", ip.is_private),
        ("special", ip.is_reserved or not ip.is_global or str(ip) == _PLATFORM),
    ):
        if holds:
            return kind
    return ""


def _resolve(host: str, port: int, timeout_s: float) -> list[str]:
    """Resolve a name in a separate thread, since nothing else can abandon a resolver that hangs."""
    addresses: list[str] = []
    problem: list[str] = []

    def look() -> None:
        try:
            for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
                addresses.append(str(place[0]))
        except (OSError, UnicodeError) as error:
            problem.append(f"{host} has no address: {getattr(error, 'strerror', None) or error}")

    thread = threading.Thread(target=look, name="lookup", daemon=True)
    thread.start()
    thread.join(max(0.0, timeout_s))
    if thread.is_alive():
        raise UnreachableError(f"the lookup of {host} timed out", late=True)
    if problem:
        raise UnreachableError(problem[0])
    return list(dict.fromkeys(addresses))


class Target(NamedTuple):
    """A server and how to call it."""

    url: str
    headers: Mapping[str, str]  # sent with each request; may contain the token
    secrets: tuple[str, ...]  # never in a message or output
    hosts: Hosts
    query: Mapping[str, str]  # sent with each request; may contain the token
    plain_headers: Mapping[str, str]  # without the token

    def redacted(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """Return JSON without the secrets, also in keys."""
        return without(value, self.secrets)

    def shown(self, text: str) -> str:
        """Return text for a message: without secrets, on one line, shortened."""
        text = printable(str(self.redacted(text)).strip())
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def target_of(skill: Runnable, surroundings: Surroundings) -> Target:
    """Return a skill's server; nothing is sent to it.

    Raises:
        UsageError: The address, a header or the token is not valid, or the address is not allowed.
    """
    hosts = hosts_of(surroundings)
    url = _allowed(skill, hosts)
    plain, config = _headers(skill), skill.config
    token = _token(skill, surroundings)
    headers, query = dict(plain), dict[str, str]()
    secrets: tuple[str, ...] = (token,) if token else ()
    if token and config.auth_type is AuthType.BEARER:
        headers["Authorization"] = f"Bearer {token}"
    elif token and config.auth_type is AuthType.BASIC:
        coded = b64encode(token.encode()).decode()
        headers["Authorization"] = f"Basic {coded}"
        secrets = (token, coded, token.partition(":")[2])
    elif token and config.auth_in == "query":
        query[config.auth_name or _API_KEY] = token
        secrets = (token, quote(token, safe=""), quote_plus(token))
    elif token:
        headers[config.auth_name or _API_KEY] = token
    return Target(url, headers, tuple(filter(None, dict.fromkeys(secrets))), hosts, query, plain)


def check_target(skill: Runnable) -> None:
    """Check the server settings in a skill's files.

    Raises:
        UsageError: The address, a header or the token's variable is not valid.
    """
    _url(skill)
    _headers(skill)
    problems = [f"{skill.shown}: {line}" for line in _check_api(skill)]
    if problems:
        raise UsageError("\n".join(problems))
    if (name := _token_name(skill)) is not None:
        require_passable(name, {name}, where=f"{skill.shown}: authTokenEnvKey")


def _check_api(skill: Runnable) -> Iterator[str]:
    """Yield conflicts of the settings that only HTTP APIs have."""
    config = skill.config
    is_key = config.auth_type is AuthType.API_KEY
    if not is_key and (config.auth_name is not None or config.auth_in != "header"):
        yield "authName, authIn: only for authType api-key"
    if config.auth_in == "query" and skill.spec.adapter_type is not AdapterType.HTTP:
        yield "authIn: query is only for adapterType http"
    name = config.auth_name
    if name is not None and config.auth_in == "header" and (not HEADER.fullmatch(name) or name.lower() in OF_TRANSPORT):
        yield f"authName: {name[:80]!r} is not a header for a token"
    properties = skill.spec.input_schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    for key in sorted(names_of(config.request) - known.keys()) if known else ():
        yield f"request: inputSchema has no property {key}{did_you_mean(key, known)}"


def origin_of(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an absolute URL.

    Raises:
        ValueError: The port is not valid.
    """
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or (443 if parts.scheme == "https" else 80)


def redirected(url: str, location: str, start: str) -> tuple[str, bool]:
    """Return the target of a redirect, and whether it has the host, scheme and port of ``start``."""
    there, same = location, False
    with suppress(ValueError):  # not an address
        there = urljoin(url, location)
        same = origin_of(there) == origin_of(start)
    return there, same


def is_retryable(status: int) -> bool:
    """Return whether a request that failed with this HTTP status is worth retrying."""
    return status in (408, 425, 429) or status >= 500


def coding_of(headers: Mapping[str, str]) -> str:
    """Return the Content-Encoding of a response, ``identity`` by default."""
    return headers.get("content-encoding", "identity").strip().lower()


def _allowed(skill: Runnable, hosts: Hosts) -> str:
    url = _url(skill)
    _, host, port = origin_of(url)
    try:
        address = str(ipaddress.ip_address(host))
    except ValueError:  # a name, checked when it is connected to
        return url
    if problem := hosts.problem(host, port, address):
        raise UsageError(f"{skill.shown}: entrypoint: {problem}")
    return url


def _url(skill: Runnable) -> str:
    base, where = skill.config.base_url, f"{skill.shown}: entrypoint"
    url = skill.spec.entrypoint.strip()
    if re.search(r"[\x00-\x20\x7f]", url):
        raise UsageError(f"{where}: {url[:80]!r} contains a space or a control character")
    try:
        url = urljoin(base, url) if base else url
        scheme, host, _ = origin_of(url)
        has_user = urlsplit(url).username is not None
    except ValueError as error:
        raise UsageError(f"{where}: {url[:80]!r} is not a valid address: {error}") from None
    if scheme not in ("http", "https") or not host:
        hint = "" if base else "; or set baseUrl in adapter.config.json"
        raise UsageError(f"{where}: expected an http:// or https:// address, found {url[:80]!r}{hint}")
    if has_user:
        raise UsageError(f"{where}: the address contains a user or password; use authType and authTokenEnvKey")
    return url.partition("#")[0]


def _headers(skill: Runnable) -> Mapping[str, str]:
    where = f"{skill.shown}: headers"
    for name, value in skill.config.headers.items():
        if not HEADER.fullmatch(name):
            raise UsageError(f"{where}: {name[:80]!r} is not a header name")
        if name.lower() in _OURS:
            raise UsageError(f"{where}: {name} cannot be set here; for a token use authType and authTokenEnvKey")
        if not value.isascii() or not value.isprintable():
            raise UsageError(f"{where}: {name}: expected printable ASCII on one line")
    return skill.config.headers


def _token_name(skill: Runnable) -> str | None:
    kind, name = skill.config.auth_type, skill.config.auth_token_env_key
    where = f"{skill.shown}: authTokenEnvKey"
    if kind is AuthType.NONE:
        if name is not None:
            words = "is not used; set authType to bearer, basic or api-key, or remove it"
            raise UsageError(f"{where}: {name[:80]} {words}")
        return None
    if name is None:
        raise UsageError(f"{where}: authType {kind.value} needs the name of the variable with the token")
    return name


def _token(skill: Runnable, surroundings: Surroundings) -> str:
    name = _token_name(skill)
    if name is None:
        return ""
    where = f"{skill.shown}: authTokenEnvKey"
    token = passed(name, surroundings.environ, surroundings.allow_env, where=where).strip()
    if not _TOKEN.fullmatch(token):
        raise UsageError(f"{where}: {name[:80]} contains a character that is not allowed in a header")
    if skill.config.auth_type is AuthType.BASIC and ":" not in token:
        raise UsageError(f"{where}: {name[:80]}: authType basic needs user:password")
    return token
