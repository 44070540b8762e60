"""The baseline of a commit, measured once more as deep as the run goes: only for skills that are asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evaluate import pipeline
from skillgate.evaluate.deepen import Deepened
from skillgate.skill.read import read

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from skillgate.evaluate.deepen import Asked
    from skillgate.model.report import SkillResult
    from skillgate.model.skill import SkillRoot

    Again = Callable[[Collection[str]], Mapping[str, SkillResult]]


def nothing(_: Sequence[Asked]) -> Deepened:
    """Ask no model: what was is first measured by the static layer, until it is known which of it matters."""
    return Deepened()


def again(
    then: Sequence[SkillRoot],
    results: Sequence[SkillResult],
    found: Mapping[str, SkillResult],
    plain: pipeline.Context,
    context: pipeline.Context,
) -> Again | None:
    """Give what measures a baseline deeper; None where the run is not deeper than the static layer.

    Args:
        then: the skills of the commit.
        results: theirs, in the same order.
        found: by shown path now, the one of ``results`` that each skill of now was.
        plain: what ``results`` were made with.
        context: the run's.
    """
    if context.deepen is None:
        return None
    places = {result.skill.path: root for root, result in zip(then, results, strict=True)}

    def deeper(asked: Collection[str]) -> Mapping[str, SkillResult]:
        wanted = {places[found[path].skill.path].path: path for path in asked if path in found}
        roots = {root.path for root in places.values() if root.path in wanted}
        report = pipeline.evaluate(
            (read(root) for root in then),
            plain._replace(
                depth=context.depth,
                deepen=context.deepen,
                beside=None,
                touched=lambda root, _: root.path in roots,
            ),
        )
        by_path = {result.skill.path: result for result in report.results}
        return {**found, **{path: by_path[str(root)] for root, path in wanted.items() if str(root) in by_path}}

    return deeper
