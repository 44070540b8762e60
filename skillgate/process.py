"""Child processes; the only module that imports :mod:`subprocess`.

Importing it costs milliseconds, so only code that really starts processes imports it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import weakref
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias, TypeVar

from skillgate.errors import IncompleteError
from skillgate.files import closed_by, unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_Answer = TypeVar("_Answer")

# What programs need to start, to find their own configuration and to write temporary files. Tokens, keys and the
# GIT_* variables that a hook inherits (they would point Git at another index or repository) are not passed on.
_INHERITED = (
    "PATH",
    "PATHEXT",
    "HOME",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "TMPDIR",
    "TEMP",
    "TMP",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How a process ended: its exit status (negative: the signal that ended it) and all it wrote."""

    returncode: int
    stdout: bytes
    stderr: bytes


Child: TypeAlias = "subprocess.Popen[bytes]"
"""A program that runs, with its pipes."""


_CHILDREN: dict[int, weakref.ref[Child]] = {}  # started by start(), by process number, including ended ones
_STARTING = threading.Lock()
_MOST_ENDED = 1000


class MissingExecutableError(IncompleteError):
    """The program is not installed or not on ``PATH``; callers may have an alternative."""


class UnreachableError(IncompleteError):
    """The program, or a file that it needs, exists, but the user that must run it cannot reach it."""


def run(
    argv: Sequence[str],
    *,
    cwd: str | None = None,
    stdin: bytes = b"",
    timeout_s: float = 60.0,
    env: Mapping[str, str] | None = None,
) -> Completed:
    """Run a program to its end, without a shell and without this process's secrets, whatever its status.

    It is killed after ``timeout_s`` seconds; ``env`` is added to the minimal environment.

    Raises:
        MissingExecutableError: there is no such program.
        IncompleteError: it could not start, or did not finish in time.
    """
    environment = _environment(env or {})
    program = _locate(argv[0], environment)
    try:
        done = subprocess.run(  # noqa: S603 -- no shell, and the program is one of ours
            [program, *argv[1:]],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise IncompleteError(f"{argv[0]} did not finish within {timeout_s:g} s and was stopped") from None
    except OSError as error:
        where = f" in {cwd}" if cwd else ""
        raise IncompleteError(f"{argv[0]} could not be started{where}: {error.strerror or error}") from error
    return Completed(returncode=done.returncode, stdout=done.stdout, stderr=done.stderr)


class Dialogue:
    """A program that answers one request after another, with the environment of :func:`run`.

    The program ends with :meth:`end`, or with the first request that fails.
    """

    def __init__(self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, timeout_s: float = 60.0) -> None:
        """Start a program, which has ``timeout_s`` seconds for each answer.

        Raises:
            MissingExecutableError: there is no such program.
            IncompleteError: it could not start.
        """
        import tempfile  # few runs have a dialogue

        environment = _environment(env or {})
        program = _locate(argv[0], environment)
        self._name, self._timeout_s, self._late = argv[0], timeout_s, False
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe that is not read could fill up
        try:
            self._child = subprocess.Popen(  # noqa: S603 -- no shell, and the program is one of ours
                [program, *argv[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment,
            )
        except OSError as error:
            self._errors.close()
            raise IncompleteError(f"{argv[0]} could not be started: {error.strerror or error}") from error

    @property
    def is_running(self) -> bool:
        """Whether the program can be asked."""
        return self._child.poll() is None

    def ask(self, request: bytes, read: Callable[[IO[bytes]], _Answer]) -> _Answer:
        """Send a request, and return what ``read`` takes from the program's output.

        The request must be short enough for a pipe (4,096 bytes) if the program may write before it has read it all.

        Raises:
            IncompleteError: it did not answer in time.
            EOFError: it has ended, or ``read`` raised this.
        """
        timer = threading.Timer(self._timeout_s, self._stop)
        timer.start()
        is_answered = False
        try:
            assert self._child.stdin is not None
            assert self._child.stdout is not None
            self._child.stdin.write(request)
            self._child.stdin.flush()
            answer = read(self._child.stdout)
            is_answered = True
        except (OSError, EOFError) as error:  # its end of a pipe is closed, or `read` found its end
            if not self._late:
                raise EOFError(*error.args[: isinstance(error, EOFError)]) from error
        finally:
            timer.cancel()
            timer.join()  # no thread may be alive when this process forks
            if self._late or not is_answered:
                self._kill()  # the rest of the answer would be taken for the next one
        if self._late:
            raise IncompleteError(f"{self._name} did not finish within {self._timeout_s:g} s and was stopped")
        return answer

    def end(self) -> Completed:
        """End the program and return its exit status and errors; a second call returns no errors."""
        self._kill()  # not by the end of its input: a forked process may hold that open
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with suppress(OSError):  # a request that was not sent completely
                    pipe.close()
        status = self._child.returncode
        if self._errors.closed:
            return Completed(returncode=status, stdout=b"", stderr=b"")
        with self._errors:
            self._errors.seek(0)
            return Completed(returncode=status, stdout=b"", stderr=self._errors.read())

    def _stop(self) -> None:
        self._late = True
        self._child.kill()

    def _kill(self) -> None:
        self._child.kill()
        self._child.wait()


def start(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], user: int | None = None, files: Sequence[int] = ()
) -> Child:
    """Start a program that the caller talks to, without a shell, in its own session and process group.

    Its three streams are unbuffered pipes. It inherits only the variables ``env`` and the open ``files``, under their
    numbers. A program without a ``/`` is searched in the absolute directories of ``PATH`` in ``env``; one with a ``/``
    is relative to ``cwd``. For another ``user`` (also the group number; needs root), a program without a ``/`` is the
    first one that every user can run.

    Raises:
        MissingExecutableError: there is no such program.
        IncompleteError: it could not be started.
    """
    program = located(argv[0], cwd=cwd, env=env, user=user)
    try:
        with _STARTING:
            child = subprocess.Popen(  # noqa: S603 - no shell; callers guard against what the program may do
                [program, *argv[1:]],
                bufsize=0,
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                user=user,
                group=user,
                extra_groups=None if user is None else [],
                pass_fds=files,
            )
            if len(_CHILDREN) > _MOST_ENDED:
                for pid in [pid for pid, known in _CHILDREN.items() if known() is None]:
                    del _CHILDREN[pid]
            _CHILDREN[child.pid] = weakref.ref(child)
            return child
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IncompleteError(f"{argv[0]} could not be started: {reason}") from error


def start_detached(argv: Sequence[str], *, cwd: str) -> None:
    """Start a program of ours that outlives this process and its session, with this environment and without streams.

    Raises:
        OSError: it could not be started.
    """
    flags = 0
    if os.name == "nt":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP  # type: ignore[attr-defined,unused-ignore]
    null = subprocess.DEVNULL
    subprocess.Popen(argv, cwd=cwd, stdin=null, stdout=null, stderr=null, start_new_session=True, creationflags=flags)  # noqa: S603 - our own program


def located(program: str, *, cwd: str, env: Mapping[str, str], user: int | None = None) -> str:
    """Return the absolute path of a program like :func:`start`. Raises MissingExecutableError."""
    if "/" not in program and os.sep not in program:
        return _locate(program, env) if user is None else _locate_for_all(program, env)
    path = os.path.normpath(os.path.join(cwd, program))  # noqa: PTH118
    if not os.path.isfile(path):  # noqa: PTH113
        raise MissingExecutableError(f"{program} does not exist in {cwd}")
    return path


def attend(argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> int:
    """Run a program in the foreground until it ends or this process is interrupted; then end it and its group.

    It is found like in :func:`start`, with the same errors; it reads nothing and writes to this process's standard
    error. Return its exit status (negative: the signal that ended it).
    """
    program = located(argv[0], cwd=cwd, env=env)
    try:
        child = subprocess.Popen(  # noqa: S603 - no shell; the user asked for this program
            [program, *argv[1:]], cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=2, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise IncompleteError(f"{argv[0]} could not be started: {getattr(error, 'strerror', None) or error}") from error
    try:
        return child.wait()
    finally:
        _end_group(child)


def _end_group(child: Child) -> None:
    """Terminate a program and its group; kill what does not end within two seconds."""
    group = hasattr(os, "killpg")  # elsewhere there is only the program
    with suppress(OSError):
        if group:
            os.killpg(child.pid, signal.SIGTERM)
        else:
            child.terminate()
    ends_within(child, 2.0)
    with suppress(OSError):
        if group:
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    child.wait()


@contextmanager
def children() -> Iterator[frozenset[int]]:
    """Yield the numbers of the running processes from :func:`start`; no other starts meanwhile."""
    with _STARTING:
        alive = ((pid, known()) for pid, known in list(_CHILDREN.items()))
        yield frozenset(pid for pid, child in alive if child is not None and child.returncode is None)


def ends_within(child: Child, seconds: float) -> bool:
    """Wait for a program to end; return whether it did."""
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**inherited, "LANG": "C", "LC_ALL": "C", **extra}


def _locate(program: str, environment: Mapping[str, str]) -> str:
    """Find a program in the absolute directories of ``PATH``.

    Left to the operating system, a ``.`` in ``PATH`` (on Windows: always) would run a program out of the repository.
    """
    for candidate in candidates(program, environment):
        if _can_be_run(candidate):
            return str(candidate)
    raise MissingExecutableError(f"{program} is not installed, or not on PATH")


def _locate_for_all(program: str, environment: Mapping[str, str]) -> str:
    """Find a program that every user can reach and run; one in the administrator's home is ignored."""
    closed: tuple[str, str] | None = None
    for candidate in candidates(program, environment):
        if _can_be_run(candidate):
            obstacle = closed_by(str(candidate))
            if obstacle is None:
                return str(candidate)
            closed = closed or (str(candidate), obstacle)
    if closed is None:
        raise MissingExecutableError(f"{program} is not installed, or not on PATH")
    raise UnreachableError(unreachable(program, *closed))


def _can_be_run(candidate: Path) -> bool:
    """Return whether this user can run it; a directory of ``PATH`` closed to this user has no programs."""
    return os.path.isfile(candidate) and os.access(candidate, os.X_OK)  # noqa: PTH113 - pathlib's raises there


def candidates(program: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files that a program's name may mean, in the order of ``PATH``; they may not exist."""
    if Path(program).is_absolute():
        yield Path(program)
        return
    endings = environment.get("PATHEXT", "").split(os.pathsep) if os.name == "nt" else [""]
    for directory in environment.get("PATH", os.defpath).split(os.pathsep):
        if Path(directory).is_absolute():
            yield from (Path(directory, program + ending) for ending in endings)
