"""A skill's program before it is started: its command, variables and limits, and what it needs on this machine."""
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
from skillgate.process import MissingExecutableError, UnreachableError, candidates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.bench.ports import Call, Conversation, Spawner, Surroundings
    from skillgate.model.benchmark import Runnable

RETRYABLE = frozenset((ErrorKind.TIMEOUT, ErrorKind.SPAWN, ErrorKind.CRASH, ErrorKind.EXIT_CODE, ErrorKind.PROTOCOL))
"""The failures of a program that may not happen another time."""
_SHELL = frozenset((";", "&&", "||", "|", "&", ">", ">>", "<", "2>", "2>&1"))
_SHOWN = 600  # characters of stderr in a message
_MIB = 1024 * 1024


class Unopened(NamedTuple):
    """Why a program that is talked to was not started."""

    kind: ErrorKind
    words: str


class Program(NamedTuple):
    """A skill's program, ready to be started by a spawner; ``secrets`` are what it was handed and no report shows."""

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
        """Return what a call of so many seconds may use."""
        own = self.skill.config.memory_mb  # the spawner's limit holds where it is lower, or the only one
        return Limits(timeout_s=timeout_s, memory_bytes=None if own is None else own * _MIB)

    def unstartable(self) -> str | None:
        """Return why the evaluator cannot start it although it exists; None if it can or the program is at fault."""
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
    """Return the values of the user's variables that a skill is handed."""
    return tuple(filter(None, (surroundings.environ.get(name) for name in skill.config.pass_env)))


def variables_of(skill: Runnable, surroundings: Surroundings) -> dict[str, str]:
    """Return a skill's own variables: those of its settings, of the user that it may have, and of the served benchmark.

    Raises:
        UsageError: one must not be passed, or is not set.
    """
    where = f"{skill.shown}: passEnv"
    handed = {
        name: passed(name, surroundings.environ, surroundings.allow_env, where=where) for name in skill.config.pass_env
    }
    return {**skill.config.env, **handed, **surroundings.served}


def command_of(skill: Runnable) -> tuple[str, ...]:
    """Return the program and its arguments; words are split as a shell would, and no shell runs.

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
    """Return the line of a request to a program."""
    request = {"jsonrpc": "2.0", "method": "invoke", "params": dict(call.data), "id": number}
    return json.dumps(request, ensure_ascii=False).encode()


def stderr_note(stderr: bytes) -> str:
    """Return how a program's standard error ends, to close a message with; ``""`` where it is empty.

    Its last line comes first, since that is where a traceback says what went wrong: a message that is cut still has it.
    """
    lines = stderr[-4 * _SHOWN :].decode("utf-8", "replace").rstrip().rsplit("\n", 1)
    last, before = printable(lines[-1]).strip(), printable(lines[0]).strip() if len(lines) > 1 else ""
    if not last:
        return ""
    room = max(0, _SHOWN - len(last))
    return f"; its standard error ends: {last[-_SHOWN:]}" + (f" – after: {before[-room:]}" if before and room else "")


_SHELLS = frozenset(("sh", "bash", "dash", "ash", "ksh", "zsh"))
_MOST_INTERPRETERS = 5  # a script may be the interpreter of another
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
_IN_SANDBOX = ("/dev/", "/proc/")  # what a sandbox has of its own
_REDIRECTIONS = frozenset((">", ">>", "<", ">&", "<&", ">|", "<>"))


class NoProgramError(IncompleteError):
    """What a command names is a file that no system runs."""


def kind_of(error: Exception) -> ErrorKind:
    """Return whose fault it is that a program was not started: the skill's where there is no such program."""
    is_skills = isinstance(error, MissingExecutableError | NoProgramError)
    return ErrorKind.SPAWN if is_skills else ErrorKind.NOT_STARTED


class Ground(NamedTuple):
    """Where a command is to start, and what can be reached from there."""

    place: str  # the absolute directory that it runs in
    env: Mapping[str, str]
    others: bool  # whether it runs as a user that may only do what all users may
    owned: str | None = None  # a directory of which the call gets a copy of its own
    visible: tuple[str, ...] | None = None  # files and directories that the sandbox shows; None without a sandbox

    def require(self, path: str, shown: str, wanted: int = EXECUTE) -> None:
        """Refuse a file or directory that exists and cannot be reached.

        Raises:
            UnreachableError: saying why, and what to do about it.
        """
        try:
            if self.others and (obstacle := closed_by(path, wanted, owned=self.owned)) is not None:
                raise UnreachableError(unreachable(shown, path, obstacle))
            if not self.others and not os.access(path, wanted):
                raise UnreachableError(f"you may not read and run {path}; change its mode")
            if self.visible is None or os.path.isdir(path) or path.startswith(_IN_SANDBOX):
                return
            if (unseen := self._unseen(path, self.visible)) is not None:
                raise UnreachableError(
                    f"{path} is not in the sandbox{'' if unseen == path else f', where {unseen} is not'};"
                    " install it below /usr, put its bin directory on PATH, or run without --sandbox"
                )
        except OSError:  # it is gone, or its links lead nowhere: the program will say so
            return

    def _unseen(self, path: str, visible: Sequence[str]) -> str | None:
        """Return the first link or file on the way that the sandbox does not show."""
        shown = {*visible, *map(os.path.realpath, visible), self.place, os.path.realpath(self.place)}
        for place, _ in places_passed(path):
            is_inside = any(is_within(place, one) for one in shown)
            if not is_inside and (os.path.islink(place) or place == os.path.realpath(path)):
                return place
        return None

    def absolute(self, word: str) -> str:
        """Return the path that a word means to the program."""
        return os.path.normpath(os.path.join(self.place, word))


def program_of(name: str, ground: Ground) -> str:
    """Return the absolute path of a command's program.

    Raises:
        MissingExecutableError: there is none of that name.
        UnreachableError: there is one, and it cannot be reached.
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
    """Return the absolute path of a command's program, or refuse what cannot be started.

    Raises:
        UnreachableError: something that it needs exists and cannot be reached; the evaluator's fault.
        MissingExecutableError, NoProgramError: there is no such program, or it is none; the skill's fault.
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
    """Refuse what the system would not run; return the text of a shell script."""
    if not os.stat(path).st_mode & 0o111:
        raise NoProgramError(f"{shown} could not be started: it is not executable; chmod +x makes it so")
    ground.require(path, shown)
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_TEXT)
    except OSError:  # it may be run and not read
        return ""
    head = text[:256]
    if not head.startswith((b"#!", b"\x7fELF")) and b"\0" not in head:
        raise NoProgramError(f"{shown} could not be started: it is a text whose first line names no interpreter (#!)")
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
        except NoProgramError:  # the system says so when the script runs
            return ""
    return text.decode("utf-8", "replace") if os.path.basename(interpreter) in _SHELLS else ""


def _after_env(words: Sequence[str]) -> list[str]:
    """Return the command that ``env`` runs."""
    rest = list(words)
    while rest and (rest[0].startswith("-") or _ASSIGNMENT.match(rest[0])):
        rest.pop(0)
    return rest


def _require_argument(word: str, ground: Ground) -> None:
    """Refuse an argument that names a file or directory which the program could not read."""
    path = ground.absolute(word)
    if "\0" in word or word.startswith("-") or not os.path.exists(path):
        return
    ground.require(path, word, READ_AND_EXECUTE if os.path.isdir(path) else READ)


def _script(arguments: Sequence[str], ground: Ground) -> str:
    """Return what a shell runs: the text after ``-c``, or that of a file."""
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
    """Refuse a shell script one of whose commands exists and cannot be reached.

    Only a script that runs its commands one after another is judged; of one that decides, nothing is known.
    """
    for name in commands_of(script):
        path = ground.absolute(name)
        if "/" in name and not os.path.isfile(path):
            continue
        with suppress(MissingExecutableError):
            ground.require(path if "/" in name else program_of(name, ground), name)


def commands_of(script: str) -> tuple[str, ...]:
    """Return the programs that a shell script is sure to run, in order; none where it decides which to run."""
    programs: list[str] = []
    moved = False
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:  # a quote that goes on in the next line
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
    """Yield the commands of a line, and whether each is sure to run: what may fail is not before it with ``&&``."""
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
    """Return the program of a simple command, ``""`` where there is none to look for; None where it is not simple."""
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
