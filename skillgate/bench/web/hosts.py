"""Which addresses servers of skills may have: the address counts that is really connected to, whatever its name."""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from skillgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.bench.ports import Surroundings

_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?")
_PLATFORM = frozenset(
    {"168.63.129.16"}
)  # public by its number, and the host of a machine in Azure, its secrets included
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class UnreachableError(Exception):
    """A host has no address, or none that may be reached; the text says which.

    Attributes:
        late: whether its address was not found in time.
        refused: whether it has addresses, and none of them may be reached.
    """

    def __init__(self, reason: str, *, late: bool = False, refused: bool = False) -> None:
        super().__init__(reason)
        self.late = late
        self.refused = refused


class Hosts(NamedTuple):
    """What may be reached.

    Attributes:
        allowed: hosts and ``host:port`` that the user allowed.
        guarded: whether loopback needs to be allowed or ``served``.
        served: ``host:port`` of the benchmark's own server.
    """

    allowed: frozenset[str] = frozenset()
    guarded: bool = False
    served: frozenset[str] = frozenset()

    def problem(self, host: str, port: int, address: str) -> str:
        """Say why an address of a host may not be connected to; ``""`` where it may."""
        names = {host.lower().rstrip("."), address}
        if self.allowed & {*names, *(joined(name, port) for name in names)}:
            return ""
        kind = _special(address)
        if kind == "loopback":
            if not self.guarded or self.served & {joined(name, port) for name in names}:
                return ""
        elif not kind:
            return ""
        told = address if address == host else f"{host} is {address}, which"
        return f"{told} is a {kind} address and is not connected to; say --allow-host {joined(host, port)}"

    def found(self, host: str, port: int, timeout_s: float) -> tuple[str, ...]:
        """Give the addresses of a host that may be connected to, in their order.

        Raises:
            UnreachableError: there is none.
        """
        refused = ""
        fine: list[str] = []
        for address in _looked_up(host, port, timeout_s):
            refused = self.problem(host, port, address) or refused
            if not self.problem(host, port, address):
                fine.append(address)
        if not fine:
            raise UnreachableError(refused or f"{host} has no address", refused=bool(refused))
        return tuple(fine)


def hosts_of(surroundings: Surroundings) -> Hosts:
    """Say what skills may reach in a run."""
    served = set()
    for value in surroundings.served.values():
        try:
            url = urlsplit(value)
            if url.hostname:
                served.add(joined(url.hostname, url.port or (443 if url.scheme == "https" else 80)))
        except ValueError:  # it tells something else
            continue
    return Hosts(surroundings.allow_host, surroundings.guarded, frozenset(served))


def allowed_of(words: Iterable[str]) -> frozenset[str]:
    """Read hosts that the user allows, each ``HOST``, ``HOST:PORT``, an address, or ``[ADDRESS]:PORT``.

    Raises:
        UsageError: one of them is something else.
    """
    return frozenset(_allowed(word.strip().lower()) for word in words)


def joined(host: str, port: int) -> str:
    """Write a host and its port as one."""
    host = host.lower().rstrip(".")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _allowed(word: str) -> str:
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
    """Say what kind of address it is, where it is not one of the public internet; ``""`` where it is."""
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
        ("special", ip.is_reserved or not ip.is_global or str(ip) in _PLATFORM),
    ):
        if holds:
            return kind
    return ""


def _looked_up(host: str, port: int, timeout_s: float) -> list[str]:
    """Look a name up in a thread of its own, since nothing else ends a resolver that does not answer."""
    found: list[str] = []
    problem: list[str] = []

    def look() -> None:
        try:
            for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
                found.append(str(place[0]))
        except (OSError, UnicodeError) as error:
            problem.append(f"{host} has no address: {getattr(error, 'strerror', None) or error}")

    thread = threading.Thread(target=look, name="lookup", daemon=True)
    thread.start()
    thread.join(max(0.0, timeout_s))
    if thread.is_alive():
        raise UnreachableError(f"the address of {host} was not found in time", late=True)
    if problem:
        raise UnreachableError(problem[0])
    return list(dict.fromkeys(found))
