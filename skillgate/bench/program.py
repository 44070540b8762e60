"""What is known of a skill's program before it is started: its command, its variables, its limits, and what it said."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.isolation.starting import kind_of
from skillgate.bench.ports import Limits
from skillgate.bench.tokens import passed
from skillgate.errors import IncompleteError, UsageError
from skillgate.model.bench_result import ErrorKind
from skillgate.model.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.ports import Call, Conversation, Spawner, Surroundings
    from skillgate.model.executable import Runnable

AGAIN = frozenset((ErrorKind.TIMEOUT, ErrorKind.SPAWN, ErrorKind.CRASH, ErrorKind.EXIT_CODE, ErrorKind.PROTOCOL))
"""The failures of a program that may not happen again."""
_SHELL = frozenset((";", "&&", "||", "|", "&", ">", ">>", "<", "2>", "2>&1"))
_TOLD = 600  # characters of stderr in a message
_MIB = 1024 * 1024


class Unopened(NamedTuple):
    """Why a program that is talked to was not started."""

    kind: ErrorKind
    words: str


class Program(NamedTuple):
    """A skill's program, ready to be started by a spawner; ``secrets`` are what it was handed and no report tells."""

    skill: Runnable
    argv: tuple[str, ...]
    env: Mapping[str, str]
    spawner: Spawner
    secrets: tuple[str, ...] = ()

    @property
    def copy(self) -> bool:
        """Whether each process has a fresh copy of the skill to itself."""
        return self.skill.config.work_dir == "copy"

    def limits(self, timeout_s: float) -> Limits:
        """Give what a call of so many seconds may use."""
        own = self.skill.config.memory_mb  # the spawner's limit holds where it is lower, or the only one
        return Limits(timeout_s=timeout_s, memory_bytes=None if own is None else own * _MIB)

    def unstartable(self) -> str | None:
        """Say why this evaluator cannot start it although it exists; None where it can, or the program is at fault."""
        return self.spawner.unstartable(self.argv, root=self.skill.root, env=self.env, copy=self.copy)

    def opened(self, timeout_s: float) -> Conversation | Unopened:
        """Start it to be talked to, or say why it could not be."""
        try:
            return self.spawner.open(
                self.argv, root=self.skill.root, env=self.env, limits=self.limits(timeout_s), copy=self.copy
            )
        except IncompleteError as error:
            return Unopened(kind_of(error), str(error))


def secrets_of(skill: Runnable, surroundings: Surroundings) -> tuple[str, ...]:
    """Give the values of the user's variables that a skill is handed."""
    return tuple(filter(None, (surroundings.environ.get(name) for name in skill.config.pass_env)))


def variables_of(skill: Runnable, surroundings: Surroundings) -> dict[str, str]:
    """Give a skill's own variables: those of its settings, of the user that it may have, and of the benchmark's server.

    Raises:
        UsageError: one must not be given, or is not set.
    """
    where = f"{skill.shown}: passEnv"
    handed = {
        name: passed(name, surroundings.environ, surroundings.allow_env, where=where) for name in skill.config.pass_env
    }
    return {**skill.config.env, **handed, **surroundings.served}


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


def request_of(call: Call, number: int) -> bytes:
    """Give the line that asks a program."""
    request = {"jsonrpc": "2.0", "method": "invoke", "params": dict(call.data), "id": number}
    return json.dumps(request, ensure_ascii=False).encode()


def told(stderr: bytes) -> str:
    """Say how a program's standard error ends, to close a message with; ``""`` where it is empty.

    Its last line comes first, since that is where a traceback says what went wrong: whoever cuts the message keeps it.
    """
    lines = stderr[-4 * _TOLD :].decode("utf-8", "replace").rstrip().rsplit("\n", 1)
    last, before = printable(lines[-1]).strip(), printable(lines[0]).strip() if len(lines) > 1 else ""
    if not last:
        return ""
    room = max(0, _TOLD - len(last))
    return f"; its standard error ends: {last[-_TOLD:]}" + (f" – after: {before[-room:]}" if before and room else "")
