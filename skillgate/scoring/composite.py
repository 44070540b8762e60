"""The method's tables, and from layer scores to dimensions, composite, badge and the summary of many skills.

Source of each table: the PluginEval method (evaluation-methodology), sections "Dimension Weights", "Layer Blend
Weights", "Composite Scoring Formula", "Which Dimension to Improve First" and the category norms of its rubrics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillgate.model.report import PluginScore, SkillResult, Summary
from skillgate.model.score import Badge, Dimension, LayerName
from skillgate.named_tuple import NamedTuple

# Per cent, integers that sum to 100: what a dimension is worth in the composite.
WEIGHTS: dict[Dimension, int] = {
    Dimension.TRIGGERING_ACCURACY: 25,
    Dimension.ORCHESTRATION_FITNESS: 20,
    Dimension.OUTPUT_QUALITY: 15,
    Dimension.SCOPE_CALIBRATION: 12,
    Dimension.PROGRESSIVE_DISCLOSURE: 10,
    Dimension.TOKEN_EFFICIENCY: 6,
    Dimension.ROBUSTNESS: 5,
    Dimension.STRUCTURAL_COMPLETENESS: 3,
    Dimension.CODE_TEMPLATE_QUALITY: 2,
    Dimension.ECOSYSTEM_COHERENCE: 2,
}

# Per cent of a dimension that comes from static / judge / Monte Carlo.
_BLEND: dict[Dimension, tuple[int, int, int]] = {
    Dimension.TRIGGERING_ACCURACY: (15, 25, 60),
    Dimension.ORCHESTRATION_FITNESS: (10, 70, 20),
    Dimension.OUTPUT_QUALITY: (0, 40, 60),
    Dimension.SCOPE_CALIBRATION: (30, 55, 15),
    Dimension.PROGRESSIVE_DISCLOSURE: (80, 20, 0),
    Dimension.TOKEN_EFFICIENCY: (40, 10, 50),
    Dimension.ROBUSTNESS: (0, 20, 80),
    Dimension.STRUCTURAL_COMPLETENESS: (90, 10, 0),
    Dimension.CODE_TEMPLATE_QUALITY: (30, 70, 0),
    Dimension.ECOSYSTEM_COHERENCE: (85, 15, 0),
}
BLEND: dict[Dimension, dict[LayerName, int]] = {
    dimension: dict(zip(LayerName, shares, strict=True)) for dimension, shares in _BLEND.items()
}

PENALTY_STEP = 0.05  # per anti-pattern finding
PENALTY_FLOOR = 0.5

# Lines of SKILL.md that suit a category (frontmatter `metadata.category`).
SIZE_BANDS: dict[str, tuple[int, int]] = {
    "reference": (200, 500),
    "workflow": (150, 300),
    "generator": (100, 200),
    "diagnostic": (200, 400),
    "integration": (150, 350),
    "coordination": (100, 200),
}
DEFAULT_BAND = (200, 600)

# Hours of work, roughly, by the method's words for the effort of a fix: they only order advice.
EFFORT: dict[str, float] = {"very low": 0.5, "low": 1.0, "medium": 2.0}


class Priority(NamedTuple):
    """What the method says of fixing a dimension: effort and gain in its words, and when to fix it first."""

    effort: str
    work: str
    gain_per_hour: str
    fix_first_if: str


PRIORITIES: dict[Dimension, Priority] = {
    Dimension.TRIGGERING_ACCURACY: Priority("low", "rewrite the description", "high", "the composite is below 70"),
    Dimension.ORCHESTRATION_FITNESS: Priority(
        "medium", "restructure sections", "high", "the skill mixes the work with the supervision of other agents"
    ),
    Dimension.OUTPUT_QUALITY: Priority("medium", "add examples", "medium", "the judge's score is below 0.70"),
    Dimension.SCOPE_CALIBRATION: Priority(
        "low", "move content to references/", "medium", "SKILL.md has fewer than 100 or more than 800 lines"
    ),
    Dimension.PROGRESSIVE_DISCLOSURE: Priority(
        "low", "create references/", "medium", "there is no references/ directory"
    ),
    Dimension.TOKEN_EFFICIENCY: Priority(
        "low", "use fewer MUST, ALWAYS and NEVER", "low", "there are three or more anti-patterns"
    ),
    Dimension.ROBUSTNESS: Priority("low", "add a Troubleshooting section", "low", "no edge case is handled"),
    Dimension.STRUCTURAL_COMPLETENESS: Priority(
        "very low", "add headings and code blocks", "low", "there are fewer than four headings of level 2"
    ),
    Dimension.CODE_TEMPLATE_QUALITY: Priority(
        "very low", "add language tags", "very low", "code blocks lack a language tag"
    ),
    Dimension.ECOSYSTEM_COHERENCE: Priority(
        "very low", "add a Related section", "very low", "there are no cross-references at all"
    ),
}
MIN_COVERAGE = 0.60  # share of the weight that must be measured for a composite to say anything
MAX_DROP = 2.0  # points a score may fall before it is called a regression


# -- From dimensions to one number


def penalty(anti_patterns: int) -> float:
    """Return the factor that a number of anti-pattern findings leaves: 5 % off for each, never below one half.

    Raises:
        ValueError: when the number is negative.
    """
    if anti_patterns < 0:
        raise ValueError(f"the number of anti-patterns cannot be negative: {anti_patterns}")
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
    """Return each dimension's scores by layer, as the blend takes them, where only the static layer ran."""
    return {dimension: {LayerName.STATIC: static.get(dimension)} for dimension in Dimension}


def coverage(dimensions: Mapping[Dimension, float | None]) -> float:
    """Return the share of the dimension weights, in [0, 1], that was measured."""
    return sum(WEIGHTS[dimension] for dimension, score in dimensions.items() if score is not None) / 100


def composite(dimensions: Mapping[Dimension, float | None], anti_patterns: int) -> float | None:
    """Return the composite, 0–100 with two decimals, over the dimensions that were measured; None when none was."""
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
            raise ValueError(f"unknown dimension {name!r}; the dimensions are {', '.join(known)}")
        if score is None and not renormalise:
            raise ValueError(f"{name} is unmeasured (None); pass renormalise=True to leave unmeasured dimensions out")
        if score is not None and not 0.0 <= score <= 1.0:
            raise ValueError(f"{name} must be between 0 and 1, and is {score!r}")
        scores[known[name]] = score
    if renormalise:
        result = composite(scores, anti_pattern_count)
        if result is None:
            raise ValueError("no dimension was measured, so there is no composite")
        return result
    total = sum(WEIGHTS[dimension] / 100 * (score or 0.0) for dimension, score in scores.items())
    return round(total * 100 * penalty(anti_pattern_count), 2)


# -- Badges


def award(score: float | None, elo: float | None, *, withheld: str | None) -> tuple[Badge | None, str | None]:
    """Return the badge and the reason why it is not a better one.

    ``withheld`` says why there can be no badge whatever the score.

    Returns:
        The badge, or None; and the condition that held the next badge back, None for Platinum.
    """
    if withheld is not None:
        return None, f"no badge: {withheld}"
    earned = Badge.from_scores(score, elo)
    better = [badge for badge in Badge if earned is None or badge.composite > earned.composite]
    if not better or score is None:
        return earned, None
    following = better[-1]
    if score < following.composite:
        return earned, f"{following.value} needs {following.composite - score:.2f} more points"
    return earned, f"{following.value} needs an Elo of {following.elo:g}, and has {elo:g}"


# -- Many skills in a few numbers


def summarise(results: Sequence[SkillResult], *, found: int | None = None) -> Summary:
    """Sum many results up; a plugin's figure is the mean of its skills, with no second penalty.

    ``found`` is how many skills there were, also those that were not asked about; None: no others.
    """
    scores = [result.composite.score for result in results if result.composite.score is not None]
    evaluated = sum(1 for result in results if result.evaluated)
    badges: dict[str, int] = {badge.value: 0 for badge in Badge} | {"none": 0}
    suppressed: dict[str, int] = {}
    findings = {"error": 0, "warning": 0, "info": 0}
    for result in results:
        if result.evaluated:
            badges[result.composite.badge.value if result.composite.badge else "none"] += 1
        for finding in result.findings:
            findings[finding.severity.value] += 1
        for item in result.suppressed:
            suppressed[item.by] = suppressed.get(item.by, 0) + 1
    return Summary(
        skills=len(results),
        evaluated=evaluated,
        not_evaluated=len(results) - evaluated,
        by_badge=badges,
        mean=_mean(scores),
        median=_median(scores),
        lowest=min(scores, default=None),
        findings=findings,
        plugins=_plugins(results),
        suppressed=suppressed,
        found=len(results) if found is None else found,
    )


def _mean(scores: Sequence[float]) -> float | None:
    return round(sum(scores) / len(scores), 2) if scores else None


def _median(scores: Sequence[float]) -> float | None:
    """Return the median; the standard library's would import fractions and decimals at every start."""
    ranked = sorted(scores)
    middle = len(ranked) // 2
    return _mean(ranked[middle : middle + 1] if len(ranked) % 2 else ranked[middle - 1 : middle + 1])


def _plugins(results: Sequence[SkillResult]) -> tuple[PluginScore, ...]:
    members: dict[str, list[SkillResult]] = {}
    for result in results:
        if result.plugin is not None:
            members.setdefault(result.plugin, []).append(result)
    plugins = []
    for path, skills in sorted(members.items()):
        scores = [skill.composite.score for skill in skills if skill.composite.score is not None]
        plugins.append(PluginScore(path=path, skills=len(skills), mean=_mean(scores)))
    return tuple(plugins)
