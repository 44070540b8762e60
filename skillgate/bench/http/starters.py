"""Write a skill for operations of an HTTP API, and starter tasks from its OpenAPI document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from skillgate.bench.addresses import check_target, origin_of
from skillgate.bench.documents import decoded, is_version, refuse
from skillgate.bench.http.messages import HEADER, OF_TRANSPORT, check_request
from skillgate.bench.http.openapi import (
    TIMEOUT_S,
    body_of,
    brief,
    fetched,
    is_address,
    is_json,
    json_schema,
    media_of,
    named_server,
    parameters,
    read,
    selected,
)
from skillgate.bench.starters import (
    CONFIG_JSON,
    README,
    SKILL_JSON,
    TASKS,
    as_json,
    checked_benchmark,
    readme,
    spec,
)
from skillgate.errors import UsageError
from skillgate.format import printable
from skillgate.model.benchmark import AdapterConfig, Executable, HttpRequest, Runnable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.bench.http.openapi import Document, Operation, Parameter
    from skillgate.bench.request import Permissions
    from skillgate.bench.starters import Wanted

_MOST_DESCRIPTION = 500  # characters quoted from the document
_MOST_SCHEMA = 4_000  # characters of the schema of an answer
_LOCAL = "http://127.0.0.1:8080"
_WORDS = """\
An HTTP API. Its address is `entrypoint` in `skill.json`, and a request is `request` in `adapter.config.json` or in a
task. The tasks were made from an OpenAPI document: replace their input and what they expect with what you know to be
right. If one task needs what another creates, run them with `--concurrency 1`, or write a task with steps."""


class OpenApiSource(NamedTuple):
    """Which document to read, and what to take from it."""

    document: str  # a path, or an http(s) address
    operations: tuple[str, ...]  # each an operationId, or method and path; empty for the only one
    server: str | None  # address of the API; None: that of the document
    token_env: str | None  # variable with the token; None: one that is named after the skill


def from_document(
    source: OpenApiSource, wanted: Wanted, permissions: Permissions, *, cwd: str
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return a skill's files by relative path, and notices.

    Args:
        source: What to read.
        wanted: The skill.
        permissions: Which hosts the document may come from.
        cwd: The absolute working directory.

    Raises:
        UsageError: The document is not valid, or an operation cannot be called.
        IncompleteError: The document cannot be fetched.
    """
    notices: list[str] = []
    if source.server is not None and not is_address(source.server):
        raise UsageError(f"--server: expected an address such as https://example.org/v1, found {source.server[:99]!r}")
    is_url = re.match(r"https?://", source.document, re.IGNORECASE) is not None
    document = fetched(source.document, permissions) if is_url else read(source.document, cwd=cwd)
    calls = [_call_of(document, one, notices) for one in selected(document, source.operations)]
    auth = _auth(document, calls, source.token_env or _variable(wanted), notices)
    server = source.server or _server(document, calls, source.document if is_url else None, notices)
    config: dict[str, Any] = {**auth, "timeoutMs": int(TIMEOUT_S * 1000)}
    first = calls[0]
    about = _about(document, calls)
    described = wanted._replace(description=wanted.description or about)
    changes: dict[str, Any] = {"tags": ["openapi"], "version": _version(document, notices)}
    if len(calls) == 1:
        config["request"] = first.request
        changes |= {"inputSchema": first.input_schema, "outputSchema": first.output_schema or {}}
    skill = spec(described, "http", server, **changes)
    if len(calls) > 1:
        del skill["inputSchema"], skill["outputSchema"]
    _check(skill, config, calls, document.shown, cwd)
    tasks = [task for call in calls for task in _tasks(call, is_only=len(calls) == 1, has_token=bool(auth))]
    files = {
        SKILL_JSON: as_json(skill),
        CONFIG_JSON: as_json(config),
        TASKS: as_json(checked_benchmark(wanted, _with_own_ids(tasks))),
        README: readme(wanted, _WORDS + (f"\n\nSet `{auth['authTokenEnvKey']}` to the API's token." if auth else "")),
    }
    if auth:
        notices.append(f"set {auth['authTokenEnvKey']} to the API's token before running the skill")
    return files, tuple(notices)


def _check(skill: Mapping[str, Any], config: Mapping[str, Any], calls: list[_Call], shown: str, cwd: str) -> None:
    """Check what was taken from the document as if its author had written the files."""
    for call in calls:
        request = decoded(HttpRequest, call.request, shown)
        refuse(f"{shown}: {call.operation.label}: {line}" for line in check_request(request))
    executable, settings = decoded(Executable, skill, shown), decoded(AdapterConfig, config, shown)
    check_target(Runnable(spec=executable, config=settings, root=cwd, shown=shown, digest="", key=executable.id))


def _variable(wanted: Wanted) -> str:
    return f"SKILL_{re.sub(r'[^A-Z0-9]', '_', wanted.id.upper())}_TOKEN"


def _version(document: Document, notices: list[str]) -> str:
    version = document.mapping(document.root.get("info"), "info").get("version")
    if isinstance(version, str) and is_version(version):
        return version
    notices.append(f"info.version {version!r:.80} is not a semantic version; the skill gets version 0.1.0")
    return "0.1.0"


def _about(document: Document, calls: list[_Call]) -> str:
    first, info = calls[0].operation, document.mapping(document.root.get("info"), "info")
    if len(calls) > 1:
        return f"Calls {len(calls)} operations of an HTTP API" + _quoted(info.get("title"))
    text = next((one for key in ("summary", "description") if (one := _quoted(first.spec.get(key)))), "")
    return f"Calls {first.label[:200]} of an HTTP API" + text


def _quoted(value: object) -> str:
    text = value if isinstance(value, str) else ""
    text = " ".join(re.sub(r"[^\S ]|[^ -~\u00a0-\U0010ffff]", " ", text).split())[:_MOST_DESCRIPTION]
    return f": {text}" if text else ""


class _Call(NamedTuple):
    """An operation as a request with names for its values, and what the document says of them."""

    operation: Operation
    request: dict[str, Any]
    values: tuple[Parameter, ...]  # with a JSON or text body, if there is one
    output_schema: dict[str, Any] | None  # of a JSON answer, empty if unknown or not valid; None: it is not JSON
    status: str  # of the answer, such as 200 or 2XX
    statuses: tuple[str, ...]  # all that the document names

    @property
    def input_schema(self) -> dict[str, Any]:
        """The schema of the values."""
        required = [one.key for one in self.values if one.required]
        properties = {one.key: json_schema(one.schema) for one in self.values}
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _call_of(document: Document, operation: Operation, notices: list[str]) -> _Call:
    """Return the request of an operation.

    Raises:
        UsageError: It needs something that cannot be sent.
    """
    values = list(parameters(document, operation, notices))
    body, content = body_of(document, operation, {one.key for one in values}, notices)
    values += content
    path = operation.path
    request: dict[str, Any] = {"method": operation.method.upper(), "path": path}
    for one in values:
        place = f"{{{{{one.key}{'' if one.required else '?'}}}}}"
        if one.place == "path":
            path = path.replace(f"{{{one.name}}}", f"\0{one.key}\1")
        elif one.place in ("query", "headers"):
            request.setdefault(one.place, {})[one.name] = place
        elif one.place != "form":
            request[one.place] = place
    request["path"] = path.replace("\0", "{{").replace("\1", "}}")
    responses = document.mapping(operation.spec.get("responses"), f"{operation.label}: responses")
    status = next((one for one in ("200", "201", "202", "203", "204", "2XX", "default") if one in responses), "2XX")
    answer = None
    if status in responses:
        response = document.mapping(responses[status], f"{operation.label}: responses.{status}")
        media = media_of(document, response.get("content"), is_json)
        answer = None if media is None else _usable(document.schema(media.get("schema", {})))
    return _Call(operation, request | body, tuple(values), answer, status, tuple(map(str, responses)))


def _usable(schema: object) -> dict[str, Any]:
    from skillgate.bench.schemas import format_problem, schema_problem  # imports a package of an extra

    found = brief(json_schema(schema), _MOST_SCHEMA)
    is_usable = isinstance(found, dict) and schema_problem(found) is None and format_problem(found) is None
    return found if is_usable else {}


def _tasks(call: _Call, *, is_only: bool, has_token: bool) -> Iterator[dict[str, Any]]:
    """Yield the tasks of an operation: a call, one without a required value, and one without the token."""
    name = call.operation.spec.get("operationId")
    name = printable(name)[:100] if isinstance(name, str) and name.strip() else call.operation.label[:100]
    data = {one.key: one.example for one in call.values if one.required or one.example is not None}
    base = {"tags": [name]} | ({} if is_only else {"request": call.request})
    expected, evaluator = _expected(call)
    words = "The API answers as its document says."
    yield {"id": name, "description": words, **base, "inputData": data, "expectedOutput": expected, **evaluator}
    left_out = next((one for one in call.values if one.required and one.place != "path"), None)
    if left_out is not None:
        rest = {key: value for key, value in data.items() if key != left_out.key}
        yield {
            "id": f"{name} without {left_out.key}",
            "description": f"The API refuses a call without {left_out.key}.",
            **base,
            "request": _without(call.request, left_out, is_only=is_only),
            "inputData": rest,
            "expectedOutput": _refusal(call, ("422", "400")),
        }
    if has_token and call.operation.is_secured:
        yield {
            "id": f"{name} without a token",
            "description": "The API refuses a call without a token.",
            **base,
            "request": {**({} if is_only else call.request), "auth": False},
            "inputData": data,
            "expectedOutput": _refusal(call, ("401", "403")),
        }


def _expected(call: _Call) -> tuple[dict[str, Any], dict[str, Any]]:
    """Expect the documented JSON, else the documented status."""
    if call.output_schema is not None and call.operation.method != "head":
        return {"type": "json_schema", "schema": call.output_schema or {"not": {"type": "null"}}}, {}
    at_status = {"evaluator": {"path": "/status"}}
    if call.status.isdigit():
        return {"type": "exact", "value": int(call.status)}, at_status
    return {"type": "json_schema", "schema": {"minimum": 200, "maximum": 299}}, at_status


def _refusal(call: _Call, codes: tuple[str, ...]) -> dict[str, Any]:
    """Expect an error, with the code if the document names exactly one of some."""
    named = [code for code in codes if code in call.statuses]
    return {"type": "error", "code": int(named[0])} if len(named) == 1 else {"type": "error"}


def _without(request: dict[str, Any], left_out: Parameter, *, is_only: bool) -> dict[str, Any]:
    """Return the request, or what a task changes in that of the skill, without one value."""
    place = left_out.place
    if place not in ("query", "headers", "form"):
        return {**({} if is_only else {key: value for key, value in request.items() if key != place}), "text": ""}
    group = request["form"] if place == "form" else {} if is_only else request[place]
    return {**({} if is_only else request), place: {**group, left_out.name: None}}


def _with_own_ids(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    seen: dict[str, int] = {}
    found = []
    for task in tasks:
        number = seen[task["id"]] = seen.get(task["id"], 0) + 1
        found.append(task if number == 1 else {**task, "id": f"{task['id']} {number}"})
    return found


def _auth(document: Document, calls: list[_Call], variable: str, notices: list[str]) -> dict[str, str]:
    """Return the settings of the token, by the first security scheme that can be met; empty if none is needed."""
    components = document.mapping(document.root.get("components"), "components")
    schemes = document.mapping(components.get("securitySchemes"), "components.securitySchemes")
    found: dict[str, str] = {}
    for call in calls:
        operation = call.operation
        if not operation.is_secured:
            continue
        carried = [
            _carried(document.mapping(schemes.get(name), f"securitySchemes.{name}"))
            for choice in operation.security
            for name in (choice if len(choice) == 1 else ())
        ]
        known = [one for one in carried if one is not None]
        found = found or (known[0] if known else {})
        if found not in known:
            names = ", ".join(str(name) for choice in operation.security for name in choice)[:120]
            notices.append(f"{operation.label} requires {names}, which this skill does not send")
    return {**found, "authTokenEnvKey": variable} if found else {}


def _carried(scheme: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the settings for a scheme; None if its token cannot be sent."""
    kind, place, name, word = (scheme.get(key) for key in ("type", "in", "name", "scheme"))
    if kind in ("oauth2", "openIdConnect") or (kind == "http" and str(word).lower() == "bearer"):
        return {"authType": "bearer"}
    if kind == "http" and str(word).lower() == "basic":
        return {"authType": "basic"}
    if kind != "apiKey" or not isinstance(name, str) or not name.strip():
        return None
    if place == "header" and HEADER.fullmatch(name) and name.lower() not in OF_TRANSPORT:
        return {"authType": "api-key", "authName": name}
    return {"authType": "api-key", "authName": name, "authIn": "query"} if place == "query" else None


def _server(document: Document, calls: list[_Call], origin: str | None, notices: list[str]) -> str:
    """Return the address of the API: with ``origin``, the address of the document, it must be on the same server.

    Raises:
        UsageError: It is on another one, or the operations have different servers.
    """
    found = {named_server(document, call.operation) for call in calls}
    if len(found) > 1:
        raise UsageError(f"{document.shown}: the operations have different servers; use --server URL")
    (named,) = found
    if origin is not None:
        try:
            server = urljoin(origin, named or "/").rstrip("/")
            is_same = is_address(server) and origin_of(server) == origin_of(origin)
        except ValueError:
            is_same = False
        if not is_same:
            raise UsageError(f"{document.shown} names the server {named[:120]!r}, another one; use --server URL")
        return server
    if is_address(named):
        notices.append(f"requests go to {printable(named)[:120]}, as the document says; --server URL changes that")
        return named.rstrip("/")
    which = f"the server {named[:120]!r} is not a complete address" if named else "the document names no server"
    notices.append(f"{which}, so entrypoint in skill.json is {_LOCAL}; use --server URL")
    return _LOCAL
