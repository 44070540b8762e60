"""Run a program that speaks JSON-RPC 2.0: one request on standard input, one reply on standard output.

A persistent program answers many requests, one line each, one at a time. A worker is reused only after a correct
answer. A worker that is late, dies or writes anything else is stopped and replaced, so that its late output is never
taken for the answer to another request.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.answers import read_reply, redacted
from skillgate.bench.ports import NOT_STARTED, Refusal, Reply
from skillgate.bench.program import (
    RETRYABLE,
    Program,
    Unopened,
    command_of,
    request_of,
    secrets_of,
    stderr_note,
    variables_of,
)
from skillgate.errors import UsageError
from skillgate.model.bench import ErrorKind

if TYPE_CHECKING:
    from skillgate.bench.ports import Call, Conversation, Ended, Surroundings
    from skillgate.model.benchmark import Runnable


def open_adapter(skill: Runnable, surroundings: Surroundings) -> SubprocessAdapter | PersistentAdapter:
    """Prepare to run a program.

    Raises:
        UsageError: The command or a variable is not valid, or programs may not be started.
    """
    if surroundings.spawner is None:
        raise UsageError(f"{skill.shown} is a program, and {NOT_STARTED}")
    env = variables_of(skill, surroundings)
    program = Program(skill, command_of(skill), env, surroundings.spawner, secrets_of(skill, surroundings))
    return PersistentAdapter(program) if skill.config.persistent else SubprocessAdapter(program)


class _ProgramAdapter:
    def __init__(self, program: Program) -> None:
        self._program = program

    def unstartable(self) -> str | None:
        """Return why it cannot be started; see :class:`skillgate.bench.ports.Starting`."""
        return self._program.unstartable()


class SubprocessAdapter(_ProgramAdapter):
    """Starts one process for each call."""

    def invoke(self, call: Call) -> Reply:
        """Call once; see :class:`skillgate.bench.ports.Adapter`."""
        program = self._program
        ended = program.spawner.run(
            program.argv,
            root=program.skill.root,
            stdin=request_of(call, 1) + b"\n",
            env=program.env,
            limits=program.limits(call.timeout_s),
            copy=program.copy,
        )
        return redacted(_reply(ended), program.secrets)

    def close(self) -> None:
        """Do nothing: no process outlives a call."""


def _reply(ended: Ended) -> Reply:
    if ended.kind is not None:
        return Reply(
            kind=ended.kind,
            error=ended.problem + stderr_note(ended.stderr),
            retryable=ended.kind in RETRYABLE,
            answered=False,
        )
    reply = read_reply(ended.stdout)
    code = ended.returncode or 0
    if code == 0:
        return (
            reply._replace(error=reply.error + stderr_note(ended.stderr)) if reply.kind is ErrorKind.PROTOCOL else reply
        )
    kind = ErrorKind.CRASH if code < 0 else ErrorKind.EXIT_CODE
    how = f"was killed by signal {-code}" if code < 0 else f"exited with code {code}"
    refusal = None if code < 0 else Refusal(code, _written(ended))
    if reply.kind is None:
        error = f"it answered and then {how}{stderr_note(ended.stderr)}"
        return reply._replace(kind=kind, error=error, retryable=True, refusal=refusal)
    if reply.kind is ErrorKind.RPC:
        return reply
    error = f"it {how} without a reply{stderr_note(ended.stderr)}"
    return Reply(kind=kind, error=error, retryable=True, answered=False, refusal=refusal)


def _written(ended: Ended) -> str:
    """Return the end of what a program wrote: its standard error, then its standard output."""
    texts = (one[-_MOST_TEXT:].decode("utf-8", "replace").strip() for one in (ended.stderr, ended.stdout))
    return "\n".join(filter(None, texts))


_MOST_TEXT = 4_096  # bytes of each stream in a refusal
_MOST_MORE = 1_000  # lines checked after a reply


class _Worker(NamedTuple):
    """A process and the number of requests sent to it."""

    conversation: Conversation
    requests: int


class PersistentAdapter(_ProgramAdapter):
    """Keeps one process per concurrent call. Thread-safe."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []

    def invoke(self, call: Call) -> Reply:
        """Call once; see :class:`skillgate.bench.ports.Adapter`."""
        return redacted(self._call(call), self._program.secrets)

    def _call(self, call: Call) -> Reply:
        began = time.monotonic()
        worker = self._worker(call.timeout_s)
        if isinstance(worker, Unopened):
            return Reply(kind=worker.kind, error=worker.words, retryable=worker.kind in RETRYABLE, answered=False)
        talk, number = worker.conversation, worker.requests + 1
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
        return reply._replace(error=reply.error + stderr_note(talk.stderr()))

    def _with_more(self, reply: Reply, talk: Conversation, number: int) -> Reply:
        """Return the reply, or an error if a second reply has already arrived."""
        lines = [b'{"jsonrpc": "2.0", "id": %d, "result": null}' % number]
        while len(lines) <= _MOST_MORE and (more := talk.read(0.0)).kind is None:
            lines.append(more.line)
        second = read_reply(b"\n".join(lines), number, exactly=True)
        return second if second.kind is ErrorKind.PROTOCOL else reply

    def close(self) -> None:
        """Stop all processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.conversation.close()

    def _worker(self, timeout_s: float) -> _Worker | Unopened:
        """Return an idle worker that has written nothing, or a new one; or why there is none."""
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                talk = self._program.opened(timeout_s)
                return talk if isinstance(talk, Unopened) else _Worker(talk, 0)
            if not worker.conversation.has_spoken():
                return worker
            worker.conversation.close()  # it exited, or wrote without a request

    def _answer(self, talk: Conversation, number: int, timeout_s: float, began: float) -> Reply:
        said = talk.read(max(0.0, began + timeout_s - time.monotonic()))
        if said.kind is None:
            return read_reply(said.line, number, exactly=True)
        problem = said.problem
        if said.kind is ErrorKind.TIMEOUT:
            problem = f"{self._program.argv[0]} gave no answer within {timeout_s:g} s and was stopped"
        elif said.kind in (ErrorKind.CRASH, ErrorKind.EXIT_CODE):
            problem += " without a reply"
        return Reply(kind=said.kind, error=problem, retryable=said.kind in RETRYABLE, answered=False)
