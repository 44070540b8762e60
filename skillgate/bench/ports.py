"""The interfaces of adapters, scorers and the spawner of programs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from skillgate import settings
from skillgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set
    from contextlib import AbstractContextManager

    from skillgate.model.bench import BenchUsage, ErrorKind
    from skillgate.model.benchmark import Evaluator, Expected, HttpRequest, Task
    from skillgate.model.exchange import Answer, Request

MAX_WORDS = 2_000  # characters of an error in a report
NOT_STARTED = (
    f"programs may not be started: remove --no-{settings.ALLOW_EXEC.key}, or set {settings.ALLOW_EXEC.key}: true in the"
    " configuration"
)
WORK_DIR = "{workDir}"
"""Stands for the directory that a program runs in, in its arguments and variables."""
_OWN = "SKILL_"
_REFUSED = ("GITHUB_", "ACTIONS_", "INPUT_", "ANTHROPIC_", "OPENAI_", "SKILLGATE_", "AWS_", "GOOGLE_", "LD_", "DYLD_")


class Limits(NamedTuple):
    """What one call of a program may use; None means no limit."""

    timeout_s: float  # including start-up
    stdout_bytes: int = 5 * 1024 * 1024  # beyond this it is stopped: output_limit
    stderr_bytes: int = 64 * 1024  # only the end is kept
    memory_bytes: int | None = 1024 * 1024 * 1024  # resident, of all its processes
    processes: int | None = 128  # at once
    disk_bytes: int | None = 512 * 1024 * 1024  # in its home and its copy of the skill


class Ended(NamedTuple):
    """How a program ended.

    ``kind`` is None if it exited on its own. Otherwise it is ``timeout``, ``output_limit``, ``memory_limit``,
    ``process_limit``, ``disk_limit``, ``spawn`` (no such program), ``not_started`` (starting failed) or ``stopped``.
    """

    stdout: bytes  # up to the limit
    stderr: bytes  # only the end
    returncode: int | None  # negative for a signal; None if we stopped it
    kind: ErrorKind | None = None
    problem: str = ""  # message, "" if kind is None


class Said(NamedTuple):
    """A line from a running program, or why there is none.

    ``kind`` is None for a line and ``timeout`` if none came in time and the program still runs. Otherwise the program
    has ended: ``exit_code``, ``crash``, ``output_limit``, ``memory_limit``, ``process_limit`` or ``stopped``.
    """

    line: bytes  # without line end, if kind is None
    kind: ErrorKind | None = None
    problem: str = ""  # message, "" if kind is None


class Conversation(Protocol):
    """A running program that is sent and answers lines, within its limits. Thread-safe."""

    def send(self, line: bytes) -> None:
        """Send a line without its end. Never blocks; it is no error if the program does not read it."""

    def read(self, timeout_s: float) -> Said:
        """Return the next line without its end; lines written before the program ended come first."""

    def has_spoken(self) -> bool:
        """Whether there is unread output, or the program has ended."""

    def stderr(self) -> bytes:
        """Return the end of its standard error."""

    def close(self) -> None:
        """Stop it and everything it started; may be called more than once."""


class Spawner(Protocol):
    """Starts programs without a shell, in their own session, without the user's secrets. Thread-safe."""

    @property
    def isolated(self) -> tuple[str, ...]:
        """What programs are isolated from, as phrases for a list."""

    def run(
        self,
        argv: Sequence[str],
        *,
        root: str,
        stdin: bytes,
        env: Mapping[str, str],
        limits: Limits,
        copy: bool,
        sees_answers: bool = False,
    ) -> Ended:
        """Run a program to its end, and stop everything it leaves behind.

        Args:
            argv: Program and arguments; a program with a ``/`` is relative to ``root``.
            root: The skill's absolute directory, where the program runs.
            stdin: All its input; it is no error if the program does not read it.
            env: Variables in addition to the minimal environment.
            limits: What it may use.
            copy: Whether to run in a fresh copy of ``root``.
            sees_answers: Whether it may read the expected answers, as a scorer may.
        """

    def unstartable(self, argv: Sequence[str], *, root: str, env: Mapping[str, str], copy: bool) -> str | None:
        """Return why an existing program cannot be started here; nothing is run.

        None if it can be started, or if there is no such program: that is the skill's fault.
        """

    def open(
        self, argv: Sequence[str], *, root: str, env: Mapping[str, str], limits: Limits, copy: bool
    ) -> Conversation:
        """Start a program and keep it running; the arguments are those of :meth:`run`.

        The time limit does not apply, and ``stdout_bytes`` limits its unread output.

        Raises:
            IncompleteError: It could not be started.
        """

    def close(self) -> None:
        """Remove temporary files; all calls and conversations must have ended."""


class Call(NamedTuple):
    """One attempt at one task."""

    task: Task
    data: Mapping[str, Any]  # input, including what the benchmark's server adds
    timeout_s: float  # including start-up
    run: int  # from 1
    tool: str | None = None  # the MCP tool that the task or step names
    refusable: bool = False  # whether the task or step expects a refusal
    request: HttpRequest | None = None  # the HTTP request that the task or step makes
    values: Mapping[str, Any] | None = None  # what that request can use; None: ``data``


class Refusal(NamedTuple):
    """How a skill itself said that it does not do what was asked."""

    code: int | None  # the HTTP status, exit code or JSON-RPC code; None: an MCP tool's error has none
    text: str  # its own words
    answer: Any = None  # all of it, for the path of a scorer; None: there is nothing but the text


class Reply(NamedTuple):
    """The result of a call."""

    output: Any = None  # the answer; with an error, what there is of it
    kind: ErrorKind | None = None  # None for an answer
    error: str = ""  # up to MAX_WORDS characters, without secrets
    retryable: bool = False  # whether a retry may help: only for infrastructure failures
    retry_after_s: float | None = None  # as requested by the server
    usage: BenchUsage | None = None
    answered: bool = True  # whether output is set
    latency_ms: float | None = None  # measured by the adapter; None: the duration of the call
    timed: bool = True  # whether there is a latency; for a cached answer it may be unknown
    refusal: Refusal | None = None  # with an error that the skill itself reported, which a task may expect


class Adapter(Protocol):
    """Runs one skill. Thread-safe up to the skill's ``maxConcurrency``."""

    def invoke(self, call: Call) -> Reply:
        """Answer one task within its time. A failure of the skill is a reply with a kind, never an exception."""

    def close(self) -> None:
        """Close processes and connections."""


@runtime_checkable
class Starting(Adapter, Protocol):
    """An adapter that starts the skill's program."""

    def unstartable(self) -> str | None:
        """Return why an existing program cannot be started here; nothing is run.

        None if it can be started, or if the skill is at fault.
        """


@runtime_checkable
class WithSessions(Adapter, Protocol):
    """An adapter that remembers something between the calls of one session."""

    def session(self) -> AbstractContextManager[Adapter]:
        """Return an adapter for the calls of one task, one after the other; nothing is opened before the first."""


class Surroundings(NamedTuple):
    """What adapters and scorers may use."""

    spawner: Spawner | None  # None if no program may be started (--no-allow-exec)
    environ: Mapping[str, str]  # the user's variables, for tokens; see passed()
    allow_env: frozenset[str]  # names of --allow-env
    allow_host: frozenset[str]  # hosts of --allow-host
    guarded: bool  # whether loopback must be allowed or served too (Action)
    served: Mapping[str, str]  # variables with the address of the benchmark's server
    stop: threading.Event  # set when the run must end
    ask: Callable[[Request], Answer] | None = None  # sends a request to a model; None without one
    no_model: str = "no model is connected"  # why there is none
    model: str = ""  # for prose skills
    judge_model: str = ""


def alone() -> Surroundings:
    """Return surroundings without programs and models."""
    nothing: frozenset[str] = frozenset()
    return Surroundings(None, {}, nothing, nothing, guarded=True, served={}, stop=threading.Event())


def require_passable(name: str, allow_env: Set[str], *, where: str) -> None:
    """Refuse a user's variable that a skill must not get.

    Args:
        name: The variable.
        allow_env: Names that the user allowed.
        where: The setting that names it, as in ``skills/a: authTokenEnvKey``.

    Raises:
        UsageError: The variable is not allowed.
    """
    if name.upper().startswith(_REFUSED):
        raise UsageError(f"{where}: {name[:80]} is never passed to a skill; use a variable named {_OWN}…")
    if not name.startswith(_OWN) and name not in allow_env:
        hint = f"unless you use --{settings.ALLOW_ENV.key} {name[:80]}"
        raise UsageError(f"{where}: {name[:80]} is not passed to a skill {hint}")


def passed(name: str, environ: Mapping[str, str], allow_env: Set[str], *, where: str) -> str:
    """Return the value of a variable named in a skill's configuration.

    Raises:
        UsageError: It is not allowed, or not set. The message never contains the value.
    """
    require_passable(name, allow_env, where=where)
    value = environ.get(name)
    if not value:
        raise UsageError(f"{where}: the environment variable {name[:80]} is not set")
    return value


class Scored(NamedTuple):
    """A scorer's result: a score in [0, 1], whether it passes, and why (up to 2,000 characters)."""

    score: float
    passed: bool
    reason: str


class UnscoredError(Exception):
    """The answer could not be scored, for a reason outside the answer; the result is skipped. Kind: scorer or judge."""

    def __init__(self, kind: ErrorKind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class Rules(NamedTuple):
    """How to score a task, with defaults applied."""

    scorer: str
    evaluator: Evaluator
    expected: Expected
    folder: str  # absolute directory for relative paths in the benchmark

    def timeout_s(self, default: float) -> float:
        """Return the time limit for scoring one answer."""
        return self.evaluator.timeout_ms / 1000 if self.evaluator.timeout_ms else default

    def threshold(self, default: float) -> float:
        """Return the minimum score that passes."""
        least = self.evaluator.pass_threshold
        return default if least is None else least


class Scorer(Protocol):
    """Scores answers to one task. Thread-safe."""

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - any JSON
        """Score one answer.

        Raises:
            UnscoredError: It could not be scored.
        """


Checks = tuple[tuple[str, Scorer] | None, ...]  # name and scorer of each step's check; None for a step without one


class Prepare(Protocol):
    """The function that each scorer's file defines under the scorer's name."""

    def __call__(self, task: Task, rules: Rules, surroundings: Surroundings) -> Scorer:
        """Return a scorer for one task.

        Raises:
            ValueError: The task's expectation is not valid. One problem per line, each beginning with its key, as in
                ``expectedOutput.patterns[0]: …``.
        """
