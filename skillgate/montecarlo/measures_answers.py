"""Which sessions count for what, and what their answers measure: grades and tokens."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.model.judging import Estimate
from skillgate.model.simulating import COMPLETED, FAILED, LEAST_LOADS, Loads, TokenSpread
from skillgate.scoring import simulated
from skillgate.stats.dispersion import median_interval, outliers, quartiles
from skillgate.stats.intervals import LEVEL, clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.model.simulating import Simulation

MOST_LOST = 0.2  # of sessions, grades or token counts; beyond that the rest does not speak for all
DIGITS = 6


class Counted(NamedTuple):
    """The sessions that count, apart by what they count for."""

    fits: tuple[Simulation, ...]
    near: tuple[Simulation, ...]
    done: tuple[Simulation, ...]  # activated and completed
    answered: tuple[Simulation, ...]  # completed, of a fitting prompt

    @property
    def all(self) -> tuple[Simulation, ...]:
        """Give all that were measured."""
        return self.fits + self.near


def counting(runs: Sequence[Simulation]) -> Counted:
    """Sort sessions by what they count for; those that were not measured, or not run, count for nothing."""
    kept = [run for run in runs if run.outcome in (COMPLETED, FAILED)]
    completed = [run for run in kept if run.outcome == COMPLETED]
    return Counted(
        fits=tuple(run for run in kept if run.should_trigger),
        near=tuple(run for run in kept if not run.should_trigger),
        done=tuple(run for run in completed if run.activated),
        answered=tuple(run for run in completed if run.should_trigger),
    )


def rate(hits: int, n: int, none: str) -> Estimate:
    """Give a rate with its exact interval; ``none`` says why there are no trials."""
    if not n:
        return Estimate(None, reason=none)
    return estimate(hits / n, clopper_pearson(hits, n), n)


def estimate(value: float, ends: tuple[float, float], n: int) -> Estimate:
    """Round; an interval that is drawn holds its value all the same."""
    low, high = min(ends[0], value), max(ends[1], value)
    return Estimate(round(value, DIGITS), round(low, DIGITS), round(high, DIGITS), n)


def of_grades(
    counted: Counted, rows: simulated.Table, ends: tuple[simulated.Measures, simulated.Measures]
) -> dict[str, Estimate]:
    """Measure what rests on the grades of answers."""
    point = simulated.measures(rows, np.ones((1, len(rows.should))))
    qualities = [run.quality for run in counted.done if run.quality is not None]
    delivering = [run.delivers for run in counted.done if run.delivers is not None]
    covering = [run.covers for run in counted.answered if run.covers is not None]
    graded = _lacking(len(qualities), len(counted.done), "loaded the skill and completed")
    drawn = {
        name: _drawn(point, ends, name, len(qualities), graded, worse_is_more=name == "quality_cv")
        for name in ("quality", "quality_cv")
    }
    if drawn["quality_cv"].value is None and graded is None:
        drawn["quality_cv"] = Estimate(None, n=len(qualities), reason="every grade is 0, and nothing varies around it")
    delivered = _lacking(len(delivering), len(counted.done), "loaded the skill and completed")
    covered = _lacking(len(covering), len(counted.answered), "with a fitting prompt completed")
    return drawn | {
        "orchestration": _share(delivering, delivered),
        "scope": _share(covering, covered),
    }


def _share(answers: Sequence[bool], reason: str | None) -> Estimate:
    if reason is not None:
        return Estimate(None, n=len(answers), reason=reason)
    return rate(sum(answers), len(answers), "")


def _drawn(
    point: simulated.Measures,
    ends: tuple[simulated.Measures, simulated.Measures],
    name: str,
    n: int,
    reason: str | None,
    *,
    worse_is_more: bool,
) -> Estimate:
    value = float(getattr(point, name)[0])
    if reason is not None or math.isnan(value):
        return Estimate(None, n=n, reason=reason)
    return estimate(value, _spanned(ends, name, worse_is_more=worse_is_more), n)


def _spanned(
    ends: tuple[simulated.Measures, simulated.Measures], name: str, *, worse_is_more: bool
) -> tuple[float, float]:
    """Return the interval of a measure's draws."""
    least, most = (getattr(end, name) for end in (reversed(ends) if worse_is_more else ends))
    return float(np.nanquantile(least, (1 - LEVEL) / 2)), float(np.nanquantile(most, (1 + LEVEL) / 2))


def _lacking(found: int, of: int, what: str, lost: str = "have a grade") -> str | None:
    """Say why sessions do not tell a figure: there are none, or too many of their answers are missing."""
    if not of:
        return f"no session {what}"
    return f"only {found} of {of} answers {lost}" if of - found > MOST_LOST * of else None


def of_loads(counted: Counted) -> tuple[Loads, Estimate]:
    """Count the sessions that loaded the skill; the factor that follows, with its interval."""
    loaded, completed = sum(bool(run.activated) for run in counted.answered), len(counted.answered)
    needed = min(LEAST_LOADS, completed)
    factor = min(1.0, loaded / needed) if needed else 0.0
    ends = clopper_pearson(loaded, completed)
    low, high = (min(1.0, end * completed / needed) if needed else end for end in ends)
    loads = Loads(loaded, completed, len(counted.fits), round(factor, DIGITS))
    return loads, Estimate(factor, low, high, completed)


def of_tokens(counted: Counted, ends: tuple[simulated.Measures, simulated.Measures]) -> dict[str, Estimate]:
    """Measure the median of tokens, and what it leaves of the efficiency.

    Its interval lies between two of the counts; where these are too few for that, it is drawn as that of grades is.
    """
    counts = _token_counts(counted)
    n = len(counts)
    reason = _lacking(n, len(counted.done), "loaded the skill and completed", "came with a count of tokens")
    middle = quartiles(counts)
    if reason is not None or middle is None:
        return {name: Estimate(None, n=n, reason=reason) for name in ("tokens", "efficiency")}
    span = median_interval(counts) or _spanned(ends, "tokens", worse_is_more=True)
    left = [max(0.0, 1 - value / simulated.TOKEN_LIMIT) for value in (middle.median, *span)]
    return {
        "tokens": estimate(middle.median, span, n),
        "efficiency": estimate(left[0], (left[2], left[1]), n),
    }


def _token_counts(counted: Counted) -> list[int]:
    return [run.tokens for run in counted.done if run.tokens is not None]


def token_spread(counted: Counted, found: Mapping[str, Estimate]) -> TokenSpread | None:
    """Give the quartiles of tokens and how many sessions lie far from them; None where they were not measured."""
    counts = _token_counts(counted)
    middle = quartiles(counts)
    if found["tokens"].value is None or middle is None:
        return None
    return TokenSpread(middle.median, middle.q1, middle.q3, len(counts), outliers(counts))
