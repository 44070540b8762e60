"""The scripted model itself: a request comes in, and a reply or a failure goes out, by rules. It touches nothing."""

from __future__ import annotations

import fnmatch
import json
import re
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

from skillgate.llm.scripted.conversation import (
    CHARACTERS_PER_TOKEN,
    input_tokens,
    offers_tools,
    question_of,
    schema_of,
    texts,
    tokens,
)
from skillgate.llm.scripted.demands import complaint
from skillgate.llm.scripted.filler import made_up
from skillgate.llm.scripted.outcome import Failure, Message, error_type, failure
from skillgate.llm.scripted.rules import ABSENT, Given, Match, Rules, words
from skillgate.llm.scripted.scene import scene
from skillgate.llm.scripted.session import play
from skillgate.llm.scripted.world import World
from skillgate.model.digest import digest
from skillgate.model.exchange import SCRIPTED_PREFIX, Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.llm.scripted.scene import Scene
    from skillgate.model.fields import Json

_LONGEST_MODEL = 80
_MADE_UP = Given()


class Engine:
    """Answers requests by rules, and what none of them answers by its world; thread-safe.

    The same requests in the same order get the same answers; what depends on their order is only which of them use a
    rule up that has a number of ``times``, and what a session is drawn as in a world that varies.
    """

    def __init__(self, script: Rules | tuple[()] = ()) -> None:
        """Take a file of rules, or none."""
        rules = script or Rules()
        self._rules = rules.rules
        self._world = rules.world or World()
        self._peopled = rules.world is not None
        self._left = [rule.match.times for rule in self._rules]
        self._begun: Counter[str] = Counter()  # sessions, by how they open; only in a world that varies
        self._lock = threading.Lock()

    def answer(self, body: Json, question: str = "", *, sample: int = 0) -> Message | Failure:
        """Answer one request.

        Args:
            body: that of the Messages API; whatever is wrong with it becomes a failure as the API would give it.
            question: its name, where it is known; else it is read from the last user text.
            sample: which opinion of one model is asked for, where it is known: what is made up differs a little.
        """
        wrong = complaint(body)
        if wrong is not None:
            return failure(400, wrong)
        asked = question or question_of(body)
        number = self._taken(body, asked)
        given = _MADE_UP if number is None else self._rules[number].reply
        if _is_open(given) and self._is_session(body):
            turn = play(self._drawn(scene(body)), self._world)
            given = turn if number is None else _bent(turn, given)
        if given.status is not None:
            said = given.message or "A scripted failure."
            kind = given.error or error_type(given.status)
            return Failure(given.status, kind, said, given.retry_after_s, given.delay_ms / 1000, number)
        return _message(body, given, sample=sample, world=self._world)._replace(rule=number)

    def _drawn(self, seen: Scene) -> Scene:
        """Tell a session that was begun before from the first of its kind, in a world that varies."""
        if not self._world.varies:
            return seen
        with self._lock:
            self._begun[seen.opening] += not seen.called
            again = self._begun[seen.opening] - 1
        if again <= 0:
            return seen
        opening, moment = (digest(mark.encode(), str(again).encode()) for mark in (seen.opening, seen.moment))
        return seen._replace(opening=opening, moment=moment)

    def _is_session(self, body: Mapping[str, Any]) -> bool:
        """Tell whether a request is one of a session.

        That is known by its tools; without any, whatever asks for nothing by name is one where there is a world, or
        where a system text says what the model is.
        """
        if (body.get("output_config") or {}).get("format") is not None:
            return False
        if offers_tools(body):
            return True
        return bool(self._peopled or body.get("system")) and not question_of(body) and schema_of(body) is None

    def _taken(self, body: Mapping[str, Any], question: str) -> int | None:
        """Find the first rule that matches and is not used up, and use it."""
        if not self._rules:
            return None
        everything = "\n".join(texts(body))
        fitting = [
            number for number, rule in enumerate(self._rules) if _fits(rule.match, body["model"], question, everything)
        ]
        return next((number for number in fitting if self._has_room(number)), None)

    def _has_room(self, number: int) -> bool:
        """Use a rule; only those that can be used up are waited for."""
        if self._left[number] is None:
            return True
        with self._lock:
            left = self._left[number] or 0
            self._left[number] = max(0, left - 1)
            return left > 0


def scripted_name(model: str) -> str:
    """Name the model that answers: the prefix, then the name asked for without what no model's name has."""
    return f"{SCRIPTED_PREFIX}-{re.sub('[^A-Za-z0-9._:/-]', '', model)[:_LONGEST_MODEL]}"


def _fits(match: Match, model: str, question: str, everything: str) -> bool:
    return (
        (match.question is None or question in words(match.question))
        and (match.model is None or fnmatch.fnmatchcase(model, match.model))
        and all(text in everything for text in words(match.contains))
        and not any(text in everything for text in words(match.not_contains))
    )


def _is_open(given: Given) -> bool:
    """Tell whether a rule, if any, leaves to the model what it replies."""
    kinds = (given.text, given.tool_use, given.status, given.rating)
    return given.json is ABSENT and given.stop_reason != "refusal" and all(kind is None for kind in kinds)


def _bent(played: Given, given: Given) -> Given:
    """Bend what a session's model would reply as a rule says."""
    bent = {name: value for name, value in given._asdict().items() if value != Given._field_defaults[name]}
    return played._replace(**(bent if played.status is None else {"delay_ms": given.delay_ms}))


def _message(body: Mapping[str, Any], given: Given, *, sample: int, world: World) -> Message:
    text, reason = _text(body, given, sample, world), given.stop_reason or "end_turn"
    most = int(body["max_tokens"] * CHARACTERS_PER_TOKEN)
    if given.truncate or len(text) > most:
        text, reason = text[: min(most, len(text) // 2 if given.truncate else most)], "max_tokens"
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    mark = digest(*(said.encode("utf-8", "replace") for said in (body["model"], *texts(body), text)))[:24]
    if given.tool_use is not None:
        call = {
            "type": "tool_use",
            "id": f"toolu_{SCRIPTED_PREFIX}_{mark}",
            "name": given.tool_use,
            "input": given.input or {},
        }
        content, reason = [*content, call], given.stop_reason or "tool_use"
        written = json.dumps(call["input"])
    else:
        written = ""
    used = Tokens(input=input_tokens(body), output=max(1, tokens(text, written)))
    return Message(
        id=f"msg_{SCRIPTED_PREFIX}_{mark}",
        model=scripted_name(body["model"]),
        content=tuple(content),
        stop_reason=reason,
        category=given.category or "",
        tokens=used,
        delay_s=given.delay_ms / 1000,
        cut=given.cut,
    )


def _text(body: Mapping[str, Any], given: Given, sample: int, world: World) -> str:
    if given.json is not ABSENT:
        return json.dumps(given.json, ensure_ascii=False)
    if given.text is not None:
        return given.text
    if given.stop_reason == "refusal" or given.tool_use is not None:
        return ""
    return made_up(body, given.rating, sample=sample, world=world)
