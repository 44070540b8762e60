"""Runs a program that speaks JSON-RPC 2.0: one request on its standard input, one reply on its standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.persistent import PersistentAdapter
from skillgate.bench.ports import NOT_STARTED, Reply
from skillgate.bench.program import AGAIN, Program, command_of, request_of, secrets_of, told, variables_of
from skillgate.bench.redacting import redacted
from skillgate.bench.replies import read_reply
from skillgate.errors import UsageError
from skillgate.model.bench_result import ErrorKind

if TYPE_CHECKING:
    from skillgate.bench.ports import Adapter, Call, Ended, Surroundings
    from skillgate.model.executable import Runnable


def open_adapter(skill: Runnable, surroundings: Surroundings) -> Adapter:
    """Make ready to run a program.

    Raises:
        UsageError: its command or a variable cannot be; or no program may be started.
    """
    if surroundings.spawner is None:
        raise UsageError(f"{skill.shown} is a program, and {NOT_STARTED}")
    env = variables_of(skill, surroundings)
    program = Program(skill, command_of(skill), env, surroundings.spawner, secrets_of(skill, surroundings))
    return PersistentAdapter(program) if skill.config.persistent else SubprocessAdapter(program)


class SubprocessAdapter:
    """Starts one process for each call."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def unstartable(self) -> str | None:
        """Say why the evaluator cannot start it; see :class:`skillgate.bench.ports.Starting`."""
        return self._program.unstartable()

    def invoke(self, call: Call) -> Reply:
        """Ask once; see :class:`skillgate.bench.ports.Adapter`."""
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
        """Nothing stays between calls."""


def _reply(ended: Ended) -> Reply:
    if ended.kind is not None:
        return Reply(
            kind=ended.kind, error=ended.problem + told(ended.stderr), retryable=ended.kind in AGAIN, answered=False
        )
    reply = read_reply(ended.stdout)
    code = ended.returncode or 0
    if code == 0:
        return reply._replace(error=reply.error + told(ended.stderr)) if reply.kind is ErrorKind.PROTOCOL else reply
    kind = ErrorKind.CRASH if code < 0 else ErrorKind.EXIT_CODE
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    if reply.kind is None:
        return reply._replace(kind=kind, error=f"it answered and then {how}{told(ended.stderr)}", retryable=True)
    if reply.kind is ErrorKind.RPC:
        return reply
    return Reply(kind=kind, error=f"it {how} without a reply{told(ended.stderr)}", retryable=True, answered=False)
