"""A store gives back what it was given, in SQLite and in PostgreSQL alike."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from skillgate.errors import UsageError
from skillgate.model.bench import ErrorKind, Output, Status
from skillgate.model.codec import encode
from skillgate.store.keeper import Filter, Provenance, document_digest, open_store
from skillgate.store.schema import METADATA
from skillgate.store.schema import opened as engine_of
from skillgate.store.target import HEAD, KNOWN, TABLE, target_of
from tests.store.made import NOON, document, evaluation, opened, put, report, result

if TYPE_CHECKING:
    from pathlib import Path

ANY = Filter()


def rows(place: str, query: str, **values: Any) -> list[Any]:
    engine = engine_of(target_of(place, cwd="/"))
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.text(query), values)]


def test_an_evaluation_is_read_back_as_it_was(place: str) -> None:
    store = opened(place)
    put(store, document(evaluation(3, 4)), Provenance("eval", None, "a" * 40, "main"))
    (found,) = store.evaluations(ANY)
    assert found.started_at == NOON
    assert (found.skill_id, found.benchmark_id, found.total, found.passed) == ("s", "own", 4, 3)
    assert (found.completion_rate, found.latency_p95_ms, found.tokens_total, found.cost_usd) == (0.75, 20.0, 7, 0.25)
    assert found.completion_low == pytest.approx(0.3006, abs=1e-4)
    assert (found.origin, found.commit_id, found.branch) == ("eval", "a" * 40, "main")


def test_what_was_not_measured_is_null(place: str) -> None:
    store = opened(place)
    one = evaluation(3, 4, token_cost=None)
    summary = replace(one.summary, completion_rate=None, completion_interval=None, composite_score=None)
    put(
        store,
        document(replace(one, summary=summary, task_results=(result(1, Status.SKIPPED, score=None, latency_ms=None),))),
    )
    (found,) = store.evaluations(ANY)
    assert (found.completion_rate, found.completion_low, found.tokens_total, found.gate_passed) == (None,) * 4
    assert rows(place, "SELECT score, latency_ms, attempts, tokens_total FROM task_results") == [(None, None, 0, None)]


def test_every_task_of_every_run_has_its_row_and_nothing_is_overwritten(place: str) -> None:
    store = opened(place)
    for number in range(3):
        put(store, report(number))  # the same skill, versions, task ids
    assert rows(place, "SELECT count(*), count(DISTINCT evaluation_id), count(DISTINCT task_id) FROM task_results") == [
        (60, 3, 20)
    ]


def test_a_document_is_written_once(place: str) -> None:
    store, found = opened(place), report(1)
    digest = put(store, found)
    assert not store.write(found, digest, Provenance("import"))
    assert len(store.evaluations(ANY)) == 1
    assert document_digest(encode(found)) == digest


def test_hostile_texts_and_long_answers_are_kept_in_bounds(place: str) -> None:
    store = opened(place)
    task = result(
        1,
        Status.ERROR,
        error="\0" + "é" * 5000,
        error_kind=ErrorKind.CRASH,
        reason="\ud800'; DROP TABLE documents; --",
    )
    task = replace(task, output=Output(value={"k\0": "x" * 9000}, size_bytes=9000))
    put(store, document(evaluation(1, 1, skill="a\0b\udfff", task_results=(task,), incomplete="\0")))
    (found,) = store.evaluations(ANY)
    assert (found.skill_id, found.incomplete) == ("a\ufffdb?", "\ufffd")
    ((error, reason, output, cut),) = rows(place, "SELECT error, reason, output, output_truncated FROM task_results")
    assert (len(error), len(output), bool(cut)) == (2000, 4096, True)
    assert reason == "?'; DROP TABLE documents; --"


def test_a_number_that_no_database_takes_is_refused_whole(place: str) -> None:
    store = opened(place)
    one = evaluation(1, 1)
    counts = replace(one.summary.counts, retries=10**30)
    found = document(replace(one, summary=replace(one.summary, counts=counts)))
    with pytest.raises(UsageError, match="too large"):
        store.write(found, document_digest(encode(found)), Provenance("import"))
    assert rows(place, "SELECT count(*) FROM documents") == [(0,)]
    put(store, report(1))


def test_filters_and_limits(place: str) -> None:
    store = opened(place)
    put(store, document(evaluation(1, 2), evaluation(2, 2, skill="other", benchmark_id="more")))
    put(store, document(evaluation(2, 2, at=NOON + timedelta(days=1))))
    assert [one.skill_id for one in store.evaluations(ANY)] == ["s", "other", "s"]
    assert [one.passed for one in store.evaluations(Filter(skill="s", limit=1))] == [2]
    assert [one.skill_id for one in store.evaluations(Filter(benchmark="more"))] == ["other"]
    assert len(store.evaluations(Filter(since=NOON + timedelta(hours=1)))) == 1
    assert store.scores(ANY) == ()


def test_the_migrations_give_the_tables_that_the_code_knows(place: str) -> None:
    opened(place)
    engine = engine_of(target_of(place, cwd="/"))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": TABLE})
        assert compare_metadata(context, METADATA) == []
        assert context.get_current_revision() == HEAD == KNOWN[-1]


def test_a_task_without_its_evaluation_cannot_be(place: str) -> None:
    store = opened(place)
    put(store, report(1))
    engine = engine_of(target_of(place, cwd="/"))
    with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
        connection.execute(sa.text("UPDATE task_results SET evaluation_id = 999"))
    with engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM documents"))
    assert rows(place, "SELECT count(*) FROM task_results") == [(0,)]


def test_a_newer_schema_is_refused_and_left_alone(place: str) -> None:
    opened(place)
    engine = engine_of(target_of(place, cwd="/"))
    with engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE {TABLE} SET version_num = '9999'"))
    with pytest.raises(UsageError, match=r"schema 9999 of a newer skillgate.*update skillgate"):
        opened(place)
    assert rows_unchecked(engine) == "9999"


def rows_unchecked(engine: sa.Engine) -> str:
    with engine.connect() as connection:
        version: str = connection.execute(sa.text(f"SELECT version_num FROM {TABLE}")).scalar_one()
        return version


def test_sqlite_writes_ahead_and_flushes_what_it_commits(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    opened(place)
    assert rows(place, "PRAGMA journal_mode") == [("wal",)]
    assert rows(place, "PRAGMA synchronous") == [(2,)]
    assert rows(place, "PRAGMA foreign_keys") == [(1,)]


def test_a_place_with_every_kind_of_sign_in_its_name(tmp_path: Path) -> None:
    place = str(tmp_path / "a b%20c?mode=ro#x" / "store%.db")
    put(opened(place), report(1))
    assert (tmp_path / "a b%20c?mode=ro#x" / "store%.db").stat().st_size > 0


def test_a_store_that_is_only_read_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        open_store(target_of("x/store.db", cwd=str(tmp_path)), create=False)
    assert list(tmp_path.iterdir()) == []
