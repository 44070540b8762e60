"""The score interval of a rate, without arrays: a run that computes nothing else need not load any."""

from __future__ import annotations

import math
from statistics import NormalDist

LEVEL = 0.95


def wilson_ends(k: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Give both ends of the score interval of a rate: ``k`` of ``n``; (0, 1) for no trials.

    Source: Wilson, 1927.

    Args:
        k: successes; a fraction where a unit is a cluster that succeeded in part.
        n: units.
        level: of confidence.

    Raises:
        ValueError: ``k`` is not in 0..n, or ``level`` not in (0, 1).
    """
    if not 0 <= k <= n:
        message = f"expected 0 <= k <= n, found k = {k}, n = {n}"
        raise ValueError(message)
    if not 0 < level < 1:
        message = f"a level is between 0 and 1, found {level}"
        raise ValueError(message)
    if not n:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(1 - (1 - level) / 2)
    centre = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)
    # At both ends of the scale the formula gives 0 and 1 but for rounding.
    return 0.0 if k == 0 else max(0.0, centre - half), 1.0 if k == n else min(1.0, centre + half)
