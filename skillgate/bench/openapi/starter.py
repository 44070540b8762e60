"""The files of a skill that calls an operation of an API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from skillgate.bench.checking import is_version
from skillgate.bench.openapi.document import read
from skillgate.bench.openapi.operation import HEADER, answer_of, body_of, choose, parameters_of, server_of
from skillgate.bench.openapi.program import PROGRAM
from skillgate.bench.openapi.schemas import json_schema
from skillgate.bench.starters._wanted import CONFIG_JSON, README, SKILL_JSON, TASKS, as_json, readme, spec, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.openapi.document import Document
    from skillgate.bench.openapi.operation import Content, Operation, Parameter
    from skillgate.bench.starters._wanted import Wanted

_MOST_TOLD = 500  # characters of a description out of the document
_WORDS = """\
A program that calls one operation of an HTTP API for each request. `operation.json` says which, and `API_BASE_URL` in
`adapter.config.json` where the API is; a token is taken from the variable that `passEnv` names there. The input of
the first task was made of the document's examples: put in what your API has, and the answer that you expect."""


def from_document(
    path: str, operation: str | None, wanted: Wanted, *, cwd: str
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Give the files, by their path in the skill's directory, and what the user should know.

    Args:
        path: of the document, as it was given.
        operation: which one; None for the only one.
        wanted: the skill.
        cwd: the working directory, absolute.

    Raises:
        UsageError: the document is not valid, or a call of the operation cannot be made.
    """
    notices: list[str] = []
    document = read(path, cwd=cwd)
    chosen = choose(document, operation)
    parameters = parameters_of(document, chosen, notices)
    body, answer = body_of(document, chosen, notices), answer_of(document, chosen)
    auth = _auth(document, chosen, wanted, notices)
    config = {
        "env": {"API_BASE_URL": server_of(document, chosen, notices)},
        **({"passEnv": [one["variable"] for one in auth]} if auth else {}),
        "timeoutMs": 30_000,
    }
    told = {
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
    output = {} if answer is None else json_schema(answer.schema)
    output = output if isinstance(output, dict) else {}
    changes = {
        "version": _version(document, notices),
        "inputSchema": _input(parameters, body),
        "outputSchema": output,
    }
    files = {
        SKILL_JSON: as_json(spec(described, "subprocess", "python3 skill.py", **changes)),
        CONFIG_JSON: as_json(config),
        "operation.json": as_json(told),
        "skill.py": PROGRAM,
        TASKS: as_json(_tasks(wanted, parameters, body, answer, output)),
        README: readme(wanted, _WORDS),
    }
    notices += [f"set {one['variable']} to the API's token before you run it" for one in auth]
    return files, tuple(notices)


def _version(document: Document, notices: list[str]) -> str:
    version = document.mapping(document.root.get("info"), "info").get("version")
    if isinstance(version, str) and is_version(version):
        return version
    notices.append(f"info.version {version!r:.80} is no semantic version; the skill has 0.1.0")
    return "0.1.0"


def _description(operation: Operation) -> str:
    texts = (operation.spec.get("summary"), operation.spec.get("description"))
    text = next((one for one in texts if isinstance(one, str) and one.strip()), "")
    text = " ".join(re.sub(r"[^\S ]|[^ -~\u00a0-\U0010ffff]", " ", text).split())[:_MOST_TOLD]
    return f"Calls {operation.label[:200]} of an HTTP API" + (f": {text}" if text else ".")


def _input(parameters: tuple[Parameter, ...], body: Content | None) -> dict[str, Any]:
    properties = {one.key: json_schema(one.schema) for one in parameters}
    required = [one.key for one in parameters if one.required]
    if body is not None:
        properties["body"] = json_schema(body.schema)
        required += ["body"] * body.required
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _tasks(
    wanted: Wanted,
    parameters: tuple[Parameter, ...],
    body: Content | None,
    answer: Content | None,
    schema: Mapping[str, Any],
) -> dict[str, Any]:
    data = {one.key: one.example for one in parameters if one.required or one.example is not None}
    if body is not None and (body.required or body.example is not None):
        data["body"] = body.example
    expected: dict[str, Any] = {"type": "exact", "value": None}
    evaluator: dict[str, Any] = {}
    if answer is not None:
        evaluator = {"evaluator": {"path": ""}}  # the schema is of the whole answer
        expected = {"type": "json_schema", "schema": schema or {"not": {"type": "null"}}}
    task = {
        "id": "first_call",
        "description": "The API answers as its document says.",
        "inputData": data,
        "expectedOutput": expected,
        **evaluator,
        "tags": ["basic"],
    }
    # What only has a shape can be guessed: that is known of this one task until a value is expected of it.
    return tasks(wanted, [task], null=1, echo=1, constant=1)


def _auth(document: Document, operation: Operation, wanted: Wanted, notices: list[str]) -> list[dict[str, str]]:
    """Say which tokens a call carries, by the first requirement that can be met."""
    asked = operation.spec.get("security", document.root.get("security"))
    choices = [dict(one) for one in asked if isinstance(one, dict)] if isinstance(asked, list) else []
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
    told = ", ".join(name for choice in choices for name in choice)[:120]
    notices.append(f"{operation.label} asks for {told}, which skill.py cannot send; add it there")
    return []


def _carried(scheme: Mapping[str, Any]) -> dict[str, str] | None:
    """Say how a scheme's token is sent; None where that is not known."""
    kind, place, name = scheme.get("type"), scheme.get("in"), scheme.get("name")
    if kind in ("oauth2", "openIdConnect") or (kind == "http" and str(scheme.get("scheme")).lower() == "bearer"):
        return {"in": "header", "name": "Authorization", "prefix": "Bearer "}
    if kind != "apiKey" or not isinstance(name, str):
        return None
    sendable = place == "query" or (place == "header" and HEADER.fullmatch(name) is not None)
    return {"in": str(place), "name": name, "prefix": ""} if sendable else None
