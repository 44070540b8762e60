"""What is asked of a model and what comes back, as every layer and every driver speaks of it.

A request is a whole body of the Messages API, an answer its outcome. A layer is a generator: it yields a
:class:`Request` and receives its :class:`Answer`, or yields :class:`Together` and receives the results of the
generators in it, in their order. Whatever drives it (threads, batches, a dry run) decides when and how requests are
sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping
from enum import Enum
from typing import Any, TypeVar

from skillgate.named_tuple import NamedTuple

T = TypeVar("T")

SCRIPTED_PREFIX = "scripted"
"""How the name of every model begins that makes its answers up, over whatever provider they come: no real model."""
_SCRIPTED_ID = re.compile(r"(?:\A|[_-])scripted[_-]")
_SCRIPTED_HEADER = "x-skillgate-scripted"


class Status(Enum):
    """How a request ended. Only ``OK`` ever becomes a number."""

    OK = "ok"
    REFUSED = "refused"  # the model would not answer
    TRUNCATED = "truncated"  # it did not end within the tokens it was given
    INVALID = "invalid"  # it is not what was asked for
    ERROR = "error"  # there was no answer; the cause says why


class Cause(Enum):
    """Why there was no answer."""

    CREDENTIALS = "credentials"  # none, or refused: 401, 403
    BILLING = "billing"  # 402
    MODEL = "model"  # 404: there is no such model
    REQUEST = "request"  # 400 and what else cannot succeed when sent again
    TOO_LONG = "too long"  # 413, or beyond the model's context
    RATE = "rate"  # 429, after the last try
    SERVER = "server"  # 5xx and 529, after the last try
    NETWORK = "network"  # refused, timed out or cut off, after the last try
    REPLY = "reply"  # a 200 that is no message, after the last try
    BUDGET = "budget"  # the cost or the calls allowed are used up
    STOPPED = "stopped"  # the run ended early, after too many failures in a row
    UNKNOWN = "unknown"  # a recording or a cache that was to hold it does not


class Tokens(NamedTuple):
    """Tokens of one or several replies; ``input`` is what was neither read from nor written to the prompt cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def plus(self, other: Tokens) -> Tokens:
        """Add two counts up."""
        return Tokens(*(one + two for one, two in zip(self, other, strict=True)))


class Reply(NamedTuple):
    """A message as a model gave it."""

    content: tuple[Mapping[str, Any], ...]  # its blocks, as in the Messages API
    stop_reason: str  # ``end_turn``, ``max_tokens``, ``refusal``, …
    tokens: Tokens | None  # None if the reply said nothing of them
    model: str
    request_id: str = ""  # the provider's, ``""`` without one
    category: str = ""  # of a refusal, ``""`` if none is given

    @property
    def text(self) -> str:
        """Return the text blocks as one string."""
        return "".join(str(block.get("text", "")) for block in self.content if block.get("type") == "text")


def answering_model(
    model: str, ids: Iterable[object], content: Iterable[Mapping[str, Any]] = (), headers: Iterable[str] = ()
) -> str:
    """Return the name of the model that answered, ``scripted-…`` where anything in the reply says that it is scripted.

    A gateway may rename the model. So the scripted model also marks the ids of the message, the HTTP reply and calls
    in ``content``, and its headers. Names of headers are in lower case. A gateway may have put something in front.
    """
    if model.startswith(SCRIPTED_PREFIX):
        return model
    named = [*ids, *(block.get("id") for block in content)]
    is_marked = any(isinstance(one, str) and _SCRIPTED_ID.search(one) for one in named)
    is_marked = is_marked or any(name.endswith(_SCRIPTED_HEADER) for name in headers)
    return f"{SCRIPTED_PREFIX}-{model}" if is_marked else model


class Request(NamedTuple):
    """One request."""

    question: str  # which question it is, as in ``orchestration_fitness``; for progress, records and scripted models
    subject: str
    body: Mapping[str, Any]  # the whole body of the Messages API. Where ``output_config.format`` holds a JSON schema
    prompt_version: str = ""
    rubric_version: str = ""
    sample: int = 0
    prefix: str = ""  # equal for requests that begin alike and are worth warming the prompt cache for; ``""``: none
    check: Callable[[Any], str | None] | None = None  # says what is wrong with a decoded value beyond its schema
    typical_output: int = 1_000
    instead_of: Request | None = None  # the request that this one repeats in other words
    typical: tuple[Mapping[str, Any], ...] = ()  # the content blocks of a typical reply, for estimates of a session
    private: bool = False  # whether only the answer is cached, and not what the model thought, which may quote texts


class Answer(NamedTuple):
    """The outcome of a request."""

    status: Status
    value: Any = None  # the decoded JSON or the text, where the status is ``OK``
    reply: Reply | None = None  # what the model gave, None if nothing came
    cause: Cause | None = None  # of an ``ERROR``
    reason: str = ""  # one sentence for people, ``""`` for ``OK``
    cached: bool = False  # whether it was cached by an earlier run; then nothing was sent
    sent: int = 0
    cost_usd: float | None = 0.0  # what it cost now: 0.0 if it was cached, None if the price is unknown
    tokens: Tokens = Tokens()  # of every reply that was paid for now; none if it was cached
    seconds: float = 0.0  # from when the request that was answered was sent until its reply was there
    first_seconds: float | None = None  # of a cached answer: those of when it was asked


class Together(NamedTuple):
    """Generators that do not wait for one another; who yields it receives a tuple of their results, in their order."""

    branches: tuple[Generator[Request | Together, Any, Any], ...]


Steps = Generator[Request | Together, Any, T]
"""A layer, or a part of one, that ends with a ``T``."""
