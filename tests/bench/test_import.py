"""`bench import`: rows become a benchmark that is valid and runs; what does not fit is named by its place."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import answering, run, skill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.cli.running import Done

TOOLS = [{"tool_name": "Weather", "api_name": "forecast", "required_parameters": []}]


def gaia(identifier: str = "g1", **changes: Any) -> dict[str, Any]:
    row = {"task_id": identifier, "Question": "Who?", "Level": 1, "Final answer": "Ada", "file_name": "", **changes}
    return {key: value for key, value in row.items() if value is not None}


def tool(identifier: int = 1, **changes: Any) -> dict[str, Any]:
    row = {"query_id": identifier, "query": "Rain?", "api_list": TOOLS, "answer": {"api": "forecast"}, **changes}
    return {key: value for key, value in row.items() if value is not None}


def imported(cwd: Path, rows: list[Mapping[str, Any] | str], *words: str) -> Done:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (cwd / "data.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return run(cwd, "bench", "import", "data.jsonl", "--output", "b.json", *words)


def tasks(cwd: Path) -> list[Any]:
    found: list[Any] = json.loads((cwd / "b.json").read_text(encoding="utf-8"))["tasks"]
    return found


def test_the_directory_of_benchmarks_is_made_where_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"input": "a", "expected": "b"}\n', encoding="utf-8")
    words = ("bench", "import", "data.jsonl", "--map", "input=input,expected=expected")
    done = run(tmp_path, *words, "--output", "benchmarks/own.json")
    assert (done.code, done.err) == (0, "")
    assert "own" in run(tmp_path, "bench", "list").out


def test_a_copy_of_gaia_becomes_a_benchmark_that_is_valid_and_runs(tmp_path: Path) -> None:
    rows: list[Mapping[str, Any] | str] = [gaia("a"), "", gaia("b", **{"Final answer": 1204.5, "Level": 2})]
    done = imported(tmp_path, rows, "--like", "gaia-v1")
    assert (done.code, done.err) == (0, "")
    assert run(tmp_path, "bench", "validate", "b.json").code == 0
    whole = json.loads((tmp_path / "b.json").read_text())
    assert (whole["id"], whole["version"], whole["metadata"]["importedFrom"]) == ("gaia-v1", "1.0.0", "data.jsonl")
    assert [task["tags"] for task in whole["tasks"]] == [["level-1"], ["level-2"]]
    skill(tmp_path / "s", answering("'ADA' if data['question'] == 'Who?' else 0"))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    statuses = {one["taskId"]: one["status"] for one in done.json["reports"][0]["taskResults"]}
    assert statuses == {"a": "pass", "b": "fail"}
    assert tasks(tmp_path)[1]["expectedOutput"] == {"type": "quasi_exact", "value": "1204.5"}
    assert "digits" in tasks(tmp_path)[1]["inputData"]["statement"]


def test_a_benchmark_that_is_imported_takes_the_place_of_its_placeholder(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    assert run(tmp_path, "eval", "--skills", ".", "--benchmark", "gaia-v1").code == 2
    imported(tmp_path, [gaia()], "--like", "gaia-v1")
    (tmp_path / "b.json").rename(tmp_path / "benchmarks/gaia.json")
    skill(tmp_path / "s", answering("'Ada'"))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "gaia-v1", "--json", "--exit-on-fail")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("nonsense", ":2:1: not JSON"),
        ('{"task_id": "x", "task_id": "y"}', ":2: not JSON: duplicate key 'task_id'"),
        ('{"a": NaN}', ":2: not JSON: NaN"),
        ("[1]", ":2: expected one JSON object"),
        ('"' + "x" * 5_000_001 + '"', ":2: longer than 5,000,000 bytes"),
        ("[" * 100_000, ":2 is nested too deeply"),
        (gaia(Question=None), ":2: 'Question' is missing; found: task_id"),
        (gaia("x", Question=" "), ":2: 'Question': expected a non-empty string"),
        (gaia("x", **{"Final answer": ["a"]}), ":2: 'Final answer': expected a string or a number"),
        (gaia(True), ":2: 'task_id': expected a string"),  # type: ignore[arg-type]
        (gaia("x" * 201), ":2: id: expected 1 to 200 characters"),
        ('{"task_id": 1e999}', ":2: 'Final answer' is missing"),
        (gaia("first"), ":2: duplicate id 'first'"),
    ],
)
def test_a_bad_line_is_named_by_its_number_and_keeps_no_other_out(tmp_path: Path, row: Any, told: str) -> None:
    done = imported(tmp_path, [gaia("first"), row, gaia("last")], "--like", "gaia-v1")
    assert (done.code, f"data.jsonl{told}" in done.err) == (1, True), done.err
    assert [task["id"] for task in tasks(tmp_path)] == ["first", "last"]


def test_nothing_is_written_where_no_line_is_a_task(tmp_path: Path) -> None:
    several: list[list[Mapping[str, Any] | str]] = [["{}", "nonsense"], [], [gaia(**{"Final answer": "?"})]]
    for rows in several:
        done = imported(tmp_path, rows, "--like", "gaia-v1")
        assert done.code == 2
        assert "nothing was written" in done.err
        assert not (tmp_path / "b.json").exists()


def test_many_bad_lines_are_told_shortly(tmp_path: Path) -> None:
    done = imported(tmp_path, ["{"] * 500, "--like", "gaia-v1")
    assert len(done.err.splitlines()) < 30
    assert "and 480 more" in done.err


@pytest.mark.parametrize("words", [(), ("--attachments", "files")])
def test_tasks_that_need_a_file_are_left_out_unless_it_is_there(tmp_path: Path, words: tuple[str, ...]) -> None:
    rows: list[Mapping[str, Any] | str] = [
        gaia("plain"),
        gaia("picture", file_name="a.png"),
        gaia("below", file_name="more/c.png"),
        gaia("gone", file_name="b.png"),
        gaia("outside", file_name="../outside.txt"),
        gaia("absolute", file_name=str(tmp_path / "outside.txt")),
        gaia("linked", file_name="link.txt"),
        gaia("nowhere", file_name="more/../../../gone.txt"),
    ]
    folder = tmp_path / "set" / "files" if words else tmp_path / "set"
    (folder / "more").mkdir(parents=True)
    for file in ("a.png", "more/c.png", "../outside.txt"):
        (folder / file).write_bytes(b"x")
    (tmp_path / "outside.txt").write_bytes(b"x")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    done = imported(tmp_path / "set", rows, "--like", "gaia-v1", *words, "--json")
    assert (done.code, done.json["tasks"], len(done.json["leftOut"])) == (1, 3, 1)
    assert "needs the file 'b.png', which is not in the attachments directory" in done.json["leftOut"][0]
    assert ["is outside the attachments directory" in line for line in done.json["bad"]] == [True] * 4
    found = {task["id"]: task for task in tasks(tmp_path / "set")}
    assert found["picture"]["inputData"]["file"] == str(folder / "a.png")
    assert found["below"]["tags"] == ["level-1", "attachment"]


ANNOTATED = {
    "Annotator Metadata": {"Steps": "1. Look.", "Number of steps": "1", "Tools": "1. None", "Number of tools": "0"},
    "file_path": "",
}
FORECAST, NOW = ({"category_name": "Sky", "tool_name": "Weather", "api_name": name} for name in ("forecast", "now"))


def parquet(file: Path, rows: list[dict[str, Any]]) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=2)


def as_list(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text(json.dumps(rows, indent=4), encoding="utf-8-sig")


def as_lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize(
    ("write", "place"),
    [(as_lines, "set.bin:{0}"), (as_list, "set.bin[{1}]"), (parquet, "set.bin: row {0}")],
)
def test_a_row_is_the_same_task_in_every_format(tmp_path: Path, write: Any, place: str) -> None:
    rows = [gaia(str(number), Level=str(number % 3 + 1), **ANNOTATED) for number in range(5)]
    rows[1]["Final answer"] = "?"
    rows[3]["Question"] = ""
    write(tmp_path / "set.bin", rows)
    done = run(tmp_path, "bench", "import", "set.bin", "--like", "gaia-v1", "--output", "b.json", "--json")
    assert (done.code, done.json["tasks"]) == (1, 3), done.err
    assert done.json["leftOut"] == [
        place.format(2, 1) + ": has no answer (answers of the test split are not published)"
    ]
    assert done.json["bad"] == [place.format(4, 3) + ": 'Question': expected a non-empty string"]
    assert [(task["id"], task["tags"]) for task in tasks(tmp_path)] == [
        ("0", ["level-1"]),
        ("2", ["level-3"]),
        ("4", ["level-2"]),
    ]
    text = (tmp_path / "b.json").read_text(encoding="utf-8")
    assert "Look" not in text  # what annotators wrote gives the answer away


def test_instruction_files_of_toolbench_in_every_published_shape(tmp_path: Path) -> None:
    apis = [FORECAST, NOW]
    plain = {"query": "Rain?", "api_list": apis, "relevant APIs": [["Weather", "forecast"], ["Weather", "now"]]}
    as_list(tmp_path / "list.json", [{**plain, "query_id": 7}])
    strings = {"query": "Rain?", "api_list": json.dumps(apis), "relevant_apis": json.dumps(plain["relevant APIs"])}
    parquet(tmp_path / "strings.parquet", [{**strings, "query_id": "7"}])
    columns = {key: [api[key] for api in apis] for key in FORECAST}
    relevant = {key: columns[key] for key in ("tool_name", "api_name")}
    parquet(
        tmp_path / "columns.parquet",
        [{"query_id": 7, "query": "Rain?", "api_list": columns, "relevant APIs": relevant}],
    )
    found = []
    for name in ("list.json", "strings.parquet", "columns.parquet"):
        done = run(tmp_path, "bench", "import", name, "--like", "toolbench-lite", "--output", "b.json", "--force")
        assert done.code == 0, done.err
        found += tasks(tmp_path)
    assert found[0] == found[1] == found[2]
    assert found[0]["inputData"]["tools"] == apis
    calls = "[{'tool': 'Weather', 'api': name} for name in %s]"
    for names, passes in (
        (["now", "forecast"], True),
        (["forecast"], False),
        (["now", "now"], False),
        (["now", "forecast", "now"], False),
    ):
        skill(tmp_path / "s", answering(calls % names))
        done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json")
        assert (done.json["reports"][0]["taskResults"][0]["status"] == "pass") is passes, names


def test_dialogues_for_training_are_no_tasks(tmp_path: Path) -> None:
    as_list(tmp_path / "data.json", [{"id": "a", "conversations": [{"from": "user", "value": "Rain?"}]}])
    done = run(tmp_path, "bench", "import", "data.json", "--like", "toolbench-lite", "--output", "b.json")
    assert (done.code, "data.json[0]: is a dialogue for training" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PAR1 and nothing else", "data: not readable as Parquet"),
        (b"PAR1", "data: not readable as Parquet"),
        (b"[{}, ", "data:1:6: not JSON"),
        (b"[1]", "data[0]: expected one JSON object"),
        (b"[]", "no row is a valid task"),
        (b"", "no row is a valid task"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    if content.startswith(b"PAR1"):
        pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    (tmp_path / "data").write_bytes(content)
    done = run(tmp_path, "bench", "import", "data", "--like", "gaia-v1", "--output", "b.json")
    assert (done.code, message in done.err, "Traceback" in done.err) == (2, True, False), done.err


def test_values_of_parquet_that_json_does_not_have_are_refused(tmp_path: Path) -> None:
    parquet(tmp_path / "t.parquet", [{"q": "a", "a": datetime(2026, 1, 1, tzinfo=UTC)}, {"q": "b", "a": None}])
    words = ("bench", "import", "t.parquet", "--map", "input=q,expected=a", "--output", "b.json")
    done = run(tmp_path, *words)
    assert (done.code, "t.parquet: row 1: not representable as JSON" in done.err) == (1, True), done.err


def repeated(file: Path, value: str, count: int) -> None:
    """Write Parquet with ``count`` rows of one value, which it has once."""
    pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    column = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array([value]))
    pq.write_table(pa.table({"q": column, "a": column}), file, compression="zstd", store_schema=False)


def test_a_small_parquet_file_with_many_large_rows_takes_little_memory(tmp_path: Path) -> None:
    repeated(tmp_path / "t.parquet", "x" * 2_000_000, 200)
    assert (tmp_path / "t.parquet").stat().st_size < 20_000
    pa = pytest.importorskip("pyarrow")
    words = ("bench", "import", "t.parquet", "--map", "input=q,expected=a", "--output", "b.json")
    done = run(tmp_path, *words)
    assert (done.code, "would be larger than 20,000,000 bytes; import its rows in parts" in done.err) == (2, True)
    assert pa.default_memory_pool().max_memory() < 100_000_000


def test_parquet_with_too_many_rows_is_refused(tmp_path: Path) -> None:
    repeated(tmp_path / "t.parquet", "x", 1_000_001)
    done = run(tmp_path, "bench", "import", "t.parquet", "--map", "input=q,expected=a", "--output", "b.json")
    assert (done.code, "t.parquet: more than 1,000,000 rows; import it in parts" in done.err) == (2, True), done.err


def test_parquet_without_its_extra_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    code = "import sys; sys.modules['pyarrow'] = None; from skillgate.cli.main import entry; entry()"
    words = ["bench", "import", "t.parquet", "--like", "gaia-v1", "--output", "b.json"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "pip install 'skillgate-action[parquet]'" in done.stderr) == (2, True), done.stderr


def test_rows_in_the_style_of_toolbench_are_mapped_by_what_they_expect(tmp_path: Path) -> None:
    rows: list[Mapping[str, Any] | str] = [
        tool(1),
        tool(2, answer=None, **{"relevant APIs": [["Weather", "forecast"]]}),
        tool(3, answer=None, criteria="names the weather"),
        tool(5, answer=None),
        tool(6, api_list=None),
        tool(7, answer=None, **{"relevant APIs": ["Weather"]}),
        tool(8, query_id=None),
        tool(9, answer=" "),  # a skill that says nothing would give it
        tool(10, answer="", **{"relevant APIs": [["Weather", "forecast"], ["Weather", "radar"]]}),
    ]
    done = imported(tmp_path, rows, "--like", "toolbench-lite", "--json")
    assert (done.code, len(done.json["bad"]), len(done.json["leftOut"])) == (1, 4, 0)
    found = {task["id"]: task["expectedOutput"] for task in tasks(tmp_path)}
    assert [found.pop(name)["schema"]["maxItems"] for name in ("2", "10")] == [1, 2]
    assert found == {
        "1": {"type": "exact", "value": {"api": "forecast"}},
        "3": {"type": "llm_judge", "judgePrompt": "names the weather"},
        "query-7": {"type": "exact", "value": {"api": "forecast"}},
    }


def test_any_lines_are_mapped_by_their_fields(tmp_path: Path) -> None:
    rows: list[Mapping[str, Any] | str] = [
        {"no": 7, "q": "1+1", "a": 2, "kind": "math"},
        {"no": 8, "q": {"text": "x"}, "a": None, "kind": ["text", "short"]},
        {"no": 9, "q": "1+1"},
    ]
    done = imported(tmp_path, rows, "--map", "id=no, input=q, expected=a, tags=kind", "--id", "mine")
    assert done.code == 1
    assert "data.jsonl:3: 'a' is missing" in done.err
    assert tasks(tmp_path) == [
        {"id": "7", "inputData": {"input": "1+1"}, "expectedOutput": {"type": "exact", "value": 2}, "tags": ["math"]},
        {
            "id": "8",
            "inputData": {"text": "x"},
            "expectedOutput": {"type": "exact", "value": None},
            "tags": ["text", "short"],
        },
    ]
    assert run(tmp_path, "bench", "validate", "b.json").code == 0
    imported(tmp_path, [{"q": 1, "a": 2}], "--map", "input=q,expected=a", "--force")
    whole = json.loads((tmp_path / "b.json").read_text())
    assert (whole["id"], whole["tasks"][0]["id"]) == ("data", "line-1")


def test_what_json_can_hold_and_files_cannot_is_dealt_with(tmp_path: Path) -> None:
    rows: list[Mapping[str, Any] | str] = [
        {"q": "half \ud800\\\ud800", "a": "\x1b[31m"},
        '{"q": "large", "a": 1e999}',
        '{"q": ' + "[" * 900 + "]" * 900 + ', "a": 1}',
    ]
    done = imported(tmp_path, rows, "--map", "input=q,expected=a")
    assert (done.code, "data.jsonl:2: not representable as JSON" in done.err) == (1, True), done.err
    assert tasks(tmp_path)[0]["inputData"] == {"input": "half \ud800\\\ud800"}
    assert run(tmp_path, "bench", "validate", "b.json").code == 0
    (tmp_path / "files").mkdir()
    names = [gaia(str(number), file_name=name) for number, name in enumerate(("a\0b", "\ud800", "x" * 5000, "."))]
    done = imported(tmp_path, [gaia("plain"), *names], "--like", "gaia-v1", "--attachments", "files", "--force")
    assert (done.code, [task["id"] for task in tasks(tmp_path)]) == (0, ["plain"])
    assert done.err.count("is not in the attachments directory") == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "--like"),
        (("--like", "gaia-v1", "--map", "input=q,expected=a"), "--like"),
        (("--like", "gaia-v2"), "invalid choice"),
        (("--map", "input=q"), "--map: expected missing"),
        (("--map", "input=q,expected"), "found 'expected'"),
        (("--map", "input=q,input=r,expected=a"), "input is given twice"),
        (("--map", "answer=q"), "found 'answer=q'"),
        (("--like", "gaia-v1", "--id", "No/Good"), "id: expected letters"),
        (("--like", "gaia-v1", "--benchmark-version", "1"), "version: expected a semantic version"),
        (("--like", "gaia-v1", "--attachments", "gone"), "there is no such directory"),
        (("--like", "gaia-v1", "--output", "gone/b.json"), "cannot write gone/b.json"),
        (("--like", "gaia-v1", "--output", "data.jsonl", "--force"), "is also the input file"),
        (("--like", "gaia-v1", "--output", "SKILL.md"), "cannot write SKILL.md"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_and_nothing_written(
    tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    done = imported(tmp_path, [gaia()], *words)
    assert (done.code, told in done.err) == (2, True), done.err
    assert {path.name for path in tmp_path.iterdir()} == {"data.jsonl"}


def test_a_file_that_is_there_is_overwritten_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("mine", encoding="utf-8")
    done = imported(tmp_path, [gaia()], "--like", "gaia-v1")
    assert (done.code, "--force" in done.err) == (2, True)
    assert (tmp_path / "b.json").read_text() == "mine"
    assert imported(tmp_path, [gaia()], "--like", "gaia-v1", "--force").code == 0
    assert len(tasks(tmp_path)) == 1


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for name in ("gone.jsonl", "."):
        done = run(tmp_path, "bench", "import", name, "--like", "gaia-v1", "--output", "b.json")
        assert (done.code, name in done.err) == (2, True)
