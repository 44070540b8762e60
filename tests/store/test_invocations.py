"""A store of invocations gives back what it was given, in SQLite and in PostgreSQL alike."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.errors import IncompleteError, UsageError
from skillgate.invocations.rubric import scorer
from skillgate.model.invocation import SEEN_UNTIL, Ending, Fate, Invocation
from skillgate.store.invocations import open_invocations
from skillgate.store.schema import INVOCATIONS
from skillgate.store.target import target_of
from tests.invocations.observed import Observation
from tests.store.invocations_made import NOON, full, invocation, observed, opened, put, score, scored
from tests.store.test_keeper import rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skillgate.store.invocations import InvocationStore
    from tests.store.conftest import Server

NEW, KNOWN, CONFLICT, UPDATED = Fate.NEW, Fate.KNOWN, Fate.CONFLICT, Fate.UPDATED
COUNTED = "SELECT (SELECT count(*) FROM invocations), (SELECT count(*) FROM skill_scores)"


def test_every_field_of_an_invocation_has_its_column() -> None:
    assert set(Invocation._fields) == set(INVOCATIONS.columns.keys()) - {
        "id",
        "digest",
        "imported_at",
        "origin",
        "added",
    }


def test_an_invocation_is_read_back_as_it_was(place: str) -> None:
    store = opened(place)
    given = [full(1), invocation(2), full(3, invocation_id="x" * 200, skill_name="ü" * 200, extra={})]
    assert put(store, map(scored, given)) == [NEW] * 3
    for one in given:
        found = store.find(one.invocation_id)
        assert found == one
        assert list(map(type, found)) == list(map(type, one))
    assert [found for _, found in store.invocations()] == given
    assert store.find("nobody") is None
    assert store.find("nobody\0") is None


def test_times_are_kept_to_the_second_in_utc(place: str) -> None:
    store = opened(place)
    at = datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=-5)))
    put(store, [scored(invocation(1, timestamp=at))])
    ((_, found),) = store.invocations()
    assert found.timestamp == datetime(2026, 3, 2, 4, 59, 59, tzinfo=UTC)
    (one,) = observed(store, "1.1")
    assert one.at == found.timestamp.timestamp()


def test_observations_come_by_skill_and_time_with_what_was_scored(place: str) -> None:
    store = opened(place)
    unrated = score(total=None, satisfaction=None, coverage=0.2, baseline="design")
    late = scored(invocation(1, skill_name="a b", ending=Ending.PARTIAL, error_count=None), unrated)
    early = scored(invocation(2, skill_name="a b", skill_category=None, timestamp=NOON - timedelta(days=400)))
    others = [scored(invocation(number, skill_name=name)) for number, name in enumerate(("é", "Z", "a-b", "_"), 10)]
    put(store, [late, *others, early])
    found = observed(store, "1.1")
    assert [one.skill for one in found] == ["Z", "_", "a b", "a b", "a-b", "é"]  # by the bytes, whatever the database
    recorded: dict[str, Any] = {"project": "made", "tokens": 10.0, "duration_ms": 1500.25}
    assert found[2] == Observation(
        "a b",
        int((NOON - timedelta(days=400)).timestamp()),
        None,
        1,
        "complete",
        70.0,
        25.0,
        10.0,
        15.0,
        20.0,
        0.9,
        **recorded,
    )
    assert found[3] == Observation(
        "a b",
        int(NOON.timestamp()) + 1,
        "analysis",
        None,
        "complete",
        None,
        25.0,
        10.0,
        15.0,
        None,
        0.2,
        **recorded,
    )
    assert store.skills() == ("Z", "_", "a b", "a-b", "é")
    assert observed(store, "1.1", skill="a b") == found[2:4]
    assert observed(store, "1.1", skill="") == []


def test_a_window_holds_its_beginning_and_not_its_end(place: str) -> None:
    store = opened(place)
    put(store, [scored(invocation(number, skill_name="s")) for number in range(50)])

    def seconds(since: datetime | None, until: datetime | None, skill: str | None) -> list[int]:
        return [one.at - int(NOON.timestamp()) for one in observed(store, "1.1", skill=skill, since=since, until=until)]

    second, half = timedelta(seconds=1), timedelta(seconds=0.5)
    for skill in (None, "s"):
        assert seconds(NOON + 46 * second, None, skill) == [46, 47, 48, 49]
        assert seconds(NOON + 46 * second + half, None, skill) == [47, 48, 49]
        assert seconds(None, NOON + 2 * second, skill) == [0, 1]
        assert seconds(None, NOON + 2 * second + half, skill) == [0, 1, 2]
        assert seconds(NOON + 2 * second, NOON + 2 * second, skill) == []
        assert seconds(NOON - half, None, skill) == list(range(50))
    assert [found.timestamp - NOON for _, found in store.invocations(since=NOON + 49 * second)] == [49 * second]


def test_what_is_there_already_is_known_and_what_says_something_else_is_not_written(place: str) -> None:
    store = opened(place)
    one, two, other = scored(1), scored(2), scored(invocation(1, error_count=99))
    assert put(store, [one, two]) == [NEW, NEW]
    assert put(store, [two, other, one, scored(3)]) == [KNOWN, CONFLICT, KNOWN, NEW]
    assert store.find(one.invocation.invocation_id) == one.invocation
    assert store.count() == 3
    assert rows(place, COUNTED) == [(3, 3)]


def test_an_update_replaces_an_invocation_with_all_its_scores(place: str) -> None:
    store = opened(place)
    other = scored(invocation(1, error_count=99), score(total=5.0))
    put(store, [scored(1), scored(2)])
    store.rescore("1.0", lambda _: score("1.0"), make_current=False)
    assert put(store, [other, scored(2)], update=True) == [UPDATED, KNOWN]
    assert store.find(other.invocation.invocation_id) == other.invocation
    assert [one.total for one in observed(store, "1.1", skill="skill-1")] == [5.0]
    assert store.unscored("1.0") == 1  # the score that was of something else is gone
    assert put(store, [other], update=True) == [KNOWN]


def test_ids_that_come_twice_are_dealt_with_alike_in_one_batch_and_in_two(place: str) -> None:
    store = opened(place)
    one, other, third = scored(1), scored(invocation(1, error_count=99)), scored(invocation(1, error_count=98))
    assert put(store, [one, scored(2), one, other]) == [NEW, NEW, KNOWN, CONFLICT]
    with store.importing("1.1", scorer("1.1")) as run:
        assert run.add([scored(5)]) == (NEW,)
        assert run.add([]) == ()
        assert run.add([scored(5), scored(6), scored(6)]) == (KNOWN, NEW, KNOWN)
        assert run.add([scored(7)]) == (NEW,)
        assert run.add([scored(8)]) == (NEW,)
    again = [other, other, third, one, third, scored(4), scored(invocation(4, error_count=97))]
    assert put(store, again, update=True) == [UPDATED, KNOWN, UPDATED, UPDATED, UPDATED, NEW, UPDATED]
    assert store.find(one.invocation.invocation_id) == third.invocation
    assert rows(place, COUNTED) == [(7, 7)]


def test_what_is_known_gets_the_score_that_it_lacks_and_keeps_the_one_that_it_has(place: str) -> None:
    store = opened(place)
    put(store, [scored(1)])
    put(store, [scored(invocation(1), score("1.0", total=33.0)), scored(invocation(2), score("1.0"))], rubric="1.0")
    put(store, [scored(invocation(1), score(total=99.0))])
    assert [one.total for one in observed(store, "1.1")] == [70.0]
    assert [one.total for one in observed(store, "1.0")] == [33.0, 70.0]
    assert (store.unscored("1.0"), store.unscored("1.1"), store.unscored("2")) == (0, 1, 2)


def test_an_import_that_fails_leaves_nothing(place: str) -> None:
    store = opened(place)
    put(store, [scored(1)])

    def broken(error: BaseException) -> None:
        with store.importing("1.0", scorer("1.0"), update=True) as run:
            run.add([scored(2), scored(invocation(1, error_count=99))])
            raise error

    for error in (ValueError(), KeyboardInterrupt(), SystemExit(3)):
        with pytest.raises(type(error)):
            broken(error)
    assert store.find(scored(1).invocation.invocation_id) == invocation(1)
    assert rows(place, COUNTED) == [(1, 1)]
    assert rows(place, "SELECT rubric_version FROM shown_rubric") == [("1.1",)]
    assert put(store, [scored(2)]) == [NEW]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"error_count": 2**63}, "too large|out of range"),
        ({"error_count": -1}, "ck_invocations_error_count"),
        ({"tokens_used": "many"}, "cannot be stored"),
        ({"duration_ms": float("nan")}, "duration_ms is NaN"),
        ({"duration_ms": float("inf")}, "ck_invocations_duration_ms"),
        ({"user_edit_ratio": 1.01}, "ck_invocations_user_edit_ratio"),
        ({"follow_up_count": 1, "follow_up_open": 2}, "ck_invocations_follow_up_open"),
        ({"rating": "so so"}, "ck_invocations_rating"),
        ({"skill_name": ""}, "ck_invocations_skill_name"),
        ({"skill_name": "x" * 201}, "ck_invocations_skill_name"),
        ({"model": "a\0b"}, "NUL"),
        ({"session_id": "\ud800"}, "not valid Unicode"),
        ({"extra": {"x": float("nan")}}, "extra values"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_the_whole_import(
    place: str, changes: dict[str, Any], words: str
) -> None:
    store = opened(place)
    bad = scored(invocation(2, **changes))
    for first in ([], [scored(3)]):  # alone, and among what is known
        put(store, first)
        with pytest.raises(UsageError, match=words) as told:
            put(store, [scored(1), bad, *first])
        assert "\n" not in str(told.value)
        assert store.count() == len(first)


def test_a_score_that_cannot_be_stored_is_refused_with_the_whole_import(place: str) -> None:
    store = opened(place)
    with pytest.raises(UsageError, match="quality_score is NaN"):
        put(store, [scored(1), scored(invocation(2), score(total=float("nan")))])
    with pytest.raises(UsageError, match="ck_skill_scores_quality_score_component"):
        put(store, [scored(1), scored(invocation(2), score(quality=30.5))])
    assert store.count() == 0


def test_an_import_that_goes_on_after_a_failure_keeps_nothing(place: str) -> None:
    store = opened(place)

    def careless() -> None:
        with store.importing("1.1", scorer("1.1")) as run:
            run.add([scored(1)])
            with pytest.raises(UsageError, match="ck_invocations_rating"):
                run.add([scored(2), scored(invocation(3, rating="?"))])

    with pytest.raises((UsageError, IncompleteError)):
        careless()
    assert store.count() == 0


def test_hostile_texts_are_only_texts(place: str) -> None:
    store = opened(place)
    names = ["'; DROP TABLE invocations; --", "%s ? :x $1 {}", "a\tb\\N\n\\.", "\u202e‮", " "]
    put(store, [scored(invocation(number, skill_name=name, model=name)) for number, name in enumerate(names)])
    assert store.skills() == tuple(sorted(names))
    assert {found.model for _, found in store.invocations()} == set(names)
    for name in names:
        assert [one.skill for one in observed(store, "1.1", skill=name)] == [name]
    assert store.purge(skill=names[0], dry_run=False) == 1
    assert store.count() == 4


def test_rescoring_replaces_the_scores_of_one_version(place: str) -> None:
    store = opened(place)
    put(store, map(scored, range(9_000)))
    seen = []

    def scorer(found: Invocation) -> Any:
        seen.append(found)
        return score("1.0", total=float(found.error_count or 0), efficiency=None)

    assert (
        store.rescore("1.0", scorer, skill="skill-1", since=NOON + timedelta(seconds=4_001), make_current=False)
        == 1_000
    )
    assert {one.skill_name for one in seen} == {"skill-1"}
    assert rows(place, "SELECT DISTINCT rubric_version FROM skill_invocations") == [("1.1",)]
    assert store.rescore("1.0", scorer, make_current=True) == 9_000
    assert {one.invocation_id: one for one in seen} == {found.invocation_id: found for _, found in store.invocations()}
    assert store.unscored("1.0") == 0
    assert [one.total for one in observed(store, "1.0", skill="skill-1")][:3] == [1.0, 0.0, 2.0]
    assert rows(place, "SELECT DISTINCT rubric_version FROM skill_invocations") == [("1.0",)]
    assert store.rescore("1.0", lambda _: score("1.0", efficiency=3.5), make_current=True) == 9_000
    assert {(one.total, one.efficiency) for one in observed(store, "1.0")} == {(70.0, 3.5)}
    assert {one.total for one in observed(store, "1.1")} == {70.0}


def test_rescoring_that_fails_changes_nothing(place: str) -> None:
    store = opened(place)
    put(store, map(scored, range(5_000)))

    def scorer(found: Invocation) -> Any:
        if found == invocation(4_999):
            raise KeyboardInterrupt
        return score(total=1.0)

    with pytest.raises(KeyboardInterrupt):
        store.rescore("1.1", scorer, make_current=True)
    assert {one.total for one in observed(store, "1.1")} == {70.0}
    with pytest.raises(UsageError, match="ck_skill_scores_quality_score"):
        store.rescore("1.1", lambda _: score(total=101.0), make_current=True)
    assert {one.total for one in observed(store, "1.1")} == {70.0}


def test_a_purge_takes_scores_along_and_a_dry_one_nothing(place: str) -> None:
    store = opened(place)
    put(store, map(scored, range(20)))
    store.rescore("1.0", lambda _: score("1.0"), make_current=False)
    before = NOON + timedelta(seconds=10)
    assert store.purge(before=before, skill="skill-1", dry_run=True) == 2
    assert store.count() == 20
    assert store.purge(before=before, skill="skill-1", dry_run=False) == 2
    assert store.purge(before=before, dry_run=False) == 8
    assert rows(place, COUNTED) == [(10, 20)]
    assert store.purge(before=before, dry_run=False) == 0
    assert store.purge(skill="skill-2", dry_run=False) == 2
    with pytest.raises(UsageError, match="specify a time"):
        store.purge(dry_run=False)
    assert put(store, map(scored, range(20))).count(NEW) == 12


def test_of_what_was_purged_no_byte_is_left_in_a_file(tmp_path: Path) -> None:
    store = opened(str(tmp_path / "store.db"))
    marked = {"skill_name": "MARKED-skill", "model": "MARKED-model", "extra": {"text": "MARKED-text"}}

    def left() -> int:
        return sum(path.read_bytes().count(b"MARKED") for path in tmp_path.iterdir())

    for part in range(4):  # pages are split and filled again
        numbers = range(1_000 * part, 1_000 * part + 1_000)
        put(store, [scored(invocation(number, **(marked if number % 3 else {}))) for number in numbers])
        store.purge(before=NOON + timedelta(seconds=1_000 * part - 500), skill="MARKED-skill", dry_run=False)
    assert left() > 1_000
    assert store.purge(skill="MARKED-skill", dry_run=False) > 500
    assert left() == 0
    assert store.count() == len(observed(store, "1.1")) > 1_000


def test_a_purge_says_so_when_bytes_stay_for_those_who_still_read(tmp_path: Path) -> None:
    store = opened(str(tmp_path / "store.db"))
    put(store, map(scored, range(20)))
    reader = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    try:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM invocations").fetchone()
        with pytest.raises(IncompleteError, match=r"4 invocations were deleted, but .* purge again later"):
            store.purge(skill="skill-1", dry_run=False)
    finally:
        reader.close()
    assert store.count() == 16
    assert store.purge(skill="skill-1", dry_run=False) == 0


def test_a_reader_sees_one_moment_while_others_write(place: str) -> None:
    store = opened(place)
    put(store, map(scored, range(10_000)))
    found = store.observations("1.1")
    first = next(found)
    put(store, map(scored, range(10_000, 20_000)))
    store.rescore("1.1", lambda _: score(total=1.0), make_current=True)
    rest = list(found)
    assert len(first.rows) + sum(len(one.rows) for one in rest) == 10_000
    assert set(first.rows["total"]) == {70.0}
    early = store.observations("1.1")
    next(early)
    early.close()  # type: ignore[attr-defined]
    assert put(store, [scored(30_000)]) == [NEW]


def _of(store: InvocationStore) -> list[Any]:
    return list(store.invocations())


def _figures(store: InvocationStore) -> list[Any]:
    return observed(store, "1.1")


def _skills(store: InvocationStore) -> Any:
    return store.skills()


def _anew(store: InvocationStore) -> int:
    return store.rescore("1.1", lambda _: score(), make_current=True)


@pytest.mark.parametrize(
    ("table", "column", "value", "readers"),
    [
        ("invocations", "error_count", "'abc'", (_of, _figures, _anew)),
        ("invocations", "error_count", "-5", (_of, _figures)),
        ("invocations", "error_count", "1.5", (_of, _figures)),
        ("invocations", "timestamp", "'yesterday'", (_of, _figures)),
        ("invocations", "timestamp", "'2026-03-01T12:00:00'", (_of,)),
        ("invocations", "timestamp", "12", (_of,)),
        ("invocations", "skill_name", "X'00ff'", (_of, _figures, _skills)),
        ("invocations", "ending", "'odd'", (_of,)),
        ("invocations", "ending", "7", (_of,)),
        ("invocations", "accuracy", "X'00'", (_of,)),
        ("invocations", "extra", "'[1]'", (_of,)),
        ("invocations", "extra", "'{'", (_of,)),
        ("invocations", "extra", "12", (_of,)),
        ("invocations", "recovered", "2", (_of,)),
        ("invocations", "recovered", "'yes'", (_of,)),
        ("invocations", "duration_ms", "9e999", (_of,)),
        ("invocations", "duration_ms", "'long'", (_of,)),
        ("invocations", "user_edit_ratio", "1.5", (_of,)),
        ("invocations", "model", "CAST(X'ff' AS TEXT)", (_of,)),
        ("skill_scores", "quality_score", "'good'", (_figures,)),
        ("skill_scores", "quality_score", "100.5", (_figures,)),
        ("skill_scores", "completion_score", "9e999", (_figures,)),
        ("skill_scores", "coverage", "-0.1", (_figures,)),
    ],
)
def test_values_that_others_wrote_into_a_file_are_told(
    tmp_path: Path, table: str, column: str, value: str, readers: tuple[Callable[[InvocationStore], Any], ...]
) -> None:
    store = opened(str(tmp_path / "store.db"))
    put(store, map(scored, range(10)))
    connection = sqlite3.connect(tmp_path / "store.db")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute(
        f"UPDATE {table} SET {column} = {value} WHERE {'id' if table == 'invocations' else 'invocation_id'} = 5"
    )
    connection.commit()
    connection.close()
    for reader in readers:
        with pytest.raises(
            IncompleteError, match=f"a value that skillgate did not write: .*is|could not be read.*{column}"
        ) as told:
            reader(store)
        assert len(str(told.value)) < 400


def test_a_file_refuses_values_that_are_not_of_their_columns(tmp_path: Path) -> None:
    store = opened(str(tmp_path / "store.db"))
    put(store, [scored(1)])
    connection = sqlite3.connect(tmp_path / "store.db")
    for column, value in (
        ("timestamp", "'2026-03-01T12:00:00Z'"),
        ("timestamp", "'2026-03-01 12:00:00+02:00'"),
        ("error_count", "'abc'"),
        ("duration_ms", "9e999"),
        ("duration_ms", "X'00'"),
        ("recovered", "'yes'"),
        ("ending", "1"),
    ):
        with pytest.raises(sqlite3.IntegrityError, match=f"ck_invocations_{column}"):
            connection.execute(f"UPDATE invocations SET {column} = {value}")
    connection.close()


def test_a_broken_file_is_told(tmp_path: Path) -> None:
    store = opened(str(tmp_path / "store.db"))
    put(store, map(scored, range(2_000)))
    data = bytearray((tmp_path / "store.db").read_bytes())
    data[40_960:] = b"\x55" * (len(data) - 40_960)
    (tmp_path / "store.db").write_bytes(data)
    with pytest.raises(IncompleteError, match=r"could not be read: .*malformed"):
        observed(store, "1.1")
    with pytest.raises(IncompleteError, match=r"could not be written: .*malformed"):
        put(store, map(scored, range(2_000, 4_000)))


def test_a_server_that_goes_away_is_told_without_its_password(postgres: Server) -> None:
    place = postgres.create().replace("keeper@", "keeper:s3cret@")
    store = opened(place)
    put(store, [scored(1)])

    def cut_off() -> None:
        with store.importing("1.1", scorer("1.1")) as run:
            run.add([scored(2)])
            rows(place, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
            run.add([scored(3)])

    with pytest.raises(IncompleteError, match="could not be written") as told:
        cut_off()
    assert "s3cret" not in str(told.value)
    assert store.count() == 1


def test_a_store_that_is_only_read_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the store x/store.db does not exist; .*log import"):
        open_invocations(target_of("x/store.db", cwd=str(tmp_path)), create=False)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_has_nothing(place: str) -> None:
    store = opened(place)
    assert (store.count(), store.skills(), store.unscored("1.1"), observed(store, "1.1")) == (0, (), 0, [])
    assert list(store.invocations()) == []
    assert rows(place, "SELECT count(*) FROM skill_invocations") == [(0,)]
    assert put(store, []) == []
    assert store.rescore("1.0", lambda _: score("1.0"), make_current=True) == 0


def test_the_indexes_are_there_after_a_first_import_and_after_one_that_failed(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    asked = "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'invocations' AND name LIKE 'ix%' ORDER BY 1"
    store = opened(place)
    before = rows(place, asked)
    assert [name for name, _ in before] == ["ix_invocations_skill_name_timestamp", "ix_invocations_timestamp"]
    with pytest.raises(UsageError):
        put(store, [scored(invocation(1, rating="?"))])
    assert rows(place, asked) == before
    put(store, map(scored, range(100)))
    assert rows(place, asked) == before
    assert rows(place, "PRAGMA integrity_check") == [("ok",)]


def test_of_two_readings_of_a_recording_the_one_that_saw_more_stays(place: str) -> None:
    """Whatever their order, in one batch or in several; what was told without a time is the earliest."""
    seen: list[dict[str, int] | None] = [{SEEN_UNTIL: 30}, {}, None, {SEEN_UNTIL: 40}, {SEEN_UNTIL: 35}]
    readings = [invocation(1, error_count=number, extra=extra) for number, extra in enumerate(seen)]
    expected = (NEW, KNOWN, KNOWN, UPDATED, KNOWN)
    store = opened(place)
    with store.importing("1.1", scorer("1.1"), later=True) as run:
        assert tuple(run.add([scored(reading)])[0] for reading in readings) == expected
    assert [found.error_count for _, found in store.invocations()] == [3]
    with store.importing("1.1", scorer("1.1"), later=True) as run:
        others = [reading._replace(invocation_id="other") for reading in readings]
        assert run.add([scored(reading) for reading in others]) == expected
    found = store.find("other")
    assert found is not None
    assert found.error_count == 3
    assert len(observed(store, "1.1")) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER better AFTER INSERT ON skill_scores BEGIN UPDATE skill_scores SET quality_score = 100; END",
        "ALTER TABLE documents RENAME TO others; CREATE VIEW documents AS SELECT * FROM others",
    ],
    ids=["trigger", "view"],
)
def test_a_file_with_what_changes_rows_behind_our_back_is_no_store(tmp_path: Path, sql: str) -> None:
    place = str(tmp_path / "store.db")
    opened(place).close()
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.executescript(sql)
    with pytest.raises(UsageError, match="which skillgate did not create"):
        opened(place)


def test_scores_that_a_shell_left_behind_are_no_invocations(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    store = opened(place)
    put(store, map(scored, range(3)))
    with sqlite3.connect(place) as connection:  # a shell does not follow foreign keys by itself
        connection.execute("DELETE FROM invocations WHERE id = 3")
    assert put(store, [scored(4)]) == [NEW]  # takes the same key
    assert store.unscored("1.1") == 0
    assert store.unscored("1.0") == 3
