"""``create --from-mcp``: a skill and starter tasks for the tools of a server that runs."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import run
from tests.bench.test_mcp import listening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.running import Done

pytest.importorskip("mcp", reason="mcp is of an extra")

# By hand, so that it needs only Python's standard library.
SERVER = """\
import json, os, sys
TEXT = {"type": "object", "properties": {"text": {"$ref": "#/$defs/t"}}, "required": ["text"]}
TEXT["$defs"] = {"t": {"type": "string"}}
SIZE = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
OTHER = {"type": "object", "required": ["other"]}
READS = {"readOnlyHint": True}
TOOLS = [
    {"name": "size", "description": "Counts.", "inputSchema": TEXT, "outputSchema": SIZE, "annotations": READS},
    {"name": "wrong", "inputSchema": TEXT, "outputSchema": OTHER, "annotations": READS},
    {"name": "picky", "inputSchema": TEXT, "annotations": READS},
    {"name": "lax", "inputSchema": TEXT, "annotations": READS},
    {"name": "write", "inputSchema": TEXT},
    {"name": "reset", "inputSchema": {"type": "object"}},
    {"name": "broken", "inputSchema": {"type": "object", "properties": {"a": {"type": 5}}}, "annotations": READS},
    {"name": "dies", "inputSchema": {"type": "object"}, "annotations": READS},
]
def call(name, data):
    if name == "dies":
        os._exit(4)
    if name in ("write", "reset"):
        open(os.environ["MARK"], "a").write(name + " " + json.dumps(data) + chr(10))
    if name not in [tool["name"] for tool in TOOLS] or ("text" not in data and name not in ("lax", "reset")):
        return {"content": [{"type": "text", "text": "text is missing"}], "isError": True}
    if name == "picky":
        return {"content": [{"type": "text", "text": "not this"}], "isError": True}
    return {"content": [], "structuredContent": {"size": len(data.get("text", ""))}}
def answer(request):
    if request["method"] == "initialize":
        info = {"name": "Made / up", "version": "3"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if request["method"] == "tools/list":
        return {"tools": TOOLS}
    return call(request["params"]["name"], request["params"].get("arguments") or {})
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}), flush=True)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory that the users of calls can enter, other than pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def created(cwd: Path, *words: str) -> Done:
    (cwd / "server.py").write_text(SERVER, encoding="utf-8")
    mark = cwd / "mark"
    mark.touch()
    mark.chmod(0o666)
    return run(cwd, "create", "--from-mcp", f"MARK={mark} python3 server.py", *words)


def tasks(cwd: Path, name: str = "made-up") -> dict[str, dict[str, Any]]:
    data = json.loads((cwd / f"skills/{name}/tests/basic.eval.json").read_text(encoding="utf-8"))
    return {task["id"]: task for task in data["tasks"]}


def test_each_tool_that_only_reads_has_a_call_and_a_refusal(folder: Path) -> None:
    done = created(folder)
    assert done.code == 0, done.err
    found = tasks(folder)
    assert list(found) == [
        *("size", "size without arguments", "wrong", "wrong without arguments", "picky", "picky without arguments"),
        *("lax", "write without arguments"),
    ]
    assert found["size"]["inputData"] == {"text": "text"}
    assert found["size"]["expectedOutput"]["schema"]["required"] == ["size"]
    assert found["wrong"]["expectedOutput"]["schema"] == {"type": "object"}
    assert found["picky"]["expectedOutput"] == {"type": "error"}
    assert found["size without arguments"]["expectedOutput"] == {"type": "error", "contains": "text"}
    assert found["write without arguments"]["expectedOutput"] == {"type": "error"}
    assert (folder / "mark").read_text(encoding="utf-8") == ""  # nothing that may change something was called
    for words in (
        "broken: no task: its inputSchema is not valid",
        "dies: no task with made-up input: ",
        "lax: a call without text is not refused: answered",
        "reset: no task: it may change something",
    ):
        assert words in done.err


def test_what_was_made_up_is_listed(folder: Path) -> None:
    assert created(folder).code == 0
    found = tasks(folder)
    assert found["size"]["metadata"] == {"invented": ["text"]}
    assert found["picky"]["description"] == "The server refuses this input; replace text with what it answers."
    assert "metadata" not in found["size without arguments"]


PLACES = """\
import json, sys
TEXT = {"type": "string"}
DEPTH = {"type": "integer", "exclusiveMinimum": 1}
PLACE = {"path": TEXT, "zone": {"type": "string", "default": "UTC"}, "depth": DEPTH}
INPUT = {"type": "object", "properties": PLACE, "required": ["path", "zone", "depth"]}
READS = {"readOnlyHint": True}
TOOLS = [{"name": "list", "inputSchema": INPUT, "annotations": READS}, {"name": "put", "inputSchema": INPUT}]
for line in sys.stdin:
    request = json.loads(line)
    result = {"content": [{"type": "text", "text": json.dumps(request.get("params"))}]}
    if request["method"] == "initialize":
        info = {"name": "places", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if request["method"] == "tools/list":
        result = {"tools": TOOLS}
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


@pytest.mark.parametrize(("words", "expected"), [("", "."), ("--log debug {}/data", "{}/data"), ("{}/gone", ".")])
def test_a_directory_is_that_of_the_command(folder: Path, words: str, expected: str) -> None:
    (folder / "places.py").write_text(PLACES, encoding="utf-8")
    (folder / "data").mkdir()
    done = run(folder, "create", "--from-mcp", f"python3 places.py {words.format(folder)}", "--call-tools")
    assert done.code == 0, done.err
    found = tasks(folder, "places")
    assert found["list"]["inputData"] == {"path": expected.format(folder), "zone": "UTC", "depth": 2}
    assert found["list"]["metadata"] == {"invented": ["path", "depth"]}
    assert found["put"]["inputData"]["path"] == "text"


def test_every_tool_is_called_if_the_user_says_so(folder: Path) -> None:
    assert created(folder, "--call-tools").code == 0
    assert (folder / "mark").read_text(encoding="utf-8").splitlines().count('write {"text": "text"}') == 1
    assert {"write", "reset"} <= tasks(folder).keys()


def test_the_new_skill_passes_its_tasks_and_the_checks(folder: Path) -> None:
    assert created(folder, "--call-tools", "--name", "notes", "--description", "Notes.").code == 0
    suite = "skills/notes/tests/basic.eval.json"
    done = run(folder, "eval", "--skills", "skills/notes", "--tasks", suite, "--json", "--no-store")
    statuses = {one["taskId"]: one["status"] for one in done.json["reports"][0]["taskResults"]}
    assert set(statuses.values()) == {"pass"}, statuses
    assert run(folder, "bench", "validate", "skills").code == 0
    assert run(folder, "bench", "check", suite).code == 0
    spec = json.loads((folder / "skills/notes/skill.json").read_text(encoding="utf-8"))
    assert (spec["description"], spec["entrypoint"]) == ("Notes.", f"python3 {folder}/server.py")


def test_a_server_at_an_address(tmp_path: Path) -> None:
    with listening(tmp_path, json_response=True) as url:
        done = run(tmp_path, "create", "--from-mcp", url, "--name", "there")
        assert done.code == 0, done.err
        assert "add without arguments" in tasks(tmp_path, "there")
        suite = "skills/there/tests/basic.eval.json"
        done = run(tmp_path, "eval", "--skills", "skills/there", "--tasks", suite, "--json", "--no-store")
    assert {one["status"] for one in done.json["reports"][0]["taskResults"]} == {"pass"}, done.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--from-mcp", "A=b"), 2, "expected a command or an http(s) address"),
        (("--from-mcp", "ftp://x"), 2, "http(s) address"),
        (("--from-mcp", "x", "--token-env", "SKILL_X"), 2, "--token-env is for a server at an address"),
        (("--from-mcp", "x", "--from-openapi", "x.json"), 2, "exclude each other"),
        (("--from-mcp", "x", "--from-template", "mcp_tool"), 2, "--from-mcp uses no template"),
        (("--from-mcp", "x", "--name", "a/b"), 2, "is a path"),
        (("--name", "x", "--call-tools"), 2, "--call-tools requires --from-mcp"),
        (("--from-mcp", "no-such-program-here"), 3, "is not installed"),
        (("--from-mcp", "python3 -c 'raise SystemExit(4)'"), 3, "exited with code 4"),
        (("--from-mcp", "http://127.0.0.1:1/mcp"), 3, "the connection failed"),
    ],
)
def test_what_cannot_be_made_is_refused(tmp_path: Path, words: tuple[str, ...], code: int, message: str) -> None:
    done = run(tmp_path, "create", *words)
    assert (done.code, message in done.err) == (code, True), done.err
    assert not (tmp_path / "skills").exists()
