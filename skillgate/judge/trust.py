"""How far people bear a judge out, and how many of a run's scores they would pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skillgate.judge.calibration import ratings_of, refuse_stale
from skillgate.judge.pooling import LEAST_CLUSTERS, LEAST_ITEMS
from skillgate.model.judging import Estimate, Trust
from skillgate.model.score import Dimension
from skillgate.stats.agreement import kappa, kappa_of_sums, products
from skillgate.stats.intervals import LEVEL, clopper_pearson, rate_draws
from skillgate.stats.resampling import bootstrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from skillgate.model.calibration import Calibration, Pair
    from skillgate.model.judging import JudgeLayer

    Array = npt.NDArray[np.float64]

PASS_MARK = 7.0  # of 10: a C, the least that a person would take as it is
_SEED = 7  # any will do, as long as it stays
_NO_BETTER = "the judge passes no more of what people pass than of what they do not"


def trust(document: Calibration, layers: Sequence[JudgeLayer]) -> Trust:
    """Say how far a judge's ratings agree with people, and correct a run's share of passed ones for it.

    The trigger score is no rating, and stays out of all of it.

    Args:
        document: the calibration.
        layers: of the run's skills; those that were not judged count for nothing.

    Raises:
        UsageError: the calibration is stale.
    """
    scores: list[float] = []
    for layer in layers:
        given = {name: item.score for name, item in layer.assessments.items() if item.score is not None}
        if given:
            refuse_stale(document, layer)
            scores += [score for name, score in given.items() if name is not Dimension.TRIGGERING_ACCURACY]
    pairs = ratings_of(document)
    passed = [pair for pair in pairs if pair.human >= PASS_MARK]
    failed = [pair for pair in pairs if pair.human < PASS_MARK]
    hits = [float(pair.judge >= PASS_MARK) for pair in passed]
    rejections = [float(pair.judge < PASS_MARK) for pair in failed]
    return Trust(
        items=len(pairs),
        skills=len({pair.skill for pair in pairs}),
        kappa=_kappa(pairs),
        sensitivity=_rate(hits, "no label is a pass"),
        specificity=_rate(rejections, "every label is a pass"),
        acceptable=_acceptable([float(score * 10 >= PASS_MARK - 1e-9) for score in scores], hits, rejections),
    )


def _kappa(pairs: Sequence[Pair]) -> Estimate:
    if len(pairs) < LEAST_ITEMS:
        return Estimate(None, n=len(pairs), reason=f"{len(pairs)} of {LEAST_ITEMS} labels")
    value, reason = kappa([pair.human for pair in pairs], [pair.judge for pair in pairs])
    if value is None:
        return Estimate(None, n=len(pairs), reason=reason)
    names = sorted({pair.skill for pair in pairs})
    clusters = [names.index(pair.skill) for pair in pairs] if len(names) >= LEAST_CLUSTERS else None
    rows = products([(pair.human, pair.judge) for pair in pairs])
    found = bootstrap(rows, kappa_of_sums, seed=_SEED, clusters=clusters)
    if found is None:
        return Estimate(round(value, 4), n=len(pairs), reason="too few different labels for an interval")
    return Estimate(round(value, 4), round(found.low, 4), round(found.high, 4), n=len(pairs))


def _rate(outcomes: Sequence[float], none: str) -> Estimate:
    if not outcomes:
        return Estimate(None, reason=none)
    low, high = clopper_pearson(int(sum(outcomes)), len(outcomes))
    return Estimate(round(sum(outcomes) / len(outcomes), 4), round(low, 4), round(high, 4), n=len(outcomes))


def _acceptable(passes: Sequence[float], hits: Sequence[float], rejections: Sequence[float]) -> Estimate:
    """Correct the judge's share of passes: (share + specificity − 1) ÷ (sensitivity + specificity − 1).

    Source: Rogan and Gladen, 1978. Each end of the interval is drawn with all three rates leaning its way.
    """
    if not passes or not hits or not rejections:
        why = "no judged score" if not passes else "labels on both sides of the pass mark are needed"
        return Estimate(None, n=len(passes), reason=why)
    told = sum(hits) / len(hits) + sum(rejections) / len(rejections) - 1
    if told <= 0:
        return Estimate(None, n=len(passes), reason=_NO_BETTER)
    value = (sum(passes) / len(passes) - 1 + sum(rejections) / len(rejections)) / told
    rng = np.random.default_rng(_SEED)
    share, found, refused = (rate_draws(rates, rng) for rates in (passes, hits, rejections))
    tail = (1 - LEVEL) / 2
    low = float(np.quantile(_corrected(share.low, found.high, refused.low, 0.0), tail))
    high = float(np.quantile(_corrected(share.high, found.low, refused.high, 1.0), 1 - tail))
    value = min(1.0, max(0.0, value))
    return Estimate(round(value, 4), round(min(low, value), 4), round(max(high, value), 4), n=len(passes))


def _corrected(share: Array, hit: Array, refused: Array, unknown: float) -> Array:
    """Correct many draws; one in which the judge tells nothing could be anything, and counts as ``unknown``."""
    told = hit + refused - 1
    ratio = np.divide(share + refused - 1, told, out=np.full_like(share, unknown), where=told > 0)
    inside: Array = np.clip(ratio, 0.0, 1.0)
    return inside
