"""Real MCP servers from the package indexes pass starter suites, whatever the order and concurrency of the tasks.

``SKILLGATE_MCP_SERVERS`` is a directory with ``node_modules`` and a virtual environment ``python``, which all users can
read: npm's @modelcontextprotocol/server-{everything,filesystem,memory,sequential-thinking}, and PyPI's
mcp-server-{git,time}.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import run

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("mcp", reason="mcp is of an extra")

SERVERS = os.environ.get("SKILLGATE_MCP_SERVERS", "")
NODE, PYTHON = f"{SERVERS}/node_modules/.bin", f"{SERVERS}/python/bin"
pytestmark = pytest.mark.skipif(not SERVERS, reason="SKILLGATE_MCP_SERVERS is not set")


def contains(*keywords: str) -> dict[str, Any]:
    return {"type": "contains", "keywords": list(keywords)}


def refusal(tool: str, data: dict[str, Any], words: str) -> dict[str, Any]:
    expected = {"type": "error", "contains": words}
    return {"id": "refusal", "tool": tool, "inputData": data, "expectedOutput": expected}


def steps(*calls: tuple[str, dict[str, Any]], expected: dict[str, Any], **capture: str) -> dict[str, Any]:
    made: list[dict[str, Any]] = [{"tool": tool, "inputData": data} for tool, data in calls]
    made[0]["capture"] = capture
    return {"id": "steps", "steps": made, "expectedOutput": expected}


ADA = {"name": "Ada", "entityType": "person", "observations": ["likes engines"]}
THOUGHT = {"thought": "a", "nextThoughtNeeded": True, "thoughtNumber": 1, "totalThoughts": 2}
CASES = {
    "memory": (
        f"MEMORY_FILE_PATH={{workDir}}/memory.jsonl {NODE}/mcp-server-memory",
        refusal("add_observations", {"observations": [{"entityName": "Bob", "contents": ["x"]}]}, "Bob"),
        steps(
            ("create_entities", {"entities": [ADA]}),
            ("open_nodes", {"names": ["{{name}}"]}),
            expected=contains("Ada", "likes engines"),
            name="/entities/0/name",
        ),
    ),
    "filesystem": (
        f"{NODE}/mcp-server-filesystem {{workDir}}",
        refusal("read_text_file", {"path": "/etc/passwd"}, "outside allowed directories"),
        steps(
            ("list_allowed_directories", {}),
            ("write_file", {"path": "note.txt", "content": "milk"}),
            ("read_text_file", {"path": "note.txt"}),
            expected=contains("milk"),
            listed="/content",
        ),
    ),
    "everything": (
        f"{NODE}/mcp-server-everything",
        refusal("get-sum", {"a": "x", "b": 1}, "number"),
        steps(("echo", {"message": "one"}), ("echo", {"message": "{{said}}!"}), expected=contains("one!"), said=""),
    ),
    "sequential-thinking": (
        f"{NODE}/mcp-server-sequential-thinking",
        refusal("sequentialthinking", {**THOUGHT, "thoughtNumber": 0}, "thoughtNumber"),
        steps(
            ("sequentialthinking", THOUGHT),
            ("sequentialthinking", {**THOUGHT, "thoughtNumber": 2, "totalThoughts": "{{total}}"}),
            expected={"type": "json_schema", "schema": {"properties": {"thoughtHistoryLength": {"const": 2}}}},
            total="/totalThoughts",
        ),
    ),
    "time": (
        f"{PYTHON}/mcp-server-time",
        refusal("get_current_time", {"timezone": "Mars/Base"}, "timezone"),
        steps(
            ("get_current_time", {"timezone": "Europe/Berlin"}),
            ("convert_time", {"source_timezone": "{{zone}}", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
            expected=contains("Asia/Tokyo"),
            zone="/timezone",
        ),
    ),
    "git": (
        f"{PYTHON}/mcp-server-git",
        refusal("git_show", {"repo_path": "repo", "revision": "nothing"}, "nothing"),
        steps(
            ("git_create_branch", {"repo_path": "repo", "branch_name": "topic"}),
            ("git_branch", {"repo_path": "repo", "branch_type": "local"}),
            expected=contains("topic"),
            said="",
        ),
    ),
}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory that the users of calls can enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def repository(place: Path) -> None:
    place.mkdir()
    git = shutil.which("git")
    assert git is not None
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([git, *words], cwd=place, check=True)


def statuses(folder: Path, tasks: list[dict[str, Any]], concurrency: int) -> dict[str, tuple[str, float]]:
    (folder / "suite.json").write_text(json.dumps(tasks), encoding="utf-8")
    words = ("--no-store", "--json", "--concurrency", str(concurrency))
    done = run(folder, "eval", "--skills", "skills", "--tasks", "suite.json", *words)
    assert done.out, done.err
    results = done.json["reports"][0]["taskResults"]
    failed = [
        (one["taskId"], one["error"] or one["reason"], one["output"]) for one in results if one["status"] != "pass"
    ]
    assert not failed, failed
    return {one["taskId"]: (one["status"], one["score"]) for one in results}


@pytest.mark.parametrize("name", list(CASES))
def test_a_server_passes_its_suite_in_every_order(folder: Path, name: str) -> None:
    command, refused, several = CASES[name]
    done = run(folder, "create", "--from-mcp", command, "--name", name, "--call-tools")
    assert done.code == 0, done.err
    repository(folder / f"skills/{name}/repo")
    suite = folder / f"skills/{name}/tests/basic.eval.json"
    tasks = [*json.loads(suite.read_text(encoding="utf-8"))["tasks"], refused, several]
    shuffled = tasks[:]
    random.Random(name).shuffle(shuffled)
    alone = statuses(folder, tasks, 1)
    assert alone.keys() == {task["id"] for task in tasks}
    assert statuses(folder, tasks, 8) == alone
    assert statuses(folder, shuffled, 4) == alone


@pytest.mark.parametrize("name", list(CASES))
def test_a_server_passes_the_check(folder: Path, name: str) -> None:
    done = run(folder, "bench", "mcp-check", CASES[name][0], "--json")
    assert (done.code, done.json["ok"]) == (0, True), done.out + done.err
