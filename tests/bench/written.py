"""Benchmark reports made by hand, for the tests of what is written about them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import bounded_output
from skillgate.bench.metrics import gate, summarise
from skillgate.bench.request import BenchPolicy
from skillgate.model.bench import Attempt, BenchReport, BenchUsage, CompletionReport, ErrorKind, RunSettings, Status
from skillgate.model.benchmark import Benchmark
from skillgate.model.report import Tool, Verdict
from tests.bench.made import result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.model.bench import TaskResult

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def skill_report(
    results: Iterable[TaskResult], name: str = "calculator", *, policy: BenchPolicy | None = None, **changes: Any
) -> CompletionReport:
    """One skill's report, with the figures of its results."""
    own = tuple(replace(one, skill_id=name) for one in results)
    runs = max((one.run for one in own), default=1)
    figures = summarise(own, Benchmark(id="own", name="Own", version="1.0.0", tasks=()), runs=runs)
    values: dict[str, Any] = {
        "skill_id": name,
        "skill_version": "1.2.0",
        "skill_digest": "sha256:0123456789abcdef",
        "skill_path": f"skills/{name}",
        "adapter": "subprocess",
        "benchmark_id": "own",
        "benchmark_version": "1.0.0",
        "benchmark_digest": "d" * 16,
        "timestamp": BEGAN,
        "summary": figures.summary,
        "latency": figures.latency,
        "task_results": own,
        "token_cost": figures.token_cost,
        "by_tag": figures.by_tag,
        "gate": gate(figures, own, policy or BenchPolicy()),
        **changes,
    }
    return CompletionReport(**values)


def whole(*reports: CompletionReport, **changes: Any) -> BenchReport:
    """The document about some skills."""
    verdicts = [one.gate.passed for one in reports if one.gate.passed is not None]
    values: dict[str, Any] = {
        "reports": reports,
        "tool": Tool(version="1.0.0"),
        "config_digest": "0" * 16,
        "run": RunSettings(runs=3, isolated=("the environment", "open files")),
        "coverage": 1.0,
        "gate": Verdict(passed=all(verdicts) if verdicts else None),
        "duration_s": 3.25,
        **changes,
    }
    return BenchReport(**values)


def mixed(*, runs: int = 3, tasks: int = 12) -> list[TaskResult]:
    """Results of every kind: t01 fails, t02 crashes, t03 times out, t04 is flaky, t05 could not be measured."""
    found = []
    for number in range(1, runs + 1):
        for task in range(1, tasks + 1):
            status = {1: Status.FAIL, 2: Status.ERROR, 3: Status.TIMEOUT, 5: Status.SKIPPED}.get(task, Status.PASS)
            if task == 4 and number == 2:
                status = Status.FAIL
            found.append(_one(f"t{task:02d}", status, number, task))
    return found


def _one(name: str, status: Status, number: int, task: int) -> TaskResult:
    changes: dict[str, Any] = {
        "tags": ("math", "even" if task % 2 == 0 else "odd"),
        "golden": task == 1,
        "scorer_type": "exact",
        "latency_ms": None if status is Status.SKIPPED else 20.0 * task + number,
        "usage": BenchUsage(input=100, output=20, total=120, cost_usd=0.0001),
    }
    if status is Status.FAIL:
        changes |= {
            "score": 0.25,
            "reason": 'expected 25, found "twenty-four"',
            "output": bounded_output({"result": "24"}),
        }
    elif status is Status.ERROR:
        again = Attempt(error_kind=ErrorKind.SPAWN, error="no such program", latency_ms=3.0, waited_ms=1000.0)
        changes |= {"error": "signal 11 ended it", "attempts": (again,)}
    elif status is Status.TIMEOUT:
        changes |= {"error": "no reply within 30,000 ms", "latency_ms": 30_000.0}
    elif status is Status.SKIPPED:
        changes |= {"error": "the judge gave no usable answer", "error_kind": ErrorKind.JUDGE, "usage": None}
    return result(name, status, number=number, **changes)


def good(*, runs: int = 3, tasks: int = 12) -> list[TaskResult]:
    """Results that all pass."""
    return [
        _one(f"t{task:02d}", Status.PASS, number, task) for number in range(1, runs + 1) for task in range(6, 6 + tasks)
    ]
