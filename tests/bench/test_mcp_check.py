"""``bench mcp-check``: what is wrong with a server, found without tasks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import run, skill
from tests.bench.test_mcp import listening

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

pytest.importorskip("mcp", reason="mcp is of an extra")

GOOD: dict[str, Any] = {
    "name": "size",
    "description": "Counts the characters of a text.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The text."}},
        "required": ["text"],
    },
    "outputSchema": {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]},
    "annotations": {"readOnlyHint": True},
}
# A server with the tools of a file; ``lax`` in a tool's name makes it answer whatever it is asked.
SERVER = """\
import json, os, sys
TOOLS = json.load(open("tools.json"))
def error(words):
    return {"content": [{"type": "text", "text": words}], "isError": True}
def call(name, data):
    if "dies" in name:
        os._exit(3)
    if "lax" in name or ("LAX" in os.environ and name not in [tool["name"] for tool in TOOLS]):
        return {"content": [], "structuredContent": {"size": 0}}
    if name not in [tool["name"] for tool in TOOLS] or not isinstance(data.get("text"), str):
        return error("unknown tool, or no text")
    return {"content": [], "structuredContent": {"length" if "odd" in name else "size": len(data["text"])}}
def answer(asked):
    if asked["method"] == "initialize":
        info = {"name": "made", "version": "3"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if asked["method"] == "tools/list":
        return {"tools": TOOLS}
    return call(asked["params"]["name"], asked["params"].get("arguments") or {})
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked)}), flush=True)
"""


def checked(cwd: Path, *tools: dict[str, Any], env: dict[str, str] | None = None) -> Done:
    place = skill(cwd / "s", SERVER, adapterType="mcp", config={"env": env or {}})
    (place / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    return run(cwd, "bench", "mcp-check", "s", "--json")


def test_a_good_server_has_no_problem(tmp_path: Path) -> None:
    done = checked(tmp_path, GOOD)
    assert (done.code, done.json["problems"], done.json["called"]) == (0, [], 1), done.out


@pytest.mark.parametrize(
    ("changes", "level", "words"),
    [
        ({"name": "a lax"}, "error", "a call without text is not refused: it answers"),
        ({"name": "a lax"}, "error", "a call with an object for text is not refused"),
        ({"name": "a lax"}, "warning", "name: expected 1 to 128 letters"),
        ({"name": "odd"}, "error", "its answer does not fit its outputSchema"),
        ({"name": "dies"}, "error", "without text is not refused: python3 exited with code 3"),
        ({"description": ""}, "warning", "it has no description"),
        ({"annotations": {}}, "warning", "it has no annotations"),
        ({"annotations": {"readOnlyHint": True, "destructiveHint": True}}, "error", "are both true"),
        ({"outputSchema": {"type": "object", "properties": {"a": {"type": 5}}}}, "error", "outputSchema: "),
        ({"inputSchema": {"type": "object", "required": ["b"]}}, "error", "arguments that have no property: b"),
        ({"inputSchema": {"type": "object", "properties": {"a": {}}}}, "warning", "without a description: a"),
    ],
)
def test_what_is_wrong_with_a_tool_is_found(tmp_path: Path, changes: dict[str, Any], level: str, words: str) -> None:
    done = checked(tmp_path, {**GOOD, **changes})
    found = [one for one in done.json["problems"] if one["level"] == level and words in one["text"]]
    assert len(found) == 1, done.out
    assert done.code == int(any(one["level"] == "error" for one in done.json["problems"]))


@pytest.mark.parametrize(
    ("tools", "env", "words"),
    [
        ((GOOD, GOOD), {}, "it is listed more than once"),
        ((GOOD,), {"LAX": "1"}, "a call of an unknown tool is not refused: it answers"),
        ((), {}, "it lists no tools"),
    ],
)
def test_what_is_wrong_with_a_server_is_found(
    tmp_path: Path, tools: tuple[dict[str, Any], ...], env: dict[str, str], words: str
) -> None:
    done = checked(tmp_path, *tools, env=env)
    assert words in [one["text"] for one in done.json["problems"]], done.out


def test_a_server_at_an_address_is_checked_as_text(tmp_path: Path) -> None:
    with listening(tmp_path, json_response=True) as url:
        done = run(tmp_path, "bench", "mcp-check", url)
    assert "warning: add: it has no annotations" in done.out, done.out + done.err
    assert done.out.splitlines()[-1].startswith("made "), done.out


def test_a_server_that_does_not_start_is_not_checked(tmp_path: Path) -> None:
    done = run(tmp_path, "bench", "mcp-check", "python3 -c 'raise SystemExit(4)'")
    assert (done.code, "does not list its tools" in done.err) == (3, True), done.err


def test_only_mcp_skills_are_checked(tmp_path: Path) -> None:
    skill(tmp_path / "s")
    done = run(tmp_path, "bench", "mcp-check", "s")
    assert (done.code, "expected one skill of adapterType mcp" in done.err) == (2, True), done.err
