"""Many skills in a few numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.report import PluginScore, Summary
from skillgate.model.score import Badge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.report import SkillResult


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
    """Give the median; the standard library's would bring fractions and decimals into every start."""
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
