"""Findings of other tools: added to those of the skills with the files that they are about."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.report.findings import order
from skillgate.report.sarif_reader import Foreign, Merged, read_sarif
from skillgate.report.sarif_uri import has_drive

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from skillgate.model.finding import Finding
    from skillgate.model.report import Report

__all__ = ["Foreign", "Merged", "attach", "read_sarif"]


class _Home(NamedTuple):
    """Where a finding belongs: the skill's place among the results, and the path to show.

    None is for no skill, ``_ASIDE`` for one that the report is not about.
    """

    skill: int | None
    path: str


_ASIDE = -1


def attach(report: Report, merged: Merged, *, cwd: str, aside: Collection[str] = ()) -> Report:
    """Put each finding to the skill whose directory holds its file, and those about no skill into ``outside``.

    What is about a skill that the report does not ask about is left out. Summary counts grow by what came; results
    that the other tool itself had suppressed are counted under its name. Gates are not asked again.

    Args:
        report: the report.
        merged: what was read from one file.
        cwd: the working directory, absolute: what relative paths start from.
        aside: the shown paths of skills that are there and not asked about, whether or not they have a result.
    """
    here = _slashed(cwd)
    homes: dict[str, int] = {}
    for index, result in enumerate(report.results):
        homes.setdefault(_absolute(result.skill.path, here), index)
    homes.update((_absolute(path, here), _ASIDE) for path in aside)
    depth = max((home.count("/") for home in homes), default=0)
    skills = [result.skill.path for result in report.results]
    inside: dict[int, list[Finding]] = {}
    outside = list(report.outside)
    found: Counter[str] = Counter()
    for item in merged.found:
        home = _home(item, homes, skills, here, depth)
        if home.skill == _ASIDE:
            continue
        found[item.finding.severity.value] += 1
        finding = item.finding._replace(path=type(item.finding.path)(home.path))
        (outside if home.skill is None else inside.setdefault(home.skill, [])).append(finding)
    results = tuple(
        result._replace(findings=tuple(sorted((*result.findings, *inside[index]), key=order)))
        if index in inside
        else result
        for index, result in enumerate(report.results)
    )
    summary = report.summary._replace(
        findings=_more(report.summary.findings, found), suppressed=_more(report.summary.suppressed, merged.suppressed)
    )
    return report._replace(results=results, summary=summary, outside=tuple(sorted(outside, key=order)))


def _home(item: Foreign, homes: Mapping[str, int], skills: list[str], here: str, depth: int) -> _Home:
    """Find the deepest skill that holds a file; a tool that ran elsewhere is believed by what it wrote itself.

    No skill lies deeper than ``depth``, counted in slashes: a path that does costs no more for it.
    """
    places = [_absolute(str(item.finding.path), here)]
    if item.written is not None:
        places.append(_absolute(item.written, here))
    for place in places:
        for above in _upwards(_cut(place, depth)):
            if above in homes:
                index = homes[above]
                if index == _ASIDE:
                    return _Home(index, place)
                return _Home(index, posixpath.join(skills[index], place[len(above) :].lstrip("/")))
    top = here.rstrip("/") + "/"
    below = next((place[len(top) :] for place in places if place.startswith(top)), None)
    return _Home(None, below or str(item.finding.path))


def _cut(path: str, depth: int) -> str:
    """Cut a path after so many slashes."""
    parts = path.split("/", depth + 1)
    return path if len(parts) <= depth + 1 else "/".join(parts[:-1])


def _upwards(path: str) -> Iterator[str]:
    while True:
        yield path
        above = posixpath.dirname(path)
        if above == path or not above:
            return
        path = above


def _absolute(path: str, here: str) -> str:
    return posixpath.normpath(path if has_drive(path) else posixpath.join(here, path))


def _slashed(cwd: str) -> str:
    """Write a working directory of Windows with ``/``; elsewhere a backslash is a letter like others."""
    return cwd.replace("\\", "/") if has_drive(cwd.replace("\\", "/")) else cwd


def _more(counts: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    return {key: counts.get(key, 0) + others.get(key, 0) for key in (*counts, *(k for k in others if k not in counts))}
