"""Schemas of OpenAPI 3.0 in the words of JSON Schema, and an example of what one allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgate.bench.formats import FORMATS

_OWN = ("discriminator", "xml", "externalDocs", "example", "nullable")  # of OpenAPI, unknown to JSON Schema
_TEXTS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "someone@example.org",
    "uri": "https://example.org/",
    "ipv4": "192.0.2.1",
}
_DEEPEST = 12


def json_schema(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Give a schema in the words of JSON Schema 2020-12; names of properties are not taken for words of schemas."""
    if isinstance(value, list):
        return [json_schema(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for key, item in value.items():
        if key in ("properties", "patternProperties", "$defs", "definitions") and isinstance(item, Mapping):
            found[key] = {name: json_schema(below) for name, below in item.items()}
        elif key in ("enum", "const", "default", "examples", "required"):
            found[key] = item
        elif key not in _OWN and not key.startswith("x-") and (key != "format" or item in FORMATS):
            found[key] = json_schema(item)  # formats such as int64 are of OpenAPI too
    for word, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        flag = found.get(word)
        if isinstance(flag, bool):  # 3.0 marks the limit; JSON Schema has it here
            del found[word]
            if flag and limit in found:
                found[word] = found.pop(limit)
    return _nullable(found) if value.get("nullable") is True else found


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if isinstance(kind, str) and "enum" not in schema:
        return {**schema, "type": [kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def example(schema: Any, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """Give a value that a schema of OpenAPI, references resolved, most likely allows; None where nobody can tell."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return None
    given = [schema[key] for key in ("example", "const", "default") if key in schema]
    given += [schema[key][0] for key in ("examples", "enum") if isinstance(schema.get(key), list) and schema[key]]
    if given:
        return given[0]
    for key in ("oneOf", "anyOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return example(schema[key][0], depth + 1)
    if isinstance(schema.get("allOf"), list):
        parts = [example(part, depth + 1) for part in schema["allOf"]]
        return {key: item for part in parts if isinstance(part, Mapping) for key, item in part.items()}
    return _of_kind(schema, depth)


def _of_kind(schema: Mapping[str, Any], depth: int) -> Any:  # noqa: ANN401 - JSON
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((word for word in kind if word != "null"), None)
    if kind == "object" or "properties" in schema:
        return _object(schema, depth)
    if kind == "array":
        return [example(schema.get("items"), depth + 1)] if schema.get("minItems", 1) else []
    if kind in ("integer", "number"):
        least = schema.get("minimum")
        return least if isinstance(least, int | float) else 1
    return {"boolean": True, "string": _text(schema)}.get(str(kind))


def _object(schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return {}
    return {name: example(properties.get(name), depth + 1) for name in required if isinstance(name, str)}


def _text(schema: Mapping[str, Any]) -> str:
    text = _TEXTS.get(str(schema.get("format")), "text")
    least = schema.get("minLength")
    return text.ljust(min(least, 1000), "x") if isinstance(least, int) else text
