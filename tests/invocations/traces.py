"""Spans of OTLP JSON, written by hand."""

from __future__ import annotations

import json
from typing import Any

TRACE = "5b8efff798038103d269b633813fc60c"
BEGAN = 1_777_888_800  # 2026-05-04 10:00:00 UTC
SKILL = {"skillgate.skill.name": "csv-merge"}
LOADS = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Skill"}
AGENT = {"gen_ai.operation.name": "invoke_agent"}


def encoded(value: object) -> dict[str, Any]:
    """Encode an attribute's value as OTLP does."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [encoded(inner) for inner in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": attributes(value)}}
    return {"stringValue": value}


def attributes(said: dict[str, Any]) -> list[dict[str, Any]]:
    """Encode attributes."""
    return [{"key": key, "value": encoded(value)} for key, value in said.items()]


def span(number: int, parent: int | None = None, /, *said: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Write a span of twelve seconds with some attributes; ``more`` replaces its other fields."""
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": "a name",
        "startTimeUnixNano": f"{BEGAN}000000000",
        "endTimeUnixNano": f"{BEGAN + 12}000000000",
        "attributes": attributes({key: value for one in said for key, value in one.items()}),
        "status": {},
        **more,
    }


def chat(number: int, parent: int, given: int | None = None, made: int | None = None, **more: Any) -> dict[str, Any]:
    """Write a call of a model, with its tokens where they are known."""
    usage = {"gen_ai.usage.input_tokens": given, "gen_ai.usage.output_tokens": made}
    known = {key: value for key, value in usage.items() if value is not None}
    return span(number, parent, {"gen_ai.operation.name": "chat"}, known, **more)


def tool(number: int, parent: int, **more: Any) -> dict[str, Any]:
    """Write a call of a tool."""
    return span(number, parent, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Read"}, **more)


def usage(given: int, made: int) -> dict[str, Any]:
    """Write the attributes of tokens."""
    return {"gen_ai.usage.input_tokens": given, "gen_ai.usage.output_tokens": made}


def traces(*spans: object, indent: int | None = None) -> bytes:
    """Write a document with some spans."""
    resource = {"attributes": attributes({"service.name": "agent"})}
    scopes = [{"scope": {"name": "x", "attributes": []}, "spans": list(spans)}]
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]}, indent=indent).encode()
