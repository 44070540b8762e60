"""How far the judges of a run agree, pooled over all its skills: the few ratings of one skill tell nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.judging import Agreement
from skillgate.stats.agreement import icc_2_1, kappa_of_sums, mean_pairwise_kappa, products, shares
from skillgate.stats.resampling import bootstrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.judge.subject import Ratings
    from skillgate.stats.intervals import Interval

LEAST_ITEMS = 40  # under that the interval of kappa spans most of its range (−0.40 to 1.00 at 4 items, by simulation)
LEAST_CLUSTERS = 10  # skills; fewer are too few to draw from
ALONE = "one judge has nobody to agree with"
_SEED = 5  # any will do, as long as it stays


class _Pool(NamedTuple):
    """What every judge answered: a row for each item, and the index of the skill each row is of."""

    rows: list[tuple[int, ...]]
    skills: list[int]


def agreement(ratings: Sequence[Ratings], judges: int) -> Agreement:
    """Pool what the judges gave over the skills of a run.

    Only what all of them answered counts. Chance-corrected figures (both kappas and the ICC) need 40 items; the plain
    shares are given from the first.

    Args:
        ratings: of each skill.
        judges: how many there are.
    """
    if judges < 2:
        return Agreement(judges, kappa_reason=ALONE, kappa_trigger_reason=ALONE, icc_reason=ALONE)
    rated = _pool([[row for _, row in skill.rated] for skill in ratings], judges)
    predicted = _pool([skill.predicted for skill in ratings], judges)
    few = _few(len(rated.rows), "ratings")
    few_predictions = _few(len(predicted.rows), "predictions")
    kappa, kappa_reason = (None, few) if few else mean_pairwise_kappa(rated.rows)
    trigger, trigger_reason = (
        (None, few_predictions) if few_predictions else mean_pairwise_kappa(predicted.rows, weights="none")
    )
    icc, icc_reason = (None, few) if few else icc_2_1(rated.rows)
    interval = None if kappa is None else _interval(rated)
    plain = shares(rated.rows)
    return Agreement(
        judges=judges,
        items=len(rated.rows),
        kappa=_rounded(kappa),
        kappa_ci_low=_rounded(interval.low if interval else None),
        kappa_ci_high=_rounded(interval.high if interval else None),
        kappa_reason=kappa_reason,
        kappa_trigger=_rounded(trigger),
        kappa_trigger_reason=trigger_reason,
        predictions=len(predicted.rows),
        icc=_rounded(icc),
        icc_reason=icc_reason,
        agreement=_rounded(plain.equal if plain else None),
        within_one=_rounded(plain.within_one if plain else None),
    )


def _pool(skills: Sequence[Sequence[tuple[int | None, ...]]], judges: int) -> _Pool:
    pool = _Pool([], [])
    for index, rows in enumerate(skills):
        for row in rows:
            complete = tuple(value for value in row if value is not None)
            if len(complete) == len(row) == judges:
                pool.rows.append(complete)
                pool.skills.append(index)
    return pool


def _few(count: int, what: str) -> str | None:
    return f"{count} of {LEAST_ITEMS} {what}" if count < LEAST_ITEMS else None


def _interval(pool: _Pool) -> Interval | None:
    """Resample the items; whole skills where there are enough: the ratings of one skill are alike."""
    clusters = pool.skills if len(set(pool.skills)) >= LEAST_CLUSTERS else None
    return bootstrap(products(pool.rows), kappa_of_sums, seed=_SEED, clusters=clusters)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
