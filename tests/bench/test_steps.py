"""Tasks of several calls in one session of an MCP server: checks, values of earlier answers, setup and teardown."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

pytest.importorskip("mcp", reason="mcp is of an extra")

# A server with a memory, by hand: it needs only Python's standard library. What it stores is also in a file.
SERVER = """\
import json, os, sys
FILE = "store.json"
TOOLS = ["put", "get", "drop", "size", "fail", "die", "place"]
def store():
    return json.load(open(FILE)) if os.path.exists(FILE) else {}
def save(data):
    json.dump(data, open(FILE, "w"))
def call(name, data):
    kept = store()
    if name == "put":
        number = str(len(kept) + 1)
        save({**kept, number: data["value"]})
        return {"id": number, "value": data["value"]}
    if name == "get":
        return {"value": kept[data["id"]]}
    if name == "drop":
        del kept[data["id"]]
        return save(kept) or {"left": len(kept)}
    if name == "size":
        return {"size": len(kept)}
    if name == "place":
        return {"path": os.environ["PLACE"], "cwd": os.getcwd()}
    if name == "die":
        os._exit(3)
    raise KeyError("this tool always fails")
def answer(asked):
    if asked["method"] == "initialize":
        info = {"name": "x", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if asked["method"] == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    try:
        found = call(asked["params"]["name"], asked["params"].get("arguments") or {})
    except KeyError as error:
        return {"content": [{"type": "text", "text": f"refused: {error}"}], "isError": True}
    return {"content": [], "structuredContent": found}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked)}), flush=True)
"""

PUT = {"tool": "put", "inputData": {"value": "x"}, "capture": {"id": "/id"}}
GET = {"tool": "get", "inputData": {"id": "{{id}}"}}
SIZE = {"tool": "size", "inputData": {}}


def exact(value: Any) -> dict[str, Any]:
    return {"type": "exact", "value": value}


def fails(words: str) -> dict[str, Any]:
    return {"tool": "fail", "expectedOutput": {"type": "error", "contains": words}}


def steps(identifier: str, *calls: dict[str, Any], expected: Any, **changes: Any) -> dict[str, Any]:
    return {"id": identifier, "steps": list(calls), "expectedOutput": exact(expected), **changes}


def evaluated(
    cwd: Path, *tasks: dict[str, Any], config: dict[str, Any] | None = None, words: tuple[str, ...] = ()
) -> Done:
    skill(cwd / "s", SERVER, adapterType="mcp", config={"env": {"PLACE": "{workDir}/x"}, **(config or {})})
    benchmark(cwd / "b.json", *tasks)
    return run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--no-store", *words)


def results(done: Done) -> list[dict[str, Any]]:
    assert done.out, done.err
    found: list[dict[str, Any]] = done.json["reports"][0]["taskResults"]
    return found


def result(cwd: Path, *tasks: dict[str, Any], **more: Any) -> dict[str, Any]:
    (found,) = results(evaluated(cwd, *tasks, **more))
    return found


def test_a_later_step_uses_a_value_of_an_earlier_answer(tmp_path: Path) -> None:
    found = result(tmp_path, steps("t", PUT, GET, expected={"value": "x"}))
    assert (found["status"], found["score"]) == ("pass", 1), found
    assert found["output"]["value"] == [
        {"step": "step 1", "output": {"id": "1", "value": "x"}},
        {"step": "step 2", "output": {"value": "x"}},
    ]


def test_the_tasks_input_is_values_of_its_steps(tmp_path: Path) -> None:
    put = {**PUT, "inputData": {"value": {"name": "{{who}}", "text": "for {{who}}, {{many}}"}}}
    expected = {"value": {"name": "Ada", "text": "for Ada, 3"}}
    assert result(tmp_path, steps("t", put, GET, expected=expected, inputData={"who": "Ada", "many": 3}))["score"] == 1


@pytest.mark.parametrize(
    ("calls", "expected", "status", "score", "words"),
    [
        ([{**PUT, "expectedOutput": exact({"id": "1", "value": "x"})}, GET], {"value": "x"}, "pass", 1, ""),
        ([{**PUT, "expectedOutput": exact("y")}, GET], {"value": "x"}, "fail", 0, "step 1: "),
        ([{**PUT, "expectedOutput": exact({"id": "1", "value": "x"})}, GET], 5, "fail", 0.5, "expected 5"),
        ([{**PUT, "capture": {"id": "/no"}}, GET], {"value": "x"}, "fail", 0, "step 1: the answer has no value at /no"),
        ([{"tool": "fail"}, SIZE], {"size": 0}, "error", 0, "step 1: the tool reported an error"),
        ([{"tool": "die"}, SIZE], {"size": 0}, "error", 0, "step 1: "),
        (
            [{"tool": "fail", "expectedOutput": {"type": "error", "contains": "always"}}, SIZE],
            {"size": 0},
            "pass",
            1,
            "",
        ),
        (
            [{"tool": "fail", "expectedOutput": {"type": "error", "contains": "no"}}, SIZE],
            {"size": 0},
            "fail",
            0,
            "step 1: ",
        ),
        ([{**SIZE, "expectedOutput": {"type": "error"}}, SIZE], {"size": 0}, "fail", 0, "expected an error"),
    ],
)
def test_the_first_step_that_fails_ends_the_task(
    tmp_path: Path, calls: list[dict[str, Any]], expected: Any, status: str, score: float, words: str
) -> None:
    found = result(tmp_path, steps("t", *calls, expected=expected))
    assert (found["status"], found["score"]) == (status, score), found
    assert words in f"{found['reason']} {found['error']}"


def test_the_last_step_may_be_a_refusal(tmp_path: Path) -> None:
    drop = {"tool": "drop", "inputData": {"id": "{{id}}"}}
    gone = {"id": "t", "steps": [PUT, drop, GET], "expectedOutput": {"type": "error", "contains": "refused"}}
    unknown = {"id": "u", "tool": "nothing", "expectedOutput": {"type": "error"}}
    assert [one["status"] for one in results(evaluated(tmp_path, gone, unknown))] == ["pass", "pass"]


def test_a_single_call_has_a_setup_and_a_teardown_too(tmp_path: Path) -> None:
    one = task(tool="get", inputData={"id": "{{id}}"}, expectedOutput=exact({"value": "x"}), setup=[PUT])
    two = {**one, "id": "t2", "teardown": [{"tool": "fail"}, {"tool": "drop", "inputData": {"id": "{{id}}"}}]}
    three = {**one, "id": "t3", "setup": [{"tool": "fail"}, PUT]}
    first, second, third = results(evaluated(tmp_path, one, two, three))
    assert (first["status"], first["reason"], first["output"]["value"]) == ("pass", "equal", {"value": "x"}), first
    assert second["status"] == "pass"
    assert "teardown 1: the tool reported an error" in second["reason"]
    assert (third["status"], third["errorKind"]) == ("error", "tool")
    assert third["error"].startswith("setup 1: ")


def test_the_time_limit_is_for_all_steps_together(tmp_path: Path) -> None:
    sleeper = SERVER.replace('if name == "size":', 'if name == "size":\n        import time; time.sleep(0.8)')
    skill(tmp_path / "s", sleeper, adapterType="mcp")
    benchmark(tmp_path / "b.json", steps("t", *[SIZE] * 20, expected={"size": 0}, timeoutMs=4000))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--no-store")
    (found,) = results(done)
    assert (found["status"], found["latencyMs"]) == ("timeout", 4000), found
    assert "the task took longer than 4 s" in found["error"]


def test_neither_order_nor_concurrency_changes_a_result(tmp_path: Path) -> None:
    """Every task writes to the server's file, and expects that no other task did."""
    tasks = [steps(f"t{number}", PUT, SIZE, expected={"size": 1}) for number in range(6)]
    tasks.append({"id": "empty", **SIZE, "expectedOutput": exact({"size": 0})})
    shuffled = tasks[:]
    random.Random(7).shuffle(shuffled)
    for order, many in ((tasks, "1"), (tasks, "8"), (shuffled, "4")):
        found = results(evaluated(tmp_path, *order, words=("--concurrency", many)))
        assert {one["status"] for one in found} == {"pass"}, found
    assert not (tmp_path / "s/store.json").exists()


def test_a_shared_session_is_a_choice(tmp_path: Path) -> None:
    tasks = [steps(f"t{number}", PUT, SIZE, expected={"size": number}) for number in (1, 2)]
    tasks.append({"id": "t3", **SIZE, "expectedOutput": exact({"size": 2})})
    config = {"restart": "per-run", "workDir": "copy"}
    found = results(evaluated(tmp_path, *tasks, config=config, words=("--concurrency", "1")))
    assert [one["status"] for one in found] == ["pass", "pass", "pass"], found


def test_a_variable_can_name_the_directory_of_the_process(tmp_path: Path) -> None:
    found = result(tmp_path, {"id": "t", "tool": "place", "expectedOutput": {"type": "contains", "keywords": ["/x"]}})
    assert found["output"]["value"]["path"] == found["output"]["value"]["cwd"] + "/x"


def test_steps_of_a_program_are_calls_of_it(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("{'n': data['n'] + 1}"))
    first = {"inputData": {"n": 1}, "capture": {"n": "/n"}}
    benchmark(tmp_path / "b.json", steps("t", first, {"inputData": {"n": "{{n}}"}}, expected={"n": 3}))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--no-store")
    assert results(done)[0]["status"] == "pass", results(done)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"steps": [GET]}, "steps[0].inputData: no earlier step captures {{id}}"),
        ({"steps": [{**PUT, "capture": {"a b": "/id"}}]}, "steps[0].capture: expected letters, digits and _"),
        ({"steps": [{**PUT, "capture": {"id": "id"}}]}, "steps[0].capture.id: expected a JSON pointer"),
        ({"steps": [{**PUT, "expectedOutput": {"value": 1}}]}, "steps[0].expectedOutput.type: required in a step"),
        ({"steps": [{**PUT, "expectedOutput": {"type": "regex"}}]}, "steps[0].expectedOutput.patterns: required"),
        (
            {"setup": [{**PUT, "expectedOutput": {"type": "llm_judge", "judgePrompt": "x"}}]},
            "setup[0].expectedOutput.type: llm_judge cannot check a step",
        ),
        ({"teardown": [{**PUT, "expected": 1}]}, "teardown[0].expected"),
        ({"tool": "get", "inputData": {"id": "{{ab}}"}, "setup": [{**PUT, "capture": {"abc": "/id"}}]}, "mean 'abc'"),
    ],
)
def test_a_wrong_step_is_refused_before_anything_runs(tmp_path: Path, wrong: dict[str, Any], words: str) -> None:
    done = evaluated(tmp_path, {"id": "t", "expectedOutput": exact(1), **wrong})
    assert (done.code, words in done.err) == (2, True), done.err


def test_other_kinds_of_skills_have_no_tools(tmp_path: Path) -> None:
    skill(tmp_path / "s")
    benchmark(tmp_path / "b.json", task(tool="get"))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json")
    assert (done.code, "task 't1' names a tool, which only mcp skills have" in done.err) == (2, True), done.err


def test_the_report_of_a_task_with_steps_is_json(tmp_path: Path) -> None:
    done = evaluated(tmp_path, steps("t", PUT, GET, expected={"value": "x"}), words=("--format", "json,markdown,junit"))
    assert json.loads((tmp_path / "reports/eval-result.json").read_text(encoding="utf-8")) == done.json
