"""The baseline that a run is compared with, and past results in a store."""
# ruff: noqa: PTH112, PTH118, PTH120

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from skillgate import __version__, settings
from skillgate.errors import UsageError
from skillgate.evaluation import pipeline
from skillgate.evaluation.pipeline import Baseline, Deepened, SampledLayers, judged_as, main_digest
from skillgate.evaluation.request import read_whole
from skillgate.files import toplevel
from skillgate.model.documents import History
from skillgate.model.layers import JudgeLayer
from skillgate.model.report import Report, SkillName, SkillResult, Tool
from skillgate.model.single_report import SingleReport
from skillgate.model.skill import SKILL_FILE, SkillRoot, SkillSource
from skillgate.report.across_change import across_change as changed
from skillgate.scoring.listing import listing_use
from skillgate.scoring.pairing import Marks, by_repository, marks_of, names_of, pair, repository_path
from skillgate.skill.find import read
from skillgate.skill.walk import join
from skillgate.store.results import named_store
from skillgate.store.target import require_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from skillgate.config import Config
    from skillgate.console import Console
    from skillgate.evaluation.request import Reading
    from skillgate.model.finding import AcrossChange, Finding

_SHOWN = 5  # skills that are gone, named one by one
_Value = TypeVar("_Value")


class BaselineOptions(NamedTuple):
    """How to load a baseline.

    With ``committed``, removed and moved skills are found from HEAD instead of the working tree, and skills that others
    link to are found too.
    """

    reading: Reading = read_whole  # reads a report, by its path, its shown path and its use
    notes_missing: bool = True  # whether a note names the skills that are gone
    top: str | None = None  # top of the repository of the revision; None for that of the first path
    excluded: Callable[[str], bool] | None = None  # whether a directory is not searched, by its shown path
    committed: bool = False
    name: str = ""  # of the skill at the repository's top, whose directory may have any name


class _Search(NamedTuple):
    """The skills of a run, and the paths to them."""

    roots: Sequence[SkillRoot]
    paths: Sequence[str]
    top: str | None  # of the repository of the first path, or of the options; None without one
    session: Console

    @property
    def places(self) -> list[str]:
        """The paths in the repository, as written and with links resolved.

        A change that replaces a directory with a link does not remove the directory's past.
        """
        here = os.path.realpath(self.session.cwd)
        called = [os.path.normpath(os.path.join(here, path)) for path in self.paths]
        real = [os.path.realpath(os.path.join(here, path)) for path in self.paths]
        return list(dict.fromkeys(os.path.relpath(place, self.top) for place in (*called, *real)))


def load_baseline(
    config: Config,
    roots: Sequence[SkillRoot],
    paths: Sequence[str],
    session: Console,
    evaluator: pipeline.Evaluator,
    options: BaselineOptions = BaselineOptions(),  # noqa: B008 - immutable
) -> Baseline:
    """Load the baseline, matched with the current skills.

    A name that ends in ``.json`` is a report, anything else a revision: a file in the working tree cannot replace a
    revision. Skills without a counterpart, on either side, are noted on stderr.

    Raises:
        UsageError: the report cannot be read or compared, none of its skills is in this repository, or there is no
            such revision.
    """
    wanted = str(config.get(settings.BASELINE))
    first = os.path.realpath(os.path.join(session.cwd, paths[0] if paths else "."))
    top = options.top or toplevel(first if os.path.isdir(first) else os.path.dirname(first))
    search = _Search(roots, paths, top, session)
    if wanted.endswith(".json"):
        text = options.reading(os.path.join(session.cwd, wanted), wanted, "the baseline")
        before = _from_report(_read_report(text, wanted, evaluator.sampled), wanted, search)
    elif top is None:
        raise UsageError(f"{session.cwd} is not in a Git repository, so --baseline must name a report (….json)")
    elif _is_before_the_first_commit(top, wanted):
        session.note(f"no baseline: this repository has no commit yet, so {wanted} does not exist")
        return Baseline({}, listing={}, across=())
    else:
        before = _from_revision(wanted, search, top, evaluator, options)
    if options.notes_missing:
        new = [str(root.path) for root in roots if str(root.path) not in before.results]
        gone = [one.skill.path for one in before.gone]
        for what, named in (("in the baseline but not here", gone), (f"new (not in the baseline {wanted})", new)):
            if named:
                session.note(f"{what}: {_first(sorted(named))}")
    return before


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def across_change(report: Report, before: Baseline, now: tuple[Finding, ...]) -> AcrossChange | None:
    """Return new and fixed findings across skills; None if the baseline does not have them.

    ``now`` are all current ones, as in ``pipeline.Evaluated``; findings suppressed in the report are not new.
    """
    if before.across is None:
        return None
    pairs = [(result.skill.path, path) for path, result in before.results.items()]
    change = changed(before.across, now, pairs, before.moves)
    suppressed = {item.finding for result in report.results for item in result.suppressed}
    return change._replace(new=tuple(finding for finding in change.new if finding not in suppressed))


def _read_report(text: str, shown: str, sampled: SampledLayers | None) -> tuple[SkillResult, ...]:
    """Return the results of a report that this run can be compared with."""
    from skillgate.model.score import SCORING_VERSION, Depth
    from skillgate.report.json import read as read_document

    document = read_document(text, source=shown)
    if not isinstance(document, Report | SingleReport):
        raise UsageError(f"the baseline {shown} is not a score report; write one with: skillgate score --output json")
    if document.scoring_version != SCORING_VERSION:
        raise UsageError(
            f"the baseline {shown} has scoring version {document.scoring_version}, this run {SCORING_VERSION}: their"
            " scores are not comparable; score the baseline again"
        )
    depth = Depth.QUICK if sampled is None else sampled.depth
    if document.depth is not depth:
        depths = f"at depth {document.depth.value}, this run at {depth.value}"
        raise UsageError(f"the baseline {shown} was scored {depths}: their scores are not comparable")
    if sampled is not None and document.models != sampled.models:
        judges = f"by {', '.join(document.models) or 'no model'}, this run by {', '.join(sampled.models)}"
        raise UsageError(f"the baseline {shown} was judged {judges}: their scores are not comparable")
    results = document.results if isinstance(document, Report) else (document.result(),)
    if not results:
        raise UsageError(f"the baseline {shown} has no skills to compare with; score it again")
    paths = [result.skill.path for result in results]
    if len(set(paths)) < len(paths):
        raise UsageError(f"the baseline {shown} is not a skillgate report: two skills have the same path")
    others = {
        judged_as(layer.prompt_version, layer.rubric_version, layer.provider)
        for result in results
        for layer in result.layers
        if isinstance(layer, JudgeLayer) and layer.prompt_version
    }
    if sampled is not None and (differing := sorted(others - {sampled.judged_as})):
        then, now = ", ".join(differing[0]), ", ".join(sampled.judged_as)
        raise UsageError(f"the baseline {shown} was judged by {then}, this run by {now}: not comparable")
    return results


def _from_report(results: Sequence[SkillResult], shown: str, search: _Search) -> Baseline:
    """Match the skills of a report with the found ones; removed skills count only below the given paths.

    They are matched by their path in the repository (without one, by their resolved shown path), then by name and
    content. A skill of the report that is still in its place but outside this run is never matched with another skill.
    """
    by_path = {result.skill.path: result for result in results}
    by_shown = {str(root.path): root for root in search.roots}
    names = [SkillName(root.name, path, root.repository_path) for path, root in by_shown.items()]
    matched = by_repository((result.skill for result in results), names)
    matched |= _by_location(_without(by_path, matched.values()), _without(by_shown, matched), search.session.cwd)
    left = _without(by_path, matched.values())
    there = {path for path, result in left.items() if _lies_there(result.skill, search)}
    # No path may occur on both sides: only marks distinguish them.
    moved = pair(
        {f"\0{path}": marks_of(result) for path, result in left.items() if path not in there},
        {path: _marks_at(root) for path, root in _without(by_shown, matched).items()},
    )
    matched |= {path: other[1:] for path, other in moved.items()}
    if by_shown and not matched and not there:
        _require_any(results, search, shown)
    gone = _without(left, {*there, *matched.values()})
    places = None if search.top is None else search.places

    def is_below(result: SkillResult) -> bool:
        inside = repository_path(result.skill)
        if inside is None or places is None:
            return _below(result.skill.path, map(os.path.normpath, search.paths))
        return _below(inside, places)

    before = {path: by_path[other] for path, other in matched.items()}
    return Baseline(before, tuple(filter(is_below, (gone[path] for path in sorted(gone)))), moves=_moves(before))


def _moves(results: Mapping[str, SkillResult]) -> dict[str, str]:
    return {result.skill.path: path for path, result in results.items() if result.skill.path != path}


def _marks_at(root: SkillRoot) -> Marks:
    """Return the marks that identify a skill, from its main file."""
    from skillgate.skill.frontmatter import parse, split  # only for a skill that has moved or is new

    source = read(root)
    if not isinstance(source, SkillSource):
        return Marks(names_of("", root.name))
    text = source.data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    yaml = split(text).yaml
    name = "" if yaml is None else parse(yaml)[0].text("name")
    return Marks(names_of(name, root.name), main_digest(source))


def _without(skills: Mapping[str, _Value], paths: Collection[str]) -> dict[str, _Value]:
    left = set(paths)
    return {path: one for path, one in skills.items() if path not in left}


def _by_location(
    results: Mapping[str, SkillResult], roots: Mapping[str, SkillRoot], cwd: str
) -> Iterator[tuple[str, str]]:
    """Yield the current and old shown paths of skills in the same directory.

    A skill with different repository paths on both sides only looks the same.
    """
    then = {_real(os.path.join(cwd, path)): path for path in results}
    for shown, root in roots.items():
        path = then.get(_real(os.path.join(cwd, shown)))
        if path is None:
            continue
        inside = repository_path(results[path].skill)
        if inside is None or root.repository_path in (None, inside):
            yield shown, path


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL, which no file has
        return ""


def _lies_there(skill: SkillName, search: _Search) -> bool:
    """Whether there is still a skill at the path in a report."""
    inside = repository_path(skill)
    shown = os.path.join(search.session.cwd, skill.path)
    folder = shown if inside is None or search.top is None else f"{search.top}/{inside}"
    return any(os.path.lexists(os.path.join(folder, name)) for name in (SKILL_FILE, SKILL_FILE.lower()))


def _require_any(results: Sequence[SkillResult], search: _Search, shown: str) -> None:
    """Raise UsageError if no skill of a report is in this repository by name or content, whatever the paths."""
    from skillgate.skill.find import discover

    sought = {mark for result in results for mark in _any_mark(marks_of(result))}
    cwd = search.session.cwd
    roots = discover([search.top or cwd], cwd=cwd).roots
    if not any(sought & set(_any_mark(_marks_at(root))) for root in roots):
        many = f"none of the {len(results)} skills" if len(results) > 1 else "the skill"
        raise UsageError(
            f"{many} of the baseline {shown} {'is' if len(results) > 1 else 'is not'} in this repository (by path,"
            " name or content); use a report of these skills, or leave --baseline out"
        )


def _any_mark(marks: Marks) -> Iterator[str]:
    yield from marks.by_any_name()
    yield from marks.by_content()


def _from_revision(
    revision: str, search: _Search, top: str, evaluator: pipeline.Evaluator, options: BaselineOptions
) -> Baseline:
    """Score the skills of a commit at the searched places of the repository ``top``."""
    from skillgate.skill.find import discover_commit

    cwd, places = search.session.cwd, search.places
    where = os.path.relpath(top, os.path.realpath(cwd))
    discovery = discover_commit(revision, where, cwd=cwd, excluded=options.excluded, linked=options.committed)
    here = {path: root for root in search.roots if (path := _inside(root, top)) is not None}
    then = [
        root._replace(name=options.name) if options.name and not root.directory else root
        for root in discovery.roots
        # Include skills that moved since.
        if root.directory in here or _below(root.directory, places) or not _still_there(top, root)
    ]
    sampled = evaluator.sampled
    deep = evaluator._replace(
        criteria=pipeline.Criteria(selection=evaluator.criteria.selection),
        detail=False,  # no report has advice on what was
        progress=None,
    )
    # First only the static layer, until it is known which skills matter: only these are sent to a model.
    plain = deep if sampled is None else deep._replace(sampled=sampled._replace(measure=lambda _: Deepened()))
    evaluated = pipeline.evaluate(map(read, then), plain)
    results = dict(zip((root.directory for root in then), evaluated.report.results, strict=True))
    files = {root.directory: root.file_name for root in then}
    is_other = bool(here.keys() - results.keys() and results.keys() - here.keys())
    moved = _moved_since(top, revision, here, files, committed=options.committed) if is_other else {}
    matched = {**_paired(here, results, moved), **moved}
    gone = {path for path in results.keys() - set(matched.values()) if _below(path, places)}
    if options.committed and gone:
        absent = _not_in_head(top, {path: files[path] for path in gone})
        _note_absent(top, sorted(gone - absent), search.session)
        gone = absent
    before = {str(root.path): results[matched[key]] for key, root in here.items() if key in matched}
    listing = listing_use(evaluated.members, alone=True)
    return Baseline(
        results=before,
        gone=tuple(results[path] for path in sorted(gone)),
        listing={(use.client.value, use.place): use.characters for use in listing},
        across=evaluated.across,
        moves=_moves(before),
        remeasure=None if sampled is None else _remeasure(then, evaluated.report.results, before, deep),
    )


def _remeasure(
    then: Sequence[SkillRoot],
    results: Sequence[SkillResult],
    before: Mapping[str, SkillResult],
    evaluator: pipeline.Evaluator,
) -> pipeline.Remeasure:
    """Return a function that measures the baseline at another depth, for some shown paths."""
    places = {result.skill.path: root for root, result in zip(then, results, strict=True)}

    def deeper(paths: Collection[str]) -> Mapping[str, SkillResult]:
        wanted = {places[before[path].skill.path].path: path for path in paths if path in before}
        report = pipeline.evaluate(map(read, then), evaluator, touched=lambda root, _: root.path in wanted).report
        by_path = {result.skill.path: result for result in report.results}
        return {**before, **{path: by_path[str(root)] for root, path in wanted.items() if str(root) in by_path}}

    return deeper


def _paired(
    roots: Mapping[str, SkillRoot], results: Mapping[str, SkillResult], moved: Mapping[str, str]
) -> dict[str, str]:
    """Pair skills with their baseline by path in the repository, then by name and content.

    Skills that Git says moved (``moved``: old path by current path) are left out.
    """
    then = {
        key: Marks(names_of(result.skill.name, key), result.skill.digest)
        for key, result in results.items()
        if key not in moved.values()
    }
    now = {key: Marks() if key in then else _marks_at(root) for key, root in roots.items() if key not in moved}
    return pair(then, now)


def _note_absent(top: str, paths: Sequence[str], session: Console) -> None:
    """Note which skills a sparse checkout leaves out, and which exist but were not found."""
    for is_there, why in ((False, "not checked out"), (True, "here, but not found in the paths")):
        named = [path for path in paths if os.path.lexists(os.path.join(top, path)) is is_there]
        if named:
            are, were = ("skill is", "was") if len(named) == 1 else ("skills are", "were")
            session.note(f"{len(named)} {are} {why}, and {were} not gated: {_first(named)}")


def _not_in_head(top: str, files: Mapping[str, str]) -> set[str]:
    """Return the skills (directory to main file) that the checked-out commit does not have either."""
    from skillgate.skill.git import open_commit

    tree = open_commit(top, "HEAD")
    return {path for path, file in files.items() if tree.real(join(path, file)) != join(path, file)}


def _moved_since(
    top: str, revision: str, now: Mapping[str, SkillRoot], then: Mapping[str, str], *, committed: bool
) -> dict[str, str]:
    """Ask Git which skills moved, by main file; return the old directory by the current one."""
    from skillgate.skill.git import renames

    before = {join(directory, file): directory for directory, file in then.items() if directory not in now}
    after = {join(path, root.file_name): path for path, root in now.items() if path not in then}
    renamed = renames(top, revision, SKILL_FILE, committed=committed)
    return {after[new]: before[old] for new, old in renamed.items() if new in after and old in before}


def _is_before_the_first_commit(top: str, revision: str) -> bool:
    """Whether a revision does not exist because there is no commit yet; with other branches only HEAD can be one."""
    from skillgate.skill.git import commit_of, has_refs, is_unborn

    if commit_of(top, revision) is not None or not is_unborn(top):
        return False
    return revision == "HEAD" or not has_refs(top)


def _below(path: str, places: Iterable[str]) -> bool:
    folders = [place.replace(os.sep, "/") for place in places]
    return any(folder == "." or path == folder or path.startswith(f"{folder}/") for folder in folders)


def _inside(root: SkillRoot, top: str) -> str | None:
    """Return the path of a skill in a repository; None outside of it."""
    origin: str = getattr(root.tree, "origin", "")
    path = os.path.relpath(os.path.realpath(origin + root.directory), top).replace(os.sep, "/")
    return None if path.startswith("../") else "" if path == "." else path


def _still_there(top: str, root: SkillRoot) -> bool:
    """Whether it is still in its place on disk, not through a link that replaced its directory."""
    folder = os.path.normpath(os.path.join(top, root.directory))
    return os.path.realpath(folder) == folder and os.path.lexists(os.path.join(folder, root.file_name))


_MOST_ROWS = 100_000  # of each kind, the newest


class HistoryRequest(NamedTuple):
    """Which results of a store to return; None for no condition."""

    store: str | None  # the value of ``--store``, None for that of the configuration
    skill: str | None  # an id; for scores also a name or a path
    benchmark: str | None
    kind: str | None  # ``bench`` or ``score``
    limit: int | None  # maximum per kind (the newest), or of trends
    since: datetime | None
    trend: bool  # whether to compare them over time


def history(request: HistoryRequest, session: Console) -> History:
    """Return past results, newest first, or how they changed.

    Raises:
        UsageError: the store cannot be used, or a benchmark is given but only scores are wanted.
        IncompleteError: the database failed.
    """
    target, _ = named_store(request.store, session)
    if request.kind == "score" and request.benchmark is not None:
        raise UsageError("--benchmark does not apply to scores; leave out --benchmark or --kind score")
    require_packages(target)
    from skillgate.store.keeper import Filter, open_store  # imports the database's packages

    most = _MOST_ROWS if request.trend or request.limit is None else request.limit
    wanted = Filter(skill=request.skill, benchmark=request.benchmark, since=request.since, limit=most)
    store = open_store(target, create=False)
    try:
        evaluations = () if request.kind == "score" else store.evaluations(wanted)
        scores = () if request.kind == "bench" or request.benchmark is not None else store.scores(wanted)
    finally:
        store.close()
    tool = Tool(version=__version__)
    if not request.trend:
        return History(tool=tool, store=target.shown, evaluations=evaluations, scores=scores)
    from skillgate.report.trends import bench_trends, score_trends  # scipy

    trends = (*bench_trends(evaluations), *score_trends(scores))
    return History(tool=tool, store=target.shown, trends=trends[: request.limit])
