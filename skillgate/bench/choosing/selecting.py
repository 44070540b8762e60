"""Select skills by what their past evaluations say: what ``select`` does."""
# ruff: noqa: PTH113, PTH118

from __future__ import annotations

import glob
import json
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.choosing.choice import Entrant, choose
from skillgate.bench.choosing.evidence import by_skill, chosen_benchmark, holds, newest_measure, of_past, of_report, on
from skillgate.bench.choosing.listing import list_skills
from skillgate.bench.choosing.strategy import strategy_of
from skillgate.bench.evaluation.reading import bench_of, is_bench
from skillgate.bench.reading.files import MAX_BYTES, parse_json, read_json
from skillgate.errors import CodecError, UsageError
from skillgate.evaluation.findings import read_whole
from skillgate.model.bench import NotLoaded
from skillgate.model.choosing import FoundSkill, SelectedSkill
from skillgate.model.codec import decode
from skillgate.store.results import past_evaluations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.bench.choosing.evidence import Evidence
    from skillgate.bench.choosing.strategy import StrategyRequest
    from skillgate.model.strategy import Choice
    from skillgate.session import Session
    from skillgate.store.results import StoreChoice

_SKILLS = "skills"
_GLOB = frozenset("*?[")


class SelectRequest(NamedTuple):
    """Which skills are selected from which.

    Attributes:
        source: a directory of candidates, a file of JSON, or ``-`` for JSON on standard input.
        strategy: which of them are selected.
        prose: whether SKILL.md files of a directory are candidates too.
        reports: JSON reports of ``eval``, or patterns; None for what the store holds.
        benchmark: the id of the benchmark that counts; None where there is one alone.
        allow_skipped: whether a skill may be selected of which not everything was measured.
        store: where past evaluations are looked up.
    """

    source: str
    strategy: StrategyRequest
    prose: bool
    reports: tuple[str, ...] | None
    benchmark: str | None
    allow_skipped: bool
    store: StoreChoice


class Selected(NamedTuple):
    """The choice of each candidate.

    Attributes:
        candidates: all of them.
        evidence: of each, what its evaluation says; None where none holds.
        choices: which were selected, which not, and why.
        broken: what could not be read.
    """

    candidates: tuple[FoundSkill, ...]
    evidence: tuple[Evidence | None, ...]
    choices: tuple[Choice, ...]
    broken: tuple[NotLoaded, ...]

    def skills(self) -> Iterator[SelectedSkill]:
        """Yield the selected skills as they are written."""
        for choice in self.choices:
            evidence, skill = self.evidence[choice.entrant], self.candidates[choice.entrant]
            if not choice.selected or evidence is None or choice.rank is None:
                continue
            yield SelectedSkill(
                id=skill.id,
                rank=choice.rank,
                adapter_type=skill.adapter_type,
                version=skill.version,
                name=skill.name,
                description=skill.description,
                tags=skill.tags,
                benchmark_id=evidence.benchmark_id,
                benchmark_version=evidence.benchmark_version,
                measured_at=evidence.at,
                figures=evidence.figures,
                reasons=choice.reasons,
            )


class _Candidate(NamedTuple):
    """One skill to choose from; ``version`` gives the version that reports know it by, None where any holds."""

    skill: FoundSkill
    version: Callable[[], str | None]


class _Candidates(NamedTuple):
    """All of them, and what was broken among them."""

    found: tuple[_Candidate, ...]
    broken: tuple[NotLoaded, ...]


def select(request: SelectRequest, session: Session) -> Selected:
    """Read the candidates and select among them.

    Raises:
        UsageError: there are none to be read, a report cannot be read, or several benchmarks leave open which is meant.
        IncompleteError: the store cannot be read.
    """
    strategy = strategy_of(request.strategy, cwd=session.cwd)
    candidates = _candidates_of(request.source, session, prose=request.prose)
    entrants, evidence = _entrants_of(candidates.found, request, session)
    skills = tuple(one.skill for one in candidates.found)
    return Selected(skills, tuple(evidence), choose(entrants, strategy), candidates.broken)


def _candidates_of(shown: str, session: Session, *, prose: bool) -> _Candidates:
    """Read the candidates: a directory, a file of JSON, or ``-`` for JSON on standard input.

    JSON is a list of skills, what ``find --json`` wrote, or one skill.json.

    Raises:
        UsageError: there are none to be read, or two have one id and version.
    """
    place = os.path.join(session.cwd, shown)
    if shown == "-" or os.path.isfile(place):
        data = parse_json(_stdin(), "standard input") if shown == "-" else read_json(place, shown)
        found = _Candidates(tuple(_listed(data, "standard input" if shown == "-" else shown)), ())
    else:
        listing = list_skills(shown, "--from", cwd=session.cwd, prose=prose)
        found = _Candidates(tuple(_Candidate(one.skill, one.version) for one in listing.found), listing.broken)
    if not found.found and not found.broken:
        raise UsageError(f"--from {shown}: there is no skill in it")
    return _unambiguous(found)


def _entrants_of(
    candidates: Sequence[_Candidate], request: SelectRequest, session: Session
) -> tuple[list[Entrant], list[Evidence | None]]:
    """Return the candidates with what holds of their evaluations: from the reports that were named, else the store.

    Raises:
        UsageError: a report cannot be read, or several benchmarks leave open which is meant.
        IncompleteError: the store cannot be read.
    """
    if request.reports is not None:
        known = by_skill(_reported(request.reports, session))
    else:
        known = by_skill(map(of_past, past_evaluations(request.store, session, measured=False)))
    ids = [one.skill.id for one in candidates]
    benchmark = chosen_benchmark(known, ids, request.benchmark)
    known = on(known, benchmark)
    measure = newest_measure(known, ids)
    entrants: list[Entrant] = []
    evidence: list[Evidence | None] = []
    for one in candidates:
        some = known.get(one.skill.id, [])
        found = holds(some, one.version() if some else None, measure)
        own = None if isinstance(found, str) else found
        refused = (found,) if isinstance(found, str) else _unmeasured(found, allowed=request.allow_skipped)
        figures = None if own is None else own.figures
        entrants.append(Entrant(one.skill.id, one.skill.adapter_type.value, one.skill.tags, figures, refused))
        evidence.append(own)
    return entrants, evidence


def _unmeasured(evidence: Evidence, *, allowed: bool) -> tuple[str, ...]:
    """Say that a part of the results is missing: rates over the rest are not those of the benchmark."""
    if not evidence.skipped or (allowed and evidence.total):
        return ()
    return (f"{evidence.skipped} of {evidence.skipped + evidence.total} results were not measured",)


def _reported(names: Sequence[str], session: Session) -> list[Evidence]:
    found: list[Evidence] = []
    problems: list[str] = []
    for shown in _files(names, session):
        try:
            found += _one_report(shown, session)
        except UsageError as error:
            problems += str(error).splitlines()
    if problems:
        raise UsageError("\n".join(problems))
    return found


def _files(names: Sequence[str], session: Session) -> Iterator[str]:
    """Yield the files that names mean; a pattern that no shell resolved is resolved here.

    Raises:
        UsageError: a pattern leads to no file.
    """
    for name in dict.fromkeys(names):
        if not _GLOB & set(name) or os.path.lexists(os.path.join(session.cwd, name)):
            yield name
            continue
        found = sorted(glob.glob(name, root_dir=session.cwd))  # noqa: PTH207 - as fast as it gets
        if not found:
            raise UsageError(f"--reports {name}: no such file")
        yield from found


def _one_report(shown: str, session: Session) -> list[Evidence]:
    text = read_whole(os.path.join(session.cwd, shown), shown, "the report")
    try:
        # Results are what such a file is large by, and nothing here asks for them.
        data = json.loads(text, object_hook=_without_results)
        if isinstance(data, list):
            data = json.loads(text)  # an older evaluator's: its figures are computed from its results
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{shown} is not JSON: {error}") from None
    if not is_bench(data):
        raise UsageError(f"{shown} is no report of skillgate eval; --reports takes the JSON that eval and run write")
    report = bench_of(data, shown, session)
    if report.run.shard is not None:
        raise UsageError(f"{shown} is shard {report.run.shard}: join all of them with skillgate report merge first")
    for one in report.reports:
        if one.incomplete is not None:
            session.note(f"{shown}: {one.skill_id} is passed over: {one.incomplete}")
    return list(of_report(report))


def _without_results(found: dict[str, Any]) -> dict[str, Any]:
    if "taskResults" in found and "skillId" in found:
        found["taskResults"] = []
    return found


def _listed(data: Any, shown: str) -> Iterator[_Candidate]:  # noqa: ANN401 - JSON
    """Read skills from JSON.

    Raises:
        UsageError: it has none of the forms; every problem, a line each.
    """
    items, label = data, "[{}]."
    if isinstance(data, dict):
        several = isinstance(data.get(_SKILLS), list)
        items, label = (data[_SKILLS], f"{_SKILLS}[{{}}].") if several else ([data], "")
    if not isinstance(items, list):
        raise UsageError(f"{shown}: expected a list of skills, what find --json writes, or one skill.json")
    problems: list[str] = []
    found: list[_Candidate] = []
    for number, item in enumerate(items):
        try:
            skill = decode(FoundSkill, _described(item))
        except CodecError as error:
            problems += [f"{shown}: {label.format(number)}{line}" for line in str(error).splitlines()]
            continue
        found.append(_Candidate(skill, _constant(skill.version)))
    if problems:
        raise UsageError("\n".join(problems[:20]))
    yield from found


def _described(item: Any) -> Any:  # noqa: ANN401 - JSON
    """Keep what says which skill it is: a list may come from anywhere."""
    keys = ("id", "name", "version", "description", "tags", "adapterType")
    return {key: item[key] for key in keys if key in item} if isinstance(item, dict) else item


def _constant(version: str | None) -> Callable[[], str | None]:
    return lambda: version


def _unambiguous(candidates: _Candidates) -> _Candidates:
    """Leave out the later of two with one id and version: a report would not say which it is about."""
    seen: dict[tuple[str, str | None], str] = {}
    found: list[_Candidate] = []
    broken = list(candidates.broken)
    for one in candidates.found:
        key = (one.skill.id, one.skill.version)
        if key in seen:
            where = one.skill.path or one.skill.id
            broken.append(NotLoaded(where, f"its id and version are also those of {seen[key] or one.skill.id}"))
        else:
            seen[key] = one.skill.path
            found.append(one)
    return _Candidates(tuple(found), tuple(broken))


def _stdin() -> bytes:
    if sys.stdin is None:
        raise UsageError("--from - reads standard input, and there is none")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UsageError(f"standard input is larger than {MAX_BYTES:,} bytes")
    return data
