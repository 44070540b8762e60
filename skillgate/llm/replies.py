"""Whether a reply is an answer: complete, of the shape that was requested, and nothing else.

The API constrains what a model writes, but not every server does, none of them enforces ranges, and a reply may have
been cut off or refused; so everything is held to the schema again on receipt.

One Markdown fence around the whole of a reply is tolerated, since models that are asked for JSON in words tend to add
it and it cannot change the value. Nothing else is repaired.

A request of a session offers tools, or is a whole session of a runner: it is answered in blocks, and no schema applies.

A request that a server refuses as too long gets a reply as well (:func:`outgrown`): that it does not fit is a
property of the text, not an outage, and is cached between runs like any other outcome.
"""

from __future__ import annotations

import json
from itertools import islice
from math import isfinite
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.llm.port import ProviderError, shown
from skillgate.model.exchange import Answer, Cause, Reply, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from skillgate.model.exchange import Request

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
            raise ValueError(f'the key "{name}" stands twice')
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
