"""Runs a program that speaks JSON-RPC 2.0: one request on its standard input, one reply on its standard output."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from skillgate.bench.ports import Limits, Reply
from skillgate.bench.replies import read_reply
from skillgate.bench.tokens import passed
from skillgate.errors import UsageError
from skillgate.model.bench_result import ErrorKind
from skillgate.model.text import printable

if TYPE_CHECKING:
    from skillgate.bench.ports import Call, Ended, Spawner, Surroundings
    from skillgate.model.executable import Runnable

_SHELL = frozenset((";", "&&", "||", "|", "&", ">", ">>", "<", "2>", "2>&1"))
_TOLD = 600  # characters of stderr in a message
_MIB = 1024 * 1024


def open_adapter(skill: Runnable, surroundings: Surroundings) -> SubprocessAdapter:
    """Make ready to run a program.

    Raises:
        UsageError: its command or a variable cannot be; or no program may be started.
    """
    if surroundings.spawner is None:
        raise UsageError(f"{skill.shown} is a program, and programs are not started here; say --allow-exec")
    if skill.config.persistent:
        raise UsageError(f"{skill.shown}: persistent: one process for many requests is not supported yet; leave it out")
    where = f"{skill.shown}: passEnv"
    handed = {
        name: passed(name, surroundings.environ, surroundings.allow_env, where=where) for name in skill.config.pass_env
    }
    env = {**skill.config.env, **handed, **surroundings.served}
    return SubprocessAdapter(skill, command_of(skill), env, surroundings.spawner)


def command_of(skill: Runnable) -> tuple[str, ...]:
    """Give the program and its arguments; words are split as a shell would, and no shell is ever asked.

    Raises:
        UsageError: the entrypoint is not such a command.
    """
    if skill.config.command is not None:
        return (skill.config.command, *skill.config.args)
    where = f"{skill.shown}: entrypoint"
    try:
        words = shlex.split(skill.spec.entrypoint)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None
    if not words:
        raise UsageError(f"{where}: expected a command, found nothing")
    for word in words:
        if word in _SHELL or word.rstrip(";") != word:
            raise UsageError(
                f"{where}: {word[:80]!r} is for a shell, and no shell runs it; name one program and its arguments, or a"
                " script that does the rest"
            )
    return tuple(words)


class SubprocessAdapter:
    """Starts one process for each call."""

    def __init__(self, skill: Runnable, argv: tuple[str, ...], env: dict[str, str], spawner: Spawner) -> None:
        self._skill = skill
        self._argv = argv
        self._env = env
        self._spawner = spawner

    def invoke(self, call: Call) -> Reply:
        """Ask once; see :class:`skillgate.bench.ports.Adapter`."""
        request = {"jsonrpc": "2.0", "method": "invoke", "params": dict(call.data), "id": 1}
        own = self._skill.config.memory_mb  # the spawner's limit holds where it is lower, or the only one
        limits = Limits(timeout_s=call.timeout_s, memory_bytes=None if own is None else own * _MIB)
        ended = self._spawner.run(
            self._argv,
            root=self._skill.root,
            stdin=json.dumps(request, ensure_ascii=False).encode() + b"\n",
            env=self._env,
            limits=limits,
            copy=self._skill.config.work_dir == "copy",
        )
        return _reply(ended)

    def close(self) -> None:
        """Nothing stays between calls."""


def _reply(ended: Ended) -> Reply:
    if ended.kind is not None:
        return Reply(
            kind=ended.kind, error=ended.problem + _stderr(ended), retryable=ended.kind in _AGAIN, answered=False
        )
    reply = read_reply(ended.stdout)
    code = ended.returncode or 0
    if code == 0:
        return reply._replace(error=reply.error + _stderr(ended)) if reply.kind is ErrorKind.PROTOCOL else reply
    kind = ErrorKind.CRASH if code < 0 else ErrorKind.EXIT_CODE
    told = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    if reply.kind is None:
        return reply._replace(kind=kind, error=f"it answered and then {told}{_stderr(ended)}", retryable=True)
    if reply.kind is ErrorKind.RPC:
        return reply
    return Reply(kind=kind, error=f"it {told} without a reply{_stderr(ended)}", retryable=True, answered=False)


_AGAIN = frozenset((ErrorKind.TIMEOUT, ErrorKind.SPAWN))


def _stderr(ended: Ended) -> str:
    text = printable(ended.stderr[-4 * _TOLD :].decode("utf-8", "replace")).strip()
    return f"; its standard error ends: {text[-_TOLD:]}" if text else ""
