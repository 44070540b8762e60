"""The digests of skills' files in a report of the Action: what a later certificate of it can be held to."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.errors import IncompleteError
from skillgate.model.score import Depth
from skillgate.scoring.regression import sampled_layers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.report import Report
    from skillgate.model.skill import SkillRoot


def digests(roots: Sequence[SkillRoot], depth: Depth, cwd: str) -> dict[str, str]:
    """Digest the files of each skill whose digest covers all of them, by shown path; none where git cannot tell."""
    if depth not in (Depth.DEEP, Depth.CERTIFY):
        return {}
    from skillgate.evaluate.content import content_of  # few runs go as deep

    try:
        found = {str(root.path): content_of(os.path.join(cwd, str(root.path))) for root in roots}
    except IncompleteError:
        return {}
    return {path: one.digest for path, one in found.items() if one.digest is not None and one.reason is None}


def with_digests(report: Report, before: dict[str, str], after: dict[str, str]) -> Report:
    """Put into each result that a model was asked about what its files were, where they are so still."""
    return report._replace(
        results=tuple(
            result._replace(content=before[path])
            if sampled_layers(result) and path in before and before[path] == after.get(path)
            else result
            for result in report.results
            for path in (result.skill.path,)
        )
    )
