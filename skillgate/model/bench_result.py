"""How one task ended: the results that a benchmark report is made of.

Annotations are evaluated when one is read or the schema is made. Keys are camelCase. Ratios lie in [0, 1], times are in
milliseconds.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

from skillgate.model.judging import Count, Ratio
from skillgate.model.marks import Range, camel

Milliseconds = Annotated[float, Range(0, None)]


class Status(Enum):
    """How one task ended in one run.

    ``pass`` and ``fail`` are the scorer's word, ``error`` and ``timeout`` the skill's own failure (score 0, counted).
    ``skipped`` is what the evaluator could not do: outside of every denominator, counted apart, exit code 3.
    """

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    ERROR = "error"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"


class ErrorKind(Enum):
    """What kind of failure it was; never inferred from a text.

    The skill's: the first group. The evaluator's, always ``skipped``: the second.
    """

    TIMEOUT = "timeout"
    SPAWN = "spawn"  # there is no such program, or it is none
    CRASH = "crash"  # a signal ended it
    EXIT_CODE = "exit_code"
    PROTOCOL = "protocol"  # no reply, or none that the protocol allows
    RPC = "rpc"  # it answered with a JSON-RPC error
    TOOL = "tool"  # an MCP tool said isError
    HTTP_STATUS = "http_status"
    AUTH = "auth"  # 401, 403
    CONNECTION = "connection"  # refused, reset, cut off, TLS
    REDIRECT = "redirect"  # to another host
    OUTPUT_LIMIT = "output_limit"
    MEMORY_LIMIT = "memory_limit"
    PROCESS_LIMIT = "process_limit"
    DISK_LIMIT = "disk_limit"
    REFUSED = "refused"  # a model would not answer, or its answer is unusable

    SCORER = "scorer"  # a scorer failed
    JUDGE = "judge"  # a judge could not be asked, or gave no usable answer
    MODEL = "model"  # no model to run a prose skill with: no key, budget, network
    SERVER = "server"  # the benchmark's own server does not run
    NOT_STARTED = "not_started"  # its program exists, and the evaluator could not start it
    STOPPED = "stopped"  # the run ended before its turn


EVALUATORS = frozenset(
    {
        ErrorKind.SCORER,
        ErrorKind.JUDGE,
        ErrorKind.MODEL,
        ErrorKind.SERVER,
        ErrorKind.NOT_STARTED,
        ErrorKind.STOPPED,
    }
)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a skill answered.

    Attributes:
        value: the decoded JSON, or a text; what is too large for a report is cut, and then it is a text.
        truncated: whether it was cut; scoring saw all of it.
        size_bytes: of the whole, written as JSON.
        sha256: of the same bytes; None where it was not cut.
    """

    value: Any
    size_bytes: Count
    truncated: bool = False
    sha256: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of one task that was followed by another.

    Attributes:
        error_kind: why it was tried again: only failures of infrastructure are, never a wrong answer.
        error: in words, at most 2,000 characters.
        latency_ms: that it took.
        waited_ms: before the next.
    """

    error_kind: ErrorKind
    error: str
    latency_ms: Milliseconds
    waited_ms: Milliseconds


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchUsage:
    """Tokens, as a skill or a model reported them."""

    input: Count = 0
    output: Count = 0
    total: Count = 0
    cost_usd: Annotated[float, Range(0, None)] | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """One task in one run.

    Attributes:
        task_id: the task.
        skill_id: the skill's key.
        run: from 1.
        status: how it ended.
        score: in [0, 1]; 0 for error and timeout, None where skipped.
        latency_ms: of the last attempt; a timeout's is its limit; None where nothing ran or its time is not known.
        scorer_type: the scorer's name; ``""`` where it did not come to scoring.
        output: what was answered, None where nothing was.
        error: in words, at most 2,000 characters.
        error_kind: of an error, a timeout or a skip.
        reason: the scorer's words.
        attempts: the tries before the last one.
        usage: None where nobody said.
        weight, tags, golden: the task's.
    """

    task_id: str
    skill_id: str
    run: Annotated[int, Range(1, None)]
    status: Status
    score: Ratio | None
    latency_ms: Milliseconds | None
    scorer_type: str = ""
    output: Output | None = None
    error: str | None = None
    error_kind: ErrorKind | None = None
    reason: str | None = None
    attempts: tuple[Attempt, ...] = ()
    usage: BenchUsage | None = None
    weight: float = 1.0
    tags: tuple[str, ...] = ()
    golden: bool = False
