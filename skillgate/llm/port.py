"""What a provider and whoever asks it are to each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from skillgate.model.exchange import Answer, Reply, Request


class ProviderError(Exception):
    """A try that gave no message.

    Attributes:
        cause: what it means.
        status: the HTTP status, None where there was none.
        retry_after_s: what the server asked to wait, None where it did not.
        again: whether the same may succeed when sent once more.
        lost: whether there may be an answer all the same, made and paid for, that did not arrive or cannot be read.
    """

    def __init__(
        self,
        cause: Cause,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        again: bool = False,
        lost: bool = False,
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.status = status
        self.retry_after_s = retry_after_s
        self.again = again
        self.lost = lost or cause is Cause.REPLY


class Provider(Protocol):
    """Where messages come from. Thread-safe."""

    name: str
    """``anthropic``, ``openai-compatible``, ``batch``, ``replay`` or ``scripted``: shown in reports, part of the
    cache's key; what ``batch`` answers is kept under the name of the provider whose batches it takes."""

    endpoint: str
    """Where it sends requests, without credentials; ``""`` for nowhere. Part of the cache's key."""

    variant: str
    """What else its answers depend on, beside itself and the request, as a temperature; ``""`` for nothing. Part of the
    cache's key."""

    live: bool
    """Whether its answers are a real model's, given now; False for replayed and scripted ones."""

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Send a request once.

        Raises:
            ProviderError: it gave no message.
        """

    def close(self) -> None:
        """Let go of connections."""


class Asker(Protocol):
    """Answers requests: from the cache, else from a provider within retries, breaker and budget. Thread-safe."""

    def ask(self, request: Request) -> Answer:
        """Answer one request; it never raises for what a provider does."""


class Connection(NamedTuple):
    """What a provider is connected with: options, environment and the user's own configuration, never a project's.

    Attributes:
        environ: the environment; providers read their own variables there.
        base_url: where to send, None for the provider's own.
        key_variable: the variable that holds the key of an OpenAI-compatible server.
        temperature: sent to an OpenAI-compatible server only, None for none.
        file: the rules of a scripted model or the recording to replay.
        cwd: what ``file`` is relative to.
    """

    environ: Mapping[str, str]
    base_url: str | None = None
    key_variable: str | None = None
    temperature: float | None = None
    file: str | None = None
    cwd: str = "."


class Progress(NamedTuple):
    """How far a run of layers is.

    Attributes:
        layers, layers_done: skills, for the judge.
        calls: requests that were answered so far, kept ones included.
        cached: of these, those that were kept.
        failed: of these, those without a usable answer.
        in_flight: requests being answered.
        cost_usd: spent so far; None when a price is unknown.
        elapsed_s: since the run began.
    """

    layers: int = 0
    layers_done: int = 0
    calls: int = 0
    cached: int = 0
    failed: int = 0
    in_flight: int = 0
    cost_usd: float | None = 0.0
    elapsed_s: float = 0.0


Watch = Callable[[Progress], None]
