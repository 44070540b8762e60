"""Make an example value from a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from skillgate.bench.answers import MissingPartError, at

if TYPE_CHECKING:
    from collections.abc import Iterable

_DEEPEST = 12
_MOST_ITEMS = 10
_TEXTS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "someone@example.org",
    "uri": "https://example.org/",
    "ipv4": "192.0.2.1",
}
_NAMED = {  # texts for the last word of a property's name, if its schema has no format
    "timezone": "UTC",
    "tz": "UTC",
    "date": "2026-01-31",
    "time": "12:00",
    "url": "https://example.org/",
    "uri": "https://example.org/",
    "email": "someone@example.org",
    "language": "en",
}
FOLDERS = ("path", "directory", "dir", "folder")
"""The last word of names of properties that may be a directory."""


class Example(NamedTuple):
    """An example, and which properties of it nothing in the schema declares."""

    value: Any
    invented: tuple[str, ...]


def example(schema: Any, *, root: Any = None) -> Any:  # noqa: ANN401 - JSON
    """Return a value that a schema of JSON Schema or OpenAPI most likely allows; None if unknown.

    References are followed within ``root``.
    """
    return _Maker(root, None).make(schema)


def example_input(schema: Any, folder: str | None) -> Example:  # noqa: ANN401 - JSON
    """Return an example of a tool's input; ``folder`` is what a directory is called, if one is known."""
    maker = _Maker(schema, folder)
    value = maker.make(schema)
    return Example(value if isinstance(value, dict) else {}, tuple(dict.fromkeys(maker.invented)))


class _Maker:
    def __init__(self, root: Any, folder: str | None) -> None:  # noqa: ANN401 - JSON
        self._root, self._folder = root, folder
        self.invented: list[str] = []  # the property of the whole value that has the invented part

    def make(self, schema: Any, path: tuple[str, ...] = (), depth: int = 0) -> Any:  # noqa: ANN401 - JSON
        """Return an example of the value at ``path``, which has the names of properties."""
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            self.invented += path[:1]
            return None
        reference = schema.get("$ref")
        if self._root is not None and isinstance(reference, str) and reference.startswith("#"):
            try:
                return self.make(at(self._root, unquote(reference[1:])), path, depth + 1)
            except (MissingPartError, ValueError):
                self.invented += path[:1]
                return None
        values = [schema[key] for key in ("example", "const", "default") if key in schema]
        values += [schema[key][0] for key in ("examples", "enum") if isinstance(schema.get(key), list) and schema[key]]
        if values:
            return values[0]
        for key in ("oneOf", "anyOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                return self.make(schema[key][0], path, depth + 1)
        if isinstance(schema.get("allOf"), list):
            parts = [self.make(part, path, depth + 1) for part in schema["allOf"]]
            return {key: item for part in parts if isinstance(part, Mapping) for key, item in part.items()}
        return self._of_kind(schema, path, depth + 1)

    def _of_kind(self, schema: Mapping[str, Any], path: tuple[str, ...], depth: int) -> Any:  # noqa: ANN401 - JSON
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((word for word in kind if word != "null"), None)
        if kind == "object" or "properties" in schema:
            properties, required = schema.get("properties"), schema.get("required")
            if not isinstance(properties, Mapping) or not isinstance(required, list):
                return {}
            names = [name for name in required if isinstance(name, str)]
            return {name: self.make(properties.get(name), (*path, name), depth) for name in names}
        if kind == "array":
            least = schema.get("minItems", 1)
            item = self.make(schema.get("items"), path, depth) if least else None
            return [item] * min(least, _MOST_ITEMS) if isinstance(least, int) else [item]
        self.invented += path[:1]
        if kind in ("integer", "number"):
            return _number(schema)
        return {"boolean": True, "string": self._text(schema, path)}.get(str(kind))

    def _text(self, schema: Mapping[str, Any], path: Iterable[str]) -> str:
        last = [*path, ""][-2:][0].lower().replace("-", "_").rpartition("_")[2]
        named = self._folder if self._folder is not None and last in FOLDERS else _NAMED.get(last, "text")
        text = _TEXTS.get(str(schema.get("format")), named)
        least = schema.get("minLength")
        return text.ljust(min(least, 1000), "x") if isinstance(least, int) else text


def _number(schema: Mapping[str, Any]) -> float:
    """Return the smallest allowed number if there is one, else 1, or the largest allowed number below it."""
    least, above, most = (schema.get(key) for key in ("minimum", "exclusiveMinimum", "maximum"))
    if isinstance(least, int | float):
        return least
    if isinstance(above, int | float) and not isinstance(above, bool):
        return above + 1
    return most if isinstance(most, int | float) and most < 1 else 1
