"""Read benchmark reports, also those of an older evaluator, merge shards, and compare two reports.

The use cases behind ``report merge`` and ``report diff``.
"""
# ruff: noqa: PTH118

from __future__ import annotations

import json
import math
import os
from dataclasses import fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import __version__, settings
from skillgate.bench.answers import bounded_output
from skillgate.bench.documents import refuse
from skillgate.bench.metrics import gate, summarise
from skillgate.bench.ports import MAX_WORDS
from skillgate.bench.request import shard_of
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, CodecError, UsageError
from skillgate.evaluation.request import read_whole
from skillgate.model.bench import (
    BenchReport,
    BenchUsage,
    CompletionReport,
    ErrorKind,
    Latency,
    Output,
    RunSettings,
    Status,
    TaskResult,
)
from skillgate.model.benchmark import Benchmark
from skillgate.model.codec import decode
from skillgate.model.report import Tool, Verdict
from skillgate.model.score import SCHEMA_VERSION, Outcome
from skillgate.report.json import kind_of, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.bench.request import BenchPolicy, DiffPolicy
    from skillgate.console import Console
    from skillgate.model.bench import BenchDiff, BenchSummary

KIND = "bench"
_SAME = (
    *("skill_version", "skill_digest", "adapter", "benchmark_version", "benchmark_digest", "scoring_method"),
    *("max_latency_ms", "model"),
)
_MOST = 20  # problems to report
_OLDER = "an older evaluator"
_UNKNOWN = "unknown"
_WRITTEN = {"partialScore": "partial_score", "compositeScore": "composite_score"}
_COMPUTED = {"completionRate": "completion_rate", "errorRate": "error_rate", "consistencyScore": "consistency_score"}
_STATUSES = {status.value: status for status in Status}
_ROUNDED = 0.0005  # such reports have four decimals


def data_of(shown: str, session: Console) -> Any:  # noqa: ANN401 - JSON
    """Read a JSON file.

    Raises:
        UsageError: It cannot be read or parsed.
    """
    return parsed(read_whole(os.path.join(session.cwd, shown), shown, "the report"), source=shown)


def is_bench(data: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a document is a benchmark report; a non-empty list is one of an older tool."""
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
    """Decode a report; print notes on what an older one lacks.

    Raises:
        UsageError: It is not a report, or from a later version. The message has file and position.
    """
    if isinstance(data, list):
        report = _older_report(data, shown)
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


class _At(NamedTuple):
    """A value and its position."""

    value: Any
    where: str

    def key(self, name: str) -> _At:
        found = self.value.get(name) if isinstance(self.value, dict) else None
        return _At(found, f"{self.where}.{name}")

    def items(self) -> list[_At]:
        return [_At(value, f"{self.where}[{index}]") for index, value in enumerate(self.value)]


def _older_report(data: list[Any], shown: str) -> BenchReport:
    """Convert the report of an older evaluator: a non-empty list with one object per skill.

    It has no version, settings or digests, which the notices mention. Figures are recomputed from the results. Figures
    that need the benchmark (partial score, composite) are taken as written.

    Raises:
        UsageError: It is not such a list. The message has file and position.
    """
    try:
        found = [_skill(item) for item in _At(data, "$").items()]
    except ValueError as error:
        raise UsageError(f"{shown} is not a benchmark report: {error}") from None
    results = [result for report, _ in found for result in report.task_results]
    measured = sum(result.status is not Status.SKIPPED for result in results)
    notices = [
        "written by an older evaluator: benchmark versions and digests, settings, isolation and error kinds are"
        " unknown; settings are shown with their defaults"
    ]
    for _, contradictions in found:
        notices += contradictions
    return BenchReport(
        reports=tuple(report for report, _ in found),
        tool=Tool(version=_UNKNOWN, name=_OLDER),
        config_digest="",
        run=RunSettings(runs=max((result.run for result in results), default=1)),
        coverage=measured / len(results) if results else None,
        notices=tuple(dict.fromkeys(notices)),
    )


def _skill(at: _At) -> tuple[CompletionReport, list[str]]:
    if not isinstance(at.value, dict):
        raise _problem(at, "an object")
    name = _text(at.key("skillId"))
    summary_at, latency_at = at.key("summary"), at.key("latency")
    if not isinstance(summary_at.value, dict):
        raise _problem(summary_at, "an object")
    results = tuple(_results(at.key("taskResults"), name))
    runs = max((result.run for result in results), default=1)
    benchmark = _text(at.key("benchmarkId"))
    figures = summarise(results, Benchmark(id=benchmark, name=benchmark, version=_UNKNOWN, tasks=()), runs=runs)
    shares = {key: _share(summary_at.key(key)) for key in (*_WRITTEN, *_COMPUTED)}
    latency = figures.latency if results else _latency(latency_at)
    summary, notices = figures.summary, list(_contradictions(name, shares, figures.summary))
    reasons = dict(summary.reasons)
    changes: dict[str, Any] = {}
    for key, field in _WRITTEN.items() if results else {**_WRITTEN, **_COMPUTED}.items():
        changes[field] = shares[key]
        reasons.pop(key, None)
        if shares[key] is None:
            reasons[key] = "not in the older report"
    if not results:
        reasons["counts"] = "the older report has no results"
    report = CompletionReport(
        skill_id=name,
        skill_version=_text(at.key("skillVersion"), _UNKNOWN),
        benchmark_id=benchmark,
        timestamp=_time(at.key("timestamp")),
        summary=replace(summary, **changes, reasons=reasons),
        latency=latency,
        task_results=results,
        benchmark_version="",
        token_cost=_usage(at.key("tokenCost")) or figures.token_cost,
        by_tag=figures.by_tag,
    )
    return report, notices


def _contradictions(name: str, shares: Mapping[str, float | None], summary: BenchSummary) -> Iterator[str]:
    """Yield figures of a report that contradict its results."""
    if not summary.counts.total:
        return
    for key, field in _COMPUTED.items():
        written, computed = shares[key], getattr(summary, field)
        if written is not None and computed is not None and abs(written - computed) > _ROUNDED:
            yield f"{name}: the report has {key} {written:g}, but its results give {computed:.4g}, which is used"


def _results(at: _At, name: str) -> Iterator[TaskResult]:
    if at.value is None:
        return
    if not isinstance(at.value, list):
        raise _problem(at, "a list")
    items = at.items()
    numbers = sorted({_number(item.key("runId"), 1.0) for item in items})  # some count from 0
    for item in items:
        word = _text(item.key("status"))
        if word not in _STATUSES:
            raise _problem(item.key("status"), ", ".join(_STATUSES))
        yield _result(item, name, _STATUSES[word], numbers.index(_number(item.key("runId"), 1.0)) + 1)


def _result(at: _At, name: str, status: Status, run: int) -> TaskResult:
    score, latency = _number(at.key("score"), 0.0), _number(at.key("latencyMs"), 0.0)
    weight = _number(at.key("weight"), 1.0)
    scores = {Status.SKIPPED: None, Status.ERROR: 0.0, Status.TIMEOUT: 0.0}
    return TaskResult(
        task_id=_text(at.key("taskId")),
        skill_id=name,
        run=run,
        status=status,
        score=scores.get(status, min(1.0, score)),
        latency_ms=latency if latency > 0 and status is not Status.SKIPPED else None,  # 0 means a failed call
        scorer_type=_text(at.key("scorerType"), "")[:MAX_WORDS],
        output=_output(at.key("output").value),
        error=_words(at.key("error")),
        error_kind=ErrorKind.TIMEOUT if status is Status.TIMEOUT else None,
        reason=_words(at.key("reason")),
        usage=_usage(at.key("usage")),
        weight=weight if weight > 0 else 1.0,
    )


def _output(value: Any) -> Output | None:  # noqa: ANN401 - JSON
    """Return an answer for a report; one with numbers that JSON cannot represent becomes a string."""
    if value is None:
        return None
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return bounded_output(json.dumps(value))
    return bounded_output(value)


def _latency(at: _At) -> Latency:
    found = [_number(at.key(key), 0.0) or None for key in ("p50Ms", "p95Ms", "p99Ms")]
    return Latency(p50=found[0], p95=found[1], p99=found[2])


def _usage(at: _At) -> BenchUsage | None:
    if not isinstance(at.value, dict):
        return None
    used, answered, total = (_number(at.key(key), 0.0) for key in ("inputTokens", "outputTokens", "totalTokens"))
    if not (used or answered or total):
        return None
    cost = at.key("estimatedUSD")
    cost_usd = None if cost.value is None else _number(cost, 0.0)
    return BenchUsage(input=int(used), output=int(answered), total=int(total or used + answered), cost_usd=cost_usd)


def _time(at: _At) -> datetime:
    try:
        found = datetime.fromisoformat(_text(at))
    except ValueError:
        raise _problem(at, "a time such as 2026-01-02T03:04:05Z") from None
    if found.tzinfo is None:
        raise _problem(at, "a time with a time zone")
    return found


def _words(at: _At) -> str | None:
    return None if at.value is None else _text(at)[:MAX_WORDS] or None


def _text(at: _At, default: str | None = None) -> str:
    if at.value is None and default is not None:
        return default
    if not isinstance(at.value, str):
        raise _problem(at, "a string")
    return at.value


def _number(at: _At, default: float) -> float:
    """Return a non-negative number; older reports write ``null`` for none."""
    if at.value is None:
        return default
    if isinstance(at.value, bool) or not isinstance(at.value, int | float):
        raise _problem(at, "a number")
    if not math.isfinite(at.value) or at.value < 0:
        raise _problem(at, "a number of at least 0")
    return float(at.value)


def _share(at: _At) -> float | None:
    if at.value is None:
        return None
    value = _number(at, 0.0)
    if value > 1:
        raise _problem(at, "a number from 0 to 1")
    return value


def _problem(at: _At, expected: str) -> ValueError:
    found = "nothing" if at.value is None else repr(at.value)[:80]
    if isinstance(at.value, dict | list):
        found = "an object" if isinstance(at.value, dict) else "a list"
    return ValueError(f"{at.where}: expected {expected}, found {found}")
