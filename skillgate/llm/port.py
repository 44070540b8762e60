"""Providers and askers: what they are to each other, what a server's refusal means, and whether a reply is an answer.

A reply is one that is complete, of the shape that was requested, and nothing else. The API constrains what a model
writes, but not every server does, none of them enforces ranges, and a reply may have been cut off or refused. So
everything is checked against the schema again on receipt.

One Markdown fence around the whole of a reply is tolerated, since models that are asked for JSON in words tend to add
it and it cannot change the value. Nothing else is repaired.

A request of a session offers tools, or is a whole session of a runner: it is answered in blocks, and no schema applies.

A request that a server refuses as too long gets a reply as well (:func:`outgrown`). That it does not fit is a
property of the text, not an outage. It is cached between runs like any other outcome.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from itertools import islice
from math import isfinite
from threading import Lock
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeGuard

from skillgate.model.exchange import Answer, Cause, Reply, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from skillgate.model.exchange import Answer, Reply, Request

MOST_SHOWN = 240  # characters of a server's own words
_RETRYABLE = (408, 409, 425, 429)  # and every 5xx that is not named next
_TWICE = 'the key "{}" stands twice'  # part of a prompt, which asks for the answer again
_NEVER = (501, 505)  # it cannot do what was requested, now or later
_SECRET = re.compile(r"\b(?:Bearer|Basic)\s+\S+|\b[spr]k-[\w*.\-]{6,}|\bA[KS]IA[A-Z0-9]{12,}")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")
_TOO_LONG = re.compile(
    r"(?:prompt|input) is too long|context[ _](?:window|length|size)|maximum context|too many (?:input )?tokens",
    re.IGNORECASE,
)
_UNPAID = re.compile(r"billing_error|insufficient_quota|credit balance", re.IGNORECASE)
_BATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")  # it becomes a part of addresses
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


def is_batch_id(value: object) -> TypeGuard[str]:
    """Return whether a value can be the id of a batch."""
    return isinstance(value, str) and _BATCH_ID.fullmatch(value) is not None


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


MOST_ERRORS = 50
"""Of a schema that the worst is chosen from. Each takes as long as dozens of items that fit, and a reply can hold
thousands."""
UNREADABLE = (OverflowError, ValueError, RecursionError)
"""What a reply can cause: numbers that are too large, text that cannot be encoded, nesting. One bad reply must not end
the run; any other exception is a bug of this program, and does."""
_FENCE = "```"
_LEAST_LIMIT = 64 << 10  # characters that are always looked at
_MOST_TRANSCRIPT = 16 << 20  # characters of what a model says in a session of many turns
_PER_TOKEN = 16  # characters of a reply, far beyond what any language and vocabulary give
_FINISHED = ("end_turn", "stop_sequence")
_OUTGROWN = "model_context_window_exceeded"
_RUNNER = "runner"  # of a body that is no message's, but a whole session's
_TURNS = "max_turns"  # how a runner ends a session that takes too long; what that means its layer decides


class Classified(NamedTuple):
    """What a reply is worth: its JSON or text, else a sentence, which may be sent back to the model if ``INVALID``."""

    status: Status
    value: Any
    reason: str

    @property
    def cause(self) -> Cause | None:
        """Of an ``ERROR``: a reply is one only when the model's context was too small."""
        return Cause.TOO_LONG if self.status is Status.ERROR else None

    def answer(self, reply: Reply) -> Answer:
        """Return the answer that the reply is."""
        return Answer(self.status, self.value, reply, self.cause, self.reason)


class Misfit(NamedTuple):
    """Where a value does not fit, as a JSON path, and how."""

    place: str
    message: str


class Dialect:
    """The parameters that each model has refused, so that later requests go without. Thread-safe; for one process.

    Older models and gateways answer 400 to a parameter they do not know, and name it. A request for JSON can do without
    the API's own schema: the instruction then carries it, and the reply is held to it all the same.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._refused: set[tuple[str, str]] = set()

    def refuses(self, model: str, parameter: str) -> bool:
        """Return whether a model has refused a parameter."""
        with self._lock:
            return (model, parameter) in self._refused

    def learned(self, failure: ProviderError, model: str, parameters: Collection[str]) -> ProviderError:
        """Remember parameters that a model has refused; with any the failure is one after which a try makes sense."""
        if not parameters or failure.status not in (400, 422):
            return failure
        with self._lock:
            self._refused.update((model, parameter) for parameter in parameters)
        return ProviderError(failure.cause, str(failure), status=failure.status, retry_after_s=0.0, retryable=True)


def schema_of(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the JSON schema that a body of the Messages API asks for, None where it asks for text."""
    schema = ((body.get("output_config") or {}).get("format") or {}).get("schema")
    return schema if isinstance(schema, dict) else None


def instruction(schema: object) -> str:
    """Say in words what the API's own schema says otherwise."""
    written = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    wanted = "Answer with one JSON value and nothing else: no introduction, no code fence."
    return f"{wanted} It must fit this JSON Schema:\n{written}"


def with_instruction(messages: Iterable[Mapping[str, Any]], text: str) -> list[Mapping[str, Any]]:
    """Add a text block to the end of the last user turn; what comes before it stays as it is, for the prompt cache."""
    turns = list(messages)
    last = max((index for index, turn in enumerate(turns) if turn.get("role") == "user"), default=None)
    if last is None:
        return turns
    content = turns[last]["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    turns[last] = {**turns[last], "content": [*blocks, {"type": "text", "text": text}]}
    return turns


def outgrown(request: Request, error: ProviderError) -> Reply:
    """Return the reply of a request that a server refused as too long, with the server's reason."""
    tokens = None if error.lost else Tokens()
    return Reply((), _OUTGROWN, tokens, str(request.body.get("model", "")), category=str(error))


def classify(request: Request, reply: Reply) -> Classified:
    """Hold a reply to its request; may raise one of ``UNREADABLE``."""
    ended = _ended(request, reply)
    if ended is not None:
        return ended
    text = reply.text
    most = _most_characters(request)
    if len(text) > most:
        return _invalid(f"the reply is longer than {most} characters, more than it was given tokens for")
    if request.body.get("tools") or _RUNNER in request.body:
        return _of_session(reply)
    if not text.strip():
        return _invalid("the reply holds no text")
    schema = schema_of(request.body)
    try:
        value = text if schema is None else _decoded(_unfenced(text))
    except (ValueError, RecursionError) as error:
        return _invalid(f"the reply is not one JSON value: {shown(str(error))}")
    wrong = (_unfit(value, schema) if schema is not None else None) or _unwritable(value)
    if wrong is None and request.check is not None:
        wrong = request.check(value)
    return Classified(Status.OK, value, "") if wrong is None else _invalid(wrong)


def misfit(value: object, schema: dict[str, Any]) -> Misfit | None:
    """Return what is most wrong with a value, of the first problems; None where it fits. Booleans are no integers."""
    from jsonschema import Draft202012Validator  # loaded while the first answer is awaited
    from jsonschema.exceptions import best_match

    error = best_match(islice(Draft202012Validator(schema).iter_errors(value), MOST_ERRORS))
    return None if error is None else Misfit(error.json_path, error.message)


def _of_session(reply: Reply) -> Classified:
    """Hold a reply to a request of a session: it calls tools, or says something; its layer reads the blocks."""
    called = any(block.get("type") == "tool_use" for block in reply.content)
    if reply.stop_reason == "tool_use" and not called:
        return _invalid("the reply ended for a tool, and calls none")
    if not called and not reply.text.strip() and reply.stop_reason != _TURNS:
        return _invalid("the reply holds no text")
    wrong = _unwritable([dict(block) for block in reply.content])
    return Classified(Status.OK, reply.text, "") if wrong is None else _invalid(wrong)


def _ended(request: Request, reply: Reply) -> Classified | None:
    """Say how a reply ended that did not end as an answer does; None for one that did."""
    ended, is_run = reply.stop_reason, _RUNNER in request.body
    if ended == "refusal":
        why = f" ({shown(reply.category)})" if reply.category else ""
        return Classified(Status.REFUSED, None, f"the model refused to answer{why}")
    if ended == "max_tokens":
        why = f"the reply was cut off after {request.body.get('max_tokens')} tokens"
        if is_run:  # how many a runner gives to one reply of a session, its body does not say
            why = "a reply of the session was cut off: it took all the tokens that one may take"
        return Classified(Status.TRUNCATED, None, why)
    if ended == _OUTGROWN:
        why = shown(reply.category) or "the request and its reply are too long for the model's context"
        return Classified(Status.ERROR, None, why)
    if ended == "tool_use":
        return None if request.body.get("tools") else _invalid("the reply calls a tool, and none was offered")
    if ended in _FINISHED or (ended == _TURNS and is_run):
        return None
    return _invalid(f'the reply ended for a reason that is not known: "{shown(ended)}"')


def _most_characters(request: Request) -> int:
    """Return the length beyond which a text cannot be what was requested, and is not decoded."""
    if _RUNNER in request.body:
        return _MOST_TRANSCRIPT
    limit = request.body.get("max_tokens")
    return max(_LEAST_LIMIT, _PER_TOKEN * limit) if isinstance(limit, int) else _LEAST_LIMIT


def _invalid(reason: str) -> Classified:
    return Classified(Status.INVALID, None, reason)


def _unfenced(text: str) -> str:
    """Take off a fence around all of a text."""
    inner = text.strip()
    if len(inner) < 2 * len(_FENCE) or not (inner.startswith(_FENCE) and inner.endswith(_FENCE)):
        return text
    language, _, block = inner[len(_FENCE) : -len(_FENCE)].partition("\n")
    return block if language.strip().lower() in ("", "json") else text


def _decoded(text: str) -> object:
    return json.loads(text, parse_float=_number, parse_constant=_no_number, object_pairs_hook=_object)


def _number(text: str) -> int | float:
    """Decode a number with a point or an exponent; ``7.0`` is the integer 7, as in JSON Schema."""
    number = float(text)
    if not isfinite(number):
        return _no_number(text)
    return int(number) if number.is_integer() else number


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(_TWICE.format(name))
        fields[name] = value
    return fields


def _unfit(value: object, schema: dict[str, Any]) -> str | None:
    worst = misfit(value, schema)
    return None if worst is None else f"{worst.place}: {shown(worst.message)}"


def _unwritable(value: object) -> str | None:
    """Say that a text holds half of a surrogate pair, which no file or terminal takes."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "the reply holds half of a character"
    return None
