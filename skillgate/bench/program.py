"""The command, variables and limits of a skill's program, and checks that it can be started here."""
# ruff: noqa: PTH110, PTH112, PTH113, PTH114, PTH116, PTH118, PTH119, PTH123

from __future__ import annotations

import json
import os
import re
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.ports import Limits, passed
from skillgate.errors import IncompleteError, UsageError
from skillgate.files import EXECUTE, READ, READ_AND_EXECUTE, closed_by, is_within, unreachable
from skillgate.files import passed as places_passed
from skillgate.format import printable
from skillgate.model.bench import ErrorKind
from skillgate.model.benchmark import OWN_ADAPTER, AdapterType
from skillgate.process import MissingExecutableError, UnreachableError, candidates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.bench.ports import Call, Conversation, Spawner, Surroundings
    from skillgate.model.benchmark import Runnable

PROGRAMS = (AdapterType.SUBPROCESS, AdapterType.MCP, *OWN_ADAPTER)
"""The types of skills that are programs; an MCP server may also be at an address."""
RETRYABLE = frozenset((ErrorKind.TIMEOUT, ErrorKind.SPAWN, ErrorKind.CRASH, ErrorKind.EXIT_CODE, ErrorKind.PROTOCOL))
"""Failures that a retry may fix."""
_SHELL = frozenset((";", "&&", "||", "|", "&", ">", ">>", "<", "2>", "2>&1"))
_SHOWN = 600  # characters of stderr in a message
_MIB = 1024 * 1024


class Unopened(NamedTuple):
    """Why a program was not started."""

    kind: ErrorKind
    words: str


class Program(NamedTuple):
    """A skill's program, ready for the spawner. ``secrets`` are values passed to it that no report may show."""

    skill: Runnable
    argv: tuple[str, ...]
    env: Mapping[str, str]
    spawner: Spawner
    secrets: tuple[str, ...] = ()

    @property
    def copy(self) -> bool:
        """Whether each process gets its own copy of the skill."""
        return runs_in_copy(self.skill)

    def limits(self, timeout_s: float) -> Limits:
        """Return the limits of a call."""
        own = self.skill.config.memory_mb  # the spawner's limit applies too
        return Limits(timeout_s=timeout_s, memory_bytes=None if own is None else own * _MIB)

    def unstartable(self) -> str | None:
        """Return why it cannot be started although it exists; None if it can, or if the skill is at fault."""
        return self.spawner.unstartable(self.argv, root=self.skill.root, env=self.env, copy=self.copy)

    def opened(self, timeout_s: float) -> Conversation | Unopened:
        """Start the program and keep it running, or return why that failed."""
        try:
            return self.spawner.open(
                self.argv, root=self.skill.root, env=self.env, limits=self.limits(timeout_s), copy=self.copy
            )
        except IncompleteError as error:
            return Unopened(kind_of(error), str(error))


def runs_in_copy(skill: Runnable) -> bool:
    """Whether each process of a skill gets its own copy of it: by its settings, else if its sessions are separate."""
    if skill.config.work_dir is not None:
        return skill.config.work_dir == "copy"
    return skill.spec.adapter_type is AdapterType.MCP and skill.config.restart != "per-run"


def secrets_of(skill: Runnable, surroundings: Surroundings) -> tuple[str, ...]:
    """Return the values of the user's variables that a skill gets."""
    return tuple(filter(None, (surroundings.environ.get(name) for name in skill.config.pass_env)))


def variables_of(skill: Runnable, surroundings: Surroundings) -> dict[str, str]:
    """Return a skill's variables: from its settings, from the user as far as allowed, and of the benchmark's server.

    Raises:
        UsageError: One is not allowed, or not set.
    """
    where = f"{skill.shown}: passEnv"
    handed = {
        name: passed(name, surroundings.environ, surroundings.allow_env, where=where) for name in skill.config.pass_env
    }
    return {**skill.config.env, **handed, **surroundings.served}


def command_of(skill: Runnable) -> tuple[str, ...]:
    """Return the program and its arguments, split as a shell would, but without running one.

    Raises:
        UsageError: The entrypoint is not a command.
    """
    if skill.spec.adapter_type in OWN_ADAPTER:
        from skillgate.bench.adapters._plugins import plugin_command  # reads the metadata of packages

        return plugin_command(skill)
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
                f"{where}: {word[:80]!r} needs a shell, but none is used; name one program with its arguments, or"
                " put the command into a script"
            )
    return tuple(words)


def request_of(call: Call, number: int) -> bytes:
    """Return a JSON-RPC request as one line."""
    request = {"jsonrpc": "2.0", "method": "invoke", "params": dict(call.data), "id": number}
    return json.dumps(request, ensure_ascii=False).encode()


def stderr_note(stderr: bytes) -> str:
    """Return the end of a program's standard error, to append to a message; ``""`` if it is empty.

    The last line comes first, since it contains the error of a traceback, so that a shortened message still has it.
    """
    lines = stderr[-4 * _SHOWN :].decode("utf-8", "replace").rstrip().rsplit("\n", 1)
    last, before = printable(lines[-1]).strip(), printable(lines[0]).strip() if len(lines) > 1 else ""
    if not last:
        return ""
    room = max(0, _SHOWN - len(last))
    return f"; its standard error ends: {last[-_SHOWN:]}" + (f" – after: {before[-room:]}" if before and room else "")


_SHELLS = frozenset(("sh", "bash", "dash", "ash", "ksh", "zsh"))
_MOST_INTERPRETERS = 5  # a script may be another script's interpreter
_MOST_TEXT = 65_536  # bytes of a shell script
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_BUILTINS = frozenset(
    (
        *(".", ":", "[", "alias", "bg", "break", "builtin", "cd", "command", "continue", "echo", "eval", "exit"),
        *("export", "false", "fg", "getopts", "hash", "jobs", "kill", "local", "printf", "pwd", "read", "readonly"),
        *("return", "set", "shift", "shopt", "source", "test", "times", "trap", "true", "type", "ulimit", "umask"),
        *("unalias", "unset", "wait"),
    )
)
_PREPARING = frozenset((":", "cd", "echo", "export", "printf", "set", "true", "ulimit", "umask", "unset"))
_KEYWORDS = frozenset(
    (
        *("!", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then"),
        *("time", "until", "while", "{", "}", "[["),
    )
)
_IN_SANDBOX = ("/dev/", "/proc/")  # provided by the sandbox itself
_REDIRECTIONS = frozenset((">", ">>", "<", ">&", "<&", ">|", "<>"))


class NoProgramError(IncompleteError):
    """The named file is not executable, or not a program."""


def kind_of(error: Exception) -> ErrorKind:
    """Return the kind of a failed start: the skill's fault if there is no such program, else not_started."""
    is_skills = isinstance(error, MissingExecutableError | NoProgramError)
    return ErrorKind.SPAWN if is_skills else ErrorKind.NOT_STARTED


class Ground(NamedTuple):
    """Where a command starts, and what it can reach from there."""

    place: str  # absolute working directory
    env: Mapping[str, str]
    others: bool  # whether it runs as another user, with the rights of all users
    owned: str | None = None  # a directory that the call gets its own copy of
    visible: tuple[str, ...] | None = None  # paths visible in the sandbox; None without one

    def require(self, path: str, shown: str, wanted: int = EXECUTE) -> None:
        """Refuse an existing file or directory that cannot be reached.

        Raises:
            UnreachableError: The message says why, and what to do.
        """
        try:
            if self.others and (obstacle := closed_by(path, wanted, owned=self.owned)) is not None:
                raise UnreachableError(unreachable(shown, path, obstacle))
            if not self.others and not os.access(path, wanted):
                raise UnreachableError(f"{path} is not readable and executable for you; change its mode")
            if self.visible is None or os.path.isdir(path) or path.startswith(_IN_SANDBOX):
                return
            if (unseen := self._unseen(path, self.visible)) is not None:
                raise UnreachableError(
                    f"{path} is not visible in the sandbox{'' if unseen == path else f' (nor is {unseen})'};"
                    " install it below /usr, add its bin directory to PATH, or run without --sandbox"
                )
        except OSError:  # it is gone, or a broken link: starting the program reports it
            return

    def _unseen(self, path: str, visible: Sequence[str]) -> str | None:
        """Return the first link or file on the path that the sandbox does not show."""
        shown = {*visible, *map(os.path.realpath, visible), self.place, os.path.realpath(self.place)}
        for place, _ in places_passed(path):
            is_inside = any(is_within(place, one) for one in shown)
            if not is_inside and (os.path.islink(place) or place == os.path.realpath(path)):
                return place
        return None

    def absolute(self, word: str) -> str:
        """Return a word of the command as an absolute path."""
        return os.path.normpath(os.path.join(self.place, word))


def program_of(name: str, ground: Ground) -> str:
    """Return the absolute path of a command's program.

    Raises:
        MissingExecutableError: There is no such program.
        UnreachableError: It exists, but cannot be reached.
    """
    if "/" in name or os.sep in name:
        path = ground.absolute(name)
        if not os.path.isfile(path):
            raise MissingExecutableError(f"{name} does not exist below {ground.place}")
        return path
    problem: UnreachableError | None = None
    for candidate in map(str, candidates(name, ground.env)):
        if not os.path.isfile(candidate) or not os.stat(candidate).st_mode & 0o111:
            continue
        try:
            ground.require(candidate, name)
        except UnreachableError as error:
            problem = problem or error
        else:
            return candidate
    raise problem or MissingExecutableError(f"{name} is not installed, or not on PATH")


def require_startable(argv: Sequence[str], ground: Ground) -> str:
    """Return the absolute path of a command's program, or refuse a command that cannot be started.

    Raises:
        UnreachableError: Something it needs exists but cannot be reached; not the skill's fault.
        MissingExecutableError, NoProgramError: There is no such program, or it is not one; the skill's fault.
    """
    program = program_of(argv[0], ground)
    script = _require_program(program, argv[0], ground)
    for word in argv[1:]:
        _require_argument(word, ground)
    if os.path.basename(os.path.realpath(program)) in _SHELLS:
        script = _script(argv[1:], ground)
    if script:
        _require_commands(script, ground)
    return program


def _require_program(path: str, shown: str, ground: Ground, depth: int = 0) -> str:
    """Refuse a file that the system cannot run; return the text if it is a shell script."""
    if not os.stat(path).st_mode & 0o111:
        raise NoProgramError(f"{shown} could not be started: it is not executable; run chmod +x on it")
    ground.require(path, shown)
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_TEXT)
    except OSError:  # executable but not readable
        return ""
    head = text[:256]
    if not head.startswith((b"#!", b"\x7fELF")) and b"\0" not in head:
        raise NoProgramError(f"{shown} could not be started: its first line does not name an interpreter (#!)")
    if not head.startswith(b"#!") or depth >= _MOST_INTERPRETERS:
        return ""
    ground.require(path, shown, READ_AND_EXECUTE)
    words = os.fsdecode(head[2:].split(b"\n")[0]).split()
    interpreter = ground.absolute(words[0]) if words else ""
    if os.path.basename(interpreter) == "env":
        words = _after_env(words[1:])
        with suppress(MissingExecutableError):
            interpreter = program_of(words[0], ground) if words else interpreter
    if os.path.isfile(interpreter):
        try:
            _require_program(interpreter, f"the interpreter of {shown}", ground, depth + 1)
        except NoProgramError:  # the system reports it when the script runs
            return ""
    return text.decode("utf-8", "replace") if os.path.basename(interpreter) in _SHELLS else ""


def _after_env(words: Sequence[str]) -> list[str]:
    """Return the command after ``env``."""
    rest = list(words)
    while rest and (rest[0].startswith("-") or _ASSIGNMENT.match(rest[0])):
        rest.pop(0)
    return rest


def _require_argument(word: str, ground: Ground) -> None:
    """Refuse an argument that is an unreadable file or directory."""
    path = ground.absolute(word)
    if "\0" in word or word.startswith("-") or not os.path.exists(path):
        return
    ground.require(path, word, READ_AND_EXECUTE if os.path.isdir(path) else READ)


def _script(arguments: Sequence[str], ground: Ground) -> str:
    """Return the script that a shell runs: the text after ``-c``, or the content of a file."""
    for number, word in enumerate(arguments):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return next((one for one in arguments[number + 1 :] if not one.startswith("-")), "")
        if word.startswith(("-", "+")):
            continue
        with suppress(OSError), open(ground.absolute(word), "rb") as file:
            return file.read(_MOST_TEXT).decode("utf-8", "replace")
        return ""
    return ""


def _require_commands(script: str, ground: Ground) -> None:
    """Refuse a shell script if one of its commands exists but cannot be reached.

    Only scripts without branches are checked: for others, it is unknown which commands run.
    """
    for name in commands_of(script):
        path = ground.absolute(name)
        if "/" in name and not os.path.isfile(path):
            continue
        with suppress(MissingExecutableError):
            ground.require(path if "/" in name else program_of(name, ground), name)


def commands_of(script: str) -> tuple[str, ...]:
    """Return the programs that a shell script certainly runs, in order; none if it has branches."""
    programs: list[str] = []
    moved = False
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:  # a quote that continues on the next line
            return ()
        for command, is_sure in _split(words):
            name = _name(command)
            if name is None:
                return ()
            if not is_sure:
                continue
            if name in ("exit", "return"):
                return tuple(programs)
            moved = moved or command[0] in ("cd", "pushd")
            if name and name not in _BUILTINS and not (moved and "/" in name and not name.startswith("/")):
                programs.append(name)
            if command[0] == "exec" and name:
                return tuple(programs)
    return tuple(programs)


def _split(words: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Yield the commands of a line, and whether each certainly runs: not after ``&&`` and a command that may fail."""
    command: list[str] = []
    is_sure = True
    for word in (*words, ";"):
        if word not in (";", "&&"):
            command.append(word)
            continue
        if command:
            yield command, is_sure
        is_sure = word == ";" or (is_sure and bool(command) and command[0] in _PREPARING)
        command = []


def _name(command: Sequence[str]) -> str | None:
    """Return the program of a simple command, ``""`` if it has none; None if the command is not simple."""
    words = list(command)
    plain = [word for word in words if word not in _REDIRECTIONS]
    if any(re.fullmatch(r"[();<>|&]+", word) for word in plain) or words[0] in _KEYWORDS:
        return None
    if any(word.startswith("PATH=") for word in words) or words[0] in ("alias", "eval", ".", "source", "trap"):
        return None
    while words and (words[0] == "exec" or _ASSIGNMENT.match(words[0])):
        words.pop(0)
    if not words or words[0] in _REDIRECTIONS:
        return ""
    if os.path.basename(words[0]) == "env":
        words = _after_env(words[1:]) or words
    return "" if re.search(r"[$`*?\[~-]", words[0][:1]) or "$" in words[0] or "`" in words[0] else words[0]
