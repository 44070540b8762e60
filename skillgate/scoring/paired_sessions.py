"""The simulated sessions of two versions of a skill, prompt by prompt, and what exchanging them would give."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.model.score import Dimension
from skillgate.model.simulating import COMPLETED, FAILED
from skillgate.scoring import simulated
from skillgate.scoring.comparable import sessions_apart

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from skillgate.model.simulating import MonteCarloLayer, Simulation

    Array = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]
    Scores = dict[Dimension, Array]


class Refusal(Exception):  # noqa: N818 - a signal within the paired test, never seen outside
    """Why two versions are not compared."""


_TRIGGER = Dimension.TRIGGERING_ACCURACY


class Sessions(NamedTuple):
    """Sessions that were measured on both sides.

    Attributes:
        rows: those before, then those after, both in the order of ``units``.
        units: of each prompt, what tells it from the others.
        differing: shape (prompts,), where the two sides differ.
        dimensions: those that the sessions measured on both sides.
        near_misses: whether such sessions were asked for.
    """

    rows: simulated.Table
    units: tuple[tuple[object, ...], ...]
    differing: Mask
    dimensions: tuple[Dimension, ...]
    near_misses: bool

    def exchanged(self, moved: Mask) -> tuple[Scores, Scores]:
        """Give each dimension's score before and after, for many exchanges at once.

        Where an exchange leaves a side too little to measure a dimension with, neither side has gained by it: both
        count as what all sessions together give.

        Args:
            moved: shape (exchanges, prompts), which prompts' sessions change sides.
        """
        pooled = self._scores(np.ones((1, 2 * len(self.units))))
        stays, goes = (~moved).astype(np.float64), moved.astype(np.float64)
        old, new = self._scores(np.hstack((stays, goes))), self._scores(np.hstack((goes, stays)))
        for name, value in pooled.items():
            unknown = np.isnan(old[name]) | np.isnan(new[name])
            old[name], new[name] = (np.where(unknown, value, side[name]) for side in (old, new))
        return old, new

    def _scores(self, weights: Array) -> Scores:
        found = simulated.dimensions(simulated.measures(self.rows, weights), near_misses=self.near_misses)
        return {name: found[name] for name in self.dimensions}


def sessions(before: MonteCarloLayer | None, after: MonteCarloLayer | None) -> Sessions | None:
    """Pair the sessions of two versions by prompt and label; None where neither side has any.

    A prompt whose session was not measured on a side is in neither.

    Raises:
        Refusal: they are not the same measurement.
    """
    if before is None and after is None:
        return None
    if before is None or after is None:
        raise Refusal("sessions were simulated on one side only")
    _comparable(before, after)
    was, now = _measured(before.runs), _measured(after.runs)
    units = tuple(unit for unit in was if unit in now)
    _enough(units, before)
    return Sessions(
        rows=simulated.table([*(was[unit] for unit in units), *(now[unit] for unit in units)]),
        units=units,
        differing=np.array([_told(was[unit]) != _told(now[unit]) for unit in units], dtype=np.bool_),
        dimensions=_dimensions(before, after),
        near_misses=bool(before.near_misses),
    )


def _comparable(before: MonteCarloLayer, after: MonteCarloLayer) -> None:
    """Refuse what differs in anything but the skill, and what cannot be paired session by session."""
    for different in sessions_apart(before, after):
        raise Refusal(str(different))
    for which, layer in (("before", before), ("after", after)):
        if layer.stopped_early is not None:
            raise Refusal(f"{which}, the sessions ended early: {layer.stopped_early}")
        if not layer.runs or layer.prompts_digest is None:
            raise Refusal(f"{which}, the report does not hold the simulated sessions")


def _measured(runs: Iterable[Simulation]) -> dict[tuple[object, ...], Simulation]:
    """Give the sessions that were measured by prompt and label; of equal ones the first is paired with the first."""
    seen: Counter[tuple[str, bool]] = Counter()
    found: dict[tuple[object, ...], Simulation] = {}
    for run in runs:
        key = (run.prompt, run.should_trigger)
        seen[key] += 1
        if run.outcome in (COMPLETED, FAILED):
            found["session", *key, seen[key]] = run
    return found


def _enough(units: tuple[tuple[object, ...], ...], layer: MonteCarloLayer) -> None:
    kinds = {unit[2] for unit in units}
    if True not in kinds or (layer.near_misses and False not in kinds):
        raise Refusal("no sessions of one kind were measured on both sides")


def _told(run: Simulation) -> tuple[object, ...]:
    """Give what scores rest on."""
    return run.outcome, run.activated, run.quality, run.tokens, run.delivers, run.covers


def _dimensions(before: MonteCarloLayer, after: MonteCarloLayer) -> tuple[Dimension, ...]:
    """Give what the sessions of both sides measured."""
    one, two = ({name for name, item in layer.scores.items() if item.value is not None} for layer in (before, after))
    if _TRIGGER not in one & two:
        raise Refusal(f"the sessions measured {_TRIGGER.value} on one side only, or on none")
    return tuple(name for name in before.scores if name in one & two)
