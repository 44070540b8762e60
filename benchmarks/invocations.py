"""Measure the import of recorded invocations and the dashboard over them: time, and the peak of memory.

    python -m benchmarks.invocations [--number N] [--skills N] [--store URL] [--rounds N]

The lines are made up: half of them code, the others of three more categories, a tenth with errors, a fifth without any
word of the user, of some versions, models and callers. The floor is what no import can do without: parsing the JSON,
and inserting the rows that the import stored into the same tables with their indexes. Aims for 1,000,000 lines: an
import within twice the floor, and a dashboard within 2 s, below 300 MB, all processes together. ``--store`` times
another store, such as postgresql://USER@HOST/DATABASE, which must be empty; the floor is then still SQLite's.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

DAYS = 60
_WATCH_S = 0.05
_AT_ONCE = 4_096  # rows


def lines(number: int, skills: int, *, seed: int) -> list[str]:
    """Make some lines, in no order of time."""
    chance = random.Random(seed)
    now = datetime.now(UTC)
    return [json.dumps(_invocation(chance, now, skills)) for _ in range(number)]


def _invocation(chance: random.Random, now: datetime, skills: int) -> dict[str, Any]:
    skill = int(skills * chance.random() ** 2)  # a few are used much more than the others
    is_code = skill % 2 == 0
    failed = chance.random() < 0.1
    found: dict[str, Any] = {
        "invocation_id": str(uuid.UUID(int=chance.getrandbits(128), version=4)),
        "skill_name": f"skill-{skill:03d}",
        "skill_version": f"1.{skill % 7 + (chance.random() < 0.3)}.0",
        "model": chance.choice(("claude-opus-4-8", "claude-sonnet-5-5")),
        "called_by": chance.choice(("user", "model", "skill")),
        "skill_category": "code_generation" if is_code else ("analysis", "design", "research")[skill % 3],
        "timestamp": (now - timedelta(seconds=chance.random() * DAYS * 86_400)).isoformat(),
        "errors": ["timeout"] if failed else [],
        "recovered": failed and chance.random() < 0.5,
        "tokens_used": {"input": chance.randrange(500, 20_000), "output": chance.randrange(100, 4_000)},
        "tool_calls": [{"tool": "Read", "count": chance.randrange(1, 9)}, {"tool": "Bash", "count": 1}],
        "duration_ms": chance.randrange(2_000, 120_000),
        "output_size": chance.randrange(1, 200) if is_code else chance.randrange(1, 12),
        "requested_items": 4,
        "delivered_items": chance.choice((4, 4, 4, 3)),
    }
    if is_code:
        found |= {"output_type": "code", "files_changed": chance.randrange(1, 5)}
        found["code_quality"] = {"linter_passed": True, "tests_passed": chance.random() < 0.8}
    if chance.random() < 0.8:
        found |= {"user_accepted": chance.random() < 0.7, "user_edit_ratio": round(chance.random() ** 3, 3)}
        found |= {"follow_ups": [] if chance.random() < 0.6 else [{"resolved": True}]}
    return found


class Peak(threading.Thread):
    """Watches the memory of a process and of those that it started, all together (Linux)."""

    def __init__(self, process: int) -> None:
        """Take the process's number."""
        super().__init__(daemon=True)
        self.found = 0.0
        self._process, self._ended = process, threading.Event()

    def run(self) -> None:
        """Look again and again."""
        while not self._ended.wait(_WATCH_S):
            self.found = max(self.found, sum(map(_private, [self._process, *_children(self._process)])))

    def end(self) -> float:
        """Stop, and give the highest sum in MB."""
        self._ended.set()
        self.join()
        return self.found


def _children(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in text.split()]


def _private(process: int) -> float:
    """Give what a process holds: pages that it shares with others by their share."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("Pss:")), 0.0)


class Spent(NamedTuple):
    """Seconds by the clock, seconds of all processors, and MB."""

    wall: float
    cpu: float
    held: float = 0.0

    def shown(self, label: str) -> str:
        """Give a line of the table."""
        return f"{label:<18} {self.wall:6.1f} s  {self.cpu:6.1f} CPU s  {self.held:5.0f} MB"


def _cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def timed(words: list[str], folder: Path) -> Spent:
    """Run a command and those that it starts."""
    began, before = time.perf_counter(), _cpu(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "skillgate", *words]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as process:
        peak = Peak(process.pid)
        peak.start()
        process.wait()
    held = peak.end()
    if process.returncode:
        raise SystemExit(f"skillgate {' '.join(words)} ended with {process.returncode}")
    return Spent(time.perf_counter() - began, _cpu(resource.RUSAGE_CHILDREN) - before, held)


def floor(lines: Path, store: Path, other: Path) -> Spent:
    """Parse the lines as JSON, and insert the rows of a store into another file of the same tables and indexes."""
    began, before = time.perf_counter(), _cpu(resource.RUSAGE_SELF)
    with lines.open("rb") as file:
        for line in file:
            json.loads(line)
    wall, cpu = time.perf_counter() - began, _cpu(resource.RUSAGE_SELF) - before
    with closing(sqlite3.connect(store)) as source, closing(sqlite3.connect(other, isolation_level=None)) as target:
        query = (
            "SELECT sql FROM sqlite_master WHERE tbl_name IN ('invocations', 'skill_scores') AND type = ? AND sql <> ''"
        )
        for (sql,) in source.execute(query, ("table",)):
            target.execute(sql)
        target.execute("PRAGMA journal_mode = WAL")
        target.execute("BEGIN")
        for table in ("invocations", "skill_scores"):
            rows = source.execute(f"SELECT * FROM {table}")
            while some := rows.fetchmany(_AT_ONCE):
                columns = {
                    name[0]: values
                    for name, values in zip(rows.description, zip(*some, strict=True), strict=True)
                    if values.count(None) < len(values)
                }
                marks = ", ".join("?" * len(columns))
                sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
                began, before = time.perf_counter(), _cpu(resource.RUSAGE_SELF)
                target.executemany(sql, zip(*columns.values(), strict=True))
                wall, cpu = wall + time.perf_counter() - began, cpu + _cpu(resource.RUSAGE_SELF) - before
        began, before = time.perf_counter(), _cpu(resource.RUSAGE_SELF)
        for (sql,) in source.execute(query, ("index",)):
            target.execute(sql)
        target.execute("COMMIT")
    return Spent(wall + time.perf_counter() - began, cpu + _cpu(resource.RUSAGE_SELF) - before)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, default=1_000_000)
    parser.add_argument("--skills", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--store")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "runs.jsonl").open("w", encoding="utf-8") as file:
            for start in range(0, asked.number, 10_000):
                some = lines(min(10_000, asked.number - start), asked.skills, seed=start)
                file.writelines(f"{line}\n" for line in some)
        print(f"{asked.number:,} lines, {(folder / 'runs.jsonl').stat().st_size / 1e6:.0f} MB, {asked.skills} skills")
        for number in range(asked.rounds):
            store = ["--store", asked.store or f"store-{number}.db"]
            taken = {}
            for label, words in {
                "import": ["log", "import", "runs.jsonl"],
                "import again": ["log", "import", "runs.jsonl"],
                "dashboard": ["log", "dashboard"],
                "dashboard, page": ["log", "dashboard", "--output-file", "page.html"],
                "dashboard, all": ["log", "dashboard", "--all"],
                "trend": ["log", "trend"],
            }.items():
                taken[label] = timed([*words, *store], folder)
                print(taken[label].shown(label))
            if asked.store is None:
                least = floor(folder / "runs.jsonl", folder / store[1], folder / f"floor-{number}.db")
                print(least.shown("JSON and insertion"))
                ratios = [getattr(taken["import"], name) / getattr(least, name) for name in ("wall", "cpu")]
                print("import ÷ floor     {:.2f} by the clock, {:.2f} in CPU time".format(*ratios))


if __name__ == "__main__":
    main()
