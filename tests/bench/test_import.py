"""`bench import`: lines of JSON become a benchmark that is valid and runs; what does not fit is named by its line."""

from __future__ import annotations

import json
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
    rows: list[Mapping[str, Any] | str] = [gaia("a"), "", gaia("b", **{"Final answer": "1,204.5", "Level": 2})]
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
    assert tasks(tmp_path)[1]["expectedOutput"] == {"type": "numeric", "value": 1204.5}


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


def test_tasks_that_need_a_file_are_left_out_unless_it_is_there(tmp_path: Path) -> None:
    rows: list[Mapping[str, Any] | str] = [
        gaia("plain"),
        gaia("picture", file_name="a.png"),
        gaia("gone", file_name="b.png"),
        gaia("outside", file_name="../data.jsonl"),
    ]
    done = imported(tmp_path, rows, "--like", "gaia-v1", "--json")
    assert (done.code, done.json["tasks"], len(done.json["leftOut"])) == (0, 1, 3)
    assert "needs the file 'a.png'" in done.json["leftOut"][0]
    (tmp_path / "files").mkdir()
    (tmp_path / "files/a.png").write_bytes(b"png")
    done = imported(tmp_path, rows, "--like", "gaia-v1", "--attachments", "files", "--force", "--json")
    assert (done.code, done.json["tasks"]) == (1, 2)
    assert "is outside the attachments directory" in done.json["bad"][0]
    assert "is not in the attachments directory" in done.json["leftOut"][0]
    assert tasks(tmp_path)[1]["inputData"]["file"] == str(tmp_path / "files/a.png")


def test_a_copy_of_toolbench_is_mapped_by_what_it_expects(tmp_path: Path) -> None:
    rows: list[Mapping[str, Any] | str] = [
        tool(1),
        tool(2, answer=None, **{"relevant APIs": [["Weather", "forecast"]]}),
        tool(3, answer=None, criteria="names the weather"),
        tool(4, answer=None, **{"relevant APIs": [["a", "b"], ["c", "d"]]}),
        tool(5, answer=None),
        tool(6, api_list=None),
        tool(7, answer=None, **{"relevant APIs": ["Weather"]}),
        tool(8, query_id=None),
    ]
    done = imported(tmp_path, rows, "--like", "toolbench-lite", "--json")
    assert (done.code, len(done.json["bad"]), len(done.json["leftOut"])) == (1, 3, 1)
    found = {task["id"]: task["expectedOutput"] for task in tasks(tmp_path)}
    assert found == {
        "1": {"type": "exact", "value": {"api": "forecast"}},
        "2": {"type": "exact", "value": {"tool": "Weather", "api": "forecast"}},
        "3": {"type": "llm_judge", "judgePrompt": "names the weather"},
        "query-8": {"type": "exact", "value": {"api": "forecast"}},
    }
    assert "needs 2 calls" in done.json["leftOut"][0]


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
        (("--like", "gaia-v1", "--id", "No Good"), "id: expected lower-case"),
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
