"""A session with an MCP server, over the pipes of a program or over streamable HTTP."""

from __future__ import annotations

import logging
import ssl
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from skillgate import __version__
from skillgate.bench.addresses import UnreachableError, coding_of, is_retryable, redirected
from skillgate.bench.ports import Said
from skillgate.bench.program import RETRYABLE, stderr_note
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
    from mcp.shared.exceptions import MCPError as MCPError
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    from skillgate.http_transport import AsyncTransport
except ModuleNotFoundError as missing:
    raise UsageError('skills of adapterType mcp need the MCP SDK: pip install "skillgate-action[mcp]"') from (missing)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping
    from contextlib import AbstractAsyncContextManager

    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.client import Transport

    from skillgate.bench.addresses import Target
    from skillgate.bench.ports import Conversation

_MOST_BYTES = 5 * 1024 * 1024  # between two calls
_MOST_PAGES = 100  # of a list of tools
_CLOSING_S = 1.0  # that closing a session may take
_SHOWN = 200
_READ_S = 3600.0
_LOOKED_UP_S = 30.0
for _name in ("mcp", "client"):  # the SDK's log messages about a server are not for users
    logging.getLogger(_name).addHandler(logging.NullHandler())


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
        self.name, self.version = "", ""  # as the server says
        self.tools: dict[str, dict[str, Any]] = {}  # each tool as it is listed, by name
        self.twice: list[str] = []  # names that are listed more than once
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
        client = types.Implementation(name="skillgate", version=__version__)
        async with self._transport() as (read, write), _Session(read, write, client_info=client) as session:
            info = (await session.initialize()).server_info
            self.name, self.version = info.name, info.version
            for tool in await _tools(session):
                self.twice += [tool.name] if tool.name in self.tools else []
                self.tools.setdefault(tool.name, tool.model_dump(mode="json", by_alias=True, exclude_none=True))
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


async def _tools(session: ClientSession) -> list[types.Tool]:
    tools: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor) if cursor else None)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return tools


def _innermost(problem: BaseException | None) -> BaseException | None:
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


@asynccontextmanager
async def program_streams(talk: Conversation, traffic: Traffic) -> AsyncIterator[tuple[Any, Any]]:
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
async def server_streams(target: Target, traffic: Traffic, tls: ssl.SSLContext) -> AsyncIterator[tuple[Any, Any]]:
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
