"""A scripted model in this process: no network, no key, no cost, and no judgement.

A request comes into its engine, and a message or a failure goes out, by rules; the engine touches nothing.
"""

from __future__ import annotations

import fnmatch
import json
import re
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import UsageError
from skillgate.llm.port import Connection, Destination, Provider, ProviderError, of_status
from skillgate.llm.scripted.answering import made_up
from skillgate.llm.scripted.requests import (
    CHARACTERS_PER_TOKEN,
    complaint,
    input_tokens,
    offers_tools,
    question_of,
    schema_of,
    texts,
    tokens,
)
from skillgate.llm.scripted.rules import ABSENT, LIMITS, Match, Rules, Scripted, World, as_tuple, parse, play, scene
from skillgate.model.exchange import SCRIPTED_PREFIX, Cause, Reply, Tokens
from skillgate.model.skill import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.llm.scripted.rules import Scene
    from skillgate.model.exchange import Request
    from skillgate.model.score import Json

POSITION = 4
MADE_UP = "scripted"
ANSWERS_VERSION = 2  # changes with what is made up, so that no answer kept from before is taken for one of now
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}  # as the API's documentation names them; any other 4xx is an invalid request, any other 5xx an api_error
_LONGEST_MODEL = 80
_MADE_UP = Scripted()


def connect(connection: Connection) -> Provider:
    """Make a scripted model of the rules in ``connection.file``; without a file it makes everything up.

    Raises UsageError where the rules cannot be read or are not valid.
    """
    data = b"" if connection.file is None else _read(connection.file, cwd=connection.cwd)
    rules = Rules() if connection.file is None else parse(data, connection.file)
    return _Scripted(rules, endpoint=digest(str(ANSWERS_VERSION).encode(), data))


def rules_of(file: str, *, cwd: str) -> Rules:
    """Read the rules of a file; its path is relative to ``cwd``.

    Raises UsageError where the rules cannot be read or are not valid.
    """
    return parse(_read(file, cwd=cwd), file)


def _read(file: str, *, cwd: str) -> bytes:
    try:
        with (Path(cwd) / file).open("rb") as source:
            data = source.read(LIMITS.bytes + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{file}: the rules of the scripted model cannot be read: {why}") from None
    if len(data) > LIMITS.bytes:
        raise UsageError(f"{file}: larger than {LIMITS.bytes // 1024} KiB")
    return data


class _Scripted:
    """Answers in the calling thread."""

    name = "scripted"
    variant = ""
    live = False

    def __init__(self, rules: Rules, *, endpoint: str) -> None:
        self.endpoint = endpoint
        self._engine = Engine(rules)
        self._closed = threading.Event()

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Answer a request as a server would, delays, failures and time-outs included."""
        body = json.loads(json.dumps(dict(request.body), default=dict))  # as it would arrive
        outcome = self._engine.answer(body, request.question, sample=request.sample)
        if self._closed.wait(min(outcome.delay_s, timeout_s)):
            raise ProviderError(Cause.STOPPED, "the scripted model was closed")
        if outcome.delay_s > timeout_s:
            raise ProviderError(Cause.NETWORK, f"no scripted reply within {timeout_s:g} s", retryable=True)
        if isinstance(outcome, Failure):
            raise _error(outcome, str(body.get("model", "")))
        if outcome.cut:
            raise ProviderError(Cause.NETWORK, "the scripted reply ends in the middle", retryable=True)
        return _reply(outcome)

    def close(self) -> None:
        """Stop waiting for delayed replies."""
        self._closed.set()


def _reply(message: Message) -> Reply:
    return Reply(
        content=message.content,
        stop_reason=message.stop_reason,
        tokens=message.tokens,
        model=message.model,
        request_id=message.id,
        category=message.category,
    )


def _error(failed: Failure, model: str) -> ProviderError:
    """Say what a failure means as it is said of one that came over HTTP."""
    wait = {} if failed.retry_after_s is None else {"retry-after": f"{failed.retry_after_s:g}"}
    place = Destination("the scripted model", model, "a rule of it says so")
    return of_status(failed.status, wait, json.dumps(error_document(failed)), place)


class Message(NamedTuple):
    """A reply."""

    id: str  # equal for equal requests and rules; another for each request of a conversation; says that it is scripted
    model: str  # begins with SCRIPTED_PREFIX
    content: tuple[Mapping[str, Any], ...]  # blocks as in the Messages API
    stop_reason: str
    category: str  # of a refusal, "" without one
    tokens: Tokens  # estimated from the characters
    delay_s: float = 0.0  # how long it is held back
    cut: bool = False  # whether the connection ends in the middle of it
    rule: int | None = None  # that it is from, counted from 0; None: it was made up


class Failure(NamedTuple):
    """A failure as a server would return it."""

    status: int  # of HTTP, 400 to 599
    type: str  # overloaded_error and the like
    message: str
    retry_after_s: float | None = None
    delay_s: float = 0.0  # how long it is held back
    rule: int | None = None  # that it is from, counted from 0; None: the request is not one


class Engine:
    """Answers requests by rules, and what none of them answers by its world; thread-safe.

    The same requests in the same order get the same answers. The order decides only two things: which requests use up a
    rule with a number of ``times``, and the random outcome of a session in a world that varies.
    """

    def __init__(self, script: Rules | tuple[()] = ()) -> None:
        """Take a file of rules, or none."""
        rules = script or Rules()
        self._rules = rules.rules
        self._world = rules.world or World()
        self._has_world = rules.world is not None
        self._left = [rule.match.times for rule in self._rules]
        self._begun: Counter[str] = Counter()  # sessions, by how they open; only in a world that varies
        self._lock = threading.Lock()

    def answer(self, body: Json, question: str = "", *, sample: int = 0) -> Message | Failure:
        """Answer one request; whatever is wrong with its body becomes a failure as the API would return it.

        Without the name of its ``question`` that is read from the last user text. ``sample`` is which opinion of one
        model is requested: what is made up differs a little.
        """
        wrong = complaint(body)
        if wrong is not None:
            return failure(400, wrong)
        number = self._use_rule(body, question or question_of(body))
        reply = _MADE_UP if number is None else self._rules[number].reply
        if _is_open(reply) and self._is_session(body):
            turn = play(self._drawn(scene(body)), self._world)
            reply = turn if number is None else _changed(turn, reply)
        if reply.status is not None:
            text = reply.message or "A scripted failure."
            kind = reply.error or error_type(reply.status)
            return Failure(reply.status, kind, text, reply.retry_after_s, reply.delay_ms / 1000, number)
        return self._message(body, reply, sample)._replace(rule=number)

    def _drawn(self, seen: Scene) -> Scene:
        """Sample a session that was begun before again, in a world that varies."""
        if not self._world.varies:
            return seen
        with self._lock:
            self._begun[seen.opening] += not seen.called
            repeats = self._begun[seen.opening] - 1
        if repeats <= 0:
            return seen
        opening, moment = (digest(mark.encode(), str(repeats).encode()) for mark in (seen.opening, seen.moment))
        return seen._replace(opening=opening, moment=moment)

    def _is_session(self, body: Mapping[str, Any]) -> bool:
        """Whether a request is one of a session.

        That is known by its tools; without any, a request that asks for nothing by name is one where there is a world,
        or where a system text says what the model is.
        """
        if (body.get("output_config") or {}).get("format") is not None:
            return False
        if offers_tools(body):
            return True
        return bool(self._has_world or body.get("system")) and not question_of(body) and schema_of(body) is None

    def _use_rule(self, body: Mapping[str, Any], question: str) -> int | None:
        """Use the first rule that matches and is not used up."""
        if not self._rules:
            return None
        everything = "\n".join(texts(body))
        matching = [
            number
            for number, rule in enumerate(self._rules)
            if _matches(rule.match, body["model"], question, everything)
        ]
        return next((number for number in matching if self._has_room(number)), None)

    def _has_room(self, number: int) -> bool:
        """Use a rule; only those that can be used up are waited for."""
        if self._left[number] is None:
            return True
        with self._lock:
            left = self._left[number] or 0
            self._left[number] = max(0, left - 1)
            return left > 0

    def _message(self, body: Mapping[str, Any], reply: Scripted, sample: int) -> Message:
        text, reason = self._text(body, reply, sample), reply.stop_reason or "end_turn"
        most = int(body["max_tokens"] * CHARACTERS_PER_TOKEN)
        if reply.truncate or len(text) > most:
            text, reason = text[: min(most, len(text) // 2 if reply.truncate else most)], "max_tokens"
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        mark = digest(*(part.encode("utf-8", "replace") for part in (body["model"], *texts(body), text)))[:24]
        written = ""
        if reply.tool_use is not None:
            number = f"toolu_{SCRIPTED_PREFIX}_{mark}"
            call = {"type": "tool_use", "id": number, "name": reply.tool_use, "input": reply.input or {}}
            content, reason = [*content, call], reply.stop_reason or "tool_use"
            written = json.dumps(call["input"])
        return Message(
            id=f"msg_{SCRIPTED_PREFIX}_{mark}",
            model=scripted_name(body["model"]),
            content=tuple(content),
            stop_reason=reason,
            category=reply.category or "",
            tokens=Tokens(input=input_tokens(body), output=max(1, tokens(text, written))),
            delay_s=reply.delay_ms / 1000,
            cut=reply.cut,
        )

    def _text(self, body: Mapping[str, Any], reply: Scripted, sample: int) -> str:
        if reply.json is not ABSENT:
            return json.dumps(reply.json, ensure_ascii=False)
        if reply.text is not None:
            return reply.text
        if reply.stop_reason == "refusal" or reply.tool_use is not None:
            return ""
        return made_up(body, reply.rating, sample=sample, world=self._world)


def scripted_name(model: str) -> str:
    """Name the model that answers: the prefix, then the requested name without what no model's name has."""
    return f"{SCRIPTED_PREFIX}-{re.sub('[^A-Za-z0-9._:/-]', '', model)[:_LONGEST_MODEL]}"


def failure(status: int, message: str) -> Failure:
    """Make a failure with the type that belongs to its status."""
    return Failure(status, error_type(status), message)


def error_type(status: int) -> str:
    """Name the type of an error as the API does."""
    return ERROR_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")


def document(message: Message) -> dict[str, Any]:
    """Write a message as the Messages API does."""
    refused = message.stop_reason == "refusal"
    return {
        "id": message.id,
        "type": "message",
        "role": "assistant",
        "model": message.model,
        "content": [dict(block) for block in message.content],
        "stop_reason": message.stop_reason,
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": message.category or None} if refused else None,
        "usage": {
            "input_tokens": message.tokens.input,
            "output_tokens": message.tokens.output,
            "cache_creation_input_tokens": message.tokens.cache_write,
            "cache_read_input_tokens": message.tokens.cache_read,
        },
    }


def error_document(failed: Failure) -> dict[str, Any]:
    """Write a failure as the Messages API does."""
    return {"type": "error", "error": {"type": failed.type, "message": failed.message}}


def _matches(match: Match, model: str, question: str, everything: str) -> bool:
    return (
        (match.question is None or question in as_tuple(match.question))
        and (match.model is None or fnmatch.fnmatchcase(model, match.model))
        and all(text in everything for text in as_tuple(match.contains))
        and not any(text in everything for text in as_tuple(match.not_contains))
    )


def _is_open(reply: Scripted) -> bool:
    """Whether a rule, if any, leaves to the model what it replies."""
    kinds = (reply.text, reply.tool_use, reply.status, reply.rating)
    return reply.json is ABSENT and reply.stop_reason != "refusal" and all(kind is None for kind in kinds)


def _changed(played: Scripted, rule: Scripted) -> Scripted:
    """Change what a session's model would reply as a rule says."""
    changes = {name: value for name, value in rule._asdict().items() if value != Scripted._field_defaults[name]}
    return played._replace(**(changes if played.status is None else {"delay_ms": rule.delay_ms}))
