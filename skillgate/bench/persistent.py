"""Runs a program that answers many requests: one line in, one line out, one request at a time.

A worker is used again only after it answered as it should. One that is late, dies, or says anything else is ended, and
another takes its place, so that what it might still say is never taken for the answer to another request.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.ports import Reply
from skillgate.bench.program import AGAIN, Unopened, request_of, told
from skillgate.bench.redacting import redacted
from skillgate.bench.replies import read_reply
from skillgate.model.bench_result import ErrorKind

if TYPE_CHECKING:
    from skillgate.bench.ports import Call, Conversation
    from skillgate.bench.program import Program


_MOST_MORE = 1_000  # lines behind a reply that are looked at


class _Worker(NamedTuple):
    """A process, and how many requests it has been sent."""

    conversation: Conversation
    asked: int


class PersistentAdapter:
    """Keeps as many processes as there are calls at once. Thread-safe."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []

    def unstartable(self) -> str | None:
        """Say why the evaluator cannot start it; see :class:`skillgate.bench.ports.Starting`."""
        return self._program.unstartable()

    def invoke(self, call: Call) -> Reply:
        """Ask once; see :class:`skillgate.bench.ports.Adapter`."""
        return redacted(self._asked(call), self._program.secrets)

    def _asked(self, call: Call) -> Reply:
        began = time.monotonic()
        worker = self._worker(call.timeout_s)
        if isinstance(worker, Unopened):
            return Reply(kind=worker.kind, error=worker.words, retryable=worker.kind in AGAIN, answered=False)
        talk, number = worker.conversation, worker.asked + 1
        reply: Reply | None = None
        is_usable = False
        try:
            talk.send(request_of(call, number))
            reply = self._answer(talk, number, call.timeout_s, began)
            is_usable = reply.kind in (None, ErrorKind.RPC) and not talk.has_spoken()
            if reply.kind in (None, ErrorKind.RPC) and not is_usable:
                reply = self._with_more(reply, talk, number)
        finally:
            if not is_usable:
                talk.close()
        if is_usable:
            with self._lock:
                self._idle.append(_Worker(talk, number))
        if reply.kind in (None, ErrorKind.RPC):
            return reply
        return reply._replace(error=reply.error + told(talk.stderr()))

    def _with_more(self, reply: Reply, talk: Conversation, number: int) -> Reply:
        """Return a reply, or the error that there are two of them; what comes later than the reply cannot be seen."""
        lines = [b'{"jsonrpc": "2.0", "id": %d, "result": null}' % number]
        while len(lines) <= _MOST_MORE and (more := talk.read(0.0)).kind is None:
            lines.append(more.line)
        second = read_reply(b"\n".join(lines), number, exactly=True)
        return second if second.kind is ErrorKind.PROTOCOL else reply

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.conversation.close()

    def _worker(self, timeout_s: float) -> _Worker | Unopened:
        """Give one that waits and has been silent, or a new one; in words why there is none."""
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                talk = self._program.opened(timeout_s)
                return talk if isinstance(talk, Unopened) else _Worker(talk, 0)
            if not worker.conversation.has_spoken():
                return worker
            worker.conversation.close()  # it has ended, or spoke without being asked

    def _answer(self, talk: Conversation, number: int, timeout_s: float, began: float) -> Reply:
        said = talk.read(max(0.0, began + timeout_s - time.monotonic()))
        if said.kind is None:
            return read_reply(said.line, number, exactly=True)
        problem = said.problem
        if said.kind is ErrorKind.TIMEOUT:
            problem = f"{self._program.argv[0]} gave no answer within {timeout_s:g} s and was ended"
        elif said.kind in (ErrorKind.CRASH, ErrorKind.EXIT_CODE):
            problem += " without a reply"
        return Reply(kind=said.kind, error=problem, retryable=said.kind in AGAIN, answered=False)
