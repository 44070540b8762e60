"""From layer scores to dimensions, and from dimensions to one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.score import Dimension, LayerName
from skillgate.scoring.weights import BLEND, PENALTY_FLOOR, PENALTY_STEP, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Mapping


def penalty(anti_patterns: int) -> float:
    """Give the factor that a number of anti-pattern findings leaves: 5 % off for each, never below one half.

    Raises:
        ValueError: when the number is negative.
    """
    if anti_patterns < 0:
        message = f"the number of anti-patterns cannot be negative: {anti_patterns}"
        raise ValueError(message)
    return max(PENALTY_FLOOR, 1.0 - PENALTY_STEP * anti_patterns)


def blend(dimension: Dimension, scores: Mapping[LayerName, float | None]) -> float | None:
    """Blend what the layers measured of one dimension, each score in [0, 1].

    A layer without a score, or with no share in the dimension, is left out and the shares of the others are
    renormalised; None when nothing measured it.
    """
    shares = BLEND[dimension]
    measured = [(shares[layer], score) for layer, score in scores.items() if score is not None and shares[layer] > 0]
    total = sum(share for share, _ in measured)
    return sum(share * score for share, score in measured) / total if total else None


def layer_scores(static: Mapping[Dimension, float | None]) -> dict[Dimension, dict[LayerName, float | None]]:
    """Give each dimension's scores by layer, as the blend takes them, where only the static layer ran."""
    return {dimension: {LayerName.STATIC: static.get(dimension)} for dimension in Dimension}


def coverage(dimensions: Mapping[Dimension, float | None]) -> float:
    """Give the share of the dimension weights, in [0, 1], that was measured."""
    return sum(WEIGHTS[dimension] for dimension, score in dimensions.items() if score is not None) / 100


def composite(dimensions: Mapping[Dimension, float | None], anti_patterns: int) -> float | None:
    """Give the composite, 0–100 with two decimals, over the dimensions that were measured; None when none was."""
    measured = [(WEIGHTS[dimension], score) for dimension, score in dimensions.items() if score is not None]
    total = sum(weight for weight, _ in measured)
    if not total:
        return None
    return round(sum(weight * score for weight, score in measured) / total * 100 * penalty(anti_patterns), 2)


def composite_score(
    dimension_scores: Mapping[str, float | None], anti_pattern_count: int = 0, *, renormalise: bool = False
) -> float:
    """Compute the composite from dimension scores, as the method's own script does: a plain weighted sum.

    A dimension that is left out adds nothing, so give all ten. With ``renormalise=True`` dimensions that are None or
    left out are unmeasured, and the sum is divided by the weight that was measured.

    Args:
        dimension_scores: scores in [0, 1] by dimension name.
        anti_pattern_count: how many anti-pattern findings there are.
        renormalise: divide by the measured weight.

    Returns:
        The composite, 0–100, rounded to two decimals.

    Raises:
        ValueError: for an unknown dimension, a score outside [0, 1], a None without ``renormalise``, or a negative
            count; with ``renormalise`` also when nothing was measured.
    """
    known = {dimension.value: dimension for dimension in Dimension}
    scores: dict[Dimension, float | None] = {}
    for name, score in dimension_scores.items():
        if name not in known:
            message = f"unknown dimension {name!r}; the dimensions are {', '.join(known)}"
            raise ValueError(message)
        if score is None and not renormalise:
            message = f"{name} is unmeasured (None); pass renormalise=True to leave unmeasured dimensions out"
            raise ValueError(message)
        if score is not None and not 0.0 <= score <= 1.0:
            message = f"{name} must be between 0 and 1, and is {score!r}"
            raise ValueError(message)
        scores[known[name]] = score
    if renormalise:
        result = composite(scores, anti_pattern_count)
        if result is None:
            message = "no dimension was measured, so there is no composite"
            raise ValueError(message)
        return result
    total = sum(WEIGHTS[dimension] / 100 * (score or 0.0) for dimension, score in scores.items())
    return round(total * 100 * penalty(anti_pattern_count), 2)
