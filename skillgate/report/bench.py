"""What reports on benchmarks show: the verdict, a table of skills, then of each skill its tasks, failed ones first."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural
from skillgate.model.bench import ErrorKind, Status
from skillgate.report import charts, numbers
from skillgate.report.findings import bounded
from skillgate.report.numbers import NONE, decimal, ends, milliseconds, share
from skillgate.report.view import (
    MARKS,
    Bar,
    Cell,
    Figure,
    Figures,
    Fold,
    Heading,
    Item,
    Items,
    Note,
    Pairs,
    Row,
    Span,
    Table,
    View,
    code,
    columns,
    joined,
    spans,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.model.bench import BenchReport, CompletionReport, TaskResult
    from skillgate.model.report import GateOutcome
    from skillgate.report.view import Block, Line, Tone

_ANSWER = 400  # characters of an answer
_TONES: dict[str, Tone] = {"pass": "good", "flaky": "fair", "skipped": "fair"}  # of a task's status; others are poor
_WORST = (Status.ERROR, Status.TIMEOUT, Status.FAIL, Status.SKIPPED, Status.PASS)
_TASKS = columns("task", "status", "#passed", "#score", "#slowest", "why")
_SKILLS = columns(
    "skill", "~", "#completed", "#partial", "#errors", "#consistent", "#p50", "#p95", "#composite", "gate"
)
_CAPTION = "Best composite first; the 95 % interval is next to the share of completed tasks."


class _Task(NamedTuple):
    """All runs of one task; ``worst`` is the one that ended worst, ``measured`` how many were not skipped."""

    runs: tuple[TaskResult, ...]
    worst: TaskResult
    passed: int
    measured: int

    @property
    def status(self) -> str:
        return "flaky" if 0 < self.passed < self.measured else self.worst.status.value


def view(report: BenchReport) -> View:
    """Build what a report on benchmarks shows."""
    mark = MARKS[report.gate.passed]
    if mark != "fail" and not _is_sure(report):
        mark = "error"
    skills = list(enumerate(report.reports, start=1))
    benchmarks = {f"{one.benchmark_id} {one.benchmark_version}".strip() for one in report.reports}
    facts = "several benchmarks" if len(benchmarks) > 1 else next(iter(benchmarks), "no skill")
    if report.reports:
        facts += f" · {report.reports[0].timestamp:%Y-%m-%d %H:%M} UTC"
    blocks: list[Block] = [Figures(tuple(_overview(report.reports)))]
    if skills:
        several, alone = len(benchmarks) > 1, len(skills) == 1
        rows = tuple(_skill_row(one, f"skill-{n}", several=several, alone=alone) for n, one in skills)
        blocks += [Heading("Skills"), Table(_SKILLS, rows, _CAPTION, "skill", most=50)]
    quiet = sum(map(_is_faultless, report.reports))
    if quiet and len(skills) > 1:
        gated = "" if report.gate.passed is None else " and no gate failed"
        blocks.append(Note(f"{plural(quiet, 'skill')}: every task passed{gated}.", "good"))
    blocks += skill_blocks(report.reports[0]) if len(skills) == 1 else []
    blocks += _latency(report.reports)
    return View(
        verdict(report),
        mark,
        facts,
        tuple(reasons(report)),
        (*warnings(report), *report.notices, *(f"not loaded: {one.path}: {one.reason}" for one in report.not_loaded)),
        tuple(blocks),
        tuple(_about(report)),
    )


def figures(reports: Iterable[CompletionReport]) -> Table:
    """Build a table of skills alone."""
    rows = tuple(_skill_row(one, "", several=False, alone=True) for one in reports)
    return Table(_SKILLS, rows, _CAPTION, "skill", most=50)


def verdict(report: BenchReport) -> str:
    """Return the verdict in one line."""
    skipped = sum(one.summary.counts.skipped for one in report.reports)
    said = plural(len(report.reports), "skill")
    if skipped:
        said += f", {plural(skipped, 'result')} not measured"
    if report.selection is not None:
        word = {True: "PASS", False: "FAIL", None: "NOT MEASURED"}[report.gate.passed]
        return f"{word}: {'; '.join((*(gate.reason for gate in report.gate.outcomes), said))}"
    if report.gate.passed is None:
        return f"No gate was requested: {said}"
    failed = [one.skill_id for one in report.reports if one.gate.passed is False]
    if report.gate.passed:
        return f"PASS: {said}"
    return f"FAIL: {', '.join(failed) or 'some results were not measured'} ({said})"


def why(result: TaskResult) -> str:
    """Return the reason for a result: the error with its kind, else the scorer's reason."""
    if result.error:
        return f"{result.error_kind.value}: {result.error}" if result.error_kind else result.error
    return result.reason or ""


def warnings(report: BenchReport) -> Iterator[str]:
    """Yield what weakens every figure: what programs of skills could do."""
    if report.run.run_as_caller:
        yield "programs ran as the calling user (--run-as-caller)"
    if report.run.answers_readable:
        yield "programs could read the expected answers; --sandbox bwrap prevents that"


def _is_sure(report: BenchReport) -> bool:
    """Return whether everything was measured."""
    return bool(report.reports) and not any(
        one.summary.counts.skipped or not one.summary.counts.total or one.incomplete for one in report.reports
    )


def reasons(report: BenchReport) -> Iterator[Line]:
    """Yield why skills failed a gate, or were not measured completely."""
    for number, one in enumerate(report.reports, start=1):
        failed = [gate.reason for gate in one.gate.outcomes if gate.verdict.value != "pass"]
        for reason in filter(None, (*failed, one.incomplete)):
            yield code(one.skill_id, anchor=f"skill-{number}"), f" {reason}"


def _overview(reports: Sequence[CompletionReport]) -> Iterator[Figure]:
    counts = [one.summary.counts for one in reports]
    broken, skipped = sum(one.errors + one.timeouts for one in counts), sum(one.skipped for one in counts)
    flaky = sum(len(one.summary.flaky_tasks) for one in reports)
    yield Figure("skills", str(len(reports)))
    yield Figure("passed", f"{sum(one.passed for one in counts):,}", f"of {sum(one.total for one in counts):,}")
    yield Figure("failed", f"{sum(one.failed for one in counts):,}")
    yield Figure("errors", f"{broken:,}", tone="poor" if broken else "")
    yield Figure("not measured", f"{skipped:,}", tone="fair" if skipped else "")
    yield Figure("flaky tasks", f"{flaky:,}", tone="fair" if flaky else "")


def _skill_row(report: CompletionReport, anchor: str, *, several: bool, alone: bool) -> Row:
    summary, latency, rate = report.summary, report.latency, report.summary.completion_rate
    interval = summary.completion_interval
    low, high = (interval.ci_low, interval.ci_high) if interval else (None, None)
    percent, start, end = (None if value is None else 100 * value for value in (rate, low, high))
    tone, mark = numbers.tone(percent), MARKS[report.gate.passed]
    note = report.skill_version + (f" on {report.benchmark_id} {report.benchmark_version}".rstrip() if several else "")
    return Row(
        (
            Cell(code(report.skill_id, anchor="" if alone else anchor), note),
            Cell(chart=charts.rate(percent, start, end, tone)),
            Cell(share(rate), ends(low, high, scale=100), "" if rate is None else tone),
            share(summary.partial_score),
            Cell(share(summary.error_rate), tone="poor" if summary.error_rate else ""),
            decimal(summary.consistency_score),
            Cell(milliseconds(latency.p50), sort=latency.p50),
            Cell(milliseconds(latency.p95), sort=latency.p95),
            decimal(summary.composite_score),
            _gate(report),
        ),
        () if alone else tuple(skill_blocks(report)),
        "" if alone else anchor,
        _is_faultless(report),
        "error" if mark == "none" and report.incomplete else mark,
    )


def _gate(report: CompletionReport) -> Cell:
    said = {True: "pass", False: "FAIL", None: NONE}[report.gate.passed]
    tones: dict[bool | None, Tone] = {True: "good", False: "poor", None: ""}
    return Cell(said, tone=tones[report.gate.passed])


def _is_faultless(report: CompletionReport) -> bool:
    """Return whether there is nothing to act on: all was measured, every task passed, and no gate failed."""
    passed = all(result.status is Status.PASS for result in report.task_results)
    return bool(report.task_results) and passed and report.gate.passed is not False and not report.incomplete


def skill_blocks(report: CompletionReport) -> list[Block]:
    """Build the part about one skill."""
    summary = report.summary
    tasks = sorted(_tasks(report.task_results), key=lambda one: (_WORST.index(one.worst.status), one.passed))
    missed = [one for one in tasks if one.worst.status is not Status.PASS]
    passed = [one for one in tasks if one.worst.status is Status.PASS]
    blocks: list[Block] = []
    if report.incomplete:
        blocks.append(Note(f"incomplete: {report.incomplete}", "fair"))
    if report.gate.outcomes:
        blocks.append(Items(tuple(gates(report.gate.outcomes)), "gate"))
    if missed:
        blocks.append(Table(_TASKS, tuple(_task_rows(missed)), "Tasks that did not pass in every run", "task"))
    elif passed:
        blocks.append(Note("every task passed"))
    else:
        blocks.append(Note("The report has no result of a task.", "muted"))
    if summary.flaky_tasks:
        blocks.append(Note(("Flaky (passed in some runs only): ", *_names(summary.flaky_tasks))))
    details = (Pairs(tuple(_details(report))), *((_tags(report),) if report.by_tag else ()))
    blocks.append(Fold("Details", details, open=True, quiet=True))
    if passed:
        table = Table(_TASKS, tuple(_task_rows(passed)), noun="task", most=10_000)
        blocks.append(Fold(f"{plural(len(passed), 'task')} passed in every run", (table,), quiet=True))
    return blocks


def gates(outcomes: Iterable[GateOutcome]) -> Iterator[Item]:
    """Build the list of a skill's gates with their verdicts."""
    for gate in outcomes:
        word = gate.verdict.value
        yield Item(gate.reason, word, numbers.VERDICT_TONES.get(word, "fair"))


def _names(tasks: Iterable[str], most: int = 50) -> tuple[str | Span, ...]:
    found = tuple(tasks)
    more = (f" and {len(found) - most} more",) if len(found) > most else ()
    return *spans(joined(code(task) for task in found[:most])), *more


def _details(report: CompletionReport) -> Iterator[tuple[str, Line]]:
    summary, counts = report.summary, report.summary.counts
    results = f"{counts.passed} of {counts.total} passed, {counts.failed} failed, {plural(counts.errors, 'error')}, "
    results += f"{plural(counts.timeouts, 'timeout')}, {counts.skipped} not measured, {counts.retries} tried again"
    yield "Results", results
    mean = summary.confidence_interval
    if mean is not None:
        limits = f"95 % interval {decimal(mean.ci_low)} to {decimal(mean.ci_high)}"
        yield "Mean score", f"{decimal(mean.mean)}, {limits} over {mean.n} tasks ({mean.method})"
    if summary.pass_at_k is not None and summary.k is not None and summary.k > 1:
        yield f"pass@{summary.k}", f"{decimal(summary.pass_at_k)}, pass^{summary.k} {decimal(summary.pass_hat_k)}"
    if summary.agreement is not None:
        yield "Runs agree", decimal(summary.agreement)
    if summary.error_kinds:
        yield "Kinds of errors", ", ".join(f"{kind} {number}" for kind, number in summary.error_kinds.items())
    for key, reason in summary.reasons.items():
        yield f"{key} is not measured", reason
    if usage := _usage(report):
        yield "Tokens", usage
    yield "Adapter", " · ".join(filter(None, (report.adapter, report.model and f"model {report.model}")))
    if report.skill_path:
        digest = (f" ({report.skill_digest[:19]})",) if report.skill_digest else ()
        yield "Files", (code(report.skill_path), *digest)


def _usage(report: CompletionReport) -> str:
    """Write tokens and cost, ``""`` where none were reported; an unknown cost is left out."""
    found = report.token_cost
    if found is None:
        return ""
    cost = "" if found.cost_usd is None else f", {numbers.usd(found.cost_usd)}"
    return f"{found.total:,} tokens ({found.input:,} in, {found.output:,} out){cost}"


def _tags(report: CompletionReport) -> Table:
    rows = []
    for tag, found in report.by_tag.items():
        value = found.completion.value
        percent = None if value is None else 100 * value
        interval = ends(found.completion.ci_low, found.completion.ci_high, scale=100)
        cells = (tag, Cell(chart=Bar(percent, numbers.tone(percent))), numbers.count(found.tasks))
        rows.append(Row((*cells, Cell(share(value), interval), share(found.partial_score))))
    return Table(
        columns("tag", "~", "#tasks", "#completed", "#partial"),
        tuple(rows),
        "A task counts for each of its tags.",
        "tag",
    )


def _tasks(results: Iterable[TaskResult]) -> Iterator[_Task]:
    found: dict[str, list[TaskResult]] = {}
    for result in results:
        found.setdefault(result.task_id, []).append(result)
    for runs in found.values():
        statuses = Counter(run.status for run in runs)
        worst = min(runs, key=lambda run: _WORST.index(run.status))
        yield _Task(tuple(runs), worst, statuses[Status.PASS], len(runs) - statuses[Status.SKIPPED])


def _task_rows(tasks: Iterable[_Task]) -> Iterator[Row]:
    """Build rows; tasks that ended alike for one reason share one, so a skill that cannot start is reported once."""
    groups: dict[tuple[object, ...], list[_Task]] = {}
    for task in tasks:
        alone = task.worst.task_id if task.worst.status is Status.PASS else ""
        groups.setdefault((task.status, task.passed, task.measured, why(task.worst), alone), []).append(task)
    for group in groups.values():
        first, failed = group[0], group[0].worst.status is not Status.PASS
        not_started = first.worst.error_kind is ErrorKind.NOT_STARTED
        scores = [run.score for one in group for run in one.runs if run.score is not None]
        times = [run.latency_ms for one in group for run in one.runs if run.latency_ms is not None]
        slowest = max(times, default=None)
        others = (f" and {len(group) - 1} more",) if len(group) > 1 else ()
        golden = (" ", Span("golden", "label")) if any(run.golden for run in first.runs) else ()
        runs = tuple(_run(run, f"{run.task_id} " if others else "") for one in group for run in one.runs)
        cells = (
            (code(first.worst.task_id), *others, *golden),
            Cell(first.status, tone=_TONES.get(first.status, "poor")),
            f"{first.passed}/{first.measured}",
            decimal(sum(scores) / len(scores) if scores else None, 2),
            Cell(milliseconds(slowest), sort=slowest),
            "" if not failed or not_started else why(first.worst),
        )
        if not_started:  # its end says what to do, so it is shown in full
            yield Row(cells, (Note(why(first.worst)),), quiet=False)
        else:
            yield Row(cells, (Items(runs, "run"),) if failed else ())


def _run(result: TaskResult, task: str) -> Item:
    said = [f"{task}run {result.run}", milliseconds(result.latency_ms), f"score {decimal(result.score, 2)}"]
    said += [result.scorer_type] if result.scorer_type else []
    below: list[Line] = [*filter(None, (why(result), result.reason if result.error else ""))]
    below += [f"try {n}: {one.error_kind.value}: {one.error}" for n, one in enumerate(result.attempts, 1)]
    if result.output is not None:
        answer = bounded(json.dumps(result.output.value, ensure_ascii=False), _ANSWER)
        cut = (f" (cut: {result.output.size_bytes:,} bytes)",) if result.output.truncated else ()
        below.append((code(answer), *cut))
    return Item(" · ".join(said), result.status.value, _TONES.get(result.status.value, "poor"), tuple(below))


def _latency(reports: Sequence[CompletionReport]) -> Iterator[Block]:
    longest = max((one.latency.p99 or 0.0 for one in reports), default=0.0)
    if not longest:
        return
    rows = []
    for one in reports:
        p50, p95, p99 = one.latency.p50, one.latency.p95, one.latency.p99
        if p50 is not None:
            drawn = charts.latencies(p50, p95, p99, longest)
            times = (Cell(milliseconds(value), sort=value) for value in (p50, p95, p99))
            rows.append(Row((code(one.skill_id), Cell(chart=drawn), *times)))
    names = columns("skill", "~", "#p50", "#p95", "#p99")
    caption = f"p50 (dot), p95 (ring) and p99 (line); the full width is {milliseconds(longest)}."
    yield Fold("Latency", (Table(names, tuple(rows), caption, "skill"),), open=True, quiet=True)


def _about(report: BenchReport) -> Iterator[tuple[str, Line]]:
    run = report.run
    said = f"{plural(run.runs, 'run')} of each task, {run.concurrency} at once, {plural(run.retries, 'retry')}"
    yield "How it was run", f"{said}; limit for each try {run.timeout_ms:,} ms unless the task sets its own"
    if run.shard:
        yield "Shard", f"{run.shard}: not all tasks are included"
    filters = [*(f"task {task}" for task in run.tasks), *(f"tag {tag}" for tag in run.tags)]
    if filters:
        yield "Only", ", ".join(filters[:50])
    yield "Isolated from skills", f"{', '.join(run.isolated) or 'nothing'} (sandbox {run.sandbox})"
    yield "Measured", NONE if report.coverage is None else f"{share(report.coverage)} of the results"
    skipped = sum(result.status is Status.SKIPPED for one in report.reports for result in one.task_results)
    if skipped:
        yield "Not measured", f"{plural(skipped, 'result')}, not counted in any rate"
    used = [f"{one.skill_id}: {_usage(one)}" for one in report.reports if _usage(one)]
    if used:
        yield "Tokens", "; ".join(used)
    yield "Models", ", ".join(report.models) or "none"
    yield "Intervals", f"95 %, over tasks: runs of one task are one cluster; resampled with seed {run.seed}"
    yield "Composite", "0.5 · completed + 0.2 · (1 − p95 ÷ the benchmark's limit) + 0.3 · (1 − errors)"
    yield "Took", f"{report.duration_s:.1f} s"
    yield "Program", f"{report.tool.name} {report.tool.version}"
    if report.config_digest:
        yield "Configuration", code(report.config_digest)
