"""Write a skill for an MCP server, and starter tasks for its tools from their schemas."""
# ruff: noqa: PTH112, PTH117

from __future__ import annotations

import os
import shlex
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.mcp.examples import example_input
from skillgate.bench.mcp.server import TIMEOUT_S, opened
from skillgate.bench.schemas import errors_of, format_problem, schema_problem
from skillgate.bench.skills import has_address
from skillgate.bench.starters import CONFIG_JSON, README, SKILL_JSON, TASKS, Wanted, as_json, checked_benchmark, readme
from skillgate.errors import UsageError
from skillgate.format import printable
from skillgate.model.benchmark import AuthType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillgate.bench.mcp.server import Server, Tool
    from skillgate.bench.ports import Reply
    from skillgate.bench.request import Permissions
    from skillgate.console import Console
    from skillgate.model.benchmark import Runnable

_AT_ONCE = 4
_MOST_DESCRIPTION = 300  # characters of a tool's in a task
_KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
_WORDS = """\
Tasks for the tools of an MCP server. Their input was made from the schemas of the tools, and what they expect is what
the server said: the shape of an answer, or a refusal. Replace both with what you know to be right. Begin with the
arguments that metadata.invented lists: no schema declares a value for them."""
INVENTED = "invented"
"""The metadata key of a task that lists the arguments with made-up values."""


class _Made(NamedTuple):
    """The starter tasks of a tool, and notices for the user."""

    tasks: tuple[dict[str, Any], ...]
    notices: tuple[str, ...]


def from_server(
    skill: Runnable,
    name_of: Callable[[str], Wanted],
    permissions: Permissions,
    session: Console,
    *,
    call_tools: bool,
) -> tuple[Wanted, Mapping[str, str], tuple[str, ...]]:
    """Return the new skill's name, its files by path, and notices.

    Args:
        skill: The server.
        name_of: Returns the name of the skill for the name of the server.
        permissions: What the server's program may do.
        session: The console.
        call_tools: Whether to call every tool to see its answer; otherwise only those that say that they only read.

    Raises:
        UsageError: The server has no tools, or the skill is not valid.
        IncompleteError: The server does not start, or does not list its tools.
    """
    with opened(skill, permissions, session) as server:
        offer = server.offer
        if not offer.tools:
            raise UsageError(f"{skill.shown} has no tools")
        called = [call_tools or tool.only_reads for tool in offer.tools]
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="starter") as pool:
            made = list(pool.map(partial(_starters, server, _folder(skill)), offer.tools, called))
    wanted = name_of(offer.name)
    tasks = [task for one in made for task in one.tasks]
    notices = tuple(notice for one in made for notice in one.notices)
    if not tasks:
        raise UsageError("\n".join([f"no task could be made for the tools of {skill.shown}", *notices]))
    files = {
        SKILL_JSON: as_json(_spec(skill, wanted, offer.name, offer.version)),
        CONFIG_JSON: as_json(_config(skill)),
        TASKS: as_json(checked_benchmark(wanted, tasks)),
        README: readme(wanted, _WORDS),
    }
    return wanted, files, notices


def _folder(skill: Runnable) -> str | None:
    """Return the first directory in a server's command, else its working directory; None for an address."""
    if has_address(skill):
        return None
    words = shlex.split(skill.spec.entrypoint)[1:]
    return next((word for word in words if os.path.isabs(word) and os.path.isdir(word)), ".")


def _starters(server: Server, folder: str | None, tool: Tool, is_called: bool) -> _Made:
    """Make the tasks of one tool: a call with made-up input, and one without its required arguments.

    A tool that may change something is given no directory.
    """
    base = {"tool": tool.name, "tags": [tool.name]}
    shown = printable(tool.name)[:80]
    tasks: list[dict[str, Any]] = []
    notices: list[str] = []
    problem = schema_problem(dict(tool.input_schema))
    if problem is not None:
        return _Made((), (f"{shown}: no task: its inputSchema is not valid: {problem}",))
    if is_called:
        data, invented = example_input(tool.input_schema, folder if tool.only_reads else None)
        reply = server.call(tool.name, data)
        if reply.kind is None:
            expected: dict[str, Any] = {"type": "json_schema", "schema": _answer_schema(tool, reply.output)}
            words = printable(tool.description)[:_MOST_DESCRIPTION]
        elif reply.refusal is not None:
            expected = _refused(reply)
            names = printable(", ".join(invented))[:_MOST_DESCRIPTION]
            words = f"The server refuses this input; replace {names or 'it'} with what it answers."
        if reply.kind is None or reply.refusal is not None:
            task = {"id": tool.name, "description": words, **base, "inputData": data, "expectedOutput": expected}
            task |= {"metadata": {INVENTED: list(invented)}} if invented else {}
            tasks.append(task | ({"evaluator": {"path": ""}} if reply.kind is None else {}))
        else:
            notices.append(f"{shown}: no task with made-up input: {reply.error}")
    elif not tool.required:
        notices.append(f"{shown}: no task: it may change something, and takes no required argument; use --call-tools")
    if tool.required:
        without = server.call(tool.name, {}) if is_called else None
        if without is not None and without.refusal is None:
            why = "answered" if without.kind is None else without.error
            notices.append(f"{shown}: a call without {', '.join(tool.required)} is not refused: {why}")
        else:
            task = {"id": f"{tool.name} without arguments", "description": "It refuses a call without its arguments."}
            expected = {"type": "error"} if without is None else _refused(without, tool.required)
            tasks.append({**task, **base, "inputData": {}, "expectedOutput": expected})
    return _Made(tuple(tasks), tuple(notices))


def _refused(reply: Reply, names: tuple[str, ...] = ()) -> dict[str, Any]:
    """Expect the refusal that came, with its code if it has one, and the first of some names that it contains."""
    assert reply.refusal is not None
    code, text = reply.refusal.code, reply.refusal.text.casefold()
    expected: dict[str, Any] = {"type": "error"} if code is None else {"type": "error", "code": code}
    named = next((name for name in names if name and name.casefold() in text), None)
    return expected if named is None else {**expected, "contains": named}


def _answer_schema(tool: Tool, output: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return the schema of the tool's answers: its own if the answer fits, else the kind of the answer."""
    schema = None if tool.output_schema is None else dict(tool.output_schema)
    if schema is not None and schema_problem(schema) is None and format_problem(schema) is None:
        try:
            if not errors_of(schema, output).number:
                return schema
        except RecursionError:
            pass
    return {"type": _KINDS[type(output)]} if output is not None else {"type": "null"}


def _spec(skill: Runnable, wanted: Wanted, name: str, version: str) -> dict[str, Any]:
    default = printable(f"The MCP server {name} {version}.")
    return {
        "id": wanted.id,
        "name": wanted.name,
        "version": "0.1.0",
        "description": wanted.description or default,
        "tags": ["mcp"],
        "adapterType": "mcp",
        "entrypoint": skill.spec.entrypoint,
    }


def _config(skill: Runnable) -> dict[str, Any]:
    config: dict[str, Any] = {"timeoutMs": int(TIMEOUT_S * 1000)}
    if skill.config.env:
        config["env"] = dict(skill.config.env)
    if skill.config.auth_type is not AuthType.NONE:
        config |= {"authType": skill.config.auth_type.value, "authTokenEnvKey": skill.config.auth_token_env_key}
    return config
