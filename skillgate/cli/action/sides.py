"""What the Action sets beside each other: reports as the base has them, and both sides as one difference."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.cli.findings import read_whole
from skillgate.errors import UsageError
from skillgate.model.diff import DiffSide
from skillgate.report.diff import diff
from skillgate.skill.git import is_tracked
from skillgate.skill.tree import toplevel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.cli.action.stand import Stand
    from skillgate.cli.baseline import Baseline
    from skillgate.cli.findings import Reading
    from skillgate.model.diff import Diff
    from skillgate.model.report import Report
    from skillgate.scoring.gate import Policy


def reports_of(stand: Stand) -> Reading:
    """Give what reads a report to compare with: as the base has it, where git knows the file.

    Raises:
        UsageError: when asked for a file that the change itself brings.
    """

    def read(place: str, shown: str, what: str) -> str:
        if stand.base.commit is None:
            return read_whole(place, shown, what)
        if stand.files.is_file(place):
            return stand.reading(place, shown, what)
        owner = toplevel(os.path.dirname(os.path.realpath(place)))  # noqa: PTH120
        if owner not in (None, stand.top) and f"{owner}/".startswith(f"{stand.top}/"):
            raise UsageError(
                f"{what} {shown} lies in a repository inside of this one, whose files the change may choose"
            )
        inside_repository = os.path.relpath(os.path.realpath(place), stand.top).replace(os.sep, "/")
        if not inside_repository.startswith("../") and is_tracked(stand.top, inside_repository):
            raise UsageError(f"{what} {shown} comes with this change; it can be compared with after the merge")
        return read_whole(place, shown, what)

    return read


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
