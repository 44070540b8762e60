"""Select skills by their past evaluations with a strategy: the use case behind ``select``."""
# ruff: noqa: PTH113, PTH118

from __future__ import annotations

import glob
import json
import os
import sys
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.documents import MAX_BYTES, decoded, parse_json, read_bytes, read_json, refuse
from skillgate.bench.finding import (
    Entrant,
    by_skill,
    choose,
    list_skills,
    newest_measure,
    newest_of,
    of_past,
    of_report,
    on_benchmark,
)
from skillgate.bench.reports import bench_of, is_bench
from skillgate.errors import CodecError, UsageError
from skillgate.evaluation.request import read_whole
from skillgate.model.benchmark import Filters, FoundSkill, NotLoaded, SelectedSkill, Strategy
from skillgate.model.codec import decode
from skillgate.store.results import past_evaluations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.bench.finding import Evidence, Listed
    from skillgate.console import Console
    from skillgate.model.benchmark import AdapterType, Choice, Order, SortKey
    from skillgate.store.results import StoreChoice

_MOST_STRATEGY = 65_536  # bytes
_SKILLS = "skills"
_GLOB = frozenset("*?[")


class StrategyRequest(NamedTuple):
    """A strategy file, and values that override it; None keeps the file's value."""

    file: str | None = None
    min_completion_rate: float | None = None
    max_error_rate: float | None = None
    max_latency_p95_ms: float | None = None
    adapter_types: tuple[AdapterType, ...] | None = None
    required_tags: tuple[str, ...] | None = None
    sort_by: SortKey | None = None
    order: Order | None = None
    top_k: int | None = None


def strategy_of(request: StrategyRequest, *, cwd: str) -> Strategy:
    """Return the requested strategy.

    Raises:
        UsageError: The file is not valid.
    """
    base = Strategy() if request.file is None else _read_strategy(request.file, cwd=cwd)
    values = {name: value for name, value in request._asdict().items() if value is not None}
    filters = {field.name: values[field.name] for field in fields(Filters) if field.name in values}
    own = {field.name: values[field.name] for field in fields(Strategy) if field.name in values}
    return replace(base, filters=replace(base.filters, **filters), **own)


def _read_strategy(shown: str, *, cwd: str) -> Strategy:
    """Read a strategy file: JSON by its suffix, else YAML."""
    place = os.path.join(cwd, shown)
    data = read_json(place, shown) if shown.lower().endswith(".json") else _read_yaml(place, shown)
    return decoded(Strategy, data, shown)


def _read_yaml(place: str, shown: str) -> Any:  # noqa: ANN401 - YAML
    from skillgate.model.yaml_bounded import YamlProblem, load_mapping  # only needed for YAML

    too_large = f"{_MOST_STRATEGY // 1024} KiB"
    data = read_bytes(place, shown, _MOST_STRATEGY, name=f"the strategy {shown}", too_large=too_large)
    try:
        document = load_mapping(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError(f"{shown} is not UTF-8") from None
    except YamlProblem as problem:
        raise UsageError(f"{shown}:{problem.line}:{problem.column}: {problem.message}") from None
    if document.duplicates:
        key, line = document.duplicates[0]
        raise UsageError(f"{shown}:{line}: duplicate key {key}")
    return document.values


class SelectRequest(NamedTuple):
    """What to select from, and how."""

    source: str  # a directory of candidates, a JSON file, or - for JSON on standard input
    strategy: StrategyRequest
    prose: bool  # whether to include SKILL.md files of a directory
    reports: tuple[str, ...] | None  # JSON reports of eval, or glob patterns; None: use the store
    benchmark: str | None  # benchmark id; None if there is only one
    allow_skipped: bool  # whether skills with unmeasured results may be selected
    store: StoreChoice  # with past evaluations


class Selected(NamedTuple):
    """The choices, with their candidates and evaluations."""

    candidates: tuple[FoundSkill, ...]
    evidence: tuple[Evidence | None, ...]  # per candidate; None without a valid one
    choices: tuple[Choice, ...]  # selected or not, and why
    broken: tuple[NotLoaded, ...]

    def skills(self) -> Iterator[SelectedSkill]:
        """Yield the selected skills for output."""
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
    """A candidate; ``listed`` if it was read from a directory."""

    skill: FoundSkill
    listed: Listed | None = None

    def version(self) -> str | None:
        """Return the version to look for in reports, None for any."""
        return self.skill.version if self.listed is None else self.listed.version()


def select(request: SelectRequest, session: Console) -> Selected:
    """Read the candidates and select among them.

    Raises:
        UsageError: There are no candidates, a report cannot be read, or the benchmark is ambiguous.
        IncompleteError: The store cannot be read.
    """
    strategy = strategy_of(request.strategy, cwd=session.cwd)
    candidates, broken = _candidates_of(request.source, session, prose=request.prose)
    entrants, evidence = _entrants_of(candidates, request, session)
    skills = tuple(one.skill for one in candidates)
    return Selected(skills, tuple(evidence), choose(entrants, strategy), tuple(broken))


def _candidates_of(source: str, session: Console, *, prose: bool) -> tuple[list[_Candidate], list[NotLoaded]]:
    """Read valid and invalid candidates from a directory, a JSON file, or ``-`` for standard input.

    JSON is a list of skills, the output of ``find --json``, or one skill.json. Later duplicates of an id and version
    are left out, since reports do not distinguish them.

    Raises:
        UsageError: There are none.
    """
    place = os.path.join(session.cwd, source)
    broken: list[NotLoaded] = []
    if source == "-":
        found = _from_json(parse_json(_stdin(), "standard input"), "standard input")
    elif os.path.isfile(place):
        found = _from_json(read_json(place, source), source)
    else:
        listing = list_skills(source, "--from", cwd=session.cwd, prose=prose)
        found = [_Candidate(one.skill, one) for one in listing.found]
        broken += listing.broken
    if not found and not broken:
        raise UsageError(f"--from {source}: no skill found")
    distinct: dict[tuple[str, str | None], _Candidate] = {}
    for one in found:
        first = distinct.setdefault((one.skill.id, one.skill.version), one).skill
        if first is not one.skill:
            words = f"same id and version as {first.path or first.id}"
            broken.append(NotLoaded(one.skill.path or one.skill.id, words))
    return [*distinct.values()], broken


def _entrants_of(
    candidates: Sequence[_Candidate], request: SelectRequest, session: Console
) -> tuple[list[Entrant], list[Evidence | None]]:
    """Return the candidates with their evaluations from the named reports, else from the store."""
    if request.reports is not None:
        known = by_skill(_reported(request.reports, session))
    else:
        known = by_skill(map(of_past, past_evaluations(request.store, session, measured=False)))
    ids = [one.skill.id for one in candidates]
    known = on_benchmark(known, ids, request.benchmark)
    measure = newest_measure(known, ids)
    entrants: list[Entrant] = []
    evidence: list[Evidence | None] = []
    for one in candidates:
        some = known.get(one.skill.id, [])
        found = newest_of(some, one.version() if some else None, measure)
        entrant = Entrant(one.skill.id, one.skill.adapter_type.value, one.skill.tags, None)
        if isinstance(found, str):
            entrants.append(entrant._replace(refused=(found,)))
            evidence.append(None)
        else:
            refused = _unmeasured(found, allowed=request.allow_skipped)
            entrants.append(entrant._replace(figures=found.figures, refused=refused))
            evidence.append(found)
    return entrants, evidence


def _unmeasured(evidence: Evidence, *, allowed: bool) -> tuple[str, ...]:
    """Return a reason to refuse incomplete results: rates over the rest are not those of the benchmark."""
    if not evidence.skipped or (allowed and evidence.total):
        return ()
    return (f"{evidence.skipped} of {evidence.skipped + evidence.total} results were not measured",)


def _reported(names: Sequence[str], session: Console) -> list[Evidence]:
    found: list[Evidence] = []
    problems: list[str] = []
    for shown in _report_files(names, session):
        try:
            found += _one_report(shown, session)
        except UsageError as error:
            problems += str(error).splitlines()
    refuse(problems)
    return found


def _report_files(names: Sequence[str], session: Console) -> Iterator[str]:
    """Yield the report files; expand patterns that no shell has expanded."""
    for name in dict.fromkeys(names):
        if not _GLOB & set(name) or os.path.lexists(os.path.join(session.cwd, name)):
            yield name
            continue
        found = sorted(glob.glob(name, root_dir=session.cwd))  # noqa: PTH207 - as fast as it gets
        if not found:
            raise UsageError(f"--reports {name}: no such file")
        yield from found


def _one_report(shown: str, session: Console) -> list[Evidence]:
    text = read_whole(os.path.join(session.cwd, shown), shown, "the report")
    try:
        # Task results make such files large, and are not needed here.
        data = json.loads(text, object_hook=_without_results)
        if isinstance(data, list):
            data = json.loads(text)  # of eval-skills: figures are computed from results
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{shown} is not JSON: {error}") from None
    if not is_bench(data):
        raise UsageError(f"{shown} is not a report of skillgate eval; --reports needs JSON written by eval or run")
    report = bench_of(data, shown, session)
    if report.run.shard is not None:
        raise UsageError(f"{shown} is shard {report.run.shard}; merge all shards with skillgate report merge first")
    for one in report.reports:
        if one.incomplete is not None:
            session.note(f"{shown}: {one.skill_id} is ignored: {one.incomplete}")
    return list(of_report(report))


def _without_results(found: dict[str, Any]) -> dict[str, Any]:
    if "taskResults" in found and "skillId" in found:
        found["taskResults"] = []
    return found


def _from_json(data: Any, shown: str) -> list[_Candidate]:  # noqa: ANN401 - JSON
    """Read skills from JSON; raise UsageError with one problem per line if the form is unknown."""
    items, label = data, "[{}]."
    if isinstance(data, dict):
        several = isinstance(data.get(_SKILLS), list)
        items, label = (data[_SKILLS], f"{_SKILLS}[{{}}].") if several else ([data], "")
    if not isinstance(items, list):
        raise UsageError(f"{shown}: expected a list of skills, output of find --json, or one skill.json")
    problems: list[str] = []
    found: list[_Candidate] = []
    for number, item in enumerate(items):
        try:
            found.append(_Candidate(decode(FoundSkill, _described(item))))
        except CodecError as error:
            problems += [f"{shown}: {label.format(number)}{line}" for line in str(error).splitlines()]
    if problems:
        raise UsageError("\n".join(problems[:20]))
    return found


def _described(item: Any) -> Any:  # noqa: ANN401 - JSON
    """Keep only the keys that describe a skill: the list may come from any program."""
    keys = ("id", "name", "version", "description", "tags", "adapterType")
    return {key: item[key] for key in keys if key in item} if isinstance(item, dict) else item


def _stdin() -> bytes:
    if sys.stdin is None:
        raise UsageError("--from - needs standard input, but there is none")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UsageError(f"standard input is larger than {MAX_BYTES:,} bytes")
    return data
