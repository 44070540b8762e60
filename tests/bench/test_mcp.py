"""Skills that are MCP servers, written with the protocol's own SDK, and what servers may do wrong."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import benchmark, run, skill, task
from tests.bench.test_http import TOKEN, serving, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.running import Done

mcp = pytest.importorskip("mcp", reason="mcp is of an extra")
PACKAGES = str(Path(mcp.__file__).parent.parent)

SERVER = """\
import os, sys, time
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
server = MCPServer("made")

@server.tool()
def add(n: int, more: int = 1) -> int:
    "Add."
    return n + more

@server.tool(structured_output=False)
def text(n: int) -> str:
    "JSON in a text."
    return '{"n": %d}' % n

@server.tool(structured_output=False)
def fails(n: int) -> str:
    "Fails."
    raise ToolError("no such thing")

@server.tool()
def process(n: int) -> int:
    "Which process."
    return os.getpid()

@server.tool(structured_output=False)
def hangs(n: int) -> str:
    "Never."
    time.sleep(60)
    return ""

@server.tool(structured_output=False)
def dies(n: int) -> str:
    "Dies."
    os._exit(7)

@server.tool(structured_output=False)
def large(n: int) -> str:
    "Much."
    return "x" * 20_000_000
"""
STDIO = SERVER + "\nserver.run()\n"


def runs_here() -> bool:
    """Whether the python3 that skills are started with has the SDK, as the user that they run as."""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": PACKAGES}
    user = 65_534 if os.geteuid() == 0 else None
    places = os.environ["PATH"].split(os.pathsep)
    for place in places:
        program = Path(place) / "python3"
        try:
            done = subprocess.run(
                [str(program), "-c", "import mcp.server.mcpserver"], env=environ, user=user, check=False
            )
        except OSError:
            continue
        return done.returncode == 0
    return False


real = pytest.mark.skipif(not runs_here(), reason="no python3 with the SDK that the users of skills can run")


def evaluated(
    cwd: Path, tool: str | None, *words: str, code: str = STDIO, tasks: int = 1, identifier: str = "s", **config: Any
) -> Done:
    settings = {"env": {"PYTHONPATH": PACKAGES}, "toolName": tool, **config}
    settings = {key: value for key, value in settings.items() if value is not None}
    skill(cwd / "s", code, config=settings, adapterType="mcp", id=identifier)
    many = [task(f"t{n}", inputData={"n": n}, expectedOutput={"value": n + 1}) for n in range(tasks)]
    benchmark(cwd / "b.json", *many)
    return run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", *words)


def results(done: Done) -> list[dict[str, Any]]:
    assert done.out, done.err
    found: list[dict[str, Any]] = done.json["reports"][0]["taskResults"]
    return found


def outputs(done: Done) -> list[Any]:
    return [(one.get("output") or {}).get("value") for one in results(done)]


@real
def test_a_tool_is_called_with_the_input(tmp_path: Path) -> None:
    done = evaluated(tmp_path, "add", tasks=6)
    assert {one["status"] for one in results(done)} == {"pass"}, results(done)
    assert outputs(done)[2] == {"result": 3}


@real
def test_a_text_that_is_json_is_read_as_json(tmp_path: Path) -> None:
    assert outputs(evaluated(tmp_path, "text")) == [{"n": 0}]


@real
@pytest.mark.parametrize(
    ("tool", "kind", "words"),
    [
        ("fails", "tool", "no such thing"),
        ("hangs", "timeout", "within 5 s"),
        ("dies", "exit_code", "exited with code 7"),
        ("large", "output_limit", "more than 5,242,880 bytes"),
        ("nothing", "protocol", "it has: add, text, fails"),
    ],
)
def test_what_a_tool_does_wrong_has_a_kind(tmp_path: Path, tool: str, kind: str, words: str) -> None:
    began = time.monotonic()
    (result,) = results(evaluated(tmp_path, tool, "--timeout", "5s" if tool == "hangs" else "60s"))
    assert result["errorKind"] == kind, result
    assert words in result["error"]
    assert time.monotonic() - began < 120


@real
def test_the_skills_id_names_its_tool(tmp_path: Path) -> None:
    assert results(evaluated(tmp_path, None, identifier="add"))[0]["status"] == "pass"
    error = results(evaluated(tmp_path, None, identifier="other"))[0]["error"]
    assert "'other'" in error
    assert "toolName" in error


@real
def test_each_task_has_its_own_process_unless_one_serves_the_run(tmp_path: Path) -> None:
    kept = outputs(evaluated(tmp_path, "process", "--concurrency", "1", tasks=3, restart="per-run"))
    fresh = outputs(evaluated(tmp_path, "process", "--concurrency", "1", tasks=3))
    assert len({one["result"] for one in kept}) == 1
    assert len({one["result"] for one in fresh}) == 3


@real
def test_a_server_that_died_is_replaced(tmp_path: Path) -> None:
    code = SERVER + (
        "\n@server.tool()\ndef once(n: int) -> int:\n    'Dies at 1.'\n    if n == 1:\n        os._exit(3)\n"
        "    return n + 1\nserver.run()\n"
    )
    done = evaluated(tmp_path, "once", "--concurrency", "1", code=code, tasks=3, restart="per-run")
    assert [one["status"] for one in results(done)] == ["pass", "error", "pass"]


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("import time; time.sleep(60)", "timeout", "within 4 s"),
        ("raise SystemExit(4)", "exit_code", "exited with code 4"),
        ("import time; print('hello', flush=True); time.sleep(60)", "protocol", "hello"),
        ("import time; print('{\"a\": 1}', flush=True); time.sleep(60)", "protocol", "an invalid protocol message"),
        ("while True: print('x' * 1000)", "output_limit", "more than 5,242,880 bytes"),
        ("import sys\nwhile True: sys.stdout.write('x' * 100000)", "output_limit", "more than 5,242,880 bytes"),
        (
            "import json\nm = json.loads(input())\nprint(json.dumps({'jsonrpc': '2.0', 'id': m['id'],"
            " 'error': {'code': 5, 'message': 'closed today'}}), flush=True)\ninput()",
            "rpc",
            "closed today",
        ),
    ],
)
def test_a_program_that_is_no_server_has_a_kind(tmp_path: Path, code: str, kind: str, words: str) -> None:
    began = time.monotonic()
    (result,) = results(evaluated(tmp_path, "add", "--timeout", "4s", code=code))
    assert (result["errorKind"], words in result["error"]) == (kind, True), result
    assert time.monotonic() - began < 120


@contextmanager
def listening(folder: Path, *, json_response: bool) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code = f'\nserver.run("streamable-http", host="127.0.0.1", port={port}, json_response={json_response})\n'
    (folder / "server.py").write_text(SERVER + code, encoding="utf-8")
    with subprocess.Popen([sys.executable, str(folder / "server.py")], stderr=subprocess.DEVNULL) as child:
        try:
            until = time.monotonic() + 30
            while time.monotonic() < until:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            child.kill()


def over_http(
    cwd: Path, url: str, tool: str, *words: str, config: dict[str, Any] | None = None, **environ: str
) -> Done:
    skill(cwd / "s", adapterType="mcp", entrypoint=url, config={"toolName": tool, **(config or {})})
    benchmark(cwd / "b.json", task(expectedOutput={"value": 2}), task("t2", expectedOutput={"value": 2}))
    return run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", *words, **environ)


@pytest.mark.parametrize("json_response", [False, True])
def test_a_server_over_streamable_http(tmp_path: Path, json_response: bool) -> None:
    with listening(tmp_path, json_response=json_response) as url:
        assert [one["status"] for one in results(over_http(tmp_path, url, "add"))] == ["pass", "pass"]
        per_call = over_http(tmp_path, url, "add", config={"restart": "per-call"})
        assert [one["status"] for one in results(per_call)] == ["pass", "pass"]
        assert results(over_http(tmp_path, url, "fails"))[0]["errorKind"] == "tool"
        assert results(over_http(tmp_path, url, "hangs", "--timeout", "2s"))[0]["errorKind"] == "timeout"
        assert results(over_http(tmp_path, url, "large"))[0]["errorKind"] == "output_limit"


def test_an_address_as_eval_skills_writes_it(tmp_path: Path) -> None:
    with listening(tmp_path, json_response=False) as url:
        place = url.removeprefix("http://").removesuffix("/mcp")
        skill(tmp_path / "s", adapterType="mcp", entrypoint=f"mcp://{place}/tools/My Add", id="add")
        benchmark(tmp_path / "b.json", task(expectedOutput={"value": 2}))
        done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json")
        assert results(done)[0]["status"] == "pass"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (whole(b"no", "401 Unauthorized"), "auth"),
        (whole(b"no", "404 Not Found"), "http_status"),
        (whole(b"no", "500 Internal Server Error"), "http_status"),
        (whole(b"", "307 Temporary Redirect", "Location: http://localhost:1/"), "redirect"),
        (whole(b"", "302 Found", "Location: /other"), "redirect"),
        (whole(b"{}", "200 OK", "Content-Encoding: gzip"), "protocol"),
        (whole(b"x" * 6_000_000), "output_limit"),
        (b"", "connection"),
    ],
)
def test_what_such_a_server_does_wrong_has_a_kind(tmp_path: Path, answer: bytes, kind: str) -> None:
    with serving(answer) as server:
        done = over_http(tmp_path, server.url, "add", "--timeout", "5s")
    assert {one["errorKind"] for one in results(done)} == {kind}, results(done)


def test_a_token_reaches_such_a_server_and_no_report(tmp_path: Path) -> None:
    config = {"authType": "bearer", "authTokenEnvKey": "SKILL_TOKEN"}
    answer = whole(b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "%s"}}' % TOKEN.encode())
    with serving(answer) as server:
        done = over_http(tmp_path, server.url, "add", "--timeout", "5s", config=config, SKILL_TOKEN=TOKEN)
    assert f"Bearer {TOKEN}".encode() in server.requests[0]
    assert TOKEN not in done.out + done.err


@pytest.mark.parametrize(
    ("url", "words"), [("http://10.0.0.1/mcp", "--allow-host 10.0.0.1:80"), ("mcp://localhost/x", "http(s) address")]
)
def test_where_a_server_cannot_be_is_refused_before_anything_runs(tmp_path: Path, url: str, words: str) -> None:
    done = over_http(tmp_path, url, "add")
    assert (done.code, words in done.err) == (2, True), done.err


BY_HAND = """\
import json, sys
INFO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
TOOL = {"name": "s", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA}
ANSWERS = {
    "initialize": INFO,
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [], "structuredContent": {"a": "a" * 40 + "!"}},
}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": ANSWERS[asked["method"]]}), flush=True)
"""


def test_a_schema_of_a_server_cannot_hold_the_run_up(tmp_path: Path) -> None:
    """Its own pattern would be tried on its own answer for longer than anybody lives."""
    done = evaluated(tmp_path, None, "--timeout", "20s", code=BY_HAND, env={})
    assert outputs(done) == [{"a": "a" * 40 + "!"}], results(done)


@real
@pytest.mark.parametrize(
    ("tool", "data", "expected", "status"),
    [
        ("fails", {"n": 1}, {"contains": "no such thing"}, "pass"),
        ("fails", {"n": 1}, {"contains": "denied"}, "fail"),
        ("add", {"n": "x"}, {"contains": "n"}, "pass"),
        ("add", {}, {}, "pass"),
        ("add", {"n": 1}, {}, "fail"),
        ("hangs", {"n": 1}, {}, "timeout"),
    ],
)
def test_a_tool_refuses(tmp_path: Path, tool: str, data: Any, expected: dict[str, Any], status: str) -> None:
    skill(tmp_path / "s", STDIO, config={"env": {"PYTHONPATH": PACKAGES}, "toolName": tool}, adapterType="mcp")
    benchmark(tmp_path / "b.json", task(inputData=data, expectedOutput={"type": "error", **expected}))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--timeout", "5s")
    assert results(done)[0]["status"] == status, results(done)


def test_an_error_of_the_protocol_is_a_refusal_too(tmp_path: Path) -> None:
    code = BY_HAND.replace(
        '"result": ANSWERS[asked["method"]]}',
        '**({"error": {"code": -32602, "message": "unknown tool"}} if asked["method"] == "tools/call"'
        ' else {"result": ANSWERS[asked["method"]]})}',
    )
    skill(tmp_path / "s", code, adapterType="mcp")
    benchmark(tmp_path / "b.json", task(expectedOutput={"type": "error", "code": -32602, "contains": "Unknown"}))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    assert results(done)[0]["status"] == "pass", results(done)
