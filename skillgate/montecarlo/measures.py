"""Compute the measures of a skill's sessions, each with an interval or a reason for having none.

Everything is computed from the rows. Unmeasured sessions leave every denominator; if too many are missing, the measure
is missing too. The same holds for the tasks of lift: a task without a measurement in one arm is left out.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.evals.wording import folded
from skillgate.format import plural
from skillgate.model.layers import (
    COMPLETED,
    FAILED,
    LEAST_LOADS,
    MEASURED_BY,
    NOT_RUN,
    Estimate,
    Loads,
    Spread,
    TokenSpread,
)
from skillgate.model.score import Dimension
from skillgate.scoring import sampled
from skillgate.stats.intervals import (
    LEVEL,
    balanced_f1,
    clopper_pearson,
    mean_difference,
    median_interval,
    outliers,
    quartiles,
    wilson,
)
from skillgate.stats.resampling import sign_flip

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from skillgate.model.layers import LiftTask, Simulation

    Array = npt.NDArray[np.float64]
    Ends = tuple[sampled.Measures, sampled.Measures]

MOST_LOST = 0.2  # maximum missing share of sessions, grades, token counts or tasks
LEAST_TASKS = 5
"""Minimum tasks with distinct prompts for a lift: with fewer, the spread is too uncertain for an interval."""
STABLE = 0.05  # a measure with a smaller half-width is stable
MOST_PROMPTS = 3
DIGITS = 6
_EXACT = 12  # digits of a difference; what is beyond comes of rounding
_OUTSTANDING = 2.0  # times the mean of what a session moves its measure
EARLY = "the run ended early"
BOUNDS = "the run ended early: bounds over all possible results of the remaining sessions, not an interval"
# Every measure, and the name in the computation of those that are shares; of tokens the efficiency tells.
_FIELDS = {
    "activation_rate": "activation",
    "activation_rate_wilson": None,
    "false_activation_rate": "false_activation",
    "precision": None,
    "f1": "f1",
    "quality": "quality",
    "quality_cv": "quality_cv",
    "failure_rate": "failure",
    "tokens": None,
    "efficiency": "efficiency",
    "orchestration": "orchestration",
    "scope": "scope",
}
NAMES = tuple(_FIELDS)


class Measured(NamedTuple):
    """What sessions measure, under the names of :class:`skillgate.model.layers.MonteCarloLayer`.

    ``scores`` are empty and ``loads`` None where the layer as a whole is unmeasured, or the run ended early; ``reason``
    says which part of the score is missing, or why there is nothing. ``mc_score`` is 0.40 · activation + factor · (0.30
    · (1 − min(1, CV)) + 0.20 · (1 − failure) + 0.10 · efficiency), the method's own formula with the load factor.
    """

    measures: Mapping[str, Estimate]
    scores: Mapping[Dimension, Estimate]
    mc_score: float | None
    reason: str | None
    tokens: TokenSpread | None
    spread: Mapping[str, Spread]
    loads: Loads | None = None


class _Counted(NamedTuple):
    """The sessions that count, by what they count for."""

    fits: tuple[Simulation, ...]
    near: tuple[Simulation, ...]
    done: tuple[Simulation, ...]  # activated and completed
    answered: tuple[Simulation, ...]  # completed, of a fitting prompt

    @property
    def all(self) -> tuple[Simulation, ...]:
        """All that were measured."""
        return self.fits + self.near


def measured(
    runs: Sequence[Simulation], *, simulations: int, near_misses: int, seed: int, stopped: bool = False
) -> Measured:
    """Measure every session, those that were not measured or not run among them.

    ``simulations`` and ``near_misses`` are how many were wanted of each kind; the seed is that of the draws;
    ``stopped`` says that the run ended before all sessions, because its gates were decided.
    """
    counting = [run for run in runs if run.outcome in (COMPLETED, FAILED)]
    completed = [run for run in counting if run.outcome == COMPLETED]
    counted = _Counted(
        fits=tuple(run for run in counting if run.should_trigger),
        near=tuple(run for run in counting if not run.should_trigger),
        done=tuple(run for run in completed if run.activated),
        answered=tuple(run for run in completed if run.should_trigger),
    )
    if stopped:
        return _stopped(runs, counted, simulations, near_misses)
    lost = _lost(len(counted.all), simulations + near_misses) or _lost(
        len(counted.fits), simulations, "sessions with a fitting prompt were measured"
    )
    if lost is not None or not counted.fits:
        reason = lost or "no session with a fitting prompt was measured"
        nothing = {name: Estimate(None, n=len(counted.all), reason=reason) for name in NAMES}
        return Measured(nothing, {}, None, reason, None, {})
    rows = sampled.table(runs)
    ends = sampled.draws(rows, np.random.default_rng(seed))
    tokens, token_spread = _tokens(counted, ends)
    found = {**_rates(counted, near_misses, seed), **_grades(counted, rows, ends), **tokens}
    loads, factor = _loads(counted)
    scores = _scores(found, factor, near_misses=bool(near_misses))
    score, missing = _mc_score(found, factor)
    return Measured(found, scores, score, missing, token_spread, _spreads(found, rows, counting), loads)


def _lost(found: int, wanted: int, what: str = "sessions were measured") -> str | None:
    """Say so where more than a fifth is missing."""
    wanted = max(wanted, found)
    return f"only {found} of {wanted} {what}" if wanted - found > MOST_LOST * wanted else None


def _rates(counted: _Counted, near_misses: int, seed: int) -> dict[str, Estimate]:
    hits = sum(bool(run.activated) for run in counted.fits)
    alarms = sum(bool(run.activated) for run in counted.near)
    n, near = len(counted.fits), len(counted.near)
    found = {
        "activation_rate": _estimate(hits / n, clopper_pearson(hits, n), n),
        "activation_rate_wilson": _estimate(hits / n, wilson(hits, n), n),
        "failure_rate": _rate(sum(run.outcome == FAILED for run in counted.all), len(counted.all)),
    }
    lacking = _lost(near, near_misses, "near misses were measured")
    if not near_misses and not near:
        lacking = "no near misses were asked for"
    if lacking is not None:
        names = ("false_activation_rate", "precision", "f1")
        return found | {name: Estimate(None, n=near, reason=lacking) for name in names}
    fired, misfired = ([float(bool(run.activated)) for run in group] for group in (counted.fits, counted.near))
    value = 2 * hits / n / (1 + hits / n + alarms / near)
    return found | {
        "false_activation_rate": _rate(alarms, near),
        "precision": _rate(hits, hits + alarms, "no session loaded the skill"),
        "f1": _estimate(value, balanced_f1(fired, misfired, seed), len(counted.all)),
    }


def _rate(hits: int, n: int, none: str = "") -> Estimate:
    """Return a rate with its exact interval; ``none`` says why there are no trials."""
    return _estimate(hits / n, clopper_pearson(hits, n), n) if n else Estimate(None, reason=none)


def _estimate(value: float, ends: tuple[float, float], n: int) -> Estimate:
    """Round; an interval that is drawn holds its value all the same."""
    low, high = min(ends[0], value), max(ends[1], value)
    return Estimate(round(value, DIGITS), round(low, DIGITS), round(high, DIGITS), n)


def _grades(counted: _Counted, rows: sampled.Table, ends: Ends) -> dict[str, Estimate]:
    """Measure what rests on the grades of answers."""
    point = sampled.measures(rows, np.ones((1, len(rows.should))))
    done, answered = len(counted.done), len(counted.answered)
    qualities = sum(run.quality is not None for run in counted.done)
    reason = _lacking(qualities, done, "loaded the skill and completed")
    found = {}
    for name in ("quality", "quality_cv"):
        value = float(getattr(point, name)[0])
        if reason is not None or math.isnan(value):
            found[name] = Estimate(None, n=qualities, reason=reason)
        else:
            found[name] = _estimate(value, _interval(ends, name, worse_is_more=name == "quality_cv"), qualities)
    if found["quality_cv"].value is None and reason is None:
        nothing_varies = "every grade is 0, so there is no variation"
        found["quality_cv"] = Estimate(None, n=qualities, reason=nothing_varies)
    delivering = [run.delivers for run in counted.done if run.delivers is not None]
    covering = [run.covers for run in counted.answered if run.covers is not None]
    for name, answers, of, what in (
        ("orchestration", delivering, done, "loaded the skill and completed"),
        ("scope", covering, answered, "with a fitting prompt completed"),
    ):
        lacking = _lacking(len(answers), of, what)
        missing = Estimate(None, n=len(answers), reason=lacking)
        found[name] = _rate(sum(answers), len(answers)) if lacking is None else missing
    return found


def _interval(ends: Ends, name: str, *, worse_is_more: bool) -> tuple[float, float]:
    """Return the interval of a measure's draws."""
    least, most = (getattr(end, name) for end in (reversed(ends) if worse_is_more else ends))
    return float(np.nanquantile(least, (1 - LEVEL) / 2)), float(np.nanquantile(most, (1 + LEVEL) / 2))


def _lacking(found: int, of: int, what: str, lost: str = "have a grade") -> str | None:
    """Say why sessions give no figure: there are none, or too many of their answers are missing."""
    if not of:
        return f"no session {what}"
    return f"only {found} of {of} answers {lost}" if of - found > MOST_LOST * of else None


def _tokens(counted: _Counted, ends: Ends) -> tuple[dict[str, Estimate], TokenSpread | None]:
    """Measure the median of tokens, what it leaves of the efficiency, and how tokens are spread.

    Its interval lies between two of the counts; where these are too few for that, it is drawn as that of grades is.
    """
    counts = [run.tokens for run in counted.done if run.tokens is not None]
    n = len(counts)
    reason = _lacking(n, len(counted.done), "loaded the skill and completed", "came with a count of tokens")
    middle = quartiles(counts)
    if reason is not None or middle is None:
        return {name: Estimate(None, n=n, reason=reason) for name in ("tokens", "efficiency")}, None
    span = median_interval(counts) or _interval(ends, "tokens", worse_is_more=True)
    left = [max(0.0, 1 - value / sampled.TOKEN_LIMIT) for value in (middle.median, *span)]
    found = {"tokens": _estimate(middle.median, span, n), "efficiency": _estimate(left[0], (left[2], left[1]), n)}
    return found, TokenSpread(middle.median, middle.q1, middle.q3, n, outliers(counts))


def _loads(counted: _Counted) -> tuple[Loads, Estimate]:
    """Count the sessions that loaded the skill; the factor that follows, with its interval."""
    loaded, completed = sum(bool(run.activated) for run in counted.answered), len(counted.answered)
    needed = min(LEAST_LOADS, completed)
    factor = min(1.0, loaded / needed) if needed else 0.0
    ends = clopper_pearson(loaded, completed)
    low, high = (min(1.0, end * completed / needed) if needed else end for end in ends)
    loads = Loads(loaded, completed, len(counted.fits), round(factor, DIGITS))
    return loads, Estimate(factor, low, high, completed)


def _scores(found: Mapping[str, Estimate], factor: Estimate, *, near_misses: bool) -> dict[Dimension, Estimate]:
    """Return the layer's score by dimension."""
    failure = found["failure_rate"]
    robust = [None if value is None else 1 - value for value in failure[:3]]
    shares = {dimension: found[name] for dimension, name in MEASURED_BY.items()}
    shares[Dimension.ROBUSTNESS] = Estimate(robust[0], robust[2], robust[1], failure.n, failure.reason)
    return {
        Dimension.TRIGGERING_ACCURACY: found["f1" if near_misses else "activation_rate"],
        **{dimension: _times_loads(share, factor) for dimension, share in shares.items()},
    }


def _times_loads(share: Estimate, factor: Estimate) -> Estimate:
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
    missing: list[str] = []
    total = 0.0
    for name, (share, good) in _PARTS.items():
        value, weight = found[name].value, 1.0 if name == "activation_rate" else factor.value or 0.0
        if weight and value is None:
            missing.append(f"{name}: {found[name].reason}")
        elif weight and value is not None:
            total += weight * share * good(value)
    return (None, "; ".join(missing)) if missing else (round(total, 4), None)


def _stopped(runs: Sequence[Simulation], counted: _Counted, simulations: int, near_misses: int) -> Measured:
    """Return the rates of a run that ended early, as far as they are known, between what they could become."""
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
    """Return a rate so far between those with none and with all of the sessions that are left."""
    if not n + left:
        return Estimate(None, reason=EARLY)
    value = round(hits / n, DIGITS) if n else None
    low, high = hits / (n + left), (hits + left) / (n + left)
    return Estimate(value, round(low, DIGITS), round(high, DIGITS), n, BOUNDS)


def _spreads(found: Mapping[str, Estimate], rows: sampled.Table, runs: Sequence[Simulation]) -> dict[str, Spread]:
    """Label every measure that has an interval, and say which style and prompts a wide one comes from."""
    whole = sampled.measures(rows, np.ones((1, len(runs))))
    without = sampled.measures(rows, 1.0 - np.eye(len(runs)))  # each session left out in turn
    spreads = {}
    for name, field in _FIELDS.items():
        estimate = found[name]
        if field is None or estimate.value is None or estimate.ci_low is None or estimate.ci_high is None:
            continue
        half = min(1.0, (estimate.ci_high - estimate.ci_low) / 2)
        if half < STABLE:
            spreads[name] = Spread("stable", round(half, 6))
        else:
            moved = np.nan_to_num(getattr(without, field) - getattr(whole, field))
            spreads[name] = Spread("wide", round(half, 6), _style(moved, runs), _prompts(np.abs(moved), runs))
    return spreads


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
    least = _OUTSTANDING * float(counting.mean())
    order = sorted(range(len(runs)), key=lambda index: -round(float(moved[index]), 9))
    return tuple(dict.fromkeys(runs[index].prompt for index in order if moved[index] > least))[:MOST_PROMPTS]


class Paired(NamedTuple):
    """The figures of a :class:`skillgate.model.layers.Lift`; ``reason`` says why there is no lift, else None."""

    lift: Estimate
    with_skill: Estimate
    without_skill: Estimate
    p: float | None = None
    reason: str | None = None


class _Pair(NamedTuple):
    """Both scores of a task, and the number of its prompt."""

    prompt: int
    one: float
    two: float


def paired(tasks: Sequence[LiftTask], *, seed: int) -> Paired:
    """Compare the arms of lift task by task: mean scores, the mean paired difference with its interval, and a test.

    The interval is that of :func:`skillgate.stats.intervals.mean_difference`: t over tasks, those with the same prompt
    as one value, wider if the arms differ in few tasks. The test is exact up to 15 prompts whose arms differ: each
    difference could as well have the other sign. Beyond that, the seed draws the arrangements.
    """
    numbers: dict[str, int] = {}
    pairs = []
    for task in tasks:
        number = numbers.setdefault(folded(task.prompt) or task.prompt, len(numbers))
        one, two = task.with_skill.score, task.without_skill.score
        if one is not None and two is not None:
            pairs.append(_Pair(number, one, two))
    n = len(pairs)
    lost = len(tasks) - n
    if not pairs or lost > MOST_LOST * len(tasks):
        arms = (arm for task in tasks for arm in (task.with_skill, task.without_skill))
        why = next((arm.reason for arm in arms if arm.score is None and arm.reason), "no reason is known")
        reason = f"{lost} of {len(tasks)} tasks were not measured: {why}"
        nothing = Estimate(None, n=n, reason=reason)
        return Paired(nothing, nothing, nothing, reason=reason)
    means = (_mean([pair.one for pair in pairs]), _mean([pair.two for pair in pairs]))
    prompts = len({pair.prompt for pair in pairs})
    if prompts < LEAST_TASKS:
        few = f"only {plural(prompts, 'task')} with scores in both arms; a mean needs at least {LEAST_TASKS}"
        return Paired(Estimate(None, n=n, reason=few), *means, reason=few)
    return Paired(_difference(pairs), *means, p=_p(pairs, seed))


def _mean(scores: Sequence[float]) -> Estimate:
    return Estimate(round(math.fsum(scores) / len(scores), DIGITS), n=len(scores))


def _difference(pairs: Sequence[_Pair]) -> Estimate:
    differences = [pair.one - pair.two for pair in pairs]
    found = round(math.fsum(differences) / len(pairs), DIGITS)
    ends = mean_difference(differences, [pair.prompt for pair in pairs])
    if ends is None:  # under two prompts, which are too few before
        return Estimate(found, n=len(pairs))
    low, high = (round(end, DIGITS) for end in ends)
    return Estimate(found, min(found, low), max(found, high), len(pairs))


def _p(pairs: Sequence[_Pair], seed: int) -> float | None:
    """Return the two-sided p of the exchange test over prompts; None if the arms differ at no prompt.

    The null distribution is symmetric, so it is twice the one-sided one.
    """
    sums: dict[int, float] = {}
    for pair in pairs:
        sums[pair.prompt] = sums.get(pair.prompt, 0.0) + pair.one - pair.two
    apart = [round(value, _EXACT) for value in sums.values()]
    if not any(apart):
        return None
    side = -1.0 if math.fsum(apart) < 0 else 1.0
    return min(1.0, 2 * sign_flip([side * value for value in apart], seed=seed))
