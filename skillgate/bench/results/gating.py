"""What is asked of a skill's figures: the method's gates, answered by the one gate there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.model.bench_result import Status
from skillgate.model.report import GateOutcome, Verdict
from skillgate.model.score import Outcome
from skillgate.scoring.gate import Measurement, at_least, at_most

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate import settings
    from skillgate.bench.results.metrics import Figures
    from skillgate.config import Config
from skillgate.model.bench_result import TaskResult

GATE = "benchmark"
DEFAULT_COMPLETION = 0.7
"""The least completion rate of ``--exit-on-fail`` where none is named, as the method has it."""
_DIGITS = 4


class BenchPolicy(NamedTuple):
    """What is asked; None: nothing.

    Attributes:
        min_completion, min_partial, min_composite: the least, in [0, 1].
        max_error_rate: the largest, in [0, 1].
        max_p95_ms: the largest.
        require_tasks: ids of tasks that must pass in every run.
        on_inconclusive: as of scores: ``point``, ``pass``, ``warn`` or ``fail``.
    """

    min_completion: float | None = None
    min_partial: float | None = None
    min_composite: float | None = None
    max_error_rate: float | None = None
    max_p95_ms: float | None = None
    require_tasks: tuple[str, ...] = ()
    on_inconclusive: str = "point"

    @classmethod
    def configured(cls, config: Config) -> BenchPolicy:
        """Return the gates that a configuration asks for."""
        return cls(
            min_completion=config.get(settings.MIN_COMPLETION),
            min_partial=config.get(settings.MIN_PARTIAL),
            min_composite=config.get(settings.MIN_COMPOSITE),
            max_error_rate=config.get(settings.MAX_ERROR_RATE),
            max_p95_ms=config.get(settings.MAX_P95_MS),
        )

    @property
    def asks(self) -> bool:
        """Whether anything is asked."""
        return self != BenchPolicy(on_inconclusive=self.on_inconclusive)


def gate(figures: Figures, results: Sequence[TaskResult], policy: BenchPolicy) -> Verdict:
    """Answer every gate; what could not be measured does not pass."""
    if not policy.asks:
        return Verdict(passed=None)
    outcomes = tuple(_outcomes(figures, results, policy))
    return Verdict(passed=all(outcome.verdict is Outcome.PASS for outcome in outcomes), outcomes=outcomes)


def _outcomes(figures: Figures, results: Sequence[TaskResult], policy: BenchPolicy) -> Iterator[GateOutcome]:
    summary, reasons = figures.summary, figures.summary.reasons
    interval = summary.completion_interval
    completion = Measurement("completion rate", _shown(summary.completion_rate), reason=reasons.get("completionRate"))
    if interval is not None:
        completion = completion._replace(ci_low=interval.ci_low, ci_high=interval.ci_high)
    partial = Measurement("partial score", _shown(summary.partial_score), reason=reasons.get("partialScore"))
    composite = Measurement("composite", _shown(summary.composite_score), reason=reasons.get("compositeScore"))
    for measured, least in (
        (completion, policy.min_completion),
        (partial, policy.min_partial),
        (composite, policy.min_composite),
    ):
        if least is not None:
            yield at_least(measured, least, gate=GATE, digits=_DIGITS, on_inconclusive=policy.on_inconclusive)
    if policy.max_error_rate is not None:
        errors = Measurement("error rate", _shown(summary.error_rate), reason=reasons.get("errorRate"))
        yield at_most(errors, policy.max_error_rate, gate=GATE, digits=_DIGITS)
    if policy.max_p95_ms is not None:
        p95 = _shown(figures.latency.p95, digits=0)
        slow = Measurement("95th percentile of latencies (ms)", p95, reason="nothing has a latency")
        yield at_most(slow, policy.max_p95_ms, gate=GATE, digits=0)
    yield from (_required(task, results) for task in policy.require_tasks)


def _shown(value: float | None, *, digits: int = _DIGITS) -> float | None:
    """Give a figure with the decimals that a gate's reason shows: 2 of 3 reach 0.6667, as the method has it."""
    return None if value is None else round(value, digits)


def _required(task: str, results: Sequence[TaskResult]) -> GateOutcome:
    found = [result.status for result in results if result.task_id == task]
    measured = [status for status in found if status is not Status.SKIPPED]
    if len(measured) < len(found) or not found:
        why = "was not run" if not found else "was skipped"
        return GateOutcome(gate=GATE, verdict=Outcome.UNMEASURED, reason=f"required task {task} {why}")
    passed = sum(status is Status.PASS for status in measured)
    verdict = Outcome.PASS if passed == len(measured) else Outcome.FAIL
    return GateOutcome(
        gate=GATE, verdict=verdict, reason=f"required task {task} passed in {passed} of {len(measured)} runs"
    )
