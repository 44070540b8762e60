"""`history import` of reports and databases of eval-skills, by their published forms."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import run, skill

if TYPE_CHECKING:
    from pathlib import Path

TABLES = """
CREATE TABLE skills (id TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, data JSON NOT NULL,
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP, updated_at DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE evaluations (id TEXT PRIMARY KEY, skill_id TEXT NOT NULL, benchmark_id TEXT NOT NULL, summary JSON,
  timestamp DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE task_results (eval_id TEXT NOT NULL, task_id TEXT NOT NULL, skill_id TEXT NOT NULL,
  run_id INTEGER NOT NULL DEFAULT 1, status TEXT NOT NULL, score REAL NOT NULL, latency_ms INTEGER NOT NULL,
  data JSON NOT NULL, created_at DATETIME DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (eval_id, task_id, run_id));
"""
SUMMARY = {"completionRate": 0.5, "partialScore": 0.5, "errorRate": 0, "consistencyScore": 1, "compositeScore": 0.7}


def results(*statuses: str, latency_ms: float = 12.5) -> list[dict[str, Any]]:
    return [
        {
            "taskId": f"t{number}",
            "skillId": "calc",
            "status": status,
            "score": float(status == "pass"),
            "latencyMs": latency_ms + number,
            "output": {"result": status},
            "scorerType": "exact_match",
            "runId": 1,
            "usage": {"promptTokens": 3, "completionTokens": 4, "totalTokens": 7},
        }
        for number, status in enumerate(statuses)
    ]


def report(found: list[dict[str, Any]], at: str = "2026-03-01T10:00:01.123Z", **changes: Any) -> dict[str, Any]:
    latency = {"p50Ms": 13, "p95Ms": 14, "p99Ms": 14}
    about = {"skillId": "calc", "skillVersion": "1.0.0", "benchmarkId": "coding-easy", "timestamp": at}
    return {**about, "summary": SUMMARY, "latency": latency, "taskResults": found, "evaluatorMetadata": {}, **changes}


def database(file: Path, *evaluations: tuple[str, str, list[dict[str, Any]]], ended: bool = True) -> str:
    """Write a database with evaluations, each an id, a time in UTC and results; the skill was saved with the last."""
    with closing(sqlite3.connect(file)) as connection, connection:
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            connection.executescript(TABLES)
        for name, time, found in evaluations:
            saved = ("calc", "Calc", "1.1.0", "{}", time, time)
            connection.execute("INSERT OR REPLACE INTO skills VALUES (?, ?, ?, ?, ?, ?)", saved)
            summary = json.dumps(SUMMARY) if ended else None
            connection.execute("INSERT INTO evaluations VALUES (?, 'calc', 'coding-easy', ?, ?)", (name, summary, time))
            for one in found:
                values = (name, one["taskId"], "calc", 1, one["status"], one["score"], one["latencyMs"])
                row = (*values, json.dumps(one), time)
                connection.execute(f"INSERT INTO task_results VALUES ({', '.join('?' * 9)})", row)
    return file.name


def days(count: int) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Evaluations of which each passes one more of ten tasks than the one before."""
    statuses = [["pass"] * (number + 1) + ["fail"] * (9 - number) for number in range(count)]
    return [
        (f"e{number}", f"2026-03-0{number + 1} 10:00:00", results(*one, latency_ms=number * 20.0 + 1))
        for number, one in enumerate(statuses)
    ]


def test_a_report_and_the_database_of_one_run_are_imported_once(tmp_path: Path) -> None:
    found = results("pass", "fail")
    (tmp_path / "r.json").write_text(json.dumps([report(found)], indent=2), encoding="utf-8")
    database(tmp_path / "es.db", ("e", "2026-03-01 10:00:00", found))
    for files in (("r.json", "es.db"), ("es.db", "r.json")):
        done = run(tmp_path, "history", "import", *files, "--store", f"{files[0]}.store")
        assert (done.code, done.out) == (0, "1 of 2 imported, 1 already known\n"), done.err
        done = run(tmp_path, "history", "import", *files, "--store", f"{files[0]}.store", "--json")
        assert [(one["result"], one["new"], one["known"]) for one in done.json["files"]] == [("known", 0, 1)] * 2
        (row,) = run(tmp_path, "history", "--json", "--store", f"{files[0]}.store").json["evaluations"]
        assert (row["skillId"], row["benchmarkId"], row["completionRate"]) == ("calc", "coding-easy", 0.5)
        assert row["compositeScore"] == 0.7


def test_a_database_that_has_grown_adds_only_what_is_new(tmp_path: Path) -> None:
    database(tmp_path / "es.db", *days(3))
    assert run(tmp_path, "history", "import", "es.db").out == "3 of 3 imported\n"
    database(tmp_path / "es.db", *days(5)[3:])
    assert run(tmp_path, "history", "import", "es.db").out == "2 of 5 imported, 3 already known\n"


def test_evaluations_of_a_database_with_equal_results_are_all_imported(tmp_path: Path) -> None:
    same = results("pass", "fail")
    database(tmp_path / "es.db", *((f"e{day}", f"2026-03-0{day} 10:00:00", same) for day in (1, 2, 3)))
    assert run(tmp_path, "history", "import", "es.db").out == "3 of 3 imported\n"
    assert run(tmp_path, "history", "import", "es.db").out == "0 of 3 imported, 3 already known\n"
    (tmp_path / "r.json").write_text(json.dumps([report(same)]), encoding="utf-8")
    assert run(tmp_path, "history", "import", "r.json").out == "0 of 1 imported, 1 already known\n"


def test_history_trend_find_and_select_use_what_was_imported(tmp_path: Path) -> None:
    skill(tmp_path / "skills" / "calc", version="1.1.0")
    database(tmp_path / "es.db", *days(6))
    assert run(tmp_path, "history", "import", "es.db").code == 0
    rows = run(tmp_path, "history", "--json").json["evaluations"]
    assert [one["completionRate"] for one in rows] == [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
    # The table of skills has only the newest version.
    assert [one["skillVersion"] for one in rows] == ["1.1.0", *["unknown"] * 5]
    assert "rising" in run(tmp_path, "history", "--trend").out
    (found,) = run(tmp_path, "find", "--skills-dir", "skills", "--min-completion", "0.6", "--json").json["skills"]
    assert found["completion"]["completionRate"] == 0.6
    assert run(tmp_path, "find", "--skills-dir", "skills", "--min-completion", "0.7", "--json").json["skills"] == []
    done = run(tmp_path, "select", "--from", "skills", "--min-completion", "0.6", "--json")
    assert done.code == 0, done.err
    assert "calc" in done.out


def test_the_tokens_of_a_report_are_read(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([report(results("pass"))]), encoding="utf-8")
    done = run(tmp_path, "report", "convert", "--input", "r.json", "--format", "json", "--output", "o.json")
    assert done.code == 0, done.err
    (one,) = json.loads((tmp_path / "o.json").read_text())["reports"]
    assert {key: one["tokenCost"][key] for key in ("input", "output", "total")} == {"input": 3, "output": 4, "total": 7}


def test_a_run_that_did_not_end_is_in_no_trend(tmp_path: Path) -> None:
    database(tmp_path / "es.db", *days(1))
    database(tmp_path / "es.db", ("x", "2026-03-09 10:00:00", results("fail")), ended=False)
    assert run(tmp_path, "history", "import", "es.db").out == "2 of 2 imported\n"
    rows = run(tmp_path, "history", "--json").json["evaluations"]
    assert [one["incomplete"] for one in rows] == ["the run did not end", None]
    assert "1 run " in run(tmp_path, "history", "--trend").out


def test_what_is_not_valid_is_named_and_the_others_are_imported(tmp_path: Path) -> None:
    items = [report(results("pass")), report(results("great")), {**report([]), "skillId": 7}]
    (tmp_path / "r.json").write_text(json.dumps(items), encoding="utf-8")
    database(tmp_path / "es.db", ("good", "2026-03-01 10:00:00", results("pass")), ("bad", "no time", results("pass")))
    with closing(sqlite3.connect(tmp_path / "es.db")) as connection, connection:
        connection.execute("UPDATE task_results SET data = '{' WHERE eval_id = 'bad'")
    done = run(tmp_path, "history", "import", "r.json", "es.db")
    assert (done.code, done.out) == (2, "1 of 5 imported, 1 already known, 3 not readable\n")
    for words in ("r.json: object 2 ", "r.json: object 3 ", "es.db: evaluation bad "):
        assert words in done.err
    assert "status: expected pass, fail" in done.err


def replaced(table: str, sql: str) -> str:
    return f"DROP TABLE {table}; {sql}"


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
HOSTILE = {
    "a view": (
        replaced("evaluations", f"CREATE VIEW evaluations AS {ENDLESS} SELECT x AS id FROM n"),
        "no table evaluations",
    ),
    "a virtual table": (
        replaced("skills", "CREATE VIRTUAL TABLE skills USING fts5(id, version, updated_at)"),
        "no table skills",
    ),
    "another column": (replaced("evaluations", "CREATE TABLE evaluations (id)"), "no such column"),
    "a huge value": (
        replaced(
            "skills",
            "CREATE TABLE skills (id, version AS (zeroblob(400000000)), updated_at);"
            " INSERT INTO skills (id) VALUES ('calc')",
        ),
        "too big",
    ),
    "many large values": (
        replaced(
            "task_results",
            "CREATE TABLE task_results (eval_id, data AS (zeroblob(15000000)));"
            " WITH n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 60)"
            " INSERT INTO task_results (eval_id) SELECT 'e' FROM n",
        ),
        "more than 100,000 results or 200,000,000 characters",
    ),
    "no time": ("UPDATE evaluations SET timestamp = x'00ff'", "timestamp: expected"),
    "a number": ("UPDATE evaluations SET skill_id = x'07'", "skillId: expected a string"),
    "a deep value": (f"UPDATE task_results SET data = '{'[' * 100_000}'", "expected"),
    "a large number": (
        'UPDATE task_results SET data = \'{"taskId": "t", "status": "pass", "score": 1, "latencyMs": 1e999}\'',
        "latencyMs: expected a number from 0 to",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_database_is_data(tmp_path: Path, name: str) -> None:
    database(tmp_path / "es.db", ("e", "2026-03-01 10:00:00", results("pass")))
    sql, words = HOSTILE[name]
    with closing(sqlite3.connect(tmp_path / "es.db")) as connection, connection:
        connection.executescript(sql)
    before = sorted(os.listdir(tmp_path))  # noqa: PTH208
    done = run(tmp_path, "history", "import", "es.db")
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert {*os.listdir(tmp_path)} - {*before} <= {".skillgate", "home"}  # noqa: PTH208


def test_a_skill_that_is_in_the_table_twice_does_not_double_its_evaluations(tmp_path: Path) -> None:
    database(tmp_path / "es.db", ("e", "2026-03-01 10:00:00", results("pass")))
    with closing(sqlite3.connect(tmp_path / "es.db")) as connection, connection:
        connection.executescript("CREATE TABLE s AS SELECT * FROM skills; INSERT INTO s SELECT * FROM skills;")
        connection.executescript("DROP TABLE skills; ALTER TABLE s RENAME TO skills;")
    assert run(tmp_path, "history", "import", "es.db").out == "1 of 1 imported\n"


def test_a_database_whose_changes_are_in_another_file_is_refused(tmp_path: Path) -> None:
    database(tmp_path / "es.db", *days(1))
    with closing(sqlite3.connect(tmp_path / "es.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("SELECT count(*) FROM skills").fetchone()
        database(tmp_path / "es.db", *days(2)[1:])
        done = run(tmp_path, "history", "import", "es.db")
    assert (done.code, done.out) == (2, "0 of 1 imported, 1 not readable\n")
    assert "es.db is not complete: es.db-wal has changes of it; end the program that uses it" in done.err
    assert run(tmp_path, "history", "import", "es.db").out == "2 of 2 imported\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"taskResults": [{**results("pass")[0], "score": 10**400}]},
        {"taskResults": [{**results("pass")[0], "usage": {"promptTokens": 1e308, "completionTokens": 1e308}}]},
        {"taskResults": [{**one, "weight": 1e308} for one in results("pass", "fail", "fail")]},
        {"taskResults": [], "summary": {"completionRate": 10**400}},
    ],
)
def test_a_number_that_is_too_large_is_named(tmp_path: Path, changes: dict[str, Any]) -> None:
    (tmp_path / "r.json").write_text(json.dumps([report([], **changes), report(results("pass"))]), encoding="utf-8")
    done = run(tmp_path, "history", "import", "r.json")
    assert (done.code, done.out) == (2, "1 of 2 imported, 1 not readable\n")
    assert "r.json: object 1 is not a benchmark report: " in done.err
    assert "expected a number from 0 to 1e+15, found 1" in done.err


def test_words_of_a_database_are_shown_without_control_characters(tmp_path: Path) -> None:
    database(tmp_path / "es.db", ("\x1b[31mred", "2026-03-01 10:00:00", results("pass")))
    with closing(sqlite3.connect(tmp_path / "es.db")) as connection, connection:
        connection.execute("UPDATE evaluations SET benchmark_id = ?", ("\x1b[2J<b>own</b>\n",))
    assert run(tmp_path, "history", "import", "es.db").code == 0
    assert "\x1b" not in run(tmp_path, "history").out


def test_other_databases_are_refused(tmp_path: Path) -> None:
    database(tmp_path / "es.db", *days(1))
    assert run(tmp_path, "history", "import", "es.db", "--store", "own.db").code == 0
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection, connection:
        connection.execute("CREATE TABLE x (a)")
    (tmp_path / "broken.db").write_bytes((tmp_path / "es.db").read_bytes()[:5000])
    (tmp_path / "short.db").write_bytes(b"SQLite format 3\0")
    done = run(tmp_path, "history", "import", "own.db", "other.db", "broken.db", "short.db")
    assert (done.code, done.out) == (2, "0 of 4 imported, 4 not readable\n")
    assert "own.db is a store of skillgate; name it with --store" in done.err
    assert "other.db is a SQLite database, but not one of eval-skills: it has no table skills" in done.err
    assert "broken.db cannot be read as a database of eval-skills" in done.err
