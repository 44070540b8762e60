"""The baseline of a commit, measured once more as deep as the run goes: only for skills that are asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evaluation import pipeline
from skillgate.skill.read import read

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from skillgate.model.report import SkillResult
    from skillgate.model.skill import SkillRoot


def remeasure(
    then: Sequence[SkillRoot],
    results: Sequence[SkillResult],
    found: Mapping[str, SkillResult],
    evaluator: pipeline.Evaluator,
) -> pipeline.Remeasure:
    """Return what measures a baseline at another depth, for the skills of some shown paths.

    Args:
        then: the skills of the commit.
        results: theirs, in the same order.
        found: by shown path now, the one of ``results`` that each skill of now was.
        evaluator: how they are measured.
    """
    places = {result.skill.path: root for root, result in zip(then, results, strict=True)}

    def deeper(asked: Collection[str]) -> Mapping[str, SkillResult]:
        wanted = {places[found[path].skill.path].path: path for path in asked if path in found}
        roots = {root.path for root in places.values() if root.path in wanted}
        report = pipeline.evaluate(map(read, then), evaluator, touched=lambda root, _: root.path in roots).report
        by_path = {result.skill.path: result for result in report.results}
        return {**found, **{path: by_path[str(root)] for root, path in wanted.items() if str(root) in by_path}}

    return deeper
