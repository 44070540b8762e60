"""Find skills below a directory, match and rank them, and select by past evaluations.

Every word of a query must occur in the id, name, description or a tag. A whole word counts more than the beginning of
one, which counts more than a part. A file that is not a valid skill is listed with its problem.
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
NAME, ID, DESCRIPTION, TAG = 3, 3, 2, 1  # weight of a match, by field
EXACT, PREFIX, PART = 3, 2, 1  # factor: a whole word, the beginning of one, a part
_UNKNOWN = "not in its report"
_LABELS = {
    SortKey.COMPLETION_RATE: "completion rate",
    SortKey.COMPOSITE_SCORE: "composite",
    SortKey.LATENCY: "95th percentile of latencies (ms)",
    SortKey.TOKEN_COST: "tokens",
}
RESULTS = "benchmarkResults"  # metadata key of a skill.json with its completion rates


class Wanted(NamedTuple):
    """The criteria for skills."""

    query: str | None = None  # words that must all match
    tags: Collection[str] = ()  # all required, case-insensitive
    adapter: str | None = None  # adapter type; None for any
    min_completion: float | None = None  # minimum completion rate of the last evaluation, in [0, 1]
    limit: int | None = None  # maximum number of skills


def matches(skill: FoundSkill, wanted: Wanted) -> FoundSkill | None:
    """Return the skill with its relevance if it matches query, tags and adapter, else None."""
    if not fits(skill, wanted):
        return None
    if not words_of(wanted.query or ""):
        return skill
    score = relevance(skill, wanted.query or "")
    return replace(skill, relevance=score) if score else None


def fits(skill: FoundSkill, wanted: Wanted) -> bool:
    """Whether a skill has the required tags and adapter."""
    has = {folded(tag) for tag in skill.tags}
    return wanted.adapter in (None, skill.adapter_type.value) and {folded(tag) for tag in wanted.tags} <= has


def relevance(skill: FoundSkill, query: str) -> int:
    """Return a skill's relevance for a query; 0 means no match."""
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
    """Return the distinct words of a query; ``web_search`` is one word and also matches ``web-search``."""
    return tuple(dict.fromkeys(filter(None, map(folded, query.split()))))


def folded(text: str) -> str:
    """Return text for comparison: case-folded, in NFKC, with ``-`` and ``_`` as spaces."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.replace("-", " ").replace("_", " ").split())


def ranked(skills: Iterable[FoundSkill]) -> list[FoundSkill]:
    """Sort skills by relevance, then completion rate (unknown last), then id and path."""

    def place(skill: FoundSkill) -> tuple[object, ...]:
        rate = -1.0 if skill.completion is None else skill.completion.completion_rate
        return -(skill.relevance or 0), -rate, skill.id, skill.version or "", skill.path

    return sorted(skills, key=place)


class Evidence(NamedTuple):
    """One evaluation of a skill on a benchmark."""

    skill_id: str  # without the version that reports append to duplicate ids
    skill_version: str
    benchmark_id: str
    benchmark_version: str
    measure: tuple[str, str]  # must be equal to compare: benchmark's content, scorer, task filters
    at: datetime  # start
    figures: Figures
    skipped: int = 0  # unmeasured results
    total: int = 0  # measured results
    incomplete: str | None = None  # why results are missing, None if none are


def of_report(report: BenchReport) -> Iterator[Evidence]:
    """Yield the evaluations in a report."""
    return (of_skill(one, report.run) for one in report.reports)


def of_skill(one: CompletionReport, run: RunSettings) -> Evidence:
    """Return the evaluation of one skill in a report."""
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
    """Return the evaluation in a row of the store."""
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
    """Group complete evaluations by skill id, newest first."""
    found: dict[str, list[Evidence]] = {}
    for one in sorted(evidence, key=lambda one: one.at, reverse=True):
        if one.incomplete is None:
            found.setdefault(one.skill_id, []).append(one)
    return found


def on_benchmark(
    known: Mapping[str, Sequence[Evidence]], skills: Sequence[str], wanted: str | None
) -> dict[str, list[Evidence]]:
    """Select the evaluations on the benchmark to compare skills on.

    Args:
        known: Evaluations by skill.
        skills: Ids of the candidates.
        wanted: The benchmark's id; None if there is only one.

    Raises:
        UsageError: There are several benchmarks and none was chosen, or no evaluation on the chosen one.
    """
    names = sorted({one.benchmark_id for skill in skills for one in known.get(skill, ())})
    if wanted is None and len(names) > 1:
        several = f"several benchmarks ({', '.join(names)})"
        raise UsageError(f"the candidates were evaluated on {several}; choose one with --benchmark ID")
    if wanted is not None and names and wanted not in names:
        there = f"{did_you_mean(wanted, names)}; known: {', '.join(names)}"
        raise UsageError(f"--benchmark {wanted}: no candidate was evaluated on it{there}")
    benchmark = next(iter(names), None) if wanted is None else wanted
    return {skill: [one for one in some if one.benchmark_id == benchmark] for skill, some in known.items()}


def newest_measure(known: Mapping[str, Sequence[Evidence]], skills: Iterable[str]) -> tuple[str, str] | None:
    """Return how the newest evaluation of the candidates was measured; others are not comparable with it."""
    found = [some[0] for skill in skills if (some := known.get(skill))]
    return max(found, key=lambda one: one.at).measure if found else None


def newest_of(some: Sequence[Evidence], version: str | None, measure: tuple[str, str] | None) -> Evidence | str:
    """Return the newest comparable evaluation of a skill's version, or why there is none."""
    if not some:
        return "not evaluated: there is no report"
    same = [one for one in some if version is None or one.skill_version == version]
    if not same:
        return f"not evaluated: the newest report is for version {some[0].skill_version}, but the skill has {version}"
    fitting = [one for one in same if one.measure == measure]
    if not fitting:
        return "not evaluated: its newest report has other tasks of the benchmark, or another default scorer"
    return fitting[0]


class Entrant(NamedTuple):
    """A candidate for selection."""

    id: str  # breaks ties
    adapter: str  # adapter type
    tags: Sequence[str]
    figures: Figures | None  # of its evaluation; None without one, see refused
    refused: tuple[str, ...] = ()  # why it cannot be selected, regardless of its figures


def choose(entrants: Sequence[Entrant], strategy: Strategy) -> tuple[Choice, ...]:
    """Select; return the selected by rank, then those beyond top_k, then the rejected by id."""
    passed: list[tuple[int, float, tuple[str, ...]]] = []
    rejected: list[Choice] = []
    for index, entrant in enumerate(entrants):
        outcomes = tuple(_outcomes(entrant, strategy.filters))
        failed = (*entrant.refused, *(one.reason for one in outcomes if one.verdict is not Outcome.PASS))
        figure = None if entrant.figures is None else _figure(entrant.figures, strategy.sort_by)
        if figure is None and not failed:
            failed = (f"{_LABELS[strategy.sort_by]} was not measured, but skills are ranked by it",)
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
            text = f"{text}; only the first {strategy.top_k} are selected"
            choices.append(Choice(index, selected=False, rank=rank, reasons=(text,)))
        else:
            choices.append(Choice(index, selected=True, rank=rank, reasons=(text, *reasons)))
    return (*choices, *rejected)


def _figure(figures: Figures, key: SortKey) -> float | None:
    """Return the figure to rank by; None if it was not measured."""
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
    """Return the tie-breakers: composite, completion rate, then id."""
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
    """Return why a candidate fails the filters that need no evaluation."""
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
    """A skill and its main file."""

    skill: FoundSkill
    file: str  # absolute path of its skill.json or SKILL.md
    shown: str  # that path for display
    own: Past | None = None  # self-reported completion

    def version(self) -> str:
        """Return its version; for a SKILL.md without one, a version computed from its files."""
        return self.skill.version or content_version(os.path.dirname(self.file))


class Listing(NamedTuple):
    """The skills below a directory, the invalid ones, and the number of prose skills left out."""

    found: tuple[Listed, ...]
    broken: tuple[NotLoaded, ...]
    left_out: int = 0


class FindRequest(NamedTuple):
    """What to search for, and where."""

    directory: str
    wanted: Wanted
    prose: bool  # whether to include SKILL.md files
    store: StoreChoice  # with past evaluations


def find(request: FindRequest, session: Console) -> tuple[FoundSkills, int]:
    """Return the matching skills, best first, and the number of prose skills left out.

    Raises:
        UsageError: The directory does not exist, or a named store is unusable.
        IncompleteError: The store cannot be read.
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
    """Return the skills that match query, tags and adapter, with their relevance."""
    return [one._replace(skill=skill) for one in listed if (skill := matches(one.skill, wanted))]


def _with_history(found: list[Listed], request: FindRequest, session: Console) -> Iterator[FoundSkill]:
    """Yield skills with the completion rate of their last evaluation."""
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
        folder: The directory as the user wrote it.
        option: The option that names it, for messages.
        cwd: The absolute working directory.
        prose: Whether to include SKILL.md files.

    Raises:
        UsageError: The directory does not exist.
    """
    place = os.path.join(cwd, folder)
    if not os.path.isdir(place):
        word = "is not a directory" if os.path.lexists(place) else "does not exist"
        raise UsageError(f"{option} {folder} {word}; pass the directory of the skills with {option}")
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
    """Read the frontmatter of a SKILL.md; if it is invalid, use the directory's name, as in a run."""
    try:
        with open(file, "rb") as opened:
            data = opened.read(MAX_BYTES + 64)
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(data) - 4:  # not a character cut at the end
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
    """Return a SKILL.md's tags: a list of strings, or one comma-separated string."""
    if isinstance(value, str):
        value = value.split(",")
    words = value if isinstance(value, list) else []
    return tuple(word.strip() for word in words if isinstance(word, str) and word.strip())


def _newest_past(results: object, version: str) -> Past | None:
    """Return the newest self-reported result of a skill.json; invalid entries are ignored."""
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
