"""Both sides of a change as one difference."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.model.diff import DiffSide
from skillgate.report.across_change import across_findings
from skillgate.report.diff import Beside, diff

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.action.context import Stand
    from skillgate.evaluate.pipeline import Baseline
    from skillgate.model.diff import Diff
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report
    from skillgate.scoring.gate import Policy


def difference(
    stand: Stand,
    report: Report,
    before: Baseline,
    beside: Sequence[str],
    policy_of: Callable[[PurePosixPath], Policy],
    across: Sequence[Finding],
) -> Diff:
    """Set both sides side by side, but for skills that the report names only for what they share with another.

    ``across`` holds every finding across skills at the head, whether or not the report is about its skills.
    """
    asked_about = [result for result in report.results if result.skill.path not in beside]
    pairs = [
        *((before.results.get(result.skill.path), result) for result in asked_about),
        *((result, None) for result in before.gone),
    ]
    shown = {result.skill.path for result in asked_about}
    others = Beside(
        before=across_findings(result for path, result in before.results.items() if path not in shown),
        after=tuple(finding for finding in across if str(finding.path.parent) not in shown),
        paths=tuple((result.skill.path, path) for path, result in before.results.items() if path not in shown),
    )
    commit = stand.compared.commit
    label = commit[:12] if commit else stand.compared.how
    return diff(
        pairs,
        a=DiffSide(label=label, commit=commit, tool=__version__),
        b=DiffSide(label=stand.base.head[:12] or "here", commit=stand.base.head or None, tool=__version__),
        max_drop=lambda path: policy_of(PurePosixPath(path)).max_drop,
        listing=report.listing,
        across=report.across,
        profile=report.profile,
        digest=report.config_digest,
        version=__version__,
        beside=others,
    )
