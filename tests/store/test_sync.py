"""``log sync`` into both kinds of stores, by several processes at once, and by processes that are killed."""

from __future__ import annotations

import signal
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.docs.test_collecting_page import SHARED, Runner, step
from tests.invocations.recorded import GOOD, line, write
from tests.invocations.test_log_sync import IDS, SILENT, run_process, start, synced, tree
from tests.store.test_keeper import rows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.store.conftest import Server

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")


def test_a_server_is_synced_as_a_file_is(place: str, tmp_path: Path) -> None:
    tree(tmp_path / "projects")
    first = synced(tmp_path, "projects", "--store", place)
    assert (first.code, first.err) == (0, "")
    found = rows(place, IDS)
    assert len(found) == 3
    assert synced(tmp_path, "projects", "--store", place) == SILENT
    assert rows(place, IDS) == found


def test_runs_at_once_store_everything_once(tmp_path: Path, place: str) -> None:
    tree(tmp_path / "projects", 30)
    processes = [start(tmp_path, "projects", "--store", place) for _ in range(4)]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
    assert len(rows(place, IDS)) == 30
    assert synced(tmp_path, "projects", "--store", place) == SILENT


def stored_in(place: Path) -> int:
    """Count the invocations in a store that another process may be creating."""
    if not place.exists():
        return 0
    with closing(sqlite3.connect(place)) as connection, connection:
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'invocations'").fetchone()
        return int(connection.execute("SELECT count(*) FROM invocations").fetchone()[0]) if tables[0] else 0


def test_a_run_that_is_killed_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    tree(tmp_path / "projects", 60)
    write(tmp_path / "projects/runs.jsonl", [line(number, **GOOD) for number in range(500)])
    began = time.monotonic()
    assert run_process(tmp_path, "projects", "--store", "whole.db").returncode == 0
    took = time.monotonic() - began
    wanted = rows(str(tmp_path / "whole.db"), IDS)
    assert len(wanted) == 560
    between = 0
    for moment in range(20):
        store = f"killed{moment}.db"
        process = start(tmp_path, "projects", "--store", store)
        if moment % 2:
            time.sleep(took * (moment + 1) / 21)
        else:
            while process.poll() is None and stored_in(tmp_path / store) <= 2 * moment:
                time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        if (tmp_path / store).exists():
            with closing(sqlite3.connect(tmp_path / store)) as connection, connection:
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            between += 0 < stored_in(tmp_path / store) < len(wanted)
        done = synced(tmp_path, "projects", "--store", store)
        assert (done.code, done.err) == (0, "")
        assert rows(str(tmp_path / store), IDS) == wanted
        assert synced(tmp_path, "projects", "--store", store) == SILENT
    assert between  # some were killed with a part stored


def test_records_go_into_a_shared_database(tmp_path: Path, postgres: Server) -> None:
    place, runner = postgres.create(), Runner(tmp_path / "runner")
    for number in (1, 2):
        recorded = write(tmp_path / f"execution{number}.jsonl", [line(number, **GOOD)])
        variables = {"EXECUTION_FILE": str(recorded), "SKILLGATE_STORE": place, "PGPASSWORD": ""}
        done = runner.run(step(SHARED, "record"), **variables)
        assert done.returncode == 0, done.stderr
    assert rows(place, "SELECT count(*) FROM invocations") == [(2,)]
    assert sorted(step(SHARED, "record")["env"]) == sorted(variables)
