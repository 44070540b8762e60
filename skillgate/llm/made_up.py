"""Answers made up for an estimate: that of a typical reply, or whatever fits the form that was asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillgate.llm import prices
from skillgate.model.exchange import Answer, Cause, Reply, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.exchange import Request

MOST_ITEMS = 64
"""The longest list that is made up to pass a question's own check."""
_SENTENCE = "made up for an estimate: a text that is about as long as what a person would say to get some work done"


def fitting(request: Request) -> int | None:
    """Find how long lists must be for a made-up value to pass a request's check; None where none does."""
    schema = _schema(request)
    if schema is None:
        return None
    return next((items for items in range(MOST_ITEMS + 1) if _passes(request, fill(schema, items=items))), None)


def made_up(request: Request, *, items: int | None) -> Answer:
    """Answer a request: as its own typical reply does, else with what fits its schema, with so many items in each list.

    Where that does not pass its check, or ``items`` is None, the answer is an error, as in an outage: then no layer
    asks anything more.
    """
    typical = _typical(request) if request.typical or request.body.get("tools") else None
    if typical is not None:
        return typical
    schema = _schema(request)
    if schema is None:
        return Answer(Status.OK, _SENTENCE)
    value = None if items is None else fill(schema, items=items)
    if items is not None and _passes(request, value):
        return Answer(Status.OK, value)
    return Answer(Status.ERROR, cause=Cause.STOPPED, reason="nothing that passes could be made up for an estimate")


def fill(schema: Mapping[str, Any], *, items: int, number: int = 0) -> Any:  # noqa: ANN401 - any JSON
    """Make a value up that fits a JSON schema of objects, lists, enumerations and plain values.

    Args:
        schema: as a model is given it.
        items: of every list, where the schema does not ask for more.
        number: of the value among its like: texts, integers, truths and choices differ by it.
    """
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        choices = schema["enum"]
        return choices[number // 2 % len(choices)]  # by pairs, so that all go with either truth
    match schema.get("type"):
        case "object":
            return {key: fill(part, items=items, number=number) for key, part in schema.get("properties", {}).items()}
        case "array":
            many = max(items, schema.get("minItems", 0))
            return [fill(schema.get("items", {}), items=items, number=each) for each in range(many)]
        case "boolean":
            return number % 2 == 0
        case "integer" | "number":
            return number + 1
        case "null":
            return None
        case _:
            return f"Number {number + 1}, {_SENTENCE}"


def _typical(request: Request) -> Answer | None:
    """Answer a request with the reply that it holds; None where that does not fit.

    A session's request without one is answered in words. The reply tells as many tokens as the request says.
    """
    content = request.typical or ({"type": "text", "text": _SENTENCE},)
    reason = "tool_use" if any(block.get("type") == "tool_use" for block in content) else "end_turn"
    used = Tokens(input=prices.prompt_of(request.body), output=request.typical_output)
    reply = Reply(content, reason, used, str(request.body.get("model", "")))
    if _schema(request) is None or request.body.get("tools"):
        return Answer(Status.OK, reply.text, reply)
    try:
        value = json.loads(reply.text)
    except ValueError:
        return None
    return Answer(Status.OK, value, reply) if _passes(request, value) else None


def _schema(request: Request) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = ((request.body.get("output_config") or {}).get("format") or {}).get("schema")
    return found


def _passes(request: Request, value: Any) -> bool:  # noqa: ANN401 - any JSON
    return request.check is None or request.check(value) is None
