"""What runs, scores and spawns, as the runner of benchmarks speaks of it; rooms and doors implement each of them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from skillgate import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skillgate.model.bench_result import BenchUsage, ErrorKind
    from skillgate.model.benchmark import Evaluator, Expected, Task
    from skillgate.model.exchange import Answer, Request
    from skillgate.model.executable import Runnable

MAX_WORDS = 2_000  # characters of an error in a report
NOT_STARTED = (
    f"programs are not started here: leave --no-{settings.ALLOW_EXEC.key} out, or set {settings.ALLOW_EXEC.key}: true"
    " where it is off"
)


class Limits(NamedTuple):
    """What one call of a foreign program may use.

    Attributes:
        timeout_s: from before it is started until its reply is read.
        stdout_bytes: beyond this it is ended: ``output_limit``.
        stderr_bytes: that are kept, its end; more is thrown away.
        memory_bytes: of resident memory of all its processes; None for no limit.
        processes: that it may have at once; None for no limit.
        disk_bytes: of files in its home and in its own copy of the skill; None for no limit.
    """

    timeout_s: float
    stdout_bytes: int = 5 * 1024 * 1024
    stderr_bytes: int = 64 * 1024
    memory_bytes: int | None = 1024 * 1024 * 1024
    processes: int | None = 128
    disk_bytes: int | None = 512 * 1024 * 1024


class Ended(NamedTuple):
    """How a call of a foreign program ended.

    Attributes:
        stdout: at most as many bytes as the limit allows.
        stderr: its end.
        returncode: negative for a signal; None where it was ended by us.
        kind: None where it ended by itself: else ``timeout``, ``output_limit``, ``memory_limit``, ``process_limit``,
            ``disk_limit``, ``spawn`` (there is no such program), ``not_started`` (it could not be started) or
            ``stopped``.
        problem: in words, ``""`` where ``kind`` is None.
    """

    stdout: bytes
    stderr: bytes
    returncode: int | None
    kind: ErrorKind | None = None
    problem: str = ""


class Said(NamedTuple):
    """What came of listening to a program that is talked to.

    Attributes:
        line: without its end, where ``kind`` is None.
        kind: None for a line. ``timeout``: none came in time, and the program still runs. Else how it came to its end:
            ``exit_code``, ``crash``, ``output_limit``, ``memory_limit``, ``process_limit`` or ``stopped``.
        problem: in words, ``""`` where ``kind`` is None.
    """

    line: bytes
    kind: ErrorKind | None = None
    problem: str = ""


class Conversation(Protocol):
    """A foreign program that runs and is talked to, line by line, within its limits. Thread-safe."""

    def send(self, line: bytes) -> None:
        """Hand it a line, without its end; never waits. What it does not read is no error."""

    def read(self, timeout_s: float) -> Said:
        """Give the next line that it writes, its end cut off; what was written before it ended comes first."""

    def has_spoken(self) -> bool:
        """Tell whether there is a line, or the beginning of one, that nobody has read, or whether it has ended."""

    def stderr(self) -> bytes:
        """Give the end of what it wrote to its standard error."""

    def close(self) -> None:
        """End it and all that it left behind; may be called again."""


class Spawner(Protocol):
    """Starts foreign programs: without a shell, in a session of their own, without the user's secrets. Thread-safe."""

    @property
    def isolated(self) -> tuple[str, ...]:
        """Say what programs are kept from, in words that can stand in a list."""

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
            env: variables beside the minimal environment.
            limits: what it may use.
            copy: whether to run in a fresh copy of ``root``.
            sees_answers: whether it may read what is expected, as a scorer does.
        """

    def unstartable(self, argv: Sequence[str], *, root: str, env: Mapping[str, str], copy: bool) -> str | None:
        """Say why the evaluator cannot start a program that exists; nothing is run.

        None where it can, and where there is no such program: that is the skill's fault.
        """

    def open(
        self, argv: Sequence[str], *, root: str, env: Mapping[str, str], limits: Limits, copy: bool
    ) -> Conversation:
        """Start a program to talk to; the arguments are those of :meth:`run`.

        Of the limits the time is not looked at, and ``stdout_bytes`` bounds what it has written and nobody has read.

        Raises:
            IncompleteError: it could not be started.
        """

    def close(self) -> None:
        """Remove what was made for the calls and conversations, all of which have ended."""


class Call(NamedTuple):
    """One try of one task.

    Attributes:
        task: the task.
        data: its input, with what the benchmark's server adds.
        timeout_s: for all of it, start-up included.
        run: from 1.
    """

    task: Task
    data: Mapping[str, Any]
    timeout_s: float
    run: int


class Reply(NamedTuple):
    """What came of a call.

    Attributes:
        output: what was answered, where ``kind`` is None; beside an error what there was of an answer.
        kind: None for an answer.
        error: in words, at most :data:`MAX_WORDS` characters, without secrets.
        retryable: whether another try may fare better: infrastructure, never an answer.
        retry_after_s: that the other side asked to wait.
        usage: tokens, where it said.
        answered: whether ``output`` holds something.
        latency_ms: that the adapter measured itself; None: what passed around the call.
        timed: whether it has a latency: of an answer kept from an earlier run it may not be known.
    """

    output: Any = None
    kind: ErrorKind | None = None
    error: str = ""
    retryable: bool = False
    retry_after_s: float | None = None
    usage: BenchUsage | None = None
    answered: bool = True
    latency_ms: float | None = None
    timed: bool = True


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
        """Say why the evaluator cannot start a program that exists; nothing is run.

        None where it can, and where the program is at fault.
        """


class Surroundings(NamedTuple):
    """What adapters and scorers may use of the world.

    Attributes:
        spawner: starts programs; None where nothing foreign may run (``--no-allow-exec``).
        environ: the user's variables: for tokens that a skill's configuration names, within ``allow_env``.
        allow_env: names that ``--allow-env`` gave.
        allow_host: hosts that ``--allow-host`` gave.
        guarded: whether http skills reach no link-local or private address unless allowed, and loopback only where
            ``served`` says (the Action).
        served: variables that tell skills where the benchmark's own server is.
        stop: set when the run is to end.
        ask: asks a model; None where there is none, and ``no_model`` says why.
        no_model: why there is no model.
        model: that prose skills are run by.
        judge_model: that judges are.
    """

    spawner: Spawner | None
    environ: Mapping[str, str]
    allow_env: frozenset[str]
    allow_host: frozenset[str]
    guarded: bool
    served: Mapping[str, str]
    stop: threading.Event
    ask: Callable[[Request], Answer] | None = None
    no_model: str = "no model is connected"
    model: str = ""
    judge_model: str = ""


def alone() -> Surroundings:
    """Return surroundings in which nothing may be started and no model asked: to check what needs neither."""
    nothing: frozenset[str] = frozenset()
    return Surroundings(
        spawner=None,
        environ={},
        allow_env=nothing,
        allow_host=nothing,
        guarded=True,
        served={},
        stop=threading.Event(),
    )


class OpenAdapter(Protocol):
    """What each file of the room of adapters has as ``open_adapter``."""

    def __call__(self, skill: Runnable, surroundings: Surroundings) -> Adapter:
        """Make ready to run a skill; starts nothing yet.

        Raises:
            UsageError: its configuration cannot work: a token that is not there, a host that is not allowed.
        """


class Scored(NamedTuple):
    """What a scorer gives: a score in [0, 1], whether that passes, and why in words of at most 2,000 characters."""

    score: float
    passed: bool
    reason: str


class UnscoredError(Exception):
    """A scorer could not score: nobody's answer was wrong. The result is skipped.

    Attributes:
        kind: ``scorer`` or ``judge``.
    """

    def __init__(self, kind: ErrorKind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class Rules(NamedTuple):
    """How a task is scored, when all is said: the scorer, its evaluator and what is expected."""

    scorer: str
    evaluator: Evaluator
    expected: Expected
    folder: str  # the absolute directory that paths in the benchmark are relative to


class Scorer(Protocol):
    """Scores answers to one task. Thread-safe."""

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - any JSON
        """Score one answer.

        Raises:
            UnscoredError: it could not be scored.
        """


class Prepare(Protocol):
    """What each file of the room of scorers has under its own name."""

    def __call__(self, task: Task, rules: Rules, surroundings: Surroundings) -> Scorer:
        """Make ready to score one task.

        Raises:
            ValueError: what the task expects cannot be; one message a line, each beginning with the key it is about,
                as in ``expectedOutput.patterns[0]: …``.
        """
