"""Which addresses a skill's server may have: public ones, one's own machine, and what the user allows."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address
_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Reach(NamedTuple):
    """What may be reached.

    Attributes:
        allowed: hosts, or ``host:port``, that the user named.
        guarded: whether this machine is out of reach too, but for ``served``.
        served: ``host:port`` of servers that belong to the benchmark.
    """

    allowed: frozenset[str]
    guarded: bool
    served: frozenset[str] = frozenset()


def reach(allowed: frozenset[str], *, guarded: bool, served: Mapping[str, str]) -> Reach:
    """Put together what may be reached; ``served`` holds variables, of which the values that are URLs count."""
    parts = [urlsplit(value) for value in served.values() if value.startswith(("http://", "https://"))]
    return Reach(
        frozenset(word.lower().strip("[]") if word.count(":") != 1 else word.lower() for word in allowed),
        guarded,
        frozenset(f"{part.hostname}:{part.port or _PORTS[part.scheme]}" for part in parts),
    )


def refusal(address: str, host: str, port: int, within: Reach) -> str | None:
    """Say why an address must not be connected to; None where it may.

    Args:
        address: the number that a name stands for, as it is about to be connected to.
        host: the name in the URL.
        port: likewise.
        within: what may be reached.
    """
    host = host.lower().strip("[]")
    found = _meant(ipaddress.ip_address(address.partition("%")[0]))
    named = {host, f"{host}:{port}", str(found), f"{found}:{port}"}
    if named & within.allowed or f"{host}:{port}" in within.served:
        return None
    if found.is_loopback and not within.guarded:
        return None
    if found.is_global and not found.is_multicast:
        return None
    what = "this machine" if found.is_loopback else "a private or special address"
    return f"{host} is {found}, {what}, which is not reached unless --allow-host {host} says so"


def _meant(address: Ip) -> Ip:
    """Give the IPv4 address that an IPv6 one stands for."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address.sixtofour is not None:
            return address.sixtofour
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address
