"""`create` writes skills that run as they are, all of their files or none."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.registry import STARTERS
from tests.architecture.source import ROOT
from tests.bench.made import run
from tests.listening import hear_ctrl_c

if TYPE_CHECKING:
    pass

PROGRAMS = ("http_request", "python_script", "mcp_tool")


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir())


def evaluated(cwd: Path, place: str, *words: str, **environ: str) -> Any:
    tasks = f"{place}/tests/basic.eval.json"
    return run(cwd, "eval", "--skills", place, "--tasks", tasks, "--no-store", *words, **environ)


@pytest.mark.parametrize("template", STARTERS.listed(separator="_"))
def test_what_a_template_writes_is_valid_and_no_probe_passes_its_tasks(template: str, tmp_path: Path) -> None:
    done = run(tmp_path, "create", "--name", "Order Status", "--from-template", template, "--json")
    assert done.code == 0, done.err
    identifier = "order-status" if template == "skill_md" else "order_status"
    assert done.json["id"] == identifier
    assert sorted(done.json["files"]) == files(tmp_path / "skills" / identifier)
    assert run(tmp_path, "bench", "validate", ".").code == 0
    assert run(tmp_path, "bench", "check", f"skills/{identifier}/tests/basic.eval.json").code == 0
    quality = ("eval", "--skills", f"skills/{identifier}", "--benchmark", "skill-quality", "--no-store")
    assert run(tmp_path, *quality, "--exit-on-fail", "--min-completion", "1").code == 0


def test_the_seeds_command_writes_the_files_that_it_shows(tmp_path: Path) -> None:
    words = ("--name", "my_api_skill", "--from-template", "http_request", "--output-dir", "./skills")
    described = "Fetches weather data from OpenWeather API"
    done = run(tmp_path, "create", *words, "--description", described)
    assert done.code == 0, done.err
    place = tmp_path / "skills" / "my_api_skill"
    assert {"skill.json", "adapter.config.json", "tests/basic.eval.json"} < set(files(place))
    assert json.loads((place / "skill.json").read_text())["description"] == described
    default = run(tmp_path, "create", "--name", "other")
    assert default.code == 0
    assert json.loads((tmp_path / "skills/other/skill.json").read_text())["adapterType"] == "http"


def test_a_program_passes_its_own_tasks_as_it_is_and_fails_them_once_it_is_wrong(tmp_path: Path) -> None:
    run(tmp_path, "create", "--name", "Grüße, 2", "--from-template", "python_script")
    place = "skills/gr__e__2"
    done = evaluated(tmp_path, place, "--json", "--runs", "2", "--exit-on-fail", "--min-completion", "1")
    assert done.code == 0, done.err
    assert [row["status"] for row in done.json["reports"][0]["taskResults"]] == ["pass"] * 4
    program = tmp_path / place / "skill.py"
    program.write_text(program.read_text().replace("query.upper()", '"result"'))
    assert evaluated(tmp_path, place, "--exit-on-fail").code == 1


def test_the_gate_of_a_pipeline_stops_the_stub_and_lets_the_finished_skill_through(tmp_path: Path) -> None:
    run(tmp_path, "create", "--name", "production_skill", "--from-template", "python_script")
    gate = ("eval", "--skills", "./skills/production_skill", "--benchmark", "coding-easy", "--exit-on-fail")
    more = ("--min-completion", "0.8", "--format", "json")
    stub = run(tmp_path, *gate, *more)
    assert stub.code == 1
    assert "FAIL: production_skill" in stub.out
    shutil.copy(ROOT / "examples/executable/calculator/skill.py", tmp_path / "skills/production_skill/skill.py")
    finished = run(tmp_path, *gate, *more)
    assert finished.code == 0, finished.out
    assert "PASS: 1 skill" in finished.out


def test_a_tool_of_a_server_passes_its_own_tasks_as_it_is(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="mcp is of an extra")
    from tests.bench.test_mcp import PACKAGES, runs_here

    if not runs_here():
        pytest.skip("no python3 with the SDK that the users of skills can run")
    run(tmp_path, "create", "--name", "shout", "--from-template", "mcp_tool")
    config = tmp_path / "skills/shout/adapter.config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "env": {"PYTHONPATH": PACKAGES}}))
    done = evaluated(tmp_path, "skills/shout", "--exit-on-fail", "--min-completion", "1")
    assert done.code == 0, done.out


def test_a_tool_of_a_server_can_be_loaded_by_the_sdk(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="mcp is of an extra")
    run(tmp_path, "create", "--name", "shout", "--from-template", "mcp_tool")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "shout", "arguments": {"query": "é a"}}},
    ]
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "skills/shout/server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.writelines(json.dumps(line) + "\n" for line in lines)
        server.stdin.flush()
        replies = {reply.get("id"): reply for reply in (json.loads(server.stdout.readline()) for _ in range(2))}
        server.stdin.close()
    assert replies[2]["result"]["structuredContent"] == {"result": "É A"}


@pytest.mark.skipif(importlib.util.find_spec("httpx2") is None, reason="http skills need an extra")
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_server_is_not_measured_until_it_is_served_and_passes_then(
    sent: signal.Signals, code: int, tmp_path: Path
) -> None:
    run(tmp_path, "create", "--name", "shout")
    place = tmp_path / "skills" / "shout"
    spec = json.loads((place / "skill.json").read_text())
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as free:
        port = free.server_address[1]
    spec["entrypoint"] = f"http://127.0.0.1:{port}/invoke"  # another test may have the starter's own
    (place / "skill.json").write_text(json.dumps(spec))
    before = evaluated(tmp_path, "skills/shout", "--json")
    assert before.code == 3
    results = before.json["reports"][0]["taskResults"]
    assert {(row["status"], row["errorKind"]) for row in results} == {("skipped", "server")}
    assert "skillgate bench serve skills/shout" in results[0]["error"]
    with subprocess.Popen(
        [sys.executable, "-m", "skillgate", "bench", "serve", "skills/shout"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=hear_ctrl_c,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
    ) as serving:
        assert serving.stdout is not None
        assert serving.stderr is not None
        try:
            assert f"http://127.0.0.1:{port}/invoke" in serving.stdout.readline()
            assert serving.stderr.readline().startswith("answering at")
            after = evaluated(tmp_path, "skills/shout", "--exit-on-fail", "--min-completion", "1")
            assert after.code == 0, after.out
        finally:
            serving.send_signal(sent)
        assert serving.wait(120) == code
    assert evaluated(tmp_path, "skills/shout").code == 3  # the server ended with what served it


@pytest.mark.skipif(importlib.util.find_spec("httpx2") is None, reason="http skills need an extra")
def test_a_server_that_nobody_said_how_to_serve_has_failed(tmp_path: Path) -> None:
    run(tmp_path, "create", "--name", "shout")
    place = tmp_path / "skills" / "shout"
    spec = json.loads((place / "skill.json").read_text()) | {"entrypoint": "http://127.0.0.1:9/invoke"}
    (place / "skill.json").write_text(json.dumps(spec))
    (place / "adapter.config.json").write_text("{}")
    done = evaluated(tmp_path, "skills/shout", "--json")
    assert {row["status"] for row in done.json["reports"][0]["taskResults"]} == {"error"}
    refused = run(tmp_path, "bench", "serve", "skills/shout")
    assert refused.code == 2
    assert '"serve": ["python3", "server.py"]' in refused.err


def test_a_server_that_ends_by_itself_is_told(tmp_path: Path) -> None:
    run(tmp_path, "create", "--name", "shout")
    (tmp_path / "skills/shout/server.py").write_text("raise SystemExit(4)\n")
    done = run(tmp_path, "bench", "serve", "skills/shout")
    assert done.code == 3
    assert "exited with status 4" in done.err
    assert run(tmp_path, "bench", "serve", "skills/shout", "--port", "5").code == 2
    config = tmp_path / "home" / ".config" / "skillgate" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("allow-exec: false\n")
    assert "allow-exec" in run(tmp_path, "bench", "serve", "skills/shout").err


def test_instructions_pass_the_check_and_earn_a_badge(tmp_path: Path) -> None:
    run(tmp_path, "create", "--name", "Shout it!", "--from-template", "skill_md")
    assert run(tmp_path, "check", "skills", "--select", "all").code == 0
    scored = run(tmp_path, "score", "skills/shout-it", "--json")
    assert scored.json["composite"]["badge"] is not None
    assert run(tmp_path, "eval", "--skills", "skills/shout-it", "--tasks", "skills/shout-it/tests/basic.eval.json",
               "--dry-run").code == 0  # fmt: skip


UNUSABLE = (*("", "  ", "../../x", "a/b", "a\\b", "..", '"""', "###", "日本"), *("a\nb", "a\x1b[31m", "a\0b", "x" * 65))


@pytest.mark.parametrize(
    ("name", "template"),
    [(name, template) for template in ("python_script", "skill_md") for name in UNUSABLE]
    + [("-rf", "python_script"), ("_x", "python_script")],
)
def test_a_name_that_leads_elsewhere_or_leaves_nothing_is_refused(name: str, template: str, tmp_path: Path) -> None:
    done = run(tmp_path, "create", f"--name={name}", "--from-template", template, "--output-dir", "out")
    assert done.code == 2
    assert "--name" in done.err
    assert files(tmp_path) == []


def test_a_hostile_name_stays_text(tmp_path: Path) -> None:
    name = 'a""" + open("x") + """'
    done = run(tmp_path, "create", f"--name={name}", "--from-template", "python_script", "--description", name * 2)
    assert done.code == 0, done.err
    (place,) = (tmp_path / "skills").iterdir()
    assert evaluated(tmp_path, f"skills/{place.name}", "--exit-on-fail", "--min-completion", "1").code == 0
    assert json.loads((place / "skill.json").read_text())["name"] == name
    prose = run(tmp_path, "create", "--name=p", "--from-template", "skill_md", "--description", f"Use: #{name} ---")
    assert prose.code == 0
    assert run(tmp_path, "check", "skills/p").code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "--name"),
        (("--name", "a", "--from-template", "python-script"), "python_script"),
        (("--name", "a", "--operation", "x"), "--from-openapi"),
        (("--name", "a", "--server", "http://x"), "--from-openapi"),
        (("--name", "a", "--from-openapi", "x.json", "--from-template", "mcp_tool"), "--from-template"),
        (("--name", "a", "--from-openapi", "x.json"), "x.json"),
        (("--name", "a", "--description", "two\nlines"), "--description"),
        (("--name", "a", "--description", "x" * 1025), "--description"),
        (("--name", "a", "--output-dir", "file"), "cannot write"),
        (("--name", "a", "--output-dir", "file/below"), "cannot write"),
    ],
)
def test_what_does_not_fit_is_refused_and_writes_nothing(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(tmp_path, "create", *words)
    assert done.code == 2
    assert told in done.err
    assert files(tmp_path) == ["file"]


def test_nothing_is_overwritten_unless_it_is_asked_for_and_then_no_more_than_the_starter(tmp_path: Path) -> None:
    create = ("create", "--name", "a", "--from-template", "python_script")
    run(tmp_path, *create)
    place = tmp_path / "skills" / "a"
    (place / "skill.py").write_text("mine")
    (place / "own.txt").write_text("mine")
    refused = run(tmp_path, *create)
    assert refused.code == 2
    assert "--force" in refused.err
    assert (place / "skill.py").read_text() == "mine"
    assert run(tmp_path, *create, "--force").code == 0
    assert "def answer" in (place / "skill.py").read_text()
    assert (place / "own.txt").read_text() == "mine"
    assert [path.name for path in (tmp_path / "skills").iterdir()] == ["a"]


def test_no_link_is_written_through(tmp_path: Path) -> None:
    create = ("create", "--name", "a", "--from-template", "python_script", "--force")
    (tmp_path / "skills").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "skills" / "a").symlink_to(tmp_path / "other")
    assert run(tmp_path, *create).code == 2
    (tmp_path / "skills" / "a").unlink()
    (tmp_path / "skills" / "a").mkdir()
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "skills" / "a" / "skill.py").symlink_to(tmp_path / "secret")
    assert run(tmp_path, *create).code == 0
    assert (tmp_path / "secret").read_text() == "mine"
    assert files(tmp_path / "other") == []


def test_all_is_written_or_nothing(tmp_path: Path) -> None:
    create = ("create", "--name", "a", "--from-template", "python_script", "--force")
    place = tmp_path / "skills" / "a"
    (place / "tests").mkdir(parents=True)
    (place / "tests" / "basic.eval.json").mkdir()  # in the way of a file
    done = run(tmp_path, *create)
    assert done.code == 2
    assert files(tmp_path / "skills") == []
    assert [path.name for path in (tmp_path / "skills").iterdir()] == ["a"]


def test_the_seeds_walk_from_a_skeleton_to_its_report(tmp_path: Path) -> None:
    assert run(tmp_path, "init", "--dir", ".").code == 0
    assert run(tmp_path, "create", "--name", "my_calc", "--from-template", "python_script").code == 0
    shutil.copy(ROOT / "examples/executable/calculator/skill.py", tmp_path / "skills/my_calc/skill.py")
    words = ("--skills", "./skills/my_calc/skill.json", "--benchmark", "coding-easy", "--runs", "3")
    done = run(tmp_path, "eval", *words, "--format", "json", "markdown")
    assert done.code == 0, done.err
    (report,) = (tmp_path / "reports").glob("eval-result-*.md")
    assert "coding-easy" in report.read_text(encoding="utf-8")
    assert "100.0 %" in done.out
