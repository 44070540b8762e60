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
from typing import Any, NamedTuple, TypeVar

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
    """A message as a model gave it.

    Attributes:
        content: its blocks, as in the Messages API (``type`` is ``text``, ``thinking``, ``tool_use``, …).
        stop_reason: ``end_turn``, ``max_tokens``, ``refusal``, …
        tokens: None where the reply said nothing of them.
        model: the model that answered, as it names itself.
        request_id: the provider's, ``""`` without one.
        category: of a refusal, ``""`` where none is given.
    """

    content: tuple[Mapping[str, Any], ...]
    stop_reason: str
    tokens: Tokens | None
    model: str
    request_id: str = ""
    category: str = ""

    @property
    def text(self) -> str:
        """Give the text blocks as one text."""
        return "".join(str(block.get("text", "")) for block in self.content if block.get("type") == "text")


def answering_model(
    model: str, ids: Iterable[object], content: Iterable[Mapping[str, Any]] = (), headers: Iterable[str] = ()
) -> str:
    """Return the name of the model that answered, ``scripted-…`` where anything in the reply says that it is scripted.

    A gateway may rename the model, so the scripted model also marks its ids and headers.

    Args:
        model: as the reply names it.
        ids: of the message and the HTTP reply; what is no text is passed over.
        content: its blocks, whose calls have ids too.
        headers: their names, in lower case; a gateway may have put something in front of them.
    """
    if model.startswith(SCRIPTED_PREFIX):
        return model
    named = [*ids, *(block.get("id") for block in content)]
    is_marked = any(isinstance(one, str) and _SCRIPTED_ID.search(one) for one in named)
    is_marked = is_marked or any(name.endswith(_SCRIPTED_HEADER) for name in headers)
    return f"{SCRIPTED_PREFIX}-{model}" if is_marked else model


class Request(NamedTuple):
    """One request.

    Attributes:
        question: which question it is, as in ``orchestration_fitness``; for progress, records and scripted models.
        subject: the shown path of the skill it is about.
        body: the whole body of the Messages API. Where ``output_config.format`` holds a JSON schema, the answer's value
            is the decoded JSON; else it is the text.
        prompt_version, rubric_version: change with the wording; part of the cache's key, as the body is.
        sample: tells the opinions of one model on one body apart.
        prefix: equal for requests that begin alike and are worth warming the prompt cache for; ``""``: none.
        check: says what is wrong with a decoded value beyond its schema, None for nothing.
        typical_output: tokens that an answer takes as a rule, thinking included, for estimates.
        instead_of: the request that this one repeats in other words; a good answer is kept as the answer to both, so
            that the next run does not pay for the bad one again.
        typical: the content blocks of a typical reply, for estimates of a session; empty: made up from the schema.
    """

    question: str
    subject: str
    body: Mapping[str, Any]
    prompt_version: str = ""
    rubric_version: str = ""
    sample: int = 0
    prefix: str = ""
    check: Callable[[Any], str | None] | None = None
    typical_output: int = 1_000
    instead_of: Request | None = None
    typical: tuple[Mapping[str, Any], ...] = ()


class Answer(NamedTuple):
    """The outcome of a request.

    Attributes:
        status: how it ended.
        value: the decoded JSON or the text, where the status is ``OK``.
        reply: what the model gave, None where nothing came.
        cause: of an ``ERROR``.
        reason: one sentence for people, ``""`` for ``OK``.
        cached: whether it was kept from an earlier run; then nothing was sent.
        sent: how many times it was sent.
        cost_usd: what it cost now: 0.0 where it was kept, None where the price is unknown.
        tokens: of every reply that was paid for now; none where it was kept.
        seconds: from when the request that was answered was sent until its reply was there, without any waiting for its
            turn or for another try; 0.0 where it was kept, came in a batch or was not answered.
        first_seconds: of an answer that was kept: those of when it was asked; None where they are not known.
    """

    status: Status
    value: Any = None
    reply: Reply | None = None
    cause: Cause | None = None
    reason: str = ""
    cached: bool = False
    sent: int = 0
    cost_usd: float | None = 0.0
    tokens: Tokens = Tokens()
    seconds: float = 0.0
    first_seconds: float | None = None


class Together(NamedTuple):
    """Generators that do not wait for one another; who yields it receives a tuple of their results, in their order."""

    branches: tuple[Generator[Request | Together, Any, Any], ...]


Steps = Generator[Request | Together, Any, T]
"""A layer, or a part of one, that ends with a ``T``."""
