"""What the Messages API refuses in a request, so that what a scripted model takes is what a real one would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.llm.scripted.conversation import MOST_LEVELS, nesting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.fields import Json

_KNOWN = frozenset(
    {
        *("cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages", "metadata", "model"),
        *("output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "thinking", "tool_choice"),
        *("tools", "user_profile_id", "workspace_id"),
    }
)
_BETA = frozenset(  # what the API takes beside these from a client that names a beta, as coding agents do: ignored here
    {
        *("billing_policy", "compaction", "context_management", "fallback_credit_token", "fallbacks", "mcp_servers"),
        "thread",
    }
)
_SAMPLING = ("temperature", "top_p", "top_k")  # gone with API version 2026-10-21
_UNSUPPORTED = frozenset(  # keywords that structured outputs do not take, by the API's documentation
    {
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
        *("maxItems", "uniqueItems", "minProperties", "maxProperties"),
    }
)
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_MOST_CACHE_MARKS = 4
_MOST_TOKENS = 128_000  # that a current model writes in one reply
_MOST_SCHEMAS = 2_000  # parts of one schema


def complaint(body: Json) -> str | None:
    """Say why a request is refused (400, ``invalid_request_error``), None where it is one."""
    if not isinstance(body, dict):
        return "the request body is not a JSON object"
    if nesting(body) > MOST_LEVELS:
        return f"the request body is nested deeper than {MOST_LEVELS} levels"
    return next(_complaints(body), None)


def _complaints(body: dict[str, Any]) -> Iterator[str]:
    for name in _SAMPLING:
        if name in body:
            yield f"{name}: sampling parameters are not supported"
    for name in body:
        if name not in _KNOWN | _BETA and name not in _SAMPLING:
            yield f"{name[:60]}: extra inputs are not permitted"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: a non-empty string is required"
    if not _positive(body.get("max_tokens")):
        yield f"max_tokens: an integer from 1 to {_MOST_TOKENS} is required"
    if not isinstance(body.get("stream", False), bool):
        yield "stream: expected true or false"
    yield from _message_complaints(body.get("messages"))
    if "system" in body:
        yield from _content_complaints(body["system"], "system")
    if _cache_marks(body) > _MOST_CACHE_MARKS:
        yield f"cache_control: at most {_MOST_CACHE_MARKS} blocks may carry it"
    if body.get("output_config") is not None:
        yield from _output_complaints(body["output_config"])


def _positive(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_TOKENS


def _message_complaints(messages: Json) -> Iterator[str]:
    if not isinstance(messages, list) or not messages:
        yield "messages: a non-empty list is required"
        return
    for index, message in enumerate(messages):
        place = f"messages.{index}"
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant", "system"):
            yield f"{place}.role: expected user, assistant or system"
            return
        yield from _content_complaints(message.get("content"), f"{place}.content")
    if messages[0]["role"] == "assistant":
        yield "messages.0.role: the first message has to be the user's"
    if messages[-1]["role"] == "assistant":
        yield "messages: the conversation has to end with a user message"


def _content_complaints(content: Json, place: str) -> Iterator[str]:
    if isinstance(content, str):
        if not content:
            yield f"{place}: text must not be empty"
        return
    if not isinstance(content, list) or not content:
        yield f"{place}: expected text or a non-empty list of blocks"
        return
    for index, block in enumerate(content):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            yield f"{place}.{index}.type: required"
        elif block["type"] == "text" and (not isinstance(block.get("text"), str) or not block["text"]):
            yield f"{place}.{index}.text: text content blocks must be non-empty"


def _cache_marks(body: dict[str, Any]) -> int:
    contents = [body.get("system"), *(message.get("content") for message in body["messages"])]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return sum("cache_control" in block for block in blocks)


def _output_complaints(config: Json) -> Iterator[str]:
    if not isinstance(config, dict):
        yield "output_config: expected an object"
        return
    if config.get("effort") is not None and config["effort"] not in _EFFORTS:
        yield f"output_config.effort: expected one of {', '.join(_EFFORTS)}"
    form = config.get("format")
    if form is None:
        return
    if not isinstance(form, dict) or form.get("type") != "json_schema" or not isinstance(form.get("schema"), dict):
        yield "output_config.format: expected a type of json_schema, and a schema"
        return
    yield from _schema_complaints(form["schema"])


def _schema_complaints(schema: dict[str, Any]) -> Iterator[str]:
    """Look at every part of a schema; what stands in ``enum``, ``const`` and the like is a value and no part."""
    parts: list[tuple[str, Any]] = [("schema", schema)]
    for count, (place, part) in enumerate(parts):
        if count > _MOST_SCHEMAS:
            yield f"output_config.format.schema: more than {_MOST_SCHEMAS} parts"
            return
        if not isinstance(part, dict):
            yield f"output_config.format.{place}: expected an object"
            return
        for name in sorted(_UNSUPPORTED & part.keys()):
            yield f"output_config.format.{place}: {name} is not supported"
        if part.get("minItems", 0) not in (0, 1):
            yield f"output_config.format.{place}: minItems may be 0 or 1"
        if part.get("type") == "object" and part.get("additionalProperties") is not False:
            yield f"output_config.format.{place}: additionalProperties must be false"
        parts += _parts(place, part)


def _parts(place: str, part: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    if "items" in part:
        yield f"{place}.items", part["items"]
    for name in ("properties", "$defs", "definitions"):
        if isinstance(part.get(name), dict):
            yield from ((f"{place}.{name}.{key[:60]}", below) for key, below in part[name].items())
    for name in ("anyOf", "allOf", "oneOf"):
        if isinstance(part.get(name), list):
            yield from ((f"{place}.{name}.{index}", below) for index, below in enumerate(part[name]))
