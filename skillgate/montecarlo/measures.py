"""What a skill's sessions measure, each figure over its own sessions, with its interval or the reason for having none.

Everything is computed from the rows alone. What was not measured leaves every denominator; where too much of it is
missing to speak for the rest, the figure is missing too.
"""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.model.judging import Estimate
from skillgate.model.score import Dimension
from skillgate.model.simulating import FAILED, MEASURED_BY, NOT_RUN
from skillgate.montecarlo.measures_answers import (
    DIGITS,
    MOST_LOST,
    counting,
    estimate,
    of_grades,
    of_loads,
    of_tokens,
    rate,
    token_spread,
)
from skillgate.montecarlo.measures_spread import spreads
from skillgate.scoring import simulated
from skillgate.stats.intervals import balanced_f1, clopper_pearson, wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skillgate.model.simulating import Loads, Simulation, Spread, TokenSpread
    from skillgate.montecarlo.measures_answers import Counted

EARLY = "the run ended early"
BOUNDS = "the run ended early: the ends are what all sessions could still give, not an interval"


class Measured(NamedTuple):
    """What sessions measure, under the names of :class:`skillgate.model.simulating.MonteCarloLayer`.

    Attributes:
        measures: every one, those without a value with the reason.
        scores: by dimension; empty where the layer as a whole is unmeasured, or the run ended early.
        mc_score: 0.40 · activation + factor · (0.30 · (1 − min(1, CV)) + 0.20 · (1 − failure) + 0.10 · efficiency),
            the method's own formula with the load factor; None where a part is missing.
        reason: which part, or why there is nothing; None where all was measured.
        tokens: None where they were not measured.
        spread: how wide the intervals are, of those that are shares.
        loads: how many sessions loaded the skill; None where the layer as a whole is unmeasured, or ended early.
    """

    measures: Mapping[str, Estimate]
    scores: Mapping[Dimension, Estimate]
    mc_score: float | None
    reason: str | None
    tokens: TokenSpread | None
    spread: Mapping[str, Spread]
    loads: Loads | None = None


def measured(
    runs: Sequence[Simulation], *, simulations: int, near_misses: int, seed: int, stopped: bool = False
) -> Measured:
    """Measure.

    Args:
        runs: every session, those that were not measured or not run too.
        simulations: how many were asked for with a fitting prompt.
        near_misses: how many with a near miss.
        seed: of the draws that intervals come from.
        stopped: whether the run ended before all sessions, because its gates were decided.
    """
    counted = counting(runs)
    if stopped:
        return _stopped(runs, counted, simulations, near_misses)
    lost = _lost(len(counted.all), simulations + near_misses) or _lost(
        len(counted.fits), simulations, "sessions with a fitting prompt were measured"
    )
    if lost is not None or not counted.fits:
        return _nothing(lost or "no session with a fitting prompt was measured", len(counted.all))
    rows = simulated.table(runs)
    ends = simulated.draws(rows, np.random.default_rng(seed))
    found = {
        **_rates(counted, near_misses, seed),
        **of_grades(counted, rows, ends),
        **of_tokens(counted, ends),
    }
    loads, factor = of_loads(counted)
    scores = _scores(found, factor, near_misses=bool(near_misses))
    score, reason = _mc_score(found, factor)
    return Measured(found, scores, score, reason, token_spread(counted, found), spreads(found, rows, runs), loads)


def _lost(found: int, asked: int, what: str = "sessions were measured") -> str | None:
    """Say so where more than a fifth is missing."""
    asked = max(asked, found)
    return f"only {found} of {asked} {what}" if asked - found > MOST_LOST * asked else None


def _nothing(reason: str, n: int) -> Measured:
    found = {name: Estimate(None, n=n, reason=reason) for name in NAMES}
    return Measured(found, {}, None, reason, None, {})


def _rates(counted: Counted, near_misses: int, seed: int) -> dict[str, Estimate]:
    hits = sum(bool(run.activated) for run in counted.fits)
    alarms = sum(bool(run.activated) for run in counted.near)
    n = len(counted.fits)
    found = {
        "activation_rate": estimate(hits / n, clopper_pearson(hits, n), n),
        "activation_rate_wilson": estimate(hits / n, wilson(hits, n), n),
        "failure_rate": rate(sum(run.outcome == FAILED for run in counted.all), len(counted.all), ""),
    }
    lacking = _lacking(len(counted.near), near_misses)
    if lacking is not None:
        names = ("false_activation_rate", "precision", "f1")
        return found | {name: Estimate(None, n=len(counted.near), reason=lacking) for name in names}
    fired, misfired = ([float(bool(run.activated)) for run in group] for group in (counted.fits, counted.near))
    value = 2 * hits / n / (1 + hits / n + alarms / len(counted.near))
    return found | {
        "false_activation_rate": rate(alarms, len(counted.near), ""),
        "precision": rate(hits, hits + alarms, "no session loaded the skill"),
        "f1": estimate(value, balanced_f1(fired, misfired, seed), len(counted.all)),
    }


def _lacking(found: int, asked: int) -> str | None:
    """Say why there is nothing about near misses."""
    if not asked and not found:
        return "no near misses were asked for"
    return _lost(found, asked, "near misses were measured")


def _scores(found: Mapping[str, Estimate], factor: Estimate, *, near_misses: bool) -> dict[Dimension, Estimate]:
    """Give the layer's say by dimension."""
    failure = found["failure_rate"]
    robust = [None if value is None else 1 - value for value in failure[:3]]
    shares = {dimension: found[name] for dimension, name in MEASURED_BY.items()}
    shares[Dimension.ROBUSTNESS] = Estimate(robust[0], robust[2], robust[1], failure.n, failure.reason)
    return {
        Dimension.TRIGGERING_ACCURACY: found["f1" if near_misses else "activation_rate"],
        **{dimension: _loaded(share, factor) for dimension, share in shares.items()},
    }


def _loaded(share: Estimate, factor: Estimate) -> Estimate:
    """Multiply a share by the load factor; where no session loaded the skill, none is needed to know that it is 0."""
    high = (1.0 if share.ci_high is None else share.ci_high) * (factor.ci_high or 0.0)
    if not factor.value:
        return Estimate(0.0, 0.0, round(high, DIGITS), share.n)
    if share.value is None:
        return share
    low = (share.ci_low or 0.0) * (factor.ci_low or 0.0)
    return Estimate(round(share.value * factor.value, DIGITS), round(low, DIGITS), round(high, DIGITS), share.n)


_PARTS: Mapping[str, tuple[float, Callable[[float], float]]] = MappingProxyType(
    {
        "activation_rate": (0.40, lambda value: value),
        "quality_cv": (0.30, lambda value: 1 - min(1.0, value)),
        "failure_rate": (0.20, lambda value: 1 - value),
        "efficiency": (0.10, lambda value: value),
    }
)


def _mc_score(found: Mapping[str, Estimate], factor: Estimate) -> tuple[float | None, str | None]:
    """Combine the parts, as the method does, those of loaded sessions by the load factor.

    With a part missing that counts there is no such score.
    """
    missing: Counter[str] = Counter()
    total = 0.0
    for name, (share, good) in _PARTS.items():
        value, weight = found[name].value, 1.0 if name == "activation_rate" else factor.value or 0.0
        if not weight:
            continue
        if value is None:
            missing[f"{name}: {found[name].reason}"] += 1
        else:
            total += weight * share * good(value)
    return (None, "; ".join(missing)) if missing else (round(total, 4), None)


def _stopped(runs: Sequence[Simulation], counted: Counted, simulations: int, near_misses: int) -> Measured:
    """Give what a run that ended early leaves open: rates as far as they are known, between what they could become."""
    ended = [run.should_trigger for run in runs if run.outcome != NOT_RUN]
    fits, near = max(0, simulations - ended.count(True)), max(0, near_misses - ended.count(False))
    found = {name: Estimate(None, reason=EARLY) for name in NAMES}
    found["activation_rate"] = _bounds(sum(bool(run.activated) for run in counted.fits), len(counted.fits), fits)
    found["failure_rate"] = _bounds(sum(run.outcome == FAILED for run in counted.all), len(counted.all), fits + near)
    if near_misses:
        alarms = sum(bool(run.activated) for run in counted.near)
        found["false_activation_rate"] = _bounds(alarms, len(counted.near), near)
    return Measured(found, {}, None, EARLY, None, {})


def _bounds(hits: int, n: int, left: int) -> Estimate:
    """Give a rate so far between those with none and with all of the sessions that are left."""
    if not n + left:
        return Estimate(None, reason=EARLY)
    value = round(hits / n, DIGITS) if n else None
    low, high = hits / (n + left), (hits + left) / (n + left)
    return Estimate(value, round(low, DIGITS), round(high, DIGITS), n, BOUNDS)


NAMES = (
    "activation_rate",
    "activation_rate_wilson",
    "false_activation_rate",
    "precision",
    "f1",
    "quality",
    "quality_cv",
    "failure_rate",
    "tokens",
    "efficiency",
    "orchestration",
    "scope",
)
