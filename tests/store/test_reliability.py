"""Many processes on one store, and processes that are killed as they write.

``SKILLGATE_KILL_ROUNDS`` says how often writers are killed; a few times without it.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from typing import TYPE_CHECKING

import pytest

from skillgate.model.codec import encode
from skillgate.store.keeper import Filter, Provenance, document_digest
from tests.store.made import opened, put, report, writers
from tests.store.test_keeper import rows

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

ROUNDS = int(os.environ.get("SKILLGATE_KILL_ROUNDS", "4"))
AT_ONCE = 8


def ended(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Wait for writers, none of which may have failed; give what they said they wrote."""
    told: list[str] = []
    for process in processes:
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        told += out.split()
    return told


def digests(place: str) -> list[str]:
    return [row[0] for row in rows(place, "SELECT digest FROM documents")]


def whole(place: str, tasks: int) -> bool:
    """Tell whether every document has its evaluation and every evaluation all its tasks."""
    counted = (
        "SELECT d.id, e.id, count(t.id) FROM documents d LEFT JOIN bench_evaluations e ON e.document_id = d.id"
        " LEFT JOIN task_results t ON t.evaluation_id = e.id GROUP BY d.id, e.id"
    )
    return all(evaluation is not None and count == tasks for _, evaluation, count in rows(place, counted))


def intact(place: str) -> bool:
    """Ask SQLite about its own file; PostgreSQL has no such question, and its rows were read."""
    if "://" in place:
        return True
    connection = sqlite3.connect(place)
    try:
        checked = connection.execute("PRAGMA integrity_check").fetchall()
        return checked == [("ok",)] and not connection.execute("PRAGMA foreign_key_check").fetchall()
    finally:
        connection.close()


def test_eight_processes_open_a_new_store_and_write_at_once(place: str) -> None:
    told = ended(writers(place, [(100 * index, 12) for index in range(AT_ONCE)], tasks=20))
    assert len(told) == AT_ONCE * 12
    assert sorted(digests(place)) == sorted(told)
    assert whole(place, 20)
    assert intact(place)
    assert len(opened(place).evaluations(Filter())) == AT_ONCE * 12


def test_of_processes_that_write_the_same_documents_each_is_kept_once(place: str) -> None:
    processes = writers(place, [(0, 6)] * 4, tasks=5)
    for process in processes:  # whoever comes second finds it there, and its own claim to have written it fails
        process.communicate(timeout=240)
    store = opened(place)
    for number in range(6):
        found = report(number, tasks=5)
        store.write(found, document_digest(encode(found)), Provenance("import"))
    assert len(digests(place)) == len(set(digests(place))) == 6
    assert whole(place, 5)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_what_a_killed_writer_wrote_is_there_whole_or_not_at_all(place: str, number: int) -> None:
    chance = random.Random(number)
    tasks = chance.choice([20, 200, 1000])
    processes = writers(place, [(10_000 * index, 10_000) for index in range(3)], tasks=tasks)
    time.sleep(chance.uniform(0.5, 2.5))
    for process in processes:
        process.send_signal(signal.SIGKILL)
    told: list[str] = []
    for process in processes:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        told += [line for line in out.splitlines() if len(line) == 64]
    store = opened(place)  # it opens, and takes more
    put(store, report(999_999, tasks=tasks))
    kept = digests(place)
    assert set(told) <= set(kept)
    assert len(told) + 1 <= len(kept) <= len(told) + 1 + len(processes)  # the last of each may be there untold
    assert whole(place, tasks)
    assert intact(place)


def test_a_process_killed_while_it_makes_a_store_leaves_one_that_opens(place: str) -> None:
    for wait in (0.05, 0.15, 0.25, 0.35):
        (process,) = writers(place, [(0, 1)], tasks=1)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    store = opened(place)
    put(store, report(77))
    assert intact(place)


def test_a_reader_sees_what_is_committed_while_others_write(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    store = opened(place)
    put(store, report(5_000))
    processes = writers(place, [(0, 30), (1_000, 30)], tasks=50)
    seen = []
    while any(process.poll() is None for process in processes):
        seen.append(len(store.evaluations(Filter())))
    ended(processes)
    assert seen == sorted(seen)
    assert len(store.evaluations(Filter())) == 61
