"""Reports that the tests of the store share, and a program that writes them from a process of its own."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from skillgate.model.bench import (
    BenchReport,
    BenchSummary,
    BenchUsage,
    CompletionReport,
    Counts,
    ErrorKind,
    Latency,
    MeanInterval,
    Output,
    Proportion,
    RunSettings,
    Status,
    TaskResult,
)
from skillgate.model.codec import encode
from skillgate.model.report import Tool
from skillgate.stats.plain import wilson_ends
from skillgate.store.keeper import Provenance, Store, document_digest, open_store
from skillgate.store.target import target_of
from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WRITER = """
import sys
from tests.store.made import opened, report, put
place, first, count, tasks = sys.argv[1], *map(int, sys.argv[2:5])
print("ready", flush=True)
sys.stdin.readline()
store = opened(place)
for number in range(first, first + count):
    digest = put(store, report(number, tasks=tasks))
    print(digest, flush=True)
"""


def result(index: int, status: Status = Status.PASS, **changes: Any) -> TaskResult:
    """One task's result."""
    values: dict[str, Any] = {"score": float(status is Status.PASS), "latency_ms": 12.5, "run": 1, **changes}
    return TaskResult(
        task_id=f"t{index}",
        skill_id="s",
        status=status,
        scorer_type="exact",
        output=Output(value=1, size_bytes=1),
        **values,
    )


def evaluation(passed: int, total: int, *, at: datetime = NOON, skill: str = "s", **changes: Any) -> CompletionReport:
    """One skill of whose tasks so many passed."""
    low, high = wilson_ends(passed, total)
    rate = passed / total
    values: dict[str, Any] = {
        "skill_digest": "d",
        "skill_path": f"skills/{skill}",
        "adapter": "subprocess",
        "benchmark_id": "own",
        "benchmark_version": "1.0.0",
        "benchmark_digest": "b" * 32,
        "token_cost": BenchUsage(input=3, output=4, total=7, cost_usd=0.25),
        "task_results": tuple(result(index, Status.PASS if index < passed else Status.FAIL) for index in range(total)),
        **changes,
    }
    return CompletionReport(
        skill_id=skill,
        skill_version="1.0.0",
        timestamp=at,
        summary=BenchSummary(
            completion_rate=rate,
            partial_score=rate,
            error_rate=0.0,
            consistency_score=None,
            composite_score=rate,
            counts=Counts(total=total, passed=passed, failed=total - passed, errors=0, timeouts=0),
            completion_interval=Proportion(value=rate, ci_low=low, ci_high=high, n=total),
            confidence_interval=MeanInterval(mean=rate, ci_low=low, ci_high=high, n=total, method="bootstrap"),
            error_kinds={ErrorKind.CRASH.value: 0},
            reasons={"consistencyScore": "one run"},
        ),
        latency=Latency(p50=10.0, p95=20.0, p99=30.0, n=total),
        **values,
    )


def document(*reports: CompletionReport, **settings: Any) -> BenchReport:
    """A report on them."""
    return BenchReport(
        reports=reports, tool=Tool(version="1.2.3"), config_digest="c" * 16, run=RunSettings(**settings), coverage=1.0
    )


def report(number: int, *, tasks: int = 20) -> BenchReport:
    """A report unlike that of any other number, with the same skill, benchmark and task ids."""
    return document(evaluation(number % (tasks + 1), tasks, at=NOON + timedelta(seconds=number)))


def opened(place: str) -> Store:
    """Open a store, made where it is missing."""
    return open_store(target_of(place, cwd="/"), create=True)


def put(store: Store, found: BenchReport, told: Provenance = Provenance("import")) -> str:  # noqa: B008 - a value
    """Write a report that is not there yet; give its digest."""
    digest = document_digest(encode(found))
    assert store.write(found, digest, told)
    return digest


def writers(place: str, jobs: Sequence[tuple[int, int]], *, tasks: int) -> list[subprocess.Popen[str]]:
    """Start processes that each write so many reports from a number on, all at the same moment."""
    command = [sys.executable, "-W", "error", "-c", WRITER, place]
    found = [
        subprocess.Popen(
            [*command, str(first), str(count), str(tasks)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for first, count in jobs
    ]
    for process in found:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in found:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return found
