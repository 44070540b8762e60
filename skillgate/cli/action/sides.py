"""Both sides of a change as one difference."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.model.diff import DiffSide
from skillgate.report.diff import diff

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.cli.action.stand import Stand
    from skillgate.cli.baseline import Baseline
    from skillgate.model.diff import Diff
    from skillgate.model.report import Report
    from skillgate.scoring.gate import Policy


def difference(
    stand: Stand,
    report: Report,
    before: Baseline,
    beside: Sequence[str],
    policy_of: Callable[[PurePosixPath], Policy],
) -> Diff:
    """Set both sides side by side, but for skills that the report names only for what they share with another."""
    asked_about = [result for result in report.results if result.skill.path not in beside]
    pairs = [
        *((before.results.get(result.skill.path), result) for result in asked_about),
        *((result, None) for result in before.gone),
    ]
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
    )
