"""Where a skill's server is and what it is sent beside a call: its address, its headers, its token."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from skillgate.bench.redacting import without
from skillgate.bench.tokens import passed, require_passable
from skillgate.bench.web.hosts import Hosts, hosts_of
from skillgate.errors import UsageError
from skillgate.model.executable import AuthType
from skillgate.model.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.ports import Surroundings
    from skillgate.model.executable import Runnable

_SHOWN = 200  # characters of foreign text in a message
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TOKEN = re.compile(r"[\x21-\x7e]+")
_OURS = frozenset(
    (
        *("authorization", "x-api-key", "proxy-authorization", "cookie", "host", "content-length", "content-type"),
        *("transfer-encoding", "connection", "accept", "accept-encoding", "te", "upgrade", "expect"),
    )
)


class Target(NamedTuple):
    """A server.

    Attributes:
        url: absolute, http or https.
        headers: to send; the token may be among them.
        secrets: that are in no message and no output.
        hosts: what may be reached.
    """

    url: str
    headers: Mapping[str, str]
    secrets: tuple[str, ...]
    hosts: Hosts

    def redacted(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """Give JSON without the secrets, keys included."""
        return without(value, self.secrets)

    def shown(self, text: str) -> str:
        """Make foreign text fit for a message: without secrets, on one line, short."""
        text = printable(str(self.redacted(text)).strip())
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def target_of(skill: Runnable, surroundings: Surroundings) -> Target:
    """Say where a skill's server is; nothing is asked of it.

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
    """Give scheme, host and port of an absolute URL.

    Raises:
        ValueError: its port is none.
    """
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or (443 if parts.scheme == "https" else 80)


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
            raise UsageError(
                f"{where}: {name[:80]} is sent nowhere; set authType to bearer or api-key, or leave it out"
            )
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
