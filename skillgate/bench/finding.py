"""Find skills: list those below a directory, match and rank them; then select by their past evaluations.

Every word of a query must be in the id, the name, the description or a tag. A word that is one there counts more than
the beginning of one, and that more than a part. A file that is no skill stops no other: it is listed with what is wrong
with it.
"""
# ruff: noqa: PTH112, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import __version__
from skillgate.bench.skills import (
    SKILL_MD,
    content_version,
    main_files,
    not_loaded,
    prose_id,
    read_executable,
    shown_path,
)
from skillgate.errors import UsageError
from skillgate.format import did_you_mean
from skillgate.model.bench import comparable
from skillgate.model.benchmark import AdapterType, Choice, Figures, FoundSkill, FoundSkills, NotLoaded, Past, SortKey
from skillgate.model.report import GateOutcome, Tool
from skillgate.model.score import Outcome
from skillgate.scoring.gate import Measurement, at_least, at_most
from skillgate.skill.frontmatter import MAX_BYTES, parse, split
from skillgate.store.results import past_evaluations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from skillgate.console import Console
    from skillgate.model.bench import BenchReport, CompletionReport, RunSettings
    from skillgate.model.benchmark import Filters, Strategy
    from skillgate.model.documents import PastEvaluation
    from skillgate.store.results import StoreChoice

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
RESULTS = "benchmarkResults"  # the key of a skill.json's metadata with what the skill completed


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


class Listed(NamedTuple):
    """A skill as its main file describes it."""

    skill: FoundSkill
    file: str  # the absolute path of its skill.json or SKILL.md
    shown: str  # the path to show of that file
    own: Past | None = None  # what it says that it completed

    def version(self) -> str:
        """Return its version; that of a SKILL.md that names none is its content, which is read for it."""
        return self.skill.version or content_version(os.path.dirname(self.file))


class Listing(NamedTuple):
    """What is below a directory: the skills, what is none of those that could be read, how many were passed over."""

    found: tuple[Listed, ...]
    broken: tuple[NotLoaded, ...]
    left_out: int = 0


class FindRequest(NamedTuple):
    """What is searched for, and where."""

    directory: str
    wanted: Wanted
    prose: bool  # whether SKILL.md files are listed too
    store: StoreChoice  # where past evaluations are looked up


def find(request: FindRequest, session: Console) -> tuple[FoundSkills, int]:
    """Return the skills that match, the best first, and how many prose skills were left out.

    Raises:
        UsageError: there is no such directory, or a store that was named cannot be used.
        IncompleteError: the store cannot be read.
    """
    least = request.wanted.min_completion
    listing = list_skills(request.directory, "--skills-dir", cwd=session.cwd, prose=request.prose)
    skills = ranked(_with_history(matching(listing.found, request.wanted), request, session))
    unknown = 0
    if least is not None:
        known = [(skill, skill.completion.completion_rate) for skill in skills if skill.completion is not None]
        unknown = len(skills) - len(known)
        skills = [skill for skill, rate in known if rate >= least]
    document = FoundSkills(
        tool=Tool(version=__version__),
        skills=tuple(skills[: request.wanted.limit]),
        matched=len(skills),
        not_evaluated=unknown,
        not_loaded=listing.broken,
    )
    return document, listing.left_out


def matching(listed: Iterable[Listed], wanted: Wanted) -> list[Listed]:
    """Return the skills that match a query, tags and adapter, with how well they match."""
    return [one._replace(skill=skill) for one in listed if (skill := matches(one.skill, wanted))]


def _with_history(found: list[Listed], request: FindRequest, session: Console) -> Iterator[FoundSkill]:
    """Yield skills with what they completed when they were last evaluated."""
    known = by_skill(map(of_past, past_evaluations(request.store, session, measured=True))) if found else {}
    for one in found:
        some = known.get(one.skill.id, [])
        version = one.version() if some else None
        past = next((past for past in some if past.skill_version == version), None)
        completion = one.own
        if past is not None and past.figures.completion_rate is not None:
            rate = past.figures.completion_rate
            completion = Past(completion_rate=rate, source="store", benchmark_id=past.benchmark_id, measured_at=past.at)
        yield replace(one.skill, completion=completion)


def list_skills(folder: str, option: str, *, cwd: str, prose: bool) -> Listing:
    """List the skills below a directory, by path.

    Args:
        folder: as the user wrote it.
        option: that names it, for messages.
        cwd: the working directory, absolute.
        prose: whether SKILL.md files count too.

    Raises:
        UsageError: there is no such directory.
    """
    place = os.path.join(cwd, folder)
    if not os.path.isdir(place):
        word = "is no directory" if os.path.lexists(place) else "does not exist"
        raise UsageError(f"{option} {folder} {word}: name the directory that holds the skills with {option}")
    files, left = main_files(folder, cwd, prose=prose)
    found: list[Listed] = []
    broken: list[NotLoaded] = []
    for file in files:
        shown = shown_path(file, cwd)
        try:
            found.append(_prose(file, shown) if os.path.basename(file) == SKILL_MD else _program(file, shown))
        except UsageError as error:
            broken.append(not_loaded(shown, str(error).splitlines()))
    return Listing(tuple(sorted(found, key=lambda one: one.shown)), tuple(broken), left)


def _program(file: str, shown: str) -> Listed:
    spec, problems = read_executable(file, shown)
    if problems:
        raise UsageError("\n".join(problems))
    skill = FoundSkill(
        id=spec.id,
        name=spec.name,
        version=spec.version,
        adapter_type=spec.adapter_type,
        description=spec.description,
        tags=spec.tags,
        path=os.path.dirname(shown) or ".",
    )
    return Listed(skill, file, shown, _newest_past(spec.metadata.get(RESULTS), spec.version))


def _prose(file: str, shown: str) -> Listed:
    """Read the head of a SKILL.md; a head that does not parse leaves the directory's name, as it does in a run."""
    try:
        with open(file, "rb") as opened:
            data = opened.read(MAX_BYTES + 64)
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(data) - 4:  # not the cut through a character
            raise UsageError(f"{shown} is not UTF-8 (byte {error.start})") from None
        text = data[: error.start].decode("utf-8-sig")
    head, _ = parse(split(text.replace("\r\n", "\n")).yaml or "")
    name, metadata = head.text("name"), head.values.get("metadata")
    identifier = prose_id(name, os.path.dirname(file))
    inner: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    version = inner.get("version")
    skill = FoundSkill(
        id=identifier,
        name=name or identifier,
        version=str(version) if isinstance(version, str | float | int) else None,
        adapter_type=AdapterType.SKILLMD,
        description=head.text("description"),
        tags=_tags(inner.get("tags", head.values.get("tags"))),
        path=os.path.dirname(shown) or ".",
    )
    return Listed(skill, file, shown)


def _tags(value: object) -> tuple[str, ...]:
    """Return a SKILL.md's tags: a list of texts, or one text with commas."""
    if isinstance(value, str):
        value = value.split(",")
    words = value if isinstance(value, list) else []
    return tuple(word.strip() for word in words if isinstance(word, str) and word.strip())


def _newest_past(results: object, version: str) -> Past | None:
    """Return the newest of what a skill.json says of itself; entries that are not valid say nothing."""
    found = [
        past
        for item in (results if isinstance(results, list | tuple) else ())
        if isinstance(item, Mapping) and item.get("skillVersion") in (None, version) and (past := _past(item))
    ]
    dated = [(past.measured_at, past) for past in found if past.measured_at is not None]
    if dated:
        return max(dated, key=lambda pair: pair[0])[1]
    return found[-1] if found else None


def _past(item: Mapping[str, Any]) -> Past | None:
    rate, benchmark = item.get("completionRate"), item.get("benchmarkId")
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        return None
    return Past(
        completion_rate=float(rate),
        source="skill.json",
        benchmark_id=benchmark if isinstance(benchmark, str) else None,
        measured_at=_time(item.get("timestamp")),
    )


def _time(text: object) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
