"""Measure `find`, `select` and `run --dry-run` over 2,000 generated skills: time and peak of memory.

    python -m benchmarks.choosing [--skills N] [--rounds N]

The store holds an evaluation of every skill, the report that `select` reads too, with 20 results each. Aims: under a
second, evaluation aside.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from benchmarks.static import ROOT, waited
from skillgate.model.bench import (
    BenchReport,
    BenchSummary,
    CompletionReport,
    Counts,
    Latency,
    Output,
    RunSettings,
    Status,
    TaskResult,
)
from skillgate.model.report import Tool
from skillgate.report.json import render

WORDS = ("invoice", "weather", "calendar", "search", "table", "summary", "image", "mail")
TASKS = 20
COMMANDS = {
    "find": ("find", "-q", "weather table", "--no-store"),
    "find, store": ("find", "--min-completion", "0.5"),
    "select, reports": ("select", "--from", "skills", "--reports", "report.json", "--top-k", "5"),
    "select, store": ("select", "--from", "skills", "--top-k", "5"),
    "run --dry-run": ("run", "-q", "weather table", "--dry-run"),
}


def written(folder: Path, number: int) -> None:
    """Write the skills, one report about all of them, and a store that holds it."""
    for index in range(number):
        skill = folder / "skills" / f"skill-{index:04d}"
        skill.mkdir(parents=True)
        words = [WORDS[index % 8], WORDS[index // 8 % 8]]
        spec = {
            "id": skill.name,
            "name": " ".join(words),
            "version": "1.0.0",
            "adapterType": "subprocess",
            "entrypoint": "python3 skill.py",
            "description": f"Works on {words[0]} and {words[1]} data, number {index}.",
            "tags": words,
        }
        (skill / "skill.json").write_text(json.dumps(spec), encoding="utf-8")
        (skill / "skill.py").write_text("print()\n" * 50, encoding="utf-8")
    (folder / "report.json").write_text(render(report(number)), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "skillgate", "history", "import", "report.json"], cwd=folder, check=True)


def report(number: int) -> BenchReport:
    """Make a report about so many skills."""
    one = CompletionReport(
        skill_id="",
        skill_version="1.0.0",
        benchmark_id="own",
        benchmark_digest="0" * 16,
        timestamp=datetime(2026, 1, 1, tzinfo=UTC),
        latency=Latency(p50=10.0, p95=20.0, p99=30.0, n=TASKS),
        summary=BenchSummary(
            completion_rate=None,
            partial_score=None,
            error_rate=0.0,
            consistency_score=None,
            composite_score=None,
            counts=Counts(total=TASKS, passed=0, failed=0, errors=0, timeouts=0),
        ),
    )
    reports = []
    for index in range(number):
        name, rate = f"skill-{index:04d}", (index % 21) / 20
        results = tuple(
            TaskResult(
                task_id=f"t{task}",
                skill_id=name,
                run=1,
                status=Status.PASS,
                score=1.0,
                latency_ms=10.0,
                output=Output(value={"result": "a text of some length " * 4}, size_bytes=100),
            )
            for task in range(TASKS)
        )
        summary = replace(one.summary, completion_rate=rate, composite_score=rate)
        reports.append(replace(one, skill_id=name, summary=summary, task_results=results))
    return BenchReport(reports=tuple(reports), tool=Tool(version="0"), config_digest="", run=RunSettings())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--skills", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.write is not None:
        written(asked.write, asked.skills)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: a child's peak counts what its parent held when it was started.
        writing = ("--skills", str(asked.skills), "--write", name)
        subprocess.run([sys.executable, "-m", "benchmarks.choosing", *writing], cwd=ROOT, check=True)
        print(f"{asked.skills} skills, a report of {(folder / 'report.json').stat().st_size / 1e6:.1f} MB")
        for label, words in COMMANDS.items():
            runs = []
            for _ in range(asked.rounds):
                began = time.perf_counter()
                command = [sys.executable, "-m", "skillgate", *words]
                process = subprocess.Popen(
                    command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
                )
                runs.append(waited(process, began))
            wall, peak = median(run.wall_s for run in runs), max(run.peak_mb for run in runs)
            print(f"{label:<18} {wall:.2f} s  {peak:.0f} MB")


if __name__ == "__main__":
    main()
