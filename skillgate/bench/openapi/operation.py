"""Chooses an operation of an OpenAPI document and says what a call of it is made of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from skillgate.bench.openapi.schemas import example
from skillgate.errors import UsageError
from skillgate.model.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.bench.openapi.document import Document

_METHODS = ("get", "put", "post", "delete", "patch", "options", "head")
_MOST_LISTED = 40
_IGNOREDHEADERS = ("accept", "content-type", "authorization")  # as the specification has it
_LOCAL = "http://127.0.0.1:8080"
_PATH = re.compile(r"/[^\x00-\x20\x7f?#\\]*")
HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Operation(NamedTuple):
    """One operation: its method in lower case, its path, what the document says of it and of its path."""

    method: str
    path: str
    spec: Mapping[str, Any]
    item: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Name it, as in ``GET /orders``."""
        return printable(f"{self.method.upper()} {self.path[:200]}")


class Parameter(NamedTuple):
    """One parameter.

    Attributes:
        key: what the skill's input calls it.
        name: what the API calls it.
        place: ``path``, ``query`` or ``header``.
        required: whether a call needs it.
        explode: whether the items of a list are sent one by one.
        schema: its schema, references resolved.
        example: a value for the first task; None where there is none to be had.
    """

    key: str
    name: str
    place: str
    required: bool
    explode: bool
    schema: Mapping[str, Any]
    example: Any


def choose(document: Document, wanted: str | None) -> Operation:
    """Find the operation that is meant, by its operationId or by method and path; the only one where none is named.

    Raises:
        UsageError: there is none, or several and none was named; with their names.
    """
    found = list(_operations(document))
    if not found:
        raise UsageError(f"{document.shown}: paths: there is no operation")
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


def _operations(document: Document) -> Iterator[Operation]:
    for path, value in document.mapping(document.root.get("paths"), "paths").items():
        if not _PATH.fullmatch(path):
            raise UsageError(f"{document.shown}: paths: {path[:120]!r} is no path: expected / and no blank, ? or #")
        item = document.mapping(value, f"paths.{path}")
        for method in _METHODS:
            if method in item:
                yield Operation(method, path, document.mapping(item[method], f"{method.upper()} {path}"), item)


def _listed(found: list[Operation]) -> str:
    named = ((one.spec.get("operationId"), f'"{one.label}"') for one in found[:_MOST_LISTED])
    lines = [f"  {label} or {name}" if isinstance(name, str) else f"  {label}" for name, label in named]
    more = len(found) - _MOST_LISTED
    return "\n".join([*lines, *([f"  and {more} more"] if more > 0 else [])])


def parameters_of(document: Document, operation: Operation, notices: list[str]) -> tuple[Parameter, ...]:
    """List the parameters of an operation, those of its path included; what cannot be sent is noted.

    Raises:
        UsageError: one that a call needs cannot be sent.
    """
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for source in (operation.item, operation.spec):
        values = source.get("parameters")
        for value in values if isinstance(values, list) else []:
            one = document.mapping(value, f"{operation.label}: parameters")
            found[str(one.get("name")), str(one.get("in"))] = one
    parameters: list[Parameter] = []
    keys = {"body"}
    for (name, place), one in found.items():
        required = one.get("required") is True or place == "path"
        ignored = place == "header" and name.lower() in _IGNOREDHEADERS
        if ignored or place not in ("path", "query", "header") or (place == "header" and not HEADER.fullmatch(name)):
            told = f"{operation.label}: the {place} parameter {name[:80]!r} cannot be sent"
            if required and not ignored:
                raise UsageError(f"{document.shown}: {told}, and every call needs it")
            notices.append(f"{told}, and is left out")
            continue
        key = name if name not in keys else f"{name}_{place}"
        keys.add(key)
        schema = document.schema(one.get("schema") or _of_content(document, one.get("content")) or {})
        schema = schema if isinstance(schema, dict) else {}
        shown = one["example"] if "example" in one else _first(document, one.get("examples"))
        shown = example(schema) if shown is None and (required or "example" in schema) else shown
        explode = one.get("explode") is not False if place == "query" else False
        words = {"description": one["description"]} if isinstance(one.get("description"), str) else {}
        parameters.append(Parameter(key, name, place, required, explode, {**schema, **words}, shown))
    missing = set(re.findall(r"\{([^{}]*)\}", operation.path)) - {one.name for one in parameters if one.place == "path"}
    if missing:
        raise UsageError(f"{document.shown}: {operation.label}: no parameter for {{{min(missing)}}} in the path")
    return tuple(parameters)


class Content(NamedTuple):
    """A body of JSON: its schema, references resolved, an example or None, whether it is required."""

    schema: Any
    example: Any
    required: bool


def body_of(document: Document, operation: Operation, notices: list[str]) -> Content | None:
    """Give the body that an operation takes; None where it takes none.

    Raises:
        UsageError: it needs one that is no JSON.
    """
    body = document.mapping(operation.spec.get("requestBody"), f"{operation.label}: requestBody")
    if not body:
        return None
    media = _json_of(document, body.get("content"))
    required = body.get("required") is True
    if media is None:
        told = f"{operation.label}: its body is no JSON ({', '.join(map(str, body.get('content') or ()))[:120]})"
        if required:
            raise UsageError(f"{document.shown}: {told}, and only JSON can be sent")
        notices.append(f"{told}, and is left out")
        return None
    schema = document.schema(media.get("schema", {}))
    shown = media["example"] if "example" in media else _first(document, media.get("examples"))
    return Content(schema, example(schema) if shown is None else shown, required)


def answer_of(document: Document, operation: Operation) -> Content | None:
    """Give what an operation answers when it went well; None where it answers nothing, or nothing that is JSON."""
    responses = document.mapping(operation.spec.get("responses"), f"{operation.label}: responses")
    for status in ("200", "201", "202", "2XX", "default"):
        if status in responses:
            response = document.mapping(responses[status], f"{operation.label}: responses.{status}")
            media = _json_of(document, response.get("content"))
            return None if media is None else Content(document.schema(media.get("schema", {})), None, required=True)
    return None


def server_of(document: Document, operation: Operation, notices: list[str]) -> str:
    """Give the address that paths are joined to; one of this machine, with a notice, where the document has none."""
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
            notices.append(f"the server {url[:120]!r} is no whole address; set API_BASE_URL in adapter.config.json")
            return _LOCAL
    notices.append(f"the document names no server; {_LOCAL} stands for it: API_BASE_URL in adapter.config.json")
    return _LOCAL


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
    return whole and parts.username is None and not re.search(r"[\x00-\x20\x7f{}]", url)


def _json_of(document: Document, content: object) -> Mapping[str, Any] | None:
    """Give the media type of JSON among those of a body."""
    for kind, media in document.mapping(content, "content").items():
        word = kind.partition(";")[0].strip().lower()
        if word in ("application/json", "*/*", "application/*") or word.endswith("+json"):
            return document.mapping(media, f"content.{kind}")
    return None


def _of_content(document: Document, content: object) -> object:
    media = _json_of(document, content)
    return None if media is None else media.get("schema")


def _first(document: Document, examples: object) -> Any:  # noqa: ANN401 - JSON
    """Give the first value of OpenAPI's ``examples``."""
    for name, one in document.mapping(examples, "examples").items():
        return document.mapping(one, f"examples.{name}").get("value")
    return None
