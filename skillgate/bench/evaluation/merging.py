"""Join the shards of one benchmark run, as ``report merge`` does.

The report is what the run of all of it would have been, but for its times.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.evaluation.reading import read_bench
from skillgate.bench.planning import shard_of
from skillgate.bench.results.gating import gate
from skillgate.bench.results.metrics import summarise
from skillgate.errors import UsageError
from skillgate.model.benchmark import Benchmark
from skillgate.model.report import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.bench.results.gating import BenchPolicy
    from skillgate.model.bench import BenchReport, CompletionReport
    from skillgate.model.bench_result import TaskResult
    from skillgate.session import Session

_SKILL = (
    *("skill_version", "skill_digest", "adapter", "benchmark_version", "benchmark_digest", "scoring_method"),
    *("max_latency_ms", "model"),
)
_MOST = 20  # problems that are told


def merge(names: Sequence[str], policy: BenchPolicy, session: Session) -> BenchReport:
    """Return the report that the whole run would have had.

    Args:
        names: the shards' files.
        policy: the gates of the whole run.
        session: for its working directory.

    Raises:
        UsageError: the files are not all shards of one run, or a required task was not run.
    """
    if len(set(names)) < len(names):
        raise UsageError("a shard is given twice")
    report = join([Part(name, read_bench(name, session)) for name in names], policy)
    known = {result.task_id for one in report.reports for result in one.task_results}
    missing = [task for task in policy.require_tasks if task not in known]
    if missing:
        raise UsageError(f"--require-task {missing[0]}: no such task was run")
    return report


class Part(NamedTuple):
    """One shard: its file as it was named, and what it holds; ``number`` is its place among all, from 1."""

    name: str
    report: BenchReport
    number: int = 0


def join(parts: Sequence[Part], policy: BenchPolicy) -> BenchReport:
    """Join shards in any order: figures are computed anew from all results, and gates are asked of them.

    Raises:
        UsageError: they are not all shards of one run, each whole and each once.
    """
    ordered = _ordered(parts)
    first = ordered[0].report
    _require(list(_differences(ordered)))
    _require([problem for part in ordered for problem in _foreign(part, len(ordered))])
    reports = [_joined(one, ordered, policy) for one in first.reports]
    reports.sort(key=lambda one: (-(one.summary.composite_score or 0.0), one.skill_id))
    verdicts = [one.gate.passed for one in reports if one.gate.passed is not None]
    measured = sum(one.summary.counts.total for one in reports)
    results = measured + sum(one.summary.counts.skipped for one in reports)
    return replace(
        first,
        reports=tuple(reports),
        run=replace(first.run, shard=None, all_tasks=()),
        coverage=measured / results if results else None,
        gate=Verdict(passed=all(verdicts) if verdicts else None),
        duration_s=round(math.fsum(part.report.duration_s for part in ordered), 3),
        notices=tuple(dict.fromkeys(notice for part in ordered for notice in part.report.notices)),
    )


def _ordered(parts: Sequence[Part]) -> list[Part]:
    """Put shards in their order.

    Raises:
        UsageError: one is none, one is missing, or one is there twice.
    """
    found: dict[int, Part] = {}
    counts: dict[int, str] = {}
    for part in parts:
        said = part.report.run.shard
        number, _, of = (said or "").partition("/")
        if not (number.isascii() and number.isdigit() and of.isascii() and of.isdigit()):
            raise UsageError(f"{part.name} is no shard: write shards with skillgate eval --shard I/N")
        counts.setdefault(int(of), part.name)
        if len(counts) > 1:
            (one, a), (other, b) = counts.items()
            raise UsageError(f"{a} is one of {one} shards, {b} one of {other}: they are not of one run")
        if int(number) in found:
            raise UsageError(f"{found[int(number)].name} and {part.name} are both shard {said}")
        found[int(number)] = part._replace(number=int(number))
    total = next(iter(counts), 0)
    missing = [number for number in range(1, total + 1) if number not in found]
    strange = [found[number].name for number in found if not 1 <= number <= total]
    if strange or not total:
        raise UsageError(f"{strange[0] if strange else 'nothing'} is no shard of {total}")
    if missing:
        told = ", ".join(f"{number}/{total}" for number in missing[:_MOST])
        raise UsageError(f"not all shards are here: {told} {'is' if len(missing) == 1 else 'are'} missing")
    return [found[number] for number in sorted(found)]


def _differences(parts: Sequence[Part]) -> Iterator[str]:
    """Say in what shards are not of one run."""
    first = parts[0]
    for other in parts[1:]:
        for what, one, two in _paired(first.report, other.report):
            if one != two:
                yield f"{first.name} has {what} {_told(one)}, {other.name} {_told(two)}: they are not of one run"


def _paired(a: BenchReport, b: BenchReport) -> Iterator[tuple[str, object, object]]:
    yield "skillgate", a.tool.version, b.tool.version
    yield "scoring version", a.scoring_version, b.scoring_version
    yield "configuration", a.config_digest, b.config_digest
    yield "models", a.models, b.models
    yield "skills that were not loaded", a.not_loaded, b.not_loaded
    for field in fields(a.run):
        if field.name != "shard":
            name = field.name.replace("_", " ")
            yield f"the setting {name}", getattr(a.run, field.name), getattr(b.run, field.name)
    one, two = ({_key(report): report for report in side.reports} for side in (a, b))
    yield "skills", sorted(" on ".join(key) for key in one), sorted(" on ".join(key) for key in two)
    for key in sorted(one.keys() & two.keys()):
        for name in _SKILL:
            yield f"{key[0]}: {name.replace('_', ' ')}", getattr(one[key], name), getattr(two[key], name)


def _told(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(getattr(value, "value", value))
    return text[:200] or "none"


def _key(report: CompletionReport) -> tuple[str, str]:
    return report.skill_id, report.benchmark_id


def _foreign(part: Part, of: int) -> Iterator[str]:
    """Say which results a shard lacks, holds twice, or should not hold."""
    run = part.report.run
    for report in part.report.reports:
        if report.incomplete is not None:
            yield f"{part.name} is not whole ({report.incomplete}): run shard {part.number}/{of} again"
            return
        wanted = {
            (task, number)
            for task in run.all_tasks
            if shard_of(report.skill_id, task, of) == part.number
            for number in range(1, run.runs + 1)
        }
        held = [(result.task_id, result.run) for result in report.task_results]
        wrong = [f"{len(wanted - set(held))} results are missing"] * bool(wanted - set(held))
        wrong += [f"{len(set(held) - wanted)} are not its own"] * bool(set(held) - wanted)
        wrong += ["some stand in it twice"] * (len(set(held)) < len(held))
        strange = [result for result in report.task_results if result.skill_id != report.skill_id]
        wrong += [f"{len(strange)} are another skill's"] * bool(strange)
        if wrong:
            said = f"{part.name} does not hold what shard {part.number}/{of} runs of {report.skill_id}"
            yield f"{said}: {'; '.join(wrong)}"


def _joined(first: CompletionReport, parts: Sequence[Part], policy: BenchPolicy) -> CompletionReport:
    same = [one for part in parts for one in part.report.reports if _key(one) == _key(first)]
    run = parts[0].report.run
    place = {task: index for index, task in enumerate(run.all_tasks)}

    def order(result: TaskResult) -> tuple[int, int]:
        return result.run, place[result.task_id]

    results = tuple(sorted((result for one in same for result in one.task_results), key=order))
    k = next((one.summary.k for one in same if one.summary.k is not None), None)
    benchmark = Benchmark(
        id=first.benchmark_id,
        name=first.benchmark_id,
        version=first.benchmark_version,
        tasks=(),
        scoring_method=first.scoring_method,
        k=k,
        max_latency_ms=first.max_latency_ms,
    )
    figures = summarise(results, benchmark, runs=run.runs, seed=run.seed)
    return replace(
        first,
        timestamp=min(one.timestamp for one in same),
        summary=figures.summary,
        latency=figures.latency,
        task_results=results,
        token_cost=figures.token_cost,
        by_tag=figures.by_tag,
        gate=gate(figures, results, policy),
    )


def _require(problems: Sequence[str]) -> None:
    if problems:
        more = [f"… and {len(problems) - _MOST} more"] if len(problems) > _MOST else []
        raise UsageError("\n".join([*problems[:_MOST], *more]))
