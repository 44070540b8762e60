"""Read OpenAPI documents and the operations in them. Reading is limited, and no other document is read."""
# ruff: noqa: PTH113, PTH118

from __future__ import annotations

import itertools
import json
import os
import re
import threading
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from skillgate.bench.documents import parse_json, read_bytes
from skillgate.bench.formats import FORMATS
from skillgate.bench.http.messages import HEADER, OF_TRANSPORT
from skillgate.bench.mcp.examples import example
from skillgate.bench.ports import Call, Surroundings
from skillgate.errors import IncompleteError, UsageError
from skillgate.format import printable
from skillgate.model.benchmark import AdapterConfig, AdapterType, Executable, Expected, HttpRequest, Runnable, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.bench.request import Permissions

_MOST_BYTES = 2_000_000
_MOST_DEPTH = 64
_MOST_NODES = 200_000
_MOST_REFERENCES = 2_000
_DEEPEST_REFERENCE = 16
_MOST_LISTED = 40
TIMEOUT_S = 30.0
_METHODS = ("get", "put", "post", "delete", "patch", "options", "head")
_IGNORED_HEADERS = ("accept", "content-type", "authorization")  # by the specification
_PATH = re.compile(r"/[^\x00-\x20\x7f?#\\]*")
_OWN = ("discriminator", "xml", "externalDocs", "example", "nullable")  # OpenAPI keywords unknown to JSON Schema
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_VALUES = ("enum", "const", "default", "examples", "required", "dependentRequired")
_FOR_PEOPLE = ("title", "description", "examples", "default", "$comment")
# Without all of the schemas in them, these would forbid more.
_STRICTER_IF_CUT = ("not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems", "maxContains")
_FORM = "application/x-www-form-urlencoded"


class Document:
    """An OpenAPI 3 document as JSON, and its path or address for messages."""

    def __init__(self, root: Mapping[str, Any], shown: str) -> None:
        self.root = root
        self.shown = shown
        self._followed = self._copied = 0

    def mapping(self, value: object, where: str) -> Mapping[str, Any]:
        """Return an object, resolving references; an empty one for None.

        Raises:
            UsageError: The value is not an object, or the reference is invalid.
        """
        for _ in range(_DEEPEST_REFERENCE):
            if value is None:
                return {}
            if not isinstance(value, Mapping):
                raise UsageError(f"{self.shown}: {where}: expected an object, found {str(value)[:80]!r}")
            if not isinstance(value.get("$ref"), str):
                return value
            value = self._target(value["$ref"])
        raise UsageError(f"{self.shown}: {where}: circular references")

    def schema(self, value: object, above: tuple[str, ...] = ()) -> Any:  # noqa: ANN401 - JSON
        """Return a schema with references replaced; a recursive one allows anything.

        Args:
            value: The schema, or a part of one.
            above: The references that lead to it.

        Raises:
            UsageError: A reference leads out of the document or is broken, or there are too many.
        """
        self._copied += 1
        if self._copied > _MOST_NODES:
            raise UsageError(f"{self.shown}: the operation's schemas have more than {_MOST_NODES:,} values")
        if isinstance(value, list):
            return [self.schema(item, above) for item in value]
        if not isinstance(value, Mapping):
            return value
        reference = value.get("$ref")
        if isinstance(reference, str):
            if reference in above or len(above) >= _DEEPEST_REFERENCE:
                return {}
            return self.schema(self._target(reference), (*above, reference))
        return {key: self.schema(item, above) for key, item in value.items()}

    def _target(self, reference: str) -> object:
        self._followed += 1
        if self._followed > _MOST_REFERENCES:
            raise UsageError(f"{self.shown}: the operation follows more than {_MOST_REFERENCES:,} references")
        if not reference.startswith("#/"):
            hint = "only references within the document (#/…) are supported; bundle the document first"
            raise UsageError(f"{self.shown}: $ref {reference[:120]!r}: {hint}")
        place: object = self.root
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(place, list) and key.isascii() and key.isdigit() and int(key[:6]) < len(place):
                place = place[int(key[:6])]
            elif isinstance(place, Mapping) and key in place:
                place = place[key]
            else:
                raise UsageError(f"{self.shown}: $ref {reference[:120]!r} does not exist")
        return place


def read(path: str, *, cwd: str) -> Document:
    """Read a document; raise UsageError if it is unreadable, too large, or not OpenAPI 3."""
    place = os.path.join(cwd, path)
    if not os.path.isfile(place):  # reading a pipe could block forever
        raise UsageError(f"--from-openapi: {path} does not exist, or is not a file")
    too_large = f"{_MOST_BYTES:,} bytes; reduce it to the operations you need"
    return _document(read_bytes(place, path, _MOST_BYTES, too_large=too_large), path)


def fetched(url: str, permissions: Permissions) -> Document:
    """Fetch a document with the rules for HTTP APIs: allowed addresses, no redirect to another host, limits."""
    from skillgate.bench.adapters.http import open_adapter  # imports a package of an extra

    nothing: frozenset[str] = frozenset()
    surroundings = Surroundings(
        spawner=None,
        environ={},
        allow_env=nothing,
        allow_host=permissions.hosts,
        guarded=permissions.guarded,
        served={},
        stop=threading.Event(),
    )
    executable = Executable(id="d", name="d", version="0.1.0", adapter_type=AdapterType.HTTP, entrypoint=url)
    config = AdapterConfig(request=HttpRequest())
    shown = printable(url)[:120]
    skill = Runnable(spec=executable, config=config, root="/", shown="--from-openapi", digest="", key="d")
    task = Task(id="d", expected_output=Expected())
    reply = open_adapter(skill, surroundings).invoke(Call(task, {}, TIMEOUT_S, 1))
    if reply.kind is not None:
        raise IncompleteError(f"--from-openapi: {shown}: {reply.error}")
    body = reply.output["body"]
    if isinstance(body, str):
        data = body.encode("utf-8", "replace")
        if len(data) > _MOST_BYTES:
            raise UsageError(f"{shown} is larger than {_MOST_BYTES:,} bytes; reduce it to the operations you need")
        return _document(data, shown)
    return _checked(body, shown)


def _document(data: bytes, shown: str) -> Document:
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    return _checked(parse_json(data, shown) if is_json else _yaml(data, shown), shown)


def _checked(value: object, shown: str) -> Document:
    root = _plain(value, shown, 0, [_MOST_NODES])
    version = root.get("openapi") if isinstance(root, Mapping) else None
    if not isinstance(version, str) or not version.startswith("3."):
        found = f"found {version!r:.80}" if version is not None else "found none"
        raise UsageError(
            f"{shown}: openapi: expected a version 3.0 or 3.1, {found}; convert a Swagger 2 document first"
        )
    return Document(root, shown)


def _yaml(data: bytes, path: str) -> object:
    from skillgate.model.yaml_bounded import Limits, YamlProblem, load_mapping  # imports yaml

    limits = Limits(bytes=_MOST_BYTES, depth=_MOST_DEPTH, nodes=_MOST_NODES, aliases=200)
    try:
        return load_mapping(data.decode("utf-8-sig"), limits=limits).values
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 (byte {error.start})") from None
    except YamlProblem as problem:
        raise UsageError(f"{path}:{problem.line}:{problem.column}: {problem.message}") from None


def _plain(value: object, path: str, depth: int, left: list[int]) -> Any:  # noqa: ANN401 - JSON
    """Convert YAML values to JSON: keys (such as ``200:``) and dates become strings."""
    left[0] -= 1
    if depth > _MOST_DEPTH or left[0] < 0:
        limit = f"{_MOST_DEPTH} levels" if depth > _MOST_DEPTH else f"{_MOST_NODES:,} values"
        raise UsageError(f"{path} has more than {limit}; reduce it to the operations you need")
    if isinstance(value, Mapping):
        return {str(key): _plain(item, path, depth + 1, left) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, path, depth + 1, left) for item in value]
    if isinstance(value, date):  # datetime is a subclass
        return value.isoformat()
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None  # not representable in JSON
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


class Operation(NamedTuple):
    """One operation: its lower-case method, its path, and the document's objects for it and its path."""

    method: str
    path: str
    spec: Mapping[str, Any]
    item: Mapping[str, Any]
    security: tuple[Mapping[str, Any], ...]  # one of these is required; empty for none

    @property
    def is_secured(self) -> bool:
        """Whether a call needs a token."""
        return bool(self.security) and {} not in self.security

    @property
    def label(self) -> str:
        """Its name, as in ``GET /orders``."""
        return printable(f"{self.method.upper()} {self.path[:200]}")


class Parameter(NamedTuple):
    """A parameter."""

    key: str  # name in the skill's input
    name: str  # name in the API
    place: str  # path, or the key of the request that has it
    required: bool
    schema: Mapping[str, Any]  # references resolved
    example: Any  # for the first task; None if there is none


def selected(document: Document, wanted: tuple[str, ...]) -> list[Operation]:
    """Find operations by operationId, or method and path; by default the only one."""
    found = list(_operations(document))
    if not found:
        raise UsageError(f"{document.shown}: paths: no operation found")
    if not wanted and len(found) > 1:
        words = "choose some with --operation"
        raise UsageError(f"{document.shown} has {len(found)} operations; {words}:\n{_listed(found)}")
    chosen = list(found) if not wanted else []
    for word in dict.fromkeys(wanted):
        method, _, path = word.strip().partition(" ")
        fitting = [one for one in found if one.spec.get("operationId") == word]
        fitting = fitting or [one for one in found if (one.method, one.path) == (method.lower(), path.strip())]
        if len(fitting) != 1:
            raise UsageError(f"{document.shown} has no operation {word[:120]!r}; it has:\n{_listed(found)}")
        chosen += fitting
    return chosen


def _operations(document: Document) -> Iterator[Operation]:
    for path, value in document.mapping(document.root.get("paths"), "paths").items():
        if not _PATH.fullmatch(path):
            raise UsageError(f"{document.shown}: paths: {path[:120]!r} is not a path: expected / and no space, ? or #")
        item = document.mapping(value, f"paths.{path}")
        for method in _METHODS:
            if method in item:
                one = document.mapping(item[method], f"{method.upper()} {path}")
                security = one.get("security", document.root.get("security"))
                security = security if isinstance(security, list) else []
                choices = tuple(choice for choice in security if isinstance(choice, dict))
                yield Operation(method, path, one, item, choices)


def _listed(found: list[Operation]) -> str:
    named = ((one.spec.get("operationId"), f'"{one.label}"') for one in found[:_MOST_LISTED])
    lines = [f"  {label} or {name}" if isinstance(name, str) else f"  {label}" for name, label in named]
    more = len(found) - _MOST_LISTED
    return "\n".join([*lines, *([f"  and {more} more"] if more > 0 else [])])


def parameters(document: Document, operation: Operation, notices: list[str]) -> Iterator[Parameter]:
    """Yield the parameters of an operation and its path; an optional one that cannot be sent becomes a notice."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for source in (operation.item, operation.spec):
        values = source.get("parameters")
        for value in values if isinstance(values, list) else []:
            one = document.mapping(value, f"{operation.label}: parameters")
            found[str(one.get("name")), str(one.get("in"))] = one
    keys: set[str] = set()
    for (name, place), one in found.items():
        required = one.get("required") is True or place == "path"
        ignored = place == "header" and name.lower() in _IGNORED_HEADERS
        is_header = HEADER.fullmatch(name) is not None and name.lower() not in OF_TRANSPORT
        if ignored or place not in ("path", "query", "header") or (place == "header" and not is_header):
            text = f"{operation.label}: the {place} parameter {name[:80]!r} cannot be sent"
            if required and not ignored:
                raise UsageError(f"{document.shown}: {text}, but is required")
            notices.append(f"{text}; left out")
            continue
        schema = document.schema(one.get("schema") or _of_content(document, one.get("content")) or {})
        schema = schema if isinstance(schema, dict) else {}
        shown = one["example"] if "example" in one else _first(document, one.get("examples"))
        shown = example(schema) if shown is None and (required or "example" in schema) else shown
        if place == "query" and one.get("explode") is False and isinstance(shown, list):
            shown = ",".join(map(str, shown))
            schema = {"type": "string", "description": "items with commas between them"}
        words = {"description": one["description"]} if isinstance(one.get("description"), str) else {}
        where = "headers" if place == "header" else place
        yield Parameter(_key(name, place, keys), name, where, required, {**schema, **words}, shown)
    named = {name for name, place in found if place == "path"}
    missing = set(re.findall(r"\{([^{}]*)\}", operation.path)) - named
    if missing:
        raise UsageError(f"{document.shown}: {operation.label}: no parameter for {{{min(missing)}}} in the path")


def _key(name: str, place: str, keys: set[str]) -> str:
    """Return a name for a value, and remember it: that of the API if no other value has it and requests can have it."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:60] or "value"
    plain = f"_{plain}" if plain[0].isdigit() else plain
    numbered = (f"{plain}_{number}" for number in itertools.count(2))
    key = next(one for one in itertools.chain((plain, f"{plain}_{place}"), numbered) if one not in keys)
    keys.add(key)
    return key


def body_of(
    document: Document, operation: Operation, keys: set[str], notices: list[str]
) -> tuple[dict[str, Any], list[Parameter]]:
    """Return an empty form if the body is one, and the values of the body.

    Raises:
        UsageError: A body is required, and is no JSON, form or text.
    """
    body = document.mapping(operation.spec.get("requestBody"), f"{operation.label}: requestBody")
    if not body:
        return {}, []
    content, required = body.get("content"), body.get("required") is True
    for place, fits in (("json", is_json), ("form", _FORM.__eq__), ("text", "text/plain".__eq__)):
        media = media_of(document, content, fits)
        if media is None:
            continue
        schema = document.schema(media.get("schema", {}))
        schema = schema if isinstance(schema, dict) else {}
        shown = media["example"] if "example" in media else _first(document, media.get("examples"))
        shown = example(schema) if shown is None else shown
        if place != "form":
            return {}, [Parameter(_key("body", "json", keys), "body", place, required, schema, shown)]
        return _fields(schema, shown, keys, is_required=required)
    kinds = ", ".join(map(str, content)) if isinstance(content, Mapping) else ""
    text = f"{operation.label}: its body is not JSON, a form or text ({kinds[:120]})"
    if required:
        raise UsageError(f"{document.shown}: {text}; nothing else can be sent")
    notices.append(f"{text}; left out")
    return {}, []


def _fields(
    schema: Mapping[str, Any], shown: object, keys: set[str], *, is_required: bool
) -> tuple[dict[str, Any], list[Parameter]]:
    """Return the fields of a form."""
    properties, required = schema.get("properties"), schema.get("required")
    needed = required if isinstance(required, list) and is_required else []
    shown = shown if isinstance(shown, Mapping) else {}
    fields = []
    for name, value in properties.items() if isinstance(properties, Mapping) else ():
        one = value if isinstance(value, dict) else {}
        sample = shown.get(name, example(one) if name in needed else None)
        fields.append(Parameter(_key(name, "form", keys), name, "form", name in needed, one, sample))
    return {"form": {one.name: f"{{{{{one.key}{'' if one.required else '?'}}}}}" for one in fields}}, fields


def named_server(document: Document, operation: Operation) -> str:
    """Return the address that a document names for an operation; ``""`` if none."""
    for source in (operation.spec, operation.item, document.root):
        servers = source.get("servers")
        if isinstance(servers, list) and servers:
            server = document.mapping(servers[0], "servers[0]")
            url = str(server.get("url", ""))
            for name, variable in document.mapping(server.get("variables"), "servers[0].variables").items():
                value = document.mapping(variable, f"servers[0].variables.{name}").get("default", "")
                url = url.replace(f"{{{name}}}", str(value))
            return url
    return ""


def is_address(url: str) -> bool:
    """Whether text is a complete http(s) address without user, query and fragment."""
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
    return whole and parts.username is None and not re.search(r"[\x00-\x20\x7f{}?#\\]", url)


def is_json(word: str) -> bool:
    """Whether a lower-case media type is JSON, or may be."""
    return word in ("application/json", "*/*", "application/*") or word.endswith("+json")


def media_of(document: Document, content: object, fits: Callable[[str], bool]) -> Mapping[str, Any] | None:
    """Return the first media type of a body that fits."""
    for kind, media in document.mapping(content, "content").items():
        if fits(kind.partition(";")[0].strip().lower()):
            return document.mapping(media, f"content.{kind}")
    return None


def _of_content(document: Document, content: object) -> object:
    media = media_of(document, content, is_json)
    return None if media is None else media.get("schema")


def _first(document: Document, examples: object) -> Any:  # noqa: ANN401 - JSON
    """Return the first value of OpenAPI's ``examples``."""
    for name, one in document.mapping(examples, "examples").items():
        return document.mapping(one, f"examples.{name}").get("value")
    return None


def json_schema(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Convert a schema to JSON Schema 2020-12; property names are not taken for keywords."""
    if isinstance(value, list):
        return [json_schema(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for key, item in value.items():
        if key in _NAMED and isinstance(item, Mapping):
            found[key] = {name: json_schema(below) for name, below in item.items()}
        elif key in _VALUES:
            found[key] = item
        elif key not in _OWN and not key.startswith("x-") and (key != "format" or item in FORMATS):
            found[key] = json_schema(item)  # formats such as int64 are OpenAPI's
    for word, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        flag = found.get(word)
        if isinstance(flag, bool):  # in OpenAPI 3.0 a flag of the limit; in JSON Schema the limit itself
            del found[word]
            if flag and limit in found:
                found[word] = found.pop(limit)
    return _nullable(found) if value.get("nullable") is True else found


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if isinstance(kind, str) and "enum" not in schema:
        return {**schema, "type": [kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def brief(schema: Any, most: int) -> Any:  # noqa: ANN401 - JSON
    """Return a schema as JSON of about ``most`` characters: what is nested deeply may then be anything.

    A shorter schema never forbids what the whole one allows.
    """
    for levels in (8, 5, 3, 2, 1):
        if len(json.dumps(schema)) <= most:
            break
        schema = _cut(schema, levels)
    return schema


def _cut(schema: Any, levels: int) -> Any:  # noqa: ANN401 - JSON
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {}
    for key, item in schema.items() if levels else ():
        if key in _FOR_PEOPLE or key in _STRICTER_IF_CUT or (key == "oneOf" and "anyOf" in schema):
            continue
        if key in _NAMED and isinstance(item, dict):
            found[key] = {name: _cut(below, levels - 1) for name, below in item.items()}
        elif key in ("allOf", "anyOf", "oneOf", "prefixItems") and isinstance(item, list):
            found["anyOf" if key == "oneOf" else key] = [_cut(below, levels - 1) for below in item]
        else:
            found[key] = item if key in _VALUES else _cut(item, levels - 1)
    return found
