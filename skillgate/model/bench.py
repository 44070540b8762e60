"""The report of a benchmark run: document kind ``bench``.

Annotations are evaluated when it is read or its schema is made. Keys are camelCase inside ``reports``, as the method's
documents have them; the document's own are those of every document. Ratios lie in [0, 1], times are in milliseconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, ClassVar, NamedTuple

from skillgate.model.bench_result import BenchUsage, Milliseconds, TaskResult
from skillgate.model.benchmark import Method
from skillgate.model.judging import Count, Ratio
from skillgate.model.marks import Range, camel
from skillgate.model.report import Tool, Verdict
from skillgate.model.score import SCHEMA_VERSION, SCORING_VERSION
from skillgate.model.strategy import Selection

_NO_GATE = Verdict(passed=None)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion:
    """A share with its 95 % Wilson interval over tasks; None where ``n`` is 0, and ``reason`` says why.

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

    Attributes:
        completion_rate: passed ÷ total.
        partial_score: of the benchmark's scoring method.
        error_rate: (errors + timeouts) ÷ total.
        consistency_score: 1 − population standard deviation of the runs' completion rates; None with one run.
        composite_score: 0.5 · completion + 0.2 · (1 − latency term) + 0.3 · (1 − error rate).
        weighted_completion_rate: by the tasks' weights.
        completion_interval: Wilson over tasks: with several runs a task counts by its share of passes.
        confidence_interval: of the mean score; None under ten results.
        k, pass_at_k, pass_hat_k: the chance that one of k runs passes, and that all do.
        agreement: the mean share of a task's runs that ended as most of them did; None with one run.
        flaky_tasks: ids of tasks that passed in some runs and not in others.
        counts: how the results ended.
        error_kinds: how often each kind was seen, skipped ones included.
        reasons: why a figure is None, by its JSON key.
    """

    completion_rate: Ratio | None
    partial_score: Ratio | None
    error_rate: Ratio | None
    consistency_score: Ratio | None
    composite_score: Ratio | None
    counts: Counts
    weighted_completion_rate: Ratio | None = None
    completion_interval: Proportion | None = None
    confidence_interval: MeanInterval | None = None
    k: int | None = None
    pass_at_k: Ratio | None = None
    pass_hat_k: Ratio | None = None
    agreement: Ratio | None = None
    flaky_tasks: tuple[str, ...] = ()
    error_kinds: Mapping[str, Count] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


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
    """One skill on one benchmark: the method's SkillCompletionReport.

    Attributes:
        skill_id: the skill's key.
        skill_version, skill_digest, skill_path, adapter: which skill it was, and how it was run.
        benchmark_id, benchmark_version, benchmark_digest: which tasks.
        scoring_method: of the benchmark.
        timestamp: when the run began.
        summary, latency: the figures.
        token_cost: what was reported; None where nothing was.
        by_tag: one row for each tag, by name.
        task_results: in the order run, task.
        gate: what was asked of it.
        incomplete: why it does not hold all results, None where it does.
        model: that a prose skill was run by.
    """

    skill_id: str
    skill_version: str
    benchmark_id: str
    timestamp: datetime
    summary: BenchSummary
    latency: Latency
    task_results: tuple[TaskResult, ...] = ()
    skill_digest: str = ""
    skill_path: str = ""
    adapter: str = ""
    benchmark_version: str = ""
    benchmark_digest: str = ""
    scoring_method: Method = Method.MEAN
    max_latency_ms: int = 30_000
    token_cost: BenchUsage | None = None
    by_tag: Mapping[str, TagRow] = field(default_factory=dict)
    gate: Verdict = _NO_GATE
    incomplete: str | None = None
    model: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How a run was set: what two reports must share to be compared is in ``evaluator`` and the benchmark's digest.

    Attributes:
        runs: of each task.
        concurrency, timeout_ms, retries: as given.
        evaluator: the scorer of tasks that name none.
        sandbox: ``none`` or ``bwrap``, as it was in force.
        isolated: what the skills' processes were kept from, in words; empty where nothing was run.
        answers_readable: whether programs of skills may have been able to read the expected answers; None where no
            program was run.
        run_as_caller: whether programs ran as the calling user, which for root is no isolation at all.
        shard: ``i/n``; None for all of it.
        all_tasks: of a shard: the ids of all tasks that the whole run has, in their order; else empty.
        tasks, tags: the filters.
        seed: of the bootstrap.
    """

    runs: Annotated[int, Range(1, None)] = 1
    concurrency: Annotated[int, Range(1, None)] = 4
    timeout_ms: Annotated[int, Range(1, None)] = 30_000
    retries: Count = 0
    evaluator: str = "exact"
    sandbox: str = "none"
    isolated: tuple[str, ...] = ()
    answers_readable: bool | None = None
    run_as_caller: bool = False
    shard: str | None = None
    all_tasks: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    seed: int = 0


class NotLoaded(NamedTuple):
    """A skill that was found and could not be evaluated, and why: no other one is kept from its turn."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchReport:
    """The document.

    Attributes:
        reports: by composite, best first; equal ones by id.
        run: how it was set.
        gate: of all skills together.
        coverage: the share of results that were measured.
        duration_s: from first to last result.
        selection: which skills were selected, where the run selects.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "bench")

    reports: tuple[CompletionReport, ...]
    tool: Tool
    config_digest: str
    run: RunSettings
    coverage: Ratio | None = None
    gate: Verdict = _NO_GATE
    duration_s: Annotated[float, Range(0, None)] = 0.0
    models: tuple[str, ...] = ()
    depth: None = None
    notices: tuple[str, ...] = ()
    not_loaded: tuple[NotLoaded, ...] = ()
    selection: Selection | None = field(default=None, metadata={"omit_none": True})
    schema_version: int = SCHEMA_VERSION
    scoring_version: int = SCORING_VERSION
