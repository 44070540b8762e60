"""How wide the intervals of a skill's measures are, and which style and prompts a wide one comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skillgate.model.simulating import COMPLETED, FAILED, Spread
from skillgate.scoring import simulated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from skillgate.model.judging import Estimate
    from skillgate.model.simulating import Simulation

    Array = npt.NDArray[np.float64]

STABLE = 0.05  # half-widths below this
MOST_PROMPTS = 3
_STANDS_OUT = 2.0  # times the mean of what a session moves its measure
# Measures that are shares, by their names in the computation; of tokens the efficiency tells.
_FIELDS = {
    "activation_rate": "activation",
    "false_activation_rate": "false_activation",
    "f1": "f1",
    "quality": "quality",
    "quality_cv": "quality_cv",
    "failure_rate": "failure",
    "efficiency": "efficiency",
    "orchestration": "orchestration",
    "scope": "scope",
}


def spreads(found: Mapping[str, Estimate], rows: simulated.Table, runs: Sequence[Simulation]) -> dict[str, Spread]:
    """Label every measure that has an interval, and say where a wide one comes from.

    Args:
        found: the measures.
        rows: the sessions they are made of.
        runs: these sessions, and those that were not measured.
    """
    kept = [run for run in runs if run.outcome in (COMPLETED, FAILED)]
    whole = simulated.measures(rows, np.ones((1, len(kept))))
    without = simulated.measures(rows, 1.0 - np.eye(len(kept)))  # each session left out in turn
    given = {}
    for name, field in _FIELDS.items():
        estimate = found[name]
        if estimate.value is None or estimate.ci_low is None or estimate.ci_high is None:
            continue
        moved = np.nan_to_num(getattr(without, field) - getattr(whole, field))
        half = min(1.0, (estimate.ci_high - estimate.ci_low) / 2)
        given[name] = _spread(half, moved, kept)
    return given


def _spread(half: float, moved: Array, runs: Sequence[Simulation]) -> Spread:
    if half < STABLE:
        return Spread("stable", round(half, 6))
    return Spread("wide", round(half, 6), _style(moved, runs), _prompts(np.abs(moved), runs))


def _style(moved: Array, runs: Sequence[Simulation]) -> str | None:
    """Name the style whose sessions vary more, each by how far the measure moves without it; None where none does."""
    groups: dict[str, list[float]] = {}
    for move, run in zip(moved.tolist(), runs, strict=True):
        if abs(move) > 1e-12:
            groups.setdefault(run.style, []).append(move * move)
    means = sorted(((sum(moves) / len(moves), style) for style, moves in groups.items()), reverse=True)
    if len(means) < 2 or means[0][0] <= means[1][0] * (1 + 1e-9):
        return None
    return means[0][1]


def _prompts(moved: Array, runs: Sequence[Simulation]) -> tuple[str, ...]:
    """Name the sessions that move the measure most, where they move it twice as far as one does on average."""
    counting = moved[moved > 1e-12]
    if not len(counting):
        return ()
    least = _STANDS_OUT * float(counting.mean())
    order = sorted(range(len(runs)), key=lambda index: -round(float(moved[index]), 9))
    return tuple(dict.fromkeys(runs[index].prompt for index in order if moved[index] > least))[:MOST_PROMPTS]
