"""Read benchmark reports, also those of eval-skills, merge shards, and compare two reports.

The use cases behind ``report merge`` and ``report diff``.
"""
# ruff: noqa: PTH118

from __future__ import annotations

import math
import os
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import __version__, settings
from skillgate.bench.documents import refuse
from skillgate.bench.metrics import gate, summarise
from skillgate.bench.past.eval_skills import report_of
from skillgate.bench.request import shard_of
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, CodecError, UsageError
from skillgate.evaluation.request import read_whole
from skillgate.model.bench import (
    BenchReport,
    CompletionReport,
    TaskResult,
)
from skillgate.model.benchmark import Benchmark
from skillgate.model.codec import decode
from skillgate.model.report import Verdict
from skillgate.model.score import SCHEMA_VERSION, Outcome
from skillgate.report.json import kind_of, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.bench.request import BenchPolicy, DiffPolicy
    from skillgate.console import Console
    from skillgate.model.bench import BenchDiff

KIND = "bench"
_SAME = (
    *("skill_version", "skill_digest", "adapter", "benchmark_version", "benchmark_digest", "scoring_method"),
    *("max_latency_ms", "model"),
)
_MOST = 20  # problems to report


def data_of(shown: str, session: Console) -> Any:  # noqa: ANN401 - JSON
    """Read a JSON file.

    Raises:
        UsageError: It cannot be read or parsed.
    """
    return parsed(read_whole(os.path.join(session.cwd, shown), shown, "the report"), source=shown)


def is_bench(data: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a document is a benchmark report; a non-empty list is one of eval-skills."""
    return (isinstance(data, list) and bool(data)) or kind_of(data) == KIND


def kinds_of(names: Iterable[str], session: Console) -> dict[str, str]:
    """Return the kind of each file; ``""`` for an unreadable one, which is reported later."""
    found = {}
    for shown in names:
        try:
            data = data_of(shown, session)
        except UsageError:
            found[shown] = ""
        else:
            found[shown] = KIND if is_bench(data) else kind_of(data) or ""
    return found


def bench_of(data: Any, shown: str, session: Console) -> BenchReport:  # noqa: ANN401 - JSON
    """Decode a report; print notes on what one of eval-skills lacks.

    Raises:
        UsageError: It is not a report, or from a later version. The message has file and position.
    """
    if isinstance(data, list):
        report = report_of(data, shown)
        for notice in report.notices:
            session.note(f"{shown}: {notice}")
        return report
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        later = "a newer skillgate wrote it; update skillgate to read it"
        raise UsageError(f"{shown} has schema version {version}: {later}")
    try:
        return decode(BenchReport, data)
    except CodecError as error:
        raise UsageError(f"{shown} is not a benchmark report: {error}") from None


def read_bench(shown: str, session: Console) -> BenchReport:
    """Read a report; see :func:`bench_of`."""
    return bench_of(data_of(shown, session), shown, session)


def totals(reports: Sequence[CompletionReport]) -> tuple[int, int]:
    """Return the number of measured and of skipped results."""
    counts = [one.summary.counts for one in reports]
    return sum(one.total for one in counts), sum(one.skipped for one in counts)


def whole_verdict(reports: Iterable[CompletionReport]) -> Verdict:
    """Return the combined verdict of all skills' gates."""
    verdicts = [one.gate.passed for one in reports if one.gate.passed is not None]
    return Verdict(passed=all(verdicts) if verdicts else None)


def best_first(reports: Iterable[CompletionReport]) -> tuple[CompletionReport, ...]:
    """Sort reports by composite, then by id."""
    return tuple(sorted(reports, key=lambda one: (-(one.summary.composite_score or 0.0), one.skill_id)))


def exit_code(report: BenchReport, *, allow_skipped: bool) -> int:
    """Return the exit code; a failed gate takes precedence over unmeasured results and figures."""
    if report.gate.passed is False:
        gates = (report.gate, *(one.gate for one in report.reports))
        verdicts = {outcome.verdict for gate in gates for outcome in gate.outcomes}
        decided = verdicts & {Outcome.FAIL, Outcome.INCONCLUSIVE}
        return EXIT_GATE_FAILED if decided else EXIT_INCOMPLETE  # only unmeasured figures
    measured, skipped = totals(report.reports)
    empty = not measured and (skipped or report.run.shard is None)  # a shard may be empty
    incomplete = (skipped and not allow_skipped) or empty or report.not_loaded
    return EXIT_INCOMPLETE if incomplete else EXIT_PASSED


class _Shard(NamedTuple):
    name: str  # its file, as the user wrote it
    report: BenchReport
    number: int = 0  # from 1


def merge(names: Sequence[str], policy: BenchPolicy, session: Console) -> BenchReport:
    """Merge shards, in any order, into the report of the whole run; only times differ from a single run.

    Args:
        names: Files of the shards.
        policy: Gates of the whole run.
        session: For its working directory.

    Raises:
        UsageError: The files are not all shards of one run, complete and without duplicates, or a required task was
            not run.
    """
    if len(set(names)) < len(names):
        raise UsageError("a shard is passed twice")
    shards = _ordered([_Shard(name, read_bench(name, session)) for name in names])
    first = shards[0].report
    refuse(_differences(shards), _MOST)
    refuse((problem for shard in shards for problem in _misplaced(shard, len(shards))), _MOST)
    reports = best_first(_joined(one, shards, policy) for one in first.reports)
    known = {result.task_id for one in reports for result in one.task_results}
    missing = [task for task in policy.require_tasks if task not in known]
    if missing:
        raise UsageError(f"--require-task {missing[0]}: no such task was run")
    measured, skipped = totals(reports)
    return replace(
        first,
        reports=reports,
        run=replace(first.run, shard=None, all_tasks=()),
        coverage=measured / (measured + skipped) if measured + skipped else None,
        gate=whole_verdict(reports),
        duration_s=round(math.fsum(shard.report.duration_s for shard in shards), 3),
        notices=tuple(dict.fromkeys(notice for shard in shards for notice in shard.report.notices)),
    )


def _ordered(shards: Sequence[_Shard]) -> list[_Shard]:
    """Sort shards by number; raise UsageError if one is not a shard, missing or duplicate."""
    found: dict[int, _Shard] = {}
    counts: dict[int, str] = {}
    for shard in shards:
        text = shard.report.run.shard
        number, _, of = (text or "").partition("/")
        if not (number.isascii() and number.isdigit() and of.isascii() and of.isdigit()):
            raise UsageError(f"{shard.name} is not a shard; write shards with skillgate eval --shard I/N")
        counts.setdefault(int(of), shard.name)
        if len(counts) > 1:
            (one, a), (other, b) = counts.items()
            raise UsageError(f"{a} is one of {one} shards, {b} one of {other}: they are not from the same run")
        if int(number) in found:
            raise UsageError(f"{found[int(number)].name} and {shard.name} are both shard {text}")
        found[int(number)] = shard._replace(number=int(number))
    total = next(iter(counts), 0)
    strange = [found[number].name for number in found if not 1 <= number <= total]
    if strange or not total:
        raise UsageError(f"{strange[0] if strange else 'nothing'} is not a shard of {total}")
    missing = [f"{number}/{total}" for number in range(1, total + 1) if number not in found]
    if missing:
        raise UsageError(f"missing shard{'s' * (len(missing) > 1)}: {', '.join(missing[:_MOST])}")
    return [found[number] for number in sorted(found)]


def _differences(shards: Sequence[_Shard]) -> Iterator[str]:
    """Yield the differences that show that shards are not from one run."""
    first = shards[0]
    for other in shards[1:]:
        for what, one, two in _pairs(first.report, other.report):
            if one != two:
                yield f"{first.name} has {what} {_shown(one)}, {other.name} {_shown(two)}; they are not of one run"


def _pairs(a: BenchReport, b: BenchReport) -> Iterator[tuple[str, object, object]]:
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
        for name in _SAME:
            yield f"{key[0]}: {name.replace('_', ' ')}", getattr(one[key], name), getattr(two[key], name)


def _shown(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(getattr(value, "value", value))
    return text[:200] or "none"


def _key(report: CompletionReport) -> tuple[str, str]:
    return report.skill_id, report.benchmark_id


def _misplaced(shard: _Shard, of: int) -> Iterator[str]:
    """Yield missing, duplicate and foreign results of a shard."""
    run = shard.report.run
    for report in shard.report.reports:
        if report.incomplete is not None:
            yield f"{shard.name} is incomplete ({report.incomplete}); run shard {shard.number}/{of} again"
            return
        wanted = {
            (task, number)
            for task in run.all_tasks
            if shard_of(report.skill_id, task, of) == shard.number
            for number in range(1, run.runs + 1)
        }
        held = [(result.task_id, result.run) for result in report.task_results]
        others = sum(result.skill_id != report.skill_id for result in report.task_results)
        wrong = [
            *[f"{len(wanted - set(held))} results are missing"] * bool(wanted - set(held)),
            *[f"{len(set(held) - wanted)} belong to other shards"] * bool(set(held) - wanted),
            *["some are duplicates"] * (len(set(held)) < len(held)),
            *[f"{others} belong to another skill"] * bool(others),
        ]
        if wrong:
            text = f"{shard.name} does not have the results of shard {shard.number}/{of} for {report.skill_id}"
            yield f"{text}: {'; '.join(wrong)}"


def _joined(first: CompletionReport, shards: Sequence[_Shard], policy: BenchPolicy) -> CompletionReport:
    same = [one for shard in shards for one in shard.report.reports if _key(one) == _key(first)]
    run = shards[0].report.run
    place = {task: index for index, task in enumerate(run.all_tasks)}

    def order(result: TaskResult) -> tuple[int, int]:
        return result.run, place[result.task_id]

    results = tuple(sorted((result for one in same for result in one.task_results), key=order))
    benchmark = Benchmark(
        id=first.benchmark_id,
        name=first.benchmark_id,
        version=first.benchmark_version,
        tasks=(),
        scoring_method=first.scoring_method,
        k=next((one.summary.k for one in same if one.summary.k is not None), None),
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


class DiffRequest(NamedTuple):
    """Which reports to compare, and what counts as a regression."""

    a: str  # file of the report before
    b: str  # file of the report after
    label_a: str
    label_b: str
    policy: DiffPolicy
    is_gate: bool  # whether a regression fails
    # Result of a drop that may be chance: point, pass, warn or fail. None: from the configuration, else point if a
    # report has one run of each task, else warn.
    on_inconclusive: str | None


def are_benchmarks(a: str, b: str, session: Console) -> bool:
    """Whether both files are benchmark reports.

    Raises:
        UsageError: Only one is.
    """
    kinds = kinds_of((a, b), session)
    if set(kinds.values()) == {KIND}:
        return True
    if KIND in kinds.values() and all(kinds.values()):
        message = " and ".join(f"{shown} is a {kind} document" for shown, kind in kinds.items())
        raise UsageError(f"{message}; both must have the same kind")
    return False


def bench_diff(request: DiffRequest, session: Console) -> tuple[BenchDiff, int]:
    """Compare two benchmark reports, and return the exit code too.

    If the comparison is a gate, everything except PASS fails; for a drop that may be chance, ``on_inconclusive``
    decides.

    Raises:
        UsageError: A report is not valid, a golden task is in neither, or numpy or scipy is missing.
    """
    try:
        from skillgate.bench.diff import diff, is_chance
    except ModuleNotFoundError as error:
        install = 'pip install "skillgate-action[stats]"'
        raise UsageError(f"comparing benchmark reports needs {error.name}: {install}") from error
    a, b = (_unambiguous(shown, session) for shown in (request.a, request.b))
    results = [result for side in (a, b) for one in side.reports for result in one.task_results]
    known = {result.task_id for result in results}
    if missing := [task for task in request.policy.golden if task not in known]:
        raise UsageError(f"--golden {missing[0]}: neither report has such a task")
    label_a, label_b = request.label_a, request.label_b
    found = diff(a, b, label_a=label_a, label_b=label_b, version=__version__, policy=request.policy)
    if not request.is_gate or found.verdict is Outcome.PASS:
        return found, EXIT_PASSED
    if not is_chance(found):
        return found, EXIT_GATE_FAILED
    word = request.on_inconclusive
    if word is None and session.config.origin(settings.ON_INCONCLUSIVE) != "default":
        word = session.config.get(settings.ON_INCONCLUSIVE)
    if word is None:
        word = "point" if _has_one_run(a) or _has_one_run(b) else "warn"
    if word == "warn":
        session.note(f"warning: {found.reasons[0]}")
    return found, EXIT_PASSED if word in ("pass", "warn") else EXIT_GATE_FAILED


def _has_one_run(report: BenchReport) -> bool:
    """Whether a report has one run of each task, by its results (other programs' reports have no settings)."""
    return max((result.run for one in report.reports for result in one.task_results), default=1) == 1


def _unambiguous(shown: str, session: Console) -> BenchReport:
    report = read_bench(shown, session)
    keys = [_key(one) for one in report.reports]
    if len(set(keys)) < len(keys):
        raise UsageError(f"{shown} is not a benchmark report: a skill occurs twice on one benchmark")
    return report
