"""What runs, scores and spawns, as the runner of benchmarks speaks of it; adapters, scorers and doors implement it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from skillgate import settings
from skillgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set

    from skillgate.model.bench import BenchUsage, ErrorKind
    from skillgate.model.benchmark import Evaluator, Expected, Task
    from skillgate.model.exchange import Answer, Request

MAX_WORDS = 2_000  # characters of an error in a report
NOT_STARTED = (
    f"programs are not started here: leave --no-{settings.ALLOW_EXEC.key} out, or set {settings.ALLOW_EXEC.key}: true"
    " where it is off"
)
_OWN = "SKILL_"
_REFUSED = ("GITHUB_", "ACTIONS_", "INPUT_", "ANTHROPIC_", "OPENAI_", "SKILLGATE_", "AWS_", "GOOGLE_", "LD_", "DYLD_")


class Limits(NamedTuple):
    """What one call of a foreign program may use; None for no limit."""

    timeout_s: float  # from before it is started until its reply is read
    stdout_bytes: int = 5 * 1024 * 1024  # beyond this it is ended: output_limit
    stderr_bytes: int = 64 * 1024  # that are read, its end; more is thrown away
    memory_bytes: int | None = 1024 * 1024 * 1024  # resident, of all its processes
    processes: int | None = 128  # at once
    disk_bytes: int | None = 512 * 1024 * 1024  # of files in its home and in its own copy of the skill


class Ended(NamedTuple):
    """How a call of a foreign program ended.

    ``kind`` is None where it ended by itself: else ``timeout``, ``output_limit``, ``memory_limit``, ``process_limit``,
    ``disk_limit``, ``spawn`` (there is no such program), ``not_started`` (it could not be started) or ``stopped``.
    """

    stdout: bytes  # at most as many as the limit allows
    stderr: bytes  # its end
    returncode: int | None  # negative for a signal; None where it was ended by us
    kind: ErrorKind | None = None
    problem: str = ""  # in words, "" where kind is None


class Said(NamedTuple):
    """What came of listening to a program that is talked to.

    ``kind`` is None for a line. ``timeout``: none came in time, and the program still runs. Else how it came to its
    end: ``exit_code``, ``crash``, ``output_limit``, ``memory_limit``, ``process_limit`` or ``stopped``.
    """

    line: bytes  # without its end, where kind is None
    kind: ErrorKind | None = None
    problem: str = ""  # in words, "" where kind is None


class Conversation(Protocol):
    """A foreign program that runs and is talked to, line by line, within its limits. Thread-safe."""

    def send(self, line: bytes) -> None:
        """Send a line, without its end; never waits. What it does not read is no error."""

    def read(self, timeout_s: float) -> Said:
        """Return the next line that it writes, its end cut off; what was written before it ended comes first."""

    def has_spoken(self) -> bool:
        """Whether there is an unread line, or the beginning of one, or whether it has ended."""

    def stderr(self) -> bytes:
        """Return the end of what it wrote to its standard error."""

    def close(self) -> None:
        """End it and all that it left behind; may be called more than once."""


class Spawner(Protocol):
    """Starts foreign programs: without a shell, in a session of their own, without the user's secrets. Thread-safe."""

    @property
    def isolated(self) -> tuple[str, ...]:
        """What programs are isolated from, in words that fit a list."""

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
        """Run a program to its end, and end all that it leaves behind.

        Args:
            argv: program and arguments, as they are; a program with a ``/`` is relative to ``root``.
            root: the skill's absolute directory: where it runs.
            stdin: all that it can read; that it does not read it is no error.
            env: variables in addition to the minimal environment.
            limits: what it may use.
            copy: whether to run in a fresh copy of ``root``.
            sees_answers: whether it may read what is expected, as a scorer does.
        """

    def unstartable(self, argv: Sequence[str], *, root: str, env: Mapping[str, str], copy: bool) -> str | None:
        """Return why the evaluator cannot start a program that exists; nothing is run.

        None where it can, and where there is no such program: that is the skill's fault.
        """

    def open(
        self, argv: Sequence[str], *, root: str, env: Mapping[str, str], limits: Limits, copy: bool
    ) -> Conversation:
        """Start a program to talk to; the arguments are those of :meth:`run`.

        The time limit does not apply, and ``stdout_bytes`` bounds what it has written and nothing has read.

        Raises:
            IncompleteError: it could not be started.
        """

    def close(self) -> None:
        """Remove what was made for the calls and conversations, all of which have ended."""


class Call(NamedTuple):
    """One attempt at one task."""

    task: Task
    data: Mapping[str, Any]  # its input, with what the benchmark's server adds
    timeout_s: float  # for all of it, start-up included
    run: int  # from 1


class Reply(NamedTuple):
    """What came of a call."""

    output: Any = None  # where kind is None what was answered; with an error what there was of an answer
    kind: ErrorKind | None = None  # None for an answer
    error: str = ""  # at most MAX_WORDS characters, without secrets
    retryable: bool = False  # whether a retry may fare better: infrastructure, never an answer
    retry_after_s: float | None = None  # that the other side asks for
    usage: BenchUsage | None = None
    answered: bool = True  # whether output holds something
    latency_ms: float | None = None  # that the adapter measured itself; None: what passed around the call
    timed: bool = True  # whether it has a latency: of a cached answer it may not be known


class Adapter(Protocol):
    """Runs one skill; thread-safe up to the skill's own ``maxConcurrency``."""

    def invoke(self, call: Call) -> Reply:
        """Answer one task within its time; what the skill does wrong is a reply with a kind, never an exception."""

    def close(self) -> None:
        """Let go of processes and connections."""


@runtime_checkable
class Starting(Adapter, Protocol):
    """An adapter that starts a program of the skill."""

    def unstartable(self) -> str | None:
        """Return why the evaluator cannot start a program that exists; nothing is run.

        None where it can, and where the program is at fault.
        """


class Surroundings(NamedTuple):
    """What adapters and scorers may use of the world."""

    spawner: Spawner | None  # None where nothing foreign may run (--no-allow-exec)
    environ: Mapping[str, str]  # the user's variables: for tokens that a skill's configuration names, see passed()
    allow_env: frozenset[str]  # names of --allow-env
    allow_host: frozenset[str]  # hosts of --allow-host
    guarded: bool  # whether http skills reach private addresses only if allowed, and loopback only as served (Action)
    served: Mapping[str, str]  # variables with the address of the benchmark's own server
    stop: threading.Event  # set when the run is to end
    ask: Callable[[Request], Answer] | None = None  # a model; None where there is none
    no_model: str = "no model is connected"  # why there is none
    model: str = ""  # that runs prose skills
    judge_model: str = ""


def alone() -> Surroundings:
    """Return surroundings without programs and models: to check what needs neither."""
    nothing: frozenset[str] = frozenset()
    return Surroundings(None, {}, nothing, nothing, guarded=True, served={}, stop=threading.Event())


def require_passable(name: str, allow_env: Set[str], *, where: str) -> None:
    """Refuse a variable of the user's that a skill must not have.

    Args:
        name: the variable.
        allow_env: names that the user allowed.
        where: what names it, as in ``skills/a: authTokenEnvKey``.

    Raises:
        UsageError: with the reason.
    """
    if name.upper().startswith(_REFUSED):
        raise UsageError(f"{where}: {name[:80]} is never given to a skill; use a variable of the skill's own, {_OWN}…")
    if not name.startswith(_OWN) and name not in allow_env:
        hint = f"unless you say --{settings.ALLOW_ENV.key} {name[:80]}"
        raise UsageError(f"{where}: {name[:80]} is not given to a skill {hint}")


def passed(name: str, environ: Mapping[str, str], allow_env: Set[str], *, where: str) -> str:
    """Return the value of a variable that a skill's configuration names.

    Raises:
        UsageError: it must not be passed, or is not set; its value is in no message.
    """
    require_passable(name, allow_env, where=where)
    value = environ.get(name)
    if not value:
        raise UsageError(f"{where}: the environment variable {name[:80]} is not set")
    return value


class Scored(NamedTuple):
    """What a scorer returns: a score in [0, 1], whether that passes, and why, in at most 2,000 characters."""

    score: float
    passed: bool
    reason: str


class UnscoredError(Exception):
    """A scorer could not score, through no fault of the answer: the result is skipped. Its kind is scorer or judge."""

    def __init__(self, kind: ErrorKind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class Rules(NamedTuple):
    """How a task is scored, with all defaults applied."""

    scorer: str
    evaluator: Evaluator
    expected: Expected
    folder: str  # the absolute directory that paths in the benchmark are relative to

    def timeout_s(self, default: float) -> float:
        """Return the evaluator's time limit for scoring one answer."""
        return self.evaluator.timeout_ms / 1000 if self.evaluator.timeout_ms else default

    def threshold(self, default: float) -> float:
        """Return the least score that passes."""
        least = self.evaluator.pass_threshold
        return default if least is None else least


class Scorer(Protocol):
    """Scores answers to one task. Thread-safe."""

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - any JSON
        """Score one answer.

        Raises:
            UnscoredError: it could not be scored.
        """


class Prepare(Protocol):
    """What each scorer's file has under its own name."""

    def __call__(self, task: Task, rules: Rules, surroundings: Surroundings) -> Scorer:
        """Make ready to score one task.

        Raises:
            ValueError: what the task expects cannot be; one message a line, each beginning with the key it is about,
                as in ``expectedOutput.patterns[0]: …``.
        """
