"""What a run is compared with: a report that was kept, or a revision in git."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation import pipeline
from skillgate.evaluation.baseline.remeasuring import remeasure
from skillgate.evaluation.baseline.removed import SHOWN, moved_since, not_in_head, tell_absent
from skillgate.evaluation.baseline.report import marks_at, match, place_of, read_report
from skillgate.evaluation.deepen import Deepened
from skillgate.evaluation.findings import read_whole
from skillgate.evaluation.pipeline import Baseline
from skillgate.report.across_change import across_change as changed
from skillgate.scoring.listing import listing_use
from skillgate.scoring.pairing import Marks, names_of, pair, repository_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skillgate.config import Config
    from skillgate.evaluation.findings import Reading
    from skillgate.model.across import AcrossChange
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.skill import SkillRoot
    from skillgate.session import Session


class BaselineOptions(NamedTuple):
    """How a baseline is asked for.

    Attributes:
        reading: reads a report, by its path, its shown path and what it is for.
        notes_missing: whether a note names the skills that are gone.
        top: the top of the repository whose commit is meant; None for that of the first path.
        excluded: directories below which no skill is asked about, relative to the working directory.
        committed: whether HEAD tells what is gone and what moved, and not the working tree; then also skills that
            others link to are found.
        name: what the skill at the repository's top is called whose directory may be called anything; ``""`` for its
            directory's name.
    """

    reading: Reading = read_whole
    notes_missing: bool = True
    top: str | None = None
    excluded: tuple[str, ...] = ()
    committed: bool = False
    name: str = ""


_DEFAULTS = BaselineOptions()


def load_baseline(
    config: Config,
    roots: Sequence[SkillRoot],
    paths: Sequence[str],
    session: Session,
    evaluator: pipeline.Evaluator,
    options: BaselineOptions = _DEFAULTS,
) -> Baseline:
    """Return what was there before, matched with the skills of now.

    A name that ends in ``.json`` is a report, anything else a revision: a file in the working tree cannot take a
    revision's place. Skills without a counterpart are named on stderr, on either side.

    Raises:
        UsageError: the report cannot be read or compared, or none of its skills is in this repository; or there is no
            such revision.
    """
    wanted = str(config.get(settings.BASELINE))
    if wanted.endswith(".json"):
        text = options.reading(os.path.join(session.cwd, wanted), wanted, "the baseline")  # noqa: PTH118
        before = _from_report(read_report(text, wanted, evaluator.sampled), wanted, roots, paths, session, options)
    else:
        top = options.top or _repository(paths, session)
        if _is_before_the_first_commit(top, wanted):
            session.note(f"{wanted} is no commit: none has been made here yet, so there is no baseline")
            return Baseline({}, listing={}, across=())
        before = _from_revision(wanted, roots, _places(paths, top, session), top, session, evaluator, options)
    if options.notes_missing:
        _tell(session, "in the baseline and not here", [result.skill.path for result in before.gone])
        new = [str(root.path) for root in roots if str(root.path) not in before.results]
        _tell(session, f"not in the baseline {wanted}, and so new", new)
    return before


def across_change(report: Report, before: Baseline, now: tuple[Finding, ...]) -> AcrossChange | None:
    """Say which findings across skills came and which went; None where the baseline does not say.

    Args:
        report: what is suppressed in it has not come.
        before: the baseline.
        now: every finding across skills, as ``pipeline.Evaluated`` has them.
    """
    if before.across is None:
        return None
    pairs = [(result.skill.path, path) for path, result in before.results.items()]
    change = changed(before.across, now, pairs, before.moves)
    suppressed = {item.finding for result in report.results for item in result.suppressed}
    return change._replace(new=tuple(finding for finding in change.new if finding not in suppressed))


def _paired(
    roots: Mapping[str, SkillRoot], kept: Mapping[str, SkillResult], moved: Mapping[str, str] = MappingProxyType({})
) -> tuple[dict[str, SkillResult], tuple[str, ...]]:
    """Pair skills with their baseline, both by their paths in the repository, then by name and content.

    Of what git says has moved (``moved``: the path then by the path now) neither is asked.

    Returns:
        The baseline by shown path, and the paths of the baseline that nothing was paired with.
    """
    then = {key: _marks(result, key) for key, result in kept.items() if key not in moved.values()}
    now = {key: Marks() if key in then else marks_at(root) for key, root in roots.items() if key not in moved}
    found = {**pair(then, now), **moved}
    met = set(found.values())
    return (
        {str(root.path): kept[found[key]] for key, root in roots.items() if key in found},
        tuple(key for key in kept if key not in met),
    )


def _marks(result: SkillResult, path: str) -> Marks:
    return Marks(names_of(result.skill.name, path), result.skill.digest)


def _tell(session: Session, what: str, paths: Sequence[str]) -> None:
    """Name the first skills of some on stderr; nothing where there are none."""
    if paths:
        more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
        session.note(f"{what}: {', '.join(sorted(paths)[:SHOWN])}{more}")


def _from_report(
    kept: Sequence[SkillResult],
    shown: str,
    roots: Sequence[SkillRoot],
    paths: Sequence[str],
    session: Session,
    options: BaselineOptions,
) -> Baseline:
    """Match the skills of a report; what is gone counts only below the paths that were given."""
    place = place_of(paths, session.cwd)
    if options.top is not None:
        place = place._replace(top=options.top)
    matched = match(kept, roots, place, shown)
    places = None if place.top is None else _places(paths, place.top, session)

    def is_below(result: SkillResult) -> bool:
        inside = repository_path(result.skill)
        if inside is None or places is None:
            return _below(result.skill.path, map(os.path.normpath, paths))
        return _below(inside, places)

    return Baseline(matched.results, tuple(filter(is_below, matched.gone)), moves=_moves(matched.results))


def _moves(found: Mapping[str, SkillResult]) -> dict[str, str]:
    return {result.skill.path: path for path, result in found.items() if result.skill.path != path}


def _from_revision(
    revision: str,
    roots: Sequence[SkillRoot],
    places: Sequence[str],
    top: str,
    session: Session,
    evaluator: pipeline.Evaluator,
    options: BaselineOptions,
) -> Baseline:
    """Score what a commit holds at the places of the repository ``top`` that were asked about."""
    from skillgate.skill.discover import discover_commit
    from skillgate.skill.read import read

    where = os.path.relpath(top, os.path.realpath(session.cwd))
    discovery = discover_commit(revision, where, cwd=session.cwd, excluded=options.excluded, beside=options.committed)
    now = {_inside(root, top): root for root in roots}
    present = frozenset(path for path in now if path is not None)
    then = [
        root._replace(name=options.name) if options.name and not root.directory else root
        for root in discovery.roots
        if root.directory in present or _was(top, root, places)
    ]
    sampled = evaluator.sampled
    deep = evaluator._replace(criteria=pipeline.Criteria(selection=evaluator.criteria.selection), progress=None)
    # First by the static layer, until it is known which skills matter: a model is paid for these alone.
    plain = deep if sampled is None else deep._replace(sampled=sampled._replace(measure=lambda _: Deepened()))
    evaluated = pipeline.evaluate(map(read, then), plain)
    results = evaluated.report.results
    kept = {root.directory: result for root, result in zip(then, results, strict=True)}
    here = {path: root for path, root in now.items() if path is not None}
    files = {root.directory: root.file_name for root in then}
    is_other = bool(here.keys() - kept.keys() and kept.keys() - here.keys())
    moved = moved_since(top, revision, here, files, committed=options.committed) if is_other else {}
    found, gone = _paired(here, kept, moved)
    gone = tuple(path for path in gone if _below(path, places))
    if options.committed and gone:
        left = not_in_head(top, {path: files[path] for path in gone})
        tell_absent(top, sorted(set(gone) - set(left)), session)
        gone = left
    listing = listing_use(evaluated.members, alone=True)
    return Baseline(
        results=found,
        gone=tuple(kept[path] for path in sorted(gone)),
        listing={(use.client.value, use.place): use.characters for use in listing},
        across=evaluated.across,
        moves=_moves(found),
        remeasure=None if sampled is None else remeasure(then, results, found, deep),
    )


def _is_before_the_first_commit(top: str, revision: str) -> bool:
    """Whether a revision names no commit because none was made; with other branches only HEAD can be such a one."""
    from skillgate.skill.git import commit_of, has_refs, is_unborn

    if not is_unborn(top) or commit_of(top, revision) is not None:
        return False
    return revision == "HEAD" or not has_refs(top)


def _places(paths: Sequence[str], top: str, session: Session) -> list[str]:
    """Give the paths that were asked about as they lie in the repository: as they are called, and where links lead.

    A link that a change puts in the place of a directory does not take the directory's past away.
    """
    here = os.path.realpath(session.cwd)
    called = [os.path.normpath(os.path.join(here, path)) for path in paths]  # noqa: PTH118
    real = [os.path.realpath(os.path.join(here, path)) for path in paths]  # noqa: PTH118
    return list(dict.fromkeys(os.path.relpath(place, top) for place in (*called, *real)))


def _was(top: str, root: SkillRoot, places: Sequence[str]) -> bool:
    """Tell whether a skill of a commit counts in what was there: below the paths asked for, or moved away since."""
    return _below(root.directory, places) or not _still_there(top, root)


def _below(path: str, places: Iterable[str]) -> bool:
    folders = [place.replace(os.sep, "/") for place in places]
    return any(folder == "." or path == folder or path.startswith(f"{folder}/") for folder in folders)


def _repository(paths: Sequence[str], session: Session) -> str:
    """Find the repository of the first path; what lies deeper may hold repositories of its own."""
    from skillgate.files import toplevel

    first = os.path.realpath(os.path.join(session.cwd, paths[0] if paths else "."))  # noqa: PTH118
    top = toplevel(first if os.path.isdir(first) else os.path.dirname(first))  # noqa: PTH112, PTH120
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
    """Tell whether it is on disk where it was, not through a link that came in its directory's place."""
    folder = os.path.normpath(os.path.join(top, root.directory))  # noqa: PTH118
    return os.path.realpath(folder) == folder and os.path.lexists(os.path.join(folder, root.file_name))  # noqa: PTH118
