"""What eval-skills writes runs here unchanged and scores the same, by the formats that it publishes.

``SKILLGATE_EVAL_SKILLS`` is a checkout of it; its five benchmark files are read from there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import answering, run, skill
from tests.bench.test_http import serving, whole

if TYPE_CHECKING:
    from pathlib import Path

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
