"""Many processes that import into one store, and processes that are killed as they do."""

from __future__ import annotations

import signal
import sqlite3
from typing import TYPE_CHECKING

import pytest

from skillgate.invocations.rubric import scorer
from skillgate.model.invocation import Fate
from tests.store.invocations_made import go, observed, opened, put, scored, writer
from tests.store.test_keeper import rows
from tests.store.test_reliability import ended, intact

if TYPE_CHECKING:
    from pathlib import Path

AT_ONCE = 8
BATCHES, SIZE = 6, 1_000


def whole(place: str) -> int:
    """Count the invocations, each of which has its score."""
    ((count, scores, both),) = rows(
        place,
        "SELECT (SELECT count(*) FROM invocations), (SELECT count(*) FROM skill_scores),"
        " (SELECT count(*) FROM invocations i JOIN skill_scores s ON s.invocation_id = i.id)",
    )
    assert count == scores == both
    return int(count)


def test_eight_processes_open_a_new_store_and_import_at_once(place: str) -> None:
    # Each has half of its invocations in common with the one before it.
    processes = [writer(place, 500 * index, batches=5, size=200) for index in range(AT_ONCE)]
    for process in processes:
        go(process)
    assert ended(processes).count("done") == AT_ONCE
    assert whole(place) == 500 * (AT_ONCE + 1)
    assert intact(place)
    assert put(opened(place), map(scored, range(500 * (AT_ONCE + 1)))) == [Fate.KNOWN] * 500 * (AT_ONCE + 1)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("after", [0, 2, BATCHES])
def test_of_an_import_that_is_killed_all_is_there_or_nothing(place: str, after: int, *, first: bool) -> None:
    store = opened(place)
    before = 0 if first else 50
    put(store, map(scored, range(before)))
    process = writer(place, 0, batches=BATCHES, size=SIZE)
    go(process)
    assert process.stdout is not None
    for _ in range(after):
        assert process.stdout.readline() == "added\n"
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert whole(place) in ((BATCHES * SIZE,) if "done" in out else (before, BATCHES * SIZE))
    assert intact(place)
    fates = put(opened(place), map(scored, range(BATCHES * SIZE)))
    assert fates.count(Fate.NEW) in (0, BATCHES * SIZE - before)  # the first where it was about to end
    assert whole(place) == BATCHES * SIZE
    if "://" not in place:
        indexes = "SELECT count(*) FROM sqlite_master WHERE name LIKE 'ix_invocations%'"
        assert rows(place, indexes) == [(2,)]


def test_readers_do_not_wait_for_an_import(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    store = opened(place)
    put(store, map(scored, range(10)))
    with store.importing("1.1", scorer("1.1")) as run:
        run.add([scored(number) for number in range(10, 5_000)])
        other = sqlite3.connect(place, timeout=0)
        assert other.execute("SELECT count(*) FROM skill_invocations").fetchone() == (10,)
        other.close()
        assert len(observed(opened(place), "1.1")) == 10
    assert len(observed(store, "1.1")) == 5_000
