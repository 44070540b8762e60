"""What a model turned out not to understand, so that every later request goes without it.

Older models and gateways answer 400 to a parameter they do not know, and name it. A request for JSON can do without the
API's own schema: the instruction then carries it, and the reply is held to it all the same.
"""

from __future__ import annotations

import json
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Dialect:
    """The parameters that each model has refused. Thread-safe; for one process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._refused: set[tuple[str, str]] = set()

    def refuses(self, model: str, parameter: str) -> bool:
        """Say whether a model has refused a parameter."""
        with self._lock:
            return (model, parameter) in self._refused

    def learn(self, model: str, parameters: Iterable[str]) -> None:
        """Remember parameters that a model has refused."""
        with self._lock:
            self._refused.update((model, parameter) for parameter in parameters)


def schema_of(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the JSON schema that a body of the Messages API asks for, None where it asks for text."""
    wanted = (body.get("output_config") or {}).get("format") or {}
    schema = wanted.get("schema")
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
