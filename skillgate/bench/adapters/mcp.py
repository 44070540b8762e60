"""Call a tool of an MCP server, over the pipes of a program or over streamable HTTP."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from skillgate.bench.addresses import target_of
from skillgate.bench.answers import redacted, rpc_refusal
from skillgate.bench.mcp.session import Connection, MCPError, Traffic, TroubleError, program_streams, server_streams
from skillgate.bench.ports import MAX_WORDS, NOT_STARTED, Refusal, Reply
from skillgate.bench.program import RETRYABLE, Program, Unopened, command_of, variables_of
from skillgate.bench.skills import has_address
from skillgate.errors import UsageError
from skillgate.format import printable
from skillgate.model.bench import ErrorKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator

    from mcp_types import CallToolResult

    from skillgate.bench.addresses import Target
    from skillgate.bench.ports import Adapter, Call, Surroundings
    from skillgate.model.benchmark import Runnable

    Work = Callable[[Connection], Awaitable[Reply]]

T = TypeVar("T")
_TICK_S = 0.1  # how often the end of the run is checked
_LET_GO_S = 5.0  # for cleaning up after a call
_SHOWN_TOOLS = 20


def open_adapter(skill: Runnable, surroundings: Surroundings) -> McpAdapter:
    """Prepare to call a server; nothing is started yet.

    Raises:
        UsageError: The address, command, a header, a variable or the token is not valid, or no program may be started.
    """
    if has_address(skill):
        return McpAdapter(skill, target_of(skill, surroundings), surroundings.stop)
    if surroundings.spawner is None:
        raise UsageError(f"{skill.shown} is a program, and {NOT_STARTED}")
    program = Program(skill, command_of(skill), variables_of(skill, surroundings), surroundings.spawner)
    return McpProgramAdapter(skill, program, surroundings.stop)


class McpAdapter:
    """Keeps one session per concurrent call, or opens one per call. Its event loop has its own thread."""

    def __init__(self, skill: Runnable, server: Program | Target, stop: threading.Event) -> None:
        self._skill, self._server, self._stop = skill, server, stop
        self._tls = None if isinstance(server, Program) else ssl.create_default_context()
        self._shared: list[Connection] = []  # open sessions of the run; used by the loop's thread only
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def invoke(self, call: Call) -> Reply:
        """Call once; see :class:`skillgate.bench.ports.Adapter`."""
        with self._sessions() as idle:
            return self.invoke_in(idle, call)

    @contextmanager
    def session(self) -> Iterator[Adapter]:
        """Yield an adapter whose calls share one session; see :class:`skillgate.bench.ports.WithSessions`."""
        with self._sessions() as idle:
            yield _McpSession(self, idle)

    @contextmanager
    def _sessions(self) -> Iterator[list[Connection]]:
        """Yield a list for the session of a task; it begins with one of the run's if those are shared."""
        idle: list[Connection] = []
        is_shared = self._skill.config.restart == "per-run"
        if is_shared:
            self._wait_for(_move_one(self._shared, idle))
        try:
            yield idle
        finally:
            if idle:
                self._wait_for(_move_one(idle, self._shared) if is_shared else _close_all(idle))

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._running_loop()).result()

    def offer(self, timeout_s: float) -> Reply:
        """Return what the server says of itself: ``name``, ``version``, ``tools`` and names listed ``twice``."""

        async def offered(connection: Connection) -> Reply:
            tools = list(connection.tools.values())
            names = {"name": connection.name, "version": connection.version}
            return Reply(output={**names, "tools": tools, "twice": connection.twice})

        with self._sessions() as idle:
            return self._done_in(idle, offered, timeout_s)

    def invoke_in(self, idle: list[Connection], call: Call) -> Reply:
        """Call once, with a session from a list if there is an open one; it is put back if it can be used again."""

        async def called(connection: Connection) -> Reply:
            tool = _tool_of(self._skill, call, connection.tools)
            began = time.perf_counter()
            result = await connection.call(tool, call.data)
            latency_ms = (time.perf_counter() - began) * 1000  # without the start of the session
            reply = _rpc_error(result) if isinstance(result, MCPError) else _reply(result)
            return reply._replace(latency_ms=latency_ms)

        return self._done_in(idle, called, call.timeout_s)

    def _done_in(self, idle: list[Connection], work: Work, timeout_s: float) -> Reply:
        reply = self._wait_for(self._in_time(idle, work, timeout_s))
        if not isinstance(self._server, Program):
            reply = redacted(reply, self._server.secrets)
        return reply._replace(error=printable(reply.error)[:MAX_WORDS])

    def close(self) -> None:
        """End all sessions and the event loop."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._close_idle(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()
        loop.close()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="mcp", daemon=True)
                self._thread.start()
            return self._loop

    async def _close_idle(self) -> None:
        await _close_all(self._shared)
        loop = asyncio.get_running_loop()
        await loop.shutdown_asyncgens()
        await loop.shutdown_default_executor()

    async def _in_time(self, idle: list[Connection], work: Work, timeout_s: float) -> Reply:
        """Do work in a session within a time limit, including start-up."""
        loop = asyncio.get_running_loop()
        until = loop.time() + timeout_s
        traffic: list[Traffic] = []
        calling = asyncio.create_task(self._done(idle, work, timeout_s, traffic))
        while not calling.done() and not self._stop.is_set() and loop.time() < until:
            await asyncio.wait({calling}, timeout=min(_TICK_S, max(0.0, until - loop.time())))
        if calling.done():
            return calling.result()
        trouble = TroubleError(ErrorKind.STOPPED, "it was stopped with the run", retryable=False)
        if not self._stop.is_set():
            trouble = _late(timeout_s, traffic)
        calling.cancel()
        await asyncio.wait({calling}, timeout=_LET_GO_S)
        return _failed(trouble)

    async def _done(self, idle: list[Connection], work: Work, timeout_s: float, traffic: list[Traffic]) -> Reply:
        connection: Connection | None = None
        try:
            connection = _open_one(idle) or self._new_connection(timeout_s)
            traffic.append(connection.traffic)
            if not connection.is_open:
                await connection.open()
            reply = await work(connection)
        except TroubleError as error:
            return _failed(error)
        else:
            if connection.is_open:
                idle.append(connection)
                connection = None
            return reply
        finally:
            if connection is not None:
                await connection.close()

    def _new_connection(self, timeout_s: float) -> Connection:
        traffic, server = Traffic(), self._server
        if isinstance(server, Program):
            talk = server.opened(timeout_s)
            if isinstance(talk, Unopened):
                raise TroubleError(talk.kind, talk.words, retryable=talk.kind in RETRYABLE)
            return Connection(traffic, lambda: program_streams(talk, traffic))
        tls = self._tls
        assert tls is not None
        return Connection(traffic, lambda: server_streams(server, traffic, tls))


class McpProgramAdapter(McpAdapter):
    """Runs an MCP server that is a program."""

    def unstartable(self) -> str | None:
        """Return why it cannot be started; see :class:`skillgate.bench.ports.Starting`."""
        return self._server.unstartable() if isinstance(self._server, Program) else None


class _McpSession:
    """One session, for the calls of one task."""

    def __init__(self, adapter: McpAdapter, idle: list[Connection]) -> None:
        self._adapter, self._idle, self._ended = adapter, idle, False

    def invoke(self, call: Call) -> Reply:
        if self._ended:  # a new session would have forgotten what the earlier calls did
            return Reply(kind=ErrorKind.CONNECTION, error="its session ended with an earlier call", answered=False)
        reply = self._adapter.invoke_in(self._idle, call)
        self._ended = not self._idle
        return reply

    def close(self) -> None:
        """Do nothing: :meth:`McpAdapter.session` ends the session."""


def _open_one(idle: list[Connection]) -> Connection | None:
    """Take an open session from a list."""
    while idle:
        connection = idle.pop()
        if connection.is_open:
            return connection
    return None


async def _move_one(idle: list[Connection], to: list[Connection]) -> None:
    """Move an open session from a list to another."""
    connection = _open_one(idle)
    if connection is not None:
        to.append(connection)


async def _close_all(idle: list[Connection]) -> None:
    found = list(idle)
    idle.clear()
    await asyncio.gather(*(connection.close() for connection in found))


def _late(timeout_s: float, traffic: list[Traffic]) -> TroubleError:
    met = next((one for one in traffic if one.trouble is not None or one.noise), None)
    if met is not None and met.trouble is not None:
        return met.trouble
    if met is not None:
        words = f"it gave no answer within {timeout_s:g} s, and wrote something that is not a message: {met.noise}"
        return TroubleError(ErrorKind.PROTOCOL, words)
    return TroubleError(ErrorKind.TIMEOUT, f"it gave no answer within {timeout_s:g} s and was stopped")


def _failed(trouble: TroubleError) -> Reply:
    return Reply(kind=trouble.kind, error=trouble.words, retryable=trouble.retryable, answered=False)


def _tool_of(skill: Runnable, call: Call, tools: Collection[str]) -> str:
    """Return the tool to call: that of the task or step, of the skill, the one with the skill's id, or the only one.

    A tool that a task names and expects to be refused need not exist.
    """
    if call.tool is not None and (call.tool in tools or call.refusable):
        return call.tool
    named = call.tool or skill.config.tool_name or skill.spec.metadata.get("toolName")
    identifier = skill.spec.id
    wanted = [named] if named else [identifier, identifier.replace("-", "_"), identifier.replace("_", "-")]
    for name in wanted:
        if name in tools:
            return str(name)
    if not named and len(tools) == 1:
        return next(iter(tools))
    shown = ", ".join(list(tools)[:_SHOWN_TOOLS]) + (", …" if len(tools) > _SHOWN_TOOLS else "")
    hint = "" if named else "; set toolName, or tool in the task"
    words = f"it has no tool {str(wanted[0])[:80]!r}; it has: {shown or 'none'}{hint}"
    raise TroubleError(ErrorKind.PROTOCOL, words, retryable=False)


def _reply(result: CallToolResult) -> Reply:
    output = result.structured_content if result.structured_content is not None else _content(result)
    if result.is_error:
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str)
        refusal = Refusal(None, text)
        return Reply(output=output, kind=ErrorKind.TOOL, error=f"the tool reported an error: {text}", refusal=refusal)
    try:
        json.dumps(output, allow_nan=False)
    except (ValueError, RecursionError):
        return _failed(TroubleError(ErrorKind.PROTOCOL, "its answer contains a number that JSON cannot represent"))
    return Reply(output=output)


def _rpc_error(problem: MCPError) -> Reply:
    """Return the reply for a call that the server answered with a JSON-RPC error."""
    error = problem.error.model_dump(mode="json", by_alias=True, exclude_none=True)
    words = f"it answered with error {problem.error.code}: {problem.error.message}"
    return Reply(output=error, kind=ErrorKind.RPC, error=words, refusal=rpc_refusal(error))


def _content(result: CallToolResult) -> Any:  # noqa: ANN401 - JSON
    """Return a result's text, parsed if it is JSON; parts of other types appear by name."""
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
