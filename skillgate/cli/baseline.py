"""What a run is compared with: a report that was kept, or a revision in git."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from skillgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.cli.session import Session
    from skillgate.config import Config
    from skillgate.model.report import SkillResult


def load_baseline(config: Config, paths: Sequence[str], session: Session) -> Mapping[str, SkillResult] | None:
    """Give the baseline's results by shown path; None where no baseline is asked for.

    A name that is a file is a report, anything else a revision.

    Raises:
        UsageError: the report cannot be read or compared, or there is no such revision.
    """
    wanted = config.get("baseline")
    if not isinstance(wanted, str):
        return None
    place = os.path.join(session.cwd, wanted)  # noqa: PTH118
    if os.path.isfile(place):  # noqa: PTH113
        return _from_report(place, wanted, str(config.get("depth")))
    if wanted.endswith(".json"):
        raise UsageError(f"the baseline {wanted} does not exist")
    return _from_revision(wanted, paths, session)


def _from_report(place: str, shown: str, depth: str) -> Mapping[str, SkillResult]:
    from skillgate.model.documents import SingleReport
    from skillgate.model.report import Report
    from skillgate.model.score import SCORING_VERSION
    from skillgate.report.json import read

    try:
        with open(place, encoding="utf-8") as file:  # noqa: PTH123
            document = read(file.read(), source=shown)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the baseline {shown} cannot be read: {error}") from error
    if not isinstance(document, Report | SingleReport):
        raise UsageError(f"the baseline {shown} is not a score report; write one with: skillgate score --output json")
    if document.scoring_version != SCORING_VERSION:
        raise UsageError(
            f"the baseline {shown} has scoring version {document.scoring_version}, this run {SCORING_VERSION}: their"
            " numbers are not comparable; score the baseline again"
        )
    if document.depth.value != depth:
        raise UsageError(f"the baseline {shown} was scored at depth {document.depth.value}, this run at {depth}")
    results = document.results if isinstance(document, Report) else (document.result(),)
    return {result.skill.path: result for result in results}


def _from_revision(revision: str, paths: Sequence[str], session: Session) -> Mapping[str, SkillResult]:
    from skillgate import __version__, pipeline
    from skillgate.skill.discover import NotInCommitError, discover_commit
    from skillgate.skill.read import read

    found: dict[str, SkillResult] = {}
    context = pipeline.Context(version=__version__, clock=time.perf_counter_ns)
    for path in paths:
        relative = os.path.relpath(os.path.join(session.cwd, path), session.cwd).replace(os.sep, "/")  # noqa: PTH118
        try:
            discovery = discover_commit(revision, f"./{relative}", cwd=session.cwd)
        except NotInCommitError:
            continue  # the path is new: its skills have no baseline
        report = pipeline.evaluate((read(root) for root in discovery.roots), context)
        found.update({result.skill.path: result for result in report.results})
    return found
