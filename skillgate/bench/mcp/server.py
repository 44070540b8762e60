"""Open an MCP server, named by a command or an address, and read what it offers."""
# ruff: noqa: PTH110, PTH112, PTH113, PTH118

from __future__ import annotations

import os
import re
import shlex
import tempfile
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.adapters.mcp import open_adapter
from skillgate.bench.isolation.spawner import ProcessSpawner
from skillgate.bench.ports import Call, Starting, Surroundings
from skillgate.bench.skills import check_runnable, load_skills
from skillgate.errors import IncompleteError, UsageError
from skillgate.model.benchmark import AdapterConfig, AdapterType, AuthType, Executable, Expected, Runnable, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.bench.adapters.mcp import McpAdapter
    from skillgate.bench.ports import Adapter, Reply
    from skillgate.bench.request import Permissions
    from skillgate.console import Console

TIMEOUT_S = 60.0  # of each call, including the start of the server
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_TASK = Task(id="call", expected_output=Expected())


class Tool(NamedTuple):
    """One tool, as the server describes it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    annotations: Mapping[str, Any]

    @property
    def only_reads(self) -> bool:
        """Whether the server says that calls change nothing."""
        return self.annotations.get("readOnlyHint") is True

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that a call must have."""
        names = self.input_schema.get("required")
        return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


class Offer(NamedTuple):
    """What a server says of itself."""

    name: str
    version: str
    tools: tuple[Tool, ...]
    twice: tuple[str, ...]  # names of tools that are listed more than once


class Server(NamedTuple):
    """An open server, and what it offers."""

    adapter: McpAdapter
    offer: Offer

    def call(self, tool: str, data: Mapping[str, Any], session: Adapter | None = None) -> Reply:
        """Call a tool, by default in its own session; the tool need not exist."""
        return (session or self.adapter).invoke(Call(_TASK, data, TIMEOUT_S, 1, tool, refusable=True))


def skill_of(word: str, token_env: str | None, *, cwd: str) -> Runnable:
    """Return the skill at a path, else one for a command or an address; see :func:`server_skill`.

    Raises:
        UsageError: The word is not one of these, or the skill is not an MCP server.
    """
    place = os.path.join(cwd, word)
    if not (os.path.isdir(place) or (word.endswith(".json") and os.path.isfile(place))):
        return server_skill(word, token_env, cwd=cwd)
    found = load_skills([word], cwd=cwd).found
    if len(found) != 1 or found[0].spec.adapter_type is not AdapterType.MCP:
        raise UsageError(f"{word}: expected one skill of adapterType mcp")
    return found[0]


def server_skill(word: str, token_env: str | None, *, cwd: str) -> Runnable:
    """Return a skill for a server that has none yet.

    Args:
        word: A command, perhaps with ``NAME=VALUE`` before it, or an http(s) address.
        token_env: The variable with a bearer token.
        cwd: Relative paths of existing files in the command are relative to it.

    Raises:
        UsageError: It is neither, or the token is not for an address.
    """
    is_address = re.match(r"https?://", word, re.IGNORECASE) is not None
    if token_env is not None and not is_address:
        raise UsageError("--token-env is for a server at an address; for a program write NAME=VALUE before the command")
    auth = AuthType.NONE if token_env is None else AuthType.BEARER
    config = AdapterConfig(auth_type=auth, auth_token_env_key=token_env)
    entrypoint = word.strip()
    if not is_address:
        env, words = _split(word, cwd)
        config, entrypoint = AdapterConfig(env=env), shlex.join(words)
    spec = Executable(id="server", name="server", version="0.1.0", adapter_type=AdapterType.MCP, entrypoint=entrypoint)
    skill = Runnable(spec=spec, config=config, root=cwd, shown=word[:80], digest="", key="server")
    check_runnable(skill)
    return skill


def _split(command: str, cwd: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables and words of a command; existing relative paths become absolute."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{command[:80]!r}: {error}") from None
    env: dict[str, str] = {}
    while words and (found := _ASSIGNMENT.fullmatch(words[0])):
        env[found[1]] = found[2]
        words.pop(0)
    if not words:
        raise UsageError(f"expected a command or an http(s) address, found {command[:80]!r}")
    return env, [_absolute(word, cwd, is_program=not index) for index, word in enumerate(words)]


def _absolute(word: str, cwd: str, *, is_program: bool) -> str:
    path = os.path.join(cwd, word)
    is_path = "/" in word or not is_program  # a program without a slash is searched on PATH
    return os.path.normpath(path) if is_path and "\0" not in word and os.path.exists(path) else word


@contextmanager
def opened(skill: Runnable, permissions: Permissions, session: Console) -> Iterator[Server]:
    """Yield a server and what it offers; programs run in an empty directory if the skill has no directory.

    Raises:
        UsageError: The skill is not valid, or programs may not be started.
        IncompleteError: The server does not start, or does not list its tools.
    """
    stop = threading.Event()
    spawner = ProcessSpawner(
        path=session.environ.get("PATH", os.defpath),
        stop=stop,
        sandbox=permissions.sandbox,
        memory_bytes=permissions.memory_mb * 1024 * 1024,
        as_caller=permissions.as_caller,
    )
    surroundings = Surroundings(
        spawner=spawner if permissions.programs else None,
        environ=session.environ,
        allow_env=permissions.env,
        allow_host=permissions.hosts,
        guarded=permissions.guarded,
        served={},
        stop=stop,
    )
    with tempfile.TemporaryDirectory(prefix="skillgate-mcp-") as empty:
        os.chmod(empty, 0o755)  # noqa: PTH101, S103 - the users of calls read it
        skill = skill if skill.digest else _in_folder(skill, empty)
        adapter = open_adapter(skill, surroundings)
        try:
            yield Server(adapter, _offer(adapter, skill))
        finally:
            stop.set()
            adapter.close()
            spawner.close()


def _in_folder(skill: Runnable, folder: str) -> Runnable:
    return Runnable(
        spec=skill.spec, config=skill.config, root=folder, shown=skill.shown, digest=skill.digest, key=skill.key
    )


def _offer(adapter: McpAdapter, skill: Runnable) -> Offer:
    reason = adapter.unstartable() if isinstance(adapter, Starting) else None
    reply = adapter.offer(TIMEOUT_S) if reason is None else None
    if reply is None or reply.kind is not None:
        raise IncompleteError(f"{skill.shown} does not list its tools: {reason or (reply and reply.error)}")
    found = reply.output
    return Offer(found["name"], found["version"], tuple(map(_tool, found["tools"])), tuple(found["twice"]))


def _tool(data: Mapping[str, Any]) -> Tool:
    return Tool(
        name=data["name"],
        description=data.get("description", ""),
        input_schema=data.get("inputSchema", {}),
        output_schema=data.get("outputSchema"),
        annotations=data.get("annotations", {}),
    )
