"""Call a tool of an MCP server, over the pipes of a program or over streamable HTTP."""

from __future__ import annotations

import json
import logging
import ssl
import threading
import time
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from skillgate import __version__
from skillgate.bench.addresses import UnreachableError, coding_of, is_retryable, redirected, target_of
from skillgate.bench.answers import redacted, rpc_refusal
from skillgate.bench.ports import MAX_WORDS, NOT_STARTED, Refusal, Reply, Said
from skillgate.bench.program import RETRYABLE, Program, Unopened, command_of, stderr_note, variables_of
from skillgate.bench.skills import has_address
from skillgate.errors import UsageError
from skillgate.format import printable
from skillgate.model.bench import ErrorKind

try:
    import asyncio

    import anyio
    import httpcore2
    import httpx2
    import mcp_types as types
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.exceptions import MCPError
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    from skillgate.http_transport import AsyncTransport
except ModuleNotFoundError as missing:
    raise UsageError('skills of adapterType mcp need the MCP SDK: pip install "skillgate-action[mcp]"') from (missing)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
    from contextlib import AbstractAsyncContextManager

    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.client import Transport
    from mcp_types import CallToolResult

    from skillgate.bench.addresses import Target
    from skillgate.bench.ports import Adapter, Call, Conversation, Surroundings
    from skillgate.model.benchmark import Runnable

T = TypeVar("T")
_MOST_BYTES = 5 * 1024 * 1024  # between two calls
_MOST_PAGES = 100  # of a list of tools
_CLOSING_S = 1.0  # that closing a session may take
_SHOWN = 200
_READ_S = 3600.0
_LOOKED_UP_S = 30.0
for _name in ("mcp", "client"):  # the SDK's log messages about a server are not for users
    logging.getLogger(_name).addHandler(logging.NullHandler())
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

    def invoke_in(self, idle: list[Connection], call: Call) -> Reply:
        """Call once, with a session from a list if there is an open one; it is put back if it can be used again."""
        reply = self._wait_for(self._call_in_time(call, idle))
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

    async def _call_in_time(self, call: Call, idle: list[Connection]) -> Reply:
        """Answer within the call's time limit, including start-up."""
        loop = asyncio.get_running_loop()
        until = loop.time() + call.timeout_s
        traffic: list[Traffic] = []
        calling = asyncio.create_task(self._call(call, idle, traffic))
        while not calling.done() and not self._stop.is_set() and loop.time() < until:
            await asyncio.wait({calling}, timeout=min(_TICK_S, max(0.0, until - loop.time())))
        if calling.done():
            return calling.result()
        trouble = TroubleError(ErrorKind.STOPPED, "it was stopped with the run", retryable=False)
        if not self._stop.is_set():
            trouble = _late(call, traffic)
        calling.cancel()
        await asyncio.wait({calling}, timeout=_LET_GO_S)
        return _failed(trouble)

    async def _call(self, call: Call, idle: list[Connection], traffic: list[Traffic]) -> Reply:
        connection: Connection | None = None
        try:
            connection = _open_one(idle) or self._new_connection(call.timeout_s)
            traffic.append(connection.traffic)
            if not connection.is_open:
                await connection.open()
            tool = _tool_of(self._skill, call, connection.tools)
            began = time.perf_counter()
            result = await connection.call(tool, call.data)
            latency_ms = (time.perf_counter() - began) * 1000  # without the start of the session
            reply = _rpc_error(result) if isinstance(result, MCPError) else _reply(result)
            reply = reply._replace(latency_ms=latency_ms)
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
            return Connection(traffic, lambda: _program_streams(talk, traffic))
        tls = self._tls
        assert tls is not None
        return Connection(traffic, lambda: _server_streams(server, traffic, tls))


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


def _late(call: Call, traffic: list[Traffic]) -> TroubleError:
    met = next((one for one in traffic if one.trouble is not None or one.noise), None)
    if met is not None and met.trouble is not None:
        return met.trouble
    if met is not None:
        words = f"it gave no answer within {call.timeout_s:g} s, and wrote something that is not a message: {met.noise}"
        return TroubleError(ErrorKind.PROTOCOL, words)
    return TroubleError(ErrorKind.TIMEOUT, f"it gave no answer within {call.timeout_s:g} s and was stopped")


def _failed(trouble: TroubleError) -> Reply:
    return Reply(kind=trouble.kind, error=trouble.words, retryable=trouble.retryable, answered=False)


def _tool_of(skill: Runnable, call: Call, tools: tuple[str, ...]) -> str:
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
        return tools[0]
    shown = ", ".join(tools[:_SHOWN_TOOLS]) + (", …" if len(tools) > _SHOWN_TOOLS else "")
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


class TroubleError(Exception):
    """A connection failed and cannot be used any more."""

    def __init__(self, kind: ErrorKind, words: str, *, retryable: bool = True) -> None:
        super().__init__(words)
        self.kind, self.words, self.retryable = kind, words, retryable


class Traffic:
    """What a transport records about its connection."""

    def __init__(self) -> None:
        self.trouble: TroubleError | None = None  # the first problem
        self.noise = ""  # the first line received that is not a message
        self.came = 0  # bytes received since the last call began

    def failed(self, kind: ErrorKind, words: str, *, retryable: bool = True) -> None:
        """Record a problem, unless one is recorded already."""
        self.trouble = self.trouble or TroubleError(kind, words, retryable=retryable)


class _Session(ClientSession):
    """A session that does not validate answers with the server's own output schema.

    Scorers judge answers, and a hostile regular expression in a schema could block the thread that keeps time.
    """

    async def validate_tool_result(self, name: str, result: types.CallToolResult) -> None:
        """Accept every result."""


class Connection:
    """A session with its own task, since the SDK requires that the task which opens a session also closes it."""

    def __init__(self, traffic: Traffic, transport: Callable[[], AbstractAsyncContextManager[Any] | Transport]) -> None:
        """Store how to open the streams; :meth:`open` opens them."""
        self.traffic = traffic
        self.tools: tuple[str, ...] = ()
        self._transport = transport
        self._session: ClientSession | None = None
        self._ready = asyncio.Event()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the session can be used again."""
        return self._task is not None and not self._task.done() and self.traffic.trouble is None

    async def open(self) -> None:
        """Connect, initialize the session and list the tools; raise TroubleError on failure."""
        self._task = asyncio.create_task(self._live())
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if not self._ready.is_set():
            raise self._why(self._task.exception())

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult | MCPError:
        """Call a tool; raise TroubleError if there is neither a result nor an error of the server."""
        assert self._session is not None
        assert self._task is not None
        self.traffic.came = 0
        calling = asyncio.ensure_future(self._session.call_tool(tool, dict(arguments)))
        try:
            await asyncio.wait({calling, self._task}, return_when=asyncio.FIRST_COMPLETED)
            if not calling.done():
                raise self._why(self._task.exception())
        finally:
            if not calling.done():
                calling.cancel()
                await asyncio.wait({calling}, timeout=_CLOSING_S)
        problem = calling.exception()
        if problem is None:
            return calling.result()
        if isinstance(problem, MCPError) and self.is_open and problem.error.code != types.CONNECTION_CLOSED:
            return problem
        raise self._why(problem)

    async def close(self) -> None:
        """End the session; give up on a server that does not respond."""
        if self._task is None:
            return
        self._closing.set()
        if not self._ready.is_set():
            self._task.cancel()
        _, left = await asyncio.wait({self._task}, timeout=_CLOSING_S)
        for task in left:
            task.cancel()
            await asyncio.wait({task}, timeout=_CLOSING_S)
        if self._task.done() and not self._task.cancelled():
            self._task.exception()  # it was reported before, or no longer matters

    async def _live(self) -> None:
        info = types.Implementation(name="skillgate", version=__version__)
        async with self._transport() as (read, write), _Session(read, write, client_info=info) as session:
            await session.initialize()
            self.tools = await _tool_names(session)
            self._session = session
            self._ready.set()
            await self._closing.wait()

    def _why(self, problem: BaseException | None) -> TroubleError:
        """Return why there is no answer: the transport's problem, else the SDK's exception."""
        if self.traffic.trouble is not None:
            return self.traffic.trouble
        cause = _innermost(problem)
        if cause is None or (isinstance(cause, MCPError) and cause.error.code == types.CONNECTION_CLOSED):
            return TroubleError(ErrorKind.CONNECTION, "the connection was closed without an answer")
        if isinstance(cause, MCPError):
            words = f"it answered with error {cause.error.code}: {cause.error.message}"
            return TroubleError(ErrorKind.RPC, words, retryable=False)
        if isinstance(cause, OSError | httpx2.HTTPError):
            return TroubleError(ErrorKind.CONNECTION, f"the connection failed: {cause}")
        if isinstance(cause, RuntimeError | ValueError):
            return TroubleError(ErrorKind.PROTOCOL, f"its answer violates the protocol: {cause}")
        raise cause


async def _tool_names(session: ClientSession) -> tuple[str, ...]:
    names: list[str] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor) if cursor else None)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if not cursor:
            break
    return tuple(names)


def _innermost(problem: BaseException | None) -> BaseException | None:
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


@asynccontextmanager
async def _program_streams(talk: Conversation, traffic: Traffic) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams of a session with a program, and end the program with the context."""
    inward, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outward = anyio.create_memory_object_stream[SessionMessage](0)
    lines: asyncio.Queue[Said] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def listen() -> None:
        """Read in a separate thread, so that a flooding server is stopped at its limit."""
        while True:
            said = talk.read(_READ_S)
            if said.kind is ErrorKind.TIMEOUT:
                continue
            traffic.came += len(said.line)
            if traffic.came > _MOST_BYTES:
                said = Said(b"", ErrorKind.OUTPUT_LIMIT, f"it wrote more than {_MOST_BYTES:,} bytes")
            loop.call_soon_threadsafe(lines.put_nowait, said)
            if said.kind is not None:
                return

    async def send() -> None:
        async with outward:
            async for one in outward:
                talk.send(one.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    def end() -> None:
        talk.close()
        listening.join()

    listening = threading.Thread(target=listen, name="mcp-listen", daemon=True)
    listening.start()
    moving = [asyncio.create_task(_inward(lines, inward, talk, traffic)), asyncio.create_task(send())]
    try:
        yield read, write
    finally:
        for task in moving:
            task.cancel()
        await asyncio.wait(moving)
        for stream in (inward, read, write, outward):
            stream.close()
        ending = threading.Thread(target=end, name="mcp-end")
        ending.start()
        while ending.is_alive():  # as long as a program may take to exit
            await asyncio.sleep(0.01)


async def _inward(
    lines: asyncio.Queue[Said],
    inward: MemoryObjectSendStream[SessionMessage | Exception],
    talk: Conversation,
    traffic: Traffic,
) -> None:
    async with inward:
        while True:
            said = await lines.get()
            if said.kind is not None:
                traffic.failed(said.kind, said.problem + stderr_note(talk.stderr()), retryable=said.kind in RETRYABLE)
                return
            try:
                message = jsonrpc_message_adapter.validate_json(said.line, by_name=False)
            except ValueError:
                shown = printable(said.line[: 4 * _SHOWN].decode("utf-8", "replace"))[:_SHOWN]
                traffic.noise = traffic.noise or shown
                if said.line.lstrip().startswith(b"{"):  # meant as a message; log lines may come in between
                    traffic.failed(ErrorKind.PROTOCOL, f"it wrote an invalid protocol message: {shown}")
                    return
                continue
            await inward.send(SessionMessage(message))


@asynccontextmanager
async def _server_streams(target: Target, traffic: Traffic, tls: ssl.SSLContext) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams of a session over HTTP; its requests end with the context."""

    async def watch(response: httpx2.Response) -> None:
        _watch(response, target, traffic)

    async with (
        httpx2.AsyncClient(
            transport=AsyncTransport(_Network(target, traffic), tls),
            trust_env=False,
            timeout=None,
            headers={**target.headers, "Accept-Encoding": "identity"},
            event_hooks={"response": [watch]},
        ) as client,
        streamable_http_client(target.url, http_client=client, max_sse_event_size=_MOST_BYTES) as streams,
    ):
        yield streams


def _watch(response: httpx2.Response, target: Target, traffic: Traffic) -> None:
    """Record why a call is about to fail."""
    status = response.status_code
    if coding_of(response.headers) != "identity":
        words = "its answer has a Content-Encoding that was not requested"
        traffic.failed(ErrorKind.PROTOCOL, words)
        raise httpx2.DecodingError(words, request=response.request)
    if response.request.method != "POST" or status < 300:
        return
    location = response.headers.get("location")
    if location is not None and status < 400:
        there, same = redirected(str(response.request.url), location, target.url)
        if not same or status not in (307, 308):
            words = f"it answered {status} with location {target.shown(there)}, which is not followed"
            traffic.failed(ErrorKind.REDIRECT, words, retryable=False)
        return
    if status in (401, 403):
        traffic.failed(ErrorKind.AUTH, f"it answered with status {status}", retryable=False)
    else:
        traffic.failed(ErrorKind.HTTP_STATUS, f"it answered with status {status}", retryable=is_retryable(status))


class _Network(httpcore2.AsyncNetworkBackend):
    """Opens connections to allowed addresses."""

    def __init__(self, target: Target, traffic: Traffic) -> None:
        self._target, self._traffic = target, traffic
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            address, *_ = await asyncio.to_thread(self._target.hosts.addresses, host, port, _LOOKED_UP_S)
            stream = await self._network.connect_tcp(address, port, timeout, None, socket_options)
            return _Stream(stream, self._traffic)
        except (UnreachableError, httpcore2.ConnectError) as error:
            refused = isinstance(error, UnreachableError) and error.refused
            words = f"the connection failed: {self._target.shown(str(error))}"
            self._traffic.failed(ErrorKind.CONNECTION, words, retryable=not refused)
            raise httpcore2.ConnectError(str(error)) from None

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Stream(httpcore2.AsyncNetworkStream):
    """A connection that counts its bytes."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream, traffic: Traffic) -> None:
        self._stream, self._traffic = stream, traffic

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._stream.read(max_bytes, timeout)
        self._traffic.came += len(data)
        if self._traffic.came > _MOST_BYTES:
            words = f"it sent more than {_MOST_BYTES:,} bytes"
            self._traffic.failed(ErrorKind.OUTPUT_LIMIT, words, retryable=False)
            raise httpcore2.ReadError(words)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        return _Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout), self._traffic)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)
