"""The three published queries give the same on both databases, and what the published text gives on SQLite."""

from __future__ import annotations

import csv
import io
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.store.queries import QUERIES
from tests.architecture.source import ROOT
from tests.cli.running import run
from tests.store.invocations_made import opened, put
from tests.store.test_invocations_view import asked, one, queries, with_rubric

if TYPE_CHECKING:
    from pathlib import Path

    from tests.store.conftest import Server

AT = datetime(2026, 3, 31, 12, tzinfo=UTC)
WINDOW = ("--at", "2026-03-31T12:00:00Z", "--days", "30")
EDGE = timedelta(days=30)
SECOND = timedelta(seconds=1)


def ago(at: timedelta) -> timedelta:
    """How long before now it is that so much before AT was."""
    return datetime.now(UTC) - AT + at


def fill(place: str, *, at: timedelta = timedelta(days=1)) -> None:
    """Five of a good and five of a poor skill, of which one is not rated; unrated ones; some at the window's edges."""
    rows = [one(n, "good", 25.0, 18.0, 27.0, 20.0, 90.0, ago=ago(at)) for n in range(4)]
    rows += [one(4, "good", 20.0, 10.0, 15.0, 15.0, 60.0, ago=ago(at))]
    rows += [one(10, "poor", 5.0, 15.0, 3.0, 2.0, 10.0, ago=ago(at))]
    rows += [one(11, "poor", None, None, 9.0, None, None, ago=ago(at))]
    rows += [one(n, "poor", 15.0, 15.0, 12.0, 8.0, 50.0, ago=ago(at)) for n in (12, 13, 14)]
    rows += [one(n, "unrated", None, None, None, None, None, ago=ago(at)) for n in range(20, 25)]
    rows += [one(n, "tied", 25.0, 18.0, 27.0, 20.0, 84.0, ago=ago(at)) for n in range(30, 35)]
    rows += [one(40, "=rare", 25.0, 4.0, 30.0, 25.0, 84.0, ago=ago(at))]
    rows += [one(50 + n, "edge", 0.0, 0.0, 0.0, 0.0, 0.0, ago=ago(EDGE - n * SECOND)) for n in (-1, 0)]
    rows += [one(60, "edge", 25.0, 20.0, 30.0, 25.0, 100.0, ago=ago(EDGE - SECOND))]
    rows += [one(61, "edge", 1.0, 1.0, 1.0, 1.0, 4.0, ago=ago(timedelta()))]
    put(opened(place), rows)


EXPECTED: dict[str, list[tuple[Any, ...]]] = {
    "leaderboard": [
        ("good", 5, 84.0, 24.0, 16.4, 24.6, 19.0),
        ("tied", 5, 84.0, 25.0, 18.0, 27.0, 20.0),
        ("poor", 5, 40.0, 12.5, 15.0, 9.6, 6.5),
        ("unrated", 5, None, None, None, None, None),
    ],
    "distribution": [
        ("=rare", "Good", 1),
        ("edge", "Excellent", 1),
        ("good", "Excellent", 4),
        ("good", "Acceptable", 1),
        ("poor", "Below Average", 3),
        ("poor", "Poor", 2),
        ("tied", "Good", 5),
        ("unrated", "Poor", 5),
    ],
    "opportunities": [("=rare", "efficiency", 0.2), ("poor", "completion", 0.5)],
}


@pytest.mark.parametrize("query", QUERIES)
def test_the_answer_is_the_same_on_both(query: str, place: str, tmp_path: Path) -> None:
    fill(place)
    done = run(tmp_path, "log", "query", query, *WINDOW, "--store", place, "--json")
    assert done.code == 0, done.err
    assert [tuple(row.values()) for row in done.json["rows"]] == EXPECTED[query]
    assert (done.json["kind"], done.json["rubric_version"], done.json["days"]) == ("log-query", "1.1", 30)
    words = ("log", "query", query, *WINDOW, "--store", place, "--output", "csv", "--output-file", "answer.txt")
    head, *rows = csv.reader(io.StringIO(run(tmp_path, *words).out))
    assert head == list(QUERIES[query].columns)
    assert len(rows) == len(EXPECTED[query])
    assert not any(cell.startswith("=") for row in rows for cell in row)
    text = (tmp_path / "answer.txt").read_text(encoding="utf-8")
    assert all(str(row[0]) in text for row in EXPECTED[query])


@pytest.mark.parametrize("query", QUERIES)
def test_the_example_prints_the_same_on_both(query: str, tmp_path: Path, postgres: Server) -> None:
    printed = []
    for place in ("store.db", postgres.create()):
        log = str(ROOT / "examples" / "invocations" / "november.jsonl")
        assert run(tmp_path, "log", "import", log, "--store", place).code == 0
        words = ("log", "query", query, "--at", "2026-11-20", "--store", place, "--output")
        printed.append([run(tmp_path, *words, form).out for form in ("text", "csv")])
    assert printed[0] == printed[1]
    assert printed[0][0].count("\n") > 3


def rows_of(place: str, sql: str, zone: str) -> list[tuple[Any, ...]]:
    """Ask as a shell does, which may have a time zone of its own."""
    if "://" not in place:
        return asked(place, sql)
    import psycopg

    with psycopg.connect(place, options=f"-c timezone={zone}") as connection:
        return connection.execute(sql.encode()).fetchall()


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("window", [WINDOW, ("--all",), ("--days", "30")])
def test_the_printed_text_gives_it_in_a_shell(query: str, window: tuple[str, ...], place: str, tmp_path: Path) -> None:
    fill(place)
    words = ("log", "query", query, *window, "--store", place)
    sql = run(tmp_path, *words, "--sql").out
    answer = run(tmp_path, *words, "--json").json["rows"]
    found = rows_of(place, sql, "America/New_York")  # where the clocks changed within the window
    assert [pytest.approx(tuple(row.values())) for row in answer] == found
    assert bool(found) is (window != ("--days", "30"))


@with_rubric
@pytest.mark.parametrize("number", range(3))
def test_sqlite_answers_as_the_published_text_does(number: int, tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    fill(place, at=AT - datetime.now(UTC) + timedelta(days=1))
    sql = run(tmp_path, "log", "query", list(QUERIES)[number], "--store", place, "--sql").out
    own, published = asked(place, sql), asked(place, queries()[number])
    assert sorted(own, key=repr) == sorted(published, key=repr)
    assert own


def test_the_text_needs_no_store(tmp_path: Path) -> None:
    done = run(tmp_path, "log", "query", "leaderboard", "--sql", "--store", "postgresql://a@nowhere.invalid/b")
    assert (done.code, "now() - interval '720 hours'" in done.out) == (0, True)
    assert "datetime('now', '-30 days')" in run(tmp_path, "log", "query", "leaderboard", "--sql").out
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_answered(tmp_path: Path) -> None:
    none = run(tmp_path, "log", "query", "leaderboard")
    assert (none.code, "does not exist" in none.err) == (2, True)
    assert run(tmp_path, "log", "query", "worst").code == 2
    place = str(tmp_path / "store.db")
    fill(place)
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE invocations SET skill_name = x'ff' WHERE skill_name = 'good'")
    done = run(tmp_path, "log", "query", "leaderboard", "--store", place, "--all")
    assert (done.code, "did not write" in done.err) == (3, True)
