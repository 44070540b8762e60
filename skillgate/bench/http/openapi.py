"""Make a skill that calls an operation of an OpenAPI document. Reading is limited, and no other document is read."""
# ruff: noqa: PTH113, PTH118

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from skillgate.bench.documents import is_version, parse_json, read_bytes
from skillgate.bench.formats import FORMATS
from skillgate.bench.mcp.examples import example
from skillgate.bench.starters import CONFIG_JSON, README, SKILL_JSON, TASKS, as_json, program, readme, spec, tasks
from skillgate.errors import UsageError
from skillgate.format import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.bench.starters import Wanted

_MOST_BYTES = 2_000_000
_MOST_DEPTH = 64
_MOST_NODES = 200_000
_MOST_REFERENCES = 2_000
_DEEPEST_REFERENCE = 16
_MOST_LISTED = 40
_MOST_DESCRIPTION = 500  # characters quoted from the document
_METHODS = ("get", "put", "post", "delete", "patch", "options", "head")
_IGNORED_HEADERS = ("accept", "content-type", "authorization")  # by the specification
_LOCAL = "http://127.0.0.1:8080"
_PATH = re.compile(r"/[^\x00-\x20\x7f?#\\]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OWN = ("discriminator", "xml", "externalDocs", "example", "nullable")  # OpenAPI keywords unknown to JSON Schema
_WORDS = """\
A program that calls one operation of an HTTP API per request. The operation is in `operation.json`, the address of
the API is `API_BASE_URL` in `adapter.config.json`, and tokens come from the variables in `passEnv` there. The input of
the first task comes from the document's examples: replace it with real values and the answer you expect."""


def from_document(
    path: str, operation: str | None, wanted: Wanted, *, cwd: str
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return a skill's files by relative path, and notices.

    Args:
        path: The document, relative to ``cwd``.
        operation: The operation; None for the only one.
        wanted: The skill.
        cwd: The absolute working directory.

    Raises:
        UsageError: The document is not valid, or the operation cannot be called.
    """
    notices: list[str] = []
    document = _read(path, cwd=cwd)
    chosen = _choose(document, operation)
    parameters = _parameters(document, chosen, notices)
    body, answer = _body(document, chosen, notices), _answer(document, chosen)
    auth = _auth(document, chosen, wanted, notices)
    config = {
        "env": {"API_BASE_URL": _server(document, chosen, notices)},
        **({"passEnv": [one["variable"] for one in auth]} if auth else {}),
        "timeoutMs": 30_000,
    }
    call = {
        "method": chosen.method.upper(),
        "path": chosen.path,
        "parameters": [
            {"key": one.key, "name": one.name, "in": one.place, "required": one.required, "explode": one.explode}
            for one in parameters
        ],
        "body": None if body is None else "required" if body.required else "optional",
        "auth": auth,
    }
    described = wanted._replace(description=wanted.description or _description(chosen))
    output = {} if answer is None else _json_schema(answer.schema)
    output = output if isinstance(output, dict) else {}
    schemas = {"inputSchema": _input(parameters, body), "outputSchema": output}
    version = _version(document, notices)
    files = {
        SKILL_JSON: as_json(spec(described, "subprocess", "python3 skill.py", version=version, **schemas)),
        CONFIG_JSON: as_json(config),
        "operation.json": as_json(call),
        "skill.py": program("openapi.py.txt"),
        TASKS: as_json(_tasks(wanted, parameters, body, answer, output)),
        README: readme(wanted, _WORDS),
    }
    notices += [f"set {one['variable']} to the API's token before running the skill" for one in auth]
    return files, tuple(notices)


def _version(document: _Document, notices: list[str]) -> str:
    version = document.mapping(document.root.get("info"), "info").get("version")
    if isinstance(version, str) and is_version(version):
        return version
    notices.append(f"info.version {version!r:.80} is not a semantic version; the skill gets version 0.1.0")
    return "0.1.0"


def _description(operation: _Operation) -> str:
    texts = (operation.spec.get("summary"), operation.spec.get("description"))
    text = next((one for one in texts if isinstance(one, str) and one.strip()), "")
    text = " ".join(re.sub(r"[^\S ]|[^ -~\u00a0-\U0010ffff]", " ", text).split())[:_MOST_DESCRIPTION]
    return f"Calls {operation.label[:200]} of an HTTP API" + (f": {text}" if text else ".")


def _input(parameters: tuple[_Parameter, ...], body: _Content | None) -> dict[str, Any]:
    properties = {one.key: _json_schema(one.schema) for one in parameters}
    required = [one.key for one in parameters if one.required]
    if body is not None:
        properties["body"] = _json_schema(body.schema)
        required += ["body"] * body.required
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _tasks(
    wanted: Wanted,
    parameters: tuple[_Parameter, ...],
    body: _Content | None,
    answer: _Content | None,
    schema: Mapping[str, Any],
) -> dict[str, Any]:
    data = {one.key: one.example for one in parameters if one.required or one.example is not None}
    if body is not None and (body.required or body.example is not None):
        data["body"] = body.example
    expected: dict[str, Any] = {"type": "exact", "value": None}
    evaluator: dict[str, Any] = {}
    if answer is not None:
        evaluator = {"evaluator": {"path": ""}}  # the schema describes the whole answer
        expected = {"type": "json_schema", "schema": schema or {"not": {"type": "null"}}}
    task = {
        "id": "first_call",
        "description": "The API answers as its document says.",
        "inputData": data,
        "expectedOutput": expected,
        **evaluator,
        "tags": ["basic"],
    }
    # A task that only checks a shape can be guessed, until a value is expected.
    return tasks(wanted, [task], null=1, echo=1, constant=1)


def _auth(document: _Document, operation: _Operation, wanted: Wanted, notices: list[str]) -> list[dict[str, str]]:
    """Return the tokens of a call, by the first security requirement that can be met."""
    security = operation.spec.get("security", document.root.get("security"))
    choices = [dict(one) for one in security if isinstance(one, dict)] if isinstance(security, list) else []
    if not choices or {} in choices:
        return []
    components = document.mapping(document.root.get("components"), "components")
    schemes = document.mapping(components.get("securitySchemes"), "components.securitySchemes")
    for choice in choices:
        found = [_carried(document.mapping(schemes.get(name), f"securitySchemes.{name}")) for name in choice]
        if all(found):
            stem = f"SKILL_{re.sub(r'[^A-Z0-9]', '_', wanted.id.upper())}_TOKEN"
            known = [one for one in found if one is not None]
            return [{**one, "variable": stem + (f"_{n}" if n > 1 else "")} for n, one in enumerate(known, 1)]
    names = ", ".join(name for choice in choices for name in choice)[:120]
    notices.append(f"{operation.label} requires {names}, which skill.py does not support; add it there")
    return []


def _carried(scheme: Mapping[str, Any]) -> dict[str, str] | None:
    """Return how to send a scheme's token; None if unknown."""
    kind, place, name = scheme.get("type"), scheme.get("in"), scheme.get("name")
    if kind in ("oauth2", "openIdConnect") or (kind == "http" and str(scheme.get("scheme")).lower() == "bearer"):
        return {"in": "header", "name": "Authorization", "prefix": "Bearer "}
    if kind != "apiKey" or not isinstance(name, str):
        return None
    sendable = place == "query" or (place == "header" and _HEADER.fullmatch(name) is not None)
    return {"in": str(place), "name": name, "prefix": ""} if sendable else None


class _Document:
    """An OpenAPI 3 document as JSON, and its path for messages."""

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


def _read(path: str, *, cwd: str) -> _Document:
    """Read a document; raise UsageError if it is unreadable, too large, or not OpenAPI 3."""
    place = os.path.join(cwd, path)
    if not os.path.isfile(place):  # reading a pipe could block forever
        raise UsageError(f"--from-openapi: {path} does not exist, or is not a file")
    too_large = f"{_MOST_BYTES:,} bytes; reduce it to the operations you need"
    data = read_bytes(place, path, _MOST_BYTES, too_large=too_large)
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    root = _plain(parse_json(data, path) if is_json else _yaml(data, path), path, 0, [_MOST_NODES])
    version = root.get("openapi") if isinstance(root, Mapping) else None
    if not isinstance(version, str) or not version.startswith("3."):
        found = f"found {version!r:.80}" if version is not None else "found none"
        raise UsageError(f"{path}: openapi: expected a version 3.0 or 3.1, {found}; convert a Swagger 2 document first")
    return _Document(root, path)


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


class _Operation(NamedTuple):
    """One operation: its lower-case method, its path, and the document's objects for it and its path."""

    method: str
    path: str
    spec: Mapping[str, Any]
    item: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Its name, as in ``GET /orders``."""
        return printable(f"{self.method.upper()} {self.path[:200]}")


class _Parameter(NamedTuple):
    """A parameter."""

    key: str  # name in the skill's input
    name: str  # name in the API
    place: str  # path, query or header
    required: bool
    explode: bool  # whether list items are sent one by one
    schema: Mapping[str, Any]  # references resolved
    example: Any  # for the first task; None if there is none


def _choose(document: _Document, wanted: str | None) -> _Operation:
    """Find the operation by operationId, or method and path; by default the only one."""
    found = list(_operations(document))
    if not found:
        raise UsageError(f"{document.shown}: paths: no operation found")
    if wanted is not None:
        method, _, path = wanted.strip().partition(" ")
        fitting = [one for one in found if one.spec.get("operationId") == wanted]
        fitting = fitting or [one for one in found if (one.method, one.path) == (method.lower(), path.strip())]
        if len(fitting) == 1:
            return fitting[0]
        raise UsageError(f"{document.shown} has no operation {wanted[:120]!r}; it has:\n{_listed(found)}")
    if len(found) > 1:
        raise UsageError(
            f"{document.shown} has {len(found)} operations; choose one with --operation:\n{_listed(found)}"
        )
    return found[0]


def _operations(document: _Document) -> Iterator[_Operation]:
    for path, value in document.mapping(document.root.get("paths"), "paths").items():
        if not _PATH.fullmatch(path):
            raise UsageError(f"{document.shown}: paths: {path[:120]!r} is not a path: expected / and no space, ? or #")
        item = document.mapping(value, f"paths.{path}")
        for method in _METHODS:
            if method in item:
                yield _Operation(method, path, document.mapping(item[method], f"{method.upper()} {path}"), item)


def _listed(found: list[_Operation]) -> str:
    named = ((one.spec.get("operationId"), f'"{one.label}"') for one in found[:_MOST_LISTED])
    lines = [f"  {label} or {name}" if isinstance(name, str) else f"  {label}" for name, label in named]
    more = len(found) - _MOST_LISTED
    return "\n".join([*lines, *([f"  and {more} more"] if more > 0 else [])])


def _parameters(document: _Document, operation: _Operation, notices: list[str]) -> tuple[_Parameter, ...]:
    """List the parameters of an operation and its path; an optional one that cannot be sent becomes a notice."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for source in (operation.item, operation.spec):
        values = source.get("parameters")
        for value in values if isinstance(values, list) else []:
            one = document.mapping(value, f"{operation.label}: parameters")
            found[str(one.get("name")), str(one.get("in"))] = one
    parameters: list[_Parameter] = []
    keys = {"body"}
    for (name, place), one in found.items():
        required = one.get("required") is True or place == "path"
        ignored = place == "header" and name.lower() in _IGNORED_HEADERS
        if ignored or place not in ("path", "query", "header") or (place == "header" and not _HEADER.fullmatch(name)):
            text = f"{operation.label}: the {place} parameter {name[:80]!r} cannot be sent"
            if required and not ignored:
                raise UsageError(f"{document.shown}: {text}, but is required")
            notices.append(f"{text}; left out")
            continue
        key = name if name not in keys else f"{name}_{place}"
        keys.add(key)
        schema = document.schema(one.get("schema") or _of_content(document, one.get("content")) or {})
        schema = schema if isinstance(schema, dict) else {}
        shown = one["example"] if "example" in one else _first(document, one.get("examples"))
        shown = example(schema) if shown is None and (required or "example" in schema) else shown
        explode = one.get("explode") is not False if place == "query" else False
        words = {"description": one["description"]} if isinstance(one.get("description"), str) else {}
        parameters.append(_Parameter(key, name, place, required, explode, {**schema, **words}, shown))
    missing = set(re.findall(r"\{([^{}]*)\}", operation.path)) - {one.name for one in parameters if one.place == "path"}
    if missing:
        raise UsageError(f"{document.shown}: {operation.label}: no parameter for {{{min(missing)}}} in the path")
    return tuple(parameters)


class _Content(NamedTuple):
    """A JSON body: its resolved schema, an example or None, whether it is required."""

    schema: Any
    example: Any
    required: bool


def _body(document: _Document, operation: _Operation, notices: list[str]) -> _Content | None:
    """Return an operation's request body, None if there is none; raise UsageError if it must not be JSON."""
    body = document.mapping(operation.spec.get("requestBody"), f"{operation.label}: requestBody")
    if not body:
        return None
    media = _json_of(document, body.get("content"))
    required = body.get("required") is True
    if media is None:
        text = f"{operation.label}: its body is not JSON ({', '.join(map(str, body.get('content') or ()))[:120]})"
        if required:
            raise UsageError(f"{document.shown}: {text}, but only JSON can be sent")
        notices.append(f"{text}; left out")
        return None
    schema = document.schema(media.get("schema", {}))
    shown = media["example"] if "example" in media else _first(document, media.get("examples"))
    return _Content(schema, example(schema) if shown is None else shown, required)


def _answer(document: _Document, operation: _Operation) -> _Content | None:
    """Return an operation's success response; None if it has none or it is not JSON."""
    responses = document.mapping(operation.spec.get("responses"), f"{operation.label}: responses")
    for status in ("200", "201", "202", "2XX", "default"):
        if status in responses:
            response = document.mapping(responses[status], f"{operation.label}: responses.{status}")
            media = _json_of(document, response.get("content"))
            return None if media is None else _Content(document.schema(media.get("schema", {})), None, required=True)
    return None


def _server(document: _Document, operation: _Operation, notices: list[str]) -> str:
    """Return the base address of paths; a local one, with a notice, if the document has none."""
    for source in (operation.spec, operation.item, document.root):
        servers = source.get("servers")
        if isinstance(servers, list) and servers:
            server = document.mapping(servers[0], "servers[0]")
            url = str(server.get("url", ""))
            for name, variable in document.mapping(server.get("variables"), "servers[0].variables").items():
                value = document.mapping(variable, f"servers[0].variables.{name}").get("default", "")
                url = url.replace(f"{{{name}}}", str(value))
            if _is_address(url):
                return url
            notices.append(
                f"the server {url[:120]!r} is not a complete address; set API_BASE_URL in adapter.config.json"
            )
            return _LOCAL
    notices.append(f"the document names no server, so API_BASE_URL in adapter.config.json is {_LOCAL}; change it there")
    return _LOCAL


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
    return whole and parts.username is None and not re.search(r"[\x00-\x20\x7f{}]", url)


def _json_of(document: _Document, content: object) -> Mapping[str, Any] | None:
    """Return the JSON media type of a body."""
    for kind, media in document.mapping(content, "content").items():
        word = kind.partition(";")[0].strip().lower()
        if word in ("application/json", "*/*", "application/*") or word.endswith("+json"):
            return document.mapping(media, f"content.{kind}")
    return None


def _of_content(document: _Document, content: object) -> object:
    media = _json_of(document, content)
    return None if media is None else media.get("schema")


def _first(document: _Document, examples: object) -> Any:  # noqa: ANN401 - JSON
    """Return the first value of OpenAPI's ``examples``."""
    for name, one in document.mapping(examples, "examples").items():
        return document.mapping(one, f"examples.{name}").get("value")
    return None


def _json_schema(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Convert a schema to JSON Schema 2020-12; property names are not taken for keywords."""
    if isinstance(value, list):
        return [_json_schema(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for key, item in value.items():
        if key in ("properties", "patternProperties", "$defs", "definitions") and isinstance(item, Mapping):
            found[key] = {name: _json_schema(below) for name, below in item.items()}
        elif key in ("enum", "const", "default", "examples", "required"):
            found[key] = item
        elif key not in _OWN and not key.startswith("x-") and (key != "format" or item in FORMATS):
            found[key] = _json_schema(item)  # formats such as int64 are OpenAPI's
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
