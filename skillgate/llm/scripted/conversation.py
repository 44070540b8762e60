"""What a scripted model reads out of a request: its texts, its question, its schema. The body may be anybody's."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.fields import Json

CHARACTERS_PER_TOKEN = 2.6  # measured over public skills with a current tokenizer's offline reconstruction: 2.57
MOST_LEVELS = 100  # of a body's nesting; what a judge asks has ten, and Python's own limit is not reached
SKILL, READ = "Skill", "Read"  # the tools of a session
SESSION = "simulation"  # what every request of a session is taken for: it asks no question by name
_QUESTION = re.compile(r"^Question: ([a-z][a-z0-9_]{0,63})[ \t]*$", re.MULTILINE)
_NO_TEXT = frozenset({"type", "role", "cache_control", "id", "tool_use_id", "media_type", "data", "signature"})


def nesting(value: Json) -> int:
    """Say how deep a value is nested, without recursion; a scalar is 0 deep."""
    deepest, level = 0, [value] if isinstance(value, dict | list) else []
    while level and deepest <= MOST_LEVELS:
        deepest += any(map(len, level))
        level = [
            item
            for outer in level
            for item in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(item, dict | list)
        ]
    return deepest


def texts(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Give every text of the system part and of the messages, in their order."""
    return (*texts_of(body.get("system")), *texts_of(body.get("messages")))


def user_blocks(body: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Give the texts of each user message, a tuple for each."""
    turns = [message for message in body["messages"] if message["role"] == "user"]
    return tuple(tuple(texts_of(message["content"])) for message in turns)


def question_of(body: Mapping[str, Any]) -> str:
    """Find the name of the question in the line ``Question: <name>``; ``""`` where there is none.

    It is looked for in the last text of each user message, the last message first, since an answer that did not fit is
    followed by a message that only says so. Earlier texts are the skill's, which may hold such a line too; where
    everything came as one text, the question stands below the skill, so that the last such line is the one. A session
    is known by its tools, whatever it holds.
    """
    if offers_tools(body):
        return SESSION
    for blocks in reversed(user_blocks(body)):
        found = _QUESTION.findall(blocks[-1]) if blocks else []
        if found:
            return str(found[-1])
    return ""


def tool_names(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the names of the tools that a request offers."""
    tools = body.get("tools")
    names = (tool.get("name") for tool in (tools if isinstance(tools, list) else ()) if isinstance(tool, dict))
    return tuple(name for name in names if isinstance(name, str))


def offers_tools(body: Mapping[str, Any]) -> bool:
    """Tell whether a request offers a tool that sessions have."""
    return not {SKILL, READ}.isdisjoint(tool_names(body))


def schema_of(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Give the JSON schema that the reply has to fit, None where it may be any text.

    A server that knows no ``output_config`` is given the schema within the last user text; it is found there too.
    """
    form = (body.get("output_config") or {}).get("format")
    if form is not None:
        schema: Mapping[str, Any] = form["schema"]
        return schema
    blocks = next((found for found in reversed(user_blocks(body)) if found), ("",))
    return _schema_within(blocks[-1])


def tokens(*given: str) -> int:
    """Estimate the tokens of some texts."""
    return math.ceil(sum(map(len, given)) / CHARACTERS_PER_TOKEN)


def input_tokens(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of a request: its texts, its tools and its schema."""
    beside = [body[name] for name in ("tools", "output_config") if name in body]
    return max(1, tokens(*texts(body), *(json.dumps(value) for value in beside)))


def texts_of(value: Json) -> list[str]:
    """Give the texts in a value of bounded depth, without names, types and the like."""
    found: list[str] = []
    _gather(value, found)
    return found


def _gather(value: Json, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _NO_TEXT:
                _gather(item, found)
    elif isinstance(value, list | tuple):
        for item in value:
            _gather(item, found)


def _schema_within(text: str) -> Mapping[str, Any] | None:
    start = text.find('{"')
    while start >= 0:
        try:
            found, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and isinstance(found.get("properties"), dict) and nesting(found) <= MOST_LEVELS:
            return found
        start = text.find('{"', start + 1)
    return None
