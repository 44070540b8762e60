"""What differs between two benchmark reports: document kind ``bench-diff``.

Annotations are evaluated when it is read or its schema is made. Keys are camelCase, as in the reports themselves.
"""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from skillgate.model.bench_result import ErrorKind, Status
from skillgate.model.judging import Count, Ratio
from skillgate.model.marks import camel
from skillgate.model.report import Tool, Verdict
from skillgate.model.score import SCHEMA_VERSION, SCORING_VERSION, Outcome

_NO_GATE = Verdict(passed=None)


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
    """One figure before and after.

    Attributes:
        name: its key in the report, as in ``completionRate``.
        a, b: None where it was not measured.
        delta: b − a, None where either is missing.
        better: whether a change of this sign is good; None for none or no change.
        noise: whether the change lies inside what repeated runs show (latency).
    """

    name: str
    a: float | None
    b: float | None
    delta: float | None
    better: bool | None = None
    noise: bool = False


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
    """A task that passed in A and failed in B, run again. The counts are of these reruns alone: they enter no rate.

    Attributes:
        task_id: the task.
        outcome: what all its runs show, the first ones included.
        a_passed, a_total, b_passed, b_total: passes of the reruns of each side.
        reason: why it could not be run again, None where it could.
    """

    task_id: str
    outcome: RerunOutcome
    a_passed: Count = 0
    a_total: Count = 0
    b_passed: Count = 0
    b_total: Count = 0
    reason: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """What the tasks that both have say.

    Attributes:
        tasks: that both measured.
        fixed, broken: tasks that changed sides.
        mcnemar_p: the exact two-sided p of McNemar's test over tasks.
        mean_difference: of the tasks' mean scores, b − a.
        ci_low, ci_high: its 95 % interval by a paired bootstrap over tasks; None under five tasks.
        verdict: ``pass``, ``fail`` or ``inconclusive``.
        reason: why.
        basis: what the verdict rests on; None for ``pass``.
        broken_tasks: ids of tasks that passed in every run of A and failed in every run of B, of several on each side.
    """

    tasks: Count
    fixed: Count
    broken: Count
    mcnemar_p: float | None
    mean_difference: float | None
    ci_low: float | None
    ci_high: float | None
    verdict: Outcome
    reason: str
    basis: Basis | None = None
    broken_tasks: tuple[str, ...] = ()


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchChange:
    """One skill on one benchmark; ``reruns`` are the tasks that were run again to tell a regression from chance."""

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
    """The document.

    Attributes:
        label_a, label_b: what to call the two.
        changes: in A's order, then what is new.
        verdict: of all of it: PASS, FAIL or INCONCLUSIVE.
        reasons: why, the worst first.
        gate: what was asked for.
        notices: what a reader should know: other versions, settings.
        models: that either report asked.
        coverage: the smaller of the reports' shares of measured results.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "bench-diff")

    label_a: str
    label_b: str
    changes: tuple[BenchChange, ...]
    verdict: Outcome
    reasons: tuple[str, ...]
    tool: Tool
    gate: Verdict = _NO_GATE
    notices: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    coverage: Ratio | None = None
    depth: None = None
    config_digest: str | None = None
    schema_version: int = SCHEMA_VERSION
    scoring_version: int = SCORING_VERSION
