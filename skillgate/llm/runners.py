"""Who runs a session: requests whose body names a runner go to the harness, all others to the provider."""

from __future__ import annotations

import importlib
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from skillgate import settings
from skillgate.errors import IncompleteError, UsageError
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from skillgate.llm.port import Connection, Provider
    from skillgate.model.exchange import Reply, Request

AGENT_SDK = "agent-sdk"
_EXTRA = "--runner agent-sdk needs a package that is not installed; pip install 'skillgate-action[agent-sdk]'"
_PLATFORM_VARIABLE = "SKILLGATE_ANTHROPIC_PLATFORM"
_ACCESS = (  # what a harness needs to reach the provider, and nothing else
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS",  # for gateways that know the API's stable part alone
)


class Runner(Protocol):
    """Runs whole sessions. Thread-safe."""

    version: str
    """Of what runs them: another one may make other sessions of the same request."""

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Run a session.

        Raises:
            ProviderError: it gave no transcript.
        """

    def close(self) -> None:
        """End what runs."""


class Runners:
    """A provider whose sessions another runs.

    Attributes:
        session_variant: what the outcome of a session depends on beside the request: the runner's version.
    """

    def __init__(self, provider: Provider, runner: Runner) -> None:
        """Take both; they are closed with this."""
        self.name = provider.name
        self.endpoint = provider.endpoint
        self.variant = provider.variant
        self.live = provider.live
        self.session_variant = runner.version
        self._provider = provider
        self._runner = runner

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Send a request once, or run a session.

        Raises:
            ProviderError: it gave no message.
        """
        whom = self._runner if "runner" in request.body else self._provider
        return whom.send(request, timeout_s=timeout_s)

    def close(self) -> None:
        """End what runs, and let go of connections."""
        self._runner.close()
        self._provider.close()


def requests_of(request: Request, reply: Reply) -> int:
    """Count the requests that a reply took: one, or those of a session, each of which ends with calls or the session.

    Calls of one request whose results came one by one look like several: then there are a few more.
    """
    if "runner" not in request.body:
        return 1
    results = (block.get("type") == "tool_result" for block in reply.content)
    return 1 + sum(1 for is_result, is_next in pairwise(results) if is_result and not is_next)


def with_runner(provider: Provider, connection: Connection, runner: str) -> Provider:
    """Give a provider whose sessions are run as asked for.

    Args:
        provider: as it was connected.
        connection: that it was connected with; the harness gets what of its environment reaches the provider.
        runner: ``messages`` or ``agent-sdk``.

    Raises:
        UsageError: the harness cannot speak to this provider.
        IncompleteError: the harness is not installed.
    """
    if runner != AGENT_SDK or PROVIDERS.flag(provider.name, "HOLDS_SESSIONS"):  # a recording holds the sessions too
        return provider
    if not PROVIDERS.flag(provider.name, "SERVES_AGENT_SDK"):
        raise UsageError(
            f"--runner agent-sdk speaks the Messages API, and --provider {provider.name} does not: use --provider"
            f" anthropic, with --{settings.BASE_URL.key} for a server of your own"
        )
    if connection.environ.get(_PLATFORM_VARIABLE, "").strip():
        raise UsageError(f"--runner agent-sdk reaches Anthropic's own API alone; unset {_PLATFORM_VARIABLE}")
    return Runners(provider, _harness(provider.endpoint, connection))


def _harness(endpoint: str, connection: Connection) -> Runner:
    """Load the harness, which few runs need and which takes a second.

    Raises:
        IncompleteError: it is not installed.
    """
    try:
        module = importlib.import_module("skillgate.llm.agent_sdk")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "claude_agent_sdk":
            raise
        raise IncompleteError(_EXTRA) from error
    access = {name: text for name in _ACCESS if (text := connection.environ.get(name, "").strip())}
    runner: Runner = module.Harness(endpoint, access)
    return runner
