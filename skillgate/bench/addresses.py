"""Where servers of skills are, what they are sent, and which addresses may be reached: the one connected to counts."""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from skillgate.bench.answers import without
from skillgate.bench.ports import passed, require_passable
from skillgate.errors import UsageError
from skillgate.format import printable
from skillgate.model.benchmark import AuthType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skillgate.bench.ports import Surroundings
    from skillgate.model.benchmark import Runnable

_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?")
_PLATFORM = "168.63.129.16"  # public by its number, and the host of a machine in Azure, its secrets included
_SHOWN = 200  # characters of foreign text in a message
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TOKEN = re.compile(r"[\x21-\x7e]+")
_OURS = frozenset(
    (
        *("authorization", "x-api-key", "proxy-authorization", "cookie", "host", "content-length", "content-type"),
        *("transfer-encoding", "connection", "accept", "accept-encoding", "te", "upgrade", "expect"),
    )
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class UnreachableError(Exception):
    """A host has no address, or none that may be reached; the text says which."""

    def __init__(self, reason: str, *, late: bool = False, refused: bool = False) -> None:
        super().__init__(reason)
        self.late = late  # its address was not found in time
        self.refused = refused  # it has addresses, and none of them may be reached


class Hosts(NamedTuple):
    """What may be reached."""

    allowed: frozenset[str] = frozenset()  # hosts and host:port that the user allowed
    guarded: bool = False  # whether loopback needs to be allowed or served
    served: frozenset[str] = frozenset()  # host:port of the benchmark's own server

    def problem(self, host: str, port: int, address: str) -> str:
        """Return why an address of a host may not be connected to; ``""`` where it may."""
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
        return f"{subject} is a {kind} address and is not connected to; say --allow-host {joined(host, port)}"

    def addresses(self, host: str, port: int, timeout_s: float) -> tuple[str, ...]:
        """Return the addresses of a host that may be connected to, in their order.

        Raises:
            UnreachableError: there is none.
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
    """Return what skills may reach in a run."""
    served = set()
    for value in surroundings.served.values():
        with suppress(ValueError):  # it is something else
            _, host, port = origin_of(value)
            if host:
                served.add(joined(host, port))
    return Hosts(surroundings.allow_host, surroundings.guarded, frozenset(served))


def allowed_of(words: Iterable[str]) -> frozenset[str]:
    """Read hosts that the user allows, each ``HOST``, ``HOST:PORT``, an address, or ``[ADDRESS]:PORT``.

    Raises:
        UsageError: one of them is something else.
    """
    return frozenset(_allowed_host(word.strip().lower()) for word in words)


def joined(host: str, port: int) -> str:
    """Write a host and its port as one."""
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
    """Return what kind of address it is, where it is not one of the public internet; ``""`` where it is."""
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
    """Look a name up in a thread of its own, since nothing else ends a resolver that does not answer."""
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
        raise UnreachableError(f"the address of {host} was not found in time", late=True)
    if problem:
        raise UnreachableError(problem[0])
    return list(dict.fromkeys(addresses))


class Target(NamedTuple):
    """A server."""

    url: str
    headers: Mapping[str, str]  # to send; the token may be among them
    secrets: tuple[str, ...]  # that are in no message and no output
    hosts: Hosts

    def redacted(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """Return JSON without the secrets, keys included."""
        return without(value, self.secrets)

    def shown(self, text: str) -> str:
        """Make foreign text fit for a message: without secrets, on one line, short."""
        text = printable(str(self.redacted(text)).strip())
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def target_of(skill: Runnable, surroundings: Surroundings) -> Target:
    """Return where a skill's server is; nothing is sent to it.

    Raises:
        UsageError: its address, a header or its token cannot be, or its address may not be reached.
    """
    hosts = hosts_of(surroundings)
    url = _allowed(skill, hosts)
    headers = dict(_headers(skill))
    token = _token(skill, surroundings)
    if token and skill.config.auth_type is AuthType.BEARER:
        headers["Authorization"] = f"Bearer {token}"
    elif token:
        headers["X-API-Key"] = token
    return Target(url, headers, (token,) if token else (), hosts)


def check_target(skill: Runnable) -> None:
    """Refuse what a skill's files say of its server if no run could use it.

    Raises:
        UsageError: its address, a header or what it says of its token cannot be.
    """
    _url(skill)
    _headers(skill)
    if (name := _token_name(skill)) is not None:
        require_passable(name, {name}, where=f"{skill.shown}: authTokenEnvKey")


def origin_of(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an absolute URL.

    Raises:
        ValueError: its port is none.
    """
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or (443 if parts.scheme == "https" else 80)


def redirected(url: str, location: str, start: str) -> tuple[str, bool]:
    """Return where a redirect of ``url`` leads, and whether that is on the host, scheme and port of ``start``."""
    there, same = location, False
    with suppress(ValueError):  # it is no address
        there = urljoin(url, location)
        same = origin_of(there) == origin_of(start)
    return there, same


def is_retryable(status: int) -> bool:
    """Return whether another try may fare better after a failure with this HTTP status."""
    return status in (408, 425, 429) or status >= 500


def coding_of(headers: Mapping[str, str]) -> str:
    """Return how the body of an answer is coded; ``identity`` where it is not."""
    return headers.get("content-encoding", "identity").strip().lower()


def _allowed(skill: Runnable, hosts: Hosts) -> str:
    url = _url(skill)
    _, host, port = origin_of(url)
    try:
        address = str(ipaddress.ip_address(host))
    except ValueError:  # a name, which is looked up when it is connected to
        return url
    if problem := hosts.problem(host, port, address):
        raise UsageError(f"{skill.shown}: entrypoint: {problem}")
    return url


def _url(skill: Runnable) -> str:
    base, where = skill.config.base_url, f"{skill.shown}: entrypoint"
    url = skill.spec.entrypoint.strip()
    if re.search(r"[\x00-\x20\x7f]", url):
        raise UsageError(f"{where}: {url[:80]!r} holds a blank or a control character")
    try:
        url = urljoin(base, url) if base else url
        scheme, host, _ = origin_of(url)
        has_user = urlsplit(url).username is not None
    except ValueError as error:
        raise UsageError(f"{where}: {url[:80]!r} is no address: {error}") from None
    if scheme not in ("http", "https") or not host:
        hint = "" if base else "; or put baseUrl into adapter.config.json"
        raise UsageError(f"{where}: expected an address that begins with http:// or https://, found {url[:80]!r}{hint}")
    if has_user:
        raise UsageError(f"{where}: the address holds a user or password; use authType and authTokenEnvKey")
    return url.partition("#")[0]


def _headers(skill: Runnable) -> Mapping[str, str]:
    where = f"{skill.shown}: headers"
    for name, value in skill.config.headers.items():
        if not _HEADER.fullmatch(name):
            raise UsageError(f"{where}: {name[:80]!r} is no name of a header")
        if name.lower() in _OURS:
            raise UsageError(f"{where}: {name} is not set here; a token goes through authType and authTokenEnvKey")
        if not value.isascii() or not value.isprintable():
            raise UsageError(f"{where}: {name}: expected printable ASCII in one line")
    return skill.config.headers


def _token_name(skill: Runnable) -> str | None:
    kind, name = skill.config.auth_type, skill.config.auth_token_env_key
    where = f"{skill.shown}: authTokenEnvKey"
    if kind is AuthType.NONE:
        if name is not None:
            words = "is sent nowhere; set authType to bearer or api-key, or leave it out"
            raise UsageError(f"{where}: {name[:80]} {words}")
        return None
    if name is None:
        raise UsageError(f"{where}: expected the variable that holds the token of authType {kind.value}, found nothing")
    return name


def _token(skill: Runnable, surroundings: Surroundings) -> str:
    name = _token_name(skill)
    if name is None:
        return ""
    where = f"{skill.shown}: authTokenEnvKey"
    token = passed(name, surroundings.environ, surroundings.allow_env, where=where).strip()
    if not _TOKEN.fullmatch(token):
        raise UsageError(f"{where}: {name[:80]} holds a character that no header can carry")
    return token
