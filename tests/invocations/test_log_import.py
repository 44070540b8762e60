"""``log import``: what becomes of files, good and bad, and what of the store."""

from __future__ import annotations

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from skillgate.evaluation.workers import processors
from skillgate.invocations.formats import LONGEST, MOST_WARNINGS
from skillgate.invocations.importing import WORTH, lines, lines_between, portions
from tests.cli.running import run
from tests.invocations.recorded import BAD, GOOD, line, write

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")


def rows(folder: Path, sql: str = "SELECT count(*) FROM skill_invocations") -> Any:
    with closing(sqlite3.connect(folder / ".skillgate/store.db")) as connection, connection:
        return connection.execute(sql).fetchall()


def test_a_file_is_taken_once_however_often_it_comes(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(number, **GOOD) for number in range(5)])
    first = run(tmp_path, "log", "import", "runs.jsonl")
    assert (first.code, first.err) == (0, "")
    assert first.out == "1 file, 5 new; rubric 1.1, store .skillgate/store.db\n"
    again = run(tmp_path, "log", "import", "runs.jsonl", "--json")
    assert again.json["files"][0]["known"] == 5
    assert again.json["files"][0]["new"] == 0
    assert rows(tmp_path) == [(5,)]
    assert rows(tmp_path, "SELECT DISTINCT quality_score, coverage, rubric_version FROM skill_invocations") == [
        (100.0, 1.0, "1.1")
    ]


def test_another_layout_of_the_same_record_is_the_same(tmp_path: Path) -> None:
    record = line(1, **GOOD)
    write(tmp_path / "a.jsonl", [record])
    write(tmp_path / "b.jsonl", [json.dumps(dict(reversed(record.items())), separators=(",", ":"))])
    done = run(tmp_path, "log", "import", "a.jsonl", "b.jsonl")
    assert (done.code, done.out) == (0, "2 files, 1 new, 1 already stored; rubric 1.1, store .skillgate/store.db\n")


def test_what_is_wrong_is_told_by_its_line_and_keeps_no_other_out(tmp_path: Path) -> None:
    good = [line(number, **GOOD) for number in range(3)]
    future = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    records: list[dict[str, Any] | str] = [
        good[0],
        "{not JSON",
        good[1],
        "",
        {**line(9), "timestamp": future},
        {**line(10), "timestamp": "2026-02-30T00:00:00Z"},
        {**line(11), "user_edit_ratio": -1},
        {**line(12), "errors": "many"},
        "[1, 2]",
        {"timestamp": good[0]["timestamp"]},
        {**good[0], "duration_ms": 99},  # the id of the first, which says something else
        good[0],
        good[2],
        json.dumps(line(13))[:-20],  # cut off
    ]
    write(tmp_path / "runs.jsonl", records)
    done = run(tmp_path, "log", "import", "runs.jsonl")
    assert done.code == 2
    assert done.out == "1 file, 3 new, 1 already stored, 9 rejected; rubric 1.1, store .skillgate/store.db\n"
    told = [text for text in done.err.splitlines() if text.startswith("runs.jsonl:")]
    places = sorted(int(text.split(":")[1]) for text in told)
    assert places == [2, 5, 6, 7, 8, 9, 10, 11, 14]
    by_line = {int(text.split(":")[1]): text for text in told}
    assert "JSON" in by_line[2]
    assert "after now" in by_line[5]
    assert "user_edit_ratio" in by_line[7]
    assert "skill_name" in by_line[10]
    assert by_line[11].endswith("the id notes-0 is already in the store with other values")
    assert "use --update to replace the stored records with the same id (1)" in done.err
    assert "9 records rejected; everything else was stored" in done.err


def test_equal_problems_in_a_row_are_told_once_with_both_ends(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(1, **GOOD), *["nothing"] * 1_000, line(2, **GOOD)])
    done = run(tmp_path, "log", "import", "runs.jsonl", "--format", "jsonl")
    assert done.code == 2
    (told,) = [text for text in done.err.splitlines() if text.startswith("runs.jsonl:")]
    assert told.startswith("runs.jsonl:2–1001: ")
    assert told.endswith("(1,000 lines)")
    assert rows(tmp_path) == [(2,)]


def test_strict_takes_nothing_of_a_file_with_a_bad_line(tmp_path: Path) -> None:
    write(tmp_path / "bad.jsonl", [line(1, **GOOD), "{"])
    write(tmp_path / "good.jsonl", [line(2, **GOOD)])
    done = run(tmp_path, "log", "import", "--strict", "bad.jsonl", "good.jsonl")
    assert done.code == 2
    assert "nothing from their files was stored" in done.err
    assert rows(tmp_path, "SELECT invocation_id FROM skill_invocations") == [("notes-2",)]


def test_update_replaces_what_is_there_and_its_score(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(1, **BAD)])
    assert run(tmp_path, "log", "import", "runs.jsonl").code == 0
    assert rows(tmp_path, "SELECT quality_score FROM skill_invocations") == [(0.0,)]
    write(tmp_path / "runs.jsonl", [line(1, **GOOD)])
    assert run(tmp_path, "log", "import", "runs.jsonl").code == 2
    done = run(tmp_path, "log", "import", "runs.jsonl", "--update")
    assert (done.code, done.out.split(";")[0]) == (0, "1 file, 0 new, 1 replaced")
    assert rows(tmp_path, "SELECT quality_score FROM skill_invocations") == [(100.0,)]


def test_times_are_kept_in_utc(tmp_path: Path) -> None:
    records = [
        {**line(1, **GOOD), "timestamp": "2026-11-19T23:30:00-05:00"},
        {**line(2, **GOOD), "timestamp": "2026-11-19T23:30:00.9Z"},
        {**line(3, **GOOD), "timestamp": 1_795_000_000},
        {**line(4, **GOOD), "timestamp": "2026-11-19 08:00:00"},
    ]
    write(tmp_path / "runs.jsonl", records)
    done = run(tmp_path, "log", "import", "runs.jsonl")
    assert done.code == 0
    assert "zone" in done.err  # the last says none, and is told
    assert rows(tmp_path, "SELECT timestamp FROM skill_invocations ORDER BY invocation_id") == [
        ("2026-11-20 04:30:00",),
        ("2026-11-19 23:30:00",),
        (datetime.fromtimestamp(1_795_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S"),),
        ("2026-11-19 08:00:00",),
    ]


def test_unknown_keys_are_told_once_a_file_and_texts_of_them_are_not_kept(tmp_path: Path) -> None:
    records = [{**line(number, **GOOD), "temperature": 0.5, "prompt": "my secret"} for number in range(3)]
    write(tmp_path / "runs.jsonl", records)
    done = run(tmp_path, "log", "import", "runs.jsonl")
    assert done.code == 0
    assert done.err.count("temperature") == 1
    assert b"my secret" not in (tmp_path / ".skillgate/store.db").read_bytes()
    assert [json.loads(text)["temperature"] for (text,) in rows(tmp_path, "SELECT extra FROM invocations")] == [0.5] * 3
    kept = run(tmp_path, "log", "import", "runs.jsonl", "--keep-text", "--store", "kept.db")
    assert kept.code == 0
    assert b"my secret" in (tmp_path / "kept.db").read_bytes()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere.jsonl"], "does not exist"),
        (["."], "contains no .jsonl file"),
    ],
)
def test_what_is_no_recording_is_told(tmp_path: Path, words: list[str], told: str) -> None:
    done = run(tmp_path, "log", "import", *words)
    assert done.code == 2
    assert told in done.err


def test_one_file_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(1, **GOOD)])
    done = run(tmp_path, "log", "import", "nowhere.jsonl", "runs.jsonl")
    assert done.code == 2
    assert "1 file could not be read; everything else was stored" in done.err
    assert rows(tmp_path) == [(1,)]


def test_a_directory_is_all_of_its_recordings_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "logs" / "deep").mkdir(parents=True)
    write(tmp_path / "logs" / "a.jsonl", [line(1, **GOOD)])
    write(tmp_path / "logs" / "deep" / "b.jsonl", [line(2, **GOOD)])
    outside = write(tmp_path / "outside.jsonl", [line(3, **GOOD)])
    (tmp_path / "logs" / "c.jsonl").symlink_to(outside)
    done = run(tmp_path, "log", "import", "logs", "logs/a.jsonl")
    assert (done.code, done.out.split(";")[0]) == (0, "2 files, 2 new")


def test_an_empty_file_is_told_where_it_was_named_and_passed_over_in_a_directory(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    write(tmp_path / "sessions" / "a.jsonl", [line(1)])
    (tmp_path / "sessions" / "b.jsonl").touch()
    done = run(tmp_path, "log", "import", "sessions")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("1 file, 1 new")
    named = run(tmp_path, "log", "import", "sessions/b.jsonl")
    assert named.code == 3
    assert "b.jsonl: empty file; expected JSON Lines" in named.err


def test_the_standard_input_is_a_file_too(tmp_path: Path) -> None:
    text = "".join(json.dumps(line(number, **GOOD)) + "\n" for number in range(3))
    command = [sys.executable, "-m", "skillgate", "log", "import", "-"]
    done = subprocess.run(command, cwd=tmp_path, input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split(";")[0]) == (0, "1 file, 3 new")


def test_of_an_interrupted_invocation_it_is_not_known_how_it_would_have_ended(tmp_path: Path) -> None:
    fields = {"outcome": "interrupted", "errors": [], "recovered": True}
    write(tmp_path / "runs.jsonl", [line(1, **{**GOOD, **fields})])
    assert run(tmp_path, "log", "import", "runs.jsonl").code == 0
    sql = "SELECT completion_score, error_count, satisfaction_score FROM skill_invocations"
    assert rows(tmp_path, sql) == [(None, None, 25)]


@pytest.mark.parametrize("layout", [{}, {"indent": 1}], ids=["one line", "many lines"])
def test_a_document_may_be_larger_than_a_line(tmp_path: Path, layout: dict[str, int]) -> None:
    entries = [line(number, pad="x" * 2_000, **GOOD) for number in range(3_000)]
    document = {"logs_version": "1", "skill_name": "notes", "entries": entries}
    (tmp_path / "log.json").write_text(json.dumps(document, **layout), encoding="utf-8")  # type: ignore[arg-type]
    assert (tmp_path / "log.json").stat().st_size > LONGEST
    done = run(tmp_path, "log", "import", "log.json")
    assert (done.code, done.out.split(";")[0]) == (0, "1 file, 3,000 new"), done.err


def test_warnings_of_more_kinds_than_anybody_reads_are_put_together(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [{**line(number), f"key_{number}": 1} for number in range(300)])
    done = run(tmp_path, "log", "import", "runs.jsonl")
    assert done.code == 0
    assert len(done.err.splitlines()) == MOST_WARNINGS + 1
    assert "other warnings (200 times)" in done.err


def test_of_a_session_that_went_on_the_later_reading_stays_whatever_the_order(tmp_path: Path) -> None:
    whole = (Path(__file__).parent / "sessions" / "session.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "early.jsonl").write_text("".join(whole[:12]), encoding="utf-8")
    (tmp_path / "late.jsonl").write_text("".join(whole), encoding="utf-8")
    sql = "SELECT invocation_id, digest FROM invocations ORDER BY invocation_id"
    found = []
    for name, order in (("a", ("early", "late", "early")), ("b", ("late", "early"))):
        (tmp_path / name).mkdir()
        fates: list[dict[str, int]] = []
        for word in order:
            done = run(tmp_path / name, "log", "import", f"../{word}.jsonl", "--json")
            assert done.code == 0
            fates += [{key: done.json["files"][0][key] for key in ("new", "updated", "known", "conflict")}]
        found.append(rows(tmp_path / name, sql))
        assert fates[-1] == {"new": 0, "updated": 0, "known": 1, "conflict": 0}
    assert found[0] == found[1]
    assert len(found[0]) == 2


def test_a_portion_has_whole_lines_and_their_numbers() -> None:
    text = b"".join(b"%d " % number + b"x" * (number % 700) + b"\n" for number in range(5_000)) + b"last"
    file = io.BytesIO(text)
    found = list(portions(file))
    assert len(found) > 2
    whole = list(lines(io.BytesIO(text)))
    parts = [one for part in found for one in lines_between(io.BytesIO(text), part.start, part.end, part.line)]
    assert parts == whole


def test_a_line_that_is_longer_than_a_portion_stays_whole() -> None:
    text = b"a\n" + b"x" * 1_500_000 + b"\nb\n"
    parts = [
        one for part in portions(io.BytesIO(text)) for one in lines_between(io.BytesIO(text), *part[:2], part.line)
    ]
    assert [(number, len(data)) for number, data in parts] == [(1, 1), (2, 1_500_000), (3, 1)]


@pytest.mark.skipif(processors() < 2, reason="one processor reads alone")
def test_a_large_file_gives_the_same_whoever_reads_it(tmp_path: Path) -> None:
    records: list[dict[str, Any] | str] = [line(number, pad="x" * 900, **GOOD) for number in range(4_500)]
    records[3_000] = "{"
    large = write(tmp_path / "large.jsonl", records)
    assert large.stat().st_size > WORTH
    done = run(tmp_path, "log", "import", "large.jsonl")
    assert done.code == 2
    assert "large.jsonl:3001: " in done.err
    assert "(4,499 times)" in done.err  # that texts are not kept
    with large.open("rb") as file:
        command = [sys.executable, "-m", "skillgate", "log", "import", "-", "--store", "alone.db", "-q"]
        subprocess.run(command, cwd=tmp_path, stdin=file, capture_output=True, check=False)
    sql = (
        "SELECT i.invocation_id, digest, quality_score"
        " FROM invocations AS i JOIN skill_scores AS s ON i.id = s.invocation_id"
    )
    with closing(sqlite3.connect(tmp_path / "alone.db")) as connection, connection:
        alone = connection.execute(sql).fetchall()
    both = rows(tmp_path, sql)
    assert sorted(both) == sorted(alone)
    assert len(both) == 4_499
    assert "4,499 already stored" in run(tmp_path, "log", "import", "large.jsonl").out
    assert sorted(rows(tmp_path, sql)) == sorted(alone)


@pytest.mark.skipif(processors() < 2 or sys.platform != "linux", reason="one processor reads alone")
def test_what_a_lost_process_leaves_is_read_here(tmp_path: Path) -> None:
    write(tmp_path / "large.jsonl", [line(number, pad="x" * 900, **GOOD) for number in range(12_000)])
    command = [sys.executable, "-m", "skillgate", "log", "import", "large.jsonl", "-q"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not (found := children.read_text(encoding="ascii").split()):
            assert process.poll() is None
        os.kill(int(found[0]), signal.SIGKILL)
        out, _ = process.communicate()
    assert (process.returncode, out.split(";")[0]) == (0, "1 file, 12,000 new")
    assert rows(tmp_path) == [(12_000,)]


@pytest.mark.parametrize("wait_s", [0.3, 0.6, 0.9])
def test_a_killed_import_leaves_all_of_a_file_or_nothing(tmp_path: Path, wait_s: float) -> None:
    write(tmp_path / "first.jsonl", [line(number, skill="first", **GOOD) for number in range(10)])
    write(tmp_path / "large.jsonl", [line(number, pad=1, **GOOD) for number in range(20_000)])
    assert run(tmp_path, "log", "import", "first.jsonl").code == 0
    command = [sys.executable, "-m", "skillgate", "log", "import", "large.jsonl"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        with_limit = time.monotonic() + wait_s
        while process.poll() is None and time.monotonic() < with_limit:
            pass
        process.send_signal(signal.SIGKILL)
    assert rows(tmp_path)[0][0] in (10, 20_010)
    done = run(tmp_path, "log", "import", "large.jsonl", "--json")
    assert done.code == 0
    assert rows(tmp_path) == [(20_010,)]


def test_a_store_that_cannot_be_made_is_told_before_anything_is_read(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(1, **GOOD)])
    (tmp_path / "store.db").write_text("not a database", encoding="utf-8")
    done = run(tmp_path, "log", "import", "runs.jsonl", "--store", "store.db")
    assert done.code == 2
    assert "not a SQLite database" in done.err


def test_a_store_is_joined_with_another_one(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [line(number, **GOOD) for number in range(3)])
    write(tmp_path / "b.jsonl", [line(number, **GOOD) for number in range(2, 5)])
    for name in "ab":
        assert run(tmp_path, "log", "import", f"{name}.jsonl", "--store", f"{name}.db").code == 0
    done = run(tmp_path, "log", "import", "a.db", "b.db")
    assert (done.code, done.err) == (0, "")
    assert done.out == "2 files, 5 new, 1 already stored; rubric 1.1, store .skillgate/store.db\n"
    assert run(tmp_path, "log", "import", "a.db", "b.db").out.startswith("2 files, 0 new, 6 already stored;")
    direct = run(tmp_path, "log", "import", "a.jsonl", "b.jsonl")
    assert direct.out.startswith("2 files, 0 new, 6 already stored;")
    (tmp_path / "foreign.db").touch()
    with closing(sqlite3.connect(tmp_path / "foreign.db")) as connection, connection:
        connection.execute("CREATE TABLE notes (text)")
    refused = run(tmp_path, "log", "import", "foreign.db")
    assert (refused.code, "another program's database" in refused.err) == (2, True)


STATE = "SELECT invocation_id, user_accepted, origin, added FROM invocations ORDER BY invocation_id"


def rows_of(path: Path, sql: str = STATE) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.execute(sql))


def source(folder: Path, name: str, *words: str, extra: dict[str, Any] | None = None) -> Path:
    """Write a store with one invocation, and options of its import."""
    write(folder / f"{name}.jsonl", [line(1, **{**GOOD, **(extra or {})})])
    assert run(folder, "log", "import", f"{name}.jsonl", "--store", f"{name}.db", *words).code == 0
    return folder / f"{name}.db"


def by_hand(folder: Path, store: str, *fields: str) -> None:
    ((name, *_),) = rows_of(folder / store)
    sets = [word for field in fields for word in ("--set", field)]
    assert run(folder, "log", "add", "--id", name, "--update", "--store", store, *sets).code == 0


def test_joining_keeps_fields_added_by_hand_and_projects(tmp_path: Path) -> None:
    for name in "ab":
        source(tmp_path, name, "--project", f"team-{name}")
    by_hand(tmp_path, "a.db", "user_accepted=true")
    by_hand(tmp_path, "b.db", "user_used_output=true", "user_accepted=false")
    assert run(tmp_path, "log", "import", "a.db").code == 0
    ours = tmp_path / ".skillgate/store.db"
    assert [row[1:3] for row in rows_of(ours)] == [(1, "team-a")]
    assert "1 replaced" in run(tmp_path, "log", "import", "b.db").out
    ((_, accepted, origin, added),) = rows_of(ours)
    assert (accepted, origin, json.loads(added)) == (0, "team-a", {"user_accepted": False, "user_used_output": True})
    assert "1 already stored" in run(tmp_path, "log", "import", "b.db").out
    assert run(tmp_path, "log", "import", "a.jsonl", "--update").code == 0
    assert rows_of(ours)[0][1] == 0
    assert run(tmp_path, "log", "import", "a.db", "--store", "new.db", "--project", "all").code == 0
    assert [row[1:3] for row in rows_of(tmp_path / "new.db")] == [(1, "all")]


def test_a_join_does_not_change_its_source(tmp_path: Path) -> None:
    store = source(tmp_path, "a")
    with closing(sqlite3.connect(store)) as connection, connection:  # a store of an earlier version
        connection.execute("DROP TABLE synced_files")
        connection.execute("UPDATE skillgate_schema SET version_num = '0006'")
    before, names = store.read_bytes(), sorted(tmp_path.iterdir())
    assert run(tmp_path, "log", "import", "a.db", "--store", "b.db").code == 0
    assert store.read_bytes() == before
    assert [one for one in sorted(tmp_path.iterdir()) if not one.name.startswith("b.db")] == names


def test_a_join_brings_no_text_into_a_store_without_it(tmp_path: Path) -> None:
    texts = {"skill_name": "a letter to Bob", "model": "model of Bob", "note": "call Bob", "effort": 3}
    source(tmp_path, "a", "--keep-text", extra=texts)
    assert b"Bob" in (tmp_path / "a.db").read_bytes()
    assert run(tmp_path, "log", "import", "a.db", "--store", "b.db").code == 0
    assert b"Bob" not in (tmp_path / "b.db").read_bytes()
    assert rows_of(tmp_path / "b.db", "SELECT model, extra FROM invocations") == [(None, '{"effort":3}')]
    assert run(tmp_path, "log", "import", "a.db", "--store", "c.db", "--keep-text").code == 0
    assert rows_of(tmp_path / "c.db", "SELECT model FROM invocations") == [("model of Bob",)]


def test_a_store_with_a_digest_that_is_none_is_refused(tmp_path: Path) -> None:
    store = source(tmp_path, "a")
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE invocations SET digest = ?", ("a sentence of thirty-two letters",))
    done = run(tmp_path, "log", "import", "a.db", "--store", "b.db")
    assert (done.code, "digest is 'a sentence of" in done.err) == (3, True)
    assert rows_of(tmp_path / "b.db") == []


def test_a_project_replaces_the_origin_of_stored_invocations_only_in_an_update(tmp_path: Path) -> None:
    source(tmp_path, "a")
    before = rows_of(tmp_path / "a.db")
    words = ("log", "import", "a.jsonl", "--store", "a.db", "--project", "mine")
    done = run(tmp_path, *words)
    assert (done.code, "use --update to replace it by --project" in done.err) == (0, True)
    assert rows_of(tmp_path / "a.db") == before
    assert "1 replaced" in run(tmp_path, *words, "--update").out
    assert [row[2] for row in rows_of(tmp_path / "a.db")] == ["mine"]
    again = run(tmp_path, *words)
    assert (again.code, again.err) == (0, "")
