"""Collect what is known of one skill: its scores, benchmarks, certificate and recorded invocations."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from skillgate import __version__
from skillgate.errors import UsageError
from skillgate.evaluation.request import read_whole
from skillgate.format import did_you_mean, plural
from skillgate.invocations.figures import LEAST
from skillgate.invocations.reporting import dashboard
from skillgate.model.invocation import InvocationReport
from skillgate.model.report import Tool
from skillgate.model.skill_page import Certified, Correlation, SkillPage
from skillgate.stats.plain import spearman
from skillgate.store.results import named_store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from skillgate.console import Console
    from skillgate.invocations.records import Selection
    from skillgate.model.documents import PastEvaluation, PastScore

T = TypeVar("T")

LEAST_SKILLS = 10
"""Minimum skills behind a correlation: with fewer its interval covers almost everything."""


class PageRequest(NamedTuple):
    """A skill by its name, what to select of its invocations, and a certificate's file."""

    skill: str
    selection: Selection
    certificate: str | None = None


def page(request: PageRequest, session: Console) -> SkillPage:
    """Report a skill.

    Raises:
        UsageError: the store is unusable or knows no such skill, or the certificate is not one.
        IncompleteError: the database failed.
    """
    certificate = None if request.certificate is None else _certified(request.certificate, request.skill, session)
    whole = dashboard(request.selection._replace(skills=()), (), session)
    scores, evaluations = _results(request.selection.store, session)
    recorded = _recorded_as(request.skill, [one.skill for one in whole.skills])
    own_scores = [one for one in scores if request.skill in _names(one) or _base(request.skill) in _names(one)]
    own_runs = [one for one in evaluations if one.skill_id in (request.skill, _base(request.skill))]
    notices = []
    if len(recorded) > 1:
        notices.append(f"also recorded as {', '.join(recorded[1:5])}; name one of them to see it")
    if not recorded and not own_scores and not own_runs:
        names = {*(one.skill for one in whole.skills), *(one.skill_name for one in scores)}
        raise UsageError(f"{whole.store} knows no skill {request.skill!r}{did_you_mean(request.skill, names)}")
    skill = recorded[0] if recorded else request.skill
    alone = _without(whole)
    if recorded:
        alone = dashboard(request.selection._replace(skills=(skill,)), (), session)
    return SkillPage(
        tool=Tool(version=__version__),
        store=whole.store,
        skill=skill,
        promised=tuple(_newest(own_scores, lambda one: (one.depth, one.skill_path))),
        tested=tuple(_newest(filter(_counts, own_runs), lambda one: (one.benchmark_id, one.model))),
        certificate=certificate,
        observed=replace(alone, trends=tuple(one for one in whole.trends if one.skill == skill), notices=()),
        correlations=tuple(_correlations(scores, whole)),
        notices=tuple(notices),
    )


def _results(store: str | None, session: Console) -> tuple[tuple[PastScore, ...], tuple[PastEvaluation, ...]]:
    from skillgate.store.keeper import Filter, open_store  # imports the database's packages

    target, _ = named_store(store, session)
    opened = open_store(target, create=False)
    try:
        return opened.scores(Filter()), opened.evaluations(Filter())
    finally:
        opened.close()


def _recorded_as(skill: str, known: Collection[str]) -> list[str]:
    """Return the recorded names of a skill: its own, then those with a plugin's name before it."""
    exact = [skill] if skill in known else []
    return exact + sorted(name for name in known if name != skill and _base(name) == skill)


def _base(name: str) -> str:
    return name.rpartition(":")[2]


def _names(one: PastScore) -> tuple[str, str]:
    return one.skill_name, one.skill_path.rpartition("/")[2]


def _counts(one: PastEvaluation) -> bool:
    return one.incomplete is None and one.completion_rate is not None


def _newest(found: Iterable[T], key: Callable[[T], object]) -> Iterator[T]:
    """Yield the first of each key; the newest come first."""
    seen: set[object] = set()
    for one in found:
        if key(one) not in seen:
            seen.add(key(one))
            yield one


def _without(whole: InvocationReport) -> InvocationReport:
    """Return a report over nothing, of the same window."""
    return InvocationReport(
        tool=whole.tool,
        store=whole.store,
        rubric_version=whole.rubric_version,
        days=whole.days,
        since=whole.since,
        until=whole.until,
        invocations=0,
        rated=0,
        skills=(),
        selection=whole.selection,
    )


def _correlations(scores: Sequence[PastScore], whole: InvocationReport) -> Iterator[Correlation]:
    """Compare the newest score of each skill at each depth with its observed average."""
    averages = {one.skill: one.avg_score for one in whole.skills if one.invocation_count >= LEAST}
    alike = Counter(map(_base, averages))
    observed = {_base(name): average for name, average in averages.items() if alike[_base(name)] == 1}
    for depth in sorted({one.depth for one in scores}):
        newest = _newest((one for one in scores if one.depth == depth), lambda one: one.skill_name)
        pairs = [
            (one.composite, average)
            for one in newest
            if one.composite is not None and (average := observed.get(one.skill_name)) is not None
        ]
        yield _correlation(depth, pairs)


def _correlation(depth: str, pairs: Sequence[tuple[float, float]]) -> Correlation:
    n = len(pairs)
    found = spearman(pairs) if n >= LEAST_SKILLS else None
    if found is None:
        few = f"{plural(n, 'skill')} with a score and {LEAST} rated invocations; a correlation needs {LEAST_SKILLS}"
        reason = few if n < LEAST_SKILLS else "all scores, or all averages, are equal"
        return Correlation(depth=depth, n=n, rho=None, low=None, high=None, reason=reason)
    return Correlation(depth=depth, n=n, rho=found.rho, low=found.low, high=found.high)


def _certified(file: str, skill: str, session: Console) -> Certified | None:
    from skillgate.report.certificate import read

    document = read(read_whole(os.path.join(session.cwd, file), file, "the certificate"), source=file)  # noqa: PTH118
    names = (skill, _base(skill))
    one = next((one for one in document.skills if one.name in names or one.path.rpartition("/")[2] in names), None)
    if one is None:
        raise UsageError(f"{file}: the certificate has no skill {skill!r}")
    today = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return Certified(
        badge=None if one.badge is None else one.badge.value,
        certified=one.certified,
        issued=document.issued,
        expires=document.expires,
        expired=document.expires <= today,
        reason=one.reason,
    )
