"""Match, rank and select skills: by words, by what past evaluations say, and why the others are not selected. Pure.

Every word of a query must be in the id, the name, the description or a tag. A word that is one there counts more than
the beginning of one, and that more than a part.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.format import did_you_mean
from skillgate.model.bench import comparable
from skillgate.model.benchmark import Choice, Figures, SortKey
from skillgate.model.report import GateOutcome
from skillgate.model.score import Outcome
from skillgate.scoring.gate import Measurement, at_least, at_most

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from skillgate.model.bench import BenchReport, CompletionReport, RunSettings
    from skillgate.model.benchmark import Filters, FoundSkill, Strategy
    from skillgate.model.documents import PastEvaluation

GATE = "selection"
NAME, ID, DESCRIPTION, TAG = 3, 3, 2, 1  # what a match counts, by where it is
EXACT, PREFIX, PART = 3, 2, 1  # what it is multiplied by: a whole word, the beginning of one, a part
_UNKNOWN = "its report does not say it"
_LABELS = {
    SortKey.COMPLETION_RATE: "completion rate",
    SortKey.COMPOSITE_SCORE: "composite",
    SortKey.LATENCY: "95th percentile of latencies (ms)",
    SortKey.TOKEN_COST: "tokens",
}


class Wanted(NamedTuple):
    """What skills must match."""

    query: str | None = None  # words; all of them must match
    tags: Collection[str] = ()  # all of them, whatever their case
    adapter: str | None = None  # the word for how it is run; None for any
    min_completion: float | None = None  # the least share of tasks completed in the last evaluation, in [0, 1]
    limit: int | None = None  # how many at most


def matches(skill: FoundSkill, wanted: Wanted) -> FoundSkill | None:
    """Return a skill that matches query, tags and adapter, with how well it matches; None for another one."""
    if not fits(skill, wanted):
        return None
    if not words_of(wanted.query or ""):
        return skill
    score = relevance(skill, wanted.query or "")
    return replace(skill, relevance=score) if score else None


def fits(skill: FoundSkill, wanted: Wanted) -> bool:
    """Whether a skill has the tags and the adapter."""
    has = {folded(tag) for tag in skill.tags}
    return wanted.adapter in (None, skill.adapter_type.value) and {folded(tag) for tag in wanted.tags} <= has


def relevance(skill: FoundSkill, query: str) -> int:
    """Return how well a skill matches a query; 0: not at all."""
    tags = "\n".join(map(folded, skill.tags))
    texts = ((NAME, folded(skill.name)), (ID, folded(skill.id)), (DESCRIPTION, folded(skill.description)), (TAG, tags))
    scores = [sum(weight * _strength(word, text) for weight, text in texts) for word in words_of(query)]
    return sum(scores) if all(scores) else 0


def _strength(word: str, text: str) -> int:
    if word not in text:
        return 0
    pattern = rf"(?<!\w){re.escape(word)}"
    if re.search(rf"{pattern}(?!\w)", text):
        return EXACT
    return PREFIX if re.search(pattern, text) else PART


def words_of(query: str) -> tuple[str, ...]:
    """Return the words of a query, each once; ``web_search`` stays together and also matches ``web-search``."""
    return tuple(dict.fromkeys(filter(None, map(folded, query.split()))))


def folded(text: str) -> str:
    """Return the form in which texts are compared: without case, compatible forms as one, ``-`` and ``_`` as blanks."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.replace("-", " ").replace("_", " ").split())


def ranked(skills: Iterable[FoundSkill]) -> list[FoundSkill]:
    """Sort skills by relevance, then by what they completed, the unknown last; then by id and path."""

    def place(skill: FoundSkill) -> tuple[object, ...]:
        rate = -1.0 if skill.completion is None else skill.completion.completion_rate
        return -(skill.relevance or 0), -rate, skill.id, skill.version or "", skill.path

    return sorted(skills, key=place)


class Evidence(NamedTuple):
    """One skill on one benchmark, as it was evaluated once."""

    skill_id: str  # without the version that reports add to it where several skills have that id
    skill_version: str
    benchmark_id: str
    benchmark_version: str
    measure: tuple[str, str]  # what two must share to be ranked together: benchmark's content, scorer, filters of tasks
    at: datetime  # when it was begun
    figures: Figures
    skipped: int = 0  # results that were not measured
    total: int = 0  # results that were
    incomplete: str | None = None  # why it does not hold all results, None where it does


def of_report(report: BenchReport) -> Iterator[Evidence]:
    """Yield what a report says."""
    return (of_skill(one, report.run) for one in report.reports)


def of_skill(one: CompletionReport, run: RunSettings) -> Evidence:
    """Return what one skill's part of a report says."""
    cost = one.token_cost
    return Evidence(
        skill_id=one.skill_id.removesuffix(f"@{one.skill_version}"),
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
    """Return what a row of a store says."""
    return Evidence(
        skill_id=past.skill_id.removesuffix(f"@{past.skill_version}"),
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
    """Group evidence by the skill's id, the newest first; what is not whole is left out."""
    found: dict[str, list[Evidence]] = {}
    for one in sorted(evidence, key=lambda one: one.at, reverse=True):
        if one.incomplete is None:
            found.setdefault(one.skill_id, []).append(one)
    return found


def on_benchmark(
    known: Mapping[str, Sequence[Evidence]], skills: Sequence[str], wanted: str | None
) -> dict[str, list[Evidence]]:
    """Select the evidence on the benchmark that skills are compared on.

    Args:
        known: evidence by skill.
        skills: the candidates' ids.
        wanted: the benchmark's id; None where there is one alone.

    Raises:
        UsageError: there are several and none was chosen, or there is no evidence on the one that was.
    """
    names = sorted({one.benchmark_id for skill in skills for one in known.get(skill, ())})
    if wanted is None and len(names) > 1:
        several = f"several benchmarks ({', '.join(names)})"
        raise UsageError(f"the candidates were evaluated on {several}: --benchmark ID says which")
    if wanted is not None and names and wanted not in names:
        there = f"{did_you_mean(wanted, names)}; there are: {', '.join(names)}"
        raise UsageError(f"--benchmark {wanted}: no candidate was evaluated on it{there}")
    benchmark = next(iter(names), None) if wanted is None else wanted
    return {skill: [one for one in some if one.benchmark_id == benchmark] for skill, some in known.items()}


def newest_measure(known: Mapping[str, Sequence[Evidence]], skills: Iterable[str]) -> tuple[str, str] | None:
    """Return what the candidates' newest evaluation was measured with: others cannot be ranked with it."""
    found = [some[0] for skill in skills if (some := known.get(skill))]
    return max(found, key=lambda one: one.at).measure if found else None


def newest_of(some: Sequence[Evidence], version: str | None, measure: tuple[str, str] | None) -> Evidence | str:
    """Return the newest evidence that holds for a skill of a version, or why there is none."""
    if not some:
        return "not evaluated: there is no report of it"
    same = [one for one in some if version is None or one.skill_version == version]
    if not same:
        return f"not evaluated: the newest report is of version {some[0].skill_version}, and the skill is {version}"
    fitting = [one for one in same if one.measure == measure]
    if not fitting:
        return "not evaluated: its newest report is on other tasks of the benchmark, or by another default scorer"
    return fitting[0]


class Entrant(NamedTuple):
    """A skill that may be selected."""

    id: str  # breaks ties
    adapter: str  # the word for how it is run
    tags: Sequence[str]
    figures: Figures | None  # of its evaluation; None where there is none, and refused says why
    refused: tuple[str, ...] = ()  # why it cannot be selected, whatever its figures are


def choose(entrants: Sequence[Entrant], strategy: Strategy) -> tuple[Choice, ...]:
    """Select; the selected come first in their order, then those behind the last rank, then the rejected by id."""
    passed: list[tuple[int, float, tuple[str, ...]]] = []
    rejected: list[Choice] = []
    for index, entrant in enumerate(entrants):
        outcomes = tuple(_outcomes(entrant, strategy.filters))
        failed = (*entrant.refused, *(one.reason for one in outcomes if one.verdict is not Outcome.PASS))
        figure = None if entrant.figures is None else _figure(entrant.figures, strategy.sort_by)
        if figure is None and not failed:
            failed = (f"{_LABELS[strategy.sort_by]} was not measured, and it is ranked by",)
        if figure is None or failed:
            rejected.append(Choice(index, selected=False, rank=None, reasons=failed))
        else:
            passed.append((index, figure, tuple(one.reason for one in outcomes)))
    sign = -1 if strategy.descending else 1
    passed.sort(key=lambda one: (sign * one[1], *_ties(entrants[one[0]])))
    rejected.sort(key=lambda one: entrants[one.entrant].id)
    choices: list[Choice] = []
    for rank, (index, figure, reasons) in enumerate(passed, start=1):
        text = f"rank {rank} of {len(passed)} by {_LABELS[strategy.sort_by]} {figure:.6g}"
        if strategy.top_k is not None and rank > strategy.top_k:
            text = f"{text}: the first {strategy.top_k} are selected"
            choices.append(Choice(index, selected=False, rank=rank, reasons=(text,)))
        else:
            choices.append(Choice(index, selected=True, rank=rank, reasons=(text, *reasons)))
    return (*choices, *rejected)


def _figure(figures: Figures, key: SortKey) -> float | None:
    """Return the figure that skills are ranked by; None where it was not measured."""
    match key:
        case SortKey.COMPLETION_RATE:
            return figures.completion_rate
        case SortKey.COMPOSITE_SCORE:
            return figures.composite_score
        case SortKey.LATENCY:
            return figures.latency_p95_ms
        case SortKey.TOKEN_COST:
            return figures.tokens


def _ties(entrant: Entrant) -> tuple[float, float, str]:
    """Return what decides between equal figures: composite, completion rate, then the id."""
    figures = entrant.figures
    if figures is None:
        return 0.0, 0.0, entrant.id
    return -(figures.composite_score or 0.0), -(figures.completion_rate or 0.0), entrant.id


def _outcomes(entrant: Entrant, filters: Filters) -> Iterator[GateOutcome]:
    yield from _words(entrant, filters)
    figures = entrant.figures
    if figures is None:
        return
    if filters.min_completion_rate is not None:
        rate = Measurement("completion rate", figures.completion_rate, reason=_UNKNOWN)
        yield at_least(rate, filters.min_completion_rate, gate=GATE, digits=4)
    if filters.max_error_rate is not None:
        errors = Measurement("error rate", figures.error_rate, reason=_UNKNOWN)
        yield at_most(errors, filters.max_error_rate, gate=GATE, digits=4)
    if filters.max_latency_p95_ms is not None:
        slow = Measurement("95th percentile of latencies (ms)", figures.latency_p95_ms, reason=_UNKNOWN)
        yield at_most(slow, filters.max_latency_p95_ms, gate=GATE, digits=0)


def misfits(entrant: Entrant, filters: Filters) -> tuple[str, ...]:
    """Return why an entrant fails filters that need no evaluation."""
    return tuple(one.reason for one in _words(entrant, filters) if one.verdict is not Outcome.PASS)


def _words(entrant: Entrant, filters: Filters) -> Iterator[GateOutcome]:
    if filters.adapter_types:
        wanted = [kind.value for kind in filters.adapter_types]
        fine = entrant.adapter in wanted
        text = f"adapter {entrant.adapter} is {'' if fine else 'not '}among {', '.join(wanted)}"
        yield GateOutcome(GATE, Outcome.PASS if fine else Outcome.FAIL, text)
    if filters.required_tags:
        has = {folded(tag) for tag in entrant.tags}
        missing = [tag for tag in filters.required_tags if folded(tag) not in has]
        text = f"lacks the tag {', '.join(missing)}" if missing else f"has the tag {', '.join(filters.required_tags)}"
        yield GateOutcome(GATE, Outcome.FAIL if missing else Outcome.PASS, text)
