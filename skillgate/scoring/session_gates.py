"""Gates over simulated sessions: how often the skill must be loaded, and how often a session may fail.

A verdict is a function of counts alone, so that a run may end as soon as no count can change it any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.report import GateOutcome
from skillgate.model.score import Outcome
from skillgate.model.simulating import COMPLETED, FAILED, NOT_RUN, MonteCarloLayer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.report import Layer

GATE = "threshold"  # the word in ``fail-on`` that lets both fail a run


def loads_enough(loaded: int, measured: int, bound: float, on_inconclusive: str = "point") -> Outcome:
    """Answer whether enough sessions loaded the skill.

    Args:
        loaded: sessions that did.
        measured: sessions with a prompt for it, at least one.
        bound: the least share, in [0, 1].
        on_inconclusive: as in :class:`skillgate.scoring.gate.Policy`; the interval is Clopper and Pearson's.
    """
    if on_inconclusive != "point" and _straddled(loaded, measured, bound) is not None:
        return Outcome.INCONCLUSIVE if on_inconclusive == "fail" else Outcome.PASS
    return Outcome.PASS if loaded / measured >= bound else Outcome.FAIL


def fails_seldom(failed: int, measured: int, bound: float, on_inconclusive: str = "point") -> Outcome:
    """Answer whether few enough sessions failed; as :func:`loads_enough`, with the largest share."""
    if on_inconclusive != "point" and _straddled(measured - failed, measured, 1 - bound) is not None:
        return Outcome.INCONCLUSIVE if on_inconclusive == "fail" else Outcome.PASS
    return Outcome.PASS if failed / measured <= bound else Outcome.FAIL


def session_gates(
    layers: Sequence[Layer], min_activation: float | None, max_failure_rate: float | None, on_inconclusive: str
) -> Iterator[GateOutcome]:
    """Answer the gates that are asked for, of a skill whose sessions were simulated; none where none were."""
    layer = next((layer for layer in layers if isinstance(layer, MonteCarloLayer)), None)
    if layer is None:
        return
    should = [run for run in layer.runs if run.should_trigger]
    if min_activation is not None:
        measured = [run for run in should if run.outcome in (COMPLETED, FAILED)]
        loaded = sum(run.activated is True for run in measured)
        of = len(measured) + sum(run.outcome == NOT_RUN for run in should)
        verdict = loads_enough(loaded, of, min_activation, on_inconclusive) if measured else None
        words = f"the skill was loaded in {loaded} of {len(measured)} sessions meant for it"
        words += f"; {min_activation:g} is asked for"
        ends = _straddled(loaded, of, min_activation) if measured else None
        yield _outcome(layer, "activation_rate", verdict, words + _doubt(layer, ends, on_inconclusive))
    if max_failure_rate is not None:
        ended = [run for run in layer.runs if run.outcome in (COMPLETED, FAILED)]
        failed = sum(run.outcome == FAILED for run in ended)
        of = len(ended) + sum(run.outcome == NOT_RUN for run in layer.runs)
        verdict = fails_seldom(failed, of, max_failure_rate, on_inconclusive) if ended else None
        ends = _straddled(of - failed, of, 1 - max_failure_rate) if ended else None
        beside = None if ends is None else (1 - ends[1], 1 - ends[0])
        words = f"{failed} of {len(ended)} sessions failed; {max_failure_rate:g} is allowed"
        yield _outcome(layer, "failure_rate", verdict, words + _doubt(layer, beside, on_inconclusive))


def _outcome(layer: MonteCarloLayer, measure: str, verdict: Outcome | None, words: str) -> GateOutcome:
    """Give an outcome; where the run ended early, every way to go on has the verdict of all that is left failing it."""
    estimate = layer.measures.get(measure)
    lost = layer.stopped_early is None and estimate is not None and estimate.value is None
    if verdict is None or lost:
        why = layer.reason or (estimate.reason if estimate else None) or "no session ended"
        return GateOutcome(GATE, Outcome.UNMEASURED, f"the sessions were not measured: {why}")
    return GateOutcome(GATE, verdict, words)


def _doubt(layer: MonteCarloLayer, ends: tuple[float, float] | None, on_inconclusive: str) -> str:
    """Say what stands beside a verdict: that the run ended early, or that the bound lies inside the interval."""
    if layer.stopped_early is not None:
        return f" (stopped early: {layer.stopped_early})"
    if ends is None:
        return ""
    warning = "; warning: it passes undecided" if on_inconclusive == "warn" else ""
    return f" (inconclusive: {ends[0]:.2f} to {ends[1]:.2f}){warning}"


def _straddled(count: int, of: int, bound: float) -> tuple[float, float] | None:
    """Give the interval of a share where a least share lies inside of it."""
    low, high = _interval(count, of)
    return (low, high) if low < bound <= high else None


def _interval(count: int, of: int) -> tuple[float, float]:
    from skillgate.stats.intervals import clopper_pearson  # numpy and scipy: loaded where sessions were simulated

    return clopper_pearson(count, of)
