"""The streams of a session with a server that is a program: its lines, moved between its pipes and the SDK."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from skillgate.bench.ports import Said
from skillgate.bench.program import AGAIN, told
from skillgate.model.bench_result import ErrorKind
from skillgate.model.text import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from skillgate.bench.ports import Conversation
    from skillgate.bench.tools.connection import Traffic

MOST_BYTES = 5 * 1024 * 1024  # between two calls
_SHOWN = 200
_LISTENED_S = 3600.0


@asynccontextmanager
async def piped(talk: Conversation, traffic: Traffic) -> AsyncIterator[tuple[Any, Any]]:
    """Give the streams of a session; the program is ended with them."""
    inward, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outward = anyio.create_memory_object_stream[SessionMessage](0)
    lines: asyncio.Queue[Said] = asyncio.Queue()
    listening = _listening(talk, traffic, lines, asyncio.get_running_loop())
    moving = [asyncio.create_task(_inward(lines, inward, talk, traffic)), asyncio.create_task(_outward(outward, talk))]
    try:
        yield read, write
    finally:
        for task in moving:
            task.cancel()
        await asyncio.wait(moving)
        for stream in (inward, read, write, outward):
            stream.close()
        ending = threading.Thread(target=_ended, args=(talk, listening), name="mcp-end")
        ending.start()
        while ending.is_alive():  # at most the moments that a program has to end
            await asyncio.sleep(0.01)


def _ended(talk: Conversation, listening: threading.Thread) -> None:
    talk.close()
    listening.join()


def _listening(
    talk: Conversation, traffic: Traffic, lines: asyncio.Queue[Said], loop: asyncio.AbstractEventLoop
) -> threading.Thread:
    """Listen in a thread of its own: a server that floods is heard no longer than it may."""

    def listen() -> None:
        while True:
            said = talk.read(_LISTENED_S)
            if said.kind is ErrorKind.TIMEOUT:
                continue
            traffic.came += len(said.line)
            if traffic.came > MOST_BYTES:
                said = Said(b"", ErrorKind.OUTPUT_LIMIT, f"it wrote more than {MOST_BYTES:,} bytes")
            loop.call_soon_threadsafe(lines.put_nowait, said)
            if said.kind is not None:
                return

    thread = threading.Thread(target=listen, name="mcp-listen", daemon=True)
    thread.start()
    return thread


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
                traffic.failed(said.kind, said.problem + told(talk.stderr()), retryable=said.kind in AGAIN)
                return
            try:
                message = jsonrpc_message_adapter.validate_json(said.line, by_name=False)
            except ValueError:
                shown = printable(said.line[: 4 * _SHOWN].decode("utf-8", "replace"))[:_SHOWN]
                traffic.noise = traffic.noise or shown
                if said.line.lstrip().startswith(b"{"):  # meant to be a message; other words may stand between them
                    traffic.failed(ErrorKind.PROTOCOL, f"it wrote what is no message of the protocol: {shown}")
                    return
                continue
            await inward.send(SessionMessage(message))


async def _outward(outward: MemoryObjectReceiveStream[SessionMessage], talk: Conversation) -> None:
    async with outward:
        async for one in outward:
            talk.send(one.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
