"""What past evaluations say of skills, wherever they come from, and which of them holds for a skill: pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.model.choosing import Figures
from skillgate.model.text import did_you_mean
from skillgate.store.rows import comparable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from skillgate.model.bench import BenchReport, CompletionReport, RunSettings
    from skillgate.model.history import PastEvaluation


class Evidence(NamedTuple):
    """One skill on one benchmark, as it was once.

    Attributes:
        skill_id, skill_version: of which skill; the id without the version that reports give it among others.
        benchmark_id, benchmark_version: on what.
        measure: what two must share to be ranked together: the benchmark's content, scorer and filters of tasks.
        at: when it was begun.
        figures: what it says.
        skipped, total: how many results were not measured, and how many were.
        incomplete: why it does not hold all results, None where it does.
    """

    skill_id: str
    skill_version: str
    benchmark_id: str
    benchmark_version: str
    measure: tuple[str, str]
    at: datetime
    figures: Figures
    skipped: int = 0
    total: int = 0
    incomplete: str | None = None


def of_report(report: BenchReport) -> Iterator[Evidence]:
    """Give what a report says."""
    return (of_skill(one, report.run) for one in report.reports)


def of_skill(one: CompletionReport, run: RunSettings) -> Evidence:
    """Give what one skill's part of a report says."""
    cost = one.token_cost
    return Evidence(
        skill_id=_plain(one.skill_id, one.skill_version),
        skill_version=one.skill_version,
        benchmark_id=one.benchmark_id,
        benchmark_version=one.benchmark_version,
        measure=(one.benchmark_digest, comparable(run)),
        at=one.timestamp,
        figures=Figures(
            completion_rate=one.summary.completion_rate,
            partial_score=one.summary.partial_score,
            error_rate=one.summary.error_rate,
            composite_score=one.summary.composite_score,
            latency_p95_ms=one.latency.p95,
            tokens=None if cost is None else cost.total,
            cost_usd=None if cost is None else cost.cost_usd,
        ),
        skipped=one.summary.counts.skipped,
        total=one.summary.counts.total,
        incomplete=one.incomplete,
    )


def of_past(past: PastEvaluation) -> Evidence:
    """Give what a row of a store says."""
    return Evidence(
        skill_id=_plain(past.skill_id, past.skill_version),
        skill_version=past.skill_version,
        benchmark_id=past.benchmark_id,
        benchmark_version=past.benchmark_version,
        measure=(past.benchmark_digest, past.comparable),
        at=past.started_at,
        figures=Figures(
            completion_rate=past.completion_rate,
            partial_score=past.partial_score,
            error_rate=past.error_rate,
            composite_score=past.composite_score,
            latency_p95_ms=past.latency_p95_ms,
            tokens=past.tokens_total,
            cost_usd=past.cost_usd,
        ),
        skipped=past.skipped,
        total=past.total,
        incomplete=past.incomplete,
    )


def by_skill(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    """Sort evidence by the skill's id, the newest first; what is not whole is left out."""
    found: dict[str, list[Evidence]] = {}
    for one in sorted(evidence, key=lambda one: one.at, reverse=True):
        if one.incomplete is None:
            found.setdefault(one.skill_id, []).append(one)
    return found


def chosen_benchmark(known: Mapping[str, Sequence[Evidence]], skills: Iterable[str], wanted: str | None) -> str | None:
    """Say which benchmark skills are compared on; None where none of them was evaluated.

    Args:
        known: evidence by skill.
        skills: the candidates' ids.
        wanted: what was asked for.

    Raises:
        UsageError: there are several and none was chosen, or there is no evidence on the one that was.
    """
    names = sorted({one.benchmark_id for skill in skills for one in known.get(skill, ())})
    if wanted is None:
        if len(names) > 1:
            raise UsageError(
                f"the candidates were evaluated on several benchmarks ({', '.join(names)}): --benchmark ID says which"
            )
        return names[0] if names else None
    if names and wanted not in names:
        raise UsageError(
            f"--benchmark {wanted}: no candidate was evaluated on it{did_you_mean(wanted, names)};"
            f" there are: {', '.join(names)}"
        )
    return wanted


def on(known: Mapping[str, Sequence[Evidence]], benchmark: str | None) -> dict[str, list[Evidence]]:
    """Keep the evidence on one benchmark."""
    return {skill: [one for one in some if one.benchmark_id == benchmark] for skill, some in known.items()}


def newest_measure(known: Mapping[str, Sequence[Evidence]], skills: Iterable[str]) -> tuple[str, str] | None:
    """Give what the candidates' newest evaluation was measured with: others cannot be ranked with it."""
    found = [some[0] for skill in skills if (some := known.get(skill))]
    return max(found, key=lambda one: one.at).measure if found else None


def holds(some: Sequence[Evidence], version: str | None, measure: tuple[str, str] | None) -> Evidence | str:
    """Give the newest evidence that holds for a skill of a version, or say why there is none."""
    if not some:
        return "not evaluated: there is no report of it"
    same = [one for one in some if version is None or one.skill_version == version]
    if not same:
        return f"not evaluated: the newest report is of version {some[0].skill_version}, and the skill is {version}"
    fitting = [one for one in same if one.measure == measure]
    if not fitting:
        return "not evaluated: its newest report is on other tasks of the benchmark, or by another default scorer"
    return fitting[0]


def _plain(skill_id: str, version: str) -> str:
    """Take off the version that a report adds to an id where several skills have that id."""
    return skill_id.removesuffix(f"@{version}")
