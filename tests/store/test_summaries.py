"""Summaries say what their rows say, whatever was done to these, by us or in a shell."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

pytest.importorskip("numpy")

from skillgate.errors import IncompleteError
from skillgate.invocations.rubric import scorer
from skillgate.model.invocation import Caller, Ending, Filters
from skillgate.store.invocation_rows import rows_of, scored_of
from skillgate.store.invocations import Fate, Origin
from tests.invocations.observed import Observation
from tests.store.invocations_made import NOON, full, invocation, observed, opened, put, score, scored
from tests.store.test_migrations import engine, migrated

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.store.invocations import InvocationStore
    from tests.store.conftest import Server

STEPS = 12
ROWS = """\
SELECT i.skill_name, i.timestamp, i.skill_category, i.error_count > 0,
       i.ending IN ('explained_failure', 'hard_failure'),
       s.completion_score, s.quality_score, s.efficiency_score, s.quality_score_component, s.satisfaction_score,
       s.coverage, i.shared, i.skill_version, i.model, i.origin, i.source, i.called_by, i.tokens_used, i.duration_ms,
       i.cost_usd, i.cost_estimated, i.error_count
FROM invocations i JOIN skill_scores s ON s.invocation_id = i.id
WHERE s.rubric_version = '{}' ORDER BY i.skill_name, i.timestamp, i.id"""

REPLACE = (
    "REPLACE INTO invocations (invocation_id, skill_name, timestamp, source, digest, imported_at)"
    " SELECT invocation_id, 'a', '2026-03-04 05:06:07', source, digest, imported_at FROM invocations WHERE model = 'n'"
)


def from_rows(place: str, rubric: str) -> list[Observation]:
    """Give what the rows say of each invocation, in plain Python."""
    found = []
    with engine(place).connect() as connection:
        for row in connection.execute(sa.text(ROWS.format(rubric))):
            skill, at, category, errors, failed, completion, total, *rest = row
            efficiency, quality, satisfaction, coverage, shared, version, model, project, source, caller, *last = rest
            tokens, duration, cost, estimated, errors_counted = last
            if failed is None and completion is not None and (errors_counted is not None or completion < 25):
                failed = completion <= 5
            text = str(at) if isinstance(at, str) else at.strftime("%Y-%m-%d %H:%M:%S")
            second = int((NOON.fromisoformat(f"{text}+00:00")).timestamp())
            found.append(
                Observation(
                    skill,
                    second,
                    category,
                    None if errors is None else int(errors),
                    None if failed is None else ("hard_failure" if failed else "complete"),
                    *(total, completion, efficiency, quality, satisfaction, coverage),
                    None if shared is None else int(shared),
                    *(version, model, project, source, caller, tokens, duration, cost),
                    None if estimated is None else int(estimated),
                )
            )
    return found


def some(chance: random.Random) -> Any:
    """Make an invocation, of few skills, days and values, so that they meet."""

    def maybe(*values: Any) -> Any:
        return chance.choice((None, *values))

    number = chance.randrange(60)
    changes = {
        "skill_name": chance.choice(("a", "b b", "é")),
        "timestamp": NOON + timedelta(hours=chance.randrange(-40, 40), seconds=number),
        "skill_category": maybe("analysis", "code_generation"),
        "skill_version": maybe("1.0", "1.1", "2"),
        "model": maybe("m", "n"),
        "source": chance.choice(("log", "otlp")),
        "called_by": maybe(*Caller),
        "ending": maybe(*Ending),
        "error_count": maybe(0, 1, 7),
        "shared": maybe(True, False),
        "tokens_used": maybe(0, 5, 2**40),
        "duration_ms": maybe(0.0, 12.5),
        "cost_usd": maybe(0.0, 0.125),
        "cost_estimated": maybe(True, False),
    }
    total = maybe(0.0, 55.5, 100.0)
    points = {"completion": maybe(0.0, 5.0, 10.0, 25.0), "quality": maybe(0.0, 30.0), "satisfaction": maybe(12.5)}
    return scored(invocation(number, **changes), score(total=total, **points))


def step(chance: random.Random, store: InvocationStore, place: str) -> None:
    """Do one thing to a store."""
    what = chance.choice(("add", "add", "update", "amend", "rescore", "purge", "shell", "shell"))
    cut = NOON + timedelta(hours=chance.randrange(-40, 40))
    if what in ("add", "update"):
        origin = Origin(label=chance.choice(("one", "two")))
        with store.importing("1.1", scorer("1.1"), update=what == "update", origin=origin) as run:
            run.add([some(chance) for _ in range(chance.randrange(1, 20))])
    elif what == "amend":
        name = invocation(chance.randrange(60)).invocation_id
        store.amend(name, {"error_count": 3, "timestamp": cut}, "1.1", scorer("1.1"))
    elif what == "rescore":
        rubric, skill = chance.choice(("1.0", "1.1")), chance.choice((None, "a"))
        store.rescore(rubric, scorer(rubric), skill=skill, since=chance.choice((None, cut)), make_current=False)
    elif what == "purge":
        store.purge(before=cut - timedelta(hours=30), skill=chance.choice((None, "é")), dry_run=False)
    else:
        sql = chance.choice(
            (
                "UPDATE invocations SET error_count = 9 WHERE skill_version = '1.0'",
                "UPDATE invocations SET skill_name = 'c' WHERE model = 'm'",
                "UPDATE skill_scores SET quality_score = 1 WHERE completion_score = 25",
                "DELETE FROM skill_scores WHERE satisfaction_score IS NULL AND rubric_version = '1.0'",
                "DELETE FROM invocations WHERE skill_version = '2'",
                REPLACE if "://" not in place else "TRUNCATE invocations CASCADE",
                "INSERT INTO skill_scores SELECT id, '2', 1, 2, 3, 4, 10, 0.5, 'analysis', imported_at FROM invocations"
                " WHERE id NOT IN (SELECT invocation_id FROM skill_scores WHERE rubric_version = '2')",
            )
        )
        with engine(place).begin() as connection:
            connection.execute(sa.text(sql))


@pytest.mark.parametrize("seed", range(3))
def test_summaries_say_what_the_rows_say_after_any_history(place: str, seed: int) -> None:
    chance = random.Random(seed)
    store = opened(place)
    for number in range(STEPS):
        step(chance, store, place)
        if number % 4 != 3:
            continue
        for rubric in ("1.0", "1.1", "2"):
            assert observed(store, rubric) == from_rows(place, rubric)
        every = from_rows(place, "1.1")
        since, until = (NOON + timedelta(hours=hours) for hours in sorted(chance.sample(range(-40, 40), 2)))
        first, end = since.timestamp(), until.timestamp()
        assert observed(store, since=since, until=until) == [one for one in every if first <= one.at < end]
        for filters in (
            Filters(version="1.1"),
            Filters(model="n", source="log"),
            Filters(project="two", caller="user"),
            Filters(version="unheard of"),
        ):
            wanted = {
                name: value
                for name in ("version", "model", "project", "source", "caller")
                if (value := getattr(filters, name)) is not None
            }
            fitting = [one for one in every if wanted.items() <= one._asdict().items()]
            assert observed(store, filters=filters) == fitting
            assert store.count_within(filters=filters) >= len(fitting)
        assert store.unscored("1.1") == store.count() - len(every)


def test_a_day_of_many_invocations_has_several_summaries(place: str) -> None:
    store = opened(place)
    put(store, [scored(invocation(number, skill_name="a")) for number in range(9_000)])
    assert observed(store) == from_rows(place, "1.1")
    put(store, [scored(invocation(number, skill_name="a", error_count=8)) for number in range(100)], update=True)
    assert observed(store) == from_rows(place, "1.1")


def test_what_a_shell_changed_is_seen_at_the_next_look(place: str) -> None:
    store = opened(place)
    put(store, map(scored, range(20)))
    assert observed(store, skill="skill-1")[0].total == 70.0
    with engine(place).begin() as connection:
        connection.execute(sa.text("UPDATE skill_scores SET quality_score = 12.5"))
    assert {one.total for one in observed(store)} == {12.5}


@pytest.mark.parametrize("move", ["skill_name", "'other'"])
def test_replaced_rows_are_seen_without_foreign_keys(tmp_path: Path, move: str) -> None:
    place = str(tmp_path / "store.db")
    store = opened(place)
    put(store, map(scored, range(20)))
    assert len(observed(store)) == 20
    kept = "invocation_id, timestamp, source, digest, imported_at"
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute(
            f"REPLACE INTO invocations (skill_name, {kept}) SELECT {move}, {kept} FROM invocations WHERE id < 6"
        )
    assert observed(store) == from_rows(place, "1.1")
    assert (store.unscored("1.1"), len(observed(store))) == (5, 15)
    assert observed(opened(place)) == from_rows(place, "1.1")
    with closing(sqlite3.connect(place)) as connection, connection:
        assert connection.execute("SELECT count(*) FROM skill_scores").fetchone() == (15,)


def test_a_truncated_table_has_no_figures(postgres: Server) -> None:
    place = postgres.create()
    store = opened(place)
    put(store, map(scored, range(20)))
    with engine(place).begin() as connection:
        connection.execute(sa.text("TRUNCATE skill_scores"))
    assert (observed(store), store.unscored("1.1")) == ([], 20)
    with engine(place).begin() as connection:
        connection.execute(sa.text("TRUNCATE invocations CASCADE"))
    assert (observed(store), store.unscored("1.1")) == ([], 0)


def test_missing_triggers_are_created_and_all_days_summarised(place: str) -> None:
    store = opened(place)
    put(store, map(scored, range(20)))
    tables = "" if "://" not in place else " ON skill_scores"
    with engine(place).begin() as connection:
        connection.execute(sa.text(f"DROP TRIGGER outdated_after_update_of_skill_scores{tables}"))
        connection.execute(sa.text("UPDATE skill_scores SET quality_score = 12.5"))
    store = opened(place)
    assert {one.total for one in observed(store)} == {12.5}
    with engine(place).begin() as connection:
        connection.execute(sa.text("UPDATE skill_scores SET quality_score = 25"))
    assert {one.total for one in observed(store)} == {25.0}


def test_deleted_summaries_are_made_again(place: str) -> None:
    put(opened(place), map(scored, range(20)))
    with engine(place).begin() as connection:
        connection.execute(sa.text("DELETE FROM invocation_summaries WHERE skill_name <> 'skill-1'"))
    store = opened(place)
    assert (store.unscored("1.1"), len(observed(store))) == (0, 20)


def test_a_store_of_an_earlier_version_gets_its_summaries(place: str) -> None:
    store = opened(place)
    put(store, map(scored, range(20)))
    before = observed(store)
    migrated(place, "0005", down=True)
    assert observed(opened(place)) == before
    assert len(before) == 20


def test_a_value_that_others_wrote_hinders_no_import_of_other_days(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    store = opened(place)
    put(store, map(scored, range(10)))
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE invocations SET error_count = 'abc' WHERE id = 5")
    later = NOON + timedelta(days=9)
    put(store, [scored(invocation(100, timestamp=later))])
    assert store.count() == 11
    with pytest.raises(IncompleteError, match="error_count is 'abc'"):
        observed(store)
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE invocations SET error_count = 1 WHERE id = 5")
    assert observed(store) == from_rows(place, "1.1")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("data = X'00'", "data of a summary"),
        ("data = 'text'", "data of a summary"),
        ("contexts = '[]'", "contexts"),
        ("contexts = '[[1, 2]]'", "contexts"),
        ("contexts = '{'", "contexts"),
    ],
)
def test_a_summary_that_others_wrote_is_reported(tmp_path: Path, change: str, words: str) -> None:
    place = str(tmp_path / "store.db")
    store = opened(place)
    put(store, map(scored, range(3)))
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute(f"UPDATE invocation_summaries SET {change}")
    with pytest.raises(IncompleteError, match=f"a value that skillgate did not write: {words}"):
        observed(store)


@pytest.mark.parametrize("repeats", [(), (3,), tuple(range(40))], ids=["new", "one known", "all known"])
def test_the_first_import_leaves_summaries_and_triggers(place: str, repeats: tuple[int, ...]) -> None:
    store = opened(place)
    chance = random.Random(5)
    found = [invocation(number, skill_name=chance.choice("ab")) for number in range(40)]
    later = [one._replace(timestamp=NOON - timedelta(hours=chance.randrange(80)), error_count=2) for one in found]
    with store.importing("1.1", scorer("1.1"), update=True) as run:
        run.add([scored(one) for one in later])
        if repeats:
            run.add([scored(found[number]) for number in repeats])
    assert observed(store) == from_rows(place, "1.1")
    assert len(observed(store)) == 40
    with engine(place).begin() as connection:
        connection.execute(sa.text("UPDATE skill_scores SET quality_score = 12.5"))
    assert {one.total for one in observed(store)} == {12.5}


def fail_after(_fates: object) -> None:
    raise ZeroDivisionError


def test_a_first_import_that_fails_leaves_the_triggers(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    store = opened(place)
    with pytest.raises(ZeroDivisionError), store.importing("1.1", scorer("1.1")) as run:
        fail_after(run.add([scored(1)]))
    put(store, [scored(1)])
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE skill_scores SET quality_score = 12.5")
    assert {one.total for one in observed(store)} == {12.5}


def test_more_new_invocations_than_fit_into_memory_are_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillgate.store.summaries._MOST_NEW", 15)
    place = str(tmp_path / "store.db")
    store = opened(place)
    with store.importing("1.1", scorer("1.1")) as run:
        for start in range(0, 30, 10):
            run.add([scored(number) for number in range(start, start + 10)])
        assert run.summaries is None
    assert observed(store) == from_rows(place, "1.1")
    assert len(observed(store)) == 30


def test_converted_invocations_are_stored_as_others_are(place: str) -> None:
    some_of = [scored(full(number)) for number in range(5)] + [scored(number) for number in range(5, 9)]
    some_of.append(scored(invocation(9, duration_ms=68_150, output_size=3, user_edit_ratio=1)))  # as JSON may have them
    assert list(scored_of(rows_of(some_of))) == some_of
    store = opened(place)
    with store.importing("1.1", scorer("1.1")) as run:
        assert set(run.add_rows(rows_of(some_of))) == {Fate.NEW}
        changed = some_of[3]._replace(digest="0" * 32)
        assert run.add_rows(rows_of([some_of[2], changed])) == (Fate.KNOWN, Fate.CONFLICT)
    with store.importing("1.1", scorer("1.1")) as run:
        assert set(run.add_rows(rows_of(some_of))) == {Fate.KNOWN}
    with store.importing("1.1", scorer("1.1"), update=True, origin=Origin(label="other")) as run:
        assert set(run.add_rows(rows_of(some_of))) == {Fate.UPDATED}
    assert {one.project for one in observed(store)} == {"other"}
    assert observed(store) == from_rows(place, "1.1")
    assert store.count() == 10


@pytest.mark.parametrize("looks_up", [False, True])
def test_an_import_that_looks_up_uses_has_the_index_for_it(tmp_path: Path, *, looks_up: bool) -> None:
    store = opened(str(tmp_path / "store.db"))
    with store.importing("1.1", scorer("1.1"), looks_up=looks_up) as run:
        run.add([scored(1)])
        found = {row[0] for row in run._rows.rows("SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert ("ix_invocations_skill_name_timestamp" in found) is looks_up
