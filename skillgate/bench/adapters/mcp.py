"""Runs a tool of an MCP server: a program that is talked to, or a server over streamable HTTP."""

from __future__ import annotations

import json
import ssl
import threading
from typing import TYPE_CHECKING, Any

from skillgate.bench.ports import MAX_WORDS, NOT_STARTED, Reply
from skillgate.bench.program import AGAIN, Program, Unopened, command_of, variables_of
from skillgate.bench.reading.runnable import has_address
from skillgate.bench.web.target import target_of
from skillgate.errors import UsageError
from skillgate.model.bench_result import ErrorKind
from skillgate.model.text import printable

try:
    import asyncio

    from skillgate.bench.tools.connection import Connection, FailedError, Traffic, Trouble
    from skillgate.bench.tools.piped import piped
    from skillgate.bench.tools.reached import reached
except ModuleNotFoundError as missing:
    raise UsageError('skills of adapterType mcp need the protocol\'s SDK: pip install "skillgate-action[mcp]"') from (
        missing
    )

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from skillgate.bench.ports import Call, Surroundings
    from skillgate.bench.web.target import Target
    from skillgate.model.executable import Runnable

_TICK_S = 0.1  # in which the end of the run is heard
_LET_GO_S = 5.0  # for what a call that is over leaves to clear up
_SHOWN_TOOLS = 20


def open_adapter(skill: Runnable, surroundings: Surroundings) -> McpAdapter:
    """Make ready to talk to a server; nothing is started yet.

    Raises:
        UsageError: its address or command, a header, a variable or its token cannot be; or no program may be started.
    """
    if has_address(skill):
        return McpAdapter(skill, target_of(skill, surroundings), surroundings.stop)
    if surroundings.spawner is None:
        raise UsageError(f"{skill.shown} is a program, and {NOT_STARTED}")
    program = Program(skill, command_of(skill), variables_of(skill, surroundings), surroundings.spawner)
    return McpProgramAdapter(skill, program, surroundings.stop)


class McpAdapter:
    """Keeps a session for each call at once, or opens one for each call; one event loop in a thread of its own."""

    def __init__(self, skill: Runnable, server: Program | Target, stop: threading.Event) -> None:
        self._skill, self._server, self._stop = skill, server, stop
        self._tls = None if isinstance(server, Program) else ssl.create_default_context()
        self._idle: list[Connection] = []  # of the loop's thread alone
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def invoke(self, call: Call) -> Reply:
        """Ask once; see :class:`skillgate.bench.ports.Adapter`."""
        reply = asyncio.run_coroutine_threadsafe(self._bounded(call), self._running()).result()
        if not isinstance(self._server, Program):
            reply = reply._replace(output=self._server.redacted(reply.output), error=self._server.redacted(reply.error))
        return reply._replace(error=printable(reply.error)[:MAX_WORDS])

    def close(self) -> None:
        """End all sessions, and the loop."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._closed(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()
        loop.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="mcp", daemon=True)
                self._thread.start()
            return self._loop

    async def _closed(self) -> None:
        idle, self._idle = self._idle, []
        await asyncio.gather(*(connection.close() for connection in idle))
        loop = asyncio.get_running_loop()
        await loop.shutdown_asyncgens()
        await loop.shutdown_default_executor()

    async def _bounded(self, call: Call) -> Reply:
        """Answer within the call's time, start-up included."""
        loop = asyncio.get_running_loop()
        until = loop.time() + call.timeout_s
        traffic: list[Traffic] = []
        asking = asyncio.create_task(self._asked(call, traffic))
        while not asking.done() and not self._stop.is_set() and loop.time() < until:
            await asyncio.wait({asking}, timeout=min(_TICK_S, max(0.0, until - loop.time())))
        if asking.done():
            return asking.result()
        trouble = Trouble(ErrorKind.STOPPED, "it was ended with the run", retryable=False)
        if not self._stop.is_set():
            trouble = _late(call, traffic)
        asking.cancel()
        await asyncio.wait({asking}, timeout=_LET_GO_S)
        return _failed(trouble)

    async def _asked(self, call: Call, traffic: list[Traffic]) -> Reply:
        connection: Connection | None = None
        try:
            connection = self._waiting() or self._made(call.timeout_s)
            traffic.append(connection.traffic)
            if not connection.is_open:
                await connection.open()
            tool = _tool_of(self._skill, connection.tools)
            if isinstance(tool, Trouble):
                return _failed(tool)
            reply = _reply(await connection.call(tool, call.data))
        except FailedError as error:
            return _failed(error.trouble)
        else:
            if self._skill.config.restart == "per-run" and connection.is_open:
                self._idle.append(connection)
                connection = None
            return reply
        finally:
            if connection is not None:
                await connection.close()

    def _waiting(self) -> Connection | None:
        """Give a session that is open still."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                return connection
        return None

    def _made(self, timeout_s: float) -> Connection:
        traffic, server = Traffic(), self._server
        if isinstance(server, Program):
            talk = server.opened(timeout_s)
            if isinstance(talk, Unopened):
                raise FailedError(Trouble(talk.kind, talk.words, retryable=talk.kind in AGAIN))
            return Connection(traffic, lambda: piped(talk, traffic))
        tls = self._tls
        assert tls is not None
        return Connection(traffic, lambda: reached(server, traffic, tls))


class McpProgramAdapter(McpAdapter):
    """Starts the server."""

    def unstartable(self) -> str | None:
        """Say why the evaluator cannot start it; see :class:`skillgate.bench.ports.Starting`."""
        return self._server.unstartable() if isinstance(self._server, Program) else None


def _late(call: Call, traffic: list[Traffic]) -> Trouble:
    met = next((one for one in traffic if one.trouble is not None or one.noise), None)
    if met is not None and met.trouble is not None:
        return met.trouble
    if met is not None:
        words = f"it gave no answer within {call.timeout_s:g} s, and wrote what is no message: {met.noise}"
        return Trouble(ErrorKind.PROTOCOL, words)
    return Trouble(ErrorKind.TIMEOUT, f"it gave no answer within {call.timeout_s:g} s and was ended")


def _failed(trouble: Trouble) -> Reply:
    return Reply(kind=trouble.kind, error=trouble.words, retryable=trouble.retryable, answered=False)


def _tool_of(skill: Runnable, tools: tuple[str, ...]) -> str | Trouble:
    """Say which tool is meant: the one that is named, that of the skill's id, or the only one."""
    named = skill.config.tool_name or skill.spec.metadata.get("toolName")
    identifier = skill.spec.id
    wanted = [named] if named else [identifier, identifier.replace("-", "_"), identifier.replace("_", "-")]
    for name in wanted:
        if name in tools:
            return str(name)
    if not named and len(tools) == 1:
        return tools[0]
    shown = ", ".join(tools[:_SHOWN_TOOLS]) + (", …" if len(tools) > _SHOWN_TOOLS else "")
    hint = "" if named else "; name one with toolName"
    words = f"it has no tool {str(wanted[0])[:80]!r}; it has: {shown or 'none'}{hint}"
    return Trouble(ErrorKind.PROTOCOL, words, retryable=False)


def _reply(result: CallToolResult) -> Reply:
    output = result.structured_content if result.structured_content is not None else _content(result)
    if result.is_error:
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str)
        return Reply(output=output, kind=ErrorKind.TOOL, error=f"the tool says that it failed: {text}")
    try:
        json.dumps(output, allow_nan=False)
    except (ValueError, RecursionError):
        return _failed(Trouble(ErrorKind.PROTOCOL, "its answer holds a number that JSON does not have"))
    return Reply(output=output)


def _content(result: CallToolResult) -> Any:  # noqa: ANN401 - JSON
    """Give the text of a result, as JSON where it is some; other parts are named in it."""
    parts: list[str] = []
    for part in result.content:
        if part.type == "text":
            parts.append(part.text)
        elif part.type in ("image", "audio"):
            parts.append(f"[{part.type} {part.mime_type}]")
        else:
            parts.append(f"[{part.type}]")
    text = "\n".join(parts)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
