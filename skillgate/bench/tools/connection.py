"""One MCP session: opened, told its tools, called, closed; and why it failed where it did."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx2
import mcp_types as types
from mcp import ClientSession
from mcp.shared.exceptions import MCPError

from skillgate import __version__
from skillgate.model.bench_result import ErrorKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from mcp.client import Transport

_MOST_PAGES = 100  # of a list of tools
_CLOSING_S = 1.0  # that a session may take to say goodbye
for _name in ("mcp", "client"):  # the SDK's words about a server are not the user's
    logging.getLogger(_name).addHandler(logging.NullHandler())


class Trouble(NamedTuple):
    """Why a connection is of no use any more."""

    kind: ErrorKind
    words: str
    retryable: bool = True


class FailedError(Exception):
    """A connection gave no answer; ``trouble`` says why."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.words)
        self.trouble = trouble


class Traffic:
    """What a transport tells about its connection.

    Attributes:
        trouble: the first that it met; None for none.
        noise: the first thing that came and is no message; ``""`` for none.
        came: bytes since the last call began.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.trouble: Trouble | None = None
        self.noise = ""
        self.came = 0

    def failed(self, kind: ErrorKind, words: str, *, retryable: bool = True) -> None:
        """Note trouble; what came first counts."""
        self.trouble = self.trouble or Trouble(kind, words, retryable)


class _Session(ClientSession):
    """A session that does not hold a server's answer against the schema that the same server gave.

    Scorers judge answers. And a schema's regular expression may take for ever, in the one thread that keeps the time.
    """

    async def validate_tool_result(self, name: str, result: types.CallToolResult) -> None:
        """Accept it."""


class Connection:
    """A session in a task of its own, since what the SDK opens has to be closed by the task that opened it."""

    def __init__(self, traffic: Traffic, transport: Callable[[], AbstractAsyncContextManager[Any] | Transport]) -> None:
        """Take how its streams are opened; :meth:`open` does so."""
        self.traffic = traffic
        self.tools: tuple[str, ...] = ()
        self._transport = transport
        self._session: ClientSession | None = None
        self._ready = asyncio.Event()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether it may be used again."""
        return self._task is not None and not self._task.done() and self.traffic.trouble is None

    async def open(self) -> None:
        """Connect, greet the server and ask for its tools.

        Raises:
            FailedError: one of it failed.
        """
        self._task = asyncio.create_task(self._live())
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if not self._ready.is_set():
            raise FailedError(self._why(self._task.exception()))

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Call a tool.

        Raises:
            FailedError: there is no result.
        """
        assert self._session is not None
        assert self._task is not None
        self.traffic.came = 0
        asking = asyncio.ensure_future(self._session.call_tool(tool, dict(arguments)))
        try:
            await asyncio.wait({asking, self._task}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise FailedError(self._why(self._task.exception()))
        finally:
            if not asking.done():
                asking.cancel()
                await asyncio.wait({asking}, timeout=_CLOSING_S)
        problem = asking.exception()
        if problem is not None:
            raise FailedError(self._why(problem))
        return asking.result()

    async def close(self) -> None:
        """End the session; a server that does not let it end is left."""
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
            self._task.exception()  # it was told, or nobody asks any more

    async def _live(self) -> None:
        info = types.Implementation(name="skillgate", version=__version__)
        async with self._transport() as (read, write), _Session(read, write, client_info=info) as session:
            await session.initialize()
            self.tools = await _listed(session)
            self._session = session
            self._ready.set()
            await self._closing.wait()

    def _why(self, problem: BaseException | None) -> Trouble:
        """Say why there is no answer: what the transport met, else what the SDK raised.

        Raises:
            BaseException: the SDK raised what no server can cause.
        """
        if self.traffic.trouble is not None:
            return self.traffic.trouble
        cause = _innermost(problem)
        if isinstance(cause, MCPError):
            if cause.error.code == types.CONNECTION_CLOSED:
                return Trouble(ErrorKind.CONNECTION, "the connection was closed without an answer")
            words = f"it answered with error {cause.error.code}: {cause.error.message}"
            return Trouble(ErrorKind.RPC, words, retryable=False)
        if cause is None:
            return Trouble(ErrorKind.CONNECTION, "the connection was closed without an answer")
        if isinstance(cause, OSError | httpx2.HTTPError):
            return Trouble(ErrorKind.CONNECTION, f"the connection failed: {cause}")
        if isinstance(cause, RuntimeError | ValueError):
            return Trouble(ErrorKind.PROTOCOL, f"its answer is not what the protocol allows: {cause}")
        raise cause


async def _listed(session: ClientSession) -> tuple[str, ...]:
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
