"""The scripted model itself: a request comes in, and a reply or a failure goes out, by rules. It touches nothing."""

from __future__ import annotations

import fnmatch
import json
import re
import threading
from typing import TYPE_CHECKING, Any

from skillgate.llm.scripted.conversation import CHARACTERS_PER_TOKEN, input_tokens, question_of, texts, tokens
from skillgate.llm.scripted.demands import complaint
from skillgate.llm.scripted.filler import made_up
from skillgate.llm.scripted.outcome import Failure, Message, error_type, failure
from skillgate.llm.scripted.rules import ABSENT, Given, Match, Rule, words
from skillgate.model.digest import digest
from skillgate.model.exchange import SCRIPTED_PREFIX, Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.model.codec import Json

_LONGEST_MODEL = 80
_MADE_UP = Given()


class Engine:
    """Answers requests by rules; thread-safe. The same requests in the same order get the same answers."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self._rules = tuple(rules)
        self._left = [rule.match.times for rule in self._rules]
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
        if given.status is not None:
            said = given.message or "A scripted failure."
            kind = given.error or error_type(given.status)
            return Failure(given.status, kind, said, given.retry_after_s, given.delay_ms / 1000, number)
        return _message(body, given, sample)._replace(rule=number)

    def _taken(self, body: Mapping[str, Any], question: str) -> int | None:
        """Find the first rule that matches and is not used up, and use it."""
        everything = "\n".join(texts(body))
        fitting = [
            number for number, rule in enumerate(self._rules) if _fits(rule.match, body["model"], question, everything)
        ]
        with self._lock:
            for number in fitting:
                left = self._left[number]
                if left is None:
                    return number
                if left:
                    self._left[number] = left - 1
                    return number
        return None


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


def _message(body: Mapping[str, Any], given: Given, sample: int) -> Message:
    text, reason = _text(body, given, sample), given.stop_reason or "end_turn"
    most = int(body["max_tokens"] * CHARACTERS_PER_TOKEN)
    if given.truncate or len(text) > most:
        text, reason = text[: min(most, len(text) // 2 if given.truncate else most)], "max_tokens"
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    mark = digest(json.dumps([body, text], sort_keys=True).encode())[:24]
    if given.tool_use is not None:
        call = {"type": "tool_use", "id": f"toolu_{mark}", "name": given.tool_use, "input": given.input or {}}
        content, reason = [*content, call], given.stop_reason or "tool_use"
    used = Tokens(input=input_tokens(body), output=max(1, tokens(text)))
    return Message(
        id=f"msg_{mark}",
        model=scripted_name(body["model"]),
        content=tuple(content),
        stop_reason=reason,
        category=given.category or "",
        tokens=used,
        delay_s=given.delay_ms / 1000,
        cut=given.cut,
    )


def _text(body: Mapping[str, Any], given: Given, sample: int) -> str:
    if given.json is not ABSENT:
        return json.dumps(given.json, ensure_ascii=False)
    if given.text is not None:
        return given.text
    if given.stop_reason == "refusal" or given.tool_use is not None:
        return ""
    return made_up(body, given.rating, sample=sample)
