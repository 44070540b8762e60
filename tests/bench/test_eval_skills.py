"""What eval-skills writes runs here unchanged and scores the same, by the formats that it publishes.

``SKILLGATE_EVAL_SKILLS`` is a checkout of it; its five benchmark files are read from there. If it is built, and
``node`` is on PATH, its own verdicts are compared too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import answering, run, skill
from tests.bench.test_http import serving, whole
from tests.bench.test_scorers import scored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.running import Done

TASKS = {
    "id": "My Skill-basic",
    "name": "My Skill Basic Test",
    "version": "1.0.0",
    "domain": "general",
    "scoringMethod": "mean",
    "metadata": {},
    "tasks": [
        {
            "id": "My Skill_test_001",
            "description": "Basic test for My Skill",
            "inputData": {"query": "test input"},
            "expectedOutput": {"type": "contains", "keywords": ["result"]},
            "evaluator": {"type": "contains"},
            "timeoutMs": 30000,
        }
    ],
}
SPEC: dict[str, Any] = {
    "id": "my_skill",
    "name": "My Skill",
    "version": "0.1.0",
    "tags": [],
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    "outputSchema": {"type": "object", "properties": {"result": {"type": "string"}}},
    "metadata": {"author": "", "license": "MIT"},
}


def created(cwd: Path, adapter: str, entrypoint: str, config: dict[str, Any], code: str = "") -> None:
    """Write the files that its ``create`` writes, under the same names and with the same keys."""
    folder = skill(
        cwd / "skills" / "my_skill",
        code,
        config=config,
        **{**SPEC, "description": "A skill", "adapterType": adapter, "entrypoint": entrypoint},
    )
    if not code:
        (folder / "skill.py").unlink()
    (folder / "tests").mkdir()
    (folder / "tests" / "basic.eval.json").write_text(json.dumps(TASKS), encoding="utf-8")


def evaluated(cwd: Path) -> Done:
    tasks = "skills/my_skill/tests/basic.eval.json"
    return run(cwd, "eval", "--skills", "skills", "--tasks", tasks, "--json", "--no-store", "--exit-on-fail")


def test_a_created_program_passes_its_own_tests(tmp_path: Path) -> None:
    config = {"type": "subprocess", "command": "python3", "args": ["skill.py"], "timeoutMs": 30000}
    code = answering("{'result': 'Processed: ' + data['query']}")
    created(tmp_path, "subprocess", "python3 skill.py", config, code)
    done = evaluated(tmp_path)
    assert done.code == 0, done.err
    assert run(tmp_path, "bench", "validate", "skills").out == "3 of 3 files valid\n"


def test_a_created_client_of_a_server_passes_its_own_tests(tmp_path: Path) -> None:
    with serving(whole(b'{"result": "x"}')) as served:
        config: dict[str, Any] = {"type": "http", "baseUrl": f"http://127.0.0.1:{served.port}", "authType": "none"}
        config |= {"timeoutMs": 15000, "retries": 1}
        created(tmp_path, "http", f"http://127.0.0.1:{served.port}/invoke", config)
        done = evaluated(tmp_path)
    assert done.code == 0, done.err
    assert b'"input": {"query": "test input"}' in served.requests[0]


def test_a_created_client_of_an_openapi_document_passes_its_own_tests(tmp_path: Path) -> None:
    with serving(whole(b'{"result": "x"}')) as served:
        url = f"http://127.0.0.1:{served.port}"
        config = {"type": "http", "baseUrl": url, "method": "POST", "timeoutMs": 30000}
        created(tmp_path, "http", f"{url}/orders", {**config, "headers": {"Content-Type": "application/json"}})
        done = evaluated(tmp_path)
        assert done.code == 0, done.err
    created_get = {**config, "method": "GET"}
    (tmp_path / "skills/my_skill/adapter.config.json").write_text(json.dumps(created_get), encoding="utf-8")
    done = evaluated(tmp_path)
    assert (done.code, "method: expected POST, found 'GET'" in done.err) == (2, True)


def test_a_created_tool_is_asked_of_the_server_at_its_address(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="mcp is of an extra")
    with serving(whole(b"{}")) as served:
        created(tmp_path, "mcp", f"mcp://127.0.0.1:{served.port}/tools/My Skill", {"type": "mcp", "timeoutMs": 30000})
        assert evaluated(tmp_path).code == 1
    assert served.requests[0].startswith(b"POST /mcp HTTP/1.1\r\n")


@pytest.mark.parametrize("kind", ["http", "nonsense", 7])
def test_a_type_that_contradicts_the_skill_is_refused(tmp_path: Path, kind: object) -> None:
    created(tmp_path, "subprocess", "python3 skill.py", {"type": kind}, answering("data"))
    done = evaluated(tmp_path)
    assert done.code == 2
    assert "adapter.config.json: type: expected" in done.err


CHECKOUT = Path(os.environ.get("SKILLGATE_EVAL_SKILLS", "/nonexistent"))
BUILT = CHECKOUT / "packages" / "cli" / "dist" / "index.js"
FIVE = ("coding-easy", "gaia-v1", "skill-quality", "toolbench-lite", "web-search-basic")
LONG = {"type": "string", "minLength": 10}
# Tasks of the kinds that its five files have.
KINDS: list[dict[str, Any]] = [
    {"type": "exact", "value": "14"},
    {"type": "exact", "value": "25.0"},
    {"type": "exact", "value": "true"},
    {"type": "exact", "value": ""},
    {"type": "contains", "keywords": ["Paris", "France"]},
    {"type": "contains", "keywords": ["name:", "description:"]},
    {"type": "json_schema", "schema": {"type": "object", "properties": {"tool": {"const": "a"}}, "required": ["tool"]}},
    {"type": "schema", "schema": {"type": "object", "properties": {"result": LONG}, "required": ["result"]}},
]


def right_answer(expected: dict[str, Any]) -> Any:
    """An answer that the expectation accepts, without a wrapper."""
    if "schema" in expected:
        return made_of(expected["schema"])
    return expected["value"] if "value" in expected else ", ".join(expected["keywords"])


def made_of(schema: dict[str, Any]) -> Any:
    if "const" in schema:
        return schema["const"]
    if schema["type"] == "object":
        return {key: made_of(one) for key, one in schema["properties"].items()}
    return "ten or more characters"


def typed(value: Any) -> Any:
    """The number or boolean that a text is written like."""
    try:
        return json.loads(value)
    except (TypeError, ValueError):
        return value


ANSWERS: dict[str, Callable[[dict[str, Any], Any], Any]] = {
    "bare": lambda _, right: right,
    "result": lambda _, right: {"result": right},
    "answer": lambda _, right: {"answer": right},
    "among others": lambda _, right: {"source": "x", "output": right},
    "typed": lambda _, right: {"result": typed(right)},
    "blanks": lambda _, right: {"result": f"  {right}\n" if isinstance(right, str) else right},
    "upper case": lambda _, right: {"result": right.upper() if isinstance(right, str) else right},
    "nested": lambda _, right: {"data": {"text": right}},
    "as a key": lambda _, right: {"keys": {str(right): 1}},
    "in a list": lambda _, right: [right],
    "as text": lambda _, right: {"result": json.dumps(right)},
    "the input": lambda data, _: data,
    "nothing": lambda *_: None,
    "a word": lambda *_: {"result": "nothing at all, sorry"},
}


def published_verdict(expected: dict[str, Any], output: Any) -> bool:
    """What eval-skills documents: texts of the wrapped value, keywords in the JSON of the output, its schema."""
    if "keywords" in expected:
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, separators=(",", ":"))
        return all(word.lower() in text.lower() for word in expected["keywords"])
    if "schema" in expected:
        validator = pytest.importorskip("jsonschema").Draft7Validator(expected["schema"])
        return bool(validator.is_valid(output))
    value = output
    if isinstance(output, dict):
        value = next((output[key] for key in ("result", "output", "answer") if key in output), output)
    if isinstance(value, dict | list):
        return False  # their texts are not those of any expected value here
    text = value if isinstance(value, str) else json.dumps(value)
    if isinstance(value, float) and value.is_integer():
        text = str(int(value))
    return text.strip() == str(expected["value"]).strip()


def of_files() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in FIVE:
        file = CHECKOUT / "benchmarks" / name / "benchmark.json"
        for number, task in enumerate(json.loads(file.read_text(encoding="utf-8"))["tasks"]):
            yield f"{name}-{number}", task["expectedOutput"] | {"input": task["inputData"]}


def own_kinds() -> Iterator[tuple[str, dict[str, Any]]]:
    for number, expected in enumerate(KINDS):
        yield f"own-{number}", expected | {"input": {"n": number, "of": "Paris"}}


def answered(cwd: Path, form: str, tasks: list[dict[str, Any]]) -> None:
    """Write a skill that gives each task its answer in one form."""
    table = {}
    for task in tasks:
        expected = task["expectedOutput"]
        table[json.dumps(task["inputData"], sort_keys=True)] = ANSWERS[form](task["inputData"], right_answer(expected))
    key = "json.dumps({key: data[key] for key in data if key != 'skillDir'}, sort_keys=True)"
    code = f"json.loads({json.dumps(json.dumps(table))})[{key}]"
    skill(cwd / "s", answering(code), description="", tags=[], inputSchema={}, outputSchema={})


def statuses(results: list[dict[str, Any]]) -> dict[str, str]:
    return {one["taskId"]: one["status"] for one in results}


def compared(found: Iterator[tuple[str, dict[str, Any]]], form: str) -> None:
    pytest.importorskip("jsonschema", reason="jsonschema is of the extra bench")
    ours, published = {}, {}
    for name, expected in found:
        output = ANSWERS[form](expected.pop("input"), right_answer(expected))
        ours[name] = scored(expected, output).passed
        published[name] = published_verdict(expected, output)
    assert ours == published


@pytest.mark.parametrize("form", ANSWERS)
def test_tasks_of_its_kinds_get_the_published_verdicts(form: str) -> None:
    compared(own_kinds(), form)


@pytest.mark.skipif(not CHECKOUT.is_dir(), reason="SKILLGATE_EVAL_SKILLS is not set")
@pytest.mark.parametrize("form", ANSWERS)
def test_its_own_files_get_the_published_verdicts(form: str) -> None:
    compared(of_files(), form)


@pytest.mark.skipif(not CHECKOUT.is_dir(), reason="SKILLGATE_EVAL_SKILLS is not set")
@pytest.mark.parametrize("name", FIVE)
def test_its_own_files_are_valid(tmp_path: Path, name: str) -> None:
    file = CHECKOUT / "benchmarks" / name / "benchmark.json"
    done = run(tmp_path, "bench", "validate", str(file))
    assert (done.code, done.out) == (0, "1 of 1 file valid\n"), done.err


@pytest.mark.skipif(not BUILT.is_file() or not shutil.which("node"), reason="no built checkout, or no node")
@pytest.mark.parametrize("form", ["result", "among others", "typed", "as a key", "the input"])
@pytest.mark.parametrize("name", FIVE)
def test_its_own_verdicts_are_ours(tmp_path: Path, name: str, form: str) -> None:
    tasks = json.loads((CHECKOUT / "benchmarks" / name / "benchmark.json").read_text(encoding="utf-8"))["tasks"]
    answered(tmp_path, form, tasks)
    (tmp_path / "tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    done = run(tmp_path, "eval", "--skills", "s", "--tasks", "tasks.json", "--json", "--no-store")
    assert done.out, done.err
    words = ["node", str(BUILT), "eval", "--skills", "s", "--tasks", "tasks.json", "--format", "json"]
    subprocess.run([*words, "--output-dir", "theirs"], cwd=tmp_path, check=True, capture_output=True)
    (file,) = (tmp_path / "theirs").glob("*.json")
    theirs = statuses(json.loads(file.read_text(encoding="utf-8"))[0]["taskResults"])
    assert statuses(done.json["reports"][0]["taskResults"]) == theirs
