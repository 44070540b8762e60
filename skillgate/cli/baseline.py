"""What a run is compared with: a report that was kept, or a revision in git."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate import pipeline
from skillgate.errors import UsageError
from skillgate.model.across import AcrossChange
from skillgate.registry import Room
from skillgate.report.known import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skillgate.cli.session import Session
    from skillgate.config import Config
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.skill import SkillRoot

SHOWN = 5  # skills that are gone, named one by one


class Baseline(NamedTuple):
    """What a run is compared with.

    Attributes:
        results: the result of each skill that had one, by its shown path now.
        listing: characters of each client's list, by client and place; None where the baseline does not say.
        across: the findings across skills; None where the baseline does not say.
    """

    results: Mapping[str, SkillResult]
    listing: Mapping[tuple[str, str], int] | None = None
    across: tuple[Finding, ...] | None = None


def load_baseline(
    config: Config, roots: Sequence[SkillRoot], paths: Sequence[str], session: Session, context: pipeline.Context
) -> Baseline:
    """Give what was there before, paired with the skills of now.

    A name that ends in ``.json`` is a report, anything else a revision: a file in the working tree cannot take a
    revision's place. A skill that moved is known by its name.

    Raises:
        UsageError: the report cannot be read or compared, or there is no such revision.
    """
    wanted = str(config.get("baseline"))
    listing = across = None
    if wanted.endswith(".json"):
        kept = _from_report(os.path.join(session.cwd, wanted), wanted, str(config.get("depth")))  # noqa: PTH118
        by_path = {str(root.path): root for root in roots}
        there = {path for path in kept if os.path.lexists(os.path.join(session.cwd, path))} - by_path.keys()  # noqa: PTH118
        found, gone = _paired(by_path, {path: result for path, result in kept.items() if path not in there})
        gone = tuple(path for path in gone if _below(path, map(os.path.normpath, paths)))
    else:
        before = _from_revision(wanted, roots, paths, session, context)
        found, gone = before.paired
        listing = {(use.client.value, use.place): use.characters for use in before.report.listing}
        across = across_findings(before.report)
    if gone:
        more = f" and {len(gone) - SHOWN} more" if len(gone) > SHOWN else ""
        session.note(f"in the baseline and not here: {', '.join(sorted(gone)[:SHOWN])}{more}")
    return Baseline(found, listing, across)


def across_findings(report: Report) -> tuple[Finding, ...]:
    """Pick the findings that concern several skills."""
    ids = {name.upper() for name in Room("skillgate.static.across").names()}
    return tuple(finding for result in report.results for finding in result.findings if finding.id in ids)


def across_change(report: Report, before: tuple[Finding, ...]) -> AcrossChange:
    """Say which findings across skills came and which went, by rule, file and message without its numbers."""
    now = across_findings(report)
    return AcrossChange(new=_less(now, before), fixed=_less(before, now))


def _less(findings: Iterable[Finding], others: Iterable[Finding]) -> tuple[Finding, ...]:
    left = Counter(map(_key, others))
    kept = []
    for finding in findings:
        if left[_key(finding)]:
            left[_key(finding)] -= 1
        else:
            kept.append(finding)
    return tuple(kept)


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.id, str(finding.path), folded(finding.message)


def _paired(
    roots: Mapping[str, SkillRoot], kept: Mapping[str, SkillResult]
) -> tuple[dict[str, SkillResult], tuple[str, ...]]:
    """Pair skills with their baseline, both by the same kind of path; what moved is paired by its directory's name.

    Returns:
        The baseline by shown path, and the paths of the baseline that nothing was paired with.
    """
    found = {str(root.path): kept[key] for key, root in roots.items() if key in kept}
    left = {key: result for key, result in kept.items() if key not in roots}
    for key, root in roots.items():
        moved = [other for other, result in left.items() if root.name in (result.skill.name, os.path.basename(other))]  # noqa: PTH119
        if key not in kept and len(moved) == 1:
            found[str(root.path)] = left.pop(moved[0])
    return found, tuple(left)


def _from_report(place: str, shown: str, depth: str) -> Mapping[str, SkillResult]:
    from skillgate.model.documents import SingleReport
    from skillgate.model.report import Report
    from skillgate.model.score import SCORING_VERSION
    from skillgate.report.json import read

    try:
        with open(place, encoding="utf-8") as file:  # noqa: PTH123
            document = read(file.read(), source=shown)
    except FileNotFoundError:
        raise UsageError(f"the baseline {shown} does not exist") from None
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


class _Revision(NamedTuple):
    """What a commit held: its report, and each skill of now with what it was, beside the paths of those that went."""

    report: Report
    paired: tuple[dict[str, SkillResult], tuple[str, ...]]


def _from_revision(
    revision: str, roots: Sequence[SkillRoot], paths: Sequence[str], session: Session, context: pipeline.Context
) -> _Revision:
    """Score what a commit holds below the paths that were given."""
    from skillgate.skill.discover import discover_commit
    from skillgate.skill.read import read

    top = _repository(roots, session)
    discovery = discover_commit(revision, os.path.relpath(top, os.path.realpath(session.cwd)), cwd=session.cwd)
    now = {_inside(root, top): root for root in roots}
    present = frozenset(path for path in now if path is not None)
    asked = [os.path.realpath(os.path.join(session.cwd, path)) for path in paths]  # noqa: PTH118
    places = [os.path.relpath(place, top) for place in asked]
    then = [root for root in discovery.roots if root.directory in present or _was(top, root, places)]
    plain = pipeline.Context(
        version=context.version,
        clock=context.clock,
        assess=context.assess,
        across=context.across,
        selection=context.selection,
        detail=context.detail,
    )
    report = pipeline.evaluate((read(root) for root in then), plain)
    kept = {root.directory: result for root, result in zip(then, report.results, strict=True)}
    found, gone = _paired({path: root for path, root in now.items() if path is not None}, kept)
    return _Revision(report, (found, tuple(path for path in gone if _below(path, places))))


def _was(top: str, root: SkillRoot, places: Sequence[str]) -> bool:
    """Tell whether a skill of a commit counts in what was there: below the paths asked for, or moved away since."""
    return _below(root.directory, places) or not _still_there(top, root)


def _below(path: str, places: Iterable[str]) -> bool:
    folders = [place.replace(os.sep, "/") for place in places]
    return any(folder == "." or path == folder or path.startswith(f"{folder}/") for folder in folders)


def _repository(roots: Sequence[SkillRoot], session: Session) -> str:
    """Find the repository of the skills."""
    from skillgate.skill.tree import toplevel

    top = toplevel(_real(roots[0]) if roots else os.path.realpath(session.cwd))
    if top is None:
        raise UsageError(f"{session.cwd} is in no git repository, so --baseline can only name a report (….json)")
    return top


def _real(root: SkillRoot) -> str:
    origin: str = getattr(root.tree, "origin", "")
    return os.path.realpath(origin + root.directory)


def _inside(root: SkillRoot, top: str) -> str | None:
    path = os.path.relpath(_real(root), top).replace(os.sep, "/")
    return None if path.startswith("../") else "" if path == "." else path


def _still_there(top: str, root: SkillRoot) -> bool:
    return os.path.lexists(os.path.join(top, root.directory, root.file_name))  # noqa: PTH118
