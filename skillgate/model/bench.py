"""How benchmark runs ended and how two of them differ: document kinds ``bench`` and ``bench-diff``.

Annotations are evaluated when one is read or its schema is made. Keys are camelCase inside ``reports``; the document's
own are those of every document. Ratios lie in [0, 1], times are in milliseconds.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, ClassVar

from skillgate.model.benchmark import Method, NotLoaded, Selection
from skillgate.model.report import Tool, Verdict
from skillgate.model.score import SCHEMA_VERSION, SCORING_VERSION, Count, Milliseconds, Outcome, Range, Ratio, camel


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
    """What kind of failure it was; never inferred from text.

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
    {ErrorKind.SCORER, ErrorKind.JUDGE, ErrorKind.MODEL, ErrorKind.SERVER, ErrorKind.NOT_STARTED, ErrorKind.STOPPED}
)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a skill answered."""

    value: Any
    size_bytes: Count  # of the whole, written as JSON
    truncated: bool = False  # whether it was cut; scoring saw all of it
    sha256: str | None = None  # of the same bytes; None if it was not cut


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of one task that was followed by another."""

    error_kind: ErrorKind  # why it was tried again: only failures of infrastructure are, never a wrong answer
    error: str  # in words, at most 2,000 characters
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
    """One task in one run."""

    task_id: str
    skill_id: str
    run: Annotated[int, Range(1, None)]  # from 1
    status: Status
    score: Ratio | None  # in [0, 1]; 0 for error and timeout, None if skipped
    latency_ms: Milliseconds | None  # of the last attempt; a timeout's is its limit
    scorer_type: str = ""  # the scorer's name; ``""`` if it did not come to scoring
    output: Output | None = None  # what was answered, None if nothing was
    error: str | None = None  # in words, at most 2,000 characters
    error_kind: ErrorKind | None = None
    reason: str | None = None
    attempts: tuple[Attempt, ...] = ()
    usage: BenchUsage | None = None  # None if unknown
    weight: float = 1.0
    tags: tuple[str, ...] = ()
    golden: bool = False


_NO_GATE = Verdict(passed=None)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion:
    """A share with its 95 % Wilson interval over tasks; None if ``n`` is 0, and ``reason`` says why.

    ``n`` counts what is independent: tasks. Repeated runs of a task are one cluster.
    """

    value: Ratio | None
    ci_low: Ratio | None = None
    ci_high: Ratio | None = None
    n: Count = 0
    reason: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class MeanInterval:
    """The 95 % interval of the mean score over tasks, runs of a task being one cluster.

    ``method`` is ``bootstrap`` (seeded, over tasks) or ``normal`` (over 1,000 tasks, where both agree).
    """

    mean: Ratio
    ci_low: Ratio
    ci_high: Ratio
    n: Count
    method: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How the results ended; ``total`` is all but ``skipped``, what every rate is over."""

    total: Count
    passed: Count
    failed: Count
    errors: Count
    timeouts: Count
    skipped: Count = 0
    retries: Count = 0


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSummary:
    """What the results say together; a figure that could not be measured is None and ``reasons`` says why by its key.

    Rates are over all tasks but skipped ones.
    """

    completion_rate: Ratio | None
    partial_score: Ratio | None
    error_rate: Ratio | None
    consistency_score: Ratio | None  # 1 − population standard deviation of the runs' completion rates
    composite_score: Ratio | None  # 0.5 · completion + 0.2 · (1 − latency term) + 0.3 · (1 − error rate)
    counts: Counts
    weighted_completion_rate: Ratio | None = None  # by the tasks' weights
    completion_interval: Proportion | None = None  # Wilson over tasks
    confidence_interval: MeanInterval | None = None  # of the mean score; None under ten results
    k: int | None = None
    pass_at_k: Ratio | None = None
    pass_hat_k: Ratio | None = None
    agreement: Ratio | None = None  # the mean share of a task's runs that ended as most of them did; None with one run
    flaky_tasks: tuple[str, ...] = ()  # ids of tasks that passed in some runs and not in others
    error_kinds: Mapping[str, Count] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)  # why a figure is None, by its JSON key


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Nearest-rank percentiles over all measured results that have a latency; None and 0 where none has."""

    p50: Milliseconds | None = field(metadata={"json": "p50Ms"})
    p95: Milliseconds | None = field(metadata={"json": "p95Ms"})
    p99: Milliseconds | None = field(metadata={"json": "p99Ms"})
    n: Count = 0


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class TagRow:
    """The results of the tasks that carry one tag."""

    tasks: Count
    total: Count
    completion: Proportion
    partial_score: Ratio | None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionReport:
    """One skill on one benchmark: the method's SkillCompletionReport."""

    skill_id: str
    skill_version: str  # skill_version, skill_digest, skill_path, adapter: which skill it was, and how it was run
    benchmark_id: str  # benchmark_id, benchmark_version, benchmark_digest: which tasks
    timestamp: datetime
    summary: BenchSummary
    latency: Latency
    task_results: tuple[TaskResult, ...] = ()  # in the order run, task
    skill_digest: str = ""
    skill_path: str = ""
    adapter: str = ""
    benchmark_version: str = ""
    benchmark_digest: str = ""
    scoring_method: Method = Method.MEAN
    max_latency_ms: int = 30_000
    token_cost: BenchUsage | None = None  # what was reported; None if nothing was
    by_tag: Mapping[str, TagRow] = field(default_factory=dict)  # one row for each tag, by name
    gate: Verdict = _NO_GATE
    incomplete: str | None = None  # why it does not hold all results, None if it does
    model: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How a run was set: what two reports must share to be compared is in ``evaluator`` and the benchmark's digest."""

    runs: Annotated[int, Range(1, None)] = 1
    concurrency: Annotated[int, Range(1, None)] = 4
    timeout_ms: Annotated[int, Range(1, None)] = 30_000
    retries: Count = 0
    evaluator: str = "exact"
    sandbox: str = "none"  # ``none`` or ``bwrap``, as it was in force
    isolated: tuple[str, ...] = ()  # what the skills' processes were kept from, in words; empty if nothing was run
    answers_readable: bool | None = None  # whether programs of skills may have been able to read the expected answers
    run_as_caller: bool = False  # whether programs ran as the calling user, which for root is no isolation at all
    shard: str | None = None  # ``i/n``; None for all of it
    all_tasks: tuple[str, ...] = ()  # of a shard: the ids of all tasks that the whole run has, in their order
    tasks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchReport:
    """The document."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "bench")

    reports: tuple[CompletionReport, ...]  # by composite, best first; equal ones by id
    tool: Tool
    config_digest: str
    run: RunSettings
    coverage: Ratio | None = None  # the share of results that were measured
    gate: Verdict = _NO_GATE
    duration_s: Annotated[float, Range(0, None)] = 0.0  # from first to last result
    models: tuple[str, ...] = ()
    depth: None = None
    notices: tuple[str, ...] = ()
    not_loaded: tuple[NotLoaded, ...] = ()
    selection: Selection | None = field(default=None, metadata={"omit_none": True})  # which skills were selected
    schema_version: int = SCHEMA_VERSION
    scoring_version: int = SCORING_VERSION


class Pairing(Enum):
    """Where a skill on a benchmark is found."""

    BOTH = "both"
    ADDED = "added"  # in B alone
    REMOVED = "removed"  # in A alone


class Flip(Enum):
    """What became of a task."""

    FIXED = "fixed"  # more of its runs pass, by the rule of the page
    BROKEN = "broken"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"  # neither fixed nor broken; its score moved
    SAME = "same"
    UNMEASURED = "unmeasured"  # it was skipped on one side


class Basis(Enum):
    """What the verdict of a paired test rests on, where it is not PASS."""

    GOLDEN = "golden"  # a golden task is broken or gone
    BROKEN = "broken"  # tasks passed in every one of several runs, and now fail in every one
    MCNEMAR = "mcnemar"  # p is below 0.05
    INTERVAL = "interval"  # the interval of the scores' difference lies below 0
    CHANCE = "chance"  # the rate fell, and chance may explain it
    OTHER = "other"  # the two are not the same measurement
    UNMEASURED = "unmeasured"  # tasks were skipped


class RerunOutcome(Enum):
    """What running a task again has shown."""

    BROKEN = "broken"  # it passed in every run of A and failed in every run of B, at least three of each
    FLAKY = "flaky"  # it failed in A once, or passed in B once
    UNMEASURED = "unmeasured"  # it could not be run again


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One figure before and after."""

    name: str  # its key in the report, as in ``completionRate``
    a: float | None  # a, b: None if it was not measured
    b: float | None
    delta: float | None  # b − a, None if either is missing
    better: bool | None = None  # whether a change of this sign is good; None for none or no change
    noise: bool = False  # whether the change lies inside what repeated runs show (latency)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    """One task before and after; shares are passes of the runs that were measured."""

    task_id: str
    flip: Flip
    a_passed: Count = 0
    a_total: Count = 0
    b_passed: Count = 0
    b_total: Count = 0
    a_score: Ratio | None = None
    b_score: Ratio | None = None
    a_status: Status | None = None
    b_status: Status | None = None
    golden: bool = False
    error_kind: ErrorKind | None = None
    reason: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """A task that passed in A and failed in B, run again. The counts are of these reruns alone: they enter no rate."""

    task_id: str
    outcome: RerunOutcome  # what all its runs show, the first ones included
    a_passed: Count = 0
    a_total: Count = 0
    b_passed: Count = 0
    b_total: Count = 0
    reason: str | None = None  # why it could not be run again, None if it could


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """What the tasks that both have say."""

    tasks: Count
    fixed: Count
    broken: Count
    mcnemar_p: float | None
    mean_difference: float | None
    ci_low: float | None  # ci_low, ci_high: its 95 % interval by a paired bootstrap over tasks; None under five tasks
    ci_high: float | None
    verdict: Outcome  # ``pass``, ``fail`` or ``inconclusive``
    reason: str  # why
    basis: Basis | None = None  # what the verdict rests on; None for ``pass``
    broken_tasks: tuple[str, ...] = ()


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchChange:
    """One skill on one benchmark; ``reruns`` are the tasks that were run again to rule out chance."""

    skill_id: str
    benchmark_id: str
    pairing: Pairing
    a_version: str | None = None
    b_version: str | None = None
    metrics: tuple[Metric, ...] = ()
    tasks: tuple[TaskChange, ...] = ()
    test: PairedTest | None = None
    reruns: tuple[Rerun, ...] = ()
    gate: Verdict = _NO_GATE
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchDiff:
    """The document."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "bench-diff")

    label_a: str
    label_b: str
    changes: tuple[BenchChange, ...]  # in A's order, then what is new
    verdict: Outcome
    reasons: tuple[str, ...]  # why, the worst first
    tool: Tool
    gate: Verdict = _NO_GATE
    notices: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    coverage: Ratio | None = None  # the smaller of the reports' shares of measured results
    depth: None = None
    config_digest: str | None = None
    schema_version: int = SCHEMA_VERSION
    scoring_version: int = SCORING_VERSION


def comparable(run: RunSettings) -> str:
    """Return what two evaluations of a skill on a benchmark must share to be compared, as JSON."""
    found: dict[str, object] = {"evaluator": run.evaluator}
    found |= {"tasks": sorted(run.tasks)} if run.tasks else {}
    found |= {"tags": sorted(run.tags)} if run.tags else {}
    found |= {"shard": run.shard} if run.shard else {}
    return json.dumps(found, sort_keys=True, ensure_ascii=False)
