"""Whether a reply is an answer: complete, of the shape that was asked for, and nothing else.

The API constrains what a model writes, but not every server does, none of them enforces ranges, and a reply may have
been cut off or refused; so everything is held to the schema again on receipt.

One Markdown fence around the whole of a reply is tolerated, since models that are asked for JSON in words tend to add
it and it cannot change the value. Nothing else is repaired.

A request of a session offers tools, or is a whole session of a runner: it is answered in blocks, and no schema applies.

A request that a server refuses as too long is given a reply as well (:func:`outgrown`): that it does not fit is a
property of the text, not an outage, and is kept between runs like any other outcome.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.llm.dialect import schema_of
from skillgate.llm.failures import shown
from skillgate.model.exchange import Cause, Reply, Status, Tokens

if TYPE_CHECKING:
    from skillgate.llm.port import ProviderError
    from skillgate.model.exchange import Request

_FENCE = "```"
_LEAST_LIMIT = 64 << 10  # characters that are always looked at
_MOST_TRANSCRIPT = 16 << 20  # characters of what a model says in a session of many turns
_PER_TOKEN = 16  # characters of a reply, far beyond what any language and vocabulary give
_FINISHED = ("end_turn", "stop_sequence")
_OUTGROWN = "model_context_window_exceeded"
_RUNNER = "runner"  # of a body that is no message's, but a whole session's
_TURNS = "max_turns"  # how a runner ends a session that takes too long; what that means its layer decides


class Classified(NamedTuple):
    """What a reply is worth.

    Attributes:
        status: how the request ended.
        value: the decoded JSON or the text, where the status is ``OK``.
        reason: one sentence, ``""`` for ``OK``; of an ``INVALID`` reply it is fit to be sent back to the model.
    """

    status: Status
    value: Any
    reason: str

    @property
    def cause(self) -> Cause | None:
        """Of an ``ERROR``: a reply is one only when the model's context was too small."""
        return Cause.TOO_LONG if self.status is Status.ERROR else None


def outgrown(request: Request, error: ProviderError) -> Reply:
    """Return the reply that stands for a request that a server refused as too long, with the server's reason."""
    tokens = None if error.lost else Tokens()
    return Reply((), _OUTGROWN, tokens, str(request.body.get("model", "")), category=str(error))


def classify(request: Request, reply: Reply) -> Classified:
    """Hold a reply to its request."""
    ended = _ended(request, reply)
    if ended is not None:
        return ended
    text = reply.text
    most = _most_characters(request)
    if len(text) > most:
        return _invalid(f"the reply is longer than {most} characters, more than it was given tokens for")
    if _is_session(request):
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


def _is_session(request: Request) -> bool:
    return bool(request.body.get("tools")) or _RUNNER in request.body


def _of_session(reply: Reply) -> Classified:
    """Hold a reply to a request of a session: it calls tools, or says something; whoever asked reads its blocks."""
    called = any(block.get("type") == "tool_use" for block in reply.content)
    if reply.stop_reason == "tool_use" and not called:
        return _invalid("the reply ended for a tool, and calls none")
    if not called and not reply.text.strip() and reply.stop_reason != _TURNS:
        return _invalid("the reply holds no text")
    wrong = _unwritable([dict(block) for block in reply.content])
    return Classified(Status.OK, reply.text, "") if wrong is None else _invalid(wrong)


def _ended(request: Request, reply: Reply) -> Classified | None:
    """Say how a reply ended that did not end as an answer does; None for one that did."""
    ended = reply.stop_reason
    if ended == "refusal":
        why = f" ({shown(reply.category)})" if reply.category else ""
        return Classified(Status.REFUSED, None, f"the model refused to answer{why}")
    if ended == "max_tokens":
        return Classified(Status.TRUNCATED, None, _cut_off(request))
    if ended == _OUTGROWN:
        why = shown(reply.category) or "the request and its reply are too long for the model's context"
        return Classified(Status.ERROR, None, why)
    if ended == "tool_use" and request.body.get("tools"):
        return None
    if ended == "tool_use":
        return _invalid("the reply calls a tool, and none was offered")
    if ended == _TURNS and _RUNNER in request.body:
        return None
    if ended not in _FINISHED:
        return _invalid(f'the reply ended for a reason that is not known: "{shown(ended)}"')
    return None


def _cut_off(request: Request) -> str:
    """Say that a reply took all its tokens; how many a runner gives to one of a session's, its body does not say."""
    if _RUNNER in request.body:
        return "a reply of the session was cut off: it took all the tokens that one may take"
    return f"the reply was cut off after {request.body.get('max_tokens')} tokens"


def _most_characters(request: Request) -> int:
    """Give the length beyond which a text cannot be what was asked for, and is not decoded."""
    if _RUNNER in request.body:
        return _MOST_TRANSCRIPT
    limit = request.body.get("max_tokens")
    return max(_LEAST_LIMIT, _PER_TOKEN * limit) if isinstance(limit, int) else _LEAST_LIMIT


def _invalid(reason: str) -> Classified:
    return Classified(Status.INVALID, None, reason)


def _unfenced(text: str) -> str:
    """Take off a fence that stands around all of a text."""
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
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f'the key "{name}" stands twice')
        found[name] = value
    return found


def _unfit(value: object, schema: dict[str, Any]) -> str | None:
    """Say where a value does not fit its schema, None where it does. Booleans are no integers here."""
    from skillgate.llm.shape import misfit  # loaded while the first answer is awaited

    found = misfit(value, schema)
    return None if found is None else f"{found.place}: {shown(found.message)}"


def _unwritable(value: object) -> str | None:
    """Say that a text cannot be written down: half of a surrogate pair, which no file or terminal takes."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "the reply holds half of a character"
    return None
