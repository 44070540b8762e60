"""Invocations leave a store as CSV and Parquet, with the same values from both databases."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.invocations.exporting import COLUMNS, export
from skillgate.invocations.records import Selection
from skillgate.model.invocation import Ending
from skillgate.store.invocation_rows import SCORE_COLUMNS
from tests.architecture.source import ROOT
from tests.cli.running import run
from tests.store.invocations_made import NOON, full, invocation, opened, put, score, scored

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.console import Console

NAMES = [column.name for column in COLUMNS]


def printed(folder: Path, place: str, *words: str) -> list[dict[str, str]]:
    """The rows of the CSV that a command prints."""
    done = run(folder, "log", "export", "--store", place, *(words or ("--all",)))
    assert done.code == 0, done.err
    return list(csv.DictReader(io.StringIO(done.out, newline="")))


def parquet(folder: Path, place: str, *words: str) -> Any:
    """The table of an export."""
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    done = run(folder, "log", "export", "--store", place, "--output-file", "out.parquet", *(words or ("--all",)))
    assert done.code == 0, done.err
    return pq.read_table(folder / "out.parquet")


def test_every_field_and_score_is_there_with_its_type(place: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    one = full(1, extra={"n": 1, "flag": True}, model="m", skill_version="1", session_id="s", output_type="code")
    put(opened(place), [scored(one), scored(invocation(2), score(total=None, satisfaction=None))])
    table = parquet(tmp_path, place)
    assert table.column_names == NAMES
    first, second = table.to_pylist()
    for name, value in one._asdict().items():
        wanted = json.dumps(value, separators=(",", ":")) if name == "extra" else getattr(value, "value", value)
        assert first["outcome" if name == "ending" else name] == wanted, name
    assert [first[name] for name in SCORE_COLUMNS] == ["1.1", 25.0, 10.0, 15.0, 20.0, 70.0, 0.9, "analysis"]
    assert (first["timestamp"], first["origin"], first["outcome"]) == (
        NOON + timedelta(seconds=1),
        "made",
        Ending.EXPLAINED_FAILURE.value,
    )
    assert datetime.now(UTC) - first["imported_at"] < timedelta(hours=1)
    assert (second["tokens_input"], second["recovered"], second["quality_score"]) == (None, None, None)
    types = {field.name: (field.type, field.nullable) for field in table.schema}
    assert types["timestamp"] == (pa.timestamp("ms", tz="UTC"), False)
    assert types["tokens_input"] == (pa.int64(), True)
    assert types["duration_ms"] == types["quality_score"] == (pa.float64(), True)
    assert types["recovered"] == (pa.bool_(), True)
    assert types["invocation_id"] == (pa.string(), False)
    in_csv, other = printed(tmp_path, place)
    assert list(in_csv) == NAMES
    assert in_csv["timestamp"] == "2026-03-01T12:00:01Z"
    assert (in_csv["recovered"], in_csv["partial_completion"], other["recovered"]) == ("true", "false", "")
    assert (in_csv["tokens_used"], float(in_csv["user_edit_ratio"])) == (str(2**62), 1 / 3)
    assert json.loads(in_csv["extra"]) == {"n": 1, "flag": True}


def test_skills_window_and_rubric_choose_rows(place: str, tmp_path: Path) -> None:
    store = opened(place)
    put(store, [scored(number) for number in range(10)])
    assert len(printed(tmp_path, place)) == 10
    some = printed(tmp_path, place, "skill-1", "skill-3", "--all")
    assert sorted(row["skill_name"] for row in some) == ["skill-1", "skill-1", "skill-3", "skill-3"]
    window = ("--at", "2026-03-01T12:00:03Z", "--days", "1")
    assert len(printed(tmp_path, place, *window)) == 3
    put(store, [scored(invocation(20, model="m", skill_version="2"))])
    for filters in (
        ("--model", "m"),
        ("--skill-version", "2"),
        ("--project", "made", "--source", "log", "--model", "m"),
    ):
        assert [row["model"] for row in printed(tmp_path, place, "--all", *filters)] == ["m"]
    assert not printed(tmp_path, place, "--all", "--model", "other")
    store.rescore("1.0", lambda _: score("1.0", total=2.0), skill="skill-1", make_current=False)
    rows = printed(tmp_path, place, "--all", "--rubric", "1.0")
    assert sorted(row["quality_score"] for row in rows) == [""] * 9 + ["2.0"] * 2
    done = run(tmp_path, "log", "export", "--all", "--rubric", "1.0", "--store", place)
    assert "9 of them are not scored by rubric 1.0" in done.err
    late = run(tmp_path, "log", "export", "--at", "2020-01-01", "--store", place)
    assert (late.code, late.out.count("\n"), "use --all" in late.err) == (0, 1, True)
    assert parquet(tmp_path, place, "--at", "2020-01-01").num_rows == 0


HOSTILE = ("=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", '"=1', "a,b\r\nc", "\x1b[31mred", "::error::x", "\u202eabc")


def test_no_text_becomes_a_formula_or_a_terminal_command_in_csv(place: str, tmp_path: Path) -> None:
    fields = ("skill_name", "skill_version", "model", "output_type", "session_id")
    made = [invocation(n, **dict.fromkeys(fields, text)) for n, text in enumerate(HOSTILE)]
    put(opened(place), map(scored, made))
    rows = printed(tmp_path, place)
    assert len(rows) == len(HOSTILE)
    for row in rows:
        for name in fields:
            assert not row[name].lstrip().startswith(("=", "+", "-", "@")), row[name]
            assert row[name].isprintable() or "\u200b" in row[name]
    assert [row["model"] for row in rows][:4] == ["'=1+1", "'+1", "'-1", "'@SUM(A1)"]
    assert [row["model"] for row in parquet(tmp_path, place).to_pylist()] == list(HOSTILE)


def test_both_databases_give_the_same(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    place = request.getfixturevalue("postgres").create()
    log = str(ROOT / "examples" / "invocations" / "november.jsonl")
    found = []
    for store in ("store.db", place):
        assert run(tmp_path, "log", "import", log, "--project", "mine", "--store", store).code == 0
        rows = printed(tmp_path, store)
        found.append([{name: cell for name, cell in row.items() if name != "imported_at"} for row in rows])
    assert found[0] == found[1]
    assert len(found[0]) == 138


class Pieces:
    """A sink that counts."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def write(self, data: bytes) -> None:
        self.sizes.append(data.count(b"\n"))


def test_rows_are_written_in_parts(place: str, tmp_path: Path, console: Console) -> None:
    store = opened(place)
    for start in range(0, 9_000, 1_000):
        put(store, [scored(number) for number in range(start, start + 1_000)])
    sink = Pieces()
    done = export(Selection(place, (), "1.1", None, None), [("csv", sink)], console)
    assert (done.rows, sum(sink.sizes), done.unscored) == (9_000, 9_001, 0)
    assert max(sink.sizes) < 5_000


@pytest.fixture
def console(tmp_path: Path) -> Console:
    from skillgate.console import Console

    return Console(stdout=io.StringIO(), stderr=io.StringIO(), environ={}, cwd=str(tmp_path))


def test_a_large_parquet_has_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    monkeypatch.setattr("skillgate.invocations.exporting._GROUP", 5_000)
    store = opened(str(tmp_path / "store.db"))
    put(store, [scored(number) for number in range(9_000)])
    table = parquet(tmp_path, "store.db")
    assert table.num_rows == 9_000
    assert table["invocation_id"].to_pylist() == [invocation(number).invocation_id for number in range(9_000)]
    assert pq.ParquetFile(tmp_path / "out.parquet").num_row_groups == 3


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    put(opened(str(tmp_path / "store.db")), [scored(number) for number in range(5)])
    words = ("log", "export", "--all", "--store", "store.db", "--output-file")
    done = run(tmp_path, *words, "out.csv", "--json")
    assert done.json == {
        **{"kind": "log-export", "store": "store.db", "rows": 5, "unscored": 0},
        **{"rubric_version": "1.1", "files": ["out.csv"]},
    }
    assert run(tmp_path, *words, "out.csv").out == "5 invocations, rubric 1.1: out.csv\n"
    before = (tmp_path / "out.csv").read_bytes()
    assert before.count(b"\r\n") == 6
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE invocations SET imported_at = 'x' WHERE id = 5")
    done = run(tmp_path, *words, "out.csv")
    assert (done.code, "did not write" in done.err) == (3, True)
    assert (tmp_path / "out.csv").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix in {".csv", ".tmp"}) == ["out.csv"]


def test_what_is_refused(tmp_path: Path) -> None:
    put(opened(str(tmp_path / "store.db")), [scored(1)])
    (tmp_path / "link.csv").symlink_to("elsewhere.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "kept.csv").write_text("kept")
    words = ("log", "export", "--all", "--store", "store.db")
    for more, error in (
        (("--output-file", "link.csv"), "symbolic link"),
        (("--output-file", "folder.csv"), "not a regular file"),
        (("--output-file", "missing/out.csv"), "cannot write missing/out.csv"),
        (("--output-file", "out.xlsx"), "ending in .csv or .parquet"),
        (("skill-11", "--output-file", "kept.csv"), "no invocations of 'skill-11' (did you mean"),
        (("--json",), "--json needs --output-file"),
    ):
        done = run(tmp_path, *words, *more)
        assert (done.code, error in done.err) == (2, True), done.err
    assert not (tmp_path / "elsewhere.csv").exists()
    assert (tmp_path / "kept.csv").read_text() == "kept"
