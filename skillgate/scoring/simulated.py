"""What simulated sessions measure, for many weightings of the same sessions at once.

A weight of 1 for each gives the measures themselves, random weights their intervals, weights of 1 for one version and 0
for the other the exchange of both, and all but one the part of that one: there is no second way to a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.model.score import Dimension
from skillgate.model.simulating import COMPLETED, FAILED, LEAST_LOADS
from skillgate.stats.intervals import balanced
from skillgate.stats.resampling import RESAMPLES
from skillgate.stats.weighting import Pad, pads

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from skillgate.model.simulating import Simulation

    Array = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

TOKEN_LIMIT = 8_000  # tokens that a skill may add before its efficiency is 0; the method's own figure
_ROUNDING = 1e-9  # sums in another order differ in their last digits
_NONE = np.zeros(())


class Table(NamedTuple):
    """Sessions that were measured, in their order, as arrays of shape (sessions,).

    ``quality``, ``tokens``, ``delivers`` and ``covers`` are nan where there is none.
    """

    should: Mask
    activated: Mask
    completed: Mask
    quality: Array
    tokens: Array
    delivers: Array
    covers: Array


class Lean(NamedTuple):
    """What made-up sessions weigh in each draw: those with a fitting prompt, and near misses."""

    fits: Pad
    near: Pad


STILL = Lean(Pad(_NONE, _NONE), Pad(_NONE, _NONE))


class Measures(NamedTuple):
    """What the sessions measure under each weighting: arrays of shape (weightings,), nan where undefined.

    Attributes:
        activation: of sessions with a fitting prompt, the share that loads the skill.
        false_activation: of near misses, likewise.
        precision: of sessions that load the skill, the share with a fitting prompt.
        f1: class-balanced, of the first two.
        quality: the mean grade over activated, completed sessions.
        quality_cv: their population standard deviation ÷ their mean.
        failure: of all sessions, the share that failed.
        tokens: the median over activated, completed sessions.
        efficiency: max(0, 1 − tokens ÷ 8,000).
        orchestration: of activated, completed sessions, the share whose answer is the work itself.
        scope: of completed sessions with a fitting prompt, the share whose answer covers the request within the skill.
        load_factor: what every share but triggering is multiplied by: min(1, loads ÷ min(5, completed)), over completed
            sessions with a fitting prompt; 0 where there are none.
    """

    activation: Array
    false_activation: Array
    precision: Array
    f1: Array
    quality: Array
    quality_cv: Array
    failure: Array
    tokens: Array
    efficiency: Array
    orchestration: Array
    scope: Array
    load_factor: Array


def table(runs: Sequence[Simulation]) -> Table:
    """Put sessions into arrays; those that were not measured, or not run, are left out."""
    kept = [run for run in runs if run.outcome in (COMPLETED, FAILED)]
    return Table(
        should=np.array([run.should_trigger for run in kept], dtype=np.bool_),
        activated=np.array([bool(run.activated) for run in kept], dtype=np.bool_),
        completed=np.array([run.outcome == COMPLETED for run in kept], dtype=np.bool_),
        quality=_column([run.quality for run in kept]),
        tokens=_column([run.tokens for run in kept]),
        delivers=_column([run.delivers for run in kept]),
        covers=_column([run.covers for run in kept]),
    )


def _column(values: Sequence[float | None]) -> Array:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def measures(rows: Table, weights: Array, lean: Lean = STILL) -> Measures:
    """Compute all measures under each weighting.

    Args:
        rows: the sessions.
        weights: shape (weightings, sessions), none below 0.
        lean: what made-up sessions weigh beside them, best or worst at everything.
    """
    should, near = rows.should, ~rows.should
    done = rows.completed & rows.activated
    fits, others = lean.fits, lean.near
    activation = _share(weights, should, rows.activated, fits)
    false_activation = _share(weights, near, rows.activated, Pad(good=others.bad, bad=others.good))
    tokens = _median(rows.tokens, weights, done, fits)
    return Measures(
        activation=activation,
        false_activation=false_activation,
        precision=_share(weights, rows.activated, should, STILL.fits),
        f1=balanced(activation, false_activation),
        quality=_share(weights, done, rows.quality, fits),
        quality_cv=_variation(weights, done, rows.quality, fits),
        failure=_share(weights, should | near, ~rows.completed, Pad(good=fits.bad, bad=fits.good)),
        tokens=tokens,
        efficiency=np.maximum(0.0, 1.0 - tokens / TOKEN_LIMIT),
        orchestration=_share(weights, done, rows.delivers, fits),
        scope=_share(weights, should & rows.completed, rows.covers, fits),
        load_factor=_load_factor(weights, should & rows.completed, rows.activated, fits),
    )


def _load_factor(weights: Array, counted: Mask, loaded: Mask, pad: Pad) -> Array:
    """Return min(1, loads ÷ min(5, sessions)), each counted by its weight; made-up sessions load it, or do not."""
    loads = weights[:, counted & loaded].sum(axis=1) + pad.good
    needed = np.minimum(LEAST_LOADS, weights[:, counted].sum(axis=1) + pad.good + pad.bad)
    return np.minimum(1.0, np.nan_to_num(_divide(loads, needed)))


def _divide(one: Array, two: Array) -> Array:
    found: Array = np.divide(one, two, out=np.full(np.shape(one), np.nan), where=two > _ROUNDING)
    return found


def _share(weights: Array, counted: Mask, values: Array | Mask, pad: Pad) -> Array:
    """Give the weighted mean of values in [0, 1] over the sessions that count and have one."""
    kept = counted & ~np.isnan(values)
    chosen = weights[:, kept]
    hits: Array = chosen @ values[kept].astype(np.float64)
    return _divide(hits + pad.good, chosen.sum(axis=1) + pad.good + pad.bad)


def _variation(weights: Array, counted: Mask, values: Array, pad: Pad) -> Array:
    """Give the coefficient of variation; at the bad end stands a value of 0, at the good end one like the others."""
    kept = counted & ~np.isnan(values)
    chosen, given = weights[:, kept], values[kept]
    one = chosen.sum(axis=1)
    mean, square = _divide(chosen @ given, one), _divide(chosen @ given**2, one)
    share = _divide(one + pad.good, one + pad.good + pad.bad)
    variance = np.maximum(0.0, _divide(one * (square - mean**2), one + pad.good))
    spread = np.sqrt(share * variance + share * (1 - share) * mean**2)
    return _divide(np.where(spread > _ROUNDING, spread, 0.0), mean * share)


def _median(tokens: Array, weights: Array, counted: Mask, pad: Pad) -> Array:
    """Give the weighted median: with equal weights that of the values, the mean of both in the middle of an even count.

    At the bad end stands a session with so many tokens that nothing is left of its efficiency, at the good end one
    with none.
    """
    kept = counted & ~np.isnan(tokens)
    given, chosen = tokens[kept], weights[:, kept]
    ends = (np.broadcast_to(end, (len(chosen),))[:, None] for end in pad)
    values = np.concatenate((given, (0.0, max(TOKEN_LIMIT, given.max(initial=0)))))
    chosen = np.concatenate((chosen, *ends), axis=1)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(chosen[:, order], axis=1)
    half = reached[:, -1:] / 2
    near = _ROUNDING * np.maximum(half, 1.0)
    lower, upper = (np.argmax(passed, axis=1) for passed in (reached >= half - near, reached > half + near))
    middle = (values[order][lower] + values[order][upper]) / 2
    return np.where(half[:, 0] > _ROUNDING, middle, np.nan)


def dimensions(found: Measures, *, near_misses: bool) -> dict[Dimension, Array]:
    """Give each dimension that sessions tell of, in [0, 1]; nan where undefined.

    Every one but triggering is multiplied by the load factor, so it is 0 where no session loaded the skill.

    Args:
        found: the measures.
        near_misses: whether such sessions were asked for; without them triggering is the activation rate.
    """
    shares = {
        Dimension.ORCHESTRATION_FITNESS: found.orchestration,
        Dimension.OUTPUT_QUALITY: found.quality,
        Dimension.SCOPE_CALIBRATION: found.scope,
        Dimension.TOKEN_EFFICIENCY: found.efficiency,
        Dimension.ROBUSTNESS: 1.0 - found.failure,
    }
    factor = found.load_factor
    return {
        Dimension.TRIGGERING_ACCURACY: found.f1 if near_misses else found.activation,
        **{name: np.where(factor > 0.0, factor * share, 0.0) for name, share in shares.items()},
    }


def draws(rows: Table, rng: np.random.Generator, count: int = RESAMPLES) -> tuple[Measures, Measures]:
    """Draw the measures, once leaning to the bad and once to the good; fitting prompts and near misses apart.

    Args:
        rows: the sessions, each with a prompt of its own.
        rng: the source of chance.
        count: how many draws.
    """
    weights = rng.standard_exponential((count, len(rows.should)))
    fits, near = pads(rng, count), pads(rng, count)
    worst, best = (measures(rows, weights, Lean(*lean)) for lean in zip(fits, near, strict=True))
    return worst, best
