"""Providers and askers: what they are to each other, and what a server's refusal means."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from math import isfinite
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.model.exchange import Answer, Reply, Request

MOST_SHOWN = 240  # characters of a server's own words
_RETRYABLE = (408, 409, 425, 429)  # and every 5xx that is not named next
_NEVER = (501, 505)  # it cannot do what was requested, now or later
_SECRET = re.compile(r"\b(?:Bearer|Basic)\s+\S+|\b[spr]k-[\w*.\-]{6,}|\bA[KS]IA[A-Z0-9]{12,}")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")
_TOO_LONG = re.compile(
    r"(?:prompt|input) is too long|context[ _](?:window|length|size)|maximum context|too many (?:input )?tokens",
    re.IGNORECASE,
)
_UNPAID = re.compile(r"billing_error|insufficient_quota|credit balance", re.IGNORECASE)
_NO_MODEL = re.compile(r"model_not_found|invalid model name|no such model", re.IGNORECASE)


class ProviderError(Exception):
    """A try that gave no message.

    It is ``retryable`` where the same may succeed when sent once more, and ``lost`` where there may be an answer all
    the same, made and paid for, that did not arrive or cannot be read.
    """

    def __init__(
        self,
        cause: Cause,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        retryable: bool = False,
        lost: bool = False,
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.status = status  # of HTTP
        self.retry_after_s = retry_after_s  # what the server asked to wait
        self.retryable = retryable
        self.lost = lost or cause is Cause.REPLY


class Provider(Protocol):
    """Where messages come from. Thread-safe. Name, endpoint and variant are parts of the cache's key."""

    name: str
    """Shown in reports; what ``batch`` answers is cached under the name of the provider whose batches it takes."""

    endpoint: str  # where it sends requests, without credentials; ``""`` for nowhere

    variant: str  # what else its answers depend on, apart from the request, as a temperature; ``""`` for nothing

    live: bool  # whether its answers are a real model's, made now; False for replayed and scripted ones

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Send a request once; raise ProviderError where it gave no message."""

    def close(self) -> None:
        """Let go of connections."""


class Asker(Protocol):
    """Answers requests: from the cache, else from a provider within retries, breaker and budget. Thread-safe."""

    def ask(self, request: Request) -> Answer:
        """Answer one request; it never raises for what a provider does."""


class Connection(NamedTuple):
    """What a provider is connected with: options, environment and the user's own configuration, never a project's."""

    environ: Mapping[str, str]
    base_url: str | None = None  # none for the provider's own
    key_variable: str | None = None  # the variable that holds the key of an OpenAI-compatible server
    temperature: float | None = None  # for an OpenAI-compatible server only; None: none is sent
    file: str | None = None  # the rules of a scripted model or the recording to replay, relative to ``cwd``
    cwd: str = "."


class Progress(NamedTuple):
    """How far a run of layers is."""

    layers: int = 0
    layers_done: int = 0
    calls: int = 0  # answered so far, cached ones included
    cached: int = 0
    failed: int = 0  # without a usable answer
    in_flight: int = 0
    cost_usd: float | None = 0.0  # spent so far; None when a price is unknown
    elapsed_s: float = 0.0


Watch = Callable[[Progress], None]


class Destination(NamedTuple):
    """Where a request went, for messages."""

    endpoint: str  # without credentials
    model: str
    credentials: str  # what to look at when the key is refused, as in "check ANTHROPIC_API_KEY"
    secrets: tuple[str, ...] = ()  # what no message may hold


def of_status(status: int, headers: Mapping[str, str], body: str, place: Destination) -> ProviderError:
    """Return what an answer other than 2xx means; header names are in lower case."""
    text = words(body)
    cause = _cause(status, text)
    retryable = (status in _RETRYABLE or (status >= 500 and status not in _NEVER)) and cause in (
        Cause.RATE,
        Cause.SERVER,
    )
    if headers.get("x-should-retry") == "false":
        retryable = False
    message = _sentence(status, cause, place)
    if text and status != 401:  # a refused key is often quoted, in part
        message += f": {shown(text, place.secrets)}"
    return ProviderError(cause, message, status=status, retry_after_s=retry_after(headers), retryable=retryable)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of ``retry-after``, a number or a date; None without one that can be read."""
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if isfinite(seconds) else None


def shown(text: str, secrets: Iterable[str] = ()) -> str:
    """Make foreign words fit for a message: one line, not long, without what looks like a key."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[redacted]")
    text = _UNPRINTABLE.sub(" ", _SECRET.sub("[redacted]", text)).strip()
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def words(body: str) -> str:
    """Return the type, code and message of an error document, unchanged; ``""`` for anything else."""
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = document.get("error", document) if isinstance(document, dict) else None
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return ""
    parts = [error.get(name) for name in ("type", "code", "message", "detail")]
    return ": ".join(dict.fromkeys(part for part in parts if isinstance(part, str) and part))


def no_message(what: str, place: Destination) -> ProviderError:
    """Return the error of a 200 that is no message of the protocol; another try may give one."""
    return ProviderError(Cause.REPLY, f"{place.endpoint} answered with {what}", status=200, retryable=True)


def _cause(status: int, text: str) -> Cause:
    if status == 402 or (status in (400, 403, 429) and _UNPAID.search(text)):
        return Cause.BILLING
    if status == 413 or (status in (400, 422) and _TOO_LONG.search(text)):
        return Cause.TOO_LONG
    if status == 404 or (status in (400, 422) and _NO_MODEL.search(text)):
        return Cause.MODEL
    if status in (401, 403):
        return Cause.CREDENTIALS
    if status == 429:
        return Cause.RATE
    return Cause.SERVER if status >= 500 or status in _RETRYABLE else Cause.REQUEST


def _sentence(status: int, cause: Cause, place: Destination) -> str:
    where = f"{place.endpoint} ({status})"
    if 300 <= status < 400:
        return f"{where} sends requests elsewhere, which is not followed: give the final address as the base URL"
    if cause is Cause.CREDENTIALS and status == 401:
        return f"the key was refused by {where}; {place.credentials}"
    model = f'"{shown(place.model)}" at {where}'
    sentences = {
        Cause.CREDENTIALS: f"the key may not use the model {model}; {place.credentials}",
        Cause.BILLING: f"{where} asks for payment: the account has no credit left",
        Cause.MODEL: f"there is no model {model}: check the model and the base URL",
        Cause.TOO_LONG: f"the request is too long for {where}",
        Cause.RATE: f"the rate limit was reached at {where}",
        Cause.SERVER: f"the server failed at {where}",
    }
    return sentences.get(cause, f"the request was refused by {where}")
