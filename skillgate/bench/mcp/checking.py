"""Check an MCP server without tasks: its list of tools, their schemas and annotations, and how it refuses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.mcp.examples import example
from skillgate.bench.mcp.server import opened
from skillgate.bench.schemas import errors_of, format_problem, schema_problem
from skillgate.format import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.bench.mcp.server import Offer, Server, Tool
    from skillgate.bench.ports import Reply
    from skillgate.bench.request import Permissions
    from skillgate.console import Console
    from skillgate.model.benchmark import Runnable

ERROR, WARNING = "error", "warning"
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")  # from the specification of 2025-11-25
_NO_TOOL = "skillgate-no-such-tool"


class Problem(NamedTuple):
    """Something wrong with a server or one of its tools."""

    level: str  # error or warning
    tool: str  # "" for the server
    text: str


class CheckedServer(NamedTuple):
    """What was found."""

    name: str
    version: str
    tools: int
    called: int  # tools that were called with made-up input
    problems: tuple[Problem, ...]


def check_server(skill: Runnable, permissions: Permissions, session: Console) -> CheckedServer:
    """Check a server. Tools that may change something are only called without their required arguments.

    Raises:
        UsageError: The skill is not valid.
        IncompleteError: The server does not start, or does not list its tools.
    """
    with opened(skill, permissions, session) as server:
        offer = server.offer
        problems = [*_listing(offer), *_unknown_tool(server)]
        called = 0
        for tool in offer.tools:
            problems += [Problem(level, tool.name, text) for level, text in (*_described(tool), *_annotated(tool))]
            schemas = [*_schemas(tool)]
            problems += [Problem(ERROR, tool.name, text) for text in schemas]
            problems += [Problem(ERROR, tool.name, text) for text in _refusals(server, tool)]
            if tool.only_reads and not schemas:
                called += 1
                problems += [Problem(ERROR, tool.name, text) for text in _answers(server, tool)]
    return CheckedServer(offer.name, offer.version, len(offer.tools), called, tuple(problems))


def _listing(offer: Offer) -> Iterator[Problem]:
    if not offer.tools:
        yield Problem(WARNING, "", "it lists no tools")
    for name in offer.twice:
        yield Problem(ERROR, name, "it is listed more than once")
    for tool in offer.tools:
        if not _NAME.fullmatch(tool.name):
            yield Problem(WARNING, tool.name, "name: expected 1 to 128 letters, digits, _, - and .")


def _unknown_tool(server: Server) -> Iterator[Problem]:
    """Yield what is wrong if an unknown tool is called, twice in one session."""
    with server.adapter.session() as session:
        for where in ("", " in a session that had an error"):
            reply = server.call(_NO_TOOL, {}, session)
            if reply.refusal is None:
                found = "it answers" if reply.kind is None else reply.error
                yield Problem(ERROR, "", f"a call of an unknown tool{where} is not refused: {found}")
                return


def _described(tool: Tool) -> Iterator[tuple[str, str]]:
    if not tool.description.strip():
        yield WARNING, "it has no description, which models choose tools by"
    properties = tool.input_schema.get("properties")
    arguments: Mapping[str, Any] = properties if isinstance(properties, dict) else {}
    bare = [name for name, one in arguments.items() if not (isinstance(one, dict) and one.get("description"))]
    if bare:
        yield WARNING, f"arguments without a description: {', '.join(bare[:10])}"


def _annotated(tool: Tool) -> Iterator[tuple[str, str]]:
    hints = tool.annotations
    if not any(key.endswith("Hint") for key in hints):
        yield WARNING, "it has no annotations, so clients must assume that it may destroy something"
    if tool.only_reads and hints.get("destructiveHint") is True:
        yield ERROR, "annotations: readOnlyHint and destructiveHint are both true"


def _schemas(tool: Tool) -> Iterator[str]:
    for key, schema in (("inputSchema", tool.input_schema), ("outputSchema", tool.output_schema)):
        problem = None if schema is None else schema_problem(dict(schema))
        if problem is not None:
            yield f"{key}: {problem}"
        elif schema is not None and schema.get("type") != "object":
            yield f'{key}: expected "type": "object"'
    properties = tool.input_schema.get("properties", {})
    unknown = [name for name in tool.required if isinstance(properties, dict) and name not in properties]
    if unknown:
        yield f"inputSchema: required arguments that have no property: {', '.join(unknown)}"


def _refusals(server: Server, tool: Tool) -> Iterator[str]:
    """Yield what is wrong if required arguments are missing; of tools that only read, also if one has a wrong type."""
    if not tool.required:
        return
    reply = server.call(tool.name, {})
    if reply.refusal is None:
        yield f"a call without {', '.join(tool.required)} is not refused: {_found(reply)}"
    wrong = _wrong_type(tool)
    if wrong and tool.only_reads:
        reply = server.call(tool.name, wrong)
        if reply.refusal is None:
            yield f"a call with an object for {tool.required[0]} is not refused: {_found(reply)}"


def _wrong_type(tool: Tool) -> dict[str, Any]:
    """Return input whose first required argument has a wrong type; empty if an object may be right."""
    data = example(tool.input_schema, root=tool.input_schema)
    name = tool.required[0]
    properties = tool.input_schema.get("properties")
    schema = properties.get(name) if isinstance(properties, dict) else None
    kinds = ("string", "number", "integer", "boolean", "array")
    is_plain = isinstance(schema, dict) and schema.get("type") in kinds
    return {**data, name: {"skillgate": True}} if is_plain and isinstance(data, dict) else {}


def _answers(server: Server, tool: Tool) -> Iterator[str]:
    """Yield what is wrong if a tool that only reads is called with made-up input; it may refuse."""
    reply = server.call(tool.name, example(tool.input_schema, root=tool.input_schema) or {})
    if reply.kind is not None:
        if reply.refusal is None:
            yield f"a call with made-up input fails: {reply.error}"
        return
    schema = None if tool.output_schema is None else dict(tool.output_schema)
    if schema is None or format_problem(schema) is not None:
        return
    errors = errors_of(schema, reply.output)
    if errors.number:
        path, words = errors.first[0]
        place = "/".join(map(str, path)) or "the answer"
        yield f"its answer does not fit its outputSchema: {place}: {printable(words)}"


def _found(reply: Reply) -> str:
    return "it answers" if reply.kind is None else reply.error
