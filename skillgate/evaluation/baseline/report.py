"""A report as a baseline: read, checked to be comparable, and its skills matched with those that were found."""
# Plain strings, as everywhere where paths are only compared.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from skillgate.errors import UsageError
from skillgate.evaluation.deepen import judged_as
from skillgate.evaluation.pipeline import main_digest
from skillgate.files import toplevel
from skillgate.model.judging import JudgeLayer
from skillgate.model.report import SkillName
from skillgate.model.skill import SKILL_FILE, SkillSource
from skillgate.scoring.pairing import Marks, by_repository, marks_of, names_of, pair, repository_path
from skillgate.skill.read import read

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from skillgate.evaluation.deepen import SampledLayers
    from skillgate.model.report import SkillResult
    from skillgate.model.skill import SkillRoot

_Value = TypeVar("_Value")


class Place(NamedTuple):
    """Where a run looks: the working directory, and the top of the repository (None in none)."""

    cwd: str
    top: str | None


class Matched(NamedTuple):
    """A report's results: by the shown path that their skill has now, and those of skills that are not there now."""

    results: Mapping[str, SkillResult]
    gone: tuple[SkillResult, ...]


def read_report(text: str, shown: str, sampled: SampledLayers | None) -> tuple[SkillResult, ...]:
    """Return the results of a report that this run can be compared with.

    Raises:
        UsageError: it is no such report; the message names what differs.
    """
    from skillgate.model.documents import SingleReport
    from skillgate.model.report import Report
    from skillgate.model.score import SCORING_VERSION, Depth
    from skillgate.report.json import read as read_document

    document = read_document(text, source=shown)
    if not isinstance(document, Report | SingleReport):
        raise UsageError(f"the baseline {shown} is not a score report; write one with: skillgate score --output json")
    if document.scoring_version != SCORING_VERSION:
        raise UsageError(
            f"the baseline {shown} has scoring version {document.scoring_version}, this run {SCORING_VERSION}: their"
            " numbers are not comparable; score the baseline again"
        )
    depth = Depth.QUICK if sampled is None else sampled.depth
    if document.depth is not depth:
        depths = f"at depth {document.depth.value}, this run at {depth.value}"
        raise UsageError(f"the baseline {shown} was scored {depths}: such scores are not comparable")
    if sampled is not None and document.models != sampled.models:
        judges = f"by {', '.join(document.models) or 'nobody'}, this run by {', '.join(sampled.models)}"
        raise UsageError(f"the baseline {shown} was judged {judges}: such scores are not comparable")
    results = document.results if isinstance(document, Report) else (document.result(),)
    if not results:
        raise UsageError(f"the baseline {shown} holds no skill, so nothing can be compared with it; score it again")
    paths = [result.skill.path for result in results]
    if len(set(paths)) < len(paths):
        raise UsageError(f"the baseline {shown} is not a skillgate report: it has two skills at one path")
    if sampled is not None:
        _require_judged_alike(results, shown, sampled.judged_as)
    return results


def _require_judged_alike(results: Iterable[SkillResult], shown: str, judged_as_now: tuple[str, ...]) -> None:
    ways = {
        judged_as(layer.prompt_version, layer.rubric_version, layer.provider)
        for result in results
        for layer in result.layers
        if isinstance(layer, JudgeLayer) and layer.prompt_version
    }
    others = sorted(ways - {judged_as_now})
    if others:
        then, now = ", ".join(others[0]), ", ".join(judged_as_now)
        raise UsageError(f"the baseline {shown} was judged by {then}, this run by {now}: not comparable")


def match(kept: Sequence[SkillResult], roots: Sequence[SkillRoot], place: Place, shown: str) -> Matched:
    """Match the skills of a report with those that were found.

    They are matched by their paths in the repository; where one has none, by where their shown paths lead; and then by
    name and content. A skill of the report that still lies where it was, and was not asked about, is no other skill's
    past.

    Raises:
        UsageError: no skill was matched, and none of the report's is anywhere in this repository.
    """
    by_path = {result.skill.path: result for result in kept}
    by_shown = {str(root.path): root for root in roots}
    names = [SkillName(root.name, path, root.repository_path) for path, root in by_shown.items()]
    found = by_repository((result.skill for result in kept), names)
    found |= _by_location(_without(by_path, found.values()), _without(by_shown, found), place)
    left = _without(by_path, found.values())
    there = {path for path, result in left.items() if _lies_there(result.skill, place)}
    # No path is to be met on both sides: they are told apart by their marks alone.
    moved = pair(
        {f"\0{path}": marks_of(result) for path, result in left.items() if path not in there},
        {path: marks_at(root) for path, root in _without(by_shown, found).items()},
    )
    found |= {path: other[1:] for path, other in moved.items()}
    if by_shown and not found and not there:
        _require_any(kept, place, shown)
    gone = _without(left, {*there, *found.values()})
    return Matched({path: by_path[other] for path, other in found.items()}, tuple(gone[path] for path in sorted(gone)))


def marks_at(root: SkillRoot) -> Marks:
    """Return what a skill is recognised by, from its main file."""
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
    kept: Mapping[str, SkillResult], roots: Mapping[str, SkillRoot], place: Place
) -> Iterator[tuple[str, str]]:
    """Yield the shown paths now and then of skills that lie in one directory.

    A skill that both sides have at another path in its repository is only shown alike.
    """
    then = {_real(os.path.join(place.cwd, path)): path for path in kept}
    for shown, root in roots.items():
        path = then.get(_real(os.path.join(place.cwd, shown)))
        if path is None:
            continue
        inside = repository_path(kept[path].skill)
        if inside is None or root.repository_path in (None, inside):
            yield shown, path


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL, which no file has
        return ""


def _lies_there(skill: SkillName, place: Place) -> bool:
    """Whether there still is a skill where a report has one."""
    inside = repository_path(skill)
    folder = os.path.join(place.cwd, skill.path) if inside is None or place.top is None else f"{place.top}/{inside}"
    return any(os.path.lexists(os.path.join(folder, name)) for name in (SKILL_FILE, SKILL_FILE.lower()))


def _require_any(kept: Sequence[SkillResult], place: Place, shown: str) -> None:
    """Refuse a report of which no skill is in this repository by name or content, whatever paths were asked about.

    Raises:
        UsageError: as said.
    """
    from skillgate.skill.discover import discover

    sought = {mark for result in kept for mark in _any_mark(marks_of(result))}
    roots = discover([place.top or place.cwd], cwd=place.cwd).roots
    if not any(sought & set(_any_mark(marks_at(root))) for root in roots):
        many = f"none of the {len(kept)} skills" if len(kept) > 1 else "the skill"
        raise UsageError(
            f"{many} of the baseline {shown} {'is' if len(kept) > 1 else 'is not'} in this repository by path, name or"
            " content, so that nothing would be compared: give a report of these skills, or leave --baseline out"
        )


def _any_mark(marks: Marks) -> Iterator[str]:
    yield from marks.by_any_name()
    yield from marks.by_content()


def place_of(paths: Sequence[str], cwd: str) -> Place:
    """Return where a run looks; the repository is that of its first path."""
    first = os.path.realpath(os.path.join(cwd, paths[0] if paths else "."))
    return Place(cwd, toplevel(first if os.path.isdir(first) else os.path.dirname(first)))  # noqa: PTH112, PTH120
