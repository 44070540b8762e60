"""Findings of other tools: laid beside those of the skills whose files they are about."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.report.findings import order
from skillgate.report.sarif_reader import Foreign, Merged, read_sarif
from skillgate.report.sarif_uri import has_drive

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.model.finding import Finding
    from skillgate.model.report import Report

__all__ = ["Foreign", "Merged", "attach", "read_sarif"]


class _Home(NamedTuple):
    """Where a finding belongs: the skill's place among the results, None for no skill, and the path to show."""

    skill: int | None
    path: str


def attach(report: Report, merged: Merged, *, cwd: str) -> Report:
    """Put each finding to the skill whose directory holds its file, and those about no skill into ``outside``.

    Summary counts grow by what came; results that the other tool itself had suppressed are counted under its name.
    Gates are not asked again.

    Args:
        report: the report.
        merged: what was read from one file.
        cwd: the working directory, absolute: what relative paths start from.
    """
    here = _slashed(cwd)
    homes: dict[str, int] = {}
    for index, result in enumerate(report.results):
        homes.setdefault(_absolute(result.skill.path, here), index)
    skills = [result.skill.path for result in report.results]
    inside: dict[int, list[Finding]] = {}
    outside = list(report.outside)
    for item in merged.found:
        home = _home(item, homes, skills, here)
        finding = item.finding._replace(path=type(item.finding.path)(home.path))
        (outside if home.skill is None else inside.setdefault(home.skill, [])).append(finding)
    results = tuple(
        result._replace(findings=tuple(sorted((*result.findings, *inside[index]), key=order)))
        if index in inside
        else result
        for index, result in enumerate(report.results)
    )
    found = Counter(item.finding.severity.value for item in merged.found)
    summary = report.summary._replace(
        findings=_more(report.summary.findings, found), suppressed=_more(report.summary.suppressed, merged.suppressed)
    )
    return report._replace(results=results, summary=summary, outside=tuple(sorted(outside, key=order)))


def _home(item: Foreign, homes: Mapping[str, int], skills: list[str], here: str) -> _Home:
    """Find the deepest skill that holds a file; a tool that ran elsewhere is believed by what it wrote itself."""
    places = [_absolute(str(item.finding.path), here)]
    if item.written is not None:
        places.append(_absolute(item.written, here))
    for place in places:
        for above in _upwards(place):
            if above in homes:
                index = homes[above]
                return _Home(index, posixpath.join(skills[index], place[len(above) :].lstrip("/")))
    top = here.rstrip("/") + "/"
    below = next((place[len(top) :] for place in places if place.startswith(top)), None)
    return _Home(None, below or str(item.finding.path))


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
