"""Make an example value from a schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from skillgate.bench.answers import MissingPartError, at

if TYPE_CHECKING:
    from collections.abc import Callable

_DEEPEST = 12
_TEXTS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "someone@example.org",
    "uri": "https://example.org/",
    "ipv4": "192.0.2.1",
}


def example(schema: Any, *, root: Any = None, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """Return a value that a schema of JSON Schema or OpenAPI most likely allows; None if unknown.

    References are followed within ``root``.
    """
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return None
    reference = schema.get("$ref")
    if root is not None and isinstance(reference, str) and reference.startswith("#"):
        try:
            return example(at(root, unquote(reference[1:])), root=root, depth=depth + 1)
        except (MissingPartError, ValueError):
            return None
    inner = partial(example, root=root, depth=depth + 1)
    values = [schema[key] for key in ("example", "const", "default") if key in schema]
    values += [schema[key][0] for key in ("examples", "enum") if isinstance(schema.get(key), list) and schema[key]]
    if values:
        return values[0]
    for key in ("oneOf", "anyOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return inner(schema[key][0])
    if isinstance(schema.get("allOf"), list):
        parts = [inner(part) for part in schema["allOf"]]
        return {key: item for part in parts if isinstance(part, Mapping) for key, item in part.items()}
    return _of_kind(schema, inner)


def _of_kind(schema: Mapping[str, Any], inner: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - JSON
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((word for word in kind if word != "null"), None)
    if kind == "object" or "properties" in schema:
        return _object(schema, inner)
    if kind == "array":
        return [inner(schema.get("items"))] if schema.get("minItems", 1) else []
    if kind in ("integer", "number"):
        least = schema.get("minimum")
        return least if isinstance(least, int | float) else 1
    return {"boolean": True, "string": _text(schema)}.get(str(kind))


def _object(schema: Mapping[str, Any], inner: Callable[[Any], Any]) -> dict[str, Any]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return {}
    return {name: inner(properties.get(name)) for name in required if isinstance(name, str)}


def _text(schema: Mapping[str, Any]) -> str:
    text = _TEXTS.get(str(schema.get("format")), "text")
    least = schema.get("minLength")
    return text.ljust(min(least, 1000), "x") if isinstance(least, int) else text
